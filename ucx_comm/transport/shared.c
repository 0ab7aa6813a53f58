/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path between ranks of one arena: a ring for each ordered pair, and a bell for each
 * rank that sleeps. The arena holds the bells, then the rings [writer][reader].
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "ucx_comm/transport/core.h"

/* A rank that sleeps says so in its bell; who wakes it clears that. */
struct yoke_bell {
    _Alignas(YOKE_LINE) _Atomic uint32_t asleep;
};

#define RING_LINES 2048u      /* 128 KiB of lines: two stay in a core's cache */
#define RING_LINES_MANY 512u  /* more than 16 ranks: their number grows by the square */
#define READ_PIECE (1u << 20) /* of an offer, before others get their turn */
#define CONSUME_PIECE (64u << 10)
#define PACKETS_A_ROUND 64 /* of one ring, before others get their turn */

/* Measured: README.md. */
uint64_t yoke_offer_least = 64u << 10;

/* --- layout
 * ------------------------------------------------------------------------------ */

/* Most ranks on one machine: equal on all ranks, unlike the size of an arena. */
static int most_neighbours(const yoke_control_t *control)
{
    int size = yoke_control_size(control), most = 1;
    for (int i = 0; i < size; i++) {
        int count = 0;
        const yoke_peer_t *one = yoke_control_peer(control, i);
        for (int j = 0; j < size; j++)
            count += yoke_same_machine(one, yoke_control_peer(control, j));
        most = count > most ? count : most;
    }
    return most;
}

static uint64_t lines_for(int ranks)
{
    return ranks > 16 ? RING_LINES_MANY : RING_LINES;
}

static uint64_t arena_bytes(int ranks)
{
    uint64_t n = (uint64_t)ranks;
    return n * sizeof(struct yoke_bell) + n * n * yoke_ring_size(lines_for(ranks));
}

static yoke_ring_t *ring_at(const yoke_arena_t *arena, int ranks, int from, int to)
{
    uint64_t n = (uint64_t)ranks;
    uint64_t number = (uint64_t)from * n + (uint64_t)to;
    return (yoke_ring_t *)(void *)((char *)yoke_arena_base(arena) +
                                   n * sizeof(struct yoke_bell) +
                                   number * yoke_ring_size(lines_for(ranks)));
}

static void open_route(yoke_transport_t *transport, int ranks, int index)
{
    int mine = yoke_arena_index(transport->arena);
    int rank = yoke_arena_rank(transport->arena, index);
    uint64_t lines = lines_for(ranks);
    yoke_route_t *route = &transport->routes[rank];
    route->path = YOKE_PATH_SHARED;
    route->index = index;
    route->writer.ring = ring_at(transport->arena, ranks, mine, index);
    route->writer.count = lines;
    route->reader.ring = ring_at(transport->arena, ranks, index, mine);
    route->reader.count = lines;
    route->piece_most = yoke_ring_most(lines);
    route->eager_most = yoke_ring_most(lines) / 2;
    route->offer_least =
        yoke_arena_single_copy(transport->arena) ? yoke_offer_least : UINT64_MAX;
    transport->local[transport->local_count++] = rank;
}

yoke_status_t yoke_shared_path_open(yoke_transport_t *transport)
{
    for (int rank = 0; rank < transport->size; rank++) {
        transport->routes[rank].rank = rank;
        transport->routes[rank].path = YOKE_PATH_UCP;
    }
    transport->routes[transport->rank].path = YOKE_PATH_SELF;
    int ranks = most_neighbours(transport->control);
    if (ranks == 1 || yoke_forced_path == YOKE_PATH_UCP)
        return YOKE_OK;
    yoke_status_t status =
        yoke_arena_create(transport->control, arena_bytes(ranks), &transport->arena);
    if (status != YOKE_OK)
        return status;
    transport->bells = yoke_arena_base(transport->arena);
    for (int index = 0; index < yoke_arena_ranks(transport->arena); index++)
        if (index != yoke_arena_index(transport->arena))
            open_route(transport, ranks, index);
    return YOKE_OK;
}

