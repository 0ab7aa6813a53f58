/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"
#include "entry.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define GRAIN 512u /* alignment of allocations, and the gap between them */
#define SPARE                                                                            \
    ((size_t)1 << 32) /* addresses beyond the memory, so that none is reused soon */

typedef struct region {
    uintptr_t base; /* 0: not reserved yet */
    size_t length;
    uintptr_t shadow;
    uintptr_t cursor;
    uint64_t used;
} region_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static region_t regions[FAKE_MAX_CARDS];
static fake_block_t *blocks; /* by address */
static size_t block_count, block_room;

/* ---- blocks, by address ------------------------------------------------------------ */

/* Index of the first block that ends after `address`. */
static size_t first_after(uintptr_t address)
{
    size_t low = 0, high = block_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (blocks[middle].address + blocks[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool insert(fake_block_t block)
{
    if (block_count == block_room) {
        size_t room = block_room == 0 ? 256 : block_room * 2;
        fake_block_t *more = realloc(blocks, room * sizeof *blocks);
        if (more == NULL)
            return false;
        blocks = more;
        block_room = room;
    }
    size_t at = first_after(block.address);
    if (at < block_count && blocks[at].address < block.address + block.size)
        return false;
    memmove(&blocks[at + 1], &blocks[at], (block_count - at) * sizeof *blocks);
    blocks[at] = block;
    block_count++;
    return true;
}

static const region_t *region_of(uintptr_t address)
{
    for (int i = 0; i < FAKE_MAX_CARDS; i++)
        if (regions[i].base != 0 && address >= regions[i].base &&
            address - regions[i].base < regions[i].length)
            return &regions[i];
    return NULL;
}

/* ---- device addresses -------------------------------------------------------------- */

static bool reserve(region_t *region, uint64_t memory)
{
    if (region->base != 0)
        return true;
    size_t length = (size_t)memory + SPARE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *base = mmap(NULL, length, PROT_NONE, flags, -1, 0);
    void *shadow = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (base == MAP_FAILED || shadow == MAP_FAILED)
        return false;
    region->length = length;
    region->shadow = (uintptr_t)shadow;
    region->cursor = (uintptr_t)base;
    region->base = (uintptr_t)base;
    return true;
}

/* A free range at or after the cursor, else from the start; 0: none. */
static uintptr_t find_room(region_t *region, size_t size)
{
    uintptr_t at = region->cursor;
    for (int wrapped = 0; wrapped < 2; wrapped++, at = region->base) {
        size_t i = first_after(at);
        while (at + size + GRAIN <= region->base + region->length) {
            if (i >= block_count || blocks[i].address >= at + size + GRAIN)
                return at;
            uintptr_t end = blocks[i].address + blocks[i].size + GRAIN;
            at = (end + GRAIN - 1) / GRAIN * GRAIN;
            i++;
        }
    }
    return 0;
}

static uintptr_t take_device(region_t *region, uint64_t memory, size_t size)
{
    if (!reserve(region, memory))
        return 0;
    size_t room = (size + GRAIN - 1) / GRAIN * GRAIN;
    uintptr_t at = find_room(region, room);
    if (at != 0)
        region->cursor = at + room + GRAIN;
    return at;
}

/* Rubbish at both ends: who relies on zeros is found. */
static void spoil(void *place, size_t size, int with)
{
    size_t piece = size < 65536 ? size : 65536;
    memset(place, with, piece);
    memset((char *)place + size - piece, with, piece);
}

/* ---- allocate and free ------------------------------------------------------------- */

void *fake_memory_allocate(fake_card_t *card, fake_memory_kind_t kind, size_t size,
                           void *owner)
{
    region_t *region = &regions[card->index];
    bool counts = kind == FAKE_MEMORY_DEVICE || kind == FAKE_MEMORY_MANAGED;
    void *result = NULL;
    if (size == 0 || size > (size_t)1 << 46)
        return NULL;
    pthread_mutex_lock(&lock);
    if (counts && (size > card->memory || region->used + size > card->memory))
        goto out;
    if (kind == FAKE_MEMORY_DEVICE)
        result = (void *)take_device(region, card->memory, size);
    else if (posix_memalign(&result, 4096, size) != 0)
        result = NULL;
    if (result == NULL)
        goto out;
    if (!insert((fake_block_t){(uintptr_t)result, size, kind, card, owner})) {
        if (kind != FAKE_MEMORY_DEVICE)
            free(result);
        result = NULL;
        goto out;
    }
    if (counts)
        region->used += size;
out:
    pthread_mutex_unlock(&lock);
    if (result != NULL) {
        spoil(fake_shadow(result), size, 0xcd);
        fake_alive_change(1);
    }
    return result;
}

bool fake_memory_register(void *address, size_t size, fake_card_t *card, void *owner)
{
    pthread_mutex_lock(&lock);
    bool done = region_of((uintptr_t)address) == NULL &&
                insert((fake_block_t){(uintptr_t)address, size, FAKE_MEMORY_REGISTERED,
                                      card, owner});
    pthread_mutex_unlock(&lock);
    if (done)
        fake_alive_change(1);
    return done;
}

/* ---- pages of freed memory ---------------------------------------------------------
 */

/* Addresses are not reused soon, so that each small block leaves a spoilt page behind.
 * The last so many stay, to be found by who reads them too late; older ones go back. */
#define SPOILT 256

static struct {
    const region_t *region;
    uintptr_t start, end;
} spoilt[SPOILT];
static size_t spoilt_next;

/* Pages of the range that no block is in; the lock is held. */
static void give_back(const region_t *region, uintptr_t start, uintptr_t end)
{
    for (uintptr_t page = start & ~(uintptr_t)4095; page < end; page += 4096) {
        size_t i = first_after(page);
        if (i == block_count || blocks[i].address >= page + 4096)
            madvise((void *)(page - region->base + region->shadow), 4096, MADV_DONTNEED);
    }
}

static void keep_spoilt(uintptr_t start, uintptr_t end)
{
    pthread_mutex_lock(&lock);
    const region_t *old = spoilt[spoilt_next].region;
    if (old != NULL)
        give_back(old, spoilt[spoilt_next].start, spoilt[spoilt_next].end);
    spoilt[spoilt_next].region = region_of(start);
    spoilt[spoilt_next].start = start;
    spoilt[spoilt_next].end = end;
    spoilt_next = (spoilt_next + 1) % SPOILT;
    pthread_mutex_unlock(&lock);
}

static void release(fake_block_t block)
{
    if (block.kind == FAKE_MEMORY_DEVICE) {
        uintptr_t shadow = (uintptr_t)fake_shadow((void *)block.address);
        uintptr_t first = (shadow + 4095) & ~(uintptr_t)4095;
        uintptr_t last = (shadow + block.size) & ~(uintptr_t)4095;
        if (last > first + 65536)
            madvise((void *)first, last - first, MADV_DONTNEED);
        else {
            spoil((void *)shadow, block.size, 0xdd);
            keep_spoilt(block.address, block.address + block.size);
        }
    } else if (block.kind != FAKE_MEMORY_REGISTERED) {
        free((void *)block.address);
    }
    fake_alive_change(-1);
}

static void remove_at(size_t i)
{
    fake_block_t block = blocks[i];
    if (block.kind == FAKE_MEMORY_DEVICE || block.kind == FAKE_MEMORY_MANAGED)
        regions[block.card->index].used -= block.size;
    memmove(&blocks[i], &blocks[i + 1], (block_count - i - 1) * sizeof *blocks);
    block_count--;
}

bool fake_memory_free(const void *address, fake_memory_kind_t kind)
{
    pthread_mutex_lock(&lock);
    size_t i = first_after((uintptr_t)address);
    bool found = i < block_count && blocks[i].address == (uintptr_t)address &&
                 blocks[i].kind == kind;
    fake_block_t block = {0};
    if (found) {
        block = blocks[i];
        remove_at(i);
    }
    pthread_mutex_unlock(&lock);
    if (found)
        release(block);
    return found;
}

size_t fake_memory_free_owner(const void *owner)
{
    size_t count = 0;
    for (;;) {
        fake_block_t block = {0};
        bool found = false;
        pthread_mutex_lock(&lock);
        for (size_t i = 0; i < block_count && !found; i++) {
            if (blocks[i].owner != owner)
                continue;
            block = blocks[i];
            remove_at(i);
            found = true;
        }
        pthread_mutex_unlock(&lock);
        if (!found)
            return count;
        release(block);
        count++;
    }
}

/* ---- questions --------------------------------------------------------------------- */

bool fake_memory_find(const void *address, size_t size, fake_block_t *out_block)
{
    uintptr_t at = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    size_t i = first_after(at);
    bool found = i < block_count && blocks[i].address <= at &&
                 size <= blocks[i].address + blocks[i].size - at;
    if (found)
        *out_block = blocks[i];
    pthread_mutex_unlock(&lock);
    return found;
}

bool fake_memory_is_device(const void *address)
{
    pthread_mutex_lock(&lock);
    bool is = region_of((uintptr_t)address) != NULL;
    pthread_mutex_unlock(&lock);
    return is;
}

fake_place_t fake_memory_place(const void *address, size_t size)
{
    fake_block_t block;
    if (fake_memory_find(address, size, &block))
        return block.kind == FAKE_MEMORY_DEVICE    ? FAKE_PLACE_DEVICE
               : block.kind == FAKE_MEMORY_MANAGED ? FAKE_PLACE_MANAGED
                                                   : FAKE_PLACE_PINNED;
    if (fake_memory_is_device(address))
        return FAKE_PLACE_BAD;
    return FAKE_PLACE_HOST;
}

void *fake_shadow(const void *address)
{
    uintptr_t at = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    const region_t *region = region_of(at);
    if (region != NULL)
        at = at - region->base + region->shadow;
    pthread_mutex_unlock(&lock);
    return (void *)at;
}

void fake_memory_info(fake_card_t *card, uint64_t *out_free, uint64_t *out_total)
{
    pthread_mutex_lock(&lock);
    *out_free = card->memory - regions[card->index].used;
    pthread_mutex_unlock(&lock);
    *out_total = card->memory;
}
