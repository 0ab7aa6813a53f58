/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_SHARED_PARTS_H
#define YOKE_COMM_SHARED_PARTS_H

/*
 * The shared memory, and what a rank keeps of it.
 *
 * Every rank has an outbox: a ring of slots, one a call. At the start of each call a rank
 * writes there what it calls (so that ranks which disagree find out) and, where all of it
 * fits, its data. A slot is written again SLOTS calls later, when all others are known to
 * have started the call after the one that it was for.
 *
 * What does not fit is streamed in chunks: through a channel for each ordered pair of
 * ranks, and through a multicast ring of each rank which all others read. Both are rings
 * of CHUNKS chunks that stay in the caches. Their counters never go back; every call
 * moves the same number of chunks on both sides.
 */

#include "ucx_comm/collectives/shared/shared.h"

#define LINE 64
#define SLOTS 8
#define SLOT_DATA 8232
#define CHUNKS 4
#define CHUNK_INFO 64 /* bytes before a chunk's data */
#define PULL_PIECE ((uint64_t)256 << 10)

typedef struct slot {
    _Atomic uint64_t sequence; /* of the call; written last */
    uint64_t count;
    uint64_t what; /* root, collective, element, reduction */
    unsigned char data[SLOT_DATA];
} slot_t;

typedef struct counter {
    _Alignas(LINE) _Atomic uint64_t value;
} counter_t;

/* What stands before the data of a chunk. */
typedef struct chunk_info {
    uint64_t sequence; /* of the call */
    uint64_t size;     /* of the whole lane */
} chunk_info_t;

/* What a rank sleeps on. */
typedef struct bell {
    _Alignas(LINE) _Atomic uint32_t rung;
} bell_t;

/* Where a rank runs; rarely written. */
typedef struct seat {
    _Alignas(LINE) _Atomic int cpu;
} seat_t;

/* Where another rank may read what is for it: in the slot, one for each rank. */
typedef struct offer {
    uint64_t address, size;
} offer_t;

/* Offsets into the memory, by the number of ranks. */
typedef struct layout {
    uint64_t bells, seats, pulled, outboxes, channels, rings;
    uint64_t chunk;   /* bytes of data, most */
    uint64_t channel; /* bytes of one: head, tail, chunks */
    uint64_t ring;    /* head, tails, chunks */
    uint64_t size;
} layout_t;

layout_t yoke_shared_layout(int ranks);

/* A stream of this call: through a channel or a ring, or within this rank. */
typedef struct lane {
    const unsigned char *from; /* what goes out; NULL: comes in, or is made */
    unsigned char *to;
    uint64_t size, done; /* bytes */
    uint64_t chunks;     /* that are still to go */
    bool pull;           /* in: read from the other's memory; out: the other reads it */
} lane_t;

/* One owner's reduction of the call: the chunks of all others, and its own. */
typedef struct fold {
    const unsigned char *own;
    unsigned char *to;
    uint64_t size, done, chunks;
    bool share; /* the result goes into this rank's ring as well */
} fold_t;

typedef enum phase {
    PHASE_NONE,
    PHASE_ROOM,   /* waits until its slot may be written */
    PHASE_INLINE, /* waits for the others' slots */
    PHASE_STREAM
} phase_t;

struct yoke_shared {
    unsigned char *base;
    layout_t layout;
    int ranks, me;
    const _Atomic uint32_t *state;
    int numbers[YOKE_SHARED_RANKS];
    bool can_pull;
    int pids[YOKE_SHARED_RANKS];
    _Atomic uint64_t *sleepers; /* a bit a rank */
    int cpu;                    /* what the seat says */
    uint64_t spread_again;      /* milliseconds; not before */
    bool shares;                /* another rank sat there when this one began to wait */
    unsigned waited;            /* rounds since something moved */
    bool announced;             /* this rank's bit is in sleepers */
    uint32_t heard;             /* its bell, before it looked again */
    uint64_t stream_from;       /* bytes that are written past the caches from here */
    unsigned char *bounce;      /* a chunk, when a result goes past the caches */

    /* of all calls */
    uint64_t sequence;
    uint64_t started[YOKE_SHARED_RANKS]; /* calls that each rank is known to have begun */
    uint64_t slowest;                    /* least of started[], or less */
    uint64_t sent[YOKE_SHARED_RANKS], taken[YOKE_SHARED_RANKS]; /* chunks: channels */
    uint64_t room[YOKE_SHARED_RANKS]; /* channel tails as last seen */
    uint64_t cast_sent, cast_room;    /* own ring */
    uint64_t cast_taken[YOKE_SHARED_RANKS];
    bool failed; /* a call has ended with an error */

