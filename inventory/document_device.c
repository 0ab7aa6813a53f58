/* SPDX-License-Identifier: Apache-2.0 */
/* Reading one device of yoke-inventory/1. */
#include "inventory/reading.h"

#include "base/error.h"

static yoke_status_t read_uuid(const yoke_cursor_t *at, yoke_inventory_device_t *device)
{
    const char *bytes = NULL;
    TRY(yoke_read_string(at, "uuid", &device->uuid_text));
    TRY(yoke_opt_string(at, "uuid_bytes", &bytes));
    if (bytes != NULL) {
        if (!yoke_uuid_parse(bytes, device->uuid))
            return yoke_cursor_fail(at, "uuid_bytes", "\"%s\" is not a UUID", bytes);
        device->has_uuid = true;
    } else if (device->uuid_text != NULL) {
        device->has_uuid = yoke_uuid_parse(device->uuid_text, device->uuid);
    }
    return YOKE_OK;
}

static yoke_status_t read_kind(const yoke_cursor_t *at, yoke_device_kind_t *out)
{
    const char *kind = NULL;
    TRY(yoke_need_string(at, "kind", &kind));
    if (!yoke_device_kind_parse(kind, out))
        return yoke_cursor_fail(at, "kind",
                                "must be \"gpu\", \"npu\", \"cpu\", \"emulator\" or "
                                "\"other\", found \"%s\"",
                                kind);
    return YOKE_OK;
}

static yoke_status_t read_identity(const yoke_cursor_t *at,
                                   yoke_inventory_device_t *device)
{
    int64_t numa = -1;
    TRY(yoke_read_id(at, "id", &device->id));
    TRY(read_kind(at, &device->kind));
    TRY(yoke_read_string(at, "vendor", &device->vendor));
    TRY(yoke_read_string(at, "name", &device->name));
    TRY(yoke_read_string(at, "type", &device->type));
    TRY(yoke_read_pci(at, &device->pci));
    TRY(read_uuid(at, device));
    TRY(yoke_read_string(at, "partition", &device->partition));
    TRY(yoke_read_string(at, "parent", &device->parent));
    device->schedulable = device->kind != YOKE_DEVICE_EMULATOR;
    TRY(yoke_opt_bool(at, "schedulable", &device->schedulable));
    TRY(yoke_read_string(at, "reason", &device->reason));
    TRY(yoke_read_string(at, "hidden_by", &device->hidden_by));
    TRY(yoke_read_string(at, "health", &device->health));
    TRY(yoke_read_index(at, "numa", &numa));
    device->numa = (int)numa;
    return YOKE_OK;
}

static yoke_status_t read_memory(const yoke_cursor_t *at, yoke_memory_t *memory)
{
    static const char *const allowed[] = {"total",   "free",   "usable",
                                          "unified", "source", "marks",
                                          "detail",  "origin", NULL};
    static const char *const keys[] = {"total", "free", "usable", NULL};
    static const double max[] = {YOKE_MAX_BYTES, YOKE_MAX_BYTES, YOKE_MAX_BYTES};
    yoke_quantity_t *quantities[] = {&memory->total, &memory->free, &memory->usable};
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, "memory", &child))
        return YOKE_OK;
    TRY(yoke_read_only(&child, allowed));
    TRY(yoke_opt_bool(&child, "unified", &memory->unified));
    return yoke_read_shared(&child, keys, max, quantities, 3);
}

static yoke_status_t read_rates(const yoke_cursor_t *at, const char *member,
                                const char *key, double max, yoke_quantity_t *rates)
{
    const char *allowed[YOKE_DTYPE_COUNT + 1] = {0};
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, member, &child))
        return YOKE_OK;
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        allowed[i] = yoke_dtype_name((yoke_dtype_t)i);
    TRY(yoke_read_only(&child, allowed));
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        TRY(yoke_read_quantity(&child, allowed[i], key, max, &rates[i]));
    return YOKE_OK;
}

