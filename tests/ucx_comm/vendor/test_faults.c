/* SPDX-License-Identifier: Apache-2.0 */
/* What goes wrong with a vendor's library: functions that fail or are not there, codes
 * that nobody knows, ids, ranks that do not come or stand still, asynchronous errors, a
 * lost device.
 *     vendor_faults RUNTIME FOLDER OF THE LIBRARIES */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/ucx_comm/ranks.h"
#include "tests/ucx_comm/vendor/world.h"

static const char *runtime;
static char scratch[] = "/tmp/yoke-vendor-XXXXXX";

static const yoke_vendor_t *loaded(void)
{
    const yoke_vendor_t *vendor = NULL;
    assert_int_equal(yoke_vendor_load(runtime, &vendor), YOKE_OK);
    return vendor;
}

/* ---- the vendor's functions fail, one after the other -------------------------------
 */

/* All that a communicator can be asked; the first error, or YOKE_OK. */
static yoke_status_t use_all(world_t *w, int *out_comm_made)
{
    static const yoke_collective_t all[] = {
        YOKE_COLLECTIVE_ALL_REDUCE,     YOKE_COLLECTIVE_REDUCE,
        YOKE_COLLECTIVE_REDUCE_SCATTER, YOKE_COLLECTIVE_ALL_GATHER,
        YOKE_COLLECTIVE_BROADCAST,      YOKE_COLLECTIVE_GATHER,
        YOKE_COLLECTIVE_SCATTER,        YOKE_COLLECTIVE_ALL_TO_ALL};
    char id[8192];
    yoke_status_t status = yoke_vendor_make_id(w->vendor, w->device, id);
    *out_comm_made = 0;
    if (status == YOKE_OK)
        status = yoke_vendor_comm_create_within(w->vendor, w->device, id, 1, 0, 20000,
                                                &w->comm);
    *out_comm_made = status == YOKE_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == YOKE_OK; i++) {
        bool fixed = all[i] == YOKE_COLLECTIVE_BROADCAST;
        if (!yoke_vendor_can(w->vendor, all[i], YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, NULL))
            continue;
        status = yoke_vendor_call(w->comm, all[i], fixed ? w->recv : w->send, w->recv, 4,
                                  YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, 0, w->queue);
    }
    if (status == YOKE_OK)
        status = world_sync(w);
    if (status == YOKE_OK)
        status = yoke_vendor_comm_status(w->comm);
    return status;
}

static bool is_harmless(const char *function) /* texts, and what only makes texts */
{
    return strstr(function, "Error") != NULL && strstr(function, "Async") == NULL;
}

static int fail_each(int rank, int size, void *context)
{
    world_t w;
    size_t count = 0, reached = 0;
    const char *const *(*names)(size_t *);
    uint64_t (*calls)(const char *);
    (void)context;
    alarm(60);
    RANK_CHECK(world_open(&w, runtime, rank, size) == YOKE_OK);
    *(void **)(void *)&names = world_hook(w.vendor, NULL, "yoke_fake_functions");
    *(void **)(void *)&calls = world_hook(w.vendor, NULL, "yoke_fake_calls_of");
    const char *const *functions = names(&count);
    for (size_t i = 0; i < count; i++)
        for (int kind = 0; kind < 2; kind++) {
            int64_t code = kind == 0 ? 0x5f : w.vendor->codes[1].code;
            const char *name;
            int64_t told;
            int made;
            uint64_t before = calls(functions[i]);
            world_fault(w.vendor, functions[i], YOKE_FAKE_ERROR, code);
            yoke_status_t status = use_all(&w, &made);
            world_fault(w.vendor, NULL, YOKE_FAKE_NONE, 0);
            bool called = calls(functions[i]) > before;
            bool ends = strstr(functions[i], "Destroy") != NULL ||
                        strstr(functions[i], "destroy") != NULL ||
                        strstr(functions[i], "FreeComm") != NULL;
            bool fails = called && !ends && !is_harmless(functions[i]);
            if (fails != (status != YOKE_OK))
                fprintf(stderr, "%s: called %d, status %d\n", functions[i], called,
                        (int)status);
            RANK_CHECK(fails == (status != YOKE_OK));
            if (fails) {
                reached++;
                RANK_CHECK(yoke_last_vendor_error(NULL, &told, &name) ||
                           strstr(yoke_last_error(), functions[i]) != NULL);
                RANK_CHECK(strstr(yoke_last_error(),
                                  kind == 0 ? "unknown code" : w.vendor->codes[1].name) !=
                           NULL);
                RANK_CHECK(strstr(yoke_last_error(), w.vendor->version) != NULL);
            }
            yoke_vendor_comm_destroy(w.comm);
            w.comm = NULL;
        }
    RANK_CHECK(reached >= 12);
    world_close(&w);
    return 0;
}

