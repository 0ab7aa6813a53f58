/* SPDX-License-Identifier: Apache-2.0 */
/* libnvrtc, by nvrtc.h and the NVRTC manual of the CUDA Toolkit 13.0: what the program
 * holds is really compiled (../common/compile.h). Its PTX and CUBIN are images of the
 * fakes. */
#include "tests/fakes/common/compile.h"
#include "tests/fakes/common/entry.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nvrtc.h"

enum {
    NVRTC_OK = 0,
    NVRTC_INVALID_INPUT = 3,
    NVRTC_INVALID_PROGRAM = 4,
    NVRTC_INVALID_OPTION = 5,
    NVRTC_COMPILATION = 6
};
enum { KIND_PROGRAM = 1 };

#define MAX_DEFINES 64

/* nvrtcGetSupportedArchs() of 13.0. */
static const int archs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
#define ARCH_COUNT ((int)(sizeof archs / sizeof *archs))

typedef struct program {
    fake_handle_t handle;
    char *source, *name, *log;
    fake_image_t *ptx, *cubin;
} program_t;

typedef struct options {
    const char *defines[MAX_DEFINES];
    size_t define_count;
    const char *folders[MAX_DEFINES];
    size_t folder_count;
    bool fmad;
    bool real; /* sm_: machine code too */
    char arch[32];
    char arch_macro[32];
} options_t;

#define PROGRAM_OR_RETURN(function, handle)                                              \
    FAKE_CALL(function, int);                                                            \
    program_t *program = fake_handle_check(handle, KIND_PROGRAM);                        \
    if (program == NULL)                                                                 \
    return NVRTC_INVALID_PROGRAM

FAKE_API const char *nvrtcGetErrorString(int result)
{
    static const char *const names[] = {"NVRTC_SUCCESS",
                                        "NVRTC_ERROR_OUT_OF_MEMORY",
                                        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "NVRTC_ERROR_INVALID_INPUT",
                                        "NVRTC_ERROR_INVALID_PROGRAM",
                                        "NVRTC_ERROR_INVALID_OPTION",
                                        "NVRTC_ERROR_COMPILATION",
                                        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"};
    FAKE_CALL_OTHER(nvrtcGetErrorString, "");
    return result >= 0 && result < 8 ? names[result] : "NVRTC_ERROR unknown";
}

FAKE_API int nvrtcVersion(int *major, int *minor)
{
    FAKE_CALL(nvrtcVersion, int);
    if (major == NULL || minor == NULL)
        return NVRTC_INVALID_INPUT;
    FAKE_OUT(*major, 13);
    FAKE_OUT(*minor, 0);
    return NVRTC_OK;
}

FAKE_API int nvrtcGetNumSupportedArchs(int *count)
{
    FAKE_CALL(nvrtcGetNumSupportedArchs, int);
    FAKE_OUT(*count, ARCH_COUNT);
    return NVRTC_OK;
}

FAKE_API int nvrtcGetSupportedArchs(int *out)
{
    FAKE_CALL(nvrtcGetSupportedArchs, int);
    memcpy(out, archs, sizeof archs);
    return NVRTC_OK;
}

FAKE_API int nvrtcCreateProgram(void **out_program, const char *source, const char *name,
                                int header_count, const char *const *headers,
                                const char *const *include_names)
{
    FAKE_CALL(nvrtcCreateProgram, int);
    (void)headers;
    (void)include_names;
    if (out_program == NULL || source == NULL || header_count != 0)
        return NVRTC_INVALID_INPUT;
    program_t *program = calloc(1, sizeof *program);
    if (program == NULL)
        return 1;
    program->source = strdup(source);
    program->name = strdup(name != NULL ? name : "default_program");
    program->log = strdup("");
    fake_handle_add(&program->handle, KIND_PROGRAM);
    *out_program = program;
    return NVRTC_OK;
}

FAKE_API int nvrtcDestroyProgram(void **handle)
{
    FAKE_CALL(nvrtcDestroyProgram, int);
    program_t *program = handle != NULL ? fake_handle_check(*handle, KIND_PROGRAM) : NULL;
    if (program == NULL)
        return NVRTC_INVALID_PROGRAM;
    fake_handle_remove(&program->handle);
    free(program->source);
    free(program->name);
    free(program->log);
    free(program->ptx);
    free(program->cubin);
    free(program);
    *handle = NULL;
    return NVRTC_OK;
}

/* ---- options ----------------------------------------------------------------------- */

static bool read_arch(const char *value, options_t *out)
{
    const char *digits = strchr(value, '_');
    bool real = strncmp(value, "sm_", 3) == 0;
    if (digits == NULL || (!real && strncmp(value, "compute_", 8) != 0))
        return false;
    int arch = atoi(digits + 1);
    for (int i = 0; i < ARCH_COUNT; i++) {
        if (archs[i] != arch)
            continue;
        out->real = real;
        snprintf(out->arch, sizeof out->arch, "sm_%d", arch);
        snprintf(out->arch_macro, sizeof out->arch_macro, "__CUDA_ARCH__=%d", arch * 10);
        return true;
    }
    return false;
}

/* The value after "=" or in the next word, when `option` is `name`. */
static const char *value_of(const char *const *words, int count, int *at,
                            const char *name)
{
    size_t length = strlen(name);
    const char *word = words[*at];
    if (strncmp(word, name, length) != 0)
        return NULL;
    if (word[length] == '=')
        return word + length + 1;
    if (word[length] == '\0' && *at + 1 < count)
        return words[++*at];
    return NULL;
}

static bool read_flag(const char *word)
{
    static const char *const known[] = {"-lineinfo",
                                        "--generate-line-info",
                                        "-G",
                                        "--device-debug",
                                        "-default-device",
                                        "--device-as-default-execution-space",
                                        "-w",
                                        "--disable-warnings",
                                        "-use_fast_math",
                                        "--use_fast_math",
                                        "-rdc=false",
                                        "-time=-",
                                        "-restrict",
                                        "--restrict"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i]) == 0)
            return true;
    return strncmp(word, "--std=", 6) == 0 || strncmp(word, "-std=", 5) == 0 ||
           strncmp(word, "--ftz=", 6) == 0 || strncmp(word, "-ftz=", 5) == 0 ||
           strncmp(word, "--prec-div=", 11) == 0 ||
           strncmp(word, "-prec-div=", 10) == 0 ||
           strncmp(word, "--prec-sqrt=", 12) == 0 ||
           strncmp(word, "-prec-sqrt=", 11) == 0;
}

