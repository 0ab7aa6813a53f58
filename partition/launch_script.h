/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_LAUNCH_SCRIPT_H
#define YOKE_PARTITION_LAUNCH_SCRIPT_H

/*
 * A launch script of Megatron-LM as data. Read, never run: assignments (also of arrays),
 * $NAME and ${NAME:-default}, $((sums)), quotes, comments and continued lines. What stays
 * unknown stays "$NAME" in the words.
 */

#include "base/text.h"
#include "yoke/inventory.h"
#include "yoke/model.h"
#include "yoke/plan.h"

typedef struct yoke_launch {
    char *program;           /* "pretrain_gpt.py", as written */
    unsigned line;           /* of the command */
    yoke_strings_t launcher; /* words before the program */
    yoke_strings_t words;    /* its arguments */
    unsigned *lines;         /* of each argument */
} yoke_launch_t;

/**
 * @retval YOKE_ERR_BAD_INPUT  the message has file:line
 */
yoke_status_t yoke_launch_read(const char *path, yoke_launch_t *out_launch);
yoke_status_t yoke_launch_parse(const char *name, const char *data, size_t size,
                                yoke_launch_t *out_launch);
void yoke_launch_free(yoke_launch_t *launch);

/* Last value of an option ("--num-layers"), "" for a flag, NULL: not there. */
const char *yoke_launch_value(const yoke_launch_t *launch, const char *option,
                              unsigned *out_line);

/* The sizes that the script states against the model's: another number of layers, heads
 * or width is an error with file:line. `path` is for messages. */
yoke_status_t yoke_launch_matches(const yoke_launch_t *launch, const char *path,
                                  const yoke_model_t *model);

/* Arguments without those that a plan decides; unknown ones are kept. */
yoke_status_t yoke_launch_without_plan(const yoke_launch_t *launch,
                                       yoke_strings_t *out_words);

/**
 * The run as a plan on a cluster: ranks in the order of hosts and devices. The figures
 * are the simulator's; `feasible` says whether it fits.
 * @retval YOKE_ERR_BAD_INPUT  an argument that is no number, or breaks Megatron's rules,
 * or does not suit the cluster; the message has file:line
 */
yoke_status_t yoke_launch_plan(const yoke_launch_t *launch, const char *path,
                               const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_plan_options_t *options,
                               yoke_plan_t **out_plan);

/* Median "elapsed time per iteration (ms)" of a training log, in seconds, without the
 * first iteration.
 * @retval YOKE_ERR_BAD_INPUT  no such line */
yoke_status_t yoke_launch_log_time(const char *path, double *out_seconds,
                                   unsigned *out_iterations);

#endif
