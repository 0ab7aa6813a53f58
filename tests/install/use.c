/* SPDX-License-Identifier: Apache-2.0 */
/* A program of somebody else, in the common part of C11 and C++17. */
#include <stdio.h>
#include <string.h>

#include <yoke/inventory.h>
#include <yoke/model.h>
#include <yoke/plan.h>
#include <yoke/status.h>

int main(void)
{
    yoke_inventory_t *inventory = NULL;
    yoke_log_set_level(YOKE_LOG_ERROR);
    /* One function of each library, so that both are really linked. */
    yoke_status_t status = yoke_inventory_read("/nonexistent/inventory.json", &inventory);
    if (status == YOKE_OK || strstr(yoke_last_error(), "/nonexistent") == NULL)
        return 1;
    yoke_plan_options_t options;
    yoke_plan_options_init(&options);
    if (options.struct_size != sizeof options || options.dtype != YOKE_BF16 ||
        options.recompute != YOKE_RECOMPUTE_AUTO || options.exclude != NULL)
        return 1;
    yoke_plan_t *plan = NULL;
    status = yoke_plan_read("/nonexistent/plan.json", &plan);
    if (status == YOKE_OK)
        return 1;
    /* The installed data are found; a fraction that cannot be is refused before any work.
     */
    yoke_model_t *model = NULL;
    if (yoke_model_read("gpt2", NULL, &model) != YOKE_OK ||
        yoke_cluster_load("a100-v100", &inventory) != YOKE_OK)
        return 1;
    options.memory = YOKE_MEMORY_FRACTION;
    if (yoke_plan_search(model, inventory, &options, &plan) != YOKE_ERR_USAGE ||
        strstr(yoke_last_error(), "memory_fraction") == NULL)
        return 1;
    yoke_inventory_free(inventory);
    yoke_model_free(model);
    printf("%s\n", yoke_version());
    return 0;
}
