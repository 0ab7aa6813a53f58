/* SPDX-License-Identifier: Apache-2.0 */
/* Rows that become runs, rows that are named instead, and a fit that finds what made the
 * times. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "partition/run_errors.h"

#define HEADER                                                                           \
    "source,framework,model,layers,hidden,heads,kv_heads,ffn,seq,vocab,gated_mlp,moe,"   \
    "precision,n_devices,device,devices_per_node,tp,pp,dp,cp,ep,vpp,micro_batch,"        \
    "global_batch,recompute,zero_stage,sequence_parallel,network,iteration_time_s\n"

static yoke_profiles_t profiles;

static void read(const char *text, yoke_run_set_t *out)
{
    yoke_csv_t csv;
    assert_int_equal(yoke_csv_parse("t.csv", text, strlen(text), &csv), YOKE_OK);
    assert_int_equal(yoke_run_set_read(&csv, &profiles, out), YOKE_OK);
}

static void row(char *out, size_t size, const char *vocab, unsigned tp, unsigned pp,
                unsigned dp, const char *device, const char *network, double time)
{
    snprintf(out, size,
             "s,any,m,16,2048,16,16,8192,1024,%s,0,,bf16,%u,%s,8,%u,%u,%u,1,1,1,"
             "2,64,none,0,0,%s,%.17g\n",
             vocab, tp * pp * dp, device, tp, pp, dp, network, time);
}

static void expect_miss(const char *vocab, const char *device, const char *network,
                        unsigned dp, const char *needle)
{
    char text[2048] = HEADER;
    yoke_run_set_t set;
    row(text + strlen(text), 512, vocab, 2, 2, dp, device, network, 1);
    read(text, &set);
    assert_int_equal(set.run_count, 0);
    assert_int_equal(set.miss_count, 1);
    assert_int_equal(set.misses[0].line, 2);
    if (strstr(set.misses[0].reason, needle) == NULL)
        fail_msg("\"%s\" is not in \"%s\"", needle, set.misses[0].reason);
    yoke_run_set_free(&set);
}

static void test_misses(void **state)
{
    (void)state;
    expect_miss("", "A100-SXM4-80GB", "node", 2, "vocab is empty");
    expect_miss("many", "A100-SXM4-80GB", "node", 2, "vocab is \"many\"");
    expect_miss("-3", "A100-SXM4-80GB", "node", 2, "vocab is \"-3\"");
    expect_miss("512", "Abacus", "node", 2, "\"Abacus\" is not in the catalog");
    expect_miss("512", "A100-SXM4-80GB", "not stated", 8, "network does not say");
    yoke_csv_t csv;
    yoke_run_set_t set;
    assert_int_equal(yoke_csv_parse("t.csv", "a,b\n1,2\n", 8, &csv), YOKE_OK);
    assert_int_equal(yoke_run_set_read(&csv, &profiles, &set), YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_last_error(), "no column \"source\""));
}

static void test_network(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double rate;
    } cases[] = {{"NVLink node; 4x100Gbps RoCE per node", 50e9},
                 {"NVLink node; 1600Gbps/node RoCE", 200e9},
                 {"NVLink node; 400Gbps/GPU RDMA", 400e9},
                 {"Selene: NVSwitch node; 8x HDR 200Gbps IB", 200e9},
                 {"node; inter-node fabric not stated", 0},
                 {"", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double rate = yoke_run_parse_network(cases[i].text, 8);
        if (rate != cases[i].rate)
            fail_msg("%s: %g, want %g", cases[i].text, rate, cases[i].rate);
    }
}

/* 1F1B with equal stages: (M + P - 1) / M of the work; with v chunks the bubble is a
 * v-th. The head is left out of the comparison by a tiny vocabulary. */
static void test_bubble(void **state)
{
    (void)state;
    char text[4096] = HEADER;
    yoke_run_set_t set;
    yoke_run_result_t deep, chunked;
    row(text + strlen(text), 512, "64", 1, 4, 2, "A100-SXM4-80GB", "node", 1);
    read(text, &set);
    assert_int_equal(set.run_count, 1);
    yoke_run_t run = set.runs[0];
    run.constants.send_exposed = 0;
    assert_int_equal(yoke_run_predict(&run, &run.constants, &deep), YOKE_OK);
    run.chunks = 2;
    assert_int_equal(yoke_run_predict(&run, &run.constants, &chunked), YOKE_OK);
    double steps = 64.0 / (2 * 2), busy = deep.compute * steps / (steps + 3);
    /* Sends and the ends of the model make it inexact: 3 %. */
    double want = busy * (1 + 3 / steps / 2);
    assert_true(chunked.compute < deep.compute);
    assert_true(chunked.compute > 0.97 * want && chunked.compute < 1.03 * want);
    yoke_run_set_free(&set);
}

