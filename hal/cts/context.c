/* SPDX-License-Identifier: Apache-2.0 */
/* What a case sees of its run: devices, checks, and objects that end with the case. */
#include "hal/cts/context.h"

#include <stdio.h>
#include <stdlib.h>

#include "hal/cts/current.h"

/* --- devices ------------------------------------------------------------------------ */

yoke_device_t *yoke_cts_device(yoke_cts_t *t)
{
    return t->device;
}

yoke_device_t *yoke_cts_validated(yoke_cts_t *t)
{
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    options.layers = YOKE_LAYER_VALIDATE;
    if (t->validated == NULL)
        OK(t, yoke_device_open(t->options->device, &options, &t->validated));
    return t->validated;
}

yoke_device_t *yoke_cts_peer(yoke_cts_t *t)
{
    return t->peer;
}

yoke_device_t *yoke_cts_host(yoke_cts_t *t)
{
    return t->host;
}

const yoke_device_info_t *yoke_cts_info(const yoke_cts_t *t)
{
    return &t->info;
}

const char *yoke_cts_device_name(const yoke_cts_t *t)
{
    return t->options->device;
}

const char *yoke_cts_backend(const yoke_cts_t *t)
{
    return t->backend;
}

int64_t yoke_cts_parameter(const yoke_cts_t *t)
{
    return t->row->parameter;
}

int64_t yoke_cts_second(const yoke_cts_t *t)
{
    return t->row->second;
}

yoke_operators_t *yoke_cts_operators(yoke_cts_t *t)
{
    return t->operators;
}

bool yoke_cts_is_slow(const yoke_cts_t *t)
{
    return t->info.kind == YOKE_DEVICE_EMULATOR;
}

void *yoke_cts_fake_symbol(yoke_cts_t *t, const char *name)
{
    (void)t;
    return yoke_cts_current_symbol(name);
}

static void open_peer(yoke_cts_t *t)
{
    uint32_t count = 0;
    if (t->peer != NULL || yoke_device_count(t->backend, &count) != YOKE_OK || count < 2)
        return;
    char name[64];
    snprintf(name, sizeof name, "%s:%u", t->backend, t->info.ordinal == 0 ? 1u : 0u);
    yoke_device_t *peer = NULL;
    if (yoke_device_open(name, NULL, &peer) == YOKE_OK)
        t->peer = peer;
}

static void open_host(yoke_cts_t *t)
{
    yoke_device_t *host = NULL;
    if (t->host == NULL && yoke_device_open("host", NULL, &host) == YOKE_OK)
        t->host = host;
}

static const char *missing_capability(const yoke_cts_t *t, uint64_t wanted,
                                      char buffer[128])
{
    uint64_t missing = wanted & ~t->info.capabilities;
    if (missing == 0)
        return NULL;
    const char *name = yoke_capability_name(missing & (~missing + 1));
    snprintf(buffer, 128, "missing capability: %s", name != NULL ? name : "?");
    return buffer;
}

const char *yoke_cts_context_missing(yoke_cts_t *t, const yoke_cts_case_t *row,
                                     char buffer[128])
{
    const char *missing = missing_capability(t, row->capabilities, buffer);
    if (missing != NULL)
        return missing;
    if ((row->needs & YOKE_CTS_PEER) != 0) {
        open_peer(t);
        if (t->peer == NULL)
            return "the backend has no second device";
    }
    if ((row->needs & YOKE_CTS_HOST) != 0) {
        open_host(t);
        if (t->host == NULL)
            return "the host backend has no device";
    }
    yoke_operators_t *operators = NULL;
    if ((row->needs & YOKE_CTS_OPERATORS) != 0 && t->operators == NULL &&
        yoke_operators_create(t->device, &operators) == YOKE_OK)
        t->operators = operators;
    if ((row->needs & YOKE_CTS_OPERATORS) != 0 && t->operators == NULL)
        return "no operators for this device";
    return NULL;
}

/* --- checks ------------------------------------------------------------------------- */

static const char *file_name(const char *file)
{
    const char *slash = strrchr(file, '/');
    return slash != NULL ? slash + 1 : file;
}

/* The first reason stays: what follows is a consequence. */
static void set_reason(yoke_cts_t *t, yoke_cts_outcome_t outcome, const char *format,
                       va_list args)
{
    if (t->outcome == YOKE_CTS_FAIL)
        return;
    t->outcome = outcome;
    yoke_vsnprintf(t->reason, sizeof t->reason, format, args);
}

void yoke_cts_fail_at(yoke_cts_t *t, const char *file, int line, const char *format, ...)
{
    va_list args;
    char text[400];
    va_start(args, format);
    yoke_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (t->outcome != YOKE_CTS_FAIL)
        yoke_snprintf(t->reason, sizeof t->reason, "%s:%d: %s", file_name(file), line,
                      text);
    t->outcome = YOKE_CTS_FAIL;
    longjmp(t->leave, 1);
}

void yoke_cts_unsupported(yoke_cts_t *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_reason(t, YOKE_CTS_UNSUPPORTED, format, args);
    va_end(args);
    longjmp(t->leave, 1);
}

void yoke_cts_ok_at(yoke_cts_t *t, const char *file, int line, const char *call,
                    yoke_status_t status)
{
    if (status != YOKE_OK)
        yoke_cts_fail_at(t, file, line, "%.120s gives %s: %.200s", call,
                         yoke_status_name(status), yoke_last_error());
}

