/* SPDX-License-Identifier: Apache-2.0 */
/* Different handles on different threads; one device shared by all; its loss. For
 * ThreadSanitizer. */
#include "tests/live/mock.h"

#include <pthread.h>
#include <sched.h>

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

/* --- a buffer ends on one thread while a launch that binds it is used on another -----
 */

static _Atomic(yoke_buffer_t *) offered;

static void *make_and_end_buffers(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < ROUNDS; i++) {
        yoke_buffer_t *buffer = NULL;
        EXPECT(yoke_buffer_create(shared, YOKE_MEMORY_DEVICE, 64, &buffer) == YOKE_OK);
        atomic_store(&offered, buffer);
        while (atomic_load(&offered) != NULL)
            sched_yield();
        yoke_buffer_destroy(buffer); /* bound, and perhaps no longer */
    }
    return NULL;
}

static void buffers_end_beside_launches(void **state)
{
    (void)state;
    const yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
    yoke_program_options_t options = {.struct_size = sizeof options,
                                      .format = YOKE_PROGRAM_NATIVE,
                                      .data = "k",
                                      .size = 1};
    yoke_program_t *program = NULL;
    yoke_kernel_t *kernel = NULL;
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *mine = NULL;
    yoke_prepared_launch_t *prepared = NULL;
    pthread_t other;
    atomic_store(&wrong, 0);
    shared = mock_device(0, 0);
    assert_ok(yoke_program_create(shared, &options, &program));
    assert_ok(yoke_kernel_create(program, "k", &kernel));
    assert_ok(yoke_queue_create(shared, NULL, &queue));
    assert_ok(yoke_buffer_create(shared, YOKE_MEMORY_DEVICE, 64, &mine));
    const yoke_argument_t own = yoke_argument_span(mine, 0), both[2] = {own, own};
    assert_ok(yoke_prepared_launch_create(kernel, &launch, both, 2, &prepared));
    assert_int_equal(pthread_create(&other, NULL, make_and_end_buffers, NULL), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        yoke_buffer_t *theirs;
        while ((theirs = atomic_load(&offered)) == NULL)
            sched_yield();
        yoke_argument_t argument = yoke_argument_span(theirs, 0);
        EXPECT(yoke_prepared_launch_set_argument(prepared, i % 2, &argument) == YOKE_OK);
        atomic_store(&offered, NULL);
        yoke_status_t status = yoke_queue_launch_prepared(queue, prepared);
        EXPECT(status == YOKE_OK || status == YOKE_ERR_USAGE);
        EXPECT(yoke_prepared_launch_set_argument(prepared, i % 2, &own) == YOKE_OK);
        EXPECT(yoke_queue_launch_prepared(queue, prepared) == YOKE_OK);
    }
    pthread_join(other, NULL);
    assert_int_equal(wrong, 0);
    yoke_prepared_launch_destroy(prepared);
    yoke_kernel_destroy(kernel);
    yoke_program_destroy(program);
    yoke_buffer_destroy(mine);
    yoke_queue_destroy(queue);
    yoke_device_close(shared);
    assert_int_equal(mock.alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(threads_share_a_device, mock_reset),
        cmocka_unit_test_setup(all_threads_see_the_loss, mock_reset),
        cmocka_unit_test_setup(buffers_end_beside_launches, mock_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
