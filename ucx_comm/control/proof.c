/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/control/proof.h"

#include <errno.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"

yoke_status_t yoke_random(void *bytes, size_t size)
{
    uint8_t *next = bytes;
    while (size > 0) {
        ssize_t got = getrandom(next, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return yoke_fail(YOKE_ERR_SYSTEM, "the kernel gives no random bytes: %s",
                             strerror(errno));
        next += got;
        size -= (size_t)got;
    }
    return YOKE_OK;
}

void yoke_hash(const void *bytes, size_t size, uint8_t out_hash[YOKE_KEY_SIZE])
{
    struct sha256_ctx context;
    sha256_init(&context);
    sha256_update(&context, size, bytes);
    sha256_digest(&context, YOKE_KEY_SIZE, out_hash);
}

void yoke_proof_make(const uint8_t key[YOKE_KEY_SIZE], yoke_proof_role_t role,
                     const yoke_hello_t *hello, const uint8_t nonce[YOKE_NONCE_SIZE],
                     uint8_t out_proof[YOKE_PROOF_SIZE])
{
    struct hmac_sha256_ctx context;
    uint8_t greeting[YOKE_HELLO_SIZE], label[4];
    yoke_hello_write(hello, greeting);
    yoke_put_u32(label, (uint32_t)role);
    hmac_sha256_set_key(&context, YOKE_KEY_SIZE, key);
    hmac_sha256_update(&context, sizeof label, label);
    hmac_sha256_update(&context, sizeof greeting, greeting);
    hmac_sha256_update(&context, YOKE_NONCE_SIZE, nonce);
    hmac_sha256_digest(&context, YOKE_PROOF_SIZE, out_proof);
}

bool yoke_proof_equal(const uint8_t a[YOKE_PROOF_SIZE], const uint8_t b[YOKE_PROOF_SIZE])
{
    return memeql_sec(a, b, YOKE_PROOF_SIZE) != 0;
}
