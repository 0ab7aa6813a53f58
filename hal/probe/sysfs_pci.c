/* SPDX-License-Identifier: Apache-2.0 */
/* Accelerators on the PCI bus, whether a driver is bound or not. */
#include "hal/probe/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"
#include "inventory/vendor.h"

#define FOLDER "/sys/bus/pci/devices"

bool yoke_sysfs_pci_of(const char *path, yoke_pci_t *out_pci)
{
    const char *end = path + strlen(path);
    while (end > path) {
        const char *begin = end;
        while (begin > path && begin[-1] != '/')
            begin--;
        char part[32];
        if (end > begin && (size_t)(end - begin) < sizeof part) {
            memcpy(part, begin, (size_t)(end - begin));
            part[end - begin] = '\0';
            if (strchr(part, '.') != NULL && yoke_pci_parse(part, out_pci))
                return true;
        }
        end = begin > path ? begin - 1 : path;
    }
    return false;
}

/* "16.0 GT/s PCIe" -> 4; 0: unknown. */
static unsigned link_generation(const char *root, const char *name, const char *file)
{
    static const unsigned tenths[] = {25, 50, 80, 160, 320, 640};
    unsigned whole = 0, tenth = 0, generation = 0;
    char *line = yoke_sysfs_line(root, FOLDER "/%s/%s", name, file);
    if (line != NULL && sscanf(line, "%4u.%1u", &whole, &tenth) >= 1)
        for (unsigned i = 0; i < 6; i++)
            if (whole * 10 + tenth == tenths[i])
                generation = i + 1;
    free(line);
    return generation;
}

static unsigned link_lanes(const char *root, const char *name, const char *file)
{
    int64_t lanes = yoke_sysfs_number(0, root, FOLDER "/%s/%s", name, file);
    return lanes > 0 && lanes <= 32 ? (unsigned)lanes : 0; /* 255: the link is down */
}

/* Bound kernel driver and, where the module says one, its version. */
static void read_driver(const char *root, const char *name, yoke_record_t *record)
{
    record->driver = yoke_sysfs_link(root, FOLDER "/%s/driver", name);
    if (record->driver == NULL)
        return;
    char *version = yoke_sysfs_line(root, "/sys/module/%s/version", record->driver);
    if (version != NULL) {
        char *both = yoke_format("%s %s", record->driver, version);
        if (both != NULL) {
            free(record->driver);
            record->driver = both;
        }
    }
    free(version);
}

/* amdgpu tells the memory of a card without any library. */
static void read_memory(const char *root, const char *name, yoke_record_t *record)
{
    int64_t total = yoke_sysfs_number(-1, root, FOLDER "/%s/mem_info_vram_total", name);
    int64_t used = yoke_sysfs_number(-1, root, FOLDER "/%s/mem_info_vram_used", name);
    if (total <= 0)
        return;
    yoke_quantity_set(&record->memory_total, (double)total, YOKE_SOURCE_SYSFS, 0,
                      "mem_info_vram_total");
    if (used >= 0 && used <= total)
        yoke_quantity_set(&record->memory_free, (double)(total - used), YOKE_SOURCE_SYSFS,
                          0, "mem_info_vram_used");
}

/* A virtual function is a part of the card that its physical function is. */
static void read_virtual_function(const char *root, const char *name,
                                  yoke_record_t *record)
{
    char *parent = yoke_sysfs_link(root, FOLDER "/%s/physfn", name);
    yoke_pci_t pci = {0};
    if (parent != NULL && yoke_pci_parse(parent, &pci)) {
        record->parent_pci = pci;
        record->partition = yoke_format("vf-%s", name);
    }
    free(parent);
}

static yoke_status_t add_device(const char *root, const char *name, const yoke_pci_t *pci,
                                int64_t class_code, yoke_records_t *records)
{
    yoke_record_t *record = yoke_records_add(records);
    if (record == NULL)
        return yoke_fail_memory();
    const char *vendor = yoke_vendor_by_pci(pci->vendor_id);
    record->probe = yoke_strdup("sysfs");
    record->runtime = yoke_strdup("sysfs");
    record->pci = *pci;
    record->vendor = vendor != NULL ? yoke_strdup(vendor) : NULL;
    record->kind = yoke_vendor_device_kind(vendor);
    record->kind_known = vendor != NULL || (class_code >> 16) == 0x03;
    record->numa = (int)yoke_sysfs_number(-1, root, FOLDER "/%s/numa_node", name);
    if (record->numa < 0)
        record->numa = -1;
    record->pcie_generation = link_generation(root, name, "current_link_speed");
    record->pcie_generation_max = link_generation(root, name, "max_link_speed");
    record->pcie_lanes = link_lanes(root, name, "current_link_width");
    record->pcie_lanes_max = link_lanes(root, name, "max_link_width");
    read_driver(root, name, record);
    read_memory(root, name, record);
    read_virtual_function(root, name, record);
    return YOKE_OK;
}

yoke_status_t yoke_sysfs_accelerators(const char *root, yoke_records_t *records)
{
    yoke_strings_t names = {0};
    yoke_status_t status = yoke_sysfs_list(root, FOLDER, &names);
    for (size_t i = 0; i < names.count && status == YOKE_OK; i++) {
        const char *name = names.items[i];
        yoke_pci_t pci = {0};
        if (!yoke_pci_parse(name, &pci))
            continue;
        int64_t code = yoke_sysfs_number(-1, root, FOLDER "/%s/class", name);
        int64_t vendor = yoke_sysfs_number(0, root, FOLDER "/%s/vendor", name);
        int64_t device = yoke_sysfs_number(0, root, FOLDER "/%s/device", name);
        if (code < 0 || vendor <= 0 || vendor > 0xffff || device < 0 || device > 0xffff)
            continue;
        pci.vendor_id = (uint16_t)vendor;
        pci.device_id = (uint16_t)device;
        if (yoke_pci_is_accelerator(pci.vendor_id, pci.device_id, (uint32_t)code))
            status = add_device(root, name, &pci, code, records);
    }
    yoke_strings_free(&names);
    return status;
}
