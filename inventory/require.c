/* SPDX-License-Identifier: Apache-2.0 */
/* --require: are there enough devices? */
#include "inventory/operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"
#include "inventory/selector.h"

typedef enum wish { WISH_GPU, WISH_NPU, WISH_ANY, WISH_CPU, WISH_SELECTOR } wish_t;

static wish_t wish_of(const char *what)
{
    if (strcmp(what, "gpu") == 0)
        return WISH_GPU;
    if (strcmp(what, "npu") == 0)
        return WISH_NPU;
    if (strcmp(what, "cpu") == 0)
        return WISH_CPU;
    return strcmp(what, "any") == 0 ? WISH_ANY : WISH_SELECTOR;
}

static bool is_wished(wish_t wish, const yoke_inventory_device_t *device)
{
    if (wish == WISH_CPU)
        return device->kind == YOKE_DEVICE_CPU;
    bool gpu = device->kind == YOKE_DEVICE_GPU && wish != WISH_NPU;
    bool npu = device->kind == YOKE_DEVICE_NPU && wish != WISH_GPU;
    return gpu || npu;
}

static uint64_t count_kind(const yoke_inventory_t *inventory, wish_t wish,
                           bool schedulable_only)
{
    uint64_t count = 0;
    for (size_t i = 0; i < inventory->node_count; i++) {
        const yoke_node_t *node = &inventory->nodes[i];
        uint64_t found = 0;
        for (size_t j = 0; j < node->device_count; j++)
            if (is_wished(wish, &node->devices[j]) &&
                (node->devices[j].schedulable || !schedulable_only))
                found++;
        count += found * yoke_hostlist_count(node->hosts);
    }
    return count;
}

static yoke_status_t count_wish(const yoke_inventory_t *inventory, const char *what,
                                bool schedulable_only, uint64_t *out_count)
{
    wish_t wish = wish_of(what);
    if (wish == WISH_SELECTOR)
        return yoke_selector_count(inventory, what, schedulable_only, out_count);
    *out_count = count_kind(inventory, wish, schedulable_only);
    return YOKE_OK;
}

/* "gpus" could be the id of a device, but the ids that we give have digits in them. */
static bool is_mere_word(const char *what)
{
    return wish_of(what) == WISH_SELECTOR &&
           strspn(what, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") ==
               strlen(what);
}

static yoke_status_t fail_word(const char *what)
{
    static const char *const words[] = {"gpu", "npu", "any", "cpu", NULL};
    const char *nearest = yoke_nearest(what, words);
    return yoke_fail(
        YOKE_ERR_USAGE,
        "requirement \"%s\": no device is called that%s%s%s; give gpu, npu, any, "
        "cpu, or a selector: [HOSTS/]DEVICE, type:NAME, vendor:NAME, host:HOSTS "
        "or kind:gpu|npu|cpu",
        what, nearest == NULL ? "" : " (did you mean ", nearest == NULL ? "" : nearest,
        nearest == NULL ? "" : "?)");
}

static yoke_status_t compare(const yoke_inventory_t *inventory, const char *what,
                             uint64_t wanted)
{
    uint64_t usable = 0;
    uint64_t listed = 0;
    yoke_status_t status = count_wish(inventory, what, true, &usable);
    if (status == YOKE_OK)
        status = count_wish(inventory, what, false, &listed);
    if (status == YOKE_OK && listed == 0 && is_mere_word(what))
        return fail_word(what);
    if (status != YOKE_OK || usable >= wanted)
        return status;
    if (listed > usable)
        return yoke_fail(
            YOKE_ERR_NO,
            "required %s:%llu, but %llu can be scheduled (%llu are listed; the "
            "inventory says why the others cannot)",
            what, (unsigned long long)wanted, (unsigned long long)usable,
            (unsigned long long)listed);
    return yoke_fail(YOKE_ERR_NO, "required %s:%llu, but there %s %llu", what,
                     (unsigned long long)wanted, usable == 1 ? "is" : "are",
                     (unsigned long long)usable);
}

yoke_status_t yoke_inventory_require(const yoke_inventory_t *inventory,
                                     const char *requirement)
{
    const char *colon = strrchr(requirement, ':');
    uint64_t wanted = 0;
    if (colon == NULL || colon == requirement ||
        !yoke_parse_u64(colon + 1, strlen(colon + 1), 0, UINT64_MAX, &wanted))
        return yoke_fail(YOKE_ERR_USAGE,
                         "requirement \"%s\" is not gpu:COUNT, npu:COUNT, any:COUNT, "
                         "cpu:COUNT or SELECTOR:COUNT",
                         requirement);
    char *what = yoke_strndup(requirement, (size_t)(colon - requirement));
    if (what == NULL)
        return yoke_fail_memory();
    yoke_status_t status = YOKE_OK;
    if (wish_of(what) == WISH_SELECTOR && !yoke_selector_valid(what))
        status = yoke_fail(
            YOKE_ERR_USAGE,
            "requirement \"%s\": \"%s\" is not gpu, npu, any, cpu or a selector",
            requirement, what);
    if (status == YOKE_OK)
        status = compare(inventory, what, wanted);
    free(what);
    return status;
}
