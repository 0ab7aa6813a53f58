/* SPDX-License-Identifier: Apache-2.0 */
/* An inventory as yoke-inventory/1. Unknown is null; lists are never left out. */
#include "inventory/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/parts.h"

static void set_known(json_t *object, const char *key, const yoke_quantity_t *quantity)
{
    if (yoke_known(quantity))
        yoke_json_set_exact(object, key, quantity->value);
    else
        json_object_set_new(object, key, json_null());
}

static void set_origin(json_t *object, const yoke_quantity_t *quantity)
{
    yoke_json_set_string(object, "source",
                         yoke_known(quantity) ? yoke_source_name(quantity->source)
                                              : NULL);
    if (quantity->marks != 0)
        json_object_set_new(object, "marks", yoke_marks_to_json(quantity->marks));
    if (quantity->detail != NULL)
        yoke_json_set_string(object, "detail", quantity->detail);
}

json_t *yoke_quantity_to_json(const yoke_quantity_t *quantity, const char *key)
{
    if (!yoke_known(quantity))
        return json_null();
    json_t *object = json_object();
    set_known(object, key, quantity);
    set_origin(object, quantity);
    return object;
}

static void set_quantity(json_t *object, const char *member, const char *key,
                         const yoke_quantity_t *quantity)
{
    json_object_set_new(object, member, yoke_quantity_to_json(quantity, key));
}

static bool same_origin(const yoke_quantity_t *a, const yoke_quantity_t *b)
{
    bool same_detail = a->detail == NULL || b->detail == NULL
                           ? a->detail == b->detail
                           : strcmp(a->detail, b->detail) == 0;
    return a->source == b->source && a->marks == b->marks && same_detail;
}

/*
 * Several numbers in one object share "source", "marks" and "detail": those of the first
 * one that is known. Where another differs, "origin" says so by its key.
 */
static void set_shared(json_t *object, const char *const *keys,
                       const yoke_quantity_t *const *quantities, size_t count)
{
    static const yoke_quantity_t unknown = {0};
    const yoke_quantity_t *first = &unknown;
    json_t *origins = json_object();
    for (size_t i = 0; i < count; i++) {
        const yoke_quantity_t *quantity = quantities[i];
        set_known(object, keys[i], quantity);
        if (!yoke_known(quantity))
            continue;
        if (first == &unknown)
            first = quantity;
        if (same_origin(first, quantity))
            continue;
        json_t *origin = json_object();
        set_origin(origin, quantity);
        json_object_set_new(origins, keys[i], origin);
    }
    set_origin(object, first);
    if (json_object_size(origins) > 0)
        json_object_set(object, "origin", origins);
    json_decref(origins);
}

static void set_pci(json_t *object, const yoke_pci_t *pci)
{
    char text[24];
    yoke_json_set_string(object, "pci", pci->valid ? yoke_pci_text(pci, text) : NULL);
    if (pci->vendor_id == 0 && pci->device_id == 0)
        return;
    char *ids = yoke_format("%04x:%04x", pci->vendor_id, pci->device_id);
    yoke_json_set_string(object, "pci_ids", ids);
    free(ids);
}

static void set_count(json_t *object, const char *key, uint64_t count)
{
    if (count == 0)
        json_object_set_new(object, key, json_null());
    else
        yoke_json_set_u64(object, key, count);
}

static void set_index(json_t *object, const char *key, int64_t index)
{
    json_object_set_new(object, key, index < 0 ? json_null() : json_integer(index));
}

static json_t *view_to_json(const yoke_view_t *view)
{
    json_t *object = json_object();
    yoke_json_set_string(object, "runtime", view->runtime);
    set_index(object, "ordinal", view->ordinal);
    set_index(object, "native", view->native);
    yoke_json_set_string(object, "library", view->library);
    yoke_json_set_string(object, "version", view->version);
    yoke_json_set_string(object, "driver", view->driver);
    yoke_json_set_string(object, "name", view->name);
    yoke_json_set_string(object, "platform", view->platform);
    set_quantity(object, "memory_total", "bytes", &view->memory_total);
    return object;
}

static json_t *memory_to_json(const yoke_memory_t *memory)
{
    static const char *const keys[] = {"total", "free", "usable"};
    const yoke_quantity_t *quantities[] = {&memory->total, &memory->free,
                                           &memory->usable};
    json_t *object = json_object();
    set_shared(object, keys, quantities, 3);
    json_object_set_new(object, "unified", json_boolean(memory->unified));
    return object;
}

