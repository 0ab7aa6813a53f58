/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of mixed plans: "7-9-9-9" layers a stage, and of each stage its tensor groups,
 * "4x(GH-96,tp4) | 2x(V100,tp2) + 1x(A100,tp1)". The model is named; its sizes are
 * in the profiles.
 */
#include "partition/run_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

enum { MOST_STAGES = 1024 };

/* Layers of each stage. Where they are two more than the model's blocks, embedding and
 * head were counted. */
static bool read_split(yoke_run_reader_t *reader, unsigned blocks, unsigned *out_layers,
                       unsigned *out_count)
{
    const char *text = yoke_run_field_text(reader, "layer_split");
    unsigned count = 0, sum = 0;
    if (text[0] == '\0')
        return yoke_run_refuse(reader, "layer_split is empty");
    for (const char *at = text;;) {
        char *end = NULL;
        unsigned long value = strtoul(at, &end, 10);
        if (end == at || value == 0 || value > 4096 || count == MOST_STAGES ||
            (*end != '-' && *end != '\0'))
            return yoke_run_refuse(reader, "layer_split is \"%.60s\", expected 7-9-9-9",
                                   text);
        out_layers[count++] = (unsigned)value;
        sum += (unsigned)value;
        if (*end == '\0')
            break;
        at = end + 1;
    }
    if (sum == blocks + 2 &&
        (count > 1 ? out_layers[0] > 1 && out_layers[count - 1] > 1 : true)) {
        out_layers[0]--;
        out_layers[count - 1]--;
    } else if (sum != blocks) {
        return yoke_run_refuse(
            reader, "layer_split adds up to %u, the model has %u layers", sum, blocks);
    }
    *out_count = count;
    return true;
}

/* "4x(GH-96,tp4)" at `*at`; leaves it behind. */
static bool read_group(yoke_run_reader_t *reader, const char **at, yoke_run_t *run)
{
    char *end = NULL, name[128];
    unsigned long replicas = strtoul(*at, &end, 10);
    const char *comma = end != NULL ? strstr(end, ",tp") : NULL;
    if (end == *at || replicas == 0 || replicas > 65536 || end[0] != 'x' ||
        end[1] != '(' || comma == NULL || (size_t)(comma - end - 2) >= sizeof name)
        return yoke_run_refuse(reader, "stage_devices: \"%.40s\", expected 4x(TYPE,tp2)",
                               *at);
    memcpy(name, end + 2, (size_t)(comma - end - 2));
    name[comma - end - 2] = '\0';
    unsigned long tp = strtoul(comma + 3, &end, 10);
    if (*end != ')' || tp == 0 || tp > 1024)
        return yoke_run_refuse(reader, "stage_devices: \"%.40s\", expected 4x(TYPE,tp2)",
                               *at);
    yoke_run_stage_t *more = realloc(run->stages, (run->stage_count + 1) * sizeof *more);
    if (more == NULL)
        return yoke_run_refuse(reader, "no memory");
    run->stages = more;
    yoke_run_stage_t *stage = &more[run->stage_count++];
    *stage = (yoke_run_stage_t){.tp = (unsigned)tp, .replicas = (unsigned)replicas};
    if (!yoke_profiles_device(reader->profiles, name, &stage->device))
        return yoke_run_refuse(reader, "device \"%.60s\" is not in the catalog", name);
    unsigned peers = yoke_profiles_peers(reader->profiles, name);
    if (run->per_node == 0 || (peers > 0 && peers < run->per_node))
        run->per_node = peers;
    run->devices += (unsigned)(tp * replicas);
    run->tp = run->tp < tp ? (unsigned)tp : run->tp;
    *at = end + 1;
    return true;
}

