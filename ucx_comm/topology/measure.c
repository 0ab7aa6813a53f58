/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is measured, in which order, and how the figures become one topology on all ranks.
 *
 * Up to PAIRS_ALL ranks: every pair, one at a time. More: within each arena a ring of its
 * ranks, and between arenas pairs at distances 1, 2, 4, ...; pairs of one round share no
 * arena. Links that were not measured get what was measured between their arenas, or else
 * what their ends did at best. After each round all ranks gather what was seen, so that
 * all go on alike; when BUDGET is used up, what is left is not measured.
 * Then, islands being known: what each group sends and receives with all its ranks at
 * once, and what ranks do when all talk at once.
 *
 * Where one arena holds all ranks, the arena serves every collective whatever its links
 * are: one pair stands for all, unless YOKE_COMM_TOPOLOGY is "measure".
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ucx_comm/topology/links.h"
#include "ucx_comm/topology/model.h"
#include "ucx_comm/topology/probe.h"

#define PAIRS_ALL 8
#define BUDGET 2.0 /* seconds */
#define TIMEOUT_MS 60000
#define ALIKE 1.2 /* rates */

typedef struct measuring {
    yoke_probe_t probe;
    int n;
    int *arena; /* of each rank: the lowest rank that shares memory with it */
    double *latency, *bandwidth; /* [from * n + to]; 0: not measured */
    double *figures;             /* 4 a rank: of one gather */
    double start;
    bool late;   /* the budget is used up */
    bool sample; /* one pair stands for all */
    yoke_rank_device_t *devices;
} measuring_t;

/* Gather four figures of each rank. */
static yoke_status_t gather(measuring_t *m, double a, double b, double c)
{
    double mine[4] = {a, b, c, yoke_probe_now() - m->start};
    yoke_status_t status = yoke_control_all_gather(m->probe.control, mine, sizeof mine,
                                                   m->figures, TIMEOUT_MS);
    m->probe.tag++;
    m->late = m->late || (status == YOKE_OK && m->figures[3] > BUDGET);
    return status;
}

static double figure(const measuring_t *m, int rank, int which)
{
    return m->figures[4 * rank + which];
}

static void set_link(measuring_t *m, int from, int to, double latency, double rate)
{
    m->latency[from * m->n + to] = latency;
    m->bandwidth[from * m->n + to] = rate;
}

/* --- pairs
 * ------------------------------------------------------------------------------- */

/* This round's partner of each rank, -1: none. */
static yoke_status_t measure_round(measuring_t *m, const int *partner)
{
    int peer = partner[m->probe.rank];
    yoke_seen_t seen = {0, 0};
    yoke_status_t status = YOKE_OK;
    if (peer >= 0)
        status = yoke_probe_pair(&m->probe, peer, &seen);
    if (status == YOKE_OK)
        status = gather(m, seen.latency, seen.rate, 0);
    for (int r = 0; status == YOKE_OK && r < m->n; r++)
        if (partner[r] >= 0) { /* what r received from its partner */
            double latency = figure(m, r < partner[r] ? r : partner[r], 0);
            set_link(m, partner[r], r, latency, figure(m, r, 1));
        }
    return status;
}

static void nobody(const measuring_t *m, int *partner)
{
    for (int r = 0; r < m->n; r++)
        partner[r] = -1;
}

static yoke_status_t measure_all_pairs(measuring_t *m, int *partner)
{
    yoke_status_t status = YOKE_OK;
    for (int a = 0; a < m->n && status == YOKE_OK; a++)
        for (int b = a + 1; b < m->n && status == YOKE_OK; b++) {
            nobody(m, partner);
            partner[a] = b;
            partner[b] = a;
            status = measure_round(m, partner);
        }
    return status;
}

