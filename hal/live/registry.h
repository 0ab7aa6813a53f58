/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_REGISTRY_H
#define YOKE_HAL_LIVE_REGISTRY_H

/* The backends of this process: those of the library, and plug-ins. Threads: any. */

#include "hal/live/object.h"

#pragma GCC visibility push(hidden)

#define YOKE_MAX_BACKENDS 64

/* Bytes that were allocated on one physical device, by however many handles. */
struct yoke_account {
    uint32_t ordinal;
    _Atomic uint64_t used;
    yoke_account_t *next;
};

/* A backend and its library. Never ends: vendors' libraries do not bear it. */
struct yoke_runtime {
    yoke_backend_ops_t ops; /* full size */
    char name[32];
    pthread_mutex_t lock; /* opening, accounts */
    yoke_impl_runtime_t *impl;
    bool open;
    yoke_account_t *accounts;
    /* The file of a plug-in. */
    bool plugin;
    uint64_t file_device, file_number;
};

/** Add a backend after checking its table. `file` is for messages. out_runtime may be
 *  NULL.
 * @retval YOKE_ERR_USAGE        the name is taken or malformed, or the table is full
 * @retval YOKE_ERR_UNSUPPORTED  another major ABI; a required slot is missing */
yoke_status_t yoke_registry_add(const yoke_backend_ops_t *ops, const char *file,
                                yoke_runtime_t **out_runtime);
/** The backends of the library and of $YOKE_PLUGIN_DIR, once. */
void yoke_registry_fill(void);
/** Find by name (of `size` bytes), with its library open. */
yoke_status_t yoke_registry_open(const char *name, size_t size,
                                 yoke_runtime_t **out_runtime);
/** Was this plug-in's file loaded before? */
bool yoke_registry_has_file(uint64_t file_device, uint64_t file_number);
yoke_account_t *yoke_runtime_account(yoke_runtime_t *runtime, uint32_t ordinal);

/** One plug-in, by the rules of yoke_backend_load(). */
yoke_status_t yoke_plugin_load(const char *path);
/** All of $YOKE_PLUGIN_DIR; what cannot be loaded is warned of. */
void yoke_plugin_load_folder(void);

#pragma GCC visibility pop
#endif
