/* SPDX-License-Identifier: Apache-2.0 */
/* From OpenCL's codes to ours. */
#include "backends/opencl/live.h"

static yoke_status_t status_of(int32_t code)
{
    switch (code) {
    case YOKE_CL_DEVICE_NOT_AVAILABLE:
        return YOKE_ERR_DEVICE_LOST;
    /* A cl_mem gets its memory at the latest when it is first used. */
    case YOKE_CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return YOKE_ERR_DEVICE_MEMORY;
    case YOKE_CL_OUT_OF_HOST_MEMORY:
        return YOKE_ERR_NO_MEMORY;
    case YOKE_CL_INVALID_CONTEXT:
        return YOKE_ERR_UNREACHABLE;
    case YOKE_CL_MISALIGNED_SUB_BUFFER_OFFSET:
    case YOKE_CL_INVALID_WORK_GROUP_SIZE:
    case YOKE_CL_INVALID_WORK_ITEM_SIZE:
    case YOKE_CL_INVALID_GLOBAL_WORK_SIZE:
        return YOKE_ERR_OUT_OF_RANGE;
    case YOKE_CL_INVALID_ARG_INDEX:
    case YOKE_CL_INVALID_ARG_VALUE:
    case YOKE_CL_INVALID_ARG_SIZE:
    case YOKE_CL_INVALID_KERNEL_ARGS:
        return YOKE_ERR_USAGE;
    default:
        return YOKE_ERR_SYSTEM;
    }
}

yoke_status_t yoke_ocl_fail(const char *call, int32_t code)
{
    return yoke_backend_fail(&yoke_opencl_ops, status_of(code), call, code,
                             code == YOKE_CL_INVALID_CONTEXT
                                 ? "objects of two contexts do not meet; copy through "
                                   "the host (yoke/transfer.h)"
                             : code == YOKE_CL_MISALIGNED_SUB_BUFFER_OFFSET
                                 ? "the offset of a span given to a kernel is not a "
                                   "multiple of the device's alignment"
                                 : NULL);
}

yoke_status_t yoke_ocl_fail_memory(const char *call, int32_t code)
{
    bool full = code == YOKE_CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                code == YOKE_CL_OUT_OF_RESOURCES || code == YOKE_CL_INVALID_BUFFER_SIZE;
    if (!full)
        return yoke_ocl_fail(call, code);
    return yoke_backend_fail(&yoke_opencl_ops, YOKE_ERR_DEVICE_MEMORY, call, code,
                             code == YOKE_CL_INVALID_BUFFER_SIZE
                                 ? "more than the device allows in one buffer"
                                 : NULL);
}

/*
 * OUT_OF_RESOURCES from a wait is what a driver says after a kernel left its memory, and
 * also when some resource is short for the moment. The first ruins the context: nothing
 * works on the queue afterwards. So a second command on the queue decides.
 */
yoke_status_t yoke_ocl_fail_wait(const yoke_ocl_live_t *cl, yoke_cl_queue_t queue,
                                 const char *call, int32_t code)
{
    bool doubtful =
        code == YOKE_CL_OUT_OF_RESOURCES || code == YOKE_CL_INVALID_COMMAND_QUEUE;
    if (!doubtful || queue == NULL || cl->work.finish(queue) == YOKE_CL_SUCCESS)
        return yoke_ocl_fail(call, code);
    return yoke_backend_fail(&yoke_opencl_ops, YOKE_ERR_DEVICE_LOST, call, code,
                             "nothing works on the queue any more");
}
