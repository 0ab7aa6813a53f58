/* SPDX-License-Identifier: Apache-2.0 */
/* What travels between devices: stage boundaries and the exchange of gradients. */
#include "partition/cache.h"

#include "base/error.h"
#include "costmodel/collective.h"
#include "partition/layer_times.h"

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static const yoke_class_t *class_of(const yoke_problem_t *problem,
                                    const yoke_replica_t *replica)
{
    return &problem->classes[replica->class_index];
}

static unsigned host_of(const yoke_problem_t *problem, const yoke_replica_t *replica)
{
    return problem->slots[replica->slots[0]].host;
}

/* What `devices` of a node may take of its network: their share of all that may use it.
 */
static double nic_share(const yoke_class_t *class, unsigned devices)
{
    if (class->host_devices <= devices)
        return class->nic;
    return class->nic * (double)devices / (double)class->host_devices;
}

void yoke_replica_path(const yoke_problem_t *problem, const yoke_replica_t *from,
                       const yoke_replica_t *to, double *out_rate, double *out_latency)
{
    const yoke_class_t *a = class_of(problem, from);
    const yoke_class_t *b = class_of(problem, to);
    if (host_of(problem, from) != host_of(problem, to)) {
        *out_rate = smaller(nic_share(a, from->tp), nic_share(b, to->tp));
        *out_latency = larger(a->nic_latency, b->nic_latency);
    } else if (from->class_index == to->class_index) {
        *out_rate = yoke_rates_pair_bandwidth(&a->rates);
        *out_latency = a->rates.link_latency;
    } else {
        *out_rate = smaller(a->intra, b->intra);
        *out_latency = larger(a->intra_latency, b->intra_latency);
    }
}

double yoke_boundary_time(const yoke_problem_t *problem, const yoke_replica_t *from,
                          const yoke_replica_t *to, double bytes)
{
    double rate, latency, measured;
    if (problem->measured != NULL && host_of(problem, from) != host_of(problem, to) &&
        yoke_layer_times_send(problem->measured, class_of(problem, from)->measured,
                              from->tp, class_of(problem, to)->measured, to->tp, bytes,
                              &measured))
        return measured;
    yoke_replica_path(problem, from, to, &rate, &latency);
    return yoke_cost_p2p(bytes, rate, latency);
}

double yoke_stage_boundary_time(const yoke_problem_t *problem, const yoke_stage_t *from,
                                const yoke_stage_t *to, double sample_bytes)
{
    double slowest = 0;
    unsigned i = 0, j = 0;
    unsigned left_from = 0,
             left_to = 0; /* samples of the current replicas not yet matched */
    while (true) {
        while (left_from == 0 && i < from->replica_count)
            left_from = from->replicas[i++].micro_batch;
        while (left_to == 0 && j < to->replica_count)
            left_to = to->replicas[j++].micro_batch;
        if (left_from == 0 || left_to == 0)
            return slowest;
        unsigned samples = left_from < left_to ? left_from : left_to;
        slowest = larger(slowest, yoke_boundary_time(problem, &from->replicas[i - 1],
                                                     &to->replicas[j - 1],
                                                     (double)samples * sample_bytes));
        left_from -= samples;
        left_to -= samples;
    }
}

/* Members of one exchange as they come by: where they are, how the hosts' links are
 * shared. */
typedef struct group {
    const yoke_problem_t *problem;
    unsigned *members; /* per host */
    unsigned *first;   /* per host: class of the first member */
    unsigned *mixed;   /* per host: other classes too */
    unsigned hosts;    /* that hold members */
    double bandwidth, latency;
} group_t;

static void count_member(group_t *group, const yoke_replica_t *replica)
{
    unsigned host = host_of(group->problem, replica);
    if (group->members[host]++ == 0) {
        group->hosts++;
        group->first[host] = replica->class_index;
        group->mixed[host] = 0;
    } else if (group->first[host] != replica->class_index) {
        group->mixed[host] = 1;
    }
}

/* Narrow the group's bandwidth to what this member has, once all are counted. */
static void meet_member(group_t *group, const yoke_replica_t *replica)
{
    const yoke_class_t *class = class_of(group->problem, replica);
    unsigned host = host_of(group->problem, replica);
    unsigned together = group->members[host];
    if (together > 1) {
        bool mixed = group->mixed[host] != 0;
        group->bandwidth = smaller(
            group->bandwidth,
            mixed ? class->intra : yoke_rates_spread_bandwidth(&class->rates, together));
        group->latency = larger(group->latency,
                                mixed ? class->intra_latency : class->rates.link_latency);
    }
    if (group->hosts > 1) {
        group->bandwidth = smaller(group->bandwidth, nic_share(class, together));
        group->latency = larger(group->latency, class->nic_latency);
    }
}

