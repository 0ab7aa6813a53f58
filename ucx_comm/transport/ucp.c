/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The path over UCP: each packet is one eager active message whose header is the
 * packet's. Eager, because UCX's rendezvous may have one side write into the other's
 * memory; ours lets the receiver place every piece itself. All that UCX reads lies in
 * bounces.
 */
#include "ucx_comm/transport/ucp.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ucx_comm/control/settings.h"

/* --- sending
 * ------------------------------------------------------------------------------ */

static yoke_bounce_t *take_bounce(yoke_ucp_t *ucp)
{
    yoke_bounce_t *bounce = ucp->bounces;
    if (bounce != NULL)
        ucp->bounces = bounce->next;
    else
        bounce = aligned_alloc(YOKE_LINE, sizeof *bounce + YOKE_UCP_PIECE);
    return bounce;
}

static void return_bounce(yoke_bounce_t *bounce)
{
    yoke_ucp_t *ucp = bounce->route->ucp;
    bounce->next = ucp->bounces;
    ucp->bounces = bounce;
}

void yoke_ucp_break(yoke_ucp_route_t *way, ucs_status_t status)
{
    if (way->broken == UCS_OK)
        way->broken = status;
    way->ucp->any_broken = true;
}

/* The transport is there: it clears `ends` when it cancels. */
static void end_leaving(yoke_ucp_route_t *way, yoke_message_t *message)
{
    yoke_transport_t *transport = way->ucp->transport;
    yoke_message_list_t *list = &transport->routes[way->rank].leaving;
    yoke_message_t *before = NULL, *one = list->first;
    for (; one != message; one = one->next)
        before = one;
    yoke_message_remove(list, before, message);
    yoke_message_end(transport, message, YOKE_OK);
}

void yoke_ucp_forget(yoke_route_t *route)
{
    for (yoke_message_t *message = route->leaving.first; message != NULL;
         message = message->next)
        ((yoke_bounce_t *)(uintptr_t)message->internal[YOKE_BOUNCE])->ends = NULL;
}

static void on_sent(void *request, ucs_status_t status, void *user)
{
    yoke_bounce_t *bounce = user;
    yoke_ucp_route_t *way = bounce->route;
    way->held--;
    way->ucp->held--;
    if (status != UCS_OK)
        yoke_ucp_break(way, status); /* its messages end with the communicator */
    else if (bounce->ends != NULL)
        end_leaving(way, bounce->ends);
    return_bounce(bounce);
    ucp_request_free(request);
}

static void fill(yoke_bounce_t *bounce, yoke_ucp_route_t *way, yoke_packet_kind_t kind,
                 const yoke_packet_t *header, const void *payload, uint32_t length)
{
    yoke_packet_t *packet = &bounce->packet;
    bounce->route = way;
    atomic_store_explicit(&packet->word, (uint32_t)kind << YOKE_KIND_SHIFT | length,
                          memory_order_relaxed);
    packet->id = header->id;
    packet->tag = header->tag;
    packet->size = header->size;
    packet->signature = header->signature;
    packet->more.extra = (uint64_t)way->sent << 32 | (uint32_t)way->ucp->rank;
    if (length > 0)
        memcpy(bounce->payload, payload, length);
}

/* A packet that UCX has taken, and perhaps sent already. */
static void account(yoke_transport_t *transport, yoke_route_t *route,
                    yoke_bounce_t *bounce, yoke_message_t *ends, bool sent)
{
    bounce->ends = sent ? NULL : ends;
    if (sent)
        return_bounce(bounce);
    else {
        bounce->route->held++;
        bounce->route->ucp->held++;
    }
    if (ends != NULL && sent)
        yoke_message_end(transport, ends, YOKE_OK);
    else if (ends != NULL) {
        ends->internal[YOKE_BOUNCE] = (uintptr_t)bounce;
        yoke_message_append(&route->leaving, ends);
    }
}

