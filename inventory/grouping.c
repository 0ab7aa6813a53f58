/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which probe records are of one device. Records are sorted first by all that they say,
 * so that their order does not matter; then those with an equal key are united: the PCI
 * address, the UUID, the slice of a card. What has no key joins a card only when nothing
 * else is possible.
 */
#include "inventory/grouping.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"
#include "inventory/document.h"
#include "inventory/vendor.h"

typedef enum class {
    CLASS_CARD,
    CLASS_SLICE,   /* has the card's address, or none */
    CLASS_VIRTUAL, /* has an address of its own */
    CLASS_HOST,
    CLASS_EMULATOR
} class_t;

typedef struct item {
    const yoke_record_t *record;
    char *text; /* all that it says, for a total order */
    class_t class;
    bool implied_slice; /* one of several UUIDs at one address in one platform */
    char uuid[64];      /* key; "" without */
    size_t leader;      /* union-find */
    bool dropped_uuid;  /* its UUID is that of two cards: proves nothing */
    size_t candidates;
} item_t;

typedef struct work {
    item_t *items;
    size_t count;
} work_t;

int yoke_runtime_rank(const char *runtime)
{
    static const struct {
        const char *runtime;
        int rank;
    } ranks[] = {
        {"host", 0}, {"nvml", 1}, {"level_zero", 2}, {"opencl", 3}, {"sysfs", 9}};
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (strcmp(runtime, ranks[i].runtime) == 0)
            return ranks[i].rank;
    return 0;
}

static const char *runtime_of(const yoke_record_t *record)
{
    return record->runtime == NULL ? "unknown" : record->runtime;
}