static bool read_stages(yoke_run_reader_t *reader, const unsigned *layers, unsigned count,
                        yoke_run_t *run)
{
    const char *at = yoke_run_field_text(reader, "stage_devices");
    if (at[0] == '\0')
        return yoke_run_refuse(reader, "stage_devices is empty");
    unsigned index = 0, replicas = 0;
    run->dp = 0;
    while (true) {
        at += strspn(at, " ");
        if (index == count || !read_group(reader, &at, run))
            return yoke_run_refuse(reader,
                                   "stage_devices has more stages than layer_split");
        yoke_run_stage_t *stage = &run->stages[run->stage_count - 1];
        stage->layers = layers[index];
        replicas += stage->replicas;
        at += strspn(at, " ");
        stage->more = *at == '+' || *at == ',';
        if (!stage->more) {
            run->dp = run->dp < replicas ? replicas : run->dp;
            replicas = 0;
            index++;
        }
        if (*at == '\0')
            break;
        if (!stage->more && *at != '|')
            return yoke_run_refuse(reader, "stage_devices: \"%.20s\" is not | or +", at);
        at++;
    }
    if (index != count)
        return yoke_run_refuse(reader, "stage_devices has fewer stages than layer_split");
    run->pp = count;
    return true;
}

static bool read_measured(yoke_run_reader_t *reader, yoke_run_t *run)
{
    double value;
    if (strcmp(yoke_run_field_text(reader, "measured_metric"), "iteration time") != 0)
        return yoke_run_refuse(reader, "measured_metric is not \"iteration time\"");
    if (yoke_run_field_text(reader, "measured_value")[0] != '\0') {
        if (!yoke_run_number(reader, "measured_value", 1e-9, 1e9, &value))
            return false;
        run->time = value;
    }
    const char *peak = strstr(yoke_run_field_text(reader, "outcome"), "peak GPU memory ");
    if (peak != NULL)
        run->memory = strtod(peak + strlen("peak GPU memory "), NULL);
    return true;
}

static bool read_model(yoke_run_reader_t *reader, yoke_run_t *run, yoke_run_sizes_t *out)
{
    const yoke_profile_model_t *known =
        yoke_profiles_model(reader->profiles, run->model_name);
    unsigned sequence;
    if (known == NULL)
        return yoke_run_refuse(reader, "the sizes of model \"%.60s\" are not known",
                               run->model_name);
    if (!yoke_run_whole(reader, "seq_len", 1u << 26, &sequence))
        return false;
    *out = (yoke_run_sizes_t){.layers = known->layers,
                              .hidden = known->hidden,
                              .heads = known->heads,
                              .kv_heads = known->heads,
                              .head_dim = known->hidden / known->heads,
                              .ffn = known->ffn,
                              .vocab = known->vocabulary,
                              .seq = sequence,
                              .gated = known->gated,
                              .moe = ""};
    run->sequence = sequence;
    return yoke_run_get_model(reader, out, &run->model);
}

bool yoke_run_read_mixed(yoke_run_reader_t *reader, yoke_run_t *run)
{
    yoke_run_sizes_t sizes;
    unsigned layers[MOST_STAGES], count = 0;
    run->source = run->framework = yoke_run_field_text(reader, "system");
    run->model_name = yoke_run_field_text(reader, "model");
    run->notes = yoke_run_field_text(reader, "note");
    run->device_name = yoke_run_field_text(reader, "stage_devices");
    run->cp = run->ep = run->chunks = 1;
    if (!read_measured(reader, run) || !read_model(reader, run, &sizes) ||
        !read_split(reader, sizes.layers, layers, &count) ||
        !read_stages(reader, layers, count, run) ||
        !yoke_run_number(reader, "global_batch", 1, 1e9, &run->global_batch) ||
        !yoke_run_number(reader, "micro_batch", 1e-3, 1e6, &run->micro_batch))
        return false;
    if (run->per_node == 0)
        return yoke_run_refuse(reader, "how many devices a node has is not said");
    if (!yoke_run_apply(reader, run))
        return false;
    if (run->said_recompute == NULL || run->said_type == NULL)
        return yoke_run_refuse(reader, "recomputation and data type are not said");
    run->dtype = strcmp(run->said_type, "fp16") == 0   ? YOKE_FP16
                 : strcmp(run->said_type, "fp32") == 0 ? YOKE_FP32
                 : strcmp(run->said_type, "tf32") == 0 ? YOKE_TF32
                                                       : YOKE_BF16;
    return yoke_run_recompute(reader, run->said_recompute, &run->recompute);
}
