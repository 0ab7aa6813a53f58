/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1F1B (one forward, one backward) as an event recurrence, so that unequal stages and
 * links are exact where closed forms are not.
 *
 * With w warm-up forwards, stage s runs F(i) and then B(i - w) in round i. Going through
 * the rounds, in each down the stages for the forwards and up again for the backwards,
 * meets every operation after all that it waits for: F(s, i) waits for F(s-1, i) of this
 * round and for this stage's last backward, of the round before; B(s, j) for F(s) of this
 * round and for B(s+1, j), which has the same or one less warm-up forward and so came in
 * this or the last round.
 */
#include "partition/cache.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

typedef struct run {
    unsigned stages, micro_batches;
    const double *forward, *backward, *send;
    double *free_at;       /* of each stage's device */
    double *link_forward;  /* boundary after stage s is free again */
    double *link_backward; /* the other direction */
    double *arrived;       /* 2 a stage: backward input, by parity of the micro-batch */
    double *first;
    yoke_event_sink_t sink;
    void *context;
    unsigned pipeline;
} run_t;

static double later(double a, double b)
{
    return a > b ? a : b;
}

static void emit(const run_t *run, unsigned stage, yoke_event_kind_t kind,
                 unsigned micro_batch, double start, double end)
{
    if (run->sink != NULL)
        run->sink(run->context, run->pipeline, stage, kind, micro_batch, start, end);
}

/* Down the pipeline with micro-batch i. */
static void forwards(run_t *run, unsigned i)
{
    double arrival = 0;
    for (unsigned s = 0; s < run->stages; s++) {
        double start = later(run->free_at[s], arrival);
        double end = start + run->forward[s];
        if (i == 0)
            run->first[s] = start;
        run->free_at[s] = end;
        emit(run, s, YOKE_EVENT_FORWARD, i, start, end);
        if (s + 1 == run->stages)
            break;
        double leave = later(end, run->link_forward[s]);
        arrival = leave + run->send[s];
        run->link_forward[s] = arrival;
        emit(run, s, YOKE_EVENT_SEND_FORWARD, i, leave, arrival);
    }
}

static void backward(run_t *run, unsigned s, unsigned j)
{
    double arrival = s + 1 < run->stages ? run->arrived[2 * s + j % 2] : 0;
    double start = later(run->free_at[s], arrival);
    double end = start + run->backward[s];
    run->free_at[s] = end;
    emit(run, s, YOKE_EVENT_BACKWARD, j, start, end);
    if (s == 0)
        return;
    double leave = later(end, run->link_backward[s - 1]);
    double arrives = leave + run->send[s - 1];
    run->link_backward[s - 1] = arrives;
    run->arrived[2 * (s - 1) + j % 2] = arrives;
    emit(run, s, YOKE_EVENT_SEND_BACKWARD, j, leave, arrives);
}

static unsigned warm_up(const run_t *run, unsigned stage)
{
    unsigned behind = run->stages - 1 - stage;
    return behind < run->micro_batches ? behind : run->micro_batches;
}

double yoke_simulate_1f1b_in(double *work, unsigned stages, unsigned micro_batches,
                             const double *forward, const double *backward_times,
                             const double *send, double *out_first, double *out_end,
                             yoke_event_sink_t sink, void *context, unsigned pipeline)
{
    run_t run = {.stages = stages,
                 .micro_batches = micro_batches,
                 .forward = forward,
                 .backward = backward_times,
                 .send = send,
                 .free_at = out_end,
                 .link_forward = work,
                 .link_backward = work + stages,
                 .arrived = work + 2 * (size_t)stages,
                 .first = out_first,
                 .sink = sink,
                 .context = context,
                 .pipeline = pipeline};
    if (run.free_at == NULL)
        run.free_at = work + 4 * (size_t)stages;
    if (run.first == NULL)
        run.first = work + 5 * (size_t)stages;
    for (size_t i = 0; i < 4 * (size_t)stages; i++)
        work[i] = 0;
    for (unsigned s = 0; s < stages; s++)
        run.free_at[s] = run.first[s] = 0;
    if (stages == 0 || micro_batches == 0)
        return 0;

    unsigned most = warm_up(&run, 0);
    for (unsigned round = 0; round < micro_batches + most; round++) {
        if (round < micro_batches)
            forwards(&run, round);
        for (unsigned s = stages; s-- > 0;) {
            unsigned w = warm_up(&run, s);
            if (round >= w && round - w < micro_batches)
                backward(&run, s, round - w);
        }
    }
    double end = 0;
    for (unsigned s = 0; s < stages; s++)
        end = later(end, run.free_at[s]);
    return end;
}

double yoke_simulate_1f1b(unsigned stages, unsigned micro_batches, const double *forward,
                          const double *backward_times, const double *send,
                          double *out_first, double *out_end, yoke_event_sink_t sink,
                          void *context, unsigned pipeline)
{
    enum { USUAL = 64 };
    double usual[USUAL * YOKE_SIMULATE_WORK];
    double *work = usual;
    if (stages > USUAL)
        work = calloc((size_t)stages * YOKE_SIMULATE_WORK, sizeof *work);
    if (work == NULL) {
        yoke_fail_memory();
        return INFINITY;
    }
    double end =
        yoke_simulate_1f1b_in(work, stages, micro_batches, forward, backward_times, send,
                              out_first, out_end, sink, context, pipeline);
    if (work != usual)
        free(work);
    return end;
}
