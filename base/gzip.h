/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_GZIP_H
#define YOKE_BASE_GZIP_H

/* Compressed files in memory: what `gzip` writes and reads. */

#include <stdbool.h>
#include <stddef.h>
#include "yoke/status.h"

/** Do the bytes begin as a gzip file does? */
bool yoke_gzip_is(const char *data, size_t size);
/**
 * Unpack a whole gzip file (of one or more members). At most `limit` bytes come out, so
 * that a small file cannot fill the memory. `name` is for messages. The caller frees the
 * data, which is followed by a NUL.
 * @retval YOKE_ERR_BAD_INPUT  damaged, cut off, not gzip, or larger than `limit`
 */
yoke_status_t yoke_gzip_unpack(const char *name, const char *data, size_t size,
                               size_t limit, char **out_data, size_t *out_size);
/** Pack; the same bytes for the same data (no time and no name inside). Caller frees. */
yoke_status_t yoke_gzip_pack(const char *data, size_t size, char **out_data,
                             size_t *out_size);

#endif
