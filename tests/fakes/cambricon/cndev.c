/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fake libcndev.so: all cards, whatever MLU_VISIBLE_DEVICES says, in PCI order. The
 * caller writes the version of the interface it knows into each structure.
 */
#include "cnrt.h"
#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/memory.h"
#include <stdio.h>
#include <string.h>

const fake_defaults_t fake_defaults = {
    .vendor = "cambricon",
    .name = "MLU590-M9",
    .arch = "MLU590",
    .mask = NULL,
    .memory = 1ull << 30,
    .first_bus = 0x0d,
};

static atomic_bool ready;

static cndevRet_t enter(const int *version, cndevDevice_t device, fake_card_t **out_card)
{
    if (!atomic_load(&ready))
        return CNDEV_ERROR_UNINITIALIZED;
    if (version == NULL)
        return CNDEV_ERROR_INVALID_ARGUMENT;
    if (*version < 1 || *version > CNDEV_VERSION_6)
        return CNDEV_ERROR_UNSUPPORTED_API_VERSION;
    *out_card = fake_card(device);
    if (*out_card == NULL)
        return CNDEV_ERROR_INVALID_DEVICE_ID;
    if (atomic_load(&(*out_card)->lost))
        return CNDEV_ERROR_UNKNOWN;
    return (cndevRet_t)(*out_card)->broken;
}

FAKE_API cndevRet_t cndevInit(int reserved)
{
    FAKE_CALL(cndevInit, cndevRet_t);
    (void)reserved;
    atomic_store(&ready, true);
    return CNDEV_SUCCESS;
}

FAKE_API cndevRet_t cndevRelease(void)
{
    FAKE_CALL(cndevRelease, cndevRet_t);
    return atomic_exchange(&ready, false) ? CNDEV_SUCCESS : CNDEV_ERROR_UNINITIALIZED;
}

FAKE_API const char *cndevGetErrorString(cndevRet_t errorId)
{
    FAKE_CALL_OTHER(cndevGetErrorString, NULL);
    static const char *const names[] = {
        "CNDEV_SUCCESS",
        "CNDEV_ERROR_NO_DRIVER",
        "CNDEV_ERROR_LOW_DRIVER_VERSION",
        "CNDEV_ERROR_UNSUPPORTED_API_VERSION",
        "CNDEV_ERROR_UNINITIALIZED",
        "CNDEV_ERROR_INVALID_ARGUMENT",
        "CNDEV_ERROR_INVALID_DEVICE_ID",
        "CNDEV_ERROR_UNKNOWN",
    };
    return (size_t)errorId < sizeof names / sizeof names[0] ? names[errorId]
                                                            : "Cndev_ERROR not found!";
}

FAKE_API cndevRet_t cndevGetDeviceCount(cndevCardInfo_t *cardNum)
{
    FAKE_CALL(cndevGetDeviceCount, cndevRet_t);
    if (!atomic_load(&ready))
        return CNDEV_ERROR_UNINITIALIZED;
    if (cardNum == NULL)
        return CNDEV_ERROR_INVALID_ARGUMENT;
    if (cardNum->version < 1 || cardNum->version > CNDEV_VERSION_6)
        return CNDEV_ERROR_UNSUPPORTED_API_VERSION;
    FAKE_OUT(cardNum->number, fake_card_count());
    return CNDEV_SUCCESS;
}

FAKE_API cndevRet_t cndevGetDeviceHandleByIndex(int index, cndevDevice_t *handle)
{
    FAKE_CALL(cndevGetDeviceHandleByIndex, cndevRet_t);
    if (!atomic_load(&ready))
        return CNDEV_ERROR_UNINITIALIZED;
    if (handle == NULL)
        return CNDEV_ERROR_INVALID_ARGUMENT;
    if (fake_card(index) == NULL)
        return CNDEV_ERROR_INVALID_DEVICE_ID;
    *handle = index;
    return CNDEV_SUCCESS;
}

