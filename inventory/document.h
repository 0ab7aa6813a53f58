/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_DOCUMENT_H
#define YOKE_INVENTORY_DOCUMENT_H

/*
 * Building, copying and freeing the parts of an inventory, and its JSON form. The public
 * half (read, parse, text, free) is in yoke/inventory.h.
 */

#include "base/json.h"
#include "yoke/inventory.h"

/* Growth. Each returns a zeroed part (numa -1, ordinals -1), or NULL: out of memory. The
 * pointer is valid until the next growth of the same array. */
yoke_inventory_t *yoke_inventory_new(void);
yoke_node_t *yoke_inventory_add_node(yoke_inventory_t *inventory, const char *hosts);
yoke_link_t *yoke_inventory_add_link(yoke_inventory_t *inventory);
yoke_inventory_device_t *yoke_node_add_device(yoke_node_t *node);
yoke_nic_t *yoke_node_add_nic(yoke_node_t *node);
yoke_status_t yoke_nic_add_near(yoke_nic_t *nic, const char *device_id);
/* Texts may be NULL. */
yoke_finding_t *yoke_node_add_finding(yoke_node_t *node, const char *probe,
                                      const char *verdict, const char *text, bool fault);
yoke_status_t yoke_node_warn(yoke_node_t *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
yoke_view_t *yoke_device_add_view(yoke_inventory_device_t *device);

/* Replace a string member: frees the old one, copies the new one (NULL allowed). */
yoke_status_t yoke_set_string(char **member, const char *value);
yoke_status_t yoke_quantity_set(yoke_quantity_t *quantity, double value,
                                yoke_source_t source, unsigned marks, const char *detail);
void yoke_quantity_clear(yoke_quantity_t *quantity);
/* The user's rate of the link to the peers in the node: it is of all of them, whatever
 * group of them the catalog's link joins. */
yoke_status_t yoke_device_set_link(yoke_inventory_device_t *device, double rate,
                                   const char *detail);
yoke_status_t yoke_quantity_copy(const yoke_quantity_t *from, yoke_quantity_t *out);

/* Free what hangs below and zero the part itself. */
void yoke_view_clear(yoke_view_t *view);
void yoke_device_clear(yoke_inventory_device_t *device);
void yoke_nic_clear(yoke_nic_t *nic);
void yoke_finding_clear(yoke_finding_t *finding);
void yoke_node_clear(yoke_node_t *node);
void yoke_link_clear(yoke_link_t *link);

/* Deep copies; *out need not be initialised. "x-*" members belong to the inventory: only
 * yoke_inventory_copy() copies them. */
yoke_status_t yoke_device_copy(const yoke_inventory_device_t *device,
                               yoke_inventory_device_t *out);
yoke_status_t yoke_node_copy(const yoke_node_t *node, yoke_node_t *out);
yoke_status_t yoke_link_copy(const yoke_link_t *link, yoke_link_t *out);
yoke_status_t yoke_inventory_copy(const yoke_inventory_t *inventory,
                                  yoke_inventory_t **out_inventory);

/*
 * The hosts of one node entry that a caller wants to treat apart become an entry of their
 * own: node `index` keeps `rest`, a copy with `chosen` is inserted behind it. Both are
 * host lists; nothing happens when either is empty or NULL.
 */
yoke_status_t yoke_inventory_split_node(yoke_inventory_t *inventory, size_t index,
                                        const char *chosen, const char *rest);

/* The document as a JSON tree (a new reference), and back. NULL: out of memory. */
json_t *yoke_inventory_to_json(const yoke_inventory_t *inventory);
yoke_status_t yoke_inventory_from_json(const yoke_json_t *json,
                                       yoke_inventory_t **out_inventory);
/* Parts of it, as they stand in the document, without "x-*" members. */
json_t *yoke_node_to_json(const yoke_node_t *node);
json_t *yoke_device_to_json(const yoke_inventory_device_t *device);

/* A quantity as {"<key>", "source", "marks", "detail"}; NULL value: unknown gives null.
 */
json_t *yoke_quantity_to_json(const yoke_quantity_t *quantity, const char *key);
yoke_status_t yoke_quantity_from_json(const yoke_cursor_t *at, const char *key,
                                      double max, yoke_quantity_t *out_quantity);
json_t *yoke_marks_to_json(unsigned marks);
yoke_status_t yoke_marks_from_json(const yoke_cursor_t *at, const char *key,
                                   unsigned *out_marks);
/* "not re-read, disputed" into `buffer` (at least 64 bytes); "" without marks. */
const char *yoke_marks_text(unsigned marks, char buffer[64]);

/* "0000:c1:00.0": lower case, domain of at least four digits. Returns `buffer`. */
const char *yoke_pci_text(const yoke_pci_t *pci, char buffer[24]);
/* Accepts "c1:00.0", "0000:C1:00.0", "00000000:c1:00.0"; ids are left at 0. */
bool yoke_pci_parse(const char *text, yoke_pci_t *out_pci);
int yoke_pci_compare(const yoke_pci_t *a, const yoke_pci_t *b);
/* "GPU-8-4-4-4-12", "8-4-4-4-12" or 32 digits; false for everything else ("MIG-a0"). */
bool yoke_uuid_parse(const char *text, uint8_t out_uuid[16]);
const char *yoke_uuid_text(const uint8_t uuid[16], char buffer[40]);
bool yoke_device_kind_parse(const char *name, yoke_device_kind_t *out_kind);

/* Sort devices by PCI address, partition, then the host, then the rest by id. */
void yoke_node_sort_devices(yoke_node_t *node);

#endif
