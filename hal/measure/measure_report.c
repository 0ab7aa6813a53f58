/* SPDX-License-Identifier: Apache-2.0 */
/* Timing, and how a figure is sent to the parent. */
#include "hal/measure/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "hal/probe/wire.h"

#define FEWEST_RUNS 5

double yoke_measure_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool yoke_timing_more(const yoke_timing_t *timing, double budget)
{
    return timing->runs < FEWEST_RUNS ||
           (timing->runs < YOKE_MEASURE_RUNS && timing->spent < budget);
}

void yoke_timing_add(yoke_timing_t *timing, double seconds)
{
    timing->spent += seconds;
    if (timing->runs < YOKE_MEASURE_RUNS)
        timing->seconds[timing->runs++] = seconds > 0 ? seconds : 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static json_t *describe(const char *what, const char *with, const char *dtype)
{
    json_t *object = json_object();
    yoke_json_set_string(object, "what", what);
    yoke_json_set_string(object, "with", with);
    if (dtype != NULL)
        yoke_json_set_string(object, "dtype", dtype);
    return object;
}

void yoke_measure_put(int fd, const char *what, const char *with, const char *dtype,
                      double amount, const yoke_timing_t *timing, bool lower_bound)
{
    double sorted[YOKE_MEASURE_RUNS];
    unsigned n = timing->runs;
    if (n == 0)
        return;
    memcpy(sorted, timing->seconds, sizeof sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    double middle =
        n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
    json_t *object = describe(what, with, dtype);
    yoke_json_set_number(object, "median", amount / middle);
    yoke_json_set_number(object, "low", amount / sorted[n - 1]);
    yoke_json_set_number(object, "high", amount / sorted[0]);
    yoke_json_set_u64(object, "runs", n);
    json_object_set_new(object, "lower_bound", json_boolean(lower_bound));
    yoke_wire_put(fd, "measurement", object);
}

void yoke_measure_problem(int fd, const char *what, const char *with, const char *problem)
{
    json_t *object = describe(what, with, NULL);
    yoke_json_set_string(object, "problem", problem);
    yoke_wire_put(fd, "measurement", object);
}

bool yoke_measure_run(int count, char **arguments, int fd)
{
    if (count >= 1 && strcmp(arguments[0], "host") == 0) {
        yoke_measure_host(fd);
        return true;
    }
    if (count >= 2 && strcmp(arguments[0], "live") == 0) {
        yoke_measure_live(arguments[1], false, fd);
        return true;
    }
    if (count >= 3 && strcmp(arguments[0], "pair") == 0) {
        yoke_measure_pair(arguments[1], arguments[2], fd);
        return true;
    }
    if (count >= 4 && strcmp(arguments[0], "opencl") == 0) {
        char *end = NULL;
        unsigned long index = strtoul(arguments[3], &end, 10);
        if (end == arguments[3] || *end != '\0' || index > 255)
            return false;
        yoke_measure_opencl(arguments[1], arguments[2], (unsigned)index, fd);
        /* Of this library alone, which the variables name now. */
        char name[32];
        snprintf(name, sizeof name, "opencl:%lu", index);
        yoke_measure_live(name, true, fd);
        return true;
    }
    return false;
}
