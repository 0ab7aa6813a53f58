/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors: which devices of which hosts an option means. */
#include "inventory/selector.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "inventory/catalog.h"
#include "inventory/document.h"
#include "inventory/vendor.h"

/* A pattern that would need more steps than this matches nothing: documents are not
 * trusted, and "*" after "*" grows fast. */
#define MAX_STEPS 100000

/* --- patterns --------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* One "01-03" or "7" of a bracket list; moves *at behind it. */
typedef struct range {
    uint64_t low, high;
    size_t width;
} range_t;

static bool read_number(const char **at, uint64_t *out)
{
    const char *start = *at;
    while (is_digit(**at))
        (*at)++;
    return yoke_parse_u64(start, (size_t)(*at - start), 0, UINT64_MAX / 2, out);
}

static bool read_range(const char **at, range_t *out)
{
    const char *start = *at;
    if (!read_number(at, &out->low))
        return false;
    out->width = (size_t)(*at - start);
    out->high = out->low;
    if (**at != '-')
        return true;
    (*at)++;
    return read_number(at, &out->high) && out->high >= out->low;
}

/* Are the first `length` digits of `text` a number of the range, written with its width?
 */
static bool in_range(const range_t *range, const char *text, size_t length)
{
    uint64_t value = 0;
    bool padded = length > range->width && text[0] == '0';
    if (length < range->width || padded ||
        !yoke_parse_u64(text, length, range->low, range->high, &value))
        return false;
    return true;
}

static bool match_from(const char *pattern, const char *end, const char *text,
                       int *steps);

/* `pattern` stands on '['. */
static bool match_brackets(const char *pattern, const char *end, const char *text,
                           int *steps)
{
    const char *close = memchr(pattern, ']', (size_t)(end - pattern));
    const char *at = pattern + 1;
    while (close != NULL && at < close) {
        range_t range;
        if (!read_range(&at, &range))
            return false;
        for (size_t length = 1; is_digit(text[length - 1]); length++)
            if (in_range(&range, text, length) &&
                match_from(close + 1, end, text + length, steps))
                return true;
        if (*at == ',')
            at++;
    }
    return false;
}

static bool match_from(const char *pattern, const char *end, const char *text, int *steps)
{
    for (; pattern < end; pattern++, text++) {
        if (--*steps < 0)
            return false;
        if (*pattern == '[')
            return match_brackets(pattern, end, text, steps);
        if (*pattern == '*') {
            for (;; text++) {
                if (match_from(pattern + 1, end, text, steps))
                    return true;
                if (*text == '\0' || *steps < 0)
                    return false;
            }
        }
        if (*pattern != *text)
            return false;
    }
    return *text == '\0';
}

bool yoke_glob_match(const char *pattern, const char *text)
{
    const char *star = NULL;
    const char *retry = NULL;
    while (*text != '\0') {
        if (*pattern == '*') {
            star = pattern++;
            retry = text;
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star + 1;
            text = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* End of the item that begins at `at`: the next comma outside of brackets. */
static const char *item_end(const char *at)
{
    int depth = 0;
    for (; *at != '\0' && (*at != ',' || depth > 0); at++)
        depth += (*at == '[') - (*at == ']');
    return at;
}

bool yoke_host_match(const char *pattern, const char *host)
{
    while (*pattern != '\0') {
        const char *end = item_end(pattern);
        int steps = MAX_STEPS;
        if (end > pattern && match_from(pattern, end, host, &steps))
            return true;
        pattern = *end == ',' ? end + 1 : end;
    }
    return false;
}

static bool valid_brackets(const char *at, const char *close)
{
    while (at < close) {
        range_t range;
        if (!read_range(&at, &range))
            return false;
        if (*at == ',' && at + 1 < close)
            at++;
        else if (at != close)
            return false;
    }
    return true;
}

/* A comma separated list of names with brackets and '*'. */
static bool valid_host_pattern(const char *pattern, size_t size)
{
    const char *end = pattern + size;
    bool in_item = false;
    for (const char *at = pattern; at < end; at++) {
        if (*at == ',' && !in_item)
            return false;
        in_item = *at != ',';
        if (*at == ']' || *at == '/' || (unsigned char)*at <= ' ' || *at == 0x7f)
            return false;
        if (*at != '[')
            continue;
        const char *close = memchr(at, ']', (size_t)(end - at));
        if (close == NULL || close == at + 1 || !valid_brackets(at + 1, close))
            return false;
        at = close;
    }
    return in_item;
}

static bool valid_device_pattern(const char *pattern)
{
    for (const char *at = pattern; *at != '\0'; at++)
        if ((unsigned char)*at <= ' ' || *at == 0x7f || *at == ',')
            return false;
    return *pattern != '\0';
}

/* --- selectors -------------------------------------------------------------------- */

typedef enum selector_kind {
    SELECT_DEVICE, /* [HOSTPATTERN/]DEVICEPATTERN */
    SELECT_TYPE,
    SELECT_VENDOR,
    SELECT_HOST,
    SELECT_KIND
} selector_kind_t;

static selector_kind_t kind_of(const char *selector, const char **out_rest)
{
    static const struct {
        const char *prefix;
        selector_kind_t kind;
    } prefixes[] = {{"type:", SELECT_TYPE},
                    {"vendor:", SELECT_VENDOR},
                    {"host:", SELECT_HOST},
                    {"kind:", SELECT_KIND}};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].prefix);
        if (strncmp(selector, prefixes[i].prefix, length) == 0) {
            *out_rest = selector + length;
            return prefixes[i].kind;
        }
    }
    *out_rest = selector;
    return SELECT_DEVICE;
}

