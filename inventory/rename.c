/* SPDX-License-Identifier: Apache-2.0 */
/* --as and --link: what the user knows and no probe can tell. */
#include "inventory/operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/catalog.h"
#include "inventory/document.h"
#include "inventory/selector.h"

/* --- --as ------------------------------------------------------------------------- */

static void forget(yoke_quantity_t *quantity)
{
    if (quantity->source == YOKE_SOURCE_CATALOG)
        yoke_quantity_clear(quantity);
}

/* Figures of what it was taken for before. */
static void forget_catalog(yoke_inventory_device_t *device)
{
    forget(&device->memory.total);
    forget(&device->bandwidth);
    forget(&device->bandwidth_achieved);
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++) {
        forget(&device->compute[i]);
        forget(&device->achieved[i]);
    }
    if (device->link_rate.source == YOKE_SOURCE_CATALOG) {
        free(device->link_name);
        device->link_name = NULL;
    }
    forget(&device->link_rate);
    if (device->reason != NULL && strncmp(device->reason, "PCI id ", 7) == 0) {
        free(device->reason);
        device->reason = NULL;
    }
}

static yoke_status_t name_device(const yoke_catalog_t *catalog,
                                 const yoke_catalog_device_t *row,
                                 yoke_inventory_device_t *device)
{
    forget_catalog(device);
    yoke_status_t status = yoke_set_string(&device->type, row->name);
    if (status == YOKE_OK && row->vendor != NULL)
        status = yoke_set_string(&device->vendor, row->vendor);
    device->kind = row->kind;
    return status == YOKE_OK ? yoke_catalog_join(catalog, device) : status;
}

static yoke_status_t name_devices(yoke_inventory_t *inventory,
                                  const yoke_catalog_t *catalog, const char *selector,
                                  const yoke_catalog_device_t *row, size_t *out_count)
{
    yoke_status_t status = yoke_inventory_split_by(inventory, selector);
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++) {
        yoke_node_t *node = &inventory->nodes[i];
        yoke_strings_t hosts = {0};
        status = yoke_hostlist_expand(node->hosts, &hosts);
        for (size_t j = 0; j < node->device_count && status == YOKE_OK; j++) {
            bool match = false;
            status =
                yoke_selector_match(selector, hosts.items[0], &node->devices[j], &match);
            if (status == YOKE_OK && match)
                status = name_device(catalog, row, &node->devices[j]);
            *out_count += match ? 1 : 0;
        }
        yoke_strings_free(&hosts);
    }
    return status;
}

static yoke_status_t fail_name(const yoke_catalog_t *catalog, const char *name)
{
    char *nearest = yoke_catalog_nearest(catalog, name);
    yoke_status_t status = yoke_fail(
        YOKE_ERR_USAGE, "\"%s\" is not in the catalog%s%s; see `yoke catalog`", name,
        nearest == NULL ? "" : "; near are ", nearest == NULL ? "" : nearest);
    free(nearest);
    return status;
}

yoke_status_t yoke_inventory_rename(yoke_inventory_t *inventory, const char *text)
{
    const yoke_catalog_t *catalog = NULL;
    const char *equals = strrchr(text, '=');
    size_t count = 0;
    char *selector = equals == NULL ? NULL : yoke_strndup(text, (size_t)(equals - text));
    if (selector == NULL || !yoke_selector_valid(selector)) {
        free(selector);
        return yoke_fail(YOKE_ERR_USAGE,
                         "\"%s\" is not SELECTOR=NAME, e.g. gpu01/0000:c1:00.0=K100_AI",
                         text);
    }
    yoke_status_t status = yoke_catalog_default(&catalog);
    const yoke_catalog_device_t *row =
        status == YOKE_OK ? yoke_catalog_find(catalog, NULL, equals + 1) : NULL;
    if (status == YOKE_OK && row == NULL)
        status = fail_name(catalog, equals + 1);
    if (status == YOKE_OK)
        status = name_devices(inventory, catalog, selector, row, &count);
    if (status == YOKE_OK && count == 0)
        status = yoke_fail(YOKE_ERR_USAGE, "\"%s\" matches no device of this inventory",
                           selector);
    free(selector);
    return status;
}

/* --- --link ----------------------------------------------------------------------- */

static yoke_status_t fail_link(const char *text, const char *what)
{
    return yoke_fail(YOKE_ERR_USAGE,
                     "link \"%s\": %s; write SELECTOR,SELECTOR:kind=NAME,rate=RATE,"
                     "latency=TIME, e.g. \"host:a*,host:b*:kind=RoCE 100G,rate=12.5G,"
                     "latency=3us\"",
                     text, what);
}

/* "3us", "0.5ms", "2e-6", "1s" */
static yoke_status_t parse_time(const char *value, double *out_seconds)
{
    static const struct {
        const char *unit;
        double divisor;
    } units[] = {{"ns", 1e9}, {"us", 1e6}, {"ms", 1e3}, {"s", 1}};
    size_t length = strlen(value);
    double divisor = 1;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t unit = strlen(units[i].unit);
        if (length > unit && strcmp(value + length - unit, units[i].unit) == 0) {
            divisor = units[i].divisor;
            length -= unit;
            break;
        }
    }
    char *number = yoke_strndup(value, length);
    double seconds = 0;
    if (number == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_parse_quantity(number, &seconds);
    free(number);
    if (status != YOKE_OK)
        return YOKE_ERR_USAGE;
    *out_seconds = seconds / divisor;
    return YOKE_OK;
}