static void each_function_fails(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(1, fail_each, NULL), 0);
}

/* ---- functions that are not there ---------------------------------------------------
 */

/* A copy of the library in which one name is another: dlsym() does not find it. */
static bool without(const char *library, const char *function, char *out_path)
{
    static int number;
    char wanted[96];
    FILE *file = fopen(library, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0)
        return false;
    size_t size = (size_t)ftell(file), length = strlen(function), changed = 0;
    char *data = malloc(size);
    rewind(file);
    bool right = data != NULL && fread(data, 1, size, file) == size;
    fclose(file);
    snprintf(wanted, sizeof wanted, "%s", function);
    for (size_t i = 1; right && i + length < size; i++)
        if (data[i - 1] == '\0' && memcmp(data + i, wanted, length + 1) == 0) {
            data[i] = 'X';
            changed++;
        }
    sprintf(out_path, "%s/%d-%s", scratch, number++, strrchr(library, '/') + 1);
    file = fopen(out_path, "wb");
    right = right && changed > 0 && file != NULL && fwrite(data, 1, size, file) == size;
    if (file != NULL)
        fclose(file);
    free(data);
    return right;
}

static void each_function_is_missing(void **state)
{
    (void)state;
    const yoke_vendor_t *whole = loaded();
    size_t count = 0, refused = 0, lessened = 0;
    const char *const *(*names)(size_t *);
    *(void **)(void *)&names = world_hook(whole, NULL, "yoke_fake_functions");
    const char *const *functions = names(&count);
    for (size_t i = 0; i < count; i++) {
        char path[4352], why[128];
        yoke_vendor_t *vendor = NULL;
        assert_true(without(yoke_vendor_path(whole), functions[i], path));
        /* The header with BKCL's numbers lies beside the original. */
        yoke_status_t status = yoke_vendor_open(whole->kind, path, &vendor);
        if (status != YOKE_OK) {
            refused++;
            assert_non_null(strstr(yoke_last_error(), functions[i]));
            assert_non_null(strstr(yoke_last_error(), path));
            remove(path);
            continue;
        }
        bool lessens = false;
        for (int c = YOKE_COLLECTIVE_BROADCAST; c < YOKE_COLLECTIVE_COUNT; c++) {
            yoke_collective_t collective = (yoke_collective_t)c;
            bool could = yoke_vendor_can(whole, collective, YOKE_ELEMENT_F32, 0, NULL);
            bool can = yoke_vendor_can(vendor, collective, YOKE_ELEMENT_F32, 0, why);
            assert_false(can && !could);
            if (could && !can) {
                lessens = true;
                assert_non_null(strstr(why, functions[i]));
            }
        }
        lessened += lessens;
        if (yoke_vendor_can_abort(whole) && strcasestr(functions[i], "abort") != NULL)
            assert_false(yoke_vendor_can_abort(vendor));
        yoke_vendor_close(vendor);
        remove(path);
    }
    assert_true(refused >= 4);
    assert_true(lessened >= 4);
}

/* ---- loading ------------------------------------------------------------------------
 */

static char logged[65536];

