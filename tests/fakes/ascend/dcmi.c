/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake libdcmi.so. It sees all cards, whatever ASCEND_RT_VISIBLE_DEVICES says; a card
 * holds `chips` devices, and cards are numbered from `first_card`, so that its ids are
 * not those of ACL. Codes: DCMI_ERR_CODE_*, as in Slurm and GPU-operator plug-ins that
 * quote dcmi_interface_api.h: base -8000.
 */
#include "dcmi.h"
#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/memory.h"
#include <stdio.h>
#include <string.h>

#define DCMI_OK 0
#define DCMI_ERR_CODE_INVALID_PARAMETER (-8001)
#define DCMI_ERR_CODE_INVALID_DEVICE_ID (-8007)
#define DCMI_ERR_CODE_DEVICE_NOT_EXIST (-8008)
#define DCMI_ERR_CODE_NOT_REDAY (-8012)

const fake_defaults_t fake_defaults = {
    .vendor = "ascend",
    .name = "Ascend910B3",
    .arch = "Ascend910B3",
    .mask = NULL,
    .memory = 1ull << 30,
    .first_bus = 0xc1,
};

static atomic_bool ready;

static int chips(void)
{
    int64_t count = fake_config_number(-1, "chips", 1);
    return count > 0 ? (int)count : 1;
}

static int first_card(void)
{
    return (int)fake_config_number(-1, "first_card", 0);
}

static int card_total(void)
{
    return (fake_card_count() + chips() - 1) / chips();
}

static int enter(int card_id, int device_id, fake_card_t **out_card)
{
    if (!atomic_load(&ready))
        return DCMI_ERR_CODE_NOT_REDAY;
    int position = card_id - first_card();
    if (position < 0 || position >= card_total())
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    *out_card = fake_card(position * chips() + device_id);
    if (device_id < 0 || device_id >= chips() || *out_card == NULL)
        return DCMI_ERR_CODE_INVALID_DEVICE_ID;
    if (atomic_load(&(*out_card)->lost))
        return DCMI_ERR_CODE_DEVICE_NOT_EXIST;
    return (int)(*out_card)->broken;
}

FAKE_API int dcmi_init(void)
{
    FAKE_CALL(dcmi_init, int);
    atomic_store(&ready, true);
    return DCMI_OK;
}

static int list_cards(int *card_num, int *card_list, int list_len)
{
    if (!atomic_load(&ready))
        return DCMI_ERR_CODE_NOT_REDAY;
    if (card_num == NULL || card_list == NULL || list_len <= 0)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    for (int i = 0; i < card_total() && i < list_len; i++)
        card_list[i] = first_card() + i;
    return DCMI_OK;
}

FAKE_API int dcmi_get_card_list(int *card_num, int *card_list, int list_len)
{
    FAKE_CALL(dcmi_get_card_list, int);
    int code = list_cards(card_num, card_list, list_len);
    if (code == DCMI_OK)
        FAKE_OUT(*card_num, card_total());
    return code;
}

FAKE_API int dcmi_get_card_num_list(int *card_num, int *card_list, int list_len)
{
    FAKE_CALL(dcmi_get_card_num_list, int);
    int code = list_cards(card_num, card_list, list_len);
    if (code == DCMI_OK)
        FAKE_OUT(*card_num, card_total());
    return code;
}

static int devices_of(int card_id, int *out_count)
{
    fake_card_t *card;
    int code = enter(card_id, 0, &card);
    int left = fake_card_count() - (card_id - first_card()) * chips();
    if (code == DCMI_ERR_CODE_NOT_REDAY || code == DCMI_ERR_CODE_INVALID_PARAMETER)
        return code;
    *out_count = left < chips() ? left : chips();
    return DCMI_OK;
}

