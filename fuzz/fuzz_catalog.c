/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of catalog files, and look-ups in what it read. */
#include "fuzz/fuzz.h"
#include "inventory/catalog.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    yoke_catalog_t *catalog = NULL;
    yoke_status_t status =
        yoke_catalog_parse("input", (const char *)data, size, &catalog);
    if (status != YOKE_OK) {
        fuzz_require_failure(status, catalog);
        return 0;
    }
    for (size_t i = 0; i < catalog->device_count; i++) {
        const yoke_catalog_device_t *device = &catalog->devices[i];
        fuzz_require(yoke_catalog_find(catalog, device->vendor, device->name) == device,
                     "a device is not found by its own name");
    }
    yoke_catalog_free(catalog);
    return 0;
}
