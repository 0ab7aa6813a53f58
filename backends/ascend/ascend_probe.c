/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ascend chips by DCMI. It knows nothing of ASCEND_RT_VISIBLE_DEVICES, which AscendCL
 * obeys: the rules of inventory/visibility.h say what AscendCL would show, and in which
 * order.
 */
#include "backends/backend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ascend/acl.h"
#include "backends/ascend/ascend.h"
#include "backends/ascend/dcmi.h"
#include "base/text.h"
#include "inventory/visibility.h"

#define MAX_CARDS 64
#define MAX_CHIPS 128 /* of all cards */
#define MEGABYTE ((uint64_t)1 << 20)

typedef struct chip {
    int card, index, logic;
} chip_t;

typedef struct chips {
    chip_t items[MAX_CHIPS];
    size_t count;
} chips_t;

/* The names that `npu-smi` and the catalog have: "Ascend 910B3" of type and name. */
static char *name_of(const yoke_dcmi_chip_t *chip)
{
    char *type = yoke_run_text(chip->type, sizeof chip->type);
    char *name = yoke_run_text(chip->name, sizeof chip->name);
    char *whole = NULL;
    if (type != NULL && name != NULL)
        whole = yoke_format("%s %s", type, name);
    else if (name != NULL)
        whole = yoke_strdup(name);
    free(type);
    free(name);
    return whole;
}

static void fill_memory(const yoke_dcmi_t *dcmi, const chip_t *chip,
                        yoke_record_t *record)
{
    yoke_dcmi_hbm_t hbm;
    yoke_dcmi_memory_t memory;
    memset(&hbm, 0, sizeof hbm);
    memset(&memory, 0, sizeof memory);
    if (dcmi->hbm != NULL && dcmi->hbm(chip->card, chip->index, &hbm) == YOKE_DCMI_OK &&
        hbm.size > 0) {
        yoke_run_bytes(&record->memory_total, hbm.size * MEGABYTE,
                       "dcmi_get_device_hbm_info");
        if (hbm.used <= hbm.size)
            yoke_run_bytes(&record->memory_free, (hbm.size - hbm.used) * MEGABYTE,
                           "dcmi_get_device_hbm_info");
        return;
    }
    if (dcmi->memory != NULL &&
        dcmi->memory(chip->card, chip->index, &memory) == YOKE_DCMI_OK && memory.size > 0)
        yoke_run_bytes(&record->memory_total, memory.size * MEGABYTE,
                       "dcmi_get_device_memory_info_v3");
    else
        record->memory_refused = true;
}

static bool fill_address(const yoke_dcmi_t *dcmi, const chip_t *chip,
                         yoke_record_t *record)
{
    yoke_dcmi_pci_t pci;
    memset(&pci, 0, sizeof pci);
    if (dcmi->pci(chip->card, chip->index, &pci) != YOKE_DCMI_OK)
        return false;
    record->pci.valid = true;
    record->pci.domain = (uint32_t)pci.domain;
    record->pci.bus = (uint8_t)pci.bus;
    record->pci.device = (uint8_t)pci.slot;
    record->pci.function = (uint8_t)pci.function;
    record->pci.vendor_id = (uint16_t)pci.vendor;
    record->pci.device_id = (uint16_t)pci.device;
    return true;
}

static void put_chip(yoke_probe_run_t *run, const yoke_dcmi_t *dcmi, const char *library,
                     const char *driver, const chip_t *chip, int64_t ordinal)
{
    yoke_record_t record;
    yoke_dcmi_chip_t text;
    unsigned health = 0;
    memset(&text, 0, sizeof text);
    yoke_run_record_init(run, library, &record);
    record.ordinal = ordinal;
    record.native = chip->logic;
    record.vendor = yoke_strdup("Huawei");
    record.kind = YOKE_DEVICE_NPU;
    record.kind_known = true;
    if (driver[0] != '\0')
        record.driver = yoke_strdup(driver);
    int code = dcmi->chip(chip->card, chip->index, &text);
    if (code == YOKE_DCMI_OK)
        record.name = name_of(&text);
    bool address = fill_address(dcmi, chip, &record);
    fill_memory(dcmi, chip, &record);
    if (code == YOKE_DCMI_DEVICE_NOT_EXIST || (code != YOKE_DCMI_OK && !address)) {
        yoke_run_unhealthy(run, &record, library, "dcmi_get_device_chip_info", code,
                           code == YOKE_DCMI_DEVICE_NOT_EXIST); /* it was listed */
    } else if (dcmi->health != NULL &&
               dcmi->health(chip->card, chip->index, &health) == YOKE_DCMI_OK &&
               health >= 3 && health != 0xffffffffu) { /* 3: emergency alarm */
        record.health = yoke_strdup("faulty");
    }
    yoke_run_put(run, &record);
}

static void list_card(yoke_probe_run_t *run, const yoke_dcmi_t *dcmi, const char *library,
                      int card, chips_t *chips)
{
    int count = 0;
    if (dcmi->chips_of_card(card, &count) != YOKE_DCMI_OK ||
        !yoke_run_believable(run, library, "dcmi_get_device_num_in_card", count,
                             MAX_CHIPS))
        return;
    for (int i = 0; i < count && chips->count < MAX_CHIPS; i++) {
        int type = YOKE_DCMI_NPU, logic = -1;
        if (dcmi->unit_type != NULL && dcmi->unit_type(card, i, &type) == YOKE_DCMI_OK &&
            type != YOKE_DCMI_NPU)
            continue; /* the card's controller is listed as a unit too */
        if (dcmi->logic_id == NULL || dcmi->logic_id(&logic, card, i) != YOKE_DCMI_OK)
            logic = (int)chips->count;
        chips->items[chips->count++] = (chip_t){card, i, logic};
    }
}

