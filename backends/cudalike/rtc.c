/* SPDX-License-Identifier: Apache-2.0 */
/* Run-time compilers: found, loaded, asked. */
#include "backends/cudalike/rtc.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "hal/kernels/dialect.h"
#include "hal/probe/child.h"

#define MAX_OPTIONS 64
#define MAX_ARCHS 64

/* --- the compilers -------------------------------------------------------------------
 */

/* CUDA 13, 12 and 11.2 on; NVRTC's versioning since 11.3 is by major number ("NVRTC",
 * chapter "Versioning Scheme"). */
static const char *const nvrtc_libraries[] = {"libnvrtc.so.13", "libnvrtc.so.12",
                                              "libnvrtc.so.11.2", "libnvrtc.so", NULL};
const yoke_rtc_t yoke_rtc_nvrtc = {
    .prefix = "nvrtc",
    .name = "NVRTC",
    .library_key = "NVRTC",
    .libraries = nvrtc_libraries,
    .code = "GetCUBIN",
    .text = "GetPTX",
    .dialect = YOKE_DIALECT_CUDA,
};

/* Inside libamdhip64 (ROCm 5.2; Debian's package has no other), later also apart. */
static const char *const hiprtc_libraries[] = {"libhiprtc.so.7", "libhiprtc.so.6",
                                               "libhiprtc.so.5", "libhiprtc.so", NULL};
const yoke_rtc_t yoke_rtc_hiprtc = {
    .prefix = "hiprtc",
    .name = "hipRTC",
    .library_key = "HIPRTC",
    .libraries = hiprtc_libraries,
    .inside = true,
    .helper = true,
    .code = "GetCode",
    .option = "--offload-arch=%s",
    .dialect = YOKE_DIALECT_HIP,
};

/* Calls and their order: MetaX-MACA/maca-samples Common/mcrtc_helper.h and
 * MetaX-MACA/mcTVM src/target/opt/build_maca_on.cc; "exported by libmcruntime.so"
 * (observation of MACA 3.5.3). No option names the architecture there. */
const yoke_rtc_t yoke_rtc_mcrtc = {
    .prefix = "mcrtc",
    .name = "mcRTC",
    .inside = true,
    .helper = true,
    .code = "GetBitcode",
    .code_other = "GetCode",
};

/* Names: the MUSA port of Paddle, phi/backends/dynload/musartc.h (GetMUSA), and
 * the SDK's notes on libmtrtc (GetFatBin). No public source gives the option for the
 * architecture; its default is the SDK's. */
static const char *const mtrtc_libraries[] = {"libmtrtc.so", NULL};
const yoke_rtc_t yoke_rtc_mtrtc = {
    .prefix = "mtrtc",
    .name = "MTRTC",
    .library_key = "MTRTC",
    .libraries = mtrtc_libraries,
    .helper = true,
    .code = "GetFatBin",
    .code_other = "GetMUSA",
};

const yoke_rtc_t *yoke_rtc_by_prefix(const char *prefix)
{
    const yoke_rtc_t *const all[] = {&yoke_rtc_nvrtc, &yoke_rtc_hiprtc, &yoke_rtc_mcrtc,
                                     &yoke_rtc_mtrtc};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i]->prefix, prefix) == 0)
            return all[i];
    return NULL;
}

/* --- symbols --------------------------------------------------------------------------
 */

static void *find(const yoke_rtc_t *rtc, const yoke_library_t *library, const char *name,
                  const char *suffix)
{
    char symbol[96];
    snprintf(symbol, sizeof symbol, "%s%s%s", rtc->prefix, name, suffix);
    return dlsym(library->handle, symbol);
}

/* The getter that is there with its ...Size, under one of two names. */
static bool find_getter(const yoke_rtc_t *rtc, const yoke_library_t *library,
                        const char *name, void *out_size, void *out_get)
{
    if (name == NULL)
        return false;
    void *size = find(rtc, library, name, "Size"), *get = find(rtc, library, name, "");
    if (size == NULL || get == NULL)
        return false;
    memcpy(out_size, &size, sizeof size);
    memcpy(out_get, &get, sizeof get);
    return true;
}

