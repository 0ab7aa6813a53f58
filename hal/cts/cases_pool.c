/* SPDX-License-Identifier: Apache-2.0 */
/* The pool: size classes, split and merge, statistics, reuse in a queue's order, on
 * another queue, trim, out of memory. */
#include "hal/cts/case.h"

#define MIB ((uint64_t)1 << 20)

static void end_pool(void *object)
{
    yoke_pool_destroy(object);
}

static yoke_pool_t *make_pool(yoke_cts_t *t, uint64_t limit)
{
    yoke_pool_options_t options = {.struct_size = sizeof options, .limit = limit};
    yoke_pool_t *pool = NULL;
    OK(t, yoke_pool_create(yoke_cts_device(t), limit == 0 ? NULL : &options, &pool));
    CHECK(t, pool != NULL);
    yoke_cts_keep(t, pool, end_pool);
    return pool;
}

static yoke_pool_stats_t stats_of(yoke_cts_t *t, yoke_pool_t *pool)
{
    yoke_pool_stats_t stats = {.struct_size = sizeof stats};
    OK(t, yoke_pool_stats(pool, &stats));
    return stats;
}

static yoke_span_t take(yoke_cts_t *t, yoke_pool_t *pool, yoke_queue_t *queue,
                        uint64_t size)
{
    yoke_span_t span = {NULL, 0};
    OK(t, yoke_pool_allocate(pool, queue, size, &span));
    CHECK(t, span.buffer != NULL && span.offset % 512 == 0);
    CHECK(t, span.offset + size <= yoke_buffer_size(span.buffer));
    return span;
}

static bool same(yoke_span_t a, yoke_span_t b)
{
    return a.buffer == b.buffer && a.offset == b.offset;
}

/* parameter: bytes asked for; second: MiB that the pool then holds. */
static void size_class(yoke_cts_t *t)
{
    uint64_t size = (uint64_t)yoke_cts_parameter(t);
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    (void)take(t, pool, queue, size);
    yoke_pool_stats_t stats = stats_of(t, pool);
    EQUAL(t, (uint64_t)yoke_cts_second(t) * MIB, stats.reserved);
    /* The rest of a large block is split off only when it is worth it (1 MiB). */
    CHECK(t, stats.allocated >= (size + 511) / 512 * 512);
    CHECK(t, stats.allocated <= (size + 511) / 512 * 512 + MIB);
    EQUAL(t, size, stats.requested);
    EQUAL(t, 1, stats.segments);
    EQUAL(t, 1, stats.device_allocations);
    EQUAL(t, 1, stats.allocations);
}

static void usable(yoke_cts_t *t)
{
    static const uint64_t sizes[] = {1, 511, 513, 70000, 1 << 20, 3 << 20, 11 << 20};
    unsigned char data[511];
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_span_t spans[7];
    for (size_t i = 0; i < 7; i++) {
        size_t size = sizes[i] < 511 ? 1 : 511;
        spans[i] = take(t, pool, queue, sizes[i]);
        yoke_cts_noise(data, size, i);
        yoke_cts_put(t, queue, spans[i].buffer, spans[i].offset + sizes[i] - size, data,
                     size);
    }
    for (size_t i = 0; i < 7; i++) {
        size_t size = sizes[i] < 511 ? 1 : 511;
        yoke_cts_noise(data, size, i);
        EXPECT(t, queue, spans[i].buffer, spans[i].offset + sizes[i] - size, data, size);
    }
}

static void small_share_a_segment(yoke_cts_t *t)
{
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_span_t first = take(t, pool, queue, 1000);
    for (int i = 0; i < 100; i++) {
        yoke_span_t span = take(t, pool, queue, 1000);
        CHECK(t, span.buffer == first.buffer && !same(span, first));
    }
    yoke_pool_stats_t stats = stats_of(t, pool);
    EQUAL(t, 1, stats.segments);
    EQUAL(t, 101 * 1024, stats.allocated);
    EQUAL(t, 2 * MIB - 101 * 1024, stats.inactive_split);
}

