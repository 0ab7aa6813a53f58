/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operators of a device: which there are, where each runs, and their compiled
 * kernels, kept in a fixed table so that a call that was prepared looks nothing up and
 * allocates nothing.
 */

#include <stdlib.h>
#include <string.h>
#include "base/error.h"
#include "base/text.h"
#include "hal/kernels/operator.h"
#include "hal/live/object.h"

#define ELEMENT(name) (1u << YOKE_ELEMENT_##name)
#define ALL ((1u << YOKE_ELEMENT_COUNT) - 1)
#define LAYER (ELEMENT(F32) | ELEMENT(F16) | ELEMENT(BF16))
#define FLOATS (LAYER | ELEMENT(F64) | ELEMENT(F8E4M3) | ELEMENT(F8E5M2))
#define KERNELS(first, last) YOKE_OP_##first, YOKE_OP_##last

/* The names that the header gives; kernels that each needs (last below first: none). */
static const struct operator_row {
    const char *name;
    uint32_t elements;
    yoke_op_kernel_t first, last;
} table[] = {
    {"fill", ALL, KERNELS(AXPY, CONVERT)},
    {"convert", ALL, KERNELS(CONVERT, CONVERT)},
    {"axpy", ALL, KERNELS(AXPY, AXPY)},
    {"scale", ALL, KERNELS(SCALE, SCALE)},
    {"reduce", ALL, KERNELS(REDUCE, REDUCE)},
    {"fold", ALL, KERNELS(FOLD_PART, FOLD_END)},
    {"norm", FLOATS, KERNELS(FOLD_PART, FOLD_END)},
    {"select", ELEMENT(F32), KERNELS(SELECT_COUNT, SELECT_WRITE)},
    {"pack", ALL, KERNELS(PACK, PACK)},
    {"unpack", ALL, KERNELS(UNPACK, UNPACK)},
    {"gemm", LAYER | ELEMENT(F64), KERNELS(GEMM, GEMM)},
    {"column_sum", LAYER, KERNELS(COLUMN_SUM, COLUMN_SUM)},
    {"bias", LAYER, KERNELS(BIAS, BIAS)},
    {"softmax", LAYER, KERNELS(SOFTMAX, SOFTMAX)},
    {"softmax_backward", LAYER, KERNELS(SOFTMAX_BACKWARD, SOFTMAX_BACKWARD)},
    {"layer_norm", LAYER, KERNELS(LAYER_NORM, LAYER_NORM)},
    {"layer_norm_backward", LAYER, KERNELS(NORM_DX, COLUMN_SUM)},
    {"rms_norm", LAYER, KERNELS(RMS_NORM, RMS_NORM)},
    {"rms_norm_backward", LAYER, KERNELS(NORM_DX, NORM_DWEIGHT)},
    {"activation", LAYER, KERNELS(ACTIVATION, ACTIVATION)},
    {"activation_backward", LAYER, KERNELS(ACTIVATION_BACKWARD, ACTIVATION_BACKWARD)},
    {"multiply", LAYER, KERNELS(MULTIPLY, MULTIPLY)},
    {"embedding", LAYER, KERNELS(EMBEDDING, EMBEDDING)},
    {"embedding_backward", LAYER, KERNELS(EMBEDDING_BACKWARD, EMBEDDING_BACKWARD)},
    {"rotary", LAYER, KERNELS(ROTARY, ROTARY)},
    {"cross_entropy", LAYER, KERNELS(CROSS_ENTROPY, CROSS_ENTROPY)},
    {"adam", LAYER, KERNELS(ADAM, ADAM)},
};
#define OPERATORS (sizeof table / sizeof table[0])

/* Where each kernel's text is, and its name there. */
extern const char yoke_text_element[], yoke_text_vector[], yoke_text_convert[],
    yoke_text_select[], yoke_text_matrix[], yoke_text_rows[], yoke_text_layers[];
static const struct {
    const char *name;
    const char *text;
} texts[YOKE_TEXT_COUNT] = {
    [YOKE_TEXT_VECTOR] = {"operators/vector", yoke_text_vector},
    [YOKE_TEXT_CONVERT] = {"operators/convert", yoke_text_convert},
    [YOKE_TEXT_SELECT] = {"operators/select", yoke_text_select},
    [YOKE_TEXT_MATRIX] = {"operators/matrix", yoke_text_matrix},
    [YOKE_TEXT_ROWS] = {"operators/rows", yoke_text_rows},
    [YOKE_TEXT_LAYERS] = {"operators/layers", yoke_text_layers},
};

