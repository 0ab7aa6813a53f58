/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_PARTITION_MEASURED_H
#define YOKE_TESTS_PARTITION_MEASURED_H

/* Published runs as layouts of ours. The tables lie outside the project. */

#include "tests/partition/fixture.h"

/* A table in memory: one cell is a string, "" when empty. */
typedef struct csv {
    char *text;
    char **cells;
    size_t columns, rows; /* the first row holds the names */
} csv_t;
/* False when the file is not there. */
bool csv_read(const char *path, csv_t *out);
void csv_free(csv_t *csv);
const char *csv_get(const csv_t *csv, size_t row, const char *column);
/* Whole number; 0 when empty. */
unsigned csv_number(const csv_t *csv, size_t row, const char *column);

/* Figures of a device and its network as published, before achieved fractions. */
typedef struct measured_device {
    const char *name;
    double compute, achieved; /* FLOP/s in 16 bits; fraction, 0 unknown */
    double bandwidth, bandwidth_achieved;
    double link; /* bytes/s per direction */
    bool mesh;
} measured_device_t;

typedef struct measured_result {
    double iteration_time;
    double memory; /* bytes, fullest device, predicted */
} measured_result_t;

/*
 * Evaluate a row: `dp` replicas of even stages, ranks laid out tensor first, then data,
 * then pipeline. False when it cannot be expressed (interleaving, context parallelism,
 * missing numbers).
 */
bool measured_evaluate(const csv_t *csv, size_t row, const measured_device_t *device,
                       double node_network, bool tied, measured_result_t *out);

#endif
