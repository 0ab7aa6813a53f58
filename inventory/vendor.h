/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_VENDOR_H
#define YOKE_INVENTORY_VENDOR_H

/* Makers of accelerators: PCI vendor ids, the names that drivers use, what they build. */

#include <stdbool.h>
#include <stdint.h>
#include "yoke/inventory.h"

/* "NVIDIA", "AMD", "Huawei" ...; NULL when the id belongs to no maker of accelerators. */
const char *yoke_vendor_by_pci(uint16_t pci_vendor);
/* Our name for what a driver prints ("Advanced Micro Devices, Inc." -> "AMD"); the text
 * itself when it names none of them; NULL for NULL. Never frees nor allocates. */
const char *yoke_vendor_canonical(const char *text);
/* GPU or NPU, by what this maker builds; GPU for an unknown one. */
yoke_device_kind_t yoke_vendor_device_kind(const char *vendor);
/*
 * Is a PCI function an accelerator? `pci_class` is the 24-bit class code. Classes 03 and
 * 12 and 0b40 count; for makers in the table also other classes, except network, storage,
 * bridges and the like. On-board display chips of BMCs (ASPEED, Matrox) do not count.
 */
bool yoke_pci_is_accelerator(uint16_t vendor_id, uint16_t device_id, uint32_t pci_class);

#endif