static json_t *rates_to_json(const yoke_quantity_t *quantities, const char *key)
{
    json_t *object = json_object();
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        if (yoke_known(&quantities[i]))
            set_quantity(object, yoke_dtype_name((yoke_dtype_t)i), key, &quantities[i]);
    return object;
}

static json_t *link_part_to_json(const yoke_inventory_device_t *device)
{
    if (device->link_name == NULL && !yoke_known(&device->link_rate) &&
        !device->link_mesh && device->link_group == 0)
        return json_null();
    json_t *object = json_object();
    yoke_json_set_string(object, "name", device->link_name);
    set_known(object, "rate", &device->link_rate);
    set_origin(object, &device->link_rate);
    json_object_set_new(object, "mesh", json_boolean(device->link_mesh));
    if (device->link_group > 0)
        yoke_json_set_u64(object, "group", device->link_group);
    return object;
}

static json_t *pcie_to_json(const yoke_inventory_device_t *device)
{
    if (device->pcie_generation == 0 && device->pcie_lanes == 0 &&
        device->pcie_generation_max == 0 && device->pcie_lanes_max == 0)
        return json_null();
    json_t *object = json_object();
    set_count(object, "generation", device->pcie_generation);
    set_count(object, "lanes", device->pcie_lanes);
    set_count(object, "generation_max", device->pcie_generation_max);
    set_count(object, "lanes_max", device->pcie_lanes_max);
    return object;
}

/* The text as the runtime prints it; the bytes too where the text does not give them. */
static void set_uuid(json_t *object, const yoke_inventory_device_t *device)
{
    char buffer[40];
    uint8_t parsed[16];
    const char *text = device->uuid_text;
    if (text == NULL && device->has_uuid)
        text = yoke_uuid_text(device->uuid, buffer);
    yoke_json_set_string(object, "uuid", text);
    if (device->has_uuid &&
        (!yoke_uuid_parse(text, parsed) || memcmp(parsed, device->uuid, 16) != 0))
        yoke_json_set_string(object, "uuid_bytes", yoke_uuid_text(device->uuid, buffer));
}

static void set_identity(json_t *object, const yoke_inventory_device_t *device)
{
    yoke_json_set_string(object, "id", device->id);
    yoke_json_set_string(object, "kind", yoke_device_kind_name(device->kind));
    yoke_json_set_string(object, "vendor", device->vendor);
    yoke_json_set_string(object, "name", device->name);
    yoke_json_set_string(object, "type", device->type);
    set_pci(object, &device->pci);
    set_uuid(object, device);
    yoke_json_set_string(object, "partition", device->partition);
    yoke_json_set_string(object, "parent", device->parent);
    json_object_set_new(object, "schedulable", json_boolean(device->schedulable));
    yoke_json_set_string(object, "reason", device->reason);
    yoke_json_set_string(object, "hidden_by", device->hidden_by);
    yoke_json_set_string(object, "health", device->health);
    set_index(object, "numa", device->numa);
}

json_t *yoke_device_to_json(const yoke_inventory_device_t *device)
{
    json_t *object = json_object();
    set_identity(object, device);
    json_object_set_new(object, "memory", memory_to_json(&device->memory));
    json_object_set_new(object, "compute", rates_to_json(device->compute, "rate"));
    json_object_set_new(object, "achieved", rates_to_json(device->achieved, "fraction"));
    set_quantity(object, "bandwidth", "rate", &device->bandwidth);
    set_quantity(object, "bandwidth_achieved", "fraction", &device->bandwidth_achieved);
    set_quantity(object, "copy_to", "rate", &device->copy_to);
    set_quantity(object, "copy_from", "rate", &device->copy_from);
    set_quantity(object, "launch", "latency", &device->launch);
    json_object_set_new(object, "link", link_part_to_json(device));
    json_object_set_new(object, "pcie", pcie_to_json(device));
    json_t *views = json_array();
    for (size_t i = 0; i < device->view_count; i++)
        json_array_append_new(views, view_to_json(&device->views[i]));
    json_object_set_new(object, "views", views);
    return object;
}

