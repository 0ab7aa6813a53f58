/* SPDX-License-Identifier: Apache-2.0 */
/* Devices and which is current. */
#include "hip.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static hip_device_t devices[FAKE_MAX_CARDS];
static _Thread_local int current; /* 0 in a new thread */
static _Thread_local hip_result_t last;

hip_result_t hip_done(hip_result_t result)
{
    if (result != HIP_SUCCESS && result != HIP_NOT_READY)
        last = result;
    return result;
}

hip_result_t hip_usable(const hip_device_t *device)
{
    if (atomic_load(&device->card->lost))
        return (hip_result_t)fake_config_number(device->card->index, "lost_code",
                                                HIP_LAUNCH_FAILURE);
    if (device->card->broken != 0)
        return (hip_result_t)device->card->broken;
    return atomic_load(&device->error);
}

hip_result_t hip_device(int ordinal, hip_device_t **out_device)
{
    fake_card_t *card = fake_visible(ordinal);
    if (fake_visible_count() == 0)
        return HIP_NO_DEVICE;
    if (card == NULL)
        return HIP_INVALID_DEVICE;
    pthread_mutex_lock(&lock);
    hip_device_t *device = &devices[ordinal];
    if (device->card == NULL) {
        device->ordinal = ordinal;
        device->null = fake_stream_create(card, device, FAKE_STREAM_NULL);
        device->card = card;
    }
    pthread_mutex_unlock(&lock);
    *out_device = device;
    return card->broken != 0 ? (hip_result_t)card->broken : HIP_SUCCESS;
}

hip_result_t hip_current(hip_device_t **out_device)
{
    hip_result_t result = hip_device(current, out_device);
    return result == HIP_SUCCESS ? hip_usable(*out_device) : result;
}

hip_result_t hip_queue(void *handle, fake_stream_t **out_queue, hip_device_t **out_device)
{
    hip_device_t *device = NULL;
    if (handle == NULL) {
        hip_result_t result = hip_current(&device);
        if (result != HIP_SUCCESS)
            return result;
        *out_queue = device->null;
    } else {
        hip_stream_t *stream = fake_handle_check(handle, KIND_STREAM);
        if (stream == NULL)
            return HIP_INVALID_HANDLE;
        device = stream->device;
        *out_queue = stream->queue;
    }
    if (out_device != NULL)
        *out_device = device;
    return hip_usable(device);
}

void hip_fail(void *data, hip_result_t error)
{
    hip_device_t *device = data;
    int none = 0;
    atomic_compare_exchange_strong(&device->error, &none, error);
}

/* ---- attributes -------------------------------------------------------------------- */

enum key {
    CAN_MAP = 1,
    CLOCK,
    CONCURRENT,
    INTEGRATED,
    L2,
    MAJOR,
    MINOR,
    MANAGED,
    BLOCK_X,
    BLOCK_Y,
    BLOCK_Z,
    GRID_X,
    GRID_Y,
    GRID_Z,
    THREADS,
    THREADS_PER_UNIT,
    BUS_WIDTH,
    MEMORY_CLOCK,
    UNITS,
    PCI_BUS,
    PCI_DEVICE,
    PCI_DOMAIN,
    REGISTERS,
    LOCAL,
    CONSTANT,
    WARP,
    WAIT_VALUE
};

typedef struct attribute {
    int value;
    enum key key;
} attribute_t;

#if defined FAKE_MACA
/* The first of mcDeviceAttribute_t, in the order of a public Cython binding of
 * mcr/maca.h. */
static const attribute_t attributes[] = {{0, THREADS},
                                         {1, BLOCK_X},
                                         {2, BLOCK_Y},
                                         {3, BLOCK_Z},
                                         {4, GRID_X},
                                         {5, GRID_Y},
                                         {6, GRID_Z},
                                         {7, LOCAL},
                                         {8, CONSTANT},
                                         {9, WARP},
                                         {10, WARP},
                                         {11, REGISTERS},
                                         {12, REGISTERS},
                                         {13, CLOCK},
                                         {14, MEMORY_CLOCK},
                                         {15, BUS_WIDTH},
                                         {16, UNITS},
                                         {18, L2},
                                         {19, THREADS_PER_UNIT},
                                         {21, MAJOR},
                                         {22, MINOR},
                                         {23, CONCURRENT},
                                         {24, PCI_BUS},
                                         {25, PCI_DEVICE},
                                         {26, LOCAL},
                                         {28, INTEGRATED}};
