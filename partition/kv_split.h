/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_KV_SPLIT_H
#define YOKE_PARTITION_KV_SPLIT_H

/*
 * Serving: which contiguous split leaves the most room for the key/value cache. A
 * sequence's tokens are cached by every stage, for its own layers, so the stage with room
 * for the fewest tokens is what the whole can serve.
 */

#include <stddef.h>
#include <stdint.h>

#include "yoke/status.h"

typedef struct yoke_kv_problem {
    const uint64_t *usable; /* bytes of each stage's device, in stage order */
    size_t stages;
    uint64_t layers;
    uint64_t layer_bytes;
    uint64_t first_extra; /* embedding: on the first stage beside its layers */
    uint64_t last_extra;  /* final norm and head: on the last */
    uint64_t kv_bytes;    /* per token and layer; at least 1 */
} yoke_kv_problem_t;

/* Tokens for which a stage with this many layers has room; 0 when its weights do not fit.
 */
uint64_t yoke_kv_tokens(const yoke_kv_problem_t *problem, size_t stage, uint64_t layers);

/**
 * The split that maximises the least number of tokens of any stage; among those the most
 * even one (least sum of squares), and the first stages rather get the odd layers. Exact.
 * `out_layers` has `stages` entries, each at least 1.
 * @retval YOKE_ERR_NO     some layers do not fit in any split; the message says how many
 * @retval YOKE_ERR_USAGE  no stage, no KV bytes, or fewer layers than stages
 */
yoke_status_t yoke_kv_split(const yoke_kv_problem_t *problem, uint64_t *out_layers,
                            uint64_t *out_tokens);

#endif
