/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_CUDALIKE_SLOTS_H
#define YOKE_BACKENDS_CUDALIKE_SLOTS_H

/* The slots of yoke_backend_ops_t as all flavours fill them; yoke/backend.h says what
 * each does. */

#include "yoke/backend.h"

yoke_status_t yoke_cudalike_device_count(yoke_impl_runtime_t *runtime,
                                         uint32_t *out_count);
yoke_status_t yoke_cudalike_device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                        yoke_impl_info_t *out_info);
yoke_status_t yoke_cudalike_device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                        const yoke_native_t *native,
                                        yoke_impl_device_t **out_device);
void yoke_cudalike_device_close(yoke_impl_device_t *device);
yoke_status_t yoke_cudalike_memory_info(yoke_impl_device_t *device, uint64_t *out_free,
                                        uint64_t *out_total);
yoke_status_t yoke_cudalike_buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                          uint64_t size, yoke_impl_buffer_t **out_buffer);
void yoke_cudalike_buffer_destroy(yoke_impl_buffer_t *buffer);
void *yoke_cudalike_buffer_address(yoke_impl_buffer_t *buffer);
void *yoke_cudalike_buffer_host_address(yoke_impl_buffer_t *buffer);
yoke_status_t yoke_cudalike_queue_create(yoke_impl_device_t *device, int32_t priority,
                                         yoke_impl_queue_t **out_queue);
void yoke_cudalike_queue_destroy(yoke_impl_queue_t *queue);
yoke_status_t yoke_cudalike_queue_sync(yoke_impl_queue_t *queue);
yoke_status_t yoke_cudalike_queue_query(yoke_impl_queue_t *queue);
yoke_status_t yoke_cudalike_copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                 yoke_impl_span_t src, uint64_t size);
yoke_status_t yoke_cudalike_write(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                  const void *src, uint64_t size);
yoke_status_t yoke_cudalike_read(yoke_impl_queue_t *queue, void *dst,
                                 yoke_impl_span_t src, uint64_t size);
yoke_status_t yoke_cudalike_fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                 const void *pattern, size_t pattern_size, uint64_t size);
yoke_status_t yoke_cudalike_host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                                      void *context);
yoke_status_t yoke_cudalike_event_create(yoke_impl_device_t *device, uint32_t flags,
                                         yoke_impl_event_t **out_event);
void yoke_cudalike_event_destroy(yoke_impl_event_t *event);
yoke_status_t yoke_cudalike_event_record(yoke_impl_event_t *event,
                                         yoke_impl_queue_t *queue);
yoke_status_t yoke_cudalike_event_query(yoke_impl_event_t *event);
yoke_status_t yoke_cudalike_event_sync(yoke_impl_event_t *event);
yoke_status_t yoke_cudalike_queue_wait(yoke_impl_queue_t *queue,
                                       yoke_impl_event_t *event);
yoke_status_t yoke_cudalike_event_elapsed(yoke_impl_event_t *start,
                                          yoke_impl_event_t *end, double *out_seconds);
yoke_status_t yoke_cudalike_gate_create(yoke_impl_device_t *device,
                                        yoke_impl_gate_t **out_gate);
void yoke_cudalike_gate_destroy(yoke_impl_gate_t *gate);
yoke_status_t yoke_cudalike_gate_wait(yoke_impl_queue_t *queue, yoke_impl_gate_t *gate);
yoke_status_t yoke_cudalike_gate_open(yoke_impl_gate_t *gate);
yoke_status_t yoke_cudalike_gate_reset(yoke_impl_gate_t *gate);
yoke_status_t yoke_cudalike_peer_query(yoke_impl_device_t *device,
                                       yoke_impl_device_t *peer, bool *out_can);
yoke_status_t yoke_cudalike_peer_enable(yoke_impl_device_t *device,
                                        yoke_impl_device_t *peer);
yoke_status_t yoke_cudalike_program_create(yoke_impl_device_t *device,
                                           const yoke_impl_program_source_t *source,
                                           yoke_log_text_t log, void *log_context,
                                           yoke_impl_program_t **out_program);
void yoke_cudalike_program_destroy(yoke_impl_program_t *program);
yoke_status_t yoke_cudalike_program_binary(yoke_impl_program_t *program,
                                           const void **out_data, size_t *out_size);
const char *yoke_cudalike_compiler_version(yoke_impl_device_t *device);
yoke_status_t yoke_cudalike_kernel_create(yoke_impl_program_t *program, const char *name,
                                          yoke_impl_kernel_t **out_kernel);
void yoke_cudalike_kernel_destroy(yoke_impl_kernel_t *kernel);
yoke_status_t yoke_cudalike_launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                                   const yoke_launch_t *launch,
                                   const yoke_argument_t *arguments, size_t count);
yoke_status_t yoke_cudalike_prepared_create(yoke_impl_kernel_t *kernel,
                                            const yoke_launch_t *launch,
                                            const yoke_argument_t *arguments,
                                            size_t count,
                                            yoke_impl_prepared_t **out_prepared);
void yoke_cudalike_prepared_destroy(yoke_impl_prepared_t *prepared);
yoke_status_t yoke_cudalike_prepared_argument(yoke_impl_prepared_t *prepared,
                                              size_t index,
                                              const yoke_argument_t *argument);