/* Ranks of each arena in a ring: neighbours at even places, then at odd ones. */
static yoke_status_t measure_inside(measuring_t *m, int *partner)
{
    yoke_status_t status = YOKE_OK;
    for (int parity = 0; parity < 2 && status == YOKE_OK && !m->late; parity++) {
        nobody(m, partner);
        for (int lead = 0; lead < m->n; lead++) {
            int before = -1, place = 0;
            for (int r = 0; r < m->n; r++) {
                if (m->arena[r] != lead)
                    continue;
                if (before >= 0 && place % 2 == parity) {
                    partner[before] = r;
                    partner[r] = before;
                }
                before = r;
                place++;
            }
        }
        status = measure_round(m, partner);
    }
    return status;
}

/* Leads of arenas in a line, pairs at one distance after the other. */
static yoke_status_t measure_between(measuring_t *m, int *partner)
{
    int *leads = calloc((size_t)m->n, sizeof *leads), arenas = 0;
    if (leads == NULL)
        return yoke_fail_memory();
    for (int r = 0; r < m->n; r++)
        if (m->arena[r] == r)
            leads[arenas++] = r;
    yoke_status_t status = YOKE_OK;
    for (int distance = 1; distance < arenas; distance *= 2)
        for (int parity = 0; parity < 2 && status == YOKE_OK && !m->late; parity++) {
            nobody(m, partner);
            for (int i = 0; i + distance < arenas; i++)
                if (i / distance % 2 == parity) {
                    partner[leads[i]] = leads[i + distance];
                    partner[leads[i + distance]] = leads[i];
                }
            status = measure_round(m, partner);
        }
    free(leads);
    return status;
}

/* The best that rank r was seen to do with another arena (or within its own). */
static void best_of(const measuring_t *m, int r, bool inside, double *out_latency,
                    double *out_rate)
{
    int n = m->n;
    *out_latency = *out_rate = 0;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            double rate = m->bandwidth[a * n + b];
            if (rate <= 0 || m->arena[a] != m->arena[r] ||
                (m->arena[b] == m->arena[r]) != inside || rate <= *out_rate)
                continue;
            *out_rate = rate;
            *out_latency = m->latency[a * n + b];
        }
}

static void fill_one(measuring_t *m, int from, int to, double *out_latency,
                     double *out_rate)
{
    int n = m->n;
    bool inside = m->arena[from] == m->arena[to];
    double there[2], back[2];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            if (m->bandwidth[a * n + b] > 0 && m->arena[a] == m->arena[from] &&
                m->arena[b] == m->arena[to]) {
                *out_latency = m->latency[a * n + b];
                *out_rate = m->bandwidth[a * n + b];
                return;
            }
    best_of(m, from, inside, &there[0], &there[1]);
    best_of(m, to, inside, &back[0], &back[1]);
    *out_latency = there[0] > back[0] ? there[0] : back[0];
    *out_rate = there[1] < back[1] ? there[1] : back[1];
}

static yoke_status_t fill_gaps(measuring_t *m)
{
    size_t n = (size_t)m->n;
    double *latency = calloc(n * n, sizeof(double)),
           *rate = calloc(n * n, sizeof(double));
    if (latency == NULL || rate == NULL) {
        free(latency);
        free(rate);
        return yoke_fail_memory();
    }
    for (size_t i = 0; i < n * n; i++) {
        latency[i] = m->latency[i];
        rate[i] = m->bandwidth[i];
        if (i / n != i % n && rate[i] <= 0)
            fill_one(m, (int)(i / n), (int)(i % n), &latency[i], &rate[i]);
    }
    free(m->latency);
    free(m->bandwidth);
    m->latency = latency;
    m->bandwidth = rate;
    return YOKE_OK;
}

/* Of links within one arena, one that looks far slower than most may just have met with
 * other work of the machine: it is measured again. */
