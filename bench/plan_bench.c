/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search time of the planner on one core, and its memory, beside the goals. Each case
 * runs in a process of its own, so that the peak memory is its own. "search" is the
 * search alone, "plan" all of `yoke plan` between its two documents (rivals, range,
 * sensitivity, text). usage: yoke_plan_bench [REPETITIONS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "partition/search.h"
#include "yoke/plan.h"

typedef struct bench_case {
    const char *what, *cluster, *model;
    double goal; /* seconds of the search */
} bench_case_t;

static const bench_case_t cases[] = {
    {"8 devices, 2 types", "1x4xH100-SXM5-80GB + 1x4xA100-SXM4-80GB; nic=400Gb",
     "llama-3.1-8b", 0.01},
    {"64 devices, 4 types",
     "2x8xH100-SXM5-80GB + 2x8xA100-SXM4-80GB + 2x8xV100-SXM2-32GB + 2x8xH20-96GB; "
     "nic=400Gb",
     "llama-2-13b", 0.1},
    {"1,024 devices, 4 types",
     "32x8xH100-SXM5-80GB + 32x8xA100-SXM4-80GB + 32x8xV100-SXM2-32GB + 32x8xH20-96GB; "
     "nic=400Gb",
     "llama-3.1-70b", 2.0},
};
enum { MOST = 101, MEMORY_GOAL = 512 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, unsigned count)
{
    qsort(times, count, sizeof *times, compare);
    return times[count / 2];
}

static void must(yoke_status_t status)
{
    if (status == YOKE_OK)
        return;
    fprintf(stderr, "yoke_plan_bench: %s\n", yoke_last_error());
    exit(4);
}

static void time_search(const yoke_model_t *model, const yoke_inventory_t *cluster,
                        const yoke_plan_options_t *options, unsigned count, double *times,
                        yoke_search_result_t *result)
{
    for (unsigned i = 0; i < count; i++) {
        yoke_problem_t *problem = NULL;
        double start = now();
        must(yoke_problem_new(model, cluster, options, &problem));
        yoke_cost_cache_t *cache = yoke_cost_cache_new(problem);
        if (cache == NULL)
            exit(4);
        must(yoke_search(problem, cache, YOKE_ALL_CLASSES, result));
        times[i] = now() - start;
        yoke_cost_cache_free(cache);
        yoke_problem_free(problem);
    }
}

static void time_plan(const yoke_model_t *model, const yoke_inventory_t *cluster,
                      const yoke_plan_options_t *options, unsigned count, double *times)
{
    for (unsigned i = 0; i < count; i++) {
        yoke_plan_t *plan = NULL;
        char *text = NULL;
        double start = now();
        must(yoke_plan_search(model, cluster, options, &plan));
        must(yoke_plan_text(plan, &text));
        times[i] = now() - start;
        free(text);
        yoke_plan_free(plan);
    }
}

static void run(const bench_case_t *bench, unsigned count)
{
    static const yoke_plan_options_t options = {.struct_size = sizeof options,
                                                .dtype = YOKE_FP16,
                                                .recompute = YOKE_RECOMPUTE_AUTO};
    static yoke_search_result_t result;
    double search[MOST], plan[MOST];
    yoke_model_t *model = NULL;
    yoke_inventory_t *cluster = NULL;
    struct rusage usage;
    must(yoke_model_read(bench->model, NULL, &model));
    must(yoke_cluster_load(bench->cluster, &cluster));
    time_search(model, cluster, &options, count, search, &result);
    time_plan(model, cluster, &options, count, plan);
    getrusage(RUSAGE_SELF, &usage);
    printf("| %s | %s | %.1f ms | %.0f ms | %.0f ms | %.0f MiB | %d MiB | %llu%s |\n",
           bench->what, bench->model, 1e3 * median(search, count), 1e3 * bench->goal,
           1e3 * median(plan, count), (double)usage.ru_maxrss / 1024, MEMORY_GOAL,
           (unsigned long long)result.evaluated, result.complete ? ", complete" : "");
    fflush(stdout);
    yoke_inventory_free(cluster);
    yoke_model_free(model);
}

int main(int argc, char **argv)
{
    unsigned count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 5;
    if (count < 1 || count > MOST) {
        fprintf(stderr, "usage: yoke_plan_bench [REPETITIONS, 1 to %d]\n", MOST);
        return 2;
    }
    int failed = 0;
    printf("Median of %u runs, processor time of one core.\n\n", count);
    printf("| cluster | model | search | goal | plan | peak memory | goal | evaluated |\n"
           "|---|---|---|---|---|---|---|---|\n");
    fflush(stdout);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pid_t child = fork();
        if (child == 0) {
            run(&cases[i], count);
            exit(0);
        }
        int status = 0;
        if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
            failed = 4;
    }
    return failed;
}
