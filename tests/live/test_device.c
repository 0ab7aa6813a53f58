/* SPDX-License-Identifier: Apache-2.0 */
/* Backends, names of devices, what they say of themselves, accounts and loss. */
#include "tests/live/mock.h"

#include <stdio.h>
#include <stdlib.h>

#include "hal/live/registry.h"

/* --- backends ------------------------------------------------------------------------
 */

static void bad_tables_are_refused(void **state)
{
    (void)state;
    yoke_backend_ops_t ops = mock_ops;
    ops.abi_major = 9;
    assert_fails(yoke_registry_add(&ops, "x.so", NULL), YOKE_ERR_UNSUPPORTED, "ABI 9");
    ops = mock_ops;
    ops.struct_size = 8;
    assert_fails(yoke_registry_add(&ops, "x.so", NULL), YOKE_ERR_UNSUPPORTED, "x.so");
    ops = mock_ops;
    ops.name = "mock2";
    ops.queue_wait = NULL;
    assert_fails(yoke_registry_add(&ops, "x.so", NULL), YOKE_ERR_UNSUPPORTED,
                 "'queue_wait'");
    ops = mock_ops;
    ops.name = "Mock";
    assert_fails(yoke_registry_add(&ops, "x.so", NULL), YOKE_ERR_USAGE, "small letters");
    ops.name = NULL;
    assert_fails(yoke_registry_add(&ops, "x.so", NULL), YOKE_ERR_USAGE, "small letters");
    assert_fails(yoke_registry_add(&mock_ops, "x.so", NULL), YOKE_ERR_USAGE, "already");
}

/* A table that ends after the last required slot: what it lacks is NULL, and the bits
 * behind it are clear although the device claims them. */
static void short_table_loses_capabilities(void **state)
{
    (void)state;
    yoke_backend_ops_t ops = mock_ops;
    ops.name = "mock_short";
    ops.struct_size = offsetof(yoke_backend_ops_t, event_elapsed);
    ops.buffer_address = NULL;
    assert_ok(yoke_registry_add(&ops, "short.so", NULL));
    yoke_device_t *device = NULL;
    yoke_device_info_t info = {.struct_size = sizeof info};
    assert_ok(yoke_device_open("mock_short", NULL, &device));
    assert_ok(yoke_device_info(device, &info));
    assert_string_equal(info.backend, "mock_short");
    assert_int_equal(info.capabilities &
                         ~((uint64_t)YOKE_CAP_PINNED | YOKE_CAP_SHARED |
                           YOKE_CAP_HOST_CALL | YOKE_CAP_PRIORITY | ~((1ull << 17) - 1)),
                     0);
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    double seconds = 0;
    assert_ok(yoke_queue_create(device, NULL, &queue));
    assert_ok(yoke_event_create(device, 0, &event));
    assert_fails(yoke_event_create(device, YOKE_EVENT_TIMING, &event),
                 YOKE_ERR_UNSUPPORTED, "no time");
    assert_fails(yoke_event_elapsed(event, event, &seconds), YOKE_ERR_USAGE,
                 "YOKE_EVENT_TIMING");
    yoke_event_destroy(event);
    yoke_queue_destroy(queue);
    yoke_device_close(device);
    assert_int_equal(mock.alive, 0);
}

static void list_has_all(void **state)
{
    (void)state;
    const char *const *names = NULL;
    size_t count = 0;
    bool found = false;
    assert_ok(yoke_backends_list(&names, &count));
    for (size_t i = 0; i < count; i++)
        found = found || strcmp(names[i], "mock") == 0;
    assert_true(found);
    assert_fails(yoke_backends_list(NULL, &count), YOKE_ERR_USAGE, "NULL");
}

static void failed_runtime_is_tried_again(void **state)
{
    (void)state;
    yoke_backend_ops_t ops = mock_ops;
    uint32_t count = 0;
    ops.name = "mock_again";
    assert_ok(yoke_registry_add(&ops, "again", NULL));
    mock.answer = YOKE_ERR_SYSTEM;
    assert_fails(yoke_device_count("mock_again", &count), YOKE_ERR_SYSTEM, "mockInit");
    assert_ok(yoke_device_count("mock_again", &count));
    assert_int_equal(count, 2);
    assert_ok(yoke_device_count("mock_again", &count));
    assert_int_equal(mock.opened, 2);
}

