/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/control/wire.h"

#include <string.h>

static const uint8_t magic[8] = {'Y', 'O', 'K', 'E', 'C', 'O', 'M', 'M'};
#define FRAME_MAGIC 0x6d724659u /* "YFrm" */

/* --- bytes ------------------------------------------------------------------------ */

uint32_t yoke_get_u32(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

void yoke_put_u32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

uint64_t yoke_get_u64(const uint8_t *bytes)
{
    return (uint64_t)yoke_get_u32(bytes) | (uint64_t)yoke_get_u32(bytes + 4) << 32;
}

void yoke_put_u64(uint8_t *bytes, uint64_t value)
{
    yoke_put_u32(bytes, (uint32_t)value);
    yoke_put_u32(bytes + 4, (uint32_t)(value >> 32));
}

/* A walk over a block of fixed size: writers and readers name the fields in one order. */
typedef struct walk {
    uint8_t *out;
    const uint8_t *in;
} walk_t;

static void put32(walk_t *walk, uint32_t value)
{
    yoke_put_u32(walk->out, value);
    walk->out += 4;
}

static void put64(walk_t *walk, uint64_t value)
{
    yoke_put_u64(walk->out, value);
    walk->out += 8;
}

static void put_bytes(walk_t *walk, const void *bytes, size_t size)
{
    memcpy(walk->out, bytes, size);
    walk->out += size;
}

static uint32_t get32(walk_t *walk)
{
    walk->in += 4;
    return yoke_get_u32(walk->in - 4);
}

static uint64_t get64(walk_t *walk)
{
    walk->in += 8;
    return yoke_get_u64(walk->in - 8);
}

static void get_bytes(walk_t *walk, void *bytes, size_t size)
{
    memcpy(bytes, walk->in, size);
    walk->in += size;
}

/* Text goes into messages and logs: nothing that a terminal would obey. */
static void get_text(walk_t *walk, char *text, size_t size)
{
    get_bytes(walk, text, size);
    size_t used = strnlen(text, size - 1);
    memset(text + used, 0, size - used);
    for (size_t i = 0; i < used; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            text[i] = '?';
}

static void put_text(walk_t *walk, const char *text, size_t size)
{
    size_t used = strnlen(text, size - 1);
    memset(walk->out, 0, size);
    memcpy(walk->out, text, used);
    walk->out += size;
}

bool yoke_status_known(uint32_t status)
{
    return status <= YOKE_ERR_REFUSED;
}

/* A status that this version does not know still is a failure. */
static yoke_status_t get_status(walk_t *walk)
{
    uint32_t value = get32(walk);
    return yoke_status_known(value) ? (yoke_status_t)value : YOKE_ERR_SYSTEM;
}

/* --- first words ------------------------------------------------------------------ */

void yoke_card_write(const yoke_card_t *card, uint8_t bytes[YOKE_CARD_SIZE])
{
    walk_t walk = {.out = bytes};
    put_bytes(&walk, magic, sizeof magic);
    put32(&walk, card->protocol);
    put32(&walk, card->size);
    put32(&walk, card->rank);
    put32(&walk, 0);
}

bool yoke_card_read(const uint8_t bytes[YOKE_CARD_SIZE], yoke_card_t *out_card)
{
    walk_t walk = {.in = bytes + sizeof magic};
    if (memcmp(bytes, magic, sizeof magic) != 0)
        return false;
    out_card->protocol = get32(&walk);
    out_card->size = get32(&walk);
    out_card->rank = get32(&walk);
    return true;
}

static void put_address(walk_t *walk, const yoke_address_t *address)
{
    put32(walk, (uint32_t)address->family | (uint32_t)address->prefix << 8);
    put_bytes(walk, address->bytes, sizeof address->bytes);
    put_text(walk, address->interface, sizeof address->interface);
}

static bool get_address(walk_t *walk, yoke_address_t *out_address)
{
    uint32_t word = get32(walk);
    memset(out_address, 0, sizeof *out_address);
    out_address->family = (uint8_t)word;
    out_address->prefix = (uint8_t)(word >> 8);
    get_bytes(walk, out_address->bytes, sizeof out_address->bytes);
    get_text(walk, out_address->interface, sizeof out_address->interface);
    unsigned bits = out_address->family == 4 ? 32 : 128;
    return (out_address->family == 4 || out_address->family == 6) &&
           out_address->prefix <= bits;
}

void yoke_place_write(const yoke_place_t *place, uint8_t bytes[YOKE_PLACE_SIZE])
{
    walk_t walk = {.out = bytes};
    memset(bytes, 0, YOKE_PLACE_SIZE);
    put32(&walk, (uint32_t)place->status);
    put_text(&walk, place->text, sizeof place->text);
    put_text(&walk, place->peer.host, sizeof place->peer.host);
    put_bytes(&walk, place->peer.machine, sizeof place->peer.machine);
    put64(&walk, place->peer.pid_space);
    put64(&walk, place->peer.net_space);
    put64(&walk, place->peer.user_space);
    put32(&walk, (uint32_t)place->peer.pid);
    put_bytes(&walk, place->random, sizeof place->random);
    put32(&walk, place->port);
    put32(&walk, place->addresses);
    for (unsigned i = 0; i < place->addresses; i++)
        put_address(&walk, &place->address[i]);
}

bool yoke_place_read(const uint8_t bytes[YOKE_PLACE_SIZE], yoke_place_t *out_place)
{
    walk_t walk = {.in = bytes};
    memset(out_place, 0, sizeof *out_place);
    out_place->status = get_status(&walk);
    get_text(&walk, out_place->text, sizeof out_place->text);
    get_text(&walk, out_place->peer.host, sizeof out_place->peer.host);
    get_bytes(&walk, out_place->peer.machine, sizeof out_place->peer.machine);
    out_place->peer.pid_space = get64(&walk);
    out_place->peer.net_space = get64(&walk);
    out_place->peer.user_space = get64(&walk);
    out_place->peer.pid = (int32_t)get32(&walk);
    out_place->peer.protocol = YOKE_COMM_PROTOCOL;
    get_bytes(&walk, out_place->random, sizeof out_place->random);
    uint32_t port = get32(&walk);
    uint32_t count = get32(&walk);
    if (out_place->status != YOKE_OK)
        return true;
    if (port == 0 || port > UINT16_MAX || count == 0 || count > YOKE_ADDRESSES)
        return false;
    out_place->port = (uint16_t)port;
    out_place->addresses = count;
    for (unsigned i = 0; i < count; i++)
        if (!get_address(&walk, &out_place->address[i]))
            return false;
    return true;
}

void yoke_outcome_write(const yoke_outcome_t *outcome, uint8_t bytes[YOKE_OUTCOME_SIZE])
{
    walk_t walk = {.out = bytes};
    put32(&walk, (uint32_t)outcome->status);
    put_text(&walk, outcome->text, sizeof outcome->text);
}

void yoke_outcome_read(const uint8_t bytes[YOKE_OUTCOME_SIZE],
                       yoke_outcome_t *out_outcome)
{
    walk_t walk = {.in = bytes};
    out_outcome->status = get_status(&walk);
    get_text(&walk, out_outcome->text, sizeof out_outcome->text);
}

/* --- the handshake ---------------------------------------------------------------- */

void yoke_hello_write(const yoke_hello_t *hello, uint8_t bytes[YOKE_HELLO_SIZE])
{
    walk_t walk = {.out = bytes};
    memset(bytes, 0, YOKE_HELLO_SIZE);
    put_bytes(&walk, magic, sizeof magic);
    put32(&walk, hello->protocol);
    put32(&walk, hello->kind);
    put64(&walk, hello->identity);
    put32(&walk, hello->epoch);
    put32(&walk, hello->size);
    put32(&walk, hello->from);
    put32(&walk, hello->to);
    put_bytes(&walk, hello->nonce, sizeof hello->nonce);
}

uint32_t yoke_hello_protocol(const uint8_t head[YOKE_HELLO_HEAD])
{
    if (memcmp(head, magic, sizeof magic) != 0)
        return 0;
    return yoke_get_u32(head + sizeof magic);
}

bool yoke_hello_read(const uint8_t bytes[YOKE_HELLO_SIZE], yoke_hello_t *out_hello)
{
    walk_t walk = {.in = bytes + YOKE_HELLO_HEAD};
    yoke_hello_t hello;
    hello.protocol = yoke_hello_protocol(bytes);
    hello.kind = get32(&walk);
    hello.identity = get64(&walk);
    hello.epoch = get32(&walk);
    hello.size = get32(&walk);
    hello.from = get32(&walk);
    hello.to = get32(&walk);
    get_bytes(&walk, hello.nonce, sizeof hello.nonce);
    if (hello.protocol == 0 ||
        (hello.kind != YOKE_HELLO_MESH && hello.kind != YOKE_HELLO_RENDEZVOUS))
        return false;
    *out_hello = hello;
    return true;
}

void yoke_reply_write(const yoke_reply_t *reply, uint8_t bytes[YOKE_REPLY_SIZE])
{
    walk_t walk = {.out = bytes};
    memset(bytes, 0, YOKE_REPLY_SIZE);
    put_bytes(&walk, magic, sizeof magic);
    put32(&walk, reply->protocol);
    put32(&walk, (uint32_t)reply->status);
    put64(&walk, 0);
    put_bytes(&walk, reply->nonce, sizeof reply->nonce);
    put_bytes(&walk, reply->proof, sizeof reply->proof);
    put_text(&walk, reply->text, sizeof reply->text);
}

bool yoke_reply_read(const uint8_t bytes[YOKE_REPLY_SIZE], yoke_reply_t *out_reply)
{
    walk_t walk = {.in = bytes + YOKE_HELLO_HEAD};
    out_reply->protocol = yoke_hello_protocol(bytes);
    out_reply->status = get_status(&walk);
    (void)get64(&walk);
    get_bytes(&walk, out_reply->nonce, sizeof out_reply->nonce);
    get_bytes(&walk, out_reply->proof, sizeof out_reply->proof);
    get_text(&walk, out_reply->text, sizeof out_reply->text);
    return out_reply->protocol != 0;
}

/* --- frames ----------------------------------------------------------------------- */

void yoke_frame_write(const yoke_frame_t *frame, uint8_t bytes[YOKE_FRAME_HEADER])
{
    walk_t walk = {.out = bytes};
    put32(&walk, FRAME_MAGIC);
    put32(&walk, frame->size);
    put32(&walk, frame->type);
    put32(&walk, frame->origin);
    put32(&walk, frame->target);
    put32(&walk, frame->sequence);
    put64(&walk, frame->key);
}

bool yoke_frame_read(const uint8_t bytes[YOKE_FRAME_HEADER], uint32_t ranks,
                     yoke_frame_t *out_frame)
{
    walk_t walk = {.in = bytes};
    if (get32(&walk) != FRAME_MAGIC)
        return false;
    yoke_frame_t frame;
    frame.size = get32(&walk);
    frame.type = get32(&walk);
    frame.origin = get32(&walk);
    frame.target = get32(&walk);
    frame.sequence = get32(&walk);
    frame.key = get64(&walk);
    if (frame.size > YOKE_FRAME_LIMIT || frame.type < YOKE_FRAME_BEAT ||
        frame.type >= YOKE_FRAME_TYPES || frame.origin >= ranks ||
        (frame.target >= ranks && frame.target != YOKE_ANY_RANK))
        return false;
    *out_frame = frame;
    return true;
}

void yoke_notice_write(const yoke_notice_t *notice, uint8_t bytes[YOKE_NOTICE_SIZE])
{
    walk_t walk = {.out = bytes};
    put32(&walk, notice->value);
    put_text(&walk, notice->text, sizeof notice->text);
}

bool yoke_notice_read(const uint8_t *bytes, size_t size, yoke_notice_t *out_notice)
{
    if (size != YOKE_NOTICE_SIZE)
        return false;
    walk_t walk = {.in = bytes};
    out_notice->value = get32(&walk);
    get_text(&walk, out_notice->text, sizeof out_notice->text);
    return true;
}
