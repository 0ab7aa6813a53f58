/* SPDX-License-Identifier: Apache-2.0 */
/* Making and ending a control plane. */
#include "ucx_comm/control/plane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "ucx_comm/control/sockets.h"

int yoke_mesh_full_limit = 64;

bool yoke_mesh_linked(int size, int a, int b)
{
    if (a == b)
        return false;
    if (size <= yoke_mesh_full_limit)
        return true;
    unsigned ahead = (unsigned)((b - a + size) % size);
    unsigned behind = (unsigned)size - ahead;
    return (ahead & (ahead - 1)) == 0 || (behind & (behind - 1)) == 0;
}

int yoke_control_rank(const yoke_control_t *control)
{
    return control->rank;
}

int yoke_control_size(const yoke_control_t *control)
{
    return control->size;
}

const yoke_peer_t *yoke_control_peer(const yoke_control_t *control, int rank)
{
    return &control->peers[rank];
}

uint64_t yoke_control_identity(const yoke_control_t *control)
{
    return control->identity;
}

/* --- the object ------------------------------------------------------------------- */

static yoke_status_t make_lock(yoke_control_t *control)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&control->lock, NULL);
    pthread_cond_init(&control->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    control->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (control->wake < 0)
        return yoke_fail(YOKE_ERR_SYSTEM, "cannot make an eventfd");
    return YOKE_OK;
}

static yoke_status_t make_links(yoke_control_t *control)
{
    size_t count = (size_t)control->size;
    control->peers = calloc(count, sizeof *control->peers);
    control->links = calloc(count, sizeof *control->links);
    control->standings = calloc(count, sizeof *control->standings);
    control->agreement.decided = calloc(1, (count + 7) / 8);
    if (control->links == NULL || control->peers == NULL || control->standings == NULL ||
        control->agreement.decided == NULL)
        return yoke_fail_memory();
    for (int rank = 0; rank < control->size; rank++)
        control->links[rank].fd = control->links[rank].process = -1;
    for (int rank = 0; rank < control->size; rank++) {
        if (!yoke_mesh_linked(control->size, control->rank, rank))
            continue;
        control->links[rank].in = malloc(YOKE_FRAME_HEADER + YOKE_FRAME_LIMIT);
        if (control->links[rank].in == NULL)
            return yoke_fail_memory();
    }
    return YOKE_OK;
}

static yoke_status_t make(int size, int rank, uint32_t epoch,
                          const yoke_control_settings_t *settings,
                          yoke_control_t **out_control)
{
    yoke_control_t *control = calloc(1, sizeof *control);
    if (control == NULL)
        return yoke_fail_memory();
    control->size = size;
    control->rank = rank;
    control->epoch = epoch;
    control->settings = *settings;
    control->wake = -1;
    control->agreement.told = control->agreement.told_decision = -1;
    /* With many ranks on one host the beats would be a load of their own. */
    control->beat_ms = 200 + 8 * (int64_t)(size < 100 ? size : 100);
    if (control->beat_ms * 3 > settings->silence_ms)
        control->beat_ms = settings->silence_ms / 3 + 1;
    yoke_status_t status = make_lock(control);
    if (status == YOKE_OK)
        status = make_links(control);
    if (status != YOKE_OK) {
        yoke_control_destroy(control);
        return status;
    }
    *out_control = control;
    return YOKE_OK;
}

void yoke_control_destroy(yoke_control_t *control)
{
    if (control == NULL)
        return;
    if (control->links != NULL)
        yoke_watch_stop(control);
    if (control->standings != NULL)
        yoke_drop_blocks(control);
    if (control->wake >= 0)
        close(control->wake);
    pthread_cond_destroy(&control->changed);
    pthread_mutex_destroy(&control->lock);
    free(control->agreement.decided);
    free(control->standings);
    free(control->links);
    free(control->peers);
    free(control);
}

/* --- what a rank says of itself --------------------------------------------------- */

static uint64_t space_of(const char *name)
{
    char path[64];
    struct stat about;
    yoke_snprintf(path, sizeof path, "/proc/self/ns/%s", name);
    return stat(path, &about) == 0 ? (uint64_t)about.st_ino : 0;
}

