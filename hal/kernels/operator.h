/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_KERNELS_OPERATOR_H
#define YOKE_HAL_KERNELS_OPERATOR_H

/*
 * How an operator reaches its kernel. Every kernel of kernels/ takes its operands first,
 * each as a pointer and a start in elements (so that runtimes whose spans must be aligned
 * take any start), then scalars. A call gathers both, checks them, and runs as a launch
 * on the device, or as a call of the same text compiled into this library (host/).
 */

#include "hal/live/object.h"
#include "yoke/kernel.h"
#include "yoke/operators.h"

#pragma GCC visibility push(hidden)

/** The texts in kernels/, each a program per element type. */
typedef enum yoke_op_text {
    YOKE_TEXT_VECTOR,
    YOKE_TEXT_CONVERT,
    YOKE_TEXT_SELECT,
    YOKE_TEXT_MATRIX,
    YOKE_TEXT_ROWS,
    YOKE_TEXT_LAYERS,
    YOKE_TEXT_COUNT
} yoke_op_text_t;

typedef enum yoke_op_kernel {
    YOKE_OP_CONVERT,
    YOKE_OP_AXPY,
    YOKE_OP_SCALE,
    YOKE_OP_REDUCE,
    YOKE_OP_PACK,
    YOKE_OP_UNPACK,
    YOKE_OP_FOLD_PART,
    YOKE_OP_FOLD_END,
    YOKE_OP_SELECT_COUNT,
    YOKE_OP_SELECT_PLACE,
    YOKE_OP_SELECT_WRITE,
    YOKE_OP_GEMM,
    YOKE_OP_BIAS,
    YOKE_OP_SOFTMAX,
    YOKE_OP_SOFTMAX_BACKWARD,
    YOKE_OP_CROSS_ENTROPY,
    YOKE_OP_LAYER_NORM,
    YOKE_OP_RMS_NORM,
    YOKE_OP_NORM_DX,
    YOKE_OP_NORM_DWEIGHT,
    YOKE_OP_COLUMN_SUM,
    YOKE_OP_ACTIVATION,
    YOKE_OP_ACTIVATION_BACKWARD,
    YOKE_OP_MULTIPLY,
    YOKE_OP_EMBEDDING,
    YOKE_OP_EMBEDDING_BACKWARD,
    YOKE_OP_ROTARY,
    YOKE_OP_ADAM,
    YOKE_OP_KERNEL_COUNT
} yoke_op_kernel_t;

typedef union yoke_scalar_value {
    uint32_t u32;
    uint64_t u64;
    float f32;
    double f64;
} yoke_scalar_value_t;

typedef struct yoke_scalar {
    yoke_scalar_value_t value;
    uint32_t size;
} yoke_scalar_t;

/** A kernel of this library: pointers to the operands' first elements, and scalars. */
typedef void (*yoke_host_kernel_t)(void *const *p, const yoke_scalar_t *s);
/** NULL where a kernel has no such element type. */
typedef struct yoke_host_kernels {
    yoke_host_kernel_t run[YOKE_OP_KERNEL_COUNT];
} yoke_host_kernels_t;
extern const yoke_host_kernels_t yoke_host_kernels_f64, yoke_host_kernels_f32,
    yoke_host_kernels_f16, yoke_host_kernels_bf16, yoke_host_kernels_f8e4m3,
    yoke_host_kernels_f8e5m2, yoke_host_kernels_i8, yoke_host_kernels_u8,
    yoke_host_kernels_i32, yoke_host_kernels_u32, yoke_host_kernels_i64,
    yoke_host_kernels_u64;

typedef enum yoke_op_route {
    YOKE_ROUTE_NONE,
    YOKE_ROUTE_KERNEL,
    YOKE_ROUTE_VENDOR,
    YOKE_ROUTE_HOST
} yoke_op_route_t;

struct yoke_operators {
    yoke_object_t object;
    yoke_device_t *device;
    yoke_device_info_t info;
    uint32_t group;     /* items that share a row; 0: one item a row */
    bool no_compiler;   /* the runtime has one, but not for this device */
    uint32_t no_gemm;   /* bit per element (16 more: with f32 output) that it refused */
    uint64_t no_reduce; /* bit per element and operation likewise */
    yoke_program_t *programs[YOKE_TEXT_COUNT][YOKE_ELEMENT_COUNT];
    yoke_kernel_t *kernels[YOKE_OP_KERNEL_COUNT][YOKE_ELEMENT_COUNT];
    void *bounce; /* where operands are staged */
    size_t bounce_size;
};

