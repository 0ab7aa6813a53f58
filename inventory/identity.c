/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of probe records into devices: what each is called, holds, and may be used for.
 */
#include "inventory/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "inventory/document.h"
#include "inventory/grouping.h"
#include "inventory/vendor.h"

#define TRY(expression)                                                                  \
    do {                                                                                 \
        yoke_status_t status_ = (expression);                                            \
        if (status_ != YOKE_OK)                                                          \
            return status_;                                                              \
    } while (0)

static bool is_sysfs(const yoke_record_t *record)
{
    return record->runtime != NULL && strcmp(record->runtime, "sysfs") == 0;
}

/* Best-ranked member that is a runtime, or NULL when only the kernel lists the device. */
static const yoke_record_t *driver_of(const yoke_group_t *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (!is_sysfs(group->members[i]))
            return group->members[i];
    return NULL;
}

/* --- names ------------------------------------------------------------------------ */

static yoke_status_t set_names(const yoke_group_t *group, yoke_inventory_device_t *device)
{
    const char *vendor =
        group->kind == YOKE_GROUP_HOST ? NULL : yoke_vendor_by_pci(group->pci.vendor_id);
    const char *name = NULL;
    const char *uuid = NULL;
    for (size_t i = 0; i < group->count; i++) {
        const yoke_record_t *record = group->members[i];
        vendor = vendor != NULL ? vendor : yoke_vendor_canonical(record->vendor);
        name = name != NULL ? name : record->name;
        if (uuid == NULL && record->uuid_text != NULL)
            uuid = record->uuid_text;
        if (!device->has_uuid && record->has_uuid &&
            (uuid == NULL || record->uuid_text == uuid)) {
            device->has_uuid = true;
            memcpy(device->uuid, record->uuid, sizeof device->uuid);
        }
    }
    if (uuid != NULL && !device->has_uuid)
        device->has_uuid = yoke_uuid_parse(uuid, device->uuid);
    TRY(yoke_set_string(&device->vendor, vendor));
    TRY(yoke_set_string(&device->name, name));
    TRY(yoke_set_string(&device->uuid_text, uuid));
    return yoke_set_string(&device->partition, group->partition);
}

static yoke_device_kind_t kind_of(const yoke_group_t *group, const char *vendor)
{
    if (group->kind == YOKE_GROUP_EMULATOR)
        return YOKE_DEVICE_EMULATOR;
    if (group->kind == YOKE_GROUP_HOST)
        return YOKE_DEVICE_CPU;
    /* OpenCL says "accelerator" or "GPU" of anything; the maker knows. */
    for (size_t i = 0; i < group->count; i++) {
        const yoke_record_t *record = group->members[i];
        if (record->kind_known && !is_sysfs(record) &&
            yoke_runtime_rank(record->runtime) < 3)
            return record->kind;
    }
    if (vendor != NULL && yoke_vendor_by_pci(group->pci.vendor_id) != NULL)
        return yoke_vendor_device_kind(vendor);
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i]->kind_known)
            return group->members[i]->kind;
    return yoke_vendor_device_kind(vendor);
}

/* Letters, digits and little else: the text becomes part of an id. */
static void add_plain(yoke_text_t *out, const char *text)
{
    for (; *text != '\0'; text++) {
        bool plain = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') ||
                     (*text >= '0' && *text <= '9') || strchr(".:-_", *text) != NULL;
        yoke_text_add_bytes(out, plain ? text : "_", 1);
    }
}

static void add_platform_id(yoke_text_t *id, const char *prefix,
                            const yoke_record_t *record)
{
    yoke_text_printf(id, "%s:", prefix);
    add_plain(id, record->runtime == NULL ? "unknown" : record->runtime);
    if (record->platform != NULL) {
        yoke_text_add(id, ":");
        add_plain(id, record->platform);
    }
    int64_t ordinal = record->ordinal >= 0 ? record->ordinal : record->native;
    if (ordinal >= 0)
        yoke_text_printf(id, ":%lld", (long long)ordinal);
}

