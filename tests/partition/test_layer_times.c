/* SPDX-License-Identifier: Apache-2.0 */
/* Measured layer times: reading, what stands for a missing point, and what a plan makes
 * of them. */
#include "tests/base/support.h"

#include "base/text.h"
#include "partition/layer_times.h"
#include "tests/costmodel/fixture.h"
#include "tests/partition/plan_fixture.h"

enum { LAYERS = 10 }; /* of the fixture's model */

/* The parts of a document that the tests vary. */
typedef struct parts {
    const char *head, *times, *rest;
} parts_t;

static const char head[] = "\"schema\": \"yoke-layer-times/1\", \"source\": \"test\", "
                           "\"layers\": 2, \"sequence\": 128, \"dtype\": \"bf16\"";
static const char times[] =
    "{\"type\": \"A\", \"tp\": 1, \"micro_batch\": 1, \"forward\": [1, 2], "
    "\"backward\": [3, 4], \"update\": [0.5, 0.25]}, "
    "{\"type\": \"A\", \"tp\": 1, \"micro_batch\": 4, \"forward\": [4, 5], "
    "\"backward\": [9, 10], \"update\": [0.5, 0.25]}, "
    "{\"type\": \"A\", \"tp\": 4, \"micro_batch\": 2, \"forward\": [1, 1], "
    "\"backward\": [1, 1]}";

static yoke_status_t parse(const parts_t *parts, yoke_layer_times_t **out)
{
    char *text =
        yoke_format("{%s, \"times\": [%s]%s}", parts->head ? parts->head : head,
                    parts->times ? parts->times : times, parts->rest ? parts->rest : "");
    yoke_status_t status = yoke_layer_times_parse("t.json", text, strlen(text), out);
    free(text);
    return status;
}

static void expect_fault(const parts_t *parts, const char *needle)
{
    yoke_layer_times_t *read = NULL;
    assert_int_equal(parse(parts, &read), YOKE_ERR_BAD_INPUT);
    assert_null(read);
    if (strstr(yoke_last_error(), needle) == NULL)
        fail_msg("no '%s' in: %s", needle, yoke_last_error());
}

