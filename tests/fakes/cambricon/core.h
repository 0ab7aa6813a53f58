/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_CAMBRICON_CORE_H
#define YOKE_TESTS_FAKES_CAMBRICON_CORE_H

/* What the files of the fake libcnrt.so share. */

#include "cnrt.h"
#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/memory.h"
#include "tests/fakes/common/stream.h"

enum { KIND_QUEUE = 0xcaa1, KIND_NOTIFIER = 0xcaa2 };

typedef struct queue {
    fake_handle_t handle;
    fake_card_t *card;
    fake_stream_t *stream;
} queue_t;

/* Every code but success is also the thread's last error until that is asked for. */
cnrtRet_t cnrt_result(cnrtRet_t code);
/* The thread's device, if it works. */
cnrtRet_t cnrt_enter(fake_card_t **out_card);
cnrtRet_t cnrt_enter_device(int ordinal, fake_card_t **out_card);
cnrtRet_t cnrt_check_card(const fake_card_t *card);
/* A queue of the thread's device; NULL, and the two implicit handles, name its own. */
cnrtRet_t cnrt_enter_queue(cnrtQueue_t handle, queue_t **out_queue);
/* What "not ready" is: cnrtErrorNotReady, in older runtimes cnrtErrorBusy. */
cnrtRet_t cnrt_not_ready(void);

#endif
