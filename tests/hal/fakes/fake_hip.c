/* SPDX-License-Identifier: Apache-2.0 */
/* A fake libamdhip64: a broken card answers with an error and writes nothing. */
#include "fake.h"

#define MASK "HIP_VISIBLE_DEVICES"
#define API __attribute__((visibility("default")))

API int hipGetDeviceCount(int *count)
{
    if (fake_count(MASK) == 0)
        return 100; /* and the count is left as it was */
    *count = fake_count(MASK);
    return 0;
}

API int hipRuntimeGetVersion(int *version)
{
    *version = 60342131;
    return 0;
}

API int hipDeviceGetName(char *name, int size, int index)
{
    if (fake_broken(fake_visible(MASK, index)))
        return 101;
    snprintf(name, (size_t)size, "AMD Instinct MI300X");
    return 0;
}

API int hipDeviceTotalMem(size_t *bytes, int index)
{
    if (fake_broken(fake_visible(MASK, index)))
        return 101;
    *bytes = (size_t)206141652992;
    return 0;
}

API int hipDeviceGetPCIBusId(char *text, int size, int index)
{
    int card = fake_visible(MASK, index);
    if (card < 0 || fake_broken(card))
        return 101;
    fake_pci(card, text, size);
    return 0;
}
