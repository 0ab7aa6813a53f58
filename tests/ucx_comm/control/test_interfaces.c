/* SPDX-License-Identifier: Apache-2.0 */
/* Which addresses are told: the case "which interface", and its neighbours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/text.h"
#include "ucx_comm/control/interfaces.h"

#define MOST 64

/* "10.20.3.21/20" */
static yoke_address_t address_of(const char *text, const char *name)
{
    char host[64];
    yoke_address_t address = {0};
    const char *slash = strchr(text, '/');
    snprintf(host, sizeof host, "%.*s", (int)(slash - text), text);
    assert_true(yoke_address_parse(host, &address));
    address.prefix = (uint8_t)atoi(slash + 1);
    snprintf(address.interface, sizeof address.interface, "%s", name);
    return address;
}

static size_t node_of(const json_t *node, yoke_interface_t *list)
{
    size_t index;
    json_t *one;
    json_array_foreach(json_object_get(node, "ifs"), index, one)
    {
        const char *name = json_string_value(json_array_get(one, 0));
        const char *address = json_string_value(json_array_get(one, 1));
        memset(&list[index], 0, sizeof list[index]);
        snprintf(list[index].name, sizeof list[index].name, "%s", name);
        if (address != NULL)
            list[index].address = address_of(address, name);
        list[index].up = strcmp(json_string_value(json_array_get(one, 2)), "UP") == 0;
        list[index].loopback = strcmp(name, "lo") == 0;
    }
    return index;
}

static json_t *load(const char *name)
{
    char path[512];
    const char *shared = getenv("YOKE_SHARED_DIR");
    snprintf(path, sizeof path, "%s/cases/comm-06-which-interface/%s",
             shared != NULL ? shared : ".", name);
    return json_load_file(path, 0, NULL);
}

static bool is_in(const json_t *list, const char *text)
{
    size_t index;
    json_t *one;
    json_array_foreach(list, index,
                       one) if (strcmp(json_string_value(one), text) == 0) return true;
    return false;
}

static void the_case(void **unused)
{
    (void)unused;
    json_t *nodes = load("nodes.json"), *root = load("case.json");
    if (nodes == NULL || root == NULL)
        skip(); /* YOKE_SHARED_DIR is not there */
    const char *name;
    json_t *node;
    const json_t *right = json_object_get(root, "right");
    json_object_foreach(nodes, name, node)
    {
        yoke_interface_t list[MOST];
        yoke_address_t out[MOST];
        size_t count = node_of(node, list), used = 0;
        const json_t *wanted = json_object_get(right, name);
        assert_int_equal(yoke_interfaces_choose(list, count, NULL, out, MOST, &used),
                         YOKE_OK);
        assert_int_equal(used, json_array_size(wanted));
        for (size_t i = 0; i < used; i++) {
            char text[64];
            yoke_address_text(&out[i], text);
            assert_true(is_in(wanted, text));
            assert_false(is_in(json_object_get(right, "never"), text));
        }
    }
    /* The setting. */
    yoke_interface_t list[MOST];
    yoke_address_t out[MOST];
    size_t used = 99, count = node_of(json_object_get(nodes, "b"), list);
    assert_int_equal(yoke_interfaces_choose(list, count, "bond0", out, MOST, &used),
                     YOKE_ERR_UNREACHABLE);
    assert_non_null(strstr(yoke_last_error(), "'bond0'"));
    assert_non_null(strstr(yoke_last_error(), "is down"));
    assert_int_equal(used, 99);
    assert_int_equal(yoke_interfaces_choose(list, count, "bond", out, MOST, &used),
                     YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "bond0.310.2"));
    json_decref(nodes);
    json_decref(root);
}

static yoke_interface_t one(const char *name, const char *address)
{
    yoke_interface_t out = {.up = true};
    snprintf(out.name, sizeof out.name, "%s", name);
    out.address = address_of(address, name);
    return out;
}

