/* SPDX-License-Identifier: Apache-2.0 */
/* Islands, levels and ring order from matrices of links; shares by rates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/ucx_comm/topology/networks.h"

static void links_that_are_alike_make_one_island(void **state)
{
    (void)state;
    int of[8] = {0};
    network_t net = {.size = 8, .levels = 1, .of = {of}, .rate = {1e9}, .noise = 0.5};
    yoke_topology_t *topology = network_topology(&net, 3, NULL);
    assert_int_equal(yoke_topology_levels(topology), 0);
    assert_int_equal(yoke_topology_islands(topology), 1);
    assert_int_equal(yoke_topology_island_of(topology, 7), 0);
    yoke_topology_free(topology);
}

static void one_rank_is_one_island(void **state)
{
    (void)state;
    int of[1] = {0};
    network_t net = {.size = 1, .levels = 1, .of = {of}, .rate = {1e9}};
    yoke_topology_t *topology = network_topology(&net, 3, NULL);
    assert_int_equal(yoke_topology_islands(topology), 1);
    assert_int_equal(yoke_topology_ring(topology)[0], 0);
    yoke_topology_free(topology);
}

static void shuffle(int *of, int n, unsigned *seed)
{
    for (int i = n - 1; i > 0; i--) {
        *seed = *seed * 1103515245u + 12345u;
        int k = (int)((*seed >> 8) % (unsigned)(i + 1)), kept = of[i];
        of[i] = of[k];
        of[k] = kept;
    }
}

/* A shuffled order over two islands crosses between them many times; the ring that is
 * found crosses twice. */
static void a_shuffled_ring_is_fixed(void **state)
{
    (void)state;
    unsigned seed = 17;
    int worst = 0;
    for (int i = 0; i < 50; i++) {
        int of[16], given[16];
        for (int r = 0; r < 16; r++) {
            of[r] = r / 8;
            given[r] = r;
        }
        shuffle(of, 16, &seed);
        network_t net = {.size = 16, .levels = 1, .of = {of}, .rate = {5e9, 1e9}};
        net.noise = 0.4;
        yoke_topology_t *topology = network_topology(&net, (unsigned)i, NULL);
        assert_int_equal(yoke_topology_islands(topology), 2);
        int crossings = yoke_topology_crossings(topology, given);
        worst = crossings > worst ? crossings : worst;
        assert_int_equal(yoke_topology_crossings(topology, yoke_topology_ring(topology)),
                         2);
        bool seen[16] = {false};
        for (int r = 0; r < 16; r++)
            seen[yoke_topology_ring(topology)[r]] = true;
        for (int r = 0; r < 16; r++)
            assert_true(seen[r]);
        yoke_topology_free(topology);
    }
    print_message("given orders cross up to %d times\n", worst);
    assert_true(worst >= 8);
}

/* Three levels: boards, hosts, racks. */
static void levels_are_found(void **state)
{
    (void)state;
    unsigned seed = 4;
    int boards[24], hosts[24], racks[24];
    for (int r = 0; r < 24; r++)
        boards[r] = r / 2;
    shuffle(boards, 24, &seed);
    for (int r = 0; r < 24; r++) {
        hosts[r] = boards[r] / 2;
        racks[r] = boards[r] / 6;
    }
    network_t net = {.size = 24,
                     .levels = 2,
                     .of = {hosts, racks},
                     .rate = {40e9, 8e9, 1e9},
                     .noise = 0.4};
    yoke_topology_t *topology = network_topology(&net, 8, NULL);
    assert_int_equal(yoke_topology_levels(topology), 2);
    assert_int_equal(yoke_topology_groups(topology, 0), 6);
    assert_int_equal(yoke_topology_groups(topology, 1), 2);
    for (int a = 0; a < 24; a++)
        for (int b = 0; b < 24; b++) {
            assert_int_equal(yoke_topology_group_of(topology, 0, a) ==
                                 yoke_topology_group_of(topology, 0, b),
                             hosts[a] == hosts[b]);
            assert_int_equal(yoke_topology_group_of(topology, 1, a) ==
                                 yoke_topology_group_of(topology, 1, b),
                             racks[a] == racks[b]);
        }
    yoke_topology_free(topology);
}

/* Equal links, but two vendors' libraries: each of them serves an island. */
static void libraries_divide_islands(void **state)
{
    (void)state;
    int of[6] = {0};
    yoke_rank_device_t devices[6] = {0};
    for (int r = 0; r < 6; r++) {
        strcpy(devices[r].library, r % 2 ? "rccl" : "nccl");
        strcpy(devices[r].vendor, r % 2 ? "amd" : "nvidia");
    }
    network_t net = {.size = 6, .levels = 1, .of = {of}, .rate = {1e9}, .noise = 0.2};
    yoke_topology_t *topology = network_topology(&net, 2, devices);
    assert_int_equal(yoke_topology_islands(topology), 2);
    for (int r = 0; r < 6; r++)
        assert_int_equal(yoke_topology_island_of(topology, r), r % 2);
    assert_string_equal(yoke_topology_device(topology, 3)->library, "rccl");
    yoke_topology_free(topology);
}

/* One direction that is slow makes the link slow. */
static void the_slower_direction_counts(void **state)
{
    (void)state;
    double latency[9] = {0}, bandwidth[9];
    yoke_topology_t *topology = NULL;
    for (int i = 0; i < 9; i++)
        bandwidth[i] = 1e10;
    bandwidth[2 * 3 + 0] = bandwidth[2 * 3 + 1] = 1e8;
    assert_int_equal(yoke_topology_from_matrices(3, latency, bandwidth, NULL, &topology),
                     YOKE_OK);
    assert_int_equal(yoke_topology_islands(topology), 2);
    assert_int_equal(yoke_topology_island_of(topology, 0),
                     yoke_topology_island_of(topology, 1));
    yoke_topology_free(topology);
}

/* Shares: w_i = (T b_i / M - 1)/(n - 2), all links busy equally long at the bound. */
static void shares_follow_rates(void **state)
{
    (void)state;
    unsigned seed = 12;
    for (int i = 0; i < 20000; i++) {
        double rates[8], shares[8], sum = 0, time = 0;
        seed = seed * 1103515245u + 12345u;
        unsigned n = 2 + (seed >> 8) % 7;
        for (unsigned k = 0; k < n; k++) {
            seed = seed * 1103515245u + 12345u;
            rates[k] = 1 + (seed >> 8) % 1000 / 100.0;
        }
        yoke_cost_weights(n, rates, shares);
        for (unsigned k = 0; k < n; k++) {
            assert_true(shares[k] >= 0);
            sum += shares[k];
            double busy = (1 + ((double)n - 2) * shares[k]) / rates[k];
            time = busy > time ? busy : time;
        }
        assert_true(sum > 1 - 1e-9 && sum < 1 + 1e-9);
        assert_true(time <= yoke_cost_star_bound(n, rates, 1) * (1 + 1e-9));
    }
    double unknown[3] = {0, 1, 1}, shares[3];
    yoke_cost_weights(3, unknown, shares);
    assert_true(shares[0] > 0.333 && shares[0] < 0.334);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_that_are_alike_make_one_island),
        cmocka_unit_test(one_rank_is_one_island),
        cmocka_unit_test(a_shuffled_ring_is_fixed),
        cmocka_unit_test(levels_are_found),
        cmocka_unit_test(libraries_divide_islands),
        cmocka_unit_test(the_slower_direction_counts),
        cmocka_unit_test(shares_follow_rates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
