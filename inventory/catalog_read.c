/* SPDX-License-Identifier: Apache-2.0 */
/* Reading yoke-catalog/1. Here "source" of a number is the text of who says so. */
#include "inventory/catalog_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"
#include "inventory/parts.h"
#include "inventory/reading.h"

/* {"<key>": number, "source": text, "marks": [...]}: every number names its source. */
static yoke_status_t read_figure(const yoke_cursor_t *at, const char *key, double max,
                                 bool user, yoke_quantity_t *out)
{
    const char *text = NULL;
    double value = 0;
    unsigned marks = 0;
    TRY(yoke_need_double(at, key, 0, max, &value));
    TRY(yoke_need_string(at, "source", &text));
    if (*text == '\0')
        return yoke_cursor_fail(at, "source", "must say where the number comes from");
    TRY(yoke_marks_from_json(at, "marks", &marks));
    return yoke_quantity_set(out, value, user ? YOKE_SOURCE_USER : YOKE_SOURCE_CATALOG,
                             marks, text);
}

static yoke_status_t read_member(const yoke_cursor_t *at, const char *member,
                                 const char *key, double max, bool user,
                                 yoke_quantity_t *out)
{
    const char *const allowed[] = {key, "source", "marks", NULL};
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, member, &child))
        return YOKE_OK;
    TRY(yoke_read_only(&child, allowed));
    return read_figure(&child, key, max, user, out);
}

static yoke_status_t read_by_dtype(const yoke_cursor_t *at, const char *member,
                                   const char *key, double max, bool user,
                                   yoke_quantity_t *out)
{
    const char *allowed[YOKE_DTYPE_COUNT + 1] = {0};
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, member, &child))
        return YOKE_OK;
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        allowed[i] = yoke_dtype_name((yoke_dtype_t)i);
    TRY(yoke_read_only(&child, allowed));
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        TRY(read_member(&child, allowed[i], key, max, user, &out[i]));
    return YOKE_OK;
}

static yoke_status_t read_names(const yoke_cursor_t *at, const char *key,
                                yoke_strings_t *out)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, key, &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_string(item.value) || json_string_length(item.value) == 0)
            return yoke_cursor_fail(&item, NULL, "must be a name");
        TRY(yoke_strings_add(out, json_string_value(item.value)));
    }
    return YOKE_OK;
}

static bool read_id16(const json_t *value, uint16_t *out)
{
    const char *text = json_string_value(value);
    if (text == NULL || strlen(text) != 4 || strspn(text, "0123456789abcdef") != 4)
        return false;
    *out = (uint16_t)strtoul(text, NULL, 16);
    return true;
}

/* {"740c": ["Instinct MI250"]}: products outside of the catalog with the same id. */
static yoke_status_t read_sharing(const yoke_cursor_t *at, yoke_catalog_device_t *device)
{
    yoke_cursor_t child;
    const char *key;
    json_t *names;
    if (!yoke_cursor_member(at, "shared", &child))
        return YOKE_OK;
    TRY(yoke_cursor_object(&child));
    json_object_foreach((json_t *)(size_t)child.value, key, names)
    {
        const char *name = json_string_value(json_array_get(names, 0));
        char *entry = name == NULL ? NULL : yoke_format("%s %s", key, name);
        if (entry == NULL)
            return yoke_cursor_fail(&child, key, "must be a list of product names");
        yoke_status_t status = yoke_strings_add(&device->shared, entry);
        free(entry);
        TRY(status);
    }
    return YOKE_OK;
}

static yoke_status_t read_pci_ids(const yoke_cursor_t *at, yoke_catalog_device_t *device)
{
    static const char *const allowed[] = {"vendor", "devices", "shared", NULL};
    yoke_cursor_t child, vendor, list;
    if (!yoke_cursor_member(at, "pci", &child))
        return YOKE_OK;
    TRY(yoke_read_only(&child, allowed));
    if (yoke_cursor_member(&child, "vendor", &vendor) &&
        !read_id16(vendor.value, &device->pci_vendor))
        return yoke_cursor_fail(&vendor, NULL, "must be four hex digits, like \"10de\"");
    if (yoke_cursor_member(&child, "devices", &list)) {
        TRY(yoke_cursor_array(&list));
        size_t count = yoke_cursor_count(&list);
        device->pci_devices = calloc(count + 1, sizeof *device->pci_devices);
        if (device->pci_devices == NULL)
            return yoke_fail_memory();
        for (size_t i = 0; i < count; i++) {
            yoke_cursor_t item = yoke_cursor_item(&list, i);
            if (!read_id16(item.value, &device->pci_devices[i]))
                return yoke_cursor_fail(&item, NULL,
                                        "must be four hex digits, like \"20b2\"");
        }
        device->pci_device_count = count;
    }
    return read_sharing(&child, device);
}

