/* SPDX-License-Identifier: Apache-2.0 */
/* NULL handles everywhere; the parts of a vendor's error; a device that is lost. */
#include "hal/cts/case.h"

#include <stdio.h>

#define USAGE(t, call) GIVES(t, YOKE_ERR_USAGE, call)

static void null_device(yoke_cts_t *t)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    yoke_buffer_t *buffer = NULL;
    yoke_program_t *program = NULL;
    yoke_program_options_t options = {sizeof options, 0, 0, "", 0, NULL, NULL};
    uint64_t bytes = 0;
    bool can = false;
    USAGE(t, yoke_device_info(NULL, &info));
    USAGE(t, yoke_device_memory(NULL, &bytes, &bytes));
    USAGE(t, yoke_device_limit_memory(NULL, 0));
    USAGE(t, yoke_device_status(NULL));
    USAGE(t, yoke_device_can_reach(NULL, yoke_cts_device(t), &can));
    USAGE(t, yoke_device_can_reach(yoke_cts_device(t), NULL, &can));
    USAGE(t, yoke_queue_create(NULL, NULL, &queue));
    USAGE(t, yoke_event_create(NULL, 0, &event));
    USAGE(t, yoke_buffer_create(NULL, YOKE_MEMORY_DEVICE, 1, &buffer));
    USAGE(t, yoke_program_create(NULL, &options, &program));
    CHECK(t, queue == NULL && event == NULL && buffer == NULL && program == NULL);
}

static void null_queue(yoke_cts_t *t)
{
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 16);
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    unsigned char data[16] = {0};
    USAGE(t, yoke_queue_sync(NULL));
    USAGE(t, yoke_queue_query(NULL));
    USAGE(t, yoke_queue_copy(NULL, yoke_span(buffer, 0), yoke_span(buffer, 8), 8));
    USAGE(t, yoke_queue_write(NULL, yoke_span(buffer, 0), data, 16));
    USAGE(t, yoke_queue_read(NULL, data, yoke_span(buffer, 0), 16));
    USAGE(t, yoke_queue_fill(NULL, yoke_span(buffer, 0), data, 1, 16));
    USAGE(t, yoke_queue_host_call(NULL, NULL, NULL));
    USAGE(t, yoke_queue_wait(NULL, event));
    USAGE(t, yoke_event_record(event, NULL));
    CHECK(t, yoke_queue_device(NULL) == NULL);
}

static void null_buffer(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 16);
    unsigned char data[16] = {0};
    void *address = NULL;
    USAGE(t, yoke_queue_copy(queue, yoke_span(NULL, 0), yoke_span(buffer, 0), 8));
    USAGE(t, yoke_queue_copy(queue, yoke_span(buffer, 0), yoke_span(NULL, 0), 8));
    USAGE(t, yoke_queue_write(queue, yoke_span(NULL, 0), data, 16));
    USAGE(t, yoke_queue_read(queue, data, yoke_span(NULL, 0), 16));
    USAGE(t, yoke_queue_fill(queue, yoke_span(NULL, 0), data, 1, 16));
    USAGE(t, yoke_buffer_address(NULL, &address));
    USAGE(t, yoke_buffer_host_address(NULL, &address));
    CHECK(t, address == NULL);
}

static void null_event(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_event_t *event = yoke_cts_event(t, yoke_cts_device(t), 0);
    double seconds = 3;
    USAGE(t, yoke_event_record(NULL, queue));
    USAGE(t, yoke_event_query(NULL));
    USAGE(t, yoke_event_sync(NULL));
    USAGE(t, yoke_queue_wait(queue, NULL));
    USAGE(t, yoke_event_elapsed(NULL, event, &seconds));
    USAGE(t, yoke_event_elapsed(event, NULL, &seconds));
    CHECK(t, seconds == 3);
}

static void null_program(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
    yoke_kernel_t *kernel = NULL;
    yoke_program_t *program = NULL;
    const void *data = NULL;
    size_t size = 0;
    USAGE(t, yoke_program_create(yoke_cts_device(t), NULL, &program));
    USAGE(t, yoke_program_binary(NULL, &data, &size));
    USAGE(t, yoke_kernel_create(NULL, "x", &kernel));
    USAGE(t, yoke_kernel_launch(queue, NULL, &launch, NULL, 0));
    CHECK(t, kernel == NULL && program == NULL && data == NULL);
    yoke_prepared_launch_t *prepared = NULL;
    yoke_argument_t argument = yoke_argument_local(4);
    USAGE(t, yoke_prepared_launch_create(NULL, &launch, NULL, 0, &prepared));
    USAGE(t, yoke_prepared_launch_set_argument(NULL, 0, &argument));
    USAGE(t, yoke_prepared_launch_set_geometry(NULL, &launch));
    USAGE(t, yoke_queue_launch_prepared(queue, NULL));
    USAGE(t, yoke_queue_launch_prepared(NULL, NULL));
    yoke_prepared_launch_destroy(NULL);
    CHECK(t, prepared == NULL);
}