    /* of the call under way */
    phase_t phase;
    yoke_shared_call_t call;
    uint64_t size; /* of an element */
    uint64_t count, what;
    bool inlined;
    bool past_caches;
    bool in_place_exchange;
    bool offers;      /* the slots say where data are, and how much */
    uint64_t pullers; /* ranks that read this one's memory; a bit each */
    uint64_t needed;  /* ranks whose slots are still waited for; a bit each */
    uint64_t met;     /* ranks whose slot was compared */
    uint64_t chunk;   /* bytes of this call's chunks */
    yoke_status_t pull_status;
    int open; /* lanes that are not at their end */
    lane_t out[YOKE_SHARED_RANKS], in[YOKE_SHARED_RANKS], cast_in[YOKE_SHARED_RANKS];
    lane_t cast_out, own;
    fold_t fold;
};

/* --- places ------------------------------------------------------------------------- */

static inline slot_t *slot_of(const yoke_shared_t *s, int rank, uint64_t sequence)
{
    slot_t *slots = (slot_t *)(void *)(s->base + s->layout.outboxes);
    return &slots[(uint64_t)rank * SLOTS + sequence % SLOTS];
}

static inline counter_t *channel_of(const yoke_shared_t *s, int from, int to)
{
    const uint64_t number = (uint64_t)from * (uint64_t)s->ranks + (uint64_t)to;
    return (counter_t *)(void *)(s->base + s->layout.channels +
                                 number * s->layout.channel);
}

/* The last call of which a rank has read all that it pulls. */
static inline counter_t *pulled_of(const yoke_shared_t *s, int rank)
{
    return (counter_t *)(void *)(s->base + s->layout.pulled) + rank;
}

static inline counter_t *ring_of(const yoke_shared_t *s, int from)
{
    return (counter_t *)(void *)(s->base + s->layout.rings +
                                 (uint64_t)from * s->layout.ring);
}

/* Chunk number `at` after `counters` lines. */
static inline chunk_info_t *chunk_of(const yoke_shared_t *s, counter_t *ring,
                                     int counters, uint64_t at)
{
    unsigned char *chunks = (unsigned char *)(ring + counters);
    return (chunk_info_t *)(void *)(chunks +
                                    at % CHUNKS * (CHUNK_INFO + s->layout.chunk));
}

static inline unsigned char *chunk_data(chunk_info_t *info)
{
    return (unsigned char *)info + CHUNK_INFO;
}

/* --- steps -------------------------------------------------------------------------- */

/* Wake `rank`, or all others (-1), where they sleep. */
void yoke_shared_ring_bell(yoke_shared_t *s, int rank);

static inline void wake(yoke_shared_t *s, int rank)
{
    if (__builtin_expect(atomic_load_explicit(s->sleepers, memory_order_relaxed) != 0, 0))
        yoke_shared_ring_bell(s, rank);
}

/* Something has moved: patience begins anew. */
void yoke_shared_moved(yoke_shared_t *s);

/* Has `rank` begun this call? YOKE_OK: yes, and it is the same one; NOT_READY; MISMATCH
 */
yoke_status_t yoke_shared_meet(yoke_shared_t *s, int rank);

/* Bytes of rank r's block, and where it starts in the blocks of all (elements). */
uint64_t yoke_shared_count_of(const uint64_t *counts, uint64_t count, int rank);
uint64_t yoke_shared_start_of(const uint64_t *counts, const uint64_t *displacements,
                              uint64_t count, int rank);

/* What this rank has to write for the call to be inlined; the same answer on all ranks.
 */
bool yoke_shared_fits_inline(const yoke_shared_t *s);
/* ranks whose slots this one reads: bits */
uint64_t yoke_shared_inline_needs(const yoke_shared_t *s);
void yoke_shared_inline_write(yoke_shared_t *s, slot_t *slot);
void yoke_shared_inline_read(yoke_shared_t *s);

/* What this rank offers to the others, written into its slot. */
void yoke_shared_offer(const yoke_shared_t *s, slot_t *slot);
/* Is what `rank` offers of the size that is expected? */
bool yoke_shared_offer_fits(const yoke_shared_t *s, int rank);
/* The next piece of a lane that pulls. NOT_READY: `from` has not come */
yoke_status_t yoke_shared_pull(yoke_shared_t *s, int from);
/* This rank has read all; have those that read its memory? YOKE_OK or NOT_READY */
yoke_status_t yoke_shared_pulled(yoke_shared_t *s);

/* Lanes of the call. */
void yoke_shared_plan(yoke_shared_t *s);
yoke_status_t yoke_shared_stream(yoke_shared_t *s);

/* dst may be past the caches. They do not overlap, or are the same. */
void yoke_shared_copy(void *dst, const void *src, uint64_t size, bool past_caches);

#endif
