/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connecting the ranks. Of two ranks the higher one dials; it tries all addresses of the
 * other one after the other without waiting for the one before, and the other welcomes
 * the first that proves itself. One loop carries all of it on.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "ucx_comm/control/handshake.h"
#include "ucx_comm/control/plane.h"
#include "ucx_comm/control/sockets.h"

#define STAGGER_MS 10        /* between the first tries of two addresses of one rank */
#define CONNECT_MS 5000      /* of TCP, for one address */
#define STRANGER_MS 5000     /* how long a connection may take to prove itself */
#define STRANGERS 256        /* connections that have not proved themselves */
#define DIAL_LIMIT_MS 15000  /* of all addresses of a rank */
#define ACCEPT_EXTRA_MS 5000 /* beyond that, for the ranks that dial */

/* One connection that is being made. */
typedef struct attempt {
    yoke_handshake_t handshake;
    int peer; /* -1: accepted, and not proved yet */
    const yoke_address_t *address;
    int64_t deadline;
} attempt_t;

/* The addresses of one rank that is dialled. */
typedef struct dial {
    int peer;
    const yoke_address_t *addresses[YOKE_ADDRESSES];
    unsigned count, next;
    unsigned open; /* attempts under way */
    int64_t next_start;
    yoke_text_t tried;
    yoke_status_t status; /* of the last attempt that failed */
} dial_t;

typedef struct mesh {
    yoke_control_t *control;
    const yoke_place_t *places;
    int listener;
    bool local; /* all ranks are on one kernel and in one network namespace */
    int missing;
    dial_t *dials;
    size_t dial_count;
    attempt_t *attempts;
    size_t attempt_count, attempt_capacity;
    struct pollfd *polls;
    int64_t dial_deadline;
} mesh_t;

/* --- addresses -------------------------------------------------------------------- */

static bool all_local(const yoke_place_t *places, int size)
{
    const yoke_peer_t *first = &places[0].peer;
    for (int rank = 0; rank < size; rank++) {
        const yoke_peer_t *peer = &places[rank].peer;
        if (memcmp(peer->machine, first->machine, sizeof peer->machine) != 0 ||
            peer->net_space != first->net_space || peer->net_space == 0)
            return false;
    }
    return true;
}

/* The address of this rank in the network of `to`, or NULL: let the kernel choose. With
 * two interfaces in one network it would choose one, not the one that was told. */
static const yoke_address_t *source_for(const yoke_place_t *mine,
                                        const yoke_address_t *to)
{
    for (unsigned i = 0; i < mine->addresses; i++)
        if (yoke_address_shares(&mine->address[i], to) &&
            !yoke_address_is_loopback(&mine->address[i]))
            return &mine->address[i];
    return NULL;
}

/* Loopback only where all ranks are on one kernel, and then first; next what lies in a
 * network of our own; then the rest in its own order. */
static void order_addresses(const mesh_t *mesh, dial_t *dial)
{
    const yoke_place_t *mine = &mesh->places[mesh->control->rank];
    const yoke_place_t *theirs = &mesh->places[dial->peer];
    for (int class = 0; class < 3; class ++)
        for (unsigned i = 0; i < theirs->addresses; i++) {
            const yoke_address_t *address = &theirs->address[i];
            bool loopback = yoke_address_is_loopback(address);
            bool near = source_for(mine, address) != NULL;
            int of = loopback ? 0 : near ? 1 : 2;
            if (of == class && (!loopback || mesh->local))
                dial->addresses[dial->count++] = address;
        }
}

/* --- attempts --------------------------------------------------------------------- */

static attempt_t *add_attempt(mesh_t *mesh)
{
    if (mesh->attempt_count == mesh->attempt_capacity) {
        size_t capacity = mesh->attempt_capacity * 2 + 64;
        attempt_t *attempts = realloc(mesh->attempts, capacity * sizeof *attempts);
        if (attempts == NULL)
            return NULL;
        mesh->attempts = attempts;
        mesh->attempt_capacity = capacity;
        struct pollfd *polls = realloc(mesh->polls, (capacity + 1) * sizeof *polls);
        if (polls == NULL)
            return NULL;
        mesh->polls = polls;
    }
    attempt_t *attempt = &mesh->attempts[mesh->attempt_count++];
    memset(attempt, 0, sizeof *attempt);
    attempt->handshake.fd = -1;
    attempt->peer = -1;
    return attempt;
}

static dial_t *dial_of(mesh_t *mesh, int peer)
{
    for (size_t i = 0; i < mesh->dial_count; i++)
        if (mesh->dials[i].peer == peer)
            return &mesh->dials[i];
    return NULL;
}

