/* SPDX-License-Identifier: Apache-2.0 */
/* What is called, in which order, when the caller's context is ours or another; what is
 * current afterwards is always what was before. */
#include "toy.h"

#include <pthread.h>

#include "yoke/kernel.h"
#include "yoke/status.h"

static int toy_query(void *stream)
{
    (void)stream;
    return toy_work('q');
}

static int toy_info(size_t *out_free, size_t *out_total)
{
    int code = toy_work('i');
    if (code == 0) {
        *out_free = 3;
        *out_total = 5;
    }
    return code;
}

static unsigned launched[7];
static uint64_t seen_address, seen_value;

static int toy_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, void *stream,
                      void **parameters, void **extra)
{
    const unsigned all[] = {gx, gy, gz, bx, by, bz, shared};
    assert_ptr_equal(stream, TOY_STREAM);
    assert_non_null(function);
    assert_null(extra);
    memcpy(launched, all, sizeof all);
    memcpy(&seen_address, parameters[0], sizeof seen_address);
    memcpy(&seen_value, parameters[1], sizeof seen_value);
    return toy_work('l');
}

static int setup(void **state)
{
    (void)state;
    toy_reset();
    toy_runtime.api.stream_query = toy_query;
    toy_runtime.api.memory_info = toy_info;
    toy_runtime.api.launch = toy_launch;
    return 0;
}

static void ours_is_current(void **state)
{
    (void)state;
    assert_int_equal(yoke_cudalike_queue_query(&toy_queue), YOKE_OK);
    assert_string_equal(toy_calls, "gq"); /* the first time we look */
    toy_calls[0] = '\0';
    for (int i = 0; i < 3; i++)
        assert_int_equal(yoke_cudalike_queue_query(&toy_queue), YOKE_OK);
    assert_string_equal(toy_calls, "qqq"); /* then a raw program's calls and no more */
}

static void another_is_current(void **state)
{
    (void)state;
    toy_current = TOY_OTHER;
    for (int i = 0; i < 2; i++) {
        toy_calls[0] = '\0';
        assert_int_equal(yoke_cudalike_queue_query(&toy_queue), YOKE_OK);
        assert_string_equal(toy_calls, "gsqs");
        assert_ptr_equal(toy_current, TOY_OTHER);
    }
}

static void none_is_current(void **state)
{
    (void)state;
    toy_current = NULL;
    assert_int_equal(yoke_cudalike_queue_query(&toy_queue), YOKE_OK);
    assert_string_equal(toy_calls, "gsqs");
    assert_null(toy_current);
}

static void note_is_stale(void **state)
{
    (void)state;
    static const int codes[] = {YOKE_CUDALIKE_INVALID_CONTEXT,
                                YOKE_CUDALIKE_INVALID_HANDLE,
                                YOKE_CUDALIKE_CONTEXT_DESTROYED};
    for (size_t i = 0; i < 3; i++) {
        toy_current = TOY_CONTEXT;
        yoke_cudalike_queue_query(&toy_queue);
        toy_calls[0] = '\0';
        toy_refusal = codes[i];
        toy_current = TOY_OTHER; /* the caller changed it behind us */
        assert_int_equal(yoke_cudalike_queue_query(&toy_queue), YOKE_OK);
        assert_string_equal(toy_calls, "qgsqs");
        assert_ptr_equal(toy_current, TOY_OTHER);
        toy_calls[0] = '\0';
        yoke_cudalike_queue_query(&toy_queue);
        assert_string_equal(toy_calls, "gsqs"); /* the note was corrected */
        toy_current = TOY_CONTEXT;
        toy_calls[0] = '\0';
        yoke_cudalike_queue_query(&toy_queue);
        yoke_cudalike_queue_query(&toy_queue);
        assert_string_equal(toy_calls, "gqq"); /* and again */
    }
}

