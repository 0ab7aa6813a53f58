/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_MODEL_PARTS_H
#define YOKE_COSTMODEL_MODEL_PARTS_H

/* Making a model piece by piece: used by the importer and by the document's reader. */

#include "base/json.h"
#include "yoke/model.h"

yoke_model_t *yoke_model_new(void); /* NULL: no memory (message recorded) */
yoke_status_t yoke_model_add_notice(yoke_model_t *model, const char *text);
/* Appends an empty layer; its place is valid until the next one is added. */
yoke_status_t yoke_model_add_layer(yoke_model_t *model, const char *name,
                                   yoke_layer_kind_t kind, yoke_layer_t **out_layer);
/* Appends a copy of layer `index` under another name. */
yoke_status_t yoke_model_repeat_layer(yoke_model_t *model, size_t index,
                                      const char *name);
yoke_status_t yoke_layer_add_tensor(yoke_layer_t *layer, const char *name,
                                    yoke_tensor_t **out_tensor);
void yoke_layer_clear(yoke_layer_t *layer);

/* Elements of a tensor, all copies, whether tied or not. */
uint64_t yoke_tensor_elements(const yoke_tensor_t *tensor);
/*
 * Parameters and active parameters of a layer from its tensors. False when a product or
 * sum passes 2^60, that of the kept elements included.
 */
bool yoke_layer_count(const yoke_layer_t *layer, uint64_t *out_parameters,
                      uint64_t *out_active);
/* Equal but for the name. */
bool yoke_layer_equal(const yoke_layer_t *a, const yoke_layer_t *b);
/* How many layers from `first` on are equal and numbered one after the other; at least 1.
 */
size_t yoke_model_run(const yoke_model_t *model, size_t first);

/*
 * Layer counts, totals and digest; parameters_other must be set. `name` stands in
 * messages.
 * @retval YOKE_ERR_BAD_INPUT  a total passes 2^60
 */
yoke_status_t yoke_model_finish(yoke_model_t *model, const char *name);

/*
 * {"forward_flops", "activation_bytes"}: the coefficients of a layer's functions of batch
 * and sequence, for readers without our formulas. The layer must have passed
 * yoke_layer_count().
 */
yoke_status_t yoke_layer_functions(const yoke_layer_t *layer, json_t **out_object);

/* A yoke-model/1 document into an empty model, totals checked against what it states. */
yoke_status_t yoke_model_from_json(const yoke_json_t *json, yoke_model_t *model);

/* The document as JSON; `whole` also writes notices and "x-*" (the digest leaves them
 * out). */
yoke_status_t yoke_model_to_json(const yoke_model_t *model, bool whole,
                                 json_t **out_root);

#endif
