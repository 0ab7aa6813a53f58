/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_INVENTORY_VISIBILITY_H
#define YOKE_INVENTORY_VISIBILITY_H

/*
 * Which cards does a runtime show under an environment, in which order, and which
 * variable hides the others? Pure: the environment is a function of the caller.
 */

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"
#include "yoke/status.h"

typedef struct yoke_card {
    const char *pci;  /* "0000:03:00.0"; order of PCI_BUS_ID; may be NULL */
    const char *uuid; /* as the runtime prints it ("GPU-...", "MIG-..."), may be NULL */
    double speed;     /* for FASTEST_FIRST; 0: unknown (then the given order stands) */
    bool slice;       /* a MIG slice: chosen by its UUID only */
} yoke_card_t;

typedef struct yoke_visibility {
    size_t *order; /* indexes into the cards, in the runtime's order */
    size_t count;
    const char **hidden_by; /* per card: name of the variable (static), NULL: visible */
    yoke_strings_t warnings;
} yoke_visibility_t;

/* Value of a variable, NULL when it is not set. yoke_environment() is getenv(). */
typedef const char *(*yoke_getenv_t)(void *context, const char *name);
const char *yoke_environment(void *context, const char *name);

/**
 * @param runtime  "cuda" "hip" "dtk" "level_zero" "ascend" "cambricon" "musa" "opencl"
 * ...; a runtime without visibility variables shows everything
 * @param cards    in the order in which the runtime lists them when nothing is set; AMD:
 * the driver's order
 */
yoke_status_t yoke_visibility_apply(const char *runtime, const yoke_card_t *cards,
                                    size_t count, yoke_getenv_t lookup, void *context,
                                    yoke_visibility_t *out_visibility);
void yoke_visibility_free(yoke_visibility_t *visibility);

/* Variables that may hide devices of a runtime, NULL-terminated, static; to name the
 * cause of "no device" and to clear them for a second, complete enumeration. */
const char *const *yoke_visibility_variables(const char *runtime);

#endif
