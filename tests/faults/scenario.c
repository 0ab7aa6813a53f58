/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/faults/scenario.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "yoke/adopt.h"
#include "yoke/kernel.h"
#include "yoke/operators.h"
#include "yoke/pool.h"
#include "yoke/transfer.h"

#include "hal/cts/wrapped.h"

enum { SIZE = 20000, N = 16 };

static outcome_t *outcome;
static uint64_t capabilities;

static bool step(yoke_status_t status, const char *text)
{
    outcome->steps++;
    if (status == YOKE_OK)
        return true;
    outcome->failures++;
    if (status == YOKE_ERR_UNSUPPORTED || outcome->status[0] != '\0')
        return false;
    const char *call = NULL, *name = NULL;
    snprintf(outcome->step, sizeof outcome->step, "%s", text);
    snprintf(outcome->status, sizeof outcome->status, "%s", yoke_status_name(status));
    snprintf(outcome->message, sizeof outcome->message, "%s", yoke_last_error());
    outcome->vendor = yoke_last_vendor_error(&call, &outcome->code, &name);
    if (outcome->vendor) {
        snprintf(outcome->call, sizeof outcome->call, "%s", call != NULL ? call : "");
        snprintf(outcome->name, sizeof outcome->name, "%s", name != NULL ? name : "");
    }
    return false;
}
#define STEP(call) step((call), #call)

/* An output is set exactly when its call succeeds. */
#define MAKE(object, call)                                                               \
    do {                                                                                 \
        if (STEP(call) != ((object) != NULL))                                            \
            outcome->outputs = true;                                                     \
    } while (0)

static bool has(uint64_t bit)
{
    return (capabilities & bit) != 0;
}

static void ignore(void *context)
{
    (void)context;
}

/* When waiting itself fails, memory may still be in use: ask until it is not. */
static bool settle(yoke_queue_t *queue)
{
    yoke_status_t status = yoke_queue_sync(queue);
    if (status == YOKE_OK)
        return STEP(status);
    step(status, "yoke_queue_sync");
    for (int i = 0; i < 500 && yoke_queue_query(queue) == YOKE_ERR_NOT_READY; i++)
        usleep(1000);
    return false;
}

/* --- memory and queues ----------------------------------------------------------------
 */

static void use_buffer(yoke_device_t *device, yoke_queue_t *queue,
                       yoke_memory_kind_t kind)
{
    static unsigned char data[SIZE], back[SIZE];
    yoke_buffer_t *buffer = NULL, *other = NULL;
    void *address = NULL;
    MAKE(buffer, yoke_buffer_create(device, kind, SIZE, &buffer));
    MAKE(other, yoke_buffer_create(device, YOKE_MEMORY_DEVICE, SIZE, &other));
    if (buffer != NULL && other != NULL) {
        for (unsigned i = 0; i < SIZE; i++)
            data[i] = (unsigned char)(i * 7 + i / 251);
        memset(back, 0, sizeof back);
        (void)yoke_buffer_address(buffer, &address);
        (void)yoke_buffer_host_address(buffer, &address);
        bool well = STEP(yoke_queue_write(queue, yoke_span(buffer, 0), data, SIZE));
        well &= STEP(
            yoke_queue_copy(queue, yoke_span(other, 64), yoke_span(buffer, 64), 9000));
        well &=
            STEP(yoke_queue_copy(queue, yoke_span(other, 1), yoke_span(buffer, 1), 3));
        well &= STEP(yoke_queue_fill(queue, yoke_span(other, 10000), "\x55", 1, 3000));
        well &= STEP(yoke_queue_fill(queue, yoke_span(other, 13008), "0123", 4, 400));
        well &= STEP(
            yoke_queue_fill(queue, yoke_span(other, 16000), "0123456789abcdef", 16, 480));
        well &= STEP(yoke_queue_read(queue, back, yoke_span(other, 0), SIZE));
        well &= settle(queue);
        if (well && outcome->failures == 0 &&
            (memcmp(back + 64, data + 64, 9000) != 0 || back[12999] != 0x55 ||
             memcmp(back + 16464, "0123456789abcdef", 16) != 0))
            outcome->bytes = true;
    }
    yoke_buffer_destroy(buffer);
    yoke_buffer_destroy(other);
}

