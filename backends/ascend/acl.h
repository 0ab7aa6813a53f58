/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_ASCEND_ACL_H
#define YOKE_BACKENDS_ASCEND_ACL_H

/*
 * Our own declarations of what we use of AscendCL (libascendcl.so) and of the aclnn
 * operators (libopapi.so, libnnopbase.so).
 *
 * Sources: acl_rt.h, acl_base.h and error_codes/rt_error_codes.h as they are public in
 * the repository Ascend/pytorch below third_party/acl/inc/acl; for the two-step aclnn
 * operators aclnn/acl_meta.h and aclnnop/ *.h as declared by its callers (ggml
 * src/ggml-cann, op-plugin of Ascend); for aclrtLaunchHostFunc the CANN runtime
 * documentation ("Stream management"). No header is installed here to compare with.
 */

#include <stddef.h>
#include <stdint.h>

typedef void *yoke_acl_context_t; /* aclrtContext, aclrtStream, aclrtEvent are void * */

enum {
    YOKE_ACL_SUCCESS = 0,
    /* acl_base.h */
    YOKE_ACL_ERROR_REPEAT_INITIALIZE = 100002,
    YOKE_ACL_ERROR_BAD_ALLOC = 200000,
    YOKE_ACL_ERROR_RT_DEVICE_TASK_ABORT = 107022,
    YOKE_ACL_ERROR_RT_DEVICE_MEM_ERROR = 507053,
    YOKE_ACL_ERROR_RT_HBM_MULTI_BIT_ECC_ERROR = 507054,
    YOKE_ACL_ERROR_RT_LINK_ERROR = 507056,
    /* rt_error_codes.h */
    YOKE_ACL_ERROR_RT_CONTEXT_NULL = 107002,
    YOKE_ACL_ERROR_RT_STREAM_CONTEXT = 107003,
    YOKE_ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL = 107007,
    YOKE_ACL_ERROR_RT_NO_DEVICE = 207004,
    YOKE_ACL_ERROR_RT_MEMORY_ALLOCATION = 207001,
    YOKE_ACL_ERROR_RT_LOST_HEARTBEAT = 507010,
    YOKE_ACL_ERROR_RT_SOCKET_CLOSE = 507901,
    /* acl_rt.h */
    YOKE_ACL_EVENT_SYNC = 0x1,
    YOKE_ACL_EVENT_TIME_LINE = 0x8,
    YOKE_ACL_EVENT_RECORDED_STATUS_COMPLETE = 1,
    YOKE_ACL_STREAM_STATUS_COMPLETE =
        0, /* aclrtStreamStatus: CANN runtime documentation */
    YOKE_ACL_STREAM_STATUS_NOT_READY = 1,
    YOKE_ACL_MEMCPY_HOST_TO_HOST = 0,
    YOKE_ACL_MEMCPY_HOST_TO_DEVICE = 1,
    YOKE_ACL_MEMCPY_DEVICE_TO_HOST = 2,
    YOKE_ACL_MEMCPY_DEVICE_TO_DEVICE = 3,
    YOKE_ACL_MEM_MALLOC_HUGE_FIRST = 0,
    YOKE_ACL_DDR_MEM = 0,
    YOKE_ACL_HBM_MEM = 1,
    /* "For on-chip Device-to-Device memory copy, both addresses must be 64-byte aligned"
     */
    YOKE_ACL_COPY_ALIGNMENT = 64,
    /* acl_base.h: aclDataType, aclFormat */
    YOKE_ACL_FLOAT = 0,
    YOKE_ACL_FLOAT16 = 1,
    YOKE_ACL_INT8 = 2,
    YOKE_ACL_INT32 = 3,
    YOKE_ACL_UINT8 = 4,
    YOKE_ACL_INT64 = 9,
    YOKE_ACL_DOUBLE = 11,
    YOKE_ACL_BF16 = 27,
    YOKE_ACL_FORMAT_ND = 2
};

typedef struct yoke_acl {
    int (*init)(const char *config_path);
    int (*device_count)(uint32_t *);
    int (*set_device)(int32_t);
    int (*get_context)(yoke_acl_context_t *);
    int (*set_context)(yoke_acl_context_t);
    const char *(*soc_name)(void);
    int (*memory_info)(int attribute, size_t *out_free, size_t *out_total);
    int (*allocate)(void **, size_t, int policy);
    int (*release)(void *);
    int (*allocate_host)(void **, size_t);
    int (*release_host)(void *);
    int (*copy)(void *dst, size_t dst_size, const void *src, size_t size, int kind);
    int (*copy_async)(void *dst, size_t dst_size, const void *src, size_t size, int kind,
                      void *stream);
    int (*fill_async)(void *dst, size_t dst_size, int32_t value, size_t size,
                      void *stream);
    int (*stream_create)(void **);
    int (*stream_destroy)(void *);
    int (*stream_sync)(void *);
    int (*stream_query)(void *stream, int *out_status);
    int (*stream_wait)(void *stream, void *event);
    int (*event_create)(void **, uint32_t flags);
    int (*event_destroy)(void *);
    int (*event_record)(void *event, void *stream);
    int (*event_query)(void *event, int *out_status);
    int (*event_sync)(void *);
    int (*event_elapsed)(float *out_ms, void *start, void *end);
    /* optional */
    int (*host_call)(void *stream, void (*function)(void *), void *context);
    int (*can_access_peer)(int32_t *, int32_t device, int32_t peer);
    int (*enable_peer)(int32_t peer, uint32_t flags);
    int (*version)(int32_t *, int32_t *, int32_t *);
    const char *(*recent_message)(void);
} yoke_acl_t;

/* The aclnn operators: a plan with its workspace, then the run. */
typedef struct yoke_aclnn {
    void *(*tensor)(const int64_t *view, uint64_t dimensions, int type,
                    const int64_t *strides, int64_t offset, int format,
                    const int64_t *storage, uint64_t storage_dimensions, void *data);
    int (*tensor_end)(const void *tensor);
    void *(*scalar)(void *value, int type);
    int (*scalar_end)(const void *scalar);
    int (*executor_keep)(void *executor); /* optional, as the next */
    int (*executor_end)(void *executor);
    int (*matmul_plan)(const void *a, const void *b, void *out, int8_t cube_math_type,
                       uint64_t *out_workspace, void **out_executor);
    int (*add_plan)(const void *a, const void *b, const void *alpha, void *out,
                    uint64_t *out_workspace, void **out_executor);
    /* aclnnMul, aclnnMaximum, aclnnMinimum */
    int (*binary_plan[3])(const void *a, const void *b, void *out,
                          uint64_t *out_workspace, void **out_executor);
    int (*matmul)(void *workspace, uint64_t size, void *executor, void *stream);
    int (*add)(void *workspace, uint64_t size, void *executor, void *stream);
    int (*binary[3])(void *workspace, uint64_t size, void *executor, void *stream);
} yoke_aclnn_t;

const char *yoke_acl_error_name(int64_t code);

#endif