static void make_id(const yoke_group_t *group, const yoke_inventory_device_t *device,
                    const char *parent, yoke_text_t *id)
{
    char text[40];
    const yoke_record_t *first = group->members[0];
    if (group->kind == YOKE_GROUP_HOST) {
        yoke_text_add(id, "host");
    } else if (group->kind == YOKE_GROUP_EMULATOR) {
        add_platform_id(id, "emulator", first);
    } else if (group->kind == YOKE_GROUP_UNRESOLVED) {
        add_platform_id(id, "unresolved", first);
    } else if (group->pci.valid && group->own_address) {
        yoke_text_add(id, yoke_pci_text(&group->pci, text));
    } else if (group->kind == YOKE_GROUP_PART) {
        if (parent != NULL)
            yoke_text_printf(id, "%s/", parent);
        else if (group->pci.valid)
            yoke_text_printf(id, "%s/", yoke_pci_text(&group->pci, text));
        add_plain(id, group->partition == NULL ? "part" : group->partition);
    } else if (device->uuid_text != NULL) {
        add_plain(id, device->uuid_text);
    } else {
        yoke_text_add(id, yoke_uuid_text(device->uuid, text));
    }
}

static bool id_is_taken(const yoke_node_t *node, const char *id)
{
    for (size_t i = 0; i < node->device_count; i++)
        if (node->devices[i].id != NULL && strcmp(node->devices[i].id, id) == 0)
            return true;
    return false;
}

static yoke_status_t set_id(const yoke_node_t *node, const yoke_group_t *group,
                            const char *parent, yoke_inventory_device_t *device)
{
    yoke_text_t id = {0};
    make_id(group, device, parent, &id);
    size_t length = id.size;
    for (unsigned i = 2; !id.failed && id_is_taken(node, yoke_text_get(&id)); i++) {
        id.size = length;
        yoke_text_printf(&id, "#%u", i);
    }
    yoke_status_t status =
        id.failed ? yoke_fail_memory() : yoke_set_string(&device->id, yoke_text_get(&id));
    yoke_text_free(&id);
    return status;
}

/* --- figures ---------------------------------------------------------------------- */

/* What was measured stands above what is said; else the better-ranked runtime. */
static yoke_status_t take(const yoke_quantity_t *figure, yoke_quantity_t *out)
{
    bool better = yoke_known(figure) &&
                  (!yoke_known(out) || (figure->source == YOKE_SOURCE_MEASURED &&
                                        out->source != YOKE_SOURCE_MEASURED));
    return better ? yoke_quantity_copy(figure, out) : YOKE_OK;
}

/* CUDA counts less than NVML on the same card: the driver's reserve, below 2 % of it. */
static bool same_pool(double a, double b)
{
    return (a > b ? a - b : b - a) <= 0.05 * (a > b ? a : b);
}

/* Total, free and usable of one pool: those of a whole card and of its slice would not
 * fit together. */
static yoke_status_t set_memory(const yoke_group_t *group, yoke_memory_t *memory)
{
    const yoke_record_t *speaker = NULL;
    for (size_t i = 0; i < group->count && speaker == NULL; i++)
        if (yoke_known(&group->members[i]->memory_total))
            speaker = group->members[i];
    for (size_t i = 0; i < group->count; i++) {
        const yoke_record_t *record = group->members[i];
        TRY(take(&record->memory_total, &memory->total));
        if (speaker != NULL && record != speaker && yoke_known(&record->memory_total) &&
            !same_pool(record->memory_total.value, speaker->memory_total.value))
            continue;
        TRY(take(&record->memory_free, &memory->free));
        TRY(take(&record->memory_usable, &memory->usable));
    }
    if (yoke_known(&memory->total) && memory->free.value > memory->total.value)
        memory->free.value = memory->total.value;
    return YOKE_OK;
}

static void set_pcie(const yoke_group_t *group, yoke_inventory_device_t *device)
{
    for (size_t i = 0; i < group->count; i++) {
        /* The kernel's answer first: it is the last member. */
        const yoke_record_t *record = group->members[group->count - 1 - i];
        if (device->pcie_generation == 0 && device->pcie_lanes == 0) {
            device->pcie_generation = record->pcie_generation;
            device->pcie_lanes = record->pcie_lanes;
        }
        if (device->pcie_generation_max == 0 && device->pcie_lanes_max == 0) {
            device->pcie_generation_max = record->pcie_generation_max;
            device->pcie_lanes_max = record->pcie_lanes_max;
        }
    }
}