static yoke_status_t read_topology(const yoke_cursor_t *at, const char **out)
{
    static const char *const known[] = {"switched", "mesh", "pair", "islands", NULL};
    const char *text = NULL;
    TRY(yoke_opt_string(at, "topology", &text));
    for (size_t i = 0; text != NULL && known[i] != NULL; i++)
        if (strcmp(known[i], text) == 0) {
            *out = text;
            return YOKE_OK;
        }
    if (text == NULL)
        return YOKE_OK;
    return yoke_cursor_fail(at, "topology",
                            "must be \"switched\", \"mesh\", \"pair\" or \"islands\"");
}

static yoke_status_t read_group(const yoke_cursor_t *at, const char *topology,
                                unsigned *out)
{
    yoke_cursor_t group;
    if (!yoke_cursor_member(at, "group", &group))
        return YOKE_OK;
    TRY(yoke_read_unsigned(at, "group", YOKE_MAX_GROUP, out));
    if (topology == NULL || strcmp(topology, "islands") != 0 || *out < 2)
        return yoke_cursor_fail(at, "group",
                                "is the number of devices in one of the \"islands\" of "
                                "the topology, at least 2");
    return YOKE_OK;
}

static yoke_status_t read_link(const yoke_cursor_t *at, yoke_catalog_device_t *device)
{
    static const char *const allowed[] = {"name", "row",    "topology", "group",
                                          "rate", "source", "marks",    NULL};
    yoke_cursor_t child, rate;
    const char *shape = NULL;
    if (!yoke_cursor_member(at, "link", &child))
        return YOKE_OK;
    TRY(yoke_read_only(&child, allowed));
    TRY(yoke_read_string(&child, "name", &device->link_name));
    TRY(yoke_read_string(&child, "row", &device->link));
    TRY(read_topology(&child, &shape));
    TRY(yoke_set_string(&device->link_topology, shape));
    device->link_mesh = shape != NULL && strcmp(shape, "mesh") == 0;
    TRY(read_group(&child, shape, &device->link_group));
    if (!yoke_cursor_member(&child, "rate", &rate))
        return YOKE_OK;
    return read_figure(&child, "rate", YOKE_MAX_RATE, device->user, &device->link_rate);
}

static yoke_status_t read_pcie(const yoke_cursor_t *at, yoke_catalog_device_t *device)
{
    static const char *const allowed[] = {"generation", "lanes", "source", "marks", NULL};
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, "pcie", &child))
        return YOKE_OK;
    TRY(yoke_read_only(&child, allowed));
    TRY(yoke_marks_from_json(&child, "marks", &device->pcie_marks));
    TRY(yoke_read_string(&child, "source", &device->pcie_source));
    TRY(yoke_read_unsigned(&child, "generation", 15, &device->pcie_generation));
    return yoke_read_unsigned(&child, "lanes", 64, &device->pcie_lanes);
}

static yoke_status_t read_device_names(const yoke_cursor_t *at,
                                       yoke_catalog_device_t *device)
{
    const char *name = NULL;
    const char *kind = NULL;
    TRY(yoke_need_string(at, "name", &name));
    if (*name == '\0')
        return yoke_cursor_fail(at, "name", "must not be empty");
    TRY(yoke_set_string(&device->name, name));
    TRY(yoke_read_string(at, "vendor", &device->vendor));
    TRY(read_names(at, "aliases", &device->aliases));
    device->kind = yoke_vendor_device_kind(device->vendor);
    TRY(yoke_opt_string(at, "kind", &kind));
    if (kind != NULL && !yoke_device_kind_parse(kind, &device->kind))
        return yoke_cursor_fail(at, "kind",
                                "must be \"gpu\", \"npu\", \"cpu\" or \"other\"");
    TRY(yoke_read_string(at, "architecture", &device->architecture));
    TRY(yoke_read_string(at, "runtime", &device->runtime));
    TRY(yoke_read_string(at, "collectives", &device->collectives));
    return yoke_read_string(at, "source", &device->source);
}