static yoke_status_t measure_again(measuring_t *m, int *partner)
{
    int n = m->n;
    yoke_status_t status = YOKE_OK;
    for (int again = 0; again < 3 && status == YOKE_OK && !m->late; again++)
        for (int a = 0; a < n && status == YOKE_OK; a++)
            for (int b = a + 1; b < n && status == YOKE_OK; b++) {
                double there = m->bandwidth[a * n + b], back = m->bandwidth[b * n + a];
                double latency, best, least;
                best_of(m, a, true, &latency, &best);
                for (int r = 0; r < n; r++) {
                    best_of(m, r, true, &latency, &least);
                    best = least > best ? least : best;
                }
                if (m->arena[a] != m->arena[b] || there <= 0 ||
                    (2 * there > best && 2 * back > best))
                    continue;
                double before = m->latency[a * n + b];
                nobody(m, partner);
                partner[a] = b;
                partner[b] = a;
                status = measure_round(m, partner);
                if (m->bandwidth[a * n + b] < there)
                    m->bandwidth[a * n + b] = there;
                if (m->bandwidth[b * n + a] < back)
                    m->bandwidth[b * n + a] = back;
                if (m->latency[a * n + b] > before)
                    m->latency[a * n + b] = m->latency[b * n + a] = before;
            }
    return status;
}

static yoke_status_t measure_pairs(measuring_t *m)
{
    int *partner = calloc((size_t)m->n, sizeof *partner);
    if (partner == NULL)
        return yoke_fail_memory();
    yoke_status_t status;
    if (m->sample && m->n > 1) {
        nobody(m, partner);
        partner[0] = 1;
        partner[1] = 0;
        status = measure_round(m, partner);
    } else if (m->n <= PAIRS_ALL)
        status = measure_all_pairs(m, partner);
    else {
        status = measure_inside(m, partner);
        if (status == YOKE_OK)
            status = measure_between(m, partner);
    }
    if (status == YOKE_OK && !m->sample)
        status = measure_again(m, partner);
    free(partner);
    return status == YOKE_OK ? fill_gaps(m) : status;
}

/* --- all at once
 * -------------------------------------------------------------------------- */

static int place_of(const yoke_topology_t *topology, int rank)
{
    int place = 0;
    while (topology->ring[place] != rank)
        place++;
    return place;
}

/* The next rank (step 1) or the one before (-1) in the ring, within the same island where
 * `inside`; may be the rank itself. */
static int neighbour(const yoke_topology_t *topology, int rank, int step, bool inside)
{
    int n = topology->size, place = place_of(topology, rank);
    for (;;) {
        place = (place + step + n) % n;
        int other = topology->ring[place];
        if (!inside || yoke_topology_island_of(topology, other) ==
                           yoke_topology_island_of(topology, rank))
            return other;
    }
}

static yoke_status_t measure_load(measuring_t *m, yoke_topology_t *topology, bool inside,
                                  yoke_load_t *load, double *overhead)
{
    int to = neighbour(topology, m->probe.rank, 1, inside);
    int from = neighbour(topology, m->probe.rank, -1, inside);
    bool alone = to == m->probe.rank;
    yoke_seen_t seen = {0, 0};
    double each = 0;
    yoke_status_t status = YOKE_OK;
    if (!alone)
        status = yoke_probe_flow(&m->probe, to, from, load->bandwidth, &seen);
    if (status == YOKE_OK && !alone)
        status = yoke_probe_round(&m->probe, to, from, &seen.latency);
    if (status == YOKE_OK && !alone)
        status = yoke_probe_overhead(&m->probe, to, from, &each);
    if (status == YOKE_OK)
        status = gather(m, seen.rate, each, alone ? 0 : seen.latency);
    double rate = 0, message = 0, latency = 0, count = 0;
    for (int r = 0; status == YOKE_OK && r < m->n; r++)
        if (figure(m, r, 2) > 0) {
            rate += figure(m, r, 0);
            message += figure(m, r, 1);
            latency += figure(m, r, 2);
            count++;
        }
    if (count > 0) {
        load->bandwidth = rate / count;
        load->latency = latency / count;
        *overhead = message / count;
    }
    return status;
}

