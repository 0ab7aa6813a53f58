/* SPDX-License-Identifier: Apache-2.0 */
/* --format prometheus: text exposition. Unknown values have no sample. */
#include "inventory/format.h"

#include <string.h>

#include "base/error.h"
#include "inventory/document.h"

static void add_escaped(yoke_text_t *out, const char *value)
{
    for (; value != NULL && *value != '\0'; value++) {
        if (*value == '\\' || *value == '"')
            yoke_text_printf(out, "\\%c", *value);
        else if (*value == '\n')
            yoke_text_add(out, "\\n");
        else
            yoke_text_add_bytes(out, value, 1);
    }
}

static void add_label(yoke_text_t *out, const char *name, const char *value)
{
    yoke_text_printf(out, "%s=\"", name);
    add_escaped(out, value);
    yoke_text_add(out, "\"");
}

/* What a sample is of: a device, or a NIC, of one host. */
typedef struct place {
    const char *host;
    const yoke_inventory_device_t *device;
    const yoke_nic_t *nic;
} place_t;

static void open_sample(yoke_text_t *out, const char *metric, const place_t *place)
{
    yoke_text_printf(out, "%s{", metric);
    add_label(out, "host", place->host);
    yoke_text_add(out, ",");
    if (place->device != NULL)
        add_label(out, "device", place->device->id);
    else
        add_label(out, "nic", place->nic->id);
}

static void close_sample(yoke_text_t *out, double value)
{
    yoke_text_printf(out, "} %.15g\n", value);
}

static void add_quantity(yoke_text_t *out, const char *metric, const place_t *place,
                         const yoke_quantity_t *quantity)
{
    if (!yoke_known(quantity))
        return;
    open_sample(out, metric, place);
    yoke_text_add(out, ",");
    add_label(out, "source", yoke_source_name(quantity->source));
    close_sample(out, quantity->value);
}

static void add_info(yoke_text_t *out, const char *metric, const place_t *place)
{
    const yoke_inventory_device_t *device = place->device;
    open_sample(out, metric, place);
    yoke_text_add(out, ",");
    add_label(out, "kind", yoke_device_kind_name(device->kind));
    yoke_text_add(out, ",");
    add_label(out, "vendor", device->vendor);
    yoke_text_add(out, ",");
    add_label(out, "type", yoke_device_label(device));
    yoke_text_add(out, ",");
    add_label(out, "health", device->health);
    close_sample(out, 1);
}

static void add_schedulable(yoke_text_t *out, const char *metric, const place_t *place)
{
    open_sample(out, metric, place);
    close_sample(out, place->device->schedulable ? 1 : 0);
}

static void add_total(yoke_text_t *out, const char *metric, const place_t *place)
{
    add_quantity(out, metric, place, &place->device->memory.total);
}

static void add_free(yoke_text_t *out, const char *metric, const place_t *place)
{
    add_quantity(out, metric, place, &place->device->memory.free);
}

static void add_usable(yoke_text_t *out, const char *metric, const place_t *place)
{
    add_quantity(out, metric, place, &place->device->memory.usable);
}

static void add_bandwidth(yoke_text_t *out, const char *metric, const place_t *place)
{
    add_quantity(out, metric, place, &place->device->bandwidth);
}

static void add_compute(yoke_text_t *out, const char *metric, const place_t *place)
{
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++) {
        const yoke_quantity_t *rate = &place->device->compute[i];
        if (!yoke_known(rate))
            continue;
        open_sample(out, metric, place);
        yoke_text_add(out, ",");
        add_label(out, "dtype", yoke_dtype_name((yoke_dtype_t)i));
        yoke_text_add(out, ",");
        add_label(out, "source", yoke_source_name(rate->source));
        close_sample(out, rate->value);
    }
}

static void add_nic_rate(yoke_text_t *out, const char *metric, const place_t *place)
{
    add_quantity(out, metric, place, &place->nic->rate);
}

static const struct {
    const char *name, *help;
    void (*add)(yoke_text_t *out, const char *metric, const place_t *place);
    bool of_nic;
} metrics[] = {
    {"yoke_device_info", "What the device is; always 1.", add_info, false},
    {"yoke_device_schedulable", "1 when work can be placed on the device.",
     add_schedulable, false},
    {"yoke_device_memory_total_bytes", "Memory of the device.", add_total, false},
    {"yoke_device_memory_free_bytes", "Memory free when it was asked.", add_free, false},
    {"yoke_device_memory_usable_bytes", "Memory after reserves and limits.", add_usable,
     false},
    {"yoke_device_memory_bandwidth_bytes_per_second", "Memory bandwidth.", add_bandwidth,
     false},
    {"yoke_device_compute_flops", "Dense rate by data type.", add_compute, false},
    {"yoke_nic_rate_bytes_per_second", "Rate of the NIC, one direction.", add_nic_rate,
     true},
};

static void add_host(yoke_text_t *out, size_t metric, const char *host,
                     const yoke_node_t *node)
{
    size_t count = metrics[metric].of_nic ? node->nic_count : node->device_count;
    for (size_t i = 0; i < count; i++) {
        place_t place = {.host = host};
        if (metrics[metric].of_nic)
            place.nic = &node->nics[i];
        else
            place.device = &node->devices[i];
        metrics[metric].add(out, metrics[metric].name, &place);
    }
}

yoke_status_t yoke_format_prometheus(const yoke_inventory_t *inventory, size_t width,
                                     yoke_text_t *out)
{
    yoke_status_t status = YOKE_OK;
    (void)width;
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        yoke_text_printf(out, "# HELP %s %s\n# TYPE %s gauge\n", metrics[i].name,
                         metrics[i].help, metrics[i].name);
        for (size_t j = 0; j < inventory->node_count && status == YOKE_OK; j++) {
            yoke_strings_t hosts = {0};
            status = yoke_hostlist_expand(inventory->nodes[j].hosts, &hosts);
            for (size_t k = 0; k < hosts.count && status == YOKE_OK; k++)
                add_host(out, i, hosts.items[k], &inventory->nodes[j]);
            yoke_strings_free(&hosts);
        }
    }
    return status;
}
