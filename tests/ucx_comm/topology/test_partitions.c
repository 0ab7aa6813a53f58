/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hierarchical and weighted collectives on every partition of 2 to 6 ranks into islands,
 * and on random ones of 7 to 12 ranks, also in two levels, against the serial reference;
 * and what crosses the border of an island, counted in the schedules.
 * YOKE_TEST_EXHAUSTIVE=1: every partition of up to 8 ranks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/ucx_comm/collectives/calls.h"
#include "tests/ucx_comm/collectives/reference.h"
#include "tests/ucx_comm/topology/networks.h"

static uint64_t turn;
static unsigned long calls;

static const yoke_collective_t collectives[] = {
    YOKE_COLLECTIVE_BROADCAST,      YOKE_COLLECTIVE_REDUCE,
    YOKE_COLLECTIVE_ALL_REDUCE,     YOKE_COLLECTIVE_ALL_GATHER,
    YOKE_COLLECTIVE_REDUCE_SCATTER, YOKE_COLLECTIVE_ALL_TO_ALL,
};
#define COLLECTIVES (sizeof collectives / sizeof collectives[0])

/* One call; what is not given is taken in turn. */
static void run_one(const yoke_topology_t *topology, yoke_algorithm_t algorithm,
                    yoke_collective_t collective)
{
    static const uint64_t counts[] = {101, 0, 1, 7, 1031, 64, 13};
    static const uint64_t chunks[] = {64, 0, 192, 1000};
    static call_t call;
    uint64_t random = ++turn * 77;
    memset(&call, 0, sizeof call);
    call.shape.topology = topology;
    call.shape.algorithm = algorithm;
    call.shape.collective = collective;
    call.shape.size = yoke_topology_size(topology);
    call.shape.root = (int)(turn % (uint64_t)call.shape.size);
    call.shape.count = counts[turn % 7];
    call.shape.stride = call.shape.count + turn / 7 % 2;
    call.shape.chunk = chunks[turn % 4];
    call.shape.in_place = turn / 3 % 2 == 1 && collective != YOKE_COLLECTIVE_BROADCAST;
    call.shape.element = (yoke_element_t)(turn * 5 % YOKE_ELEMENT_COUNT);
    call.shape.reduction = (yoke_reduction_t)(turn % YOKE_REDUCTION_COUNT);
    call.random = turn / 2 % 2 == 0;
    call.seed = turn;
    call.irregular = turn % 3 == 0 && (collective == YOKE_COLLECTIVE_ALL_GATHER ||
                                       collective == YOKE_COLLECTIVE_REDUCE_SCATTER);
    call_draw_counts(&call, &random);
    calls += call_run(&call);
}

static void run_all(const yoke_topology_t *topology, int repeats)
{
    for (int i = 0; i < repeats; i++)
        for (size_t c = 0; c < COLLECTIVES; c++) {
            run_one(topology, YOKE_ALGORITHM_HIERARCHICAL, collectives[c]);
            if (c < 3)
                run_one(topology, YOKE_ALGORITHM_WEIGHTED, collectives[c]);
        }
}

static network_t two_levels(int n, const int *islands, const int *groups)
{
    network_t net = {
        .size = n, .levels = groups != NULL ? 2 : 1, .of = {islands, groups}};
    net.rate[0] = 10e9;
    net.rate[1] = 1e9;
    net.rate[2] = 0.1e9;
    net.latency[0] = 1e-6;
    net.latency[1] = 1e-5;
    net.latency[2] = 1e-4;
    net.noise = 0.3;
    return net;
}

/* Uplinks as unequal as can be: shares of nothing among them. */
static void draw_uplinks(yoke_topology_t *topology, uint64_t *random)
{
    static const double rates[] = {1e8, 4e8, 1e8, 2e9, 3e7, 1.7e8};
    for (int l = 0; l < topology->levels; l++)
        for (int g = 0; g < topology->level[l].groups; g++)
            topology->level[l].uplink[g] = rates[reference_random(random) % 6];
    for (int r = 0; r < topology->size; r++)
        topology->rate[r] = rates[reference_random(random) % 6];
}

static void check_found(const yoke_topology_t *topology, const int *of)
{
    int n = topology->size, groups = count_groups(of, n);
    if (groups == 1 || groups == n) {
        assert_int_equal(yoke_topology_islands(topology), 1);
        return;
    }
    assert_int_equal(yoke_topology_islands(topology), groups);
    for (int r = 0; r < n; r++)
        assert_int_equal(yoke_topology_island_of(topology, r), of[r]);
}

static void every_partition(void **state)
{
    (void)state;
    int most = getenv("YOKE_TEST_EXHAUSTIVE") != NULL ? 8 : 6;
    unsigned partitions = 0;
    uint64_t random = 5;
    for (int n = 2; n <= most; n++) {
        int of[8] = {0};
        do {
            network_t net = two_levels(n, of, NULL);
            yoke_topology_t *topology = network_topology(&net, ++partitions, NULL);
            assert_non_null(topology);
            check_found(topology, of);
            draw_uplinks(topology, &random);
            run_all(topology, n < 6 ? 3 : 1);
            yoke_topology_free(topology);
        } while (next_partition(of, n));
    }
    print_message("%u partitions, %lu calls\n", partitions, calls);
    assert_true(calls > 1000);
}

