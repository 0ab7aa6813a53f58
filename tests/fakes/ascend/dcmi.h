/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_ASCEND_DCMI_H
#define YOKE_TESTS_FAKES_ASCEND_DCMI_H

/*
 * The part of DCMI that the fake has, by Syllo/nvtop include/ascend/dcmi_interface_api.h
 * (DCMI v2) and Ascend/pytorch third_party/dcmi/inc/dcmi_interface_api.h.
 */

#define DCMI_MAX_CHIP_NAME_LEN 32

struct dcmi_chip_info {
    unsigned char chip_type[DCMI_MAX_CHIP_NAME_LEN];
    unsigned char chip_name[DCMI_MAX_CHIP_NAME_LEN];
    unsigned char chip_ver[DCMI_MAX_CHIP_NAME_LEN];
    unsigned int aicore_cnt;
};

struct dcmi_pcie_info_all {
    unsigned int venderid;
    unsigned int subvenderid;
    unsigned int deviceid;
    unsigned int subdeviceid;
    int domain;
    unsigned int bdf_busid;
    unsigned int bdf_deviceid;
    unsigned int bdf_funcid;
    unsigned char reserve[32];
};

/* dcmi_get_hbm_info(); sizes in KB (nvtop src/extract_gpuinfo_ascend.c) */
struct dsmi_hbm_info_stru {
    unsigned long long memory_size;
    unsigned int freq;
    unsigned long long memory_usage;
    int temp;
    unsigned int bandwith_util_rate;
};

/* dcmi_get_device_hbm_info(); sizes in MB */
struct dcmi_hbm_info {
    unsigned long long memory_size;
    unsigned int freq;
    unsigned long long memory_usage;
    int temp;
    unsigned int bandwith_util_rate;
};

/* dcmi_get_device_memory_info_v3(); sizes in MB */
struct dcmi_get_memory_info_stru {
    unsigned long long memory_size;
    unsigned long long memory_available;
    unsigned int freq;
    unsigned long hugepagesize;
    unsigned long hugepages_total;
    unsigned long hugepages_free;
    unsigned int utiliza;
    unsigned char reserve[60];
};

#endif