static void setting_keeps_backends_out(void **state)
{
    (void)state;
    yoke_device_t *device = NULL;
    setenv("YOKE_BACKENDS", "cuda,null", 1);
    assert_fails(yoke_device_open("mock", NULL, &device), YOKE_ERR_NOT_FOUND,
                 "YOKE_BACKENDS=cuda,null");
    setenv("YOKE_BACKENDS", "null,mock", 1);
    assert_ok(yoke_device_open("mock", NULL, &device));
    unsetenv("YOKE_BACKENDS");
    yoke_device_close(device);
}

/* --- names ---------------------------------------------------------------------------
 */

static uint32_t opened_as(const char *name)
{
    yoke_device_t *device = NULL;
    yoke_device_info_t info = {.struct_size = sizeof info};
    if (yoke_device_open(name, NULL, &device) != YOKE_OK)
        fail_msg("%s: %s", name, yoke_last_error());
    assert_ok(yoke_device_info(device, &info));
    yoke_device_close(device);
    return info.ordinal;
}

static void names_find_devices(void **state)
{
    (void)state;
    assert_int_equal(opened_as("mock"), 0);
    assert_int_equal(opened_as("mock:0"), 0);
    assert_int_equal(opened_as("mock:1"), 1);
    assert_int_equal(opened_as("mock:0000:42:00.0"), 1);
    assert_int_equal(opened_as("mock:41:00.0"), 0);
    assert_int_equal(opened_as("mock:GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1"), 1);
    assert_int_equal(opened_as("mock:A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0A0"), 0);
    assert_int_equal(opened_as("mock:a0a0a0a0-a0a0a0a0a0a0a0a0a0a0a0a0"), 0);
}

static void bad_names_are_told(void **state)
{
    (void)state;
    yoke_device_t *device = NULL;
    static const char *const unreadable[] = {
        "",
        ":",
        ":0",
        "mock:",
        "mock:x",
        "mock:-1",
        "mock:+1",
        "mock:1 ",
        "mock:4294967296",
        "mock:41:00",
        "mock:GPU-",
        "mock:GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1a1",
        "mock:GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1"};
    for (size_t i = 0; i < sizeof unreadable / sizeof unreadable[0]; i++)
        assert_fails(yoke_device_open(unreadable[i], NULL, &device), YOKE_ERR_USAGE,
                     "no name of a device");
    assert_fails(yoke_device_open("mock:2", NULL, &device), YOKE_ERR_NOT_FOUND,
                 "mock:1 (Mock B, 0000:42:00.0, a1a1a1a1-a1a1-");
    assert_fails(yoke_device_open("mock:0001:41:00.0", NULL, &device), YOKE_ERR_NOT_FOUND,
                 "there are: mock:0 (Mock A");
    assert_fails(yoke_device_open("nothing:0", NULL, &device), YOKE_ERR_NOT_FOUND,
                 "no backend 'nothing'; there are: ");
    assert_fails(yoke_device_open("moc", NULL, &device), YOKE_ERR_NOT_FOUND, "'moc'");
    assert_null(device);
}

/* --- queries -------------------------------------------------------------------------
 */

static void info_is_written_up_to_its_size(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(1, 0);
    yoke_device_info_t info;
    memset(&info, 0x5a, sizeof info);
    info.struct_size = offsetof(yoke_device_info_t, vendor);
    assert_ok(yoke_device_info(device, &info));
    assert_string_equal(info.name, "Mock B");
    assert_int_equal(info.struct_size, offsetof(yoke_device_info_t, vendor));
    assert_int_equal(((unsigned char *)&info)[offsetof(yoke_device_info_t, vendor)],
                     0x5a);
    info.struct_size = 0;
    assert_fails(yoke_device_info(device, &info), YOKE_ERR_USAGE, "struct_size");
    info.struct_size = sizeof info;
    assert_ok(yoke_device_info(device, &info));
    assert_string_equal(info.vendor, "");
    assert_int_equal(info.subgroup, 1);
    yoke_device_options_t options = {0};
    yoke_device_t *other = NULL;
    assert_fails(yoke_device_open("mock", &options, &other), YOKE_ERR_USAGE,
                 "struct_size");
    yoke_device_close(device);
}

/* The device says that it has 1 MiB and never refuses: the account does. Two handles of
 * one device share it; pinned memory is the host's. */