static int digit(char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

/* The boot id is one number for all containers of a kernel. Where it cannot be read, a
 * random one: the rank then shares a kernel with nobody, which is slow and right. */
static yoke_status_t machine_of(uint8_t machine[16])
{
    char text[64] = "";
    int used = 0;
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL) {
        if (fgets(text, sizeof text, file) == NULL)
            text[0] = '\0';
        fclose(file);
    }
    memset(machine, 0, 16);
    for (const char *c = text; *c != '\0' && used < 32; c++)
        if (digit(*c) >= 0) {
            machine[used / 2] = (uint8_t)(machine[used / 2] << 4 | digit(*c));
            used++;
        }
    return used == 32 ? YOKE_OK : yoke_random(machine, 16);
}

yoke_status_t yoke_peer_here(yoke_peer_t *out_peer)
{
    memset(out_peer, 0, sizeof *out_peer);
    if (gethostname(out_peer->host, sizeof out_peer->host - 1) != 0)
        strcpy(out_peer->host, "unknown");
    out_peer->pid_space = space_of("pid");
    out_peer->net_space = space_of("net");
    out_peer->user_space = space_of("user");
    out_peer->pid = (int32_t)getpid();
    out_peer->protocol = YOKE_COMM_PROTOCOL;
    return machine_of(out_peer->machine);
}

/* Addresses to tell; a host without any but loopback tells that, for ranks beside it. */
yoke_status_t yoke_own_addresses(const yoke_control_settings_t *settings,
                                 yoke_place_t *place)
{
    yoke_interface_t *list = NULL;
    size_t count = 0, used = 0;
    const char *setting = settings->interface[0] != '\0' ? settings->interface : NULL;
    yoke_status_t status = yoke_interfaces_read(&list, &count);
    if (status == YOKE_OK)
        status = yoke_interfaces_choose(list, count, setting, place->address,
                                        YOKE_ADDRESSES - 1, &used);
    free(list);
    if (status != YOKE_OK)
        return status;
    if (setting == NULL || used == 0) {
        (void)yoke_address_parse("127.0.0.1", &place->address[used]);
        strcpy(place->address[used].interface, "lo");
        used++;
    }
    place->addresses = (unsigned)used;
    return YOKE_OK;
}

static yoke_status_t open_place(const yoke_control_settings_t *settings,
                                yoke_place_t *place, int *out_listener)
{
    const yoke_address_t *only = NULL;
    yoke_status_t status = yoke_random(place->random, sizeof place->random);
    if (status == YOKE_OK)
        status = yoke_peer_here(&place->peer);
    if (status == YOKE_OK)
        status = yoke_own_addresses(settings, place);
    /* A named interface is the only one that strangers can knock at. */
    if (status == YOKE_OK && settings->interface[0] != '\0' && place->addresses == 1)
        only = &place->address[0];
    if (status == YOKE_OK)
        status = yoke_socket_listen(only, 0, out_listener, &place->port);
    return status;
}

/* --- gathering -------------------------------------------------------------------- */

typedef struct gathering {
    int size, rank;
    yoke_comm_all_gather_t gather;
    void *context;
} gathering_t;

static yoke_status_t gather(const gathering_t *with, const void *mine, size_t size,
                            void *all)
{
    uint64_t before = yoke_fail_count();
    yoke_status_t status = with->gather(with->context, mine, size, all);
    if (status != YOKE_OK && yoke_fail_count() == before)
        return yoke_fail(status, "the all-gather that was given to make a communicator "
                                 "failed");
    return status;
}

static yoke_status_t gather_cards(const gathering_t *with)
{
    yoke_card_t card = {YOKE_COMM_PROTOCOL, (uint32_t)with->size, (uint32_t)with->rank};
    uint8_t mine[YOKE_CARD_SIZE];
    uint8_t *all = malloc((size_t)with->size * YOKE_CARD_SIZE);
    if (all == NULL)
        return yoke_fail_memory();
    yoke_card_write(&card, mine);
    yoke_status_t status = gather(with, mine, sizeof mine, all);
    for (int rank = 0; status == YOKE_OK && rank < with->size; rank++) {
        if (!yoke_card_read(all + (size_t)rank * YOKE_CARD_SIZE, &card))
            status = yoke_fail(YOKE_ERR_BAD_INPUT,
                               "the all-gather brought no greeting of rank %d: it must "
                               "give `size` bytes of each rank, in rank order",
                               rank);
        else if (card.protocol != YOKE_COMM_PROTOCOL)
            status = yoke_fail(YOKE_ERR_REFUSED,
                               "rank %d speaks version %u of the protocol, this rank "
                               "version %u: install one version of Yoke everywhere",
                               rank, card.protocol, YOKE_COMM_PROTOCOL);
        else if (card.size != (uint32_t)with->size)
            status = yoke_fail(YOKE_ERR_REFUSED,
                               "rank %d was made with %u ranks, this one with %d", rank,
                               card.size, with->size);
        else if (card.rank != (uint32_t)rank)
            status =
                yoke_fail(YOKE_ERR_REFUSED,
                          "what came as rank %d calls itself rank %u: two ranks have "
                          "one number, or the all-gather is not in rank order",
                          rank, card.rank);
    }
    free(all);
    return status;
}

