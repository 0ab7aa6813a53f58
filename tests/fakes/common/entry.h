/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_ENTRY_H
#define YOKE_TESTS_FAKES_COMMON_ENTRY_H

/*
 * The head of every vendor function: it counts the call and carries out faults. The
 * functions of ../fake.h that need nothing vendor-specific are in entry.c; each library
 * defines yoke_fake_current() and yoke_fake_set_current() itself.
 *
 *     FAKE_API int cuDeviceGetCount(int *count)
 *     {
 *         FAKE_CALL(cuDeviceGetCount, int);
 *         FAKE_OUT(*count, fake_visible_count());
 *         return 0;
 *     }
 */

#include "config.h"
#include "tests/fakes/fake.h"

#define FAKE_API __attribute__((visibility("default")))

typedef struct fake_function {
    const char *name;
    atomic_ullong calls;
    atomic_int fault; /* yoke_fake_fault_t */
    atomic_llong code;
    atomic_ullong from; /* number of the first call that fails */
} fake_function_t;

/* True: the function returns at once with *out_code. */
bool fake_enter(fake_function_t *function, int64_t *out_code);
/* What a counted or sized output gets: `value`, or an absurd one. */
int64_t fake_output(fake_function_t *function, int64_t value);

/* Pointers in a section of their own make the list of all functions. */
#define FAKE_FUNCTION(function)                                                          \
    static fake_function_t fake_self = {.name = #function};                              \
    static fake_function_t *const fake_listed                                            \
        __attribute__((section("fake_functions"), used)) = &fake_self

/* For functions that return a code of `type`. */
#define FAKE_CALL(function, type)                                                        \
    FAKE_FUNCTION(function);                                                             \
    int64_t fake_code;                                                                   \
    if (fake_enter(&fake_self, &fake_code))                                              \
    return (type)fake_code
/* For functions that return something else: `answer` on a fault. */
#define FAKE_CALL_OTHER(function, answer)                                                \
    FAKE_FUNCTION(function);                                                             \
    int64_t fake_code;                                                                   \
    if (fake_enter(&fake_self, &fake_code))                                              \
    return (answer)
/* A count or size output. */
#define FAKE_OUT(place, value)                                                           \
    ((place) = (__typeof__(place))fake_output(&fake_self, (int64_t)(value)))

/* Handles that tests may not leak; the table also tells a live handle from a stale one.
 */
typedef struct fake_handle {
    uint32_t kind;  /* of the library's choosing, not 0 */
    uint32_t quiet; /* does not count as alive (primary contexts) */
} fake_handle_t;

/* A handle is the first member of the library's object. */
void fake_handle_add(fake_handle_t *handle, uint32_t kind);
void fake_handle_add_quiet(fake_handle_t *handle, uint32_t kind);
void fake_handle_remove(fake_handle_t *handle);
/* The object, or NULL when this is no live handle of that kind. Any value is safe. */
void *fake_handle_check(const void *handle, uint32_t kind);
/* Allocations count too (memory.c). */
void fake_alive_change(int64_t by);

#endif