static bool is_sysfs(const yoke_record_t *record)
{
    return strcmp(runtime_of(record), "sysfs") == 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* One enumeration: a runtime, and for OpenCL and its like one platform of it. Two drivers
 * of one vendor differ in their version only. */
static bool same_platform(const yoke_record_t *a, const yoke_record_t *b)
{
    return same_text(runtime_of(a), runtime_of(b)) &&
           same_text(a->platform, b->platform) && same_text(a->version, b->version) &&
           same_text(a->probe, b->probe);
}

/* --- order ------------------------------------------------------------------------ */

static int compare_text(const char *a, const char *b)
{
    if (a == NULL || b == NULL)
        return (a != NULL) - (b != NULL);
    return yoke_natural_compare(a, b);
}

static int compare_items(const void *a, const void *b)
{
    const item_t *left = a;
    const item_t *right = b;
    int order = yoke_runtime_rank(runtime_of(left->record)) -
                yoke_runtime_rank(runtime_of(right->record));
    if (order == 0)
        order = strcmp(runtime_of(left->record), runtime_of(right->record));
    if (order == 0)
        order = compare_text(left->record->platform, right->record->platform);
    if (order == 0)
        order = compare_text(left->record->probe, right->record->probe);
    if (order == 0 && left->record->ordinal != right->record->ordinal)
        order = left->record->ordinal < right->record->ordinal ? -1 : 1;
    return order != 0 ? order : strcmp(left->text, right->text);
}

static class_t class_of(const yoke_record_t *record)
{
    if (record->emulator || (record->kind_known && record->kind == YOKE_DEVICE_EMULATOR))
        return CLASS_EMULATOR;
    if (record->kind_known && record->kind == YOKE_DEVICE_CPU && !record->pci.valid)
        return CLASS_HOST;
    if (record->partition != NULL)
        return record->parent_pci.valid ? CLASS_VIRTUAL : CLASS_SLICE;
    return CLASS_CARD;
}

static void set_uuid(item_t *item)
{
    char text[40];
    uint8_t bytes[16];
    const yoke_record_t *record = item->record;
    const char *key = "";
    if (record->has_uuid)
        key = yoke_uuid_text(record->uuid, text);
    else if (record->uuid_text != NULL && yoke_uuid_parse(record->uuid_text, bytes))
        key = yoke_uuid_text(bytes, text);
    else if (record->uuid_text != NULL)
        key = record->uuid_text;
    strncpy(item->uuid, key, sizeof item->uuid - 1);
}

static yoke_status_t load(const yoke_records_t *records, work_t *work)
{
    work->items = calloc(records->count + 1, sizeof *work->items);
    if (work->items == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < records->count; i++) {
        item_t *item = &work->items[i];
        json_t *json = yoke_record_to_json(&records->items[i]);
        item->record = &records->items[i];
        item->text = json_dumps(json, JSON_COMPACT);
        json_decref(json);
        work->count++;
        if (item->text == NULL)
            return yoke_fail_memory();
        item->class = class_of(item->record);
        set_uuid(item);
    }
    if (work->count > 1)
        qsort(work->items, work->count, sizeof *work->items, compare_items);
    for (size_t i = 0; i < work->count; i++)
        work->items[i].leader = i;
    return YOKE_OK;
}

static void free_work(work_t *work)
{
    for (size_t i = 0; i < work->count; i++)
        free(work->items[i].text);
    free(work->items);
}

/* --- uniting ---------------------------------------------------------------------- */

static size_t leader(const work_t *work, size_t i)
{
    while (work->items[i].leader != i)
        i = work->items[i].leader;
    return i;
}

/* The earlier one leads, so that the result does not depend on the order of uniting. */
static void unite(work_t *work, size_t a, size_t b)
{
    a = leader(work, a);
    b = leader(work, b);
    if (a < b)
        work->items[b].leader = a;
    else
        work->items[a].leader = b;
}

static bool same_address(const yoke_record_t *a, const yoke_record_t *b)
{
    return a->pci.valid && b->pci.valid && yoke_pci_compare(&a->pci, &b->pci) == 0;
}

/* Compute partitions that a runtime lists at one address, told apart by UUID only. */
static void find_implied_slices(work_t *work)
{
    for (size_t i = 0; i < work->count; i++) {
        item_t *a = &work->items[i];
        for (size_t j = 0; j < work->count && a->class == CLASS_CARD; j++) {
            const item_t *b = &work->items[j];
            if (i == j || b->class != CLASS_CARD || !same_address(a->record, b->record) ||
                !same_platform(a->record, b->record) || a->uuid[0] == '\0' ||
                b->uuid[0] == '\0' || strcmp(a->uuid, b->uuid) == 0)
                continue;
            a->implied_slice = true;
        }
    }
    for (size_t i = 0; i < work->count; i++)
        if (work->items[i].implied_slice)
            work->items[i].class = CLASS_SLICE;
}

static bool has_own_address(const item_t *item)
{
    return item->record->pci.valid &&
           (item->class == CLASS_CARD || item->class == CLASS_VIRTUAL);
}

static bool same_slice(const item_t *a, const item_t *b)
{
    const yoke_record_t *left = a->record;
    const yoke_record_t *right = b->record;
    if (a->uuid[0] != '\0' && b->uuid[0] != '\0')
        return strcmp(a->uuid, b->uuid) == 0;
    if (left->partition == NULL || right->partition == NULL ||
        strcmp(left->partition, right->partition) != 0)
        return false;
    return same_address(left, right) ||
           (left->parent_uuid != NULL &&
            same_text(left->parent_uuid, right->parent_uuid));
}

static void unite_by_address(work_t *work)
{
    for (size_t i = 0; i < work->count; i++) {
        for (size_t j = i + 1; j < work->count; j++) {
            const item_t *a = &work->items[i];
            const item_t *b = &work->items[j];
            bool cards = has_own_address(a) && has_own_address(b) &&
                         same_address(a->record, b->record);
            bool slices =
                a->class == CLASS_SLICE && b->class == CLASS_SLICE && same_slice(a, b);
            if (cards || slices || (a->class == CLASS_HOST && b->class == CLASS_HOST))
                unite(work, i, j);
        }
    }
}

/* Two cards with one UUID: the driver is wrong, and the UUID proves nothing. */
static void drop_ambiguous_uuids(work_t *work)
{
    for (size_t i = 0; i < work->count; i++) {
        item_t *a = &work->items[i];
        for (size_t j = 0; j < work->count && has_own_address(a) && a->uuid[0] != '\0';
             j++) {
            const item_t *b = &work->items[j];
            if (has_own_address(b) && strcmp(a->uuid, b->uuid) == 0 &&
                !same_address(a->record, b->record))
                a->dropped_uuid = true;
        }
    }
    for (size_t i = 0; i < work->count; i++)
        for (size_t j = 0; j < work->count; j++)
            if (work->items[j].dropped_uuid &&
                strcmp(work->items[i].uuid, work->items[j].uuid) == 0)
                work->items[i].dropped_uuid = true;
}

static bool usable_uuid(const item_t *item)
{
    return item->uuid[0] != '\0' && !item->dropped_uuid &&
           (item->class == CLASS_CARD || item->class == CLASS_VIRTUAL);
}

static void unite_by_uuid(work_t *work)
{
    for (size_t i = 0; i < work->count; i++)
        for (size_t j = i + 1; j < work->count; j++)
            if (usable_uuid(&work->items[i]) && usable_uuid(&work->items[j]) &&
                strcmp(work->items[i].uuid, work->items[j].uuid) == 0)
                unite(work, i, j);
}

/* Ids of the group that an item is in: any member may say them. */
static yoke_pci_t ids_of(const work_t *work, size_t i)
{
    yoke_pci_t pci = work->items[i].record->pci;
    for (size_t j = 0; j < work->count && pci.device_id == 0; j++)
        if (leader(work, j) == leader(work, i)) {
            pci.vendor_id = work->items[j].record->pci.vendor_id;
            pci.device_id = work->items[j].record->pci.device_id;
        }
    return pci;
}

static bool is_driven(const work_t *work, size_t i)
{
    for (size_t j = 0; j < work->count; j++)
        if (leader(work, j) == leader(work, i) && !is_sysfs(work->items[j].record))
            return true;
    return false;
}

static bool same_slot(const work_t *work, size_t i, size_t j)
{
    yoke_pci_t a = ids_of(work, i);
    yoke_pci_t b = ids_of(work, j);
    bool known =
        a.device_id != 0 && a.device_id == b.device_id && a.vendor_id == b.vendor_id;
    return known && a.domain == b.domain && a.bus == b.bus && a.device == b.device;
}

/*
 * Functions of one slot that only the kernel lists belong to the one that a runtime lists
 * (Ascend shows .0 and .1 of one card). Functions that runtimes list apart are devices.
 */
static void unite_functions(work_t *work)
{
    for (size_t i = 0; i < work->count; i++) {
        if (work->items[i].class != CLASS_CARD || !work->items[i].record->pci.valid ||
            is_driven(work, i))
            continue;
        size_t best = i;
        for (size_t j = 0; j < work->count; j++) {
            const item_t *other = &work->items[j];
            if (other->class != CLASS_CARD || !other->record->pci.valid ||
                !same_slot(work, i, j))
                continue;
            bool better = is_driven(work, j) != is_driven(work, best)
                              ? is_driven(work, j)
                              : yoke_pci_compare(&other->record->pci,
                                                 &work->items[best].record->pci) < 0;
            best = better ? j : best;
        }
        if (best != i)
            unite(work, i, best);
    }
}

/* --- what has no key -------------------------------------------------------------- */

static bool is_keyless(const item_t *item)
{
    return item->class == CLASS_CARD && !item->record->pci.valid && !usable_uuid(item);
}

static bool lists_already(const work_t *work, size_t card, const yoke_record_t *record)
{
    for (size_t j = 0; j < work->count; j++)
        if (leader(work, j) == card && same_platform(work->items[j].record, record))
            return true;
    return false;
}

static bool vendors_agree(const work_t *work, size_t card, const yoke_record_t *record)
{
    const char *vendor = yoke_vendor_canonical(record->vendor);
    for (size_t j = 0; j < work->count; j++) {
        const yoke_record_t *other = work->items[j].record;
        const char *its = other->pci.vendor_id != 0
                              ? yoke_vendor_by_pci(other->pci.vendor_id)
                              : yoke_vendor_canonical(other->vendor);
        if (leader(work, j) == card && vendor != NULL && its != NULL)
            return strcasecmp(vendor, its) == 0;
    }
    return true;
}

/* 1: a member has this name; 0: members have other names; -1: no member has a name. */
static int names_agree(const work_t *work, size_t card, const yoke_record_t *record)
{
    int answer = -1;
    for (size_t j = 0; j < work->count; j++) {
        const char *name = work->items[j].record->name;
        if (leader(work, j) != card || name == NULL || is_sysfs(work->items[j].record))
            continue;
        if (record->name != NULL && strcasecmp(name, record->name) == 0)
            return 1;
        answer = 0;
    }
    return answer;
}

static bool memories_agree(const work_t *work, size_t card, const yoke_record_t *record)
{
    for (size_t j = 0; j < work->count; j++) {
        const yoke_quantity_t *other = &work->items[j].record->memory_total;
        if (leader(work, j) != card || !yoke_known(other) ||
            !yoke_known(&record->memory_total))
            continue;
        double a = other->value;
        double b = record->memory_total.value;
        if (a > 1.25 * b || b > 1.25 * a)
            return false;
    }
    return true;
}

/* Cards that the record may be; *out_card is the last of them. */
static size_t find_candidates(const work_t *work, const yoke_record_t *record,
                              size_t *out_card)
{
    size_t count = 0;
    for (size_t i = 0; i < work->count; i++) {
        const item_t *item = &work->items[i];
        if (item->leader != i || item->class != CLASS_CARD || is_keyless(item))
            continue;
        if (lists_already(work, i, record) || !vendors_agree(work, i, record) ||
            names_agree(work, i, record) == 0 || !memories_agree(work, i, record))
            continue;
        *out_card = i;
        count++;
    }
    return count;
}

/* Every decision is on the state before any of them, so that the order cannot matter. */
static yoke_status_t resolve_keyless(work_t *work)
{
    size_t *cards = calloc(work->count + 1, sizeof *cards);
    bool *proven = calloc(work->count + 1, sizeof *proven);
    if (cards == NULL || proven == NULL) {
        free(cards);
        free(proven);
        return yoke_fail_memory();
    }
    for (size_t i = 0; i < work->count; i++)
        if (is_keyless(&work->items[i]))
            work->items[i].candidates =
                find_candidates(work, work->items[i].record, &cards[i]);
    for (size_t i = 0; i < work->count; i++) {
        proven[i] = is_keyless(&work->items[i]) && work->items[i].candidates == 1;
        for (size_t j = 0; j < work->count && proven[i]; j++)
            if (j != i && is_keyless(&work->items[j]) && work->items[j].candidates == 1 &&
                cards[i] == cards[j] &&
                same_platform(work->items[i].record, work->items[j].record))
                proven[i] = false;
    }
    for (size_t i = 0; i < work->count; i++)
        if (proven[i])
            unite(work, i, cards[i]);
    free(proven);
    free(cards);
    return YOKE_OK;
}

/* --- groups ----------------------------------------------------------------------- */

static yoke_group_kind_t kind_of(const work_t *work, size_t first, size_t members)
{
    const item_t *item = &work->items[first];
    switch (item->class) {
    case CLASS_SLICE:
    case CLASS_VIRTUAL:
        return YOKE_GROUP_PART;
    case CLASS_HOST:
        return YOKE_GROUP_HOST;
    case CLASS_EMULATOR:
        return YOKE_GROUP_EMULATOR;
    case CLASS_CARD:
        break;
    }
    return members == 1 && is_keyless(item) ? YOKE_GROUP_UNRESOLVED : YOKE_GROUP_CARD;
}

/* The address that a runtime gives; of several functions the lowest. */
static void add_pci(yoke_group_t *group, const yoke_record_t *record, bool *driven)
{
    yoke_pci_t ids = group->pci;
    bool runtime = !is_sysfs(record);
    if (record->pci.valid &&
        (!group->pci.valid || (runtime && !*driven) ||
         (runtime == *driven && yoke_pci_compare(&record->pci, &group->pci) < 0))) {
        group->pci = record->pci;
        *driven = runtime;
    }
    if (ids.device_id != 0) {
        group->pci.vendor_id = ids.vendor_id;
        group->pci.device_id = ids.device_id;
    }
    if (group->pci.device_id == 0) {
        group->pci.vendor_id = record->pci.vendor_id;
        group->pci.device_id = record->pci.device_id;
    }
}

static void fill_group(const work_t *work, size_t first, const yoke_record_t **storage,
                       yoke_group_t *group)
{
    bool driven = false;
    *group = (yoke_group_t){.members = storage, .parent = SIZE_MAX};
    for (size_t i = first; i < work->count; i++) {
        const item_t *item = &work->items[i];
        if (leader(work, i) != first)
            continue;
        storage[group->count++] = item->record;
        add_pci(group, item->record, &driven);
        if (group->partition == NULL)
            group->partition = item->implied_slice && item->record->partition == NULL
                                   ? item->record->uuid_text
                                   : item->record->partition;
        if (item->class == CLASS_VIRTUAL) /* a runtime may see it as a card */
            group->kind = YOKE_GROUP_PART;
        group->own_address = group->own_address || has_own_address(item);
    }
    yoke_group_kind_t kind = kind_of(work, first, group->count);
    if (group->kind != YOKE_GROUP_PART)
        group->kind = kind;
    group->candidates = work->items[first].candidates;
}

static bool has_uuid_text(const yoke_group_t *group, const char *uuid)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i]->uuid_text != NULL &&
            strcmp(group->members[i]->uuid_text, uuid) == 0)
            return true;
    return false;
}

