/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_RUNTIME_H
#define YOKE_PARTITION_RUNTIME_H

/*
 * What the runtimes can execute: rules as data (data/runtimes/NAME.json, with sources),
 * and one check that the search, `runnable_in` and `export` share.
 */

#include "partition/evaluate.h"

typedef enum yoke_runtime_rule {
    YOKE_RULE_EQUAL_PIPELINES = 0, /* all pipelines cut alike, with equal micro-batches */
    YOKE_RULE_EQUAL_TENSOR_DEGREE,
    YOKE_RULE_EQUAL_DATA_DEGREE, /* replicas and micro-batch alike on all stages */
    YOKE_RULE_EQUAL_RECOMPUTE,
    YOKE_RULE_ONE_VENDOR,
    YOKE_RULE_ONE_TYPE_A_STAGE,
    YOKE_RULE_TYPES_TOGETHER,  /* stages of one type follow one another */
    YOKE_RULE_ONE_TYPE_A_HOST, /* among the devices used */
    YOKE_RULE_HOSTS_IN_ORDER,  /* a host's ranks are consecutive */
    YOKE_RULE_DECODERS_IN_EVERY_STAGE,
    YOKE_RULE_TIED_ENDS_EQUAL, /* first and last degree, with a tied head */
    YOKE_RULE_PREDICTION_LAYERS,
    YOKE_RULE_INTERLEAVING,
    YOKE_RULE_ONE_CHUNK,
    YOKE_RULE_REPLICAS_SHARD,
    YOKE_RULE_COUNT
} yoke_runtime_rule_t;

typedef struct yoke_runtime {
    char *name, *title;
    bool dtypes[YOKE_DTYPE_COUNT];
    bool recompute[YOKE_RECOMPUTE_AUTO];
    bool optimizers[YOKE_OPTIMIZER_NONE + 1];
    char *because[YOKE_RULE_COUNT]; /* NULL: not a rule of this runtime */
} yoke_runtime_t;

/* All runtimes of the data folder, in natural order of their names; read once. */
yoke_status_t yoke_runtimes_get(const yoke_runtime_t **out_runtimes, size_t *out_count);
/**
 * By name; "yoke" and NULL give NULL: no rules.
 * @retval YOKE_ERR_USAGE  the message lists the names
 */
yoke_status_t yoke_runtime_find(const char *name, const yoke_runtime_t **out_runtime);
/* One document (yoke-runtime/1), for the above and for the fuzzer; free with
 * yoke_runtime_clear(). */
yoke_status_t yoke_runtime_read(const char *path, yoke_runtime_t *out_runtime);
yoke_status_t yoke_runtime_parse(const char *name, const char *data, size_t size,
                                 yoke_runtime_t *out_runtime);
void yoke_runtime_clear(yoke_runtime_t *runtime);
const char *yoke_runtime_rule_name(yoke_runtime_rule_t rule);

static inline bool yoke_runtime_has(const yoke_runtime_t *runtime,
                                    yoke_runtime_rule_t rule)
{
    return runtime != NULL && runtime->because[rule] != NULL;
}

/* Does the job suit the runtime at all: data type, optimizer? `why` may be NULL. */
bool yoke_runtime_takes_job(const yoke_runtime_t *runtime,
                            const yoke_plan_options_t *options, char *why, size_t size);

/*
 * Does a layout keep every rule? The layout is well formed and has one chunk a stage.
 * `why` (may be NULL) takes what breaks which rule, in words; *out_rule (may be NULL) the
 * rule, YOKE_RULE_COUNT for a data type, optimizer or recomputation.
 */
bool yoke_runtime_allows(const yoke_runtime_t *runtime, const yoke_problem_t *problem,
                         const yoke_layout_t *layout, char *why, size_t size,
                         yoke_runtime_rule_t *out_rule);

#endif