static int by_logic(const void *a, const void *b)
{
    const chip_t *x = a, *y = b;
    return (x->logic > y->logic) - (x->logic < y->logic);
}

/* Puts what AscendCL shows, in its order. */
static void put_visible(yoke_probe_run_t *run, const yoke_dcmi_t *dcmi,
                        const char *library, const char *driver, const chips_t *chips)
{
    yoke_card_t cards[MAX_CHIPS];
    yoke_visibility_t visibility;
    memset(cards, 0, sizeof cards);
    if (run->unmasked ||
        yoke_visibility_apply("ascend", cards, chips->count, yoke_environment, NULL,
                              &visibility) != YOKE_OK) {
        for (size_t i = 0; i < chips->count; i++)
            put_chip(run, dcmi, library, driver, &chips->items[i], (int64_t)i);
        return;
    }
    for (size_t i = 0; i < visibility.count; i++)
        put_chip(run, dcmi, library, driver, &chips->items[visibility.order[i]],
                 (int64_t)i);
    yoke_visibility_free(&visibility);
}

static void probe(yoke_probe_run_t *run)
{
    yoke_dcmi_t dcmi = {0};
    yoke_library_t library;
    chips_t chips = {.count = 0};
    int cards[MAX_CARDS] = {0}, count = 0;
    char driver[64] = "";
    const yoke_symbol_t symbols[] = {
        {"dcmi_init", NULL, &dcmi.init, false},
        {"dcmi_get_card_list", "dcmi_get_card_num_list", &dcmi.card_list, false},
        {"dcmi_get_device_num_in_card", NULL, &dcmi.chips_of_card, false},
        {"dcmi_get_device_type", NULL, &dcmi.unit_type, true},
        {"dcmi_get_device_chip_info", NULL, &dcmi.chip, false},
        {"dcmi_get_device_pcie_info_v2", NULL, &dcmi.pci, false},
        {"dcmi_get_device_hbm_info", NULL, &dcmi.hbm, true},
        {"dcmi_get_device_memory_info_v3", NULL, &dcmi.memory, true},
        {"dcmi_get_device_health", NULL, &dcmi.health, true},
        {"dcmi_get_device_logic_id", NULL, &dcmi.logic_id, true},
        {"dcmi_get_driver_version", NULL, &dcmi.driver_version, true},
    };
    if (!yoke_run_open(run, symbols, sizeof symbols / sizeof *symbols, &library))
        return;
    int code = dcmi.init();
    if (code != YOKE_DCMI_OK) {
        yoke_run_code(run, "no device", library.path, "dcmi_init", code, true, NULL);
        return;
    }
    if (dcmi.driver_version != NULL)
        dcmi.driver_version(driver, sizeof driver - 1);
    code = dcmi.card_list(&count, cards, MAX_CARDS);
    if (code != YOKE_DCMI_OK) {
        yoke_run_code(run, "no device", library.path, "dcmi_get_card_list", code, true,
                      NULL);
        return;
    }
    if (!yoke_run_believable(run, library.path, "dcmi_get_card_list", count, MAX_CARDS))
        return;
    for (int i = 0; i < count; i++)
        list_card(run, &dcmi, library.path, cards[i], &chips);
    qsort(chips.items, chips.count, sizeof *chips.items, by_logic);
    put_visible(run, &dcmi, library.path, driver, &chips);
    if (!run->has_finding)
        yoke_run_say(run, chips.count > 0 ? "ok" : "no device", library.path,
                     "dcmi_get_card_list", false, "%zu chip%s on %d card%s", chips.count,
                     chips.count == 1 ? "" : "s", count, count == 1 ? "" : "s");
}

static const char *const libraries[] = {"libdcmi.so", "/usr/local/dcmi/libdcmi.so", NULL};

#define NAME(code, name)                                                                 \
    case code:                                                                           \
        return "DCMI_ERR_CODE_" name

/* DCMI_ERR_CODE_*: dcmi_interface_api.h (see dcmi.h), spelled as there. */
static const char *error_name(int64_t code)
{
    switch (code) {
    case YOKE_DCMI_OK:
        return "DCMI_OK";
        NAME(-8001, "INVALID_PARAMETER");
        NAME(-8002, "OPER_NOT_PERMITTED");
        NAME(-8003, "MEM_OPERATE_FAIL");
        NAME(-8004, "SECURE_FUN_FAIL");
        NAME(-8005, "INNER_ERR");
        NAME(-8006, "TIME_OUT");
        NAME(-8007, "INVALID_DEVICE_ID");
        NAME(YOKE_DCMI_DEVICE_NOT_EXIST, "DEVICE_NOT_EXIST");
        NAME(-8009, "IOCTL_FAIL");
        NAME(-8010, "SEND_MSG_FAIL");
        NAME(-8011, "RECV_MSG_FAIL");
        NAME(-8012, "NOT_REDAY");
        NAME(-8013, "NOT_SUPPORT_IN_CONTAINER");
        NAME(-8014, "FILE_OPERATE_FAIL");
        NAME(-8015, "RESET_FAIL");
        NAME(-8016, "ABORT_OPERATE");
        NAME(-8017, "IS_UPGRADING");
        NAME(-8020, "RESOURCE_OCCUPIED");
        NAME(-8022, "PARTITION_NOT_RIGHT");
        NAME(-8255, "NOT_SUPPORT");
    default:
        return NULL;
    }
}

extern const yoke_backend_t yoke_backend_ascend;
const yoke_backend_t yoke_backend_ascend = {
    .name = "ascend",
    .library_key = "DCMI",
    .libraries = libraries,
    .hidden_as = "ascend",
    .probe = probe,
    .error_name = error_name,
    .missing = "the Ascend driver is not installed",
    .live = &yoke_ascend_ops,
};