static json_t *nic_to_json(const yoke_nic_t *nic)
{
    json_t *object = json_object();
    json_t *near = json_array();
    yoke_json_set_string(object, "id", nic->id);
    yoke_json_set_string(object, "kind", nic->kind);
    set_pci(object, &nic->pci);
    set_index(object, "numa", nic->numa);
    set_known(object, "rate", &nic->rate);
    set_origin(object, &nic->rate);
    yoke_json_set_string(object, "owner", nic->owner);
    for (size_t i = 0; i < nic->near_count; i++)
        json_array_append_new(near, json_string(nic->near[i]));
    json_object_set_new(object, "near", near);
    return object;
}

static json_t *finding_to_json(const yoke_finding_t *finding)
{
    json_t *object = json_object();
    yoke_json_set_string(object, "probe", finding->probe);
    yoke_json_set_string(object, "verdict", finding->verdict);
    yoke_json_set_string(object, "library", finding->library);
    yoke_json_set_string(object, "call", finding->call);
    json_object_set_new(object, "code",
                        finding->has_code ? json_integer(finding->code) : json_null());
    yoke_json_set_string(object, "code_name", finding->code_name);
    yoke_json_set_string(object, "text", finding->text);
    json_object_set_new(object, "fault", json_boolean(finding->fault));
    return object;
}

json_t *yoke_node_to_json(const yoke_node_t *node)
{
    json_t *object = json_object();
    json_t *devices = json_array();
    json_t *nics = json_array();
    json_t *findings = json_array();
    json_t *warnings = json_array();
    yoke_json_set_string(object, "hosts", node->hosts);
    yoke_json_set_string(object, "os", node->os);
    yoke_json_set_string(object, "kernel", node->kernel);
    if (node->gathered_at > 0)
        yoke_json_set_exact(object, "gathered_at", node->gathered_at);
    else
        json_object_set_new(object, "gathered_at", json_null());
    for (size_t i = 0; i < node->device_count; i++)
        json_array_append_new(devices, yoke_device_to_json(&node->devices[i]));
    for (size_t i = 0; i < node->nic_count; i++)
        json_array_append_new(nics, nic_to_json(&node->nics[i]));
    for (size_t i = 0; i < node->finding_count; i++)
        json_array_append_new(findings, finding_to_json(&node->findings[i]));
    for (size_t i = 0; i < node->warning_count; i++)
        json_array_append_new(warnings, json_string(node->warnings[i]));
    json_object_set_new(object, "devices", devices);
    json_object_set_new(object, "nics", nics);
    json_object_set_new(object, "findings", findings);
    json_object_set_new(object, "warnings", warnings);
    return object;
}

static json_t *link_to_json(const yoke_link_t *link)
{
    static const char *const keys[] = {"rate", "latency"};
    const yoke_quantity_t *quantities[] = {&link->rate, &link->latency};
    json_t *object = json_object();
    json_object_set_new(object, "between",
                        json_pack("[s,s]", link->between[0], link->between[1]));
    yoke_json_set_string(object, "kind", link->kind);
    set_shared(object, keys, quantities, 2);
    if (link->fraction > 0)
        yoke_json_set_exact(object, "fraction", link->fraction);
    else
        json_object_set_new(object, "fraction", json_null());
    return object;
}

json_t *yoke_inventory_to_json(const yoke_inventory_t *inventory)
{
    json_t *object = json_object();
    json_t *nodes = json_array();
    json_t *links = json_array();
    if (object == NULL || nodes == NULL || links == NULL) {
        json_decref(object);
        json_decref(nodes);
        json_decref(links);
        yoke_fail_memory();
        return NULL;
    }
    yoke_json_set_string(object, "schema", "yoke-inventory/1");
    for (size_t i = 0; i < inventory->node_count; i++)
        json_array_append_new(nodes, yoke_node_to_json(&inventory->nodes[i]));
    for (size_t i = 0; i < inventory->link_count; i++)
        json_array_append_new(links, link_to_json(&inventory->links[i]));
    json_object_set_new(object, "nodes", nodes);
    json_object_set_new(object, "links", links);
    yoke_extra_attach(inventory->extra, object);
    return object;
}

yoke_status_t yoke_inventory_text(const yoke_inventory_t *inventory, char **out_text)
{
    json_t *root = yoke_inventory_to_json(inventory);
    char *text = root == NULL ? NULL : yoke_json_text(root);
    json_decref(root);
    if (text == NULL)
        return yoke_fail_memory();
    *out_text = text;
    return YOKE_OK;
}