static void note_failure(mesh_t *mesh, dial_t *dial, const yoke_address_t *address,
                         yoke_status_t status, const char *why)
{
    char text[64];
    if (status != YOKE_OK)
        dial->status = status;
    yoke_text_printf(&dial->tried, "%s%s port %u: %s", dial->tried.size > 0 ? "; " : "",
                     yoke_address_text(address, text), mesh->places[dial->peer].port,
                     why);
}

static yoke_status_t start_attempt(mesh_t *mesh, dial_t *dial)
{
    const yoke_control_t *control = mesh->control;
    const yoke_place_t *mine = &mesh->places[control->rank];
    const yoke_address_t *address = dial->addresses[dial->next++];
    yoke_hello_t hello = {.protocol = YOKE_COMM_PROTOCOL,
                          .kind = YOKE_HELLO_MESH,
                          .identity = control->identity,
                          .epoch = control->epoch,
                          .size = (uint32_t)control->size,
                          .from = (uint32_t)control->rank,
                          .to = (uint32_t)dial->peer};
    int fd = yoke_socket_connect(address, mesh->places[dial->peer].port,
                                 source_for(mine, address));
    if (fd < 0) {
        note_failure(mesh, dial, address, YOKE_ERR_UNREACHABLE, strerror(errno));
        return YOKE_OK;
    }
    attempt_t *attempt = add_attempt(mesh);
    if (attempt == NULL) {
        close(fd);
        return yoke_fail_memory();
    }
    attempt->peer = dial->peer;
    attempt->address = address;
    attempt->deadline = yoke_clock_ms() + CONNECT_MS;
    dial->open++;
    return yoke_handshake_join(&attempt->handshake, fd, control->key, &hello);
}

static yoke_status_t start_attempts(mesh_t *mesh, int64_t now)
{
    for (size_t i = 0; i < mesh->dial_count; i++) {
        dial_t *dial = &mesh->dials[i];
        while (mesh->control->links[dial->peer].fd < 0 && dial->next < dial->count &&
               (now >= dial->next_start || dial->open == 0)) {
            dial->next_start = now + STAGGER_MS;
            yoke_status_t status = start_attempt(mesh, dial);
            if (status != YOKE_OK)
                return status;
        }
    }
    return YOKE_OK;
}

