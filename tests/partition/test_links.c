/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links of the inventory and what is taken without them: which classes a link joins, what
 * the plan says of it, and how far the times may be off.
 */
#include "tests/base/support.h"

#include <stdio.h>

#include "base/error.h"
#include "base/text.h"
#include "partition/document.h"
#include "partition/problem.h"
#include "tests/costmodel/fixture.h"
#include "tests/partition/plan_fixture.h"

#define OWN_LINK "{\"name\": \"Own\", \"rate\": 1e11, \"source\": \"user\"}"

typedef struct world {
    yoke_model_t *model;
    yoke_inventory_t *inventory;
    yoke_problem_t *problem;
} world_t;

static void add_device(yoke_text_t *text, const char *id, const char *name,
                       const char *link)
{
    yoke_text_printf(
        text,
        "{\"id\": \"%s\", \"kind\": \"gpu\", \"vendor\": \"v\", \"name\": \"%s\", "
        "\"compute\": {\"bf16\": {\"rate\": 3e14}}, "
        "\"bandwidth\": {\"rate\": 2e12}, \"memory\": {\"total\": 80000000000}"
        "%s%s}",
        id, name, link ? ", \"link\": " : "", link ? link : "");
}

/* Hosts h1 and h2 with four cards of type Fast and two of type Slow each, and host k1
 * with two of type Fast; `link` is of Fast. */