static yoke_status_t read_device(const yoke_cursor_t *at, yoke_catalog_device_t *device)
{
    static const char *const allowed[] = {"vendor",
                                          "name",
                                          "aliases",
                                          "kind",
                                          "pci",
                                          "year",
                                          "architecture",
                                          "parts",
                                          "memory",
                                          "bandwidth",
                                          "compute",
                                          "achieved",
                                          "bandwidth_achieved",
                                          "link",
                                          "pcie",
                                          "power",
                                          "runtime",
                                          "collectives",
                                          "source",
                                          NULL};
    bool user = device->user;
    device->parts = 1;
    TRY(yoke_read_only(at, allowed));
    TRY(read_device_names(at, device));
    TRY(read_pci_ids(at, device));
    TRY(yoke_read_unsigned(at, "year", 9999, &device->year));
    TRY(yoke_read_unsigned(at, "parts", 64, &device->parts));
    if (device->parts == 0)
        return yoke_cursor_fail(at, "parts", "must be at least 1");
    TRY(read_member(at, "memory", "bytes", YOKE_MAX_BYTES, user, &device->memory));
    TRY(read_member(at, "bandwidth", "rate", YOKE_MAX_RATE, user, &device->bandwidth));
    TRY(read_by_dtype(at, "compute", "rate", YOKE_MAX_RATE, user, device->compute));
    TRY(read_by_dtype(at, "achieved", "fraction", 1.0, user, device->achieved));
    TRY(read_member(at, "bandwidth_achieved", "fraction", 1.0, user,
                    &device->bandwidth_achieved));
    TRY(read_link(at, device));
    TRY(read_pcie(at, device));
    return read_member(at, "power", "watts", 1e6, user, &device->power);
}

static yoke_status_t read_link_row(const yoke_cursor_t *at, yoke_catalog_link_t *link)
{
    static const char *const allowed[] = {"name",     "kind",    "topology", "rate",
                                          "achieved", "latency", "source",   NULL};
    const char *name = NULL;
    const char *shape = NULL;
    TRY(yoke_read_only(at, allowed));
    TRY(yoke_need_string(at, "name", &name));
    if (*name == '\0')
        return yoke_cursor_fail(at, "name", "must not be empty");
    TRY(yoke_set_string(&link->name, name));
    TRY(yoke_read_string(at, "kind", &link->kind));
    TRY(read_topology(at, &shape));
    TRY(yoke_set_string(&link->topology, shape));
    TRY(read_member(at, "rate", "rate", YOKE_MAX_RATE, link->user, &link->rate));
    TRY(read_member(at, "achieved", "fraction", 1.0, link->user, &link->fraction));
    TRY(read_member(at, "latency", "seconds", YOKE_MAX_SECONDS, link->user,
                    &link->latency));
    return yoke_read_string(at, "source", &link->source);
}

static yoke_status_t read_devices(const yoke_cursor_t *at, bool user,
                                  yoke_catalog_t *catalog)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "devices", &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        yoke_catalog_device_t *device = yoke_catalog_add_device(catalog);
        if (device == NULL)
            return YOKE_ERR_NO_MEMORY;
        device->user = user;
        TRY(yoke_set_string(&device->file, at->file));
        TRY(read_device(&item, device));
    }
    return YOKE_OK;
}

static yoke_status_t read_links(const yoke_cursor_t *at, bool user,
                                yoke_catalog_t *catalog)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "links", &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        yoke_catalog_link_t *link = yoke_catalog_add_link(catalog);
        if (link == NULL)
            return YOKE_ERR_NO_MEMORY;
        link->user = user;
        TRY(yoke_set_string(&link->file, at->file));
        TRY(read_link_row(&item, link));
    }
    return YOKE_OK;
}

static yoke_status_t check_schema(const yoke_cursor_t *at)
{
    static const char wanted[] = "yoke-catalog/1";
    const char *schema = NULL;
    uint64_t minor = 0;
    TRY(yoke_need_string(at, "schema", &schema));
    size_t length = sizeof wanted - 1;
    bool ours = strncmp(schema, wanted, length) == 0;
    const char *rest = ours ? schema + length : "";
    if (ours &&
        (*rest == '\0' || (*rest == '.' && yoke_parse_u64(rest + 1, strlen(rest + 1), 0,
                                                          UINT32_MAX, &minor))))
        return YOKE_OK;
    return yoke_cursor_fail(at, "schema", "must be \"%s\", found \"%.60s\"", wanted,
                            schema);
}

yoke_status_t yoke_catalog_read_json(const yoke_json_t *json, bool user,
                                     yoke_catalog_t *catalog)
{
    static const char *const allowed[] = {"schema", "devices", "links", NULL};
    yoke_cursor_t root = yoke_json_cursor(json);
    TRY(yoke_cursor_object(&root));
    TRY(check_schema(&root));
    TRY(yoke_read_only(&root, allowed));
    TRY(read_devices(&root, user, catalog));
    return read_links(&root, user, catalog);
}
