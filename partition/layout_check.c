/* SPDX-License-Identifier: Apache-2.0 */
/* Is a layout well formed? All faults, in the words of the document. */
#include <stdlib.h>
#include <string.h>

#include "partition/layout.h"

/* --- layers ---------------------------------------------------------------------------
 */

static void show_layers(char buffer[64], unsigned first, unsigned last)
{
    if (first == last)
        yoke_snprintf(buffer, 64, "layer %u is", first);
    else
        yoke_snprintf(buffer, 64, "layers %u to %u are", first, last);
}

/* One stage against the layers before it; returns the first layer that is still to come.
 */
static unsigned check_stage_layers(const yoke_stage_t *stage, unsigned next,
                                   unsigned count, const char *place,
                                   yoke_faults_t *faults)
{
    char pointer[128], layers[64];
    yoke_snprintf(pointer, sizeof pointer, "%s/chunks", place);
    if (stage->first > stage->last) {
        yoke_faults_add(faults, pointer,
                        "the stage holds no layer; give it at least one or leave it out");
        return next;
    }
    if (stage->last >= count) {
        yoke_faults_add(
            faults, pointer,
            "[%u, %u] passes the model's last layer, %u; indexes are inclusive",
            stage->first, stage->last, count - 1);
        return next > count ? next : count;
    }
    if (stage->first > next) {
        show_layers(layers, next, stage->first - 1);
        yoke_faults_add(faults, pointer,
                        "%s in no stage before this one; it must begin at %u", layers,
                        next);
    } else if (stage->first < next) {
        unsigned end = stage->last < next - 1 ? stage->last : next - 1;
        show_layers(layers, stage->first, end);
        yoke_faults_add(
            faults, pointer,
            "%s in an earlier stage already, or out of order; it must begin at %u",
            layers, next);
    }
    return stage->last + 1 > next ? stage->last + 1 : next;
}

static void check_layers(const yoke_problem_t *problem, const yoke_pipeline_t *pipeline,
                         unsigned index, yoke_faults_t *faults)
{
    unsigned count = (unsigned)problem->model->layer_count;
    unsigned next = 0;
    char place[96], layers[64];
    for (unsigned s = 0; s < pipeline->stage_count; s++)
        next = check_stage_layers(&pipeline->stages[s], next, count,
                                  yoke_fault_place(place, index, s, -1), faults);
    if (next >= count)
        return;
    show_layers(layers, next, count - 1);
    yoke_faults_add(
        faults, yoke_fault_place(place, index, -1, -1),
        "%s in no stage; the model has %u layers, 0 to %u, and each must be in "
        "exactly one stage of the pipeline",
        layers, count, count - 1);
}

/* --- devices --------------------------------------------------------------------------
 */

/* Where each slot was used first. */
typedef struct use {
    unsigned pipeline, stage, replica;
    bool used;
} use_t;

typedef struct place {
    unsigned pipeline, stage, replica;
} place_t;

static const char *device_pointer(char buffer[128], place_t at, unsigned device)
{
    char place[96];
    yoke_snprintf(buffer, 128, "%s/devices/%u/device",
                  yoke_fault_place(place, at.pipeline, at.stage, at.replica), device);
    return buffer;
}

static void check_used_once(const yoke_problem_t *problem, unsigned slot, place_t at,
                            unsigned device, use_t *uses, yoke_faults_t *faults)
{
    char pointer[128], first[96];
    use_t *use = &uses[slot];
    if (!use->used) {
        *use = (use_t){at.pipeline, at.stage, at.replica, true};
        return;
    }
    char *name = yoke_problem_slot_name(problem, slot);
    yoke_faults_add(faults, device_pointer(pointer, at, device),
                    "%s is used already by %s; a device has one place in a plan",
                    name != NULL ? name : "the device",
                    yoke_fault_place(first, use->pipeline, use->stage, use->replica));
    free(name);
}

/* The devices of a tensor group against its first one. */
static void check_group(const yoke_problem_t *problem, const yoke_replica_t *replica,
                        place_t at, yoke_faults_t *faults)
{
    const yoke_slot_t *first = NULL;
    char pointer[128];
    for (unsigned d = 0; d < replica->tp; d++) {
        if (replica->slots[d] >= problem->slot_count)
            continue;
        const yoke_slot_t *slot = &problem->slots[replica->slots[d]];
        if (first == NULL)
            first = slot;
        const yoke_class_t *mine = &problem->classes[slot->class_index];
        const yoke_class_t *theirs = &problem->classes[first->class_index];
        if (slot->host != first->host)
            yoke_faults_add(
                faults, device_pointer(pointer, at, d),
                "it is on host %s and the first of its tensor group on %s; a tensor "
                "group must stay on one host",
                problem->hosts[slot->host], problem->hosts[first->host]);
        else if (slot->class_index != first->class_index &&
                 strcmp(mine->type, theirs->type) == 0)
            yoke_faults_add(
                faults, device_pointer(pointer, at, d),
                "it is a %s with other rates or another memory limit than the "
                "first of its tensor group; they must be equal",
                mine->type);
        else if (slot->class_index != first->class_index)
            yoke_faults_add(
                faults, device_pointer(pointer, at, d),
                "it is a %s and the first of its tensor group a %s; they must be "
                "equal",
                mine->type, theirs->type);
    }
}

static void check_devices(const yoke_problem_t *problem, const yoke_replica_t *replica,
                          place_t at, use_t *uses, yoke_faults_t *faults)
{
    char place[96];
    if (replica->tp == 0)
        yoke_faults_add(faults,
                        yoke_fault_place(place, at.pipeline, at.stage, at.replica),
                        "the replica has no device; give it one or leave it out");
    for (unsigned d = 0; d < replica->tp; d++)
        if (replica->slots[d] < problem->slot_count && uses != NULL)
            check_used_once(problem, replica->slots[d], at, d, uses, faults);
    check_group(problem, replica, at, faults);
}

