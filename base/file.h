/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_BASE_FILE_H
#define YOKE_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"
#include "yoke/status.h"

/**
 * Read a whole file ("-" is standard input) into a NUL-terminated buffer that the
 * caller frees. Refuses more than `limit` bytes (0: 64 MiB), folders and devices; a pipe
 * is read to its end.
 *
 * @retval YOKE_ERR_NOT_FOUND  no such file
 * @retval YOKE_ERR_BAD_INPUT  too large, a folder or a device
 * @retval YOKE_ERR_SYSTEM     it is there but cannot be read
 */
yoke_status_t yoke_file_read(const char *path, size_t limit, char **out_data,
                             size_t *out_size);
/** Like yoke_file_read(), but false and no message when it cannot be read (sysfs). */
bool yoke_file_try_read(const char *path, size_t limit, char **out_data,
                        size_t *out_size);
/**
 * Write `data` to `path`, "-" meaning standard output. A file is written under a
 * temporary name in the same folder and renamed, so that a failure leaves what was there.
 * A new file has the mode that the umask leaves, an old one keeps its mode; the file
 * behind a symbolic link is replaced, not the link; pipes and devices are written to.
 *
 * @retval YOKE_ERR_SYSTEM  with the path and the system's reason
 */
yoke_status_t yoke_file_write(const char *path, const void *data, size_t size);
bool yoke_file_exists(const char *path);
bool yoke_directory_exists(const char *path);
/**
 * Folder of the data files (catalog, constants, clusters, models). In this order:
 * $YOKE_DATA_DIR; share/yoke beside the bin/ or lib/ that this code runs from; the source
 * tree's, only for what runs from the build folder; the folder chosen at configuration.
 * It is not checked to exist. Valid until the environment is changed; do not free.
 */
const char *yoke_data_dir(void);
/**
 * Names of the *.json files in one folder of the data ("clusters", "models"), without the
 * ending, in natural order; appended. None where there is no such folder.
 */
yoke_status_t yoke_data_names(const char *folder, yoke_strings_t *out_names);

#endif
