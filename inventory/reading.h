/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_READING_H
#define YOKE_INVENTORY_READING_H

/* Reading the members that recur in yoke-inventory/1. Absent and null leave the output
 * alone; every refusal names its place. */

#include "inventory/document.h"

#define YOKE_MAX_BYTES 0x1p53
#define YOKE_MAX_RATE 1e30
#define YOKE_MAX_FRACTION 10.0
#define YOKE_MAX_SECONDS 1e9
#define YOKE_MAX_GROUP 65536

#define TRY(expression)                                                                  \
    do {                                                                                 \
        yoke_status_t status_ = (expression);                                            \
        if (status_ != YOKE_OK)                                                          \
            return status_;                                                              \
    } while (0)

/* yoke_cursor_only(), except that a document of a later minor version may have members
 * that this reader does not know: they are ignored. */
yoke_status_t yoke_read_only(const yoke_cursor_t *at, const char *const *allowed);
yoke_status_t yoke_read_string(const yoke_cursor_t *at, const char *key, char **member);
/* A name that goes into tables, selectors and files of other programs; must be there. */
yoke_status_t yoke_read_id(const yoke_cursor_t *at, const char *key, char **member);
yoke_status_t yoke_read_index(const yoke_cursor_t *at, const char *key, int64_t *out);
yoke_status_t yoke_read_unsigned(const yoke_cursor_t *at, const char *key, unsigned max,
                                 unsigned *out);
/* Numbers of one object that share "source", "marks", "detail", except where "origin"
 * says otherwise. `keys` ends with NULL. */
yoke_status_t yoke_read_shared(const yoke_cursor_t *at, const char *const *keys,
                               const double *max, yoke_quantity_t *const *quantities,
                               size_t count);
yoke_status_t yoke_read_quantity(const yoke_cursor_t *at, const char *member,
                                 const char *key, double max, yoke_quantity_t *out);
yoke_status_t yoke_read_pci(const yoke_cursor_t *at, yoke_pci_t *out);
yoke_status_t yoke_read_device(const yoke_cursor_t *at, yoke_inventory_device_t *device);

#endif