/* All ranks' places; `mine` may say that this rank cannot take part, which all then hear
 * of. */
static yoke_status_t gather_places(const gathering_t *with, const yoke_place_t *mine,
                                   yoke_place_t *out_places)
{
    uint8_t bytes[YOKE_PLACE_SIZE];
    uint8_t *all = malloc((size_t)with->size * YOKE_PLACE_SIZE);
    if (all == NULL)
        return yoke_fail_memory();
    yoke_place_write(mine, bytes);
    yoke_status_t status = gather(with, bytes, sizeof bytes, all);
    for (int rank = 0; status == YOKE_OK && rank < with->size; rank++) {
        const uint8_t *from = all + (size_t)rank * YOKE_PLACE_SIZE;
        if (!yoke_place_read(from, &out_places[rank]))
            status =
                yoke_fail(YOKE_ERR_BAD_INPUT,
                          "the all-gather brought a damaged address of rank %d", rank);
        else if (out_places[rank].status != YOKE_OK)
            status = yoke_fail(out_places[rank].status, "rank %d (host %s): %s", rank,
                               out_places[rank].peer.host, out_places[rank].text);
    }
    free(all);
    return status;
}

/* A rank that did not come is the least telling of failures: it has another behind it. */
static int telling(yoke_status_t status)
{
    if (status == YOKE_OK)
        return 0;
    return status == YOKE_ERR_TIMEOUT ? 1 : 2;
}

static yoke_status_t gather_outcomes(const gathering_t *with, yoke_status_t mine)
{
    yoke_outcome_t outcome = {.status = mine}, worst = {.status = YOKE_OK};
    uint8_t bytes[YOKE_OUTCOME_SIZE];
    uint8_t *all = malloc((size_t)with->size * YOKE_OUTCOME_SIZE);
    if (all == NULL)
        return yoke_fail_memory();
    if (mine != YOKE_OK)
        yoke_snprintf(outcome.text, sizeof outcome.text, "%s", yoke_last_error());
    yoke_outcome_write(&outcome, bytes);
    yoke_status_t status = gather(with, bytes, sizeof bytes, all);
    for (int rank = 0; status == YOKE_OK && rank < with->size; rank++) {
        yoke_outcome_read(all + (size_t)rank * YOKE_OUTCOME_SIZE, &outcome);
        if (telling(outcome.status) > telling(worst.status))
            worst = outcome;
    }
    free(all);
    if (status == YOKE_OK && worst.status != YOKE_OK)
        status = yoke_fail(worst.status, "%s", worst.text);
    return status;
}

/* --- making one ------------------------------------------------------------------- */

/* Every rank adds random bytes, so that no two planes have one key. */
static yoke_status_t take_key(yoke_control_t *control, const yoke_place_t *places)
{
    size_t each = YOKE_KEY_SIZE, size = (size_t)control->size * each + 4;
    uint8_t *bytes = malloc(size), label[YOKE_KEY_SIZE + 1];
    if (bytes == NULL)
        return yoke_fail_memory();
    for (int rank = 0; rank < control->size; rank++)
        memcpy(bytes + (size_t)rank * each, places[rank].random, each);
    yoke_put_u32(bytes + size - 4, control->epoch);
    yoke_hash(bytes, size, control->key);
    free(bytes);
    /* The identity is told to anyone; the key must not follow from it. */
    memcpy(label, control->key, YOKE_KEY_SIZE);
    label[YOKE_KEY_SIZE] = 'i';
    yoke_hash(label, sizeof label, label);
    control->identity = yoke_get_u64(label) | 1; /* 0 is a rendezvous */
    return YOKE_OK;
}

