/* SPDX-License-Identifier: Apache-2.0 */
/* The caching pool: classes of size, splitting and merging, queues, limits, statistics.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "yoke/pool.h"

#define MIB ((uint64_t)1 << 20)

typedef struct fixture {
    yoke_device_t *device;
    yoke_queue_t *queue, *other;
    yoke_pool_t *pool;
} fixture_t;

static void open_with(fixture_t *f, const yoke_pool_options_t *options)
{
    assert_int_equal(yoke_device_open("host", NULL, &f->device), YOKE_OK);
    assert_int_equal(yoke_queue_create(f->device, NULL, &f->queue), YOKE_OK);
    assert_int_equal(yoke_queue_create(f->device, NULL, &f->other), YOKE_OK);
    assert_int_equal(yoke_pool_create(f->device, options, &f->pool), YOKE_OK);
}

static void close_all(fixture_t *f)
{
    yoke_pool_destroy(f->pool);
    yoke_queue_destroy(f->queue);
    yoke_queue_destroy(f->other);
    yoke_device_close(f->device);
}

static yoke_pool_stats_t stats_of(fixture_t *f)
{
    yoke_pool_stats_t stats = {.struct_size = sizeof stats};
    assert_int_equal(yoke_pool_stats(f->pool, &stats), YOKE_OK);
    return stats;
}

static yoke_span_t get(fixture_t *f, yoke_queue_t *queue, uint64_t size)
{
    yoke_span_t span;
    assert_int_equal(yoke_pool_allocate(f->pool, queue, size, &span), YOKE_OK);
    assert_int_equal(span.offset % 512, 0);
    assert_true(span.offset + size <= yoke_buffer_size(span.buffer));
    return span;
}

static void give(fixture_t *f, yoke_span_t span)
{
    assert_int_equal(yoke_pool_free(f->pool, span), YOKE_OK);
}

static void sizes_of_segments(void **state)
{
    (void)state;
    static const struct {
        uint64_t size, segment;
    } rows[] = {{1, 2 * MIB},
                {512, 2 * MIB},
                {MIB, 2 * MIB},
                {MIB + 1, 20 * MIB},
                {10 * MIB - 512, 20 * MIB},
                {10 * MIB, 10 * MIB},
                {11 * MIB - 1, 12 * MIB}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fixture_t f;
        open_with(&f, NULL);
        yoke_span_t span = get(&f, f.queue, rows[i].size);
        yoke_pool_stats_t stats = stats_of(&f);
        assert_int_equal(yoke_buffer_size(span.buffer), rows[i].segment);
        assert_int_equal(stats.reserved, rows[i].segment);
        assert_int_equal(stats.requested, rows[i].size);
        give(&f, span);
        close_all(&f);
    }
}

static void splits_and_merges(void **state)
{
    (void)state;
    fixture_t f;
    open_with(&f, NULL);
    yoke_span_t a = get(&f, f.queue, 512), b = get(&f, f.queue, 1000),
                c = get(&f, f.queue, 512);
    assert_ptr_equal(a.buffer, b.buffer);
    assert_int_equal(b.offset, a.offset + 512);
    assert_int_equal(c.offset, b.offset + 1024);
    assert_int_equal(stats_of(&f).allocated, 2048);
    give(&f, a);
    give(&f, c);
    assert_int_equal(stats_of(&f).inactive_split, 2 * MIB - 1024);
    give(&f, b); /* joins both sides */
    yoke_pool_stats_t stats = stats_of(&f);
    assert_int_equal(stats.allocated, 0);
    assert_int_equal(stats.requested, 0);
    assert_int_equal(stats.inactive_split, 0);
    yoke_span_t whole = get(&f, f.queue, MIB);
    assert_int_equal(whole.offset, 0);
    assert_int_equal(stats_of(&f).device_allocations, 1);
    give(&f, whole);
    close_all(&f);
}

/* Memory of one queue is not in the order of another. */
static void queues_apart(void **state)
{
    (void)state;
    fixture_t f;
    open_with(&f, NULL);
    yoke_span_t a = get(&f, f.queue, MIB + 1);
    give(&f, a);
    yoke_span_t b = get(&f, f.other, MIB + 1);
    assert_ptr_not_equal(a.buffer, b.buffer);
    yoke_span_t c = get(&f, f.queue, MIB + 1);
    assert_ptr_equal(a.buffer, c.buffer);
    give(&f, c);
    assert_int_equal(yoke_pool_forget_queue(f.pool, f.queue), YOKE_OK);
    give(&f, b);
    yoke_span_t d = get(&f, f.other, 15 * MIB); /* anybody's now */
    assert_int_equal(stats_of(&f).segments, 2);
    give(&f, d);
    close_all(&f);
}

static void recorded_queue_delays(void **state)
{
    (void)state;
    fixture_t f;
    open_with(&f, NULL);
    yoke_span_t a = get(&f, f.queue, 700);
    assert_int_equal(yoke_pool_record(f.pool, a, f.other), YOKE_OK);
    assert_int_equal(yoke_pool_record(f.pool, a, f.other), YOKE_OK);
    assert_int_equal(yoke_pool_record(f.pool, a, f.queue), YOKE_OK);
    give(&f, a);
    assert_int_equal(yoke_pool_free(f.pool, a), YOKE_ERR_USAGE);
    yoke_span_t b = get(&f, f.queue, 700); /* the other queue is empty: reached */
    assert_int_equal(b.offset, a.offset);
    give(&f, b);
    close_all(&f);
}

