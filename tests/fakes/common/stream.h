/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_STREAM_H
#define YOKE_TESTS_FAKES_COMMON_STREAM_H

/*
 * Streams whose work is done later, by a thread of the library, so that a program which
 * forgets to wait sees old data. Work starts when all before it in its stream has ended,
 * what it waits for is reached, and either the card's latency has passed since it was
 * enqueued or somebody waits for it or has asked about it. Nothing is allocated when work
 * of up to FAKE_INLINE bytes is enqueued. Threads: any.
 */

#include "config.h"

#define FAKE_INLINE 512

typedef struct fake_stream fake_stream_t;
typedef struct fake_mark fake_mark_t; /* a point in a stream; reference counted */

/* CUDA's legacy default stream: its work waits for all earlier work of the joining
 * streams of its group, and theirs for its. */
typedef enum fake_stream_kind {
    FAKE_STREAM_FREE,    /* non-blocking */
    FAKE_STREAM_JOINING, /* joins the null stream of its group */
    FAKE_STREAM_NULL
} fake_stream_kind_t;

/* `group`: the context, or whatever fake_group_wait() is to wait for. */
fake_stream_t *fake_stream_create(fake_card_t *card, const void *group,
                                  fake_stream_kind_t kind);
/* Returns at once; the stream ends when its work has. */
void fake_stream_destroy(fake_stream_t *stream);
fake_card_t *fake_stream_card(const fake_stream_t *stream);

/* Enqueue run(data); `size` bytes of data are copied. Not run when the card is lost by
 * then. */
void fake_stream_push(fake_stream_t *stream, void (*run)(void *data), const void *data,
                      size_t size);
/* The same for a host function, which may block: it is called on another thread, one for
 * all streams, and does not hold up other streams' work. */
void fake_stream_push_host(fake_stream_t *stream, void (*run)(void *data),
                           const void *data, size_t size);
/* Enqueue a wait until ready(data) is true; it is asked every 50 microseconds. */
void fake_stream_push_poll(fake_stream_t *stream, bool (*ready)(void *data),
                           const void *data, size_t size);
/* Enqueue a wait for a mark of any stream of this library; NULL waits for nothing. */
void fake_stream_push_wait(fake_stream_t *stream, fake_mark_t *mark);
/* Enqueue a point; the caller gets a reference. */
fake_mark_t *fake_stream_push_mark(fake_stream_t *stream);

fake_mark_t *fake_mark_retain(fake_mark_t *mark);
void fake_mark_release(fake_mark_t *mark);
bool fake_mark_done(fake_mark_t *mark);
void fake_mark_wait(fake_mark_t *mark);
/* False: `nanoseconds` passed without it. */
bool fake_mark_wait_for(fake_mark_t *mark, int64_t nanoseconds);
/* When it was reached, CLOCK_MONOTONIC; 0 before. */
int64_t fake_mark_time(fake_mark_t *mark);

/* All that is enqueued now has ended. */
bool fake_stream_idle(fake_stream_t *stream);
void fake_stream_wait(fake_stream_t *stream);
bool fake_stream_wait_for(fake_stream_t *stream, int64_t nanoseconds);
bool fake_group_idle(const void *group);
void fake_group_wait(const void *group);
void fake_card_wait(const fake_card_t *card);

/* Look at the cards again: one was lost. */
void fake_stream_wake(void);
int64_t fake_now(void); /* nanoseconds, CLOCK_MONOTONIC */

#endif
