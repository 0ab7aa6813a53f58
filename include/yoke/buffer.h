/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BUFFER_H
#define YOKE_BUFFER_H

/**
 * Memory that a device can use. A buffer is a handle; a place in it is a span: buffer and
 * byte offset. Runtimes whose buffers have no address (cl_mem) fit the same interface.
 * Threads, ownership and errors: yoke/device.h.
 */

#include "yoke/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct yoke_buffer yoke_buffer_t;

typedef struct yoke_span {
    yoke_buffer_t *buffer;
    uint64_t offset; /**< bytes */
} yoke_span_t;

static inline yoke_span_t yoke_span(yoke_buffer_t *buffer, uint64_t offset)
{
    yoke_span_t span;
    span.buffer = buffer;
    span.offset = offset;
    return span;
}

typedef enum yoke_memory_kind {
    YOKE_MEMORY_DEVICE = 0, /**< the device's own; the host cannot read it */
    YOKE_MEMORY_HOST = 1,   /**< pinned: the host's, reachable by the device */
    YOKE_MEMORY_SHARED = 2  /**< one address for both, moved or coherent (managed, USM) */
} yoke_memory_kind_t;

/**
 * Allocate. The content is undefined.
 * @param size  bytes, at least 1
 * @retval YOKE_ERR_USAGE          size 0
 * @retval YOKE_ERR_DEVICE_MEMORY  not enough; the message says how much is free
 * @retval YOKE_ERR_UNSUPPORTED    the device has no such kind of memory
 */
yoke_status_t yoke_buffer_create(yoke_device_t *device, yoke_memory_kind_t kind,
                                 uint64_t size, yoke_buffer_t **out_buffer);

/** Free. Work that uses it must have passed. A wrapped buffer's release callback is
 * called instead. NULL is allowed. */
void yoke_buffer_destroy(yoke_buffer_t *buffer);

/** Bytes; 0 for NULL. */
uint64_t yoke_buffer_size(const yoke_buffer_t *buffer);
yoke_memory_kind_t yoke_buffer_kind(const yoke_buffer_t *buffer);
/** The device it was made on; not retained. NULL for NULL. */
yoke_device_t *yoke_buffer_device(const yoke_buffer_t *buffer);

/** Address for the device. @retval YOKE_ERR_UNSUPPORTED  buffers have none here */
yoke_status_t yoke_buffer_address(const yoke_buffer_t *buffer, void **out_address);
/** Address for the host: HOST and SHARED buffers, and every buffer of the host backend.
 *  @retval YOKE_ERR_UNSUPPORTED  the host cannot reach it */
yoke_status_t yoke_buffer_host_address(const yoke_buffer_t *buffer, void **out_address);

#ifdef __cplusplus
}
#endif
#endif
