/* SPDX-License-Identifier: Apache-2.0 */
/* Raw programs for the runtimes of CUDA's shape: the driver API under its prefix (CUDA
 * driver API reference; MUSA under "mu") and the merged one (HIP API reference; MACA
 * under "mc"). */
#include "bench/hal_tax.h"

#include <stdint.h>

static struct {
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  unsigned, void *, void **, void **);
    int (*copy)(uintptr_t, uintptr_t, size_t, void *);
    int (*copy_in)(uintptr_t, const void *, size_t, void *);
    int (*copy_out)(void *, uintptr_t, size_t, void *);
    int (*copy_kind)(void *, const void *, size_t, int, void *);
    int (*fill)(uintptr_t, unsigned, size_t, void *);
    int (*record)(void *, void *);
    int (*wait)(void *, void *, unsigned);
    int (*context_set)(void *);
    int (*device_set)(int);
    void *empty, *function;
} vendor;

static bool load(tax_t *tax, const char *prefix)
{
    int (*module_load)(void **, const void *);
    int (*module_function)(void **, void *, const char *);
    void *module = NULL;
    if (tax->program == NULL)
        return true;
    return TAX_FIND(tax, prefix, "ModuleLoadData", module_load) &&
           TAX_FIND(tax, prefix, "ModuleGetFunction", module_function) &&
           module_load(&module, tax->binary) == 0 &&
           module_function(&vendor.empty, module, "empty") == 0 &&
           module_function(&vendor.function, module, "axpy") == 0;
}

/* --- driver API --------------------------------------------------------------------- */

static bool driver_open(tax_t *tax, const char *prefix)
{
    return (tax->program == NULL ||
            TAX_FIND(tax, prefix, "LaunchKernel", vendor.launch)) &&
           TAX_FIND(tax, prefix, "MemcpyAsync", vendor.copy) &&
           TAX_FIND(tax, prefix, "MemcpyHtoDAsync", vendor.copy_in) &&
           TAX_FIND(tax, prefix, "MemcpyDtoHAsync", vendor.copy_out) &&
           TAX_FIND(tax, prefix, "MemsetD32Async", vendor.fill) &&
           TAX_FIND(tax, prefix, "EventRecord", vendor.record) &&
           TAX_FIND(tax, prefix, "StreamWaitEvent", vendor.wait) &&
           TAX_FIND(tax, prefix, "CtxSetCurrent", vendor.context_set) &&
           vendor.context_set(tax->native.context) == 0 && load(tax, prefix);
}

static int driver_current(tax_t *tax)
{
    return vendor.context_set(tax->native.context);
}

static int driver_loop(tax_t *tax, tax_operation_t operation, unsigned long count)
{
    uintptr_t x = (uintptr_t)tax->native_x, y = (uintptr_t)tax->native_y;
    void *parameters[] = {&tax->factor, &x, &y};
    int code = 0;
    for (unsigned long i = 0; i < count && code == 0; i++)
        switch (operation) {
        case TAX_EMPTY:
            code = vendor.launch(vendor.empty, TAX_ITEMS / TAX_GROUP, 1, 1, TAX_GROUP, 1,
                                 1, 0, tax->stream, NULL, NULL);
            break;
        case TAX_LAUNCH:
        case TAX_PREPARED:
            code = vendor.launch(vendor.function, TAX_ITEMS / TAX_GROUP, 1, 1, TAX_GROUP,
                                 1, 1, 0, tax->stream, parameters, NULL);
            break;
        case TAX_COPY:
            code = vendor.copy(y, x, TAX_SIZE, tax->stream);
            break;
        case TAX_WRITE:
            code = vendor.copy_in(x, tax->host, TAX_SIZE, tax->stream);
            break;
        case TAX_READ:
            code = vendor.copy_out(tax->host, x, TAX_SIZE, tax->stream);
            break;
        case TAX_FILL:
            code = vendor.fill(x, 7, TAX_ITEMS, tax->stream);
            break;
        case TAX_RECORD:
            code = vendor.record(tax->event, tax->stream);
            break;
        default:
            code = vendor.wait(tax->stream, tax->event, 0);
            break;
        }
    return code;
}

