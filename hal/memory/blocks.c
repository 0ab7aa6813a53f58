/* SPDX-License-Identifier: Apache-2.0 */
#include "hal/memory/blocks.h"

#include <stdlib.h>

bool yoke_blocks_init(yoke_blocks_t *blocks, uint64_t max_split)
{
    *blocks = (yoke_blocks_t){.table_size = 256, .max_split = max_split};
    blocks->table = calloc(blocks->table_size, sizeof *blocks->table);
    return blocks->table != NULL;
}

static void block_free(yoke_block_t *block)
{
    free(block->users);
    free(block);
}

static void segment_free(yoke_segment_t *segment)
{
    yoke_block_t *block = segment->first;
    while (block != NULL) {
        yoke_block_t *after = block->after;
        block_free(block);
        block = after;
    }
    free(segment);
}

void yoke_blocks_end(yoke_blocks_t *blocks)
{
    yoke_segment_t *segment = blocks->segments;
    while (segment != NULL) {
        yoke_segment_t *next = segment->next;
        segment_free(segment);
        segment = next;
    }
    free(blocks->table);
}

/* --- sizes -----------------------------------------------------------------------------
 */

static uint64_t round_up(uint64_t size, uint64_t to)
{
    return (size + to - 1) / to * to;
}

uint64_t yoke_blocks_round(uint64_t size)
{
    return round_up(size, YOKE_POOL_ROUND);
}

uint64_t yoke_blocks_segment_size(uint64_t rounded)
{
    if (yoke_blocks_is_small(rounded))
        return YOKE_POOL_SMALL_SEGMENT;
    if (rounded < YOKE_POOL_MEDIUM)
        return YOKE_POOL_MEDIUM_SEGMENT;
    return round_up(rounded, YOKE_POOL_LARGE_ROUND);
}

/* --- free blocks, by power of two
 * ------------------------------------------------------- */

static unsigned bin_of(uint64_t size)
{
    return 63u - (unsigned)__builtin_clzll(size);
}

static void bin_add(yoke_blocks_t *blocks, yoke_block_t *block)
{
    yoke_block_t **head = &blocks->bins[block->segment->small][bin_of(block->size)];
    block->previous = NULL;
    block->next = *head;
    if (*head != NULL)
        (*head)->previous = block;
    *head = block;
}

static void bin_remove(yoke_blocks_t *blocks, yoke_block_t *block)
{
    if (block->previous != NULL)
        block->previous->next = block->next;
    else
        blocks->bins[block->segment->small][bin_of(block->size)] = block->next;
    if (block->next != NULL)
        block->next->previous = block->previous;
    block->previous = block->next = NULL;
}

/* May this free block serve a request of that size? One too large to be split would be
 * lost to a small request. */
static bool fits(const yoke_blocks_t *blocks, const yoke_block_t *block,
                 const yoke_queue_t *queue, uint64_t rounded)
{
    if (block->size < rounded || (block->queue != NULL && block->queue != queue))
        return false;
    return blocks->max_split == 0 || block->size <= blocks->max_split ||
           block->size - rounded < YOKE_POOL_MEDIUM_SEGMENT;
}

yoke_block_t *yoke_blocks_find(yoke_blocks_t *blocks, const yoke_queue_t *queue,
                               uint64_t rounded)
{
    yoke_block_t **bins = blocks->bins[yoke_blocks_is_small(rounded)];
    for (unsigned bin = bin_of(rounded); bin < YOKE_POOL_BINS; bin++) {
        yoke_block_t *best = NULL;
        for (yoke_block_t *block = bins[bin]; block != NULL; block = block->next)
            if (fits(blocks, block, queue, rounded) &&
                (best == NULL || block->size < best->size))
                best = block;
        if (best != NULL)
            return best;
    }
    return NULL;
}

/* --- handed-out blocks, by place
 * --------------------------------------------------------- */

static size_t hash(const yoke_buffer_t *buffer, uint64_t offset, size_t size)
{
    uint64_t value = ((uint64_t)(uintptr_t)buffer >> 4) ^ offset / YOKE_POOL_ROUND * 31;
    value *= 0x9e3779b97f4a7c15ull; /* 2^64 / golden ratio: spreads neighbours */
    return (size_t)(value >> 32) & (size - 1);
}

static void table_put(yoke_block_t **table, size_t size, yoke_block_t *block)
{
    yoke_block_t **head = &table[hash(block->segment->buffer, block->offset, size)];
    block->next = *head;
    *head = block;
}

/* Longer chains are slower, not wrong: without memory it stays as it is. */
static void table_grow(yoke_blocks_t *blocks)
{
    size_t size = blocks->table_size * 2;
    yoke_block_t **table = calloc(size, sizeof *table);
    if (table == NULL)
        return;
    for (size_t i = 0; i < blocks->table_size; i++)
        for (yoke_block_t *block = blocks->table[i], *next; block != NULL; block = next) {
            next = block->next;
            table_put(table, size, block);
        }
    free(blocks->table);
    blocks->table = table;
    blocks->table_size = size;
}

yoke_block_t *yoke_blocks_at(yoke_blocks_t *blocks, yoke_span_t span)
{
    yoke_block_t *block =
        blocks->table[hash(span.buffer, span.offset, blocks->table_size)];
    while (block != NULL &&
           (block->segment->buffer != span.buffer || block->offset != span.offset))
        block = block->next;
    return block;
}

