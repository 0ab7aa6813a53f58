/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/partition/measured.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    size_t size = 0, capacity = 1 << 16;
    char *text = malloc(capacity);
    while (text != NULL) {
        size += fread(text + size, 1, capacity - size - 1, file);
        if (size < capacity - 1)
            break;
        capacity *= 2;
        char *more = realloc(text, capacity);
        if (more == NULL)
            free(text);
        text = more;
    }
    fclose(file);
    if (text != NULL)
        text[size] = '\0';
    return text;
}

/* Cuts one cell off, undoing quotes in place; returns what stopped it. */
static char take_cell(char **at, char **out_cell)
{
    char *read = *at, *write = *at;
    bool quoted = *read == '"';
    *out_cell = write;
    read += quoted ? 1 : 0;
    while (*read != '\0') {
        if (quoted && *read == '"') {
            if (read[1] != '"') {
                quoted = false;
                read++;
                continue;
            }
            read++;
        } else if (!quoted && (*read == ',' || *read == '\n')) {
            break;
        }
        *write++ = *read++;
    }
    char stop = *read;
    *at = stop == '\0' ? read : read + 1;
    *write = '\0';
    if (write > *out_cell && write[-1] == '\r')
        write[-1] = '\0';
    return stop;
}

bool csv_read(const char *path, csv_t *out)
{
    csv_t csv = {.text = read_all(path)};
    size_t count = 0, capacity = 0;
    if (csv.text == NULL)
        return false;
    for (char *at = csv.text; *at != '\0';) {
        if (count == capacity) {
            capacity = capacity == 0 ? 1024 : 2 * capacity;
            csv.cells = realloc(csv.cells, capacity * sizeof *csv.cells);
            assert_non_null(csv.cells);
        }
        char stop = take_cell(&at, &csv.cells[count++]);
        if (stop == '\n' && csv.columns == 0)
            csv.columns = count;
    }
    assert_true(csv.columns > 0 && count % csv.columns == 0);
    csv.rows = count / csv.columns;
    *out = csv;
    return true;
}

void csv_free(csv_t *csv)
{
    free(csv->cells);
    free(csv->text);
}

const char *csv_get(const csv_t *csv, size_t row, const char *column)
{
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(csv->cells[i], column) == 0)
            return csv->cells[row * csv->columns + i];
    fail_msg("no column %s", column);
    return "";
}

unsigned csv_number(const csv_t *csv, size_t row, const char *column)
{
    return (unsigned)strtod(csv_get(csv, row, column), NULL);
}

static bool get_spec(const csv_t *csv, size_t row, bool tied, fixture_spec_t *out)
{
    *out = (fixture_spec_t){.layers = csv_number(csv, row, "layers"),
                            .hidden = csv_number(csv, row, "hidden"),
                            .ffn = csv_number(csv, row, "ffn"),
                            .heads = csv_number(csv, row, "heads"),
                            .kv_heads = csv_number(csv, row, "kv_heads"),
                            .vocabulary = csv_number(csv, row, "vocab"),
                            .gated = csv_number(csv, row, "gated_mlp") != 0,
                            .tied = tied};
    if (out->kv_heads == 0)
        out->kv_heads = out->heads;
    return out->layers > 0 && out->hidden > 0 && out->ffn > 0 && out->heads > 0 &&
           out->vocabulary > 0 && csv_get(csv, row, "moe")[0] == '\0' &&
           csv_number(csv, row, "vpp") == 1 && csv_number(csv, row, "cp") == 1;
}

static bool get_recompute(const csv_t *csv, size_t row, yoke_recompute_t *out)
{
    static const char *const names[] = {"none", "selective", "full"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(csv_get(csv, row, "recompute"), names[i]) == 0) {
            *out = (yoke_recompute_t)i;
            return true;
        }
    return false;
}

static void set_class(yoke_problem_t *problem, const measured_device_t *from,
                      unsigned per_host, double node_network)
{
    yoke_class_t *class = &problem->classes[0];
    yoke_inventory_device_t device = {.kind = YOKE_DEVICE_GPU, .link_mesh = from->mesh};
    const yoke_quantity_t catalog = {.source = YOKE_SOURCE_CATALOG};
    bool supported;
    const char *missing;
    device.compute[YOKE_BF16] = device.bandwidth = device.link_rate = catalog;
    device.compute[YOKE_BF16].value = from->compute;
    device.bandwidth.value = from->bandwidth;
    device.link_rate.value = from->link;
    if (from->achieved > 0) {
        device.achieved[YOKE_BF16] = catalog;
        device.achieved[YOKE_BF16].value = from->achieved;
    }
    if (from->bandwidth_achieved > 0) {
        device.bandwidth_achieved = catalog;
        device.bandwidth_achieved.value = from->bandwidth_achieved;
    }
    assert_true(yoke_rates_from_device(&device, YOKE_BF16, problem->constants,
                                       &class->rates, &supported, &missing));
    class->rates.link_peers = per_host;
    class->nic = node_network * problem->constants->nic_fraction;
    class->nic_latency = problem->constants->nic_latency;
}

