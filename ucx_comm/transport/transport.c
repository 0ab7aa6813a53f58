/* SPDX-License-Identifier: Apache-2.0 */
/* Matching, and the protocol of core.h over both paths. */
#include "ucx_comm/transport/core.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

yoke_path_t yoke_forced_path = YOKE_PATH_NONE;

/* --- lists -----------------------------------------------------------------------------
 */

void yoke_message_append(yoke_message_list_t *list, yoke_message_t *message)
{
    message->next = NULL;
    if (list->first == NULL)
        list->first = message;
    else
        list->last->next = message;
    list->last = message;
}

void yoke_message_remove(yoke_message_list_t *list, yoke_message_t *before,
                         yoke_message_t *message)
{
    if (before == NULL)
        list->first = message->next;
    else
        before->next = message->next;
    if (list->last == message)
        list->last = before;
    message->next = NULL;
}

static yoke_message_t *take_posted(yoke_route_t *route, uint64_t tag)
{
    yoke_message_t *before = NULL, *message = route->posted.first;
    for (; message != NULL && message->tag != tag; message = message->next)
        before = message;
    if (message != NULL)
        yoke_message_remove(&route->posted, before, message);
    return message;
}

/* --- numbers of messages
 * ----------------------------------------------------------------- */

#define INDEX_BITS 20
#define INDEX_MASK ((1u << INDEX_BITS) - 1)

static bool more_ids(yoke_ids_t *ids)
{
    uint32_t count = ids->count == 0 ? 64 : 2 * ids->count;
    if (count > INDEX_MASK)
        return false;
    struct yoke_id_entry *entries = realloc(ids->entries, count * sizeof *entries);
    if (entries == NULL)
        return false;
    for (uint32_t i = ids->count; i < count; i++)
        entries[i] = (struct yoke_id_entry){.next_free = i + 1 < count ? i + 2 : 0};
    ids->entries = entries;
    ids->free = ids->count + 1;
    ids->count = count;
    return true;
}

/* false: no memory */
static bool give_id(yoke_ids_t *ids, yoke_message_t *message)
{
    if (ids->free == 0 && !more_ids(ids))
        return false;
    uint32_t index = ids->free - 1;
    struct yoke_id_entry *entry = &ids->entries[index];
    ids->free = entry->next_free;
    entry->message = message;
    entry->generation++;
    message->internal[YOKE_OWN_ID] = (uint32_t)(entry->generation << INDEX_BITS | index);
    return true;
}

static yoke_message_t *find_id(const yoke_ids_t *ids, uint32_t id)
{
    uint32_t index = id & INDEX_MASK;
    yoke_message_t *message = index < ids->count ? ids->entries[index].message : NULL;
    return message != NULL && message->internal[YOKE_OWN_ID] == id ? message : NULL;
}

static void return_id(yoke_ids_t *ids, yoke_message_t *message)
{
    uint32_t index = (uint32_t)message->internal[YOKE_OWN_ID] & INDEX_MASK;
    ids->entries[index].message = NULL;
    ids->entries[index].next_free = ids->free;
    ids->free = index + 1;
    message->internal[YOKE_OWN_ID] = 0;
}

/* --- ends
 * --------------------------------------------------------------------------------- */

void yoke_message_end(yoke_transport_t *transport, yoke_message_t *message,
                      yoke_status_t status)
{
    if (message->internal[YOKE_OWN_ID] != 0)
        return_id(&transport->ids, message);
    transport->under_way--;
    message->status = status;
}

void yoke_message_fail(yoke_transport_t *transport, yoke_message_t *message,
                       yoke_status_t status, const char *text)
{
    yoke_fail(status, "%s", text);
    yoke_control_revoke(transport->control, status, text);
    yoke_message_end(transport, message, status);
}

/* --- what comes
 * ----------------------------------------------------------------------------
 */

