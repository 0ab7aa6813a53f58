/* SPDX-License-Identifier: Apache-2.0 */
/* From filled numbers to layers: each rule of a table makes one tensor. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "costmodel/arch.h"
#include "costmodel/model_parts.h"

static yoke_status_t fail_rule(const arch_import_t *import, const arch_rule_t *rule,
                               const char *formula, arch_outcome_t outcome)
{
    if (outcome == ARCH_TOO_LARGE)
        return yoke_cursor_fail(&import->config, NULL,
                                "%s: %s passes 2^60; the sizes cannot be right",
                                rule->name, formula);
    return yoke_cursor_fail(&import->config, NULL, "%s: %s does not come out whole",
                            rule->name, formula);
}

/* A missing formula is `missing`. */
static yoke_status_t evaluate(const arch_import_t *import, const arch_rule_t *rule,
                              const char *formula, uint64_t missing, uint64_t *out_value)
{
    *out_value = missing;
    if (formula == NULL)
        return YOKE_OK;
    arch_outcome_t outcome = arch_evaluate(formula, &import->values, out_value);
    return outcome == ARCH_OK ? YOKE_OK : fail_rule(import, rule, formula, outcome);
}

static yoke_status_t applies(const arch_import_t *import, const arch_rule_t *rule,
                             bool *out_applies)
{
    arch_outcome_t outcome = arch_condition(rule->when, &import->values, out_applies);
    return outcome == ARCH_OK ? YOKE_OK : fail_rule(import, rule, rule->when, outcome);
}

static yoke_status_t fill_kept(const arch_import_t *import, const arch_rule_t *rule,
                               yoke_tensor_t *tensor)
{
    uint64_t *const places[] = {&tensor->kept, &tensor->kept_cut, &tensor->kept_fp32};
    const char *const formulas[] = {rule->kept, rule->kept_cut, rule->kept_fp32};
    for (size_t i = 0; i < 3; i++) {
        uint64_t one = 0;
        yoke_status_t status = evaluate(import, rule, formulas[i], 0, &one);
        if (status != YOKE_OK)
            return status;
        if (__builtin_mul_overflow(one, tensor->active, places[i]) ||
            *places[i] > ARCH_LIMIT_TOTAL)
            return fail_rule(import, rule, formulas[i], ARCH_TOO_LARGE);
    }
    return YOKE_OK;
}

static yoke_status_t add_tensor(const arch_import_t *import, const arch_rule_t *rule,
                                yoke_layer_t *layer)
{
    yoke_tensor_t *tensor = NULL;
    yoke_status_t status = yoke_layer_add_tensor(layer, rule->name, &tensor);
    if (status != YOKE_OK)
        return status;
    tensor->shard = rule->shard;
    tensor->matmul = rule->matmul;
    tensor->tied = rule->tied || (layer->kind == YOKE_LAYER_HEAD && rule->matmul &&
                                  arch_get(&import->values, "tied") != 0);
    if (status == YOKE_OK)
        status = evaluate(import, rule, rule->rows, 0, &tensor->rows);
    if (status == YOKE_OK)
        status = evaluate(import, rule, rule->columns, 0, &tensor->columns);
    if (status == YOKE_OK)
        status = evaluate(import, rule, rule->copies, 1, &tensor->copies);
    if (status == YOKE_OK)
        status = evaluate(import, rule, rule->active, tensor->copies, &tensor->active);
    return status == YOKE_OK ? fill_kept(import, rule, tensor) : status;
}

static yoke_status_t add_tensors(const arch_import_t *import, const arch_rule_t *rules,
                                 yoke_layer_t *layer)
{
    yoke_status_t status = YOKE_OK;
    for (; status == YOKE_OK && rules->name != NULL; rules++) {
        bool wanted = false;
        status = applies(import, rules, &wanted);
        if (status == YOKE_OK && wanted)
            status = add_tensor(import, rules, layer);
    }
    return status;
}

