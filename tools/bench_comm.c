/* SPDX-License-Identifier: Apache-2.0 */
/* yoke bench comm: options, checked here; a program of its own does the work, so that
 * nothing else of the command loads UCX. */
#include "tools/bench_comm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "yoke/element.h"

static const char *const collectives[] = {"all-reduce", "all-gather", "reduce-scatter",
                                          "broadcast",  "reduce",     "gather",
                                          "scatter",    "all-to-all", "barrier"};

static bool is_collective(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof collectives / sizeof collectives[0]; i++)
        if (strlen(collectives[i]) == length &&
            strncmp(collectives[i], name, length) == 0)
            return true;
    return false;
}

static bool is_element(const char *name, size_t length)
{
    char text[16] = "";
    yoke_element_t element;
    if (length < sizeof text)
        memcpy(text, name, length);
    return yoke_element_parse(text, &element);
}

static bool is_reduction(const char *name, size_t length)
{
    char text[16] = "";
    yoke_reduction_t reduction;
    if (length < sizeof text)
        memcpy(text, name, length);
    return yoke_reduction_parse(text, &reduction);
}

/* What is gathered for the program. */
typedef struct request {
    const yoke_command_t *command;
    const yoke_args_t *args;
    yoke_strings_t words; /* NAME=VALUE */
    int code;             /* of the first failure */
} request_t;

static void add(request_t *r, const char *name, const char *value)
{
    char *word = yoke_format("%s=%s", name, value);
    if (r->code == 0 && (word == NULL || yoke_strings_add(&r->words, word) != YOKE_OK))
        r->code = yoke_status_exit_code(yoke_fail_memory());
    free(word);
}

/* A list with commas between; NULL: `usual`. */
static void add_list(request_t *r, const char *option, const char *usual,
                     bool (*known)(const char *, size_t), const char *choices)
{
    const char *list = yoke_args_value(r->args, option);
    if (list == NULL)
        list = usual;
    for (const char *at = list; r->code == 0 && *at != '\0';) {
        const size_t length = strcspn(at, ",");
        if (!known(at, length))
            r->code = yoke_usage_error(r->command, "--%s: '%.*s' is not known; one of %s",
                                       option, (int)length, at, choices);
        at += length + (at[length] == ',');
    }
    add(r, option, list);
}

/* A whole number, with K, M or G (powers of 1024) where `sizes`. */
static void add_number(request_t *r, const char *option, const char *usual,
                       uint64_t least, uint64_t most, bool sizes)
{
    const char *text = yoke_args_value(r->args, option);
    text = text != NULL ? text : usual;
    if (r->code != 0 || text == NULL)
        return;
    char *end = NULL, value[32];
    errno = 0;
    uint64_t number = strtoull(text, &end, 10), unit = 1;
    if (sizes && end != text && *end != '\0') {
        const char *letters = "KMG", *letter = strchr(letters, *end);
        for (int i = 0; letter != NULL && i <= letter - letters; i++)
            unit <<= 10;
        end += letter != NULL;
        end += letter != NULL && strcmp(end, "iB") == 0 ? 2 : 0;
    }
    if (end == text || *end != '\0' || text[0] == '-' || errno != 0 ||
        number > most / unit || number * unit < least) {
        r->code = yoke_usage_error(
            r->command, "--%s: '%s' is not a number from %llu to %llu%s", option, text,
            (unsigned long long)least, (unsigned long long)most,
            sizes ? " (K, M and G may follow)" : "");
        return;
    }
    yoke_snprintf(value, sizeof value, "%llu", (unsigned long long)(number * unit));
    add(r, option, value);
}

static void add_collectives(request_t *r)
{
    yoke_text_t list = {0};
    for (size_t i = 1; i < r->args->positional_count && r->code == 0; i++) {
        const char *name = r->args->positional[i];
        if (!is_collective(name, strlen(name)))
            r->code = yoke_usage_error(r->command,
                                       "'%s' is no collective; one of all-reduce, "
                                       "all-gather, reduce-scatter, broadcast, reduce, "
                                       "gather, scatter, all-to-all, barrier",
                                       name);
        yoke_text_printf(&list, "%s%s", i > 1 ? "," : "", name);
    }
    add(r, "collectives", list.size > 0 ? yoke_text_get(&list) : "all-reduce");
    yoke_text_free(&list);
}

static void add_all(request_t *r)
{
    add_collectives(r);
    add_list(r, "types", "f32", is_element,
             "f64, f32, f16, bf16, fp8-e4m3, fp8-e5m2, i8, u8, i32, u32, i64, u64");
    add_list(r, "ops", "sum", is_reduction, "sum, prod, max, min, avg");
    add_number(r, "min", "8", 1, (uint64_t)1 << 40, true);
    add_number(r, "max", "64M", 1, (uint64_t)1 << 40, true);
    add_number(r, "factor", "2", 2, 1u << 20, false);
    add_number(r, "iterations", "20", 1, 1000000, false);
    add_number(r, "warm-up", "5", 0, 1000000, false);
    add_number(r, "root", "0", 0, 1u << 20, false);
    add_number(r, "ranks", NULL, 1, 1024, false);
    add_number(r, "timeout", NULL, 1, UINT32_MAX, false);
    if (yoke_args_has(r->args, "check"))
        add(r, "check", "1");
    if (yoke_args_value(r->args, "algorithm") != NULL)
        add(r, "algorithm", yoke_args_value(r->args, "algorithm"));
    if (yoke_args_value(r->args, "json") != NULL)
        add(r, "json", yoke_args_value(r->args, "json"));
}

/* --- the program -------------------------------------------------------------------- */

/* Beside this one in a build tree, in libexec otherwise. */
static void become(const request_t *r)
{
    char **argv = calloc(r->words.count + 2, sizeof *argv);
    char self[4096] = "";
    const ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = size > 0 ? strrchr(self, '/') : NULL;
    if (argv == NULL || slash == NULL)
        goto out;
    *slash = '\0';
    char *places[] = {yoke_format("%s/yoke-bench-comm", self),
                      yoke_format("%s/%s/yoke-bench-comm", self, YOKE_LIBEXEC_FROM_BIN)};
    argv[0] = (char *)(uintptr_t) "yoke-bench-comm";
    for (size_t i = 0; i < r->words.count; i++)
        argv[i + 1] = r->words.items[i];
    for (int i = 0; i < 2 && places[i] != NULL; i++)
        execv(places[i], argv);
    (void)yoke_fail(YOKE_ERR_SYSTEM,
                    "cannot start %s nor %s: %s; is libyoke_comm installed?", places[0],
                    places[1], strerror(errno));
    free(places[0]);
    free(places[1]);
out:
    free(argv);
}

int yoke_bench_comm_run(const yoke_command_t *command, const yoke_args_t *args)
{
    request_t r = {.command = command, .args = args};
    add_all(&r);
    if (r.code == 0) {
        become(&r);
        r.code = yoke_status_exit_code(YOKE_ERR_SYSTEM);
    }
    yoke_strings_free(&r.words);
    return r.code;
}