/* `ends`: the message that has ended once this packet is out; NULL: none. */
static bool put(yoke_transport_t *transport, yoke_route_t *route, yoke_packet_kind_t kind,
                const yoke_packet_t *header, const void *payload, uint32_t length,
                yoke_message_t *ends)
{
    if (route->path != YOKE_PATH_SHARED)
        return yoke_ucp_put(transport, route, kind, header, payload, length, ends);
    if (!yoke_shared_path_put(transport, route, kind, header, payload, length))
        return false;
    if (ends != NULL)
        yoke_message_end(transport, ends, YOKE_OK);
    return true;
}

void yoke_message_deliver(const yoke_message_t *message, uint64_t offset,
                          const void *piece, uint64_t size)
{
    if (size == 0)
        return;
    if (message->consume != NULL)
        message->consume(message->context, offset, piece, size);
    else
        memcpy((char *)message->data + offset, piece, size);
}

static void count_matched(yoke_transport_t *transport, yoke_route_t *route, uint64_t size)
{
    route->eager_matched += size + YOKE_EAGER_COST;
    if (route->path == YOKE_PATH_SHARED)
        atomic_store_explicit(&route->reader.ring->matched, route->eager_matched,
                              memory_order_release);
    else if (route->path == YOKE_PATH_UCP)
        yoke_ucp_tell_matched(transport, route);
}

/* `message` and the first packet of a message have found each other. */
static void match(yoke_transport_t *transport, yoke_route_t *route,
                  yoke_message_t *message, yoke_packet_kind_t kind,
                  const yoke_packet_t *packet, const void *payload)
{
    char text[512];
    if (!yoke_signature_check(transport->control, route->rank, message, packet, text,
                              sizeof text)) {
        yoke_message_fail(transport, message, YOKE_ERR_MISMATCH, text);
        return;
    }
    switch (kind) {
    case YOKE_PACKET_EAGER:
        yoke_message_deliver(message, 0, payload, message->size);
        count_matched(transport, route, message->size);
        yoke_message_end(transport, message, YOKE_OK);
        break;
    case YOKE_PACKET_OFFER:
        message->internal[YOKE_OFFER] = packet->id;
        message->internal[YOKE_ADDRESS] = packet->more.extra;
        yoke_message_append(&route->reading, message);
        break;
    default:
        message->internal[YOKE_PEER_ID] = packet->id;
        yoke_message_append(&route->granting, message);
        break;
    }
}

static bool keep(yoke_route_t *route, yoke_packet_kind_t kind,
                 const yoke_packet_t *packet, const void *payload, uint32_t length)
{
    size_t size = sizeof(yoke_arrival_t) + length;
    yoke_arrival_t *arrival =
        aligned_alloc(YOKE_LINE, (size + YOKE_LINE - 1) / YOKE_LINE * YOKE_LINE);
    if (arrival == NULL)
        return false;
    arrival->next = NULL;
    arrival->kind = kind;
    arrival->length = length;
    memcpy(&arrival->packet, packet, sizeof arrival->packet);
    if (length > 0)
        memcpy(arrival->payload, payload, length);
    if (route->unexpected == NULL)
        route->unexpected = arrival;
    else
        route->last_unexpected->next = arrival;
    route->last_unexpected = arrival;
    return true;
}

static void take_cts(yoke_transport_t *transport, yoke_route_t *route,
                     const yoke_packet_t *packet)
{
    yoke_message_t *message = find_id(&transport->ids, packet->id);
    if (message == NULL)
        return; /* it was cancelled */
    message->internal[YOKE_PEER_ID] = packet->size;
    yoke_message_append(&route->streaming, message);
}

static void take_data(yoke_transport_t *transport, yoke_route_t *route,
                      const yoke_packet_t *packet, const void *payload, uint32_t length)
{
    yoke_message_t *message = find_id(&transport->ids, packet->id);
    if (message == NULL || message->peer != route->rank ||
        message->done != packet->size || length > message->size - message->done)
        return;
    yoke_message_deliver(message, message->done, payload, length);
    message->done += length;
    if (message->done == message->size)
        yoke_message_end(transport, message, YOKE_OK);
}