/* No two that are handed out overlap, whatever the order of frees. */
static void random_work(yoke_cts_t *t)
{
    enum { MOST = 40 };
    yoke_span_t spans[MOST];
    uint64_t sizes[MOST], state = 160;
    size_t count = 0;
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    for (int step = 0; step < 1000; step++) {
        uint64_t r = yoke_cts_random(&state);
        if (count < MOST && (count == 0 || r % 2 == 0)) {
            sizes[count] = 1 + (r >> 8) % (r % 16 == 0 ? 4 * MIB : 100000);
            spans[count] = take(t, pool, queue, sizes[count]);
            for (size_t i = 0; i < count; i++)
                CHECK(t, spans[i].buffer != spans[count].buffer ||
                             spans[i].offset + sizes[i] <= spans[count].offset ||
                             spans[count].offset + sizes[count] <= spans[i].offset);
            count++;
        } else {
            size_t gone = (size_t)(r >> 8) % count;
            OK(t, yoke_pool_free(pool, spans[gone]));
            spans[gone] = spans[--count];
            sizes[gone] = sizes[count];
        }
    }
    uint64_t requested = 0;
    for (size_t i = 0; i < count; i++)
        requested += sizes[i];
    EQUAL(t, requested, stats_of(t, pool).requested);
    CHECK(t, stats_of(t, pool).allocated >= requested);
    while (count > 0)
        OK(t, yoke_pool_free(pool, spans[--count]));
    yoke_pool_stats_t stats = stats_of(t, pool);
    EQUAL(t, 0, stats.allocated);
    EQUAL(t, 0, stats.requested);
    EQUAL(t, 0, stats.inactive_split); /* all that was split is merged again */
}

static void split_and_merge(yoke_cts_t *t)
{
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_span_t a = take(t, pool, queue, MIB / 2), b = take(t, pool, queue, MIB / 2),
                c = take(t, pool, queue, MIB / 2);
    CHECK(t, a.buffer == b.buffer && b.buffer == c.buffer);
    OK(t, yoke_pool_free(pool, a));
    OK(t, yoke_pool_free(pool, b)); /* a and b are one again */
    yoke_span_t d = take(t, pool, queue, MIB);
    CHECK(t, d.buffer == a.buffer && d.offset == a.offset);
    OK(t, yoke_pool_free(pool, d));
    OK(t, yoke_pool_free(pool, c));
    EQUAL(t, 1, stats_of(t, pool).segments);
}

static void reused_on_its_queue(yoke_cts_t *t)
{
    uint32_t expected[1000], pattern = 1;
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_span_t first = take(t, pool, queue, sizeof expected);
    OK(t, yoke_queue_fill(queue, first, &pattern, 4, sizeof expected));
    OK(t, yoke_pool_free(pool, first)); /* the fill may still be under way */
    yoke_span_t second = take(t, pool, queue, sizeof expected);
    CHECK(t, same(first, second));
    EQUAL(t, 1, stats_of(t, pool).device_allocations);
    pattern = 2;
    OK(t, yoke_queue_fill(queue, second, &pattern, 4, sizeof expected));
    for (size_t i = 0; i < 1000; i++)
        expected[i] = 2;
    EXPECT(t, queue, second.buffer, second.offset, expected, sizeof expected);
}

/* Recorded on another queue: what that queue reads is not written over. */
static void recorded_on_another(yoke_cts_t *t)
{
    enum { SIZE = 1 << 20 };
    unsigned char *expected = yoke_cts_memory(t, SIZE), value = 1;
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_queue_t *other = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *copy = yoke_cts_buffer(t, yoke_cts_device(t), SIZE);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    yoke_span_t span = take(t, pool, queue, SIZE);
    OK(t, yoke_queue_fill(queue, span, &value, 1, SIZE));
    OK(t, yoke_event_record(event, queue));
    OK(t, yoke_queue_wait(other, event));
    OK(t, yoke_queue_copy(other, yoke_span(copy, 0), span, SIZE));
    OK(t, yoke_pool_record(pool, span, other));
    OK(t, yoke_pool_free(pool, span));
    for (int i = 0; i < 4; i++) {
        yoke_span_t again = take(t, pool, queue, SIZE);
        value = 9;
        OK(t, yoke_queue_fill(queue, again, &value, 1, SIZE));
    }
    memset(expected, 1, SIZE);
    EXPECT(t, other, copy, 0, expected, SIZE);
    OK(t, yoke_queue_sync(queue));
}

