/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_OPERATORS_SUPPORT_H
#define YOKE_TESTS_OPERATORS_SUPPORT_H

/* A device with its operators, and tensors on it that start off any alignment between
 * guard elements. References are made here in long double, from the definitions alone. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "yoke/operators.h"

typedef struct bench {
    const char *name; /* "opencl", "host:none" */
    yoke_device_t *device;
    yoke_queue_t *queue;
    yoke_operators_t *operators;
    yoke_buffer_t *scratch;
    uint32_t elements; /* those to test: each costs a run-time compilation */
} bench_t;
extern bench_t bench;

#define OK(call)                                                                         \
    do {                                                                                 \
        yoke_status_t got_ = (call);                                                     \
        if (got_ != YOKE_OK)                                                             \
            fail_msg("%s: %s: %s", bench.name, yoke_status_name(got_),                   \
                     yoke_last_error());                                                 \
    } while (0)

typedef struct tensor {
    yoke_element_t element;
    uint64_t count;
    yoke_buffer_t *buffer;
    yoke_span_t span;
    long double *value; /* what is there, decoded; of what was read last */
} tensor_t;

long double decode(yoke_element_t element, const void *memory, uint64_t i);
/** Rounded to nearest even; integers truncated and saturated. */
void encode(yoke_element_t element, long double value, void *memory, uint64_t i);
/** What `element` makes of a value. */
long double rounded(yoke_element_t element, long double value);
bool is_float(yoke_element_t element);
bool is_signed(yoke_element_t element);

/** Uniform in [-1, 1), the same at every run. */
double noise(void);
/** A tensor of `count` noise values times `range`; integers get whole bytes of noise when
 * range is 0. */
tensor_t tensor_new(yoke_element_t element, uint64_t count, double range);
/** The host's values onto the device. */
void tensor_write(tensor_t *tensor);
/** The device's values, after the queue; guards must be untouched. */
void tensor_read(tensor_t *tensor);
void tensor_free(tensor_t *tensor);
long double *copy_values(const tensor_t *tensor);

/** Equal, where NaN equals NaN. */
void check_exact(const char *what, const tensor_t *tensor, const long double *expected);
/** |got - expected| <= tolerance * (1 + |expected|) and half a step of the element. */
void check_near(const char *what, const tensor_t *tensor, const long double *expected,
                double tolerance);
/** Tolerance of results in this type that were made in f32. */
double step_of(yoke_element_t element);
/** Is this element type tested on this device? */
bool tested(yoke_element_t element);

extern const yoke_element_t layer_elements[3];

#endif
