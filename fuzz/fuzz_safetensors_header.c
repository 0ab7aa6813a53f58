/* SPDX-License-Identifier: Apache-2.0 */
/* Headers of safetensors files. The input is the file's beginning; where it states a
 * length that no input has, the length is put right, so that the JSON behind it is
 * reached. */
#include <stdlib.h>
#include <string.h>

#include "costmodel/model_safetensors.h"
#include "fuzz/fuzz.h"

static void check_entries(const yoke_safetensors_t *header, uint64_t data_size)
{
    uint64_t total = 0;
    for (size_t i = 0; i < header->count; i++) {
        const yoke_safetensors_entry_t *entry = &header->entries[i];
        fuzz_require(entry->begin <= entry->end && entry->end <= data_size,
                     "a tensor lies outside its file");
        fuzz_require(entry->rank <= YOKE_SAFETENSORS_RANK, "too many dimensions");
        if (i > 0)
            fuzz_require(strcmp(header->entries[i - 1].name, entry->name) < 0,
                         "entries are not sorted by name, or one is there twice");
        total += entry->end - entry->begin;
    }
    fuzz_require(total <= data_size, "the tensors are larger than their file");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 10)
        return -1;
    /* The first byte chooses the size of the file, the second whether the length is kept.
     */
    uint64_t data_size = (uint64_t)data[0] * 64;
    bool keep = data[1] % 8 == 0;
    size -= 2;
    uint8_t *bytes = malloc(size);
    if (bytes == NULL)
        return -1;
    memcpy(bytes, data + 2, size);
    for (size_t i = 0; i < 8 && !keep; i++)
        bytes[i] = (uint8_t)((size - 8) >> (8 * i) & 0xff);

    yoke_safetensors_t header = {0};
    yoke_status_t status =
        yoke_safetensors_parse_header("input", bytes, size, size + data_size, &header);
    if (status != YOKE_OK)
        fuzz_require_failure(status, header.entries);
    else
        check_entries(&header, size + data_size);
    yoke_safetensors_free(&header);
    free(bytes);
    return 0;
}
