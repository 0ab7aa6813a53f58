/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_KERNEL_H
#define YOKE_TESTS_FAKES_COMMON_KERNEL_H

/* Loads images (compile.h) and runs their kernels in streams. Threads: any. */

#include "compile.h"
#include "memory.h"
#include "stream.h"

typedef struct fake_module fake_module_t; /* shared by equal images; never unloaded */
typedef struct fake_kernel fake_kernel_t; /* lives as long as the process */

/* NULL: it does not load. */
const fake_module_t *fake_module_load(const fake_image_t *image);
/* NULL: no extern "C" kernel of that name. */
const fake_kernel_t *fake_module_kernel(const fake_module_t *module, const char *name);
/* A variable at file scope; NULL: none. */
void *fake_module_variable(const fake_module_t *module, const char *name,
                           size_t *out_size);

typedef struct fake_launch {
    uint32_t grid[3], block[3];
    size_t shared; /* dynamic local memory, bytes */
    /* One of them; read now. `packed` is a buffer with the parameters at their natural
     * alignment. */
    void *const *parameters;
    const void *packed;
    size_t packed_size;
    /* Called on the worker, in place of the kernel, when a pointer parameter is neither
     * NULL nor an address that the device can use. */
    void (*illegal)(void *context);
    /* May the launch use this block? NULL: every block. */
    bool (*reaches)(void *context, const fake_block_t *block);
    void *context;
} fake_launch_t;

/* False: `packed` is too short. */
bool fake_kernel_launch(const fake_kernel_t *kernel, fake_stream_t *stream,
                        const fake_launch_t *launch);
uint32_t fake_kernel_parameters(const fake_kernel_t *kernel);

#endif
