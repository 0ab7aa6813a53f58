/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_POOL_H
#define YOKE_POOL_H

/**
 * A caching allocator of device memory, by the rules that frameworks expect: size
 * classes, blocks that are split and merged again, memory reused on the same queue
 * without waiting, on another only after an event, a full pool trimmed and tried again
 * before it says that memory is out.
 *
 * Sizes are rounded up to 512 bytes. Requests up to 1 MiB are cut from 2 MiB segments, up
 * to 10 MiB from 20 MiB ones, larger ones from segments of their own rounded up to 2 MiB
 * (the classes of PyTorch's CUDA caching allocator, c10/cuda/CUDACachingAllocator.cpp).
 *
 * Threads: a pool has one lock; any thread may use it. Allocation from cached memory
 * makes no vendor call. Ownership and errors: yoke/device.h.
 */

#include "yoke/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_pool yoke_pool_t;

typedef struct yoke_pool_options {
    size_t struct_size;
    yoke_memory_kind_t kind; /**< default YOKE_MEMORY_DEVICE */
    uint32_t reserved;
    uint64_t limit;     /**< bytes of segments at most; 0: the device's */
    uint64_t max_split; /**< blocks above this are never split; 0: none is too large */
} yoke_pool_options_t;

typedef struct yoke_pool_stats {
    size_t struct_size; /**< in: sizeof */
    uint64_t allocated; /**< bytes handed out, rounded */
    uint64_t allocated_peak;
    uint64_t requested; /**< bytes asked for by what is handed out */
    uint64_t reserved;  /**< bytes of all segments */
    uint64_t reserved_peak;
    uint64_t inactive_split;     /**< free bytes in segments that are partly used */
    uint64_t allocations;        /**< number of requests so far */
    uint64_t segments;           /**< segments now */
    uint64_t device_allocations; /**< segments made so far */
    uint64_t retries;  /**< times that cached memory was given back to satisfy one */
    uint64_t failures; /**< requests that failed */
} yoke_pool_stats_t;

yoke_status_t yoke_pool_create(yoke_device_t *device, const yoke_pool_options_t *options,
                               yoke_pool_t **out_pool);
/** Everything handed out becomes invalid. Work that uses it must have passed. */
void yoke_pool_destroy(yoke_pool_t *pool);

/**
 * @param queue  the queue that will use the memory first: memory freed on it is reused in
 * its order, without waiting. Of the pool's device.
 * @param size   bytes, at least 1
 * @param out_span  aligned to 512 bytes within its buffer
 * @retval YOKE_ERR_DEVICE_MEMORY  not even after giving back all that is cached; the
 * message says what is allocated, cached and free
 */
yoke_status_t yoke_pool_allocate(yoke_pool_t *pool, yoke_queue_t *queue, uint64_t size,
                                 yoke_span_t *out_span);
/** Another queue uses the memory too: it is reused only after what is enqueued there when
 * it is freed has passed. */
yoke_status_t yoke_pool_record(yoke_pool_t *pool, yoke_span_t span, yoke_queue_t *queue);
/** Give memory back. Work that uses it may still be enqueued.
 *  @retval YOKE_ERR_USAGE  the span was not handed out, or was freed */
yoke_status_t yoke_pool_free(yoke_pool_t *pool, yoke_span_t span);
/** Give segments that are wholly free back to the runtime, until at most `keep` bytes are
 *  reserved; waits for the queues that used them. @param out_released  may be NULL */
yoke_status_t yoke_pool_trim(yoke_pool_t *pool, uint64_t keep, uint64_t *out_released);
yoke_status_t yoke_pool_stats(yoke_pool_t *pool, yoke_pool_stats_t *stats);
/** A queue that was used with this pool is about to end: forget it. */
yoke_status_t yoke_pool_forget_queue(yoke_pool_t *pool, yoke_queue_t *queue);

#ifdef __cplusplus
}
#endif
#endif