static yoke_status_t set_member(const char *text, const char *key, size_t key_size,
                                const char *value, yoke_link_t *link)
{
    double number = 0;
    if (key_size == 4 && strncmp(key, "kind", 4) == 0)
        return yoke_set_string(&link->kind, value);
    if (key_size == 4 && strncmp(key, "rate", 4) == 0) {
        if (yoke_parse_quantity(value, &number) != YOKE_OK)
            return YOKE_ERR_USAGE;
        if (number <= 0)
            return fail_link(text, "the rate must be above zero");
        return yoke_quantity_set(&link->rate, number, YOKE_SOURCE_USER, 0, "--link");
    }
    if (key_size == 7 && strncmp(key, "latency", 7) == 0) {
        yoke_status_t status = parse_time(value, &number);
        return status != YOKE_OK ? status
                                 : yoke_quantity_set(&link->latency, number,
                                                     YOKE_SOURCE_USER, 0, "--link");
    }
    return fail_link(text, "only kind, rate and latency are known");
}

static yoke_status_t set_members(const char *text, const char *pairs, yoke_link_t *link)
{
    for (const char *at = pairs;;) {
        size_t size = strcspn(at, ",");
        const char *equals = memchr(at, '=', size);
        if (equals == NULL)
            return fail_link(text, "a value lacks its key");
        char *value = yoke_strndup(equals + 1, size - (size_t)(equals - at) - 1);
        if (value == NULL)
            return yoke_fail_memory();
        yoke_status_t status = set_member(text, at, (size_t)(equals - at), value, link);
        free(value);
        if (status != YOKE_OK || at[size] == '\0')
            return status;
        at += size + 1;
    }
}

/* The comma that leaves a selector on either side: host lists hold commas too. */
static yoke_status_t set_between(const char *text, size_t size, yoke_link_t *link)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] != ',')
            continue;
        char *left = yoke_strndup(text, i);
        char *right = yoke_strndup(text + i + 1, size - i - 1);
        if (left != NULL && right != NULL && yoke_selector_valid(left) &&
            yoke_selector_valid(right)) {
            link->between[0] = left;
            link->between[1] = right;
            return YOKE_OK;
        }
        free(left);
        free(right);
    }
    return fail_link(text, "it does not begin with two selectors");
}

/* Figures of the named kind, where the user gives none. */
static yoke_status_t join_kind(yoke_link_t *link)
{
    const yoke_catalog_t *catalog = NULL;
    if (link->kind == NULL)
        return YOKE_OK;
    yoke_status_t status = yoke_catalog_default(&catalog);
    if (status != YOKE_OK)
        return status;
    const yoke_catalog_link_t *row = yoke_catalog_find_link(catalog, link->kind);
    if (row == NULL)
        return YOKE_OK;
    if (!yoke_known(&link->rate))
        status = yoke_quantity_copy(&row->rate, &link->rate);
    if (status == YOKE_OK && !yoke_known(&link->latency))
        status = yoke_quantity_copy(&row->latency, &link->latency);
    if (yoke_known(&row->fraction))
        link->fraction = row->fraction.value;
    return status;
}

static bool same_ends(const yoke_link_t *a, const yoke_link_t *b)
{
    bool straight = strcmp(a->between[0], b->between[0]) == 0 &&
                    strcmp(a->between[1], b->between[1]) == 0;
    bool crossed = strcmp(a->between[0], b->between[1]) == 0 &&
                   strcmp(a->between[1], b->between[0]) == 0;
    return straight || crossed;
}

static yoke_status_t put_link(yoke_inventory_t *inventory, yoke_link_t *link)
{
    for (size_t i = 0; i < inventory->link_count; i++) {
        if (!same_ends(&inventory->links[i], link))
            continue;
        yoke_link_clear(&inventory->links[i]);
        inventory->links[i] = *link;
        return YOKE_OK;
    }
    yoke_link_t *slot = yoke_inventory_add_link(inventory);
    if (slot == NULL)
        return YOKE_ERR_NO_MEMORY;
    *slot = *link;
    return YOKE_OK;
}

yoke_status_t yoke_inventory_link(yoke_inventory_t *inventory, const char *text)
{
    yoke_link_t link = {0};
    const char *equals = strchr(text, '=');
    const char *colon = NULL;
    for (const char *at = text; equals != NULL && at < equals; at++)
        if (*at == ':')
            colon = at;
    if (colon == NULL)
        return fail_link(text, "it has no values");
    yoke_status_t status = set_between(text, (size_t)(colon - text), &link);
    if (status == YOKE_OK)
        status = set_members(text, colon + 1, &link);
    if (status == YOKE_OK)
        status = join_kind(&link);
    if (status == YOKE_OK && link.kind == NULL && !yoke_known(&link.rate))
        status = fail_link(text, "give a kind or a rate");
    if (status == YOKE_OK)
        status = put_link(inventory, &link);
    if (status != YOKE_OK)
        yoke_link_clear(&link);
    return status;
}