int yoke_numa_resolve(int from_sysfs, int from_driver)
{
    if (from_sysfs >= 0)
        return from_sysfs;
    return from_driver >= 0 ? from_driver : -1;
}

static int numa_of(const yoke_group_t *group)
{
    int from_sysfs = -1;
    int from_driver = -1;
    for (size_t i = 0; i < group->count; i++) {
        const yoke_record_t *record = group->members[i];
        int *numa = is_sysfs(record) ? &from_sysfs : &from_driver;
        if (*numa < 0)
            *numa = record->numa;
    }
    return yoke_numa_resolve(from_sysfs, from_driver);
}

static yoke_status_t set_figures(const yoke_group_t *group,
                                 yoke_inventory_device_t *device)
{
    TRY(set_memory(group, &device->memory));
    for (size_t i = 0; i < group->count; i++) {
        const yoke_record_t *record = group->members[i];
        TRY(take(&record->bandwidth, &device->bandwidth));
        for (size_t j = 0; j < YOKE_DTYPE_COUNT; j++)
            TRY(take(&record->compute[j], &device->compute[j]));
        device->memory.unified = device->memory.unified ||
                                 (record->integrated && group->kind != YOKE_GROUP_HOST &&
                                  group->kind != YOKE_GROUP_EMULATOR);
    }
    set_pcie(group, device);
    device->numa = numa_of(group);
    return YOKE_OK;
}

/* --- views ------------------------------------------------------------------------ */

static yoke_status_t add_view(const yoke_record_t *record,
                              yoke_inventory_device_t *device)
{
    yoke_view_t *view = yoke_device_add_view(device);
    if (view == NULL)
        return YOKE_ERR_NO_MEMORY;
    view->ordinal = record->hidden_by == NULL ? record->ordinal : -1;
    view->native = record->native;
    TRY(yoke_set_string(&view->runtime, record->runtime));
    TRY(yoke_set_string(&view->library, record->library));
    TRY(yoke_set_string(&view->version, record->version));
    TRY(yoke_set_string(&view->driver, record->driver));
    TRY(yoke_set_string(&view->name, record->name));
    TRY(yoke_set_string(&view->platform, record->platform));
    return yoke_quantity_copy(&record->memory_total, &view->memory_total);
}

static bool same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* One library found twice (two ICD files that name it) gives one view. */
static bool is_repeated(const yoke_group_t *group, size_t index)
{
    const yoke_record_t *record = group->members[index];
    for (size_t i = 0; i < index; i++) {
        const yoke_record_t *other = group->members[i];
        if (same_text(other->runtime, record->runtime) &&
            same_text(other->platform, record->platform) &&
            same_text(other->version, record->version) &&
            same_text(other->library, record->library) &&
            other->ordinal == record->ordinal && other->native == record->native)
            return true;
    }
    return false;
}

static yoke_status_t set_views(const yoke_group_t *group, yoke_inventory_device_t *device)
{
    for (size_t i = 0; i < group->count; i++)
        if (!is_sysfs(group->members[i]) && !is_repeated(group, i))
            TRY(add_view(group->members[i], device));
    return YOKE_OK;
}

/* --- may it be used? -------------------------------------------------------------- */

static bool is_refused(const yoke_group_t *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i]->memory_refused)
            return true;
    return false;
}

static const char *worst_health(const yoke_group_t *group)
{
    static const char *const order[] = {"lost", "faulty", "ok"};
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < group->count; j++)
            if (group->members[j]->health != NULL &&
                strcmp(group->members[j]->health, order[i]) == 0)
                return order[i];
    return NULL;
}

static size_t count_parts(const yoke_grouping_t *grouping, size_t card)
{
    size_t count = 0;
    for (size_t i = 0; i < grouping->count; i++)
        if (grouping->groups[i].parent == card && !grouping->groups[i].own_address)
            count++;
    return count;
}

static bool is_partitioned(const yoke_group_t *group)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->members[i]->partitioned)
            return true;
    return false;
}

static yoke_status_t refuse(yoke_inventory_device_t *device, char *reason)
{
    if (reason == NULL)
        return yoke_fail_memory();
    device->schedulable = false;
    free(device->reason);
    device->reason = reason;
    return YOKE_OK;
}