static void trim(yoke_cts_t *t)
{
    uint64_t released = 0;
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_span_t kept = take(t, pool, queue, 100), gone = take(t, pool, queue, 12 * MIB);
    OK(t, yoke_pool_free(pool, gone));
    EQUAL(t, 14 * MIB, stats_of(t, pool).reserved);
    OK(t, yoke_pool_trim(pool, 14 * MIB, &released));
    EQUAL(t, 0, released);
    OK(t, yoke_pool_trim(pool, 0, &released));
    EQUAL(t, 12 * MIB, released);
    EQUAL(t, 2 * MIB, stats_of(t, pool).reserved);
    OK(t, yoke_pool_free(pool, kept));
    OK(t, yoke_pool_trim(pool, 0, NULL));
    EQUAL(t, 0, stats_of(t, pool).reserved);
    EQUAL(t, 14 * MIB, stats_of(t, pool).reserved_peak);
}

static void retried(yoke_cts_t *t)
{
    yoke_pool_t *pool = make_pool(t, 24 * MIB);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    OK(t, yoke_pool_free(pool, take(t, pool, queue, 12 * MIB)));
    (void)take(t, pool, queue,
               20 * MIB); /* only after the cached 12 MiB are given back */
    yoke_pool_stats_t stats = stats_of(t, pool);
    EQUAL(t, 20 * MIB, stats.reserved);
    CHECK(t, stats.retries >= 1);
    EQUAL(t, 0, stats.failures);
}

static void out_of_memory(yoke_cts_t *t)
{
    yoke_pool_t *pool = make_pool(t, 16 * MIB);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_span_t held = take(t, pool, queue, 12 * MIB), span = {NULL, 0};
    GIVES(t, YOKE_ERR_DEVICE_MEMORY, yoke_pool_allocate(pool, queue, 12 * MIB, &span));
    CHECK(t, span.buffer == NULL && strpbrk(yoke_last_error(), "0123456789") != NULL);
    EQUAL(t, 1, stats_of(t, pool).failures);
    OK(t, yoke_pool_free(pool, held));
    (void)take(t, pool, queue, 14 * MIB);
}

static void peak(yoke_cts_t *t)
{
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_span_t a = take(t, pool, queue, 5000), b = take(t, pool, queue, 7000);
    OK(t, yoke_pool_free(pool, a));
    OK(t, yoke_pool_free(pool, b));
    (void)take(t, pool, queue, 600);
    yoke_pool_stats_t stats = stats_of(t, pool);
    EQUAL(t, 5120 + 7168, stats.allocated_peak);
    EQUAL(t, 1024, stats.allocated);
    EQUAL(t, 3, stats.allocations);
}

static void bad_requests(yoke_cts_t *t)
{
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_span_t span = take(t, pool, queue, 100), other = {NULL, 0};
    yoke_buffer_t *foreign = yoke_cts_buffer(t, yoke_cts_device(t), 1000);
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_allocate(pool, queue, 0, &other));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_free(pool, yoke_span(foreign, 0)));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_free(pool, yoke_span(span.buffer, 4096)));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_free(pool, yoke_span(NULL, 0)));
    OK(t, yoke_pool_free(pool, span));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_free(pool, span));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_record(pool, span, queue));
    EQUAL(t, 0, stats_of(t, pool).allocated);
}

static void null_arguments(yoke_cts_t *t)
{
    yoke_pool_stats_t stats = {.struct_size = sizeof stats};
    yoke_span_t span = {NULL, 0};
    yoke_pool_t *pool = NULL;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_create(NULL, NULL, &pool));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_create(yoke_cts_device(t), NULL, NULL));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_allocate(NULL, queue, 1, &span));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_free(NULL, span));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_record(NULL, span, queue));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_trim(NULL, 0, NULL));
    GIVES(t, YOKE_ERR_USAGE, yoke_pool_stats(NULL, &stats));
    yoke_pool_destroy(NULL);
    CHECK(t, pool == NULL && span.buffer == NULL);
}

static void pinned(yoke_cts_t *t)
{
    yoke_pool_options_t options = {.struct_size = sizeof options,
                                   .kind = YOKE_MEMORY_HOST};
    yoke_pool_t *pool = NULL;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    OK(t, yoke_pool_create(yoke_cts_device(t), &options, &pool));
    yoke_cts_keep(t, pool, end_pool);
    yoke_span_t span = take(t, pool, queue, 5000);
    EQUAL(t, YOKE_MEMORY_HOST, yoke_buffer_kind(span.buffer));
}