static void fill_linear(const arch_values_t *values, yoke_attention_t *attention)
{
    attention->linear = true;
    if (arch_get(values, "mamba_heads") != 0) {
        attention->heads = arch_get(values, "mamba_heads");
        attention->kv_heads = arch_get(values, "groups");
        attention->qk_dim = arch_get(values, "state");
        attention->v_dim = arch_get(values, "mamba_dim");
    } else {
        attention->heads = arch_get(values, "linear_heads");
        attention->kv_heads = arch_get(values, "linear_k_heads");
        attention->qk_dim = arch_get(values, "linear_k_dim");
        attention->v_dim = arch_get(values, "linear_v_dim");
    }
    attention->state = attention->qk_dim * attention->v_dim;
}

static void fill_softmax(const arch_values_t *values, yoke_attention_t *attention)
{
    attention->heads = arch_get(values, "heads");
    attention->window = arch_get(values, "window");
    attention->chunked = attention->window != 0 && arch_get(values, "chunked") != 0;
    if (arch_get(values, "latent") != 0) {
        attention->kv_heads = 1;
        attention->qk_dim = arch_get(values, "qk_dim");
        attention->v_dim = arch_get(values, "v_dim");
        attention->index_heads = arch_get(values, "index_heads");
        attention->index_dim = arch_get(values, "index_dim");
        attention->cache_per_token = arch_get(values, "kv_rank") +
                                     arch_get(values, "rope_dim") + attention->index_dim;
        return;
    }
    attention->kv_heads = arch_get(values, "kv_heads");
    attention->qk_dim = attention->v_dim = arch_get(values, "head_dim");
    attention->cache_per_token = 2 * attention->kv_heads * attention->qk_dim;
}

static bool has(const arch_values_t *values, const char *name)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->items[i].name, name) == 0)
            return true;
    return false;
}

/* Families whose layers may lack a part say so with "attention" and "mlp". */
static yoke_status_t fill_decoder(const arch_import_t *import, yoke_layer_t *layer)
{
    const arch_values_t *values = &import->values;
    if (arch_get(values, "linear") != 0)
        fill_linear(values, &layer->attention);
    else if (!has(values, "attention") || arch_get(values, "attention") != 0)
        fill_softmax(values, &layer->attention);
    if (arch_get(values, "moe") != 0) {
        layer->experts = arch_get(values, "experts");
        layer->experts_active = arch_get(values, "topk");
        layer->expert_ffn = arch_get(values, "expert_ffn");
        layer->shared_ffn = arch_get(values, "shared_ffn");
    } else if (!has(values, "mlp") || arch_get(values, "mlp") != 0) {
        layer->ffn = arch_get(values, "ffn");
    }
    layer->gated = import->arch->gated && (layer->ffn != 0 || layer->experts != 0);
    bool parallel = false;
    if (import->arch->parallel != NULL &&
        arch_condition(import->arch->parallel, values, &parallel) != ARCH_OK)
        return yoke_cursor_fail(&import->config, NULL, "%s: wrong table",
                                import->arch->name);
    layer->parallel = parallel;
    return YOKE_OK;
}

static yoke_status_t add_decoder(arch_import_t *import, const char *name,
                                 yoke_layer_kind_t kind)
{
    yoke_layer_t *layer = NULL;
    yoke_status_t status = yoke_model_add_layer(import->model, name, kind, &layer);
    if (status != YOKE_OK)
        return status;
    layer->hidden = arch_get(&import->values, "hidden");
    status = fill_decoder(import, layer);
    if (status == YOKE_OK)
        status = add_tensors(import, import->arch->layer, layer);
    if (status == YOKE_OK && kind == YOKE_LAYER_PREDICTION)
        status = add_tensors(import, import->arch->prediction, layer);
    return status;
}

/* Layers with the same numbers as the one before are copied: large files stay cheap. */
static yoke_status_t add_decoders(arch_import_t *import)
{
    uint64_t layers = arch_get(&import->values, "layers");
    arch_values_t before = {0};
    yoke_status_t status = YOKE_OK;
    for (uint64_t i = 0; status == YOKE_OK && i < layers; i++) {
        char name[32];
        yoke_snprintf(name, sizeof name, "layers.%llu", (unsigned long long)i);
        if (import->arch->layer_values != NULL)
            status = import->arch->layer_values(import, i);
        if (status != YOKE_OK)
            return status;
        if (i > 0 && memcmp(&before, &import->values, sizeof before) == 0)
            status = yoke_model_repeat_layer(import->model,
                                             import->model->layer_count - 1, name);
        else
            status = add_decoder(import, name, YOKE_LAYER_DECODER);
        before = import->values;
    }
    return status;
}

