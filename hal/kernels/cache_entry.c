/* SPDX-License-Identifier: Apache-2.0 */
/* What a file of the cache holds: header, the whole key, the data. The key is compared
 * whole, so that two that share a file name cannot be taken for each other. */
#include "hal/kernels/cache.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC UINT64_C(0x31434b4f59) /* another byte order reads as another number */

typedef struct header {
    uint64_t magic, key_size, data_size, checksum;
} header_t;

/* FNV-1a (draft-eastlake-fnv): finds damage; it keeps out nobody who means harm, which is
 * what the folder's permissions do. */
static uint64_t checksum(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

static uint64_t checksum_of(const header_t *header, const void *rest)
{
    uint64_t sum =
        checksum(UINT64_C(0xcbf29ce484222325), header, offsetof(header_t, checksum));
    return checksum(sum, rest, (size_t)(header->key_size + header->data_size));
}

bool yoke_cache_entry_read(const void *entry, size_t size, const void *key,
                           size_t key_size, const void **out_data, size_t *out_size)
{
    header_t header;
    const char *rest = (const char *)entry + sizeof header;
    if (size < sizeof header)
        return false;
    memcpy(&header, entry, sizeof header);
    if (header.magic != MAGIC || header.key_size != key_size ||
        key_size > size - sizeof header ||
        header.data_size != size - sizeof header - key_size)
        return false;
    if (checksum_of(&header, rest) != header.checksum || memcmp(rest, key, key_size) != 0)
        return false;
    *out_data = rest + key_size;
    *out_size = (size_t)header.data_size;
    return true;
}

void *yoke_cache_entry_make(const void *key, size_t key_size, const void *data,
                            size_t size, size_t *out_size)
{
    header_t header = {MAGIC, key_size, size, 0};
    if (size > SIZE_MAX / 2 || key_size > SIZE_MAX / 4)
        return NULL;
    char *entry = malloc(sizeof header + key_size + size);
    if (entry == NULL)
        return NULL;
    memcpy(entry + sizeof header, key, key_size);
    if (size > 0)
        memcpy(entry + sizeof header + key_size, data, size);
    header.checksum = checksum_of(&header, entry + sizeof header);
    memcpy(entry, &header, sizeof header);
    *out_size = sizeof header + key_size + size;
    return entry;
}

/* Each text with its final zero, so that no two keys give the same bytes. */
void *yoke_cache_key_bytes(const yoke_cache_key_t *key, size_t *out_size)
{
    const char *const texts[] = {key->backend, key->architecture, key->driver,
                                 key->compiler, key->options};
    size_t size = key->source_size, used = 0;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        size += strlen(texts[i]) + 1;
    char *bytes = malloc(size + 1);
    if (bytes == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        memcpy(bytes + used, texts[i], strlen(texts[i]) + 1);
        used += strlen(texts[i]) + 1;
    }
    memcpy(bytes + used, key->source, key->source_size);
    *out_size = size;
    return bytes;
}
