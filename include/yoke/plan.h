/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PLAN_H
#define YOKE_PLAN_H

/**
 * The plan document (yoke-plan/1) and the planner.
 *
 * A plan says where every layer and tensor shard lives. It is a set of pipelines; a
 * pipeline runs `micro_batches` steps through its stages in order; a stage holds one
 * contiguous run of layers on one or more replicas (data parallelism within the
 * pipeline); a replica is a tensor-parallel group of `tp` equal devices of one node. In
 * one step the replicas of a stage process their own `micro_batch` samples each, so
 * shares may be uneven within a stage and, by `micro_batches`, between pipelines.
 *
 * Numbers that are not known are NaN (null in the document); numbers that a text may
 * leave out are NaN or 0 as said below.
 *
 * Units: seconds, bytes, samples. Layer indexes are inclusive, into the model's list
 * (which counts repeats); shard ranges are half-open. Ownership and threads as in
 * inventory.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "yoke/inventory.h"
#include "yoke/model.h"
#include "yoke/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum yoke_recompute {
    YOKE_RECOMPUTE_NONE = 0,
    YOKE_RECOMPUTE_SELECTIVE, /**< the attention core is computed again in backward */
    YOKE_RECOMPUTE_FULL,      /**< only the layer's input is kept */
    YOKE_RECOMPUTE_AUTO       /**< options only: let the planner choose */
} yoke_recompute_t;
/** "none" "selective" "full" "auto" */
const char *yoke_recompute_name(yoke_recompute_t recompute);

typedef enum yoke_optimizer {
    YOKE_OPTIMIZER_ADAM = 0, /**< mixed precision: fp32 master weights and two moments */
    YOKE_OPTIMIZER_SGD,      /**< momentum: fp32 master weights and one moment */
    YOKE_OPTIMIZER_NONE      /**< forward and backward only */
} yoke_optimizer_t;
const char *yoke_optimizer_name(yoke_optimizer_t optimizer);

typedef enum yoke_memory_policy {
    YOKE_MEMORY_USABLE = 0, /**< what the device can give when nobody else is on it */
    YOKE_MEMORY_FREE,       /**< what is free today */
    YOKE_MEMORY_FRACTION    /**< memory_fraction of the total */
} yoke_memory_policy_t;

typedef enum yoke_choice3 { YOKE_AUTO = 0, YOKE_OFF, YOKE_ON } yoke_choice3_t;

/**
 * What is planned. Begin with yoke_plan_options_init() and change what you want; a NULL
 * pointer in place of the options means the same defaults.
 *
 * A struct that is only zeroed is NOT the default: its dtype is fp64 (YOKE_FP64 is 0) and
 * its recompute is "none". All other members mean their default when they are 0 or NULL.
 * Strings and lists are read during the call only; the caller keeps them.
 */
typedef struct yoke_plan_options {
    size_t struct_size;    /**< sizeof(yoke_plan_options_t); any other value is refused */
    uint64_t global_batch; /**< samples per step; 0: 512 */
    uint64_t sequence;     /**< tokens per sample; 0: 4096 */
    uint64_t micro_batch;  /**< samples; 0: search */
    yoke_dtype_t dtype;    /**< of compute and weights; default bf16, 0 is fp64 */
    yoke_optimizer_t optimizer;
    yoke_choice3_t
        sharded_optimizer;       /**< split optimizer state over data-parallel ranks */
    yoke_recompute_t recompute;  /**< default auto; 0 is "none" */
    yoke_memory_policy_t memory; /**< default usable */
    double memory_fraction; /**< above 0 and at most 1; for YOKE_MEMORY_FRACTION only */
    uint64_t tp;            /**< fixed tensor-parallel degree; 0: search */
    uint64_t dp;            /**< fixed number of replicas of the model; 0: search */
    uint64_t stages;        /**< fixed number of stages; 0: search */
    const char *split;      /**< decoder layers of each stage, "27,27,27"; NULL: search */
    const char *const *fix; /**< "type:X:tp=4" ..., NULL-terminated; may be NULL */
    const char *const *exclude; /**< selectors, NULL-terminated; may be NULL */
    const char *nodes;          /**< host list to plan on; NULL: all */
    unsigned max_shapes;        /**< most distinct pipeline shapes in one plan; 0: 2 */
    uint64_t effort;            /**< search nodes; 0: default. Never a clock */
    const char *command;        /**< for made_by; may be NULL */
    const char *runtime; /**< "megatron" "flagscale" "deepspeed" "torch": the plan keeps
                            its rules (data/runtimes); NULL or "yoke": none */
} yoke_plan_options_t;

/** The defaults: bf16, recomputation chosen by the planner, all else as said above. */
static inline void yoke_plan_options_init(yoke_plan_options_t *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
    options->dtype = YOKE_BF16;
    options->recompute = YOKE_RECOMPUTE_AUTO;
}

/** Memory of one device of a replica, by term, at its peak. */
typedef struct yoke_memory_terms {
    double weights, gradients, optimizer, activations, logits, working_set, communication,
        context, slack;
    double predicted;    /**< sum of all terms */
    double limit;        /**< what the device offers under the memory policy */
    const char *peak_at; /**< moment of the peak, static text */
} yoke_memory_terms_t;

