/* SPDX-License-Identifier: Apache-2.0 */
/* Different handles on different threads; one device shared by all; its loss. For
 * ThreadSanitizer. */
#include "tests/live/mock.h"

#include <pthread.h>

#define THREADS 8
#define ROUNDS 200

static yoke_device_t *shared;
static atomic_int wrong;

#define EXPECT(condition)                                                                \
    do {                                                                                 \
        if (!(condition))                                                                \
            atomic_fetch_add(&wrong, 1);                                                 \
    } while (0)

static void one_round(unsigned number)
{
    yoke_device_t *own = NULL;
    yoke_queue_t *queue = NULL, *near = NULL;
    yoke_buffer_t *buffer = NULL, *pinned = NULL;
    yoke_event_t *event = NULL;
    unsigned back = 0;
    EXPECT(yoke_device_open(number % 2 == 0 ? "mock:0" : "mock:41:00.0", NULL, &own) ==
           YOKE_OK);
    EXPECT(yoke_queue_create(shared, NULL, &queue) == YOKE_OK);
    EXPECT(yoke_queue_create(own, NULL, &near) == YOKE_OK);
    EXPECT(yoke_buffer_create(shared, YOKE_MEMORY_DEVICE, 64, &buffer) == YOKE_OK);
    EXPECT(yoke_buffer_create(own, YOKE_MEMORY_HOST, 64, &pinned) == YOKE_OK);
    EXPECT(yoke_event_create(shared, 0, &event) == YOKE_OK);
    EXPECT(yoke_queue_write(queue, yoke_span(buffer, 0), &number, sizeof number) ==
           YOKE_OK);
    EXPECT(yoke_event_record(event, queue) == YOKE_OK);
    EXPECT(yoke_queue_wait(near, event) == YOKE_OK);
    EXPECT(yoke_queue_copy(near, yoke_span(pinned, 0), yoke_span(buffer, 0), 4) ==
           YOKE_OK);
    EXPECT(yoke_queue_read(near, &back, yoke_span(pinned, 0), 4) == YOKE_OK);
    EXPECT(yoke_queue_sync(near) == YOKE_OK);
    EXPECT(back == number);
    EXPECT(yoke_queue_sync(NULL) == YOKE_ERR_USAGE); /* messages are per thread */
    EXPECT(strstr(yoke_last_error(), "yoke_queue_sync") != NULL);
    yoke_device_close(own);
    yoke_event_destroy(event);
    yoke_buffer_destroy(buffer);
    yoke_buffer_destroy(pinned);
    yoke_queue_destroy(queue);
    yoke_queue_destroy(near);
}

static void *work(void *argument)
{
    unsigned base = (unsigned)(uintptr_t)argument * ROUNDS;
    for (unsigned i = 0; i < ROUNDS; i++)
        one_round(base + i);
    return NULL;
}

static void run(void *(*function)(void *))
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, function, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
}

static void threads_share_a_device(void **state)
{
    (void)state;
    for (uint32_t layers = 0; layers <= YOKE_LAYER_VALIDATE; layers++) {
        shared = mock_device(0, layers);
        run(work);
        yoke_device_close(shared);
        assert_int_equal(mock.alive, 0);
    }
}

/* Until the device is lost to this thread, which may make objects meanwhile. */
static void *until_lost(void *argument)
{
    yoke_queue_t *queue = NULL;
    if (yoke_queue_create(shared, NULL, &queue) != YOKE_OK)
        return NULL;
    for (int i = 0; yoke_queue_query(queue) != YOKE_ERR_DEVICE_LOST; i++) {
        yoke_event_t *event = NULL;
        if (yoke_event_create(shared, 0, &event) == YOKE_OK)
            yoke_event_record(event, queue);
        yoke_event_destroy(event);
        if ((uintptr_t)argument == 3 && i == 20)
            atomic_store(&mock.answer, YOKE_ERR_DEVICE_LOST);
    }
    EXPECT(yoke_device_status(shared) == YOKE_ERR_DEVICE_LOST);
    yoke_queue_destroy(queue);
    return NULL;
}

static void all_threads_see_the_loss(void **state)
{
    (void)state;
    shared = mock_device(0, 0);
    run(until_lost);
    yoke_device_close(shared);
    assert_int_equal(mock.alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(threads_share_a_device, mock_reset),
        cmocka_unit_test_setup(all_threads_see_the_loss, mock_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
