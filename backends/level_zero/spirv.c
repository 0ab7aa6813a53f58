/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OpenCL C to SPIR-V: Level Zero has no compiler of its own. clang makes LLVM bitcode for
 * the target spir64, llvm-spirv translates it. Both must be of one LLVM version, since
 * bitcode of a later one cannot be read. They are looked for on PATH ("llvm-spirv",
 * "llvm-spirv-14" ...), or named by YOKE_LLVM_SPIRV and YOKE_SPIRV_CLANG.
 */
#include "backends/level_zero/live.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

#define SECONDS 120.0
#define LIMIT ((size_t)256 << 20)

typedef struct tools {
    char *clang, *translator;
} tools_t;

static void free_tools(tools_t *tools)
{
    free(tools->clang);
    free(tools->translator);
}

/* Absolute folders of PATH only: a relative one may be anybody's. */
static char *find_program(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path; at != NULL && *at != '\0';) {
        size_t size = strcspn(at, ":");
        char *full = at[0] == '/' ? yoke_format("%.*s/%s", (int)size, at, name) : NULL;
        if (full != NULL && access(full, X_OK) == 0)
            return full;
        free(full);
        at += size + (at[size] == ':');
    }
    return NULL;
}

static char *named(const char *variable)
{
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? yoke_strdup(value) : NULL;
}

static bool find_pair(const char *suffix, tools_t *tools)
{
    char *translator = yoke_format("llvm-spirv%s", suffix);
    char *clang = yoke_format("clang%s", suffix);
    if (translator != NULL && clang != NULL) {
        tools->translator = find_program(translator);
        if (tools->translator != NULL)
            tools->clang = find_program(clang);
    }
    free(translator);
    free(clang);
    if (tools->translator != NULL && tools->clang != NULL)
        return true;
    free_tools(tools);
    *tools = (tools_t){NULL, NULL};
    return false;
}

static bool find_tools(tools_t *tools)
{
    static const char *const suffixes[] = {"",    "-21", "-20", "-19", "-18",
                                           "-17", "-16", "-15", "-14"};
    *tools = (tools_t){named("YOKE_SPIRV_CLANG"), named("YOKE_LLVM_SPIRV")};
    if (tools->clang != NULL && tools->translator != NULL)
        return true;
    free_tools(tools);
    *tools = (tools_t){NULL, NULL};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (find_pair(suffixes[i], tools))
            return true;
    return false;
}

char *yoke_ze_spirv_tools(void)
{
    tools_t tools;
    if (!find_tools(&tools))
        return NULL;
    char *text = yoke_format("%s + %s", tools.clang, tools.translator);
    free_tools(&tools);
    return text;
}

/* --- compiling ---------------------------------------------------------------------- */

typedef struct work {
    tools_t tools;
    char folder[256];
    char *source, *bitcode, *spirv;
} work_t;

static yoke_status_t prepare(work_t *work)
{
    const char *base = getenv("TMPDIR");
    if (!find_tools(&work->tools))
        return yoke_backend_fail_text(
            YOKE_ERR_UNSUPPORTED,
            "level_zero: no compiler from OpenCL C to SPIR-V: clang and llvm-spirv of "
            "one "
            "version are needed on PATH (Debian: clang-14, llvm-spirv-14), or named by "
            "YOKE_SPIRV_CLANG and YOKE_LLVM_SPIRV");
    int size = snprintf(work->folder, sizeof work->folder, "%s/yoke-spirv-XXXXXX",
                        base != NULL && base[0] == '/' ? base : "/tmp");
    if (size < 0 || (size_t)size >= sizeof work->folder ||
        mkdtemp(work->folder) == NULL) {
        work->folder[0] = '\0';
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM,
                                      "level_zero: no folder for the compiler: %s",
                                      strerror(errno));
    }
    work->source = yoke_format("%s/program.cl", work->folder);
    work->bitcode = yoke_format("%s/program.bc", work->folder);
    work->spirv = yoke_format("%s/program.spv", work->folder);
    return work->source != NULL && work->bitcode != NULL && work->spirv != NULL
               ? YOKE_OK
               : yoke_fail_memory();
}

static void clean(work_t *work)
{
    if (work->source != NULL)
        unlink(work->source);
    if (work->bitcode != NULL)
        unlink(work->bitcode);
    if (work->spirv != NULL)
        unlink(work->spirv);
    if (work->folder[0] != '\0')
        rmdir(work->folder);
    free(work->source);
    free(work->bitcode);
    free(work->spirv);
    free_tools(&work->tools);
}

/* "-DN=4 -DT=float": words between blanks; `copy` is cut at them. */
static size_t split(char *copy, const char **words, size_t most)
{
    size_t count = 0;
    for (char *at = copy; *at != '\0' && count < most;) {
        at += strspn(at, " \t\n");
        size_t size = strcspn(at, " \t\n");
        if (size == 0)
            break;
        words[count++] = at;
        at += size;
        if (*at != '\0')
            *at++ = '\0';
    }
    return count;
}

static yoke_status_t run_clang(work_t *work, const char *options, yoke_log_text_t log,
                               void *log_context)
{
    enum { FIXED = 13, MOST = 64 };
    /* The driver optimises: what clang's passes make of it (freeze, vectors of odd types)
     * the translator may not know. */
    const char *arguments[FIXED + MOST + 1] = {work->tools.clang,
                                               "-x",
                                               "cl",
                                               "-cl-std=CL1.2",
                                               "--target=spir64",
                                               "-c",
                                               "-emit-llvm",
                                               "-O2",
                                               "-Xclang",
                                               "-disable-llvm-passes",
                                               work->source,
                                               "-o",
                                               work->bitcode};
    char *copy = yoke_strdup(options);
    if (copy == NULL)
        return yoke_fail_memory();
    split(copy, arguments + FIXED, MOST);
    yoke_status_t status =
        yoke_ze_run(work->tools.clang, arguments, SECONDS, log, log_context);
    free(copy);
    return status == YOKE_ERR_NO ? YOKE_ERR_BAD_INPUT : status;
}

static yoke_status_t run_translator(work_t *work, yoke_log_text_t log, void *log_context)
{
    const char *const arguments[] = {work->tools.translator, work->bitcode, "-o",
                                     work->spirv, NULL};
    yoke_status_t status =
        yoke_ze_run(work->tools.translator, arguments, SECONDS, log, log_context);
    return status == YOKE_ERR_NO ? YOKE_ERR_BAD_INPUT : status;
}

yoke_status_t yoke_ze_spirv_compile(const yoke_impl_program_source_t *source,
                                    yoke_log_text_t log, void *log_context,
                                    void **out_data, size_t *out_size)
{
    work_t work = {.tools = {NULL, NULL}};
    char *data = NULL;
    yoke_status_t status = prepare(&work);
    if (status == YOKE_OK)
        status = yoke_file_write(work.source, source->data, source->size);
    if (status == YOKE_OK)
        status = run_clang(&work, source->options, log, log_context);
    if (status == YOKE_OK)
        status = run_translator(&work, log, log_context);
    if (status == YOKE_OK)
        status = yoke_file_read(work.spirv, LIMIT, &data, out_size);
    if (status == YOKE_OK)
        *out_data = data;
    clean(&work);
    return status;
}
