/* SPDX-License-Identifier: Apache-2.0 */
/* PCI addresses and UUIDs as text. */
#include "inventory/document.h"

#include <stdio.h>
#include <string.h>

const char *yoke_pci_text(const yoke_pci_t *pci, char buffer[24])
{
    snprintf(buffer, 24, "%04x:%02x:%02x.%x", (unsigned)pci->domain, (unsigned)pci->bus,
             (unsigned)pci->device, (unsigned)pci->function & 0xfu);
    return buffer;
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* One to `digits` hex digits; steps over them. */
static bool read_hex(const char **at, size_t digits, uint32_t *out)
{
    uint32_t value = 0;
    size_t read = 0;
    while (read < digits && hex_digit(**at) >= 0) {
        value = value << 4 | (uint32_t)hex_digit(**at);
        (*at)++;
        read++;
    }
    *out = value;
    return read > 0;
}

static bool read_char(const char **at, char c)
{
    if (**at != c)
        return false;
    (*at)++;
    return true;
}

bool yoke_pci_parse(const char *text, yoke_pci_t *out_pci)
{
    const char *first = strchr(text, ':');
    bool has_domain = first != NULL && strchr(first + 1, ':') != NULL;
    uint32_t domain = 0, bus = 0, device = 0, function = 0;
    const char *at = text;
    if (has_domain && !(read_hex(&at, 8, &domain) && read_char(&at, ':')))
        return false;
    if (!read_hex(&at, 2, &bus) || !read_char(&at, ':') || !read_hex(&at, 2, &device) ||
        !read_char(&at, '.') || !read_hex(&at, 1, &function) || *at != '\0')
        return false;
    if (device > 0x1f || function > 7)
        return false;
    *out_pci = (yoke_pci_t){.valid = true,
                            .domain = domain,
                            .bus = (uint8_t)bus,
                            .device = (uint8_t)device,
                            .function = (uint8_t)function};
    return true;
}

int yoke_pci_compare(const yoke_pci_t *a, const yoke_pci_t *b)
{
    if (a->domain != b->domain)
        return a->domain < b->domain ? -1 : 1;
    if (a->bus != b->bus)
        return a->bus < b->bus ? -1 : 1;
    if (a->device != b->device)
        return a->device < b->device ? -1 : 1;
    return a->function == b->function ? 0 : a->function < b->function ? -1 : 1;
}

bool yoke_uuid_parse(const char *text, uint8_t out_uuid[16])
{
    uint8_t uuid[16] = {0};
    size_t digits = 0;
    if (strncmp(text, "GPU-", 4) == 0)
        text += 4;
    for (; *text != '\0'; text++) {
        bool dash = digits == 8 || digits == 12 || digits == 16 || digits == 20;
        if (*text == '-' && dash && text[-1] != '-')
            continue;
        int digit = hex_digit(*text);
        if (digit < 0 || digits == 32)
            return false;
        uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | digit);
        digits++;
    }
    if (digits != 32)
        return false;
    memcpy(out_uuid, uuid, sizeof uuid);
    return true;
}

const char *yoke_uuid_text(const uint8_t uuid[16], char buffer[40])
{
    char *at = buffer;
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        snprintf(at, 3, "%02x", uuid[i]);
        at += 2;
    }
    return buffer;
}
