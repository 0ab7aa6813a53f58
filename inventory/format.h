/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_FORMAT_H
#define YOKE_INVENTORY_FORMAT_H

/* The writers behind yoke_inventory_format(). Each appends to `out`. */

#include "base/text.h"
#include "yoke/inventory.h"

yoke_status_t yoke_format_table(const yoke_inventory_t *inventory, size_t width,
                                yoke_text_t *out);
yoke_status_t yoke_format_yaml(const yoke_inventory_t *inventory, size_t width,
                               yoke_text_t *out);
yoke_status_t yoke_format_slurm(const yoke_inventory_t *inventory, size_t width,
                                yoke_text_t *out);
yoke_status_t yoke_format_k8s(const yoke_inventory_t *inventory, size_t width,
                              yoke_text_t *out);
yoke_status_t yoke_format_hostfile(const yoke_inventory_t *inventory, size_t width,
                                   yoke_text_t *out);
yoke_status_t yoke_format_mpi(const yoke_inventory_t *inventory, size_t width,
                              yoke_text_t *out);
yoke_status_t yoke_format_prometheus(const yoke_inventory_t *inventory, size_t width,
                                     yoke_text_t *out);

/* What the device is called: its type, else its name, else its vendor, else "unknown". */
const char *yoke_device_label(const yoke_inventory_device_t *device);
bool yoke_device_is_accelerator(const yoke_inventory_device_t *device);
/* `text` with everything but letters, digits, '-', '_' and '.' turned to '-', beginning
 * and ending with a letter or digit, at most `limit` bytes; "unknown" when nothing is
 * left. */
void yoke_format_token(const char *text, bool lower, size_t limit, yoke_text_t *out);

/* Schedulable accelerators of one node, by label, in the order of first appearance. */
typedef struct yoke_type_count {
    const yoke_inventory_device_t *first;
    size_t count;
} yoke_type_count_t;
/* *out_counts is from malloc(). */
yoke_status_t yoke_count_types(const yoke_node_t *node, yoke_type_count_t **out_counts,
                               size_t *out_count);

#endif
