/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages on one device: test_staging DEVICE ("host", "opencl", "cuda" ...; 77 where there
 * is none). What the host did is a sum of 1 to every byte.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "ucx_comm/transport/staging.h"

static yoke_device_t *device;
static yoke_queue_t *queue;
static yoke_staging_t *staging;

static void nap(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static unsigned char at(uint64_t i, unsigned seed)
{
    return (unsigned char)((i * 2654435761u >> 7) + seed);
}

static yoke_buffer_t *make_buffer(uint64_t size, unsigned seed)
{
    yoke_buffer_t *buffer;
    unsigned char *data = malloc(size);
    for (uint64_t i = 0; i < size; i++)
        data[i] = at(i, seed);
    assert_int_equal(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, size, &buffer),
                     YOKE_OK);
    assert_int_equal(yoke_queue_write(queue, yoke_span(buffer, 0), data, size), YOKE_OK);
    assert_int_equal(yoke_queue_sync(queue), YOKE_OK);
    free(data);
    return buffer;
}

/* Bytes begin..end of the buffer are at(i - shift, seed) + add. */
static void check_buffer(yoke_buffer_t *buffer, uint64_t begin, uint64_t end,
                         uint64_t shift, unsigned seed, unsigned add)
{
    unsigned char *data = malloc(end);
    assert_int_equal(yoke_queue_read(queue, data, yoke_span(buffer, 0), end), YOKE_OK);
    assert_int_equal(yoke_queue_sync(queue), YOKE_OK);
    for (uint64_t i = begin; i < end; i++)
        if (data[i] != (unsigned char)(at(i - shift, seed) + add))
            fail_msg("byte %llu is %u, not %u", (unsigned long long)i, data[i],
                     (unsigned char)(at(i - shift, seed) + add));
    free(data);
}

static void wait_for_input(yoke_stage_t *stage, uint64_t size)
{
    uint64_t bytes = 0, before = 0;
    yoke_status_t status;
    while ((status = yoke_stage_arrived(stage, &bytes)) == YOKE_ERR_NOT_READY) {
        assert_true(bytes >= before && bytes <= size);
        before = bytes;
    }
    assert_int_equal(status, YOKE_OK);
    assert_true(bytes == size);
}

static void wait_for_output(yoke_stage_t *stage)
{
    yoke_status_t status;
    while ((status = yoke_stage_poll(stage)) == YOKE_ERR_NOT_READY)
        ;
    assert_int_equal(status, YOKE_OK);
}

static void add_one(yoke_stage_t *stage, uint64_t size)
{
    const unsigned char *from = yoke_stage_send(stage);
    unsigned char *to = yoke_stage_recv(stage);
    for (uint64_t i = 0; i < size; i++)
        to[i] = (unsigned char)(from[i] + 1);
}

/* --- tests
 * -------------------------------------------------------------------------------- */

static void without_a_queue(void **unused)
{
    (void)unused;
    static const uint64_t sizes[] = {1, 17, 4096, 1 << 20, (5 << 20) + 3, 40 << 20};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t size = sizes[i];
        yoke_buffer_t *from = make_buffer(size + 5, 1), *to = make_buffer(size + 7, 2);
        yoke_stage_call_t call = {.send = yoke_comm_span(from, 0),
                                  .recv = yoke_comm_span(to, 0),
                                  .send_size = size,
                                  .recv_size = size};
        yoke_stage_t *stage;
        assert_int_equal(yoke_stage_begin(staging, &call, &stage), YOKE_OK);
        assert_false(yoke_stage_gated(stage));
        wait_for_input(stage, size);
        add_one(stage, size);
        assert_int_equal(yoke_stage_finish(stage, YOKE_OK), YOKE_OK);
        wait_for_output(stage);
        yoke_stage_end(stage);
        check_buffer(to, 0, size, 0, 1, 1);
        check_buffer(to, size, size + 7, 0, 2, 0);
        yoke_buffer_destroy(from);
        yoke_buffer_destroy(to);
    }
}