static bool keep(const char **list, size_t *count, const char *value)
{
    if (*count == MAX_DEFINES - 8)
        return false;
    list[(*count)++] = value;
    return true;
}

static bool read_option(const char *const *words, int count, int *at, options_t *out)
{
    const char *word = words[*at], *value;
    if ((value = value_of(words, count, at, "--gpu-architecture")) != NULL ||
        (value = value_of(words, count, at, "-arch")) != NULL)
        return read_arch(value, out);
    if ((value = value_of(words, count, at, "--fmad")) != NULL ||
        (value = value_of(words, count, at, "-fmad")) != NULL) {
        out->fmad = strcmp(value, "true") == 0;
        return out->fmad || strcmp(value, "false") == 0;
    }
    if ((value = value_of(words, count, at, "--define-macro")) != NULL ||
        (value = value_of(words, count, at, "-D")) != NULL)
        return keep(out->defines, &out->define_count, value);
    if (strncmp(word, "-D", 2) == 0)
        return keep(out->defines, &out->define_count, word + 2);
    if ((value = value_of(words, count, at, "--include-path")) != NULL ||
        (value = value_of(words, count, at, "-I")) != NULL)
        return keep(out->folders, &out->folder_count, value);
    if (strncmp(word, "-I", 2) == 0)
        return keep(out->folders, &out->folder_count, word + 2);
    return read_flag(word);
}

static void say(program_t *program, const char *text, const char *word)
{
    char *log = NULL;
    if (asprintf(&log, "nvrtc: error: %s '%s'\n", text, word) < 0)
        return;
    free(program->log);
    program->log = log;
}

/* ---- compiling --------------------------------------------------------------------- */