bool yoke_transport_arrive(yoke_transport_t *transport, yoke_route_t *route,
                           yoke_packet_kind_t kind, const yoke_packet_t *packet,
                           const void *payload, uint32_t length)
{
    switch (kind) {
    case YOKE_PACKET_EAGER:
    case YOKE_PACKET_OFFER:
    case YOKE_PACKET_RTS: {
        yoke_message_t *message = take_posted(route, packet->tag);
        if (message == NULL)
            return keep(route, kind, packet, payload, length);
        match(transport, route, message, kind, packet, payload);
        return true;
    }
    case YOKE_PACKET_CTS:
        take_cts(transport, route, packet);
        return true;
    case YOKE_PACKET_DATA:
        take_data(transport, route, packet, payload, length);
        return true;
    default:
        return true;
    }
}

/* --- what goes
 * ------------------------------------------------------------------------------
 */

static uint64_t matched_by_peer(const yoke_route_t *route)
{
    if (route->path == YOKE_PATH_SHARED)
        return atomic_load_explicit(&route->writer.ring->matched, memory_order_acquire);
    return yoke_ucp_matched(route);
}

static bool may_be_eager(const yoke_route_t *route, uint64_t size)
{
    uint64_t out = route->eager_out + size + YOKE_EAGER_COST;
    return size <= route->eager_most && out - matched_by_peer(route) <= YOKE_EAGER_WINDOW;
}

static void fill_header(const yoke_message_t *message, yoke_packet_t *out_header)
{
    out_header->id = 0;
    out_header->tag = message->tag;
    out_header->size = message->size;
    out_header->signature = message->signature;
    out_header->more.extra = 0;
}

static bool start_eager(yoke_transport_t *transport, yoke_route_t *route,
                        yoke_message_t *message)
{
    yoke_packet_t header;
    fill_header(message, &header);
    if (!put(transport, route, YOKE_PACKET_EAGER, &header, message->data,
             (uint32_t)message->size, message))
        return false;
    route->eager_out += message->size + YOKE_EAGER_COST;
    return true;
}

static bool start_offer(yoke_transport_t *transport, yoke_route_t *route,
                        yoke_message_t *message)
{
    int place = yoke_shared_path_offer(route);
    if (place < 0)
        return false;
    yoke_packet_t header;
    fill_header(message, &header);
    header.id = (uint32_t)place;
    header.more.extra = (uint64_t)(uintptr_t)message->data;
    if (!put(transport, route, YOKE_PACKET_OFFER, &header, NULL, 0, NULL)) {
        yoke_shared_path_close_offer(route, place);
        return false;
    }
    message->internal[YOKE_OFFER] = (uint32_t)place;
    yoke_message_append(&route->offered, message);
    return true;
}

static bool start_rts(yoke_transport_t *transport, yoke_route_t *route,
                      yoke_message_t *message)
{
    if (!give_id(&transport->ids, message))
        return false;
    yoke_packet_t header;
    fill_header(message, &header);
    header.id = (uint32_t)message->internal[YOKE_OWN_ID];
    if (put(transport, route, YOKE_PACKET_RTS, &header, NULL, 0, NULL))
        return true;
    return_id(&transport->ids, message);
    return false;
}

/* false: no room now */
static bool start(yoke_transport_t *transport, yoke_route_t *route,
                  yoke_message_t *message)
{
    if (may_be_eager(route, message->size))
        return start_eager(transport, route, message);
    if (message->size >= route->offer_least)
        return start_offer(transport, route, message);
    return start_rts(transport, route, message);
}

