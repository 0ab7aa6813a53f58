/* SPDX-License-Identifier: Apache-2.0 */
#include "costmodel/data_parallel.h"

#include "costmodel/collective.h"

void yoke_path_narrowest(const yoke_path_t *path, double *out_rate, double *out_latency)
{
    *out_rate = path->link;
    *out_latency = path->link_latency;
    if (path->ranks <= path->together)
        return;
    if (path->together <= 1 || path->network < path->link)
        *out_rate = path->network;
    if (path->network_latency > path->link_latency)
        *out_latency = path->network_latency;
}

static double one_way(const yoke_path_t *path, const yoke_constants_t *constants,
                      double bytes)
{
    double rate, latency;
    yoke_path_narrowest(path, &rate, &latency);
    return yoke_cost_reduce_scatter(path->ranks, bytes, rate, latency) +
           yoke_cost_ramp(bytes, constants->exchange_ramp, constants->exchange_half) / 2;
}

double yoke_gradient_time(const yoke_path_t *path, const yoke_constants_t *constants,
                          double parameters)
{
    if (path->ranks <= 1)
        return 0;
    return 2 * one_way(path, constants, parameters * constants->gradient_exchange_bytes);
}

double yoke_gather_time(const yoke_path_t *path, const yoke_constants_t *constants,
                        double parameters)
{
    return path->ranks > 1
               ? one_way(path, constants, parameters * constants->gather_bytes)
               : 0;
}

double yoke_scatter_time(const yoke_path_t *path, const yoke_constants_t *constants,
                         double parameters)
{
    return path->ranks > 1
               ? one_way(path, constants, parameters * constants->scatter_bytes)
               : 0;
}

double yoke_beside(double a, double b, double exposed)
{
    double more = a > b ? a : b, less = a > b ? b : a;
    return more + exposed * less;
}
