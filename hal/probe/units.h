/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_UNITS_H
#define YOKE_HAL_UNITS_H

/* Probe units: what one helper process is asked. */

#include "backends/backend.h"
#include "base/text.h"
#include "hal/probe/child.h"

typedef struct yoke_unit {
    char *probe;                   /* "hip", "opencl:pocl.icd", "hwloc" */
    const yoke_backend_t *backend; /* NULL: topology */
    char *library;                 /* OpenCL vendor library as written in its file */
    bool unmasked; /* second run without the variables that hide devices */
    yoke_strings_t arguments, environment;
    const char **argument_list, **environment_list; /* NULL-terminated views of them */
    yoke_child_t child;
    /* what came of it */
    yoke_records_t records;
    yoke_finding_t *findings;
    size_t finding_count;
    json_t *topology;
} yoke_unit_t;

typedef struct yoke_units {
    yoke_unit_t *items;
    size_t count;
} yoke_units_t;

/*
 * Units for the backends named in `backends` (NULL: all that are not on request).
 * Findings that need no process (no vendor files, an empty file, a name repeated) go to
 * `node`; below a sysroot vendor files are only listed and the topology is the only unit.
 */
yoke_status_t yoke_units_plan(const char *sysroot, const char *backends,
                              yoke_node_t *node, yoke_units_t *out_units);
/* Run all, `timeout` seconds each; reads what they said. */
yoke_status_t yoke_units_run(yoke_units_t *units, double timeout);
/*
 * Move records to `records` and findings to `node`: a unit's end becomes a finding (timed
 * out, crashed), devices that only the unmasked run saw become hidden ones.
 */
yoke_status_t yoke_units_collect(yoke_units_t *units, double timeout, yoke_node_t *node,
                                 yoke_records_t *records);
/* What hwloc said, or NULL; borrowed. */
const json_t *yoke_units_topology(const yoke_units_t *units);
void yoke_units_free(yoke_units_t *units);

/* Variables that may hide devices of a backend, NULL-terminated. */
const char *const *yoke_masks_of(const yoke_backend_t *backend);
/* The first of them that is set, or NULL. */
const char *yoke_mask_set(const yoke_backend_t *backend);
/*
 * Both runs of one backend: records of `all` that `visible` lacks are appended to it with
 * the variable that hides them; the others get their native index.
 */
yoke_status_t yoke_masks_merge(const yoke_backend_t *backend, yoke_records_t *visible,
                               yoke_records_t *all, size_t *out_hidden);

#endif
