/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_COST_H
#define YOKE_COSTMODEL_COST_H

/* Operator and layer times, and the bytes a layer needs: pure functions of plain numbers.
 */

#include "costmodel/constants.h"
#include "yoke/plan.h"

/* What one device type does under one data type: achieved, not peak. */
typedef struct yoke_rates {
    double compute;   /* FLOP/s of large GEMMs */
    double bandwidth; /* bytes/s of its memory */
    double link;      /* bytes/s per direction to peers in the node, all links together */
    double link_latency; /* seconds */
    bool link_mesh;      /* a group of t ranks of n peers gets link x (t-1)/(n-1) */
    unsigned link_peers; /* devices on that link in the node (n) */
    unsigned link_group; /* devices that one bridge or island joins; 0: all of the node */
    double link_beyond;  /* bytes/s to peers that it does not join: through the host */
    double link_uncertainty; /* relative, of link; 0: as sure as a known number */
    bool host;               /* a CPU: no launch latency, other context size */
    double uncertainty;      /* relative, of compute and bandwidth together */
} yoke_rates_t;

/*
 * Rates of a device for a dtype. `*out_supported` false: the device cannot compute in it
 * (known rate 0; the rates are not set). Returns false when a needed rate is unknown
 * (compute[dtype] or bandwidth); then
 * `*out_missing` names it ("bf16" or "hbm").
 * compute = measured rate, or peak x achieved (or compute_fraction) x gemm_fraction.
 */
bool yoke_rates_from_device(const yoke_inventory_device_t *device, yoke_dtype_t dtype,
                            const yoke_constants_t *constants, yoke_rates_t *out_rates,
                            bool *out_supported, const char **out_missing);

/* What each rank of a group of `ranks` peers on the node's own links gets, per direction.
 * `link_peers` 0 (unknown) counts as switched. A tensor group stands on one bridge or
 * island where that is large enough; of peers that stand anywhere in the node that is
 * only sure where it joins all of them. */
double yoke_rates_group_bandwidth(const yoke_rates_t *rates, unsigned ranks);
double yoke_rates_spread_bandwidth(const yoke_rates_t *rates, unsigned ranks);
/* What one pair of peers anywhere in the node gets. */
double yoke_rates_pair_bandwidth(const yoke_rates_t *rates);
/* Relative uncertainty of one figure by its source and marks; an unknown one's is that of
 * a generic constant. */
double yoke_quantity_uncertainty(const yoke_quantity_t *quantity,
                                 const yoke_constants_t *constants);

typedef struct yoke_layer_cost {
    double forward, backward; /* seconds of one micro-batch, tensor-parallel exchange
                                 included; backward includes recomputation */
    double flops; /* model FLOPs forward + backward without recomputation, whole layer */
} yoke_layer_cost_t;

/* May a layer be cut into `tp` equal shards: whole heads (and kv heads divide or are
 * replicated whole), whole columns; vocabulary rows are padded up. */
bool yoke_layer_can_shard(const yoke_layer_t *layer, uint64_t tp);
/* Query heads, kv heads and kv copies on each of tp ranks; false: refused (case plan-04).
 */
bool yoke_shard_heads(uint64_t heads, uint64_t kv_heads, uint64_t tp, uint64_t *out_q,
                      uint64_t *out_kv, uint64_t *out_copies);

/* Fraction of a tensor's elements that each of tp ranks holds: 1 when it is replicated,
 * more than 1/tp where kv heads are held more than once or vocabulary rows are padded up.
 */
double yoke_tensor_share(const yoke_layer_t *layer, const yoke_tensor_t *tensor,
                         uint64_t tp);

/*
 * How one micro-batch of a layer is worked on. tp, cp and ep of 0 count as 1; ep ranks
 * are among those of data parallelism, cp ranks share each sequence.
 */
typedef struct yoke_layer_setting {
    uint64_t tp, cp, ep;
    bool sequence_parallel;    /* norms and residuals are cut along the sequence by tp */
    double gemm_rate;          /* FLOP/s of GEMMs in a narrower type; 0: rates->compute */
    double ring, ring_latency; /* of the context-parallel ring, bytes/s and seconds */
    double expert, expert_latency; /* of the expert-parallel exchange */
    double imbalance;              /* tokens of the fullest expert rank / mean; 0: 1 */
    double micro_batch, sequence;
    yoke_dtype_t dtype;
    yoke_recompute_t recompute;
} yoke_layer_setting_t;

/* Time of a layer in that setting; yoke_layer_time() is this with cp = ep = 1. */
void yoke_layer_time_in(const yoke_layer_t *layer, const yoke_rates_t *rates,
                        const yoke_constants_t *constants,
                        const yoke_layer_setting_t *setting, yoke_layer_cost_t *out_cost);

void yoke_layer_time(const yoke_layer_t *layer, const yoke_rates_t *rates,
                     const yoke_constants_t *constants, uint64_t tp, double micro_batch,
                     double sequence, yoke_dtype_t dtype, yoke_recompute_t recompute,
                     yoke_layer_cost_t *out_cost);

/* What one of tp ranks holds of a layer. */
typedef struct yoke_layer_bytes {
    double
        parameters; /* parameters of this rank (replicated ones in full, tied ones too) */
    double tied;    /* of these, shared with the embedding */
    double activations; /* kept per micro-batch until its backward */
    double boundary;    /* bytes of one micro-batch at the layer's output */
    double logits;      /* head only: fp32 logits and their gradient */
    double working_set; /* largest temporary of forward/backward of this layer */
} yoke_layer_bytes_t;
void yoke_layer_get_bytes(const yoke_layer_t *layer, uint64_t tp, double micro_batch,
                          double sequence, yoke_dtype_t dtype, yoke_recompute_t recompute,
                          yoke_layer_bytes_t *out_bytes);

#endif
