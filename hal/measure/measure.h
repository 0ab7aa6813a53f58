/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_MEASURE_H
#define YOKE_HAL_MEASURE_H

/* Helper's side of --measure: what is timed, and that the result was right. */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define YOKE_MEASURE_RUNS 9 /* at most; a slow device does fewer, never below 5 */

/* Times of one thing; each is one run. */
typedef struct yoke_timing {
    double seconds[YOKE_MEASURE_RUNS];
    unsigned runs;
    double spent; /* seconds so far, warming included */
} yoke_timing_t;

double yoke_measure_now(void);
/* Another run? Stops after 9, or after 5 when `budget` seconds are spent. */
bool yoke_timing_more(const yoke_timing_t *timing, double budget);
void yoke_timing_add(yoke_timing_t *timing, double seconds);

/* Sends {"measurement": ...}: `amount` operations or bytes were done in each run. */
void yoke_measure_put(int fd, const char *what, const char *with, const char *dtype,
                      double amount, const yoke_timing_t *timing, bool lower_bound);
/* The same for a thing that could not be measured, or whose result was wrong. */
void yoke_measure_problem(int fd, const char *what, const char *with,
                          const char *problem);

/* "host", "opencl" LIBRARY PLATFORM INDEX, "live" NAME, or "pair" NAME NAME; false: no
 * such thing to measure. */
bool yoke_measure_run(int count, char **arguments, int fd);
void yoke_measure_host(int fd);
/* A device by its live backend ("cuda:0000:41:00.0"); with `short_list` only what the
 * other timings of OpenCL leave out. */
void yoke_measure_live(const char *name, bool short_list, int fd);
/* The way from one device to another. */
void yoke_measure_pair(const char *from, const char *to, int fd);
void yoke_measure_opencl(const char *library, const char *platform, unsigned index,
                         int fd);

#endif
