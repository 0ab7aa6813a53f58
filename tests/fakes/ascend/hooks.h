/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_ASCEND_HOOKS_H
#define YOKE_TESTS_FAKES_ASCEND_HOOKS_H

/* What the fake libascendcl.so does for the fake libopapi.so, besides ACL's functions. */

#include "acl.h"

/* Enqueue run(data) on a stream of the thread's context; `size` bytes are copied. */
aclError yoke_fake_acl_push(aclrtStream stream, void (*run)(void *data), const void *data,
                            size_t size);
/* All of [address, address + size) is live device memory. */
bool yoke_fake_acl_is_device(const void *address, size_t size);
/* Where the fake has the device's memory. */
void *yoke_fake_acl_shadow(const void *address);

#endif