void yoke_blocks_forget(yoke_blocks_t *blocks, yoke_block_t *block)
{
    yoke_block_t **link =
        &blocks->table[hash(block->segment->buffer, block->offset, blocks->table_size)];
    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
    block->next = NULL;
    blocks->used_count--;
}

/* --- taking and giving
 * ------------------------------------------------------------------- */

static bool worth_splitting(const yoke_blocks_t *blocks, const yoke_block_t *block,
                            uint64_t rounded)
{
    uint64_t rest = block->size - rounded;
    if (blocks->max_split != 0 && block->size > blocks->max_split)
        return false;
    return block->segment->small ? rest >= YOKE_POOL_ROUND : rest > YOKE_POOL_SMALL;
}

/* Cut `block`, which is in no bin, after `size` bytes. */
static bool split(yoke_blocks_t *blocks, yoke_block_t *block, uint64_t size)
{
    yoke_block_t *rest = calloc(1, sizeof *rest);
    if (rest == NULL)
        return false;
    rest->segment = block->segment;
    rest->offset = block->offset + size;
    rest->size = block->size - size;
    rest->queue = block->queue;
    rest->before = block;
    rest->after = block->after;
    if (rest->after != NULL)
        rest->after->before = rest;
    block->after = rest;
    block->size = size;
    bin_add(blocks, rest);
    return true;
}

bool yoke_blocks_take(yoke_blocks_t *blocks, yoke_block_t *block, yoke_queue_t *queue,
                      uint64_t rounded, uint64_t requested)
{
    bin_remove(blocks, block);
    if (worth_splitting(blocks, block, rounded) && !split(blocks, block, rounded)) {
        bin_add(blocks, block);
        return false;
    }
    block->queue = queue;
    block->requested = requested;
    block->used = true;
    block->freed = false;
    if (blocks->used_count >= blocks->table_size)
        table_grow(blocks);
    table_put(blocks->table, blocks->table_size, block);
    blocks->used_count++;
    return true;
}

yoke_block_t *yoke_blocks_add(yoke_blocks_t *blocks, yoke_buffer_t *buffer, uint64_t size,
                              bool small, yoke_queue_t *queue)
{
    yoke_segment_t *segment = calloc(1, sizeof *segment);
    yoke_block_t *block = calloc(1, sizeof *block);
    if (segment == NULL || block == NULL) {
        free(segment);
        free(block);
        return NULL;
    }
    *segment =
        (yoke_segment_t){.buffer = buffer, .size = size, .small = small, .first = block};
    segment->next = blocks->segments;
    if (segment->next != NULL)
        segment->next->previous = segment;
    blocks->segments = segment;
    block->segment = segment;
    block->size = size;
    block->queue = queue;
    bin_add(blocks, block);
    return block;
}

/* Free memory of one queue is in that queue's order; of two it is not, so it stays apart.
 */
static bool can_merge(const yoke_block_t *a, const yoke_block_t *b)
{
    return b != NULL && !b->used && a->queue == b->queue;
}

void yoke_blocks_give(yoke_blocks_t *blocks, yoke_block_t *block)
{
    block->used = false;
    block->requested = 0;
    if (can_merge(block, block->after)) {
        yoke_block_t *after = block->after;
        bin_remove(blocks, after);
        block->size += after->size;
        block->after = after->after;
        if (block->after != NULL)
            block->after->before = block;
        block_free(after);
    }
    if (can_merge(block, block->before)) {
        yoke_block_t *before = block->before;
        bin_remove(blocks, before);
        before->size += block->size;
        before->after = block->after;
        if (before->after != NULL)
            before->after->before = before;
        block_free(block);
        block = before;
    }
    bin_add(blocks, block);
}

/* --- segments
 * ----------------------------------------------------------------------------- */

bool yoke_segment_is_free(const yoke_segment_t *segment)
{
    for (const yoke_block_t *block = segment->first; block != NULL; block = block->after)
        if (block->used)
            return false;
    return true;
}

yoke_buffer_t *yoke_blocks_remove(yoke_blocks_t *blocks, yoke_segment_t *segment)
{
    yoke_buffer_t *buffer = segment->buffer;
    for (yoke_block_t *block = segment->first; block != NULL; block = block->after)
        bin_remove(blocks, block);
    if (segment->previous != NULL)
        segment->previous->next = segment->next;
    else
        blocks->segments = segment->next;
    if (segment->next != NULL)
        segment->next->previous = segment->previous;
    segment_free(segment);
    return buffer;
}

static void forget_user(yoke_block_t *block, const yoke_queue_t *queue)
{
    for (size_t i = 0; i < block->user_count; i++)
        if (block->users[i] == queue)
            block->users[i--] = block->users[--block->user_count];
}

void yoke_blocks_forget_queue(yoke_blocks_t *blocks, const yoke_queue_t *queue)
{
    for (yoke_segment_t *segment = blocks->segments; segment != NULL;
         segment = segment->next)
        for (yoke_block_t *block = segment->first; block != NULL; block = block->after) {
            if (block->queue == queue)
                block->queue = NULL;
            forget_user(block, queue);
        }
}

uint64_t yoke_blocks_inactive(const yoke_blocks_t *blocks)
{
    uint64_t sum = 0;
    for (const yoke_segment_t *segment = blocks->segments; segment != NULL;
         segment = segment->next) {
        if (yoke_segment_is_free(segment))
            continue;
        for (const yoke_block_t *block = segment->first; block != NULL;
             block = block->after)
            if (!block->used)
                sum += block->size;
    }
    return sum;
}
