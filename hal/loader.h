/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LOADER_H
#define YOKE_HAL_LOADER_H

/*
 * The one dynamic loader. Libraries are opened by soname, RTLD_NOW | RTLD_LOCAL |
 * RTLD_NODELETE, and stay open: vendors' exit handlers crash after dlclose().
 * Threads: any.
 */

#include <stdbool.h>
#include <stddef.h>

typedef struct yoke_library {
    void *handle;
    char *path; /* file that was taken, as the loader resolved it */
} yoke_library_t;

typedef struct yoke_symbol {
    const char *name;
    const char
        *other; /* second name to try ("cuDeviceTotalMem" after "..._v2"), or NULL */
    void *slot; /* address of a function pointer */
    bool optional;
} yoke_symbol_t;

/**
 * Open the first of `names` (NULL-terminated) that loads; $YOKE_LIB_<key> replaces them.
 * On failure *out_problem holds what was tried and the loader's own words (caller frees).
 * A file that is there but cannot be loaded ends the search: its problem is the answer.
 * @param out_found  set when a file was found but did not load
 */
bool yoke_library_open(const char *key, const char *const *names,
                       yoke_library_t *out_library, char **out_problem, bool *out_found);

/** Resolve all; returns NULL, or the name of the first required symbol that is missing.
 */
const char *yoke_library_resolve(const yoke_library_t *library,
                                 const yoke_symbol_t *symbols, size_t count);

void yoke_library_forget(yoke_library_t *library);

#endif