static void account_refuses_too_much(void **state)
{
    (void)state;
    mock.capabilities &= ~(uint64_t)YOKE_CAP_FREE_MEMORY;
    yoke_device_t *device = mock_device(0, 0), *again = mock_device(0, 0);
    yoke_device_t *other = mock_device(1, 0);
    yoke_buffer_t *big = NULL, *small = NULL, *pinned = NULL;
    uint64_t available = 0, total = 0;
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, (1 << 20) - 100, &big));
    assert_fails(yoke_buffer_create(again, YOKE_MEMORY_DEVICE, 101, &small),
                 YOKE_ERR_DEVICE_MEMORY, "100 B of 1.00 MiB free");
    assert_ok(yoke_buffer_create(again, YOKE_MEMORY_HOST, 101, &pinned));
    assert_ok(yoke_device_memory(again, &available, &total));
    assert_int_equal(available, 100);
    assert_int_equal(total, 1 << 20);
    yoke_buffer_destroy(pinned);
    assert_ok(yoke_buffer_create(other, YOKE_MEMORY_DEVICE, 101, &small));
    yoke_buffer_destroy(small);
    assert_ok(yoke_buffer_create(again, YOKE_MEMORY_SHARED, 100, &small));
    yoke_buffer_destroy(small);
    assert_ok(yoke_device_limit_memory(device, 10));
    assert_fails(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 1, &small),
                 YOKE_ERR_DEVICE_MEMORY, "asked for");
    assert_ok(yoke_device_limit_memory(device, 0));
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 101, &small));
    yoke_buffer_destroy(small);
    yoke_buffer_destroy(big);
    /* What the runtime refuses is given back to the account. */
    mock.answer = YOKE_ERR_DEVICE_MEMORY;
    assert_fails(yoke_buffer_create(again, YOKE_MEMORY_DEVICE, 1 << 20, &big),
                 YOKE_ERR_DEVICE_MEMORY, "mockMalloc: MOCK_BROKEN (77)");
    assert_ok(yoke_buffer_create(again, YOKE_MEMORY_DEVICE, 1 << 20, &big));
    yoke_buffer_destroy(big);
    yoke_device_close(device);
    yoke_device_close(again);
    yoke_device_close(other);
    assert_int_equal(mock.alive, 0);
}

typedef struct tally {
    int allocated, released;
    void *last;
    bool refuse;
} tally_t;

static void *allocate(void *context, size_t size)
{
    tally_t *tally = context;
    assert_int_equal(mock.current, 1); /* the device is current */
    if (tally->refuse)
        return NULL;
    tally->allocated++;
    return tally->last = malloc(size);
}

static void release(void *context, void *address, size_t size)
{
    tally_t *tally = context;
    assert_int_equal(mock.current, 1);
    assert_int_equal(size, 64);
    assert_ptr_equal(address, tally->last);
    tally->released++;
    free(address);
}

static void allocator_serves_device_memory(void **state)
{
    (void)state;
    tally_t tally = {0};
    const yoke_allocator_t allocator = {sizeof allocator, allocate, release, &tally};
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    yoke_device_t *device = NULL;
    yoke_buffer_t *buffer = NULL;
    void *address = NULL;
    options.allocator = &allocator;
    assert_ok(yoke_device_open("mock", &options, &device));
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &buffer));
    assert_ok(yoke_buffer_address(buffer, &address));
    assert_ptr_equal(address, tally.last);
    yoke_buffer_destroy(buffer);
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_HOST, 64, &buffer));
    yoke_buffer_destroy(buffer);
    assert_int_equal(tally.allocated, 1);
    assert_int_equal(tally.released, 1);
    mock.answer = YOKE_ERR_SYSTEM; /* wrapping fails: it is released */
    assert_fails(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &buffer),
                 YOKE_ERR_SYSTEM, "mockWrapBuffer");
    assert_int_equal(tally.released, 2);
    tally.refuse = true;
    assert_fails(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &buffer),
                 YOKE_ERR_DEVICE_MEMORY, "allocator");
    yoke_device_close(device);
    mock.capabilities &= ~(uint64_t)YOKE_CAP_ADDRESS;
    assert_fails(yoke_device_open("mock", &options, &device), YOKE_ERR_UNSUPPORTED,
                 "no address");
    assert_int_equal(mock.alive, 0);
}

/* --- failures ------------------------------------------------------------------------
 */

