/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_RECORD_H
#define YOKE_INVENTORY_RECORD_H

/*
 * What one probe says of one device, before merging: plain data, as it comes through the
 * helper's pipe (JSON) or from a test. Zero-initialised means "not said".
 */

#include "yoke/inventory.h"
#include "base/json.h"

typedef struct yoke_record {
    char *probe;             /* "sysfs", "host", "opencl:pocl.icd", "hip" */
    char *runtime;           /* "sysfs" "host" "opencl" "hip" "cuda" "level_zero" ... */
    char *platform;          /* OpenCL platform or driver instance; NULL otherwise */
    int64_t ordinal, native; /* -1: none */
    char *library, *version, *driver;
    char *name, *vendor;
    yoke_device_kind_t kind;
    bool kind_known;
    bool emulator;
    yoke_pci_t pci;
    bool has_uuid;
    uint8_t uuid[16];
    char *uuid_text;
    char *partition; /* slice of the card at pci / parent_uuid; virtual function */
    char *parent_uuid;
    yoke_pci_t parent_pci; /* of an SR-IOV virtual function: its physical function */
    bool partitioned;      /* whole card whose slices alone can be scheduled */
    char *hidden_by;       /* variable that hides it */
    char *health;          /* "ok" "faulty" "lost" */
    bool memory_refused;   /* the query was answered "not supported" or "no permission" */
    bool integrated;       /* shares the host's memory (unified) */
    yoke_quantity_t memory_total, memory_free, memory_usable;
    yoke_quantity_t compute[YOKE_DTYPE_COUNT];
    yoke_quantity_t bandwidth;
    int numa; /* -1: unknown */
    unsigned pcie_generation, pcie_lanes, pcie_generation_max, pcie_lanes_max;
} yoke_record_t;

typedef struct yoke_records {
    yoke_record_t *items;
    size_t count, capacity;
} yoke_records_t;

/* Append a zeroed record (ordinal, native, numa = -1); NULL: out of memory. */
yoke_record_t *yoke_records_add(yoke_records_t *records);
void yoke_records_free(yoke_records_t *records);
json_t *yoke_record_to_json(const yoke_record_t *record);
yoke_status_t yoke_record_from_json(const yoke_cursor_t *at, yoke_record_t *out_record);

/*
 * Merge records into the node's devices (node->devices is filled; sorted by PCI address,
 * then the host, then the rest). Rules, in this order: full PCI address with 32-bit
 * domain; 16-byte UUID; partition under its card; host CPU (kind CPU without PCI). Two
 * PCI functions of one slot with one vendor and device id are one device (Ascend .0/.1),
 * SR-IOV virtual functions are parts. A view without any key joins the only card of its
 * platform's vendor and name that this platform has not listed yet; else it becomes an
 * unresolved device, schedulable false. A card seen only by sysfs stays, schedulable
 * false, with the reason that no runtime drives it. Records with equal keys in one
 * runtime and different platforms become views of one device. Order of records does not
 * change the result.
 */
yoke_status_t yoke_identity_merge(const yoke_records_t *records, yoke_node_t *node);

#endif
