/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_SCHEDULE_H
#define YOKE_COMM_SCHEDULE_H

/*
 * A collective as one rank's graph of steps. Builders (one file an algorithm) make it
 * from the call's parameters alone, without a transport, so that tests run them on any
 * number of ranks inside one process. The engine (engine.h) starts every step whose
 * predecessors have ended. Ranges are bytes.
 */

#include "ucx_comm/transport/transport.h"

typedef enum yoke_region {
    YOKE_REGION_SEND = 0, /* the caller's input; in place: equal to RECV's memory */
    YOKE_REGION_RECV = 1, /* the caller's output */
    YOKE_REGION_SCRATCH = 2,
    YOKE_REGION_COUNT
} yoke_region_t;

typedef struct yoke_range {
    yoke_region_t region;
    uint64_t offset;
} yoke_range_t;

static inline yoke_range_t yoke_range(yoke_region_t region, uint64_t offset)
{
    yoke_range_t range = {region, offset};
    return range;
}

typedef enum yoke_step_kind {
    YOKE_STEP_SEND,
    YOKE_STEP_RECEIVE,
    YOKE_STEP_RECEIVE_REDUCE, /* to = from op what comes */
    YOKE_STEP_COPY,           /* to = from */
    YOKE_STEP_REDUCE,         /* to = to op from */
    YOKE_STEP_REDUCE_MANY,    /* to = op over several ranges, in their order */
    YOKE_STEP_SCALE,          /* to = to / ranks, for AVG */
} yoke_step_kind_t;

typedef struct yoke_schedule yoke_schedule_t;
typedef int yoke_step_t; /* index; -1 where making one failed (the schedule keeps why) */

yoke_schedule_t *yoke_schedule_create(yoke_element_t element, yoke_reduction_t reduction,
                                      unsigned ranks);
void yoke_schedule_free(yoke_schedule_t *schedule);
/* YOKE_OK, or YOKE_ERR_NO_MEMORY that came while it was built */
yoke_status_t yoke_schedule_status(const yoke_schedule_t *schedule);

/* `channel` tells the messages of one pair of ranks apart; both sides give the same, and
 * each of them once: two messages of a pair in one direction never share one. */
yoke_step_t yoke_schedule_send(yoke_schedule_t *schedule, int peer, uint32_t channel,
                               yoke_range_t from, uint64_t size);
yoke_step_t yoke_schedule_receive(yoke_schedule_t *schedule, int peer, uint32_t channel,
                                  yoke_range_t to, uint64_t size);
yoke_step_t yoke_schedule_receive_reduce(yoke_schedule_t *schedule, int peer,
                                         uint32_t channel, yoke_range_t to,
                                         yoke_range_t from, uint64_t size);
yoke_step_t yoke_schedule_copy(yoke_schedule_t *schedule, yoke_range_t to,
                               yoke_range_t from, uint64_t size);
yoke_step_t yoke_schedule_reduce(yoke_schedule_t *schedule, yoke_range_t to,
                                 yoke_range_t from, uint64_t size);
/* to = op over from[0..n), each of `size` bytes; f16, bf16 and fp8 round once. AVG is
 * divided too: no yoke_schedule_scale() after it. */
yoke_step_t yoke_schedule_reduce_many(yoke_schedule_t *schedule, yoke_range_t to,
                                      const yoke_range_t *from, unsigned n,
                                      uint64_t size);
/* The same, of ranges that are not all there is to reduce: AVG is not divided. */
yoke_step_t yoke_schedule_reduce_some(yoke_schedule_t *schedule, yoke_range_t to,
                                      const yoke_range_t *from, unsigned n,
                                      uint64_t size);
/* Nothing where the reduction is not AVG: returns -1 then. */
yoke_step_t yoke_schedule_scale(yoke_schedule_t *schedule, yoke_range_t to,
                                uint64_t size);
/* A REDUCE or RECEIVE_REDUCE step takes its operands the other way round (what comes is
 * the left one): where two ranks reduce the same data, both must do it in one order. */
void yoke_schedule_flip(yoke_schedule_t *schedule, yoke_step_t step);
/* `step` starts after `before` has ended; -1 for either is ignored. A step depends on
 * earlier ones only: before < step. */
void yoke_schedule_after(yoke_schedule_t *schedule, yoke_step_t step, yoke_step_t before);
/* Bytes of scratch, page-aligned: the highest end that is asked for. */
void yoke_schedule_scratch(yoke_schedule_t *schedule, uint64_t size);

/* --- for those who run it ---------------------------------------------------------- */

/* The builder is done: links predecessors to successors, and numbers the channels of each
 * pair and direction from 0, so that the first messages of two calls that disagree meet
 * and show it. */
yoke_status_t yoke_schedule_seal(yoke_schedule_t *schedule);

typedef struct yoke_step_data {
    yoke_step_kind_t kind;
    bool flipped;
    bool partial; /* REDUCE_MANY: AVG is not divided */
    int peer;
    uint32_t channel;
    uint32_t message;          /* number among the steps that send or receive */
    uint32_t waits_for;        /* predecessors */
    uint32_t next, next_count; /* successors: schedule->successors[next...] */
    uint32_t many, many_count; /* REDUCE_MANY: schedule->ranges[many...] */
    yoke_range_t to, from;
    uint64_t size;
} yoke_step_data_t;

struct yoke_schedule {
    yoke_element_t element;
    yoke_reduction_t reduction;
    unsigned ranks;
    yoke_status_t status;
    yoke_step_data_t *steps;
    uint32_t count, capacity;
    uint32_t messages; /* steps that send or receive */
    struct yoke_edge {
        int before, step;
    } * edges;
    uint32_t edge_count, edge_capacity;
    int *successors;
    yoke_range_t *ranges;
    uint32_t range_count, range_capacity;
    uint64_t scratch;
};

#endif
