/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_SERVICE_H
#define YOKE_TESTS_FAKES_COMMON_SERVICE_H

/* What a fake runtime lends to the fake libraries of its vendor (BLAS, collectives): its
 * streams and its memory. They find it in the library of the same folder. Threads: any.
 */

#include <stdbool.h>
#include <stddef.h>

typedef struct fake_service {
    /* Enqueue run(data) in a native stream, with the caller's current context; the
     * vendor's code. `size` bytes of data are copied. */
    int (*push)(void *stream, void (*run)(void *), const void *data, size_t size);
    void *(*shadow)(const void *address);
    /* May the device use all of this range? */
    bool (*usable)(const void *address, size_t size);
    /* As push, for work that cannot go on at once: ready(data) is asked every 50
     * microseconds until it is true. */
    int (*poll)(void *stream, bool (*ready)(void *), const void *data, size_t size);
    /* The calling thread's current device; below 0: none. */
    int (*current)(void);
} fake_service_t;

typedef const fake_service_t *(*fake_service_entry_t)(void);
__attribute__((visibility("default"))) const fake_service_t *yoke_fake_service(void);

/* Of `file` in this library's folder, when the process has it; else NULL. */
const fake_service_t *fake_service_find(const char *file);

#endif