static void faults_name_their_place(void **state)
{
    (void)state;
#define POINT(rest) "{\"type\": \"A\", \"tp\": 1, \"micro_batch\": 1, " rest "}"
#define FULL POINT("\"forward\": [1, 2], \"backward\": [3, 4]")
#define HEAD(schema, layers, dtype)                                                      \
    "\"schema\": \"" schema "\", \"source\": \"t\", \"layers\": " layers                 \
    ", \"sequence\": 128, \"dtype\": \"" dtype "\""
    static const struct {
        parts_t parts;
        const char *needle;
    } cases[] = {
        {{.head = HEAD("yoke-plan/1", "2", "bf16")}, "t.json: /schema: must be"},
        {{.head = HEAD("yoke-layer-times/1", "0", "bf16")}, "/layers"},
        {{.head = HEAD("yoke-layer-times/1", "2", "bf17")}, "/dtype: \"bf17\" is no"},
        {{.times = ""}, "/times: must have an entry"},
        {{.times = "7"}, "/times/0"},
        {{.times = FULL ", " FULL}, "/times/1: is a second entry of A at tp 1"},
        {{.times = POINT("\"forward\": [1], \"backward\": [3, 4]")},
         "/times/0/forward: must have one number for each of the 2 layers, not 1"},
        {{.times = POINT("\"forward\": [1, -2], \"backward\": [3, 4]")},
         "/times/0/forward/1: must be a number from 0"},
        {{.times = POINT("\"forward\": [1, 2]")}, "/times/0"},
        {{.times = POINT("\"forward\": [1, 2], \"backward\": [3, 4], \"update\": [1]")},
         "/times/0/update"},
        {{.times = POINT("\"forward\": [1, 2], \"backward\": [3, 4], \"more\": 1")},
         "more"},
        {{.rest = ", \"transfers\": \"sometimes\""}, "/transfers: must be one of"},
        {{.rest = ", \"missing\": \"guess\""}, "/missing: must be one of"},
        {{.rest = ", \"exchange_after\": \"lunch\""}, "/exchange_after: must be one of"},
        {{.rest = ", \"recompute\": \"auto\""}, "/recompute: must be one of"},
        {{.rest = ", \"gradient_overlap\": 2"}, "/gradient_overlap"},
        {{.rest = ", \"memory\": {\"degrees\": []}"}, "/memory"},
        {{.rest = ", \"memory\": {\"bytes_per_parameter\": 16, \"degrees\": [{\"tp\": 1, "
                  "\"parameters\": [1, 2], \"activations\": [1]}]}"},
         "/memory/degrees/0/activations"},
        {{.rest = ", \"memory\": {\"bytes_per_parameter\": 16, \"degrees\": [{\"tp\": 1, "
                  "\"parameters\": [1, 2], \"activations\": [1, 1]}, {\"tp\": 1}]}"},
         "/memory/degrees/1/tp: is a second entry"},
        {{.rest = ", \"sends\": [{\"from\": \"A\", \"to\": \"A\", \"from_tp\": 1, "
                  "\"to_tp\": 1, \"points\": []}]"},
         "/sends/0/points: must have a point"},
        {{.rest = ", \"sends\": [{\"from\": \"A\", \"to\": \"A\", \"from_tp\": 1, "
                  "\"to_tp\": 1, \"points\": [[1, 0]]}]"},
         "/sends/0/points/0: must be [bytes, seconds]"},
        {{.rest = ", \"sends\": [{\"from\": \"A\", \"to\": \"A\", \"from_tp\": 1, "
                  "\"to_tp\": 1, \"points\": [[2, 1], [1, 2]]}]"},
         "/sends/0/points/1: must have more bytes"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_fault(&cases[i].parts, cases[i].needle);
    yoke_layer_times_t *read = NULL;
    assert_int_equal(yoke_layer_times_read("/nowhere/t.json", &read), YOKE_ERR_NOT_FOUND);
    assert_int_equal(yoke_plan_use_layer_times("/nowhere/t.json"), YOKE_ERR_NOT_FOUND);
    assert_null(yoke_layer_times_current());
}

static void what_stands_for_a_missing_point(void **state)
{
    (void)state;
    yoke_layer_times_t *read = NULL;
    const yoke_layer_point_t *low, *high;
    double part;
    assert_int_equal(parse(&(parts_t){0}, &read), YOKE_OK);
    assert_int_equal(yoke_layer_times_type(read, "A"), 0);
    assert_int_equal(yoke_layer_times_type(read, "B"), -1);
    assert_int_equal(yoke_layer_times_find(read, 0, 1, 4, &low, &high, &part),
                     YOKE_LAYER_MEASURED);
    assert_true(low->forward[1] == 5 && high == NULL);
    assert_int_equal(yoke_layer_times_find(read, 0, 1, 2, &low, &high, &part),
                     YOKE_LAYER_BETWEEN);
    assert_true(low->micro_batch == 1 && high->micro_batch == 4);
    assert_true(part > 0.333 && part < 0.334);
    assert_int_equal(yoke_layer_times_find(read, 0, 1, 8, &low, &high, &part),
                     YOKE_LAYER_NEAREST);
    assert_int_equal(low->micro_batch, 4);
    assert_int_equal(yoke_layer_times_find(read, 0, 8, 1, &low, &high, &part),
                     YOKE_LAYER_NEAREST);
    assert_int_equal(low->tp, 4);
    assert_int_equal(yoke_layer_times_find(read, 1, 1, 1, &low, &high, &part),
                     YOKE_LAYER_UNKNOWN);
    yoke_layer_times_free(read);
    assert_int_equal(parse(&(parts_t){.rest = ", \"missing\": \"refuse\""}, &read),
                     YOKE_OK);
    assert_int_equal(yoke_layer_times_find(read, 0, 1, 2, &low, &high, &part),
                     YOKE_LAYER_UNKNOWN);
    assert_int_equal(yoke_layer_times_find(read, 0, 1, 1, &low, &high, &part),
                     YOKE_LAYER_MEASURED);
    yoke_layer_times_free(read);
    yoke_layer_times_free(NULL);
}

static void sends_between_measured_sizes(void **state)
{
    (void)state;
    yoke_layer_times_t *read = NULL;
    double seconds = 0;
    assert_int_equal(
        parse(&(parts_t){.rest = ", \"sends\": [{\"from\": \"A\", \"to\": \"B\", "
                                 "\"from_tp\": 1, \"to_tp\": 2, \"points\": "
                                 "[[100, 1], [300, 2]]}]"},
              &read),
        YOKE_OK);
    assert_int_equal(yoke_layer_times_type(read, "B"), 1);
    assert_true(yoke_layer_times_send(read, 0, 1, 1, 2, 200, &seconds));
    assert_true(seconds == 1.5);
    assert_true(yoke_layer_times_send(read, 0, 1, 1, 2, 50, &seconds));
    assert_true(seconds == 0.5);
    assert_true(yoke_layer_times_send(read, 0, 1, 1, 2, 600, &seconds));
    assert_true(seconds == 4);
    assert_false(yoke_layer_times_send(read, 1, 2, 0, 1, 200, &seconds));
    assert_false(yoke_layer_times_send(NULL, 0, 1, 1, 2, 200, &seconds));
    yoke_layer_times_free(read);
}

/* --- in a plan
 * ----------------------------------------------------------------------------- */

/* Two nodes of one device of type "A" each; the network is slow. */
static const char cluster[] =
    "{\"schema\": \"yoke-inventory/1\", \"nodes\": [{\"hosts\": \"n[1-2]\", "
    "\"nics\": [{\"id\": \"e0\", \"rate\": 1e9, \"source\": \"user\"}], "
    "\"devices\": [{\"id\": \"g0\", \"kind\": \"gpu\", \"name\": \"A\", \"compute\": "
    "{\"bf16\": {\"rate\": 1e14}}, \"bandwidth\": {\"rate\": 1e12}, \"memory\": "
    "{\"total\": 80000000000}}]}]}";

/* Every layer takes `forward` and twice that backward at micro-batch 1 and degree 1. */
static char *write_times(double forward, size_t layers, const char *dtype,
                         const char *rest)
{
    yoke_text_t text = {0};
    static char path[] = "layer-times-test.json";
    yoke_text_printf(&text,
                     "{\"schema\": \"yoke-layer-times/1\", \"source\": \"test\", "
                     "\"layers\": %zu, \"sequence\": 128, \"dtype\": \"%s\", \"times\": "
                     "[{\"type\": \"A\", \"tp\": 1, \"micro_batch\": 1",
                     layers, dtype);
    for (int pass = 1; pass <= 2; pass++) {
        yoke_text_printf(&text, ", \"%s\": [", pass == 1 ? "forward" : "backward");
        for (size_t i = 0; i < layers; i++)
            yoke_text_printf(&text, "%s%g", i > 0 ? ", " : "", forward * pass);
        yoke_text_add(&text, "]");
    }
    yoke_text_printf(&text, ", \"update\": 0}]%s}", rest);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.size, file), text.size);
    assert_int_equal(fclose(file), 0);
    yoke_text_free(&text);
    return path;
}

