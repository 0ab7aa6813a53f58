/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_EXPLAIN_SEARCH_H
#define YOKE_TOOLS_EXPLAIN_SEARCH_H

/* Questions about a plan that need another search: explain --why-not and --marginal. */

#include <jansson.h>
#include "base/text.h"
#include "yoke/inventory.h"
#include "yoke/model.h"
#include "yoke/plan.h"

/**
 * The best plan with a choice forced ("tp=8", "dp=4", "stages=2", or several separated by
 * commas), beside the plan at hand. Text goes to `out`, the figures to `figures`.
 * @retval YOKE_ERR_USAGE  `choice` is not understood
 */
yoke_status_t yoke_explain_why_not(const yoke_plan_t *plan, const yoke_model_t *model,
                                   const yoke_inventory_t *inventory, const char *choice,
                                   size_t width, yoke_text_t *out, json_t *figures);
/** What every type of device adds: the best plan without it. */
yoke_status_t yoke_explain_marginal(const yoke_plan_t *plan, const yoke_model_t *model,
                                    const yoke_inventory_t *inventory, size_t width,
                                    yoke_text_t *out, json_t *figures);

#endif
