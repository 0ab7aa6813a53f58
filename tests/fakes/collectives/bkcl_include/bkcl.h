/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BKCL_H
#define BKCL_H

/*
 * The header beside the fake libbkcl.so. Names and argument orders are those that
 * PaddlePaddle/Paddle (paddle/phi/core/distributed/bkcl_comm_context.cc) and
 * flagos-ai/FlagCX (flagcx/adaptor/ccl/xccl_adaptor.cc) use. THE NUMBERS ARE MADE UP:
 * Kunlun's own header is in no public repository.
 */

#include <stddef.h>

// a comment, and one number in each form
#define BKCL_UNIQUE_ID_BYTES 1168

typedef enum {
    BKCL_SUCCESS = 0,
    BKCL_INVALID_ARGUMENT = 3, /* = 99 is no value here */
    BKCL_RUNTIME_ERROR,
    BKCL_SYSTEM_ERROR = 0x11,
    BKCL_INTERNAL_ERROR,
} BKCLResult_t;

typedef enum BKCLDataType_ {
    BKCL_UINT8 = 5,
    BKCL_INT32,
    BKCL_INT64 = (0x20),
    BKCL_FLOAT16,
    BKCL_FLOAT = 2,
    BKCL_FLOAT64 = 40,
    BKCL_BFLOAT16,
    BKCL_NUM_TYPES
} BKCLDataType;

enum BKCLOp { BKCL_ADD = 1, BKCL_PRODUCT, BKCL_MIN, BKCL_MAX, BKCL_NUM_OPS };
#ifndef __cplusplus
typedef enum BKCLOp BKCLOp;
#endif

typedef struct BKCLContext *BKCLContext_t;
typedef struct {
    char internal[BKCL_UNIQUE_ID_BYTES];
} BKCLUniqueId;

#endif
