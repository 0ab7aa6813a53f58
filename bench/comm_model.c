/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All-reduce of 8 bytes to --max bytes with the chosen algorithm and with every other
 * one, and what was predicted: one rank of bench/comm_model.py, which starts it with the
 * variables of a launcher. Rank 0 prints a line of JSON for each size.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "yoke/comm.h"

#define REPEATS 25

static const char *const algorithms[] = {
    "shared",       "linear", "knomial",  "ring",        "recursive-doubling",
    "rabenseifner", "bruck",  "weighted", "hierarchical"};
#define ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median over the calls of the slowest rank's time; below 0: this cannot be done. */
static double measure(yoke_comm_t *comm, float *data, uint64_t count, const char *name,
                      int repeats)
{
    yoke_comm_call_t call = {.struct_size = sizeof call, .algorithm = name};
    double times[REPEATS];
    /* Large messages are timed one by one, small ones in a row. */
    int inner = count <= 4096 ? 20 : 1;
    for (int i = -1; i < repeats; i++) {
        yoke_comm_barrier(comm, NULL);
        double start = now();
        for (int k = 0; k < inner; k++)
            if (yoke_comm_all_reduce(comm, yoke_comm_host(data),
                                     yoke_comm_host(data + count), count,
                                     YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, &call) != YOKE_OK)
                return -1;
        double mine = (now() - start) / inner, slowest = 0;
        if (yoke_comm_all_reduce(comm, yoke_comm_host(&mine), yoke_comm_host(&slowest), 1,
                                 YOKE_ELEMENT_F64, YOKE_REDUCE_MAX, NULL) != YOKE_OK)
            return -1;
        if (i >= 0)
            times[i] = slowest;
    }
    qsort(times, (size_t)repeats, sizeof times[0], compare);
    return times[repeats / 2];
}

static double explained(yoke_comm_t *comm, uint64_t size, char *algorithm,
                        size_t capacity)
{
    char *text = NULL;
    if (yoke_comm_explain(comm, "all-reduce", size, true, &text) != YOKE_OK)
        return -1;
    json_t *plan = json_loads(text, 0, NULL);
    double seconds = json_number_value(json_object_get(plan, "seconds"));
    snprintf(algorithm, capacity, "%s",
             json_string_value(json_object_get(plan, "algorithm")));
    json_decref(plan);
    free(text);
    return seconds;
}

static int run(yoke_comm_t *comm, uint64_t most, double budget)
{
    float *data = calloc(most / 2 + 16, sizeof *data);
    if (data == NULL)
        return 1;
    for (uint64_t size = 8; size <= most; size *= 8) {
        char chosen[32];
        double predicted = explained(comm, size, chosen, sizeof chosen);
        int repeats = (int)(budget / (predicted + 1e-6)) | 1;
        repeats = repeats > REPEATS ? REPEATS : repeats < 3 ? 3 : repeats;
        /* All ranks know the same prediction: they repeat alike. */
        double time = measure(comm, data, size / 4, NULL, repeats);
        if (yoke_comm_rank(comm) == 0)
            printf("{\"size\": %" PRIu64 ", \"algorithm\": \"%s\", \"predicted\": %g, "
                   "\"measured\": %g, \"all\": {",
                   size, chosen, predicted, time);
        const char *comma = "";
        for (size_t i = 0; i < ALGORITHMS; i++) {
            double other = measure(comm, data, size / 4, algorithms[i], repeats);
            if (other < 0 || yoke_comm_rank(comm) != 0)
                continue;
            printf("%s\"%s\": %g", comma, algorithms[i], other);
            comma = ", ";
        }
        if (yoke_comm_rank(comm) == 0)
            printf("}}\n");
        fflush(stdout);
    }
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    yoke_comm_t *comm = NULL;
    uint64_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 64 << 20;
    double budget = argc > 2 ? strtod(argv[2], NULL) : 0.5;
    if (yoke_comm_create_from_env(NULL, &comm) != YOKE_OK) {
        fprintf(stderr, "comm_model: %s\n", yoke_last_error());
        return 1;
    }
    int result = run(comm, most, budget);
    yoke_comm_destroy(comm);
    return result;
}
