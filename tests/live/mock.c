/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/live/mock.h"

#include <stdlib.h>

#include "hal/live/registry.h"

mock_t mock;

struct yoke_impl_runtime {
    int unused;
};
/* One struct serves for every object. */
typedef struct thing {
    unsigned char *data;
    bool wrapped;
    void *handle;
} thing_t;

static yoke_status_t answer(const char *call)
{
    atomic_fetch_add(&mock.calls, 1);
    yoke_status_t status = (yoke_status_t)atomic_exchange(&mock.answer, YOKE_OK);
    if (status == YOKE_OK || status == YOKE_ERR_NOT_READY)
        return status;
    return yoke_backend_fail(&mock_ops, status, call, MOCK_CODE, NULL);
}

static yoke_status_t make(const char *call, size_t bytes, void *out)
{
    yoke_status_t status = answer(call);
    if (status != YOKE_OK)
        return status;
    thing_t *thing = calloc(1, sizeof *thing);
    assert_non_null(thing);
    if (bytes > 0)
        assert_non_null(thing->data = calloc(1, bytes));
    memcpy(out, &thing, sizeof thing);
    atomic_fetch_add(&mock.alive, 1);
    return YOKE_OK;
}

static void end(void *object)
{
    thing_t *thing = object;
    if (!thing->wrapped)
        free(thing->data);
    free(thing);
    atomic_fetch_sub(&mock.alive, 1);
}

/* --- runtime and devices -------------------------------------------------------------
 */

static yoke_status_t runtime_open(yoke_impl_runtime_t **out_runtime)
{
    static yoke_impl_runtime_t runtime;
    atomic_fetch_add(&mock.opened, 1);
    *out_runtime = &runtime;
    return answer("mockInit");
}

static yoke_status_t device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count)
{
    (void)runtime;
    *out_count = 2;
    return YOKE_OK;
}

static yoke_status_t device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 yoke_impl_info_t *out_info)
{
    (void)runtime;
    out_info->name = ordinal == 0 ? "Mock A" : "Mock B";
    out_info->valid = YOKE_INFO_PCI | YOKE_INFO_UUID | YOKE_INFO_MEMORY;
    out_info->pci = (yoke_pci_t){.valid = true, .bus = (uint8_t)(0x41 + ordinal)};
    memset(out_info->uuid, 0xa0 + (int)ordinal, 16);
    out_info->memory_total = 1 << 20;
    out_info->capabilities = mock.capabilities;
    out_info->max_group = 256;
    for (int i = 0; i < 3; i++)
        out_info->max_groups[i] = 1000;
    out_info->local_memory = 1024;
    out_info->alignment = 16;
    out_info->dialect = YOKE_DIALECT_OPENCL;
    return YOKE_OK;
}

static yoke_status_t device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                 const yoke_native_t *native, yoke_impl_device_t **out)
{
    (void)runtime;
    (void)ordinal;
    (void)native;
    return make("mockOpen", 0, out);
}

static void device_close(yoke_impl_device_t *device)
{
    end(device);
}

static const char *error_name(int64_t code)
{
    return code == MOCK_CODE ? "MOCK_BROKEN" : NULL;
}

static yoke_status_t with_current(yoke_impl_device_t *device, void (*function)(void *),
                                  void *context)
{
    (void)device;
    mock.current++;
    function(context);
    mock.current--;
    return YOKE_OK;
}

/* --- buffers -------------------------------------------------------------------------
 */

static yoke_status_t buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                   uint64_t size, yoke_impl_buffer_t **out)
{
    (void)device;
    (void)kind;
    return make("mockMalloc", (size_t)size, out);
}

static yoke_status_t buffer_wrap(yoke_impl_device_t *device, uint32_t kind, void *handle,
                                 uint64_t size, yoke_impl_buffer_t **out)
{
    (void)device;
    (void)kind;
    (void)size;
    yoke_status_t status = make("mockWrapBuffer", 0, out);
    if (status == YOKE_OK) {
        ((thing_t *)*out)->wrapped = true;
        ((thing_t *)*out)->data = handle;
    }
    return status;
}

static void buffer_destroy(yoke_impl_buffer_t *buffer)
{
    end(buffer);
}

static void *buffer_address(yoke_impl_buffer_t *buffer)
{
    return ((thing_t *)buffer)->data;
}

/* --- queues and events ---------------------------------------------------------------
 */

static yoke_status_t queue_create(yoke_impl_device_t *device, int32_t priority,
                                  yoke_impl_queue_t **out)
{
    (void)device;
    (void)priority;
    return make("mockQueue", 0, out);
}

