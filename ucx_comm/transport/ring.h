/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_RING_H
#define YOKE_COMM_RING_H

/*
 * A ring of cache lines in shared memory with one writer and one reader, which carries
 * packets: a line of header and the payload in the lines after it (up to 16 bytes in the
 * header itself). The header's first word publishes a packet; the writer clears the word
 * of the line after a packet before it publishes that packet, so that no old payload is
 * taken for one. Nobody holds a lock: a writer or reader that has died leaves the other
 * with a ring that does not change.
 */

#include "ucx_comm/transport/transport.h"

#define YOKE_LINE 64u

/* Also the header of a message over UCP. */
typedef struct yoke_packet {
    _Atomic uint32_t word; /* kind and length of the payload; 0: nothing here yet */
    uint32_t id;           /* see the kinds in core.h */
    uint64_t tag;
    uint64_t size;
    yoke_signature_t signature;
    union {
        uint8_t inlined[16]; /* payload of up to 16 bytes */
        uint64_t extra;
    } more;
} yoke_packet_t;

_Static_assert(sizeof(yoke_packet_t) == YOKE_LINE, "a packet's header is a cache line");

#define YOKE_KIND_SHIFT 28
#define YOKE_LENGTH_MASK ((1u << YOKE_KIND_SHIFT) - 1)

static inline unsigned yoke_word_kind(uint32_t word)
{
    return word >> YOKE_KIND_SHIFT;
}

static inline uint32_t yoke_word_length(uint32_t word)
{
    return word & YOKE_LENGTH_MASK;
}

#define YOKE_OFFERS 32 /* messages of one ring that the reader copies itself, at once */

/* What the two share. The reader writes the first line, both write the offers. */
typedef struct yoke_ring {
    _Alignas(YOKE_LINE) _Atomic uint64_t head;                /* lines read */
    _Atomic uint64_t matched;                                 /* see core.h */
    _Alignas(YOKE_LINE) _Atomic uint32_t offers[YOKE_OFFERS]; /* yoke_offer_t */
    _Alignas(YOKE_LINE) yoke_packet_t lines[];
} yoke_ring_t;

typedef struct yoke_ring_writer {
    yoke_ring_t *ring;
    uint64_t count; /* lines, a power of two */
    uint64_t tail;  /* lines written */
    uint64_t head;  /* as last seen */
} yoke_ring_writer_t;

typedef struct yoke_ring_reader {
    yoke_ring_t *ring;
    uint64_t count;
    uint64_t head;
} yoke_ring_reader_t;

/* Bytes of a ring of `count` lines. */
static inline uint64_t yoke_ring_size(uint64_t count)
{
    return sizeof(yoke_ring_t) + count * YOKE_LINE;
}

/* Longest payload: four packets fit, so that the two sides work at once. */
static inline uint32_t yoke_ring_most(uint64_t count)
{
    return (uint32_t)((count / 4 - 1) * YOKE_LINE);
}

/* Room for a packet with `length` bytes of payload: its header (to be filled, the word
 * excepted), and where the payload goes. NULL: no room now. */
yoke_packet_t *yoke_ring_reserve(yoke_ring_writer_t *writer, uint32_t length);
static inline uint8_t *yoke_packet_payload(yoke_packet_t *packet, uint32_t length)
{
    return length <= sizeof packet->more.inlined ? packet->more.inlined
                                                 : (uint8_t *)(packet + 1);
}
/* Publish what was reserved. */
void yoke_ring_publish(yoke_ring_writer_t *writer, unsigned kind, uint32_t length);

/* The next packet, or NULL. */
yoke_packet_t *yoke_ring_peek(yoke_ring_reader_t *reader);
/* Give it back. */
void yoke_ring_consume(yoke_ring_reader_t *reader);

#endif