static bool is_parent(const yoke_group_t *card, const yoke_group_t *part)
{
    for (size_t i = 0; i < part->count; i++) {
        const yoke_record_t *record = part->members[i];
        if (record->parent_pci.valid) {
            if (card->pci.valid && yoke_pci_compare(&card->pci, &record->parent_pci) == 0)
                return true;
            continue;
        }
        if (record->pci.valid && record->partition != NULL && card->pci.valid &&
            yoke_pci_compare(&card->pci, &record->pci) == 0)
            return true;
        if (record->parent_uuid != NULL && has_uuid_text(card, record->parent_uuid))
            return true;
    }
    bool implied = part->count > 0 && part->members[0]->partition == NULL;
    return implied && card->pci.valid && part->pci.valid &&
           yoke_pci_compare(&card->pci, &part->pci) == 0;
}

static void link_parts(yoke_grouping_t *grouping)
{
    for (size_t i = 0; i < grouping->count; i++) {
        yoke_group_t *part = &grouping->groups[i];
        for (size_t j = 0; j < grouping->count && part->kind == YOKE_GROUP_PART; j++)
            if (grouping->groups[j].kind == YOKE_GROUP_CARD &&
                is_parent(&grouping->groups[j], part)) {
                part->parent = j;
                break;
            }
    }
}