static void keep_log(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    size_t used = strlen(logged);
    snprintf(logged + used, sizeof logged - used, "%s\n", line);
}

static void variable_of(const yoke_vendor_kind_t *kind, char variable[64])
{
    snprintf(variable, 64, "YOKE_LIB_%s", kind->key);
}

static void library_is_named(void **state)
{
    (void)state;
    const yoke_vendor_t *whole = loaded();
    char variable[64];
    yoke_vendor_t *vendor = NULL;
    variable_of(whole->kind, variable);
    yoke_log_set_sink(keep_log, NULL);
    yoke_log_set_level(YOKE_LOG_INFO);

    /* One that the process has is taken; the log says which, and its version. */
    logged[0] = '\0';
    assert_int_equal(yoke_vendor_open(whole->kind, NULL, &vendor), YOKE_OK);
    assert_non_null(strstr(logged, "has already") == NULL ? strstr(logged, "already")
                                                          : logged);
    assert_non_null(strstr(logged, yoke_vendor_path(whole)));
    assert_non_null(strstr(logged, yoke_vendor_version(whole)));
    yoke_vendor_close(vendor);

    setenv(variable, "/nowhere/libnothing.so", 1);
    assert_int_equal(yoke_vendor_open(whole->kind, NULL, &vendor), YOKE_ERR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(), "/nowhere/libnothing.so"));
    assert_non_null(strstr(yoke_last_error(), variable));

    setenv(variable, "libm.so.6", 1); /* a library, but not this one */
    assert_int_equal(yoke_vendor_open(whole->kind, NULL, &vendor), YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), whole->kind->marker));

    setenv(variable, yoke_vendor_path(whole), 1);
    assert_int_equal(yoke_vendor_open(whole->kind, NULL, &vendor), YOKE_OK);
    assert_string_equal(yoke_vendor_version(vendor), yoke_vendor_version(whole));
    yoke_vendor_close(vendor);
    unsetenv(variable);
    yoke_log_set_level(YOKE_LOG_WARNING);
    yoke_log_set_sink(NULL, NULL);
    assert_int_equal(yoke_vendor_load("nothing", &whole), YOKE_ERR_NOT_FOUND);
    assert_int_equal(yoke_vendor_load("level_zero", &whole), YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "SYCL"));
}

static void namesakes_are_told_apart(void **state)
{
    (void)state;
    const char *libraries = getenv("VENDOR_LIBRARIES");
    char path[4200];
    yoke_vendor_t *vendor = NULL;
    snprintf(path, sizeof path, "%s/musa/libmccl.so", libraries);
    assert_int_equal(yoke_vendor_open(yoke_vendor_kind("mccl-maca"), path, &vendor),
                     YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "Moore Threads"));
    assert_int_equal(yoke_vendor_open(yoke_vendor_kind("mccl-musa"), path, &vendor),
                     YOKE_OK);
    yoke_vendor_close(vendor);
    snprintf(path, sizeof path, "%s/maca/libmccl.so", libraries);
    assert_int_equal(yoke_vendor_open(yoke_vendor_kind("mccl-musa"), path, &vendor),
                     YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "MetaX"));
}

/* ---- maps ---------------------------------------------------------------------------
 */

