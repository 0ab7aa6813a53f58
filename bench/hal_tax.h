/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BENCH_HAL_TAX_H
#define YOKE_BENCH_HAL_TAX_H

/*
 * What hal_tax.c shares with the raw programs beside it (hal_tax_*.c): loops of enqueues
 * as somebody would write them for one vendor, on the same stream, event and memory that
 * Yoke uses in its own loop.
 */

#include <stdbool.h>
#include "yoke/adopt.h"
#include "yoke/kernel.h"

typedef enum tax_operation {
    TAX_EMPTY,    /* launch of a kernel that takes and does nothing */
    TAX_LAUNCH,   /* of one that takes a value and two buffers */
    TAX_PREPARED, /* the same, prepared; raw: as before */
    TAX_COPY,
    TAX_WRITE,
    TAX_READ,
    TAX_FILL,
    TAX_RECORD,
    TAX_WAIT,
    TAX_OPERATIONS
} tax_operation_t;

#define TAX_SIZE 4096u /* bytes of each copy and fill, of which 4 make an item */
#define TAX_ITEMS (TAX_SIZE / 4u)
#define TAX_GROUP 64u

typedef struct tax {
    const char *backend;
    void *library; /* the vendor's, open already */
    bool pinned;   /* what write() and read() use as host memory */
    yoke_device_t *device;
    yoke_queue_t *queue;
    yoke_event_t *mark;
    yoke_buffer_t *x, *y, *host_buffer;
    yoke_program_t *program; /* NULL: the device takes none */
    yoke_kernel_t *empty, *kernel;
    yoke_prepared_launch_t *prepared;
    void *host; /* TAX_SIZE bytes */
    float factor;
    /* the same things as the vendor knows them */
    yoke_native_t native;
    void *stream, *event, *native_x, *native_y;
    const void *binary;
    size_t binary_size;
} tax_t;

typedef struct tax_vendor {
    const char *backend;
    const char *prefix; /* of its functions */
    /* Find the functions and make what the loops need; false: told on stderr. */
    bool (*open)(tax_t *tax, const char *prefix);
    /* `count` enqueues of one kind. 0, or the first code that is no success. */
    int (*loop)(tax_t *tax, tax_operation_t operation, unsigned long count);
    /* Make Yoke's device current, as a raw program has done once. */
    int (*make_current)(tax_t *tax);
    const char *get, *set; /* what saves and restores; NULL: nothing is ever current */
    unsigned differs;      /* bit per operation: Yoke does more there, as the docs say */
} tax_vendor_t;

extern const tax_vendor_t tax_cuda, tax_corex, tax_musa, tax_hip, tax_dtk, tax_maca,
    tax_ascend, tax_cambricon, tax_level_zero, tax_opencl;

/* Address of prefix + name, told on stderr when it is missing. */
void *tax_symbol(const tax_t *tax, const char *prefix, const char *name);
/* Set a function pointer of any type. */
#define TAX_FIND(tax, prefix, name, pointer)                                             \
    ((*(void **)(void *)&(pointer) = tax_symbol(tax, prefix, name)) != NULL)

#endif
