/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 1F1B against closed forms, and against a slow reference that shares nothing with it:
 * the graph of operations with an edge for every "waits for", and its longest path by
 * relaxation.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/partition/fixture.h"

enum { MAX_STAGES = 8, MAX_STEPS = 12, KINDS = 4 };
enum { MAX_NODES = MAX_STAGES * MAX_STEPS * KINDS };

/* Node of (kind, stage, micro-batch); a send belongs to the stage that sends. */
static unsigned node(unsigned kind, unsigned stage, unsigned micro_batch)
{
    return (kind * MAX_STAGES + stage) * MAX_STEPS + micro_batch;
}

typedef struct graph {
    double length[MAX_NODES];
    struct edge {
        unsigned from, to;
    } edges[MAX_NODES * 4];
    size_t edge_count;
    double start[MAX_NODES];
} graph_t;

static void edge(graph_t *graph, unsigned from, unsigned to)
{
    graph->edges[graph->edge_count].from = from;
    graph->edges[graph->edge_count++].to = to;
}

/* The order of one stage's operations, written down from the definition. */
static size_t stage_order(unsigned stages, unsigned steps, unsigned s, unsigned *out)
{
    unsigned warm = stages - 1 - s < steps ? stages - 1 - s : steps;
    unsigned f = 0, b = 0;
    size_t count = 0;
    while (f < warm)
        out[count++] = node(YOKE_EVENT_FORWARD, s, f++);
    while (f < steps) {
        out[count++] = node(YOKE_EVENT_FORWARD, s, f++);
        out[count++] = node(YOKE_EVENT_BACKWARD, s, b++);
    }
    while (b < steps)
        out[count++] = node(YOKE_EVENT_BACKWARD, s, b++);
    return count;
}

static void build(graph_t *graph, unsigned stages, unsigned steps, const double *forward,
                  const double *backward, const double *send)
{
    *graph = (graph_t){0};
    for (unsigned s = 0; s < stages; s++) {
        unsigned order[2 * MAX_STEPS];
        size_t count = stage_order(stages, steps, s, order);
        for (size_t i = 1; i < count; i++)
            edge(graph, order[i - 1], order[i]);
        for (unsigned i = 0; i < steps; i++) {
            graph->length[node(YOKE_EVENT_FORWARD, s, i)] = forward[s];
            graph->length[node(YOKE_EVENT_BACKWARD, s, i)] = backward[s];
            if (s + 1 < stages) {
                unsigned out = node(YOKE_EVENT_SEND_FORWARD, s, i);
                unsigned in = node(YOKE_EVENT_SEND_BACKWARD, s + 1, i);
                graph->length[out] = graph->length[in] = send[s];
                edge(graph, node(YOKE_EVENT_FORWARD, s, i), out);
                edge(graph, out, node(YOKE_EVENT_FORWARD, s + 1, i));
                edge(graph, node(YOKE_EVENT_BACKWARD, s + 1, i), in);
                edge(graph, in, node(YOKE_EVENT_BACKWARD, s, i));
                if (i > 0) { /* a link carries one at a time */
                    edge(graph, node(YOKE_EVENT_SEND_FORWARD, s, i - 1), out);
                    edge(graph, node(YOKE_EVENT_SEND_BACKWARD, s + 1, i - 1), in);
                }
            }
        }
    }
}

static double longest_path(graph_t *graph)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (size_t i = 0; i < graph->edge_count; i++) {
            double ready =
                graph->start[graph->edges[i].from] + graph->length[graph->edges[i].from];
            if (ready > graph->start[graph->edges[i].to]) {
                graph->start[graph->edges[i].to] = ready;
                changed = true;
            }
        }
    }
    double end = 0;
    for (size_t i = 0; i < MAX_NODES; i++)
        if (graph->start[i] + graph->length[i] > end)
            end = graph->start[i] + graph->length[i];
    return end;
}

typedef struct recording {
    double start[MAX_NODES], end[MAX_NODES];
    unsigned times[MAX_NODES];
    size_t count;
} recording_t;

static void record(void *context, unsigned pipeline, unsigned stage,
                   yoke_event_kind_t kind, unsigned micro_batch, double start, double end)
{
    recording_t *recording = context;
    assert_int_equal(pipeline, 3);
    assert_true(kind <= YOKE_EVENT_SEND_BACKWARD);
    unsigned at = node((unsigned)kind, stage, micro_batch);
    recording->start[at] = start;
    recording->end[at] = end;
    recording->times[at]++;
    recording->count++;
}