static void vendor_errors_have_parts(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(0, 0);
    yoke_queue_t *queue = NULL;
    const char *call = NULL, *name = NULL;
    int64_t code = 0;
    assert_ok(yoke_queue_create(device, NULL, &queue));
    mock.answer = YOKE_ERR_SYSTEM;
    assert_fails(yoke_queue_sync(queue), YOKE_ERR_SYSTEM, "mockSync: MOCK_BROKEN (77)");
    assert_true(yoke_last_vendor_error(&call, &code, &name));
    assert_string_equal(call, "mockSync");
    assert_int_equal(code, MOCK_CODE);
    assert_string_equal(name, "MOCK_BROKEN");
    assert_int_equal(yoke_queue_sync(NULL), YOKE_ERR_USAGE);
    assert_false(yoke_last_vendor_error(&call, &code, &name));
    assert_string_equal(call, "mockSync");
    /* Not ready leaves no message. */
    mock.answer = YOKE_ERR_SYSTEM;
    yoke_queue_sync(queue);
    mock.not_ready = true;
    assert_int_equal(yoke_queue_query(queue), YOKE_ERR_NOT_READY);
    assert_true(yoke_last_vendor_error(NULL, NULL, NULL));
    /* More was said: it stays the vendor's. */
    yoke_buffer_t *buffer = NULL;
    mock.answer = YOKE_ERR_DEVICE_MEMORY;
    assert_int_equal(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 4, &buffer),
                     YOKE_ERR_DEVICE_MEMORY);
    assert_true(yoke_last_vendor_error(&call, &code, &name));
    assert_string_equal(call, "mockMalloc");
    yoke_queue_destroy(queue);
    yoke_device_close(device);
}

static void lost_device_takes_no_more(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(0, 0), *other = mock_device(1, 0);
    yoke_queue_t *queue = NULL, *second = NULL, *others = NULL;
    yoke_buffer_t *buffer = NULL, *refused = NULL;
    yoke_event_t *event = NULL;
    assert_ok(yoke_queue_create(device, NULL, &queue));
    assert_ok(yoke_queue_create(device, NULL, &second));
    assert_ok(yoke_queue_create(other, NULL, &others));
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &buffer));
    assert_ok(yoke_event_create(device, 0, &event));
    uint32_t word = 1;
    mock.answer = YOKE_ERR_DEVICE_LOST;
    assert_int_equal(yoke_queue_write(queue, yoke_span(buffer, 0), &word, 4),
                     YOKE_ERR_DEVICE_LOST);
    int calls = mock.calls;
    assert_fails(yoke_device_status(device), YOKE_ERR_DEVICE_LOST, "mock:0");
    assert_int_equal(yoke_queue_write(second, yoke_span(buffer, 0), &word, 4),
                     YOKE_ERR_DEVICE_LOST);
    assert_int_equal(yoke_queue_sync(second), YOKE_ERR_DEVICE_LOST);
    assert_int_equal(yoke_queue_query(queue), YOKE_ERR_DEVICE_LOST);
    assert_int_equal(yoke_event_record(event, second), YOKE_ERR_DEVICE_LOST);
    assert_int_equal(yoke_event_query(event), YOKE_ERR_DEVICE_LOST);
    assert_int_equal(yoke_queue_wait(others, event), YOKE_ERR_DEVICE_LOST);
    assert_int_equal(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &refused),
                     YOKE_ERR_DEVICE_LOST);
    assert_int_equal(yoke_queue_create(device, NULL, &queue), YOKE_ERR_DEVICE_LOST);
    assert_int_equal(mock.calls, calls); /* nothing reached the vendor */
    assert_int_equal(yoke_buffer_size(buffer), 64);
    assert_ok(yoke_queue_sync(others));
    assert_ok(yoke_device_status(other));
    int synced = mock.synced;
    yoke_queue_destroy(queue);
    yoke_queue_destroy(second);
    assert_int_equal(mock.synced, synced);
    yoke_buffer_destroy(buffer);
    yoke_event_destroy(event);
    yoke_device_close(device);
    yoke_queue_destroy(others);
    yoke_device_close(other);
    assert_int_equal(mock.alive, 0);
}