static yoke_plan_options_t job(void)
{
    return (yoke_plan_options_t){.struct_size = sizeof(yoke_plan_options_t),
                                 .dtype = YOKE_BF16,
                                 .recompute = YOKE_RECOMPUTE_NONE,
                                 .sharded_optimizer = YOKE_OFF,
                                 .global_batch = 8,
                                 .sequence = 128,
                                 .micro_batch = 1,
                                 .dp = 1,
                                 .stages = 2};
}

/* Step time; below 0: refused with `*out_status`. */
static double plan_time(const yoke_plan_options_t *options, yoke_status_t *out_status,
                        yoke_plan_t **out_plan)
{
    yoke_inventory_t *inventory = NULL;
    yoke_model_t *model = fixture_plan_model();
    yoke_plan_t *plan = NULL;
    double time = -1;
    char *faults = NULL, *stale = NULL;
    yoke_status_t status =
        yoke_inventory_parse("c.json", cluster, sizeof cluster - 1, &inventory);
    if (status != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    *out_status = yoke_plan_search(model, inventory, options, &plan);
    if (*out_status == YOKE_OK) {
        time = plan->iteration_time;
        /* What made the plan is what checks it. */
        assert_int_equal(yoke_plan_check_figures(plan, model, inventory, &faults, &stale),
                         YOKE_OK);
        assert_null(stale);
        free(faults);
    }
    if (out_plan != NULL)
        *out_plan = plan;
    else
        yoke_plan_free(plan);
    yoke_inventory_free(inventory);
    fixture_model_free(model);
    return time;
}

static double time_with(double forward, const char *rest)
{
    const yoke_plan_options_t options = job();
    yoke_status_t status;
    if (yoke_plan_use_layer_times(write_times(forward, LAYERS, "bf16", rest)) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    double time = plan_time(&options, &status, NULL);
    if (status != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    return time;
}

#define SENDS                                                                            \
    ", \"sends\": [{\"from\": \"A\", \"to\": \"A\", \"from_tp\": 1, \"to_tp\": 1, "      \
    "\"points\": [[1, 1e-9], [1e9, 1e-9]]}]"
#define SLOW_SENDS                                                                       \
    ", \"sends\": [{\"from\": \"A\", \"to\": \"A\", \"from_tp\": 1, \"to_tp\": 1, "      \
    "\"points\": [[1, 1], [1e9, 1]]}]"

/* Two stages of five layers, 8 micro-batches: (8 + 1) x 5 x (1 + 2) seconds, and as much
 * more as is said. */
static void the_step_is_made_of_them(void **state)
{
    (void)state;
    double step = time_with(1, SENDS);
    assert_true(step > 134.99 && step < 136);
    double twice = time_with(2, SENDS);
    assert_true(twice > 2 * 134.99 && twice < 271);
    /* Sends of 1 s: one way there and back is seen, and every one where stages wait. */
    double overlapped = time_with(1, SLOW_SENDS);
    assert_true(overlapped > step + 1.9);
    double blocked = time_with(1, SLOW_SENDS ", \"transfers\": \"block\"");
    assert_true(blocked > 134.99 + 8.9 && blocked > overlapped);
    assert_int_equal(yoke_plan_use_layer_times(NULL), YOKE_OK);
}

/* Where every exchange waits for the last stage, two replicas' plan is not faster. */
static void exchange_at_the_end(void **state)
{
    (void)state;
    yoke_plan_options_t options = job();
    yoke_status_t status;
    options.dp = 2;
    options.stages = 1;
    (void)yoke_plan_use_layer_times(write_times(1, LAYERS, "bf16", SENDS));
    double hidden = plan_time(&options, &status, NULL);
    (void)yoke_plan_use_layer_times(
        write_times(1, LAYERS, "bf16", SLOW_SENDS ", \"exchange_after\": \"step\""));
    double exposed = plan_time(&options, &status, NULL);
    assert_true(exposed > hidden + 1.9 && exposed < hidden + 2.1); /* 2 (n - 1) sends */
    (void)yoke_plan_use_layer_times(
        write_times(1, LAYERS, "bf16", SLOW_SENDS ", \"gradient_overlap\": 1"));
    double overlapped = plan_time(&options, &status, NULL);
    assert_true(overlapped < exposed - 1.9);
    assert_int_equal(yoke_plan_use_layer_times(NULL), YOKE_OK);
}

static void missing_points_are_scaled_or_refused(void **state)
{
    (void)state;
    yoke_plan_options_t options = job();
    yoke_status_t status;
    options.micro_batch = 2;
    (void)yoke_plan_use_layer_times(write_times(1, LAYERS, "bf16", SENDS));
    double estimated = plan_time(&options, &status, NULL);
    assert_int_equal(status, YOKE_OK);
    /* (4 + 1) x 15 s, times what the model makes of twice the samples: at most 2. */
    assert_true(estimated > 75 && estimated < 151);
    options.recompute = YOKE_RECOMPUTE_FULL;
    assert_true(plan_time(&options, &status, NULL) > estimated);
    (void)yoke_plan_use_layer_times(
        write_times(1, LAYERS, "bf16", ", \"missing\": \"refuse\""));
    (void)plan_time(&options, &status, NULL);
    assert_int_equal(status, YOKE_ERR_NO);
    assert_non_null(strstr(yoke_last_error(), "of the measured layer times alone"));
    assert_int_equal(yoke_plan_use_layer_times(NULL), YOKE_OK);
}

/* Bytes of every layer and of a device, in the place of the cost model's. */
static void memory_is_the_measured_one(void **state)
{
    (void)state;
    const yoke_plan_options_t options = job();
    yoke_status_t status;
    yoke_plan_t *plan = NULL;
    yoke_text_t rest = {0};
    yoke_text_add(&rest, ", \"memory\": {\"bytes_per_parameter\": 20, \"degrees\": "
                         "[{\"tp\": 1, \"fixed\": 1000, \"parameters\": [");
    for (int i = 0; i < LAYERS; i++)
        yoke_text_printf(&rest, "%s1e6", i > 0 ? ", " : "");
    yoke_text_add(&rest, "], \"activations\": [");
    for (int i = 0; i < LAYERS; i++)
        yoke_text_printf(&rest, "%s1e5", i > 0 ? ", " : "");
    yoke_text_add(&rest, "]}]}");
    (void)yoke_plan_use_layer_times(write_times(1, LAYERS, "bf16", yoke_text_get(&rest)));
    (void)plan_time(&options, &status, &plan);
    assert_int_equal(status, YOKE_OK);
    for (size_t s = 0; s < 2; s++) {
        const yoke_plan_stage_t *stage = &plan->pipelines[0].stages[s];
        double layers = (double)(stage->chunks[0].last - stage->chunks[0].first + 1);
        double kept = layers * 1e5 * (double)(2 - s); /* 1F1B: two, then one */
        double wanted = layers * 20e6 + kept + 1000;
        double is = stage->replicas[0].devices[0].memory.predicted;
        assert_true(is > wanted * (1 - 1e-9) && is < wanted * (1 + 1e-9));
    }
    yoke_plan_free(plan);
    yoke_text_free(&rest);
    assert_int_equal(yoke_plan_use_layer_times(NULL), YOKE_OK);
}

static void of_another_job(void **state)
{
    (void)state;
    const yoke_plan_options_t options = job();
    yoke_plan_options_t longer = job();
    yoke_status_t status;
    (void)yoke_plan_use_layer_times(write_times(1, LAYERS + 1, "bf16", ""));
    (void)plan_time(&options, &status, NULL);
    assert_int_equal(status, YOKE_ERR_USAGE);
    assert_non_null(strstr(yoke_last_error(), "11 layers"));
    (void)yoke_plan_use_layer_times(write_times(1, LAYERS, "fp16", ""));
    (void)plan_time(&options, &status, NULL);
    assert_int_equal(status, YOKE_ERR_USAGE);
    assert_non_null(strstr(yoke_last_error(), "--dtype fp16"));
    longer.sequence = 256;
    (void)yoke_plan_use_layer_times(write_times(1, LAYERS, "bf16", ""));
    (void)plan_time(&longer, &status, NULL);
    assert_int_equal(status, YOKE_ERR_USAGE);
    assert_non_null(strstr(yoke_last_error(), "--seq 128"));
    assert_int_equal(yoke_plan_use_layer_times(NULL), YOKE_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_name_their_place),
        cmocka_unit_test(what_stands_for_a_missing_point),
        cmocka_unit_test(sends_between_measured_sizes),
        cmocka_unit_test(the_step_is_made_of_them),
        cmocka_unit_test(exchange_at_the_end),
        cmocka_unit_test(missing_points_are_scaled_or_refused),
        cmocka_unit_test(memory_is_the_measured_one),
        cmocka_unit_test(of_another_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
