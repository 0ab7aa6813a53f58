/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_MIXED_CURRENT_H
#define YOKE_TESTS_MIXED_CURRENT_H

/*
 * What the fake libraries of this process have as the thread's current device. With
 * hal/cts/wrapped.h included, it is compared around every public call.
 */

#include <stdint.h>

/* Watch a library that is loaded; one that is no fake is passed over. */
void current_add(const char *path);
unsigned current_count(void);
void current_set(int ordinal); /* of the calling thread, in all; -1: none */
/* The first call that changed something, NULL for none. */
const char *current_fault(void);
/* Handles that are alive in all. */
uint64_t current_alive(void);

#endif
