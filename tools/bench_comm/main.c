/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yoke-bench-comm: runs collectives and prints their times. `yoke bench comm` starts it,
 * with options that it has checked, as NAME=VALUE; it is a program of its own so that the
 * command does not load UCX for anything else.
 */
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "tools/bench_comm/bench_comm.h"

/* What is run: every collective with every type, operation (where it reduces) and size.
 */
typedef struct work {
    bool collectives[BENCH_COLLECTIVES], elements[YOKE_ELEMENT_COUNT],
        reductions[YOKE_REDUCTION_COUNT];
    uint64_t least, most, factor;
    int root, ranks; /* ranks 0: from the launcher, or two */
    const char *json, *algorithm;
    bench_settings_t settings;
    yoke_comm_options_t options;
    json_t *results;
    uint64_t wrong;
} work_t;

/* --- options ------------------------------------------------------------------------ */

static bool pick_names(const char *list, bool *picked, int count,
                       const char *(*name_of)(int))
{
    while (*list != '\0') {
        const size_t length = strcspn(list, ",");
        int i = 0;
        while (i < count &&
               (strlen(name_of(i)) != length || strncmp(name_of(i), list, length) != 0))
            i++;
        if (i == count)
            return false;
        picked[i] = true;
        list += length + (list[length] == ',');
    }
    return true;
}

static const char *collective_name(int i)
{
    return bench_collective_name((bench_collective_t)i);
}

static const char *element_name(int i)
{
    return yoke_element_name((yoke_element_t)i);
}

static const char *reduction_name(int i)
{
    return yoke_reduction_name((yoke_reduction_t)i);
}

static bool set_option(work_t *work, const char *name, const char *value)
{
    const uint64_t number = strtoull(value, NULL, 10);
    if (strcmp(name, "collectives") == 0)
        return pick_names(value, work->collectives, BENCH_COLLECTIVES, collective_name);
    if (strcmp(name, "types") == 0)
        return pick_names(value, work->elements, YOKE_ELEMENT_COUNT, element_name);
    if (strcmp(name, "ops") == 0)
        return pick_names(value, work->reductions, YOKE_REDUCTION_COUNT, reduction_name);
    if (strcmp(name, "min") == 0)
        work->least = number;
    else if (strcmp(name, "max") == 0)
        work->most = number;
    else if (strcmp(name, "factor") == 0)
        work->factor = number;
    else if (strcmp(name, "iterations") == 0)
        work->settings.iterations = (int)number;
    else if (strcmp(name, "warm-up") == 0)
        work->settings.warm_up = (int)number;
    else if (strcmp(name, "root") == 0)
        work->root = (int)number;
    else if (strcmp(name, "ranks") == 0)
        work->ranks = (int)number;
    else if (strcmp(name, "timeout") == 0)
        work->options.timeout_ms = (uint32_t)number;
    else if (strcmp(name, "check") == 0)
        work->options.flags |= YOKE_COMM_CHECK;
    else if (strcmp(name, "algorithm") == 0)
        work->settings.call.algorithm = value;
    else if (strcmp(name, "json") == 0)
        work->json = value;
    else
        return false;
    return true;
}

static bool take_options(int argc, char **argv, work_t *work)
{
    for (int i = 1; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (value != NULL)
            *value++ = '\0';
        if (value == NULL || !set_option(work, argv[i], value)) {
            fprintf(stderr,
                    "yoke-bench-comm is run by yoke bench comm; it is not meant to be "
                    "run by hand.\n");
            return false;
        }
    }
    return true;
}

/* --- output ------------------------------------------------------------------------- */

