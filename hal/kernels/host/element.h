/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels' texts as functions of this library, for the element type YO_ELEMENT: each
 * file of this folder is one type. One item does all the work. */

#include <math.h>
#include <string.h>
#include "hal/kernels/operator.h"

/* The texts are in the dialect, where conversions are left to the language. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wimplicit-int-float-conversion"
#endif

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
typedef int32_t i32;
typedef uint32_t u32;
typedef int64_t i64;
typedef uint64_t u64;
typedef float f32;
typedef double f64;
#define YOKE_HAS_F64
#define YOKE_KERNEL static
#define YOKE_FUNCTION static inline
#define YOKE_GLOBAL
#define YOKE_LOCAL
#define YOKE_GROUP(d) ((u32)0)
#define YOKE_GROUPS(d) ((u32)1)
#define YOKE_EXP(x) expf(x)
#define YOKE_LOG(x) logf(x)
#define YOKE_SQRT(x) sqrtf(x)
#define YOKE_TANH(x) tanhf(x)
#define YOKE_ERF(x) erff(x)
#define YOKE_FABS(x) fabsf(x)
#define YOKE_SIN(x) sinf(x)
#define YOKE_COS(x) cosf(x)
#define YOKE_FMA(a, b, c) fmaf(a, b, c)

static inline u32 yo_as_u32(f32 x)
{
    u32 bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline f32 yo_as_f32(u32 bits)
{
    f32 x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
#define YOKE_AS_U32(x) yo_as_u32(x)
#define YOKE_AS_F32(x) yo_as_f32(x)

#include "hal/kernels/dialect_convert.inc"
#include "hal/kernels/kernels/element.inc"

/* An operand, and the scalars, in the order of the kernel's parameters. */
#define P(type, i) (type *)p[i], 0
#define U32(i) s[i].value.u32
#define U64(i) s[i].value.u64
#define F32(i) s[i].value.f32
#if YO_ELEMENT == 0
#define NUMBER(i) s[i].value.f64
#elif YO_ELEMENT <= 5
#define NUMBER(i) s[i].value.f32
#elif YO_ELEMENT <= 9
#define NUMBER(i) (number) s[i].value.u32
#else
#define NUMBER(i) (number) s[i].value.u64
#endif
#define RUN(kernel) static void run_##kernel(void *const *p, const yoke_scalar_t *s)

#include "hal/kernels/kernels/vector.inc"
RUN(axpy)
{
    op_axpy(P(element, 0), P(element, 1), U64(0), NUMBER(1));
}
RUN(scale)
{
    op_scale(P(element, 0), U64(0), NUMBER(1), U64(2));
}
RUN(reduce)
{
    op_reduce(P(element, 0), P(element, 1), P(element, 2), U64(0), U32(1));
}
RUN(pack)
{
    op_pack(P(element, 0), P(element, 1), P(u32, 2), U64(0), U64(1));
}
RUN(unpack)
{
    op_unpack(P(element, 0), P(element, 1), P(u32, 2), U64(0), U64(1), U32(2));
}
RUN(fold_part)
{
    op_fold_part(P(element, 0), P(wide, 1), U64(0), U64(1), U32(2));
}
RUN(fold_end)
{
    op_fold_end(P(wide, 0), P(u8, 1), U64(0), U32(1), U32(2));
}

#include "hal/kernels/kernels/convert.inc"
RUN(convert)
{
    op_convert(P(element, 0), P(u8, 1), U64(0), U32(1));
}

#if YO_ELEMENT == 1
#include "hal/kernels/kernels/select.inc"
RUN(select_count)
{
    op_select_count(P(f32, 0), P(u32, 1), U64(0), F32(1));
}
RUN(select_place)
{
    op_select_place(P(u32, 0), P(u32, 1), U64(0));
}
RUN(select_write)
{
    op_select_write(P(f32, 0), P(u32, 1), P(u32, 2), P(f32, 3), U64(0), F32(1), U32(2));
}
#endif

#if YO_ELEMENT <= 3
#include "hal/kernels/kernels/matrix.inc"
RUN(gemm)
{
    op_gemm(P(element, 0), P(element, 1), P(u8, 2), U64(0), U64(1), U64(2), U64(3),
            U64(4), U64(5), U64(6), U64(7), U64(8), U64(9), U32(10), NUMBER(11),
            NUMBER(12));
}
#undef YO_ACROSS
#endif