static char *undriven_reason(const yoke_group_t *group)
{
    const char *module = group->members[0]->driver;
    if (module != NULL)
        return yoke_format("no runtime drives it (kernel driver: %s)", module);
    return yoke_strdup("no runtime drives it, and no kernel driver is bound");
}

static char *unresolved_reason(const yoke_group_t *group)
{
    const yoke_record_t *record = group->members[0];
    return yoke_format("%s%s%s gives neither PCI address nor UUID; %s",
                       record->runtime == NULL ? "its runtime" : record->runtime,
                       record->platform == NULL ? "" : " platform ",
                       record->platform == NULL ? "" : record->platform,
                       group->candidates > 1
                           ? "it may be one of several cards listed here"
                           : "which card it is cannot be told");
}

static yoke_status_t judge_card(const yoke_grouping_t *grouping, size_t index,
                                const yoke_record_t *driver,
                                yoke_inventory_device_t *device)
{
    const yoke_group_t *group = &grouping->groups[index];
    size_t parts = count_parts(grouping, index);
    if (parts > 0)
        return refuse(device, yoke_format("partitioned: its %zu part%s scheduled instead",
                                          parts, parts == 1 ? " is" : "s are"));
    if (is_partitioned(group))
        return refuse(device, yoke_strdup("partitioning is on, but it has no slices"));
    if (driver == NULL)
        return refuse(device, undriven_reason(group));
    if (driver->hidden_by != NULL)
        return refuse(device, yoke_format("hidden by %s", driver->hidden_by));
    if (is_refused(group) && !yoke_known(&device->memory.total) &&
        !device->memory.unified)
        return refuse(device, yoke_strdup("its driver refuses to tell its memory"));
    return YOKE_OK;
}

static yoke_status_t judge(const yoke_grouping_t *grouping, size_t index,
                           yoke_inventory_device_t *device)
{
    const yoke_group_t *group = &grouping->groups[index];
    const yoke_record_t *driver = driver_of(group);
    device->schedulable = true;
    TRY(yoke_set_string(&device->health, worst_health(group)));
    if (driver != NULL)
        TRY(yoke_set_string(&device->hidden_by, driver->hidden_by));
    if (group->kind == YOKE_GROUP_EMULATOR)
        return refuse(device, yoke_strdup("an emulator, not a device"));
    if (device->health != NULL && strcmp(device->health, "ok") != 0)
        return refuse(device, yoke_format("the device is %s", device->health));
    if (group->kind == YOKE_GROUP_UNRESOLVED)
        return refuse(device, unresolved_reason(group));
    if (group->kind == YOKE_GROUP_HOST)
        return YOKE_OK;
    return judge_card(grouping, index, driver, device);
}

/* --- the host's memory ------------------------------------------------------------ */

static yoke_inventory_device_t *find_host(const yoke_node_t *node)
{
    for (size_t i = 0; i < node->device_count; i++)
        if (node->devices[i].kind == YOKE_DEVICE_CPU)
            return &node->devices[i];
    return NULL;
}

/* An integrated device whose driver tells no memory has the host's: it is one pool. */
static yoke_status_t share_host_memory(yoke_node_t *node)
{
    const yoke_inventory_device_t *host = find_host(node);
    for (size_t i = 0; i < node->device_count && host != NULL; i++) {
        yoke_memory_t *memory = &node->devices[i].memory;
        if (!memory->unified || yoke_known(&memory->total))
            continue;
        TRY(yoke_quantity_copy(&host->memory.total, &memory->total));
        TRY(yoke_quantity_copy(&host->memory.free, &memory->free));
        TRY(yoke_quantity_copy(&host->memory.usable, &memory->usable));
    }
    return YOKE_OK;
}

/* --- devices ---------------------------------------------------------------------- */

static yoke_status_t make_device(const yoke_grouping_t *grouping, size_t index,
                                 const yoke_node_t *node, yoke_inventory_device_t *device)
{
    const yoke_group_t *group = &grouping->groups[index];
    const char *parent =
        group->parent == SIZE_MAX ? NULL : node->devices[group->parent].id;
    if (group->kind != YOKE_GROUP_HOST && group->kind != YOKE_GROUP_EMULATOR)
        device->pci = group->pci;
    TRY(set_names(group, device));
    device->kind = kind_of(group, device->vendor);
    TRY(set_id(node, group, parent, device));
    TRY(yoke_set_string(&device->parent, parent));
    TRY(set_figures(group, device));
    TRY(set_views(group, device));
    return judge(grouping, index, device);
}

