/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_SYSFS_H
#define YOKE_HAL_SYSFS_H

/*
 * What the kernel says, without any vendor library. Every path is below `root` ("" for
 * the running machine), so that a saved tree can be read like a machine.
 */

#include <stdint.h>
#include "base/text.h"
#include "inventory/record.h"

/* --- reading (sysfs_read.c) --------------------------------------------------------- */

/* First line without blanks around it; NULL when it cannot be read or is empty. */
char *yoke_sysfs_line(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whole text of a file of at most 1 MiB; NULL when it cannot be read. */
char *yoke_sysfs_text(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Number with or without 0x; `fallback` when it cannot be read. */
int64_t yoke_sysfs_number(int64_t fallback, const char *root, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Names in a folder, sorted; none when it is not there. */
yoke_status_t yoke_sysfs_list(const char *root, const char *folder,
                              yoke_strings_t *out_names);
/* Last component of a symbolic link's target; NULL when it is none. */
char *yoke_sysfs_link(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Path with symbolic links resolved, without the root; NULL when it is not there. */
char *yoke_sysfs_real(const char *root, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- PCI (sysfs_pci.c) -------------------------------------------------------------- */

/* One record for each accelerator on the bus, driver bound or not; no NIC, no storage. */
yoke_status_t yoke_sysfs_accelerators(const char *root, yoke_records_t *records);
/* Last PCI address in a resolved path; false: there is none. */
bool yoke_sysfs_pci_of(const char *path, yoke_pci_t *out_pci);

/* --- host (sysfs_host.c, sysfs_cgroup.c) -------------------------------------------- */

typedef struct yoke_host_memory {
    uint64_t total, available; /* /proc/meminfo; 0: not said */
    uint64_t nodes_total;      /* sum of node*'s meminfo; 0: none */
    unsigned nodes;
    uint64_t cgroup_limit, cgroup_used; /* limit 0: none */
    char cgroup_file[256];
} yoke_host_memory_t;

/* Fills hosts, os, kernel and gathered_at of the node and adds the record of the CPU. */
yoke_status_t yoke_sysfs_host(const char *root, yoke_node_t *node,
                              yoke_records_t *records, yoke_host_memory_t *out_memory);
/* Tightest memory limit of this process's control groups, v1 and v2. */
void yoke_sysfs_cgroup(const char *root, yoke_host_memory_t *memory);

/* --- NICs (sysfs_nic.c) ------------------------------------------------------------- */

yoke_status_t yoke_sysfs_nics(const char *root, yoke_node_t *node);

#endif