static yoke_status_t collect(const work_t *work, yoke_grouping_t *out)
{
    yoke_grouping_t grouping = {0};
    size_t used = 0;
    grouping.groups = calloc(work->count + 1, sizeof *grouping.groups);
    grouping.storage = calloc(work->count + 1, sizeof *grouping.storage);
    if (grouping.groups == NULL || grouping.storage == NULL) {
        yoke_grouping_free(&grouping);
        return yoke_fail_memory();
    }
    for (size_t i = 0; i < work->count; i++) {
        if (work->items[i].leader != i)
            continue;
        yoke_group_t *group = &grouping.groups[grouping.count++];
        fill_group(work, i, grouping.storage + used, group);
        used += group->count;
    }
    link_parts(&grouping);
    *out = grouping;
    return YOKE_OK;
}

yoke_status_t yoke_grouping_make(const yoke_records_t *records,
                                 yoke_grouping_t *out_grouping)
{
    work_t work = {0};
    yoke_status_t status = load(records, &work);
    if (status == YOKE_OK) {
        find_implied_slices(&work);
        unite_by_address(&work);
        drop_ambiguous_uuids(&work);
        unite_by_uuid(&work);
        unite_functions(&work);
        status = resolve_keyless(&work);
    }
    if (status == YOKE_OK)
        status = collect(&work, out_grouping);
    free_work(&work);
    return status;
}

void yoke_grouping_free(yoke_grouping_t *grouping)
{
    free(grouping->groups);
    free((void *)grouping->storage);
    *grouping = (yoke_grouping_t){0};
}
