/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_INVENTORY_PARTS_H
#define YOKE_TOOLS_INVENTORY_PARTS_H

/* The parts of `yoke inventory`. */

#include "base/text.h"
#include "tools/cli.h"
#include "yoke/probe.h"

/* What a source gave, and whether something asked for is missing from it. */
typedef struct inventory_result {
    yoke_inventory_t *inventory; /* NULL: another rank prints it */
    yoke_measurements_t measurements;
    bool partial;
} inventory_result_t;

/* --- where the inventory comes from ---------------------------------------------------
 */

/* Probe (and --measure) this machine or a saved tree. */
yoke_status_t yoke_inventory_from_machine(const yoke_args_t *args,
                                          inventory_result_t *out);
/* --merge: files and folders of *.json, --expect. */
yoke_status_t yoke_inventory_from_files(const yoke_args_t *args, inventory_result_t *out);
/* --gather: all ranks of a launcher send to rank 0. */
yoke_status_t yoke_inventory_from_ranks(const yoke_args_t *args, inventory_result_t *out);
/* Merge documents; warnings of the merge go to standard error. */
yoke_status_t yoke_inventory_combine(yoke_inventory_t **documents, size_t count,
                                     const char *expect, bool duplicates_are_news,
                                     inventory_result_t *out);
/* Is a finding of the inventory a fault? */
bool yoke_inventory_has_fault(const yoke_inventory_t *inventory);

/* --- what is done with it
 * ---------------------------------------------------------------- */

/* --diff A B; the exit code. */
int yoke_inventory_run_diff(const yoke_args_t *args);
/* Table of what was measured, with spread. */
void yoke_inventory_print_measurements(const yoke_measurements_t *measurements,
                                       size_t width, yoke_text_t *out);
/* --why: every finding, or those of one probe. USAGE when there is no such probe. */
yoke_status_t yoke_inventory_print_why(const yoke_inventory_t *inventory,
                                       const char *probe, size_t width, yoke_text_t *out);
/* One line on how to learn more. */
void yoke_inventory_print_hint(const yoke_inventory_t *inventory, yoke_text_t *out);

#endif