static void a_name_is_exact_and_enough(void **unused)
{
    (void)unused;
    yoke_interface_t list[] = {
        one("eth0", "10.0.0.1/24"),      one("eth01", "10.0.1.1/24"),
        one("docker0", "172.17.0.1/16"), one("lo", "127.0.0.1/8"),
        one("eth0", "fe80::1/64"),       one("eth0", "fd00::1/64")};
    yoke_address_t out[MOST];
    size_t used = 0;
    list[3].loopback = true;
    assert_int_equal(yoke_interfaces_choose(list, 6, "eth0", out, MOST, &used), YOKE_OK);
    assert_int_equal(used, 2); /* of both families, and not the link-local one */
    assert_string_equal(out[0].interface, "eth0");
    assert_int_equal(out[1].family, 6);
    /* Who names a bridge, or loopback, means it. */
    assert_int_equal(yoke_interfaces_choose(list, 6, "docker0", out, MOST, &used),
                     YOKE_OK);
    assert_int_equal(yoke_interfaces_choose(list, 6, "lo", out, MOST, &used), YOKE_OK);
    assert_int_equal(used, 1);
}

static void better_ones_come_first(void **unused)
{
    (void)unused;
    yoke_interface_t list[] = {
        one("dummy0", "10.9.0.1/24"), one("ens5", "fd00::5/64"),
        one("bond1", "10.1.0.1/24"),  one("ens5", "10.2.0.1/24"),
        one("eth7", "224.0.0.1/24"),  one("eth8", "0.0.0.0/24"),
        one("eth9", "fe80::9/64"),    one("cni0", "10.244.0.1/24"),
    };
    yoke_address_t out[MOST];
    size_t used = 0;
    char text[64];
    list[0].no_arp = true;
    list[1].physical = list[3].physical = true;
    assert_int_equal(yoke_interfaces_choose(list, 8, NULL, out, MOST, &used), YOKE_OK);
    assert_int_equal(used, 4);
    assert_string_equal(yoke_address_text(&out[0], text), "10.2.0.1");
    assert_string_equal(yoke_address_text(&out[1], text), "fd00::5");
    assert_string_equal(yoke_address_text(&out[2], text), "10.1.0.1");
    assert_string_equal(yoke_address_text(&out[3], text), "10.9.0.1");
    assert_int_equal(yoke_interfaces_choose(list, 8, NULL, out, 2, &used), YOKE_OK);
    assert_int_equal(used, 2);
}

static void nothing_but_loopback_is_no_failure(void **unused)
{
    (void)unused;
    yoke_interface_t list[] = {one("lo", "127.0.0.1/8"), one("docker0", "172.17.0.1/16")};
    yoke_address_t out[MOST];
    size_t used = 9;
    list[0].loopback = true;
    assert_int_equal(yoke_interfaces_choose(list, 2, NULL, out, MOST, &used), YOKE_OK);
    assert_int_equal(used, 0);
    assert_int_equal(yoke_interfaces_choose(NULL, 0, NULL, out, MOST, &used), YOKE_OK);
    assert_int_equal(used, 0);
}

static void networks_are_compared_by_bits(void **unused)
{
    (void)unused;
    yoke_address_t a = address_of("10.20.3.21/20", ""),
                   b = address_of("10.20.15.1/20", "");
    yoke_address_t c = address_of("10.20.16.1/20", ""), d = address_of("fd00::1/7", "");
    assert_true(yoke_address_shares(&a, &b));
    assert_false(yoke_address_shares(&a, &c));
    assert_false(yoke_address_shares(&a, &d));
    assert_true(yoke_address_shares(&d, &d));
    assert_false(yoke_address_equal(&a, &b));
    assert_true(yoke_address_is_loopback(&(yoke_address_t){.family = 6, .bytes[15] = 1}));
}

/* The real list: loopback is there and is known as such. */
static void the_kernel_lists_loopback(void **unused)
{
    (void)unused;
    yoke_interface_t *list = NULL;
    size_t count = 0;
    bool found = false;
    assert_int_equal(yoke_interfaces_read(&list, &count), YOKE_OK);
    for (size_t i = 0; i < count; i++)
        found = found || (list[i].loopback && strcmp(list[i].name, "lo") == 0);
    assert_true(found);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_case),
        cmocka_unit_test(a_name_is_exact_and_enough),
        cmocka_unit_test(better_ones_come_first),
        cmocka_unit_test(nothing_but_loopback_is_no_failure),
        cmocka_unit_test(networks_are_compared_by_bits),
        cmocka_unit_test(the_kernel_lists_loopback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
