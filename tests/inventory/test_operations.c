/* SPDX-License-Identifier: Apache-2.0 */
/* Differences, merging, requirements, redaction, names and links given by the user. */
#include "tests/inventory/support.h"

#include "inventory/operations.h"

static yoke_inventory_t *parsed(const char *text)
{
    yoke_inventory_t *inventory = NULL;
    must(yoke_inventory_parse("t.json", text, strlen(text), &inventory));
    return inventory;
}

static yoke_inventory_t *from_json(json_t *json)
{
    char *text = json_dumps(json, 0);
    yoke_inventory_t *inventory = parsed(text);
    free(text);
    return inventory;
}

/* The fixture with every optional value written out. */
static json_t *fixture(void)
{
    const char *root = getenv("YOKE_SOURCE_DIR");
    char *path = yoke_format("%s/tests/inventory/full.json", root == NULL ? "." : root);
    yoke_inventory_t *inventory = NULL;
    must(yoke_inventory_read(path, &inventory));
    json_t *json = yoke_inventory_to_json(inventory);
    yoke_inventory_free(inventory);
    free(path);
    return json;
}

static char *text_of(const yoke_inventory_t *inventory)
{
    char *text = NULL;
    must(yoke_inventory_text(inventory, &text));
    return text;
}

/* --- difference ------------------------------------------------------------------- */

/* Another value of the same kind that the document may hold at this place. */
static json_t *mutated(const json_t *value, const char *key)
{
    const char *text = json_string_value(value);
    if (json_is_boolean(value))
        return json_boolean(!json_is_true(value));
    if (strcmp(key, "code") == 0)
        return json_integer(json_integer_value(value) + 1);
    if (json_is_integer(value))
        return json_integer(
            json_integer_value(value) == 0 ? 1 : json_integer_value(value) / 2);
    if (json_is_real(value))
        return json_real(json_real_value(value) / 2);
    if (text == NULL)
        return NULL;
    if (strcmp(key, "source") == 0)
        return json_string(strcmp(text, "user") == 0 ? "imported" : "user");
    if (strcmp(key, "kind") == 0 &&
        (strcmp(text, "gpu") == 0 || strcmp(text, "cpu") == 0))
        return json_string("npu");
    if (strcmp(key, "pci") == 0)
        return json_string("0009:09:09.1");
    if (strcmp(key, "pci_ids") == 0)
        return json_string("1234:5678");
    if (strcmp(key, "uuid_bytes") == 0)
        return json_string("11111111-0000-0000-0000-00000000000b");
    if (strcmp(key, "schema") == 0 || strcmp(key, "owner") == 0)
        return NULL;
    char *changed = yoke_format("%s-changed", text);
    json_t *result = json_string(changed);
    free(changed);
    return result;
}

typedef struct mutation {
    json_t *root; /* the document that is being changed */
    const json_t *original;
    size_t tried, found;
} mutation_t;

static size_t count_changes(const mutation_t *mutation)
{
    yoke_changes_t changes = {0};
    yoke_inventory_t *before = from_json((json_t *)(size_t)mutation->original);
    yoke_inventory_t *after = from_json(mutation->root);
    must(yoke_inventory_diff(before, after, &changes));
    size_t count = changes.count;
    yoke_changes_free(&changes);
    yoke_inventory_free(before);
    yoke_inventory_free(after);
    return count;
}

static bool is_no_change(const char *key, const char *parent)
{
    return strcmp(key, "gathered_at") == 0 ||
           (strcmp(key, "free") == 0 && strcmp(parent, "memory") == 0);
}

static void mutate_all(mutation_t *mutation, json_t *value, const char *parent);

static void mutate_member(mutation_t *mutation, json_t *object, const char *key,
                          json_t *member, const char *parent)
{
    bool referred = strcmp(key, "id") == 0 && strcmp(parent, "devices") == 0;
    json_t *other = referred ? NULL : mutated(member, key); /* NICs name the device */
    if (other == NULL)
        return;
    json_t *kept = json_incref(member);
    json_object_set_new(object, key, other);
    bool found = count_changes(mutation) > 0;
    if (found == is_no_change(key, parent))
        fail_msg("a change of %s/%s was %s", parent, key, found ? "told" : "not seen");
    json_object_set_new(object, key, kept);
    mutation->tried++;
}

