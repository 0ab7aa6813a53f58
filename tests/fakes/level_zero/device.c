/* SPDX-License-Identifier: Apache-2.0 */
/* The driver, its devices and what it tells of them. */
#include "driver.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const fake_defaults_t fake_defaults = {
    .vendor = "level_zero",
    .name = "Intel(R) Data Center GPU Max 1550",
    .arch = "pvc",
    .mask = NULL, /* ZE_AFFINITY_MASK knows tiles: below */
    .memory = 1ull << 30,
    .first_bus = 0x3a,
};

static fake_handle_t driver_handle;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool initialized;
static device_t *roots[4 * FAKE_MAX_CARDS];
static uint32_t root_count;

/* --- which devices there are: specification, "Affinity Mask" and "Device Hierarchy"
 * ------ */

static bool is_flat(void)
{
    const char *value = getenv("ZE_FLAT_DEVICE_HIERARCHY");
    if (value == NULL)
        value = fake_config_text(-1, "hierarchy", "FLAT");
    return strcmp(value, "COMPOSITE") != 0;
}

/* Does the mask name this tile? In FLAT mode its entries count tiles, else they are cards
 * or card.tile. */
static bool mask_has(const char *mask, int card, int tile, int flat_index, bool flat)
{
    if (mask == NULL || *mask == '\0')
        return true;
    while (*mask != '\0') {
        char *end;
        long first = strtol(mask, &end, 10), second = -1;
        if (end == mask)
            return false;
        if (*end == '.')
            second = strtol(end + 1, &end, 10);
        if (flat ? first == flat_index : first == card && (second < 0 || second == tile))
            return true;
        mask = *end == ',' ? end + 1 : end + strlen(end);
    }
    return false;
}

static device_t make_device(fake_card_t *card, int tile, bool root)
{
    device_t device = {.card = card, .tile = tile, .root = root};
    return device;
}

/* A card of which the mask leaves one tile shows itself as that tile. */
static void add_card(fake_card_t *card, int position, int *flat_index, const char *mask,
                     bool flat)
{
    int tiles = card->tiles > 0 ? card->tiles : 1;
    int kept[64], count = 0;
    for (int t = 0; t < tiles && t < 64; t++, ++*flat_index)
        if (mask_has(mask, position, t, *flat_index, flat))
            kept[count++] = t;
    if (count == 0)
        return;
    device_t *devices = calloc((size_t)count + 1, sizeof *devices);
    if (devices == NULL)
        abort();
    bool split = tiles > 1;
    if (flat || count == 1) {
        for (int i = 0; i < count; i++) {
            devices[i] = make_device(card, split ? kept[i] : -1, true);
            fake_handle_add_quiet(&devices[i].handle, KIND_DEVICE);
            roots[root_count++] = &devices[i];
        }
        return;
    }
    devices[0] = make_device(card, -1, true);
    devices[0].tiles = &devices[1];
    devices[0].tile_count = (uint32_t)count;
    for (int i = 0; i < count; i++)
        devices[1 + i] = make_device(card, kept[i], false);
    for (int i = 0; i <= count; i++)
        fake_handle_add_quiet(&devices[i].handle, KIND_DEVICE);
    roots[root_count++] = &devices[0];
}

static void prepare(void)
{
    const char *mask = getenv("ZE_AFFINITY_MASK");
    bool flat = is_flat();
    int flat_index = 0;
    fake_handle_add_quiet(&driver_handle, KIND_DRIVER);
    /* The mask hides; the order stays the driver's own. */
    for (int i = 0; i < fake_card_count(); i++)
        add_card(fake_unmasked(i), i, &flat_index, mask, flat);
}

uint32_t driver_api(void)
{
    unsigned major = 1, minor = 4;
    sscanf(fake_config_text(-1, "api", "1.4"), "%u.%u", &major, &minor);
    return ZE_MAKE_VERSION(major, minor);
}