/* A round of small messages half around the ring: most of them, or all, cross. */
static yoke_status_t measure_across(measuring_t *m, yoke_topology_t *topology)
{
    int n = m->n, place = place_of(topology, m->probe.rank);
    double seconds = 0, sum = 0;
    yoke_status_t status =
        yoke_probe_round(&m->probe, topology->ring[(place + n / 2) % n],
                         topology->ring[(place - n / 2 + n) % n], &seconds);
    if (status == YOKE_OK)
        status = gather(m, seconds, 0, 0);
    for (int r = 0; status == YOKE_OK && r < n; r++)
        sum += figure(m, r, 0);
    if (status == YOKE_OK)
        topology->across = sum / n;
    return status;
}

/* How many ranks of the group of `rank` talk already. */
static int talking(const measuring_t *m, const yoke_level_t *level, int rank,
                   const int *partner)
{
    int count = 0;
    for (int r = 0; r < m->n; r++)
        count += level->of[r] == level->of[rank] && partner[r] >= 0;
    return count;
}

/* Each rank of the group talks to one outside, spread evenly over the other groups: none
 * of their ways in is to be what limits the group's way out. */
static void flow_partners(const measuring_t *m, const yoke_level_t *level, int group,
                          int *partner)
{
    nobody(m, partner);
    for (int r = 0; r < m->n; r++) {
        int other = -1, least = m->n + 1;
        if (level->of[r] != group)
            continue;
        for (int out = 0; out < m->n; out++) {
            if (level->of[out] == group || partner[out] >= 0)
                continue;
            int busy = talking(m, level, out, partner);
            if (busy < least) {
                least = busy;
                other = out;
            }
        }
        if (other < 0)
            break;
        partner[r] = other;
        partner[other] = r;
    }
}

static yoke_status_t measure_uplink(measuring_t *m, yoke_level_t *level, int group,
                                    int *partner)
{
    flow_partners(m, level, group, partner);
    yoke_seen_t seen = {0, 0};
    int peer = partner[m->probe.rank];
    yoke_status_t status =
        yoke_probe_flow(&m->probe, peer, peer, level->uplink[group], &seen);
    if (status == YOKE_OK)
        status = gather(m, seen.rate, 0, 0);
    if (status != YOKE_OK)
        return status;
    double in = 0, out = 0;
    for (int r = 0; r < m->n; r++)
        if (partner[r] >= 0)
            *(level->of[r] == group ? &in : &out) += figure(m, r, 0);
    level->uplink[group] = in < out ? in : out;
    return YOKE_OK;
}

/* Uplinks that hardly differ are alike: shares must not follow what is only noise. */
static void level_out(yoke_level_t *level)
{
    for (int g = 0; g < level->groups; g++) {
        double sum = 0, first = level->uplink[g];
        int count = 0, like[256];
        for (int other = g; other < level->groups && count < 256; other++)
            if (level->uplink[other] <= ALIKE * first &&
                first <= ALIKE * level->uplink[other]) {
                sum += level->uplink[other];
                like[count++] = other;
            }
        for (int i = 0; i < count; i++)
            level->uplink[like[i]] = sum / count;
    }
}

