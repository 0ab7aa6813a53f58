/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_WIRE_H
#define YOKE_COMM_WIRE_H

/*
 * Everything that the control plane puts on a wire, as bytes: little-endian, of fixed
 * layout, never a copied struct. Pure functions; the readers take any bytes.
 *
 * What every version of the protocol must keep: the first 12 bytes of a greeting and of
 * its answer are the magic and the version, so that two versions can name each other.
 */

#include <stdbool.h>
#include <stddef.h>
#include "ucx_comm/control/control.h"
#include "ucx_comm/control/interfaces.h"

#define YOKE_RANKS_LIMIT 65536 /* of one communicator */
#define YOKE_ANY_RANK UINT32_MAX
#define YOKE_NONCE_SIZE 16
#define YOKE_PROOF_SIZE 32
#define YOKE_KEY_SIZE 32
#define YOKE_WIRE_TEXT 200

/* --- first words ------------------------------------------------------------------ */

/* Before anything of a size that could differ between versions is gathered. */
#define YOKE_CARD_SIZE 24
typedef struct yoke_card {
    uint32_t protocol;
    uint32_t size;
    uint32_t rank;
} yoke_card_t;
void yoke_card_write(const yoke_card_t *card, uint8_t bytes[YOKE_CARD_SIZE]);
/* false: no card at all */
bool yoke_card_read(const uint8_t bytes[YOKE_CARD_SIZE], yoke_card_t *out_card);

/* The place of a rank: how to reach it, and its share of the common key. `status` other
 * than YOKE_OK: it cannot take part, and `text` says why. */
#define YOKE_ADDRESSES 32
#define YOKE_PLACE_SIZE 2048
typedef struct yoke_place {
    yoke_status_t status;
    char text[YOKE_WIRE_TEXT];
    yoke_peer_t peer;
    uint8_t random[YOKE_KEY_SIZE];
    uint16_t port;
    unsigned addresses; /* used of address[], best first */
    yoke_address_t address[YOKE_ADDRESSES];
} yoke_place_t;
void yoke_place_write(const yoke_place_t *place, uint8_t bytes[YOKE_PLACE_SIZE]);
bool yoke_place_read(const uint8_t bytes[YOKE_PLACE_SIZE], yoke_place_t *out_place);

/* How a rank fared; gathered last. */
#define YOKE_OUTCOME_SIZE 512
typedef struct yoke_outcome {
    yoke_status_t status;
    char text[YOKE_OUTCOME_SIZE - 4];
} yoke_outcome_t;
void yoke_outcome_write(const yoke_outcome_t *outcome, uint8_t bytes[YOKE_OUTCOME_SIZE]);
void yoke_outcome_read(const uint8_t bytes[YOKE_OUTCOME_SIZE],
                       yoke_outcome_t *out_outcome);

/* --- the handshake ---------------------------------------------------------------- */

typedef enum yoke_hello_kind {
    YOKE_HELLO_MESH = 1,
    YOKE_HELLO_RENDEZVOUS = 2,
} yoke_hello_kind_t;

#define YOKE_HELLO_SIZE 64
#define YOKE_HELLO_HEAD 12 /* magic and version: the same in every version */
typedef struct yoke_hello {
    uint32_t protocol;
    uint32_t kind;
    uint64_t identity; /* of the communicator; 0: a rendezvous */
    uint32_t epoch;
    uint32_t size;
    uint32_t from, to;
    uint8_t nonce[YOKE_NONCE_SIZE];
} yoke_hello_t;
void yoke_hello_write(const yoke_hello_t *hello, uint8_t bytes[YOKE_HELLO_SIZE]);
/* Of the head alone; 0: not ours */
uint32_t yoke_hello_protocol(const uint8_t head[YOKE_HELLO_HEAD]);
bool yoke_hello_read(const uint8_t bytes[YOKE_HELLO_SIZE], yoke_hello_t *out_hello);

/* The answer to a greeting, and to the proof. */
#define YOKE_REPLY_SIZE (24 + YOKE_NONCE_SIZE + YOKE_PROOF_SIZE + YOKE_WIRE_TEXT)
typedef struct yoke_reply {
    uint32_t protocol;
    yoke_status_t status; /* NOT_READY: come again a little later */
    uint8_t nonce[YOKE_NONCE_SIZE];
    uint8_t proof[YOKE_PROOF_SIZE];
    char text[YOKE_WIRE_TEXT];
} yoke_reply_t;
void yoke_reply_write(const yoke_reply_t *reply, uint8_t bytes[YOKE_REPLY_SIZE]);
bool yoke_reply_read(const uint8_t bytes[YOKE_REPLY_SIZE], yoke_reply_t *out_reply);

/* --- frames ----------------------------------------------------------------------- */

typedef enum yoke_frame_type {
    YOKE_FRAME_BEAT = 1,
    YOKE_FRAME_PING = 2,
    YOKE_FRAME_PONG = 3,
    YOKE_FRAME_GATHER = 4,  /* payload: a block */
    YOKE_FRAME_REVOKE = 5,  /* payload: notice */
    YOKE_FRAME_FAILED = 6,  /* payload: notice */
    YOKE_FRAME_GOODBYE = 7, /* the origin destroys its communicator in good order */
    YOKE_FRAME_VOTE = 8,    /* payload: ballot; key: number of the agreement */
    YOKE_FRAME_DECIDE = 9,  /* likewise */
    YOKE_FRAME_TYPES
} yoke_frame_type_t;

#define YOKE_FRAME_HEADER 32
#define YOKE_FRAME_LIMIT (64u * 1024)
typedef struct yoke_frame {
    uint32_t size; /* of the payload */
    uint32_t type;
    uint32_t origin;   /* the rank that made it */
    uint32_t target;   /* YOKE_ANY_RANK: all */
    uint32_t sequence; /* of the origin's frames, from 1; 0: never passed on */
    uint64_t key;
} yoke_frame_t;
void yoke_frame_write(const yoke_frame_t *frame, uint8_t bytes[YOKE_FRAME_HEADER]);
/* false: not a frame of a communicator of `ranks` ranks */
bool yoke_frame_read(const uint8_t bytes[YOKE_FRAME_HEADER], uint32_t ranks,
                     yoke_frame_t *out_frame);

/* A status (or a rank) and a sentence. */
#define YOKE_NOTICE_SIZE (4 + YOKE_WIRE_TEXT)
typedef struct yoke_notice {
    uint32_t value;
    char text[YOKE_WIRE_TEXT];
} yoke_notice_t;
void yoke_notice_write(const yoke_notice_t *notice, uint8_t bytes[YOKE_NOTICE_SIZE]);
bool yoke_notice_read(const uint8_t *bytes, size_t size, yoke_notice_t *out_notice);

/* Is it one of the numbers of yoke_status_t? */
bool yoke_status_known(uint32_t status);

uint32_t yoke_get_u32(const uint8_t *bytes);
void yoke_put_u32(uint8_t *bytes, uint32_t value);
uint64_t yoke_get_u64(const uint8_t *bytes);
void yoke_put_u64(uint8_t *bytes, uint64_t value);

#endif