/* What the queue does before is seen, and what it does later sees the result. */
static void in_the_order_of_a_queue(void **unused)
{
    (void)unused;
    uint64_t size = (3 << 20) + 1;
    yoke_buffer_t *from = make_buffer(size, 9), *to = make_buffer(size, 2),
                  *later = make_buffer(size, 3), *first = make_buffer(size, 1);
    yoke_stage_call_t call = {.queue = queue,
                              .send = yoke_comm_span(from, 0),
                              .recv = yoke_comm_span(to, 0),
                              .send_size = size,
                              .recv_size = size};
    yoke_stage_t *stage;
    assert_int_equal(
        yoke_queue_copy(queue, yoke_span(from, 0), yoke_span(first, 0), size), YOKE_OK);
    assert_int_equal(yoke_stage_begin(staging, &call, &stage), YOKE_OK);
    bool gated = yoke_stage_gated(stage);
    if (gated) {
        assert_int_equal(
            yoke_queue_copy(queue, yoke_span(later, 0), yoke_span(to, 0), size), YOKE_OK);
        wait_for_input(stage, size);
        nap(20);
        assert_int_equal(yoke_queue_query(queue), YOKE_ERR_NOT_READY);
    } else
        wait_for_input(stage, size);
    add_one(stage, size);
    assert_int_equal(yoke_stage_finish(stage, YOKE_OK), YOKE_OK);
    if (!gated)
        assert_int_equal(
            yoke_queue_copy(queue, yoke_span(later, 0), yoke_span(to, 0), size), YOKE_OK);
    yoke_stage_end(stage); /* what is under way goes on */
    check_buffer(later, 0, size, 0, 1, 1);
    yoke_buffer_destroy(from);
    yoke_buffer_destroy(to);
    yoke_buffer_destroy(later);
    yoke_buffer_destroy(first);
}

/* This rank's block of a vector, and two blocks of it written back: the rest stays. */
static void in_place_with_gaps(void **unused)
{
    (void)unused;
    enum { BLOCK = 70001 };
    yoke_buffer_t *buffer = make_buffer(10 * BLOCK, 1);
    const yoke_stage_range_t ranges[] = {{0, BLOCK}, {4 * BLOCK, BLOCK}, {5, 0}};
    yoke_stage_call_t call = {.queue = queue,
                              .send = yoke_comm_span(buffer, 5 * BLOCK),
                              .recv = yoke_comm_span(buffer, BLOCK),
                              .send_size = BLOCK,
                              .recv_size = 6 * BLOCK,
                              .ranges = ranges,
                              .range_count = 3};
    yoke_stage_t *stage;
    assert_int_equal(yoke_stage_begin(staging, &call, &stage), YOKE_OK);
    wait_for_input(stage, BLOCK);
    unsigned char *send = yoke_stage_send(stage), *recv = yoke_stage_recv(stage);
    assert_true(send == recv + 4 * BLOCK);
    for (uint64_t i = 0; i < BLOCK; i++) {
        assert_int_equal(send[i], at(5 * BLOCK + i, 1));
        recv[i] = (unsigned char)(send[i] + 1);
        send[i] = (unsigned char)(send[i] + 2);
    }
    assert_int_equal(yoke_stage_finish(stage, YOKE_OK), YOKE_OK);
    yoke_stage_end(stage);
    check_buffer(buffer, 0, BLOCK, 0, 1, 0);
    check_buffer(buffer, BLOCK, 2 * BLOCK, UINT64_MAX - 4 * BLOCK + 1, 1, 1);
    check_buffer(buffer, 2 * BLOCK, 5 * BLOCK, 0, 1, 0);
    check_buffer(buffer, 5 * BLOCK, 6 * BLOCK, 0, 1, 2);
    check_buffer(buffer, 6 * BLOCK, 10 * BLOCK, 0, 1, 0);
    yoke_buffer_destroy(buffer);
}

/* Several calls on one queue, each of which sees the one before. */
static void many_at_once(void **unused)
{
    (void)unused;
    enum { CALLS = 6, SIZE = 300000 };
    yoke_buffer_t *buffer = make_buffer(SIZE, 1);
    yoke_stage_t *stages[CALLS];
    yoke_stage_call_t call = {.queue = queue,
                              .send = yoke_comm_span(buffer, 0),
                              .recv = yoke_comm_span(buffer, 0),
                              .send_size = SIZE,
                              .recv_size = SIZE};
    for (int round = 0; round < 3; round++) {
        int begun = 0, done = 0;
        while (done < CALLS) {
            while (begun < CALLS && (begun == done || yoke_stage_gated(stages[0])))
                assert_int_equal(yoke_stage_begin(staging, &call, &stages[begun++]),
                                 YOKE_OK);
            wait_for_input(stages[done], SIZE);
            add_one(stages[done], SIZE);
            assert_int_equal(yoke_stage_finish(stages[done], YOKE_OK), YOKE_OK);
            yoke_stage_end(stages[done++]);
        }
    }
    check_buffer(buffer, 0, SIZE, 0, 1, 3 * CALLS);
    yoke_buffer_destroy(buffer);
}

/* Memory that the host reaches is not copied; one side of a call may be the host's own.
 */