static void queue_forgotten(yoke_cts_t *t)
{
    yoke_pool_t *pool = make_pool(t, 0);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_queue_t *ends = NULL;
    OK(t, yoke_queue_create(yoke_cts_device(t), NULL, &ends));
    yoke_cts_keep_queue(t, ends);
    yoke_span_t span = take(t, pool, ends, 5000), own = take(t, pool, queue, 5000);
    OK(t, yoke_pool_record(pool, own, ends));
    OK(t, yoke_pool_free(pool, span));
    OK(t, yoke_pool_forget_queue(pool, ends));
    yoke_cts_forget(t, ends);
    yoke_queue_destroy(ends);
    OK(t, yoke_pool_free(pool, own));
    (void)take(t, pool, queue, 5000);
    OK(t, yoke_pool_trim(pool, 0, NULL));
}

typedef struct shared {
    yoke_pool_t *pool;
    yoke_device_t *device;
} shared_t;

static const char *use_pool(void *context, size_t i)
{
    shared_t *shared = context;
    yoke_queue_t *queue = NULL;
    const char *message = NULL;
    if (yoke_queue_create(shared->device, NULL, &queue) != YOKE_OK)
        return "no queue";
    for (uint32_t n = 0; n < 40 && message == NULL; n++) {
        yoke_span_t span = {NULL, 0};
        uint32_t pattern = (uint32_t)i * 1000 + n, seen = 0;
        uint64_t size = 4 * (1 + (n * 977 + i * 31) % 5000);
        if (yoke_pool_allocate(shared->pool, queue, size, &span) != YOKE_OK ||
            yoke_queue_fill(queue, span, &pattern, 4, size) != YOKE_OK ||
            yoke_queue_read(queue, &seen, yoke_span(span.buffer, span.offset + size - 4),
                            4) != YOKE_OK ||
            yoke_queue_sync(queue) != YOKE_OK || seen != pattern ||
            yoke_pool_free(shared->pool, span) != YOKE_OK)
            message = "a pool of several threads";
    }
    if (yoke_pool_forget_queue(shared->pool, queue) != YOKE_OK)
        message = "a queue is not forgotten";
    yoke_queue_destroy(queue);
    return message;
}

static void threads(yoke_cts_t *t)
{
    shared_t shared = {make_pool(t, 0), yoke_cts_device(t)};
    yoke_cts_threads(t, 4, use_pool, &shared);
    EQUAL(t, 0, stats_of(t, shared.pool).allocated);
}

#define CLASS(name, size, mib)                                                           \
    {                                                                                    \
        "pool/class-" name, 0, 0, size_class, size, mib                                  \
    }

static const yoke_cts_case_t cases[] = {
    CLASS("1", 1, 2),
    CLASS("513", 513, 2),
    CLASS("1m", 1 << 20, 2),
    CLASS("1m-and-1", (1 << 20) + 1, 20),
    CLASS("9m", 9 << 20, 20),
    CLASS("11m", 11 << 20, 12),
    CLASS("13m-and-1", (13 << 20) + 1, 14),
    {"pool/usable", 0, 0, usable, 0, 0},
    {"pool/small-share-a-segment", 0, 0, small_share_a_segment, 0, 0},
    {"pool/random", 0, 0, random_work, 0, 0},
    {"pool/split-and-merge", 0, 0, split_and_merge, 0, 0},
    {"pool/reused-on-its-queue", 0, 0, reused_on_its_queue, 0, 0},
    {"pool/recorded-on-another", 0, 0, recorded_on_another, 0, 0},
    {"pool/trim", 0, 0, trim, 0, 0},
    {"pool/retried", 0, 0, retried, 0, 0},
    {"pool/out-of-memory", 0, 0, out_of_memory, 0, 0},
    {"pool/peak", 0, 0, peak, 0, 0},
    {"pool/bad-requests", 0, 0, bad_requests, 0, 0},
    {"pool/null", 0, 0, null_arguments, 0, 0},
    {"pool/pinned", YOKE_CAP_PINNED, 0, pinned, 0, 0},
    {"pool/queue-forgotten", 0, 0, queue_forgotten, 0, 0},
    {"pool/threads", 0, 0, threads, 0, 0},
};

YOKE_CTS_GROUP(pool, cases);
