/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_CTS_CTS_H
#define YOKE_HAL_CTS_CTS_H

/*
 * The conformance suite: what the public headers of live devices promise, asked of one
 * device. docs/conformance.md says how to run it and how to add a case.
 *
 * It uses the public headers alone. It takes the log sink for the time of a run and gives
 * the default back. One run at a time in a process; cases make threads of their own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "yoke/status.h"

typedef enum yoke_cts_outcome {
    YOKE_CTS_PASS = 0,
    YOKE_CTS_FAIL = 1,
    YOKE_CTS_UNSUPPORTED = 2,    /* the device lacks what the case needs */
    YOKE_CTS_EXPECTED_FAIL = 3,  /* failed, as the expectations say */
    YOKE_CTS_UNEXPECTED_PASS = 4 /* passed against the expectations: counts as failed */
} yoke_cts_outcome_t;

/* "passed" "FAILED" "unsupported" "expected failure" "UNEXPECTED PASS" */
const char *yoke_cts_outcome_name(yoke_cts_outcome_t outcome);

/* What is known of a backend beforehand. Patterns are those of fnmatch(3). */
typedef struct yoke_cts_expectation {
    const char *backend; /* pattern */
    const char *device;  /* pattern for the device's name; NULL: every device */
    const char *cases;   /* pattern for "group/case" */
    bool unsupported;    /* true: is not run; false: is run and must fail */
    const char *reason;
} yoke_cts_expectation_t;

/* Why a thread of which nothing is current cannot be left so by the backend; NULL: it
 * can. */
const char *yoke_cts_cannot_unset(const char *backend);

/* The project's own; ends with backend NULL (expectations.c). */
extern const yoke_cts_expectation_t yoke_cts_expectations[];

/* One result. Strings live until the callback returns; reason is "" for a pass. */
typedef struct yoke_cts_result {
    const char *name; /* "queue/copy-offset-1-3" */
    yoke_cts_outcome_t outcome;
    const char *reason;  /* for failures with the place: "cases_queue.c:120: ..." */
    size_t index, count; /* this is the index-th of count cases, from 0 */
} yoke_cts_result_t;

typedef struct yoke_cts_options {
    const char *device; /* name for yoke_device_open() */
    /* Patterns of fnmatch(3) or beginnings of names, with commas between; those after a
     * '!' leave cases out: "queue/,!*-64m". NULL: all cases. */
    const char *filter;
    bool verbose; /* name each case on stderr before it runs: finds a crash */
    const yoke_cts_expectation_t *expectations; /* NULL: yoke_cts_expectations */
    void (*on_result)(void *context, const yoke_cts_result_t *result); /* may be NULL */
    void *context;
} yoke_cts_options_t;

typedef struct yoke_cts_summary {
    size_t count; /* of cases that the filter left; the sum of the others */
    size_t passed, failed, unsupported, expected_failures, unexpected_passes;
    bool watched;     /* the caller's current device was compared around every call */
    char device[128]; /* the device's own name */
    char version[128];
} yoke_cts_summary_t;

/*
 * Run the cases on one device. A case that fails does not stop the run.
 *
 * @retval YOKE_OK      the run came to its end; the summary tells whether all is well
 * @retval YOKE_ERR_NOT_FOUND, _USAGE, ...  the device cannot be opened
 * @retval YOKE_ERR_NOT_FOUND  no case matches the filter
 */
yoke_status_t yoke_cts_run(const yoke_cts_options_t *options,
                           yoke_cts_summary_t *out_summary);

/* Name of the index-th case, NULL past the end. */
const char *yoke_cts_case_name(size_t index);

#endif
