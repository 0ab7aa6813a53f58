/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_FAKE_H
#define YOKE_TESTS_FAKES_FAKE_H

/*
 * What every fake vendor library exports besides the vendor's own symbols, for tests. A
 * test finds them with dlopen(path, RTLD_NOLOAD) and dlsym(): each library has its own
 * copies.
 *
 * What the fakes are like (devices, memories, orders, faults) comes from the text file
 * that $YOKE_FAKES names; tests/fakes/README.md describes its lines.
 */

#include <stddef.h>
#include <stdint.h>

/* The calling thread's current device and context, as the library keeps them, in one
 * number; equal before and after every call of a good guest. */
uint64_t yoke_fake_current(void);
/* What another library of the process would do: make device `ordinal` current on the
 * calling thread, with a context of its own if the runtime has such (not the primary
 * one); -1: as in a thread that never called the library. */
void yoke_fake_set_current(int ordinal);

/* Calls of the vendor's functions so far, all threads; and of one function. */
uint64_t yoke_fake_calls(void);
uint64_t yoke_fake_calls_of(const char *function);
/* Names of all vendor functions that the library has; static. */
const char *const *yoke_fake_functions(size_t *out_count);

typedef enum yoke_fake_fault {
    YOKE_FAKE_NONE = 0,
    YOKE_FAKE_ERROR,     /* return `code`, outputs not written */
    YOKE_FAKE_UNWRITTEN, /* return success, outputs not written */
    YOKE_FAKE_GARBAGE,   /* return success, counts and sizes absurd */
    YOKE_FAKE_HANG,      /* sleep until yoke_fake_fault() is called again, at most 30 s */
    YOKE_FAKE_CRASH      /* abort() */
} yoke_fake_fault_t;

/* Fault for the `nth` next call (1: the next) of `function` and all after it; NULL: no
 * function. The same can be said in the file. */
void yoke_fake_fault(const char *function, yoke_fake_fault_t fault, int64_t code,
                     uint64_t nth);
/* The device is lost from now on: every call on it answers with the vendor's code for
 * that. */
void yoke_fake_lose(int ordinal);
/* Handles (allocations, streams, events, modules, contexts) that are alive: 0 when
 * nothing leaks; primary contexts and what the library itself keeps do not count. */
uint64_t yoke_fake_alive(void);

#endif
