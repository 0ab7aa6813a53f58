/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was kept back, saved and loaded. Only its sum over the ranks matters to training,
 * so any number of ranks can go on with it: what owners had kept is saved as if the rank
 * that owns it had kept it as a sender.
 *
 *   char magic[8]; uint32 version, reserved; uint64 count, checksum; float kept[count]
 */

#include "base/error.h"
#include "ucx_comm/compression/compressor.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static const char magic[8] = {'y', 'o', 'k', 'e', 'k', 'e', 'p', 't'};
#define VERSION 1
#define HEADER 32

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

static uint64_t checksum(const unsigned char *data, uint64_t size)
{
    uLong sum = crc32_z(0, NULL, 0);
    return (uint64_t)crc32_z(sum, data, size);
}

yoke_status_t yoke_compressor_save(const yoke_compressor_t *c, void **out_data,
                                   size_t *out_size)
{
    size_t size = HEADER + c->count * sizeof(float);
    unsigned char *data = malloc(size);
    if (data == NULL)
        return yoke_fail(YOKE_ERR_NO_MEMORY,
                         "yoke_compressor_save: no memory for %zu bytes", size);
    for (uint64_t i = 0; i < c->count; i++) {
        uint32_t bits;
        memcpy(&bits, &c->sum[i], sizeof bits);
        put(data + HEADER + i * sizeof bits, bits, 4);
    }
    for (uint64_t i = 0; i < c->own_length; i++) {
        uint64_t index =
            yoke_owner_index(&c->owners, (uint32_t)yoke_comm_rank(c->across), i);
        float kept = c->sum[index] + c->own[i];
        uint32_t bits;
        memcpy(&bits, &kept, sizeof bits);
        put(data + HEADER + index * sizeof bits, bits, 4);
    }
    memcpy(data, magic, sizeof magic);
    put(data + 8, VERSION, 4);
    put(data + 12, 0, 4);
    put(data + 16, c->count, 8);
    put(data + 24, checksum(data + HEADER, size - HEADER), 8);
    *out_data = data;
    *out_size = size;
    return YOKE_OK;
}

static yoke_status_t check(const yoke_compressor_t *c, const unsigned char *data,
                           size_t size)
{
    if (size < HEADER || memcmp(data, magic, sizeof magic) != 0)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "yoke_compressor_load: not what yoke_compressor_save() made");
    if (get(data + 8, 4) != VERSION)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "yoke_compressor_load: version %llu; this library reads %d",
                         (unsigned long long)get(data + 8, 4), VERSION);
    if (get(data + 16, 8) != c->count)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "yoke_compressor_load: of a gradient of %llu elements; this "
                         "one has %llu",
                         (unsigned long long)get(data + 16, 8),
                         (unsigned long long)c->count);
    if (size != HEADER + c->count * sizeof(float))
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "yoke_compressor_load: %zu bytes; %llu elements have %llu", size,
                         (unsigned long long)c->count,
                         (unsigned long long)(HEADER + c->count * sizeof(float)));
    if (get(data + 24, 8) != checksum(data + HEADER, size - HEADER))
        return yoke_fail(
            YOKE_ERR_BAD_INPUT,
            "yoke_compressor_load: the checksum differs: the data is damaged");
    return YOKE_OK;
}

yoke_status_t yoke_compressor_load(yoke_compressor_t *c, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    yoke_status_t status = check(c, bytes, size);
    if (status != YOKE_OK)
        return status;
    for (uint64_t i = 0; i < c->count; i++) {
        uint32_t bits = (uint32_t)get(bytes + HEADER + i * sizeof bits, 4);
        float kept;
        memcpy(&kept, &bits, sizeof kept);
        c->sum[i] += isfinite(kept) ? kept : 0;
    }
    return YOKE_OK;
}