static yoke_status_t read_device_link(const yoke_cursor_t *at,
                                      yoke_inventory_device_t *device)
{
    static const char *const allowed[] = {"name",   "rate",  "mesh",   "group",
                                          "source", "marks", "detail", NULL};
    static const char *const keys[] = {"rate", NULL};
    static const double max[] = {YOKE_MAX_RATE};
    yoke_quantity_t *quantities[] = {&device->link_rate};
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, "link", &child))
        return YOKE_OK;
    TRY(yoke_read_only(&child, allowed));
    TRY(yoke_read_string(&child, "name", &device->link_name));
    TRY(yoke_opt_bool(&child, "mesh", &device->link_mesh));
    TRY(yoke_read_unsigned(&child, "group", YOKE_MAX_GROUP, &device->link_group));
    return yoke_read_shared(&child, keys, max, quantities, 1);
}

static yoke_status_t read_pcie(const yoke_cursor_t *at, yoke_inventory_device_t *device)
{
    static const char *const allowed[] = {"generation", "lanes", "generation_max",
                                          "lanes_max", NULL};
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, "pcie", &child))
        return YOKE_OK;
    TRY(yoke_read_only(&child, allowed));
    TRY(yoke_read_unsigned(&child, "generation", 15, &device->pcie_generation));
    TRY(yoke_read_unsigned(&child, "lanes", 64, &device->pcie_lanes));
    TRY(yoke_read_unsigned(&child, "generation_max", 15, &device->pcie_generation_max));
    return yoke_read_unsigned(&child, "lanes_max", 64, &device->pcie_lanes_max);
}

static yoke_status_t read_view(const yoke_cursor_t *at, yoke_view_t *view)
{
    static const char *const allowed[] = {"runtime",      "ordinal", "native", "library",
                                          "version",      "driver",  "name",   "platform",
                                          "memory_total", NULL};
    TRY(yoke_read_only(at, allowed));
    TRY(yoke_read_id(at, "runtime", &view->runtime));
    TRY(yoke_read_index(at, "ordinal", &view->ordinal));
    TRY(yoke_read_index(at, "native", &view->native));
    TRY(yoke_read_string(at, "library", &view->library));
    TRY(yoke_read_string(at, "version", &view->version));
    TRY(yoke_read_string(at, "driver", &view->driver));
    TRY(yoke_read_string(at, "name", &view->name));
    TRY(yoke_read_string(at, "platform", &view->platform));
    return yoke_read_quantity(at, "memory_total", "bytes", YOKE_MAX_BYTES,
                              &view->memory_total);
}

static yoke_status_t read_views(const yoke_cursor_t *at, yoke_inventory_device_t *device)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "views", &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        yoke_view_t *view = yoke_device_add_view(device);
        if (view == NULL)
            return YOKE_ERR_NO_MEMORY;
        TRY(read_view(&item, view));
    }
    return YOKE_OK;
}

yoke_status_t yoke_read_device(const yoke_cursor_t *at, yoke_inventory_device_t *device)
{
    static const char *const allowed[] = {"id",        "kind",      "vendor",
                                          "name",      "type",      "pci",
                                          "pci_ids",   "uuid",      "uuid_bytes",
                                          "partition", "parent",    "schedulable",
                                          "reason",    "hidden_by", "health",
                                          "numa",      "memory",    "compute",
                                          "achieved",  "bandwidth", "bandwidth_achieved",
                                          "copy_to",   "copy_from", "launch",
                                          "link",      "pcie",      "views",
                                          NULL};
    TRY(yoke_read_only(at, allowed));
    TRY(read_identity(at, device));
    TRY(read_memory(at, &device->memory));
    TRY(read_rates(at, "compute", "rate", YOKE_MAX_RATE, device->compute));
    TRY(read_rates(at, "achieved", "fraction", YOKE_MAX_FRACTION, device->achieved));
    TRY(yoke_read_quantity(at, "bandwidth", "rate", YOKE_MAX_RATE, &device->bandwidth));
    TRY(yoke_read_quantity(at, "bandwidth_achieved", "fraction", YOKE_MAX_FRACTION,
                           &device->bandwidth_achieved));
    TRY(yoke_read_quantity(at, "copy_to", "rate", YOKE_MAX_RATE, &device->copy_to));
    TRY(yoke_read_quantity(at, "copy_from", "rate", YOKE_MAX_RATE, &device->copy_from));
    TRY(yoke_read_quantity(at, "launch", "latency", YOKE_MAX_SECONDS, &device->launch));
    TRY(read_device_link(at, device));
    TRY(read_pcie(at, device));
    return read_views(at, device);
}