static void limits(void **state)
{
    (void)state;
    fixture_t f;
    yoke_pool_options_t options = {.struct_size = sizeof options, .limit = 30 * MIB};
    open_with(&f, &options);
    yoke_span_t a = get(&f, f.queue, 12 * MIB), span;
    give(&f, a);
    a = get(&f, f.queue, 24 * MIB); /* what was cached goes back first */
    yoke_pool_stats_t stats = stats_of(&f);
    assert_int_equal(stats.reserved, 24 * MIB);
    assert_int_equal(stats.retries, 1);
    assert_int_equal(yoke_pool_allocate(f.pool, f.queue, 8 * MIB, &span),
                     YOKE_ERR_DEVICE_MEMORY);
    assert_int_equal(stats_of(&f).failures, 1);
    yoke_span_t b = get(&f, f.queue, 5 * MIB); /* not with the class's 20 MiB, but so */
    give(&f, a);
    give(&f, b);
    uint64_t released = 0;
    assert_int_equal(yoke_pool_trim(f.pool, 0, &released), YOKE_OK);
    assert_int_equal(released, 29 * MIB);
    assert_int_equal(stats_of(&f).reserved, 0);
    assert_int_equal(stats_of(&f).segments, 0);
    close_all(&f);
}

/* Random requests against a list of what is handed out: no two overlap, all is returned.
 */
static void random_requests(void **state)
{
    (void)state;
    enum { LIVE = 200, STEPS = 20000 };
    fixture_t f;
    open_with(&f, NULL);
    struct {
        yoke_span_t span;
        uint64_t size;
    } live[LIVE];
    memset(live, 0, sizeof live);
    uint64_t seed = 1, sum = 0;
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        size_t at = (size_t)(seed >> 40) % LIVE;
        if (live[at].size != 0) {
            give(&f, live[at].span);
            sum -= live[at].size;
            live[at].size = 0;
            continue;
        }
        uint64_t size = 1 + (seed >> 33) % ((seed >> 20) % 8 == 0 ? 3 * MIB : 40000);
        live[at].span = get(&f, seed & 1 ? f.queue : f.other, size);
        live[at].size = size;
        sum += size;
        for (size_t i = 0; i < LIVE; i++)
            if (i != at && live[i].size != 0 &&
                live[i].span.buffer == live[at].span.buffer)
                assert_true(live[i].span.offset + live[i].size <= live[at].span.offset ||
                            live[at].span.offset + size <= live[i].span.offset);
    }
    assert_int_equal(stats_of(&f).requested, sum);
    for (size_t i = 0; i < LIVE; i++)
        if (live[i].size != 0)
            give(&f, live[i].span);
    yoke_pool_stats_t stats = stats_of(&f);
    assert_int_equal(stats.allocated, 0);
    assert_int_equal(stats.inactive_split, 0);
    uint64_t released = 0;
    assert_int_equal(yoke_pool_trim(f.pool, 0, &released), YOKE_OK);
    assert_int_equal(released, stats.reserved);
    close_all(&f);
}

static void refuses(void **state)
{
    (void)state;
    fixture_t f;
    yoke_span_t span;
    open_with(&f, NULL);
    yoke_pool_t *pool = NULL;
    yoke_pool_options_t options = {.struct_size = sizeof options, .max_split = MIB};
    assert_int_equal(yoke_pool_create(f.device, &options, &pool), YOKE_ERR_USAGE);
    options = (yoke_pool_options_t){.struct_size = sizeof options,
                                    .kind = (yoke_memory_kind_t)9};
    assert_int_equal(yoke_pool_create(f.device, &options, &pool), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_create(NULL, NULL, &pool), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_create(f.device, NULL, NULL), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_allocate(NULL, f.queue, 1, &span), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_allocate(f.pool, NULL, 1, &span), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_allocate(f.pool, f.queue, 0, &span), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_allocate(f.pool, f.queue, UINT64_MAX, &span),
                     YOKE_ERR_DEVICE_MEMORY);
    assert_int_equal(yoke_pool_allocate(f.pool, f.queue, (uint64_t)1 << 63, &span),
                     YOKE_ERR_DEVICE_MEMORY);
    assert_non_null(strstr(yoke_last_error(), "free on the device"));
    assert_int_equal(yoke_pool_allocate(f.pool, f.queue, 1, NULL), YOKE_ERR_USAGE);
    span = get(&f, f.queue, 5000);
    yoke_span_t inside = yoke_span(span.buffer, span.offset + 512);
    assert_int_equal(yoke_pool_free(f.pool, inside), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_free(f.pool, yoke_span(NULL, 0)), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_record(f.pool, inside, f.other), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_record(f.pool, span, NULL), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_free(NULL, span), YOKE_ERR_USAGE);
    give(&f, span);
    assert_int_equal(yoke_pool_free(f.pool, span), YOKE_ERR_USAGE);
    yoke_pool_stats_t stats = {.struct_size = 3};
    assert_int_equal(yoke_pool_stats(f.pool, &stats), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_stats(NULL, &stats), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_trim(NULL, 0, NULL), YOKE_ERR_USAGE);
    assert_int_equal(yoke_pool_forget_queue(f.pool, NULL), YOKE_ERR_USAGE);
    yoke_pool_destroy(NULL);
    close_all(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_of_segments),
        cmocka_unit_test(splits_and_merges),
        cmocka_unit_test(queues_apart),
        cmocka_unit_test(recorded_queue_delays),
        cmocka_unit_test(limits),
        cmocka_unit_test(random_requests),
        cmocka_unit_test(refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
