/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_CTS_WRAPPED_H
#define YOKE_HAL_CTS_WRAPPED_H

/*
 * Every public function, wrapped: the caller's current device or context is compared
 * before and after each call (current.c). tests/cts/wrapped.py sees that none is missing.
 * A name inside its own macro is not replaced again, so the text below is the whole
 * trick.
 */

#include "yoke/status.h"

/* Note what is current; tell what has changed since. */
void yoke_cts_enter(void);
void yoke_cts_leave(const char *function, const char *file, int line);

static inline yoke_status_t yoke_cts_left_status(yoke_status_t status,
                                                 const char *function, const char *file,
                                                 int line)
{
    yoke_cts_leave(function, file, line);
    return status;
}

static inline void *yoke_cts_left_value(void *value, const char *function,
                                        const char *file, int line)
{
    yoke_cts_leave(function, file, line);
    return value;
}

/* clang-format off */
#define YOKE_CTS_STATUS(f, ...) \
    yoke_cts_left_status((yoke_cts_enter(), f(__VA_ARGS__)), #f, __FILE__, __LINE__)
#define YOKE_CTS_NOTHING(f, ...) \
    (yoke_cts_enter(), f(__VA_ARGS__), yoke_cts_leave(#f, __FILE__, __LINE__))
#define YOKE_CTS_VALUE(f, ...)                                                     \
    (*(__typeof__(f(__VA_ARGS__)) *)yoke_cts_left_value(                           \
        (__typeof__(f(__VA_ARGS__))[1]){(yoke_cts_enter(), f(__VA_ARGS__))}, #f,   \
        __FILE__, __LINE__))

/* yoke/device.h */
#define yoke_capability_name(...) YOKE_CTS_VALUE(yoke_capability_name, __VA_ARGS__)
#define yoke_backends_list(...) YOKE_CTS_STATUS(yoke_backends_list, __VA_ARGS__)
#define yoke_backend_load(...) YOKE_CTS_STATUS(yoke_backend_load, __VA_ARGS__)
#define yoke_device_count(...) YOKE_CTS_STATUS(yoke_device_count, __VA_ARGS__)
#define yoke_device_open(...) YOKE_CTS_STATUS(yoke_device_open, __VA_ARGS__)
#define yoke_device_close(...) YOKE_CTS_NOTHING(yoke_device_close, __VA_ARGS__)
#define yoke_device_info(...) YOKE_CTS_STATUS(yoke_device_info, __VA_ARGS__)
#define yoke_device_memory(...) YOKE_CTS_STATUS(yoke_device_memory, __VA_ARGS__)
#define yoke_device_limit_memory(...) YOKE_CTS_STATUS(yoke_device_limit_memory, __VA_ARGS__)
#define yoke_device_status(...) YOKE_CTS_STATUS(yoke_device_status, __VA_ARGS__)
#define yoke_device_can_reach(...) YOKE_CTS_STATUS(yoke_device_can_reach, __VA_ARGS__)
#define yoke_last_vendor_error(...) YOKE_CTS_VALUE(yoke_last_vendor_error, __VA_ARGS__)

/* yoke/buffer.h */
#define yoke_buffer_create(...) YOKE_CTS_STATUS(yoke_buffer_create, __VA_ARGS__)
#define yoke_buffer_destroy(...) YOKE_CTS_NOTHING(yoke_buffer_destroy, __VA_ARGS__)
#define yoke_buffer_size(...) YOKE_CTS_VALUE(yoke_buffer_size, __VA_ARGS__)
#define yoke_buffer_kind(...) YOKE_CTS_VALUE(yoke_buffer_kind, __VA_ARGS__)
#define yoke_buffer_device(...) YOKE_CTS_VALUE(yoke_buffer_device, __VA_ARGS__)
#define yoke_buffer_address(...) YOKE_CTS_STATUS(yoke_buffer_address, __VA_ARGS__)
#define yoke_buffer_host_address(...) YOKE_CTS_STATUS(yoke_buffer_host_address, __VA_ARGS__)

/* yoke/queue.h */
#define yoke_queue_create(...) YOKE_CTS_STATUS(yoke_queue_create, __VA_ARGS__)
#define yoke_queue_destroy(...) YOKE_CTS_NOTHING(yoke_queue_destroy, __VA_ARGS__)
#define yoke_queue_device(...) YOKE_CTS_VALUE(yoke_queue_device, __VA_ARGS__)
#define yoke_queue_sync(...) YOKE_CTS_STATUS(yoke_queue_sync, __VA_ARGS__)
#define yoke_queue_query(...) YOKE_CTS_STATUS(yoke_queue_query, __VA_ARGS__)
#define yoke_queue_copy(...) YOKE_CTS_STATUS(yoke_queue_copy, __VA_ARGS__)
#define yoke_queue_write(...) YOKE_CTS_STATUS(yoke_queue_write, __VA_ARGS__)
#define yoke_queue_read(...) YOKE_CTS_STATUS(yoke_queue_read, __VA_ARGS__)
#define yoke_queue_fill(...) YOKE_CTS_STATUS(yoke_queue_fill, __VA_ARGS__)
#define yoke_queue_host_call(...) YOKE_CTS_STATUS(yoke_queue_host_call, __VA_ARGS__)
#define yoke_event_create(...) YOKE_CTS_STATUS(yoke_event_create, __VA_ARGS__)
#define yoke_event_destroy(...) YOKE_CTS_NOTHING(yoke_event_destroy, __VA_ARGS__)
#define yoke_event_record(...) YOKE_CTS_STATUS(yoke_event_record, __VA_ARGS__)
#define yoke_event_query(...) YOKE_CTS_STATUS(yoke_event_query, __VA_ARGS__)
#define yoke_event_sync(...) YOKE_CTS_STATUS(yoke_event_sync, __VA_ARGS__)
#define yoke_queue_wait(...) YOKE_CTS_STATUS(yoke_queue_wait, __VA_ARGS__)
#define yoke_event_elapsed(...) YOKE_CTS_STATUS(yoke_event_elapsed, __VA_ARGS__)

/* yoke/kernel.h */
#define yoke_program_create(...) YOKE_CTS_STATUS(yoke_program_create, __VA_ARGS__)
#define yoke_program_destroy(...) YOKE_CTS_NOTHING(yoke_program_destroy, __VA_ARGS__)
#define yoke_program_log(...) YOKE_CTS_VALUE(yoke_program_log, __VA_ARGS__)
#define yoke_program_binary(...) YOKE_CTS_STATUS(yoke_program_binary, __VA_ARGS__)
#define yoke_kernel_create(...) YOKE_CTS_STATUS(yoke_kernel_create, __VA_ARGS__)
#define yoke_kernel_destroy(...) YOKE_CTS_NOTHING(yoke_kernel_destroy, __VA_ARGS__)
#define yoke_kernel_launch(...) YOKE_CTS_STATUS(yoke_kernel_launch, __VA_ARGS__)
#define yoke_prepared_launch_create(...) YOKE_CTS_STATUS(yoke_prepared_launch_create, __VA_ARGS__)
#define yoke_prepared_launch_destroy(...) YOKE_CTS_NOTHING(yoke_prepared_launch_destroy, __VA_ARGS__)
#define yoke_prepared_launch_set_argument(...) YOKE_CTS_STATUS(yoke_prepared_launch_set_argument, __VA_ARGS__)
#define yoke_prepared_launch_set_geometry(...) YOKE_CTS_STATUS(yoke_prepared_launch_set_geometry, __VA_ARGS__)
#define yoke_queue_launch_prepared(...) YOKE_CTS_STATUS(yoke_queue_launch_prepared, __VA_ARGS__)

/* yoke/pool.h */
#define yoke_pool_create(...) YOKE_CTS_STATUS(yoke_pool_create, __VA_ARGS__)
#define yoke_pool_destroy(...) YOKE_CTS_NOTHING(yoke_pool_destroy, __VA_ARGS__)
#define yoke_pool_allocate(...) YOKE_CTS_STATUS(yoke_pool_allocate, __VA_ARGS__)
#define yoke_pool_record(...) YOKE_CTS_STATUS(yoke_pool_record, __VA_ARGS__)
#define yoke_pool_free(...) YOKE_CTS_STATUS(yoke_pool_free, __VA_ARGS__)
#define yoke_pool_trim(...) YOKE_CTS_STATUS(yoke_pool_trim, __VA_ARGS__)
#define yoke_pool_stats(...) YOKE_CTS_STATUS(yoke_pool_stats, __VA_ARGS__)
#define yoke_pool_forget_queue(...) YOKE_CTS_STATUS(yoke_pool_forget_queue, __VA_ARGS__)

/* yoke/transfer.h */
#define yoke_transfer_create(...) YOKE_CTS_STATUS(yoke_transfer_create, __VA_ARGS__)
#define yoke_transfer_destroy(...) YOKE_CTS_NOTHING(yoke_transfer_destroy, __VA_ARGS__)
#define yoke_transfer_start(...) YOKE_CTS_STATUS(yoke_transfer_start, __VA_ARGS__)
#define yoke_transfer_poll(...) YOKE_CTS_STATUS(yoke_transfer_poll, __VA_ARGS__)
#define yoke_transfer_wait(...) YOKE_CTS_STATUS(yoke_transfer_wait, __VA_ARGS__)
#define yoke_transfer_method(...) YOKE_CTS_VALUE(yoke_transfer_method, __VA_ARGS__)
#define yoke_transfer_wait_event(...) YOKE_CTS_STATUS(yoke_transfer_wait_event, __VA_ARGS__)

/* yoke/adopt.h */
#define yoke_device_from_native(...) YOKE_CTS_STATUS(yoke_device_from_native, __VA_ARGS__)
#define yoke_queue_wrap(...) YOKE_CTS_STATUS(yoke_queue_wrap, __VA_ARGS__)
#define yoke_event_wrap(...) YOKE_CTS_STATUS(yoke_event_wrap, __VA_ARGS__)
#define yoke_buffer_wrap(...) YOKE_CTS_STATUS(yoke_buffer_wrap, __VA_ARGS__)
#define yoke_device_native(...) YOKE_CTS_STATUS(yoke_device_native, __VA_ARGS__)
#define yoke_queue_native(...) YOKE_CTS_STATUS(yoke_queue_native, __VA_ARGS__)
#define yoke_event_native(...) YOKE_CTS_STATUS(yoke_event_native, __VA_ARGS__)
#define yoke_buffer_native(...) YOKE_CTS_STATUS(yoke_buffer_native, __VA_ARGS__)

/* yoke/dlpack.h */
#define yoke_dlpack_import(...) YOKE_CTS_STATUS(yoke_dlpack_import, __VA_ARGS__)
#define yoke_dlpack_import_legacy(...) YOKE_CTS_STATUS(yoke_dlpack_import_legacy, __VA_ARGS__)
#define yoke_dlpack_export(...) YOKE_CTS_STATUS(yoke_dlpack_export, __VA_ARGS__)
#define yoke_dlpack_export_legacy(...) YOKE_CTS_STATUS(yoke_dlpack_export_legacy, __VA_ARGS__)

/* yoke/operators.h */
#define yoke_operators_create(...) YOKE_CTS_STATUS(yoke_operators_create, __VA_ARGS__)
#define yoke_operators_destroy(...) YOKE_CTS_NOTHING(yoke_operators_destroy, __VA_ARGS__)
#define yoke_operators_names(...) YOKE_CTS_VALUE(yoke_operators_names, __VA_ARGS__)
#define yoke_operators_path(...) YOKE_CTS_VALUE(yoke_operators_path, __VA_ARGS__)
#define yoke_operators_prepare(...) YOKE_CTS_STATUS(yoke_operators_prepare, __VA_ARGS__)
#define yoke_op_fill(...) YOKE_CTS_STATUS(yoke_op_fill, __VA_ARGS__)
#define yoke_op_convert(...) YOKE_CTS_STATUS(yoke_op_convert, __VA_ARGS__)
#define yoke_op_axpy(...) YOKE_CTS_STATUS(yoke_op_axpy, __VA_ARGS__)
#define yoke_op_scale(...) YOKE_CTS_STATUS(yoke_op_scale, __VA_ARGS__)
#define yoke_op_reduce(...) YOKE_CTS_STATUS(yoke_op_reduce, __VA_ARGS__)
#define yoke_op_fold(...) YOKE_CTS_STATUS(yoke_op_fold, __VA_ARGS__)
#define yoke_op_square_sum(...) YOKE_CTS_STATUS(yoke_op_square_sum, __VA_ARGS__)
#define yoke_op_select(...) YOKE_CTS_STATUS(yoke_op_select, __VA_ARGS__)
#define yoke_op_pack(...) YOKE_CTS_STATUS(yoke_op_pack, __VA_ARGS__)
#define yoke_op_unpack(...) YOKE_CTS_STATUS(yoke_op_unpack, __VA_ARGS__)
#define yoke_op_gemm(...) YOKE_CTS_STATUS(yoke_op_gemm, __VA_ARGS__)
#define yoke_op_column_sum(...) YOKE_CTS_STATUS(yoke_op_column_sum, __VA_ARGS__)
#define yoke_op_bias(...) YOKE_CTS_STATUS(yoke_op_bias, __VA_ARGS__)
#define yoke_op_softmax(...) YOKE_CTS_STATUS(yoke_op_softmax, __VA_ARGS__)
#define yoke_op_softmax_backward(...) YOKE_CTS_STATUS(yoke_op_softmax_backward, __VA_ARGS__)
#define yoke_op_layer_norm(...) YOKE_CTS_STATUS(yoke_op_layer_norm, __VA_ARGS__)
#define yoke_op_layer_norm_backward(...) YOKE_CTS_STATUS(yoke_op_layer_norm_backward, __VA_ARGS__)
#define yoke_op_rms_norm(...) YOKE_CTS_STATUS(yoke_op_rms_norm, __VA_ARGS__)
#define yoke_op_rms_norm_backward(...) YOKE_CTS_STATUS(yoke_op_rms_norm_backward, __VA_ARGS__)
#define yoke_op_activation(...) YOKE_CTS_STATUS(yoke_op_activation, __VA_ARGS__)
#define yoke_op_activation_backward(...) YOKE_CTS_STATUS(yoke_op_activation_backward, __VA_ARGS__)
#define yoke_op_multiply(...) YOKE_CTS_STATUS(yoke_op_multiply, __VA_ARGS__)
#define yoke_op_embedding(...) YOKE_CTS_STATUS(yoke_op_embedding, __VA_ARGS__)
#define yoke_op_embedding_backward(...) YOKE_CTS_STATUS(yoke_op_embedding_backward, __VA_ARGS__)
#define yoke_op_rotary(...) YOKE_CTS_STATUS(yoke_op_rotary, __VA_ARGS__)
#define yoke_op_cross_entropy(...) YOKE_CTS_STATUS(yoke_op_cross_entropy, __VA_ARGS__)
#define yoke_op_adam(...) YOKE_CTS_STATUS(yoke_op_adam, __VA_ARGS__)

/* yoke/element.h */
#define yoke_element_name(...) YOKE_CTS_VALUE(yoke_element_name, __VA_ARGS__)
#define yoke_element_size(...) YOKE_CTS_VALUE(yoke_element_size, __VA_ARGS__)
#define yoke_element_parse(...) YOKE_CTS_VALUE(yoke_element_parse, __VA_ARGS__)
#define yoke_reduction_name(...) YOKE_CTS_VALUE(yoke_reduction_name, __VA_ARGS__)
#define yoke_reduction_parse(...) YOKE_CTS_VALUE(yoke_reduction_parse, __VA_ARGS__)
/* clang-format on */

#endif