/* A vendor who does not mind which context is current is not asked. */
static void vendor_does_not_mind(void **state)
{
    (void)state;
    yoke_cudalike_queue_query(&toy_queue);
    toy_calls[0] = '\0';
    toy_refusal = 0;
    toy_current = TOY_OTHER;
    assert_int_equal(yoke_cudalike_queue_query(&toy_queue), YOKE_OK);
    assert_string_equal(toy_calls, "q");
    assert_ptr_equal(toy_current, TOY_OTHER);
}

static void null_stream_looks_always(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        toy_calls[0] = '\0';
        assert_int_equal(yoke_cudalike_queue_query(&toy_null_queue), YOKE_OK);
        assert_string_equal(toy_calls, "gq");
    }
    toy_refusal = 0; /* it would work on the other's stream without a word */
    toy_current = TOY_OTHER;
    toy_calls[0] = '\0';
    assert_int_equal(yoke_cudalike_queue_query(&toy_null_queue), YOKE_OK);
    assert_string_equal(toy_calls, "gsqs");
    assert_ptr_equal(toy_current, TOY_OTHER);
}

static void other_calls_look_always(void **state)
{
    (void)state;
    uint64_t free_bytes = 0, total = 0;
    yoke_cudalike_queue_query(&toy_queue);
    toy_calls[0] = '\0';
    toy_refusal = 0;
    toy_current = TOY_OTHER;
    assert_int_equal(yoke_cudalike_memory_info(&toy_device, &free_bytes, &total),
                     YOKE_OK);
    assert_string_equal(toy_calls, "gsis");
    assert_ptr_equal(toy_current, TOY_OTHER);
    assert_int_equal(free_bytes, 3);
    assert_int_equal(total, 5);
}

static void failures_restore(void **state)
{
    (void)state;
    const char *call = NULL, *name = NULL;
    int64_t code = 0;
    uint64_t free_bytes = 7, total = 7;
    toy_current = TOY_OTHER;
    toy_code = YOKE_CUDALIKE_ILLEGAL_ADDRESS;
    assert_int_equal(yoke_cudalike_memory_info(&toy_device, &free_bytes, &total),
                     YOKE_ERR_DEVICE_LOST);
    assert_ptr_equal(toy_current, TOY_OTHER);
    assert_int_equal(free_bytes, 7); /* outputs only on success */
    assert_true(yoke_last_vendor_error(&call, &code, &name));
    assert_string_equal(call, "toyMemGetInfo");
    assert_string_equal(name, "CUDA_ERROR_ILLEGAL_ADDRESS");
    assert_int_equal(code, 700);
    /* In the right context an "invalid handle" is what it says, and nothing is repeated.
     */
    toy_current = TOY_CONTEXT;
    toy_code = 0;
    yoke_cudalike_queue_query(&toy_queue);
    toy_calls[0] = '\0';
    toy_code = YOKE_CUDALIKE_INVALID_HANDLE;
    assert_int_equal(yoke_cudalike_queue_query(&toy_queue), YOKE_ERR_SYSTEM);
    assert_string_equal(toy_calls, "qg");
    toy_code = YOKE_CUDALIKE_NOT_READY;
    toy_calls[0] = '\0';
    assert_int_equal(yoke_cudalike_queue_query(&toy_queue), YOKE_ERR_NOT_READY);
    assert_string_equal(toy_calls, "q");
    /* It cannot be made current: nothing is called, nothing is changed. */
    toy_current = TOY_OTHER;
    toy_set_fails = true;
    toy_calls[0] = '\0';
    assert_int_equal(yoke_cudalike_memory_info(&toy_device, &free_bytes, &total),
                     YOKE_ERR_DEVICE_LOST);
    assert_string_equal(toy_calls, "gs");
    assert_ptr_equal(toy_current, TOY_OTHER);
}

