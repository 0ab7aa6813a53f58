/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_LEVEL_ZERO_SPIRV_H
#define YOKE_TESTS_FAKES_LEVEL_ZERO_SPIRV_H

/*
 * SPIR-V to a shared object for the host: llvm-spirv -r, llvm-dis, a few changes of the
 * text, clang, linked with builtins.cl and runner.c. The very module that is given is
 * compiled and run; a kernel's name only finds its code in it. Threads: any.
 */

#include "runner.h"
#include <stdbool.h>

typedef enum spirv_argument {
    SPIRV_VALUE,
    SPIRV_POINTER, /* to global or constant memory */
    SPIRV_LOCAL    /* local memory whose size the caller gives */
} spirv_argument_t;

#define SPIRV_MAX_ARGUMENTS 64

typedef struct spirv_kernel {
    char name[128];
    uint32_t count;
    uint8_t kinds[SPIRV_MAX_ARGUMENTS];  /* spirv_argument_t */
    uint16_t sizes[SPIRV_MAX_ARGUMENTS]; /* bytes; 0: a structure, of any size */
    void (*body)(void **arguments);
} spirv_kernel_t;

typedef struct spirv_module {
    void *library;
    void (*run)(const yoke_fake_grid_t *grid);
    spirv_kernel_t *kernels;
    uint32_t count;
    char *object; /* its shared object, as zeModuleGetNativeBinary() gives it */
    size_t size;
} spirv_module_t;

/* False: it does not compile. *out_log is the compiler's, the caller's to free(). */
bool spirv_compile(const void *data, size_t size, spirv_module_t *out_module,
                   char **out_log);
/* Of an object that spirv_compile() made. */
bool spirv_load(const void *object, size_t size, spirv_module_t *out_module,
                char **out_log);
void spirv_free(spirv_module_t *module);

#endif
