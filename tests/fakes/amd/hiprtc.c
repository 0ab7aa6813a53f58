/* SPDX-License-Identifier: Apache-2.0 */
/* hiprtc, which is inside libamdhip64: by hiprtc.h of HIP 5.2.3. Like the real one it
 * ends the whole process for an architecture that it does not know. Own key of the file:
 * `rtc_archs`, those that it knows besides gfx906, gfx908, gfx90a and gfx1030. */
#include "hip.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    HIPRTC_OK = 0,
    HIPRTC_OUT_OF_MEMORY = 1,
    HIPRTC_INVALID_INPUT = 3,
    HIPRTC_INVALID_PROGRAM = 4,
    HIPRTC_COMPILATION = 6
};
#define MAX_DEFINES 64

typedef struct program {
    fake_handle_t handle;
    char *source, *name, *log;
    fake_image_t *code;
} program_t;

#define PROGRAM_OR_RETURN(function, program_handle)                                      \
    FAKE_CALL(function, int);                                                            \
    program_t *program = fake_handle_check(program_handle, KIND_PROGRAM);                \
    if (program == NULL)                                                                 \
    return HIPRTC_INVALID_PROGRAM

FAKE_API const char *hiprtcGetErrorString(int result)
{
    static const char *const names[] = {"HIPRTC_SUCCESS",
                                        "HIPRTC_ERROR_OUT_OF_MEMORY",
                                        "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "HIPRTC_ERROR_INVALID_INPUT",
                                        "HIPRTC_ERROR_INVALID_PROGRAM",
                                        "HIPRTC_ERROR_INVALID_OPTION",
                                        "HIPRTC_ERROR_COMPILATION"};
    FAKE_CALL_OTHER(hiprtcGetErrorString, "");
    return result >= 0 && result < 7 ? names[result] : "HIPRTC_ERROR_INTERNAL_ERROR";
}

FAKE_API int hiprtcVersion(int *major, int *minor)
{
    FAKE_CALL(hiprtcVersion, int);
    FAKE_OUT(*major, HIP_FAKE_MAJOR);
    FAKE_OUT(*minor, 2);
    return HIPRTC_OK;
}

FAKE_API int hiprtcCreateProgram(void **out_program, const char *source, const char *name,
                                 int header_count, const char **headers,
                                 const char **include_names)
{
    FAKE_CALL(hiprtcCreateProgram, int);
    (void)headers;
    (void)include_names;
    if (out_program == NULL || source == NULL || header_count != 0)
        return HIPRTC_INVALID_INPUT;
    program_t *program = calloc(1, sizeof *program);
    if (program == NULL)
        return HIPRTC_OUT_OF_MEMORY;
    program->source = strdup(source);
    program->name = strdup(name != NULL ? name : "program");
    program->log = strdup("");
    fake_handle_add(&program->handle, KIND_PROGRAM);
    *out_program = program;
    return HIPRTC_OK;
}

FAKE_API int hiprtcDestroyProgram(void **handle)
{
    FAKE_CALL(hiprtcDestroyProgram, int);
    program_t *program = handle != NULL ? fake_handle_check(*handle, KIND_PROGRAM) : NULL;
    if (program == NULL)
        return HIPRTC_INVALID_INPUT;
    fake_handle_remove(&program->handle);
    free(program->source);
    free(program->name);
    free(program->log);
    free(program->code);
    free(program);
    *handle = NULL;
    return HIPRTC_OK;
}

/* ---- compiling --------------------------------------------------------------------- */

typedef struct options {
    const char *defines[MAX_DEFINES];
    size_t define_count;
    const char *folders[MAX_DEFINES];
    size_t folder_count;
    bool contract;
    const char *arch;
    const char *wrong;
} options_t;

static void read_option(const char *word, options_t *out)
{
    bool room = out->define_count < MAX_DEFINES - 8 && out->folder_count < MAX_DEFINES;
    if (strncmp(word, "--offload-arch=", 15) == 0)
        out->arch = word + 15;
    else if (strncmp(word, "--gpu-architecture=", 19) == 0)
        out->arch = word + 19;
    else if (strncmp(word, "-D", 2) == 0 && word[2] != '\0' && room)
        out->defines[out->define_count++] = word + 2;
    else if (strncmp(word, "-I", 2) == 0 && word[2] != '\0' && room)
        out->folders[out->folder_count++] = word + 2;
    else if (strncmp(word, "-ffp-contract=", 14) == 0)
        out->contract = strcmp(word + 14, "off") != 0;
    else if (strncmp(word, "-O", 2) != 0 && strncmp(word, "-std=", 5) != 0 &&
             strncmp(word, "--std=", 6) != 0 && strncmp(word, "-W", 2) != 0 &&
             strcmp(word, "-w") != 0 && strncmp(word, "-fno-", 5) != 0 &&
             strncmp(word, "-fgpu", 5) != 0 && strncmp(word, "-m", 2) != 0 &&
             strcmp(word, "-g") != 0)
        out->wrong = word;
}

