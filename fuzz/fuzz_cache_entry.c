/* SPDX-License-Identifier: Apache-2.0 */
/* An entry of the compile cache, as it lies on a disk: the first byte says how long the
 * key is, which follows; the rest is the entry. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "hal/kernels/cache.h"

static void round_trip(const void *key, size_t key_size, const void *data, size_t size)
{
    size_t entry_size = 0, out_size = 0;
    const void *out = NULL;
    void *entry = yoke_cache_entry_make(key, key_size, data, size, &entry_size);
    fuzz_require(entry != NULL, "no memory");
    fuzz_require(yoke_cache_entry_read(entry, entry_size, key, key_size, &out, &out_size),
                 "an entry that was made is refused");
    fuzz_require(out_size == size && (size == 0 || memcmp(out, data, size) == 0),
                 "an entry gives other data");
    free(entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    size_t key_size = data[0] < size ? data[0] : size - 1, out_size = 0;
    const uint8_t *key = data + 1;
    const void *out = NULL;
    size_t entry_size = size - 1 - key_size;
    /* Of the exact size, so that a read past it is seen. */
    uint8_t *entry = malloc(entry_size > 0 ? entry_size : 1);
    fuzz_require(entry != NULL, "no memory");
    if (entry_size > 0)
        memcpy(entry, key + key_size, entry_size);
    if (yoke_cache_entry_read(entry, entry_size, key, key_size, &out, &out_size)) {
        const uint8_t *begin = out;
        fuzz_require(begin >= entry && out_size <= entry_size &&
                         begin + out_size <= entry + entry_size,
                     "the data lies outside the entry");
    }
    round_trip(key, key_size, entry, entry_size);
    free(entry);
    return 0;
}