static unsigned grant(yoke_transport_t *transport, yoke_route_t *route)
{
    unsigned events = 0;
    while (route->granting.first != NULL) {
        yoke_message_t *message = route->granting.first;
        if (!give_id(&transport->ids, message))
            break;
        yoke_packet_t header = {.id = (uint32_t)message->internal[YOKE_PEER_ID],
                                .size = message->internal[YOKE_OWN_ID]};
        if (!put(transport, route, YOKE_PACKET_CTS, &header, NULL, 0, NULL)) {
            return_id(&transport->ids, message);
            break;
        }
        yoke_message_remove(&route->granting, NULL, message);
        events++;
        if (message->size == 0) /* nothing will follow */
            yoke_message_end(transport, message, YOKE_OK);
    }
    return events;
}

static void put_back(yoke_message_list_t *list, yoke_message_t *message)
{
    message->next = list->first;
    if (list->first == NULL)
        list->last = message;
    list->first = message;
}

/* false: no room now. The message is in no list; another piece of it puts it back. */
static bool stream_piece(yoke_transport_t *transport, yoke_route_t *route,
                         yoke_message_t *message)
{
    uint64_t at = message->done, left = message->size - at;
    if (left == 0) {
        yoke_message_end(transport, message, YOKE_OK);
        return true;
    }
    bool last = left <= route->piece_most;
    uint32_t length = last ? (uint32_t)left : route->piece_most;
    yoke_packet_t header = {.id = (uint32_t)message->internal[YOKE_PEER_ID], .size = at};
    message->done += length;
    if (put(transport, route, YOKE_PACKET_DATA, &header, (const char *)message->data + at,
            length, last ? message : NULL)) {
        if (!last)
            yoke_message_append(&route->streaming, message);
        return true;
    }
    message->done = at;
    return false;
}

/* One piece of each message in turn, so that none waits for all of another. */
static unsigned stream(yoke_transport_t *transport, yoke_route_t *route)
{
    unsigned events = 0;
    while (route->streaming.first != NULL) {
        yoke_message_t *message = route->streaming.first;
        yoke_message_remove(&route->streaming, NULL, message);
        if (!stream_piece(transport, route, message)) {
            put_back(&route->streaming, message);
            break;
        }
        events++;
    }
    return events;
}

static unsigned flush(yoke_transport_t *transport, yoke_route_t *route)
{
    unsigned events = grant(transport, route);
    while (route->starting.first != NULL) {
        yoke_message_t *message = route->starting.first;
        yoke_message_remove(&route->starting, NULL, message);
        if (start(transport, route, message)) {
            events++;
            continue;
        }
        put_back(&route->starting, message);
        break;
    }
    return events + stream(transport, route);
}

/* --- to oneself
 * --------------------------------------------------------------------------- */

/* The sender's and the receiver's message have met; both end. */
static void copy_to_self(yoke_transport_t *transport, yoke_message_t *send,
                         yoke_message_t *receive)
{
    yoke_packet_t header;
    fill_header(send, &header);
    char text[512];
    if (!yoke_signature_check(transport->control, transport->rank, receive, &header, text,
                              sizeof text)) {
        yoke_message_end(transport, send, YOKE_ERR_MISMATCH);
        yoke_message_fail(transport, receive, YOKE_ERR_MISMATCH, text);
        return;
    }
    yoke_message_deliver(receive, 0, send->data, send->size);
    yoke_message_end(transport, send, YOKE_OK);
    yoke_message_end(transport, receive, YOKE_OK);
}

static void send_to_self(yoke_transport_t *transport, yoke_message_t *message)
{
    yoke_route_t *route = &transport->routes[message->peer];
    yoke_message_t *receive = take_posted(route, message->tag);
    if (receive == NULL)
        yoke_message_append(&route->starting, message);
    else
        copy_to_self(transport, message, receive);
}

static bool receive_from_self(yoke_transport_t *transport, yoke_message_t *message)
{
    yoke_message_list_t *sends = &transport->routes[message->peer].starting;
    yoke_message_t *before = NULL, *send = sends->first;
    for (; send != NULL && send->tag != message->tag; send = send->next)
        before = send;
    if (send == NULL)
        return false;
    yoke_message_remove(sends, before, send);
    copy_to_self(transport, send, message);
    return true;
}