bool yoke_ucp_put(yoke_transport_t *transport, yoke_route_t *route,
                  yoke_packet_kind_t kind, const yoke_packet_t *header,
                  const void *payload, uint32_t length, yoke_message_t *ends)
{
    yoke_ucp_route_t *way = route->ucp;
    yoke_ucp_t *ucp = transport->ucp;
    if (way->held >= YOKE_UCP_WINDOW || way->broken != UCS_OK)
        return false;
    yoke_bounce_t *bounce = take_bounce(ucp);
    if (bounce == NULL)
        return false;
    fill(bounce, way, kind, header, payload, length);
    ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                        UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_AM_SEND_FLAG_EAGER,
        .cb.send = on_sent,
        .user_data = bounce,
    };
    ucs_status_ptr_t request =
        ucp_am_send_nbx(way->endpoint, YOKE_UCP_MESSAGE, &bounce->packet,
                        sizeof bounce->packet, bounce->payload, length, &param);
    if (UCS_PTR_IS_ERR(request)) {
        yoke_ucp_break(way, UCS_PTR_STATUS(request));
        return_bounce(bounce);
        return false;
    }
    account(transport, route, bounce, ends, request == NULL);
    way->sent++;
    route->sent += YOKE_LINE + length;
    return true;
}

/* --- receiving
 * ----------------------------------------------------------------------------- */

uint64_t yoke_ucp_matched(const yoke_route_t *route)
{
    return route->ucp->matched;
}

void yoke_ucp_tell_matched(yoke_transport_t *transport, yoke_route_t *route)
{
    yoke_ucp_route_t *way = route->ucp;
    if (route->eager_matched - way->told < YOKE_EAGER_WINDOW / 2)
        return;
    yoke_packet_t header = {.size = route->eager_matched};
    if (yoke_ucp_put(transport, route, YOKE_PACKET_MATCHED, &header, NULL, 0, NULL))
        way->told = route->eager_matched;
}

static bool take_packet(yoke_ucp_route_t *way, const yoke_packet_t *packet,
                        const void *payload, uint32_t length)
{
    yoke_transport_t *transport = way->ucp->transport;
    uint32_t word = atomic_load_explicit(&packet->word, memory_order_relaxed);
    yoke_packet_kind_t kind = (yoke_packet_kind_t)yoke_word_kind(word);
    if (kind == YOKE_PACKET_HELLO)
        way->hello = true;
    else if (kind == YOKE_PACKET_MATCHED)
        way->matched = packet->size;
    else if (!yoke_transport_arrive(transport, &transport->routes[way->rank], kind,
                                    packet, payload, length))
        return false;
    way->received++;
    return true;
}

static bool keep_early(yoke_ucp_route_t *way, const yoke_packet_t *packet,
                       const void *payload, uint32_t length)
{
    size_t size = sizeof(yoke_early_t) + length;
    yoke_early_t *early =
        aligned_alloc(YOKE_LINE, (size + YOKE_LINE - 1) / YOKE_LINE * YOKE_LINE);
    if (early == NULL)
        return false;
    early->number = (uint32_t)(packet->more.extra >> 32);
    early->length = length;
    memcpy(&early->packet, packet, sizeof *packet);
    if (length > 0)
        memcpy(early->payload, payload, length);
    early->next = way->early;
    way->early = early;
    return true;
}

/* Those whose turn has come. */
static bool take_early(yoke_ucp_route_t *way)
{
    yoke_early_t **place = &way->early;
    while (*place != NULL) {
        yoke_early_t *early = *place;
        if (early->number != way->received) {
            place = &early->next;
            continue;
        }
        *place = early->next;
        bool taken = take_packet(way, &early->packet, early->payload, early->length);
        free(early);
        if (!taken)
            return false;
        place = &way->early;
    }
    return true;
}

