/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_MEMORY_BLOCKS_H
#define YOKE_HAL_MEMORY_BLOCKS_H

/*
 * The pool's book-keeping without any vendor call: segments cut into blocks, free blocks
 * by queue and size, handed-out blocks by their place. pool.c makes the calls.
 */

#include <stdbool.h>
#include "yoke/pool.h"

#define YOKE_POOL_ROUND 512u       /* sizes and offsets */
#define YOKE_POOL_SMALL (1u << 20) /* requests up to this are small */
#define YOKE_POOL_SMALL_SEGMENT (2u << 20)
#define YOKE_POOL_MEDIUM (10u << 20) /* requests up to this share segments */
#define YOKE_POOL_MEDIUM_SEGMENT (20u << 20)
#define YOKE_POOL_LARGE_ROUND (2u << 20)
#define YOKE_POOL_BINS 64 /* free blocks by the size's power of two */

typedef struct yoke_segment yoke_segment_t;
typedef struct yoke_block yoke_block_t;

struct yoke_block {
    yoke_segment_t *segment;
    uint64_t offset, size; /* in the segment */
    uint64_t requested;    /* bytes asked for; while it is handed out */
    yoke_queue_t *queue; /* whose order it is reused in; NULL: any, its work has passed */
    yoke_block_t *before, *after;  /* neighbours in the segment */
    yoke_block_t *previous, *next; /* in its bin, or in its hash chain */
    yoke_queue_t **users;          /* other queues that were recorded */
    size_t user_count;
    unsigned pending; /* events of other queues that it waits for */
    bool used;        /* handed out, or waiting */
    bool freed;       /* waiting: it was handed out and came back */
};

struct yoke_segment {
    yoke_buffer_t *buffer;
    uint64_t size;
    bool small;
    yoke_block_t *first;
    yoke_segment_t *previous, *next;
};

typedef struct yoke_blocks {
    yoke_segment_t *segments;
    yoke_block_t *bins[2][YOKE_POOL_BINS]; /* [small] */
    yoke_block_t **table;                  /* handed-out blocks by buffer and offset */
    size_t table_size, used_count;         /* table_size: a power of two */
    uint64_t max_split;
} yoke_blocks_t;

/* false: out of host memory. */
bool yoke_blocks_init(yoke_blocks_t *blocks, uint64_t max_split);
/* Frees everything but the buffers, which must be gone. */
void yoke_blocks_end(yoke_blocks_t *blocks);

/* Size that a request takes, and of the segment that would be made for it. */
uint64_t yoke_blocks_round(uint64_t size);
uint64_t yoke_blocks_segment_size(uint64_t rounded);
static inline bool yoke_blocks_is_small(uint64_t rounded)
{
    return rounded <= YOKE_POOL_SMALL;
}

/* A free block of at least `rounded` bytes that `queue` may use, the smallest; NULL:
 * none. */
yoke_block_t *yoke_blocks_find(yoke_blocks_t *blocks, const yoke_queue_t *queue,
                               uint64_t rounded);
/* Take it, cut to `rounded` bytes where the rest is worth keeping. false: out of host
 * memory, nothing changed. */
bool yoke_blocks_take(yoke_blocks_t *blocks, yoke_block_t *block, yoke_queue_t *queue,
                      uint64_t rounded, uint64_t requested);
/* A new segment of `size` bytes, one free block for `queue`; NULL: out of host memory. */
yoke_block_t *yoke_blocks_add(yoke_blocks_t *blocks, yoke_buffer_t *buffer, uint64_t size,
                              bool small, yoke_queue_t *queue);

/* The handed-out block that begins there; NULL: none. */
yoke_block_t *yoke_blocks_at(yoke_blocks_t *blocks, yoke_span_t span);
/* No longer handed out: it may still wait for events. */
void yoke_blocks_forget(yoke_blocks_t *blocks, yoke_block_t *block);
/* Free and merged with free neighbours of the same queue. */
void yoke_blocks_give(yoke_blocks_t *blocks, yoke_block_t *block);

/* Is the segment one free block? */
bool yoke_segment_is_free(const yoke_segment_t *segment);
/* Take a segment that is wholly free out; its buffer is the caller's. */
yoke_buffer_t *yoke_blocks_remove(yoke_blocks_t *blocks, yoke_segment_t *segment);
/* Free blocks of `queue` become anybody's. */
void yoke_blocks_forget_queue(yoke_blocks_t *blocks, const yoke_queue_t *queue);
/* Free bytes in segments that are partly used. */
uint64_t yoke_blocks_inactive(const yoke_blocks_t *blocks);

#endif