void yoke_shared_path_close(yoke_transport_t *transport)
{
    yoke_arena_destroy(transport->arena);
}

/* --- sleeping
 * ---------------------------------------------------------------------------- */

/* After a sequentially consistent store of what the other one waits for. */
static void ring_bell(const yoke_transport_t *transport, int index)
{
    _Atomic uint32_t *asleep = &transport->bells[index].asleep;
    if (atomic_load(asleep) != 0 && atomic_exchange(asleep, 0) != 0)
        syscall(SYS_futex, asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static _Atomic uint32_t *own_bell(const yoke_transport_t *transport)
{
    return &transport->bells[yoke_arena_index(transport->arena)].asleep;
}

void yoke_shared_path_lie_down(yoke_transport_t *transport)
{
    atomic_store(own_bell(transport), 1);
}

void yoke_shared_path_get_up(yoke_transport_t *transport)
{
    atomic_store_explicit(own_bell(transport), 0, memory_order_relaxed);
}

void yoke_shared_path_sleep(yoke_transport_t *transport, unsigned us)
{
    struct timespec limit = {.tv_nsec = (long)us * 1000};
    syscall(SYS_futex, own_bell(transport), FUTEX_WAIT, 1, &limit, NULL, 0);
}

/* --- sending
 * ------------------------------------------------------------------------------ */

bool yoke_shared_path_put(yoke_transport_t *transport, yoke_route_t *route,
                          yoke_packet_kind_t kind, const yoke_packet_t *header,
                          const void *payload, uint32_t length)
{
    yoke_packet_t *packet = yoke_ring_reserve(&route->writer, length);
    if (packet == NULL)
        return false;
    packet->id = header->id;
    packet->tag = header->tag;
    packet->size = header->size;
    packet->signature = header->signature;
    packet->more.extra = header->more.extra;
    if (length > 0)
        memcpy(yoke_packet_payload(packet, length), payload, length);
    yoke_ring_publish(&route->writer, kind, length);
    route->sent += YOKE_LINE + length;
    ring_bell(transport, route->index);
    return true;
}

int yoke_shared_path_offer(yoke_route_t *route)
{
    _Atomic uint32_t *offers = route->writer.ring->offers;
    for (uint32_t i = 0; i < YOKE_OFFERS; i++) {
        uint32_t place = (route->next_offer + i) % YOKE_OFFERS;
        if (atomic_load_explicit(&offers[place], memory_order_relaxed) != YOKE_OFFER_NONE)
            continue;
        /* The packet that names it publishes it. */
        atomic_store_explicit(&offers[place], YOKE_OFFER_OPEN, memory_order_relaxed);
        route->next_offer = place + 1;
        return (int)place;
    }
    return -1;
}

void yoke_shared_path_close_offer(yoke_route_t *route, int place)
{
    atomic_store_explicit(&route->writer.ring->offers[place], YOKE_OFFER_NONE,
                          memory_order_relaxed);
}

bool yoke_shared_path_withdraw(yoke_route_t *route, int place)
{
    uint32_t open = YOKE_OFFER_OPEN;
    return atomic_compare_exchange_strong(&route->writer.ring->offers[place], &open,
                                          YOKE_OFFER_WITHDRAWN);
}

/* Offers that the peer has taken. */
static unsigned end_offers(yoke_transport_t *transport, yoke_route_t *route)
{
    unsigned events = 0;
    yoke_message_t *before = NULL, *next = NULL;
    for (yoke_message_t *message = route->offered.first; message != NULL;
         message = next) {
        next = message->next;
        int place = (int)message->internal[YOKE_OFFER];
        if (atomic_load_explicit(&route->writer.ring->offers[place],
                                 memory_order_acquire) != YOKE_OFFER_TAKEN) {
            before = message;
            continue;
        }
        yoke_message_remove(&route->offered, before, message);
        yoke_shared_path_close_offer(route, place);
        yoke_message_end(transport, message, YOKE_OK);
        events++;
    }
    return events;
}

/* --- receiving
 * ----------------------------------------------------------------------------- */

static bool read_piece(yoke_transport_t *transport, const yoke_route_t *route,
                       const yoke_message_t *message, uint64_t size)
{
    void *to = message->consume == NULL ? (char *)message->data + message->done
                                        : transport->bounce;
    if (!yoke_arena_read(transport->arena, route->index, to,
                         message->internal[YOKE_ADDRESS] + message->done, size))
        return false;
    if (message->consume != NULL)
        message->consume(message->context, message->done, to, size);
    return true;
}

static void take_offer(yoke_transport_t *transport, yoke_route_t *route,
                       yoke_message_t *message)
{
    yoke_message_remove(&route->reading, NULL, message);
    uint32_t open = YOKE_OFFER_OPEN;
    bool taken = atomic_compare_exchange_strong(
        &route->reader.ring->offers[message->internal[YOKE_OFFER]], &open,
        YOKE_OFFER_TAKEN);
    if (taken)
        ring_bell(transport, route->index);
    yoke_message_end(transport, message,
                     taken ? YOKE_OK
                           : yoke_fail(YOKE_ERR_REVOKED,
                                       "rank %d gave up a message that it was sending",
                                       route->rank));
}

/* A process that cannot be read has ended, and the control plane will say so; if it has
 * not, there is something wrong with the message. */
static void cannot_read(yoke_transport_t *transport, yoke_route_t *route,
                        yoke_message_t *message)
{
    if (errno == ESRCH)
        return;
    char text[160];
    snprintf(text, sizeof text,
             "%llu bytes that rank %d sends cannot be read from its memory: %s",
             (unsigned long long)message->size, route->rank, strerror(errno));
    yoke_message_remove(&route->reading, NULL, message);
    yoke_message_fail(transport, message, YOKE_ERR_SYSTEM, text);
}

static unsigned read_offers(yoke_transport_t *transport, yoke_route_t *route)
{
    yoke_message_t *message = route->reading.first;
    if (message == NULL)
        return 0;
    if (message->consume != NULL && transport->bounce == NULL &&
        (transport->bounce = aligned_alloc(YOKE_LINE, CONSUME_PIECE)) == NULL)
        return 0;
    uint64_t most = message->consume == NULL ? READ_PIECE : CONSUME_PIECE;
    uint64_t left = message->size - message->done;
    uint64_t size = left < most ? left : most;
    if (!read_piece(transport, route, message, size)) {
        cannot_read(transport, route, message);
        return 0;
    }
    message->done += size;
    if (message->done == message->size)
        take_offer(transport, route, message);
    return 1;
}

/* A writer that found no room may sleep until there is some. */
static void tell_writer(const yoke_transport_t *transport, yoke_route_t *route)
{
    if (route->reader.head - route->told < route->reader.count / 4)
        return;
    route->told = route->reader.head;
    atomic_store(&route->reader.ring->head, route->reader.head);
    ring_bell(transport, route->index);
}

static unsigned read_ring(yoke_transport_t *transport, yoke_route_t *route)
{
    unsigned events = 0;
    yoke_packet_t *packet;
    while (events < PACKETS_A_ROUND &&
           (packet = yoke_ring_peek(&route->reader)) != NULL) {
        uint32_t word = atomic_load_explicit(&packet->word, memory_order_relaxed);
        uint32_t length = yoke_word_length(word);
        if (!yoke_transport_arrive(transport, route,
                                   (yoke_packet_kind_t)yoke_word_kind(word), packet,
                                   yoke_packet_payload(packet, length), length))
            break;
        yoke_ring_consume(&route->reader);
        events++;
    }
    if (events > 0)
        tell_writer(transport, route);
    return events;
}

unsigned yoke_shared_path_progress(yoke_transport_t *transport)
{
    unsigned events = 0;
    for (int i = 0; i < transport->local_count; i++) {
        yoke_route_t *route = &transport->routes[transport->local[i]];
        events += read_ring(transport, route);
        events += read_offers(transport, route);
        if (route->offered.first != NULL)
            events += end_offers(transport, route);
    }
    return events;
}
