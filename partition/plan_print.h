/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_PLAN_PRINT_H
#define YOKE_PARTITION_PLAN_PRINT_H

/* A plan for people, in at most `width` columns (0: 80). `model` may be NULL. */

#include "base/text.h"
#include "yoke/plan.h"

/* What `yoke plan` prints: the answer first, then where everything went and why. */
yoke_status_t yoke_plan_print(const yoke_plan_t *plan, const yoke_model_t *model,
                              size_t width, yoke_text_t *text);

/*
 * Parts of it, each with its heading, which `explain` uses as well. Out of memory is seen
 * in text->failed. A part about which the plan says nothing prints nothing.
 */
void yoke_print_answer(const yoke_plan_t *plan, size_t width, yoke_text_t *text);
/* Stages in a table, equal pipelines and equal replicas once; then who they are. */
void yoke_print_placement(const yoke_plan_t *plan, const yoke_model_t *model,
                          size_t width, yoke_text_t *text);
void yoke_print_match(const yoke_plan_t *plan, size_t width, yoke_text_t *text);
void yoke_print_bound(const yoke_plan_t *plan, size_t width, yoke_text_t *text);
void yoke_print_alternatives(const yoke_plan_t *plan, size_t width, yoke_text_t *text);
void yoke_print_unused(const yoke_plan_t *plan, size_t width, yoke_text_t *text);
void yoke_print_notes(const yoke_plan_t *plan, size_t width, yoke_text_t *text);

/* Index of the first pipeline that is equal to this one but for its devices. */
size_t yoke_pipeline_kind(const yoke_plan_t *plan, size_t pipeline);
/* Type of a stage's devices; "mixed" where its replicas differ, NULL when not stated. */
const char *yoke_stage_type(const yoke_plan_stage_t *stage);
/* "0-13" or "0-3,8-11" */
void yoke_print_layers(const yoke_plan_stage_t *stage, yoke_text_t *text);
/* Names of devices in short: "a[01-04]/gpu[0-7], b1/npu3". */
yoke_status_t yoke_print_devices(const yoke_strings_t *names, yoke_text_t *text);
/* Wrapped paragraph behind `indent` blanks, with a newline. */
void yoke_print_paragraph(const char *paragraph, size_t width, size_t indent,
                          yoke_text_t *text);
void yoke_print_heading(const char *heading, yoke_text_t *text);

#endif
