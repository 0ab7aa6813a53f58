/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_KERNELS_SIGNATURE_H
#define YOKE_HAL_KERNELS_SIGNATURE_H

/*
 * Kernels of a program in the portable dialect and their parameters, read from its text.
 *
 * Directives are not followed: of text that was not preprocessed, kernels that a macro
 * makes are missed, and those under an #if that does not hold are found.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "yoke/kernel.h"
#include "yoke/status.h"

typedef struct yoke_parameter {
    yoke_argument_kind_t kind; /* SPAN: YOKE_GLOBAL pointer; LOCAL: YOKE_LOCAL pointer */
    uint32_t size; /* of a VALUE whose type is one of the dialect's; 0: not known */
    char *type;    /* words with a blank between them: "YOKE_GLOBAL const f32 *" */
    char *name;
} yoke_parameter_t;

typedef struct yoke_signature {
    char *name;
    uint32_t line;
    uint32_t count;
    yoke_parameter_t parameters[YOKE_MAX_ARGUMENTS];
} yoke_signature_t;

typedef struct yoke_signatures {
    yoke_signature_t *items; /* in the order of the text */
    size_t count;
    bool barrier; /* YOKE_BARRIER is used */
} yoke_signatures_t;

/**
 * @param text  needs no NUL; any bytes
 * @retval YOKE_ERR_BAD_INPUT  "line N: ..."
 */
yoke_status_t yoke_signatures_read(const char *text, size_t size,
                                   yoke_signatures_t *out_signatures);
void yoke_signatures_free(yoke_signatures_t *signatures);
/** NULL: no kernel of that name. */
const yoke_signature_t *yoke_signatures_find(const yoke_signatures_t *signatures,
                                             const char *name);

#endif
