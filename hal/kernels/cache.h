/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_KERNELS_CACHE_H
#define YOKE_HAL_KERNELS_CACHE_H

/*
 * Compiled programs kept in $YOKE_CACHE_DIR (yoke_program_create() of yoke/kernel.h says
 * where else). Threads and processes: any number at once.
 */

#include <stdbool.h>
#include <stddef.h>
#include "yoke/status.h"

/** All that decides what a compiler makes; text "" where there is none. */
typedef struct yoke_cache_key {
    const char *backend;      /* "cuda" */
    const char *architecture; /* "sm_90" */
    const char *driver;       /* version of driver or runtime */
    const char *compiler;     /* version of the compiler */
    const char *options;      /* for the compiler */
    const char *source;       /* prologue included */
    size_t source_size;
} yoke_cache_key_t;

/**
 * @param out_data  caller frees
 * @retval YOKE_ERR_NOT_FOUND  quietly: no entry, a damaged one, or no cache at all
 */
yoke_status_t yoke_cache_get(const yoke_cache_key_t *key, void **out_data,
                             size_t *out_size);
/** Keep an entry; failing to is no failure of the caller's work: quiet but for a debug
 * line. */
yoke_status_t yoke_cache_put(const yoke_cache_key_t *key, const void *data, size_t size);

/**
 * The data in an entry of the cache, for `key` as yoke_cache_key_bytes() gives it. false:
 * damaged, or of another key. Nothing of the entry is trusted.
 */
bool yoke_cache_entry_read(const void *entry, size_t size, const void *key,
                           size_t key_size, const void **out_data, size_t *out_size);
/** An entry; caller frees. NULL: no memory. */
void *yoke_cache_entry_make(const void *key, size_t key_size, const void *data,
                            size_t size, size_t *out_size);
/** Caller frees; NULL: no memory. */
void *yoke_cache_key_bytes(const yoke_cache_key_t *key, size_t *out_size);

#endif
