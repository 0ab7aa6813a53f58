/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the catalog as yoke-catalog/1. */
#include "inventory/catalog.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inventory/document.h"

static json_t *figure(const yoke_quantity_t *quantity, const char *key)
{
    if (!yoke_known(quantity))
        return json_null();
    json_t *object = json_object();
    yoke_json_set_exact(object, key, quantity->value);
    yoke_json_set_string(object, "source", quantity->detail);
    json_object_set_new(object, "marks", yoke_marks_to_json(quantity->marks));
    return object;
}

static json_t *by_dtype(const yoke_quantity_t *quantities, const char *key)
{
    json_t *object = json_object();
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        if (yoke_known(&quantities[i]))
            json_object_set_new(object, yoke_dtype_name((yoke_dtype_t)i),
                                figure(&quantities[i], key));
    return object;
}

static json_t *pci_ids(const yoke_catalog_device_t *device)
{
    json_t *object = json_object();
    json_t *list = json_array();
    json_t *shared = json_object();
    char vendor[8];
    yoke_snprintf(vendor, sizeof vendor, "%04x", device->pci_vendor);
    yoke_json_set_string(object, "vendor", device->pci_vendor == 0 ? NULL : vendor);
    for (size_t i = 0; i < device->pci_device_count; i++) {
        char text[8];
        yoke_snprintf(text, sizeof text, "%04x", device->pci_devices[i]);
        json_array_append_new(list, json_string(text));
    }
    for (size_t i = 0; i < device->shared.count; i++) {
        char *key = yoke_strndup(device->shared.items[i], 4);
        if (key != NULL)
            json_object_set_new(shared, key,
                                json_pack("[s]", device->shared.items[i] + 5));
        free(key);
    }
    json_object_set_new(object, "devices", list);
    json_object_set_new(object, "shared", shared);
    return object;
}

static json_t *names(const yoke_strings_t *strings)
{
    json_t *list = json_array();
    for (size_t i = 0; i < strings->count; i++)
        json_array_append_new(list, json_string(strings->items[i]));
    return list;
}

static json_t *link_of(const yoke_catalog_device_t *device)
{
    if (device->link_name == NULL && !yoke_known(&device->link_rate))
        return json_null();
    json_t *object = figure(&device->link_rate, "rate");
    if (json_is_null(object)) {
        object = json_object();
        json_object_set_new(object, "rate", json_null());
        json_object_set_new(object, "source", json_null());
        json_object_set_new(object, "marks", json_array());
    }
    yoke_json_set_string(object, "name", device->link_name);
    yoke_json_set_string(object, "row", device->link);
    yoke_json_set_string(object, "topology", device->link_topology);
    if (device->link_group > 0)
        yoke_json_set_u64(object, "group", device->link_group);
    return object;
}

static json_t *pcie_of(const yoke_catalog_device_t *device)
{
    if (device->pcie_generation == 0 && device->pcie_lanes == 0)
        return json_null();
    json_t *object = json_object();
    json_object_set_new(object, "generation",
                        device->pcie_generation == 0
                            ? json_null()
                            : json_integer(device->pcie_generation));
    json_object_set_new(object, "lanes",
                        device->pcie_lanes == 0 ? json_null()
                                                : json_integer(device->pcie_lanes));
    yoke_json_set_string(object, "source", device->pcie_source);
    json_object_set_new(object, "marks", yoke_marks_to_json(device->pcie_marks));
    return object;
}

json_t *yoke_catalog_device_to_json(const yoke_catalog_device_t *device)
{
    json_t *object = json_object();
    yoke_json_set_string(object, "vendor", device->vendor);
    yoke_json_set_string(object, "name", device->name);
    json_object_set_new(object, "aliases", names(&device->aliases));
    yoke_json_set_string(object, "kind", yoke_device_kind_name(device->kind));
    json_object_set_new(object, "pci", pci_ids(device));
    yoke_json_set_string(object, "architecture", device->architecture);
    json_object_set_new(object, "year",
                        device->year == 0 ? json_null() : json_integer(device->year));
    json_object_set_new(object, "parts", json_integer(device->parts));
    json_object_set_new(object, "memory", figure(&device->memory, "bytes"));
    json_object_set_new(object, "bandwidth", figure(&device->bandwidth, "rate"));
    json_object_set_new(object, "compute", by_dtype(device->compute, "rate"));
    json_object_set_new(object, "achieved", by_dtype(device->achieved, "fraction"));
    json_object_set_new(object, "bandwidth_achieved",
                        figure(&device->bandwidth_achieved, "fraction"));
    json_object_set_new(object, "link", link_of(device));
    json_object_set_new(object, "pcie", pcie_of(device));
    json_object_set_new(object, "power", figure(&device->power, "watts"));
    yoke_json_set_string(object, "runtime", device->runtime);
    yoke_json_set_string(object, "collectives", device->collectives);
    yoke_json_set_string(object, "source", device->source);
    return object;
}

json_t *yoke_catalog_link_to_json(const yoke_catalog_link_t *link)
{
    json_t *object = json_object();
    yoke_json_set_string(object, "name", link->name);
    yoke_json_set_string(object, "kind", link->kind);
    yoke_json_set_string(object, "topology", link->topology);
    json_object_set_new(object, "rate", figure(&link->rate, "rate"));
    json_object_set_new(object, "achieved", figure(&link->fraction, "fraction"));
    json_object_set_new(object, "latency", figure(&link->latency, "seconds"));
    yoke_json_set_string(object, "source", link->source);
    return object;
}
