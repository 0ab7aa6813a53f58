/* SPDX-License-Identifier: Apache-2.0 */
/* --assume: figures that the user vouches for, for one run. */
#include "inventory/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "inventory/selector.h"

typedef struct assumption {
    char key[16];
    double value;
} assumption_t;

static yoke_status_t set_nics(yoke_node_t *node, double rate)
{
    if (node->nic_count == 0) {
        yoke_nic_t *nic = yoke_node_add_nic(node);
        if (nic == NULL)
            return YOKE_ERR_NO_MEMORY;
        yoke_status_t status = yoke_set_string(&nic->id, "nic0");
        if (status != YOKE_OK)
            return status;
    }
    for (size_t i = 0; i < node->nic_count; i++) {
        yoke_status_t status =
            yoke_quantity_set(&node->nics[i].rate, rate, YOKE_SOURCE_USER, 0, "--assume");
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

/* What was free and usable was so of another size. */
static yoke_status_t set_memory(yoke_memory_t *memory, double bytes)
{
    yoke_quantity_clear(&memory->free);
    yoke_quantity_clear(&memory->usable);
    return yoke_quantity_set(&memory->total, bytes, YOKE_SOURCE_USER, 0, "--assume");
}

static yoke_status_t apply(const assumption_t *assumption, yoke_node_t *node,
                           yoke_inventory_device_t *device)
{
    yoke_quantity_t *target = NULL;
    yoke_dtype_t dtype;
    if (strcmp(assumption->key, "nic") == 0)
        return set_nics(node, assumption->value);
    if (strcmp(assumption->key, "memory") == 0)
        return set_memory(&device->memory, assumption->value);
    if (strcmp(assumption->key, "hbm") == 0)
        target = &device->bandwidth;
    else if (strcmp(assumption->key, "link") == 0)
        return yoke_device_set_link(device, assumption->value, "--assume");
    else if (yoke_dtype_parse(assumption->key, &dtype))
        target = &device->compute[dtype];
    if (target == NULL)
        return YOKE_OK;
    return yoke_quantity_set(target, assumption->value, YOKE_SOURCE_USER, 0, "--assume");
}

static yoke_status_t parse_pair(const char *at, size_t size, const char *text,
                                assumption_t *out)
{
    static const char *const keys[] = {"fp64", "fp32", "tf32",   "fp16", "bf16", "fp8",
                                       "int8", "hbm",  "memory", "link", "nic",  NULL};
    const char *equals = memchr(at, '=', size);
    if (equals == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "assumption \"%s\": \"%.*s\" is not KEY=VALUE",
                         text, (int)size, at);
    size_t length = (size_t)(equals - at);
    size_t i = 0;
    while (keys[i] != NULL &&
           (strlen(keys[i]) != length || strncmp(keys[i], at, length) != 0))
        i++;
    if (keys[i] == NULL)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "assumption \"%s\": unknown key \"%.*s\"; known are fp64 fp32 "
            "tf32 fp16 bf16 fp8 int8 (rates), hbm (memory bandwidth), memory "
            "(bytes), link, nic (bytes/s)",
            text, (int)length, at);
    char *value = yoke_strndup(equals + 1, size - length - 1);
    if (value == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_parse_quantity(value, &out->value);
    free(value);
    if (status != YOKE_OK)
        return YOKE_ERR_USAGE;
    if (out->value <= 0)
        return yoke_fail(YOKE_ERR_USAGE, "assumption \"%s\": %s must be above zero", text,
                         keys[i]);
    strcpy(out->key, keys[i]);
    return YOKE_OK;
}

/* "SELECTOR:k=v,k=v": the selector ends at the last ':' before the first '='. */
static const char *find_pairs(const char *text)
{
    const char *equals = strchr(text, '=');
    const char *colon = NULL;
    for (const char *at = text; equals != NULL && at < equals; at++)
        if (*at == ':')
            colon = at;
    return colon == NULL || colon == text ? NULL : colon + 1;
}

static yoke_status_t parse_pairs(const char *pairs, const char *text,
                                 assumption_t assumptions[16], size_t *out_count)
{
    size_t count = 0;
    for (const char *at = pairs;;) {
        size_t size = strcspn(at, ",");
        if (count == 16)
            return yoke_fail(YOKE_ERR_USAGE, "assumption \"%s\": too many values", text);
        yoke_status_t status = parse_pair(at, size, text, &assumptions[count]);
        if (status != YOKE_OK)
            return status;
        count++;
        if (at[size] == '\0')
            break;
        at += size + 1;
    }
    *out_count = count;
    return YOKE_OK;
}

static yoke_status_t apply_all(yoke_inventory_t *inventory, const char *selector,
                               const assumption_t *assumptions, size_t count,
                               size_t *out_matched)
{
    size_t matched = 0;
    for (size_t i = 0; i < inventory->node_count; i++) {
        yoke_node_t *node = &inventory->nodes[i];
        yoke_strings_t hosts = {0};
        yoke_status_t status = yoke_hostlist_expand(node->hosts, &hosts);
        for (size_t j = 0; j < node->device_count && status == YOKE_OK; j++) {
            bool match = false;
            status =
                yoke_selector_match(selector, hosts.items[0], &node->devices[j], &match);
            matched += match ? 1 : 0;
            for (size_t k = 0; k < count && match && status == YOKE_OK; k++)
                status = apply(&assumptions[k], node, &node->devices[j]);
        }
        yoke_strings_free(&hosts);
        if (status != YOKE_OK)
            return status;
    }
    *out_matched = matched;
    return YOKE_OK;
}

yoke_status_t yoke_inventory_assume(yoke_inventory_t *inventory, const char *text)
{
    assumption_t assumptions[16];
    size_t count = 0;
    size_t matched = 0;
    const char *pairs = find_pairs(text);
    if (pairs == NULL)
        return yoke_fail(YOKE_ERR_USAGE,
                         "assumption \"%s\" is not SELECTOR:KEY=VALUE[,KEY=VALUE], e.g. "
                         "type:BW1000:bf16=300T,hbm=1.6T,memory=64GiB",
                         text);
    yoke_status_t status = parse_pairs(pairs, text, assumptions, &count);
    if (status != YOKE_OK)
        return status;
    char *selector = yoke_strndup(text, (size_t)(pairs - text) - 1);
    if (selector == NULL)
        return yoke_fail_memory();
    if (!yoke_selector_valid(selector))
        status =
            yoke_fail(YOKE_ERR_USAGE,
                      "assumption \"%s\": \"%s\" is not a selector; write "
                      "[HOSTS/]DEVICE, type:NAME, vendor:NAME, host:HOSTS or kind:gpu",
                      text, selector);
    if (status == YOKE_OK)
        status = yoke_inventory_split_by(inventory, selector);
    if (status == YOKE_OK)
        status = apply_all(inventory, selector, assumptions, count, &matched);
    if (status == YOKE_OK && matched == 0)
        status =
            yoke_fail(YOKE_ERR_USAGE,
                      "assumption \"%s\": \"%s\" matches no device of this inventory",
                      text, selector);
    free(selector);
    return status;
}
