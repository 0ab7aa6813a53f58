/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and errors of the fake CNRT. */
#include "core.h"
#include <stdio.h>
#include <string.h>

const fake_defaults_t fake_defaults = {
    .vendor = "cambricon",
    .name = "MLU590-M9",
    .arch = "MLU590",
    .mask = "MLU_VISIBLE_DEVICES",
    .rule = FAKE_MASK_STOP,
    .memory = 1ull << 30,
    .first_bus = 0x0d,
};

static _Thread_local int current; /* device 0 without a call */
static _Thread_local cnrtRet_t last_error;

/* --- errors ------------------------------------------------------------------------- */

cnrtRet_t cnrt_result(cnrtRet_t code)
{
    if (code != cnrtSuccess)
        last_error = code;
    return code;
}

FAKE_API cnrtRet_t cnrtGetLastError(void)
{
    FAKE_CALL(cnrtGetLastError, cnrtRet_t);
    cnrtRet_t code = last_error;
    last_error = cnrtSuccess;
    return code;
}

FAKE_API cnrtRet_t cnrtPeekAtLastError(void)
{
    FAKE_CALL(cnrtPeekAtLastError, cnrtRet_t);
    return last_error;
}

#define NAME(code)                                                                       \
    case code:                                                                           \
        return #code

static const char *name_of(cnrtRet_t code)
{
    switch (code) {
        NAME(cnrtSuccess);
        NAME(cnrtErrorNotReady);
        NAME(cnrtErrorInit);
        NAME(cnrtErrorNoDevice);
        NAME(cnrtErrorDeviceInvalid);
        NAME(cnrtErrorArgsInvalid);
        NAME(cnrtErrorSys);
        NAME(cnrtErrorSysNoMem);
        NAME(cnrtErrorInvalidResourceHandle);
        NAME(cnrtErrorIllegalState);
        NAME(cnrtErrorNotSupport);
        NAME(cnrtErrorOpsNotPermitted);
        NAME(cnrtErrorQueue);
        NAME(cnrtErrorNoMem);
        NAME(cnrtErrorAssert);
        NAME(cnrtErrorKernelTrap);
        NAME(cnrtErrorDevice);
        NAME(cnrtErrorNoAttribute);
        NAME(cnrtErrorMemcpyDirectionInvalid);
        NAME(cnrtErrorBusy);
        NAME(cnrtErrorCndrvFuncCall);
        NAME(cnrtErrorCndevFuncCall);
        NAME(cnrtErrorNoCnrtContext);
        NAME(cnrtErrorCndrvFuncNotFound);
        NAME(cnrtErrorUnknown);
    }
    return "cnrtErrorUnknown";
}

FAKE_API const char *cnrtGetErrorName(cnrtRet_t error)
{
    FAKE_CALL_OTHER(cnrtGetErrorName, NULL);
    return name_of(error);
}

FAKE_API const char *cnrtGetErrorStr(cnrtRet_t error)
{
    FAKE_CALL_OTHER(cnrtGetErrorStr, NULL);
    return name_of(error);
}

cnrtRet_t cnrt_not_ready(void)
{
    return (cnrtRet_t)fake_config_number(-1, "busy", cnrtErrorNotReady);
}

/* CNRT has no code for a device that is gone; what the driver's calls end with is
 * cnrtErrorCndrvFuncCall. */
cnrtRet_t cnrt_check_card(const fake_card_t *card)
{
    if (atomic_load(&card->lost))
        return cnrtErrorCndrvFuncCall;
    return (cnrtRet_t)card->broken;
}

cnrtRet_t cnrt_enter_device(int ordinal, fake_card_t **out_card)
{
    if (fake_visible_count() == 0)
        return cnrtErrorNoDevice;
    *out_card = fake_visible(ordinal);
    if (*out_card == NULL)
        return cnrtErrorDeviceInvalid;
    return cnrt_check_card(*out_card);
}

cnrtRet_t cnrt_enter(fake_card_t **out_card)
{
    return cnrt_enter_device(current, out_card);
}

/* --- devices ------------------------------------------------------------------------ */

