/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_FILE_H
#define YOKE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include "yoke/status.h"

/**
 * Read a whole file ("-" is standard input) into a NUL-terminated buffer that the
 * caller frees. Refuses more than `limit` bytes, directories and devices.
 */
yoke_status_t yoke_file_read(const char *path, size_t limit, char **out_data, size_t *out_size);
/** Like yoke_file_read(), but without a message and false when it cannot be read (sysfs). */
bool yoke_file_try_read(const char *path, size_t limit, char **out_data, size_t *out_size);
/**
 * Write `data` to `path`, "-" meaning standard output. A file is written under a
 * temporary name in the same folder and renamed, so that a failure leaves what was there.
 */
yoke_status_t yoke_file_write(const char *path, const void *data, size_t size);
bool yoke_file_exists(const char *path);
bool yoke_directory_exists(const char *path);
/** Folder of the installed or built data files (catalog, constants, clusters, models);
 *  $YOKE_DATA_DIR overrides. Static storage. */
const char *yoke_data_dir(void);

#endif
