/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_CORE_H
#define YOKE_COMM_CORE_H

/*
 * What the parts of the transport share. transport.c matches messages and speaks one
 * protocol over two paths: shared.c (rings in an arena) and ucp.c (active messages).
 *
 * Protocol. Packets of one route arrive once, in order. A message begins with one of
 *
 *   EAGER  all of it, for short ones. A receiver keeps what it has no receive for, so the
 *          sender may have only YOKE_EAGER_WINDOW bytes (with YOKE_EAGER_COST for each
 *          message) out that the receiver has not matched yet; beyond that it uses RTS.
 *   RTS    request to send. The receiver answers with CTS once a receive is there; then
 *          the data comes in pieces (DATA). The sender's memory is in use until the last
 *          piece is out; the receiver's id in each piece says which receive it is for,
 * and a piece for a receive that has ended is dropped. OFFER  shared path: the receiver
 * copies from the sender's memory once a receive is there (process_vm_readv), and then
 * takes the offer. A sender that gives up withdraws it: a receiver that finds it
 * withdrawn does not count what it read.
 *
 * So no rank ever writes into another one's user memory.
 */

#include "ucx_comm/transport/arena.h"
#include "ucx_comm/transport/ring.h"
#include "ucx_comm/transport/transport.h"

typedef enum yoke_packet_kind {
    YOKE_PACKET_EAGER = 1,
    YOKE_PACKET_OFFER = 2,   /* id: which offer; extra: address */
    YOKE_PACKET_RTS = 3,     /* id: the sender's of the message */
    YOKE_PACKET_CTS = 4,     /* id: the sender's; size: the receiver's */
    YOKE_PACKET_DATA = 5,    /* id: the receiver's; size: offset of the piece */
    YOKE_PACKET_MATCHED = 6, /* size: eager bytes matched so far (UCP) */
    YOKE_PACKET_HELLO = 7,   /* the way is open (UCP) */
} yoke_packet_kind_t;

typedef enum yoke_offer {
    YOKE_OFFER_NONE = 0,
    YOKE_OFFER_OPEN = 1,
    YOKE_OFFER_TAKEN = 2,
    YOKE_OFFER_WITHDRAWN = 3,
} yoke_offer_t;

#define YOKE_EAGER_WINDOW (256u << 10)
#define YOKE_EAGER_COST 128u

/* What the transport keeps in a message's `internal`. */
enum {
    YOKE_OWN_ID = 0,
    YOKE_PEER_ID = 1,
    YOKE_ADDRESS = 2, /* receives: of the offered data */
    YOKE_OFFER = 3,
    YOKE_BOUNCE = 3, /* sends over UCP: what UCX still reads */
};

typedef struct yoke_message_list {
    yoke_message_t *first, *last;
} yoke_message_list_t;

/* A message that came before its receive. */
typedef struct yoke_arrival {
    struct yoke_arrival *next;
    yoke_packet_kind_t kind;
    uint32_t length;
    _Alignas(YOKE_LINE) yoke_packet_t packet;
    uint8_t payload[];
} yoke_arrival_t;

typedef struct yoke_ucp yoke_ucp_t;
typedef struct yoke_ucp_route yoke_ucp_route_t;

/* The way to one rank. A message is in one list at a time, or only in the table of ids.
 */
typedef struct yoke_route {
    int rank;
    yoke_path_t path;
    yoke_message_list_t posted;    /* receives without a message yet */
    yoke_message_list_t reading;   /* receives of offers */
    yoke_message_list_t granting;  /* receives that owe a CTS */
    yoke_message_list_t starting;  /* sends whose first packet is not out */
    yoke_message_list_t streaming; /* sends that got their CTS */
    yoke_message_list_t offered;   /* sends */
    yoke_message_list_t leaving;   /* sends whose last packet UCX still holds */
    yoke_arrival_t *unexpected, *last_unexpected;
    uint32_t eager_most, piece_most;   /* bytes of payload */
    uint64_t offer_least;              /* bytes; UINT64_MAX: never */
    uint64_t eager_out, eager_matched; /* as sender; as receiver */
    uint64_t sent;
    /* shared */
    int index; /* in the arena */
    yoke_ring_writer_t writer;
    yoke_ring_reader_t reader;
    uint64_t told; /* reader's head when the writer was last looked after */
    uint32_t next_offer;
    /* UCP */
    yoke_ucp_route_t *ucp;
} yoke_route_t;

/* Messages by number: those that take more than one packet. */
typedef struct yoke_ids {
    struct yoke_id_entry {
        yoke_message_t *message; /* NULL: free */
        uint32_t generation, next_free;
    } * entries;
    uint32_t count, free; /* free: 1 + index of the first free one */
} yoke_ids_t;