static void test_memory_of_zero(void **state)
{
    (void)state;
    char text[4096] = HEADER;
    yoke_run_set_t set;
    row(text + strlen(text), 512, "64", 1, 1, 8, "A100-SXM4-80GB", "node", 1);
    read(text, &set);
    yoke_run_t run = set.runs[0];
    yoke_constants_t c = run.constants;
    c.slack_fraction = c.bucket_bytes = 0;
    double held[4], count = (double)run.model->parameters_total;
    for (unsigned zero = 0; zero < 4; zero++) {
        run.zero = zero;
        held[zero] = yoke_run_predict_memory(&run, &c);
    }
    /* What each stage of ZeRO takes away on 8 ranks, 12 + 4 + 2 bytes a parameter. */
    assert_true(held[0] - held[1] > 0.99 * count * 12 * 7 / 8);
    assert_true(held[0] - held[1] < 1.01 * count * 12 * 7 / 8);
    assert_true(held[1] - held[2] > 0.99 * count * 4 * 7 / 8);
    assert_true(held[2] > held[3]);
    yoke_run_set_free(&set);
}

/* Times made with another constant: the fit finds it. */
static void test_fit(void **state)
{
    (void)state;
    static const char *const names[] = {"gemm_fraction", NULL};
    static const unsigned degrees[][3] = {{1, 1, 8}, {2, 1, 4}, {2, 2, 2}, {1, 4, 2}};
    char text[4096] = HEADER;
    yoke_run_set_t set;
    bool use[4] = {true, true, true, true};
    double loss = 1;
    for (size_t i = 0; i < 4; i++)
        row(text + strlen(text), 512, "50304", degrees[i][0], degrees[i][1],
            degrees[i][2], "A100-SXM4-80GB", "node", 1);
    read(text, &set);
    assert_int_equal(set.run_count, 4);
    for (size_t i = 0; i < 4; i++) {
        yoke_run_result_t result;
        yoke_constants_t truth = set.runs[i].constants;
        assert_true(yoke_constants_set(&truth, "gemm_fraction", 0.61));
        assert_int_equal(yoke_run_predict(&set.runs[i], &truth, &result), YOKE_OK);
        set.runs[i].time = result.time;
    }
    yoke_constants_t found = set.runs[0].constants;
    assert_int_equal(yoke_run_fit(&set, use, names, &found, &loss), YOKE_OK);
    assert_true(found.gemm_fraction > 0.60 && found.gemm_fraction < 0.62);
    assert_true(loss < 0.01);
    yoke_run_set_free(&set);
}

/* A mixed plan: the slower type decides; layers are counted with embedding and head. */
static void test_mixed(void **state)
{
    (void)state;
    static const char header[] =
        "system,model,seq_len,global_batch,micro_batch,layer_split,"
        "stage_devices,measured_metric,measured_value,outcome\n";
    char text[1024];
    yoke_run_set_t set;
    snprintf(text, sizeof text,
             "%sSailor,OPT-350M,2048,64,2,13-13,\"2x(GH-96,tp1) | 2x(GH-96,tp1)\","
             "iteration time,1,peak GPU memory 1000 B\n"
             "Sailor,OPT-350M,2048,64,2,13-9,\"2x(GH-96,tp1) | 2x(GH-96,tp1)\","
             "iteration time,1,\n"
             "Sailor,OPT-350M,2048,64,2,12-12,\"2x(GH-96,tp1)\",iteration time,1,\n"
             "Sailor,OPT-350M,2048,64,2,12-12,\"2x(GH-96,tp1) | 1x(GH-96,tp2) + "
             "1x(GH-96,tp1)\",iteration time,1,\n",
             header);
    read(text, &set);
    assert_int_equal(set.run_count, 2);
    assert_int_equal(set.miss_count, 2);
    assert_non_null(strstr(set.misses[0].reason, "adds up to 22"));
    assert_non_null(strstr(set.misses[1].reason, "fewer stages"));
    assert_int_equal(set.runs[0].stages[0].layers, 12);
    assert_int_equal(set.runs[1].stage_count, 3);
    assert_true(set.runs[1].stages[1].more);
    yoke_run_result_t a, b;
    assert_int_equal(yoke_run_predict(&set.runs[0], &set.runs[0].constants, &a), YOKE_OK);
    assert_int_equal(yoke_run_predict(&set.runs[1], &set.runs[1].constants, &b), YOKE_OK);
    assert_true(a.time > 0 && b.time > 0 && a.memory > 0);
    yoke_run_set_free(&set);
}

static int start(void **state)
{
    (void)state;
    return yoke_profiles_read(NULL, &profiles) == YOKE_OK ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    yoke_profiles_free(&profiles);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_misses), cmocka_unit_test(test_network),
        cmocka_unit_test(test_bubble), cmocka_unit_test(test_memory_of_zero),
        cmocka_unit_test(test_fit),    cmocka_unit_test(test_mixed),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
