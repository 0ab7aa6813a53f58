/* SPDX-License-Identifier: Apache-2.0 */
/* Queues, events and gates of the host: order, holding, threads. */
#include "tests/host_live/support.h"

#include <pthread.h>
#include <time.h>

static yoke_status_t closed_gate(yoke_impl_gate_t **out)
{
    return ops->gate_create(device, out);
}

static void put_word(yoke_impl_queue_t *queue, yoke_impl_buffer_t *buffer, uint32_t value)
{
    assert_int_equal(ops->fill(queue, span(buffer, 0), &value, 4, 4), YOKE_OK);
}

static uint32_t word(yoke_impl_buffer_t *buffer)
{
    return *(uint32_t *)ops->buffer_address(buffer);
}

static void test_at_once(void **state)
{
    (void)state;
    yoke_impl_queue_t *queue = make_queue();
    yoke_impl_buffer_t *a = make_buffer(4099), *b = make_buffer(4099);
    unsigned char host[4099], back[4099];
    const unsigned char pattern[16] = {1, 2,  3,  4,  5,  6,  7,  8,
                                       9, 10, 11, 12, 13, 14, 15, 16};
    assert_int_equal((uintptr_t)ops->buffer_address(a) % 256, 0);
    for (size_t i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i * 7);
    assert_int_equal(ops->write(queue, span(a, 0), host, sizeof host), YOKE_OK);
    assert_int_equal(ops->copy(queue, span(b, 3), span(a, 1), 4000), YOKE_OK);
    assert_int_equal(ops->read(queue, back, span(b, 3), 4000), YOKE_OK);
    assert_memory_equal(back, host + 1, 4000);
    for (size_t size = 1; size <= 16; size *= 2) {
        assert_int_equal(ops->fill(queue, span(b, 16), pattern, size, 16 * 77), YOKE_OK);
        unsigned char *p = ops->buffer_address(b);
        for (size_t i = 0; i < 16 * 77; i++)
            assert_int_equal(p[16 + i], pattern[i % size]);
    }
    assert_int_equal(ops->queue_query(queue), YOKE_OK);
    ops->buffer_destroy(a);
    ops->buffer_destroy(b);
    ops->queue_destroy(queue);
}

static void note(void *context)
{
    ++*(int *)context;
}

static void test_gate(void **state)
{
    (void)state;
    yoke_impl_queue_t *queue = make_queue(), *other = make_queue();
    yoke_impl_buffer_t *a = make_buffer(64), *b = make_buffer(64);
    yoke_impl_event_t *before, *after;
    yoke_impl_gate_t *gate;
    int called = 0;
    double seconds = -1;
    assert_int_equal(closed_gate(&gate), YOKE_OK);
    assert_int_equal(ops->event_create(device, YOKE_EVENT_TIMING, &before), YOKE_OK);
    assert_int_equal(ops->event_create(device, YOKE_EVENT_TIMING, &after), YOKE_OK);
    for (int round = 0; round < 3; round++) {
        called = 0;
        put_word(queue, a, 1);
        put_word(other, b, 0);
        assert_int_equal(ops->event_record(before, queue), YOKE_OK);
        assert_int_equal(ops->event_query(before), YOKE_OK);
        assert_int_equal(ops->gate_wait(queue, gate), YOKE_OK);
        put_word(queue, a, 2);
        assert_int_equal(ops->host_call(queue, note, &called), YOKE_OK);
        assert_int_equal(ops->event_record(after, queue), YOKE_OK);
        assert_int_equal(ops->event_query(after), YOKE_ERR_NOT_READY);
        assert_int_equal(ops->event_elapsed(before, after, &seconds), YOKE_ERR_NOT_READY);
        assert_int_equal(ops->queue_query(queue), YOKE_ERR_NOT_READY);
        /* Another queue waits for the held one by its event, and holds what follows. */
        assert_int_equal(ops->queue_wait(other, after), YOKE_OK);
        assert_int_equal(ops->copy(other, span(b, 0), span(a, 0), 4), YOKE_OK);
        assert_int_equal(ops->queue_query(other), YOKE_ERR_NOT_READY);
        assert_true(word(a) == 1 && word(b) == 0 && called == 0);
        assert_int_equal(ops->gate_open(gate), YOKE_OK);
        assert_int_equal(ops->queue_sync(other), YOKE_OK);
        assert_true(word(a) == 2 && word(b) == 2 && called == 1);
        assert_int_equal(ops->queue_query(queue), YOKE_OK);
        assert_int_equal(ops->event_elapsed(before, after, &seconds), YOKE_OK);
        assert_true(seconds >= 0);
        /* Open: it holds nothing. Closed again: it does. */
        assert_int_equal(ops->gate_wait(queue, gate), YOKE_OK);
        assert_int_equal(ops->queue_query(queue), YOKE_OK);
        assert_int_equal(ops->gate_reset(gate), YOKE_OK);
    }
    ops->gate_destroy(gate);
    ops->event_destroy(before);
    ops->event_destroy(after);
    ops->buffer_destroy(a);
    ops->buffer_destroy(b);
    ops->queue_destroy(queue);
    ops->queue_destroy(other);
}

