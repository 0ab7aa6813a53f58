/* SPDX-License-Identifier: Apache-2.0 */
/* Names of devices: "cuda", "cuda:1", "cuda:0000:41:00.0", "cuda:GPU-8f2c...". */
#include <ctype.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "hal/live/device.h"
#include "inventory/document.h"

static int hex_digit(char letter)
{
    static const char digits[] = "0123456789abcdef";
    const char *at =
        letter == '\0' ? NULL : strchr(digits, tolower((unsigned char)letter));
    return at == NULL ? -1 : (int)(at - digits);
}

/* 32 digits, dashes ignored, after an optional word and dash: "GPU-", "MIG-". */
static bool parse_uuid(const char *text, uint8_t out_uuid[16])
{
    uint8_t uuid[16] = {0};
    size_t digits = 0;
    size_t word = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
    if (text[word] == '-' && word > 0 &&
        strspn(text, "ABCDEFabcdef") < word) /* letters that are no digits */
        text += word + 1;
    for (; *text != '\0'; text++) {
        int value = hex_digit(*text);
        if (*text == '-')
            continue;
        if (value < 0 || digits == 32)
            return false;
        uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | value);
        digits++;
    }
    if (digits == 32)
        memcpy(out_uuid, uuid, 16);
    return digits == 32;
}

yoke_status_t yoke_device_name_parse(const char *name, yoke_device_name_t *out_name)
{
    yoke_device_name_t parsed = {.by = YOKE_NAME_ORDINAL};
    const char *colon = strchr(name, ':');
    const char *rest = colon == NULL ? "0" : colon + 1;
    uint64_t ordinal = 0;
    bool good = true;
    if (yoke_parse_u64(rest, strlen(rest), 0, UINT32_MAX, &ordinal))
        parsed.ordinal = (uint32_t)ordinal;
    else if (yoke_pci_parse(rest, &parsed.pci))
        parsed.by = YOKE_NAME_PCI;
    else if (parse_uuid(rest, parsed.uuid))
        parsed.by = YOKE_NAME_UUID;
    else
        good = false;
    if (!good || name[0] == '\0' || name == colon)
        return yoke_fail(YOKE_ERR_USAGE,
                         "'%.100s' is no name of a device: expected BACKEND, "
                         "BACKEND:NUMBER, BACKEND:PCI-ADDRESS or BACKEND:UUID",
                         name);
    *out_name = parsed;
    return YOKE_OK;
}

static bool is_meant(const yoke_device_name_t *name, uint32_t ordinal,
                     const yoke_impl_info_t *info)
{
    switch (name->by) {
    case YOKE_NAME_ORDINAL:
        return ordinal == name->ordinal;
    case YOKE_NAME_PCI:
        return (info->valid & YOKE_INFO_PCI) != 0 &&
               info->pci.domain == name->pci.domain && info->pci.bus == name->pci.bus &&
               info->pci.device == name->pci.device &&
               info->pci.function == name->pci.function;
    case YOKE_NAME_UUID:
        return (info->valid & YOKE_INFO_UUID) != 0 &&
               memcmp(info->uuid, name->uuid, sizeof name->uuid) == 0;
    }
    return false;
}

static void add_line(yoke_text_t *text, const char *backend, uint32_t ordinal,
                     const yoke_impl_info_t *info)
{
    char buffer[40];
    yoke_text_printf(text, "%s%s:%u (%s", text->size > 0 ? ", " : "", backend, ordinal,
                     info->name != NULL ? info->name : "unnamed");
    if ((info->valid & YOKE_INFO_PCI) != 0)
        yoke_text_printf(text, ", %s", yoke_pci_text(&info->pci, buffer));
    if ((info->valid & YOKE_INFO_UUID) != 0)
        yoke_text_printf(text, ", %s", yoke_uuid_text(info->uuid, buffer));
    yoke_text_add(text, ")");
}

static yoke_status_t not_there(yoke_runtime_t *runtime, const char *name, uint32_t count)
{
    yoke_text_t all = {0};
    for (uint32_t i = 0; i < count && i < 16; i++) {
        yoke_impl_info_t info;
        if (yoke_runtime_device_info(runtime, i, &info) == YOKE_OK)
            add_line(&all, runtime->name, i, &info);
    }
    if (count == 0)
        yoke_fail(YOKE_ERR_NOT_FOUND, "%s: no such device; %s sees none", name,
                  runtime->name);
    else
        yoke_fail(YOKE_ERR_NOT_FOUND, "%s: no such device; there are: %s", name,
                  yoke_text_get(&all));
    yoke_text_free(&all);
    return YOKE_ERR_NOT_FOUND;
}

yoke_status_t yoke_device_name_find(yoke_runtime_t *runtime,
                                    const yoke_device_name_t *name, const char *text,
                                    uint32_t *out_ordinal)
{
    uint32_t count = 0;
    yoke_status_t status = runtime->ops.device_count(runtime->impl, &count);
    if (status != YOKE_OK)
        return status;
    if (name->by == YOKE_NAME_ORDINAL) {
        if (name->ordinal >= count)
            return not_there(runtime, text, count);
        *out_ordinal = name->ordinal;
        return YOKE_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        yoke_impl_info_t info;
        /* One device that does not answer must not hide the others. */
        if (yoke_runtime_device_info(runtime, i, &info) == YOKE_OK &&
            is_meant(name, i, &info)) {
            *out_ordinal = i;
            return YOKE_OK;
        }
    }
    return not_there(runtime, text, count);
}