static ucs_status_t on_message(void *argument, const void *header, size_t header_size,
                               void *data, size_t length,
                               const ucp_am_recv_param_t *param)
{
    yoke_ucp_t *ucp = argument;
    yoke_packet_t packet;
    if (ucp->transport == NULL || header_size != sizeof packet ||
        (param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0)
        return UCS_OK;
    memcpy(&packet, header, sizeof packet);
    uint32_t rank = (uint32_t)packet.more.extra;
    if (rank >= (uint32_t)ucp->size || ucp->routes[rank].endpoint == NULL)
        return UCS_OK;
    yoke_ucp_route_t *way = &ucp->routes[rank];
    bool taken =
        (uint32_t)(packet.more.extra >> 32) == way->received
            ? take_packet(way, &packet, data, (uint32_t)length) && take_early(way)
            : keep_early(way, &packet, data, (uint32_t)length);
    if (!taken)
        yoke_control_revoke(ucp->transport->control, YOKE_ERR_NO_MEMORY,
                            "out of memory for messages that came early");
    return UCS_OK;
}

/* --- advancing
 * ------------------------------------------------------------------------------ */

static bool has_work(const yoke_transport_t *transport, const yoke_route_t *route)
{
    if (route->posted.first != NULL || route->granting.first != NULL ||
        route->starting.first != NULL || route->leaving.first != NULL)
        return true;
    for (uint32_t i = 0; i < transport->ids.count; i++)
        if (transport->ids.entries[i].message != NULL &&
            transport->ids.entries[i].message->peer == route->rank)
            return true;
    return false;
}

/* A broken way to a rank that nothing more is wanted of is no failure: it may have ended
 * its communicator. Else the control plane finds out whether the rank lives. */
static void look_after_broken(yoke_transport_t *transport)
{
    yoke_ucp_t *ucp = transport->ucp;
    for (int rank = 0; rank < ucp->size; rank++) {
        yoke_ucp_route_t *way = &ucp->routes[rank];
        if (way->broken == UCS_OK || !has_work(transport, &transport->routes[rank]))
            continue;
        char text[128];
        snprintf(text, sizeof text, "the data connection broke: %s",
                 ucs_status_string(way->broken));
        yoke_control_suspect(transport->control, rank, text);
        return;
    }
}

unsigned yoke_ucp_progress(yoke_transport_t *transport)
{
    unsigned events = ucp_worker_progress(transport->ucp->worker);
    if (transport->ucp->any_broken)
        look_after_broken(transport);
    return events;
}

int yoke_ucp_arm(yoke_transport_t *transport)
{
    return ucp_worker_arm(transport->ucp->worker) == UCS_OK ? transport->ucp->descriptor
                                                            : -1;
}

/* --- making and ending
 * ----------------------------------------------------------------------
 */

/* A rank that has not said hello, or that has not been told ours yet; -1: none. */
static int find_silent(yoke_transport_t *transport)
{
    static const yoke_packet_t header;
    yoke_ucp_t *ucp = transport->ucp;
    int silent = -1;
    for (int rank = 0; rank < ucp->size; rank++) {
        yoke_route_t *route = &transport->routes[rank];
        yoke_ucp_route_t *way = route->ucp;
        if (route->path != YOKE_PATH_UCP)
            continue;
        if (way->sent == 0)
            yoke_ucp_put(transport, route, YOKE_PACKET_HELLO, &header, NULL, 0, NULL);
        if (way->broken != UCS_OK)
            return rank;
        if (way->sent == 0 || way->held > 0 || !way->hello)
            silent = rank;
    }
    return silent;
}

/* Every way is tried before the first call: what cannot work shows here, with a name. And
 * what a peer needs of this rank has left it when this returns. */
static yoke_status_t say_hello(yoke_transport_t *transport, uint32_t timeout_ms)
{
    int64_t deadline = yoke_clock_ms() + timeout_ms;
    int silent;
    for (unsigned idle = 0; (silent = find_silent(transport)) >= 0; idle++) {
        ucs_status_t broken = transport->ucp->routes[silent].broken;
        if (broken != UCS_OK)
            return yoke_ucp_fail_way(transport, silent, YOKE_ERR_UNREACHABLE,
                                     ucs_status_string(broken));
        if (atomic_load(transport->state) != YOKE_CONTROL_RUNNING)
            return yoke_control_reason(transport->control);
        if (yoke_clock_ms() > deadline)
            return yoke_ucp_fail_way(transport, silent, YOKE_ERR_TIMEOUT,
                                     "nothing came in the time for setting up");
        yoke_transport_pause(transport, idle);
    }
    return YOKE_OK;
}

yoke_status_t yoke_ucp_open(yoke_transport_t *transport,
                            const yoke_comm_options_t *options)
{
    yoke_control_settings_t settings;
    yoke_status_t status = yoke_control_settings_read(options, &settings);
    if (status == YOKE_OK)
        status = yoke_ucp_make(transport, on_message, settings.setup_timeout_ms);
    if (status == YOKE_OK)
        status = say_hello(transport, settings.setup_timeout_ms);
    return status;
}

/* What was sent before an orderly end still goes out, as far as the others take it. */
#define LINGER_MS 1000

void yoke_ucp_close(yoke_transport_t *transport)
{
    yoke_ucp_t *ucp = transport->ucp;
    int64_t deadline = yoke_clock_ms() + LINGER_MS;
    while (ucp->worker != NULL && ucp->held > 0 && !ucp->any_broken &&
           atomic_load(transport->state) == YOKE_CONTROL_RUNNING &&
           yoke_clock_ms() < deadline)
        if (ucp_worker_progress(ucp->worker) == 0)
            sched_yield();
    transport->ucp = NULL;
    ucp->transport = NULL;
    yoke_ucp_retire(ucp);
}