FAKE_API cndevRet_t cndevGetMemoryUsage(cndevMemoryInfo_t *memInfo, cndevDevice_t device)
{
    FAKE_CALL(cndevGetMemoryUsage, cndevRet_t);
    fake_card_t *card;
    cndevRet_t code = enter(memInfo != NULL ? &memInfo->version : NULL, device, &card);
    if (code != CNDEV_SUCCESS)
        return code;
    FAKE_OUT(memInfo->physicalMemoryTotal, card->memory >> 20);
    memInfo->physicalMemoryUsed = fake_config_number(card->index, "used", 0) >> 20;
    memInfo->virtualMemoryTotal = memInfo->physicalMemoryTotal;
    memInfo->virtualMemoryUsed = memInfo->physicalMemoryUsed;
    memInfo->channelNumber = 0;
    memInfo->globalMemory = 0;
    return CNDEV_SUCCESS;
}

FAKE_API cndevRet_t cndevGetPCIeInfo(cndevPCIeInfo_t *deviceInfo, cndevDevice_t device)
{
    FAKE_CALL(cndevGetPCIeInfo, cndevRet_t);
    fake_card_t *card;
    cndevRet_t code =
        enter(deviceInfo != NULL ? &deviceInfo->version : NULL, device, &card);
    if (code != CNDEV_SUCCESS)
        return code;
    deviceInfo->vendor = deviceInfo->subsystemVendor = 0xcabc; /* PCI-SIG: Cambricon */
    deviceInfo->deviceId = deviceInfo->subsystemId = 0;
    deviceInfo->domain = card->domain;
    deviceInfo->bus = card->bus;
    deviceInfo->device = card->device;
    deviceInfo->function = card->function;
    deviceInfo->physicalSlot = NULL;
    deviceInfo->slotID = 0;
    return CNDEV_SUCCESS;
}

FAKE_API cndevRet_t cndevGetUUID(cndevUUID_t *uuidInfo, cndevDevice_t device)
{
    FAKE_CALL(cndevGetUUID, cndevRet_t);
    fake_card_t *card;
    char text[40];
    cndevRet_t code = enter(uuidInfo != NULL ? &uuidInfo->version : NULL, device, &card);
    if (code != CNDEV_SUCCESS)
        return code;
    fake_uuid_text(card, text, sizeof text);
    memcpy(uuidInfo->uuid, text, sizeof uuidInfo->uuid);
    uuidInfo->ncsUUID64 = 0;
    return CNDEV_SUCCESS;
}

FAKE_API cndevRet_t cndevGetVersionInfo(cndevVersionInfo_t *versInfo,
                                        cndevDevice_t device)
{
    FAKE_CALL(cndevGetVersionInfo, cndevRet_t);
    fake_card_t *card;
    cndevRet_t code = enter(versInfo != NULL ? &versInfo->version : NULL, device, &card);
    if (code != CNDEV_SUCCESS)
        return code;
    versInfo->mcuMajorVersion = 1;
    versInfo->mcuMinorVersion = versInfo->mcuBuildVersion = 0;
    versInfo->driverMajorVersion = 5;
    versInfo->driverMinorVersion = 10;
    versInfo->driverBuildVersion = 22;
    return CNDEV_SUCCESS;
}

FAKE_API cndevRet_t cndevGetCardName(cndevCardName_t *cardName, cndevDevice_t device)
{
    FAKE_CALL(cndevGetCardName, cndevRet_t);
    fake_card_t *card;
    cndevRet_t code = enter(cardName != NULL ? &cardName->version : NULL, device, &card);
    if (code != CNDEV_SUCCESS)
        return code;
    cardName->id = strncmp(card->name, "MLU370", 6) == 0 ? CNDEV_DEVICE_TYPE_MLU370
                                                         : CNDEV_DEVICE_TYPE_MLU590;
    return CNDEV_SUCCESS;
}

FAKE_API const char *cndevGetCardNameStringByDevId(cndevDevice_t device)
{
    FAKE_CALL_OTHER(cndevGetCardNameStringByDevId, NULL);
    const fake_card_t *card = fake_card(device);
    return atomic_load(&ready) && card != NULL ? card->name : "Unknown";
}

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
