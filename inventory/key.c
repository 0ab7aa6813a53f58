/* SPDX-License-Identifier: Apache-2.0 */
/* A node as bytes that can be compared: for merging many documents at once. */
#include "inventory/parts.h"

#include <string.h>

static void add_u64(yoke_text_t *key, uint64_t value)
{
    char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(unsigned char)(value >> (56 - 8 * i) & 0xff);
    yoke_text_add_bytes(key, bytes, sizeof bytes);
}

static void add_i64(yoke_text_t *key, int64_t value)
{
    add_u64(key, (uint64_t)value);
}

/* With its length, so that no two sequences of strings look alike. */
static void add_string(yoke_text_t *key, const char *string)
{
    size_t size = string == NULL ? 0 : strlen(string);
    add_u64(key, string == NULL ? UINT64_MAX : size);
    if (size > 0)
        yoke_text_add_bytes(key, string, size);
}

static void add_quantity(yoke_text_t *key, const yoke_quantity_t *quantity)
{
    uint64_t bits = 0;
    if (quantity->source == YOKE_SOURCE_UNKNOWN) {
        yoke_text_add_bytes(key, "", 1);
        return;
    }
    memcpy(&bits, &quantity->value, sizeof bits);
    add_u64(key, bits);
    add_u64(key, (uint64_t)quantity->source << 32 | quantity->marks);
    add_string(key, quantity->detail);
}

static void add_part(yoke_text_t *key, const void *part, const yoke_part_t *table)
{
    void *at = (void *)(size_t)part;
    for (const size_t *offset = table->strings; *offset != YOKE_PART_END; offset++)
        add_string(key, *yoke_part_string(at, *offset));
    for (const size_t *offset = table->quantities; *offset != YOKE_PART_END; offset++)
        add_quantity(key, yoke_part_quantity(at, *offset));
}

static void add_pci(yoke_text_t *key, const yoke_pci_t *pci)
{
    add_u64(key, (uint64_t)pci->valid << 56 | (uint64_t)pci->domain << 24 |
                     (uint64_t)pci->bus << 16 | (uint64_t)pci->device << 8 |
                     pci->function);
    add_u64(key, (uint64_t)pci->vendor_id << 16 | pci->device_id);
}

static void add_device(yoke_text_t *key, const yoke_inventory_device_t *device)
{
    add_part(key, device, &yoke_device_part);
    add_pci(key, &device->pci);
    add_u64(key, (uint64_t)device->kind << 4 | (uint64_t)device->has_uuid << 3 |
                     (uint64_t)device->schedulable << 2 |
                     (uint64_t)device->memory.unified << 1 | (uint64_t)device->link_mesh);
    if (device->has_uuid)
        yoke_text_add_bytes(key, (const char *)device->uuid, sizeof device->uuid);
    add_i64(key, device->numa);
    add_u64(key, device->link_group);
    add_u64(key, (uint64_t)device->pcie_generation << 32 | device->pcie_lanes);
    add_u64(key, (uint64_t)device->pcie_generation_max << 32 | device->pcie_lanes_max);
    add_u64(key, device->view_count);
    for (size_t i = 0; i < device->view_count; i++) {
        add_part(key, &device->views[i], &yoke_view_part);
        add_i64(key, device->views[i].ordinal);
        add_i64(key, device->views[i].native);
    }
}

static void add_nic(yoke_text_t *key, const yoke_nic_t *nic)
{
    add_part(key, nic, &yoke_nic_part);
    add_pci(key, &nic->pci);
    add_i64(key, nic->numa);
    add_u64(key, nic->near_count);
    for (size_t i = 0; i < nic->near_count; i++)
        add_string(key, nic->near[i]);
}

static void add_finding(yoke_text_t *key, const yoke_finding_t *finding)
{
    add_part(key, finding, &yoke_finding_part);
    add_u64(key, (uint64_t)finding->has_code << 1 | (uint64_t)finding->fault);
    add_i64(key, finding->has_code ? finding->code : 0);
}

void yoke_node_key(const yoke_node_t *node, yoke_text_t *key)
{
    add_string(key, node->os);
    add_string(key, node->kernel);
    add_u64(key, node->device_count);
    for (size_t i = 0; i < node->device_count; i++)
        add_device(key, &node->devices[i]);
    add_u64(key, node->nic_count);
    for (size_t i = 0; i < node->nic_count; i++)
        add_nic(key, &node->nics[i]);
    add_u64(key, node->finding_count);
    for (size_t i = 0; i < node->finding_count; i++)
        add_finding(key, &node->findings[i]);
    add_u64(key, node->warning_count);
    for (size_t i = 0; i < node->warning_count; i++)
        add_string(key, node->warnings[i]);
}
