/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_OPERATIONS_H
#define YOKE_INVENTORY_OPERATIONS_H

/* Whole-document operations behind the options of `yoke inventory`. */

#include <jansson.h>
#include "base/text.h"
#include "yoke/inventory.h"

/* --- formats ---------------------------------------------------------------------- */

/* "table" "json" "yaml" "slurm" "k8s" "hostfile" "mpi" "prometheus", NULL-terminated. */
extern const char *const yoke_inventory_formats[];
/**
 * Text in a format; caller frees. `width` is for the table (0: 80).
 * @retval YOKE_ERR_USAGE  the format is not one of the list
 */
yoke_status_t yoke_inventory_format(const yoke_inventory_t *inventory, const char *format,
                                    size_t width, char **out_text);

/* --- difference ------------------------------------------------------------------- */

typedef struct yoke_change {
    char *what;   /* "added" "removed" "changed" */
    char *where;  /* "host/device", "host", "link A - B" */
    char *field;  /* JSON pointer inside, e.g. "/memory/total"; NULL for added, removed */
    char *before; /* NULL: absent */
    char *after;
    char *note; /* "link runs below its maximum", "device lost"; NULL */
} yoke_change_t;

typedef struct yoke_changes {
    yoke_change_t *items;
    size_t count, capacity;
} yoke_changes_t;

/**
 * Changes from `before` to `after`, sorted. Free memory, the time of gathering and
 * measured figures that differ by at most a tenth are no changes.
 */
yoke_status_t yoke_inventory_diff(const yoke_inventory_t *before,
                                  const yoke_inventory_t *after,
                                  yoke_changes_t *out_changes);
void yoke_changes_free(yoke_changes_t *changes);
/* One line a change; "" when there is none. Caller frees. */
char *yoke_changes_text(const yoke_changes_t *changes);
json_t *yoke_changes_to_json(const yoke_changes_t *changes);

/* --- requirement ------------------------------------------------------------------ */

/**
 * "gpu:8", "npu:2", "any:1" (gpu or npu), "cpu:1", "SELECTOR:COUNT": are there at least
 * so many schedulable devices? A failure says how many there are.
 * @retval YOKE_ERR_NO     fewer
 * @retval YOKE_ERR_USAGE  malformed, or a word that is neither of these nor a device
 */
yoke_status_t yoke_inventory_require(const yoke_inventory_t *inventory,
                                     const char *requirement);

/* --- merge ------------------------------------------------------------------------ */

/* A host that two documents of equal time (mostly: none) describe differently. */
typedef struct yoke_undecided {
    char *host;
    size_t taken, dropped; /* indexes of the documents */
} yoke_undecided_t;

typedef struct yoke_merge_report {
    yoke_strings_t duplicates;   /* hosts given more than once; the newest stands */
    yoke_undecided_t *undecided; /* no time tells which is newer; sorted by host */
    size_t undecided_count;
    yoke_strings_t skewed;  /* hosts whose clock is more than 5 minutes off the median */
    yoke_strings_t missing; /* expected, not given */
    yoke_strings_t extra;   /* given, not expected */
} yoke_merge_report_t;

/**
 * Many documents into one; equal nodes become one entry with a host list. The bytes do
 * not depend on the order of the documents: of two that say different things of one host
 * the newer is taken, and where no time tells, the one whose content sorts first.
 * @param expect  host list, or NULL
 */
yoke_status_t yoke_inventory_merge(yoke_inventory_t *const *documents, size_t count,
                                   const char *expect, yoke_inventory_t **out_inventory,
                                   yoke_merge_report_t *out_report);
void yoke_merge_report_free(yoke_merge_report_t *report);

/* --- changes of one document ------------------------------------------------------ */

/**
 * Replace host names, UUIDs and serial numbers by counters, the same name by the same
 * counter everywhere (texts and selectors included). PCI addresses stay. "x-*" members
 * are dropped, since nothing is known of them.
 */
yoke_status_t yoke_inventory_redact(yoke_inventory_t *inventory);

/** --as "SELECTOR=NAME": set the type by its catalog name or alias. */
yoke_status_t yoke_inventory_rename(yoke_inventory_t *inventory, const char *text);

/** --link "SEL,SEL:kind=NAME,rate=RATE,latency=TIME"; replaces a link between the same
 * two. */
yoke_status_t yoke_inventory_link(yoke_inventory_t *inventory, const char *text);

#endif