/* --- the public functions
 * ------------------------------------------------------------------
 */

static yoke_status_t begin(yoke_transport_t *transport, yoke_message_t *message)
{
    message->done = 0;
    message->next = NULL;
    if (atomic_load_explicit(transport->state, memory_order_relaxed) !=
        YOKE_CONTROL_RUNNING)
        return message->status = YOKE_ERR_REVOKED;
    if (message->peer < 0 || message->peer >= transport->size)
        return message->status = yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                                           "a message for rank %d: there are %d ranks",
                                           message->peer, transport->size);
    if (transport->routes[message->peer].path == YOKE_PATH_NONE)
        return message->status =
                   yoke_fail(YOKE_ERR_UNREACHABLE,
                             "a message for rank %d: no way leads there", message->peer);
    message->status = YOKE_ERR_NOT_READY;
    transport->under_way++;
    return YOKE_OK;
}

yoke_status_t yoke_transport_send(yoke_transport_t *transport, yoke_message_t *message)
{
    yoke_status_t status = begin(transport, message);
    if (status != YOKE_OK)
        return status;
    yoke_route_t *route = &transport->routes[message->peer];
    if (route->path == YOKE_PATH_SELF)
        send_to_self(transport, message);
    else if (route->starting.first != NULL || !start(transport, route, message))
        yoke_message_append(&route->starting, message);
    return message->status == YOKE_ERR_NOT_READY ? YOKE_OK : message->status;
}

static yoke_arrival_t *take_unexpected(yoke_route_t *route, uint64_t tag)
{
    yoke_arrival_t *before = NULL, *arrival = route->unexpected;
    for (; arrival != NULL && arrival->packet.tag != tag; arrival = arrival->next)
        before = arrival;
    if (arrival == NULL)
        return NULL;
    if (before == NULL)
        route->unexpected = arrival->next;
    else
        before->next = arrival->next;
    if (route->last_unexpected == arrival)
        route->last_unexpected = before;
    return arrival;
}

yoke_status_t yoke_transport_receive(yoke_transport_t *transport, yoke_message_t *message)
{
    yoke_status_t status = begin(transport, message);
    if (status != YOKE_OK)
        return status;
    yoke_route_t *route = &transport->routes[message->peer];
    if (route->path == YOKE_PATH_SELF) {
        if (!receive_from_self(transport, message))
            yoke_message_append(&route->posted, message);
    } else {
        yoke_arrival_t *arrival = take_unexpected(route, message->tag);
        if (arrival == NULL)
            yoke_message_append(&route->posted, message);
        else
            match(transport, route, message, arrival->kind, &arrival->packet,
                  arrival->payload);
        free(arrival);
    }
    return message->status == YOKE_ERR_NOT_READY ? YOKE_OK : message->status;
}

unsigned yoke_transport_progress(yoke_transport_t *transport)
{
    if (atomic_load_explicit(transport->state, memory_order_acquire) !=
        YOKE_CONTROL_RUNNING) {
        unsigned ended = (unsigned)transport->under_way;
        yoke_transport_cancel(transport, YOKE_ERR_REVOKED);
        return ended;
    }
    unsigned events = 0;
    if (transport->local_count > 0)
        events += yoke_shared_path_progress(transport);
    if (transport->ucp != NULL)
        events += yoke_ucp_progress(transport);
    if (transport->under_way > 0)
        for (int rank = 0; rank < transport->size; rank++)
            if (transport->routes[rank].path != YOKE_PATH_SELF)
                events += flush(transport, &transport->routes[rank]);
    return events;
}

static void cancel_list(yoke_transport_t *transport, yoke_message_list_t *list,
                        yoke_status_t status)
{
    while (list->first != NULL) {
        yoke_message_t *message = list->first;
        yoke_message_remove(list, NULL, message);
        yoke_message_end(transport, message, status);
    }
}

