/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_LIVE_MOCK_H
#define YOKE_TESTS_LIVE_MOCK_H

/*
 * A backend for the tests of the core: "mock", two devices, memory of the host. A test
 * tells what the next call answers, and sees how often the backend was called and how
 * many of its objects live.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "yoke/backend.h"
#include "yoke/dlpack.h"

typedef struct mock {
    atomic_int answer; /* status of the next call that can fail, then YOKE_OK again */
    atomic_int calls;  /* calls of slots that can fail */
    atomic_int alive;  /* devices, buffers, queues, events, programs, kernels */
    atomic_int opened; /* runtime_open() so far */
    atomic_int synced; /* queue_sync() so far */
    atomic_int peers_enabled;
    bool peers;             /* devices reach each other */
    bool not_ready;         /* queries say so */
    uint64_t capabilities;  /* of both devices */
    const void *compiled;   /* text that was given to program_create() last */
    bool compiled_a_binary; /* it was one */
    int current;            /* depth of with_current() */
    yoke_launch_t launched; /* what launch() was given last, the last value of 4 bytes */
    size_t launched_count;
    uint32_t launched_value;
} mock_t;

extern mock_t mock;
extern const yoke_backend_ops_t mock_ops;

#define MOCK_CODE 77 /* "MOCK_BROKEN", the vendor's code of what fails */

/** Fresh controls; registers the backend the first time. A cmocka setup function. */
int mock_reset(void **state);
/** Device `ordinal` with layers; fails the test when it cannot be opened. */
yoke_device_t *mock_device(uint32_t ordinal, uint32_t layers);

#define assert_ok(call) assert_int_equal(call, YOKE_OK)
/** Fails as said, with a message that holds `text`. */
#define assert_fails(call, status, text)                                                 \
    do {                                                                                 \
        assert_int_equal(call, status);                                                  \
        if (strstr(yoke_last_error(), text) == NULL)                                     \
            fail_msg("expected '%s' in '%s'", text, yoke_last_error());                  \
    } while (0)

#endif