static void null_outputs(yoke_cts_t *t)
{
    yoke_device_t *device = yoke_cts_device(t);
    USAGE(t, yoke_device_open(yoke_cts_device_name(t), NULL, NULL));
    USAGE(t, yoke_device_open(NULL, NULL, &device));
    USAGE(t, yoke_device_info(yoke_cts_device(t), NULL));
    USAGE(t, yoke_device_count(yoke_cts_backend(t), NULL));
    USAGE(t, yoke_device_count(NULL, NULL));
    USAGE(t, yoke_queue_create(yoke_cts_device(t), NULL, NULL));
    USAGE(t, yoke_event_create(yoke_cts_device(t), 0, NULL));
    USAGE(t, yoke_buffer_create(yoke_cts_device(t), YOKE_MEMORY_DEVICE, 1, NULL));
    CHECK(t, device == yoke_cts_device(t));
}

static void null_native(yoke_cts_t *t)
{
    yoke_native_t native = {.struct_size = sizeof native};
    yoke_device_t *device = NULL;
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    yoke_buffer_t *buffer = NULL;
    USAGE(t, yoke_device_native(NULL, &native));
    USAGE(t, yoke_queue_native(NULL, &native));
    USAGE(t, yoke_event_native(NULL, &native));
    USAGE(t, yoke_buffer_native(NULL, &native));
    USAGE(t, yoke_device_from_native(NULL, &native, NULL, &device));
    USAGE(t, yoke_device_from_native(yoke_cts_backend(t), NULL, NULL, &device));
    USAGE(t, yoke_queue_wrap(NULL, NULL, NULL, NULL, &queue));
    USAGE(t, yoke_event_wrap(NULL, NULL, NULL, NULL, &event));
    USAGE(t, yoke_buffer_wrap(NULL, YOKE_MEMORY_DEVICE, NULL, 1, NULL, NULL, &buffer));
    CHECK(t, device == NULL && queue == NULL && event == NULL && buffer == NULL);
}

static void message_of_last_failure(yoke_cts_t *t)
{
    uint32_t count = 0;
    char first[256];
    GIVES(t, YOKE_ERR_NOT_FOUND, yoke_device_count("nosuchruntime", &count));
    CHECK(t, strstr(yoke_last_error(), "nosuchruntime") != NULL);
    snprintf(first, sizeof first, "%s", yoke_last_error());
    OK(t, yoke_device_status(yoke_cts_device(t)));
    CHECK(t, strcmp(first, yoke_last_error()) == 0); /* success leaves it */
    CHECK(t, strchr(first, '\n') == NULL);
}

static void vendor_error_is_of_last_failure(yoke_cts_t *t)
{
    const char *call = "untouched", *name = "untouched";
    int64_t code = 77;
    uint32_t count = 0;
    GIVES(t, YOKE_ERR_NOT_FOUND, yoke_device_count("nosuchruntime", &count));
    CHECK(t, !yoke_last_vendor_error(&call, &code, &name));
    CHECK(t, code == 77 && strcmp(call, "untouched") == 0);
    CHECK(t, strcmp(name, "untouched") == 0);
}

static const char *look_at_message(void *context, size_t i)
{
    (void)context;
    (void)i;
    return yoke_last_error()[0] == '\0' ? NULL : "a message of another thread";
}

static void message_is_of_the_thread(yoke_cts_t *t)
{
    uint32_t count = 0;
    GIVES(t, YOKE_ERR_NOT_FOUND, yoke_device_count("nosuchruntime", &count));
    yoke_cts_threads(t, 2, look_at_message, NULL);
}

static void status_names(yoke_cts_t *t)
{
    for (int i = YOKE_OK; i <= YOKE_ERR_REFUSED; i++) {
        const char *name = yoke_status_name((yoke_status_t)i);
        CHECK(t, name != NULL && strncmp(name, "YOKE_", 5) == 0);
    }
    CHECK(t, yoke_status_name((yoke_status_t)9999) != NULL);
}

/* --- faults that only a fake offers ------------------------------------------------- */

typedef void (*fault_t)(const char *function, int fault, int64_t code, uint64_t nth);
typedef const char *const *(*functions_t)(size_t *count);

static void no_fault(void *object)
{
    ((fault_t) * (void **)object)(NULL, 0, 0, 1);
}

/* Every function of the library fails in turn under a write: a status with the vendor's
 * parts or success, never an output of a failed call. */
