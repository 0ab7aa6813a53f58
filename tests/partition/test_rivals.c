/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of the bundled clusters against what one would run otherwise (rivals.h): never
 * slower, and on clusters of two unlike generations at least 1.3 times the utilisation of
 * the best even split. Arguments: clusters; none: all of the data folder.
 */
#include "tests/base/support.h"

#include <dirent.h>

#include "tests/partition/rivals.h"
#include "yoke/plan.h"

enum { MOST_CLUSTERS = 32 };

static const char *const models[] = {"llama-2-13b", "llama-3.1-70b"};
static char names[MOST_CLUSTERS][64];
static size_t name_count;
static unsigned compared;

static bool much_faster_than_even(const char *cluster)
{
    return strcmp(cluster, "a100-v100") == 0 || strcmp(cluster, "h100-a100") == 0;
}

static void compare(const char *cluster, const char *model_name,
                    const yoke_inventory_t *inventory)
{
    /* V100s do not compute in bf16. */
    const yoke_plan_options_t options = {.struct_size = sizeof options,
                                         .dtype = strstr(cluster, "v100") ? YOKE_FP16
                                                                          : YOKE_BF16,
                                         .recompute = YOKE_RECOMPUTE_AUTO};
    yoke_model_t *model = NULL;
    yoke_plan_t *plan = NULL;
    yoke_problem_t *problem = NULL;
    const char *type = "";
    if (yoke_model_read(model_name, NULL, &model) != YOKE_OK)
        fail_msg("%s", yoke_last_error());
    yoke_status_t status = yoke_plan_search(model, inventory, &options, &plan);
    if (status == YOKE_ERR_UNKNOWN_RATE) {
        printf("%s, %s: asks for unknown rates\n", cluster, model_name);
        yoke_model_free(model);
        return;
    }
    if (status != YOKE_OK)
        fail_msg("%s, %s: %s", cluster, model_name, yoke_last_error());
    assert_int_equal(yoke_problem_new(model, inventory, &options, &problem), YOKE_OK);
    double time = plan->iteration_time;
    double single = rival_single_type(model, inventory, &options, &type);
    double even = rival_even_split(problem);
    printf("%s, %s: plan %.3f s, %s alone %.3f s, even split %.3f s\n", cluster,
           model_name, time, type, single, even);
    if (single > 0 && time > single)
        fail_msg("%s, %s: %s alone is faster", cluster, model_name, type);
    if (even > 0 && time > even)
        fail_msg("%s, %s: the even split is faster", cluster, model_name);
    /* The same work on the same devices: utilisations are as the inverse times. */
    if (much_faster_than_even(cluster) && !(even >= 1.3 * time))
        fail_msg("%s, %s: only %.2f times the utilisation of the even split", cluster,
                 model_name, even / time);
    compared++;
    yoke_problem_free(problem);
    yoke_plan_free(plan);
    yoke_model_free(model);
}

static void beats_its_rivals(void **state)
{
    (void)state;
    for (size_t i = 0; i < name_count; i++) {
        char path[1024];
        yoke_inventory_t *inventory = NULL;
        snprintf(path, sizeof path, "%s/clusters/%s.json", getenv("YOKE_DATA_DIR"),
                 names[i]);
        if (yoke_cluster_load(path, &inventory) != YOKE_OK)
            fail_msg("%s", yoke_last_error());
        for (size_t m = 0; m < sizeof models / sizeof *models; m++)
            compare(names[i], models[m], inventory);
        yoke_inventory_free(inventory);
    }
    assert_true(compared >= 2);
}

static void add_name(const char *name, size_t length)
{
    assert_true(name_count < MOST_CLUSTERS && length < sizeof *names);
    memcpy(names[name_count], name, length);
    names[name_count++][length] = '\0';
}

static int list_clusters(void **state)
{
    char path[1024];
    if (name_count > 0)
        return quiet(state);
    assert_non_null(getenv("YOKE_DATA_DIR"));
    snprintf(path, sizeof path, "%s/clusters", getenv("YOKE_DATA_DIR"));
    DIR *folder = opendir(path);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && strcmp(entry->d_name + length - 5, ".json") == 0)
            add_name(entry->d_name, length - 5);
    }
    closedir(folder);
    return quiet(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(beats_its_rivals)};
    for (int i = 1; i < argc && i <= MOST_CLUSTERS; i++)
        snprintf(names[name_count++], sizeof *names, "%s", argv[i]);
    return cmocka_run_group_tests(tests, list_clusters, NULL);
}
