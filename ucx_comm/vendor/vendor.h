/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_VENDOR_H
#define YOKE_COMM_VENDOR_H

/*
 * The vendors' collective libraries, by dlopen, one table a library. Every map from our
 * types, operations and codes is total: what has no counterpart is an error that names
 * it, never a code of 0.
 *
 * Threads: one at a time a communicator. A call is ordered on a native stream (a HAL
 * queue's native handle) and does not wait.
 */

#include "ucx_comm/transport/transport.h"
#include "yoke/queue.h"

typedef struct yoke_vendor yoke_vendor_t;           /* a loaded library; of the process */
typedef struct yoke_vendor_comm yoke_vendor_comm_t; /* one island's communicator */

/* The library for devices of a runtime ("cuda" -> nccl, "hip" -> rccl, "host" ->
 * oneccl, ...). One that the process has loaded already is preferred, $YOKE_LIB_NCCL and
 * the like override. NOT_FOUND with a message that names what was tried. */
yoke_status_t yoke_vendor_load(const char *runtime, const yoke_vendor_t **out_vendor);
const char *yoke_vendor_name(const yoke_vendor_t *vendor);    /* "nccl" */
const char *yoke_vendor_version(const yoke_vendor_t *vendor); /* "2.18.6" */
const char *yoke_vendor_path(const yoke_vendor_t *vendor);
size_t yoke_vendor_id_size(const yoke_vendor_t *vendor);
/* false: `why` gets the reason ("cncl has no f64"): 128 bytes */
bool yoke_vendor_can(const yoke_vendor_t *vendor, yoke_collective_t collective,
                     yoke_element_t element, yoke_reduction_t reduction, char why[128]);

/* One rank of the island makes an id, all get it. */
yoke_status_t yoke_vendor_make_id(const yoke_vendor_t *vendor, yoke_device_t *device,
                                  void *id);
yoke_status_t yoke_vendor_comm_create(const yoke_vendor_t *vendor, yoke_device_t *device,
                                      const void *id, int size, int rank,
                                      yoke_vendor_comm_t **out_comm);
void yoke_vendor_comm_destroy(yoke_vendor_comm_t *comm);
/* Makes calls under way end where the library can (UNSUPPORTED where it cannot). */
yoke_status_t yoke_vendor_comm_abort(yoke_vendor_comm_t *comm);
/* The library's asynchronous error, if any. */
yoke_status_t yoke_vendor_comm_status(yoke_vendor_comm_t *comm);

/* `count` as in yoke/comm.h for each collective; send and recv are device addresses;
 * UNSUPPORTED as yoke_vendor_can() says. `peer`: root, or the peer of SEND_RECV (then
 * send == NULL receives and recv == NULL sends). */
yoke_status_t yoke_vendor_call(yoke_vendor_comm_t *comm, yoke_collective_t collective,
                               const void *send, void *recv, uint64_t count,
                               yoke_element_t element, yoke_reduction_t reduction,
                               int peer, yoke_queue_t *queue);
yoke_status_t yoke_vendor_group_begin(yoke_vendor_comm_t *comm);
yoke_status_t yoke_vendor_group_end(yoke_vendor_comm_t *comm);

#endif