/* A list of names loses its last one. */
static void mutate_list(mutation_t *mutation, json_t *list, const char *parent)
{
    size_t last = json_array_size(list) - 1;
    json_t *kept = json_incref(json_array_get(list, last));
    json_array_remove(list, last);
    if (count_changes(mutation) == 0)
        fail_msg("a change of %s was not seen", parent);
    json_array_append_new(list, kept);
    mutation->tried++;
}

static void mutate_all(mutation_t *mutation, json_t *value, const char *parent)
{
    const char *key;
    json_t *member;
    void *next;
    if (json_is_string(json_array_get(value, 0)) && strcmp(parent, "between") != 0) {
        mutate_list(mutation, value, parent);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        mutate_all(mutation, json_array_get(value, i), parent);
    if (!json_is_object(value))
        return;
    json_object_foreach_safe(value, next, key, member)
    {
        if (json_is_object(member) || json_is_array(member))
            mutate_all(mutation, member, key);
        else
            mutate_member(mutation, value, key, member, parent);
    }
}

static void every_mutation_is_found(void **state)
{
    (void)state;
    mutation_t mutation = {.root = fixture(), .original = fixture()};
    assert_int_equal(count_changes(&mutation), 0);
    mutate_all(&mutation, mutation.root, "");
    assert_true(mutation.tried > 80);
    assert_int_equal(count_changes(&mutation), 0);
    json_decref(mutation.root);
    json_decref((json_t *)(size_t)mutation.original);
}

static void check_diff(const char *before_text, const char *after_text,
                       const char *wanted)
{
    yoke_changes_t changes = {0};
    yoke_inventory_t *before = parsed(before_text);
    yoke_inventory_t *after = parsed(after_text);
    must(yoke_inventory_diff(before, after, &changes));
    char *text = yoke_changes_text(&changes);
    assert_string_equal(text, wanted);
    free(text);
    yoke_changes_free(&changes);
    yoke_inventory_free(before);
    yoke_inventory_free(after);
}

#define DOCUMENT(nodes) "{\"schema\":\"yoke-inventory/1\",\"nodes\":[" nodes "]}"
#define NODE(hosts, devices) "{\"hosts\":\"" hosts "\",\"devices\":[" devices "]}"
#define GPU(id, more) "{\"id\":\"" id "\",\"kind\":\"gpu\"" more "}"

static void differences_are_named(void **state)
{
    (void)state;
    check_diff(
        DOCUMENT(NODE("a[1-3]", GPU("g0", ",\"name\":\"L4\"") "," GPU("g1", ""))),
        DOCUMENT(NODE("a[1-2]", GPU("g1", "") "," GPU("g2", "")) "," NODE("b", "")),
        "removed a3\n"
        "removed a[1-2]/g0 (L4)\n"
        "added a[1-2]/g2\n"
        "added b\n");
    check_diff(DOCUMENT(NODE(
                   "a", GPU("g", ",\"health\":\"ok\",\"pcie\":{\"generation\":4,"
                                 "\"lanes\":16,\"generation_max\":4,\"lanes_max\":16}"))),
               DOCUMENT(NODE(
                   "a", GPU("g", ",\"health\":\"lost\",\"pcie\":{\"generation\":1,"
                                 "\"lanes\":16,\"generation_max\":4,\"lanes_max\":16}"))),
               "changed a/g /health: ok -> lost; device lost\n"
               "changed a/g /pcie/generation: 4 -> 1; runs below its maximum\n");
    check_diff(DOCUMENT(NODE("a", GPU("g", ",\"link\":{\"name\":\"L\"}"))),
               DOCUMENT(NODE("a", GPU("g", ",\"link\":{\"name\":\"L\",\"group\":2}"))),
               "changed a/g /link/group: absent -> 2\n");
    check_diff("{\"schema\":\"yoke-inventory/1\",\"nodes\":[],\"links\":[{\"between\":"
               "[\"host:a\",\"host:b\"],\"kind\":\"RoCE 100G\"}]}",
               DOCUMENT(""),
               "removed link [\"host:a\",\"host:b\"] (RoCE 100G); link lost\n");
}

static void noise_is_no_difference(void **state)
{
    (void)state;
    check_diff(
        DOCUMENT(NODE("a", GPU("g", ",\"bandwidth\":{\"rate\":10995116277.7777777}"))),
        DOCUMENT(NODE("a", GPU("g", ",\"bandwidth\":{\"rate\":10995116277.8}"))), "");
    check_diff(
        DOCUMENT(NODE("a[1-2]", GPU("g0", ",\"memory\":{\"total\":8,\"free\":7},"
                                          "\"bandwidth\":{\"rate\":100,\"source\":"
                                          "\"measured\"}") "," GPU("g1", ""))),
        DOCUMENT(NODE(
            "a2",
            GPU("g1", "") "," GPU(
                "g0",
                ",\"memory\":{\"total\":8,"
                "\"free\":3},\"bandwidth\":"
                "{\"rate\":92,\"source\":"
                "\"measured\"}")) "," NODE("a1",
                                           GPU("g0",
                                               ",\"memory\":{\"total\":8,\"free\":1},"
                                               "\"bandwidth\":{\"rate\":109,\"source\":"
                                               "\"measured\"}") "," GPU("g1", ""))),
        "");
}

/* --- requirement ------------------------------------------------------------------ */

static void requirements(void **state)
{
    static const struct {
        const char *text;
        yoke_status_t status;
    } cases[] = {
        {"gpu:5", YOKE_OK},
        {"gpu:6", YOKE_ERR_NO},
        {"npu:2", YOKE_OK},
        {"npu:3", YOKE_ERR_NO},
        {"any:7", YOKE_OK},
        {"any:8", YOKE_ERR_NO},
        {"cpu:0", YOKE_OK},
        {"cpu:1", YOKE_ERR_NO},
        {"gpu7:1", YOKE_ERR_NO},
        {"0000:c1:00.0:1", YOKE_ERR_NO},
        {"host:gone:1", YOKE_ERR_NO},
        {"foo:1", YOKE_ERR_USAGE},
        {"gpus:8", YOKE_ERR_USAGE},
        {"GPU:8", YOKE_ERR_USAGE},
        {"gpu:0", YOKE_OK},
        {"type:L4:4", YOKE_OK},
        {"type:L4:5", YOKE_ERR_NO},
        {"host:l4-01:2", YOKE_OK},
        {"host:l4-01:3", YOKE_ERR_NO},
        {"vendor:huawei:2", YOKE_OK},
        {"*/npu2:1", YOKE_OK},
        {"gpu", YOKE_ERR_USAGE},
        {"gpu:x", YOKE_ERR_USAGE},
        {":1", YOKE_ERR_USAGE},
        {"a[/g:1", YOKE_ERR_USAGE},
        {"gpu:-1", YOKE_ERR_USAGE},
    };
    (void)state;
    yoke_inventory_t *inventory = NULL;
    must(yoke_cluster_load("2x2xL4 + 1x(2xT4+2x910A)", &inventory));
    inventory->nodes[1].devices[1].schedulable = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (yoke_inventory_require(inventory, cases[i].text) != cases[i].status)
            fail_msg("%s: %s", cases[i].text, yoke_last_error());
    assert_int_equal(yoke_inventory_require(inventory, "gpus:6"), YOKE_ERR_USAGE);
    assert_non_null(strstr(yoke_last_error(), "give gpu, npu, any, cpu, or a selector"));
    assert_int_equal(yoke_inventory_require(inventory, "gpu:6"), YOKE_ERR_NO);
    assert_non_null(strstr(yoke_last_error(), "5 can be scheduled (6 are listed"));
    yoke_inventory_free(inventory);
}

/* --- merge ------------------------------------------------------------------------ */

static yoke_inventory_t *one_node(const char *host, double time, const char *more)
{
    char *text =
        yoke_format("{\"schema\":\"yoke-inventory/1\",\"x-site\":\"s\",\"nodes\":[{"
                    "\"hosts\":\"%s\",\"gathered_at\":%.0f,\"devices\":[{\"id\":"
                    "\"g\",\"kind\":\"gpu\"%s}]}],\"links\":[{\"between\":[\"host:%s\","
                    "\"host:*\"],\"kind\":\"TCP 10G\"}]}",
                    host, time, more, host);
    yoke_inventory_t *inventory = parsed(text);
    free(text);
    return inventory;
}

static char *merged(yoke_inventory_t **documents, size_t count, const char *expect,
                    yoke_merge_report_t *report)
{
    yoke_inventory_t *inventory = NULL;
    must(yoke_inventory_merge(documents, count, expect, &inventory, report));
    char *text = text_of(inventory);
    yoke_inventory_free(inventory);
    return text;
}

static void merging_folds_and_reports(void **state)
{
    (void)state;
    yoke_inventory_t *documents[] = {
        one_node("n2", 1000, ""),
        one_node("n10", 1001, ""),
        one_node("n1", 1002, ",\"x-tag\":1"),
        one_node("n3", 9000, ""),
        one_node("n2", 1005, ",\"name\":\"newer\""),
        one_node("n4", 1003, ",\"x-tag\":1"),
    };
    yoke_merge_report_t report = {0};
    char *first = merged(documents, 6, "n[1-5],n10", &report);
    assert_int_equal(report.duplicates.count, 1);
    assert_string_equal(report.duplicates.items[0], "n2");
    assert_int_equal(report.skewed.count, 1);
    assert_string_equal(report.skewed.items[0], "n3");
    assert_int_equal(report.missing.count, 1);
    assert_string_equal(report.missing.items[0], "n5");
    assert_int_equal(report.extra.count, 0);
    yoke_merge_report_free(&report);
    assert_non_null(strstr(first, "\"newer\""));
    assert_non_null(strstr(first, "\"hosts\": \"n[3,10]\"")); /* equal but for the time */
    assert_non_null(strstr(first, "\"hosts\": \"n[1,4]\""));
    assert_non_null(strstr(first, "\"x-tag\": 1"));
    assert_non_null(strstr(first, "\"x-site\": \"s\""));
    for (size_t turn = 0; turn < 6; turn++) {
        yoke_inventory_t *moved = documents[0];
        memmove(&documents[0], &documents[1], 5 * sizeof *documents);
        documents[5] = moved;
        char *again = merged(documents, 6, NULL, &report);
        assert_string_equal(again, first);
        yoke_merge_report_free(&report);
        free(again);
    }
    for (size_t i = 0; i < 6; i++)
        yoke_inventory_free(documents[i]);
    free(first);
}

/* Without a time the taken one is the same in either order, and it is told. */
static void undated_duplicates_are_told(void **state)
{
    (void)state;
    yoke_inventory_t *a = one_node("n[1-2]", 0, ",\"name\":\"one\"");
    yoke_inventory_t *b = one_node("n[2-3]", 0, ",\"name\":\"two\"");
    yoke_inventory_t *dated = one_node("n2", 7, ",\"name\":\"dated\"");
    yoke_merge_report_t report = {0};
    char *first = merged((yoke_inventory_t *[]){a, b}, 2, NULL, &report);
    assert_int_equal(report.duplicates.count, 0);
    assert_int_equal(report.undecided_count, 1);
    assert_string_equal(report.undecided[0].host, "n2");
    assert_int_equal(report.undecided[0].taken + report.undecided[0].dropped, 1);
    size_t taken = report.undecided[0].taken;
    assert_non_null(strstr(first, taken == 0 ? "n[1-2]" : "n[2-3]"));
    yoke_merge_report_free(&report);
    char *second = merged((yoke_inventory_t *[]){b, a}, 2, NULL, &report);
    assert_string_equal(first, second);
    assert_int_equal(report.undecided_count, 1);
    assert_int_equal(report.undecided[0].taken, 1 - taken);
    yoke_merge_report_free(&report);
    free(second);
    second = merged((yoke_inventory_t *[]){a, a}, 2, NULL, &report); /* they agree */
    assert_int_equal(report.undecided_count, 0);
    assert_int_equal(report.duplicates.count, 2);
    yoke_merge_report_free(&report);
    free(second);
    second = merged((yoke_inventory_t *[]){a, b, dated}, 3, NULL, &report);
    assert_int_equal(report.undecided_count, 0);
    assert_non_null(strstr(second, "\"dated\""));
    yoke_merge_report_free(&report);
    free(second);
    free(first);
    yoke_inventory_free(a);
    yoke_inventory_free(b);
    yoke_inventory_free(dated);
}

/* Nodes whose cards are joined otherwise are not equal. */
static void bridges_keep_nodes_apart(void **state)
{
    (void)state;
    yoke_inventory_t *a =
        parsed(DOCUMENT(NODE("a1", GPU("g", ",\"link\":{\"name\":\"L\",\"group\":2}"))));
    yoke_inventory_t *b =
        parsed(DOCUMENT(NODE("a2", GPU("g", ",\"link\":{\"name\":\"L\"}"))));
    yoke_inventory_t *both = NULL;
    yoke_merge_report_t report = {0};
    must(yoke_inventory_merge((yoke_inventory_t *[]){a, b}, 2, NULL, &both, &report));
    assert_int_equal(both->node_count, 2);
    yoke_merge_report_free(&report);
    yoke_inventory_free(both);
    yoke_inventory_free(a);
    yoke_inventory_free(b);
}

static void merging_a_merge_changes_nothing(void **state)
{
    (void)state;
    yoke_inventory_t *documents[] = {one_node("n[1-3]", 5, ""), one_node("m", 5, "")};
    yoke_merge_report_t report = {0};
    char *once = merged(documents, 2, NULL, &report);
    yoke_merge_report_free(&report);
    yoke_inventory_t *again = parsed(once);
    char *twice = merged(&again, 1, "m", &report);
    assert_string_equal(once, twice);
    assert_int_equal(report.extra.count, 3);
    yoke_merge_report_free(&report);
    yoke_inventory_free(again);
    yoke_inventory_free(documents[0]);
    yoke_inventory_free(documents[1]);
    free(once);
    free(twice);
}

static void a_thousand_nodes_merge(void **state)
{
    enum { NODES = 1000 };
    (void)state;
    yoke_inventory_t **documents = calloc(NODES, sizeof *documents);
    for (int i = 0; i < NODES; i++) {
        must(yoke_cluster_load("1x8xL4; nic=100Gb", &documents[i]));
        char *host = yoke_format("node%d", (i * 7) % NODES);
        must(yoke_set_string(&documents[i]->nodes[0].hosts, host));
        free(host);
        if (i % 2 == 0) /* half of them are told apart by a UUID */
            must(yoke_set_string(&documents[i]->nodes[0].devices[0].uuid_text,
                                 documents[i]->nodes[0].hosts));
    }
    yoke_inventory_t *inventory = NULL;
    yoke_merge_report_t report = {0};
    must(yoke_inventory_merge(documents, NODES, "node[0-999]", &inventory, &report));
    assert_int_equal(inventory->node_count, 501);
    assert_int_equal(report.missing.count + report.extra.count + report.duplicates.count,
                     0);
    yoke_merge_report_free(&report);
    yoke_inventory_free(inventory);
    for (int i = 0; i < NODES; i++)
        yoke_inventory_free(documents[i]);
    free(documents);
}

/* --- redaction -------------------------------------------------------------------- */

static void redaction_leaves_no_name(void **state)
{
    static const char *const gone[] = {"gpu01",         "gpu02",  "cpu01",
                                       "01234567-89ab", "MIG-a0", "x-",
                                       "alice",         "gpu[01", "leaf3"};
    (void)state;
    json_t *json = fixture();
    json_t *node = json_array_get(json_object_get(json, "nodes"), 0);
    json_array_append_new(
        json_object_get(node, "warnings"),
        json_string(
            "gpu02. said GPU-01234567-89ab-cdef-0123-456789abcdef in /home/alice/x"));
    yoke_inventory_t *inventory = from_json(json);
    must(yoke_inventory_redact(inventory));
    char *text = text_of(inventory);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strstr(text, gone[i]) != NULL)
            fail_msg("%s is still there:\n%s", gone[i], text);
    assert_non_null(strstr(text, "\"hosts\": \"host-[02-03]\""));
    assert_non_null(strstr(text, "\"host:host-[02-03]\""));
    assert_non_null(strstr(text, "\"host:host-01\""));
    assert_non_null(strstr(text,
                           "host-03. said GPU-00000000-0000-0000-0000-000000000001 in "
                           "/home/user/x"));
    assert_non_null(strstr(text, "0000:c1:00.0"));
    assert_non_null(strstr(text, "\"runtime\": \"cuda\""));
    yoke_inventory_t *again = parsed(text);
    must(yoke_inventory_redact(again));
    char *twice = text_of(again);
    assert_string_equal(text, twice);
    free(text);
    free(twice);
    yoke_inventory_free(again);
    yoke_inventory_free(inventory);
    json_decref(json);
}

