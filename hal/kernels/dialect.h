/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_KERNELS_DIALECT_H
#define YOKE_HAL_KERNELS_DIALECT_H

/*
 * The portable dialect (docs/kernel-dialect.md): a prologue per language, put before the
 * text of a program.
 */

#include <stddef.h>
#include <stdint.h>
#include "base/text.h"
#include "yoke/backend.h"

/** How every source of yoke_dialect_source() begins; the dialect's number follows. */
#define YOKE_DIALECT_MARK "#define YOKE_DIALECT "

/**
 * Prologue and text as one source.
 *
 * @param capabilities  YOKE_CAP_* of the device: FP64 decides on YOKE_HAS_F64
 * @param name          what the compiler's messages call the text; NULL: "program"
 * @param text, size    the program; needs no NUL
 * @param out_text      NUL-terminated, caller frees
 * @param out_size      without the NUL
 * @retval YOKE_ERR_UNSUPPORTED  YOKE_DIALECT_NONE or a dialect that is not known
 */
yoke_status_t yoke_dialect_source(yoke_dialect_t dialect, uint64_t capabilities,
                                  const char *name, const char *text, size_t size,
                                  char **out_text, size_t *out_size);

/** "#line 1" with the name as a string literal of C; NULL: "program". */
void yoke_dialect_line(yoke_text_t *text, const char *name);

/** Options that the compiler needs for a program in the dialect besides the user's: no
 *  contraction of a * b + c. "" where the prologue says it all; static storage. */
const char *yoke_dialect_options(yoke_dialect_t dialect);

#endif
