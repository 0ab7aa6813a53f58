/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_EXPORT_H
#define YOKE_PARTITION_EXPORT_H

/*
 * A plan as the files that start it: in memory, for whoever writes them down. A plan that
 * is not valid, or breaks a rule of the runtime, makes none.
 */

#include "base/text.h"
#include "yoke/plan.h"

typedef struct yoke_export_options {
    const char *to;   /* "megatron" "flagscale" "deepspeed" "torch" "slurm" "rankfile" */
    const char *base; /* the user's file; NULL: none */
    const char *const *partition; /* "SELECTOR=NAME", NULL-terminated; may be NULL */
} yoke_export_options_t;

typedef struct yoke_export_file {
    char *name; /* relative; at most one folder deep */
    char *data;
    bool executable;
} yoke_export_file_t;

typedef struct yoke_export {
    yoke_export_file_t *files;
    size_t count;
    char *start; /* the command that starts it, to be shown */
} yoke_export_t;

/* The names that `to` takes, NULL-terminated. */
extern const char *const yoke_export_targets[];

/**
 * @retval YOKE_ERR_NO         the plan has faults, or the runtime cannot run it: the
 * message names the rule and the nearest change
 * @retval YOKE_ERR_BAD_INPUT  the base cannot be read; the message has file:line
 */
yoke_status_t yoke_plan_export(const yoke_plan_t *plan, const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_export_options_t *options,
                               yoke_export_t *out_export);
void yoke_export_free(yoke_export_t *export);

#endif
