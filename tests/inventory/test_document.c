/* SPDX-License-Identifier: Apache-2.0 */
/* The inventory document: exact round trips, kept members, and clear refusals. */
#include "tests/inventory/support.h"

static char *fixture_text(void)
{
    const char *root = getenv("YOKE_SOURCE_DIR");
    char *path = yoke_format("%s/tests/inventory/full.json", root == NULL ? "." : root);
    yoke_json_t json = {0};
    must(yoke_json_read(path, 0, &json));
    char *text = json_dumps(json.root, 0);
    yoke_json_free(&json);
    free(path);
    return text;
}

static yoke_inventory_t *parsed(const char *text)
{
    yoke_inventory_t *inventory = NULL;
    must(yoke_inventory_parse("t.json", text, strlen(text), &inventory));
    return inventory;
}

static char *written(const yoke_inventory_t *inventory)
{
    char *text = NULL;
    must(yoke_inventory_text(inventory, &text));
    return text;
}

/* Every value of `part` stands in `whole` at the same place; defaults may come on top. */
static void check_within(const json_t *part, const json_t *whole, const char *place)
{
    const char *key;
    json_t *member;
    if (json_is_object(part)) {
        json_object_foreach((json_t *)(size_t)part, key, member)
        {
            char *deeper = yoke_format("%s/%s", place, key);
            if (json_object_get(whole, key) == NULL)
                fail_msg("%s is lost", deeper);
            check_within(member, json_object_get(whole, key), deeper);
            free(deeper);
        }
    } else if (json_is_array(part)) {
        assert_int_equal(json_array_size(part), json_array_size(whole));
        for (size_t i = 0; i < json_array_size(part); i++) {
            char *deeper = yoke_format("%s/%zu", place, i);
            check_within(json_array_get(part, i), json_array_get(whole, i), deeper);
            free(deeper);
        }
    } else if (json_is_number(part)) {
        if (json_number_value(part) != json_number_value(whole))
            fail_msg("%s: %.17g became %.17g", place, json_number_value(part),
                     json_number_value(whole));
    } else if (!json_equal(part, whole)) {
        fail_msg("%s differs", place);
    }
}

static void every_member_survives(void **state)
{
    (void)state;
    char *text = fixture_text();
    yoke_inventory_t *inventory = parsed(text);
    json_t *before = json_loads(text, 0, NULL);
    json_t *after = yoke_inventory_to_json(inventory);
    check_within(before, after, "");
    json_decref(before);
    json_decref(after);
    yoke_inventory_free(inventory);
    free(text);
}

static void writing_is_stable(void **state)
{
    (void)state;
    char *text = fixture_text();
    yoke_inventory_t *first = parsed(text);
    char *once = written(first);
    yoke_inventory_t *second = parsed(once);
    yoke_inventory_t *copy = NULL;
    must(yoke_inventory_copy(second, &copy));
    char *twice = written(second);
    char *copied = written(copy);
    assert_string_equal(once, twice);
    assert_string_equal(once, copied);
    assert_true(once[strlen(once) - 1] == '\n');
    free(text);
    free(once);
    free(twice);
    free(copied);
    yoke_inventory_free(first);
    yoke_inventory_free(second);
    yoke_inventory_free(copy);
}

static void fields_have_their_values(void **state)
{
    (void)state;
    char *text = fixture_text();
    yoke_inventory_t *inventory = parsed(text);
    const yoke_inventory_device_t *card = &inventory->nodes[0].devices[0];
    assert_true(card->memory.free.value == 1099511627777.0);
    assert_int_equal(card->memory.free.marks, YOKE_MARK_DISPUTED);
    assert_int_equal(card->memory.usable.source, YOKE_SOURCE_USER);
    assert_int_equal(card->memory.usable.marks, 0);
    assert_string_equal(card->memory.usable.detail, "limit");
    assert_int_equal(card->compute[YOKE_BF16].marks,
                     YOKE_MARK_LOWER_BOUND | YOKE_MARK_DEFAULT);
    assert_false(yoke_known(&card->compute[YOKE_FP16]));
    assert_int_equal(card->pci.vendor_id, 0x10de);
    assert_int_equal(card->uuid[15], 0xef);
    assert_int_equal(card->views[0].native, 3);
    assert_int_equal(card->views[1].ordinal, -1);
    assert_int_equal(card[1].uuid[15], 0x0a);
    assert_int_equal(card[1].numa, -1);
    assert_int_equal(card[2].memory.total.source, YOKE_SOURCE_USER);
    assert_int_equal(inventory->nodes[0].findings[1].code, -6);
    assert_int_equal(inventory->links[0].latency.source, YOKE_SOURCE_CATALOG);
    yoke_inventory_free(inventory);
    free(text);
}

