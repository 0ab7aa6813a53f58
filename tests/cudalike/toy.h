/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_CUDALIKE_TOY_H
#define YOKE_TESTS_CUDALIKE_TOY_H

/*
 * A toy runtime in the test's own memory: a current context a thread, calls counted and
 * written down. It is no fake of a vendor: it has only what the test looks at.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cudalike/internal.h"

#define TOY_CONTEXT ((void *)0x1000)
#define TOY_OTHER ((void *)0x2000)
#define TOY_STREAM ((void *)0x5000)

static _Thread_local void *toy_current;
static _Thread_local char toy_calls[256]; /* one letter a call */
static int toy_refusal;                   /* code of a call in the wrong context */
static int toy_code;                      /* code of a call in the right one */
static bool toy_set_fails;

static void toy_note(char letter)
{
    size_t length = strlen(toy_calls);
    if (length + 1 < sizeof toy_calls) {
        toy_calls[length] = letter;
        toy_calls[length + 1] = '\0';
    }
}

static int toy_get(void **out_context)
{
    toy_note('g');
    *out_context = toy_current;
    return 0;
}

static int toy_set(void *context)
{
    toy_note('s');
    if (toy_set_fails)
        return YOKE_CUDALIKE_DEINITIALIZED;
    toy_current = context;
    return 0;
}

/* Any call that needs the context. */
static inline int toy_work(char letter)
{
    toy_note(letter);
    if (toy_current != TOY_CONTEXT && toy_refusal != 0)
        return toy_refusal;
    return toy_code;
}

extern const yoke_backend_ops_t yoke_cuda_ops;
static const yoke_cudalike_symbol_t toy_symbols[] = {YOKE_CUDALIKE_DRIVER_SYMBOLS("toy")};
static const yoke_cudalike_flavour_t toy_flavour = {
    .ops = &yoke_cuda_ops,
    .index = 7,
    .symbols = toy_symbols,
    .symbol_count = sizeof toy_symbols / sizeof *toy_symbols,
    .contexts = true,
};

static yoke_impl_runtime_t toy_runtime;
static yoke_impl_device_t toy_device;
static yoke_impl_queue_t toy_queue, toy_null_queue;

static inline void toy_reset(void)
{
    memset(&toy_runtime, 0, sizeof toy_runtime);
    memset(&toy_device, 0, sizeof toy_device);
    toy_runtime.flavour = &toy_flavour;
    toy_runtime.api.context_get = toy_get;
    toy_runtime.api.context_set = toy_set;
    toy_device.api = &toy_runtime.api;
    toy_device.flavour = &toy_flavour;
    toy_device.runtime = &toy_runtime;
    toy_device.index = toy_flavour.index;
    toy_device.context = TOY_CONTEXT;
    toy_device.current = (uintptr_t)TOY_CONTEXT;
    toy_queue = (yoke_impl_queue_t){.device = &toy_device,
                                    .stream = TOY_STREAM,
                                    .api = &toy_runtime.api,
                                    .enough = toy_device.current,
                                    .index = toy_flavour.index,
                                    .pinned = true};
    toy_null_queue = (yoke_impl_queue_t){.device = &toy_device,
                                         .api = &toy_runtime.api,
                                         .enough = UINTPTR_MAX,
                                         .index = toy_flavour.index};
    yoke_cudalike_noted[toy_flavour.index] = 0;
    toy_current = TOY_CONTEXT;
    toy_calls[0] = '\0';
    toy_refusal = YOKE_CUDALIKE_INVALID_CONTEXT;
    toy_code = 0;
    toy_set_fails = false;
}

#endif