static void statuses(void **state)
{
    (void)state;
    assert_int_equal(yoke_cudalike_status(0), YOKE_OK);
    assert_int_equal(yoke_cudalike_status(2), YOKE_ERR_DEVICE_MEMORY);
    assert_int_equal(yoke_cudalike_status(217), YOKE_ERR_UNREACHABLE);
    assert_int_equal(yoke_cudalike_status(600), YOKE_ERR_NOT_READY);
    for (int code = 714; code <= 719; code++)
        assert_int_equal(yoke_cudalike_status(code), YOKE_ERR_DEVICE_LOST);
    assert_int_equal(yoke_cudalike_status(1), YOKE_ERR_SYSTEM);
    assert_int_equal(yoke_cudalike_status(-7), YOKE_ERR_SYSTEM);
}

static void launch_packs_arguments(void **state)
{
    (void)state;
    yoke_impl_buffer_t buffer = {.device = &toy_device, .address = 0x10000};
    struct {
        yoke_impl_buffer_t *impl; /* the ABI's first field of a yoke_buffer_t */
    } shell = {&buffer};
    uint64_t value = 42;
    const yoke_launch_t launch = {{2, 3, 4}, {8, 1, 1}};
    const yoke_argument_t arguments[] = {
        yoke_argument_span((yoke_buffer_t *)(void *)&shell, 0x20),
        yoke_argument_value(&value, sizeof value), yoke_argument_local(128)};
    struct {
        void *function;
    } kernel = {(void *)0x77};
    assert_int_equal(yoke_cudalike_launch(&toy_queue,
                                          (yoke_impl_kernel_t *)(void *)&kernel, &launch,
                                          arguments, 3),
                     YOKE_OK);
    const unsigned want[] = {2, 3, 4, 8, 1, 1, 128};
    assert_memory_equal(launched, want, sizeof want);
    assert_int_equal(seen_address, 0x10020);
    assert_int_equal(seen_value, 42);
    shell.impl = NULL; /* a tensor without elements */
    assert_int_equal(yoke_cudalike_launch(&toy_queue,
                                          (yoke_impl_kernel_t *)(void *)&kernel, &launch,
                                          arguments, 3),
                     YOKE_OK);
    assert_true(seen_address == 0);
}