static yoke_status_t measure_together(measuring_t *m, yoke_topology_t *topology)
{
    int *partner = calloc((size_t)m->n, sizeof *partner);
    if (partner == NULL)
        return yoke_fail_memory();
    yoke_status_t status = YOKE_OK;
    for (int l = 0; l < topology->levels; l++)
        for (int g = 0; g < topology->level[l].groups && status == YOKE_OK; g++)
            status = measure_uplink(m, &topology->level[l], g, partner);
    for (int l = 0; l < topology->levels; l++)
        level_out(&topology->level[l]);
    double ignored = 0;
    if (status == YOKE_OK)
        status = measure_load(m, topology, false, &topology->all, &topology->overhead);
    if (status == YOKE_OK && topology->levels > 0)
        status = measure_load(m, topology, true, &topology->inside, &ignored);
    else
        topology->inside = topology->all;
    if (status == YOKE_OK && topology->levels > 0)
        status = measure_across(m, topology);
    else
        topology->across = topology->all.latency;
    if (status == YOKE_OK)
        status = gather(m, yoke_probe_reduction(&m->probe), 0, 0);
    for (int r = 0; status == YOKE_OK && r < m->n; r++)
        if (r == 0 || figure(m, r, 0) < topology->reduction)
            topology->reduction = figure(m, r, 0);
    free(partner);
    return status;
}

/* --- agreement
 * ------------------------------------------------------------------------------ */

static yoke_status_t find_arenas(measuring_t *m)
{
    int lowest = m->probe.rank;
    for (int r = m->n - 1; r >= 0; r--)
        if (yoke_transport_path(m->probe.transport, r) == YOKE_PATH_SHARED)
            lowest = r < lowest ? r : lowest;
    yoke_status_t status = gather(m, lowest, 0, 0);
    for (int r = 0; status == YOKE_OK && r < m->n; r++)
        m->arena[r] = (int)figure(m, r, 0);
    return status;
}

static yoke_status_t gather_devices(measuring_t *m, const yoke_rank_device_t *mine)
{
    yoke_rank_device_t none;
    memset(&none, 0, sizeof none);
    return yoke_control_all_gather(m->probe.control, mine != NULL ? mine : &none,
                                   sizeof none, m->devices, TIMEOUT_MS);
}

/* All measure alike, or all read: the same setting everywhere. */
static yoke_status_t compare_setting(measuring_t *m, const char *path, bool every)
{
    static const char *const words[] = {"not set", "\"measure\"", "a document"};
    int mine = path != NULL ? 2 : every ? 1 : 0;
    yoke_status_t status = gather(m, mine, 0, 0);
    for (int r = 1; status == YOKE_OK && r < m->n; r++) {
        int first = (int)figure(m, 0, 0), other = (int)figure(m, r, 0);
        if (first != other)
            status = yoke_fail(YOKE_ERR_MISMATCH,
                               "YOKE_COMM_TOPOLOGY is %s on rank 0 and %s on rank %d: it "
                               "must be the same on all ranks",
                               words[first], words[other], r);
    }
    return status;
}

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * 1099511628211u;
    return hash;
}

/* What choices are made from must be equal everywhere. */
static yoke_status_t compare_topologies(measuring_t *m, const yoke_topology_t *topology)
{
    size_t n = (size_t)topology->size;
    uint64_t hash = mix(14695981039346656037u, topology->latency, n * n * sizeof(double));
    hash = mix(hash, topology->bandwidth, n * n * sizeof(double));
    hash = mix(hash, topology->ring, n * sizeof(int));
    hash = mix(hash, &topology->all, sizeof topology->all);
    hash = mix(hash, &topology->inside, sizeof topology->inside);
    hash = mix(hash, &topology->across, sizeof topology->across);
    for (int l = 0; l < topology->levels; l++)
        hash = mix(hash, topology->level[l].uplink,
                   (size_t)topology->level[l].groups * sizeof(double));
    yoke_status_t status =
        gather(m, (double)(hash >> 32), (double)(hash & 0xffffffffu), topology->levels);
    for (int r = 1; status == YOKE_OK && r < m->n; r++)
        if (figure(m, r, 0) != figure(m, 0, 0) || figure(m, r, 1) != figure(m, 0, 1))
            status =
                yoke_fail(YOKE_ERR_MISMATCH, "ranks 0 and %d know different links%s", r,
                          strcmp(topology->source, "measured") != 0
                              ? ": YOKE_COMM_TOPOLOGY names different documents"
                              : "");
    return status;
}