static void redaction_keeps_words_that_are_host_names(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = parsed(
        DOCUMENT(NODE("cuda", GPU("cuda", ",\"name\":\"cuda\",\"reason\":\"see cuda\","
                                          "\"views\":[{\"runtime\":\"cuda\"}]"))));
    must(yoke_inventory_redact(inventory));
    assert_string_equal(inventory->nodes[0].hosts, "host-01");
    assert_string_equal(inventory->nodes[0].devices[0].id, "cuda");
    assert_string_equal(inventory->nodes[0].devices[0].views[0].runtime, "cuda");
    assert_string_equal(inventory->nodes[0].devices[0].reason, "see host-01");
    yoke_inventory_free(inventory);
}

/* --- names and links -------------------------------------------------------------- */

static void names_bring_their_figures(void **state)
{
    (void)state;
    yoke_inventory_t *inventory = parsed(DOCUMENT(
        NODE("a[1-2]", GPU("g", ",\"vendor\":\"Hygon\",\"name\":\"DCU\",\"reason\":"
                                "\"PCI id 1d94:6210 may be this or that\",\"memory\":"
                                "{\"total\":68000000000,\"source\":\"runtime\"}"))));
    must(yoke_inventory_rename(inventory, "a1/g=K100_AI"));
    assert_int_equal(inventory->node_count, 2);
    const yoke_inventory_device_t *named = &inventory->nodes[1].devices[0];
    assert_string_equal(inventory->nodes[1].hosts, "a1");
    assert_string_equal(named->type, "DCU K100_AI");
    assert_true(named->compute[YOKE_BF16].value == 196e12);
    assert_true(named->memory.total.value == 68e9);
    assert_null(named->reason);
    assert_null(inventory->nodes[0].devices[0].type);
    must(yoke_inventory_rename(inventory, "a1/g=BW200")); /* the other's figures go */
    assert_true(inventory->nodes[1].devices[0].compute[YOKE_BF16].value == 480e12);
    assert_int_equal(yoke_inventory_rename(inventory, "a1/g=K100A"), YOKE_ERR_USAGE);
    assert_non_null(strstr(yoke_last_error(), "DCU K100"));
    assert_int_equal(yoke_inventory_rename(inventory, "b/g=L4"), YOKE_ERR_USAGE);
    assert_int_equal(yoke_inventory_rename(inventory, "L4"), YOKE_ERR_USAGE);
    yoke_inventory_free(inventory);
}