#elif HIP_FAKE_MAJOR == 4
/* The order of hipDeviceAttribute_t before HIP 4.3 (halide/Halide, mini_amdgpu.h). */
static const attribute_t attributes[] = {{0, THREADS},
                                         {1, BLOCK_X},
                                         {2, BLOCK_Y},
                                         {3, BLOCK_Z},
                                         {4, GRID_X},
                                         {5, GRID_Y},
                                         {6, GRID_Z},
                                         {7, LOCAL},
                                         {8, CONSTANT},
                                         {9, WARP},
                                         {10, REGISTERS},
                                         {11, CLOCK},
                                         {12, MEMORY_CLOCK},
                                         {13, BUS_WIDTH},
                                         {14, UNITS},
                                         {16, L2},
                                         {17, THREADS_PER_UNIT},
                                         {18, MAJOR},
                                         {19, MINOR},
                                         {20, CONCURRENT},
                                         {21, PCI_BUS},
                                         {22, PCI_DEVICE},
                                         {23, LOCAL}};
#else
/* hipDeviceAttribute_t of HIP 5.2.3. */
static const attribute_t attributes[] = {
    {3, CAN_MAP},     {5, CLOCK},         {8, CONCURRENT},
    {16, INTEGRATED}, {19, L2},           {23, MAJOR},
    {24, MANAGED},    {26, BLOCK_X},      {27, BLOCK_Y},
    {28, BLOCK_Z},    {29, GRID_X},       {30, GRID_Y},
    {31, GRID_Z},     {56, THREADS},      {57, THREADS_PER_UNIT},
    {59, BUS_WIDTH},  {60, MEMORY_CLOCK}, {61, MINOR},
    {63, UNITS},      {67, PCI_BUS},      {68, PCI_DEVICE},
    {69, PCI_DOMAIN}, {71, REGISTERS},    {74, LOCAL},
    {83, CONSTANT},   {87, WARP},         {10013, WAIT_VALUE}};
#endif

static bool old_wave(const fake_card_t *card)
{
    return strncmp(card->arch, "gfx9", 4) == 0 ||
           strcmp(fake_defaults.vendor, "maca") == 0;
}

static int answer(const fake_card_t *card, enum key key)
{
    switch (key) {
    case CAN_MAP:
    case CONCURRENT:
    case MANAGED:
        return 1;
    case CLOCK:
        return 1700000;
    case INTEGRATED:
        return card->unified;
    case L2:
        return 8388608;
    case MAJOR:
        return old_wave(card) ? 9 : 10;
    case MINOR:
        return 0;
    case BLOCK_X:
    case BLOCK_Y:
    case BLOCK_Z:
    case THREADS:
        return 1024;
    case GRID_X:
    case GRID_Y:
    case GRID_Z:
        return 2147483647;
    case THREADS_PER_UNIT:
        return 2048;
    case BUS_WIDTH:
        return 4096;
    case MEMORY_CLOCK:
        return 1600000;
    case UNITS:
        return (int)fake_config_number(card->index, "units", 104);
    case PCI_BUS:
        return (int)card->bus;
    case PCI_DEVICE:
        return (int)card->device;
    case PCI_DOMAIN:
        return (int)card->domain;
    case REGISTERS:
    case LOCAL:
        return 65536;
    case CONSTANT:
        return 2147483647;
    case WARP:
        return old_wave(card) ? 64 : 32;
    case WAIT_VALUE:
        return fake_config_number(card->index, "stream_wait", 1) != 0;
    }
    return 0;
}

/* ---- questions --------------------------------------------------------------------- */