static const struct {
    yoke_op_text_t text;
    const char *name;
} kernels[YOKE_OP_KERNEL_COUNT] = {
    [YOKE_OP_CONVERT] = {YOKE_TEXT_CONVERT, "op_convert"},
    [YOKE_OP_AXPY] = {YOKE_TEXT_VECTOR, "op_axpy"},
    [YOKE_OP_SCALE] = {YOKE_TEXT_VECTOR, "op_scale"},
    [YOKE_OP_REDUCE] = {YOKE_TEXT_VECTOR, "op_reduce"},
    [YOKE_OP_PACK] = {YOKE_TEXT_VECTOR, "op_pack"},
    [YOKE_OP_UNPACK] = {YOKE_TEXT_VECTOR, "op_unpack"},
    [YOKE_OP_FOLD_PART] = {YOKE_TEXT_VECTOR, "op_fold_part"},
    [YOKE_OP_FOLD_END] = {YOKE_TEXT_VECTOR, "op_fold_end"},
    [YOKE_OP_SELECT_COUNT] = {YOKE_TEXT_SELECT, "op_select_count"},
    [YOKE_OP_SELECT_PLACE] = {YOKE_TEXT_SELECT, "op_select_place"},
    [YOKE_OP_SELECT_WRITE] = {YOKE_TEXT_SELECT, "op_select_write"},
    [YOKE_OP_GEMM] = {YOKE_TEXT_MATRIX, "op_gemm"},
    [YOKE_OP_COLUMN_SUM] = {YOKE_TEXT_ROWS, "op_column_sum"},
    [YOKE_OP_BIAS] = {YOKE_TEXT_ROWS, "op_bias"},
    [YOKE_OP_SOFTMAX] = {YOKE_TEXT_ROWS, "op_softmax"},
    [YOKE_OP_SOFTMAX_BACKWARD] = {YOKE_TEXT_ROWS, "op_softmax_backward"},
    [YOKE_OP_CROSS_ENTROPY] = {YOKE_TEXT_ROWS, "op_cross_entropy"},
    [YOKE_OP_LAYER_NORM] = {YOKE_TEXT_ROWS, "op_layer_norm"},
    [YOKE_OP_RMS_NORM] = {YOKE_TEXT_ROWS, "op_rms_norm"},
    [YOKE_OP_NORM_DX] = {YOKE_TEXT_ROWS, "op_norm_dx"},
    [YOKE_OP_NORM_DWEIGHT] = {YOKE_TEXT_ROWS, "op_norm_dweight"},
    [YOKE_OP_ACTIVATION] = {YOKE_TEXT_LAYERS, "op_activation"},
    [YOKE_OP_ACTIVATION_BACKWARD] = {YOKE_TEXT_LAYERS, "op_activation_backward"},
    [YOKE_OP_MULTIPLY] = {YOKE_TEXT_LAYERS, "op_multiply"},
    [YOKE_OP_EMBEDDING] = {YOKE_TEXT_LAYERS, "op_embedding"},
    [YOKE_OP_EMBEDDING_BACKWARD] = {YOKE_TEXT_LAYERS, "op_embedding_backward"},
    [YOKE_OP_ROTARY] = {YOKE_TEXT_LAYERS, "op_rotary"},
    [YOKE_OP_ADAM] = {YOKE_TEXT_LAYERS, "op_adam"},
};

