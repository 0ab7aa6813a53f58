/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_SELECTOR_H
#define YOKE_INVENTORY_SELECTOR_H

/* Selectors over whole node entries. The grammar is in yoke/inventory.h. */

#include "base/text.h"
#include "yoke/inventory.h"

/* Is the selector well-formed? No message. */
bool yoke_selector_valid(const char *selector);

/* Does `host` match a host pattern ("npu-[01-04],login*")? Malformed patterns match
 * nothing. */
bool yoke_host_match(const char *pattern, const char *host);

/* '*' stands for any run of characters; all else is literal. */
bool yoke_glob_match(const char *pattern, const char *text);

/* Part of the selector that names hosts; false: it names none. Caller frees. */
bool yoke_selector_hosts(const char *selector, char **out_pattern);

/*
 * Split node entries so that every entry is wholly inside or wholly outside of the
 * selector's host pattern. Entries keep their order.
 */
yoke_status_t yoke_inventory_split_by(yoke_inventory_t *inventory, const char *selector);

/* Devices of the inventory that match, each counted once per host. */
yoke_status_t yoke_selector_count(const yoke_inventory_t *inventory, const char *selector,
                                  bool schedulable_only, uint64_t *out_count);

#endif