typedef struct yoke_plan_shard {
    char *dimension;     /**< "heads" "kv_heads" "columns" "vocabulary" "experts" */
    uint64_t begin, end; /**< half-open */
} yoke_plan_shard_t;

typedef struct yoke_plan_device {
    char *device; /**< "host/device-id" */
    char *type;
    yoke_plan_shard_t *shards;
    size_t shard_count;
    yoke_memory_terms_t memory;
    char *peak_at; /**< owns memory.peak_at of a plan that was read; NULL otherwise */
} yoke_plan_device_t;

typedef struct yoke_plan_replica {
    double share; /**< of the global batch that this replica processes */
    uint64_t micro_batch, tp, cp, ep;
    yoke_plan_device_t *devices; /**< tp of them */
    size_t device_count;
} yoke_plan_replica_t;

typedef struct yoke_plan_chunk {
    uint64_t first, last; /**< inclusive layer indexes */
} yoke_plan_chunk_t;

typedef struct yoke_plan_stage {
    yoke_plan_chunk_t *chunks;
    size_t chunk_count;
    yoke_recompute_t recompute;
    yoke_plan_replica_t *replicas;
    size_t replica_count;
    double forward_time, backward_time; /**< of one micro-batch */
    double send_time; /**< boundary to the next stage, one micro-batch */
    double sync_time,
        optimizer_time; /**< gradient exchange left exposed; weight update */
    double busy;        /**< fraction of the step spent computing */
} yoke_plan_stage_t;

typedef struct yoke_plan_pipeline {
    uint64_t micro_batches;
    yoke_plan_stage_t *stages;
    size_t stage_count;
} yoke_plan_pipeline_t;

typedef struct yoke_plan_group {
    char *kind;   /**< "tensor" "data" "pipeline" */
    char **ranks; /**< device names */
    size_t rank_count;
    char *transport; /**< "NVLink3", "nic", ... */
} yoke_plan_group_t;

/** How much a type computes and holds against what it can: the two-factor match. */
typedef struct yoke_plan_match {
    char *type;
    uint64_t devices, used;
    double compute_share;  /**< of the model's FLOPs that it does */
    double compute_supply; /**< of the cluster's achieved FLOP/s that it has */
    double memory_share;   /**< of all bytes placed that it holds */
    double memory_supply;  /**< of the cluster's memory limit that it has */
    double compute_used;   /**< fraction of its time computing, mean */
    double memory_used;    /**< predicted / limit, mean */
} yoke_plan_match_t;

typedef struct yoke_plan_alternative {
    char *kind; /**< "even split over all devices", "only A100-SXM4-80GB", "tp=8", ... */
    bool feasible;
    double iteration_time; /**< 0 when not feasible */
    char *why;             /**< why it lost, or why it is not feasible */
} yoke_plan_alternative_t;

typedef struct yoke_plan_sensitivity {
    char *input;     /**< "type:X:bf16", "nic", ... */
    double from, to; /**< factor on that input that was tried */
    double iteration_time[2];
    char *source; /**< of that input, with its marks */
} yoke_plan_sensitivity_t;

typedef struct yoke_plan_unused {
    char *device; /**< selector or "host/device-id" list */
    char *reason;
} yoke_plan_unused_t;

typedef struct yoke_plan {
    char *name; /**< file it was read from, for messages; NULL: it was searched */
    char *made_by_command, *made_by_version;
    char *model_name, *model_digest, *inventory_name, *inventory_digest;
    bool feasible;
    char **runnable_in;
    size_t runnable_in_count;
    uint64_t global_batch, sequence;
    yoke_dtype_t dtype;
    yoke_optimizer_t optimizer;
    bool sharded_optimizer;
    char *memory_policy; /**< "usable" "free" or a fraction of the total, "0.92" */
    char *nodes;         /**< host list that was planned on; NULL: all */
    char **exclude;      /**< selectors of the devices that were left out on request */
    size_t exclude_count;
    double iteration_time, iteration_time_low, iteration_time_high;
    double samples_per_second, tokens_per_second;
    double utilisation; /**< model FLOP/s over the achieved FLOP/s of all devices planned
                           on */
    double bound_time, bound_gap;    /**< gap = iteration_time / bound_time - 1 */
    char *bound_binding;             /**< which bound binds */
    char *schedule;                  /**< "1f1b" */
    uint64_t schedule_micro_batches; /**< most steps of any pipeline; 0: not stated */
    uint64_t schedule_chunks;        /**< most chunks of any stage; 0: not stated */
    yoke_plan_pipeline_t *pipelines;
    size_t pipeline_count;
    yoke_plan_group_t *groups;
    size_t group_count;
    char *limited_by;
    yoke_plan_match_t *matches;
    size_t match_count;
    yoke_plan_sensitivity_t *sensitivities;
    size_t sensitivity_count;
    yoke_plan_alternative_t *alternatives;
    size_t alternative_count;
    yoke_plan_unused_t *unused;
    size_t unused_count;
    char **notes; /**< marks of doubt on the figures used, memory taken, dtype, ... */
    size_t note_count;
    void *extra; /**< kept "x-*" members (opaque) */
} yoke_plan_t;