static void use_events(yoke_device_t *device, yoke_queue_t *queue, yoke_queue_t *second)
{
    yoke_event_t *start = NULL, *end = NULL;
    uint32_t flags = has(YOKE_CAP_TIMING) ? YOKE_EVENT_TIMING : 0;
    double seconds = 0;
    MAKE(start, yoke_event_create(device, flags, &start));
    MAKE(end, yoke_event_create(device, flags, &end));
    if (start != NULL && end != NULL) {
        bool well = STEP(yoke_event_record(start, queue));
        well &= STEP(yoke_queue_wait(second, start));
        well &= STEP(yoke_event_record(end, second));
        yoke_status_t status = yoke_event_query(end);
        STEP(status == YOKE_ERR_NOT_READY ? YOKE_OK : status);
        well &= STEP(yoke_event_sync(end));
        if (well && has(YOKE_CAP_TIMING))
            STEP(yoke_event_elapsed(start, end, &seconds));
        if (has(YOKE_CAP_HOST_CALL))
            STEP(yoke_queue_host_call(queue, ignore, NULL));
        status = yoke_queue_query(queue);
        STEP(status == YOKE_ERR_NOT_READY ? YOKE_OK : status);
        settle(queue);
        settle(second);
    }
    yoke_event_destroy(start);
    yoke_event_destroy(end);
}

static void use_pool(yoke_device_t *device, yoke_queue_t *queue)
{
    yoke_pool_t *pool = NULL;
    yoke_span_t span = {NULL, 0};
    MAKE(pool, yoke_pool_create(device, NULL, &pool));
    if (pool != NULL && STEP(yoke_pool_allocate(pool, queue, 5000, &span))) {
        STEP(yoke_queue_fill(queue, span, "\1", 1, 5000));
        settle(queue);
        STEP(yoke_pool_free(pool, span));
        STEP(yoke_pool_trim(pool, 0, NULL));
    }
    yoke_pool_destroy(pool);
}

/* --- two devices ----------------------------------------------------------------------
 */

static void use_transfer(yoke_device_t *from, yoke_device_t *to)
{
    yoke_transfer_options_t options = {sizeof options, 0, 2, 4096};
    yoke_transfer_t *transfer = NULL;
    yoke_queue_t *a = NULL, *b = NULL;
    yoke_buffer_t *x = NULL, *y = NULL;
    yoke_event_t *event = NULL;
    MAKE(a, yoke_queue_create(from, NULL, &a));
    MAKE(b, yoke_queue_create(to, NULL, &b));
    MAKE(x, yoke_buffer_create(from, YOKE_MEMORY_DEVICE, SIZE, &x));
    MAKE(y, yoke_buffer_create(to, YOKE_MEMORY_DEVICE, SIZE, &y));
    MAKE(event, yoke_event_create(from, 0, &event));
    MAKE(transfer, yoke_transfer_create(from, to, &options, &transfer));
    if (a != NULL && b != NULL && x != NULL && y != NULL && event != NULL &&
        transfer != NULL) {
        STEP(yoke_queue_fill(a, yoke_span(x, 0), "\3", 1, SIZE));
        STEP(yoke_transfer_start(transfer, b, yoke_span(y, 0), a, yoke_span(x, 0), SIZE));
        STEP(yoke_transfer_wait(transfer));
        if (STEP(yoke_event_record(event, a)) &&
            STEP(yoke_transfer_wait_event(transfer, b, event)))
            STEP(yoke_transfer_wait(transfer));
        settle(a);
        settle(b);
    }
    yoke_transfer_destroy(transfer);
    yoke_event_destroy(event);
    yoke_buffer_destroy(x);
    yoke_buffer_destroy(y);
    yoke_queue_destroy(a);
    yoke_queue_destroy(b);
}

