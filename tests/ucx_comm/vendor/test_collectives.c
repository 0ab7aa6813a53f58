/* SPDX-License-Identifier: Apache-2.0 */
/* Every collective, element and reduction of one vendor's library, on 1 to 4 processes,
 * against a reference on integers; what the library cannot do is refused, with a reason.
 *     vendor_collectives RUNTIME [COMBINATIONS THAT MUST WORK] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/ucx_comm/ranks.h"
#include "tests/ucx_comm/vendor/numbers.h"
#include "tests/ucx_comm/vendor/world.h"

#define SPARE 64 /* bytes after a result, which nobody may touch */

typedef struct job {
    const char *runtime;
    int *done; /* by rank 0: combinations that were run */
} job_t;

typedef struct shape { /* blocks that a rank gives and gets; 0: nothing */
    int give, get;
} shape_t;

static bool reduces(yoke_collective_t c)
{
    return c == YOKE_COLLECTIVE_REDUCE || c == YOKE_COLLECTIVE_ALL_REDUCE ||
           c == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

static shape_t shape_of(yoke_collective_t c, int rank, int size, int root)
{
    switch (c) {
    case YOKE_COLLECTIVE_BROADCAST:
        return (shape_t){1, 1};
    case YOKE_COLLECTIVE_REDUCE:
        return (shape_t){1, rank == root};
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return (shape_t){size, 1};
    case YOKE_COLLECTIVE_ALL_GATHER:
        return (shape_t){1, size};
    case YOKE_COLLECTIVE_GATHER:
        return (shape_t){1, rank == root ? size : 0};
    case YOKE_COLLECTIVE_SCATTER:
        return (shape_t){rank == root ? size : 0, 1};
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        return (shape_t){size, size};
    default:
        return (shape_t){1, 1};
    }
}

/* Place in the numbers of the one that comes to (block, i) of a rank's result: whose it
 * is, and where there. */
static int source_of(yoke_collective_t c, int rank, int root, int block, int i, int count,
                     int *out_place)
{
    *out_place = i;
    switch (c) {
    case YOKE_COLLECTIVE_BROADCAST:
        return root;
    case YOKE_COLLECTIVE_SCATTER:
        *out_place = rank * count + i;
        return root;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        *out_place = rank * count + i;
        return block;
    default: /* all-gather, gather */
        return block;
    }
}

static void expect(char *out, const world_t *w, yoke_collective_t c,
                   yoke_element_t element, yoke_reduction_t reduction, int root,
                   int count)
{
    size_t size = yoke_element_size(element);
    int blocks = shape_of(c, w->rank, w->size, root).get;
    for (int b = 0; b < blocks; b++)
        for (int i = 0; i < count; i++) {
            int place = i, value;
            if (reduces(c)) {
                if (c == YOKE_COLLECTIVE_REDUCE_SCATTER)
                    place = w->rank * count + i;
                value = number_reduced(reduction, element, w->size, place);
            } else {
                int from = source_of(c, w->rank, root, b, i, count, &place);
                value = 2 * number_given(YOKE_REDUCE_MAX, element, from, place);
            }
            number_put(out + (size_t)(b * count + i) * size, element, value);
        }
}

/* `in_place`: 1: the input lies where the interface says; 0: apart. */
static int try_one(world_t *w, yoke_collective_t c, yoke_element_t element,
                   yoke_reduction_t reduction, int root, int count, int in_place)
{
    size_t size = yoke_element_size(element), one = (size_t)count * size;
    shape_t shape = shape_of(c, w->rank, w->size, root);
    size_t give = (size_t)shape.give * one, get = (size_t)shape.get * one;
    size_t most = (give > get ? give : get) + SPARE;
    char *input = malloc(most), *want = malloc(most), *got = malloc(most);
    yoke_reduction_t numbers = reduces(c) ? reduction : YOKE_REDUCE_MAX;
    memset(input, 0x5a, most);
    memset(want, 0xee, most);
    for (int i = 0; i < shape.give * count; i++)
        number_put(input + (size_t)i * size, element,
                   2 * number_given(numbers, element, w->rank, i));
    /* In place: where in the result the input lies, and the other way round. */
    size_t give_at = 0, get_at = 0;
    if (c == YOKE_COLLECTIVE_ALL_GATHER ||
        (c == YOKE_COLLECTIVE_GATHER && w->rank == root))
        give_at = (size_t)w->rank * one;
    if (c == YOKE_COLLECTIVE_REDUCE_SCATTER ||
        (c == YOKE_COLLECTIVE_SCATTER && w->rank == root))
        get_at = (size_t)w->rank * one;
    char *send = w->send, *recv = w->recv;
    if (in_place) {
        memset(got, 0xee, most);
        memcpy(got + give_at, input, give);
        RANK_CHECK(world_write(w, true, got, most) == YOKE_OK);
        memcpy(want, got, most); /* what is not written stays */
        send = w->recv + give_at;
        recv = w->recv + get_at;
    } else {
        RANK_CHECK(world_write(w, false, input, most) == YOKE_OK);
        RANK_CHECK(world_write(w, true, want, most) == YOKE_OK);
    }
    if (shape.get > 0)
        expect(want + (in_place ? get_at : 0), w, c, element, reduction, root, count);
    bool same = c == YOKE_COLLECTIVE_BROADCAST && !in_place &&
                (w->vendor->kind->flags & YOKE_VENDOR_FIXED) != 0;
    if (same) { /* broadcasts in place only */
        RANK_CHECK(w->rank != root ||
                   yoke_vendor_call(w->comm, c, send, recv, (uint64_t)count, element,
                                    reduction, root, w->queue) == YOKE_ERR_UNSUPPORTED);
    } else {
        RANK_CHECK(yoke_vendor_call(w->comm, c, send, recv, (uint64_t)count, element,
                                    reduction, root, w->queue) == YOKE_OK);
        RANK_CHECK(world_sync(w) == YOKE_OK);
        RANK_CHECK(yoke_vendor_comm_status(w->comm) == YOKE_OK);
        RANK_CHECK(world_read(w, got, most) == YOKE_OK);
        if (memcmp(got, want, most) != 0) {
            size_t at = 0;
            while (got[at] == want[at])
                at++;
            fprintf(stderr,
                    "rank %d of %d: collective %d %s %s root %d count %d in place %d: "
                    "byte %zu is %02x, not %02x\n",
                    w->rank, w->size, (int)c, yoke_element_name(element),
                    yoke_reduction_name(reduction), root, count, in_place, at,
                    (unsigned char)got[at], (unsigned char)want[at]);
            return 1;
        }
    }
    free(input);
    free(want);
    free(got);
    return 0;
}

static int refuse_one(world_t *w, yoke_collective_t c, yoke_element_t element,
                      yoke_reduction_t reduction, const char *why)
{
    RANK_CHECK(strlen(why) > 8 && strlen(why) < 128);
    RANK_CHECK(yoke_vendor_call(w->comm, c, w->send, w->recv, 1, element, reduction, 0,
                                w->queue) == YOKE_ERR_UNSUPPORTED);
    RANK_CHECK(strstr(yoke_last_error(), why) != NULL);
    return 0;
}

/* All elements and reductions. */
static int try_all(world_t *w, yoke_collective_t c, int *done)
{
    char why[128];
    int failed = 0, number = 0;
    for (int e = 0; e < YOKE_ELEMENT_COUNT; e++)
        for (int r = 0; r < (reduces(c) ? YOKE_REDUCTION_COUNT : 1); r++) {
            yoke_element_t element = (yoke_element_t)e;
            yoke_reduction_t reduction = (yoke_reduction_t)r;
            int root = (e + r) % w->size;
            if (!yoke_vendor_can(w->vendor, c, element, reduction, why)) {
                failed += refuse_one(w, c, element, reduction, why);
                continue;
            }
            failed += try_one(w, c, element, reduction, root, 7, 0);
            number++;
            if (failed > 0)
                return failed;
        }
    *done += number;
    return failed;
}

/* Zero, one, many, more than a pipe of the fakes holds, in place. */
static int try_sizes(world_t *w, yoke_collective_t c)
{
    static const int counts[] = {0, 1, 1009, 40000};
    int failed = 0;
    if (!yoke_vendor_can(w->vendor, c, YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, NULL))
        return 0;
    for (size_t i = 0; i < sizeof counts / sizeof *counts && failed == 0; i++)
        for (int in_place = 0; in_place < 2 && failed == 0; in_place++) {
            bool not = in_place && c == YOKE_COLLECTIVE_ALL_TO_ALL && counts[i] > 0;
            if (not )
                RANK_CHECK(yoke_vendor_call(w->comm, c, w->recv, w->recv,
                                            (uint64_t)counts[i], YOKE_ELEMENT_F32,
                                            YOKE_REDUCE_SUM, 0,
                                            w->queue) == YOKE_ERR_UNSUPPORTED);
            else if (counts[i] > 0)
                failed = try_one(w, c, YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, w->size - 1,
                                 counts[i], in_place);
            else
                RANK_CHECK(yoke_vendor_call(w->comm, c, NULL, NULL, 0, YOKE_ELEMENT_F32,
                                            YOKE_REDUCE_SUM, 0, w->queue) == YOKE_OK);
        }
    return failed;
}

/* Each sends to the next and takes from the one before, in a group: forwards it would
 * stand still. Then a chain without one. */
static int try_ring(world_t *w, yoke_element_t element)
{
    char why[128];
    int count = 20000, next = (w->rank + 1) % w->size, last = (w->rank + w->size - 1);
    size_t size = yoke_element_size(element), bytes = (size_t)count * size;
    char *numbers = malloc(bytes), *got = malloc(bytes);
    last %= w->size;
    if (!yoke_vendor_can(w->vendor, YOKE_COLLECTIVE_SEND_RECV, element, 0, why) ||
        w->size == 1) {
        free(numbers);
        free(got);
        return 0;
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < count; i++)
            number_put(numbers + (size_t)i * size, element,
                       2 * number_given(YOKE_REDUCE_MAX, element, w->rank, i));
        RANK_CHECK(world_write(w, false, numbers, bytes) == YOKE_OK);
        bool gives = round == 0 || w->rank < w->size - 1;
        bool takes = round == 0 || w->rank > 0;
        if (round == 0)
            RANK_CHECK(yoke_vendor_group_begin(w->comm) == YOKE_OK);
        if (gives && round == 0)
            RANK_CHECK(yoke_vendor_call(w->comm, YOKE_COLLECTIVE_SEND_RECV, w->send, NULL,
                                        (uint64_t)count, element, 0, next,
                                        w->queue) == YOKE_OK);
        if (takes)
            RANK_CHECK(yoke_vendor_call(w->comm, YOKE_COLLECTIVE_SEND_RECV, NULL, w->recv,
                                        (uint64_t)count, element, 0, last,
                                        w->queue) == YOKE_OK);
        if (gives && round == 1)
            RANK_CHECK(yoke_vendor_call(w->comm, YOKE_COLLECTIVE_SEND_RECV, w->send, NULL,
                                        (uint64_t)count, element, 0, next,
                                        w->queue) == YOKE_OK);
        if (round == 0)
            RANK_CHECK(yoke_vendor_group_end(w->comm) == YOKE_OK);
        RANK_CHECK(world_sync(w) == YOKE_OK);
        for (int i = 0; i < count; i++)
            number_put(numbers + (size_t)i * size, element,
                       2 * number_given(YOKE_REDUCE_MAX, element, last, i));
        RANK_CHECK(world_read(w, got, bytes) == YOKE_OK);
        RANK_CHECK(!takes || memcmp(got, numbers, bytes) == 0);
    }
    free(numbers);
    free(got);
    return 0;
}