yoke_status_t yoke_cudalike_prepared_geometry(yoke_impl_prepared_t *prepared,
                                              const yoke_launch_t *launch);
yoke_status_t yoke_cudalike_prepared_launch(yoke_impl_queue_t *queue,
                                            yoke_impl_prepared_t *prepared);
yoke_status_t yoke_cudalike_device_find(yoke_impl_runtime_t *runtime,
                                        const yoke_native_t *native,
                                        uint32_t *out_ordinal);
yoke_status_t yoke_cudalike_queue_wrap(yoke_impl_device_t *device, void *handle,
                                       yoke_impl_queue_t **out_queue);
yoke_status_t yoke_cudalike_event_wrap(yoke_impl_device_t *device, void *handle,
                                       yoke_impl_event_t **out_event);
yoke_status_t yoke_cudalike_buffer_wrap(yoke_impl_device_t *device, uint32_t kind,
                                        void *handle, uint64_t size,
                                        yoke_impl_buffer_t **out_buffer);
void yoke_cudalike_device_native(yoke_impl_device_t *device, yoke_native_t *out);
void *yoke_cudalike_queue_native(yoke_impl_queue_t *queue);
void *yoke_cudalike_event_native(yoke_impl_event_t *event);
void *yoke_cudalike_buffer_native(yoke_impl_buffer_t *buffer);
yoke_status_t yoke_cudalike_with_current(yoke_impl_device_t *device,
                                         void (*function)(void *), void *context);
yoke_status_t yoke_cudalike_gemm(yoke_impl_queue_t *queue, const yoke_impl_gemm_t *gemm);
const char *yoke_cudalike_gemm_library(yoke_impl_device_t *device);

#define YOKE_CUDALIKE_SLOTS                                                              \
    .struct_size = sizeof(yoke_backend_ops_t), .abi_major = YOKE_BACKEND_ABI_MAJOR,      \
    .abi_minor = YOKE_BACKEND_ABI_MINOR, .device_count = yoke_cudalike_device_count,     \
    .device_info = yoke_cudalike_device_info, .device_open = yoke_cudalike_device_open,  \
    .device_close = yoke_cudalike_device_close,                                          \
    .memory_info = yoke_cudalike_memory_info,                                            \
    .buffer_create = yoke_cudalike_buffer_create,                                        \
    .buffer_destroy = yoke_cudalike_buffer_destroy,                                      \
    .buffer_address = yoke_cudalike_buffer_address,                                      \
    .buffer_host_address = yoke_cudalike_buffer_host_address,                            \
    .queue_create = yoke_cudalike_queue_create,                                          \
    .queue_destroy = yoke_cudalike_queue_destroy,                                        \
    .queue_sync = yoke_cudalike_queue_sync, .queue_query = yoke_cudalike_queue_query,    \
    .copy = yoke_cudalike_copy, .write = yoke_cudalike_write,                            \
    .read = yoke_cudalike_read, .fill = yoke_cudalike_fill,                              \
    .host_call = yoke_cudalike_host_call, .event_create = yoke_cudalike_event_create,    \
    .event_destroy = yoke_cudalike_event_destroy,                                        \
    .event_record = yoke_cudalike_event_record,                                          \
    .event_query = yoke_cudalike_event_query, .event_sync = yoke_cudalike_event_sync,    \
    .queue_wait = yoke_cudalike_queue_wait,                                              \
    .event_elapsed = yoke_cudalike_event_elapsed,                                        \
    .gate_create = yoke_cudalike_gate_create,                                            \
    .gate_destroy = yoke_cudalike_gate_destroy, .gate_wait = yoke_cudalike_gate_wait,    \
    .gate_open = yoke_cudalike_gate_open, .gate_reset = yoke_cudalike_gate_reset,        \
    .peer_query = yoke_cudalike_peer_query, .peer_enable = yoke_cudalike_peer_enable,    \
    .program_create = yoke_cudalike_program_create,                                      \
    .program_destroy = yoke_cudalike_program_destroy,                                    \
    .program_binary = yoke_cudalike_program_binary,                                      \
    .compiler_version = yoke_cudalike_compiler_version,                                  \
    .kernel_create = yoke_cudalike_kernel_create,                                        \
    .kernel_destroy = yoke_cudalike_kernel_destroy, .launch = yoke_cudalike_launch,      \
    .device_find = yoke_cudalike_device_find, .queue_wrap = yoke_cudalike_queue_wrap,    \
    .event_wrap = yoke_cudalike_event_wrap, .buffer_wrap = yoke_cudalike_buffer_wrap,    \
    .device_native = yoke_cudalike_device_native,                                        \
    .queue_native = yoke_cudalike_queue_native,                                          \
    .event_native = yoke_cudalike_event_native,                                          \
    .buffer_native = yoke_cudalike_buffer_native,                                        \
    .with_current = yoke_cudalike_with_current, .gemm = yoke_cudalike_gemm,              \
    .gemm_library = yoke_cudalike_gemm_library,                                          \
    .prepared_create = yoke_cudalike_prepared_create,                                    \
    .prepared_destroy = yoke_cudalike_prepared_destroy,                                  \
    .prepared_argument = yoke_cudalike_prepared_argument,                                \
    .prepared_geometry = yoke_cudalike_prepared_geometry,                                \
    .prepared_launch = yoke_cudalike_prepared_launch

#endif