static void kept_members_follow_their_part(void **state)
{
    (void)state;
    char *text = fixture_text();
    yoke_inventory_t *inventory = parsed(text);
    yoke_node_sort_devices(&inventory->nodes[0]);
    must(yoke_inventory_split_node(inventory, 0, "gpu02", "gpu01"));
    json_t *json = yoke_inventory_to_json(inventory);
    for (size_t i = 0; i < 2; i++) {
        const json_t *node = json_array_get(json_object_get(json, "nodes"), i);
        assert_string_equal(string_in(node, "hosts"), i == 0 ? "gpu01" : "gpu02");
        assert_string_equal(string_in(node, "x-rack"), "r7");
        const json_t *device = json_array_get(json_object_get(node, "devices"), 0);
        assert_string_equal(string_in(device, "x-note"), "spare");
        assert_non_null(json_object_get(json_object_get(device, "memory"), "x-mem"));
    }
    json_decref(json);
    yoke_inventory_free(inventory);
    free(text);
}

#define DOCUMENT(nodes) "{\"schema\":\"yoke-inventory/1\",\"nodes\":[" nodes "]}"
#define DEVICE(members)                                                                  \
    DOCUMENT("{\"hosts\":\"a\",\"devices\":[{\"id\":\"g\",\"kind\":\"gpu\"," members     \
             "}]}")

static void refusals_name_the_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "t.json: must be an object"},
        {"{\"nodes\":[]}", "schema"},
        {"{\"schema\":\"yoke-inventory/2\",\"nodes\":[]}", "t.json: /schema: must be"},
        {"{\"schema\":\"yoke-inventory/1.\",\"nodes\":[]}", "/schema"},
        {"{\"schema\":\"yoke-inventory/1\"}", "\"nodes\" is missing"},
        {"{\"schema\":\"yoke-inventory/1\",\"nodes\":[],\"link\":[]}",
         "did you mean \"links\""},
        {"{\"schema\":\"yoke-inventory/1\",\n\"nodes\":[}", "t.json:2:10"},
        {DOCUMENT("{\"hosts\":\"a\"}"), "/nodes/0: member \"devices\" is missing"},
        {DOCUMENT("{\"hosts\":\"\",\"devices\":[]}"), "/nodes/0/hosts"},
        {DOCUMENT("{\"hosts\":\"a[1-\",\"devices\":[]}"), "/nodes/0/hosts"},
        {DOCUMENT("{\"hosts\":\"a/b\",\"devices\":[]}"), "holds no '/'"},
        {DOCUMENT("{\"hosts\":\"a[0-99999999]\",\"devices\":[]}"), "at most 1000000"},
        {DOCUMENT("{\"hosts\":\"a[0-999999]\",\"devices\":[]},{\"hosts\":\"b\","
                  "\"devices\":[]}"),
         "1000001 hosts"},
        {DOCUMENT(
             "{\"hosts\":\"a[1-3]\",\"devices\":[]},{\"hosts\":\"b,a2\",\"devices\":[]}"),
         "the host \"a2\" stands twice"},
        {DOCUMENT("{\"hosts\":\"a\",\"devices\":[{\"id\":\"g\",\"kind\":\"gpu\"},"
                  "{\"id\":\"g\",\"kind\":\"npu\"}]}"),
         "/nodes/0/devices: the device id \"g\" stands twice"},
        {DOCUMENT("{\"hosts\":\"a\",\"devices\":[{\"kind\":\"gpu\"}]}"),
         "/nodes/0/devices/0: member \"id\" is missing"},
        {DOCUMENT("{\"hosts\":\"a\",\"devices\":[{\"id\":\"g h\",\"kind\":\"gpu\"}]}"),
         "/devices/0/id"},
        {DOCUMENT("{\"hosts\":\"a\",\"devices\":[{\"id\":\"g\",\"kind\":\"tpu\"}]}"),
         "/devices/0/kind"},
        {DEVICE("\"memory\":{\"total\":-1}"), "/nodes/0/devices/0/memory/total"},
        {DEVICE("\"memory\":{\"total\":1e300}"), "/memory/total"},
        {DEVICE("\"memory\":{\"total\":\"80 GB\"}"), "/memory/total"},
        {DEVICE("\"memory\":{\"total\":1,\"source\":\"guess\"}"), "/memory/source"},
        {DEVICE("\"memory\":{\"total\":1,\"marks\":[\"odd\"]}"), "/memory/marks/0"},
        {DEVICE("\"memory\":{\"size\":1}"), "unknown member \"size\""},
        {DEVICE("\"compute\":{\"bf17\":{\"rate\":1}}"), "did you mean \"bf16\""},
        {DEVICE("\"compute\":{\"bf16\":1e12}"), "/compute/bf16: must be an object"},
        {DEVICE("\"pci\":\"zz:00.0\""), "/pci: \"zz:00.0\" is not a PCI address"},
        {DEVICE("\"pci_ids\":\"10DE20b2\""), "/pci_ids"},
        {DEVICE("\"uuid_bytes\":\"12\""), "/uuid_bytes"},
        {DEVICE("\"numa\":1.5"), "/numa"},
        {DEVICE("\"schedulable\":1"), "/schedulable"},
        {DEVICE("\"views\":[{\"ordinal\":0}]"),
         "/views/0: member \"runtime\" is missing"},
        {DOCUMENT("{\"hosts\":\"a\",\"devices\":[],\"nics\":[{\"id\":\"n\",\"near\":["
                  "\"g\"]}]}"),
         "names the device \"g\""},
        {"{\"schema\":\"yoke-inventory/"
         "1\",\"nodes\":[],\"links\":[{\"between\":[\"a\"]}]}",
         "/links/0/between: must hold two selectors"},
        {"{\"schema\":\"yoke-inventory/"
         "1\",\"nodes\":[],\"links\":[{\"between\":[\"a\",\"host:\"]}]}",
         "/links/0/between/1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yoke_inventory_t *inventory = NULL;
        yoke_status_t status = yoke_inventory_parse("t.json", cases[i].text,
                                                    strlen(cases[i].text), &inventory);
        assert_int_equal(status, YOKE_ERR_BAD_INPUT);
        assert_null(inventory);
        if (strstr(yoke_last_error(), cases[i].message) == NULL)
            fail_msg("%s\n   gave: %s\n wanted: %s", cases[i].text, yoke_last_error(),
                     cases[i].message);
    }
}