static void maps_are_total(void **state)
{
    (void)state;
    const yoke_vendor_t *vendor = loaded();
    char why[128];
    for (int i = -3; i < 100; i++) {
        bool element = i >= 0 && i < YOKE_ELEMENT_COUNT;
        bool reduction = i >= 0 && i < YOKE_REDUCTION_COUNT;
        bool collective = i > YOKE_COLLECTIVE_BARRIER && i < YOKE_COLLECTIVE_COUNT;
        if (!collective)
            assert_false(yoke_vendor_can(vendor, (yoke_collective_t)i, YOKE_ELEMENT_F32,
                                         YOKE_REDUCE_SUM, why));
        if (!element)
            assert_false(yoke_vendor_can(vendor, YOKE_COLLECTIVE_ALL_GATHER,
                                         (yoke_element_t)i, YOKE_REDUCE_SUM, why));
        if (!reduction)
            assert_false(yoke_vendor_can(vendor, YOKE_COLLECTIVE_ALL_REDUCE,
                                         YOKE_ELEMENT_F32, (yoke_reduction_t)i, why));
        assert_true(strlen(why) > 0 || (element && reduction && collective));
    }
    size_t good = 0;
    for (int64_t code = -10; code < 2000; code++) {
        const yoke_vendor_code_t *known = yoke_vendor_code(vendor, code);
        good += yoke_vendor_good(vendor, code);
        if (yoke_vendor_good(vendor, code))
            continue;
        yoke_status_t status = yoke_vendor_fail(vendor, NULL, "call", code);
        assert_true(status != YOKE_OK);
        assert_non_null(
            strstr(yoke_last_error(), known != NULL ? known->name : "unknown code"));
    }
    assert_int_equal(good, 1);
    /* No number stands for two elements or reductions. */
    for (int i = 0; i < YOKE_ELEMENT_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_true(vendor->elements[i] < 0 ||
                        vendor->elements[i] != vendor->elements[j]);
    for (int i = 0; i < YOKE_REDUCTION_COUNT; i++)
        for (int j = 0; j < i; j++)
            assert_true(vendor->reductions[i] < 0 ||
                        vendor->reductions[i] != vendor->reductions[j]);
}

/* ---- communicators ------------------------------------------------------------------
 */

static int wrong_arguments(int rank, int size, void *context)
{
    world_t w;
    char id[8192];
    yoke_vendor_comm_t *comm = NULL;
    (void)context;
    alarm(60);
    RANK_CHECK(world_open(&w, runtime, rank, size) == YOKE_OK);
    RANK_CHECK(yoke_vendor_make_id(w.vendor, w.device, NULL) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_vendor_make_id(w.vendor, w.device, id) == YOKE_OK);
    RANK_CHECK(yoke_vendor_comm_create(w.vendor, w.device, id, 2, 2, &comm) ==
               YOKE_ERR_USAGE);
    id[yoke_vendor_id_size(w.vendor) - 9] ^= 1; /* every byte of it must arrive */
    RANK_CHECK(yoke_vendor_comm_create(w.vendor, w.device, id, 1, 0, &comm) != YOKE_OK);
    RANK_CHECK(comm == NULL);
    id[yoke_vendor_id_size(w.vendor) - 9] ^= 1;
    RANK_CHECK(yoke_vendor_comm_create_within(w.vendor, w.device, id, 1, 0, 0, &w.comm) ==
               YOKE_OK);
    RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_ALL_REDUCE, w.send + 1, w.recv, 1,
                                YOKE_ELEMENT_F32, 0, 0, w.queue) == YOKE_ERR_UNSUPPORTED);
    RANK_CHECK(strstr(yoke_last_error(), "aligned") != NULL);
    RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_ALL_REDUCE, NULL, w.recv, 1,
                                YOKE_ELEMENT_F32, 0, 0, w.queue) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_BROADCAST, w.recv, w.recv, 1,
                                YOKE_ELEMENT_F32, 0, 1, w.queue) == YOKE_ERR_USAGE);
    RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_ALL_REDUCE, w.send, w.recv,
                                UINT64_MAX / 2, YOKE_ELEMENT_F32, 0, 0,
                                w.queue) == YOKE_ERR_OUT_OF_RANGE);
    RANK_CHECK(yoke_vendor_group_end(w.comm) == YOKE_ERR_USAGE);
    /* None of these has hurt it. */
    RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_ALL_REDUCE, w.send, w.recv, 1,
                                YOKE_ELEMENT_F32, 0, 0, w.queue) == YOKE_OK);
    RANK_CHECK(world_sync(&w) == YOKE_OK);
    world_close(&w);
    return 0;
}

static void arguments_are_checked(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(1, wrong_arguments, NULL), 0);
}

