/* SPDX-License-Identifier: Apache-2.0 */
/* Entries of compressed gradients, as another rank might send them. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "ucx_comm/compression/entries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    /* lengths up to three blocks, so that short data can be a whole message */
    uint64_t length =
        data[0] + ((uint64_t)data[1] << 8) + (uint64_t)(data[2] & 1) * 70000;
    bool halves = data[3] & 1;
    data += 4;
    size -= 4;
    /* Of the exact size, so that a read past it is seen. */
    unsigned char *message = malloc(size > 0 ? size : 1);
    float *own = calloc(length + 1, sizeof *own);
    fuzz_require(message != NULL && own != NULL, "no memory");
    if (size > 0)
        memcpy(message, data, size);
    if (yoke_entries_check(message, size, length, halves)) {
        yoke_owners_t owners = yoke_owners_of(length, 1, halves);
        yoke_entries_add(message, length, halves, own);
        yoke_entries_put(message, &owners, 0, 1, own);
    }
    free(message);
    free(own);
    return 0;
}