static void close_measuring(measuring_t *m)
{
    yoke_probe_close(&m->probe);
    free(m->arena);
    free(m->latency);
    free(m->bandwidth);
    free(m->figures);
    free(m->devices);
}

static yoke_status_t open_measuring(yoke_control_t *control, yoke_transport_t *transport,
                                    measuring_t *m)
{
    yoke_status_t status = yoke_probe_open(control, transport, &m->probe);
    if (status != YOKE_OK)
        return status;
    size_t n = (size_t)m->probe.size;
    m->n = m->probe.size;
    m->start = yoke_probe_now();
    m->arena = calloc(n, sizeof *m->arena);
    m->latency = calloc(n * n, sizeof *m->latency);
    m->bandwidth = calloc(n * n, sizeof *m->bandwidth);
    m->figures = calloc(4 * n, sizeof *m->figures);
    m->devices = calloc(n, sizeof *m->devices);
    if (m->arena == NULL || m->latency == NULL || m->bandwidth == NULL ||
        m->figures == NULL || m->devices == NULL)
        return yoke_fail_memory();
    return YOKE_OK;
}

static yoke_status_t measure(measuring_t *m, yoke_topology_t **out_topology)
{
    yoke_topology_t *topology = NULL;
    yoke_status_t status = measure_pairs(m);
    if (status == YOKE_OK)
        status = yoke_topology_from_matrices(m->n, m->latency, m->bandwidth, m->devices,
                                             &topology);
    if (status == YOKE_OK && m->n > 1)
        status = measure_together(m, topology);
    if (status != YOKE_OK) {
        yoke_topology_free(topology);
        return status;
    }
    *out_topology = topology;
    return YOKE_OK;
}

static yoke_status_t read_links(measuring_t *m, const char *path,
                                yoke_topology_t **out_topology)
{
    yoke_status_t status =
        yoke_links_read(path, m->probe.control, m->latency, m->bandwidth);
    if (status == YOKE_OK)
        status = yoke_topology_from_matrices(m->n, m->latency, m->bandwidth, m->devices,
                                             out_topology);
    if (status == YOKE_OK)
        snprintf((*out_topology)->source, sizeof(*out_topology)->source, "%s", path);
    return status;
}

yoke_status_t yoke_topology_create(yoke_control_t *control, yoke_transport_t *transport,
                                   const yoke_rank_device_t *mine,
                                   yoke_topology_t **out_topology)
{
    const char *path = getenv("YOKE_COMM_TOPOLOGY");
    measuring_t m = {0};
    yoke_topology_t *topology = NULL;
    bool measured = path == NULL || path[0] == '\0' || strcmp(path, "measure") == 0;
    bool every = path != NULL && strcmp(path, "measure") == 0;
    yoke_status_t status = open_measuring(control, transport, &m);
    if (status == YOKE_OK)
        status = compare_setting(&m, measured ? NULL : path, every);
    if (status == YOKE_OK)
        status = gather_devices(&m, mine);
    if (status == YOKE_OK)
        status = find_arenas(&m);
    m.sample = !every;
    for (int r = 0; r < m.n; r++)
        m.sample = m.sample && m.arena[r] == 0;
    if (status == YOKE_OK)
        status = measured ? measure(&m, &topology) : read_links(&m, path, &topology);
    for (int r = 0; status == YOKE_OK && r < m.n; r++) {
        topology->shared = (r == 0 || topology->shared) && m.arena[r] == 0;
        snprintf(topology->places[r].host, sizeof topology->places[r].host, "%s",
                 yoke_control_peer(control, r)->host);
        topology->places[r].arena = m.arena[r];
    }
    if (status == YOKE_OK)
        status = compare_topologies(&m, topology);
    close_measuring(&m);
    if (status != YOKE_OK) {
        yoke_topology_free(topology);
        return status;
    }
    *out_topology = topology;
    return YOKE_OK;
}