/* The '/' behind a host pattern, or NULL. "0000:07:00.0/MIG-a0" has none: host names hold
 * no ':'. */
static const char *host_slash(const char *text)
{
    const char *slash = strchr(text, '/');
    if (slash == NULL || memchr(text, ':', (size_t)(slash - text)) != NULL)
        return NULL;
    return slash;
}

bool yoke_selector_valid(const char *selector)
{
    const char *rest = NULL;
    yoke_device_kind_t kind;
    switch (kind_of(selector, &rest)) {
    case SELECT_TYPE:
    case SELECT_VENDOR:
        return *rest != '\0';
    case SELECT_KIND:
        return yoke_device_kind_parse(rest, &kind);
    case SELECT_HOST:
        return valid_host_pattern(rest, strlen(rest));
    case SELECT_DEVICE:
        break;
    }
    const char *slash = host_slash(rest);
    if (slash == NULL)
        return valid_device_pattern(rest);
    return valid_host_pattern(rest, (size_t)(slash - rest)) &&
           valid_device_pattern(slash + 1);
}

bool yoke_selector_hosts(const char *selector, char **out_pattern)
{
    const char *rest = NULL;
    const char *slash = NULL;
    selector_kind_t kind = kind_of(selector, &rest);
    if (kind == SELECT_DEVICE)
        slash = host_slash(rest);
    if (kind != SELECT_HOST && slash == NULL)
        return false;
    char *pattern =
        slash == NULL ? yoke_strdup(rest) : yoke_strndup(rest, (size_t)(slash - rest));
    if (pattern == NULL)
        return false;
    *out_pattern = pattern;
    return true;
}

static bool same_normalised(const char *a, const char *b)
{
    char *left = a == NULL ? NULL : yoke_catalog_normalise(a);
    char *right = b == NULL ? NULL : yoke_catalog_normalise(b);
    bool same = left != NULL && right != NULL && strcmp(left, right) == 0;
    free(left);
    free(right);
    return same;
}

/* By its name, or by any alias that the catalog has for it. */
static bool match_type(const char *name, const yoke_inventory_device_t *device)
{
    const yoke_catalog_t *catalog = NULL;
    if (same_normalised(name, device->type) ||
        (device->type == NULL && same_normalised(name, device->name)))
        return true;
    if (device->type == NULL || yoke_catalog_default(&catalog) != YOKE_OK)
        return false;
    const yoke_catalog_device_t *row = yoke_catalog_find(catalog, device->vendor, name);
    return row != NULL && same_normalised(row->name, device->type);
}

static bool match_vendor(const char *vendor, const yoke_inventory_device_t *device)
{
    return device->vendor != NULL &&
           strcasecmp(yoke_vendor_canonical(vendor),
                      yoke_vendor_canonical(device->vendor)) == 0;
}

static bool match_device(const char *text, const char *host,
                         const yoke_inventory_device_t *device)
{
    const char *slash = host_slash(text);
    if (device->id == NULL)
        return false;
    if (slash == NULL)
        return yoke_glob_match(text, device->id);
    char *pattern = yoke_strndup(text, (size_t)(slash - text));
    bool match = pattern != NULL && yoke_host_match(pattern, host) &&
                 yoke_glob_match(slash + 1, device->id);
    free(pattern);
    return match;
}

