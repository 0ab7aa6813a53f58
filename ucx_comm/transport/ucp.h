/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_UCP_H
#define YOKE_COMM_UCP_H

/* What ucp.c and ucp_setup.c share. */

#include <ucp/api/ucp.h>
#include "ucx_comm/transport/core.h"

#define YOKE_UCP_MESSAGE 1u /* id of our active messages */
#define YOKE_UCP_PIECE (128u << 10)
#define YOKE_UCP_EAGER (16u << 10)
#define YOKE_UCP_WINDOW 8u /* packets of one route that UCX holds at once */

/* A packet on its way. UCX reads it until it is done; so it is never the caller's memory,
 * which may go when a message is cancelled. */
typedef struct yoke_bounce {
    struct yoke_bounce *next;
    yoke_ucp_route_t *route;
    yoke_message_t *ends; /* once UCX is done with it; NULL: none */
    _Alignas(YOKE_LINE) yoke_packet_t packet;
    uint8_t payload[];
} yoke_bounce_t;

/* A packet that overtook another one. */
typedef struct yoke_early {
    struct yoke_early *next;
    uint32_t number, length;
    _Alignas(YOKE_LINE) yoke_packet_t packet;
    uint8_t payload[];
} yoke_early_t;

struct yoke_ucp_route {
    yoke_ucp_t *ucp;
    ucp_ep_h endpoint; /* NULL: none */
    int rank;
    char version[16];         /* of its UCX */
    ucs_status_ptr_t closing; /* the request that closes it; NULL: none, or done */
    bool hello;               /* its first packet has come */
    uint32_t sent, received;  /* packets */
    unsigned held;            /* packets that UCX holds */
    uint64_t matched, told;   /* of eager bytes: by the peer; by us, as it was told */
    ucs_status_t broken;      /* UCS_OK: it is not */
    yoke_early_t *early;
};

struct yoke_ucp {
    bool tells_failure; /* endpoints were made to, and may be closed by force */
    ucp_context_h context;
    ucp_worker_h worker;
    yoke_transport_t *transport; /* NULL: it has ended; nothing is taken any more */
    yoke_ucp_route_t *routes;
    int size, rank;
    uint32_t timeout_ms; /* of making it */
    int descriptor;      /* readable when something came */
    unsigned held;
    bool any_broken;
    yoke_bounce_t *bounces;
    yoke_ucp_t *next; /* of those that wait for their end */
};

#pragma GCC visibility push(hidden)
void yoke_ucp_break(yoke_ucp_route_t *way, ucs_status_t status);
/* ucp_setup.c: context, worker, endpoints to all ranks whose path is UCP. Collective. */
yoke_status_t yoke_ucp_make(yoke_transport_t *transport, ucp_am_recv_callback_t receive,
                            uint32_t timeout_ms);
/* No way to `rank`: a sentence that says what is known of it. */
yoke_status_t yoke_ucp_fail_way(const yoke_transport_t *transport, int rank,
                                yoke_status_t status, const char *why);
/* Ends it where that can be done at once, else keeps it and tries again when the next one
 * ends. */
void yoke_ucp_retire(yoke_ucp_t *ucp);
/* How many are kept. */
int yoke_ucp_retired(void);
#pragma GCC visibility pop

#endif