static bool knows(const char *arch)
{
    const char *more = fake_config_text(-1, "rtc_archs", "");
    char list[512], want[64];
    snprintf(want, sizeof want, " %.*s ", (int)strcspn(arch, ":"), arch);
    snprintf(list, sizeof list, " gfx906 gfx908 gfx90a gfx1030 %s ", more);
    return strstr(list, want) != NULL;
}

static int say(program_t *program, const char *text, const char *word)
{
    char *log = NULL;
    if (asprintf(&log, "error: %s '%s'\n", text, word) < 0)
        return HIPRTC_OUT_OF_MEMORY;
    free(program->log);
    program->log = log;
    return HIPRTC_COMPILATION;
}

FAKE_API int hiprtcCompileProgram(void *handle, int option_count, const char **words)
{
    PROGRAM_OR_RETURN(hiprtcCompileProgram, handle);
    options_t options = {.contract = true}; /* HIP's default is fast (clang manual) */
    for (int i = 0; i < option_count; i++)
        read_option(words[i], &options);
    if (options.wrong != NULL)
        return say(program, "unknown argument:", options.wrong);
    if (options.arch == NULL)
        return say(program, "no architecture given; missing", "--offload-arch");
    if (!knows(options.arch)) {
        fprintf(stderr, "munmap_chunk(): invalid pointer\n");
        abort();
    }
    char arch_macro[64];
    snprintf(arch_macro, sizeof arch_macro, "__%.*s__=1", (int)strcspn(options.arch, ":"),
             options.arch);
    options.defines[options.define_count++] = "__HIPCC__=1";
    options.defines[options.define_count++] = "__HIPCC_RTC__=1";
    options.defines[options.define_count++] = "__HIP_DEVICE_COMPILE__=1";
    options.defines[options.define_count++] = "__HIP_PLATFORM_AMD__=1";
    options.defines[options.define_count++] = "__AMDGCN__=1";
    options.defines[options.define_count++] = arch_macro;
    fake_compile_t what = {.source = program->source,
                           .name = program->name,
                           .language = "FAKE_HIP",
                           .defines = options.defines,
                           .define_count = options.define_count,
                           .folders = options.folders,
                           .folder_count = options.folder_count,
                           .contract = options.contract,
                           .vendor = fake_defaults.vendor,
                           .arch = options.arch,
                           .form = 'b'};
    free(program->log);
    free(program->code);
    program->code = NULL;
    return fake_compile(&what, &program->code, &program->log) ? HIPRTC_OK
                                                              : HIPRTC_COMPILATION;
}

/* ---- results ----------------------------------------------------------------------- */

FAKE_API int hiprtcGetCodeSize(void *handle, size_t *size)
{
    PROGRAM_OR_RETURN(hiprtcGetCodeSize, handle);
    if (program->code == NULL)
        return HIPRTC_INVALID_PROGRAM;
    FAKE_OUT(*size, sizeof *program->code + program->code->size);
    return HIPRTC_OK;
}

FAKE_API int hiprtcGetCode(void *handle, char *code)
{
    PROGRAM_OR_RETURN(hiprtcGetCode, handle);
    if (program->code == NULL)
        return HIPRTC_INVALID_PROGRAM;
    memcpy(code, program->code, sizeof *program->code + program->code->size);
    return HIPRTC_OK;
}

FAKE_API int hiprtcGetProgramLogSize(void *handle, size_t *size)
{
    PROGRAM_OR_RETURN(hiprtcGetProgramLogSize, handle);
    FAKE_OUT(*size, strlen(program->log) + 1);
    return HIPRTC_OK;
}

FAKE_API int hiprtcGetProgramLog(void *handle, char *log)
{
    PROGRAM_OR_RETURN(hiprtcGetProgramLog, handle);
    strcpy(log, program->log);
    return HIPRTC_OK;
}
