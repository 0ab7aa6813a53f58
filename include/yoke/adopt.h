/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_ADOPT_H
#define YOKE_ADOPT_H

/**
 * A framework's own device, stream, event and memory as objects of Yoke, without a fence
 * or a copy, and native handles back out.
 *
 * What a native handle is, by backend:
 *   backend                        device           queue               event buffer cuda
 * corex                     CUdevice number  CUstream            CUevent CUdeviceptr musa
 * MUdevice number  MUstream            MUevent         MUdeviceptr hip dtk device number
 * hipStream_t         hipEvent_t      pointer maca                           device
 * number    mcStream_t          mcEvent_t       pointer ascend device number aclrtStream
 * aclrtEvent      pointer cambricon                      device number    cnrtQueue_t
 * cnrtNotifier_t  pointer opencl                         cl_device_id cl_command_queue
 * cl_event        cl_mem level_zero                     ze_device_handle ze_command_list
 * (immediate) ze_event pointer host                           0                none none
 * pointer opencl and level_zero also need `context` (cl_context, ze_context_handle_t):
 * objects of two contexts do not meet.
 *
 * Threads, ownership and errors: yoke/device.h. All need YOKE_CAP_WRAP, but for devices.
 */

#include "yoke/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_native {
    size_t struct_size; /**< sizeof(yoke_native_t) */
    void *handle;       /**< a device number is cast: (void *)(intptr_t)1 */
    void *context; /**< cl_context, ze_context_handle_t; CUDA: the CUcontext, which may be
                      one that the framework made; NULL: the primary one */
} yoke_native_t;

/** Called once, when the wrapped object is destroyed; may be NULL. Any thread. */
typedef void (*yoke_release_t)(void *context, void *handle);

/** Open the device behind a native handle; the handle is not owned. One device that is
 * opened twice gives two objects whose queues and buffers may be mixed. */
yoke_status_t yoke_device_from_native(const char *backend, const yoke_native_t *native,
                                      const yoke_device_options_t *options,
                                      yoke_device_t **out_device);
/** A stream of the framework. NULL as handle: the runtime's default stream; each call on
 * such a queue asks once which context is current. */
yoke_status_t yoke_queue_wrap(yoke_device_t *device, void *handle, yoke_release_t release,
                              void *context, yoke_queue_t **out_queue);
/** An event that was recorded, or will be. */
yoke_status_t yoke_event_wrap(yoke_device_t *device, void *handle, yoke_release_t release,
                              void *context, yoke_event_t **out_event);
/** Memory of the device. @param size  bytes from the handle's start that may be used */
yoke_status_t yoke_buffer_wrap(yoke_device_t *device, yoke_memory_kind_t kind,
                               void *handle, uint64_t size, yoke_release_t release,
                               void *context, yoke_buffer_t **out_buffer);

/** Native handles; they stay owned by the object. `out` has its struct_size set. */
yoke_status_t yoke_device_native(const yoke_device_t *device, yoke_native_t *out);
yoke_status_t yoke_queue_native(const yoke_queue_t *queue, yoke_native_t *out);
yoke_status_t yoke_event_native(const yoke_event_t *event, yoke_native_t *out);
yoke_status_t yoke_buffer_native(const yoke_buffer_t *buffer, yoke_native_t *out);

#ifdef __cplusplus
}
#endif
#endif
