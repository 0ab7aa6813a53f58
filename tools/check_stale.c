/* SPDX-License-Identifier: Apache-2.0 */
/* Many stale figures in few words. */
#include "tools/check_stale.h"

#include <string.h>

enum { MOST_LISTED = 4 };

/* A kind of figures, by what stands in their JSON pointer. */
typedef struct kind {
    const char *part, *name;
    bool of_stages;
    size_t figures, stages;       /* found; different stages */
    char last[64];                /* pointer of the latest stage */
    unsigned listed[MOST_LISTED]; /* numbers of the first stages */
} kind_t;

size_t yoke_count_lines(const char *lines)
{
    size_t count = 0;
    for (; lines != NULL && *lines != '\0'; lines++)
        count += *lines == '\n';
    return count;
}

/* "/pipelines/0/stages/12" of a pointer; its length, and the stage's number. */
static size_t stage_prefix(const char *pointer, unsigned *out_stage)
{
    const char *stages = strstr(pointer, "/stages/");
    if (stages == NULL)
        return 0;
    const char *digits = stages + strlen("/stages/");
    unsigned stage = 0;
    size_t count = strspn(digits, "0123456789");
    for (size_t i = 0; i < count; i++)
        stage = stage * 10 + (unsigned)(digits[i] - '0');
    *out_stage = stage;
    return (size_t)(digits - pointer) + count;
}

/* The lines come stage by stage, so that a new stage differs from the latest. */
static void add_figure(kind_t *kind, const char *pointer)
{
    unsigned stage = 0;
    kind->figures++;
    if (!kind->of_stages)
        return;
    size_t size = stage_prefix(pointer, &stage);
    if (size >= sizeof kind->last ||
        (strncmp(kind->last, pointer, size) == 0 && kind->last[size] == '\0'))
        return;
    memcpy(kind->last, pointer, size);
    kind->last[size] = '\0';
    if (kind->stages < MOST_LISTED)
        kind->listed[kind->stages] = stage;
    kind->stages++;
}

static void print_kind(const kind_t *kind, size_t pipelines, yoke_text_t *out)
{
    yoke_text_add(out, kind->name);
    if (!kind->of_stages)
        return;
    if (pipelines > 1 || kind->stages > MOST_LISTED) {
        yoke_text_printf(out, " of %zu stage%s", kind->stages,
                         kind->stages == 1 ? "" : "s");
        return;
    }
    yoke_text_add(out, kind->stages == 1 ? " of stage " : " of stages ");
    for (size_t i = 0; i < kind->stages; i++)
        yoke_text_printf(out, "%s%u",
                         i == 0 ? "" : (i + 1 == kind->stages ? " and " : ", "),
                         kind->listed[i]);
}

/* Does a line's pointer hold what figures of this kind have in theirs? */
static bool is_of_kind(const kind_t *kind, const char *line, size_t pointer)
{
    size_t size = strlen(kind->part);
    bool in_stage = strncmp(line, "/pipelines/", 11) == 0;
    if (kind->of_stages != in_stage)
        return false;
    if (!in_stage)
        return pointer >= size && strncmp(line, kind->part, size) == 0;
    for (size_t i = 0; i + size <= pointer; i++)
        if (strncmp(line + i, kind->part, size) == 0)
            return true;
    return false;
}

void yoke_stale_summary(const char *lines, size_t pipelines, yoke_text_t *out)
{
    kind_t kinds[] = {
        {.part = "/predicted", .name = "predicted times"},
        {.part = "/predicted", .name = "times", .of_stages = true},
        {.part = "/memory", .name = "memory", .of_stages = true},
        {.part = "/share", .name = "shares", .of_stages = true},
        {.part = "/type", .name = "device types", .of_stages = true},
        {.part = "/groups", .name = "groups"},
        {.part = "/match", .name = "match of work and devices"},
        {.part = "/bound", .name = "bound and gap"},
        {.part = "/schedule", .name = "schedule"},
        {.part = "/limited_by", .name = "what limits the step"},
        {.part = "/feasible", .name = "whether it fits"},
        {.part = "/runnable_in", .name = "runtimes"},
    };
    const size_t count = sizeof kinds / sizeof *kinds;
    for (const char *line = lines; *line != '\0';) {
        size_t size = strcspn(line, "\n"), pointer = strcspn(line, ": \n");
        for (size_t k = 0; k < count; k++)
            if (is_of_kind(&kinds[k], line, pointer)) {
                add_figure(&kinds[k], line);
                break;
            }
        line += size + (line[size] == '\n');
    }
    const char *between = "";
    for (size_t k = 0; k < count; k++) {
        if (kinds[k].figures == 0)
            continue;
        yoke_text_add(out, between);
        print_kind(&kinds[k], pipelines, out);
        between = ", ";
    }
}
