/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_LIVE_FAIL_H
#define YOKE_HAL_LIVE_FAIL_H

/** Add to the message of the last failure; it stays a vendor's when it was one. */
__attribute__((visibility("hidden"), format(printf, 1, 2))) void
yoke_backend_append(const char *format, ...);

#endif