static const struct operator_row *find(const char *name)
{
    for (size_t i = 0; i < OPERATORS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

const char *const *yoke_operators_names(size_t *out_count)
{
    static const char *const names[] = {"fill",
                                        "convert",
                                        "axpy",
                                        "scale",
                                        "reduce",
                                        "fold",
                                        "norm",
                                        "select",
                                        "pack",
                                        "unpack",
                                        "gemm",
                                        "column_sum",
                                        "bias",
                                        "softmax",
                                        "softmax_backward",
                                        "layer_norm",
                                        "layer_norm_backward",
                                        "rms_norm",
                                        "rms_norm_backward",
                                        "activation",
                                        "activation_backward",
                                        "multiply",
                                        "embedding",
                                        "embedding_backward",
                                        "rotary",
                                        "cross_entropy",
                                        "adam"};
    _Static_assert(sizeof names / sizeof names[0] == OPERATORS, "a name per operator");
    if (out_count != NULL)
        *out_count = OPERATORS;
    return names;
}

/* --- create, destroy ------------------------------------------------------------------
 */

/* Items that share a row: a power of four, for the square tiles of products. */
static uint32_t choose_group(const yoke_device_info_t *info)
{
    uint32_t group = 256;
    if (info->kind == YOKE_DEVICE_CPU || info->subgroup <= 1)
        return 0;
    while (group > info->max_group && group > 1)
        group /= 4;
    if (info->local_memory < 24 * 1024 && group > 64)
        group = 64;
    return group < 4 ? 0 : group;
}

yoke_status_t yoke_operators_create(yoke_device_t *device,
                                    yoke_operators_t **out_operators)
{
    static const char call[] = "yoke_operators_create";
    yoke_status_t status =
        yoke_object_check_handle(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK && out_operators == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "%s: out_operators is NULL", call);
    if (status != YOKE_OK)
        return status;
    yoke_operators_t *operators =
        yoke_object_new(sizeof *operators, YOKE_OBJECT_OPERATORS, device);
    if (operators == NULL)
        return YOKE_ERR_NO_MEMORY;
    operators->info = device->info;
    operators->device = device;
    operators->group = choose_group(&operators->info);
    yoke_object_attach(&operators->object);
    *out_operators = operators;
    return YOKE_OK;
}

void yoke_operators_destroy(yoke_operators_t *operators)
{
    if (!yoke_object_endable(YOKE_OBJECT(operators), YOKE_OBJECT_OPERATORS,
                             "yoke_operators_destroy"))
        return;
    for (size_t k = 0; k < YOKE_OP_KERNEL_COUNT; k++)
        for (size_t e = 0; e < YOKE_ELEMENT_COUNT; e++)
            yoke_kernel_destroy(operators->kernels[k][e]);
    for (size_t t = 0; t < YOKE_TEXT_COUNT; t++)
        for (size_t e = 0; e < YOKE_ELEMENT_COUNT; e++)
            yoke_program_destroy(operators->programs[t][e]);
    free(operators->bounce);
    yoke_object_end(&operators->object);
}

void yoke_operators_share_rows(yoke_operators_t *operators, uint32_t group)
{
    operators->group = group;
}

/* --- where an operator runs -----------------------------------------------------------
 */

static bool can(const yoke_operators_t *operators, uint64_t capability)
{
    return (operators->info.capabilities & capability) != 0;
}

static bool compiles(const yoke_operators_t *operators, yoke_element_t element)
{
    return can(operators, YOKE_CAP_SOURCE) && !operators->no_compiler &&
           (element != YOKE_ELEMENT_F64 || can(operators, YOKE_CAP_FP64));
}

static bool vendor_has(const yoke_operators_t *operators, const char *name,
                       yoke_element_t element)
{
    const yoke_backend_ops_t *ops = operators->device->object.ops;
    if (strcmp(name, "fill") == 0)
        return true;
    if (strcmp(name, "gemm") == 0)
        return can(operators, YOKE_CAP_GEMM) && ops->gemm != NULL &&
               (operators->no_gemm >> element & 1) == 0;
    return strcmp(name, "reduce") == 0 && !compiles(operators, element) &&
           ops->reduce != NULL &&
           (operators->no_reduce >> (element * YOKE_REDUCTION_COUNT) & 1) == 0;
}

yoke_op_route_t yoke_operators_portable(const yoke_operators_t *operators,
                                        yoke_element_t element)
{
    return compiles(operators, element) ? YOKE_ROUTE_KERNEL : YOKE_ROUTE_HOST;
}

yoke_op_route_t yoke_operators_route(const yoke_operators_t *operators, const char *name,
                                     yoke_element_t element)
{
    const struct operator_row *row = find(name);
    if (row == NULL || (unsigned)element >= YOKE_ELEMENT_COUNT ||
        (row->elements >> element & 1) == 0)
        return YOKE_ROUTE_NONE;
    if (vendor_has(operators, name, element))
        return YOKE_ROUTE_VENDOR;
    return yoke_operators_portable(operators, element);
}

const char *yoke_operators_path(yoke_operators_t *operators, const char *name,
                                yoke_element_t element)
{
    static const char *const words[] = {[YOKE_ROUTE_NONE] = "none",
                                        [YOKE_ROUTE_KERNEL] = "kernel",
                                        [YOKE_ROUTE_VENDOR] = "vendor",
                                        [YOKE_ROUTE_HOST] = "host"};
    if (name == NULL ||
        yoke_object_check_handle(YOKE_OBJECT(operators), YOKE_OBJECT_OPERATORS,
                                 "yoke_operators_path") != YOKE_OK)
        return "none";
    return words[yoke_operators_route(operators, name, element)];
}

/* --- compiled kernels -----------------------------------------------------------------
 */

static yoke_status_t compile(yoke_operators_t *operators, yoke_op_text_t text,
                             yoke_element_t element, yoke_program_t **out_program)
{
    char options[64];
    char name[64];
    yoke_text_t source = {0};
    yoke_text_add(&source, yoke_text_element);
    yoke_text_add(&source, texts[text].text);
    if (source.failed) {
        yoke_text_free(&source);
        return yoke_fail_memory();
    }
    if (operators->group > 0)
        yoke_snprintf(options, sizeof options, "-DYO_ELEMENT=%d -DYO_GROUP=%u",
                      (int)element, operators->group);
    else
        yoke_snprintf(options, sizeof options, "-DYO_ELEMENT=%d", (int)element);
    yoke_snprintf(name, sizeof name, "%s of %s", texts[text].name,
                  yoke_element_name(element));
    yoke_program_options_t program = {.struct_size = sizeof program,
                                      .format = YOKE_PROGRAM_DIALECT,
                                      .data = source.data,
                                      .size = source.size,
                                      .name = name,
                                      .options = options};
    yoke_status_t status = yoke_program_create(operators->device, &program, out_program);
    yoke_text_free(&source);
    return status;
}

yoke_status_t yoke_operators_kernel(yoke_operators_t *operators, yoke_op_kernel_t kernel,
                                    yoke_element_t element, yoke_kernel_t **out_kernel)
{
    yoke_kernel_t **slot = &operators->kernels[kernel][element];
    yoke_program_t **program = &operators->programs[kernels[kernel].text][element];
    if (*slot == NULL) {
        if (*program == NULL) {
            yoke_status_t status =
                compile(operators, kernels[kernel].text, element, program);
            if (status == YOKE_ERR_UNSUPPORTED)
                operators->no_compiler = true;
            if (status != YOKE_OK)
                return status;
        }
        yoke_status_t status = yoke_kernel_create(*program, kernels[kernel].name, slot);
        if (status != YOKE_OK)
            return status;
    }
    *out_kernel = *slot;
    return YOKE_OK;
}

yoke_status_t yoke_operators_prepare(yoke_operators_t *operators, const char *name,
                                     yoke_element_t element)
{
    static const char call[] = "yoke_operators_prepare";
    yoke_status_t alive =
        yoke_object_check_handle(YOKE_OBJECT(operators), YOKE_OBJECT_OPERATORS, call);
    if (alive == YOKE_OK && name == NULL)
        alive = yoke_fail(YOKE_ERR_USAGE, "%s: name is NULL", call);
    if (alive != YOKE_OK)
        return alive;
    const struct operator_row *row = find(name);
    if (row == NULL)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_operators_prepare: no operator '%s'; "
                         "yoke_operators_names() lists them",
                         name);
    yoke_op_route_t route = yoke_operators_route(operators, name, element);
    if (route == YOKE_ROUTE_NONE)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "yoke_operators_prepare: %s does not take %s", name,
                         yoke_element_name(element) == NULL ? "this element type"
                                                            : yoke_element_name(element));
    if (route != YOKE_ROUTE_KERNEL)
        return YOKE_OK;
    for (int k = (int)row->first; k <= (int)row->last; k++) {
        yoke_kernel_t *kernel;
        yoke_status_t status =
            yoke_operators_kernel(operators, (yoke_op_kernel_t)k, element, &kernel);
        if (operators->no_compiler)
            return YOKE_OK;
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}