static yoke_status_t queue_wrap(yoke_impl_device_t *device, void *handle,
                                yoke_impl_queue_t **out)
{
    (void)device;
    yoke_status_t status = make("mockWrapQueue", 0, out);
    if (status == YOKE_OK)
        ((thing_t *)*out)->handle = handle;
    return status;
}

static void *queue_native(yoke_impl_queue_t *queue)
{
    return ((thing_t *)queue)->handle;
}

static void queue_destroy(yoke_impl_queue_t *queue)
{
    end(queue);
}

static yoke_status_t queue_sync(yoke_impl_queue_t *queue)
{
    (void)queue;
    atomic_fetch_add(&mock.synced, 1);
    return answer("mockSync");
}

static yoke_status_t queue_query(yoke_impl_queue_t *queue)
{
    (void)queue;
    return mock.not_ready ? YOKE_ERR_NOT_READY : answer("mockQuery");
}

static unsigned char *place(yoke_impl_span_t span)
{
    return ((thing_t *)span.buffer)->data + span.offset;
}

static yoke_status_t copy(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                          yoke_impl_span_t src, uint64_t size)
{
    (void)queue;
    yoke_status_t status = answer("mockCopy");
    if (status == YOKE_OK)
        memmove(place(dst), place(src), (size_t)size);
    return status;
}

static yoke_status_t write_host(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                                const void *src, uint64_t size)
{
    (void)queue;
    yoke_status_t status = answer("mockWrite");
    if (status == YOKE_OK)
        memcpy(place(dst), src, (size_t)size);
    return status;
}

static yoke_status_t read_host(yoke_impl_queue_t *queue, void *dst, yoke_impl_span_t src,
                               uint64_t size)
{
    (void)queue;
    yoke_status_t status = answer("mockRead");
    if (status == YOKE_OK)
        memcpy(dst, place(src), (size_t)size);
    return status;
}

static yoke_status_t fill(yoke_impl_queue_t *queue, yoke_impl_span_t dst,
                          const void *pattern, size_t pattern_size, uint64_t size)
{
    (void)queue;
    yoke_status_t status = answer("mockFill");
    for (uint64_t i = 0; status == YOKE_OK && i < size; i += pattern_size)
        memcpy(place(dst) + i, pattern, pattern_size);
    return status;
}

static yoke_status_t host_call(yoke_impl_queue_t *queue, void (*function)(void *),
                               void *context)
{
    (void)queue;
    function(context);
    return answer("mockHostCall");
}

static yoke_status_t event_create(yoke_impl_device_t *device, uint32_t flags,
                                  yoke_impl_event_t **out)
{
    (void)device;
    (void)flags;
    return make("mockEvent", 0, out);
}

static yoke_status_t event_wrap(yoke_impl_device_t *device, void *handle,
                                yoke_impl_event_t **out)
{
    (void)device;
    (void)handle;
    return make("mockWrapEvent", 0, out);
}

static void event_destroy(yoke_impl_event_t *event)
{
    end(event);
}

static yoke_status_t event_record(yoke_impl_event_t *event, yoke_impl_queue_t *queue)
{
    (void)event;
    (void)queue;
    return answer("mockRecord");
}

static yoke_status_t event_query(yoke_impl_event_t *event)
{
    (void)event;
    return mock.not_ready ? YOKE_ERR_NOT_READY : answer("mockEventQuery");
}

static yoke_status_t event_sync(yoke_impl_event_t *event)
{
    (void)event;
    return answer("mockEventSync");
}

static yoke_status_t queue_wait(yoke_impl_queue_t *queue, yoke_impl_event_t *event)
{
    (void)queue;
    (void)event;
    return answer("mockWait");
}

static yoke_status_t event_elapsed(yoke_impl_event_t *start, yoke_impl_event_t *last,
                                   double *out_seconds)
{
    (void)start;
    (void)last;
    *out_seconds = 0.5;
    return answer("mockElapsed");
}

/* --- peers, programs, adoption -------------------------------------------------------
 */

static yoke_status_t peer_query(yoke_impl_device_t *device, yoke_impl_device_t *peer,
                                bool *out_can)
{
    (void)device;
    (void)peer;
    *out_can = mock.peers;
    return YOKE_OK;
}

static yoke_status_t peer_enable(yoke_impl_device_t *device, yoke_impl_device_t *peer)
{
    (void)device;
    (void)peer;
    atomic_fetch_add(&mock.peers_enabled, 1);
    return YOKE_OK;
}

