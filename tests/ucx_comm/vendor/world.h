/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_VENDOR_WORLD_H
#define YOKE_TESTS_VENDOR_WORLD_H

/* One rank: a device of a fake runtime, the vendor's library beside it, a communicator,
 * two buffers. */

#include "tests/fakes/fake.h"
#include "ucx_comm/vendor/library.h"

#define WORLD_BYTES ((uint64_t)4 << 20)

typedef struct world {
    yoke_device_t *device;
    yoke_queue_t *queue; /* NULL on host memory */
    yoke_buffer_t *send_buffer, *recv_buffer;
    char *send, *recv; /* addresses for the device */
    char *host;        /* WORLD_BYTES */
    const yoke_vendor_t *vendor;
    yoke_vendor_comm_t *comm;
    int rank, size;
} world_t;

/* `runtime` as yoke_vendor_load() takes it; "kunlun" and "host" have host memory. */
yoke_status_t world_open(world_t *world, const char *runtime, int rank, int size);
yoke_status_t world_join(world_t *world, uint32_t timeout_ms);
void world_close(world_t *world);
/* The id that rank 0 makes, in every rank (yoke_test_all_gather). */
yoke_status_t world_id(world_t *world, void *id);

yoke_status_t world_write(world_t *world, bool to_recv, const void *data, uint64_t size);
yoke_status_t world_read(world_t *world, void *data, uint64_t size); /* of recv */
yoke_status_t world_sync(world_t *world);

/* What the fake library offers tests; of the vendor's, or a file of its folder. */
void *world_hook(const yoke_vendor_t *vendor, const char *file, const char *name);
void world_fault(const yoke_vendor_t *vendor, const char *function,
                 yoke_fake_fault_t fault, int64_t code);

#endif
