/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_CAMBRICON_HOOKS_H
#define YOKE_TESTS_FAKES_CAMBRICON_HOOKS_H

/* What the fake libcnrt.so does for the fake libcnnl.so, besides CNRT's functions. */

#include "cnrt.h"

/* Enqueue run(data); `size` bytes are copied. */
cnrtRet_t yoke_fake_cnrt_push(cnrtQueue_t queue, void (*run)(void *data),
                              const void *data, size_t size);
/* All of [address, address + size) is live device memory. */
bool yoke_fake_cnrt_is_device(const void *address, size_t size);
/* Where the fake has the device's memory. */
void *yoke_fake_cnrt_shadow(const void *address);

#endif