static void what_the_host_reaches(void **unused)
{
    (void)unused;
    yoke_device_info_t info = {.struct_size = sizeof info};
    assert_int_equal(yoke_device_info(device, &info), YOKE_OK);
    if ((info.capabilities & YOKE_CAP_PINNED) == 0)
        skip();
    enum { SIZE = 5000 };
    yoke_buffer_t *pinned, *to = make_buffer(SIZE, 2);
    void *address;
    unsigned char own[SIZE];
    assert_int_equal(yoke_buffer_create(device, YOKE_MEMORY_HOST, SIZE, &pinned),
                     YOKE_OK);
    assert_int_equal(yoke_buffer_host_address(pinned, &address), YOKE_OK);
    for (uint64_t i = 0; i < SIZE; i++)
        ((unsigned char *)address)[i] = own[i] = at(i, 6);
    yoke_stage_call_t call = {.queue = queue,
                              .send = yoke_comm_span(pinned, 8),
                              .recv = yoke_comm_span(to, 8),
                              .send_size = SIZE - 8,
                              .recv_size = SIZE - 8};
    yoke_stage_t *stage;
    for (int own_memory = 0; own_memory < 2; own_memory++) {
        if (own_memory)
            call.send = yoke_comm_host(own + 8);
        assert_int_equal(yoke_stage_begin(staging, &call, &stage), YOKE_OK);
        assert_ptr_equal(yoke_stage_send(stage),
                         own_memory ? (void *)(own + 8) : (char *)address + 8);
        wait_for_input(stage, SIZE - 8);
        add_one(stage, SIZE - 8);
        assert_int_equal(yoke_stage_finish(stage, YOKE_OK), YOKE_OK);
        yoke_stage_end(stage);
        check_buffer(to, 8, SIZE, 0, 6, 1);
    }
    yoke_buffer_destroy(pinned);
    yoke_buffer_destroy(to);
}

/* A call that fails, and a staging object that ends with a call under way: the queue goes
 * on. */
static void what_fails_lets_the_queue_pass(void **unused)
{
    (void)unused;
    enum { SIZE = 100000 };
    yoke_buffer_t *buffer = make_buffer(SIZE, 1), *other = make_buffer(SIZE, 4);
    yoke_stage_call_t call = {.queue = queue,
                              .send = yoke_comm_span(buffer, 0),
                              .recv = yoke_comm_span(buffer, 0),
                              .send_size = SIZE,
                              .recv_size = SIZE};
    yoke_stage_t *stage;
    assert_int_equal(yoke_stage_begin(staging, &call, &stage), YOKE_OK);
    assert_int_equal(yoke_stage_finish(stage, YOKE_ERR_PEER_FAILED), YOKE_OK);
    yoke_stage_end(stage);
    check_buffer(other, 0, SIZE, 0, 4, 0);

    yoke_staging_t *short_lived;
    assert_int_equal(yoke_staging_create(device, &short_lived), YOKE_OK);
    assert_int_equal(yoke_stage_begin(short_lived, &call, &stage), YOKE_OK);
    yoke_staging_destroy(short_lived);
    check_buffer(other, 0, SIZE, 0, 4, 0);
    yoke_buffer_destroy(buffer);
    yoke_buffer_destroy(other);
}

static void bad_arguments(void **unused)
{
    (void)unused;
    yoke_buffer_t *buffer = make_buffer(100, 1);
    yoke_stage_t *stage = NULL;
    yoke_stage_call_t call = {.send = yoke_comm_span(buffer, 50), .send_size = 51};
    assert_int_equal(yoke_stage_begin(staging, &call, &stage), YOKE_ERR_OUT_OF_RANGE);
    call.send = yoke_comm_span(buffer, UINT64_MAX);
    assert_int_equal(yoke_stage_begin(staging, &call, &stage), YOKE_ERR_OUT_OF_RANGE);
    call.send = yoke_comm_span(NULL, 0);
    assert_int_equal(yoke_stage_begin(staging, &call, &stage), YOKE_ERR_USAGE);
    assert_null(stage);
    yoke_buffer_destroy(buffer);
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "host";
    if (yoke_device_open(name, NULL, &device) != YOKE_OK) {
        printf("%s: %s\n", name, yoke_last_error());
        return 77;
    }
    if (yoke_queue_create(device, NULL, &queue) != YOKE_OK ||
        yoke_staging_create(device, &staging) != YOKE_OK)
        return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_queue),
        cmocka_unit_test(in_the_order_of_a_queue),
        cmocka_unit_test(in_place_with_gaps),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(what_the_host_reaches),
        cmocka_unit_test(what_fails_lets_the_queue_pass),
        cmocka_unit_test(bad_arguments),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    yoke_staging_destroy(staging);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
    return failed;
}