static void random_partitions_in_two_levels(void **state)
{
    (void)state;
    uint64_t random = 9;
    int deep = 0;
    for (int i = 0; i < 60; i++) {
        int n = 7 + (int)(reference_random(&random) % 6), islands[12], groups[12];
        int island_group[12], count = 2 + (int)(reference_random(&random) % 6);
        for (int k = 0; k < count; k++)
            island_group[k] = (int)(reference_random(&random) % 3);
        for (int r = 0; r < n; r++) {
            islands[r] = (int)(reference_random(&random) % (uint64_t)count);
            groups[r] = island_group[islands[r]];
        }
        network_t net = two_levels(n, islands, groups);
        yoke_topology_t *topology = network_topology(&net, (unsigned)i, NULL);
        assert_non_null(topology);
        deep += yoke_topology_levels(topology) == 2;
        draw_uplinks(topology, &random);
        run_all(topology, 1);
        yoke_topology_free(topology);
    }
    print_message("%d of 60 have two levels\n", deep);
    assert_true(deep > 20);
}

/* --- what crosses --------------------------------------------------------------------
 */

/* Bytes that each island sends out, by the schedules of all ranks. */
static void count_crossing(const yoke_topology_t *topology, yoke_shape_t shape,
                           double *out_bytes)
{
    shape.topology = topology;
    for (int r = 0; r < shape.size; r++) {
        yoke_schedule_t *schedule = NULL;
        shape.rank = r;
        assert_int_equal(yoke_schedule_build(&shape, &schedule), YOKE_OK);
        for (uint32_t i = 0; i < schedule->count; i++) {
            const yoke_step_data_t *step = &schedule->steps[i];
            int mine = yoke_topology_island_of(topology, r);
            if (step->kind == YOKE_STEP_SEND &&
                yoke_topology_island_of(topology, step->peer) != mine)
                out_bytes[mine] += (double)step->size;
        }
        yoke_schedule_free(schedule);
    }
}

static yoke_shape_t large(yoke_collective_t collective, int n, uint64_t count)
{
    yoke_shape_t shape = {.collective = collective, .size = n, .count = count};
    shape.algorithm = YOKE_ALGORITHM_HIERARCHICAL;
    shape.element = YOKE_ELEMENT_F32;
    shape.stride = count;
    return shape;
}

static void two_islands_exchange_what_they_must(void **state)
{
    (void)state;
    int of[] = {0, 1, 1, 0, 0, 1};
    network_t net = two_levels(6, of, NULL);
    yoke_topology_t *topology = network_topology(&net, 1, NULL);
    double all_reduce[2] = {0}, gather[2] = {0}, broadcast[2] = {0};
    count_crossing(topology, large(YOKE_COLLECTIVE_ALL_REDUCE, 6, 1 << 22), all_reduce);
    count_crossing(topology, large(YOKE_COLLECTIVE_ALL_GATHER, 6, 1 << 20), gather);
    count_crossing(topology, large(YOKE_COLLECTIVE_BROADCAST, 6, 1 << 22), broadcast);
    for (int i = 0; i < 2; i++) { /* the vector; the blocks of three ranks */
        assert_true(all_reduce[i] > 0.99 * (1 << 24) && all_reduce[i] < 1.01 * (1 << 24));
        assert_true(gather[i] == 3.0 * (1 << 22));
    }
    assert_true(broadcast[0] == 1 << 24 && broadcast[1] == 0);
    yoke_topology_free(topology);
}

/* 1 : 1 : 4: the fast uplink owns most, and no border is busy longer than the bound. */
static void unequal_islands_reach_the_bound(void **state)
{
    (void)state;
    static const double rates[][3] = {{1, 1, 4}, {1, 2, 3}, {1, 1.5, 1.5}, {1, 1, 1}};
    int of[] = {0, 1, 2, 2, 1, 0};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        network_t net = two_levels(6, of, NULL);
        yoke_topology_t *topology = network_topology(&net, 1, NULL);
        memcpy(topology->level[0].uplink, rates[i], sizeof rates[i]);
        double bytes[3] = {0}, total = 4.0 * (1 << 22);
        count_crossing(topology, large(YOKE_COLLECTIVE_ALL_REDUCE, 6, 1 << 22), bytes);
        double bound = yoke_cost_star_bound(3, rates[i], total), time = 0;
        for (int c = 0; c < 3; c++)
            time = bytes[c] / rates[i][c] > time ? bytes[c] / rates[i][c] : time;
        print_message("1:%g:%g busy %.4f of the bound\n", rates[i][1], rates[i][2],
                      time / bound);
        assert_true(time <= 1.02 * bound && time >= 0.98 * bound);
        yoke_topology_free(topology);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_partition),
        cmocka_unit_test(random_partitions_in_two_levels),
        cmocka_unit_test(two_islands_exchange_what_they_must),
        cmocka_unit_test(unequal_islands_reach_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