typedef struct degrees {
    unsigned tp, pp, dp, micro_batch, steps, per_host;
    yoke_recompute_t recompute;
    bool sharded;
} degrees_t;

static bool get_degrees(const csv_t *csv, size_t row, degrees_t *out)
{
    unsigned global = csv_number(csv, row, "global_batch");
    *out = (degrees_t){.tp = csv_number(csv, row, "tp"),
                       .pp = csv_number(csv, row, "pp"),
                       .dp = csv_number(csv, row, "dp"),
                       .micro_batch = csv_number(csv, row, "micro_batch"),
                       .sharded = csv_number(csv, row, "zero_stage") > 0};
    unsigned samples = out->dp * out->micro_batch;
    if (out->tp == 0 || out->pp == 0 || samples == 0 || global == 0 ||
        global % samples != 0)
        return false;
    out->steps = global / samples;
    return get_recompute(csv, row, &out->recompute);
}

static measured_result_t evaluate(yoke_problem_t *problem, const degrees_t *degrees,
                                  unsigned layers)
{
    size_t count = (size_t)degrees->pp * degrees->dp;
    unsigned *slots = calloc(problem->slot_count, sizeof *slots);
    yoke_replica_t *replicas = calloc(count, sizeof *replicas);
    yoke_stage_t *stages = calloc(degrees->pp, sizeof *stages);
    yoke_cost_cache_t *cache = yoke_cost_cache_new(problem);
    assert_true(slots != NULL && replicas != NULL && stages != NULL && cache != NULL);
    for (size_t i = 0; i < problem->slot_count; i++)
        slots[i] = (unsigned)i;
    for (size_t i = 0; i < count; i++)
        replicas[i] = (yoke_replica_t){.micro_batch = degrees->micro_batch,
                                       .tp = degrees->tp,
                                       .slots = &slots[i * degrees->tp]};
    for (unsigned s = 0; s < degrees->pp; s++) {
        bool last = s + 1 == degrees->pp;
        stages[s] =
            (yoke_stage_t){.first = s == 0 ? 0 : s * layers / degrees->pp + 1,
                           .last = (s + 1) * layers / degrees->pp + (last ? 1 : 0),
                           .recompute = degrees->recompute,
                           .replicas = &replicas[(size_t)s * degrees->dp],
                           .replica_count = degrees->dp};
    }
    yoke_pipeline_t pipeline = {degrees->steps, stages, degrees->pp};
    yoke_layout_t layout = {degrees->sharded, &pipeline, 1};
    yoke_evaluation_t out = {0};
    assert_int_equal(yoke_evaluate(problem, cache, &layout, NULL, NULL, &out), YOKE_OK);
    measured_result_t result = {.iteration_time = out.iteration_time,
                                .memory =
                                    out.stages[out.tightest_stage].memory.predicted};
    yoke_evaluation_free(&out);
    yoke_cost_cache_free(cache);
    free(stages);
    free(replicas);
    free(slots);
    return result;
}

bool measured_evaluate(const csv_t *csv, size_t row, const measured_device_t *device,
                       double node_network, bool tied, measured_result_t *out)
{
    fixture_spec_t spec;
    degrees_t degrees;
    if (!get_spec(csv, row, tied, &spec) || !get_degrees(csv, row, &degrees))
        return false;
    unsigned per_host = strstr(device->name, "V100") != NULL ? 4 : 8;
    unsigned devices = degrees.tp * degrees.pp * degrees.dp;
    yoke_model_t *model = fixture_model(&spec);
    if (!yoke_layer_can_shard(&model->layers[1], degrees.tp)) {
        fixture_model_free(model);
        return false;
    }
    yoke_constants_t constants = fixture_constants();
    yoke_problem_t *problem = fixture_problem(
        model, &constants, (devices + per_host - 1) / per_host, 1, per_host);
    problem->options.sequence = csv_number(csv, row, "seq");
    set_class(problem, device, per_host, node_network);
    *out = evaluate(problem, &degrees, spec.layers);
    fixture_problem_free(problem);
    fixture_model_free(model);
    return true;
}