static void test_reference(void **state)
{
    (void)state;
    uint64_t seed = 11;
    graph_t *graph = calloc(1, sizeof *graph);
    recording_t *recording = calloc(1, sizeof *recording);
    assert_non_null(graph);
    assert_non_null(recording);
    for (int round = 0; round < 3000; round++) {
        unsigned stages = 1 + (unsigned)(fixture_random(&seed) % MAX_STAGES);
        unsigned steps = 1 + (unsigned)(fixture_random(&seed) % MAX_STEPS);
        double most_send = round % 3 == 0 ? 0 : round % 3 == 1 ? 0.3 : 4;
        double forward[MAX_STAGES], backward[MAX_STAGES], send[MAX_STAGES] = {0};
        double first[MAX_STAGES], end[MAX_STAGES];
        for (unsigned s = 0; s < stages; s++) {
            forward[s] = fixture_uniform(&seed, 0.5, 2);
            backward[s] = fixture_uniform(&seed, 0.5, 4);
            send[s] = fixture_uniform(&seed, 0, most_send);
        }
        build(graph, stages, steps, forward, backward, send);
        double want = longest_path(graph);
        *recording = (recording_t){0};
        double got = yoke_simulate_1f1b(stages, steps, forward, backward, send, first,
                                        end, record, recording, 3);
        fixture_assert_near(got, want, 1e-12, "latest end");
        assert_true(got == yoke_simulate_1f1b(stages, steps, forward, backward, send,
                                              NULL, NULL, NULL, NULL, 0));

        size_t expected = (size_t)steps * (2 * stages + 2 * (stages - 1));
        assert_int_equal(recording->count, expected);
        for (size_t i = 0; i < MAX_NODES; i++) {
            if (recording->times[i] == 0)
                continue;
            assert_int_equal(recording->times[i], 1);
            fixture_assert_near(recording->start[i], graph->start[i], 1e-12, "start");
            fixture_assert_near(recording->end[i] - recording->start[i], graph->length[i],
                                1e-9, "length");
        }
        for (unsigned s = 0; s < stages; s++) {
            assert_true(first[s] == recording->start[node(YOKE_EVENT_FORWARD, s, 0)]);
            assert_true(end[s] ==
                        recording->end[node(YOKE_EVENT_BACKWARD, s, steps - 1)]);
        }
    }
    free(recording);
    free(graph);
}

/* Equal stages, free links: (M + P - 1)(f + b), the bubble is (P - 1) / (M + P - 1). */
static void test_closed_form(void **state)
{
    (void)state;
    double forward[40], backward[40], send[40] = {0};
    for (unsigned s = 0; s < 40; s++) {
        forward[s] = 1;
        backward[s] = 2;
    }
    for (unsigned stages = 1; stages <= 40; stages += 3)
        for (unsigned steps = 1; steps <= 50; steps += 7) {
            double end = yoke_simulate_1f1b(stages, steps, forward, backward, send, NULL,
                                            NULL, NULL, NULL, 0);
            assert_true(end == 3.0 * (steps + stages - 1));
            double idle = 1 - 3.0 * steps / end;
            fixture_assert_near(idle + 1, 1 + (stages - 1.0) / (steps + stages - 1.0),
                                1e-12, "bubble");
        }
}

/* One micro-batch: down and up again, every send twice. */
static void test_one_micro_batch(void **state)
{
    (void)state;
    const double forward[] = {1, 2, 3}, backward[] = {2, 5, 6}, send[] = {0.5, 0.25};
    double first[3], end[3];
    double last =
        yoke_simulate_1f1b(3, 1, forward, backward, send, first, end, NULL, NULL, 0);
    assert_true(last == 6 + 13 + 1.5);
    assert_true(first[0] == 0 && first[1] == 1.5 && first[2] == 3.75);
    assert_true(end[2] == 12.75 && end[1] == 18 && end[0] == 20.5);
}

static void test_edges(void **state)
{
    (void)state;
    const double one[] = {1};
    assert_true(yoke_simulate_1f1b(0, 5, one, one, one, NULL, NULL, NULL, NULL, 0) == 0);
    assert_true(yoke_simulate_1f1b(1, 0, one, one, one, NULL, NULL, NULL, NULL, 0) == 0);
    assert_true(yoke_simulate_1f1b(1, 5, one, one, one, NULL, NULL, NULL, NULL, 0) == 10);

    /* more stages than fit the working memory on the stack */
    enum { MANY = 300 };
    double *ones = calloc(MANY, sizeof *ones), *zeros = calloc(MANY, sizeof *zeros);
    assert_non_null(ones);
    assert_non_null(zeros);
    for (size_t i = 0; i < MANY; i++)
        ones[i] = 1;
    assert_true(yoke_simulate_1f1b(MANY, 7, ones, ones, zeros, NULL, NULL, NULL, NULL,
                                   0) == 2 * (7 + MANY - 1));
    free(ones);
    free(zeros);
}

/* A link slower than the stages is the bottleneck: M transfers follow one another. */
static void test_slow_link(void **state)
{
    (void)state;
    const double forward[] = {1, 1}, backward[] = {1, 1}, send[] = {10};
    double end =
        yoke_simulate_1f1b(2, 20, forward, backward, send, NULL, NULL, NULL, NULL, 0);
    assert_true(end >= 20 * 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_form), cmocka_unit_test(test_one_micro_batch),
        cmocka_unit_test(test_edges),       cmocka_unit_test(test_slow_link),
        cmocka_unit_test(test_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