static yoke_status_t program_create(yoke_impl_device_t *device,
                                    const yoke_impl_program_source_t *source,
                                    yoke_log_text_t log, void *log_context,
                                    yoke_impl_program_t **out)
{
    (void)device;
    mock.compiled = source->data;
    mock.compiled_a_binary = source->binary;
    if (!source->binary) {
        assert_int_equal(strlen(source->data), source->size);
        log(log_context, "1 warning\n", 10);
        if (strstr(source->data, "syntax error") != NULL) {
            log(log_context, "line 1: no", 10);
            return YOKE_ERR_BAD_INPUT;
        }
    }
    return make("mockCompile", 0, out);
}

static void program_destroy(yoke_impl_program_t *program)
{
    end(program);
}

static yoke_status_t kernel_create(yoke_impl_program_t *program, const char *name,
                                   yoke_impl_kernel_t **out)
{
    (void)program;
    if (strcmp(name, "none") == 0)
        return yoke_backend_fail(&mock_ops, YOKE_ERR_NOT_FOUND, "mockKernel", 5, name);
    return make("mockKernel", 0, out);
}

static void kernel_destroy(yoke_impl_kernel_t *kernel)
{
    end(kernel);
}

static yoke_status_t launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                            const yoke_launch_t *how, const yoke_argument_t *arguments,
                            size_t count)
{
    (void)queue;
    (void)kernel;
    mock.launched = *how;
    mock.launched_count = count;
    mock.launched_value = 0;
    for (size_t i = 0; i < count; i++)
        if (arguments[i].kind == YOKE_ARGUMENT_VALUE && arguments[i].size == 4)
            memcpy(&mock.launched_value, arguments[i].value, 4);
    return answer("mockLaunch");
}

static yoke_status_t device_find(yoke_impl_runtime_t *runtime,
                                 const yoke_native_t *native, uint32_t *out_ordinal)
{
    (void)runtime;
    if ((uintptr_t)native->handle > 1)
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND, "no such native device");
    *out_ordinal = (uint32_t)(uintptr_t)native->handle;
    return YOKE_OK;
}

static void device_native(yoke_impl_device_t *device, yoke_native_t *out)
{
    out->handle = device;
    out->context = &mock;
}

const yoke_backend_ops_t mock_ops = {
    .struct_size = sizeof(yoke_backend_ops_t),
    .abi_major = YOKE_BACKEND_ABI_MAJOR,
    .abi_minor = YOKE_BACKEND_ABI_MINOR,
    .name = "mock",
    .runtime_open = runtime_open,
    .device_count = device_count,
    .device_info = device_info,
    .device_open = device_open,
    .device_close = device_close,
    .error_name = error_name,
    .buffer_create = buffer_create,
    .buffer_destroy = buffer_destroy,
    .buffer_address = buffer_address,
    .buffer_host_address = buffer_address,
    .queue_create = queue_create,
    .queue_destroy = queue_destroy,
    .queue_sync = queue_sync,
    .queue_query = queue_query,
    .copy = copy,
    .write = write_host,
    .read = read_host,
    .fill = fill,
    .host_call = host_call,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_sync = event_sync,
    .queue_wait = queue_wait,
    .event_elapsed = event_elapsed,
    .peer_query = peer_query,
    .peer_enable = peer_enable,
    .program_create = program_create,
    .program_destroy = program_destroy,
    .kernel_create = kernel_create,
    .kernel_destroy = kernel_destroy,
    .launch = launch,
    .device_find = device_find,
    .queue_wrap = queue_wrap,
    .event_wrap = event_wrap,
    .buffer_wrap = buffer_wrap,
    .device_native = device_native,
    .queue_native = queue_native,
    .buffer_native = buffer_address,
    .with_current = with_current,
};

static void drop_line(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

int mock_reset(void **state)
{
    static bool registered;
    (void)state;
    if (!registered) {
        yoke_log_set_sink(drop_line, NULL);
        yoke_registry_fill();
        if (yoke_registry_add(&mock_ops, "mock", NULL) != YOKE_OK)
            return -1;
        registered = true;
    }
    mock.answer = YOKE_OK;
    mock.calls = 0;
    mock.opened = 0;
    mock.synced = 0;
    mock.peers_enabled = 0;
    mock.peers = false;
    mock.not_ready = false;
    mock.capabilities = ~(uint64_t)YOKE_CAP_EXHAUSTS;
    return 0;
}

yoke_device_t *mock_device(uint32_t ordinal, uint32_t layers)
{
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    yoke_device_t *device = NULL;
    options.layers = layers;
    assert_ok(yoke_device_open(ordinal == 0 ? "mock:0" : "mock:1", &options, &device));
    return device;
}
