/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU of this machine. For the inventory hal/probe/sysfs_host.c reads it: there is no
 * library to ask. */
#include "backends/host/host.h"

extern const yoke_backend_t yoke_backend_host;
const yoke_backend_t yoke_backend_host = {.name = "host", .live = &yoke_host_ops};