/* What the peer has taken already was sent. */
static void withdraw_offers(yoke_transport_t *transport, yoke_route_t *route,
                            yoke_status_t status)
{
    while (route->offered.first != NULL) {
        yoke_message_t *message = route->offered.first;
        yoke_message_remove(&route->offered, NULL, message);
        bool taken =
            !yoke_shared_path_withdraw(route, (int)message->internal[YOKE_OFFER]);
        yoke_message_end(transport, message, taken ? YOKE_OK : status);
    }
}

static void forget_unexpected(yoke_route_t *route)
{
    while (route->unexpected != NULL) {
        yoke_arrival_t *next = route->unexpected->next;
        free(route->unexpected);
        route->unexpected = next;
    }
}

void yoke_transport_cancel(yoke_transport_t *transport, yoke_status_t status)
{
    if (transport->under_way == 0)
        return;
    for (int rank = 0; rank < transport->size; rank++) {
        yoke_route_t *route = &transport->routes[rank];
        withdraw_offers(transport, route, status);
        /* These have numbers, and are ended with the table. */
        route->streaming = (yoke_message_list_t){0};
        if (route->leaving.first != NULL)
            yoke_ucp_forget(route);
        cancel_list(transport, &route->leaving, status);
        cancel_list(transport, &route->posted, status);
        cancel_list(transport, &route->reading, status);
        cancel_list(transport, &route->granting, status);
        cancel_list(transport, &route->starting, status);
    }
    for (uint32_t i = 0; i < transport->ids.count; i++)
        if (transport->ids.entries[i].message != NULL)
            yoke_message_end(transport, transport->ids.entries[i].message, status);
}

/* --- making and ending
 * ----------------------------------------------------------------------
 */

static void free_transport(yoke_transport_t *transport)
{
    if (transport->ucp != NULL)
        yoke_ucp_close(transport);
    yoke_shared_path_close(transport);
    for (int rank = 0; transport->routes != NULL && rank < transport->size; rank++)
        forget_unexpected(&transport->routes[rank]);
    free(transport->routes);
    free(transport->local);
    free(transport->ids.entries);
    free(transport->bounce);
    free(transport);
}

static yoke_status_t open_paths(yoke_transport_t *transport,
                                const yoke_comm_options_t *options)
{
    yoke_status_t status = yoke_shared_path_open(transport);
    if (status != YOKE_OK)
        return status;
    bool remote = false;
    for (int rank = 0; rank < transport->size; rank++)
        remote |= transport->routes[rank].path == YOKE_PATH_UCP;
    yoke_wait_prepare(transport);
    return remote ? yoke_ucp_open(transport, options) : YOKE_OK;
}

yoke_status_t yoke_transport_create(yoke_control_t *control,
                                    const yoke_comm_options_t *options,
                                    yoke_transport_t **out_transport)
{
    yoke_transport_t *transport = calloc(1, sizeof *transport);
    if (transport == NULL)
        return yoke_fail_memory();
    transport->control = control;
    transport->state = yoke_control_state(control);
    transport->rank = yoke_control_rank(control);
    transport->size = yoke_control_size(control);
    transport->routes = calloc((size_t)transport->size, sizeof *transport->routes);
    transport->local = calloc((size_t)transport->size, sizeof *transport->local);
    yoke_status_t status = transport->routes == NULL || transport->local == NULL
                               ? yoke_fail_memory()
                               : open_paths(transport, options);
    if (status != YOKE_OK) {
        free_transport(transport);
        return status;
    }
    *out_transport = transport;
    return YOKE_OK;
}

void yoke_transport_destroy(yoke_transport_t *transport)
{
    if (transport == NULL)
        return;
    yoke_transport_cancel(transport, YOKE_ERR_REVOKED);
    free_transport(transport);
}

yoke_path_t yoke_transport_path(const yoke_transport_t *transport, int peer)
{
    return transport->routes[peer].path;
}

uint64_t yoke_transport_sent(const yoke_transport_t *transport, int peer)
{
    return transport->routes[peer].sent;
}