struct yoke_transport {
    yoke_control_t *control;
    const _Atomic uint32_t *state;
    int rank, size;
    yoke_route_t *routes; /* of each rank */
    int *local;           /* ranks of the shared path */
    int local_count;
    yoke_arena_t *arena;
    struct yoke_bell *bells; /* in the arena, one a rank of it */
    yoke_ucp_t *ucp;         /* NULL: not needed */
    yoke_ids_t ids;
    uint64_t under_way;     /* messages */
    unsigned spins, yields; /* rounds of yoke_transport_pause() */
    char *bounce;           /* for offers that are consumed */
};

#pragma GCC visibility push(hidden)

/* --- transport.c -----------------------------------------------------------------------
 */

/* A packet has come. `payload`: `length` bytes, not kept. false: no memory to keep what
 * came too early; nothing has changed. */
bool yoke_transport_arrive(yoke_transport_t *transport, yoke_route_t *route,
                           yoke_packet_kind_t kind, const yoke_packet_t *packet,
                           const void *payload, uint32_t length);
void yoke_message_append(yoke_message_list_t *list, yoke_message_t *message);
/* `before`: the one before it, NULL: it is the first */
void yoke_message_remove(yoke_message_list_t *list, yoke_message_t *before,
                         yoke_message_t *message);
/* End a message; it is in no list. */
void yoke_message_end(yoke_transport_t *transport, yoke_message_t *message,
                      yoke_status_t status);
/* With a failure that concerns all ranks. */
void yoke_message_fail(yoke_transport_t *transport, yoke_message_t *message,
                       yoke_status_t status, const char *text);
/* A piece of a receive. */
void yoke_message_deliver(const yoke_message_t *message, uint64_t offset,
                          const void *piece, uint64_t size);

/* A path that tests and benchmarks force; YOKE_PATH_NONE: as measured. */
extern yoke_path_t yoke_forced_path;
/* From how many bytes on the shared path has the receiver copy itself. */
extern uint64_t yoke_offer_least;

/* --- wait.c
 * ------------------------------------------------------------------------------ */

void yoke_wait_prepare(yoke_transport_t *transport);
/* Run on one kernel. */
bool yoke_same_machine(const yoke_peer_t *a, const yoke_peer_t *b);

/* --- signature.c -----------------------------------------------------------------------
 */

/* Does what came suit the receive? Else `text` says in words what differs. */
bool yoke_signature_check(const yoke_control_t *control, int rank,
                          const yoke_message_t *mine, const yoke_packet_t *theirs,
                          char *text, size_t capacity);

/* --- shared.c --------------------------------------------------------------------------
 */

/* Collective. Makes the arena and the routes of the shared path. */
yoke_status_t yoke_shared_path_open(yoke_transport_t *transport);
void yoke_shared_path_close(yoke_transport_t *transport);
/* false: no room now */
bool yoke_shared_path_put(yoke_transport_t *transport, yoke_route_t *route,
                          yoke_packet_kind_t kind, const yoke_packet_t *header,
                          const void *payload, uint32_t length);
unsigned yoke_shared_path_progress(yoke_transport_t *transport);
/* Place of a new offer, open; -1: none is free. */
int yoke_shared_path_offer(yoke_route_t *route);
/* One that was never sent, or has been taken. */
void yoke_shared_path_close_offer(yoke_route_t *route, int place);
/* false: the peer has taken it */
bool yoke_shared_path_withdraw(yoke_route_t *route, int place);
/* Sleeping: between the two, what has come already must be looked for once more. */
void yoke_shared_path_lie_down(yoke_transport_t *transport);
void yoke_shared_path_get_up(yoke_transport_t *transport);
/* At most `us` microseconds, unless a peer wakes this rank. */
void yoke_shared_path_sleep(yoke_transport_t *transport, unsigned us);

/* --- ucp.c
 * ------------------------------------------------------------------------------ */

/* Collective among all ranks; only where any two need UCP. */
yoke_status_t yoke_ucp_open(yoke_transport_t *transport,
                            const yoke_comm_options_t *options);
/* Never blocks for long: what cannot end yet is kept in a list of the process. */
void yoke_ucp_close(yoke_transport_t *transport);
/* `ends`: see put() in transport.c */
bool yoke_ucp_put(yoke_transport_t *transport, yoke_route_t *route,
                  yoke_packet_kind_t kind, const yoke_packet_t *header,
                  const void *payload, uint32_t length, yoke_message_t *ends);
/* The messages that are leaving are about to be cancelled. */
void yoke_ucp_forget(yoke_route_t *route);
unsigned yoke_ucp_progress(yoke_transport_t *transport);
/* What the receiver has matched, as far as the sender was told. */
uint64_t yoke_ucp_matched(const yoke_route_t *route);
/* Tell the sender, where it is time to. */
void yoke_ucp_tell_matched(yoke_transport_t *transport, yoke_route_t *route);
/* A descriptor that becomes readable when something comes; -1: something has come. */
int yoke_ucp_arm(yoke_transport_t *transport);

#pragma GCC visibility pop
#endif