/* A wait is for the event as it was recorded then, whatever becomes of the event. */
static void test_event_moves_on(void **state)
{
    (void)state;
    yoke_impl_queue_t *held = make_queue(), *open = make_queue(), *waiting = make_queue();
    yoke_impl_buffer_t *a = make_buffer(4);
    yoke_impl_event_t *event;
    yoke_impl_gate_t *gate;
    assert_int_equal(closed_gate(&gate), YOKE_OK);
    assert_int_equal(ops->event_create(device, 0, &event), YOKE_OK);
    put_word(open, a, 1);
    ops->gate_wait(held, gate);
    ops->event_record(event, held);
    ops->queue_wait(waiting, event);
    put_word(waiting, a, 2);
    ops->event_record(event, open);
    assert_int_equal(ops->event_query(event), YOKE_OK);
    assert_int_equal(ops->queue_query(waiting), YOKE_ERR_NOT_READY);
    assert_int_equal(word(a), 1);
    ops->event_destroy(event);
    ops->gate_open(gate);
    assert_int_equal(ops->queue_sync(waiting), YOKE_OK);
    assert_int_equal(word(a), 2);
    ops->queue_sync(held);
    ops->gate_destroy(gate);
    ops->queue_destroy(held);
    ops->queue_destroy(open);
    ops->queue_destroy(waiting);
    ops->buffer_destroy(a);
}

/* Matrix product held, and a queue destroyed with a gate that never opened. */
static void test_gemm(void **state)
{
    (void)state;
    if (ops->gemm_library(device) == NULL) {
        print_message("no OpenBLAS here\n");
        skip();
    }
    yoke_impl_queue_t *queue = make_queue();
    yoke_impl_buffer_t *a = make_buffer(96), *b = make_buffer(96), *c = make_buffer(96);
    yoke_impl_gate_t *gate;
    float *fa = ops->buffer_address(a), *fb = ops->buffer_address(b),
          *fc = ops->buffer_address(c);
    for (int i = 0; i < 12; i++) {
        fa[i] = (float)(i - 3);
        fb[i] = (float)(5 - i);
        fc[i] = 1;
    }
    /* A 2x3, B^T stored 2x3, twice; C = 2 A B + 3 C */
    yoke_impl_gemm_t gemm = {YOKE_ELEMENT_F32,
                             YOKE_ELEMENT_F32,
                             0,
                             1,
                             2,
                             2,
                             3,
                             3,
                             3,
                             2,
                             2,
                             6,
                             6,
                             4,
                             2.0,
                             3.0,
                             {a, 0},
                             {b, 0},
                             {c, 0}};
    assert_int_equal(closed_gate(&gate), YOKE_OK);
    ops->gate_wait(queue, gate);
    assert_int_equal(ops->gemm(queue, &gemm), YOKE_OK);
    assert_true(fc[0] == 1);
    ops->gate_open(gate);
    assert_int_equal(ops->queue_sync(queue), YOKE_OK);
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 2; j++) {
                float sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += fa[t * 6 + i * 3 + k] * fb[t * 6 + j * 3 + k];
                assert_true(fc[t * 4 + i * 2 + j] == 2 * sum + 3);
            }
    gemm.element = YOKE_ELEMENT_F16;
    assert_int_equal(ops->gemm(queue, &gemm), YOKE_ERR_UNSUPPORTED);
    gemm.element = YOKE_ELEMENT_F32;
    gemm.lda = (uint64_t)1 << 31;
    assert_int_equal(ops->gemm(queue, &gemm), YOKE_ERR_UNSUPPORTED);
    ops->gate_reset(gate);
    ops->gate_wait(queue, gate);
    put_word(queue, a, 9);
    ops->queue_destroy(queue);
    assert_true(word(a) != 9);
    ops->gate_destroy(gate);
    ops->buffer_destroy(a);
    ops->buffer_destroy(b);
    ops->buffer_destroy(c);
}

/* --- threads ------------------------------------------------------------------------ */

enum { PAIRS = 3, ROUNDS = 300, BURST = 12 };

typedef struct pair {
    yoke_impl_queue_t *queue;
    yoke_impl_gate_t *gates[2];
    yoke_impl_buffer_t *buffer;
    yoke_impl_event_t *event;
    _Atomic int wanted, opened;
    bool wrong;
} pair_t;

static void *opener(void *context)
{
    pair_t *pair = context;
    struct timespec moment = {0, 20000};
    for (int round = 0; round < ROUNDS; round++) {
        while (atomic_load(&pair->wanted) <= round)
            nanosleep(&moment, NULL);
        ops->gate_open(pair->gates[round % 2]);
        atomic_store(&pair->opened, round + 1);
    }
    return NULL;
}