static void print_head(const work_t *work, yoke_comm_t *comm)
{
    printf("# %d ranks; time: slowest rank, median of %d calls; size as in nccl-tests\n",
           yoke_comm_size(comm), work->settings.iterations);
    printf("#%13s %12s %9s %7s %5s %40s   %40s\n", "", "", "", "", "", "out of place",
           "in place");
    printf("#%13s %12s %9s %7s %5s %12s %9s %9s %7s   %12s %9s %9s %7s\n", "size",
           "count", "type", "redop", "root", "time", "algbw", "busbw", "#wrong", "time",
           "algbw", "busbw", "#wrong");
    printf("#%13s %12s %9s %7s %5s %12s %9s %9s %7s   %12s %9s %9s %7s\n", "(B)",
           "(elements)", "", "", "", "(us)", "(GB/s)", "(GB/s)", "", "(us)", "(GB/s)",
           "(GB/s)", "");
}

static void print_time(const bench_case_t *c, int ranks, const bench_time_t *time)
{
    const double rate = (double)bench_size(c, ranks) / time->seconds * 1e-9;
    printf(" %12.2f %9.3f %9.3f %7llu  ", time->seconds * 1e6, rate,
           rate * bench_bus_factor(c->collective, ranks),
           (unsigned long long)time->wrong);
}

static void print_case(const bench_case_t *c, int ranks, const bench_time_t time[2])
{
    char root[16] = "-1";
    if (bench_has_root(c->collective))
        snprintf(root, sizeof root, "%d", c->root);
    printf("%14llu %12llu %9s %7s %5s", (unsigned long long)bench_size(c, ranks),
           (unsigned long long)c->count, yoke_element_name(c->element),
           bench_reduces(c->collective) ? yoke_reduction_name(c->reduction) : "none",
           root);
    print_time(c, ranks, &time[0]);
    print_time(c, ranks, &time[1]);
    printf("\n");
    fflush(stdout);
}

static json_t *time_to_json(const bench_case_t *c, int ranks, const bench_time_t *time)
{
    const double rate = (double)bench_size(c, ranks) / time->seconds;
    return json_pack("{s:f, s:f, s:f, s:I}", "seconds", time->seconds,
                     "algorithm_bandwidth", rate, "bus_bandwidth",
                     rate * bench_bus_factor(c->collective, ranks), "wrong",
                     (json_int_t)time->wrong);
}

static void keep_case(work_t *work, const bench_case_t *c, int ranks,
                      const bench_time_t time[2])
{
    json_t *entry = json_pack(
        "{s:s, s:I, s:I, s:s}", "collective", bench_collective_name(c->collective),
        "size", (json_int_t)bench_size(c, ranks), "count", (json_int_t)c->count, "type",
        yoke_element_name(c->element));
    if (bench_reduces(c->collective))
        json_object_set_new(entry, "operation",
                            json_string(yoke_reduction_name(c->reduction)));
    if (bench_has_root(c->collective))
        json_object_set_new(entry, "root", json_integer(c->root));
    json_object_set_new(entry, "out_of_place", time_to_json(c, ranks, &time[0]));
    json_object_set_new(entry, "in_place", time_to_json(c, ranks, &time[1]));
    json_array_append_new(work->results, entry);
}

static yoke_status_t write_json(const work_t *work, int ranks)
{
    json_t *root =
        json_pack("{s:s, s:i, s:i, s:O}", "yoke", yoke_version(), "ranks", ranks,
                  "iterations", work->settings.iterations, "results", work->results);
    const yoke_status_t status =
        root != NULL ? yoke_json_write(work->json, root) : yoke_fail_memory();
    json_decref(root);
    return status;
}

/* --- runs --------------------------------------------------------------------------- */

static yoke_status_t run_case(work_t *work, yoke_comm_t *comm, const bench_case_t *c)
{
    bench_time_t time[2] = {{0, 0}, {0, 0}};
    for (int in_place = 0; in_place < 2; in_place++) {
        const yoke_status_t status =
            bench_measure(comm, &work->settings, c, in_place != 0, &time[in_place]);
        if (status != YOKE_OK)
            return status;
        work->wrong += time[in_place].wrong;
    }
    if (yoke_comm_rank(comm) != 0)
        return YOKE_OK;
    if (work->json != NULL)
        keep_case(work, c, yoke_comm_size(comm), time);
    else
        print_case(c, yoke_comm_size(comm), time);
    return YOKE_OK;
}

