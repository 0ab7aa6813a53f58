/* SPDX-License-Identifier: Apache-2.0 */
/* Measuring on a real transport: the same on all ranks, written as inventory links and
 * read back, settings that differ, and counted against predicted bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/ucx_comm/transport/fixture.h"
#include "ucx_comm/collectives/engine.h"
#include "ucx_comm/collectives/explain.h"
#include "ucx_comm/topology/model.h"
#include "yoke/inventory.h"

#define RANKS 3

static char document[64];

static int measure_alike(int rank, int size, void *context)
{
    yoke_topology_t **shared = context;
    double *rates = (double *)shared;
    fixture_t f;
    yoke_topology_t *topology = NULL;
    setenv("YOKE_COMM_TOPOLOGY", "measure", 1);
    if (fixture_open(&f, rank, size) != 0)
        return 1;
    RANK_CHECK(yoke_topology_create(f.control, f.transport, NULL, &topology) == YOKE_OK);
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++) {
            double rate = yoke_topology_bandwidth(topology, a, b);
            RANK_CHECK(a == b || (rate > 1e6 && rate < 1e12));
            RANK_CHECK(a == b || yoke_topology_latency(topology, a, b) > 0);
            if (rank == 0)
                rates[a * size + b] = rate;
        }
    yoke_test_meet();
    for (int i = 0; i < size * size; i++)
        RANK_CHECK(rates[i] == topology->bandwidth[i]);
    if (rank == 0) {
        char *text = NULL;
        RANK_CHECK(yoke_topology_links(topology, &text) == YOKE_OK);
        FILE *file = fopen(document, "w");
        RANK_CHECK(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
        free(text);
    }
    yoke_test_meet();
    yoke_topology_free(topology);
    fixture_close(&f);
    return 0;
}

/* The document is an inventory, and says the same when the ranks take it. */
static int read_back(int rank, int size, void *context)
{
    const double *rates = context;
    fixture_t f;
    yoke_topology_t *topology = NULL;
    setenv("YOKE_COMM_TOPOLOGY", document, 1);
    if (fixture_open(&f, rank, size) != 0)
        return 1;
    RANK_CHECK(yoke_topology_create(f.control, f.transport, NULL, &topology) == YOKE_OK);
    RANK_CHECK(strcmp(yoke_topology_source(topology), document) == 0);
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++) {
            double there = rates[a * size + b], back = rates[b * size + a];
            double slower = there < back ? there : back;
            double read = yoke_topology_bandwidth(topology, a, b);
            RANK_CHECK(a == b || (read > 0.999 * slower && read < 1.001 * slower));
        }
    yoke_topology_free(topology);
    fixture_close(&f);
    return 0;
}

/* The same through the public interface. */
static int public_interface(int rank, int size, void *context)
{
    (void)context;
    yoke_comm_t *comm = NULL;
    char *text = NULL;
    unsetenv("YOKE_COMM_TOPOLOGY");
    RANK_CHECK(yoke_comm_create(size, rank, yoke_test_all_gather, NULL, NULL, &comm) ==
               YOKE_OK);
    if (size == 1) {
        RANK_CHECK(yoke_comm_links(comm, &text) == YOKE_ERR_UNSUPPORTED);
        RANK_CHECK(yoke_comm_explain(comm, "all-reduce", 64, false, &text) ==
                   YOKE_ERR_UNSUPPORTED);
        yoke_comm_destroy(comm);
        return 0;
    }
    RANK_CHECK(yoke_comm_links(NULL, &text) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_comm_links(comm, &text) == YOKE_OK);
    RANK_CHECK(strstr(text, "rank-1") != NULL && strstr(text, "measured") != NULL);
    free(text);
    RANK_CHECK(yoke_comm_explain(comm, "all-to-none", 64, false, &text) ==
               YOKE_ERR_USAGE);
    for (int json = 0; json < 2; json++) {
        RANK_CHECK(yoke_comm_explain(comm, "all-reduce", 1 << 20, json, &text) ==
                   YOKE_OK);
        RANK_CHECK(strstr(text, "all-reduce") != NULL &&
                   strstr(text, "measured") != NULL);
        size_t line = 0;
        for (const char *c = text; *c != '\0' && !json; c++) {
            line = *c == '\n' ? 0 : line + 1;
            RANK_CHECK(line <= 80);
        }
        free(text);
    }
    yoke_comm_destroy(comm);
    return 0;
}

static void plans_and_links_are_told(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(2, public_interface, NULL), 0);
    assert_int_equal(yoke_test_ranks(1, public_interface, NULL), 0);
}

