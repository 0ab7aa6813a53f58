/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COSTMODEL_MODEL_SAFETENSORS_H
#define YOKE_COSTMODEL_MODEL_SAFETENSORS_H

/*
 * Headers and indexes of safetensors files, as hostile as they come. Only headers are
 * read, never weights.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "yoke/model.h"

enum { YOKE_SAFETENSORS_RANK = 8 };
#define YOKE_SAFETENSORS_HEADER_LIMIT ((uint64_t)100000000) /* the format's own limit */

typedef struct yoke_safetensors_entry {
    char *name;
    char *file;        /* index: relative to the index; header: NULL */
    const char *dtype; /* header: static storage, e.g. "BF16"; index: NULL */
    unsigned bits;     /* of one element */
    size_t rank;
    uint64_t shape[YOKE_SAFETENSORS_RANK];
    uint64_t elements;
    uint64_t begin, end; /* in the data after the header */
} yoke_safetensors_entry_t;

/* Entries sorted by name. */
typedef struct yoke_safetensors {
    yoke_safetensors_entry_t *entries;
    size_t count;
    bool has_total;
    uint64_t total; /* index: stated bytes; header: bytes of all tensors */
} yoke_safetensors_t;

/*
 * Header from the first bytes of a file: 8 bytes of length (little-endian), then JSON.
 * `size` bytes at `data` must hold all of it; `file_size` is that of the whole file.
 */
yoke_status_t yoke_safetensors_parse_header(const char *name, const void *data,
                                            size_t size, uint64_t file_size,
                                            yoke_safetensors_t *out_header);
/* "model.safetensors.index.json". Refuses file names that leave the folder. */
yoke_status_t yoke_safetensors_parse_index(const char *name, const char *data,
                                           size_t size, yoke_safetensors_t *out_index);
yoke_status_t yoke_safetensors_read_header(const char *path,
                                           yoke_safetensors_t *out_header);
yoke_status_t yoke_safetensors_read_index(const char *path,
                                          yoke_safetensors_t *out_index);
void yoke_safetensors_free(yoke_safetensors_t *tensors);

#endif
