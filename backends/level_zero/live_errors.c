/* SPDX-License-Identifier: Apache-2.0 */
/* From Level Zero's codes to ours. */
#include "backends/level_zero/live.h"

static yoke_status_t status_of(uint32_t code)
{
    switch (code) {
    case YOKE_ZE_ERROR_DEVICE_LOST:
    case YOKE_ZE_ERROR_DEVICE_REQUIRES_RESET:
        return YOKE_ERR_DEVICE_LOST;
    case YOKE_ZE_ERROR_OUT_OF_HOST_MEMORY:
        return YOKE_ERR_NO_MEMORY;
    case YOKE_ZE_ERROR_OUT_OF_DEVICE_MEMORY:
    case YOKE_ZE_ERROR_UNSUPPORTED_SIZE:
        return YOKE_ERR_DEVICE_MEMORY;
    case YOKE_ZE_ERROR_UNSUPPORTED_FEATURE:
        return YOKE_ERR_UNSUPPORTED;
    case YOKE_ZE_ERROR_INVALID_KERNEL_NAME:
        return YOKE_ERR_NOT_FOUND;
    case YOKE_ZE_ERROR_INVALID_GROUP_SIZE_DIMENSION:
    case YOKE_ZE_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION:
        return YOKE_ERR_OUT_OF_RANGE;
    case YOKE_ZE_ERROR_INVALID_KERNEL_ARGUMENT_INDEX:
    case YOKE_ZE_ERROR_INVALID_KERNEL_ARGUMENT_SIZE:
    case YOKE_ZE_ERROR_OVERLAPPING_REGIONS:
        return YOKE_ERR_USAGE;
    default:
        return YOKE_ERR_SYSTEM;
    }
}

yoke_status_t yoke_ze_fail(const char *call, uint32_t code)
{
    return yoke_backend_fail(&yoke_level_zero_ops, status_of(code), call, (int64_t)code,
                             NULL);
}
