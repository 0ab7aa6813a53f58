/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_ELEMENT_H
#define YOKE_ELEMENT_H

/**
 * Element types of buffers, and the operations that reduce them. Shared by the operator
 * library and by communication. (yoke_dtype_t of inventory.h is another thing: what a
 * device has a compute rate for.)
 *
 * fp8-e4m3 is the "fn" form (no infinity, NaN = s.1111.111, largest 448), fp8-e5m2 the
 * IEEE form (largest 57344): "FP8 Formats for Deep Learning", arXiv:2209.05433, and the
 * OCP 8-bit floating point specification 1.0. Conversion rounds to nearest even; what is
 * too large becomes the largest finite value in e4m3 and infinity in e5m2, f16 and bf16.
 *
 * Sums and products of f16, bf16 and fp8 are made in f32 and rounded once per operation;
 * integers wrap; max and min give NaN when either side is NaN. avg is the sum divided by
 * a number of contributions; integers are truncated toward zero.
 */

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Values are part of the ABI: new ones are added before the count. */
typedef enum yoke_element {
    YOKE_ELEMENT_F64 = 0,
    YOKE_ELEMENT_F32 = 1,
    YOKE_ELEMENT_F16 = 2,
    YOKE_ELEMENT_BF16 = 3,
    YOKE_ELEMENT_F8E4M3 = 4,
    YOKE_ELEMENT_F8E5M2 = 5,
    YOKE_ELEMENT_I8 = 6,
    YOKE_ELEMENT_U8 = 7,
    YOKE_ELEMENT_I32 = 8,
    YOKE_ELEMENT_U32 = 9,
    YOKE_ELEMENT_I64 = 10,
    YOKE_ELEMENT_U64 = 11,
    YOKE_ELEMENT_COUNT
} yoke_element_t;

typedef enum yoke_reduction {
    YOKE_REDUCE_SUM = 0,
    YOKE_REDUCE_PROD = 1,
    YOKE_REDUCE_MAX = 2,
    YOKE_REDUCE_MIN = 3,
    YOKE_REDUCE_AVG = 4,
    YOKE_REDUCTION_COUNT
} yoke_reduction_t;

/** "f64" "f32" "f16" "bf16" "fp8-e4m3" "fp8-e5m2" "i8" "u8" "i32" "u32" "i64" "u64"; NULL
 *  for a value that is none. Static storage. Threads: any. */
const char *yoke_element_name(yoke_element_t element);
/** Bytes of one; 0 for a value that is none. */
size_t yoke_element_size(yoke_element_t element);
/** false: no such name; *out_element is then unchanged. */
bool yoke_element_parse(const char *name, yoke_element_t *out_element);

/** "sum" "prod" "max" "min" "avg"; NULL for a value that is none. */
const char *yoke_reduction_name(yoke_reduction_t reduction);
bool yoke_reduction_parse(const char *name, yoke_reduction_t *out_reduction);

#ifdef __cplusplus
}
#endif
#endif