static void measured_links_are_one_document(void **state)
{
    (void)state;
    double *rates = yoke_test_shared(RANKS * RANKS * sizeof *rates);
    snprintf(document, sizeof document, "/tmp/yoke-links-%d.json", (int)getpid());
    assert_int_equal(yoke_test_ranks(RANKS, measure_alike, rates), 0);
    yoke_inventory_t *inventory = NULL;
    assert_int_equal(yoke_inventory_read(document, &inventory), YOKE_OK);
    assert_int_equal(inventory->link_count, RANKS * (RANKS - 1) / 2);
    assert_int_equal(inventory->links[0].rate.source, YOKE_SOURCE_MEASURED);
    yoke_inventory_free(inventory);
    assert_int_equal(yoke_test_ranks(RANKS, read_back, rates), 0);
    unlink(document);
}

static int refuse(int rank, int size, void *context)
{
    const char *expected = context;
    fixture_t f;
    yoke_topology_t *topology = NULL;
    if (rank == 1 || strstr(expected, "no link") != NULL)
        setenv("YOKE_COMM_TOPOLOGY", document, 1);
    else
        unsetenv("YOKE_COMM_TOPOLOGY");
    if (fixture_open(&f, rank, size) != 0)
        return 1;
    RANK_CHECK(yoke_topology_create(f.control, f.transport, NULL, &topology) != YOKE_OK);
    RANK_CHECK(strstr(yoke_last_error(), expected) != NULL);
    yoke_test_meet();
    fixture_close(&f);
    return 0;
}

static void settings_that_do_not_serve_are_refused(void **state)
{
    (void)state;
    snprintf(document, sizeof document, "/tmp/yoke-links-%d.json", (int)getpid());
    FILE *file = fopen(document, "w");
    assert_non_null(file);
    fputs("{\"schema\": \"yoke-inventory/1\", \"nodes\": [], \"links\": []}", file);
    fclose(file);
    assert_int_equal(yoke_test_ranks(2, refuse, "must be the same on all ranks"), 0);
    assert_int_equal(yoke_test_ranks(2, refuse, "no link of known rate joins rank 0"), 0);
    unlink(document);
}

/* What the plan counts is what the transport sends: a hierarchical all-reduce over two
 * islands that are only said to be some. */
static int count_bytes(int rank, int size, void *context)
{
    static float send[65536], recv[65536];
    (void)context;
    fixture_t f;
    yoke_engine_t *engine = NULL;
    yoke_topology_t *topology = NULL;
    yoke_run_t *run = NULL;
    double latency[16], bandwidth[16];
    uint64_t predicted[16], before[4];
    for (int i = 0; i < 16; i++) {
        latency[i] = 1e-5;
        bandwidth[i] = (i / 4) % 2 == (i % 4) % 2 ? 1e10 : 1e8;
    }
    if (fixture_open(&f, rank, size) != 0)
        return 1;
    RANK_CHECK(yoke_topology_from_matrices(4, latency, bandwidth, NULL, &topology) ==
               YOKE_OK);
    RANK_CHECK(yoke_engine_create(f.control, f.transport, &engine) == YOKE_OK);
    yoke_choice_t choice = {YOKE_ALGORITHM_HIERARCHICAL, 0, 65536, 0};
    yoke_shape_t shape =
        yoke_explain_shape(topology, YOKE_COLLECTIVE_ALL_REDUCE, sizeof send, &choice);
    RANK_CHECK(yoke_traffic_count(&shape, predicted) == YOKE_OK);
    for (int peer = 0; peer < size; peer++)
        before[peer] = yoke_transport_sent(f.transport, peer);
    for (size_t i = 0; i < 65536; i++)
        send[i] = (float)(rank + 1);
    shape.rank = rank;
    yoke_run_options_t options = {.send = send, .recv = recv, .timeout_ms = 60000};
    options.signature.root = -1;
    RANK_CHECK(yoke_engine_start(engine, &shape, &options, &run) == YOKE_OK);
    for (unsigned idle = 0; yoke_run_status(run) == YOKE_ERR_NOT_READY;)
        if (yoke_engine_progress(engine) > 0)
            idle = 0;
        else
            yoke_transport_pause(f.transport, idle++);
    RANK_CHECK(yoke_run_status(run) == YOKE_OK);
    yoke_run_end(run);
    for (size_t i = 0; i < 65536; i++)
        RANK_CHECK(recv[i] == 10);
    for (int peer = 0; peer < size; peer++) {
        double sent = (double)(yoke_transport_sent(f.transport, peer) - before[peer]);
        double plan = (double)predicted[rank * size + peer];
        RANK_CHECK(peer == rank || (sent >= plan && sent <= 1.05 * plan + 4096));
    }
    yoke_test_meet();
    yoke_engine_destroy(engine);
    yoke_topology_free(topology);
    fixture_close(&f);
    return 0;
}

static void predicted_bytes_are_sent(void **state)
{
    (void)state;
    fixture_force(YOKE_PATH_UCP); /* single copies are not sent: they are taken */
    assert_int_equal(yoke_test_ranks(4, count_bytes, NULL), 0);
    fixture_force(YOKE_PATH_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_links_are_one_document),
        cmocka_unit_test(plans_and_links_are_told),
        cmocka_unit_test(settings_that_do_not_serve_are_refused),
        cmocka_unit_test(predicted_bytes_are_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
