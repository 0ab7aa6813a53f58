/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_PARTS_H
#define YOKE_INVENTORY_PARTS_H

/* Which members of each part are strings and which are quantities, so that clearing,
 * copying and redacting walk one table; and the kept "x-*" members. */

#include <stddef.h>
#include "base/json.h"
#include "base/text.h"
#include "yoke/inventory.h"

/* Offsets, ending with PART_END. */
#define YOKE_PART_END ((size_t)-1)
typedef struct yoke_part {
    size_t size;
    const size_t *strings;
    const size_t *quantities;
} yoke_part_t;

extern const yoke_part_t yoke_view_part, yoke_device_part, yoke_nic_part,
    yoke_finding_part, yoke_node_part, yoke_link_part;

static inline char **yoke_part_string(void *part, size_t offset)
{
    return (char **)(void *)((char *)part + offset);
}

static inline yoke_quantity_t *yoke_part_quantity(void *part, size_t offset)
{
    return (yoke_quantity_t *)(void *)((char *)part + offset);
}

/* Doubles the capacity as needed and zeroes the new item; NULL: out of memory. `items` is
 * an array of parts of `size` bytes that holds `*count`; capacities are powers of two. */
void *yoke_grow(void **items, size_t *count, size_t size);

/* Append all that a node says, except its hosts and its time, as bytes: equal for equal
 * nodes only, with an order that is the same on every machine. */
void yoke_node_key(const yoke_node_t *node, yoke_text_t *key);

/*
 * "x-*" members by the place they were found: an object from paths to objects of members.
 * A path names nodes by their hosts and devices by their ids, so that it outlives
 * sorting.
 */
yoke_status_t yoke_extra_collect(const json_t *document, void **out_extra);
/* Put them back into a document that was made from the inventory. */
void yoke_extra_attach(const void *extra, json_t *document);
/* Members kept under node `from` are (also) kept under `to`. */
yoke_status_t yoke_extra_copy_node(void *extra, const char *from, const char *to);
/* Start of all paths of a node: "/nodes/<hosts>". Caller frees. */
char *yoke_extra_node_path(const char *hosts);
void yoke_extra_free(void *extra);

#endif
