/* SPDX-License-Identifier: Apache-2.0 */
/* Collectives by the vendors' libraries, by their fakes: which calls take that way, mixed
 * islands, and what happens where a library cannot or a rank dies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/fakes/fake.h"
#include "tests/ucx_comm/ranks.h"
#include "ucx_comm/comm/route_parts.h"

#define F32 YOKE_ELEMENT_F32
#define SUM YOKE_REDUCE_SUM
#define COUNT 1000

typedef struct world {
    yoke_device_t *device;
    yoke_comm_t *comm;
    yoke_queue_t *queue;
    yoke_buffer_t *send, *recv;
} world_t;

static void library(const char *variable, const char *file)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("VENDOR_LIBRARIES"), file);
    setenv(variable, path, 1);
}

static yoke_status_t join(world_t *world, const char *device, int rank, int size)
{
    yoke_comm_options_t options = {.struct_size = sizeof options, .timeout_ms = 20000};
    options.setup_timeout_ms = 20000;
    memset(world, 0, sizeof *world);
    yoke_status_t status = yoke_device_open(device, NULL, &world->device);
    if (status == YOKE_OK)
        status = yoke_queue_create(world->device, NULL, &world->queue);
    if (status == YOKE_OK)
        status = yoke_buffer_create(world->device, YOKE_MEMORY_DEVICE, COUNT * 4 * 8,
                                    &world->send);
    if (status == YOKE_OK)
        status = yoke_buffer_create(world->device, YOKE_MEMORY_DEVICE, COUNT * 4 * 8,
                                    &world->recv);
    options.device = world->device;
    return status == YOKE_OK ? yoke_comm_create(size, rank, yoke_test_all_gather, NULL,
                                                &options, &world->comm)
                             : status;
}

static void leave(world_t *world)
{
    yoke_comm_destroy(world->comm);
    yoke_buffer_destroy(world->send);
    yoke_buffer_destroy(world->recv);
    yoke_queue_destroy(world->queue);
    yoke_device_close(world->device);
}

static yoke_status_t write_ranks(world_t *world, int rank)
{
    float data[COUNT];
    for (int i = 0; i < COUNT; i++)
        data[i] = (float)(rank + 1);
    yoke_status_t status =
        yoke_queue_write(world->queue, yoke_span(world->send, 0), data, sizeof data);
    return status == YOKE_OK ? yoke_queue_sync(world->queue) : status;
}

/* All-reduce on spans; how: 0 blocking, 1 on a queue, 2 by a request */
static yoke_status_t sum(world_t *world, int how, float *out_sum)
{
    float data[COUNT] = {0};
    yoke_comm_request_t *request = NULL;
    yoke_comm_call_t options = {.struct_size = sizeof options};
    options.queue = how == 1 ? world->queue : NULL;
    options.out_request = how == 2 ? &request : NULL;
    yoke_status_t status =
        yoke_comm_all_reduce(world->comm, yoke_comm_span(world->send, 0),
                             yoke_comm_span(world->recv, 0), COUNT, F32, SUM, &options);
    if (status == YOKE_OK && how == 2)
        status = yoke_comm_wait(&request);
    if (status == YOKE_OK)
        status =
            yoke_queue_read(world->queue, data, yoke_span(world->recv, 0), sizeof data);
    if (status == YOKE_OK)
        status = yoke_queue_sync(world->queue);
    for (int i = 1; i < COUNT; i++)
        if (data[i] != data[0])
            return YOKE_ERR_MISMATCH;
    *out_sum = data[0];
    return status;
}

static void device_name(char name[32], int rank)
{
    snprintf(name, 32, "cuda:%d", rank);
}

/* --- comm-11 */

static int five(int rank, int size, void *context)
{
    static const char *const devices[] = {"cuda:0", "cuda:1", "cuda:2", "hip:0", "hip:1"};
    static const int group[] = {0, 0, 1, 2, 2};
    world_t world;
    (void)context;
    setenv("YOKE_COMM_VENDOR", "always", 1);
    library("YOKE_LIB_NCCL",
            rank == 2 ? "nvidia/libnccl-2.20.5.so" : "nvidia/libnccl-2.18.6.so");
    RANK_CHECK(join(&world, devices[rank], rank, size) == YOKE_OK);
    yoke_vendors_t *vendors = world.comm->vendors;
    RANK_CHECK(vendors != NULL && vendors->groups == 3);
    for (int r = 0; r < size; r++)
        RANK_CHECK(vendors->group[r] == group[r]);
    RANK_CHECK((vendors->island == NULL) == (rank == 2));
    RANK_CHECK((vendors->leaders != NULL) == (rank == 0 || rank == 2 || rank == 3));
    RANK_CHECK(write_ranks(&world, rank) == YOKE_OK);
    for (int how = 0; how < 3; how++) {
        float total = 0;
        RANK_CHECK(sum(&world, how, &total) == YOKE_OK);
        RANK_CHECK(total == 15);
    }
    yoke_test_meet();
    leave(&world);
    return 0;
}

static void comm_11_library_versions(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(5, five, NULL), 0);
}

/* --- the settings */

