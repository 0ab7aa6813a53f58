/* SPDX-License-Identifier: Apache-2.0 */
/* Which layers attend in a window, and which are sparse: the rules that families share.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "costmodel/arch.h"

static bool windowed_by_rule(const arch_values_t *values, uint64_t index,
                             bool *out_listed)
{
    static const char *const names[] = {"use_window", "window_from", "window_until",
                                        "window_period"};
    bool has[4] = {false};
    for (size_t i = 0; i < values->count; i++)
        for (size_t k = 0; k < 4; k++)
            if (strcmp(values->items[i].name, names[k]) == 0)
                has[k] = true;
    *out_listed = true;
    if (has[0] && arch_get(values, "use_window") == 0) {
        *out_listed = false;
        return false;
    }
    uint64_t period = arch_get(values, "window_period");
    if (has[1] && index < arch_get(values, "window_from"))
        return false;
    if (has[2] && index >= arch_get(values, "window_until"))
        return false;
    /* The last layer of every period sees everything. */
    return !has[3] || period == 0 || (index + 1) % period != 0;
}

yoke_status_t arch_step_window(arch_import_t *import, uint64_t index)
{
    const char *type = NULL;
    yoke_status_t status = arch_layer_type(import, index, &type);
    if (status != YOKE_OK)
        return status;
    bool allowed = true;
    bool windowed = windowed_by_rule(&import->values, index, &allowed);
    if (type != NULL && allowed) {
        windowed = strcmp(type, "sliding_attention") == 0 ||
                   strcmp(type, "chunked_attention") == 0;
        if (!windowed && strcmp(type, "full_attention") != 0)
            return yoke_cursor_fail(
                &import->config, "layer_types",
                "layer %llu: \"%s\" is not known for %s; known are "
                "full_attention, sliding_attention, chunked_attention",
                (unsigned long long)index, type, import->arch->name);
    }
    arch_set(&import->values, "window",
             windowed ? arch_get(&import->values, "sliding_window") : 0);
    return YOKE_OK;
}

/*
 * Llama 4 lists its sparse layers, or counts every n-th; Qwen counts every n-th and lists
 * exceptions. Either way one mark a layer.
 */
yoke_status_t arch_check_sparse(arch_import_t *import)
{
    uint64_t layers = arch_get(&import->values, "layers");
    uint64_t step = arch_get(&import->values, "sparse_step");
    import->sparse = calloc((size_t)layers, 1);
    if (import->sparse == NULL)
        return yoke_fail_memory();
    bool listed = false;
    yoke_status_t status = YOKE_OK;
    if (strcmp(import->arch->name, "Llama4ForConditionalGeneration") == 0)
        status = arch_read_layer_list(import, "moe_layers", 1, &listed);
    if (status != YOKE_OK || listed)
        return status;
    for (uint64_t i = 0; i < layers; i++)
        import->sparse[i] = (i + 1) % step == 0;
    return arch_read_layer_list(import, "mlp_only_layers", 0, &listed);
}

yoke_status_t arch_step_sparse(arch_import_t *import, uint64_t index)
{
    arch_set(&import->values, "moe", import->sparse[index]);
    return YOKE_OK;
}
