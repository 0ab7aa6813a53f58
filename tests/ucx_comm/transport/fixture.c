/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/ucx_comm/transport/fixture.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- threads as ranks
 * --------------------------------------------------------------------- */

typedef struct team {
    int size;
    pthread_barrier_t barrier;
    char *slots;
    size_t slot;
} team_t;

static team_t *team; /* NULL: ranks are processes */
static _Thread_local int own_rank;

typedef struct member {
    pthread_t thread;
    int rank, result;
    yoke_test_rank_t function;
    void *context;
} member_t;

static void *run_member(void *argument)
{
    member_t *member = argument;
    own_rank = member->rank;
    member->result = member->function(member->rank, team->size, member->context);
    return NULL;
}

int fixture_threads(int size, yoke_test_rank_t function, void *context)
{
    team_t one = {.size = size, .slot = 64 << 10};
    member_t *members = calloc((size_t)size, sizeof *members);
    one.slots = malloc((size_t)size * one.slot);
    pthread_barrier_init(&one.barrier, NULL, (unsigned)size);
    team = &one;
    int failed = 0;
    alarm(120); /* a thread cannot be killed alone */
    for (int i = 0; i < size; i++) {
        members[i] = (member_t){.rank = i, .function = function, .context = context};
        if (pthread_create(&members[i].thread, NULL, run_member, &members[i]) != 0)
            abort();
    }
    for (int i = 0; i < size; i++) {
        pthread_join(members[i].thread, NULL);
        failed += members[i].result != 0;
    }
    alarm(0);
    team = NULL;
    pthread_barrier_destroy(&one.barrier);
    free(one.slots);
    free(members);
    return failed;
}

static yoke_status_t team_all_gather(void *context, const void *mine, size_t size,
                                     void *all)
{
    (void)context;
    if (size > team->slot)
        return YOKE_ERR_OUT_OF_RANGE;
    memcpy(team->slots + (size_t)own_rank * team->slot, mine, size);
    pthread_barrier_wait(&team->barrier);
    for (int i = 0; i < team->size; i++)
        memcpy((char *)all + (size_t)i * size, team->slots + (size_t)i * team->slot,
               size);
    pthread_barrier_wait(&team->barrier);
    return YOKE_OK;
}

/* --- both
 * ------------------------------------------------------------------------------------
 */

void fixture_force(yoke_path_t path)
{
    yoke_forced_path = path;
}

void fixture_offer_from(uint64_t size)
{
    static uint64_t measured;
    if (measured == 0)
        measured = yoke_offer_least;
    yoke_offer_least = size == FIXTURE_MEASURED ? measured : size;
}

int fixture_open(fixture_t *fixture, int rank, int size)
{
    yoke_comm_options_t options = {.struct_size = sizeof options,
                                   .setup_timeout_ms = 30000};
    *fixture = (fixture_t){.rank = rank, .size = size};
    yoke_status_t status = yoke_control_create(
        size, rank, team != NULL ? team_all_gather : yoke_test_all_gather, NULL, &options,
        &fixture->control);
    RANK_CHECK(status == YOKE_OK);
    status = yoke_transport_create(fixture->control, &options, &fixture->transport);
    RANK_CHECK(status == YOKE_OK);
    return 0;
}

void fixture_close(fixture_t *fixture)
{
    yoke_transport_destroy(fixture->transport);
    yoke_control_destroy(fixture->control);
}

yoke_message_t fixture_message(int peer, uint64_t tag, void *data, uint64_t size)
{
    yoke_message_t message = {
        .peer = peer,
        .tag = tag,
        .data = data,
        .size = size,
        .signature = {.sequence = 1,
                      .count = size,
                      .root = -1,
                      .collective = YOKE_COLLECTIVE_SEND_RECV,
                      .element = YOKE_ELEMENT_U8,
                      .reduction = 0xff},
    };
    return message;
}

yoke_status_t fixture_wait(fixture_t *fixture, yoke_message_t *messages, int count)
{
    unsigned idle = 0;
    yoke_status_t first = YOKE_OK;
    for (int i = 0; i < count; i++) {
        while (messages[i].status == YOKE_ERR_NOT_READY)
            if (yoke_transport_progress(fixture->transport) == 0)
                yoke_transport_pause(fixture->transport, idle++);
            else
                idle = 0;
        if (first == YOKE_OK)
            first = messages[i].status;
    }
    return first;
}

/* 8 bytes at a time by a multiplicative hash of the place. */
static uint64_t word_at(uint64_t place, uint32_t seed)
{
    return (place + 1) * 0x9e3779b97f4a7c15u ^ ((uint64_t)seed << 32 | seed);
}

void fixture_fill(void *data, uint64_t size, uint32_t seed)
{
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t word = word_at(i, seed);
        memcpy((char *)data + i, &word, size - i < 8 ? size - i : 8);
    }
}

bool fixture_is(const void *data, uint64_t size, uint32_t seed)
{
    for (uint64_t i = 0; i < size; i += 8) {
        uint64_t word = word_at(i, seed);
        if (memcmp((const char *)data + i, &word, size - i < 8 ? size - i : 8) != 0)
            return false;
    }
    return true;
}