bool yoke_rtc_resolve(const yoke_rtc_t *rtc, const yoke_library_t *library,
                      yoke_rtc_api_t *out_api, const char **out_missing)
{
    yoke_rtc_api_t api = {0};
    const struct {
        const char *name;
        void *slot;
        bool optional;
    } rows[] = {
        {"Version", &api.version, true},
        {"CreateProgram", &api.create, false},
        {"CompileProgram", &api.compile, false},
        {"DestroyProgram", &api.destroy, false},
        {"GetProgramLogSize", &api.log_size, false},
        {"GetProgramLog", &api.log, false},
        {"GetNumSupportedArchs", &api.arch_count, true},
        {"GetSupportedArchs", &api.archs, true},
        {"GetErrorString", &api.error_string, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *address = find(rtc, library, rows[i].name, "");
        if (address == NULL && !rows[i].optional) {
            *out_missing = rows[i].name;
            return false;
        }
        memcpy(rows[i].slot, &address, sizeof address);
    }
    bool code = find_getter(rtc, library, rtc->code, &api.code_size, &api.code);
    api.code_name = code ? rtc->code : rtc->code_other;
    code = code || find_getter(rtc, library, rtc->code_other, &api.code_size, &api.code);
    api.text_name = rtc->text;
    bool text = find_getter(rtc, library, rtc->text, &api.text_size, &api.text);
    *out_missing = rtc->code;
    *out_api = api;
    return code || text;
}

static bool helper_there(char **out_problem)
{
    char *tried = NULL;
    char *path = yoke_helper_path(&tried);
    bool there = path != NULL;
    if (!there)
        *out_problem =
            yoke_format("its helper program yoke-probe is not there (tried %s); set "
                        "YOKE_PROBE_HELPER to its path",
                        tried != NULL ? tried : "");
    free(path);
    free(tried);
    return there;
}

void yoke_rtc_load(yoke_rtc_loaded_t *loaded, const yoke_rtc_t *rtc,
                   const yoke_library_t *runtime)
{
    const char *missing = NULL;
    yoke_library_t library = {0};
    bool found = false, resolved = false;
    int major = 0, minor = 0;
    if (loaded->tried)
        return;
    loaded->tried = true;
    loaded->rtc = rtc;
    if (rtc->inside && runtime != NULL &&
        yoke_rtc_resolve(rtc, runtime, &loaded->api, &missing)) {
        loaded->path = yoke_strdup(runtime->path);
        resolved = true;
    } else if (rtc->libraries != NULL &&
               yoke_library_open(rtc->library_key, rtc->libraries, &library,
                                 &loaded->problem, &found)) {
        loaded->path = library.path;
        resolved = yoke_rtc_resolve(rtc, &library, &loaded->api, &missing);
    }
    if (!resolved && missing != NULL && loaded->problem == NULL)
        loaded->problem = yoke_format("%s: no function %s%s",
                                      loaded->path != NULL ? loaded->path
                                      : runtime != NULL    ? runtime->path
                                                           : rtc->name,
                                      rtc->prefix, missing);
    if (!resolved || loaded->path == NULL ||
        (rtc->helper && !helper_there(&loaded->problem)))
        return;
    if (loaded->api.version == NULL || loaded->api.version(&major, &minor) != 0)
        major = minor = 0;
    snprintf(loaded->version, sizeof loaded->version, "%s %d.%d", rtc->name, major,
             minor);
    loaded->usable = true;
}

void yoke_rtc_forget(yoke_rtc_loaded_t *loaded)
{
    free(loaded->path);
    free(loaded->problem);
    memset(loaded, 0, sizeof *loaded);
}

/* --- options --------------------------------------------------------------------------
 */

bool yoke_rtc_split(const char *options, const char **out_words, size_t limit,
                    size_t *out_count, char **out_block)
{
    char *block = malloc(strlen(options) + 1), *to = block;
    size_t count = 0;
    if (block == NULL)
        return false;
    for (const char *at = options; *at != '\0';) {
        char quote = '\0';
        at += strspn(at, " \t\n\r");
        if (*at == '\0')
            break;
        if (count == limit) {
            free(block);
            return false;
        }
        out_words[count++] = to;
        for (; *at != '\0' && (quote != '\0' || strchr(" \t\n\r", *at) == NULL); at++) {
            if (quote == '\0' && (*at == '"' || *at == '\''))
                quote = *at;
            else if (*at == quote)
                quote = '\0';
            else
                *to++ = *at;
        }
        bool end = *at == '\0';
        *to++ = '\0';
        if (end)
            break;
        at++;
    }
    *out_count = count;
    *out_block = block;
    return true;
}

int yoke_rtc_pick(const int *archs, int count, int wanted)
{
    int best = 0;
    for (int i = 0; i < count; i++)
        if (archs[i] <= wanted && archs[i] > best)
            best = archs[i];
    return best;
}

/* --- compiling in this process ---------------------------------------------------------
 */

static char *fetch_log(const yoke_rtc_api_t *api, void *program)
{
    size_t size = 0;
    if (api->log_size(program, &size) != 0 || size <= 1 || size > ((size_t)16 << 20))
        return NULL;
    char *text = calloc(1, size + 1);
    if (text != NULL && api->log(program, text) != 0) {
        free(text);
        text = NULL;
    }
    return text;
}

static void fetch_code(const yoke_rtc_api_t *api, void *program, bool as_text,
                       yoke_rtc_result_t *result)
{
    int (*get_size)(void *, size_t *) = as_text ? api->text_size : api->code_size;
    int (*get)(void *, char *) = as_text ? api->text : api->code;
    size_t size = 0;
    const char *name = as_text ? api->text_name : api->code_name;
    snprintf(result->call, sizeof result->call, "%sSize", name);
    result->code = get_size(program, &size);
    if (result->code != 0)
        return;
    if (size == 0 || size > ((size_t)1 << 30)) {
        result->code = -1;
        return;
    }
    unsigned char *data = calloc(1, size + 1);
    snprintf(result->call, sizeof result->call, "%s", name);
    result->code = data == NULL ? -1 : get(program, (char *)data);
    if (result->code != 0) {
        free(data);
        return;
    }
    result->binary.data = data;
    result->binary.size = size;
}

void yoke_rtc_run(const yoke_rtc_api_t *api, const char *source, const char *name,
                  const char *const *options, size_t option_count, bool as_text,
                  yoke_rtc_result_t *out_result)
{
    yoke_rtc_result_t result = {0};
    const char *list[MAX_OPTIONS + 2];
    void *program = NULL;
    memcpy(list, options, option_count * sizeof *options);
    snprintf(result.call, sizeof result.call, "CreateProgram");
    result.code = api->create(&program, source, name, 0, NULL, NULL);
    if (result.code == 0) {
        snprintf(result.call, sizeof result.call, "CompileProgram");
        result.code =
            api->compile(program, (int)option_count, option_count > 0 ? list : NULL);
        result.log = fetch_log(api, program);
        if (result.code == 0)
            fetch_code(api, program, as_text, &result);
        (void)api->destroy(&program);
    }
    *out_result = result;
}

void yoke_rtc_result_clear(yoke_rtc_result_t *result)
{
    free(result->log);
    free(result->binary.data);
    memset(result, 0, sizeof *result);
}

static yoke_status_t take_result(const yoke_rtc_loaded_t *loaded,
                                 yoke_rtc_result_t *result, yoke_log_text_t log,
                                 void *log_context, yoke_rtc_code_t *out_code)
{
    const char *text =
        loaded->api.error_string != NULL ? loaded->api.error_string(result->code) : NULL;
    if (result->log != NULL)
        log(log_context, result->log, strlen(result->log));
    if (result->code == 0) {
        *out_code = result->binary;
        result->binary.data = NULL;
        return YOKE_OK;
    }
    if (result->code == YOKE_RTC_COMPILATION || result->code == YOKE_RTC_INVALID_OPTION)
        return YOKE_ERR_BAD_INPUT;
    return yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s%s: %s (%d)", loaded->rtc->prefix,
                                  result->call, text != NULL ? text : "failed",
                                  result->code);
}

