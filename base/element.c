/* SPDX-License-Identifier: Apache-2.0 */
#include "yoke/element.h"

#include <string.h>

static const struct {
    const char *name;
    size_t size;
} elements[YOKE_ELEMENT_COUNT] = {
    [YOKE_ELEMENT_F64] = {"f64", 8},         [YOKE_ELEMENT_F32] = {"f32", 4},
    [YOKE_ELEMENT_F16] = {"f16", 2},         [YOKE_ELEMENT_BF16] = {"bf16", 2},
    [YOKE_ELEMENT_F8E4M3] = {"fp8-e4m3", 1}, [YOKE_ELEMENT_F8E5M2] = {"fp8-e5m2", 1},
    [YOKE_ELEMENT_I8] = {"i8", 1},           [YOKE_ELEMENT_U8] = {"u8", 1},
    [YOKE_ELEMENT_I32] = {"i32", 4},         [YOKE_ELEMENT_U32] = {"u32", 4},
    [YOKE_ELEMENT_I64] = {"i64", 8},         [YOKE_ELEMENT_U64] = {"u64", 8},
};

static const char *const reductions[YOKE_REDUCTION_COUNT] = {
    [YOKE_REDUCE_SUM] = "sum", [YOKE_REDUCE_PROD] = "prod", [YOKE_REDUCE_MAX] = "max",
    [YOKE_REDUCE_MIN] = "min", [YOKE_REDUCE_AVG] = "avg",
};

const char *yoke_element_name(yoke_element_t element)
{
    return (unsigned)element < YOKE_ELEMENT_COUNT ? elements[element].name : NULL;
}

size_t yoke_element_size(yoke_element_t element)
{
    return (unsigned)element < YOKE_ELEMENT_COUNT ? elements[element].size : 0;
}

bool yoke_element_parse(const char *name, yoke_element_t *out_element)
{
    for (unsigned i = 0; name != NULL && i < YOKE_ELEMENT_COUNT; i++)
        if (strcmp(elements[i].name, name) == 0) {
            *out_element = (yoke_element_t)i;
            return true;
        }
    return false;
}

const char *yoke_reduction_name(yoke_reduction_t reduction)
{
    return (unsigned)reduction < YOKE_REDUCTION_COUNT ? reductions[reduction] : NULL;
}

bool yoke_reduction_parse(const char *name, yoke_reduction_t *out_reduction)
{
    for (unsigned i = 0; name != NULL && i < YOKE_REDUCTION_COUNT; i++)
        if (strcmp(reductions[i], name) == 0) {
            *out_reduction = (yoke_reduction_t)i;
            return true;
        }
    return false;
}
