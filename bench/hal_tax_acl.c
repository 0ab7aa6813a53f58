/* SPDX-License-Identifier: Apache-2.0 */
/* Raw programs for Ascend (AscendCL, acl/acl_rt.h of gitee.com/ascend/acl) and Cambricon
 * (CNRT 6, cnrt.h). Neither launches programs of ours. */
#include "bench/hal_tax.h"

#include <stdint.h>

/* aclrtMemcpyKind */
enum { ACL_IN = 1, ACL_OUT = 2, ACL_WITHIN = 3 };
/* cnrtMemTransDir_t */
enum { CNRT_IN = 0, CNRT_WITHIN = 1, CNRT_OUT = 2 };

static struct {
    int (*set_device)(int32_t);
    int (*set_context)(void *);
    int (*copy)(void *, size_t, const void *, size_t, int, void *);
    int (*fill)(void *, size_t, int32_t, size_t, void *);
    int (*record)(void *, void *);
    int (*wait)(void *, void *);
} acl;

static int acl_current(tax_t *tax)
{
    return tax->native.context != NULL ? acl.set_context(tax->native.context)
                                       : acl.set_device(0);
}

static bool acl_open(tax_t *tax, const char *prefix)
{
    return TAX_FIND(tax, prefix, "SetDevice", acl.set_device) &&
           TAX_FIND(tax, prefix, "SetCurrentContext", acl.set_context) &&
           TAX_FIND(tax, prefix, "MemcpyAsync", acl.copy) &&
           TAX_FIND(tax, prefix, "MemsetAsync", acl.fill) &&
           TAX_FIND(tax, prefix, "RecordEvent", acl.record) &&
           TAX_FIND(tax, prefix, "StreamWaitEvent", acl.wait) && acl_current(tax) == 0;
}

static int acl_loop(tax_t *tax, tax_operation_t operation, unsigned long count)
{
    void *x = tax->native_x, *y = tax->native_y;
    int code = 0;
    for (unsigned long i = 0; i < count && code == 0; i++)
        switch (operation) {
        case TAX_COPY:
            code = acl.copy(y, TAX_SIZE, x, TAX_SIZE, ACL_WITHIN, tax->stream);
            break;
        case TAX_WRITE:
            code = acl.copy(x, TAX_SIZE, tax->host, TAX_SIZE, ACL_IN, tax->stream);
            break;
        case TAX_READ:
            code = acl.copy(tax->host, TAX_SIZE, x, TAX_SIZE, ACL_OUT, tax->stream);
            break;
        case TAX_FILL:
            code = acl.fill(x, TAX_SIZE, 7, TAX_SIZE, tax->stream);
            break;
        case TAX_RECORD:
            code = acl.record(tax->event, tax->stream);
            break;
        default:
            code = acl.wait(tax->stream, tax->event);
            break;
        }
    return code;
}

const tax_vendor_t tax_ascend = {.backend = "ascend",
                                 .prefix = "aclrt",
                                 .open = acl_open,
                                 .loop = acl_loop,
                                 .make_current = acl_current,
                                 .get = "aclrtGetCurrentContext",
                                 .set = "aclrtSetCurrentContext"};

/* --- Cambricon ---------------------------------------------------------------------- */

static struct {
    int (*set_device)(int);
    int (*copy)(void *, void *, size_t, void *, int);
    int (*fill)(void *, int, size_t, void *);
    int (*record)(void *, void *);
    int (*wait)(void *, void *, unsigned);
} cnrt;

static int cnrt_current(tax_t *tax)
{
    (void)tax;
    return cnrt.set_device(0);
}

static bool cnrt_open(tax_t *tax, const char *prefix)
{
    return TAX_FIND(tax, prefix, "SetDevice", cnrt.set_device) &&
           TAX_FIND(tax, prefix, "MemcpyAsync_V3", cnrt.copy) &&
           TAX_FIND(tax, prefix, "MemsetAsync", cnrt.fill) &&
           TAX_FIND(tax, prefix, "PlaceNotifier", cnrt.record) &&
           TAX_FIND(tax, prefix, "QueueWaitNotifier", cnrt.wait) &&
           cnrt_current(tax) == 0;
}

static int cnrt_loop(tax_t *tax, tax_operation_t operation, unsigned long count)
{
    void *x = tax->native_x, *y = tax->native_y;
    int code = 0;
    for (unsigned long i = 0; i < count && code == 0; i++)
        switch (operation) {
        case TAX_COPY:
            code = cnrt.copy(y, x, TAX_SIZE, tax->stream, CNRT_WITHIN);
            break;
        case TAX_WRITE:
            code = cnrt.copy(x, tax->host, TAX_SIZE, tax->stream, CNRT_IN);
            break;
        case TAX_READ:
            code = cnrt.copy(tax->host, x, TAX_SIZE, tax->stream, CNRT_OUT);
            break;
        case TAX_FILL:
            code = cnrt.fill(x, 7, TAX_SIZE, tax->stream);
            break;
        case TAX_RECORD:
            code = cnrt.record(tax->event, tax->stream);
            break;
        default:
            code = cnrt.wait(tax->event, tax->stream, 0);
            break;
        }
    return code;
}

const tax_vendor_t tax_cambricon = {.backend = "cambricon",
                                    .prefix = "cnrt",
                                    .open = cnrt_open,
                                    .loop = cnrt_loop,
                                    .make_current = cnrt_current,
                                    .get = "cnrtGetDevice",
                                    .set = "cnrtSetDevice"};
