/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/compression/entries.h"
#include <math.h>
#include <string.h>

#define BLOCK 65536u
#define LARGEST_STRIPE 4096u
#define STRIPES_AN_OWNER 8u /* at least, where the vector is long enough */

static uint64_t blocks_of(uint64_t length)
{
    return (length + BLOCK - 1) / BLOCK;
}

yoke_owners_t yoke_owners_of(uint64_t count, uint32_t ranks, bool halves)
{
    uint32_t stripe = LARGEST_STRIPE;
    while (stripe > 1 && count / stripe < (uint64_t)ranks * STRIPES_AN_OWNER)
        stripe /= 2;
    return (yoke_owners_t){
        .count = count, .ranks = ranks, .stripe = stripe, .halves = halves};
}

uint64_t yoke_owner_length(const yoke_owners_t *owners, uint32_t owner)
{
    uint64_t round = (uint64_t)owners->ranks * owners->stripe;
    uint64_t rest = owners->count % round;
    uint64_t begin = (uint64_t)owner * owners->stripe;
    uint64_t of_rest = rest <= begin ? 0 : rest - begin;
    if (of_rest > owners->stripe)
        of_rest = owners->stripe;
    return owners->count / round * owners->stripe + of_rest;
}

uint64_t yoke_owner_index(const yoke_owners_t *owners, uint32_t owner, uint64_t number)
{
    uint64_t stripe = number / owners->stripe;
    return (stripe * owners->ranks + owner) * owners->stripe + number % owners->stripe;
}

static size_t value_size(bool halves)
{
    return halves ? sizeof(uint16_t) : sizeof(float);
}

size_t yoke_entries_size(uint64_t length, uint64_t entries, bool halves)
{
    return blocks_of(length) * sizeof(uint32_t) +
           entries * (value_size(halves) + sizeof(uint16_t));
}

/* The upper half of a float: cut, so that nothing finite becomes infinite. */
static float cut(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        bits |= 0x00400000u; /* a NaN stays one */
    bits &= 0xffff0000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void write_value(unsigned char *to, float value, bool halves)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t upper = (uint16_t)(bits >> 16);
    if (halves)
        memcpy(to, &upper, sizeof upper);
    else
        memcpy(to, &bits, sizeof bits);
}

static bool pick(yoke_picker_t *picker, uint64_t index, float value, float *out_sent)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    bits &= 0x7fffffffu;
    *out_sent = value;
    if (!picker->draws) {
        if (bits > picker->threshold.bits)
            return true;
        if (bits < picker->threshold.bits || picker->threshold.ties == 0)
            return false;
        picker->threshold.ties--;
        return true;
    }
    double chance = fabs((double)value) * picker->scale;
    if (bits >= 0x7f800000u || chance >= 1)
        return true;
    if (value == 0 || yoke_select_draw(picker->seed, picker->call, index) >= chance)
        return false;
    *out_sent = (float)((double)value / chance);
    return true;
}

/* Values go where they belong at once; numbers after all values, whose count is known at
 * the end only: they are written behind the room for all, and moved together. */
size_t yoke_entries_pack(const yoke_owners_t *owners, uint32_t owner,
                         yoke_picker_t *picker, float *values, bool keep, uint64_t room,
                         void *message, uint64_t *out_entries)
{
    uint64_t length = yoke_owner_length(owners, owner);
    uint64_t blocks = blocks_of(length);
    if (room > length)
        room = length;
    unsigned char *bytes = message;
    unsigned char *counts = bytes;
    unsigned char *sent = bytes + blocks * sizeof(uint32_t);
    size_t value_bytes = value_size(owners->halves);
    unsigned char *numbers = sent + room * value_bytes;
    memset(counts, 0, blocks * sizeof(uint32_t));
    uint64_t entries = 0;
    for (uint64_t first = 0; first < length; first += owners->stripe) {
        uint64_t index = yoke_owner_index(owners, owner, first);
        uint64_t end = owners->stripe < length - first ? owners->stripe : length - first;
        for (uint64_t i = 0; i < end && entries < room; i++) {
            float value;
            if (!pick(picker, index + i, values[index + i], &value))
                continue;
            if (owners->halves)
                value = cut(value);
            uint32_t in_block;
            unsigned char *counter = counts + (first + i) / BLOCK * sizeof in_block;
            memcpy(&in_block, counter, sizeof in_block);
            in_block++;
            memcpy(counter, &in_block, sizeof in_block);
            uint16_t number = (uint16_t)((first + i) % BLOCK);
            write_value(sent + entries * value_bytes, value, owners->halves);
            memcpy(numbers + entries * sizeof number, &number, sizeof number);
            entries++;
            if (keep) {
                float left = values[index + i] - value;
                values[index + i] = isfinite(left) ? left : 0;
            }
        }
    }
    memmove(sent + entries * value_bytes, numbers, entries * sizeof(uint16_t));
    *out_entries = entries;
    return yoke_entries_size(length, entries, owners->halves);
}