FAKE_API int dcmi_get_device_num_in_card(int card_id, int *device_num)
{
    FAKE_CALL(dcmi_get_device_num_in_card, int);
    int count;
    if (device_num == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = devices_of(card_id, &count);
    if (code == DCMI_OK)
        FAKE_OUT(*device_num, count);
    return code;
}

FAKE_API int dcmi_get_device_id_in_card(int card_id, int *device_id_max, int *mcu_id,
                                        int *cpu_id)
{
    FAKE_CALL(dcmi_get_device_id_in_card, int);
    int count;
    if (device_id_max == NULL || mcu_id == NULL || cpu_id == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = devices_of(card_id, &count);
    if (code != DCMI_OK)
        return code;
    FAKE_OUT(*device_id_max, count);
    *mcu_id = count;
    *cpu_id = -1;
    return DCMI_OK;
}

FAKE_API int dcmi_get_device_pcie_info_v2(int card_id, int device_id,
                                          struct dcmi_pcie_info_all *pcie_info)
{
    FAKE_CALL(dcmi_get_device_pcie_info_v2, int);
    fake_card_t *card;
    if (pcie_info == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = enter(card_id, device_id, &card);
    if (code != DCMI_OK)
        return code;
    memset(pcie_info, 0, sizeof *pcie_info);
    pcie_info->venderid = 0x19e5; /* PCI-SIG: Huawei */
    pcie_info->deviceid = 0xd802; /* Atlas A2: Ascend/ascend-device-plugin */
    pcie_info->domain = (int)card->domain;
    pcie_info->bdf_busid = card->bus;
    pcie_info->bdf_deviceid = card->device;
    pcie_info->bdf_funcid = card->function;
    return DCMI_OK;
}

FAKE_API int dcmi_get_device_chip_info(int card_id, int device_id,
                                       struct dcmi_chip_info *chip_info)
{
    FAKE_CALL(dcmi_get_device_chip_info, int);
    fake_card_t *card;
    if (chip_info == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = enter(card_id, device_id, &card);
    if (code != DCMI_OK)
        return code;
    memset(chip_info, 0, sizeof *chip_info);
    const char *name = card->arch;
    if (strncmp(name, "Ascend", 6) == 0)
        name += 6;
    snprintf((char *)chip_info->chip_type, sizeof chip_info->chip_type, "Ascend");
    snprintf((char *)chip_info->chip_name, sizeof chip_info->chip_name, "%.31s", name);
    snprintf((char *)chip_info->chip_ver, sizeof chip_info->chip_ver, "V1");
    chip_info->aicore_cnt = (unsigned)fake_config_number(card->index, "cores", 20);
    return DCMI_OK;
}

static bool has_hbm(const fake_card_t *card)
{
    return fake_config_number(card->index, "ddr", 0) == 0;
}

/* In KB; a board without HBM answers 0 and succeeds. */
FAKE_API int dcmi_get_hbm_info(int card_id, int device_id,
                               struct dsmi_hbm_info_stru *device_hbm_info)
{
    FAKE_CALL(dcmi_get_hbm_info, int);
    fake_card_t *card;
    if (device_hbm_info == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = enter(card_id, device_id, &card);
    if (code != DCMI_OK)
        return code;
    memset(device_hbm_info, 0, sizeof *device_hbm_info);
    if (has_hbm(card))
        FAKE_OUT(device_hbm_info->memory_size, card->memory >> 10);
    return DCMI_OK;
}

/* In MB. */
FAKE_API int dcmi_get_device_hbm_info(int card_id, int device_id,
                                      struct dcmi_hbm_info *hbm_info)
{
    FAKE_CALL(dcmi_get_device_hbm_info, int);
    fake_card_t *card;
    if (hbm_info == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = enter(card_id, device_id, &card);
    if (code != DCMI_OK)
        return code;
    memset(hbm_info, 0, sizeof *hbm_info);
    if (has_hbm(card))
        FAKE_OUT(hbm_info->memory_size, card->memory >> 20);
    return DCMI_OK;
}

FAKE_API int dcmi_get_device_memory_info_v3(int card_id, int device_id,
                                            struct dcmi_get_memory_info_stru *memory_info)
{
    FAKE_CALL(dcmi_get_device_memory_info_v3, int);
    fake_card_t *card;
    if (memory_info == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = enter(card_id, device_id, &card);
    if (code != DCMI_OK)
        return code;
    memset(memory_info, 0, sizeof *memory_info);
    if (!has_hbm(card)) {
        FAKE_OUT(memory_info->memory_size, card->memory >> 20);
        memory_info->memory_available = card->memory >> 20;
    }
    return DCMI_OK;
}

FAKE_API int dcmi_get_device_health(int card_id, int device_id, unsigned int *health)
{
    FAKE_CALL(dcmi_get_device_health, int);
    fake_card_t *card;
    if (health == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = enter(card_id, device_id, &card);
    if (code == DCMI_OK)
        FAKE_OUT(*health, 0);
    return code;
}

/* The number that ACL has for it when nothing is hidden. */
FAKE_API int dcmi_get_device_logic_id(int *device_logic_id, int card_id, int device_id)
{
    FAKE_CALL(dcmi_get_device_logic_id, int);
    fake_card_t *card;
    if (device_logic_id == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    int code = enter(card_id, device_id, &card);
    if (code == DCMI_OK)
        FAKE_OUT(*device_logic_id, fake_ordinal_of(card));
    return code;
}

FAKE_API int dcmi_get_device_phyid_from_logicid(unsigned int logicid, unsigned int *phyid)
{
    FAKE_CALL(dcmi_get_device_phyid_from_logicid, int);
    const fake_card_t *card = fake_visible((int)logicid);
    if (!atomic_load(&ready))
        return DCMI_ERR_CODE_NOT_REDAY;
    if (phyid == NULL || card == NULL)
        return DCMI_ERR_CODE_INVALID_PARAMETER;
    FAKE_OUT(*phyid, card->index);
    return DCMI_OK;
}

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