#if YO_ELEMENT >= 1 && YO_ELEMENT <= 3
#include "hal/kernels/kernels/rows.inc"
RUN(column_sum)
{
    op_column_sum(P(f32, 0), P(element, 1), U64(0), U64(1), U32(2));
}
RUN(bias)
{
    op_bias(P(element, 0), P(element, 1), U64(0), U64(1));
}
RUN(softmax)
{
    op_softmax(P(element, 0), P(element, 1), U64(0), U64(1), F32(2), U64(3));
}
RUN(softmax_backward)
{
    op_softmax_backward(P(element, 0), P(element, 1), P(element, 2), U64(0), U64(1),
                        F32(2));
}
RUN(cross_entropy)
{
    op_cross_entropy(P(f32, 0), P(element, 1), P(element, 2), P(u32, 3), U64(0), U64(1),
                     F32(2), U32(3));
}
RUN(layer_norm)
{
    op_layer_norm(P(element, 0), P(f32, 1), P(f32, 2), P(element, 3), P(element, 4),
                  P(element, 5), U64(0), U64(1), F32(2));
}
RUN(rms_norm)
{
    op_rms_norm(P(element, 0), P(f32, 1), P(element, 2), P(element, 3), U64(0), U64(1),
                F32(2));
}
RUN(norm_dx)
{
    op_norm_dx(P(element, 0), P(element, 1), P(element, 2), P(element, 3), P(f32, 4),
               P(f32, 5), U64(0), U64(1), U32(2));
}
RUN(norm_dweight)
{
    op_norm_dweight(P(f32, 0), P(element, 1), P(element, 2), P(f32, 3), P(f32, 4), U64(0),
                    U64(1), U32(2));
}

#include "hal/kernels/kernels/layers.inc"
RUN(activation)
{
    op_activation(P(element, 0), P(element, 1), U64(0), U32(1));
}
RUN(activation_backward)
{
    op_activation_backward(P(element, 0), P(element, 1), P(element, 2), U64(0), U32(1));
}
RUN(multiply)
{
    op_multiply(P(element, 0), P(element, 1), P(element, 2), U64(0));
}
RUN(embedding)
{
    op_embedding(P(element, 0), P(element, 1), P(u32, 2), U64(0), U64(1), U64(2));
}
RUN(embedding_backward)
{
    op_embedding_backward(P(f32, 0), P(element, 1), P(u32, 2), U64(0), U64(1), U64(2),
                          U32(3));
}
RUN(rotary)
{
    op_rotary(P(element, 0), P(element, 1), P(u32, 2), U64(0), U64(1), U64(2), F32(3),
              F32(4));
}
RUN(adam)
{
    op_adam(P(f32, 0), P(f32, 1), P(f32, 2), P(element, 3), P(u16, 4), U64(0), F32(1),
            F32(2), F32(3), F32(4), F32(5), F32(6), F32(7), F32(8), F32(9), U32(10));
}
#endif

#define YOKE_HOST_KERNELS(name)                                                          \
    const yoke_host_kernels_t name = {.run = {[YOKE_OP_CONVERT] = run_convert,           \
                                              [YOKE_OP_AXPY] = run_axpy,                 \
                                              [YOKE_OP_SCALE] = run_scale,               \
                                              [YOKE_OP_REDUCE] = run_reduce,             \
                                              [YOKE_OP_PACK] = run_pack,                 \
                                              [YOKE_OP_UNPACK] = run_unpack,             \
                                              [YOKE_OP_FOLD_PART] = run_fold_part,       \
                                              [YOKE_OP_FOLD_END] = run_fold_end,         \
                                              YO_ONLY_F32 YO_MATRIX YO_LAYERS}}
#if YO_ELEMENT == 1
#define YO_ONLY_F32                                                                      \
    [YOKE_OP_SELECT_COUNT] = run_select_count,                                           \
    [YOKE_OP_SELECT_PLACE] = run_select_place,                                           \
    [YOKE_OP_SELECT_WRITE] = run_select_write,
#else
#define YO_ONLY_F32
#endif
#if YO_ELEMENT <= 3
#define YO_MATRIX [YOKE_OP_GEMM] = run_gemm,
#else
#define YO_MATRIX
#endif
#if YO_ELEMENT >= 1 && YO_ELEMENT <= 3
#define YO_LAYERS                                                                        \
    [YOKE_OP_COLUMN_SUM] = run_column_sum, [YOKE_OP_BIAS] = run_bias,                    \
    [YOKE_OP_SOFTMAX] = run_softmax, [YOKE_OP_SOFTMAX_BACKWARD] = run_softmax_backward,  \
    [YOKE_OP_CROSS_ENTROPY] = run_cross_entropy, [YOKE_OP_LAYER_NORM] = run_layer_norm,  \
    [YOKE_OP_RMS_NORM] = run_rms_norm, [YOKE_OP_NORM_DX] = run_norm_dx,                  \
    [YOKE_OP_NORM_DWEIGHT] = run_norm_dweight, [YOKE_OP_ACTIVATION] = run_activation,    \
    [YOKE_OP_ACTIVATION_BACKWARD] = run_activation_backward,                             \
    [YOKE_OP_MULTIPLY] = run_multiply, [YOKE_OP_EMBEDDING] = run_embedding,              \
    [YOKE_OP_EMBEDDING_BACKWARD] = run_embedding_backward,                               \
    [YOKE_OP_ROTARY] = run_rotary, [YOKE_OP_ADAM] = run_adam
#else
#define YO_LAYERS
#endif