/* NVRTC: a cubin for exactly this device, else PTX for the highest before it, which the
 * driver finishes. */
static yoke_status_t nvidia_option(const yoke_rtc_loaded_t *loaded,
                                   const char *architecture, char *option, size_t size,
                                   bool *out_text)
{
    const yoke_rtc_api_t *api = &loaded->api;
    int archs[MAX_ARCHS] = {0}, count = 0;
    int wanted = strncmp(architecture, "sm_", 3) == 0 ? atoi(architecture + 3) : 0;
    int picked = wanted;
    if (wanted <= 0)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "%s: the device tells no compute capability",
                                      loaded->version);
    if (api->arch_count != NULL && api->archs != NULL && api->arch_count(&count) == 0 &&
        count > 0 && count <= MAX_ARCHS && api->archs(archs) == 0)
        picked = yoke_rtc_pick(archs, count, wanted);
    else
        count = 0;
    if (picked == 0)
        return yoke_backend_fail_text(
            YOKE_ERR_UNSUPPORTED,
            "%s does not know compute capability %d.%d, nor one before it: take an older "
            "one (YOKE_LIB_NVRTC)",
            loaded->version, wanted / 10, wanted % 10);
    *out_text = api->code == NULL || picked != wanted || count == 0;
    if (api->text == NULL)
        *out_text = false;
    snprintf(option, size, "--gpu-architecture=%s_%d", *out_text ? "compute" : "sm",
             picked);
    return YOKE_OK;
}

