/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_SCAN_H
#define YOKE_TESTS_FAKES_COMMON_SCAN_H

/*
 * Finds the kernels of a preprocessed source, and turns its __global__ and __shared__
 * into C++: a __shared__ array is a static one (one block runs at a time), an `extern`
 * one is given the address of the launch's dynamic memory when linking.
 */

#include <stdbool.h>
#include <stddef.h>

#define FAKE_SCAN_NAMES 256

typedef struct fake_scan {
    char *kernels[FAKE_SCAN_NAMES];
    size_t kernel_count;
    char *dynamic[FAKE_SCAN_NAMES]; /* extern __shared__ names[] */
    size_t dynamic_count;
    char *tail; /* to stand after the text: the table of kernels */
} fake_scan_t;

/* Changes `text` in place; false: out of memory or too many names. */
bool fake_scan(char *text, fake_scan_t *out);
void fake_scan_free(fake_scan_t *scan);

#endif