static yoke_status_t accept_all(mesh_t *mesh, int64_t now)
{
    size_t strangers = 0;
    for (size_t i = 0; i < mesh->attempt_count; i++)
        strangers += mesh->attempts[i].peer < 0;
    for (int fd; strangers < STRANGERS && (fd = yoke_socket_accept(mesh->listener)) >= 0;
         strangers++) {
        attempt_t *attempt = add_attempt(mesh);
        if (attempt == NULL) {
            close(fd);
            return yoke_fail_memory();
        }
        attempt->deadline = now + STRANGER_MS;
        yoke_status_t status =
            yoke_handshake_host(&attempt->handshake, fd, mesh->control->key);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

/* --- progress --------------------------------------------------------------------- */

static void keep_link(mesh_t *mesh, int peer, attempt_t *attempt)
{
    yoke_mesh_link_t *link = &mesh->control->links[peer];
    if (link->fd >= 0)
        close(link->fd); /* broken: see answer() */
    else
        mesh->missing--;
    link->fd = attempt->handshake.fd;
    attempt->handshake.fd = -1;
}

static void answer(mesh_t *mesh, attempt_t *attempt)
{
    const yoke_control_t *control = mesh->control;
    const yoke_hello_t *hello = &attempt->handshake.hello;
    char text[YOKE_WIRE_TEXT] = "";
    yoke_status_t status = YOKE_ERR_REFUSED;
    if (hello->size != (uint32_t)control->size || hello->to != (uint32_t)control->rank ||
        hello->from >= hello->size || hello->from <= hello->to ||
        !yoke_mesh_linked(control->size, control->rank, (int)hello->from))
        yoke_snprintf(text, sizeof text, "rank %u of %u does not belong here",
                      hello->from, hello->size);
    else if (control->links[hello->from].fd >= 0 &&
             !yoke_socket_is_closed(control->links[hello->from].fd))
        yoke_snprintf(text, sizeof text, "rank %u has come already", hello->from);
    else
        status = YOKE_OK;
    yoke_handshake_answer(&attempt->handshake, status, text);
}

static void finish(mesh_t *mesh, attempt_t *attempt)
{
    yoke_handshake_t *handshake = &attempt->handshake;
    dial_t *dial = attempt->peer >= 0 ? dial_of(mesh, attempt->peer) : NULL;
    if (handshake->stage == YOKE_HANDSHAKE_DONE) {
        int peer = dial != NULL ? dial->peer : (int)handshake->hello.from;
        keep_link(mesh, peer, attempt);
        if (dial != NULL) {
            yoke_peer_t *to = &mesh->control->peers[peer];
            yoke_address_text(attempt->address, to->address);
            memcpy(to->interface, attempt->address->interface, sizeof to->interface);
        }
    } else if (dial != NULL) {
        note_failure(mesh, dial, attempt->address, handshake->status, handshake->text);
    } else {
        yoke_debug("a connection to rank %d was turned away: %s", mesh->control->rank,
                   handshake->text);
    }
    if (dial != NULL)
        dial->open--;
    yoke_handshake_end(handshake);
}

static void expire(const mesh_t *mesh, attempt_t *attempt, int64_t now)
{
    yoke_handshake_t *handshake = &attempt->handshake;
    bool connected = handshake->stage != YOKE_HANDSHAKE_CONNECT;
    bool lost = attempt->peer >= 0 && mesh->control->links[attempt->peer].fd >= 0;
    bool late = now >= attempt->deadline && (attempt->peer < 0 || !connected);
    bool over = now >= mesh->dial_deadline && attempt->peer >= 0;
    if (!lost && !late && !over)
        return;
    handshake->status = YOKE_ERR_UNREACHABLE;
    yoke_snprintf(handshake->text, sizeof handshake->text, "%s",
                  connected ? "connected, and no greeting came back" : "no answer");
    handshake->stage = YOKE_HANDSHAKE_FAILED;
}

static void step_attempts(mesh_t *mesh, int64_t now)
{
    yoke_hello_t expected = {.kind = YOKE_HELLO_MESH,
                             .identity = mesh->control->identity,
                             .epoch = mesh->control->epoch};
    size_t kept = 0;
    for (size_t i = 0; i < mesh->attempt_count; i++) {
        attempt_t *attempt = &mesh->attempts[i];
        yoke_handshake_step(&attempt->handshake, &expected);
        if (attempt->handshake.stage == YOKE_HANDSHAKE_ASK)
            answer(mesh, attempt);
        if (attempt->handshake.stage < YOKE_HANDSHAKE_DONE)
            expire(mesh, attempt, now);
        if (attempt->handshake.stage >= YOKE_HANDSHAKE_DONE)
            finish(mesh, attempt);
        else if (kept++ != i)
            mesh->attempts[kept - 1] = *attempt;
    }
    mesh->attempt_count = kept;
}

static void wait_for_events(mesh_t *mesh, int64_t pause)
{
    struct pollfd none;
    struct pollfd *polls = mesh->polls != NULL ? mesh->polls : &none;
    polls[0] = (struct pollfd){.fd = mesh->listener, .events = POLLIN};
    for (size_t i = 0; i < mesh->attempt_count; i++)
        polls[i + 1] = (struct pollfd){
            .fd = mesh->attempts[i].handshake.fd,
            .events = yoke_handshake_events(&mesh->attempts[i].handshake)};
    (void)poll(polls, (nfds_t)(mesh->attempt_count + 1), (int)pause);
}

/* All dials have nothing left to try. */
static bool dials_ended(const mesh_t *mesh)
{
    for (size_t i = 0; i < mesh->dial_count; i++) {
        const dial_t *dial = &mesh->dials[i];
        if (mesh->control->links[dial->peer].fd < 0 &&
            (dial->open > 0 || dial->next < dial->count))
            return false;
    }
    return true;
}

static bool awaits_others(const mesh_t *mesh)
{
    const yoke_control_t *control = mesh->control;
    for (int rank = control->rank + 1; rank < control->size; rank++)
        if (yoke_mesh_linked(control->size, control->rank, rank) &&
            control->links[rank].fd < 0)
            return true;
    return false;
}

static yoke_status_t connect_until(mesh_t *mesh, int64_t accept_deadline)
{
    yoke_status_t status = YOKE_OK;
    int64_t now = yoke_clock_ms();
    while (status == YOKE_OK && mesh->missing > 0 && now < accept_deadline &&
           (!dials_ended(mesh) || awaits_others(mesh))) {
        status = start_attempts(mesh, now);
        if (status == YOKE_OK)
            wait_for_events(mesh, 10);
        now = yoke_clock_ms();
        if (status == YOKE_OK)
            status = accept_all(mesh, now);
        step_attempts(mesh, now);
    }
    return status;
}

/* --- results ---------------------------------------------------------------------- */

static yoke_status_t fail_dial(const mesh_t *mesh, dial_t *dial)
{
    char who[160], mine[160];
    const yoke_control_t *control = mesh->control;
    bool refused = dial->status == YOKE_ERR_REFUSED;
    yoke_status_t status = yoke_fail(
        refused ? YOKE_ERR_REFUSED : YOKE_ERR_UNREACHABLE,
        "%s cannot reach %s; tried %s. Name an interface that all can use in "
        "YOKE_COMM_INTERFACE, and see that no firewall is between",
        yoke_rank_text(control, control->rank, mine),
        yoke_rank_text(control, dial->peer, who),
        dial->tried.size > 0 ? yoke_text_get(&dial->tried) : "no address: it has none");
    return status;
}

static yoke_status_t fail_missing(mesh_t *mesh)
{
    char who[160], mine[160];
    const yoke_control_t *control = mesh->control;
    for (size_t i = 0; i < mesh->dial_count; i++)
        if (control->links[mesh->dials[i].peer].fd < 0)
            return fail_dial(mesh, &mesh->dials[i]);
    for (int rank = control->rank + 1; rank < control->size; rank++)
        if (yoke_mesh_linked(control->size, control->rank, rank) &&
            control->links[rank].fd < 0)
            return yoke_fail(YOKE_ERR_TIMEOUT, "%s did not connect to %s in time",
                             yoke_rank_text(control, rank, who),
                             yoke_rank_text(control, control->rank, mine));
    return YOKE_OK;
}

/* What this rank and the ranks that dialled it are reached by. */
static void fill_peers(const mesh_t *mesh)
{
    yoke_control_t *control = mesh->control;
    for (int rank = 0; rank < control->size; rank++) {
        const yoke_place_t *place = &mesh->places[rank];
        yoke_peer_t *peer = &control->peers[rank];
        if (peer->address[0] != '\0' || place->addresses == 0)
            continue;
        const yoke_address_t *best = &place->address[0];
        if (mesh->local)
            for (unsigned i = 0; i < place->addresses; i++)
                if (yoke_address_is_loopback(&place->address[i]))
                    best = &place->address[i];
        yoke_address_t used;
        uint16_t port;
        if (rank > control->rank && control->links[rank].fd >= 0 &&
            yoke_socket_remote(control->links[rank].fd, &used, &port))
            for (unsigned i = 0; i < place->addresses; i++)
                if (yoke_address_equal(&place->address[i], &used))
                    best = &place->address[i];
        yoke_address_text(best, peer->address);
        memcpy(peer->interface, best->interface, sizeof peer->interface);
    }
}

static void fill_own(const mesh_t *mesh)
{
    yoke_control_t *control = mesh->control;
    const yoke_place_t *place = &mesh->places[control->rank];
    yoke_address_t used;
    uint16_t port;
    for (int rank = 0; rank < control->size; rank++) {
        if (control->links[rank].fd < 0 ||
            !yoke_socket_local(control->links[rank].fd, &used, &port))
            continue;
        for (unsigned i = 0; i < place->addresses; i++)
            if (yoke_address_equal(&place->address[i], &used)) {
                yoke_peer_t *mine = &control->peers[control->rank];
                yoke_address_text(&used, mine->address);
                memcpy(mine->interface, place->address[i].interface,
                       sizeof mine->interface);
                return;
            }
    }
}

static void free_mesh(mesh_t *mesh)
{
    for (size_t i = 0; i < mesh->attempt_count; i++)
        yoke_handshake_end(&mesh->attempts[i].handshake);
    for (size_t i = 0; i < mesh->dial_count; i++)
        yoke_text_free(&mesh->dials[i].tried);
    free(mesh->attempts);
    free(mesh->polls);
    free(mesh->dials);
}

yoke_status_t yoke_mesh_connect(yoke_control_t *control, const yoke_place_t *places,
                                int listener, int64_t deadline)
{
    mesh_t mesh = {.control = control, .places = places, .listener = listener};
    int64_t now = yoke_clock_ms(), left = deadline > now ? deadline - now : 0;
    int64_t extra = left / 4 < ACCEPT_EXTRA_MS ? left / 4 : ACCEPT_EXTRA_MS;
    mesh.dial_deadline = now + (left / 2 < DIAL_LIMIT_MS ? left / 2 : DIAL_LIMIT_MS);
    mesh.local = all_local(places, control->size);
    mesh.dials = calloc((size_t)control->size, sizeof *mesh.dials);
    if (mesh.dials == NULL)
        return yoke_fail_memory();
    for (int rank = 0; rank < control->size; rank++) {
        if (!yoke_mesh_linked(control->size, control->rank, rank))
            continue;
        mesh.missing++;
        if (rank > control->rank)
            continue;
        mesh.dials[mesh.dial_count].peer = rank;
        order_addresses(&mesh, &mesh.dials[mesh.dial_count++]);
    }
    yoke_status_t status = connect_until(&mesh, mesh.dial_deadline + extra);
    if (status == YOKE_OK)
        status = fail_missing(&mesh);
    if (status == YOKE_OK) {
        fill_own(&mesh);
        fill_peers(&mesh);
    }
    free_mesh(&mesh);
    return status;
}
