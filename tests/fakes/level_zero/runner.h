/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_LEVEL_ZERO_RUNNER_H
#define YOKE_TESTS_FAKES_LEVEL_ZERO_RUNNER_H

/* Between the driver and a compiled module: runner.c is linked into each module. */

#include <stddef.h>
#include <stdint.h>

typedef struct yoke_fake_grid {
    uint32_t groups[3], items[3];
    void (*body)(void **arguments); /* "yoke_fake_call_<kernel>" of the module */
    void **arguments;               /* pointers to the arguments' values */
    char *stacks;                   /* one a work-item of a group */
    size_t stack_size;
} yoke_fake_grid_t;

/* Runs all groups, one after the other; the items of a group take turns at barriers. */
void yoke_fake_run(const yoke_fake_grid_t *grid);

#endif
