/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairwise: in round i rank r sends to r + i and receives from r - i; a few rounds are
 * under way at once. All-to-all and reduce-scatter take (n-1) a + (n-1)/n M b. A
 * reduce-scatter adds up in the order rank, rank - 1, ...: f16, bf16 and fp8 are rounded
 * at every addition.
 */

#include "ucx_comm/collectives/builders.h"

static void all_to_all(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    int n = shape->size;
    yoke_region_t from = YOKE_REGION_SEND;
    yoke_step_t moved = -1;
    if (shape->in_place) {
        uint64_t end = 0;
        for (int i = 0; i < n; i++) {
            uint64_t last = yoke_send_offset(shape, i) + yoke_send_size(shape, i);
            end = last > end ? last : end;
        }
        yoke_schedule_scratch(schedule, end);
        moved = yoke_schedule_copy(schedule, IN_SCRATCH(0), IN_SEND(0), end);
        from = YOKE_REGION_SCRATCH;
    }
    yoke_step_t *ends = yoke_steps_new(schedule, 2 * (uint64_t)n);
    for (int i = 1; ends != NULL && i < n; i++) {
        int to = (shape->rank + i) % n, source = (shape->rank - i + n) % n;
        yoke_step_t *end = ends + 2 * i;
        end[0] = yoke_schedule_receive(schedule, source, 0,
                                       IN_RECV(yoke_block_offset(shape, source)),
                                       yoke_block_size(shape, source));
        end[1] = yoke_schedule_send(schedule, to, 0,
                                    yoke_range(from, yoke_send_offset(shape, to)),
                                    yoke_send_size(shape, to));
        for (int k = 0; k < 2; k++) {
            yoke_schedule_after(schedule, end[k], moved);
            if (i > WINDOW) {
                yoke_schedule_after(schedule, end[k], ends[2 * (i - WINDOW)]);
                yoke_schedule_after(schedule, end[k], ends[2 * (i - WINDOW) + 1]);
            }
        }
    }
    free(ends);
    yoke_step_t own =
        yoke_schedule_copy(schedule, IN_RECV(yoke_block_offset(shape, shape->rank)),
                           yoke_range(from, yoke_send_offset(shape, shape->rank)),
                           yoke_block_size(shape, shape->rank));
    yoke_schedule_after(schedule, own, moved);
}

static void reduce_scatter(const yoke_shape_t *shape, yoke_schedule_t *schedule)
{
    int n = shape->size;
    uint64_t own = yoke_block_size(shape, shape->rank);
    yoke_range_t from = IN_SEND(yoke_block_offset(shape, shape->rank));
    yoke_step_t last = -1;
    if (n == 1 && !shape->in_place)
        yoke_schedule_copy(schedule, IN_RECV(0), from, own);
    yoke_step_t *sent = yoke_steps_new(schedule, (uint64_t)n);
    for (int i = 1; sent != NULL && i < n; i++) {
        int to = (shape->rank + i) % n, source = (shape->rank - i + n) % n;
        yoke_step_t came =
            yoke_schedule_receive_reduce(schedule, source, 0, IN_RECV(0), from, own);
        yoke_schedule_after(schedule, came, last);
        last = came;
        from = IN_RECV(0);
        sent[i] =
            yoke_schedule_send(schedule, to, 0, IN_SEND(yoke_block_offset(shape, to)),
                               yoke_block_size(shape, to));
        yoke_schedule_after(schedule, sent[i], i > WINDOW ? sent[i - WINDOW] : -1);
    }
    free(sent);
    yoke_schedule_after(schedule, yoke_schedule_scale(schedule, IN_RECV(0), own), last);
}

const yoke_builder_t yoke_pairwise_builders[] = {
    {YOKE_ALGORITHM_PAIRWISE, YOKE_COLLECTIVE_REDUCE_SCATTER, NULL, reduce_scatter},
    {YOKE_ALGORITHM_PAIRWISE, YOKE_COLLECTIVE_ALL_TO_ALL, NULL, all_to_all},
    {0},
};