#define YOKE_OP_READ 1u
#define YOKE_OP_WRITE 2u

typedef struct yoke_operand {
    yoke_span_t span; /* buffer NULL: absent, and the kernel is told so by a scalar */
    uint64_t bytes;
    uint32_t size; /* of one element */
    uint32_t access;
} yoke_operand_t;

/** What `work` counts: how many items or groups are worth starting. */
typedef enum yoke_op_shape {
    YOKE_SHAPE_ELEMENTS,
    YOKE_SHAPE_PIECES, /* elements, and the operation may be cut: scalar 0 is the count */
    YOKE_SHAPE_ROWS,
    YOKE_SHAPE_ONE /* one group */
} yoke_op_shape_t;

#define YOKE_OP_MAX_OPERANDS 8
#define YOKE_OP_MAX_SCALARS 14

typedef struct yoke_call {
    yoke_operators_t *operators;
    yoke_queue_t *queue;
    const char *name;     /* of the operator */
    yoke_status_t status; /* of the first wrong argument; told */
    yoke_element_t element;
    yoke_op_route_t route;
    uint32_t operand_count, scalar_count;
    yoke_operand_t operand[YOKE_OP_MAX_OPERANDS];
    yoke_scalar_t scalar[YOKE_OP_MAX_SCALARS];
} yoke_call_t;

/** Begin a call of `name`: NULL handles, a queue of another device and element types that
 * are not taken end it here, with call.status. */
yoke_call_t yoke_call_begin(yoke_operators_t *operators, yoke_queue_t *queue,
                            const char *name, yoke_element_t element);
/** Begin the next kernel of the same operator. */
void yoke_call_again(yoke_call_t *call);
/** Refuse: "yoke_op_NAME: text". Keeps the first. */
void yoke_call_refuse(yoke_call_t *call, yoke_status_t status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** The next operand: `count` elements of `size` bytes that are there, and aligned. */
void yoke_call_operand(yoke_call_t *call, const char *argument, yoke_span_t span,
                       uint64_t count, uint32_t size, uint32_t access);
/** The next operand is absent. */
void yoke_call_absent(yoke_call_t *call);
void yoke_call_u32(yoke_call_t *call, uint32_t value);
void yoke_call_u64(yoke_call_t *call, uint64_t value);
void yoke_call_f32(yoke_call_t *call, float value);
/** In the arithmetic type of the call's element; integers toward zero. */
void yoke_call_number(yoke_call_t *call, double value);
/** a * b, refused when it passes 2^64. */
uint64_t yoke_call_product(yoke_call_t *call, uint64_t a, uint64_t b);
/** How many elements of `size` bytes there are from the span to the buffer's end. */
uint64_t yoke_call_room(const yoke_span_t *span, uint32_t size);

/** Run, or give call->status. */
yoke_status_t yoke_call_run(yoke_call_t *call, yoke_op_kernel_t kernel,
                            yoke_op_shape_t shape, uint64_t work);

/* --- the objects behind --- */

/** Where the operator runs; `name` must be known. */
yoke_op_route_t yoke_operators_route(const yoke_operators_t *operators, const char *name,
                                     yoke_element_t element);
/** The same without the vendor's operators. */
yoke_op_route_t yoke_operators_portable(const yoke_operators_t *operators,
                                        yoke_element_t element);
/** The kernel, compiled when it is the first time. YOKE_ERR_UNSUPPORTED (told) also sets
 *  no_compiler. */
yoke_status_t yoke_operators_kernel(yoke_operators_t *operators, yoke_op_kernel_t kernel,
                                    yoke_element_t element, yoke_kernel_t **out_kernel);
const yoke_host_kernels_t *yoke_host_kernels(yoke_element_t element);
/** A double as one element, rounded once. */
void yoke_host_element(yoke_element_t element, double value, void *out);
/** Let a CPU share rows in groups too: for tests. Before the first use. */
void yoke_operators_share_rows(yoke_operators_t *operators, uint32_t group);

#pragma GCC visibility pop
#endif