static void vendor_error_parts(yoke_cts_t *t)
{
    fault_t fault = NULL;
    functions_t functions = NULL;
    size_t count = 0, failures = 0;
    *(void **)&fault = yoke_cts_fake_symbol(t, "yoke_fake_fault");
    *(void **)&functions = yoke_cts_fake_symbol(t, "yoke_fake_functions");
    if (fault == NULL || functions == NULL)
        yoke_cts_unsupported(t, "only a fake library fails when it is told to");
    void **kept = yoke_cts_memory(t, sizeof *kept);
    memcpy(kept, &fault, sizeof *kept);
    yoke_cts_keep(t, kept, no_fault);
    const char *const *names = functions(&count);
    for (size_t i = 0; i < count; i++) {
        const char *call = NULL, *name = NULL;
        int64_t code = 0;
        yoke_buffer_t *buffer = NULL;
        fault(names[i], 1, 1, 1);
        yoke_status_t status =
            yoke_buffer_create(yoke_cts_device(t), YOKE_MEMORY_DEVICE, 64, &buffer);
        fault(NULL, 0, 0, 1);
        if (status == YOKE_OK) {
            yoke_buffer_destroy(buffer);
            continue;
        }
        failures++;
        CHECK(t, buffer == NULL);
        CHECK(t, yoke_last_vendor_error(&call, &code, &name));
        CHECK(t, call != NULL && strstr(yoke_last_error(), call) != NULL);
        EQUAL(t, 1, code);
    }
    CHECK(t, failures > 0);
}

#define LOST(t, call) GIVES(t, YOKE_ERR_DEVICE_LOST, call)

/* On the second device, since no device comes back. */
static void lost(yoke_cts_t *t)
{
    void (*lose)(int ordinal) = NULL;
    *(void **)&lose = yoke_cts_fake_symbol(t, "yoke_fake_lose");
    if (lose == NULL)
        yoke_cts_unsupported(t, "only a fake library loses a device when it is told to");
    yoke_device_t *device = yoke_cts_peer(t);
    if (yoke_device_status(device) != YOKE_OK)
        yoke_cts_unsupported(t, "the second device was lost already");
    yoke_device_info_t info = {.struct_size = sizeof info};
    OK(t, yoke_device_info(device, &info));
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *buffer = yoke_cts_buffer(t, device, 64);
    yoke_event_t *event = yoke_cts_event(t, device, 0);
    unsigned char data[64] = {0};
    lose((int)info.ordinal);
    yoke_status_t status = yoke_queue_write(queue, yoke_span(buffer, 0), data, 64);
    if (status == YOKE_OK)
        status = yoke_queue_sync(queue);
    EQUAL(t, YOKE_ERR_DEVICE_LOST, status);
    LOST(t, yoke_device_status(device));
    LOST(t, yoke_queue_write(queue, yoke_span(buffer, 0), data, 64));
    LOST(t, yoke_queue_read(queue, data, yoke_span(buffer, 0), 64));
    LOST(t, yoke_queue_fill(queue, yoke_span(buffer, 0), data, 1, 64));
    LOST(t, yoke_queue_sync(queue));
    LOST(t, yoke_event_record(event, queue));
    OK(t, yoke_device_info(device, &info));
    OK(t, yoke_device_status(yoke_cts_device(t))); /* others are not affected */
    yoke_queue_t *other = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *sound = yoke_cts_buffer(t, yoke_cts_device(t), 64);
    yoke_cts_put(t, other, sound, 0, data, 64);
    EXPECT(t, other, sound, 0, data, 64);
}

static const yoke_cts_case_t cases[] = {
    {"error/null-device", 0, 0, null_device, 0, 0},
    {"error/null-queue", 0, 0, null_queue, 0, 0},
    {"error/null-buffer", 0, 0, null_buffer, 0, 0},
    {"error/null-event", 0, 0, null_event, 0, 0},
    {"error/null-program", 0, 0, null_program, 0, 0},
    {"error/null-outputs", 0, 0, null_outputs, 0, 0},
    {"error/null-native", 0, 0, null_native, 0, 0},
    {"error/message-of-last-failure", 0, 0, message_of_last_failure, 0, 0},
    {"error/message-is-of-the-thread", 0, 0, message_is_of_the_thread, 0, 0},
    {"error/vendor-error-is-of-last-failure", 0, 0, vendor_error_is_of_last_failure, 0,
     0},
    {"error/vendor-error-parts", 0, 0, vendor_error_parts, 0, 0},
    {"error/status-names", 0, 0, status_names, 0, 0},
};

YOKE_CTS_GROUP(error, cases);

/* Last of a run: no device comes back. */
static const yoke_cts_case_t lost_cases[] = {
    {"lost/second-device", 0, YOKE_CTS_PEER, lost, 0, 0},
};

YOKE_CTS_GROUP(lost, lost_cases);