static bool matches(const char *selector, const char *host,
                    const yoke_inventory_device_t *device)
{
    const char *rest = NULL;
    switch (kind_of(selector, &rest)) {
    case SELECT_TYPE:
        return match_type(rest, device);
    case SELECT_VENDOR:
        return match_vendor(rest, device);
    case SELECT_HOST:
        return yoke_host_match(rest, host);
    case SELECT_KIND:
        return strcmp(rest, yoke_device_kind_name(device->kind)) == 0;
    case SELECT_DEVICE:
        break;
    }
    return match_device(rest, host, device);
}

yoke_status_t yoke_selector_match(const char *selector, const char *host,
                                  const yoke_inventory_device_t *device, bool *out_match)
{
    *out_match = false;
    if (!yoke_selector_valid(selector))
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "\"%.80s\" is not a selector; write [HOSTS/]DEVICE, type:NAME, "
                         "vendor:NAME, host:HOSTS or kind:gpu|npu|cpu",
                         selector);
    *out_match = matches(selector, host, device);
    return YOKE_OK;
}

/* --- whole entries ---------------------------------------------------------------- */

static yoke_status_t divide_hosts(const char *hosts, const char *pattern,
                                  yoke_strings_t *chosen, yoke_strings_t *rest)
{
    yoke_strings_t all = {0};
    yoke_status_t status = yoke_hostlist_expand(hosts, &all);
    for (size_t i = 0; i < all.count && status == YOKE_OK; i++)
        status = yoke_strings_add(yoke_host_match(pattern, all.items[i]) ? chosen : rest,
                                  all.items[i]);
    yoke_strings_free(&all);
    return status;
}

static yoke_status_t split_entry(yoke_inventory_t *inventory, size_t index,
                                 const char *pattern, bool *out_split)
{
    yoke_strings_t chosen = {0};
    yoke_strings_t rest = {0};
    yoke_status_t status =
        divide_hosts(inventory->nodes[index].hosts, pattern, &chosen, &rest);
    if (status == YOKE_OK && chosen.count > 0 && rest.count > 0) {
        char *chosen_list = yoke_hostlist_compress(&chosen);
        char *rest_list = yoke_hostlist_compress(&rest);
        status =
            chosen_list == NULL || rest_list == NULL
                ? yoke_fail_memory()
                : yoke_inventory_split_node(inventory, index, chosen_list, rest_list);
        free(chosen_list);
        free(rest_list);
        *out_split = true;
    }
    yoke_strings_free(&chosen);
    yoke_strings_free(&rest);
    return status;
}

yoke_status_t yoke_inventory_split_by(yoke_inventory_t *inventory, const char *selector)
{
    char *pattern = NULL;
    yoke_status_t status = YOKE_OK;
    if (!yoke_selector_hosts(selector, &pattern))
        return YOKE_OK;
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++) {
        bool split = false;
        status = split_entry(inventory, i, pattern, &split);
        i += split ? 1 : 0; /* what was split off is wholly inside */
    }
    free(pattern);
    return status;
}

static yoke_status_t count_node(const yoke_node_t *node, const char *selector,
                                bool schedulable_only, uint64_t *count)
{
    yoke_strings_t hosts = {0};
    char *pattern = NULL;
    bool by_host = yoke_selector_hosts(selector, &pattern);
    yoke_status_t status = yoke_hostlist_expand(node->hosts, &hosts);
    size_t checked = by_host ? hosts.count : hosts.count > 0 ? 1 : 0;
    uint64_t found = 0;
    for (size_t i = 0; i < checked && status == YOKE_OK; i++) {
        for (size_t j = 0; j < node->device_count; j++) {
            const yoke_inventory_device_t *device = &node->devices[j];
            if ((!schedulable_only || device->schedulable) &&
                matches(selector, hosts.items[i], device))
                found++;
        }
    }
    *count += by_host ? found : found * hosts.count;
    yoke_strings_free(&hosts);
    free(pattern);
    return status;
}

yoke_status_t yoke_selector_count(const yoke_inventory_t *inventory, const char *selector,
                                  bool schedulable_only, uint64_t *out_count)
{
    uint64_t count = 0;
    bool match = false;
    const yoke_inventory_device_t none = {.numa = -1};
    yoke_status_t status = yoke_selector_match(selector, "", &none, &match);
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++)
        status = count_node(&inventory->nodes[i], selector, schedulable_only, &count);
    if (status == YOKE_OK)
        *out_count = count;
    return status;
}
