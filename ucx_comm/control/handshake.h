/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_HANDSHAKE_H
#define YOKE_COMM_HANDSHAKE_H

/*
 * The first words on a connection, step by step, so that one loop can carry on many:
 *
 *   joiner: greeting (version, what for, who, nonce)
 *   host:   reply    (version, nonce; or a refusal)
 *   joiner: proof    (keyed hash of the greeting and both nonces)
 *   host:   reply    (its own proof; or a refusal)
 *
 * The host learns nothing but a hash of a stranger, and a stranger nothing at all before
 * it has proved itself.
 */

#include "ucx_comm/control/wire.h"

typedef enum yoke_handshake_stage {
    YOKE_HANDSHAKE_CONNECT, /* joiner: TCP is not there yet */
    YOKE_HANDSHAKE_GREET,   /* joiner: wait for the first reply */
    YOKE_HANDSHAKE_WELCOME, /* joiner: wait for the second */
    YOKE_HANDSHAKE_HELLO,   /* host: wait for a greeting */
    YOKE_HANDSHAKE_PROOF,   /* host: wait for the proof */
    YOKE_HANDSHAKE_ASK, /* host: proved; the caller decides: yoke_handshake_answer() */
    YOKE_HANDSHAKE_CLOSING, /* host: a reply leaves, then it is over */
    YOKE_HANDSHAKE_DONE,    /* both proved: the socket is the caller's to keep */
    YOKE_HANDSHAKE_FAILED,  /* status and text say why */
} yoke_handshake_stage_t;

typedef struct yoke_handshake {
    int fd;
    yoke_handshake_stage_t stage;
    yoke_hello_t hello; /* the joiner's */
    const uint8_t *key; /* YOKE_KEY_SIZE bytes, the caller's */
    yoke_status_t status;
    char text[YOKE_WIRE_TEXT + 100];
    /* internal */
    yoke_status_t answer;
    uint8_t nonce[YOKE_NONCE_SIZE]; /* the host's */
    uint8_t in[YOKE_REPLY_SIZE];
    size_t in_used;
    uint8_t out[YOKE_REPLY_SIZE];
    size_t out_used, out_done;
} yoke_handshake_t;

/* `hello` without its nonce, which is made here. */
yoke_status_t yoke_handshake_join(yoke_handshake_t *handshake, int fd, const uint8_t *key,
                                  const yoke_hello_t *hello);
/* expected: kind, identity and epoch are compared before anything else is said; a joiner
 * of a later epoch is told to come again. */
yoke_status_t yoke_handshake_host(yoke_handshake_t *handshake, int fd,
                                  const uint8_t *key);
/* What to poll the socket for. */
short yoke_handshake_events(const yoke_handshake_t *handshake);
/* Do what can be done without waiting. `expected`: for hosts. */
void yoke_handshake_step(yoke_handshake_t *handshake, const yoke_hello_t *expected);
/* In stage ASK: YOKE_OK ends in DONE, all else in FAILED once it is told. */
void yoke_handshake_answer(yoke_handshake_t *handshake, yoke_status_t status,
                           const char *text);
/* Closes the socket unless it was kept (fd set to -1). */
void yoke_handshake_end(yoke_handshake_t *handshake);

#endif
