/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/transport/ring.h"

#define KIND_SKIP 15u /* the lines up to the end of the ring are not used */

static uint64_t lines_of(uint32_t length)
{
    return length <= sizeof((yoke_packet_t *)0)->more.inlined
               ? 1
               : 1 + (length + YOKE_LINE - 1) / YOKE_LINE;
}

static yoke_packet_t *line_at(yoke_ring_t *ring, uint64_t count, uint64_t position)
{
    return &ring->lines[position & (count - 1)];
}

static bool has_room(yoke_ring_writer_t *writer, uint64_t lines)
{
    if (writer->tail + lines - writer->head <= writer->count)
        return true;
    writer->head = atomic_load_explicit(&writer->ring->head, memory_order_acquire);
    return writer->tail + lines - writer->head <= writer->count;
}

static void publish(yoke_ring_writer_t *writer, uint64_t lines, uint32_t word)
{
    yoke_packet_t *packet = line_at(writer->ring, writer->count, writer->tail);
    writer->tail += lines;
    yoke_packet_t *next = line_at(writer->ring, writer->count, writer->tail);
    atomic_store_explicit(&next->word, 0, memory_order_relaxed);
    /* Sequentially consistent: what follows looks whether the reader sleeps. */
    atomic_store_explicit(&packet->word, word, memory_order_seq_cst);
}

yoke_packet_t *yoke_ring_reserve(yoke_ring_writer_t *writer, uint32_t length)
{
    uint64_t lines = lines_of(length);
    uint64_t left = writer->count - (writer->tail & (writer->count - 1));
    /* One more: the line after a packet is written too. */
    if (lines <= left)
        return has_room(writer, lines + 1)
                   ? line_at(writer->ring, writer->count, writer->tail)
                   : NULL;
    if (!has_room(writer, left + lines + 1))
        return NULL;
    publish(writer, left, KIND_SKIP << YOKE_KIND_SHIFT);
    return line_at(writer->ring, writer->count, writer->tail);
}

void yoke_ring_publish(yoke_ring_writer_t *writer, unsigned kind, uint32_t length)
{
    publish(writer, lines_of(length), (uint32_t)kind << YOKE_KIND_SHIFT | length);
}

static void advance(yoke_ring_reader_t *reader, uint64_t lines)
{
    reader->head += lines;
    atomic_store_explicit(&reader->ring->head, reader->head, memory_order_release);
}

yoke_packet_t *yoke_ring_peek(yoke_ring_reader_t *reader)
{
    for (;;) {
        yoke_packet_t *packet = line_at(reader->ring, reader->count, reader->head);
        uint32_t word = atomic_load_explicit(&packet->word, memory_order_acquire);
        if (word == 0)
            return NULL;
        if (yoke_word_kind(word) != KIND_SKIP)
            return packet;
        advance(reader, reader->count - (reader->head & (reader->count - 1)));
    }
}

void yoke_ring_consume(yoke_ring_reader_t *reader)
{
    yoke_packet_t *packet = line_at(reader->ring, reader->count, reader->head);
    uint32_t word = atomic_load_explicit(&packet->word, memory_order_relaxed);
    advance(reader, lines_of(yoke_word_length(word)));
}
