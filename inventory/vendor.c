/* SPDX-License-Identifier: Apache-2.0 */
/* Makers of accelerators. PCI vendor ids: pci.ids of 2026-08-22. */
#include "inventory/vendor.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

typedef struct maker {
    uint16_t pci;
    const char *name;
    yoke_device_kind_t kind;
    bool only_accelerators;   /* everything with this vendor id is one, bridges apart */
    const char *spellings[6]; /* begin of what drivers print, lower case */
} maker_t;

static const maker_t makers[] = {
    {0x10de, "NVIDIA", YOKE_DEVICE_GPU, false, {"nvidia"}},
    {0x1002, "AMD", YOKE_DEVICE_GPU, false, {"amd", "advanced micro devices", "ati"}},
    {0x8086,
     "Intel",
     YOKE_DEVICE_GPU,
     false,
     {"intel(r) corporation", "intel corporation", "intel"}},
    {0x1da3, "Intel Habana", YOKE_DEVICE_NPU, true, {"intel habana", "habana"}},
    {0x19e5, "Huawei", YOKE_DEVICE_NPU, false, {"huawei", "ascend"}},
    {0x1d94, "Hygon", YOKE_DEVICE_GPU, false, {"hygon", "chengdu haiguang"}},
    {0xcabc, "Cambricon", YOKE_DEVICE_NPU, true, {"cambricon"}},
    {0x1ed5,
     "Moore Threads",
     YOKE_DEVICE_GPU,
     true,
     {"moore threads", "mthreads", "moorethreads"}},
    {0x9999, "MetaX", YOKE_DEVICE_GPU, true, {"metax"}},
    {0x1e3e, "Iluvatar CoreX", YOKE_DEVICE_GPU, true, {"iluvatar"}},
    {0x1d22, "Kunlunxin", YOKE_DEVICE_NPU, false, {"kunlunxin", "baidu"}},
    {0x1e36, "Enflame", YOKE_DEVICE_NPU, true, {"enflame", "shanghai enflame"}},
    {0x1ded, "T-Head", YOKE_DEVICE_GPU, false, {"t-head", "alibaba"}},
    {0, "Biren", YOKE_DEVICE_GPU, true, {"biren", "shanghai biren"}},
    {0x1eff, "Rebellions", YOKE_DEVICE_NPU, true, {"rebellions"}},
    {0x1e52, "Tenstorrent", YOKE_DEVICE_NPU, true, {"tenstorrent"}},
    {0x1ae0, "Google", YOKE_DEVICE_NPU, false, {"google"}},
};
#define MAKER_COUNT (sizeof makers / sizeof *makers)

static const maker_t *maker_by_pci(uint16_t id)
{
    for (size_t i = 0; i < MAKER_COUNT; i++)
        if (id != 0 && makers[i].pci == id)
            return &makers[i];
    return NULL;
}

const char *yoke_vendor_by_pci(uint16_t pci_vendor)
{
    const maker_t *maker = maker_by_pci(pci_vendor);
    return maker == NULL ? NULL : maker->name;
}

/* "intel" must not take "Intelligence Ltd": the spelling ends at a word's end. */
static bool begins_with_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    return strncasecmp(text, word, length) == 0 && !isalpha((unsigned char)text[length]);
}

static const maker_t *maker_by_text(const char *text)
{
    for (size_t i = 0; i < MAKER_COUNT; i++)
        if (strcasecmp(text, makers[i].name) == 0)
            return &makers[i];
    for (size_t i = 0; i < MAKER_COUNT; i++)
        for (size_t j = 0; j < 6 && makers[i].spellings[j] != NULL; j++)
            if (begins_with_word(text, makers[i].spellings[j]))
                return &makers[i];
    /* OpenCL on AMD CPUs and GPUs. */
    if (strcasecmp(text, "AuthenticAMD") == 0)
        return maker_by_pci(0x1002);
    if (strcasecmp(text, "GenuineIntel") == 0)
        return maker_by_pci(0x8086);
    return NULL;
}

const char *yoke_vendor_canonical(const char *text)
{
    const maker_t *maker = text == NULL ? NULL : maker_by_text(text);
    return maker == NULL ? text : maker->name;
}

yoke_device_kind_t yoke_vendor_device_kind(const char *vendor)
{
    const maker_t *maker = vendor == NULL ? NULL : maker_by_text(vendor);
    return maker == NULL ? YOKE_DEVICE_GPU : maker->kind;
}

bool yoke_pci_is_accelerator(uint16_t vendor_id, uint16_t device_id, uint32_t pci_class)
{
    unsigned base = pci_class >> 16 & 0xff;
    unsigned sub = pci_class >> 8 & 0xff;
    const maker_t *maker = maker_by_pci(vendor_id);
    bool processor = base == 0x12 || (base == 0x0b && sub == 0x40);
    (void)device_id;
    if (processor)
        return true;
    if (base == 0x03 && vendor_id == 0x19e5)
        return false; /* display of Huawei's BMC (19e5:1711); its accelerators are class
                         12 */
    if (base == 0x03)
        /* VGA of a maker of nothing else is a management controller's or a virtual one.
         */
        return maker != NULL;
    if (maker == NULL || !maker->only_accelerators)
        return false;
    /* Storage, network, bridges, serial, base peripherals, USB and sensors are not cards;
     * multimedia (audio of a graphics card) neither. */
    return base == 0x00 || base == 0x0b || base == 0x11 || base == 0xff;
}
