/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDALIKE_RTC_H
#define YOKE_BACKENDS_CUDALIKE_RTC_H

/*
 * Run-time compilers of NVRTC's shape. NVRTC returns an error for what it does not know
 * and runs in the process. The others sit on LLVM: hipRTC of ROCm 5.2 aborts the whole
 * process on an architecture that it does not know, so they run in the helper program.
 */

#include "backends/backend.h"

typedef struct yoke_rtc_code {
    unsigned char *data; /* malloc(); one NUL after it, which modules in text form need */
    size_t size;
} yoke_rtc_code_t;

typedef struct yoke_rtc {
    const char *prefix;      /* "nvrtc": of all its symbols */
    const char *name;        /* "NVRTC": in messages and the compiler's version */
    const char *library_key; /* NULL: only inside the runtime's own library */
    const char *const *libraries;
    bool inside; /* the runtime's library may hold it: look there first */
    bool helper; /* in the helper program */
    const char *code, *code_other; /* "GetCUBIN": getter of the result, with ...Size */
    const char *text; /* "GetPTX": the same for a form that newer devices take; or NULL */
    /* Format of the architecture option for the device's architecture, or NULL: none. */
    const char *option;
    /* The dialect whose programs get yoke_dialect_options(); NONE: no options known. */
    yoke_dialect_t dialect;
} yoke_rtc_t;

/* Prototypes as in nvrtc.h (13.0) and hiprtc.h (5.2), results as int, programs as
 * void *; tests/hal/header_check_*.c compare them. */
typedef struct yoke_rtc_api {
    int (*version)(int *out_major, int *out_minor);
    int (*create)(void **out_program, const char *source, const char *name, int headers,
                  const char **header_sources, const char **header_names);
    int (*compile)(void *program, int count, const char **options);
    int (*destroy)(void **program);
    int (*log_size)(void *program, size_t *out_size);
    int (*log)(void *program, char *out_text);
    int (*code_size)(void *program, size_t *out_size);
    int (*code)(void *program, char *out_code);
    int (*text_size)(void *program, size_t *out_size);
    int (*text)(void *program, char *out_text);
    int (*arch_count)(int *out_count);
    int (*archs)(int *out_archs);
    const char *(*error_string)(int code);
    const char *code_name, *text_name; /* "GetCUBIN", "GetPTX": of the getters above */
} yoke_rtc_api_t;

/* Codes of nvrtcResult (nvrtc.h 13.0) and hiprtcResult (hiprtc.h 5.2): equal. The others
 * are taken to be an error when they are not 0. */
enum { YOKE_RTC_INVALID_OPTION = 5, YOKE_RTC_COMPILATION = 6 };

/* One compiler of one runtime in this process. */
typedef struct yoke_rtc_loaded {
    bool tried, usable;
    const yoke_rtc_t *rtc;
    yoke_rtc_api_t api;
    char *path;    /* the library's file */
    char *problem; /* why it is not usable */
    char version[64];
} yoke_rtc_loaded_t;

/* Load it, once; `runtime` is the runtime's own library. The caller holds a lock. */
void yoke_rtc_load(yoke_rtc_loaded_t *loaded, const yoke_rtc_t *rtc,
                   const yoke_library_t *runtime);
void yoke_rtc_forget(yoke_rtc_loaded_t *loaded);

/*
 * Compile for `architecture` ("sm_90", "gfx90a"; "" where the device tells none).
 * YOKE_ERR_BAD_INPUT without a message: it does not compile. YOKE_ERR_UNSUPPORTED: the
 * compiler does not know the architecture, or ended its process.
 */
yoke_status_t yoke_rtc_compile(const yoke_rtc_loaded_t *loaded, const char *architecture,
                               const yoke_impl_program_source_t *source,
                               yoke_log_text_t log, void *log_context,
                               yoke_rtc_code_t *out_code);

/* Split compiler options at blanks; quotes group. `out_words` are in one block that
 * starts at out_words[0]'s storage: free(*out_block). */
bool yoke_rtc_split(const char *options, const char **out_words, size_t limit,
                    size_t *out_count, char **out_block);
/* The highest of `archs` that is not above `wanted` (90 for sm_90); 0: none. */
int yoke_rtc_pick(const int *archs, int count, int wanted);

/* --- the two ends of the helper ------------------------------------------------------
 */

/* In the helper program: PREFIX LIBRARY OPTION...; source at descriptor 4, answer at 5.
 */
bool yoke_rtc_helper(int argc, char **argv);
yoke_status_t yoke_rtc_compile_apart(const yoke_rtc_loaded_t *loaded,
                                     const char *const *options, size_t option_count,
                                     const char *architecture,
                                     const yoke_impl_program_source_t *source,
                                     yoke_log_text_t log, void *log_context,
                                     yoke_rtc_code_t *out_code);

/* Shared by both: resolve, compile, fetch. Returns the vendor's code. */
bool yoke_rtc_resolve(const yoke_rtc_t *rtc, const yoke_library_t *library,
                      yoke_rtc_api_t *out_api, const char **out_missing);
typedef struct yoke_rtc_result {
    int code;      /* 0: compiled */
    char call[40]; /* which call gave it, without the prefix */
    char *log;     /* malloc() or NULL */
    yoke_rtc_code_t binary;
} yoke_rtc_result_t;
void yoke_rtc_run(const yoke_rtc_api_t *api, const char *source, const char *name,
                  const char *const *options, size_t option_count, bool as_text,
                  yoke_rtc_result_t *out_result);
void yoke_rtc_result_clear(yoke_rtc_result_t *result);
/* All compilers that the helper knows, by prefix; NULL: none of that name. */
const yoke_rtc_t *yoke_rtc_by_prefix(const char *prefix);

extern const yoke_rtc_t yoke_rtc_nvrtc, yoke_rtc_hiprtc, yoke_rtc_mcrtc, yoke_rtc_mtrtc;

#endif
