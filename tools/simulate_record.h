/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_SIMULATE_RECORD_H
#define YOKE_TOOLS_SIMULATE_RECORD_H

/* What `simulate` keeps of a simulated step, and how it shows it. */

#include "base/text.h"
#include "partition/replay.h"
#include "yoke/plan.h"

/* Sums of one stage. Seconds; columns hold the time of each kind that fell into them. */
typedef struct yoke_stage_record {
    double compute, sync, optimizer, first_start, end;
    double *columns; /* `columns` x YOKE_ROW_KINDS */
} yoke_stage_record_t;
enum { YOKE_ROW_KINDS = 4 }; /* forward, backward, sync, optimizer */

typedef struct yoke_record {
    double step;                 /* seconds; known from a run before */
    size_t columns;              /* of the timeline */
    yoke_stage_record_t *stages; /* all pipelines' stages one after another */
    size_t stage_count;
    size_t *first; /* index of every pipeline's first stage */
} yoke_record_t;

yoke_status_t yoke_record_init(const yoke_layout_t *layout, double step, size_t columns,
                               yoke_record_t *out);
void yoke_record_free(yoke_record_t *record);
/* yoke_event_sink_t; context is a yoke_record_t. */
void yoke_record_event(void *context, unsigned pipeline, unsigned stage,
                       yoke_event_kind_t kind, unsigned micro_batch, double start,
                       double end);

/* One row a stage, `width` columns in all; `all` shows equal pipelines too. */
void yoke_timeline_print(const yoke_plan_t *plan, const yoke_record_t *record, bool all,
                         size_t width, yoke_text_t *out);
/* Columns of the timeline in a text of `width`. */
size_t yoke_timeline_columns(size_t width);

/*
 * The step as Chrome trace events (chrome://tracing, Perfetto): a process a pipeline, two
 * threads a stage, computing and sending. Runs the replay.
 */
yoke_status_t yoke_trace_write(const char *path, const yoke_plan_t *plan,
                               yoke_replay_t *replay);

#endif