static int whole(int rank, int size, void *context)
{
    const char *mode = context;
    char name[32];
    world_t world;
    setenv("YOKE_COMM_VENDOR", mode, 1);
    device_name(name, rank);
    RANK_CHECK(join(&world, name, rank, size) == YOKE_OK);
    RANK_CHECK((world.comm->vendors == NULL) == (strcmp(mode, "never") == 0));
    RANK_CHECK(write_ranks(&world, rank) == YOKE_OK);
    for (int how = 0; how < 3; how++) {
        float total = 0;
        RANK_CHECK(sum(&world, how, &total) == YOKE_OK);
        RANK_CHECK(total == (float)(size * (size + 1) / 2));
    }
    if (strcmp(mode, "always") == 0) {
        /* In host memory on one rank alone: still the same way. */
        float mine[4] = {(float)rank, 1, 2, 3}, all[16] = {0};
        RANK_CHECK(yoke_comm_all_gather(world.comm, yoke_comm_host(mine),
                                        yoke_comm_host(all), 4, F32, NULL) == YOKE_OK);
        for (int r = 0; r < size; r++)
            RANK_CHECK(all[4 * r] == (float)r && all[4 * r + 3] == 3);
        RANK_CHECK(yoke_comm_broadcast(world.comm, yoke_comm_host(mine), 4, F32, 1,
                                       NULL) == YOKE_OK);
        RANK_CHECK(mine[0] == 1);
    }
    yoke_test_meet();
    leave(&world);
    return 0;
}

static void modes(void **state)
{
    static char names[3][8] = {"never", "always", "auto"};
    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(yoke_test_ranks(3, whole, names[i]), 0);
}

static int disagree(int rank, int size, void *context)
{
    char name[32];
    world_t world;
    (void)context;
    setenv("YOKE_COMM_VENDOR", rank == 1 ? "never" : "always", 1);
    device_name(name, rank);
    RANK_CHECK(join(&world, name, rank, size) == YOKE_ERR_MISMATCH);
    RANK_CHECK(strstr(yoke_last_error(), "YOKE_COMM_VENDOR is always on rank 0 and never "
                                         "on rank 1") != NULL);
    leave(&world);
    setenv("YOKE_COMM_VENDOR", "sometimes", 1);
    RANK_CHECK(join(&world, name, rank, size) == YOKE_ERR_BAD_INPUT);
    leave(&world);
    return 0;
}

static void settings_that_disagree(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(2, disagree, NULL), 0);
}

/* --- what fails */

static void fault(const char *function, int64_t code)
{
    const yoke_vendor_t *vendor = NULL;
    void (*set)(const char *, yoke_fake_fault_t, int64_t, uint64_t);
    if (yoke_vendor_load("cuda", &vendor) != YOKE_OK)
        return;
    void *handle = dlopen(yoke_vendor_path(vendor), RTLD_NOW | RTLD_NOLOAD);
    *(void **)(void *)&set = handle != NULL ? dlsym(handle, "yoke_fake_fault") : NULL;
    if (set != NULL)
        set(function, YOKE_FAKE_ERROR, code, 1);
}

static int fails_at_setup(int rank, int size, void *context)
{
    bool always = context != NULL;
    char name[32];
    float total = 0;
    world_t world;
    setenv("YOKE_COMM_VENDOR", always ? "always" : "auto", 1);
    device_name(name, rank);
    if (rank == 0)
        fault("ncclGetUniqueId", 3);
    yoke_status_t status = join(&world, name, rank, size);
    if (always) {
        RANK_CHECK(status != YOKE_OK);
        leave(&world);
        return 0;
    }
    RANK_CHECK(status == YOKE_OK && world.comm->vendors == NULL);
    RANK_CHECK(write_ranks(&world, rank) == YOKE_OK);
    RANK_CHECK(sum(&world, 0, &total) == YOKE_OK && total == 3);
    yoke_test_meet();
    leave(&world);
    return 0;
}

static void failure_at_setup(void **state)
{
    static int yes = 1;
    (void)state;
    assert_int_equal(yoke_test_ranks(2, fails_at_setup, NULL), 0);
    assert_int_equal(yoke_test_ranks(2, fails_at_setup, &yes), 0);
}

static int one_dies(int rank, int size, void *context)
{
    char name[32];
    float total = 0;
    world_t world;
    (void)context;
    setenv("YOKE_COMM_VENDOR", "always", 1);
    device_name(name, rank);
    RANK_CHECK(join(&world, name, rank, size) == YOKE_OK);
    RANK_CHECK(write_ranks(&world, rank) == YOKE_OK);
    RANK_CHECK(sum(&world, 0, &total) == YOKE_OK);
    yoke_test_meet();
    if (rank == 1)
        raise(SIGKILL);
    RANK_CHECK(sum(&world, 0, &total) == YOKE_ERR_PEER_FAILED);
    leave(&world);
    return 0;
}

static void killed_rank(void **state)
{
    int statuses[3];
    (void)state;
    assert_int_equal(yoke_test_ranks_status(3, one_dies, NULL, statuses), 0);
    assert_true(WIFSIGNALED(statuses[1]));
    assert_int_equal(statuses[0], 0);
    assert_int_equal(statuses[2], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comm_11_library_versions),
        cmocka_unit_test(modes),
        cmocka_unit_test(settings_that_disagree),
        cmocka_unit_test(failure_at_setup),
        cmocka_unit_test(killed_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