/* With another context current, refused for a reason of its own, and repeated. */
static void prepared_launches(void **state)
{
    (void)state;
    yoke_impl_buffer_t buffer = {.device = &toy_device, .address = 0x10000};
    struct {
        yoke_impl_buffer_t *impl;
    } shell = {&buffer};
    uint64_t value = 42, next = 43;
    yoke_launch_t launch = {{2, 3, 4}, {8, 1, 1}};
    yoke_argument_t arguments[] = {
        yoke_argument_span((yoke_buffer_t *)(void *)&shell, 0x20),
        yoke_argument_value(&value, sizeof value), yoke_argument_local(128)};
    yoke_impl_kernel_t kernel = {(void *)0x77};
    yoke_impl_prepared_t *prepared = NULL;
    assert_int_equal(
        yoke_cudalike_prepared_create(&kernel, &launch, arguments, 3, &prepared),
        YOKE_OK);
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared), YOKE_OK);
    assert_string_equal(toy_calls, "gl"); /* the first time we look */
    toy_calls[0] = '\0';
    for (int i = 0; i < 3; i++)
        assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared), YOKE_OK);
    assert_string_equal(toy_calls, "lll");
    const unsigned want[] = {2, 3, 4, 8, 1, 1, 128};
    assert_memory_equal(launched, want, sizeof want);
    assert_int_equal(seen_address, 0x10020);
    assert_int_equal(seen_value, 42);
    arguments[0] = yoke_argument_span((yoke_buffer_t *)(void *)&shell, 0x40);
    arguments[1] = yoke_argument_value(&next, sizeof next);
    arguments[2] = yoke_argument_local(256);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(yoke_cudalike_prepared_argument(prepared, i, &arguments[i]),
                         YOKE_OK);
    launch.groups[0] = 9;
    assert_int_equal(yoke_cudalike_prepared_geometry(prepared, &launch), YOKE_OK);
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared), YOKE_OK);
    const unsigned then[] = {9, 3, 4, 8, 1, 1, 256};
    assert_memory_equal(launched, then, sizeof then);
    assert_int_equal(seen_address, 0x10040);
    assert_int_equal(seen_value, 43);
    arguments[0] = yoke_argument_span(NULL, 0);
    assert_int_equal(yoke_cudalike_prepared_argument(prepared, 0, &arguments[0]),
                     YOKE_OK);
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared), YOKE_OK);
    assert_int_equal(seen_address, 0);
    shell.impl = NULL; /* a tensor without elements */
    arguments[0] = yoke_argument_span((yoke_buffer_t *)(void *)&shell, 0);
    assert_int_equal(yoke_cudalike_prepared_argument(prepared, 0, &arguments[0]),
                     YOKE_OK);
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared), YOKE_OK);
    assert_int_equal(seen_address, 0);
    toy_calls[0] = '\0';
    toy_current = TOY_OTHER; /* behind us, then known */
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared), YOKE_OK);
    assert_string_equal(toy_calls, "lgsls");
    toy_calls[0] = '\0';
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared), YOKE_OK);
    assert_string_equal(toy_calls, "gsls");
    assert_ptr_equal(toy_current, TOY_OTHER);
    toy_current = TOY_CONTEXT;
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared), YOKE_OK);
    toy_calls[0] = '\0';
    toy_code = YOKE_CUDALIKE_INVALID_HANDLE; /* refused once, whatever is current */
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared),
                     YOKE_ERR_SYSTEM);
    assert_string_equal(toy_calls, "lg");
    toy_calls[0] = '\0';
    toy_code = YOKE_CUDALIKE_LAUNCH_FAILED;
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared),
                     YOKE_ERR_DEVICE_LOST);
    assert_string_equal(toy_calls, "l");
    toy_current = TOY_OTHER;
    toy_set_fails = true; /* nothing is launched where the context cannot be set */
    yoke_cudalike_noted[toy_flavour.index] = 0;
    toy_calls[0] = '\0';
    assert_int_equal(yoke_cudalike_prepared_launch(&toy_queue, prepared),
                     YOKE_ERR_DEVICE_LOST);
    assert_string_equal(toy_calls, "gs");
    yoke_cudalike_prepared_destroy(prepared);
}

static void *on_another_thread(void *argument)
{
    (void)argument;
    toy_current = TOY_OTHER;
    for (int i = 0; i < 1000; i++)
        yoke_cudalike_queue_query(&toy_null_queue);
    return toy_current;
}

/* Notes are a thread's own. */
static void threads_do_not_mix(void **state)
{
    (void)state;
    pthread_t threads[4];
    void *left;
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, on_another_thread, NULL), 0);
    for (int i = 0; i < 1000; i++)
        yoke_cudalike_queue_query(&toy_queue);
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], &left);
        assert_ptr_equal(left, TOY_OTHER);
    }
    assert_ptr_equal(toy_current, TOY_CONTEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(ours_is_current, setup),
        cmocka_unit_test_setup(another_is_current, setup),
        cmocka_unit_test_setup(none_is_current, setup),
        cmocka_unit_test_setup(note_is_stale, setup),
        cmocka_unit_test_setup(vendor_does_not_mind, setup),
        cmocka_unit_test_setup(null_stream_looks_always, setup),
        cmocka_unit_test_setup(other_calls_look_always, setup),
        cmocka_unit_test_setup(failures_restore, setup),
        cmocka_unit_test_setup(statuses, setup),
        cmocka_unit_test_setup(launch_packs_arguments, setup),
        cmocka_unit_test_setup(prepared_launches, setup),
        cmocka_unit_test_setup(threads_do_not_mix, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