static void *enqueuer(void *context)
{
    pair_t *pair = context;
    uint64_t *words = ops->buffer_address(pair->buffer);
    for (int round = 0; round < ROUNDS; round++) {
        ops->gate_wait(pair->queue, pair->gates[round % 2]);
        atomic_store(&pair->wanted, round + 1);
        for (int i = 0; i < BURST; i++) {
            uint64_t value = (uint64_t)(round * BURST + i);
            ops->fill(pair->queue, span(pair->buffer, 0), &value, 8, 8);
            ops->copy(pair->queue, span(pair->buffer, 8 + 8 * (uint64_t)i),
                      span(pair->buffer, 0), 8);
        }
        ops->event_record(pair->event, pair->queue);
        if (round % 3 == 0)
            ops->event_sync(pair->event);
        else if (round % 3 == 1)
            ops->queue_sync(pair->queue);
        else
            while (ops->event_query(pair->event) == YOKE_ERR_NOT_READY)
                ;
        for (int i = 0; i < BURST; i++)
            pair->wrong |= words[1 + i] != (uint64_t)(round * BURST + i);
        while (atomic_load(&pair->opened) <= round)
            ;
        ops->gate_reset(pair->gates[round % 2]);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pair_t pairs[PAIRS] = {0};
    pthread_t threads[PAIRS][2];
    for (int i = 0; i < PAIRS; i++) {
        pairs[i].queue = make_queue();
        pairs[i].buffer = make_buffer(8 + 8 * BURST);
        closed_gate(&pairs[i].gates[0]);
        closed_gate(&pairs[i].gates[1]);
        ops->event_create(device, 0, &pairs[i].event);
        pthread_create(&threads[i][0], NULL, opener, &pairs[i]);
        pthread_create(&threads[i][1], NULL, enqueuer, &pairs[i]);
    }
    for (int i = 0; i < PAIRS; i++) {
        pthread_join(threads[i][0], NULL);
        pthread_join(threads[i][1], NULL);
        assert_false(pairs[i].wrong);
        ops->queue_destroy(pairs[i].queue);
        ops->buffer_destroy(pairs[i].buffer);
        ops->gate_destroy(pairs[i].gates[0]);
        ops->gate_destroy(pairs[i].gates[1]);
        ops->event_destroy(pairs[i].event);
    }
}

/* More than the ring holds: the enqueuer waits for the opener. */
static void *open_soon(void *context)
{
    struct timespec moment = {0, 5000000};
    nanosleep(&moment, NULL);
    ops->gate_open(context);
    return NULL;
}

static void test_full_ring(void **state)
{
    (void)state;
    yoke_impl_queue_t *queue = make_queue();
    yoke_impl_buffer_t *buffer = make_buffer(4);
    yoke_impl_gate_t *gate;
    pthread_t thread;
    closed_gate(&gate);
    ops->gate_wait(queue, gate);
    pthread_create(&thread, NULL, open_soon, gate);
    for (uint32_t i = 0; i < 3 * YOKE_HOST_RING; i++)
        put_word(queue, buffer, i);
    assert_int_equal(ops->queue_sync(queue), YOKE_OK);
    assert_int_equal(word(buffer), 3 * YOKE_HOST_RING - 1);
    pthread_join(thread, NULL);
    ops->gate_destroy(gate);
    ops->buffer_destroy(buffer);
    ops->queue_destroy(queue);
}

static void test_adoption(void **state)
{
    (void)state;
    yoke_impl_buffer_t *buffer;
    yoke_impl_queue_t *queue = NULL;
    yoke_impl_event_t *event = NULL;
    uint32_t memory[4] = {0};
    assert_int_equal(
        ops->buffer_wrap(device, YOKE_MEMORY_DEVICE, memory, sizeof memory, &buffer),
        YOKE_OK);
    assert_ptr_equal(ops->buffer_native(buffer), memory);
    ops->buffer_destroy(buffer);
    assert_int_equal(ops->queue_wrap(device, memory, &queue), YOKE_ERR_UNSUPPORTED);
    assert_int_equal(ops->event_wrap(device, memory, &event), YOKE_ERR_UNSUPPORTED);
    assert_true(queue == NULL && event == NULL);
    buffer = NULL;
    assert_int_equal(ops->buffer_create(device, YOKE_MEMORY_DEVICE, UINT64_MAX, &buffer),
                     YOKE_ERR_DEVICE_MEMORY);
    assert_null(buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_at_once),        cmocka_unit_test(test_gate),
        cmocka_unit_test(test_event_moves_on), cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_threads),        cmocka_unit_test(test_full_ring),
        cmocka_unit_test(test_adoption)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
