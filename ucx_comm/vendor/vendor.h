/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_VENDOR_H
#define YOKE_COMM_VENDOR_H

/*
 * The vendors' collective libraries, by dlopen, one table a library. Every map from our
 * types, operations and codes is total: what has no counterpart is an error that names
 * it, never a code of 0. docs/comm-vendors.md says what each can do and what was run.
 *
 * Threads: one at a time a communicator. A call is ordered on a native stream (a HAL
 * queue's native handle) and does not wait, except where the library works on host memory
 * (oneccl): there a call waits for the queue first and returns when it has ended.
 *
 * A communicator that failed is not used again: destroying it aborts it where the library
 * can, and otherwise leaves it as it is, since the libraries' destroy waits for others.
 */

#include "ucx_comm/transport/transport.h"
#include "yoke/queue.h"

typedef struct yoke_vendor yoke_vendor_t;           /* a loaded library; of the process */
typedef struct yoke_vendor_comm yoke_vendor_comm_t; /* one island's communicator */

/* The library for devices of a runtime ("cuda" -> nccl, "hip" -> rccl, "host" -> oneccl,
 * ...). $YOKE_LIB_NCCL and the like name a file; else one that the process has loaded
 * already is taken, else the dynamic loader's. NOT_FOUND with a message that names what
 * was tried. Loaded once, and kept. Threads: any. */
yoke_status_t yoke_vendor_load(const char *runtime, const yoke_vendor_t **out_vendor);
/* "nccl" "ixccl" "rccl" "rccl-dtk" "mccl-maca" "mccl-musa" "hccl" "cncl" "oneccl" "bkcl"
 */
const char *yoke_vendor_name(const yoke_vendor_t *vendor);
/* "2.18.6"; of libraries that do not tell, "build-" and a number that equal files share
 */
const char *yoke_vendor_version(const yoke_vendor_t *vendor);
const char *yoke_vendor_path(const yoke_vendor_t *vendor);
size_t yoke_vendor_id_size(const yoke_vendor_t *vendor);
/* false: `why` gets the reason ("cncl 1.25.0 has no f64"): 128 bytes, may be NULL. What
 * only moves data can be done with every element: as bytes where the library lacks it.
 * `reduction` counts for what reduces. */
bool yoke_vendor_can(const yoke_vendor_t *vendor, yoke_collective_t collective,
                     yoke_element_t element, yoke_reduction_t reduction, char why[128]);
/* Can a communicator's work be ended from outside? */
bool yoke_vendor_can_abort(const yoke_vendor_t *vendor);

/* One rank of the island makes an id, all get it. The process of that rank stays until
 * all have made their communicator. */
yoke_status_t yoke_vendor_make_id(const yoke_vendor_t *vendor, yoke_device_t *device,
                                  void *id);
/* Waits for the other ranks, 60 s. */
yoke_status_t yoke_vendor_comm_create(const yoke_vendor_t *vendor, yoke_device_t *device,
                                      const void *id, int size, int rank,
                                      yoke_vendor_comm_t **out_comm);
/* The same with a limit, 0: none. The library is called on a thread that is left behind
 * when the time has passed: YOKE_ERR_TIMEOUT, and what it may still make is ended. */
yoke_status_t yoke_vendor_comm_create_within(const yoke_vendor_t *vendor,
                                             yoke_device_t *device, const void *id,
                                             int size, int rank, uint32_t timeout_ms,
                                             yoke_vendor_comm_t **out_comm);
/* NULL is allowed. May wait for the others where nothing has failed. */
void yoke_vendor_comm_destroy(yoke_vendor_comm_t *comm);
/* Makes calls under way end where the library can (UNSUPPORTED where it cannot). Only
 * destroy is left to call then. */
yoke_status_t yoke_vendor_comm_abort(yoke_vendor_comm_t *comm);
/* The library's asynchronous error, if any; YOKE_OK where it does not tell. */
yoke_status_t yoke_vendor_comm_status(yoke_vendor_comm_t *comm);

/* `count` as in yoke/comm.h for each collective; send and recv are device addresses,
 * aligned to the element; UNSUPPORTED as yoke_vendor_can() says, and for what the library
 * cannot do in place (all-to-all) or out of place (broadcast of hccl). `peer`: root, or
 * the peer of SEND_RECV (then send == NULL receives and recv == NULL sends). `queue`: of
 * the communicator's device; NULL is allowed where the library works on host memory. */
yoke_status_t yoke_vendor_call(yoke_vendor_comm_t *comm, yoke_collective_t collective,
                               const void *send, void *recv, uint64_t count,
                               yoke_element_t element, yoke_reduction_t reduction,
                               int peer, yoke_queue_t *queue);
/* Sends and receives between the two are started together. Groups do not nest. end() is
 * called even when a call between failed, and returns an error of its own. */
yoke_status_t yoke_vendor_group_begin(yoke_vendor_comm_t *comm);
yoke_status_t yoke_vendor_group_end(yoke_vendor_comm_t *comm);

#endif
