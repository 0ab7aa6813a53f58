/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/costmodel/fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAX_TENSORS = 16 };

static void add(yoke_layer_t *layer, yoke_tensor_t tensor)
{
    if (tensor.copies == 0)
        tensor.copies = tensor.active = 1;
    assert_true(layer->tensor_count < MAX_TENSORS);
    static char name[] = "tensor";
    tensor.name = name;
    layer->tensors[layer->tensor_count++] = tensor;
}

static void start(yoke_layer_t *layer, yoke_layer_kind_t kind, uint64_t hidden)
{
    *layer = (yoke_layer_t){.kind = kind, .hidden = hidden};
    layer->tensors = calloc(MAX_TENSORS, sizeof *layer->tensors);
    assert_non_null(layer->tensors);
}

static void add_norm(yoke_layer_t *layer)
{
    add(layer,
        (yoke_tensor_t){.rows = layer->hidden, .columns = 1, .kept = layer->hidden});
}

static void add_attention(yoke_layer_t *layer, const fixture_spec_t *spec)
{
    uint64_t h = spec->hidden, d = h / spec->heads, kv = spec->kv_heads * d;
    layer->attention = (yoke_attention_t){
        .heads = spec->heads, .kv_heads = spec->kv_heads, .qk_dim = d, .v_dim = d};
    add(layer, (yoke_tensor_t){.rows = h,
                               .columns = h,
                               .shard = YOKE_SHARD_HEADS,
                               .matmul = true,
                               .kept = h,
                               .kept_cut = h});
    for (int i = 0; i < 2; i++)
        add(layer, (yoke_tensor_t){.rows = kv,
                                   .columns = h,
                                   .shard = YOKE_SHARD_KV_HEADS,
                                   .matmul = true,
                                   .kept_cut = kv});
    add(layer, (yoke_tensor_t){.rows = h,
                               .columns = h,
                               .shard = YOKE_SHARD_HEADS,
                               .matmul = true,
                               .kept_cut = h});
}

static void add_mlp(yoke_layer_t *layer, const fixture_spec_t *spec)
{
    uint64_t h = spec->hidden, f = spec->ffn;
    layer->ffn = f;
    for (int i = 0; i < (spec->gated ? 2 : 1); i++)
        add(layer, (yoke_tensor_t){.rows = f,
                                   .columns = h,
                                   .shard = YOKE_SHARD_COLUMNS,
                                   .matmul = true,
                                   .kept = i == 0 ? h : 0,
                                   .kept_cut = f});
    add(layer, (yoke_tensor_t){.rows = h,
                               .columns = f,
                               .shard = YOKE_SHARD_COLUMNS,
                               .matmul = true,
                               .kept_cut = f});
}

static void add_experts(yoke_layer_t *layer, const fixture_spec_t *spec)
{
    uint64_t h = spec->hidden, f = spec->expert_ffn;
    layer->experts = spec->experts;
    layer->experts_active = spec->experts_active;
    layer->expert_ffn = f;
    add(layer, (yoke_tensor_t){.rows = spec->experts,
                               .columns = h,
                               .matmul = true,
                               .kept = h,
                               .kept_fp32 = spec->experts});
    for (int i = 0; i < 2; i++)
        add(layer, (yoke_tensor_t){.rows = f,
                                   .columns = h,
                                   .copies = spec->experts,
                                   .active = spec->experts_active,
                                   .shard = YOKE_SHARD_EXPERTS,
                                   .matmul = true,
                                   .kept_cut = f * spec->experts_active});
    add(layer, (yoke_tensor_t){.rows = h,
                               .columns = f,
                               .copies = spec->experts,
                               .active = spec->experts_active,
                               .shard = YOKE_SHARD_EXPERTS,
                               .matmul = true,
                               .kept_cut = (f + h) * spec->experts_active});
}

static void add_vocabulary(yoke_layer_t *layer, const fixture_spec_t *spec, bool matmul,
                           bool tied)
{
    add(layer, (yoke_tensor_t){.rows = spec->vocabulary,
                               .columns = spec->hidden,
                               .shard = YOKE_SHARD_VOCAB,
                               .matmul = matmul,
                               .tied = tied,
                               .kept = matmul ? spec->hidden : 0});
}

yoke_model_t *fixture_model(const fixture_spec_t *spec)
{
    yoke_model_t *model = calloc(1, sizeof *model);
    assert_non_null(model);
    model->layer_count = spec->layers + 2u;
    model->layers = calloc(model->layer_count, sizeof *model->layers);
    assert_non_null(model->layers);
    model->hidden = spec->hidden;
    model->vocabulary = spec->vocabulary;
    model->heads = spec->heads;
    model->kv_heads = spec->kv_heads;
    model->experts = spec->experts;
    model->tied = spec->tied;

    start(&model->layers[0], YOKE_LAYER_EMBEDDING, spec->hidden);
    add_vocabulary(&model->layers[0], spec, false, false);
    for (unsigned i = 1; i <= spec->layers; i++) {
        yoke_layer_t *layer = &model->layers[i];
        start(layer, YOKE_LAYER_DECODER, spec->hidden);
        layer->gated = spec->gated;
        layer->parallel = spec->parallel;
        add_norm(layer);
        add_attention(layer, spec);
        if (!spec->parallel)
            add_norm(layer);
        if (spec->experts > 0)
            add_experts(layer, spec);
        else
            add_mlp(layer, spec);
    }
    yoke_layer_t *head = &model->layers[model->layer_count - 1];
    start(head, YOKE_LAYER_HEAD, spec->hidden);
    add_norm(head);
    add_vocabulary(head, spec, true, spec->tied);
    return model;
}

void fixture_model_free(yoke_model_t *model)
{
    for (size_t i = 0; i < model->layer_count; i++)
        free(model->layers[i].tensors);
    free(model->layers);
    free(model);
}

yoke_constants_t fixture_constants(void)
{
    const yoke_constants_t *constants = NULL;
    assert_int_equal(yoke_constants_get(&constants), YOKE_OK);
    return *constants;
}

yoke_constants_t fixture_ideal(void)
{
    return (yoke_constants_t){.compute_fraction = 1,
                              .gemm_fraction = 1,
                              .attention_fraction = 1,
                              .bandwidth_fraction = 1,
                              .kernels_backward = 2,
                              .backward_gemm = 2,
                              .backward_attention = 2.5,
                              .backward_elementwise = 2,
                              .expert_fraction = 1,
                              .link_fraction = 1,
                              .nic_fraction = 1,
                              .default_intra_rate = 1e10,
                              .gradient_bytes = 4,
                              .gradient_exchange_bytes = 4,
                              .adam_bytes = 12,
                              .sgd_bytes = 8,
                              .adam_bytes_fp32 = 8,
                              .sgd_bytes_fp32 = 4};
}

/* splitmix64 */
uint64_t fixture_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

double fixture_uniform(uint64_t *state, double low, double high)
{
    double unit = (double)(fixture_random(state) >> 11) / 9007199254740992.0;
    return low + (high - low) * unit;
}

void fixture_assert_near(double got, double want, double relative, const char *what)
{
    double difference = got > want ? got - want : want - got;
    double size = want > 0 ? want : -want;
    if (difference > relative * size + 1e-300)
        fail_msg("%s: got %.12g, want %.12g (within %g)", what, got, want, relative);
}