static void later_minor_versions_may_say_more(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = parsed(
        "{\"schema\":\"yoke-inventory/1.7\",\"mood\":1,\"nodes\":[{\"hosts\":\"a\","
        "\"height\":2,\"devices\":[{\"id\":\"g\",\"kind\":\"gpu\",\"smell\":3}]}]}");
    assert_int_equal(inventory->node_count, 1);
    yoke_inventory_free(inventory);
}

static void a_million_hosts_are_one_entry(void **state)
{
    (void)state;
    yoke_inventory_t *inventory =
        parsed(DOCUMENT("{\"hosts\":\"a[0-199999]\",\"devices\":[]}"));
    assert_int_equal(inventory->node_count, 1);
    yoke_inventory_free(inventory);
}

static void addresses_and_uuids(void **state)
{
    char text[40];
    yoke_pci_t pci;
    uint8_t uuid[16];
    (void)state;
    assert_true(yoke_pci_parse("00010003:C1:1f.7", &pci));
    assert_string_equal(yoke_pci_text(&pci, text), "10003:c1:1f.7");
    assert_true(yoke_pci_parse("c1:00.0", &pci));
    assert_string_equal(yoke_pci_text(&pci, text), "0000:c1:00.0");
    assert_false(yoke_pci_parse("c1:20.0", &pci));
    assert_false(yoke_pci_parse("c1:00.8", &pci));
    assert_false(yoke_pci_parse("0000:c1:00.0 ", &pci));
    assert_false(yoke_pci_parse("", &pci));
    assert_true(yoke_uuid_parse("GPU-01234567-89ab-cdef-0123-456789abcdef", uuid));
    assert_true(yoke_uuid_parse("0123456789ABCDEF0123456789abcdef", uuid));
    assert_string_equal(yoke_uuid_text(uuid, text),
                        "01234567-89ab-cdef-0123-456789abcdef");
    assert_false(yoke_uuid_parse("MIG-01234567-89ab-cdef-0123-456789abcdef", uuid));
    assert_false(yoke_uuid_parse("0123-456789ab-cdef-0123-456789abcdef", uuid));
    assert_false(yoke_uuid_parse("01234567--89abcdef0123456789abcdef", uuid));
}

int main(void)
{
    yoke_log_set_sink(quiet, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_survives),
        cmocka_unit_test(writing_is_stable),
        cmocka_unit_test(fields_have_their_values),
        cmocka_unit_test(kept_members_follow_their_part),
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(later_minor_versions_may_say_more),
        cmocka_unit_test(a_million_hosts_are_one_entry),
        cmocka_unit_test(addresses_and_uuids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
