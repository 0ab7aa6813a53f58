/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_MODEL_WEIGHTS_H
#define YOKE_COSTMODEL_MODEL_WEIGHTS_H

/* Do the weight files fit the model? Differences become notices; counts stay the model's.
 */

#include "costmodel/arch.h"
#include "costmodel/model_safetensors.h"

/*
 * Compare with what lies in `folder`: `index` (a path), or model.safetensors.index.json
 * or model.safetensors there; nothing there: nothing done. A file of `index` that does
 * not exist is only a notice (people copy the index without the weights).
 * @retval YOKE_ERR_BAD_INPUT  a malformed index or header, or a path that leaves the
 * folder
 */
yoke_status_t yoke_model_compare_weights(yoke_model_t *model, const arch_t *arch,
                                         const char *folder, const char *index);

#endif
