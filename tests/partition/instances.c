/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/partition/instances.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/partition/brute_force.h"

enum { MOST_DEVICES = 8, MOST_TYPES = 3, MOST_DECODERS = 12, TENSORS = 10 };

uint64_t random_next(random_source_t *source)
{
    uint64_t z = (source->state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

unsigned random_below(random_source_t *source, unsigned count)
{
    return (unsigned)((random_next(source) >> 33) % count);
}

double random_between(random_source_t *source, double low, double high)
{
    double unit = (double)(random_next(source) >> 11) / 9007199254740992.0;
    return low + (high - low) * unit;
}

static bool one_in(random_source_t *source, unsigned count)
{
    return random_below(source, count) == 0;
}

#define PICK(source, array)                                                              \
    (array)[random_below(source, (unsigned)(sizeof(array) / sizeof *(array)))]

static void *zeroed(size_t count, size_t size)
{
    void *block = calloc(count, size);
    assert_non_null(block);
    return block;
}

static char *name_of(const char *format, unsigned number)
{
    char *name = yoke_format(format, number); /* NOLINT: literal formats of this file */
    assert_non_null(name);
    return name;
}

/* --- models --------------------------------------------------------------------------
 */

typedef struct widths {
    uint64_t hidden, heads, kv_heads, ffn, vocabulary;
    bool gated, parallel, tied;
} widths_t;

static void add_tensor(yoke_layer_t *layer, const char *name, yoke_tensor_t tensor)
{
    assert_true(layer->tensor_count < TENSORS);
    tensor.name = yoke_strdup(name);
    assert_non_null(tensor.name);
    tensor.copies = tensor.active = 1;
    layer->tensors[layer->tensor_count++] = tensor;
    uint64_t parameters = tensor.rows * tensor.columns;
    layer->active += parameters;
    layer->parameters += tensor.tied ? 0 : parameters;
}

static void start_layer(yoke_layer_t *layer, char *name, yoke_layer_kind_t kind,
                        const widths_t *widths)
{
    *layer = (yoke_layer_t){.name = name, .kind = kind, .hidden = widths->hidden};
    layer->tensors = zeroed(TENSORS, sizeof *layer->tensors);
}

static yoke_tensor_t norm(const widths_t *widths)
{
    return (yoke_tensor_t){.rows = widths->hidden, .columns = 1, .kept = widths->hidden};
}

static yoke_tensor_t matrix(uint64_t rows, uint64_t columns, yoke_shard_t shard,
                            uint64_t kept, uint64_t kept_cut)
{
    return (yoke_tensor_t){.rows = rows,
                           .columns = columns,
                           .shard = shard,
                           .matmul = true,
                           .kept = kept,
                           .kept_cut = kept_cut};
}

static void make_decoder(yoke_layer_t *layer, unsigned index, const widths_t *widths)
{
    uint64_t h = widths->hidden, d = h / widths->heads, kv = widths->kv_heads * d;
    uint64_t f = widths->ffn;
    start_layer(layer, name_of("layers.%u", index), YOKE_LAYER_DECODER, widths);
    layer->ffn = f;
    layer->gated = widths->gated;
    layer->parallel = widths->parallel;
    layer->attention = (yoke_attention_t){.heads = widths->heads,
                                          .kv_heads = widths->kv_heads,
                                          .qk_dim = d,
                                          .v_dim = d,
                                          .cache_per_token = 2 * kv};
    add_tensor(layer, "norm", norm(widths));
    add_tensor(layer, "q", matrix(h, h, YOKE_SHARD_HEADS, h, h));
    add_tensor(layer, "k", matrix(kv, h, YOKE_SHARD_KV_HEADS, 0, kv));
    add_tensor(layer, "v", matrix(kv, h, YOKE_SHARD_KV_HEADS, 0, kv));
    add_tensor(layer, "o", matrix(h, h, YOKE_SHARD_HEADS, 0, h));
    if (!widths->parallel)
        add_tensor(layer, "mlp_norm", norm(widths));
    if (widths->gated)
        add_tensor(layer, "gate", matrix(f, h, YOKE_SHARD_COLUMNS, h, f));
    add_tensor(layer, "up", matrix(f, h, YOKE_SHARD_COLUMNS, widths->gated ? 0 : h, f));
    add_tensor(layer, "down", matrix(h, f, YOKE_SHARD_COLUMNS, 0, f));
}

static void make_ends(yoke_model_t *model, const widths_t *widths)
{
    yoke_layer_t *embedding = &model->layers[0];
    start_layer(embedding, name_of("embed", 0), YOKE_LAYER_EMBEDDING, widths);
    yoke_tensor_t table =
        matrix(widths->vocabulary, widths->hidden, YOKE_SHARD_VOCAB, 0, 0);
    table.matmul = false;
    add_tensor(embedding, "embed", table);
    yoke_layer_t *head = &model->layers[model->layer_count - 1];
    start_layer(head, name_of("head", 0), YOKE_LAYER_HEAD, widths);
    add_tensor(head, "norm", norm(widths));
    table =
        matrix(widths->vocabulary, widths->hidden, YOKE_SHARD_VOCAB, widths->hidden, 0);
    table.tied = widths->tied;
    add_tensor(head, "head", table);
}

static void sum_model(yoke_model_t *model)
{
    model->parameters_total = 0;
    for (size_t i = 0; i < model->layer_count; i++)
        model->parameters_total += model->layers[i].parameters;
    model->parameters_active = model->parameters_total;
}

/* MLP width of decoder `index` of `count`: all equal, every second doubled, or growing.
 */
static uint64_t uneven_width(unsigned kind, uint64_t width, unsigned index)
{
    if (kind == 1)
        return index % 2 == 0 ? width : 3 * width;
    if (kind == 2)
        return width / 2 * (1 + index);
    return width;
}

static void make_model(instance_t *instance)
{
    static const uint64_t heads[] = {4, 6, 8, 8, 12, 16};
    static const uint64_t head_dims[] = {64, 128, 256};
    static const uint64_t vocabularies[] = {1000, 32000, 50257, 128256, 256000};
    random_source_t *random = &instance->random;
    widths_t widths = {.heads = PICK(random, heads)};
    widths.hidden = widths.heads * PICK(random, head_dims);
    static const uint64_t groups[] = {1, 1, 2, 4};
    uint64_t group = PICK(random, groups);
    widths.kv_heads = widths.heads % group == 0 ? widths.heads / group : 1;
    if (one_in(random, 8))
        widths.kv_heads = 1;
    widths.ffn = widths.hidden * (2 + random_below(random, 3));
    if (one_in(random, 8))
        widths.ffn -= 2; /* no multiple of 4 */
    widths.vocabulary = PICK(random, vocabularies);
    widths.gated = !one_in(random, 3);
    widths.parallel = one_in(random, 6);
    widths.tied = one_in(random, 3);
    unsigned unevenness = one_in(random, 2) ? 1 + random_below(random, 2) : 0;
    instance->decoders = one_in(random, 2) ? MOST_DECODERS : 1 + random_below(random, 12);
    instance->uneven = unevenness != 0;

    yoke_model_t *model = zeroed(1, sizeof *model);
    instance->model = model;
    model->name = name_of("generated-%u", (unsigned)instance->seed);
    model->architecture = name_of("generated", 0);
    model->hidden = widths.hidden;
    model->vocabulary = widths.vocabulary;
    model->heads = widths.heads;
    model->kv_heads = widths.kv_heads;
    model->head_dim = widths.hidden / widths.heads;
    model->tied = widths.tied;
    model->layer_count = instance->decoders + 2u;
    model->layers = zeroed(model->layer_count, sizeof *model->layers);
    memcpy(model->digest, "generated", sizeof "generated");
    make_ends(model, &widths);
    uint64_t ffn = widths.ffn;
    for (unsigned i = 0; i < instance->decoders; i++) {
        widths.ffn = uneven_width(unevenness, ffn, i);
        make_decoder(&model->layers[i + 1], i, &widths);
    }
    sum_model(model);
}

static void free_layer(yoke_layer_t *layer)
{
    for (size_t i = 0; i < layer->tensor_count; i++)
        free(layer->tensors[i].name);
    free(layer->tensors);
    free(layer->name);
}

void instance_drop_layer(instance_t *instance)
{
    yoke_model_t *model = instance->model;
    assert_true(instance->decoders > 1);
    free_layer(&model->layers[model->layer_count - 2]);
    model->layers[model->layer_count - 2] = model->layers[model->layer_count - 1];
    model->layer_count--;
    instance->decoders--;
    sum_model(model);
}

/* --- clusters ------------------------------------------------------------------------
 */

typedef struct type {
    double compute, bandwidth, link, memory;
    bool mesh;
    unsigned group; /* of its bridges; 0: none */
} type_t;

static yoke_quantity_t measured(double value)
{
    return (yoke_quantity_t){.value = value, .source = YOKE_SOURCE_MEASURED};
}

/* Memory that the whole model takes in training, state and a few activations. */
static double model_bytes(const instance_t *instance)
{
    double tokens = (double)instance->options.sequence;
    double kept = 20.0 * tokens * (double)instance->model->hidden * instance->decoders;
    return 19.0 * (double)instance->model->parameters_total + 4 * kept;
}

static void make_types(instance_t *instance, unsigned types, type_t *out)
{
    random_source_t *random = &instance->random;
    random_source_t apart = {instance->seed ^ 0x6272696467u}; /* keeps the other draws */
    double fixed = 2.1e9; /* about what context and communication take */
    double share = model_bytes(instance) / instance->devices;
    for (unsigned t = 0; t < types; t++) {
        out[t] = (type_t){.compute = random_between(random, 2e13, 6e14),
                          .bandwidth = random_between(random, 3e11, 3e12),
                          .link = random_between(random, 3e10, 4e11),
                          .mesh = one_in(random, 3)};
        if (one_in(&apart, 3) && !out[t].mesh)
            out[t].group = 2;
        if (one_in(&apart, 4)) { /* of another age */
            double slower = random_between(&apart, 0.02, 0.3);
            out[t].compute *= slower;
            out[t].bandwidth *= slower;
        }
        if (one_in(random, 3))
            out[t].link = random_between(random, 2e9, 2e10); /* through PCIe */
        out[t].memory = instance->tight ? fixed + share * random_between(random, 0.4, 4.0)
                                        : 1e12 * random_between(random, 1, 2);
    }
}

static void make_device(yoke_inventory_device_t *device, unsigned index, unsigned type,
                        const type_t *figures)
{
    *device = (yoke_inventory_device_t){.id = name_of("dev%u", index),
                                        .kind = YOKE_DEVICE_GPU,
                                        .vendor = name_of("Maker", 0),
                                        .name = name_of("Type%u", type),
                                        .type = name_of("Type%u", type),
                                        .schedulable = true,
                                        .numa = -1,
                                        .link_mesh = figures->mesh,
                                        .link_group = figures->group};
    device->memory.total = measured(figures->memory * 1.05);
    device->memory.usable = measured(figures->memory);
    device->compute[YOKE_BF16] = measured(figures->compute);
    device->bandwidth = measured(figures->bandwidth);
    device->link_rate = measured(figures->link);
}

/* Gigabits per second. */
static double draw_network(instance_t *instance)
{
    static const double usual[] = {10, 25, 100, 400, 1600};
    random_source_t *random = &instance->random;
    return instance->slow ? random_between(random, 1, 10) : PICK(random, usual);
}

static void add_nic(yoke_node_t *node, double gigabits)
{
    node->nics = zeroed(1, sizeof *node->nics);
    node->nic_count = 1;
    node->nics[0] = (yoke_nic_t){
        .id = name_of("nic%u", 0), .numa = -1, .rate = measured(gigabits * 1.25e8)};
}

/* A slow or fast path between the types of mixed nodes. */
static void add_link(instance_t *instance)
{
    yoke_inventory_t *inventory = instance->inventory;
    inventory->links = zeroed(1, sizeof *inventory->links);
    inventory->link_count = 1;
    inventory->links[0] =
        (yoke_link_t){.between = {name_of("type:Type%u", 0), name_of("type:Type%u", 1)},
                      .kind = name_of("bridge", 0),
                      .rate = measured(random_between(&instance->random, 1e9, 1e11)),
                      .latency = measured(random_between(&instance->random, 1e-6, 5e-5)),
                      .fraction = one_in(&instance->random, 2) ? 0 : 0.8};
}

static unsigned seen_types(const yoke_inventory_t *inventory)
{
    unsigned seen = 0;
    for (size_t n = 0; n < inventory->node_count; n++)
        for (size_t d = 0; d < inventory->nodes[n].device_count; d++)
            seen |= 1u << (inventory->nodes[n].devices[d].type[4] - '0');
    return seen;
}

static void free_links(yoke_inventory_t *inventory)
{
    for (size_t i = 0; i < inventory->link_count; i++) {
        free(inventory->links[i].between[0]);
        free(inventory->links[i].between[1]);
        free(inventory->links[i].kind);
    }
    free(inventory->links);
    inventory->links = NULL;
    inventory->link_count = 0;
}

/* A link of a type that has no device is refused. */
static void drop_dead_link(yoke_inventory_t *inventory)
{
    if ((seen_types(inventory) & 3u) != 3u)
        free_links(inventory);
}

/* Deal the devices out: whole nodes hold one type, mixed ones may change it at any
 * device. */
static void make_cluster(instance_t *instance)
{
    static const unsigned sizes[] = {1, 2, 2, 3, 4, 4, 6, 8};
    random_source_t *random = &instance->random;
    type_t figures[MOST_TYPES];
    instance->devices = one_in(random, 2) ? MOST_DEVICES : 1 + random_below(random, 8);
    unsigned types = one_in(random, 2) ? MOST_TYPES : 1 + random_below(random, 3);
    instance->tight = one_in(random, 2);
    instance->mixed = one_in(random, 3);
    instance->slow = one_in(random, 3);
    make_types(instance, types, figures);

    yoke_inventory_t *inventory = zeroed(1, sizeof *inventory);
    instance->inventory = inventory;
    inventory->nodes = zeroed(MOST_DEVICES, sizeof *inventory->nodes);
    unsigned type = 0, size = PICK(random, sizes);
    double network = draw_network(instance);
    for (unsigned left = instance->devices; left > 0;) {
        if (!one_in(random, 3)) /* else a node like the last */
            size = PICK(random, sizes);
        unsigned count = size < left ? size : left;
        if (count == left && count >= types && inventory->node_count == 0 &&
            !instance->mixed)
            count = (count + types - 1) / types; /* room for nodes of the other types */
        yoke_node_t *node = &inventory->nodes[inventory->node_count++];
        node->hosts = name_of("n%u", (unsigned)inventory->node_count);
        node->devices = zeroed(MOST_DEVICES, sizeof *node->devices);
        for (unsigned d = 0; d < count; d++, node->device_count++) {
            if (d > 0 && instance->mixed && one_in(random, 2))
                type = (type + 1) % types;
            make_device(&node->devices[d], d, type, &figures[type]);
        }
        if (one_in(random, 6))
            network = draw_network(instance);
        add_nic(node, network);
        left -= count;
        if (!one_in(random, 4))
            type = (type + 1) % types;
    }
    if (instance->mixed && types > 1 && one_in(random, 2))
        add_link(instance);
    drop_dead_link(inventory);
}

static void free_device(yoke_inventory_device_t *device)
{
    free(device->id);
    free(device->vendor);
    free(device->name);
    free(device->type);
}

static void free_node(yoke_node_t *node)
{
    for (size_t d = 0; d < node->device_count; d++)
        free_device(&node->devices[d]);
    for (size_t n = 0; n < node->nic_count; n++)
        free(node->nics[n].id);
    free(node->devices);
    free(node->nics);
    free(node->hosts);
}

static unsigned count_types(const yoke_inventory_t *inventory)
{
    return (unsigned)__builtin_popcount(seen_types(inventory));
}

void instance_drop_device(instance_t *instance)
{
    yoke_inventory_t *inventory = instance->inventory;
    yoke_node_t *node = &inventory->nodes[inventory->node_count - 1];
    assert_true(instance->devices > 1);
    free_device(&node->devices[--node->device_count]);
    instance->devices--;
    if (node->device_count == 0) {
        free_node(node);
        inventory->node_count--;
    }
    instance->types = count_types(inventory);
    drop_dead_link(inventory);
}

static void swap_bytes(void *a, void *b, size_t size)
{
    unsigned char *x = a, *y = b;
    for (size_t i = 0; i < size; i++) {
        unsigned char kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

static void shuffle(random_source_t *random, void *array, size_t count, size_t size)
{
    for (size_t i = 0; i + 1 < count; i++) {
        size_t j = i + random_below(random, (unsigned)(count - i));
        if (j != i)
            swap_bytes((char *)array + i * size, (char *)array + j * size, size);
    }
}

void inventory_shuffle(yoke_inventory_t *inventory, random_source_t *random)
{
    shuffle(random, inventory->nodes, inventory->node_count, sizeof *inventory->nodes);
    for (size_t n = 0; n < inventory->node_count; n++) {
        yoke_node_t *node = &inventory->nodes[n];
        shuffle(random, node->devices, node->device_count, sizeof *node->devices);
        shuffle(random, node->nics, node->nic_count, sizeof *node->nics);
    }
}

/* --- the whole -----------------------------------------------------------------------
 */

static void make_options(instance_t *instance)
{
    static const uint64_t sequences[] = {128, 512, 2048};
    static const uint64_t batches[] = {1, 2, 4, 6, 8, 12, 16, 32, 64};
    random_source_t *random = &instance->random;
    instance->options = (yoke_plan_options_t){
        .struct_size = sizeof instance->options,
        .global_batch =
            one_in(random, 4) ? 1 + random_below(random, 64) : PICK(random, batches),
        .sequence = PICK(random, sequences),
        .dtype = YOKE_BF16,
        .optimizer = one_in(random, 4) ? YOKE_OPTIMIZER_SGD : YOKE_OPTIMIZER_ADAM,
        .recompute = YOKE_RECOMPUTE_AUTO,
        .max_shapes = one_in(random, 3) ? 1 : 2,
        .effort = UINT64_MAX / 4};
}

void instance_make(uint64_t seed, instance_t *out_instance)
{
    *out_instance = (instance_t){.seed = seed, .random = {seed * 0xD1B54A32D192ED03u}};
    make_options(out_instance);
    make_model(out_instance);
    make_cluster(out_instance);
    out_instance->types = count_types(out_instance->inventory);
}

void instance_free(instance_t *instance)
{
    yoke_model_t *model = instance->model;
    for (size_t i = 0; i < model->layer_count; i++)
        free_layer(&model->layers[i]);
    free(model->layers);
    free(model->name);
    free(model->architecture);
    free(model);
    yoke_inventory_t *inventory = instance->inventory;
    for (size_t n = 0; n < inventory->node_count; n++)
        free_node(&inventory->nodes[n]);
    free(inventory->nodes);
    free_links(inventory);
    free(inventory);
}

yoke_problem_t *instance_problem(const instance_t *instance)
{
    yoke_problem_t *problem = NULL;
    if (yoke_problem_new(instance->model, instance->inventory, &instance->options,
                         &problem) != YOKE_OK)
        return NULL;
    return problem;
}

static uint64_t candidates(const instance_t *instance, uint64_t limit)
{
    yoke_problem_t *problem = instance_problem(instance);
    assert_non_null(problem);
    uint64_t count = brute_force_count(problem, limit);
    yoke_problem_free(problem);
    return count;
}

static bool small_enough(const instance_t *instance, uint64_t budget)
{
    return candidates(instance, budget) <= budget;
}

/* One step of shrinking by options. */
static void fix_option(instance_t *instance, unsigned which)
{
    yoke_plan_options_t *options = &instance->options;
    random_source_t *random = &instance->random;
    switch (which) {
    case 0:
        options->micro_batch = 1;
        while (options->micro_batch < 4 && one_in(random, 2) &&
               options->global_batch % (2 * options->micro_batch) == 0)
            options->micro_batch *= 2;
        break;
    case 1:
        options->recompute = (yoke_recompute_t)random_below(random, 3);
        break;
    case 2:
        options->sharded_optimizer = one_in(random, 2) ? YOKE_ON : YOKE_OFF;
        break;
    case 3:
        options->tp = one_in(random, 2) ? 2 : 1;
        break;
    case 4:
        options->stages = 1 + random_below(random, instance->decoders > 1 ? 4 : 3);
        break;
    case 5:
        options->dp = 1 + random_below(random, 3);
        break;
    default:
        options->max_shapes = 1;
        break;
    }
}

void instance_shrink(instance_t *instance, uint64_t budget)
{
    enum { OPTIONS = 7 };
    unsigned order[OPTIONS] = {0, 1, 2, 3, 4, 5, 6};
    random_source_t *random = &instance->random;
    for (unsigned i = 0; i < OPTIONS; i++) {
        unsigned j = i + random_below(random, OPTIONS - i), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
    /* Some instances lose layers and keep their freedom, others the reverse. */
    bool layers_first = one_in(random, 3);
    while (layers_first && instance->decoders > 3 && !small_enough(instance, budget))
        instance_drop_layer(instance);
    for (unsigned i = 0; i < OPTIONS && !small_enough(instance, budget); i++) {
        yoke_plan_options_t kept = instance->options;
        fix_option(instance, order[i]);
        if (candidates(instance, 0) == 0) /* no plan at all is left */
            instance->options = kept;
    }
    while (!small_enough(instance, budget)) {
        if (instance->decoders > 1 && instance->decoders + 2 > instance->options.stages)
            instance_drop_layer(instance);
        else
            instance_drop_device(instance);
    }
}