/* Without devices the count is left as it was. */
FAKE_API hip_result_t hipGetDeviceCount(int *count)
{
    HIP_CALL(hipGetDeviceCount);
    if (count == NULL)
        return hip_done(HIP_INVALID_VALUE);
    if (fake_visible_count() == 0)
        return hip_done(HIP_NO_DEVICE);
    FAKE_OUT(*count, fake_visible_count());
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipInit(unsigned flags)
{
    HIP_CALL(hipInit);
    if (flags != 0)
        return hip_done(HIP_INVALID_VALUE);
    return fake_visible_count() > 0 ? HIP_SUCCESS : hip_done(HIP_INVALID_DEVICE);
}

FAKE_API hip_result_t hipRuntimeGetVersion(int *version)
{
    HIP_CALL(hipRuntimeGetVersion);
    static const int versions[] = {40300000, 50221153, 60342131};
    FAKE_OUT(*version, versions[HIP_FAKE_MAJOR - 4]);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipDriverGetVersion(int *version)
{
    HIP_CALL(hipDriverGetVersion);
    static const int versions[] = {40300000, 50221153, 60342131};
    FAKE_OUT(*version, versions[HIP_FAKE_MAJOR - 4]);
    return HIP_SUCCESS;
}

#define OF_ORDINAL(ordinal)                                                              \
    hip_device_t *device = NULL;                                                         \
    hip_result_t found = hip_device(ordinal, &device);                                   \
    if (found != HIP_SUCCESS)                                                            \
    return hip_done(found)

FAKE_API hip_result_t hipDeviceGet(int *out_device, int ordinal)
{
    HIP_CALL(hipDeviceGet);
    OF_ORDINAL(ordinal);
    FAKE_OUT(*out_device, device->ordinal);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipDeviceGetName(char *name, int size, int ordinal)
{
    HIP_CALL(hipDeviceGetName);
    OF_ORDINAL(ordinal);
    if (name == NULL || size <= 0)
        return hip_done(HIP_INVALID_VALUE);
    snprintf(name, (size_t)size, "%s", device->card->name);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipDeviceGetUuid(char *uuid, int ordinal)
{
    HIP_CALL(hipDeviceGetUuid);
    OF_ORDINAL(ordinal);
    memcpy(uuid, device->card->uuid, 16);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipDeviceTotalMem(size_t *bytes, int ordinal)
{
    HIP_CALL(hipDeviceTotalMem);
    OF_ORDINAL(ordinal);
    FAKE_OUT(*bytes, device->card->memory);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipDeviceGetAttribute(int *value, int which, int ordinal)
{
    HIP_CALL(hipDeviceGetAttribute);
    OF_ORDINAL(ordinal);
    if (value == NULL)
        return hip_done(HIP_INVALID_VALUE);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (attributes[i].value != which)
            continue;
        FAKE_OUT(*value, answer(device->card, attributes[i].key));
        return HIP_SUCCESS;
    }
    return hip_done(HIP_INVALID_VALUE);
}

FAKE_API hip_result_t hipDeviceGetPCIBusId(char *text, int size, int ordinal)
{
    HIP_CALL(hipDeviceGetPCIBusId);
    OF_ORDINAL(ordinal);
    if (text == NULL || size < 13)
        return hip_done(HIP_INVALID_VALUE);
    fake_pci_text(device->card, text, (size_t)size);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipDeviceGetByPCIBusId(int *out_device, const char *text)
{
    HIP_CALL(hipDeviceGetByPCIBusId);
    char own[32];
    for (int i = 0; i < fake_visible_count(); i++) {
        fake_pci_text(fake_visible(i), own, sizeof own);
        if (strcasecmp(own, text) == 0) {
            *out_device = i;
            return HIP_SUCCESS;
        }
    }
    return hip_done(HIP_INVALID_VALUE);
}

#ifndef FAKE_MACA
/* ---- properties: the two layouts --------------------------------------------------- */

/* Before 6.0: hipDeviceProp_t of HIP 5.2.3, 792 bytes; what lies between the named ones
 * is zero here. */
typedef struct old_properties {
    char name[256];
    size_t memory, local;
    int registers, warp, threads, block[3], grid[3];
    char between[396 - 308];
    char arch[256];
    char rest[792 - 396 - 256];
} old_properties_t;
_Static_assert(offsetof(old_properties_t, arch) == 396, "gcnArchName");
_Static_assert(sizeof(old_properties_t) == 792, "hipDeviceProp_t");

/* From 6.0: hipDeviceProp_tR0600, 1472 bytes, gcnArchName at 1160
 * (llvm/llvm-project#167695). */
typedef struct new_properties {
    char name[256];
    char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t memory, local;
    int registers, warp;
    char between[1160 - 312];
    char arch[256];
    char rest[1472 - 1160 - 256];
} new_properties_t;
_Static_assert(offsetof(new_properties_t, arch) == 1160, "gcnArchName");
_Static_assert(sizeof(new_properties_t) == 1472, "hipDeviceProp_tR0600");

/* The unversioned symbol keeps the old layout in every version. */
FAKE_API hip_result_t hipGetDeviceProperties(void *out, int ordinal)
{
    HIP_CALL(hipGetDeviceProperties);
    OF_ORDINAL(ordinal);
    old_properties_t properties;
    memset(&properties, 0, sizeof properties);
    snprintf(properties.name, sizeof properties.name, "%s", device->card->name);
    properties.memory = device->card->memory;
    properties.local = 65536;
    properties.registers = 65536;
    properties.warp = answer(device->card, WARP);
    properties.threads = 1024;
    for (int i = 0; i < 3; i++) {
        properties.block[i] = 1024;
        properties.grid[i] = 2147483647;
    }
    snprintf(properties.arch, sizeof properties.arch, "%s", device->card->arch);
    memcpy(out, &properties, sizeof properties);
    return HIP_SUCCESS;
}

#if HIP_FAKE_MAJOR >= 6
FAKE_API hip_result_t hipGetDevicePropertiesR0600(void *out, int ordinal)
{
    HIP_CALL(hipGetDevicePropertiesR0600);
    OF_ORDINAL(ordinal);
    new_properties_t properties;
    memset(&properties, 0, sizeof properties);
    snprintf(properties.name, sizeof properties.name, "%s", device->card->name);
    memcpy(properties.uuid, device->card->uuid, 16);
    properties.memory = device->card->memory;
    properties.local = 65536;
    properties.registers = 65536;
    properties.warp = answer(device->card, WARP);
    snprintf(properties.arch, sizeof properties.arch, "%s", device->card->arch);
    memcpy(out, &properties, sizeof properties);
    return HIP_SUCCESS;
}
#endif

#endif

/* ---- the current device ------------------------------------------------------------ */

FAKE_API hip_result_t hipSetDevice(int ordinal)
{
    HIP_CALL(hipSetDevice);
    OF_ORDINAL(ordinal);
    (void)device;
    current = ordinal;
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipGetDevice(int *ordinal)
{
    HIP_CALL(hipGetDevice);
    if (ordinal == NULL)
        return hip_done(HIP_INVALID_VALUE);
    if (fake_visible_count() == 0)
        return hip_done(HIP_NO_DEVICE);
    FAKE_OUT(*ordinal, current);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipDeviceSynchronize(void)
{
    HIP_CALL_DEVICE(hipDeviceSynchronize);
    fake_group_wait(device);
    return hip_done(hip_usable(device));
}

FAKE_API hip_result_t hipDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    HIP_CALL_DEVICE(hipDeviceGetStreamPriorityRange);
    (void)device;
    if (least != NULL)
        *least = 1;
    if (greatest != NULL)
        *greatest = -1;
    return HIP_SUCCESS;
}

/* ---- peers ------------------------------------------------------------------------- */

FAKE_API hip_result_t hipDeviceCanAccessPeer(int *can, int ordinal, int peer)
{
    HIP_CALL(hipDeviceCanAccessPeer);
    OF_ORDINAL(ordinal);
    hip_device_t *other = NULL;
    hip_result_t result = hip_device(peer, &other);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    FAKE_OUT(*can, device != other && device->card->peer && other->card->peer);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
    HIP_CALL_DEVICE(hipDeviceEnablePeerAccess);
    hip_device_t *other = NULL;
    hip_result_t result = hip_device(peer, &other);
    if (result == HIP_SUCCESS && flags != 0)
        result = HIP_INVALID_VALUE;
    if (result == HIP_SUCCESS &&
        (other == device || !device->card->peer || !other->card->peer))
        result = HIP_INVALID_DEVICE;
    if (result == HIP_SUCCESS && atomic_exchange(&device->peers[peer], true))
        result = HIP_PEER_ACCESS_ALREADY_ENABLED;
    return hip_done(result);
}

FAKE_API hip_result_t hipDeviceDisablePeerAccess(int peer)
{
    HIP_CALL_DEVICE(hipDeviceDisablePeerAccess);
    if (fake_visible(peer) == NULL)
        return hip_done(HIP_INVALID_DEVICE);
    return atomic_exchange(&device->peers[peer], false)
               ? HIP_SUCCESS
               : hip_done(HIP_PEER_ACCESS_NOT_ENABLED);
}

/* ---- errors ------------------------------------------------------------------------ */

static const struct {
    int code;
    const char *name;
} names[] = {
#ifdef FAKE_MACA
#include "../maca/error_names.h"
#else
#include "error_names.h"
#endif
};

static const char *name_of(int code)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            return names[i].name;
#ifdef FAKE_MACA
    return "mcErrorUnknown";
#else
    return "hipErrorUnknown";
#endif
}

FAKE_API const char *hipGetErrorName(hip_result_t code)
{
    FAKE_CALL_OTHER(hipGetErrorName, NULL);
    return name_of(code);
}

FAKE_API const char *hipGetErrorString(hip_result_t code)
{
    FAKE_CALL_OTHER(hipGetErrorString, NULL);
    return name_of(code);
}

FAKE_API hip_result_t hipGetLastError(void)
{
    HIP_CALL(hipGetLastError);
    hip_result_t result = last;
    last = HIP_SUCCESS;
    return result;
}

FAKE_API hip_result_t hipPeekAtLastError(void)
{
    HIP_CALL(hipPeekAtLastError);
    return last;
}

/* ---- ../fake.h --------------------------------------------------------------------- */

FAKE_API uint64_t yoke_fake_current(void)
{
    return (uint64_t)current;
}

FAKE_API void yoke_fake_set_current(int ordinal)
{
    current = ordinal < 0 ? 0 : ordinal;
}