static yoke_status_t connect_all(yoke_control_t *control, const gathering_t *with,
                                 int64_t deadline)
{
    int listener = -1;
    yoke_place_t mine = {0};
    yoke_place_t *places = calloc((size_t)control->size, sizeof *places);
    if (places == NULL)
        return yoke_fail_memory();
    mine.status = open_place(&control->settings, &mine, &listener);
    if (mine.status != YOKE_OK)
        yoke_snprintf(mine.text, sizeof mine.text, "%s", yoke_last_error());
    yoke_status_t status = gather_places(with, &mine, places);
    if (status != YOKE_OK)
        goto out;
    for (int rank = 0; rank < control->size; rank++)
        control->peers[rank] = places[rank].peer;
    status = take_key(control, places);
    if (status == YOKE_OK)
        status = yoke_mesh_connect(control, places, listener, deadline);
    status = gather_outcomes(with, status);
out:
    if (listener >= 0)
        close(listener);
    free(places);
    return status;
}

static yoke_status_t create(const gathering_t *with, uint32_t epoch,
                            const yoke_control_settings_t *settings,
                            yoke_control_t **out_control)
{
    yoke_control_t *control = NULL;
    int64_t deadline = yoke_clock_ms() + settings->setup_timeout_ms;
    yoke_status_t status = make(with->size, with->rank, epoch, settings, &control);
    if (status != YOKE_OK)
        return status;
    status = gather_cards(with);
    if (status == YOKE_OK)
        status = connect_all(control, with, deadline);
    if (status == YOKE_OK)
        status = yoke_watch_start(control);
    if (status != YOKE_OK) {
        yoke_control_destroy(control);
        return status;
    }
    *out_control = control;
    return YOKE_OK;
}

yoke_status_t yoke_control_create(int size, int rank, yoke_comm_all_gather_t all_gather,
                                  void *context, const yoke_comm_options_t *options,
                                  yoke_control_t **out_control)
{
    yoke_control_settings_t settings;
    if (size < 1 || size > YOKE_RANKS_LIMIT || rank < 0 || rank >= size ||
        all_gather == NULL)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "rank %d of %d ranks: a communicator has 1 to %d ranks, numbered "
            "from 0, and needs an all-gather",
            rank, size, YOKE_RANKS_LIMIT);
    yoke_status_t status = yoke_control_settings_read(options, &settings);
    if (status != YOKE_OK)
        return status;
    gathering_t with = {size, rank, all_gather, context};
    return create(&with, 0, &settings, out_control);
}

/* --- from another ----------------------------------------------------------------- */

typedef struct descent {
    yoke_control_t *parent;
    const int *ranks;
    int count;
    uint64_t key; /* of the next all-gather among them */
    int64_t deadline;
} descent_t;

static yoke_status_t gather_over_parent(void *context, const void *mine, size_t size,
                                        void *all)
{
    descent_t *descent = context;
    pthread_mutex_lock(&descent->parent->lock);
    yoke_status_t status =
        yoke_gather_among(descent->parent, descent->ranks, descent->count, descent->key++,
                          mine, size, all, descent->deadline);
    pthread_mutex_unlock(&descent->parent->lock);
    return status;
}

/* One number for one group of one epoch, far from those of ordinary all-gathers. */
static uint64_t group_key(const int *ranks, int count, uint32_t epoch)
{
    uint64_t key = 14695981039346656037u ^ epoch;
    for (int i = 0; i < count; i++)
        key = (key ^ (uint64_t)ranks[i]) * 1099511628211u;
    return (key | (uint64_t)1 << 63) & ~(uint64_t)0xff;
}

yoke_status_t yoke_control_create_from(yoke_control_t *parent, const int *ranks,
                                       int count, uint32_t epoch,
                                       yoke_control_t **out_control)
{
    int mine = -1;
    bool valid = count > 0;
    for (int i = 0; i < count; i++) {
        valid = valid && ranks[i] >= 0 && ranks[i] < parent->size;
        for (int j = 0; valid && j < i; j++)
            valid = ranks[j] != ranks[i];
        if (ranks[i] == parent->rank)
            mine = i;
    }
    if (!valid || mine < 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "a group of %d ranks must hold this rank (%d), and each rank of "
                         "%d once",
                         count, parent->rank, parent->size);
    descent_t descent = {parent, ranks, count, group_key(ranks, count, epoch),
                         yoke_clock_ms() + parent->settings.setup_timeout_ms};
    gathering_t with = {count, mine, gather_over_parent, &descent};
    return create(&with, epoch, &parent->settings, out_control);
}
