/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_PROOF_H
#define YOKE_COMM_PROOF_H

/*
 * Random bytes and keyed hashes: how two ranks prove to each other that they know one
 * secret without telling it.
 *
 * Random bytes are the kernel's (getrandom). The hash is HMAC-SHA-256 (RFC 2104, FIPS
 * 180-4) of Nettle: it is in every distribution (GnuTLS stands on it), needs the C
 * library alone, and is pure functions, so that it needs no start-up call and no lock
 * inside a library that is loaded into other people's programs. OpenSSL and libgcrypt
 * have global state and start-up rules; the kernel's AF_ALG is often shut in containers.
 *
 * What it protects from: strangers and mix-ups. What goes over the wire afterwards is
 * neither encrypted nor signed; where others can listen or insert, use a network of one's
 * own (docs/comm-bootstrap.md).
 */

#include "ucx_comm/control/wire.h"

/* From the kernel; fails only where it has no entropy yet or no such call. */
yoke_status_t yoke_random(void *bytes, size_t size);

void yoke_hash(const void *bytes, size_t size, uint8_t out_hash[YOKE_KEY_SIZE]);

typedef enum yoke_proof_role {
    YOKE_PROOF_JOINER = 1,
    YOKE_PROOF_HOST =
        2, /* other bytes than the joiner's, so that neither can be echoed */
} yoke_proof_role_t;

/* Covers all of the greeting and both nonces. */
void yoke_proof_make(const uint8_t key[YOKE_KEY_SIZE], yoke_proof_role_t role,
                     const yoke_hello_t *hello, const uint8_t nonce[YOKE_NONCE_SIZE],
                     uint8_t out_proof[YOKE_PROOF_SIZE]);
/* In a time that does not depend on the bytes. */
bool yoke_proof_equal(const uint8_t a[YOKE_PROOF_SIZE], const uint8_t b[YOKE_PROOF_SIZE]);

#endif
