/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_DATA_PARALLEL_H
#define YOKE_COSTMODEL_DATA_PARALLEL_H

/* Exchange among data-parallel ranks: gradients after the step (plain, ZeRO-1), per
 * micro-batch (ZeRO-2, ZeRO-3). Rajbhandari et al. 2020 for who sends what. */

#include "costmodel/constants.h"

/* Where the members of a group stand. */
typedef struct yoke_path {
    unsigned ranks, together;        /* of all; of them in one node */
    double link, link_latency;       /* in the node, bytes/s of each member */
    double network, network_latency; /* bytes/s of the members of a node together */
} yoke_path_t;

/* The narrowest of the way: the node's own links where the group stays in it, else the
 * members' share of the network, capped by the links. */
void yoke_path_narrowest(const yoke_path_t *path, double *out_rate, double *out_latency);

/* All-reduce of the gradients of `parameters` (as ZeRO-1: reduce-scatter and all-gather
 * of the same volume). */
double yoke_gradient_time(const yoke_path_t *path, const yoke_constants_t *constants,
                          double parameters);
/* One all-gather of parameters; one reduce-scatter of gradients. */
double yoke_gather_time(const yoke_path_t *path, const yoke_constants_t *constants,
                        double parameters);
double yoke_scatter_time(const yoke_path_t *path, const yoke_constants_t *constants,
                         double parameters);

/* Two things side by side of which the part `exposed` of the lesser does not hide. */
double yoke_beside(double a, double b, double exposed);

#endif
