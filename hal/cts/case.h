/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_CTS_CASE_H
#define YOKE_HAL_CTS_CASE_H

/*
 * What a file of cases needs: the case table's row, the checks, and helpers that make
 * objects which end with the case. Checks leave the case by longjmp when they fail, so a
 * case is a plain list of steps. On threads of its own a case uses the *_quiet forms or
 * plain calls, and checks after joining them.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "yoke/adopt.h"
#include "yoke/dlpack.h"
#include "yoke/kernel.h"
#include "yoke/operators.h"
#include "yoke/pool.h"
#include "yoke/transfer.h"

#include "hal/cts/cts.h"
#include "hal/cts/wrapped.h"

typedef struct yoke_cts yoke_cts_t;

/* What a case needs besides capabilities. */
#define YOKE_CTS_PEER (1u << 0)      /* a second device of the same backend */
#define YOKE_CTS_OPERATORS (1u << 1) /* yoke_operators_create() works */
#define YOKE_CTS_HOST (1u << 2)      /* the host backend has a device too */

typedef struct yoke_cts_case {
    const char *name;
    uint64_t capabilities; /* all of these YOKE_CAP_* bits */
    uint32_t needs;        /* YOKE_CTS_* */
    void (*run)(yoke_cts_t *t);
    int64_t parameter; /* tells the rows of one function apart */
    int64_t second;
} yoke_cts_case_t;

typedef struct yoke_cts_group {
    const yoke_cts_case_t *cases;
    size_t count;
} yoke_cts_group_t;

/* Ends a file of cases: YOKE_CTS_GROUP(queue, cases) defines yoke_cts_group_queue. */
#define YOKE_CTS_GROUP(name, table)                                                      \
    extern const yoke_cts_group_t yoke_cts_group_##name;                                 \
    const yoke_cts_group_t yoke_cts_group_##name = {table,                               \
                                                    sizeof(table) / sizeof((table)[0])}

/* --- what a case sees --------------------------------------------------------------- */

/* The device under test, without layers. */
yoke_device_t *yoke_cts_device(yoke_cts_t *t);
/* The same device with the validation layer; made at the first use. */
yoke_device_t *yoke_cts_validated(yoke_cts_t *t);
/* A second device of the backend, where the case needs YOKE_CTS_PEER. */
yoke_device_t *yoke_cts_peer(yoke_cts_t *t);
/* A device of the host backend, where the case needs YOKE_CTS_HOST. */
yoke_device_t *yoke_cts_host(yoke_cts_t *t);
const yoke_device_info_t *yoke_cts_info(const yoke_cts_t *t);
/* The name that the device was asked for by, and its backend. */
const char *yoke_cts_device_name(const yoke_cts_t *t);
const char *yoke_cts_backend(const yoke_cts_t *t);
int64_t yoke_cts_parameter(const yoke_cts_t *t);
int64_t yoke_cts_second(const yoke_cts_t *t);
yoke_operators_t *yoke_cts_operators(yoke_cts_t *t);
/* A slow device (an emulator): cases use smaller sizes on it. */
bool yoke_cts_is_slow(const yoke_cts_t *t);

/* --- checks: leave the case when they fail ------------------------------------------ */

void yoke_cts_fail_at(yoke_cts_t *t, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5), noreturn));
void yoke_cts_unsupported(yoke_cts_t *t, const char *format, ...)
    __attribute__((format(printf, 2, 3), noreturn));
void yoke_cts_ok_at(yoke_cts_t *t, const char *file, int line, const char *call,
                    yoke_status_t status);
void yoke_cts_gives_at(yoke_cts_t *t, const char *file, int line, const char *call,
                       yoke_status_t expected, yoke_status_t status);
void yoke_cts_bytes_at(yoke_cts_t *t, const char *file, int line, const char *what,
                       const void *expected, const void *actual, size_t size);

