/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_CTS_CURRENT_H
#define YOKE_HAL_CTS_CURRENT_H

/* The caller's current device, as a fake vendor library keeps it (tests/fakes/fake.h). */

#include <stdbool.h>

/* Look into the library that a device was opened by; false: it is no fake. */
/* may_keep_first: where nothing is current, a call may leave its device current. */
bool yoke_cts_current_watch(const char *library, bool may_keep_first);
void yoke_cts_current_unwatch(void);
/* A symbol of the watched library, NULL for none. */
void *yoke_cts_current_symbol(const char *name);
/* Make a device current on this thread as somebody else would; -1: none. */
void yoke_cts_current_set(int ordinal);
/* The first call since the last _clear() that changed it, as text; NULL: none did. */
const char *yoke_cts_current_fault(void);
void yoke_cts_current_clear(void);

#endif
