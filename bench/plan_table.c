/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bundled clusters against what one would run without Yoke: a Markdown table for
 * docs/performance-plan.md. usage: yoke_plan_table [CLUSTER_FOLDER]
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/partition/rivals.h"
#include "yoke/plan.h"

static const char *const models[] = {"llama-2-13b", "llama-3.1-70b"};

/* The type that all devices of the cluster compute in: V100 and its like lack bf16. */
static yoke_plan_options_t options_for(const char *cluster)
{
    return (yoke_plan_options_t){
        .struct_size = sizeof(yoke_plan_options_t),
        .dtype = strstr(cluster, "v100") ? YOKE_FP16 : YOKE_BF16,
        .recompute = YOKE_RECOMPUTE_AUTO,
        /* Eight samples a device where 512 would leave them idle. */
        .global_batch = strstr(cluster, "1024") ? 8192 : 512};
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void print_rival(double rival, double time, const char *what)
{
    if (rival > 0)
        printf(" %.3f s (x %.2f%s%s) |", rival, rival / time, what[0] ? ", " : "", what);
    else
        printf(" none fits |");
}

static void row(const char *name, const yoke_inventory_t *inventory,
                const char *model_name)
{
    yoke_plan_options_t options = options_for(name);
    yoke_model_t *model = NULL;
    yoke_plan_t *plan = NULL;
    yoke_problem_t *problem = NULL;
    const char *type = "";
    if (yoke_model_read(model_name, NULL, &model) != YOKE_OK) {
        fprintf(stderr, "%s\n", yoke_last_error());
        exit(3);
    }
    double start = now();
    yoke_status_t status = yoke_plan_search(model, inventory, &options, &plan);
    double seconds = now() - start;
    printf("| %s | %s | %s |", name, model_name, yoke_dtype_name(options.dtype));
    if (status != YOKE_OK) {
        printf(" %s | | | | | |\n",
               status == YOKE_ERR_UNKNOWN_RATE ? "asks for an unknown rate" : "no plan");
        yoke_model_free(model);
        return;
    }
    double time = plan->iteration_time;
    printf(" %.3f s | %.0f %% |", time, 100 * plan->utilisation);
    double single = rival_single_type(model, inventory, &options, &type);
    print_rival(single, time, type);
    double even = 0;
    if (yoke_problem_new(model, inventory, &options, &problem) == YOKE_OK)
        even = rival_even_split(problem);
    print_rival(even, time, "");
    printf(" %.1f %% | %.2f s |\n", 100 * plan->bound_gap, seconds);
    fflush(stdout);
    yoke_problem_free(problem);
    yoke_plan_free(plan);
    yoke_model_free(model);
}

static int is_document(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int main(int argc, char **argv)
{
    const char *folder = argc > 1 ? argv[1] : YOKE_BUILD_DATA_DIR "/clusters";
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_document, by_name);
    if (count < 0) {
        perror(folder);
        return 4;
    }
    printf("| cluster | model | dtype | step | utilisation | best single type | best "
           "even split | "
           "gap to bound | planning |\n|---|---|---|---|---|---|---|---|---|\n");
    for (int i = 0; i < count; i++) {
        char path[1024];
        yoke_inventory_t *inventory = NULL;
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (yoke_cluster_load(path, &inventory) != YOKE_OK) {
            fprintf(stderr, "%s\n", yoke_last_error());
            return 3;
        }
        entries[i]->d_name[strlen(entries[i]->d_name) - 5] = '\0';
        for (size_t m = 0; m < sizeof models / sizeof *models; m++)
            row(entries[i]->d_name, inventory, models[m]);
        yoke_inventory_free(inventory);
        free(entries[i]);
    }
    free(entries);
    return 0;
}
