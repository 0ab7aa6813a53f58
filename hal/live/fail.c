/* SPDX-License-Identifier: Apache-2.0 */
/* Failures of vendors' libraries: one message, and its parts for those who ask. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "hal/live/fail.h"
#include "yoke/backend.h"

/* The parts belong to the failure of number `serial` on this thread. */
static _Thread_local struct {
    uint64_t serial;
    int64_t code;
    char call[96], name[96];
} vendor;

yoke_status_t yoke_backend_fail(const yoke_backend_ops_t *ops, yoke_status_t status,
                                const char *call, int64_t code, const char *text)
{
    const char *name = ops->error_name != NULL ? ops->error_name(code) : NULL;
    bool more = text != NULL && text[0] != '\0';
    snprintf(vendor.call, sizeof vendor.call, "%s", call);
    snprintf(vendor.name, sizeof vendor.name, "%s", name != NULL ? name : "unknown code");
    vendor.code = code;
    yoke_fail(status, "%s: %s (%" PRId64 ")%s%s", vendor.call, vendor.name, code,
              more ? ": " : "", more ? text : "");
    vendor.serial = yoke_fail_count();
    return status;
}

yoke_status_t yoke_backend_fail_text(yoke_status_t status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    yoke_vfail(status, format, args);
    va_end(args);
    return status;
}

void yoke_backend_append(const char *format, ...)
{
    char message[1024], more[512];
    bool is_vendors = vendor.serial == yoke_fail_count();
    va_list args;
    va_start(args, format);
    vsnprintf(more, sizeof more, format, args);
    va_end(args);
    snprintf(message, sizeof message, "%s", yoke_last_error());
    yoke_fail(YOKE_ERR_SYSTEM, "%s%s", message, more);
    if (is_vendors)
        vendor.serial = yoke_fail_count();
}

bool yoke_last_vendor_error(const char **out_call, int64_t *out_code,
                            const char **out_name)
{
    if (vendor.serial == 0 || vendor.serial != yoke_fail_count())
        return false;
    if (out_call != NULL)
        *out_call = vendor.call;
    if (out_code != NULL)
        *out_code = vendor.code;
    if (out_name != NULL)
        *out_name = vendor.name;
    return true;
}

const char *yoke_capability_name(uint64_t bit)
{
    switch (bit) {
    case YOKE_CAP_PINNED:
        return "pinned";
    case YOKE_CAP_SHARED:
        return "shared";
    case YOKE_CAP_ADDRESS:
        return "address";
    case YOKE_CAP_PEER:
        return "peer";
    case YOKE_CAP_TIMING:
        return "timing";
    case YOKE_CAP_SOURCE:
        return "source";
    case YOKE_CAP_NATIVE_SOURCE:
        return "native-source";
    case YOKE_CAP_BINARY:
        return "binary";
    case YOKE_CAP_GATE:
        return "gate";
    case YOKE_CAP_HOST_CALL:
        return "host-call";
    case YOKE_CAP_WRAP:
        return "wrap";
    case YOKE_CAP_FP64:
        return "fp64";
    case YOKE_CAP_ATOMICS64:
        return "atomics64";
    case YOKE_CAP_GEMM:
        return "gemm";
    case YOKE_CAP_PRIORITY:
        return "priority";
    case YOKE_CAP_FREE_MEMORY:
        return "free-memory";
    case YOKE_CAP_EXHAUSTS:
        return "exhausts";
    default:
        return NULL;
    }
}
