/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors, one-line clusters and assumptions. */
#include "tests/inventory/support.h"

#include "base/file.h"
#include "inventory/selector.h"

static yoke_inventory_t *cluster(const char *line)
{
    yoke_inventory_t *inventory = NULL;
    must(yoke_cluster_load(line, &inventory));
    return inventory;
}

/* --- selectors -------------------------------------------------------------------- */

static void selectors_match(void **state)
{
    static const struct {
        const char *selector, *host;
        bool match;
    } cases[] = {
        {"npu-[01-02]/0000:c1:00.0", "npu-01", true},
        {"npu-[01-02]/0000:c1:00.0", "npu-03", false},
        {"npu-[01-02]/0000:c1:00.0", "npu-1", false},
        {"npu-[1-12]/*", "npu-12", true},
        {"npu-[1-12]/*", "npu-012", false},
        {"npu-[1,3,5-7]/*", "npu-6", true},
        {"npu-[1,3,5-7]/*", "npu-4", false},
        {"a*,npu-0*/0000:*", "npu-09", true},
        {"*[1-2]x/*", "rack7-2x", true},
        {"*/0000:c2:00.0", "npu-01", false},
        {"0000:c1:00.0", "anything", true},
        {"0000:c1:*", "anything", true},
        {"0000:c1:00.0/mig1", "anything", false},
        {"type:910B3", "h", true},
        {"type:Ascend910B3", "h", true},
        {"type:Ascend 910B3", "h", true},
        {"type:910B", "h", false},
        {"type:910B4", "h", false},
        {"vendor:huawei", "h", true},
        {"vendor:Huawei Technologies", "h", true},
        {"vendor:NVIDIA", "h", false},
        {"kind:npu", "h", true},
        {"kind:gpu", "h", false},
        {"host:h*", "h", true},
        {"host:[01-02]", "02", true},
        {"host:g*", "h", false},
    };
    (void)state;
    yoke_inventory_device_t device = {.kind = YOKE_DEVICE_NPU, .numa = -1};
    must(yoke_set_string(&device.id, "0000:c1:00.0"));
    must(yoke_set_string(&device.vendor, "Huawei"));
    must(yoke_set_string(&device.type, "Ascend 910B3"));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool match = false;
        must(yoke_selector_match(cases[i].selector, cases[i].host, &device, &match));
        if (match != cases[i].match)
            fail_msg("%s on %s gave %d", cases[i].selector, cases[i].host, match);
    }
    must(yoke_set_string(&device.id, "0000:c1:00.0/mig1"));
    bool match = false;
    must(yoke_selector_match("0000:c1:00.0/mig1", "h", &device, &match));
    assert_true(match);
    must(yoke_selector_match("h/0000:c1:00.0/mig1", "h", &device, &match));
    assert_true(match);
    yoke_device_clear(&device);
}

static void malformed_selectors_are_told(void **state)
{
    static const char *const bad[] = {"",           "type:",
                                      "vendor:",    "host:",
                                      "kind:",      "kind:tpu",
                                      "a/",         "/0",
                                      "a[1-2/0",    "a]/0",
                                      "a[]/0",      "a[x]/0",
                                      "a[2-1]/0",   "a[1-]/0",
                                      "host:a b",   "host:a,,b",
                                      "host:a,",    "host:,a",
                                      "host:a[1,]", "a b",
                                      "a,b",        "host:a[1-99999999999999999999]"};
    (void)state;
    const yoke_inventory_device_t device = {.numa = -1};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        bool match = true;
        if (yoke_selector_match(bad[i], "a", &device, &match) != YOKE_ERR_BAD_INPUT ||
            match)
            fail_msg("\"%s\" was taken", bad[i]);
    }
}

