/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_RUN_PARTS_H
#define YOKE_PARTITION_RUN_PARTS_H

/* Between the readers of the two forms of tables: runs, and mixed plans. */

#include "partition/run.h"

/* A row under reading. `reason` is set by the first thing that is wrong. */
typedef struct yoke_run_reader {
    yoke_run_set_t *set;
    const yoke_profiles_t *profiles;
    size_t row;
    char reason[256];
    bool mixed; /* the form of mixed plans: layer_split and stage_devices */
} yoke_run_reader_t;

typedef struct yoke_run_sizes {
    unsigned layers, hidden, heads, kv_heads, head_dim, ffn, vocab, seq;
    bool gated;
    const char *moe; /* "experts=8;topk=2;...", "" when dense */
} yoke_run_sizes_t;

/* Note why the row is refused; returns false. */
bool yoke_run_refuse(yoke_run_reader_t *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Cells: "" where there is no such column. Numbers refuse what is empty or outside. */
const char *yoke_run_field_text(const yoke_run_reader_t *reader, const char *column);
bool yoke_run_number(yoke_run_reader_t *reader, const char *column, double min,
                     double max, double *out);
bool yoke_run_whole(yoke_run_reader_t *reader, const char *column, unsigned max,
                    unsigned *out);
bool yoke_run_recompute(yoke_run_reader_t *reader, const char *text,
                        yoke_recompute_t *out);
/* Models are made once for equal sizes. */
bool yoke_run_get_model(yoke_run_reader_t *reader, const yoke_run_sizes_t *sizes,
                        const yoke_model_t **out);
/* What the profiles say of the run, its constants and network. */
bool yoke_run_apply(yoke_run_reader_t *reader, yoke_run_t *run);
/* A row of the form of mixed plans. */
bool yoke_run_read_mixed(yoke_run_reader_t *reader, yoke_run_t *run);

#endif
