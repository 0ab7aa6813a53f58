/* SPDX-License-Identifier: Apache-2.0 */
/* Run with count_calls.so preloaded: the paths that enqueue neither allocate nor lock.
 * What the backend does beneath is its own matter; the null and the mock do nothing. */
#include "tests/live/mock.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static atomic_int *counting, *allocations, *locks;
static int failures;

static void check(const char *what, int expected_some)
{
    int allocated = atomic_exchange(allocations, 0), locked = atomic_exchange(locks, 0);
    if ((allocated + locked > 0) != expected_some) {
        printf("%s: %d allocations, %d locks\n", what, allocated, locked);
        failures++;
    }
}

/* The first of each may do what later ones may not (binding of symbols). */
#define QUIET(call)                                                                      \
    do {                                                                                 \
        for (int round = 0; round < 2; round++) {                                        \
            atomic_store(counting, round);                                               \
            yoke_status_t status = (call);                                               \
            atomic_store(counting, 0);                                                   \
            if (status != YOKE_OK) {                                                     \
                printf("%s: %s\n", #call, yoke_last_error());                            \
                failures++;                                                              \
            }                                                                            \
        }                                                                                \
        check(#call, 0);                                                                 \
    } while (0)

static void enqueue(yoke_device_t *device, bool kernels)
{
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    yoke_buffer_t *a = NULL, *b = NULL;
    uint32_t word = 7;
    yoke_launch_t launch = {{4, 1, 1}, {4, 1, 1}};
    yoke_program_options_t options = {.struct_size = sizeof options,
                                      .format = YOKE_PROGRAM_NATIVE,
                                      .data = "k",
                                      .size = 1};
    /* The counters work: making an object allocates and locks. */
    atomic_store(counting, 1);
    yoke_queue_create(device, NULL, &queue);
    atomic_store(counting, 0);
    check("yoke_queue_create", 1);
    yoke_event_create(device, 0, &event);
    yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &a);
    yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &b);
    QUIET(yoke_queue_write(queue, yoke_span(a, 0), &word, 4));
    QUIET(yoke_queue_copy(queue, yoke_span(b, 0), yoke_span(a, 0), 64));
    QUIET(yoke_queue_fill(queue, yoke_span(a, 0), &word, 4, 64));
    QUIET(yoke_queue_read(queue, &word, yoke_span(a, 0), 4));
    QUIET(yoke_event_record(event, queue));
    QUIET(yoke_queue_wait(queue, event));
    QUIET(yoke_queue_query(queue));
    QUIET(yoke_event_query(event));
    QUIET(yoke_event_sync(event));
    QUIET(yoke_queue_sync(queue));
    if (kernels) {
        yoke_program_t *program = NULL;
        yoke_kernel_t *kernel = NULL;
        yoke_program_create(device, &options, &program);
        yoke_kernel_create(program, "k", &kernel);
        yoke_argument_t arguments[] = {yoke_argument_span(a, 0),
                                       yoke_argument_value(&word, 4)};
        QUIET(yoke_kernel_launch(queue, kernel, &launch, arguments, 2));
        yoke_prepared_launch_t *prepared = NULL;
        yoke_prepared_launch_create(kernel, &launch, arguments, 2, &prepared);
        QUIET(yoke_queue_launch_prepared(queue, prepared));
        QUIET(yoke_prepared_launch_set_argument(prepared, 1, &arguments[1]));
        QUIET(yoke_prepared_launch_set_geometry(prepared, &launch));
        yoke_prepared_launch_destroy(prepared);
        yoke_kernel_destroy(kernel);
        yoke_program_destroy(program);
    }
    yoke_buffer_destroy(a);
    yoke_buffer_destroy(b);
    yoke_event_destroy(event);
    yoke_queue_destroy(queue);
}

int main(void)
{
    counting = dlsym(RTLD_DEFAULT, "yoke_test_counting");
    allocations = dlsym(RTLD_DEFAULT, "yoke_test_allocations");
    locks = dlsym(RTLD_DEFAULT, "yoke_test_locks");
    if (counting == NULL || allocations == NULL || locks == NULL) {
        printf("count_calls.so is not preloaded\n");
        return 1;
    }
    yoke_device_t *device = NULL;
    if (mock_reset(NULL) != 0 || yoke_device_open("null", NULL, &device) != YOKE_OK)
        return 1;
    enqueue(device, false);
    yoke_device_close(device);
    /* Validation costs time, but neither memory nor locks. */
    for (uint32_t layers = 0; layers <= YOKE_LAYER_VALIDATE; layers++) {
        device = mock_device(0, layers);
        enqueue(device, true);
        yoke_device_close(device);
    }
    return failures == 0 ? 0 : 1;
}
