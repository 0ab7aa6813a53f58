/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_ROUTE_PARTS_H
#define YOKE_COMM_ROUTE_PARTS_H

/* What is behind comm->vendors. For route.c and route_open.c alone. */

#include "ucx_comm/comm/route.h"
#include "ucx_comm/vendor/vendor.h"

#define ROUTE_SIZES 3 /* that both ways are timed with */
extern const uint64_t yoke_route_sizes[ROUTE_SIZES];

/* What a call waits for. */
enum { ROUTE_INSIDE = 0, ROUTE_ACROSS, ROUTE_LAST };

struct yoke_vendors {
    const yoke_vendor_t *vendor; /* NULL: this rank has none to use */
    yoke_vendor_comm_t *island;  /* NULL: alone */
    int *group, *leader;         /* of ranks; of groups */
    int groups, members, place;  /* islands; ranks of this one, and this one's number */
    yoke_comm_t *leaders;        /* of all islands; NULL: another one leads this */
    yoke_comm_request_t *across; /* a call of them */
    yoke_queue_t *queue;
    yoke_event_t *event;
    yoke_buffer_t *memory[2]; /* what is sent, and received, of calls that are copied */
    void *address[2];
    uint64_t room;
    uint8_t can[YOKE_COLLECTIVE_COUNT][YOKE_ELEMENT_COUNT]; /* a bit a reduction */
    bool faster[ROUTE_SIZES];
    bool off; /* the other way is being timed */
    bool aborted, failed;
};

#endif
