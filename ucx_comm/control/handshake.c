/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/control/handshake.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/text.h"
#include "ucx_comm/control/proof.h"
#include "ucx_comm/control/sockets.h"

/* --- ends ------------------------------------------------------------------------- */

__attribute__((format(printf, 3, 4))) static void
fail(yoke_handshake_t *handshake, yoke_status_t status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    yoke_vsnprintf(handshake->text, sizeof handshake->text, format, args);
    va_end(args);
    handshake->status = status;
    handshake->stage = YOKE_HANDSHAKE_FAILED;
}

/* Writes what waits; false when the connection is broken. */
static bool flush(yoke_handshake_t *handshake)
{
    while (handshake->out_done < handshake->out_used) {
        ssize_t sent = send(handshake->fd, handshake->out + handshake->out_done,
                            handshake->out_used - handshake->out_done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (sent < 0) {
            fail(handshake, YOKE_ERR_SYSTEM, "%s", strerror(errno));
            return false;
        }
        handshake->out_done += (size_t)sent;
    }
    handshake->out_done = handshake->out_used = 0;
    return true;
}

/* true once `size` bytes are there. */
static bool fill(yoke_handshake_t *handshake, size_t size)
{
    while (handshake->in_used < size) {
        ssize_t got = recv(handshake->fd, handshake->in + handshake->in_used,
                           size - handshake->in_used, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return false;
        if (got <= 0) {
            fail(handshake, YOKE_ERR_SYSTEM, "%s",
                 got == 0 ? "the other end closed the connection" : strerror(errno));
            return false;
        }
        handshake->in_used += (size_t)got;
    }
    return true;
}

static void put(yoke_handshake_t *handshake, const void *bytes, size_t size)
{
    memcpy(handshake->out, bytes, size);
    handshake->out_used = size;
    handshake->out_done = 0;
}

/* --- the joiner ------------------------------------------------------------------- */

yoke_status_t yoke_handshake_join(yoke_handshake_t *handshake, int fd, const uint8_t *key,
                                  const yoke_hello_t *hello)
{
    memset(handshake, 0, sizeof *handshake);
    handshake->fd = fd;
    handshake->key = key;
    handshake->hello = *hello;
    handshake->stage = YOKE_HANDSHAKE_CONNECT;
    return yoke_random(handshake->hello.nonce, sizeof handshake->hello.nonce);
}

static void greet(yoke_handshake_t *handshake)
{
    uint8_t bytes[YOKE_HELLO_SIZE];
    int error = yoke_socket_error(handshake->fd);
    struct pollfd one = {.fd = handshake->fd, .events = POLLOUT};
    if (error != 0) {
        fail(handshake, YOKE_ERR_UNREACHABLE, "%s", strerror(error));
        return;
    }
    if (poll(&one, 1, 0) <= 0)
        return;
    yoke_hello_write(&handshake->hello, bytes);
    put(handshake, bytes, sizeof bytes);
    handshake->stage = YOKE_HANDSHAKE_GREET;
}

static bool take_reply(yoke_handshake_t *handshake, yoke_reply_t *out_reply)
{
    if (!fill(handshake, YOKE_HELLO_HEAD))
        return false;
    uint32_t protocol = yoke_hello_protocol(handshake->in);
    if (protocol == 0) {
        fail(handshake, YOKE_ERR_UNREACHABLE, "another program answers there");
        return false;
    }
    if (protocol != handshake->hello.protocol) {
        fail(handshake, YOKE_ERR_REFUSED,
             "it speaks version %u of the protocol, this rank version %u: install one "
             "version of Yoke everywhere",
             protocol, handshake->hello.protocol);
        return false;
    }
    if (!fill(handshake, YOKE_REPLY_SIZE))
        return false;
    handshake->in_used = 0;
    if (!yoke_reply_read(handshake->in, out_reply)) {
        fail(handshake, YOKE_ERR_UNREACHABLE, "another program answers there");
        return false;
    }
    if (out_reply->status != YOKE_OK) {
        fail(handshake, out_reply->status, "%s", out_reply->text);
        return false;
    }
    return true;
}

static void prove(yoke_handshake_t *handshake)
{
    yoke_reply_t reply;
    uint8_t proof[YOKE_PROOF_SIZE];
    if (!take_reply(handshake, &reply))
        return;
    memcpy(handshake->nonce, reply.nonce, sizeof handshake->nonce);
    yoke_proof_make(handshake->key, YOKE_PROOF_JOINER, &handshake->hello,
                    handshake->nonce, proof);
    put(handshake, proof, sizeof proof);
    handshake->stage = YOKE_HANDSHAKE_WELCOME;
}

static void be_welcomed(yoke_handshake_t *handshake)
{
    yoke_reply_t reply;
    uint8_t proof[YOKE_PROOF_SIZE];
    if (!take_reply(handshake, &reply))
        return;
    yoke_proof_make(handshake->key, YOKE_PROOF_HOST, &handshake->hello, handshake->nonce,
                    proof);
    if (!yoke_proof_equal(proof, reply.proof))
        fail(handshake, YOKE_ERR_REFUSED,
             "the host does not know the secret: another program, or another job, "
             "answers there");
    else
        handshake->stage = YOKE_HANDSHAKE_DONE;
}

/* --- the host --------------------------------------------------------------------- */

yoke_status_t yoke_handshake_host(yoke_handshake_t *handshake, int fd, const uint8_t *key)
{
    memset(handshake, 0, sizeof *handshake);
    handshake->fd = fd;
    handshake->key = key;
    handshake->stage = YOKE_HANDSHAKE_HELLO;
    return yoke_random(handshake->nonce, sizeof handshake->nonce);
}

static void reply(yoke_handshake_t *handshake, yoke_status_t status, const char *text,
                  const uint8_t *proof)
{
    uint8_t bytes[YOKE_REPLY_SIZE];
    yoke_reply_t out = {.protocol = YOKE_COMM_PROTOCOL, .status = status};
    memcpy(out.nonce, handshake->nonce, sizeof out.nonce);
    if (proof != NULL)
        memcpy(out.proof, proof, sizeof out.proof);
    yoke_snprintf(out.text, sizeof out.text, "%s", text);
    yoke_reply_write(&out, bytes);
    put(handshake, bytes, sizeof bytes);
}

/* Tell the joiner, then end. */
__attribute__((format(printf, 3, 4))) static void
refuse(yoke_handshake_t *handshake, yoke_status_t status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    yoke_vsnprintf(handshake->text, sizeof handshake->text, format, args);
    va_end(args);
    handshake->answer = status;
    reply(handshake, status, handshake->text, NULL);
    handshake->stage = YOKE_HANDSHAKE_CLOSING;
}

static void take_hello(yoke_handshake_t *handshake, const yoke_hello_t *expected)
{
    if (!fill(handshake, YOKE_HELLO_HEAD))
        return;
    uint32_t protocol = yoke_hello_protocol(handshake->in);
    if (protocol == 0) { /* no word to a stranger */
        fail(handshake, YOKE_ERR_BAD_INPUT, "what came is no greeting of Yoke");
        return;
    }
    if (protocol != YOKE_COMM_PROTOCOL) {
        refuse(handshake, YOKE_ERR_REFUSED,
               "the rank that came speaks version %u of the protocol, this one version "
               "%u: install one version of Yoke everywhere",
               protocol, YOKE_COMM_PROTOCOL);
        return;
    }
    if (!fill(handshake, YOKE_HELLO_SIZE))
        return;
    handshake->in_used = 0;
    if (!yoke_hello_read(handshake->in, &handshake->hello) ||
        handshake->hello.kind != expected->kind) {
        fail(handshake, YOKE_ERR_BAD_INPUT, "a greeting that is not for this port");
        return;
    }
    if (handshake->hello.identity != expected->identity) {
        refuse(handshake, YOKE_ERR_REFUSED, "it belongs to another communicator");
        return;
    }
    if (handshake->hello.epoch != expected->epoch) {
        /* A rank that is ahead waits for its own turn. */
        bool ahead = handshake->hello.epoch > expected->epoch;
        refuse(handshake, ahead ? YOKE_ERR_NOT_READY : YOKE_ERR_REFUSED,
               "the rank that came is at communicator number %u, this one at number %u",
               handshake->hello.epoch, expected->epoch);
        return;
    }
    reply(handshake, YOKE_OK, "", NULL);
    handshake->stage = YOKE_HANDSHAKE_PROOF;
}

static void check_proof(yoke_handshake_t *handshake)
{
    uint8_t proof[YOKE_PROOF_SIZE];
    if (!fill(handshake, YOKE_PROOF_SIZE))
        return;
    yoke_proof_make(handshake->key, YOKE_PROOF_JOINER, &handshake->hello,
                    handshake->nonce, proof);
    if (yoke_proof_equal(proof, handshake->in))
        handshake->stage = YOKE_HANDSHAKE_ASK;
    else
        refuse(handshake, YOKE_ERR_REFUSED,
               "the secret is wrong: all ranks need the same one");
}

void yoke_handshake_answer(yoke_handshake_t *handshake, yoke_status_t status,
                           const char *text)
{
    uint8_t proof[YOKE_PROOF_SIZE];
    if (status != YOKE_OK) {
        refuse(handshake, status, "%s", text);
    } else {
        yoke_proof_make(handshake->key, YOKE_PROOF_HOST, &handshake->hello,
                        handshake->nonce, proof);
        reply(handshake, YOKE_OK, "", proof);
        handshake->answer = YOKE_OK;
        handshake->stage = YOKE_HANDSHAKE_CLOSING;
    }
    yoke_handshake_step(handshake, NULL);
}

static void close_when_told(yoke_handshake_t *handshake)
{
    if (handshake->out_used > 0)
        return;
    handshake->status = handshake->answer;
    handshake->stage =
        handshake->answer == YOKE_OK ? YOKE_HANDSHAKE_DONE : YOKE_HANDSHAKE_FAILED;
}

/* --- both ------------------------------------------------------------------------- */

short yoke_handshake_events(const yoke_handshake_t *handshake)
{
    bool writes = handshake->stage == YOKE_HANDSHAKE_CONNECT || handshake->out_used > 0;
    return (short)(POLLIN | (writes ? POLLOUT : 0));
}

void yoke_handshake_step(yoke_handshake_t *handshake, const yoke_hello_t *expected)
{
    yoke_handshake_stage_t before;
    do { /* what one step says leaves at the start of the next */
        before = handshake->stage;
        if (before != YOKE_HANDSHAKE_CONNECT && !flush(handshake))
            return;
        if (before == YOKE_HANDSHAKE_CONNECT)
            greet(handshake);
        else if (before == YOKE_HANDSHAKE_GREET)
            prove(handshake);
        else if (before == YOKE_HANDSHAKE_WELCOME)
            be_welcomed(handshake);
        else if (before == YOKE_HANDSHAKE_HELLO)
            take_hello(handshake, expected);
        else if (before == YOKE_HANDSHAKE_PROOF)
            check_proof(handshake);
        else if (before == YOKE_HANDSHAKE_CLOSING)
            close_when_told(handshake);
    } while (handshake->stage != before && handshake->stage < YOKE_HANDSHAKE_DONE);
}

void yoke_handshake_end(yoke_handshake_t *handshake)
{
    uint8_t rest[256];
    if (handshake->fd < 0)
        return;
    /* Closing with bytes unread resets the connection, and the other end could lose the
     * refusal that was just sent. */
    for (int i = 0; i < 16 && recv(handshake->fd, rest, sizeof rest, MSG_DONTWAIT) > 0;
         i++)
        continue;
    close(handshake->fd);
    handshake->fd = -1;
}
