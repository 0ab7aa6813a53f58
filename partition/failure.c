/* SPDX-License-Identifier: Apache-2.0 */
/* A plan that lost devices. */
#include "partition/failure.h"

#include <stdlib.h>

#include "base/error.h"

static unsigned count_samples(const yoke_stage_t *stage)
{
    unsigned samples = 0;
    for (unsigned r = 0; r < stage->replica_count; r++)
        samples += stage->replicas[r].micro_batch;
    return samples;
}

static yoke_status_t has_failed(const yoke_problem_t *problem, const char *selector,
                                const yoke_replica_t *replica, size_t *devices,
                                bool *out_failed)
{
    *out_failed = false;
    for (unsigned d = 0; d < replica->tp; d++) {
        const yoke_slot_t *slot = &problem->slots[replica->slots[d]];
        bool match = false;
        yoke_status_t status = yoke_selector_match(selector, problem->hosts[slot->host],
                                                   slot->device, &match);
        if (status != YOKE_OK)
            return status;
        *devices += match;
        *out_failed = *out_failed || match;
    }
    return YOKE_OK;
}

/* Marks what failed: a replica that is gone has no samples. */
static yoke_status_t mark(yoke_replay_t *replay, const char *selector,
                          yoke_failure_t *failure)
{
    for (unsigned p = 0; p < replay->layout.pipeline_count; p++)
        for (unsigned s = 0; s < replay->layout.pipelines[p].stage_count; s++) {
            yoke_stage_t *stage = &replay->layout.pipelines[p].stages[s];
            for (unsigned r = 0; r < stage->replica_count; r++) {
                bool failed;
                yoke_status_t status =
                    has_failed(replay->problem, selector, &stage->replicas[r],
                               &failure->devices, &failed);
                if (status != YOKE_OK)
                    return status;
                failure->replicas_before++;
                failure->replicas += !failed;
                if (failed)
                    stage->replicas[r].micro_batch = 0;
            }
        }
    failure->pipelines_before = replay->layout.pipeline_count;
    if (failure->devices == 0)
        return yoke_fail(YOKE_ERR_USAGE, "--fail: '%s' matches no device of the plan",
                         selector);
    return YOKE_OK;
}

static void free_replica(yoke_replica_t *replica)
{
    free((void *)(uintptr_t)replica->slots);
}

/* Replicas without samples leave the stage. */
static void drop_empty(yoke_stage_t *stage)
{
    unsigned kept = 0;
    for (unsigned r = 0; r < stage->replica_count; r++)
        if (stage->replicas[r].micro_batch > 0)
            stage->replicas[kept++] = stage->replicas[r];
        else
            free_replica(&stage->replicas[r]);
    stage->replica_count = kept;
}

/* Takes samples from the replicas that have most, the last first, until so many are left.
 */
static void shrink_stage(yoke_stage_t *stage, unsigned samples)
{
    for (unsigned have = count_samples(stage); have > samples; have--) {
        yoke_replica_t *most = &stage->replicas[0];
        for (unsigned r = 1; r < stage->replica_count; r++)
            if (stage->replicas[r].micro_batch >= most->micro_batch)
                most = &stage->replicas[r];
        most->micro_batch--;
    }
    drop_empty(stage);
}

static unsigned fewest_samples(const yoke_pipeline_t *pipeline, unsigned *out_stage)
{
    unsigned fewest = 0;
    *out_stage = 0;
    for (unsigned s = 0; s < pipeline->stage_count; s++) {
        unsigned samples = count_samples(&pipeline->stages[s]);
        if (s == 0 || samples < fewest) {
            fewest = samples;
            *out_stage = s;
        }
    }
    return fewest;
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

static void free_pipeline(yoke_pipeline_t *pipeline)
{
    for (unsigned s = 0; s < pipeline->stage_count; s++) {
        for (unsigned r = 0; r < pipeline->stages[s].replica_count; r++)
            free_replica(&pipeline->stages[s].replicas[r]);
        free(pipeline->stages[s].replicas);
    }
    free(pipeline->stages);
}

/* Stopped pipelines leave, the others get smaller micro-batches; returns the samples that
 * nobody has. */
static uint64_t sort_out(yoke_layout_t *layout, const uint64_t *work)
{
    uint64_t unfinished = 0;
    unsigned kept = 0, stage;
    for (unsigned p = 0; p < layout->pipeline_count; p++) {
        yoke_pipeline_t pipeline = layout->pipelines[p];
        unsigned samples = fewest_samples(&pipeline, &stage);
        if (samples == 0) {
            unfinished += work[p];
            free_pipeline(&pipeline);
            continue;
        }
        for (unsigned s = 0; s < pipeline.stage_count; s++)
            shrink_stage(&pipeline.stages[s], samples);
        pipeline.micro_batches = (unsigned)divide_up(work[p], samples);
        layout->pipelines[kept++] = pipeline;
    }
    layout->pipeline_count = kept;
    return unfinished;
}

/* To every pipeline by what it does already. */
static void spread(yoke_layout_t *layout, uint64_t unfinished)
{
    uint64_t total = 0;
    unsigned stage;
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        total += layout->pipelines[p].micro_batches *
                 (uint64_t)fewest_samples(&layout->pipelines[p], &stage);
    for (unsigned p = 0; p < layout->pipeline_count; p++) {
        yoke_pipeline_t *pipeline = &layout->pipelines[p];
        uint64_t samples = fewest_samples(pipeline, &stage);
        uint64_t own = pipeline->micro_batches * samples;
        pipeline->micro_batches =
            (unsigned)divide_up(own + divide_up(unfinished * own, total), samples);
    }
}

yoke_status_t yoke_replay_fail(yoke_replay_t *replay, const char *selector,
                               yoke_failure_t *out_failure)
{
    yoke_layout_t *layout = &replay->layout;
    yoke_failure_t failure = {0};
    uint64_t *work = calloc(layout->pipeline_count, sizeof *work);
    unsigned stage, pipelines = layout->pipeline_count;
    if (work == NULL)
        return yoke_fail_memory();
    for (unsigned p = 0; p < pipelines; p++)
        work[p] = layout->pipelines[p].micro_batches *
                  (uint64_t)fewest_samples(&layout->pipelines[p], &stage);
    yoke_status_t status = mark(replay, selector, &failure);
    for (unsigned p = 0; p < pipelines && status == YOKE_OK; p++)
        if (fewest_samples(&layout->pipelines[p], &stage) > 0) {
            failure.pipelines++;
        } else {
            failure.lost_pipeline = p;
            failure.lost_stage = stage;
        }
    failure.goes_on = failure.pipelines > 0;
    if (status == YOKE_OK && failure.goes_on)
        spread(layout, sort_out(layout, work));
    free(work);
    if (status == YOKE_OK)
        *out_failure = failure;
    return status;
}
