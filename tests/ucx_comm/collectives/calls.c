/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, counts and checks of one call on all its ranks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/ucx_comm/collectives/calls.h"
#include "tests/ucx_comm/collectives/reference.h"
#include "tests/ucx_comm/collectives/simulate.h"

#define GUARD 64

bool call_reduces(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE ||
           collective == YOKE_COLLECTIVE_ALL_REDUCE ||
           collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

static yoke_shape_t shape_of(const call_t *call, int rank)
{
    yoke_shape_t shape = call->shape;
    shape.rank = rank;
    if (!call->irregular)
        return shape;
    if (shape.collective == YOKE_COLLECTIVE_ALL_TO_ALL) {
        shape.send_counts = call->send_counts[rank];
        shape.send_displacements = call->send_displacements[rank];
        shape.counts = call->recv_counts[rank];
        shape.displacements = call->recv_displacements[rank];
    } else {
        shape.counts = call->counts;
        shape.displacements = call->displacements;
    }
    return shape;
}

void call_draw_counts(call_t *call, uint64_t *random)
{
    int n = call->shape.size;
    uint64_t most = call->shape.count + 1, at = 0;
    bool gaps = call->shape.collective != YOKE_COLLECTIVE_REDUCE_SCATTER;
    for (int i = 0; i < n; i++) {
        call->counts[i] =
            reference_random(random) % 3 == 0 ? 0 : reference_random(random) % most;
        call->displacements[i] = at;
        at += call->counts[i] + (gaps ? reference_random(random) % 3 : 0);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            call->send_counts[i][j] = call->recv_counts[j][i] =
                reference_random(random) % 3 == 0 ? 0 : reference_random(random) % most;
    for (int i = 0; i < n; i++) {
        uint64_t sent = 0, received = 0;
        for (int j = 0; j < n; j++) {
            call->send_displacements[i][j] = sent;
            sent += call->send_counts[i][j] + 1;
            call->recv_displacements[i][j] = received;
            received += call->recv_counts[i][j] + 1;
        }
    }
}

static uint64_t blocks_end(const yoke_shape_t *shape, bool sends)
{
    uint64_t end = 0;
    for (int i = 0; i < shape->size; i++) {
        uint64_t last = sends ? yoke_send_offset(shape, i) + yoke_send_size(shape, i)
                              : yoke_block_offset(shape, i) + yoke_block_size(shape, i);
        end = last > end ? last : end;
    }
    return end;
}

static void sizes_of(const yoke_shape_t *shape, uint64_t *out_send, uint64_t *out_recv)
{
    uint64_t blocks = blocks_end(shape, false);
    uint64_t own = yoke_block_size(shape, shape->rank);
    *out_send = *out_recv = yoke_shape_bytes(shape);
    switch (shape->collective) {
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
    case YOKE_COLLECTIVE_SCATTER:
        *out_send = blocks;
        *out_recv = own;
        break;
    case YOKE_COLLECTIVE_ALL_GATHER:
    case YOKE_COLLECTIVE_GATHER:
        *out_send = own;
        *out_recv = blocks;
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        *out_send = blocks_end(shape, true);
        *out_recv = blocks;
        break;
    default:
        break;
    }
}

/* Where this rank's block is in the larger buffer of an in-place call; 0 for vectors. */
static uint64_t own_offset(const yoke_shape_t *shape)
{
    switch (shape->collective) {
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
    case YOKE_COLLECTIVE_SCATTER:
    case YOKE_COLLECTIVE_ALL_GATHER:
    case YOKE_COLLECTIVE_GATHER:
        return yoke_block_offset(shape, shape->rank);
    default:
        return 0;
    }
}

static char *guarded(uint64_t size)
{
    char *memory = malloc(size + 2 * GUARD);
    assert_non_null(memory);
    memset(memory, 0xa5, size + 2 * GUARD);
    return memory + GUARD;
}

static void check_guards(const char *memory, uint64_t size)
{
    for (int i = 1; i <= GUARD; i++) {
        assert_int_equal((unsigned char)memory[-i], 0xa5);
        assert_int_equal((unsigned char)memory[size + (uint64_t)i - 1], 0xa5);
    }
}

static void make_buffers(call_t *call)
{
    for (int r = 0; r < call->shape.size; r++) {
        yoke_shape_t shape = shape_of(call, r);
        uint64_t send, recv, unit = yoke_element_size(shape.element);
        sizes_of(&shape, &send, &recv);
        call->input[r] = malloc(send + 1);
        reference_fill(call->input[r], send / unit, shape.element, shape.reduction, r,
                       call->seed, call->random);
        if (shape.collective == YOKE_COLLECTIVE_BROADCAST) {
            call->recv[r] = guarded(recv);
            if (r == shape.root)
                memcpy(call->recv[r], call->input[r], recv);
            continue;
        }
        if (!shape.in_place) {
            call->send[r] = guarded(send);
            call->recv[r] = guarded(recv);
            memcpy(call->send[r], call->input[r], send);
            continue;
        }
        /* One buffer: the larger one; the smaller is a part of it. */
        uint64_t whole = send > recv ? send : recv, at = own_offset(&shape);
        char *memory = guarded(whole);
        bool gathers = shape.collective == YOKE_COLLECTIVE_ALL_GATHER ||
                       shape.collective == YOKE_COLLECTIVE_GATHER;
        call->send[r] = gathers ? memory + at : memory;
        call->recv[r] = gathers ? memory : memory + at;
        memcpy(call->send[r], call->input[r], send);
    }
}

static void free_buffers(call_t *call)
{
    for (int r = 0; r < call->shape.size; r++) {
        yoke_shape_t shape = shape_of(call, r);
        uint64_t send, recv, at = own_offset(&shape);
        sizes_of(&shape, &send, &recv);
        char *lowest = call->recv[r];
        if (shape.in_place && call->send[r] < lowest)
            lowest = call->send[r];
        (void)at;
        if (!shape.in_place && call->send[r] != NULL) {
            assert_memory_equal(call->send[r], call->input[r], send);
            check_guards(call->send[r], send);
            free(call->send[r] - GUARD);
        }
        uint64_t whole = shape.in_place && send > recv ? send : recv;
        check_guards(lowest, whole);
        free(lowest - GUARD);
        free(call->input[r]);
    }
}

/* Element `i` of what rank `r` must have; for reductions through the reference. */
static void check_reduced(const call_t *call, int r, uint64_t from, uint64_t count)
{
    const void *inputs[MOST];
    const yoke_shape_t *shape = &call->shape;
    for (int i = 0; i < shape->size; i++)
        inputs[i] = call->input[i];
    for (uint64_t i = 0; i < count; i++) {
        reference_t right = reference_reduce(inputs, shape->size, from + i,
                                             shape->element, shape->reduction);
        if (!call->random && !right.exact_bits && shape->reduction != YOKE_REDUCE_AVG)
            right.exact_bits = true;
        if (!reference_right(call->recv[r], i, shape->element, &right))
            fail_msg("%s %s of %s %s, %d ranks, count %llu, chunk %llu, root %d, %s%s: "
                     "rank %d element %llu is %Lg, not %Lg (+-%Lg)",
                     yoke_algorithm_name(shape->algorithm),
                     yoke_collective_name(shape->collective),
                     yoke_reduction_name(shape->reduction),
                     yoke_element_name(shape->element), shape->size,
                     (unsigned long long)shape->count, (unsigned long long)shape->chunk,
                     shape->root, shape->in_place ? "in place" : "",
                     call->irregular ? " v" : "", r, (unsigned long long)(from + i),
                     reference_get(call->recv[r], i, shape->element), right.value,
                     right.slack);
    }
}

static void check_block(const call_t *call, int r, uint64_t at, const char *right,
                        uint64_t size)
{
    const yoke_shape_t *shape = &call->shape;
    if (memcmp(call->recv[r] + at, right, size) != 0)
        fail_msg("%s %s, %d ranks, count %llu, chunk %llu, root %d, %s%s: rank %d has "
                 "wrong bytes at %llu",
                 yoke_algorithm_name(shape->algorithm),
                 yoke_collective_name(shape->collective), shape->size,
                 (unsigned long long)shape->count, (unsigned long long)shape->chunk,
                 shape->root, shape->in_place ? "in place" : "",
                 call->irregular ? " v" : "", r, (unsigned long long)at);
}

static void check_rank(const call_t *call, int r)
{
    yoke_shape_t shape = shape_of(call, r);
    uint64_t unit = yoke_element_size(shape.element);
    switch (shape.collective) {
    case YOKE_COLLECTIVE_BROADCAST:
        check_block(call, r, 0, call->input[shape.root], yoke_shape_bytes(&shape));
        break;
    case YOKE_COLLECTIVE_REDUCE:
        if (r == shape.root)
            check_reduced(call, r, 0, shape.count);
        break;
    case YOKE_COLLECTIVE_ALL_REDUCE:
        check_reduced(call, r, 0, shape.count);
        if (memcmp(call->recv[r], call->recv[0], yoke_shape_bytes(&shape)) != 0)
            fail_msg("%s: ranks 0 and %d differ", yoke_algorithm_name(shape.algorithm),
                     r);
        break;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        check_reduced(call, r, yoke_block_offset(&shape, r) / unit,
                      yoke_block_size(&shape, r) / unit);
        break;
    case YOKE_COLLECTIVE_GATHER:
    case YOKE_COLLECTIVE_ALL_GATHER:
        if (shape.collective == YOKE_COLLECTIVE_GATHER && r != shape.root)
            break;
        for (int i = 0; i < shape.size; i++)
            check_block(call, r, yoke_block_offset(&shape, i), call->input[i],
                        yoke_block_size(&shape, i));
        break;
    case YOKE_COLLECTIVE_SCATTER:
        check_block(call, r, 0, call->input[shape.root] + yoke_block_offset(&shape, r),
                    yoke_block_size(&shape, r));
        break;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        for (int i = 0; i < shape.size; i++) {
            yoke_shape_t theirs = shape_of(call, i);
            check_block(call, r, yoke_block_offset(&shape, i),
                        call->input[i] + yoke_send_offset(&theirs, r),
                        yoke_block_size(&shape, i));
        }
        break;
    default:
        break;
    }
}

bool call_run(call_t *call)
{
    simulated_rank_t ranks[MOST] = {0};
    int n = call->shape.size;
    for (int r = 0; r < n; r++) {
        yoke_shape_t shape = shape_of(call, r);
        if (yoke_builder_find(&shape) == NULL)
            return false; /* not this shape: the same answer on all ranks */
    }
    make_buffers(call);
    for (int r = 0; r < n; r++) {
        yoke_shape_t shape = shape_of(call, r);
        assert_int_equal(yoke_schedule_build(&shape, &ranks[r].schedule), YOKE_OK);
        ranks[r].base[YOKE_REGION_SEND] = call->send[r];
        ranks[r].base[YOKE_REGION_RECV] = call->recv[r];
    }
    const char *wrong = simulate(ranks, n, call->seed);
    if (wrong != NULL)
        fail_msg("%s %s, %d ranks, count %llu, chunk %llu, root %d%s: %s",
                 yoke_algorithm_name(call->shape.algorithm),
                 yoke_collective_name(call->shape.collective), n,
                 (unsigned long long)call->shape.count,
                 (unsigned long long)call->shape.chunk, call->shape.root,
                 call->irregular ? " v" : "", wrong);
    for (int r = 0; r < n; r++) {
        check_rank(call, r);
        yoke_schedule_free(ranks[r].schedule);
    }
    free_buffers(call);
    return true;
}