static void links_are_added_and_replaced(void **state)
{
    static const char *const bad[] = {
        "host:a,host:b",           "host:a:rate=1G",
        "host:a,host:b:rate=x",    "host:a,host:b:rate=0",
        "host:a,host:b:mood=1",    "host:a,host:b:latency=2us",
        "host:a,host:b:rate=1G,x", "host:a,host:b:latency=2parsec,rate=1G"};
    (void)state;
    yoke_inventory_t *inventory = parsed(DOCUMENT(""));
    must(yoke_inventory_link(inventory, "host:a[1,2],host:b:rate=12.5G,latency=3us"));
    assert_string_equal(inventory->links[0].between[0], "host:a[1,2]");
    assert_string_equal(inventory->links[0].between[1], "host:b");
    assert_true(inventory->links[0].rate.value == 12.5e9);
    assert_true(inventory->links[0].latency.value == 3e-6);
    must(yoke_inventory_link(inventory, "host:b,host:a[1,2]:kind=RoCE 100G,rate=10G"));
    assert_int_equal(inventory->link_count, 1);
    assert_true(inventory->links[0].rate.value == 10e9);
    assert_int_equal(inventory->links[0].latency.source, YOKE_SOURCE_CATALOG);
    assert_true(inventory->links[0].fraction == 0.96);
    must(yoke_inventory_link(inventory, "type:L4,type:T4:kind=odd wire"));
    assert_int_equal(inventory->link_count, 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (yoke_inventory_link(inventory, bad[i]) != YOKE_ERR_USAGE)
            fail_msg("%s was taken", bad[i]);
    assert_int_equal(inventory->link_count, 2);
    yoke_inventory_free(inventory);
}

int main(void)
{
    yoke_log_set_sink(quiet, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mutation_is_found),
        cmocka_unit_test(differences_are_named),
        cmocka_unit_test(noise_is_no_difference),
        cmocka_unit_test(requirements),
        cmocka_unit_test(merging_folds_and_reports),
        cmocka_unit_test(undated_duplicates_are_told),
        cmocka_unit_test(bridges_keep_nodes_apart),
        cmocka_unit_test(merging_a_merge_changes_nothing),
        cmocka_unit_test(a_thousand_nodes_merge),
        cmocka_unit_test(redaction_leaves_no_name),
        cmocka_unit_test(redaction_keeps_words_that_are_host_names),
        cmocka_unit_test(names_bring_their_figures),
        cmocka_unit_test(links_are_added_and_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