FAKE_API cnrtRet_t cnrtGetDeviceCount(unsigned int *pCount)
{
    FAKE_CALL(cnrtGetDeviceCount, cnrtRet_t);
    if (pCount == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    FAKE_OUT(*pCount, fake_visible_count());
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtSetDevice(int ordinal)
{
    FAKE_CALL(cnrtSetDevice, cnrtRet_t);
    fake_card_t *card;
    cnrtRet_t code = cnrt_enter_device(ordinal, &card);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    current = ordinal;
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtGetDevice(int *pOrdinal)
{
    FAKE_CALL(cnrtGetDevice, cnrtRet_t);
    if (pOrdinal == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    if (fake_visible_count() == 0)
        return cnrt_result(cnrtErrorNoDevice);
    FAKE_OUT(*pOrdinal, current);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtSyncDevice(void)
{
    FAKE_CALL(cnrtSyncDevice, cnrtRet_t);
    fake_card_t *card;
    cnrtRet_t code = cnrt_enter(&card);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    fake_card_wait(card);
    return cnrt_result(cnrt_check_card(card));
}

static bool attribute_of(const fake_card_t *card, cnrtDeviceAttr_t attr, int *out_value)
{
    const struct {
        cnrtDeviceAttr_t attr;
        int64_t value;
    } table[] = {
        {cnrtAttrComputeCapabilityMajor, 5},
        {cnrtAttrComputeCapabilityMinor, 0},
        {cnrtAttrFP16ComputingSupported, 1},
        {cnrtAttrINT8ComputingSupported, 1},
        {cnrtAttrBF16ComputingSupported, 1},
        {cnrtAttrTF32ComputingSupported, 1},
        {cnrtAttrQueueSize, 4096},
        {cnrtAttrNotifierSize, 4096},
        {cnrtAttrClusterCount, fake_config_number(card->index, "clusters", 12)},
        {cnrtAttrMcorePerCluster, 4},
        {cnrtAttrISAVersion, 592},
        {cnrtAttrMaxL2CacheSize, 96 << 20},
        {cnrtAttrNramSizePerMcore, 512 << 10},
        {cnrtAttrAvailableGlobalMemorySize, (int64_t)(card->memory >> 20)},
        {cnrtAttrEccEnable, 1},
        {cnrtAttrIpuClockRate, 1500000},
        {cnrtAttrMemClockRate, 1600000},
        {cnrtAttrGmemBusWidth, 6144},
        {cnrtAttrTotalMemSize, (int64_t)(card->memory >> 20)},
        {cnrtAttrPciBusID, card->bus},
        {cnrtAttrPciDeviceID, card->device},
        {cnrtAttrPciDomainID, card->domain},
    };
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].attr == attr) {
            *out_value = (int)table[i].value;
            return true;
        }
    return false;
}

FAKE_API cnrtRet_t cnrtDeviceGetAttribute(int *pValue, cnrtDeviceAttr_t attr, int device)
{
    FAKE_CALL(cnrtDeviceGetAttribute, cnrtRet_t);
    fake_card_t *card;
    int value;
    if (pValue == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = cnrt_enter_device(device, &card);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    if (!attribute_of(card, attr, &value))
        return cnrt_result(cnrtErrorNoAttribute);
    FAKE_OUT(*pValue, value);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtGetDeviceProperties_V3(cnrtDeviceProp_t *prop, int device)
{
    FAKE_CALL(cnrtGetDeviceProperties_V3, cnrtRet_t);
    fake_card_t *card;
    if (prop == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = cnrt_enter_device(device, &card);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    memset(prop, 0, sizeof *prop);
    snprintf(prop->name, sizeof prop->name, "%s", card->name);
    FAKE_OUT(prop->totalMem, card->memory >> 20);
    prop->major = 5;
    prop->FP16ComputingSupported = prop->BF16ComputingSupported = 1;
    prop->INT8ComputingSupported = prop->TF32ComputingSupported = 1;
    prop->pciBusID = (int)card->bus;
    prop->pciDeviceID = (int)card->device;
    prop->pciDomainID = (int)card->domain;
    prop->clusterCount = (int)fake_config_number(card->index, "clusters", 12);
    prop->McorePerCluster = 4;
    prop->ISAVersion = 592;
    prop->availableGlobalMemorySize = prop->totalMem;
    memcpy(prop->uuid.uuid, card->uuid, sizeof prop->uuid.uuid);
    prop->totalGlobalMemSize = card->memory;
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtDeviceGetPCIBusId(char *pciBusId, int len, int device)
{
    FAKE_CALL(cnrtDeviceGetPCIBusId, cnrtRet_t);
    fake_card_t *card;
    char text[32];
    if (pciBusId == NULL || len <= 0)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = cnrt_enter_device(device, &card);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    fake_pci_text(card, text, sizeof text);
    if (strlen(text) >= (size_t)len)
        return cnrt_result(cnrtErrorArgsInvalid);
    strcpy(pciBusId, text);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtGetPeerAccessibility(unsigned int *canAccess, int ordinal,
                                            int peerOrdinal)
{
    FAKE_CALL(cnrtGetPeerAccessibility, cnrtRet_t);
    fake_card_t *card, *peer;
    if (canAccess == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = cnrt_enter_device(ordinal, &card);
    if (code == cnrtSuccess)
        code = cnrt_enter_device(peerOrdinal, &peer);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    FAKE_OUT(*canAccess, card != peer && card->peer && peer->peer);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtMemGetInfo(size_t *free_size, size_t *total)
{
    FAKE_CALL(cnrtMemGetInfo, cnrtRet_t);
    fake_card_t *card;
    uint64_t left, all;
    if (free_size == NULL || total == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    cnrtRet_t code = cnrt_enter(&card);
    if (code != cnrtSuccess)
        return cnrt_result(code);
    fake_memory_info(card, &left, &all);
    FAKE_OUT(*free_size, left);
    FAKE_OUT(*total, all);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtGetLibVersion(int *libMajor, int *libMinor, int *libPatch)
{
    FAKE_CALL(cnrtGetLibVersion, cnrtRet_t);
    if (libMajor == NULL || libMinor == NULL || libPatch == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    FAKE_OUT(*libMajor, 6);
    FAKE_OUT(*libMinor, 14);
    FAKE_OUT(*libPatch, 1);
    return cnrtSuccess;
}

FAKE_API cnrtRet_t cnrtDriverGetVersion(int *major, int *minor, int *patch)
{
    FAKE_CALL(cnrtDriverGetVersion, cnrtRet_t);
    if (major == NULL || minor == NULL || patch == NULL)
        return cnrt_result(cnrtErrorArgsInvalid);
    FAKE_OUT(*major, 5);
    FAKE_OUT(*minor, 10);
    FAKE_OUT(*patch, 22);
    return cnrtSuccess;
}

/* --- for tests ---------------------------------------------------------------------- */

FAKE_API uint64_t yoke_fake_current(void)
{
    return (uint64_t)current + 1;
}

/* CNRT has no contexts of its own to choose from. */
FAKE_API void yoke_fake_set_current(int ordinal)
{
    current = fake_visible(ordinal) != NULL ? ordinal : 0;
}