static yoke_inventory_t *make_cluster(const char *link, const char *links)
{
    static const char *const hosts[] = {"h[1-2]", "k1"};
    yoke_text_t text = {0};
    yoke_inventory_t *inventory = NULL;
    yoke_text_add(&text, "{\"schema\": \"yoke-inventory/1\", \"nodes\": [");
    for (int n = 0; n < 2; n++) {
        yoke_text_printf(&text,
                         "%s{\"hosts\": \"%s\", \"nics\": [{\"id\": \"nic0\", "
                         "\"rate\": 12500000000}], \"devices\": [",
                         n > 0 ? "," : "", hosts[n]);
        for (int d = 0; d < (n == 0 ? 6 : 2); d++) {
            char id[16];
            snprintf(id, sizeof id, d < 4 ? "fast%d" : "slow%d", d);
            if (d > 0)
                yoke_text_add(&text, ",");
            add_device(&text, id, d < 4 ? "Fast" : "Slow", d < 4 ? link : OWN_LINK);
        }
        yoke_text_add(&text, "]}");
    }
    yoke_text_printf(&text, "], \"links\": [%s]}", links);
    if (yoke_inventory_parse("c.json", text.data, text.size, &inventory) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    yoke_text_free(&text);
    return inventory;
}

static yoke_status_t make_world(const char *link, const char *links, world_t *out)
{
    yoke_plan_options_t options = {.struct_size = sizeof options,
                                   .dtype = YOKE_BF16,
                                   .sequence = 512,
                                   .global_batch = 8};
    *out =
        (world_t){.model = fixture_plan_model(), .inventory = make_cluster(link, links)};
    return yoke_problem_new(out->model, out->inventory, &options, &out->problem);
}

static void need_world(const char *link, const char *links, world_t *out)
{
    if (make_world(link, links, out) != YOKE_OK)
        fail_msg("%s: %s", links, yoke_last_error());
}

static void free_world(world_t *world)
{
    yoke_problem_free(world->problem);
    yoke_inventory_free(world->inventory);
    fixture_model_free(world->model);
}

/* The class of a type in hosts with so many devices of it. */
static const yoke_class_t *find(const world_t *world, const char *type, unsigned per_host)
{
    for (size_t c = 0; c < world->problem->class_count; c++) {
        const yoke_class_t *class = &world->problem->classes[c];
        if (strcmp(class->type, type) == 0 && class->per_host == per_host)
            return class;
    }
    fail_msg("no class of %u %s", per_host, type);
    return NULL;
}

static bool has_note(const world_t *world, const char *part)
{
    for (size_t i = 0; i < world->problem->note_count; i++)
        if (strstr(world->problem->notes[i], part) != NULL)
            return true;
    return false;
}

static void need_note(const world_t *world, const char *part)
{
    if (has_note(world, part))
        return;
    for (size_t i = 0; i < world->problem->note_count; i++)
        print_message("note: %s\n", world->problem->notes[i]);
    fail_msg("no note with '%s'", part);
}

static double generic(const world_t *world)
{
    return world->problem->constants->default_intra_rate;
}

static double own(const world_t *world)
{
    return 1e11 * world->problem->constants->link_fraction;
}

static void assert_links(const world_t *world, double fast, double slow, double path)
{
    fixture_assert_near(find(world, "Fast", 4)->rates.link, fast, 1e-12, "Fast");
    fixture_assert_near(find(world, "Slow", 2)->rates.link, slow, 1e-12, "Slow");
    const yoke_class_t *both[] = {find(world, "Fast", 4), find(world, "Slow", 2)};
    double least = both[0]->intra < both[1]->intra ? both[0]->intra : both[1]->intra;
    fixture_assert_near(least, path, 1e-12, "between them");
}

#define BETWEEN(a, b, rate)                                                              \
    "{\"between\": [\"" a "\", \"" b "\"], \"kind\": \"Cable\", \"rate\": " rate         \
    ", \"latency\": 7e-6}"

static void test_one_class(void **state)
{
    (void)state;
    world_t world;
    need_world(OWN_LINK, BETWEEN("h[1-2]/fast*", "h[1-2]/fast*", "5e10"), &world);
    assert_links(&world, 5e10, own(&world), generic(&world));
    const yoke_class_t *class = find(&world, "Fast", 4);
    fixture_assert_near(class->rates.link_latency, 7e-6, 1e-12, "latency");
    assert_string_equal(class->link_name, "Cable");
    fixture_assert_near(find(&world, "Fast", 2)->rates.link, own(&world), 1e-12,
                        "k1 is not named");
    assert_false(has_note(&world, "the link between"));
    free_world(&world);

    /* A mesh of the catalog is no mesh once the user says what the link gives. */
    need_world("{\"name\": \"M\", \"rate\": 7e11, \"mesh\": true}",
               BETWEEN("type:Fast", "type:Fast", "5e10"), &world);
    assert_false(find(&world, "Fast", 4)->rates.link_mesh);
    fixture_assert_near(find(&world, "Fast", 4)->rates.link, 5e10, 1e-12, "mesh");
    fixture_assert_near(find(&world, "Fast", 2)->rates.link, 5e10, 1e-12, "k1 too");
    free_world(&world);
}

static void test_two_classes(void **state)
{
    (void)state;
    world_t world;
    need_world(OWN_LINK, BETWEEN("type:Fast", "type:Slow", "5e10"), &world);
    assert_links(&world, own(&world), own(&world), 5e10);
    fixture_assert_near(find(&world, "Fast", 4)->intra_latency, 7e-6, 1e-12, "latency");
    fixture_assert_near(find(&world, "Fast", 2)->intra, generic(&world), 1e-12,
                        "k1 has no card of type Slow");
    assert_false(has_note(&world, "the link between"));
    assert_false(has_note(&world, "the path between unlike"));
    free_world(&world);
}

static void test_all_of_a_host(void **state)
{
    (void)state;
    world_t world;
    need_world(OWN_LINK, BETWEEN("host:h[1-2]", "host:h[1-2]", "5e10"), &world);
    assert_links(&world, 5e10, 5e10, 5e10);
    fixture_assert_near(find(&world, "Fast", 2)->rates.link, own(&world), 1e-12, "k1");
    free_world(&world);

    need_world(OWN_LINK, BETWEEN("kind:gpu", "kind:gpu", "5e10"), &world);
    assert_links(&world, 5e10, 5e10, 5e10);
    fixture_assert_near(find(&world, "Fast", 2)->rates.link, 5e10, 1e-12, "k1");
    free_world(&world);
}

/* What used to happen: one end alone changed the paths inside its node. */
static void test_between_hosts(void **state)
{
    (void)state;
    world_t world;
    need_world(OWN_LINK, BETWEEN("host:h[1-2]", "host:k1", "5e10"), &world);
    assert_links(&world, own(&world), own(&world), generic(&world));
    fixture_assert_near(find(&world, "Fast", 2)->rates.link, own(&world), 1e-12, "k1");
    fixture_assert_near(find(&world, "Fast", 2)->intra, generic(&world), 1e-12, "k1");
    need_note(&world, "the link between 'host:h[1-2]' and 'host:k1' joins no two devices "
                      "of one host");
    need_note(&world, "the NICs");
    free_world(&world);
}

static void test_some_of_a_class(void **state)
{
    (void)state;
    world_t world;
    need_world(OWN_LINK, BETWEEN("h[1-2]/fast0", "h[1-2]/fast1", "5e10"), &world);
    assert_links(&world, 5e10, own(&world), generic(&world));
    fixture_assert_near(find(&world, "Fast", 4)->rates.link_latency, 7e-6, 1e-12,
                        "latency");
    need_note(&world, "some of the pairs of type Fast");
    need_note(&world, "50.0 GB/s limit");
    free_world(&world);

    need_world(OWN_LINK, BETWEEN("h[1-2]/fast0", "h[1-2]/fast1", "9e10"), &world);
    assert_links(&world, own(&world), own(&world), generic(&world));
    need_note(&world, "90.0 GB/s are more than");
    free_world(&world);

    /* All pairs, but of one host of two: equal nodes stay equal. */
    need_world(OWN_LINK, BETWEEN("h1/fast*", "h1/fast*", "5e10"), &world);
    assert_links(&world, 5e10, own(&world), generic(&world));
    need_note(&world, "50.0 GB/s limit");
    free_world(&world);

    /* Whatever the order: the whole class first, then what limits some of it. */
    need_world(OWN_LINK,
               BETWEEN("h1/fast0", "h1/fast1", "4e10") ", " BETWEEN("type:Fast",
                                                                    "type:Fast", "6e10"),
               &world);
    assert_links(&world, 4e10, own(&world), generic(&world));
    free_world(&world);

    need_world("{\"name\": \"M\", \"rate\": 3e11, \"mesh\": true}",
               BETWEEN("h1/fast0", "h1/fast1", "7e10"), &world);
    assert_links(&world, 7e10, own(&world), generic(&world)); /* a pair has 80 */
    assert_false(find(&world, "Fast", 4)->rates.link_mesh);
    free_world(&world);

    need_world(OWN_LINK, BETWEEN("h1/fast0", "h1/slow4", "5e9"), &world);
    assert_links(&world, own(&world), own(&world), 5e9);
    need_note(&world, "unlike devices with type Slow");
    free_world(&world);

    need_world(OWN_LINK, BETWEEN("h1/fast0", "h1/slow4", "5e10"), &world);
    assert_links(&world, own(&world), own(&world), generic(&world));
    need_note(&world, "50.0 GB/s are more than");
    free_world(&world);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *links, *says;
    } rows[] = {
        {BETWEEN("type:Fast", "type:Fast", "5e10") ", " BETWEEN("type:Fast", "type:Fats",
                                                                "5e10"),
         "c.json: /links/1/between/1: 'type:Fats' matches no device"},
        {BETWEEN("host:h3", "type:Fast", "5e10"),
         "c.json: /links/0/between/0: 'host:h3' matches no device"},
        {"{\"between\": [\"host:h3\", \"type:Fast\"], \"rate\": null}",
         "c.json: /links/0/between/0"},
        {BETWEEN("type:Fast", "type:Fast", "50"), "c.json: /links/0/rate"},
        {BETWEEN("type:Fast", "type:Fast", "0"), "c.json: /links/0/rate"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        world_t world;
        assert_int_equal(make_world(OWN_LINK, rows[i].links, &world), YOKE_ERR_BAD_INPUT);
        if (strstr(yoke_last_error(), rows[i].says) == NULL)
            fail_msg("no '%s' in: %s", rows[i].says, yoke_last_error());
        world.problem = NULL;
        free_world(&world);
    }
}

/* A link of devices that --nodes leaves out is no mistake. */
static void test_not_planned(void **state)
{
    (void)state;
    const char *const exclude[] = {"type:Slow", NULL};
    yoke_plan_options_t options = {
        .struct_size = sizeof options, .dtype = YOKE_BF16, .exclude = exclude};
    world_t world = {
        .model = fixture_plan_model(),
        .inventory = make_cluster(OWN_LINK, BETWEEN("type:Slow", "type:Slow", "5e10"))};
    assert_int_equal(
        yoke_problem_new(world.model, world.inventory, &options, &world.problem),
        YOKE_OK);
    need_note(&world, "joins no planned devices");
    free_world(&world);
}

static void test_bridges(void **state)
{
    (void)state;
    world_t world;
    need_world("{\"name\": \"Bridge\", \"rate\": 1e11, \"group\": 2}", "", &world);
    const yoke_class_t *four = find(&world, "Fast", 4), *two = find(&world, "Fast", 2);
    fixture_assert_near(yoke_rates_group_bandwidth(&four->rates, 2), own(&world), 1e-12,
                        "a tensor group of two");
    fixture_assert_near(yoke_rates_group_bandwidth(&four->rates, 4), generic(&world),
                        1e-12, "a tensor group of four");
    fixture_assert_near(yoke_rates_pair_bandwidth(&four->rates), generic(&world), 1e-12,
                        "two stages anywhere among four");
    fixture_assert_near(yoke_rates_pair_bandwidth(&two->rates), own(&world), 1e-12,
                        "two stages on the only two");
    need_note(&world, "a bridge between pairs of type Fast is assumed (Bridge)");
    need_note(&world, "--assume 'type:Fast:link=RATE'");
    free_world(&world);

    need_world(OWN_LINK, "", &world);
    assert_false(has_note(&world, "a bridge"));
    free_world(&world);

    /* A link that joins all of them is no bridge. */
    need_world("{\"name\": \"Bridge\", \"rate\": 1e11, \"group\": 2}",
               BETWEEN("type:Fast", "type:Fast", "5e10"), &world);
    four = find(&world, "Fast", 4);
    fixture_assert_near(yoke_rates_group_bandwidth(&four->rates, 4), 5e10, 1e-12, "link");
    assert_false(has_note(&world, "a bridge"));
    free_world(&world);
}

/* One tensor group of the four cards of type Fast in a node: all goes over their link. */
static yoke_plan_t *search(const world_t *world)
{
    const char *const exclude[] = {"type:Slow", NULL};
    yoke_plan_options_t options = {.struct_size = sizeof options,
                                   .dtype = YOKE_BF16,
                                   .sequence = 512,
                                   .global_batch = 8,
                                   .nodes = "h1",
                                   .exclude = exclude,
                                   .tp = 4,
                                   .effort = 2000};
    yoke_plan_t *plan = NULL;
    if (yoke_plan_search(world->model, world->inventory, &options, &plan) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    return plan;
}

/* Effect of an input on the step by the plan, as a ratio; 1: not listed. */
static double effect_of(const yoke_plan_t *plan, const char *input, char *source,
                        size_t size)
{
    for (size_t i = 0; i < plan->sensitivity_count; i++)
        if (strcmp(plan->sensitivities[i].input, input) == 0) {
            snprintf(source, size, "%s", plan->sensitivities[i].source);
            return plan->sensitivities[i].iteration_time[0] /
                   plan->sensitivities[i].iteration_time[1];
        }
    return 1;
}

static void test_unknown(void **state)
{
    (void)state;
    world_t known, unknown;
    char source[128] = "";
    need_world(OWN_LINK, "", &known);
    need_world(NULL, "", &unknown);
    fixture_assert_near(find(&unknown, "Fast", 4)->rates.link, generic(&unknown), 1e-12,
                        "generic");
    need_note(&unknown,
              "the in-node link of type Fast is unknown; 12.0 GB/s (generic) is "
              "taken: give --assume 'type:Fast:link=RATE'");
    assert_false(has_note(&unknown, "link of type Slow"));
    assert_false(
        has_note(&known, "is unknown; 12.0 GB/s (generic) is taken: give --assume"));
    need_note(&known, "the path between unlike devices of a node is unknown");

    yoke_plan_t *sure = search(&known), *doubtful = search(&unknown);
    assert_true(effect_of(doubtful, "type:Fast:link", source, sizeof source) > 1.01);
    assert_non_null(strstr(source, "generic"));
    assert_true(effect_of(sure, "type:Fast:link", source, sizeof source) == 1);
    yoke_plan_free(sure);
    yoke_plan_free(doubtful);
    free_world(&known);

    /* The range holds what the link alone can do. */
    need_world("{\"name\": \"Guess\", \"rate\": 1e11, \"marks\": [\"disputed\"]}", "",
               &known);
    yoke_plan_t *disputed = search(&known);
    assert_true(effect_of(disputed, "type:Fast:link", source, sizeof source) > 1.001);
    assert_non_null(strstr(source, "disputed"));
    yoke_plan_free(disputed);
    free_world(&known);
    free_world(&unknown);
}

/* The same rate, guessed instead of given: the same step, and less sure. */
static void test_range(void **state)
{
    (void)state;
    world_t given, guessed;
    need_world("{\"name\": \"Own\", \"rate\": 15000000000, \"source\": \"user\"}", "",
               &given);
    need_world(NULL, "", &guessed);
    yoke_plan_t *sure = search(&given), *doubtful = search(&guessed);
    fixture_assert_near(sure->iteration_time, doubtful->iteration_time, 1e-12, "step");
    assert_true(doubtful->iteration_time_low < 0.99 * sure->iteration_time_low);
    assert_true(doubtful->iteration_time_high > 1.01 * sure->iteration_time_high);
    for (size_t i = 0; i < doubtful->sensitivity_count; i++)
        if (strcmp(doubtful->sensitivities[i].input, "type:Fast:link") == 0)
            fixture_assert_near(doubtful->sensitivities[i].to,
                                1.0 + guessed.problem->constants->uncertainty_default,
                                1e-12, "factor");
    yoke_plan_free(sure);
    yoke_plan_free(doubtful);
    free_world(&given);
    free_world(&guessed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_class),       cmocka_unit_test(test_two_classes),
        cmocka_unit_test(test_all_of_a_host),   cmocka_unit_test(test_between_hosts),
        cmocka_unit_test(test_some_of_a_class), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_not_planned),     cmocka_unit_test(test_bridges),
        cmocka_unit_test(test_unknown),         cmocka_unit_test(test_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
