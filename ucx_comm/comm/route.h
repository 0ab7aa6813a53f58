/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_ROUTE_H
#define YOKE_COMM_ROUTE_H

/*
 * Collectives by the vendors' libraries. Where all ranks are of one island, its library
 * carries a call alone. Where there are more, an all-reduce is reduced inside each by its
 * library, across the leaders through host memory by a communicator of their own, and
 * broadcast inside. Which calls go this way follows from what all ranks know alike. Calls
 * are carried one at a time, in order. For comm/ alone.
 */

#include "ucx_comm/comm/object.h"

typedef enum yoke_vendor_mode {
    YOKE_VENDOR_AUTO = 0, /* where it was measured to be faster */
    YOKE_VENDOR_NEVER,
    YOKE_VENDOR_ALWAYS, /* an error where it cannot be */
} yoke_vendor_mode_t;

/* Reads YOKE_COMM_VENDOR. */
yoke_status_t yoke_route_setting(yoke_vendor_mode_t *out_mode);
const char *yoke_route_mode_name(yoke_vendor_mode_t mode);

/* Collective; comm->mode says whether. In `auto` comm->vendors stays NULL on all ranks
 * where one of them could not do its part, and rank 0 warns. */
yoke_status_t yoke_route_open(yoke_comm_t *comm);
/* Collective, in `auto`: both ways are timed. Nothing else is under way. */
yoke_status_t yoke_route_measure(yoke_comm_t *comm);
void yoke_route_close(yoke_comm_t *comm);

/* Can the libraries carry it? */
bool yoke_route_can(const yoke_comm_t *comm, bool v_form, const yoke_shape_t *shape);
/* Are they the better way for so many bytes? */
bool yoke_route_wanted(const yoke_comm_t *comm, uint64_t size);
/* The library reads and writes the call's own buffers, on its queue. */
bool yoke_route_is_direct(const yoke_comm_t *comm, const yoke_call_t *call,
                          const yoke_comm_call_t *options);

/* send and recv: host memory, unless the call is direct. As yoke_route_advance(). */
yoke_status_t yoke_route_start(yoke_comm_request_t *request, void *send, void *recv);
/* YOKE_OK: it has ended; YOKE_ERR_NOT_READY; else it failed. */
yoke_status_t yoke_route_advance(yoke_comm_request_t *request);
/* Ends what the libraries do where they can; the communicator is revoked. */
void yoke_route_abort(yoke_comm_t *comm);

#endif