static void use_peer(const char *backend, yoke_device_t *device)
{
    char name[64];
    yoke_device_t *peer = NULL;
    bool can = false;
    snprintf(name, sizeof name, "%s:1", backend);
    MAKE(peer, yoke_device_open(name, NULL, &peer));
    if (peer == NULL)
        return;
    if (has(YOKE_CAP_PEER))
        STEP(yoke_device_can_reach(device, peer, &can));
    use_transfer(device, peer);
    yoke_device_close(peer);
}

static void use_host(yoke_device_t *device)
{
    yoke_device_t *host = NULL;
    MAKE(host, yoke_device_open("host", NULL, &host));
    if (host == NULL)
        return;
    use_transfer(device, host);
    use_transfer(host, device);
    yoke_device_close(host);
}

/* --- programs and the vendor's libraries ----------------------------------------------
 */

static const char source[] = "YOKE_KERNEL void add(YOKE_GLOBAL f32 *y, f32 by, u32 n)\n"
                             "{\n"
                             "    u32 i = (u32)YOKE_GLOBAL_ID(0);\n"
                             "    if (i < n)\n"
                             "        y[i] = y[i] + by;\n"
                             "}\n";

static void launch(yoke_device_t *device, yoke_queue_t *queue, yoke_kernel_t *kernel)
{
    yoke_buffer_t *y = NULL;
    float by = 1.5f;
    uint32_t n = 100;
    MAKE(y, yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 4096, &y));
    if (y == NULL)
        return;
    yoke_argument_t arguments[3] = {yoke_argument_span(y, 0),
                                    yoke_argument_value(&by, sizeof by),
                                    yoke_argument_value(&n, sizeof n)};
    yoke_launch_t size = {{4, 1, 1}, {32, 1, 1}};
    STEP(yoke_queue_fill(queue, yoke_span(y, 0), "\0", 1, 4096));
    STEP(yoke_kernel_launch(queue, kernel, &size, arguments, 3));
    yoke_prepared_launch_t *prepared = NULL;
    MAKE(prepared, yoke_prepared_launch_create(kernel, &size, arguments, 3, &prepared));
    if (prepared != NULL) {
        STEP(yoke_queue_launch_prepared(queue, prepared));
        STEP(yoke_prepared_launch_set_argument(prepared, 1, &arguments[1]));
        STEP(yoke_prepared_launch_set_argument(prepared, 0, &arguments[0]));
        STEP(yoke_prepared_launch_set_geometry(prepared, &size));
        STEP(yoke_queue_launch_prepared(queue, prepared));
    }
    settle(queue);
    yoke_prepared_launch_destroy(prepared);
    yoke_buffer_destroy(y);
}

/* Without the cache, so that the vendor's compiler is called; Level Zero has none. */
static void use_program(const char *backend, yoke_device_t *device, yoke_queue_t *queue)
{
    yoke_program_options_t options = {
        .struct_size = sizeof options,
        .format = YOKE_PROGRAM_DIALECT,
        .flags = strcmp(backend, "level_zero") == 0 ? 0 : YOKE_PROGRAM_NO_CACHE,
        .data = source,
        .size = sizeof source - 1,
        .name = "add.c"};
    yoke_program_t *program = NULL;
    yoke_kernel_t *kernel = NULL;
    const void *binary = NULL;
    size_t size = 0;
    MAKE(program, yoke_program_create(device, &options, &program));
    if (program == NULL)
        return;
    (void)yoke_program_binary(program, &binary, &size);
    MAKE(kernel, yoke_kernel_create(program, "add", &kernel));
    if (kernel != NULL)
        launch(device, queue, kernel);
    yoke_kernel_destroy(kernel);
    yoke_program_destroy(program);
}