static bool compile_form(program_t *program, const options_t *options, char form,
                         fake_image_t **out_image)
{
    fake_compile_t what = {.source = program->source,
                           .name = program->name,
                           .language = "FAKE_CUDA",
                           .defines = options->defines,
                           .define_count = options->define_count,
                           .folders = options->folders,
                           .folder_count = options->folder_count,
                           .contract = options->fmad,
                           .vendor = fake_defaults.vendor,
                           .arch = options->arch,
                           .form = form};
    free(program->log);
    free(*out_image);
    *out_image = NULL;
    return fake_compile(&what, out_image, &program->log);
}

FAKE_API int nvrtcCompileProgram(void *handle, int option_count, const char *const *words)
{
    PROGRAM_OR_RETURN(nvrtcCompileProgram, handle);
    options_t options = {.fmad = true};
    if (option_count < 0 || (option_count > 0 && words == NULL))
        return NVRTC_INVALID_INPUT;
    read_arch("compute_75", &options); /* the default of 13.0 */
    for (int i = 0; i < option_count; i++) {
        const char *word = words[i];
        if (!read_option(words, option_count, &i, &options)) {
            say(program, "invalid value or unrecognized option", word);
            return NVRTC_INVALID_OPTION;
        }
    }
    options.defines[options.define_count++] = "__CUDACC__=1";
    options.defines[options.define_count++] = "__CUDACC_RTC__=1";
    options.defines[options.define_count++] = "__CUDACC_VER_MAJOR__=13";
    options.defines[options.define_count++] = options.arch_macro;
    if (!compile_form(program, &options, 'p', &program->ptx))
        return NVRTC_COMPILATION;
    free(program->cubin);
    program->cubin = NULL;
    if (options.real) {
        size_t size = sizeof *program->ptx + program->ptx->size;
        program->cubin = malloc(size);
        memcpy(program->cubin, program->ptx, size);
        program->cubin->form = 'b';
    }
    return NVRTC_OK;
}

/* ---- results ----------------------------------------------------------------------- */

static size_t image_size(const fake_image_t *image)
{
    return image != NULL ? sizeof *image + image->size : 0;
}

/* PTX is text: with the trailing NUL (nvrtc.h). */
FAKE_API int nvrtcGetPTXSize(void *handle, size_t *size)
{
    PROGRAM_OR_RETURN(nvrtcGetPTXSize, handle);
    if (program->ptx == NULL)
        return NVRTC_INVALID_PROGRAM;
    FAKE_OUT(*size, image_size(program->ptx) + 1);
    return NVRTC_OK;
}

FAKE_API int nvrtcGetPTX(void *handle, char *ptx)
{
    PROGRAM_OR_RETURN(nvrtcGetPTX, handle);
    if (program->ptx == NULL)
        return NVRTC_INVALID_PROGRAM;
    memcpy(ptx, program->ptx, image_size(program->ptx));
    ptx[image_size(program->ptx)] = '\0';
    return NVRTC_OK;
}

/* 0 when the architecture was a virtual one (nvrtc.h). */
FAKE_API int nvrtcGetCUBINSize(void *handle, size_t *size)
{
    PROGRAM_OR_RETURN(nvrtcGetCUBINSize, handle);
    if (program->ptx == NULL)
        return NVRTC_INVALID_PROGRAM;
    FAKE_OUT(*size, image_size(program->cubin));
    return NVRTC_OK;
}

FAKE_API int nvrtcGetCUBIN(void *handle, char *cubin)
{
    PROGRAM_OR_RETURN(nvrtcGetCUBIN, handle);
    if (program->cubin == NULL)
        return NVRTC_INVALID_PROGRAM;
    memcpy(cubin, program->cubin, image_size(program->cubin));
    return NVRTC_OK;
}

FAKE_API int nvrtcGetProgramLogSize(void *handle, size_t *size)
{
    PROGRAM_OR_RETURN(nvrtcGetProgramLogSize, handle);
    FAKE_OUT(*size, strlen(program->log) + 1);
    return NVRTC_OK;
}

FAKE_API int nvrtcGetProgramLog(void *handle, char *log)
{
    PROGRAM_OR_RETURN(nvrtcGetProgramLog, handle);
    strcpy(log, program->log);
    return NVRTC_OK;
}

/* NVRTC has no current device. */
FAKE_API uint64_t yoke_fake_current(void)
{
    return 0;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