static int run_rank(int rank, int size, void *context)
{
    const job_t *job = context;
    world_t w;
    int done = 0, failed = 0;
    alarm(60); /* a rank that failed leaves the others waiting for it */
    RANK_CHECK(world_open(&w, job->runtime, rank, size) == YOKE_OK);
    RANK_CHECK(world_join(&w, 30000) == YOKE_OK);
    for (int c = YOKE_COLLECTIVE_BROADCAST; c < YOKE_COLLECTIVE_SEND_RECV; c++) {
        failed += try_all(&w, (yoke_collective_t)c, &done);
        if (failed == 0)
            failed += try_sizes(&w, (yoke_collective_t)c);
        RANK_CHECK(failed == 0);
    }
    for (int e = 0; e < YOKE_ELEMENT_COUNT; e++)
        RANK_CHECK(try_ring(&w, (yoke_element_t)e) == 0);
    yoke_test_meet();
    world_close(&w);
    if (rank == 0)
        *job->done = done;
    return 0;
}

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    job_t job = {arguments[1], yoke_test_shared(sizeof(int))};
    int failed = 0, wanted = count > 2 ? atoi(arguments[2]) : 0;
    for (int n = 1; n <= 4 && failed == 0; n++) {
        *job.done = 0;
        failed += yoke_test_ranks(n, run_rank, &job);
        printf("%s: %d ranks, %d combinations\n", job.runtime, n, *job.done);
        if (wanted > 0 && *job.done != wanted) {
            fprintf(stderr, "not the %d that must work\n", wanted);
            failed++;
        }
    }
    return failed > 0;
}