#define FAIL(t, ...) yoke_cts_fail_at(t, __FILE__, __LINE__, __VA_ARGS__)
#define OK(t, call) yoke_cts_ok_at(t, __FILE__, __LINE__, #call, (call))
#define GIVES(t, expected, call)                                                         \
    yoke_cts_gives_at(t, __FILE__, __LINE__, #call, expected, (call))
#define CHECK(t, condition)                                                              \
    do {                                                                                 \
        if (!(condition))                                                                \
            FAIL(t, "%s", #condition);                                                   \
    } while (0)
#define EQUAL(t, expected, actual)                                                       \
    do {                                                                                 \
        uint64_t expected_value = (uint64_t)(expected);                                  \
        uint64_t actual_value = (uint64_t)(actual);                                      \
        if (expected_value != actual_value)                                              \
            FAIL(t, "%s is %" PRIu64 " and should be %" PRIu64, #actual, actual_value,   \
                 expected_value);                                                        \
    } while (0)
#define BYTES(t, what, expected, actual, size)                                           \
    yoke_cts_bytes_at(t, __FILE__, __LINE__, what, expected, actual, size)

/* --- objects that end with the case ------------------------------------------------- */

yoke_queue_t *yoke_cts_queue(yoke_cts_t *t, yoke_device_t *device);
yoke_event_t *yoke_cts_event(yoke_cts_t *t, yoke_device_t *device, uint32_t flags);
yoke_buffer_t *yoke_cts_buffer(yoke_cts_t *t, yoke_device_t *device, uint64_t size);
yoke_buffer_t *yoke_cts_buffer_of(yoke_cts_t *t, yoke_device_t *device,
                                  yoke_memory_kind_t kind, uint64_t size);
/* Host memory, filled with zeros. */
void *yoke_cts_memory(yoke_cts_t *t, size_t size);
/* Let an object that the case made itself end with it. */
void yoke_cts_keep_queue(yoke_cts_t *t, yoke_queue_t *queue);
void yoke_cts_keep_event(yoke_cts_t *t, yoke_event_t *event);
void yoke_cts_keep_buffer(yoke_cts_t *t, yoke_buffer_t *buffer);
void yoke_cts_keep_device(yoke_cts_t *t, yoke_device_t *device);
void yoke_cts_keep_program(yoke_cts_t *t, yoke_program_t *program);
void yoke_cts_keep_kernel(yoke_cts_t *t, yoke_kernel_t *kernel);
/* A transfer ends before queues are waited for: they may wait at its gates. */
void yoke_cts_keep_transfer(yoke_cts_t *t, yoke_transfer_t *transfer,
                            void (*end)(void *object));
/* Any other object, with the function that ends it. */
void yoke_cts_keep(yoke_cts_t *t, void *object, void (*end)(void *object));
/* The case ended this one itself. */
void yoke_cts_forget(yoke_cts_t *t, const void *object);

/* A program in the dialect that several cases share: compiled once a run, under `key`. */
yoke_program_t *yoke_cts_program(yoke_cts_t *t, const char *key, const char *source);
yoke_program_t *yoke_cts_compile(yoke_cts_t *t, yoke_device_t *device, const char *source,
                                 const char *options);
yoke_kernel_t *yoke_cts_kernel(yoke_cts_t *t, yoke_program_t *program, const char *name);
void yoke_cts_launch(yoke_cts_t *t, yoke_queue_t *queue, yoke_kernel_t *kernel,
                     uint32_t groups, uint32_t local, const yoke_argument_t *arguments,
                     size_t count);

/* --- data --------------------------------------------------------------------------- */

/* Bytes that differ from place to place, by a generator of its own. */
void yoke_cts_noise(void *bytes, size_t size, uint64_t seed);
uint64_t yoke_cts_random(uint64_t *state);
/* Write and wait; read and wait; read and compare with `expected`. */
void yoke_cts_put(yoke_cts_t *t, yoke_queue_t *queue, yoke_buffer_t *buffer,
                  uint64_t offset, const void *bytes, size_t size);
void yoke_cts_get(yoke_cts_t *t, yoke_queue_t *queue, yoke_buffer_t *buffer,
                  uint64_t offset, void *bytes, size_t size);
void yoke_cts_expect_at(yoke_cts_t *t, const char *file, int line, yoke_queue_t *queue,
                        yoke_buffer_t *buffer, uint64_t offset, const void *expected,
                        size_t size);
#define EXPECT(t, queue, buffer, offset, expected, size)                                 \
    yoke_cts_expect_at(t, __FILE__, __LINE__, queue, buffer, offset, expected, size)

/* --- threads and log ---------------------------------------------------------------- */

/* Run `body(context, i)` on `count` threads at once (at most 8); fails when one returns a
 * message. Messages are static text. */
void yoke_cts_threads(yoke_cts_t *t, size_t count,
                      const char *(*body)(void *context, size_t i), void *context);
/* Keep log lines from now on; true: one of those kept holds `text`. */
void yoke_cts_log_start(yoke_cts_t *t);
bool yoke_cts_log_has(yoke_cts_t *t, const char *text);
size_t yoke_cts_log_lines(yoke_cts_t *t);

/* A function of the fake vendor library under the device, NULL on a real one. */
void *yoke_cts_fake_symbol(yoke_cts_t *t, const char *name);

#endif
