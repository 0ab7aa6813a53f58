/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_FAULTS_H
#define YOKE_PARTITION_FAULTS_H

/* Faults of one document, one line each: "/json/pointer: what is wrong; what would be
 * right". */

#include "base/text.h"

typedef struct yoke_faults {
    yoke_text_t lines;
    size_t count; /* those past the first YOKE_FAULTS_SHOWN are counted, not kept... */
    bool all;     /* ...unless all of them are wanted */
} yoke_faults_t;
enum { YOKE_FAULTS_SHOWN = 200 };

/* Add one; an empty `pointer` is the whole document. */
void yoke_faults_add(yoke_faults_t *faults, const char *pointer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "/pipelines/0/stages/1/replicas/2" into `buffer`; negative indexes end the pointer. */
const char *yoke_fault_place(char buffer[96], long pipeline, long stage, long replica);
void yoke_faults_free(yoke_faults_t *faults);

#endif