static void objects_keep_their_device(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(0, 0);
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *buffer = NULL;
    assert_ok(yoke_queue_create(device, NULL, &queue));
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 64, &buffer));
    yoke_device_close(device);
    assert_int_equal(mock.alive, 3);
    assert_ptr_equal(yoke_queue_device(queue), device);
    uint32_t word = 1, back = 0;
    assert_ok(yoke_queue_write(queue, yoke_span(buffer, 8), &word, 4));
    assert_ok(yoke_queue_read(queue, &back, yoke_span(buffer, 8), 4));
    assert_int_equal(back, 1);
    yoke_queue_destroy(queue);
    assert_int_equal(mock.synced, 1);
    assert_int_equal(mock.alive, 2);
    yoke_buffer_destroy(buffer);
    assert_int_equal(mock.alive, 0);
}

/* Each call that makes something fails in turn: nothing stays, nothing is handed out. */
static void failures_leave_nothing(void **state)
{
    (void)state;
    yoke_device_t *device = NULL;
    mock.answer = YOKE_ERR_SYSTEM;
    assert_fails(yoke_device_open("mock", NULL, &device), YOKE_ERR_SYSTEM, "mockOpen");
    assert_null(device);
    assert_int_equal(mock.alive, 0);
    device = mock_device(0, 0);
    int base = mock.alive;
    yoke_buffer_t *buffer = NULL;
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    int handle = 0;
#define EACH(call)                                                                       \
    mock.answer = YOKE_ERR_SYSTEM;                                                       \
    assert_fails(call, YOKE_ERR_SYSTEM, "MOCK_BROKEN");                                  \
    assert_int_equal(mock.alive, base)
    EACH(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 4, &buffer));
    EACH(yoke_queue_create(device, NULL, &queue));
    EACH(yoke_event_create(device, 0, &event));
    EACH(yoke_buffer_wrap(device, YOKE_MEMORY_DEVICE, &handle, 4, NULL, NULL, &buffer));
    EACH(yoke_queue_wrap(device, &handle, NULL, NULL, &queue));
    EACH(yoke_event_wrap(device, &handle, NULL, NULL, &event));
    assert_null(buffer);
    assert_null(queue);
    assert_null(event);
    yoke_device_close(device);
}

/* --- peers ---------------------------------------------------------------------------
 */

static void copies_between_devices(void **state)
{
    (void)state;
    yoke_device_t *a = mock_device(0, 0), *b = mock_device(1, 0), *null = NULL;
    yoke_device_t *again = mock_device(0, 0);
    yoke_queue_t *queue = NULL;
    yoke_buffer_t *here = NULL, *there = NULL, *pinned = NULL, *same = NULL, *far = NULL;
    bool can = true;
    assert_ok(yoke_device_open("null", NULL, &null));
    assert_ok(yoke_queue_create(a, NULL, &queue));
    assert_ok(yoke_buffer_create(a, YOKE_MEMORY_DEVICE, 64, &here));
    assert_ok(yoke_buffer_create(b, YOKE_MEMORY_DEVICE, 64, &there));
    assert_ok(yoke_buffer_create(b, YOKE_MEMORY_HOST, 64, &pinned));
    assert_ok(yoke_buffer_create(again, YOKE_MEMORY_DEVICE, 64, &same));
    assert_ok(yoke_buffer_create(null, YOKE_MEMORY_DEVICE, 64, &far));
    assert_ok(yoke_device_can_reach(a, b, &can));
    assert_false(can);
    assert_ok(yoke_device_can_reach(a, null, &can));
    assert_false(can);
    assert_ok(yoke_device_can_reach(a, again, &can));
    assert_true(can);
#define COPY(to, from) yoke_queue_copy(queue, yoke_span(to, 0), yoke_span(from, 0), 64)
    assert_fails(COPY(here, there), YOKE_ERR_UNREACHABLE, "mock:1");
    assert_fails(COPY(here, far), YOKE_ERR_UNREACHABLE, "null:0");
    assert_fails(COPY(far, here), YOKE_ERR_UNREACHABLE, "null:0");
    assert_ok(COPY(here, pinned));
    assert_ok(COPY(same, here));
    assert_int_equal(mock.peers_enabled, 0);
    mock.peers = true;
    assert_ok(COPY(here, there));
    assert_ok(COPY(there, here));
    assert_int_equal(mock.peers_enabled, 1);
    assert_fails(yoke_queue_write(queue, yoke_span(far, 0), "x", 1), YOKE_ERR_USAGE,
                 "the buffer is of null:0");
    yoke_buffer_destroy(here);
    yoke_buffer_destroy(there);
    yoke_buffer_destroy(pinned);
    yoke_buffer_destroy(same);
    yoke_buffer_destroy(far);
    yoke_queue_destroy(queue);
    yoke_device_close(a);
    yoke_device_close(again);
    yoke_device_close(b);
    yoke_device_close(null);
    assert_int_equal(mock.alive, 0);
}