static void clear_member(group_t *group, const yoke_replica_t *replica)
{
    group->members[host_of(group->problem, replica)] = 0;
}

static void each_member(group_t *group, const yoke_layout_t *layout,
                        const yoke_stage_t *stage,
                        void (*visit)(group_t *, const yoke_replica_t *))
{
    for (unsigned p = 0; p < layout->pipeline_count; p++) {
        const yoke_pipeline_t *pipeline = &layout->pipelines[p];
        for (unsigned s = 0; s < pipeline->stage_count; s++) {
            const yoke_stage_t *other = &pipeline->stages[s];
            if (other->last < stage->first || other->first > stage->last)
                continue;
            for (unsigned r = 0; r < other->replica_count; r++)
                visit(group, &other->replicas[r]);
        }
    }
}

/* A ring over measured sends: each rank of a tensor group exchanges its own shard with
 * the next replica's, one to one. */
typedef struct ring {
    const yoke_problem_t *problem;
    double part, slowest; /* bytes of one step; its seconds */
    const yoke_replica_t *before;
    bool known;
} ring_t;

/* Neighbours of different types or nodes decide; equal neighbours are seen once. */
static void each_step(ring_t *ring, const yoke_layout_t *layout,
                      const yoke_stage_t *stage)
{
    int from = -1, to = -1;
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        for (unsigned s = 0; s < layout->pipelines[p].stage_count; s++) {
            const yoke_stage_t *other = &layout->pipelines[p].stages[s];
            if (other->last < stage->first || other->first > stage->last)
                continue;
            for (unsigned r = 0; r < other->replica_count; r++) {
                const yoke_replica_t *next = &other->replicas[r];
                const yoke_replica_t *before = ring->before;
                ring->before = next;
                if (before == NULL)
                    continue;
                int a = class_of(ring->problem, before)->measured;
                int b = class_of(ring->problem, next)->measured;
                double seconds;
                if (a == from && b == to)
                    continue;
                from = a;
                to = b;
                if (!yoke_layer_times_send(ring->problem->measured, a, 1, b, 1,
                                           ring->part, &seconds)) {
                    ring->known = false;
                    return;
                }
                ring->known = true;
                ring->slowest = larger(ring->slowest, seconds);
            }
        }
}

/* Replicas that hold a layer, least and most over the stage's layers. It changes only
 * where a stage of some pipeline begins. */
static void count_ranks(const yoke_layout_t *layout, const yoke_stage_t *stage,
                        unsigned *out_min, unsigned *out_max)
{
    *out_min = *out_max = 0;
    unsigned layer = stage->first;
    while (layer <= stage->last) {
        unsigned ranks = 0, next = stage->last + 1;
        for (unsigned p = 0; p < layout->pipeline_count; p++)
            for (unsigned s = 0; s < layout->pipelines[p].stage_count; s++) {
                const yoke_stage_t *other = &layout->pipelines[p].stages[s];
                if (layer < other->first || layer > other->last)
                    continue;
                ranks += other->replica_count;
                if (other->last + 1 < next)
                    next = other->last + 1;
            }
        *out_max = ranks > *out_max ? ranks : *out_max;
        *out_min = *out_min == 0 || ranks < *out_min ? ranks : *out_min;
        layer = next;
    }
}

yoke_status_t yoke_stage_sync_time(const yoke_problem_t *problem,
                                   yoke_cost_cache_t *cache, const yoke_layout_t *layout,
                                   const yoke_stage_t *stage, double bytes,
                                   unsigned *out_ranks_min, unsigned *out_ranks_max,
                                   double *out_seconds)
{
    unsigned ranks_min, ranks_max;
    count_ranks(layout, stage, &ranks_min, &ranks_max);
    double seconds = 0;
    if (ranks_max > 1) {
        size_t hosts = problem->host_count;
        unsigned *words = yoke_cost_cache_words(cache, 3 * hosts);
        if (words == NULL)
            return yoke_fail_memory();
        group_t group = {.problem = problem,
                         .members = words,
                         .first = words + hosts,
                         .mixed = words + 2 * hosts,
                         .bandwidth = 1e300};
        each_member(&group, layout, stage, clear_member);
        each_member(&group, layout, stage, count_member);
        each_member(&group, layout, stage, meet_member);
        seconds = yoke_cost_all_reduce(ranks_max, bytes, group.bandwidth, group.latency);
        if (problem->measured != NULL && group.hosts > 1) {
            ring_t ring = {.problem = problem, .part = bytes / ranks_max};
            each_step(&ring, layout, stage);
            if (ring.known)
                seconds = 2.0 * (ranks_max - 1.0) * ring.slowest;
        }
    }
    *out_ranks_min = ranks_min;
    *out_ranks_max = ranks_max;
    *out_seconds = seconds;
    return YOKE_OK;
}
