/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_TRANSPORT_H
#define YOKE_COMM_TRANSPORT_H

/*
 * Messages between the ranks of one communicator: our own shared-memory path between
 * processes of one host, UCP elsewhere. Host memory only; device memory is staged above
 * (staging.h).
 *
 * Threads: one at a time. Nothing here blocks: progress() advances what it can.
 */

#include "ucx_comm/control/control.h"

typedef struct yoke_transport yoke_transport_t;

typedef enum yoke_collective {
    YOKE_COLLECTIVE_NONE = 0,
    YOKE_COLLECTIVE_BARRIER,
    YOKE_COLLECTIVE_BROADCAST,
    YOKE_COLLECTIVE_REDUCE,
    YOKE_COLLECTIVE_ALL_REDUCE,
    YOKE_COLLECTIVE_REDUCE_SCATTER,
    YOKE_COLLECTIVE_ALL_GATHER,
    YOKE_COLLECTIVE_GATHER,
    YOKE_COLLECTIVE_SCATTER,
    YOKE_COLLECTIVE_ALL_TO_ALL,
    YOKE_COLLECTIVE_SEND_RECV,
    YOKE_COLLECTIVE_COUNT
} yoke_collective_t;

/* What a call is; travels with the first message between two ranks of each call, and is
 * compared. Ranks that disagree get YOKE_ERR_MISMATCH with both sides in words. */
typedef struct yoke_signature {
    uint64_t sequence;  /* of calls on this communicator */
    uint64_t count;     /* elements; v-forms: a hash of the counts known to both sides */
    int32_t root;       /* -1: none */
    uint8_t collective; /* yoke_collective_t */
    uint8_t element;    /* yoke_element_t; 0xff: none */
    uint8_t reduction;  /* yoke_reduction_t; 0xff: none */
    uint8_t algorithm;  /* what all chose; so that two choices do not meet */
} yoke_signature_t;

/* One message under way. Storage is the caller's and stays until it has ended. */
typedef struct yoke_message {
    int peer;
    uint64_t tag; /* matched by (peer, tag), in order */
    void *data;   /* send: read; receive: written */
    uint64_t size;
    yoke_signature_t signature;
    /* Receives only; NULL: into data. Else pieces are handed over in order as they come,
     * each but the last a multiple of 64 bytes, and need not be kept. */
    void (*consume)(void *context, uint64_t offset, const void *piece, uint64_t size);
    void *context;
    /* YOKE_ERR_NOT_READY while under way */
    yoke_status_t status;
    /* the transport's own */
    struct yoke_message *next;
    uint64_t done;
    void *request;
    uint64_t internal[4];
} yoke_message_t;

typedef enum yoke_path {
    YOKE_PATH_SELF = 0,
    YOKE_PATH_SHARED = 1, /* our own: memory of one host */
    YOKE_PATH_UCP = 2,
    YOKE_PATH_NONE = 3,
} yoke_path_t;

/* Collective over the control plane: exchanges addresses, opens what is needed. */
yoke_status_t yoke_transport_create(yoke_control_t *control,
                                    const yoke_comm_options_t *options,
                                    yoke_transport_t **out_transport);
/* Quarantine: after this no memory of the caller's is read or written for the sake of
 * this transport, whatever other ranks do; requests that UCX cannot cancel keep their
 * worker and bounce buffers in a list of the process. */
void yoke_transport_destroy(yoke_transport_t *transport);

yoke_path_t yoke_transport_path(const yoke_transport_t *transport, int peer);

/* Start. Errors that are found at once are in message->status and returned. */
yoke_status_t yoke_transport_send(yoke_transport_t *transport, yoke_message_t *message);
yoke_status_t yoke_transport_receive(yoke_transport_t *transport,
                                     yoke_message_t *message);
/* Returns how much happened (0: nothing). Where the control plane is revoked, ends all
 * messages with YOKE_ERR_REVOKED. */
unsigned yoke_transport_progress(yoke_transport_t *transport);
/* What a waiting loop does after a fruitless progress: spins first, then yields, then
 * sleeps in the kernel until a peer of this host or UCX wakes it, at most 1 ms.
 * `idle` counts fruitless rounds, from 0. */
void yoke_transport_pause(yoke_transport_t *transport, unsigned idle);
/* End all messages under way with `status`, so that their storage may go. */
void yoke_transport_cancel(yoke_transport_t *transport, yoke_status_t status);

/* Bytes sent to `peer` so far, as the wire sees them (payload and our headers). */
uint64_t yoke_transport_sent(const yoke_transport_t *transport, int peer);

#endif
