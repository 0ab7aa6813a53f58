/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libcuda.so.1: enough of the driver API to be enumerated. */
#include "fake.h"

#define MASK "CUDA_VISIBLE_DEVICES"
#define API __attribute__((visibility("default")))

API int cuInit(unsigned flags)
{
    (void)flags;
    return fake_count(MASK) > 0 ? 0 : 100;
}

API int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return 0;
}

API int cuDeviceGetCount(int *count)
{
    *count = fake_count(MASK);
    return 0;
}

API int cuDeviceGet(int *device, int index)
{
    int card = fake_visible(MASK, index);
    if (card < 0 || fake_broken(card))
        return 101;
    *device = card;
    return 0;
}

API int cuDeviceGetName(char *name, int size, int device)
{
    (void)device;
    snprintf(name, (size_t)size, "NVIDIA H100 80GB HBM3");
    return 0;
}

API int cuDeviceGetUuid(char uuid[16], int device)
{
    memset(uuid, 0x11, 16);
    uuid[15] = (char)device;
    return 0;
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)85520809984;
    return 0;
}

API int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    (void)attribute;
    *value = 0;
    return 0;
}

API int cuDeviceGetPCIBusId(char *text, int size, int device)
{
    fake_pci(device, text, size);
    return 0;
}
