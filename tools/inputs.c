/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/catalog.h"

yoke_status_t yoke_input_model(const yoke_args_t *args, yoke_model_t **out_model)
{
    const char *model = yoke_args_value(args, "model");
    const char *cluster = yoke_args_value(args, "cluster");
    if (cluster != NULL && strcmp(model, "-") == 0 && strcmp(cluster, "-") == 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "--model - and --cluster -: only one of them can "
                         "be standard input; give a file for the other");
    return yoke_model_read(model, NULL, out_model);
}

yoke_status_t yoke_input_catalog(const yoke_args_t *args)
{
    enum { MOST = 32 };
    const char *files[MOST + 1] = {NULL};
    if (yoke_args_nth(args, "catalog", MOST) != NULL)
        return yoke_fail(YOKE_ERR_USAGE, "--catalog: at most %d files", MOST);
    for (size_t i = 0; i < MOST; i++)
        files[i] = yoke_args_nth(args, "catalog", i);
    return files[0] != NULL ? yoke_catalog_use(files) : YOKE_OK;
}

yoke_status_t yoke_input_profile(const yoke_args_t *args)
{
    const char *path = yoke_args_value(args, "profile");
    const char *cluster = yoke_args_value(args, "cluster");
    if (path == NULL)
        return YOKE_OK;
    if (strcmp(path, "-") == 0 && ((cluster != NULL && strcmp(cluster, "-") == 0) ||
                                   strcmp(yoke_args_value(args, "model"), "-") == 0))
        return yoke_fail(YOKE_ERR_USAGE,
                         "--profile -: only one input can be standard input; give a "
                         "file for the other");
    return yoke_plan_use_layer_times(path);
}

yoke_status_t yoke_input_cluster(const yoke_args_t *args,
                                 yoke_inventory_t **out_inventory)
{
    yoke_inventory_t *inventory = NULL;
    yoke_status_t status = yoke_input_catalog(args);
    if (status == YOKE_OK)
        status = yoke_input_profile(args);
    if (status == YOKE_OK)
        status = yoke_cluster_load(yoke_args_value(args, "cluster"), &inventory);
    const char *assume;
    for (size_t i = 0; status == YOKE_OK && (assume = yoke_args_nth(args, "assume", i));
         i++)
        status = yoke_inventory_assume(inventory, assume);
    if (status != YOKE_OK) {
        yoke_inventory_free(inventory);
        return status;
    }
    *out_inventory = inventory;
    return YOKE_OK;
}
