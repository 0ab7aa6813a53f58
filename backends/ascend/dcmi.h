/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BACKENDS_ASCEND_DCMI_H
#define YOKE_BACKENDS_ASCEND_DCMI_H

/*
 * Our own declarations of what we use of Ascend's management library (libdcmi.so): it
 * lists cards, each with several chips, without making a context on any. Source:
 * dcmi_interface_api.h of the Ascend driver as it is public in copies of Ascend's
 * repositories (mind-cluster, npu-exporter; nvtop's extract_gpuinfo_ascend.c calls the
 * same).
 */

#include <stdint.h>

enum {
    YOKE_DCMI_OK = 0,
    YOKE_DCMI_DEVICE_NOT_EXIST = -8008,
    YOKE_DCMI_NPU = 0 /* enum dcmi_unit_type: NPU_TYPE */
};

typedef struct yoke_dcmi_chip { /* struct dcmi_chip_info */
    char type[32], name[32], version[32];
    unsigned cores;
} yoke_dcmi_chip_t;

typedef struct yoke_dcmi_pci { /* struct dcmi_pcie_info_all */
    unsigned vendor, subvendor, device, subdevice;
    int domain;
    unsigned bus, slot, function;
    unsigned char reserved[32];
} yoke_dcmi_pci_t;

typedef struct yoke_dcmi_hbm { /* struct dcmi_hbm_info; sizes in MB */
    unsigned long long size;
    unsigned frequency;
    unsigned long long used;
    int temperature;
    unsigned bandwidth_use;
} yoke_dcmi_hbm_t;

typedef struct yoke_dcmi_memory { /* struct dcmi_get_memory_info_stru; size in MB */
    unsigned long long size, available;
    unsigned frequency;
    unsigned long page_size, pages_total, pages_free;
    unsigned use;
    unsigned char reserved[60];
} yoke_dcmi_memory_t;

typedef struct yoke_dcmi {
    int (*init)(void);
    int (*card_list)(int *out_count, int *list, int length);
    int (*chips_of_card)(int card, int *out_count);
    int (*unit_type)(int card, int chip, int *out_type);
    int (*chip)(int card, int chip, yoke_dcmi_chip_t *);
    int (*pci)(int card, int chip, yoke_dcmi_pci_t *);
    int (*hbm)(int card, int chip, yoke_dcmi_hbm_t *);
    int (*memory)(int card, int chip, yoke_dcmi_memory_t *);
    int (*health)(int card, int chip, unsigned *out_health);
    int (*logic_id)(int *out_id, int card, int chip);
    int (*driver_version)(char *, unsigned length);
} yoke_dcmi_t;

#endif