/* What the portable dialect promises beyond its prologue: no contraction. */
static const char *dialect_option(const yoke_rtc_t *rtc,
                                  const yoke_impl_program_source_t *source)
{
    return strncmp(source->data, YOKE_DIALECT_MARK, strlen(YOKE_DIALECT_MARK)) == 0
               ? yoke_dialect_options(rtc->dialect)
               : "";
}

yoke_status_t yoke_rtc_compile(const yoke_rtc_loaded_t *loaded, const char *architecture,
                               const yoke_impl_program_source_t *source,
                               yoke_log_text_t log, void *log_context,
                               yoke_rtc_code_t *out_code)
{
    const char *words[MAX_OPTIONS + 2];
    char *block = NULL, option[96] = "";
    size_t count = 0;
    bool as_text = false;
    yoke_status_t status = YOKE_OK;
    if (!yoke_rtc_split(source->options != NULL ? source->options : "", words + 1,
                        MAX_OPTIONS, &count, &block))
        return yoke_backend_fail_text(YOKE_ERR_USAGE, "more than %d compiler options",
                                      MAX_OPTIONS);
    if (loaded->rtc->option != NULL && architecture[0] == '\0')
        status = yoke_backend_fail_text(
            YOKE_ERR_UNSUPPORTED,
            "%s: the runtime did not tell the device's architecture", loaded->rtc->name);
    else if (loaded->rtc->text != NULL)
        status = nvidia_option(loaded, architecture, option, sizeof option, &as_text);
    else if (loaded->rtc->option != NULL)
        snprintf(option, sizeof option, "--offload-arch=%s", architecture);
    words[0] = option;
    const char **list = option[0] != '\0' ? words : words + 1;
    count += option[0] != '\0' ? 1 : 0;
    const char *extra = dialect_option(loaded->rtc, source);
    if (extra[0] != '\0')
        list[count++] = extra;
    if (status == YOKE_OK && loaded->rtc->helper) {
        status = yoke_rtc_compile_apart(loaded, list, count, architecture, source, log,
                                        log_context, out_code);
    } else if (status == YOKE_OK) {
        yoke_rtc_result_t result = {0};
        yoke_rtc_run(&loaded->api, source->data, source->name, list, count, as_text,
                     &result);
        status = take_result(loaded, &result, log, log_context, out_code);
        yoke_rtc_result_clear(&result);
    }
    free(block);
    return status;
}