static bool is_part(const yoke_group_t *group)
{
    return group->kind == YOKE_GROUP_PART;
}

static yoke_status_t make_devices(const yoke_grouping_t *grouping, yoke_node_t *node)
{
    for (size_t i = 0; i < grouping->count; i++)
        if (yoke_node_add_device(node) == NULL)
            return YOKE_ERR_NO_MEMORY;
    /* Cards first: parts are named after them. */
    for (size_t i = 0; i < grouping->count; i++)
        if (!is_part(&grouping->groups[i]))
            TRY(make_device(grouping, i, node, &node->devices[i]));
    for (size_t i = 0; i < grouping->count; i++)
        if (is_part(&grouping->groups[i]))
            TRY(make_device(grouping, i, node, &node->devices[i]));
    return share_host_memory(node);
}

static int order_of(const yoke_inventory_device_t *device)
{
    if (device->pci.valid)
        return 0;
    return device->kind == YOKE_DEVICE_CPU ? 1 : 2;
}

static int compare_devices(const void *a, const void *b)
{
    const yoke_inventory_device_t *left = a;
    const yoke_inventory_device_t *right = b;
    int order = order_of(left) - order_of(right);
    if (order == 0 && left->pci.valid)
        order = yoke_pci_compare(&left->pci, &right->pci);
    if (order == 0 && (left->partition == NULL) != (right->partition == NULL))
        order = left->partition == NULL ? -1 : 1;
    return order != 0 ? order : yoke_natural_compare(left->id, right->id);
}

void yoke_node_sort_devices(yoke_node_t *node)
{
    if (node->device_count > 1)
        qsort(node->devices, node->device_count, sizeof *node->devices, compare_devices);
}

yoke_status_t yoke_identity_merge(const yoke_records_t *records, yoke_node_t *node)
{
    yoke_grouping_t grouping = {0};
    yoke_node_t made = {0};
    yoke_status_t status = yoke_grouping_make(records, &grouping);
    if (status == YOKE_OK)
        status = make_devices(&grouping, &made);
    yoke_grouping_free(&grouping);
    if (status != YOKE_OK) {
        yoke_node_clear(&made);
        return status;
    }
    yoke_node_sort_devices(&made);
    for (size_t i = 0; i < node->device_count; i++)
        yoke_device_clear(&node->devices[i]);
    free(node->devices);
    node->devices = made.devices;
    node->device_count = made.device_count;
    return YOKE_OK;
}

/* --- what follows ----------------------------------------------------------------- */

double yoke_node_memory_sum(const yoke_node_t *node, size_t *out_unknown)
{
    double sum = 0;
    double shared = 0;
    size_t unknown = 0;
    bool has_host = find_host(node) != NULL;
    for (size_t i = 0; i < node->device_count; i++) {
        const yoke_inventory_device_t *device = &node->devices[i];
        const yoke_quantity_t *total = &device->memory.total;
        if (device->kind == YOKE_DEVICE_EMULATOR || device->parent != NULL)
            continue;
        if (!yoke_known(total))
            unknown++;
        else if (!device->memory.unified)
            sum += total->value;
        else if (total->value > shared)
            shared = total->value;
    }
    *out_unknown = unknown;
    return has_host ? sum : sum + shared;
}

const char *yoke_distance_name(yoke_distance_t distance)
{
    static const char *const names[] = {"unknown", "same card", "same node",
                                        "other node"};
    return (size_t)distance < 4 ? names[distance] : names[0];
}

static const char *card_of(const yoke_inventory_device_t *device)
{
    return device->parent != NULL ? device->parent : device->id;
}

yoke_distance_t yoke_device_distance(const yoke_inventory_device_t *a,
                                     const yoke_inventory_device_t *b)
{
    if (a->id != NULL && b->id != NULL && strcmp(card_of(a), card_of(b)) == 0)
        return YOKE_DISTANCE_SAME_CARD;
    if (a->numa < 0 || b->numa < 0)
        return YOKE_DISTANCE_UNKNOWN;
    return a->numa == b->numa ? YOKE_DISTANCE_SAME_NODE : YOKE_DISTANCE_OTHER_NODE;
}