ze_result_t driver_check(void)
{
    return atomic_load(&initialized) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t card_check(const fake_card_t *card)
{
    if (atomic_load(&card->lost))
        return ZE_RESULT_ERROR_DEVICE_LOST;
    return card->broken != 0 ? (ze_result_t)card->broken : ZE_RESULT_SUCCESS;
}

ze_result_t device_enter(ze_device_handle_t handle, device_t **out_device)
{
    ze_result_t result = driver_check();
    if (result != ZE_RESULT_SUCCESS)
        return result;
    *out_device = fake_handle_check(handle, KIND_DEVICE);
    if (*out_device == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return card_check((*out_device)->card);
}

ze_device_handle_t device_of_card(const fake_card_t *card)
{
    for (uint32_t i = 0; i < root_count; i++)
        if (roots[i]->card == card)
            return (ze_device_handle_t)(void *)roots[i];
    return NULL;
}

uint64_t device_memory(const device_t *device)
{
    uint64_t tiles = device->card->tiles > 0 ? (uint64_t)device->card->tiles : 1;
    return device->tile >= 0    ? device->card->memory / tiles
           : device->tile_count ? device->card->memory / tiles * device->tile_count
                                : device->card->memory;
}

uint64_t device_ticks(int64_t nanoseconds)
{
    return (uint64_t)nanoseconds / DEVICE_TICK &
           (((uint64_t)1 << DEVICE_TIMESTAMP_BITS) - 1);
}

/* --- driver ------------------------------------------------------------------------- */

ze_result_t zeInit(ze_init_flags_t flags)
{
    FAKE_CALL(zeInit, ze_result_t);
    if (flags > 3)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    pthread_once(&once, prepare);
    if (flags == ZE_INIT_FLAG_VPU_ONLY)
        return ZE_RESULT_ERROR_UNINITIALIZED;
    atomic_store(&initialized, true);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    FAKE_CALL(zeDriverGet, ze_result_t);
    pthread_once(&once, prepare);
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (*pCount > 0 && phDrivers != NULL)
        phDrivers[0] = (ze_driver_handle_t)(void *)&driver_handle;
    FAKE_OUT(*pCount, 1);
    return ZE_RESULT_SUCCESS;
}

#define CHECK_DRIVER(handle)                                                             \
    if (fake_handle_check(handle, KIND_DRIVER) == NULL)                                  \
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t hDriver, ze_api_version_t *version)
{
    FAKE_CALL(zeDriverGetApiVersion, ze_result_t);
    CHECK_DRIVER(hDriver);
    if (version == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *version = (ze_api_version_t)driver_api();
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t hDriver,
                                  ze_driver_properties_t *pDriverProperties)
{
    FAKE_CALL(zeDriverGetProperties, ze_result_t);
    CHECK_DRIVER(hDriver);
    if (pDriverProperties == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    memset(pDriverProperties->uuid.id, 0x2e, sizeof pDriverProperties->uuid.id);
    FAKE_OUT(pDriverProperties->driverVersion, 17003850);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t *pCount,
                                           ze_driver_extension_properties_t *properties)
{
    FAKE_CALL(zeDriverGetExtensionProperties, ze_result_t);
    CHECK_DRIVER(hDriver);
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (*pCount > 0 && properties != NULL) {
        snprintf(properties[0].name, sizeof properties[0].name, "%s",
                 ZE_PCI_PROPERTIES_EXT_NAME);
        properties[0].version = ZE_PCI_PROPERTIES_EXT_VERSION_1_0;
    }
    *pCount = 1;
    return ZE_RESULT_SUCCESS;
}

/* --- devices ------------------------------------------------------------------------ */

ze_result_t zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount,
                        ze_device_handle_t *phDevices)
{
    FAKE_CALL(zeDeviceGet, ze_result_t);
    CHECK_DRIVER(hDriver);
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    uint32_t count = *pCount == 0 || *pCount > root_count ? root_count : *pCount;
    for (uint32_t i = 0; *pCount > 0 && phDevices != NULL && i < count; i++)
        phDevices[i] = (ze_device_handle_t)(void *)roots[i];
    FAKE_OUT(*pCount, count);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount,
                                  ze_device_handle_t *phSubdevices)
{
    FAKE_CALL(zeDeviceGetSubDevices, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    uint32_t there = device->tile_count;
    uint32_t count = *pCount == 0 || *pCount > there ? there : *pCount;
    for (uint32_t i = 0; *pCount > 0 && phSubdevices != NULL && i < count; i++)
        phSubdevices[i] = (ze_device_handle_t)(void *)&device->tiles[i];
    FAKE_OUT(*pCount, count);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t hDevice, ze_device_properties_t *p)
{
    FAKE_CALL(zeDeviceGetProperties, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    bool cycles = p->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    p->type = ZE_DEVICE_TYPE_GPU;
    p->vendorId = 0x8086;
    p->deviceId = 0x0bd5; /* hwdata/pci.ids: Ponte Vecchio 2T */
    p->flags = device->card->unified ? ZE_DEVICE_PROPERTY_FLAG_INTEGRATED : 0;
    if (device->tile >= 0)
        p->flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
    p->subdeviceId = device->tile >= 0 ? (uint32_t)device->tile : 0;
    FAKE_OUT(p->coreClockRate, 1600);
    FAKE_OUT(p->maxMemAllocSize, device_memory(device));
    p->maxHardwareContexts = 65536;
    p->maxCommandQueuePriority = 0;
    p->numThreadsPerEU = 8;
    p->physicalEUSimdWidth = 16;
    p->numEUsPerSubslice = 8;
    p->numSubslicesPerSlice = 16;
    p->numSlices = 4;
    p->timerResolution = cycles ? 1000000000u / DEVICE_TICK : DEVICE_TICK;
    p->timestampValidBits = DEVICE_TIMESTAMP_BITS;
    p->kernelTimestampValidBits = DEVICE_TIMESTAMP_BITS;
    memcpy(p->uuid.id, device->card->uuid, sizeof p->uuid.id);
    if (device->tile >= 0)
        p->uuid.id[14] = (uint8_t)(device->tile + 1);
    snprintf(p->name, sizeof p->name, "%s", device->card->name);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t hDevice,
                                         ze_device_compute_properties_t *p)
{
    FAKE_CALL(zeDeviceGetComputeProperties, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    FAKE_OUT(p->maxTotalGroupSize, 1024);
    p->maxGroupSizeX = p->maxGroupSizeY = p->maxGroupSizeZ = 1024;
    p->maxGroupCountX = p->maxGroupCountY = p->maxGroupCountZ = UINT32_MAX;
    FAKE_OUT(p->maxSharedLocalMemory, 65536);
    p->numSubGroupSizes = 2;
    p->subGroupSizes[0] = 16;
    p->subGroupSizes[1] = 32;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t hDevice,
                                        ze_device_module_properties_t *p)
{
    FAKE_CALL(zeDeviceGetModuleProperties, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    p->spirvVersionSupported = ZE_MAKE_VERSION(1, 2);
    p->flags = fake_config_number(device->card->index, "fp64", 1) != 0
                   ? ZE_DEVICE_MODULE_FLAG_FP64
                   : 0;
    p->fp16flags = 0;
    p->fp32flags = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                   ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA;
    p->fp64flags = (p->flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0 ? p->fp32flags : 0;
    p->maxArgumentsSize = 2048;
    p->printfBufferSize = 0;
    memset(&p->nativeKernelSupported, 0x2e, sizeof p->nativeKernelSupported);
    return ZE_RESULT_SUCCESS;
}

ze_result_t
zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                       ze_command_queue_group_properties_t *groups)
{
    FAKE_CALL(zeDeviceGetCommandQueueGroupProperties, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    for (uint32_t i = 0; groups != NULL && i < *pCount && i < QUEUE_GROUPS; i++) {
        groups[i].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        if (i == 0)
            groups[i].flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
        groups[i].maxMemoryFillPatternSize = i == 0 ? 16 : 1;
        groups[i].numQueues = i == 0 ? 4 : 1;
    }
    FAKE_OUT(*pCount, QUEUE_GROUPS);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                        ze_device_memory_properties_t *p)
{
    FAKE_CALL(zeDeviceGetMemoryProperties, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (p != NULL && *pCount > 0) {
        p->flags = 0;
        p->maxClockRate = 3200;
        p->maxBusWidth = 64;
        FAKE_OUT(p->totalSize, device_memory(device));
        snprintf(p->name, sizeof p->name, "HBM");
    }
    FAKE_OUT(*pCount, 1);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryAccessProperties(ze_device_handle_t hDevice,
                                              ze_device_memory_access_properties_t *p)
{
    FAKE_CALL(zeDeviceGetMemoryAccessProperties, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    p->hostAllocCapabilities = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
    p->deviceAllocCapabilities = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
    p->sharedSingleDeviceAllocCapabilities = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
    p->sharedCrossDeviceAllocCapabilities = ZE_MEMORY_ACCESS_CAP_FLAG_RW;
    p->sharedSystemAllocCapabilities = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCacheProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                       ze_device_cache_properties_t *p)
{
    FAKE_CALL(zeDeviceGetCacheProperties, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (pCount == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (p != NULL && *pCount > 0) {
        p->flags = 0;
        FAKE_OUT(p->cacheSize, 204 << 20);
    }
    FAKE_OUT(*pCount, 1);
    return ZE_RESULT_SUCCESS;
}

static bool reaches(const device_t *from, const device_t *to)
{
    return from->card == to->card || (from->card->peer && to->card->peer);
}

ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t hDevice,
                                     ze_device_handle_t hPeerDevice,
                                     ze_device_p2p_properties_t *p)
{
    FAKE_CALL(zeDeviceGetP2PProperties, ze_result_t);
    device_t *device, *peer;
    ze_result_t result = device_enter(hDevice, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = device_enter(hPeerDevice, &peer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    p->flags = reaches(device, peer) ? ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS : 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t hDevice,
                                  ze_device_handle_t hPeerDevice, ze_bool_t *value)
{
    FAKE_CALL(zeDeviceCanAccessPeer, ze_result_t);
    device_t *device, *peer;
    ze_result_t result = device_enter(hDevice, &device);
    if (result == ZE_RESULT_SUCCESS)
        result = device_enter(hPeerDevice, &peer);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (value == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *value = reaches(device, peer);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t hDevice)
{
    FAKE_CALL(zeDeviceGetStatus, ze_result_t);
    device_t *device;
    return device_enter(hDevice, &device);
}

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice,
                                        uint64_t *hostTimestamp,
                                        uint64_t *deviceTimestamp)
{
    FAKE_CALL(zeDeviceGetGlobalTimestamps, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (hostTimestamp == NULL || deviceTimestamp == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    int64_t now = fake_now();
    *hostTimestamp = (uint64_t)now;
    *deviceTimestamp = device_ticks(now);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDevicePciGetPropertiesExt(ze_device_handle_t hDevice,
                                        ze_pci_ext_properties_t *p)
{
    FAKE_CALL(zeDevicePciGetPropertiesExt, ze_result_t);
    device_t *device;
    ze_result_t result = device_enter(hDevice, &device);
    if (result != ZE_RESULT_SUCCESS)
        return result;
    if (p == NULL)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    p->address.domain = device->card->domain;
    p->address.bus = device->card->bus;
    p->address.device = device->card->device;
    p->address.function = device->card->function;
    p->maxSpeed.genVersion = 5;
    p->maxSpeed.width = -1; /* unknown: specification */
    p->maxSpeed.maxBandwidth = -1;
    return ZE_RESULT_SUCCESS;
}

/* --- for tests: this API has no current device -----------------------------------------
 */

FAKE_API uint64_t yoke_fake_current(void)
{
    return 0;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    (void)ordinal;
}
