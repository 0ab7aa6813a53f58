/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_ASCEND_CORE_H
#define YOKE_TESTS_FAKES_ASCEND_CORE_H

/* What the files of the fake libascendcl.so share. */

#include "acl.h"
#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/memory.h"
#include "tests/fakes/common/stream.h"

enum { KIND_CONTEXT = 0xac1c, KIND_STREAM = 0xac15, KIND_EVENT = 0xac1e };

typedef struct context {
    fake_handle_t handle;
    fake_card_t *card;
    struct stream *standard; /* what a NULL stream means; made when first used */
    bool primary;            /* the one that aclrtSetDevice() gives */
} context_t;

typedef struct stream {
    fake_handle_t handle;
    struct stream *next;
    context_t *context;
    fake_stream_t *queue;
} stream_t;

/* Set the thread's message and last error; returns the code. */
aclError acl_fail(aclError code, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* aclInit() was called. */
aclError acl_check_ready(void);
/* The thread's context on a device that works. */
aclError acl_enter(context_t **out_context);
/* A device by its ordinal, which need not be current. */
aclError acl_enter_device(int64_t ordinal, fake_card_t **out_card);
aclError acl_check_card(const fake_card_t *card);
bool acl_peer_enabled(const fake_card_t *from, const fake_card_t *to);

/* The stream of a handle, NULL for the standard one, if it belongs to the context. */
aclError acl_stream(context_t *context, aclrtStream handle, stream_t **out_stream);
void acl_streams_destroy(context_t *context);

#endif