void yoke_cts_gives_at(yoke_cts_t *t, const char *file, int line, const char *call,
                       yoke_status_t expected, yoke_status_t status)
{
    if (status != expected)
        yoke_cts_fail_at(t, file, line, "%.120s gives %s and should give %s%s%.120s",
                         call, yoke_status_name(status), yoke_status_name(expected),
                         status == YOKE_OK ? "" : ": ",
                         status == YOKE_OK ? "" : yoke_last_error());
    if (status != YOKE_OK && status != YOKE_ERR_NOT_READY && yoke_last_error()[0] == '\0')
        yoke_cts_fail_at(t, file, line, "%.120s gives %s without a message", call,
                         yoke_status_name(status));
}

void yoke_cts_bytes_at(yoke_cts_t *t, const char *file, int line, const char *what,
                       const void *expected, const void *actual, size_t size)
{
    const unsigned char *e = expected, *a = actual;
    if (size == 0 || memcmp(e, a, size) == 0)
        return;
    size_t at = 0, wrong = 0;
    while (e[at] == a[at])
        at++;
    for (size_t i = at; i < size; i++)
        wrong += e[i] != a[i];
    yoke_cts_fail_at(t, file, line,
                     "%.100s: byte %zu of %zu is 0x%02x and should be 0x%02x (%zu bytes "
                     "are wrong)",
                     what, at, size, a[at], e[at], wrong);
}

/* --- objects that end with the case ------------------------------------------------- */

static void keep(yoke_cts_t *t, void *object, void (*end)(void *), yoke_queue_t *queue)
{
    if (t->kept_count == t->kept_capacity) {
        size_t capacity = t->kept_capacity == 0 ? 64 : 2 * t->kept_capacity;
        yoke_cts_kept_t *grown = realloc(t->kept, capacity * sizeof *grown);
        if (grown == NULL) {
            end(object);
            FAIL(t, "no host memory for the case");
        }
        t->kept = grown;
        t->kept_capacity = capacity;
    }
    t->kept[t->kept_count++] = (yoke_cts_kept_t){object, end, queue, false};
}

static void end_queue(void *object)
{
    yoke_queue_destroy(object);
}

static void end_event(void *object)
{
    yoke_event_destroy(object);
}

static void end_buffer(void *object)
{
    yoke_buffer_destroy(object);
}

static void end_device(void *object)
{
    yoke_device_close(object);
}

static void end_program(void *object)
{
    yoke_program_destroy(object);
}

static void end_kernel(void *object)
{
    yoke_kernel_destroy(object);
}

void yoke_cts_keep(yoke_cts_t *t, void *object, void (*end)(void *object))
{
    keep(t, object, end, NULL);
}

void yoke_cts_keep_transfer(yoke_cts_t *t, yoke_transfer_t *transfer,
                            void (*end)(void *object))
{
    keep(t, transfer, end, NULL);
    t->kept[t->kept_count - 1].opens = true;
}

void yoke_cts_keep_queue(yoke_cts_t *t, yoke_queue_t *queue)
{
    keep(t, queue, end_queue, queue);
}

void yoke_cts_keep_event(yoke_cts_t *t, yoke_event_t *event)
{
    keep(t, event, end_event, NULL);
}

void yoke_cts_keep_buffer(yoke_cts_t *t, yoke_buffer_t *buffer)
{
    keep(t, buffer, end_buffer, NULL);
}

void yoke_cts_keep_device(yoke_cts_t *t, yoke_device_t *device)
{
    keep(t, device, end_device, NULL);
}

void yoke_cts_keep_program(yoke_cts_t *t, yoke_program_t *program)
{
    keep(t, program, end_program, NULL);
}

void yoke_cts_keep_kernel(yoke_cts_t *t, yoke_kernel_t *kernel)
{
    keep(t, kernel, end_kernel, NULL);
}

void yoke_cts_forget(yoke_cts_t *t, const void *object)
{
    for (size_t i = t->kept_count; i-- > 0;)
        if (t->kept[i].object == object) {
            memmove(&t->kept[i], &t->kept[i + 1],
                    (t->kept_count - i - 1) * sizeof t->kept[0]);
            t->kept_count--;
            return;
        }
}

static void end_last_opener(yoke_cts_t *t)
{
    for (size_t i = t->kept_count; i-- > 0;)
        if (t->kept[i].opens) {
            yoke_cts_kept_t opener = t->kept[i];
            yoke_cts_forget(t, opener.object);
            opener.end(opener.object);
            return;
        }
}

/* Transfers open the gates that queues wait at; queues are waited for before what their
 * work uses is freed. */
void yoke_cts_context_clear(yoke_cts_t *t)
{
    for (size_t i = t->kept_count; i-- > 0;)
        end_last_opener(t);
    for (size_t i = 0; i < t->kept_count; i++)
        if (t->kept[i].queue != NULL)
            (void)yoke_queue_sync(t->kept[i].queue);
    while (t->kept_count > 0) {
        yoke_cts_kept_t last = t->kept[--t->kept_count];
        last.end(last.object);
    }
}

void yoke_cts_context_end(yoke_cts_t *t)
{
    yoke_cts_context_clear(t);
    free(t->kept);
    t->kept = NULL;
    t->kept_capacity = 0;
    for (size_t i = 0; i < YOKE_CTS_PROGRAMS; i++) {
        yoke_program_destroy(t->programs[i].program);
        free(t->programs[i].error);
        t->programs[i] = (yoke_cts_shared_program_t){0};
    }
    yoke_operators_destroy(t->operators);
    yoke_device_close(t->host);
    yoke_device_close(t->peer);
    yoke_device_close(t->validated);
    yoke_device_close(t->device);
    t->operators = NULL;
    t->host = t->peer = t->validated = t->device = NULL;
}