static int nobody_comes(int rank, int size, void *context)
{
    world_t w;
    char id[8192];
    (void)context;
    alarm(60);
    RANK_CHECK(world_open(&w, runtime, rank, size) == YOKE_OK);
    RANK_CHECK(yoke_vendor_make_id(w.vendor, w.device, id) == YOKE_OK);
    RANK_CHECK(yoke_vendor_comm_create_within(w.vendor, w.device, id, 2, 0, 200,
                                              &w.comm) == YOKE_ERR_TIMEOUT);
    RANK_CHECK(strstr(yoke_last_error(), "200 ms") != NULL);
    _exit(0); /* the thread that was left behind is the library's to end */
}

static void ranks_that_do_not_come(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(1, nobody_comes, NULL), 0);
}

/* Ranks that disagree about the number of ranks. */
static int disagree(int rank, int size, void *context)
{
    world_t w;
    (void)context;
    alarm(60);
    RANK_CHECK(world_open(&w, runtime, rank, size) == YOKE_OK);
    char id[8192];
    RANK_CHECK(world_id(&w, id) == YOKE_OK);
    RANK_CHECK(yoke_vendor_comm_create_within(w.vendor, w.device, id, 2 + rank, rank,
                                              20000, &w.comm) != YOKE_OK);
    yoke_test_meet();
    world_close(&w);
    return 0;
}

static void ranks_that_disagree(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(2, disagree, NULL), 0);
}

/* Rank 1 does not call; rank 0 ends its own work, or is told that it cannot. */
static int stand_still(int rank, int size, void *context)
{
    world_t w;
    (void)context;
    alarm(60);
    RANK_CHECK(world_open(&w, runtime, rank, size) == YOKE_OK);
    RANK_CHECK(world_join(&w, 20000) == YOKE_OK);
    bool waits = (w.vendor->kind->flags & YOKE_VENDOR_HOST) != 0 ||
                 w.vendor->kind->id_size == 0; /* the call itself would not return */
    if (rank == 0 && !waits) {
        RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_ALL_REDUCE, w.send, w.recv, 4,
                                    YOKE_ELEMENT_F32, 0, 0, w.queue) == YOKE_OK);
        usleep(20000);
        RANK_CHECK(yoke_queue_query(w.queue) == YOKE_ERR_NOT_READY);
        RANK_CHECK(yoke_vendor_comm_status(w.comm) == YOKE_OK);
    }
    if (yoke_vendor_can_abort(w.vendor)) {
        RANK_CHECK(yoke_vendor_comm_abort(w.comm) == YOKE_OK);
        RANK_CHECK(yoke_vendor_comm_abort(w.comm) == YOKE_OK);
        RANK_CHECK(world_sync(&w) == YOKE_OK); /* it has ended */
        RANK_CHECK(yoke_vendor_comm_status(w.comm) == YOKE_ERR_REVOKED);
    } else {
        RANK_CHECK(yoke_vendor_comm_abort(w.comm) == YOKE_ERR_UNSUPPORTED);
        RANK_CHECK(strstr(yoke_last_error(), w.vendor->kind->name) != NULL);
    }
    RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_ALL_REDUCE, w.send, w.recv, 4,
                                YOKE_ELEMENT_F32, 0, 0, w.queue) == YOKE_ERR_REVOKED);
    yoke_vendor_comm_destroy(w.comm); /* does not wait for the other, either way */
    yoke_test_meet();
    _exit(0);
}

static void abort_ends_work(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(2, stand_still, NULL), 0);
}