/**
 * Search the best plan. The result is the same bytes for the same inputs on any machine.
 *
 * @param options   NULL: the defaults of yoke_plan_options_init()
 * @param out_plan  the caller frees it with yoke_plan_free(); it keeps nothing of the
 * model and the inventory, which may be freed before it
 * @retval YOKE_OK
 * @retval YOKE_ERR_NO            no feasible plan; the message says which constraint,
 * which device, how much is missing and the nearest change that fits
 * @retval YOKE_ERR_UNKNOWN_RATE  a device's rate is unknown; the message gives the
 * --assume
 * @retval YOKE_ERR_USAGE, YOKE_ERR_BAD_INPUT  an option cannot be met (bad split,
 * selector, memory_fraction, struct_size)
 * @retval YOKE_ERR_UNSUPPORTED   more classes of devices than are planned
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_plan_search(const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_plan_options_t *options,
                               yoke_plan_t **out_plan);

/**
 * Measured layer times (yoke-layer-times/1) in the place of the cost model's, for every
 * later call on plans in this process: search, check, renewal. As with a catalog: call it
 * before anything else runs, and not while another thread plans. A problem that they do
 * not belong to (layers, sequence, data type) is refused by those calls with
 * YOKE_ERR_USAGE.
 *
 * @param path  file; "-": standard input; NULL: the cost model's again
 * @retval YOKE_OK
 * @retval YOKE_ERR_BAD_INPUT  message has file:line:column or file and JSON pointer
 * @retval YOKE_ERR_NOT_FOUND  no such file
 * @retval YOKE_ERR_SYSTEM     it is there but cannot be read
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_plan_use_layer_times(const char *path);

/**
 * Read a plan document. Its shape is checked, not its truth: that is yoke_plan_check().
 *
 * @param path      file; "-": standard input
 * @param out_plan  the caller frees it with yoke_plan_free()
 * @retval YOKE_OK
 * @retval YOKE_ERR_BAD_INPUT  message has file:line:column or file and JSON pointer
 * @retval YOKE_ERR_NOT_FOUND  no such file
 * @retval YOKE_ERR_SYSTEM     it is there but cannot be read
 * @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_plan_read(const char *path, yoke_plan_t **out_plan);
/**
 * The same from memory: `size` bytes, which need not end with a NUL and are not kept.
 * `name` is used in messages and becomes the plan's name (a copy).
 */
yoke_status_t yoke_plan_parse(const char *name, const char *data, size_t size,
                              yoke_plan_t **out_plan);
/**
 * Document text (yoke-plan/1) with a final newline; the caller frees it with free().
 * @retval YOKE_OK  @retval YOKE_ERR_NO_MEMORY
 */
yoke_status_t yoke_plan_text(const yoke_plan_t *plan, char **out_text);
/** Free it and all that hangs below; NULL is allowed. */
void yoke_plan_free(yoke_plan_t *plan);

/**
 * Validate a plan (also one written by hand) against model and cluster: it was made for
 * these, every layer exactly once in each pipeline and in order, devices exist and are
 * used once, shards cover each dimension, batch adds up, memory fits (computed, not
 * believed). All faults are collected in `*out_faults` (lines "/json/pointer: what is
 * wrong", caller frees; NULL when there are none).
 * @retval YOKE_OK  valid   @retval YOKE_ERR_NO  faults found
 */
yoke_status_t yoke_plan_check(const yoke_plan_t *plan, const yoke_model_t *model,
                              const yoke_inventory_t *inventory, char **out_faults);

/**
 * The same, and in `*out_stale` (lines, caller frees; NULL when there are none) every
 * figure that the plan states of its placement - times, memory, shares, groups, match,
 * gap, ... - and that is not the simulator's. They do not make a plan invalid: nothing
 * starts from them, and yoke_plan_renew() makes them new. A plan that was searched has
 * none; one that was edited by hand has many. They are looked for only where the
 * placement can be simulated.
 * @retval YOKE_OK  valid, with or without stale figures   @retval YOKE_ERR_NO  faults
 * found
 */
yoke_status_t yoke_plan_check_figures(const yoke_plan_t *plan, const yoke_model_t *model,
                                      const yoke_inventory_t *inventory,
                                      char **out_faults, char **out_stale);

/**
 * The plan of the same placement with every figure made new: times and their range,
 * memory, shards (the equal ones), groups, match, sensitivity, digests, unused devices,
 * notes. What only a search can say of a plan - the bound and the alternatives - is left
 * out, and a note says so. "x-*" members are kept. Check the plan first: the result of
 * one that does not fit says `feasible` false.
 * @param command  for made_by; NULL: that of `plan`
 * @retval YOKE_ERR_BAD_INPUT  the placement is not well formed; the message is the first
 * fault
 */
yoke_status_t yoke_plan_renew(const yoke_plan_t *plan, const yoke_model_t *model,
                              const yoke_inventory_t *inventory, const char *command,
                              yoke_plan_t **out_plan);

#ifdef __cplusplus
}
#endif
#endif
