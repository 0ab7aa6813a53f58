/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_EXPLAIN_H
#define YOKE_COMM_EXPLAIN_H

/* The plan of a collective in words, and what it moves, counted in its schedules. */

#include "ucx_comm/collectives/algorithms.h"

/* Payload that each rank sends each other one, [from * size + to], of one call. `shape`:
 * of any rank. */
yoke_status_t yoke_traffic_count(const yoke_shape_t *shape, uint64_t *out_bytes);

/* A call of `size` bytes (as nccl-tests counts them) as it would be chosen. */
yoke_shape_t yoke_explain_shape(const yoke_topology_t *topology,
                                yoke_collective_t collective, uint64_t size,
                                const yoke_choice_t *choice);
/* yoke_comm_explain(). The choice is the caller's: settings may force it. */
yoke_status_t yoke_collective_explain(const yoke_topology_t *topology,
                                      yoke_collective_t collective, uint64_t size,
                                      const yoke_choice_t *choice, bool json,
                                      char **out_text);

#endif
