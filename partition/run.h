/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_RUN_H
#define YOKE_PARTITION_RUN_H

/*
 * A training run as somebody measured it: what `yoke calibrate` predicts. Not a plan: the
 * degrees are given, the devices are named by type, nothing is searched.
 */

#include "base/csv.h"
#include "costmodel/cost.h"
#include "inventory/catalog.h"
#include "partition/profile.h"
#include "yoke/model.h"

/* One pipeline stage: `replicas` tensor groups of one device type. */
typedef struct yoke_run_stage {
    yoke_inventory_device_t device; /* its figures; holds no memory of its own */
    unsigned tp, replicas;
    unsigned layers; /* blocks */
    bool more;       /* the next entry is the same stage on another device type */
} yoke_run_stage_t;

typedef struct yoke_run {
    size_t row, line;                                                  /* in its table */
    const char *source, *framework, *model_name, *device_name, *notes; /* in the table */
    const yoke_model_t *model;                                         /* of the set */
    yoke_run_stage_t *stages;
    unsigned stage_count;
    unsigned devices, per_node, tp, pp, dp, cp, ep, chunks;
    double micro_batch, global_batch, sequence;
    yoke_recompute_t recompute;
    unsigned zero;
    bool sequence_parallel, fp8;
    yoke_dtype_t dtype;
    double network;             /* bytes/s of a node; 0: one node, or the profile's */
    double time;                /* measured, seconds; 0: not */
    double memory;              /* measured, bytes; 0: not */
    double naive_flops;         /* of the whole step, model FLOPs */
    yoke_constants_t constants; /* as the profiles say */
    const char *said_recompute, *said_type; /* what the profiles say of it, or NULL */
    char *profiles;                         /* "A, B": the names of those that apply */
} yoke_run_t;

typedef struct yoke_run_miss {
    size_t row, line;
    const char *source;
    char *reason; /* "vpp is empty" */
} yoke_run_miss_t;

typedef struct yoke_run_set {
    yoke_csv_t csv;
    yoke_run_t *runs;
    size_t run_count;
    yoke_run_miss_t *misses; /* rows that are not predicted, with the reason */
    size_t miss_count;
    struct yoke_run_model {
        char *key;
        yoke_model_t *model;
    } * models;
    size_t model_count;
} yoke_run_set_t;

/*
 * Every row of a table of runs. Takes `csv` over, also on failure. A row that lacks a
 * parameter, or has one that cannot be, becomes a miss.
 * @retval YOKE_ERR_BAD_INPUT  no such column as the form needs; the message names it
 */
yoke_status_t yoke_run_set_read(yoke_csv_t *csv, const yoke_profiles_t *profiles,
                                yoke_run_set_t *out_set);
void yoke_run_set_free(yoke_run_set_t *set);

/* Bytes per second of a node from words such as "4x100Gbps RoCE per node",
 * "1600Gbps/node" or "400Gbps/GPU"; 0: they do not say. */
double yoke_run_parse_network(const char *text, unsigned per_node);

typedef struct yoke_run_result {
    double time, memory; /* seconds of an iteration; bytes of the fullest device */
    double compute, sync, update; /* pipeline's end; exposed exchange; update */
    double naive;                 /* 45 % of peak + bubble */
    bool fits;                    /* with the allowance for slack */
} yoke_run_result_t;

/* Predict with the run's own constants, or others (for a fit). */
yoke_status_t yoke_run_predict(const yoke_run_t *run, const yoke_constants_t *constants,
                               yoke_run_result_t *out_result);
/* Memory of the fullest device, bytes. */
double yoke_run_predict_memory(const yoke_run_t *run, const yoke_constants_t *constants);

#endif