/* A message taken apart. */
typedef struct entries {
    const unsigned char *counts, *values, *numbers;
    uint64_t blocks, total;
    bool halves;
} entries_t;

static uint32_t count_at(const entries_t *entries, uint64_t block)
{
    uint32_t count;
    memcpy(&count, entries->counts + block * sizeof count, sizeof count);
    return count;
}

static entries_t take_apart(const void *message, uint64_t length, bool halves)
{
    entries_t entries = {
        .counts = message, .blocks = blocks_of(length), .halves = halves};
    for (uint64_t i = 0; i < entries.blocks; i++)
        entries.total += count_at(&entries, i);
    entries.values = entries.counts + entries.blocks * sizeof(uint32_t);
    entries.numbers = entries.values + entries.total * value_size(halves);
    return entries;
}

static uint64_t number_at(const entries_t *entries, uint64_t entry)
{
    uint16_t number;
    memcpy(&number, entries->numbers + entry * sizeof number, sizeof number);
    return number;
}

static float value_at(const entries_t *entries, uint64_t entry)
{
    uint32_t bits = 0;
    if (entries->halves) {
        uint16_t upper;
        memcpy(&upper, entries->values + entry * sizeof upper, sizeof upper);
        bits = (uint32_t)upper << 16;
    } else {
        memcpy(&bits, entries->values + entry * sizeof bits, sizeof bits);
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

bool yoke_entries_check(const void *message, size_t size, uint64_t length, bool halves)
{
    if (size < blocks_of(length) * sizeof(uint32_t))
        return false;
    entries_t entries = take_apart(message, length, halves);
    if (entries.total > length ||
        size != yoke_entries_size(length, entries.total, halves))
        return false;
    uint64_t entry = 0;
    for (uint64_t block = 0; block < entries.blocks; block++) {
        uint64_t end = entry + count_at(&entries, block);
        uint64_t in_block =
            length - block * BLOCK < BLOCK ? length - block * BLOCK : BLOCK;
        for (uint64_t below = 0; entry < end; entry++) {
            uint64_t number = number_at(&entries, entry);
            if (number < below || number >= in_block)
                return false;
            below = number + 1;
        }
    }
    return true;
}

void yoke_entries_add(const void *message, uint64_t length, bool halves, float *own)
{
    entries_t entries = take_apart(message, length, halves);
    uint64_t entry = 0;
    for (uint64_t block = 0; block < entries.blocks; block++)
        for (uint64_t end = entry + count_at(&entries, block); entry < end; entry++)
            own[block * BLOCK + number_at(&entries, entry)] += value_at(&entries, entry);
}

void yoke_entries_put(const void *message, const yoke_owners_t *owners, uint32_t owner,
                      float factor, float *vector)
{
    entries_t entries =
        take_apart(message, yoke_owner_length(owners, owner), owners->halves);
    uint64_t entry = 0;
    for (uint64_t block = 0; block < entries.blocks; block++)
        for (uint64_t end = entry + count_at(&entries, block); entry < end; entry++)
            vector[yoke_owner_index(owners, owner,
                                    block * BLOCK + number_at(&entries, entry))] =
                value_at(&entries, entry) * factor;
}