static void hostile_patterns_end(void **state)
{
    (void)state;
    assert_false(
        yoke_host_match("*a*a*a*a*a*a*a*a*a*a*a*a*b[1-2]",
                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
    assert_true(yoke_glob_match("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
    assert_false(yoke_glob_match("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"));
}

static void bundled_clusters_go_by_name(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = NULL;
    yoke_strings_t names = {0};
    must(yoke_data_names("clusters", &names));
    assert_true(names.count >= 7);
    for (size_t i = 0; i < names.count; i++) {
        must(yoke_cluster_load(names.items[i], &inventory));
        assert_string_equal(inventory->name, names.items[i]);
        yoke_inventory_free(inventory);
    }
    yoke_strings_free(&names);
    static const char *const bad[] = {"a100-v10", "", ".", "../clusters/a100-v100",
                                      "none/x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(yoke_cluster_load(bad[i], &inventory), YOKE_ERR_BAD_INPUT);
    assert_int_equal(yoke_cluster_load("a100-v10", &inventory), YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_last_error(), "a100-v100, four-types-1024"));
}

static void selectors_count_every_host(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = cluster("3x4xL4 + 2x(1xT4+1x910A)");
    uint64_t count = 0;
    must(yoke_selector_count(inventory, "type:L4", true, &count));
    assert_int_equal(count, 12);
    must(yoke_selector_count(inventory, "host:l4-0[1-2]", true, &count));
    assert_int_equal(count, 8);
    must(yoke_selector_count(inventory, "host:l4-[01-02]", true, &count));
    assert_int_equal(count, 8);
    must(yoke_selector_count(inventory, "mixed-01/*", true, &count));
    assert_int_equal(count, 2);
    yoke_inventory_free(inventory);
}

/* --- clusters --------------------------------------------------------------------- */

static void lines_make_clusters(void **state)
{
    (void)state;
    yoke_inventory_t *inventory =
        cluster("2x8xA100-SXM4-80GB + 4x8xAscend910B3; nic=100Gb; link=50G");
    assert_int_equal(inventory->node_count, 2);
    assert_string_equal(inventory->nodes[0].hosts, "a100-sxm4-80gb-[01-02]");
    assert_string_equal(inventory->nodes[1].hosts, "ascend-910b3-[01-04]");
    assert_int_equal(inventory->nodes[1].device_count, 8);
    const yoke_inventory_device_t *device = &inventory->nodes[1].devices[7];
    assert_string_equal(device->id, "npu7");
    assert_string_equal(device->type, "Ascend 910B3");
    assert_true(device->memory.total.value == 64 * 0x1p30);
    assert_true(device->compute[YOKE_BF16].value == 294.9e12);
    assert_true(device->link_rate.value == 50e9);
    assert_int_equal(device->link_rate.source, YOKE_SOURCE_USER);
    assert_true(device->schedulable);
    assert_true(inventory->nodes[0].nics[0].rate.value == 12.5e9);
    yoke_inventory_free(inventory);
}

static void mixed_nodes_and_repeats(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = cluster(
        " 2 x ( 4xH100-SXM5-80GB + 4xA100-SXM4-80GB ) + 1x1xT20(32GB)+3x8xL4 + 1x4xL4 ");
    assert_int_equal(inventory->node_count, 4);
    assert_int_equal(inventory->nodes[0].device_count, 8);
    assert_string_equal(inventory->nodes[0].hosts, "mixed-[01-02]");
    assert_string_equal(inventory->nodes[0].devices[4].id, "gpu4");
    assert_string_equal(inventory->nodes[0].devices[4].type, "A100-SXM4-80GB");
    assert_string_equal(inventory->nodes[1].devices[0].type, "CloudBlazer T20");
    assert_string_equal(inventory->nodes[2].hosts, "l4-[01-03]");
    assert_string_equal(inventory->nodes[3].hosts, "l4-04");
    yoke_inventory_free(inventory);
}

static void unknown_rates_stay_unknown(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = cluster("1x8xBW1000");
    const yoke_inventory_device_t *device = &inventory->nodes[0].devices[0];
    assert_string_equal(device->type, "DCU BW1000");
    assert_false(yoke_known(&device->compute[YOKE_BF16]));
    assert_false(yoke_known(&device->memory.total));
    yoke_inventory_free(inventory);
}

static void bad_lines_are_told(void **state)
{
    static const struct {
        const char *line, *message;
    } cases[] = {
        {"2x8xA100", "near are A100-"},
        {"2x8xNoSuch9000", "column 5"},
        {"8xL4", "number of devices"},
        {"0x8xL4", "column 1"},
        {"2x0xL4", "column 3"},
        {"2x2000xL4", "1 to 1024"},
        {"2000000x1xL4", "number of nodes"},
        {"999999x1xL4 + 2x1xL4", "more than 1000000 nodes"},
        {"2x8x", "name of a device type"},
        {"2x8xL4 +", "number of nodes"},
        {"2x8xL4 nic=1", "not in the catalog"},
        {"2x8xL4; nic=", "quantity"},
        {"2x8xL4; nic=0", "above zero"},
        {"2x8xL4; nic=1G; nic=2G", "stands twice"},
        {"2x8xL4; mood=1", "nic=RATE"},
        {"2x(8xL4", "expected '+' or ')'"},
        {"2x(600xL4+600xT4)", "more than 1024 devices"},
        {"2x8xL4)", "expected '+'"},
        {"/nonexistent/cluster.json", "/nonexistent/cluster.json"},
        {"", "there is no file '' and no bundled cluster"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yoke_inventory_t *inventory = NULL;
        assert_int_not_equal(yoke_cluster_load(cases[i].line, &inventory), YOKE_OK);
        assert_null(inventory);
        if (strstr(yoke_last_error(), cases[i].message) == NULL)
            fail_msg("\"%s\" gave: %s", cases[i].line, yoke_last_error());
    }
}

/* --- assumptions ------------------------------------------------------------------ */

static void assumptions_fill_and_replace(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = cluster("2x2xBW1000 + 1x1xL4; nic=10Gb");
    must(yoke_inventory_assume(inventory, "type:BW1000:bf16=300T,hbm=1.6T,memory=64GiB"));
    must(
        yoke_inventory_assume(inventory, "dcu-bw1000-02/gpu1:fp8=1P,link=50G,nic=100Gb"));
    assert_int_equal(inventory->node_count, 3); /* 02 was split from 01 */
    assert_string_equal(inventory->nodes[0].hosts, "dcu-bw1000-01");
    assert_string_equal(inventory->nodes[1].hosts, "dcu-bw1000-02");
    const yoke_inventory_device_t *first = &inventory->nodes[0].devices[1];
    const yoke_inventory_device_t *second = &inventory->nodes[1].devices[1];
    assert_true(first->compute[YOKE_BF16].value == 3e14);
    assert_int_equal(first->compute[YOKE_BF16].source, YOKE_SOURCE_USER);
    assert_true(first->bandwidth.value == 1.6e12);
    assert_true(first->memory.total.value == 64 * 0x1p30);
    assert_false(yoke_known(&first->compute[YOKE_FP8]));
    assert_true(second->compute[YOKE_FP8].value == 1e15);
    assert_true(second->link_rate.value == 50e9);
    assert_true(inventory->nodes[0].nics[0].rate.value == 1.25e9);
    assert_true(inventory->nodes[1].nics[0].rate.value == 12.5e9);
    assert_true(inventory->nodes[2].devices[0].compute[YOKE_BF16].value == 121e12);
    yoke_inventory_free(inventory);
}

/* The user's rate is that of all peers of a node, whatever the catalog's bridge joins. */
static void given_links_join_all(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = cluster("1x4xA100-PCIE-80GB");
    assert_int_equal(inventory->nodes[0].devices[0].link_group, 2);
    must(yoke_inventory_assume(inventory, "type:A100-PCIE-80GB:link=25G"));
    assert_int_equal(inventory->nodes[0].devices[0].link_group, 0);
    assert_string_equal(inventory->nodes[0].devices[0].link_rate.detail, "--assume");
    yoke_inventory_free(inventory);
    inventory = cluster("1x4xA100-PCIE-80GB; link=25G");
    assert_int_equal(inventory->nodes[0].devices[3].link_group, 0);
    assert_true(inventory->nodes[0].devices[3].link_rate.value == 25e9);
    yoke_inventory_free(inventory);
}

static void bad_assumptions_are_told(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"type:L4", "SELECTOR:KEY=VALUE"},
        {"bf16=1T", "SELECTOR:KEY=VALUE"},
        {"type:L4:bf17=1T", "unknown key"},
        {"type:L4:bf16=", "quantity"},
        {"type:L4:bf16=-1", "quantity"},
        {"type:L4:bf16=0", "above zero"},
        {"type:L4:bf16=1T,hbm", "not KEY=VALUE"},
        {"type:T4:bf16=1T", "matches no device"},
        {"a[/g:bf16=1T", "not a selector"},
    };
    (void)state;
    yoke_inventory_t *inventory = cluster("1x1xL4");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(yoke_inventory_assume(inventory, cases[i].text), YOKE_ERR_USAGE);
        if (strstr(yoke_last_error(), cases[i].message) == NULL)
            fail_msg("\"%s\" gave: %s", cases[i].text, yoke_last_error());
    }
    yoke_inventory_free(inventory);
}

int main(void)
{
    yoke_log_set_sink(quiet, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_match),
        cmocka_unit_test(malformed_selectors_are_told),
        cmocka_unit_test(hostile_patterns_end),
        cmocka_unit_test(bundled_clusters_go_by_name),
        cmocka_unit_test(selectors_count_every_host),
        cmocka_unit_test(lines_make_clusters),
        cmocka_unit_test(mixed_nodes_and_repeats),
        cmocka_unit_test(unknown_rates_stay_unknown),
        cmocka_unit_test(bad_lines_are_told),
        cmocka_unit_test(assumptions_fill_and_replace),
        cmocka_unit_test(given_links_join_all),
        cmocka_unit_test(bad_assumptions_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