static yoke_status_t run_sizes(work_t *work, yoke_comm_t *comm, bench_case_t c)
{
    const uint64_t unit =
        yoke_element_size(c.element) *
        (bench_has_blocks(c.collective) ? (uint64_t)yoke_comm_size(comm) : 1);
    yoke_status_t status = YOKE_OK;
    for (uint64_t size = work->least; size <= work->most && status == YOKE_OK;
         size *= work->factor) {
        c.count = c.collective == BENCH_BARRIER ? 0 : size / unit;
        status = run_case(work, comm, &c);
        if (c.collective == BENCH_BARRIER || size > UINT64_MAX / work->factor)
            break;
    }
    return status;
}

static yoke_status_t run_collective(work_t *work, yoke_comm_t *comm,
                                    bench_collective_t collective)
{
    yoke_status_t status = YOKE_OK;
    if (yoke_comm_rank(comm) == 0 && work->json == NULL)
        printf("# %s\n", bench_collective_name(collective));
    for (int e = 0; e < YOKE_ELEMENT_COUNT; e++)
        for (int op = 0; op < YOKE_REDUCTION_COUNT && work->elements[e]; op++) {
            if (!work->reductions[op])
                continue;
            const bench_case_t c = {collective, (yoke_element_t)e, (yoke_reduction_t)op,
                                    work->root, 0};
            status = run_sizes(work, comm, c);
            if (status != YOKE_OK || !bench_reduces(collective))
                break;
        }
    return status;
}

static int run_rank(yoke_comm_t *comm, void *context)
{
    work_t *work = context;
    yoke_status_t status = YOKE_OK;
    const bool first = yoke_comm_rank(comm) == 0;
    if (work->root >= yoke_comm_size(comm)) {
        if (first)
            fprintf(stderr, "yoke bench comm: --root %d, but there are %d ranks\n",
                    work->root, yoke_comm_size(comm));
        return 2;
    }
    if (first && work->json == NULL)
        print_head(work, comm);
    work->results = json_array();
    for (int i = 0; i < BENCH_COLLECTIVES && status == YOKE_OK; i++)
        if (work->collectives[i])
            status = run_collective(work, comm, (bench_collective_t)i);
    int code = status != YOKE_OK ? yoke_status_exit_code(status) : work->wrong > 0;
    if (first && work->json != NULL && status == YOKE_OK) {
        const int written = yoke_status_exit_code(write_json(work, yoke_comm_size(comm)));
        code = written != 0 ? written : code;
    }
    json_decref(work->results);
    if (first && (fflush(stdout) != 0 || ferror(stdout) != 0) && code != 4)
        code = yoke_status_exit_code(
            yoke_fail(YOKE_ERR_SYSTEM, "cannot write to standard output"));
    return code;
}

/* A standard output that is closed must not become a socket: keep its number, so that
 * writing to it fails. */
static void hold_output(void)
{
    if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
        (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int main(int argc, char **argv)
{
    work_t work = {.least = 8, .most = 64u << 20, .factor = 2};
    work.settings = (bench_settings_t){.iterations = 20, .warm_up = 5};
    work.settings.call.struct_size = sizeof work.settings.call;
    work.options.struct_size = sizeof work.options;
    yoke_comm_t *comm = NULL;
    hold_output();
    if (!take_options(argc, argv, &work))
        return 2;
    if (work.ranks > 0)
        return bench_run_ranks(work.ranks, &work.options, run_rank, &work);
    const yoke_status_t status = yoke_comm_create_from_env(&work.options, &comm);
    if (status == YOKE_ERR_NOT_FOUND)
        return bench_run_ranks(2, &work.options, run_rank, &work);
    if (status != YOKE_OK)
        return yoke_status_exit_code(status);
    const int code = run_rank(comm, &work);
    yoke_comm_destroy(comm);
    return code;
}