static int asynchronous(int rank, int size, void *context)
{
    world_t w;
    void (*set)(int64_t);
    (void)context;
    alarm(60);
    RANK_CHECK(world_open(&w, runtime, rank, size) == YOKE_OK);
    RANK_CHECK(world_join(&w, 20000) == YOKE_OK);
    *(void **)(void *)&set = world_hook(w.vendor, NULL, "yoke_fake_ccl_async");
    bool tells =
        (w.vendor->kind->flags & YOKE_VENDOR_HOST) == 0 && w.vendor->kind->id_size != 0;
    for (size_t i = 0; i < w.vendor->code_count && tells; i++) {
        const yoke_vendor_code_t *code = &w.vendor->codes[i];
        set(code->code);
        w.comm->failed = false;
        RANK_CHECK(yoke_vendor_comm_status(w.comm) == code->status);
        RANK_CHECK(code->status == YOKE_OK ||
                   strstr(yoke_last_error(), code->name) != NULL);
    }
    if (tells) {
        set(0x77);
        RANK_CHECK(yoke_vendor_comm_status(w.comm) == YOKE_ERR_SYSTEM);
        RANK_CHECK(strstr(yoke_last_error(), "unknown code (119)") != NULL);
    }
    set(0);
    w.comm->failed = false;
    RANK_CHECK(yoke_vendor_comm_status(w.comm) == YOKE_OK);
    world_close(&w);
    return 0;
}

static void asynchronous_errors(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(1, asynchronous, NULL), 0);
}

static int lose_device(int rank, int size, void *context)
{
    world_t w;
    void (*lose)(int);
    (void)context;
    alarm(60);
    RANK_CHECK(world_open(&w, runtime, rank, size) == YOKE_OK);
    RANK_CHECK(world_join(&w, 20000) == YOKE_OK);
    if (w.queue != NULL) {
        *(void **)(void *)&lose = world_hook(w.vendor, NULL, "yoke_fake_lose");
        lose(0);
        RANK_CHECK(yoke_vendor_comm_status(w.comm) != YOKE_OK);
        RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_ALL_REDUCE, w.send, w.recv, 4,
                                    YOKE_ELEMENT_F32, 0, 0, w.queue) == YOKE_ERR_REVOKED);
    }
    yoke_vendor_comm_destroy(w.comm);
    _exit(0);
}

static void lost_device(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(1, lose_device, NULL), 0);
}

/* A group that fails is closed: the next works. */
static int fail_in_group(int rank, int size, void *context)
{
    world_t w;
    int made;
    (void)context;
    alarm(60);
    RANK_CHECK(world_open(&w, runtime, rank, size) == YOKE_OK);
    RANK_CHECK(use_all(&w, &made) == YOKE_OK);
    if (yoke_vendor_can(w.vendor, YOKE_COLLECTIVE_SEND_RECV, YOKE_ELEMENT_F32, 0, NULL)) {
        RANK_CHECK(yoke_vendor_group_begin(w.comm) == YOKE_OK);
        RANK_CHECK(yoke_vendor_group_begin(w.comm) == YOKE_ERR_USAGE);
        RANK_CHECK(yoke_vendor_call(w.comm, YOKE_COLLECTIVE_SEND_RECV, w.send, NULL, 4,
                                    YOKE_ELEMENT_F32, 0, 7, w.queue) == YOKE_ERR_USAGE);
        RANK_CHECK(yoke_vendor_group_end(w.comm) == YOKE_OK);
    }
    yoke_vendor_comm_destroy(w.comm);
    w.comm = NULL;
    RANK_CHECK(use_all(&w, &made) == YOKE_OK);
    world_close(&w);
    return 0;
}

static void groups_are_closed(void **state)
{
    (void)state;
    assert_int_equal(yoke_test_ranks(1, fail_in_group, NULL), 0);
}

int main(int count, char **arguments)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_total),
        cmocka_unit_test(each_function_fails),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(ranks_that_do_not_come),
        cmocka_unit_test(ranks_that_disagree),
        cmocka_unit_test(abort_ends_work),
        cmocka_unit_test(asynchronous_errors),
        cmocka_unit_test(lost_device),
        cmocka_unit_test(groups_are_closed),
        cmocka_unit_test(library_is_named),
        cmocka_unit_test(namesakes_are_told_apart),
        cmocka_unit_test(each_function_is_missing),
    };
    if (count < 2 || mkdtemp(scratch) == NULL)
        return 2;
    runtime = arguments[1];
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(scratch);
    return failed;
}