/* Prediction layers, which count apart whether or not they are wanted as layers. */
static yoke_status_t add_predictions(arch_import_t *import, bool wanted)
{
    uint64_t count = arch_get(&import->values, "prediction_layers");
    uint64_t layers = arch_get(&import->values, "layers");
    yoke_model_t *model = import->model;
    if (import->arch->prediction == NULL || count == 0)
        return YOKE_OK;
    if (count > 64)
        return yoke_cursor_fail(&import->config, "num_nextn_predict_layers",
                                "must be a whole number from 0 to 64, found %llu",
                                (unsigned long long)count);
    yoke_status_t status = YOKE_OK;
    for (uint64_t i = 0; status == YOKE_OK && i < count; i++) {
        char name[32];
        uint64_t own = 0, active = 0;
        yoke_snprintf(name, sizeof name, "prediction.%llu", (unsigned long long)i);
        if (import->arch->layer_values != NULL)
            status = import->arch->layer_values(import, layers + i);
        if (status == YOKE_OK)
            status = add_decoder(import, name, YOKE_LAYER_PREDICTION);
        if (status != YOKE_OK)
            return status;
        yoke_layer_t *layer = &model->layers[model->layer_count - 1];
        if (!yoke_layer_count(layer, &own, &active) ||
            own > ARCH_LIMIT_TOTAL - model->parameters_prediction)
            return yoke_cursor_fail(&import->config, NULL,
                                    "the parameters of prediction layers pass 2^60");
        model->parameters_prediction += own;
        if (!wanted) {
            yoke_layer_clear(layer);
            model->layer_count--;
        }
    }
    return status;
}

static yoke_status_t add_end(arch_import_t *import, const char *name,
                             yoke_layer_kind_t kind, const arch_rule_t *rules)
{
    yoke_layer_t *layer = NULL;
    yoke_status_t status = yoke_model_add_layer(import->model, name, kind, &layer);
    if (status != YOKE_OK)
        return status;
    layer->hidden = arch_get(&import->values, "hidden");
    return add_tensors(import, rules, layer);
}

static yoke_status_t count_part(arch_import_t *import, const arch_part_t *part)
{
    yoke_cursor_t object;
    if (!yoke_cursor_member(&import->top, part->object, &object))
        return arch_notice(import->model,
                           "%s is absent: only the language model is counted",
                           part->object);
    yoke_status_t status = arch_read_keys(import, part->keys, &object);
    uint64_t total = 0;
    for (const arch_rule_t *rule = part->rules; status == YOKE_OK && rule->name != NULL;
         rule++) {
        uint64_t rows = 0, columns = 0, copies = 0, product = 0;
        status = evaluate(import, rule, rule->rows, 0, &rows);
        if (status == YOKE_OK)
            status = evaluate(import, rule, rule->columns, 0, &columns);
        if (status == YOKE_OK)
            status = evaluate(import, rule, rule->copies, 1, &copies);
        if (status == YOKE_OK &&
            (__builtin_mul_overflow(rows, columns, &product) ||
             __builtin_mul_overflow(product, copies, &product) ||
             __builtin_add_overflow(total, product, &total) || total > ARCH_LIMIT_TOTAL))
            status = yoke_cursor_fail(&object, NULL, "the parameters pass 2^60");
    }
    if (status == YOKE_OK)
        import->model->parameters_other = total;
    return status;
}

yoke_status_t arch_build(arch_import_t *import, bool prediction_layers)
{
    const arch_t *arch = import->arch;
    yoke_status_t status =
        add_end(import, "embed", YOKE_LAYER_EMBEDDING, arch->embedding);
    if (status == YOKE_OK)
        status = add_decoders(import);
    if (status == YOKE_OK)
        status = add_predictions(import, prediction_layers);
    if (status == YOKE_OK)
        status = add_end(import, "head", YOKE_LAYER_HEAD, arch->head);
    if (status == YOKE_OK && arch->part != NULL)
        status = count_part(import, arch->part);
    return status;
}
