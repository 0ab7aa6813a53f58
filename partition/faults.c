/* SPDX-License-Identifier: Apache-2.0 */
/* The list of faults that `check` fills. */
#include "partition/faults.h"

#include <stdarg.h>

void yoke_faults_add(yoke_faults_t *faults, const char *pointer, const char *format, ...)
{
    if (faults->count++ >= YOKE_FAULTS_SHOWN && !faults->all)
        return;
    va_list args;
    va_start(args, format);
    yoke_text_printf(&faults->lines, "%s: ", pointer[0] != '\0' ? pointer : "/");
    yoke_text_vprintf(&faults->lines, format, args);
    yoke_text_add(&faults->lines, "\n");
    va_end(args);
}

const char *yoke_fault_place(char buffer[96], long pipeline, long stage, long replica)
{
    if (stage < 0)
        yoke_snprintf(buffer, 96, "/pipelines/%ld", pipeline);
    else if (replica < 0)
        yoke_snprintf(buffer, 96, "/pipelines/%ld/stages/%ld", pipeline, stage);
    else
        yoke_snprintf(buffer, 96, "/pipelines/%ld/stages/%ld/replicas/%ld", pipeline,
                      stage, replica);
    return buffer;
}

void yoke_faults_free(yoke_faults_t *faults)
{
    yoke_text_free(&faults->lines);
    *faults = (yoke_faults_t){0};
}