/* --- tensor-parallel degrees ----------------------------------------------------------
 */

static void fault_degree(const yoke_layer_t *layer, unsigned index, unsigned tp,
                         const char *pointer, yoke_faults_t *faults)
{
    uint64_t q, kv, copies;
    const yoke_attention_t *attention = &layer->attention;
    if (attention->heads > 0 &&
        !yoke_shard_heads(attention->heads, attention->kv_heads, tp, &q, &kv, &copies))
        yoke_faults_add(faults, pointer,
                        "layer %u (%s) has %llu heads and %llu key/value heads, which %u "
                        "devices cannot share in whole heads; the degree must divide the "
                        "heads, and divide the key/value heads or be a multiple of them",
                        index, layer->name != NULL ? layer->name : "unnamed",
                        (unsigned long long)attention->heads,
                        (unsigned long long)attention->kv_heads, tp);
    else
        yoke_faults_add(
            faults, pointer,
            "layer %u (%s) cannot be cut into %u equal parts of whole columns or "
            "experts (MLP width %llu, experts %llu)",
            index, layer->name != NULL ? layer->name : "unnamed", tp,
            (unsigned long long)(layer->ffn > 0 ? layer->ffn : layer->expert_ffn),
            (unsigned long long)layer->experts);
}

/* The first layer that the degree does not suit; a whole stage of equal ones is one
 * fault. */
static void check_degree(const yoke_problem_t *problem, const yoke_stage_t *stage,
                         const yoke_replica_t *replica, place_t at, yoke_faults_t *faults)
{
    char place[96], pointer[128];
    yoke_snprintf(pointer, sizeof pointer, "%s/tp",
                  yoke_fault_place(place, at.pipeline, at.stage, at.replica));
    for (unsigned i = stage->first; i <= stage->last && i < problem->model->layer_count;
         i++) {
        const yoke_layer_t *layer = &problem->model->layers[i];
        if (replica->tp > 1 && !yoke_layer_can_shard(layer, replica->tp)) {
            fault_degree(layer, i, replica->tp, pointer, faults);
            return;
        }
    }
}

/* --- batch ----------------------------------------------------------------------------
 */

static uint64_t stage_samples(const yoke_stage_t *stage)
{
    uint64_t samples = 0;
    for (unsigned r = 0; r < stage->replica_count; r++)
        samples += stage->replicas[r].micro_batch;
    return samples;
}

static void check_batch(const yoke_problem_t *problem, const yoke_layout_t *layout,
                        yoke_faults_t *faults)
{
    uint64_t total = 0;
    char place[96];
    for (unsigned p = 0; p < layout->pipeline_count; p++) {
        const yoke_pipeline_t *pipeline = &layout->pipelines[p];
        uint64_t first =
            pipeline->stage_count > 0 ? stage_samples(&pipeline->stages[0]) : 0;
        total += first * pipeline->micro_batches;
        for (unsigned s = 1; s < pipeline->stage_count; s++) {
            uint64_t samples = stage_samples(&pipeline->stages[s]);
            if (samples != first)
                yoke_faults_add(
                    faults, yoke_fault_place(place, p, s, -1),
                    "its replicas take %llu samples a step and those of stage 0 "
                    "%llu; the micro_batch of all replicas of a stage must add up "
                    "to the same number in every stage",
                    (unsigned long long)samples, (unsigned long long)first);
        }
    }
    if (total != problem->options.global_batch)
        yoke_faults_add(
            faults, "/pipelines",
            "the pipelines process %llu samples (micro_batches x micro_batch of all "
            "replicas of a stage, summed) and the global batch is %llu",
            (unsigned long long)total, (unsigned long long)problem->options.global_batch);
}

/* --- the whole ------------------------------------------------------------------------
 */

static void check_stage(const yoke_problem_t *problem, const yoke_stage_t *stage,
                        place_t at, use_t *uses, yoke_faults_t *faults)
{
    char place[96];
    if (stage->replica_count == 0)
        yoke_faults_add(faults, yoke_fault_place(place, at.pipeline, at.stage, -1),
                        "the stage has no replica, so nothing runs its layers");
    for (unsigned r = 0; r < stage->replica_count; r++) {
        at.replica = r;
        check_devices(problem, &stage->replicas[r], at, uses, faults);
        check_degree(problem, stage, &stage->replicas[r], at, faults);
    }
}

void yoke_layout_faults(const yoke_problem_t *problem, const yoke_layout_t *layout,
                        bool layers, yoke_faults_t *faults)
{
    char place[96];
    use_t *uses = calloc(problem->slot_count + 1, sizeof *uses);
    if (uses == NULL)
        yoke_faults_add(faults, "", "out of memory while checking the devices");
    if (layout->pipeline_count == 0)
        yoke_faults_add(faults, "/pipelines",
                        "there is no pipeline, so nothing is placed");
    for (unsigned p = 0; p < layout->pipeline_count; p++) {
        const yoke_pipeline_t *pipeline = &layout->pipelines[p];
        if (pipeline->stage_count == 0)
            yoke_faults_add(faults, yoke_fault_place(place, p, -1, -1),
                            "the pipeline has no stage");
        else if (layers)
            check_layers(problem, pipeline, p, faults);
        for (unsigned s = 0; s < pipeline->stage_count; s++)
            check_stage(problem, &pipeline->stages[s], (place_t){p, s, 0}, uses, faults);
    }
    check_batch(problem, layout, faults);
    free(uses);
}