static void use_operators(yoke_device_t *device, yoke_queue_t *queue)
{
    yoke_operators_t *operators = NULL;
    yoke_buffer_t *x = NULL;
    MAKE(operators, yoke_operators_create(device, &operators));
    MAKE(x, yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 4 * 4096, &x));
    if (operators != NULL && x != NULL) {
        yoke_gemm_t gemm = {.struct_size = sizeof gemm,
                            .element = YOKE_ELEMENT_F32,
                            .output = YOKE_ELEMENT_F32,
                            .m = N,
                            .n = N,
                            .k = N,
                            .alpha = 1,
                            .a = yoke_span(x, 0),
                            .b = yoke_span(x, 4096),
                            .c = yoke_span(x, 8192)};
        STEP(yoke_queue_fill(queue, yoke_span(x, 0), "\0\0\x80\x3f", 4, 4 * 4096));
        STEP(yoke_op_gemm(operators, queue, &gemm));
        STEP(yoke_op_reduce(operators, queue, YOKE_ELEMENT_F32, YOKE_REDUCE_SUM,
                            yoke_span(x, 0), yoke_span(x, 0), yoke_span(x, 4096), 256));
        settle(queue);
    }
    yoke_operators_destroy(operators);
    yoke_buffer_destroy(x);
}

/* --- adoption -------------------------------------------------------------------------
 */

static void use_adoption(const char *backend, yoke_device_t *device, yoke_queue_t *queue)
{
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_device_t *again = NULL;
    yoke_queue_t *wrapped = NULL;
    yoke_buffer_t *buffer = NULL, *view = NULL;
    if (STEP(yoke_device_native(device, &native)))
        MAKE(again, yoke_device_from_native(backend, &native, NULL, &again));
    if (STEP(yoke_queue_native(queue, &native)) && native.handle != NULL)
        MAKE(wrapped, yoke_queue_wrap(device, native.handle, NULL, NULL, &wrapped));
    MAKE(buffer, yoke_buffer_create(device, YOKE_MEMORY_DEVICE, SIZE, &buffer));
    if (buffer != NULL && STEP(yoke_buffer_native(buffer, &native)))
        MAKE(view, yoke_buffer_wrap(device, YOKE_MEMORY_DEVICE, native.handle, SIZE, NULL,
                                    NULL, &view));
    if (wrapped != NULL && view != NULL) {
        STEP(yoke_queue_fill(wrapped, yoke_span(view, 0), "\7", 1, SIZE));
        settle(wrapped);
    }
    yoke_buffer_destroy(view);
    yoke_queue_destroy(wrapped);
    yoke_buffer_destroy(buffer);
    yoke_device_close(again);
}

/* --- all ------------------------------------------------------------------------------
 */

static void use_device(const char *backend, yoke_device_t *device)
{
    yoke_queue_options_t priority = {sizeof priority, -1, 0};
    yoke_device_info_t info = {.struct_size = sizeof info};
    yoke_queue_t *queue = NULL, *second = NULL;
    uint64_t available = 0, total = 0;
    STEP(yoke_device_info(device, &info));
    capabilities = info.capabilities;
    STEP(yoke_device_memory(device, &available, &total));
    MAKE(queue, yoke_queue_create(device, NULL, &queue));
    MAKE(second, yoke_queue_create(device, &priority, &second));
    if (queue != NULL && second != NULL) {
        use_buffer(device, queue, YOKE_MEMORY_DEVICE);
        if (has(YOKE_CAP_PINNED))
            use_buffer(device, queue, YOKE_MEMORY_HOST);
        if (has(YOKE_CAP_SHARED))
            use_buffer(device, queue, YOKE_MEMORY_SHARED);
        use_events(device, queue, second);
        use_pool(device, queue);
        use_peer(backend, device);
        use_host(device);
        if (has(YOKE_CAP_SOURCE))
            use_program(backend, device, queue);
        use_operators(device, queue);
        if (has(YOKE_CAP_WRAP))
            use_adoption(backend, device, queue);
    }
    yoke_queue_destroy(second);
    yoke_queue_destroy(queue);
}

void scenario_run(const char *backend, outcome_t *out_outcome)
{
    char name[64];
    yoke_device_t *device = NULL;
    uint32_t count = 0;
    memset(out_outcome, 0, sizeof *out_outcome);
    outcome = out_outcome;
    STEP(yoke_device_count(backend, &count));
    snprintf(name, sizeof name, "%s:0", backend);
    MAKE(device, yoke_device_open(name, NULL, &device));
    if (device != NULL)
        use_device(backend, device);
    yoke_device_close(device);
}