/* --- the merged runtimes ------------------------------------------------------------ */

/* hipMemcpyKind: HostToDevice, DeviceToHost, DeviceToDevice. */
enum { KIND_IN = 1, KIND_OUT = 2, KIND_WITHIN = 3 };

static bool merged_open(tax_t *tax, const char *prefix)
{
    return (tax->program == NULL ||
            TAX_FIND(tax, prefix, "ModuleLaunchKernel", vendor.launch)) &&
           TAX_FIND(tax, prefix, "MemcpyAsync", vendor.copy_kind) &&
           TAX_FIND(tax, prefix, "MemsetD32Async", vendor.fill) &&
           TAX_FIND(tax, prefix, "EventRecord", vendor.record) &&
           TAX_FIND(tax, prefix, "StreamWaitEvent", vendor.wait) &&
           TAX_FIND(tax, prefix, "SetDevice", vendor.device_set) &&
           vendor.device_set(0) == 0 && load(tax, prefix);
}

static int merged_current(tax_t *tax)
{
    (void)tax;
    return vendor.device_set(0);
}

static int merged_loop(tax_t *tax, tax_operation_t operation, unsigned long count)
{
    void *x = tax->native_x, *y = tax->native_y;
    void *parameters[] = {&tax->factor, &x, &y};
    int code = 0;
    for (unsigned long i = 0; i < count && code == 0; i++)
        switch (operation) {
        case TAX_EMPTY:
            code = vendor.launch(vendor.empty, TAX_ITEMS / TAX_GROUP, 1, 1, TAX_GROUP, 1,
                                 1, 0, tax->stream, NULL, NULL);
            break;
        case TAX_LAUNCH:
        case TAX_PREPARED:
            code = vendor.launch(vendor.function, TAX_ITEMS / TAX_GROUP, 1, 1, TAX_GROUP,
                                 1, 1, 0, tax->stream, parameters, NULL);
            break;
        case TAX_COPY:
            code = vendor.copy_kind(y, x, TAX_SIZE, KIND_WITHIN, tax->stream);
            break;
        case TAX_WRITE:
            code = vendor.copy_kind(x, tax->host, TAX_SIZE, KIND_IN, tax->stream);
            break;
        case TAX_READ:
            code = vendor.copy_kind(tax->host, x, TAX_SIZE, KIND_OUT, tax->stream);
            break;
        case TAX_FILL:
            code = vendor.fill((uintptr_t)x, 7, TAX_ITEMS, tax->stream);
            break;
        case TAX_RECORD:
            code = vendor.record(tax->event, tax->stream);
            break;
        default:
            code = vendor.wait(tax->stream, tax->event, 0);
            break;
        }
    return code;
}

#define DRIVER(name, p)                                                                  \
    const tax_vendor_t tax_##name = {.backend = #name,                                   \
                                     .prefix = p,                                        \
                                     .open = driver_open,                                \
                                     .loop = driver_loop,                                \
                                     .make_current = driver_current,                     \
                                     .get = p "CtxGetCurrent",                           \
                                     .set = p "CtxSetCurrent"}
#define MERGED(name, p)                                                                  \
    const tax_vendor_t tax_##name = {.backend = #name,                                   \
                                     .prefix = p,                                        \
                                     .open = merged_open,                                \
                                     .loop = merged_loop,                                \
                                     .make_current = merged_current,                     \
                                     .get = p "GetDevice",                               \
                                     .set = p "SetDevice"}
DRIVER(cuda, "cu");
DRIVER(corex, "cu");
DRIVER(musa, "mu");
MERGED(hip, "hip");
MERGED(dtk, "hip");
MERGED(maca, "mc");