/* Memory that is out: how much was wanted, and how much is free on the host. */
static void free_host_memory_is_told(void **state)
{
    (void)state;
    static const yoke_status_t answers[] = {YOKE_ERR_NO_MEMORY, YOKE_ERR_DEVICE_MEMORY};
    yoke_device_t *device = mock_device(0, 0);
    yoke_buffer_t *buffer = NULL;
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        mock.answer = answers[i];
        assert_fails(
            yoke_buffer_create(device, YOKE_MEMORY_HOST, UINT64_C(1) << 40, &buffer),
            answers[i], "; 1.00 TiB of pinned memory asked for by mock:0, ");
        assert_non_null(strstr(yoke_last_error(), " free on the host"));
        assert_null(buffer);
    }
    yoke_device_close(device);
    assert_int_equal(mock.alive, 0);
}

static char warnings[1024];

static void keep_warning(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    if (level == YOKE_LOG_WARNING && strlen(warnings) + strlen(line) < sizeof warnings)
        strcat(warnings, line);
}

/* Neither 0 nor 1: said once, and taken as 1. */
static void odd_settings_are_told(void **state)
{
    (void)state;
    static const char *const names[] = {"YOKE_VALIDATE", "YOKE_TRACE_CALLS"};
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    options.layers = YOKE_LAYER_DEFAULT;
    yoke_log_set_sink(keep_warning, NULL);
    for (size_t i = 0; i < 2; i++) {
        char wanted[64];
        snprintf(wanted, sizeof wanted, "%s: '2' is neither 0 nor 1; taken as 1",
                 names[i]);
        setenv(names[i], "2", 1);
        for (int again = 0; again < 2; again++) {
            yoke_device_t *device = NULL;
            yoke_queue_t *queue = NULL;
            warnings[0] = '\0';
            assert_ok(yoke_device_open("mock", &options, &device));
            if ((again == 0) != (strstr(warnings, wanted) != NULL))
                fail_msg("opening %d: '%s'", again, warnings);
            assert_ok(yoke_queue_create(device, NULL, &queue));
            if (i == 0) { /* the layer is on */
                yoke_buffer_t *buffer = NULL;
                assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 8, &buffer));
                assert_fails(yoke_queue_fill(queue, yoke_span(buffer, 8), "x", 1, 8),
                             YOKE_ERR_OUT_OF_RANGE, "yoke_queue_fill");
                yoke_buffer_destroy(buffer);
            }
            yoke_queue_destroy(queue);
            yoke_device_close(device);
        }
        unsetenv(names[i]);
    }
    yoke_log_set_sink(NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(bad_tables_are_refused, mock_reset),
        cmocka_unit_test_setup(short_table_loses_capabilities, mock_reset),
        cmocka_unit_test_setup(list_has_all, mock_reset),
        cmocka_unit_test_setup(failed_runtime_is_tried_again, mock_reset),
        cmocka_unit_test_setup(setting_keeps_backends_out, mock_reset),
        cmocka_unit_test_setup(names_find_devices, mock_reset),
        cmocka_unit_test_setup(bad_names_are_told, mock_reset),
        cmocka_unit_test_setup(info_is_written_up_to_its_size, mock_reset),
        cmocka_unit_test_setup(account_refuses_too_much, mock_reset),
        cmocka_unit_test_setup(allocator_serves_device_memory, mock_reset),
        cmocka_unit_test_setup(vendor_errors_have_parts, mock_reset),
        cmocka_unit_test_setup(lost_device_takes_no_more, mock_reset),
        cmocka_unit_test_setup(objects_keep_their_device, mock_reset),
        cmocka_unit_test_setup(failures_leave_nothing, mock_reset),
        cmocka_unit_test_setup(copies_between_devices, mock_reset),
        cmocka_unit_test_setup(free_host_memory_is_told, mock_reset),
        cmocka_unit_test_setup(odd_settings_are_told, mock_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
