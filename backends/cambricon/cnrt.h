/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CAMBRICON_CNRT_H
#define YOKE_BACKENDS_CAMBRICON_CNRT_H

/*
 * Our own declarations of what we use of Cambricon's CNRT 6 (libcnrt.so).
 *
 * Sources: copies of cnrt.h 6.x (6.14.1) in public repositories, for every value,
 * prototype and the property structure of cnrtGetDeviceProperties_V3; callers in FlagCX
 * (mlu_adaptor.cc), Mooncake (gpu_vendor/mlu.h) and torch_mlu for cnrtMemcpyAsync_V3.
 * CNNL's enumerations are in no public source that was found: its operators are not used.
 */

#include <stddef.h>
#include <stdint.h>

enum {
    YOKE_CNRT_SUCCESS = 0,
    YOKE_CNRT_ERROR_NOT_READY = 1,
    YOKE_CNRT_ERROR_NO_DEVICE = 100004,
    YOKE_CNRT_ERROR_SYS_NO_MEM = 100010,
    YOKE_CNRT_ERROR_NO_MEM = 100100,
    YOKE_CNRT_ERROR_ASSERT = 100128,
    YOKE_CNRT_ERROR_KERNEL_TRAP = 100132,
    YOKE_CNRT_ERROR_DEVICE =
        632006, /* "current resource is not from the current device" */
    YOKE_CNRT_ERROR_BUSY = 632014,
    YOKE_CNRT_ERROR_NO_CONTEXT = 632019,
    /* cnrtMemTransDir_t: not the order of CUDA */
    YOKE_CNRT_HOST_TO_DEVICE = 0,
    YOKE_CNRT_DEVICE_TO_DEVICE = 1,
    YOKE_CNRT_DEVICE_TO_HOST = 2,
    YOKE_CNRT_HOST_TO_HOST = 3,
    /* cnrtNotifierFlags_t */
    YOKE_CNRT_NOTIFIER_DEFAULT = 0,
    YOKE_CNRT_NOTIFIER_DISABLE_TIMING_ALL = 4,
    /* cnrtDeviceAttr_t */
    YOKE_CNRT_ATTRIBUTE_CLUSTERS = 0x205,
    YOKE_CNRT_ATTRIBUTE_CORES_PER_CLUSTER = 0x206,
    YOKE_CNRT_ATTRIBUTE_PCI_BUS = 0x406,
    YOKE_CNRT_ATTRIBUTE_PCI_DEVICE = 0x407,
    YOKE_CNRT_ATTRIBUTE_PCI_DOMAIN = 0x408
};

typedef struct yoke_cnrt_properties { /* struct cnrtDeviceProp_V3 */
    char name[256];
    int unused[46];
    char uuid[16];
    uint64_t total_memory; /* bytes */
    int reserved[30];
} yoke_cnrt_properties_t;

typedef struct yoke_cnrt {
    int (*device_count)(unsigned *);
    int (*set_device)(int);
    int (*get_device)(int *);
    int (*properties)(yoke_cnrt_properties_t *, int);
    int (*attribute)(int *, int attribute, int device);
    int (*memory_info)(size_t *out_free, size_t *out_total);
    int (*allocate)(void **, size_t);
    int (*release)(void *);
    int (*allocate_host)(void **, size_t);
    int (*release_host)(void *);
    int (*copy_async)(void *dst, void *src, size_t size, void *queue, int direction);
    int (*fill_async)(void *dst, int value, size_t size, void *queue);
    int (*queue_create)(void **);
    int (*queue_destroy)(void *);
    int (*queue_sync)(void *);
    int (*queue_query)(void *);
    int (*queue_wait)(void *notifier, void *queue, unsigned flags); /* not CUDA's order */
    int (*notifier_create)(void **, unsigned flags);
    int (*notifier_destroy)(void *);
    int (*notifier_place)(void *notifier, void *queue);
    int (*notifier_query)(void *);
    int (*notifier_wait)(void *);
    int (*notifier_elapsed)(void *start, void *end, float *out_ms);
    int (*last_error)(void); /* reads and clears the thread's sticky error */
    /* optional */
    int (*host_call)(void *queue, void (*function)(void *), void *context);
    int (*peer_query)(unsigned *, int device, int peer);
    int (*copy_peer_async)(void *dst, int dst_device, void *src, int src_device,
                           size_t size, void *queue);
    int (*queue_create_priority)(void **, unsigned flags, int priority);
    int (*priority_range)(int *out_least, int *out_greatest);
    int (*version)(int *, int *, int *);
    const char *(*error_text)(int);
} yoke_cnrt_t;

const char *yoke_cnrt_error_name(int64_t code);

#endif
