/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_CATALOG_PARTS_H
#define YOKE_INVENTORY_CATALOG_PARTS_H

/* Between the reader of catalog files and the catalog itself. */

#include "inventory/catalog.h"
#include "inventory/vendor.h"

/* Append a zeroed row; NULL: out of memory. */
yoke_catalog_device_t *yoke_catalog_add_device(yoke_catalog_t *catalog);
yoke_catalog_link_t *yoke_catalog_add_link(yoke_catalog_t *catalog);
/* Append the rows of a document. On failure the catalog holds rows that are half read:
 * free it. */
yoke_status_t yoke_catalog_read_json(const yoke_json_t *json, bool user,
                                     yoke_catalog_t *catalog);
/* (Re)build the index by names; fails where one name leads to two devices of one maker.
 */
yoke_status_t yoke_catalog_index_build(yoke_catalog_t *catalog);
void yoke_catalog_index_free(void *pointer);

#endif
