/* SPDX-License-Identifier: Apache-2.0 */
/* A run of Megatron-LM as a plan on a cluster, and its measured time from a log. */
#include "partition/launch_script.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "partition/document.h"
#include "partition/problem.h"

#define MOST_LAYOUT 4096

typedef struct run {
    const yoke_launch_t *launch;
    const char *path;
    const yoke_model_t *model;
    yoke_problem_t *problem;
    uint64_t tp, pp, cp, ep, dp, micro_batch;
    unsigned last[MOST_LAYOUT]; /* last layer of each stage */
    yoke_plan_t *plan;
} run_t;

static yoke_status_t bad(const run_t *run, const char *option, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static yoke_status_t bad(const run_t *run, const char *option, const char *format, ...)
{
    unsigned line = run->launch->line;
    char text[256];
    va_list args;
    yoke_launch_value(run->launch, option, &line);
    va_start(args, format);
    yoke_vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%u: %s: %s", run->path, line, option, text);
}

/* A whole number; absent: `otherwise`. */
static yoke_status_t number(const run_t *run, const char *option, uint64_t otherwise,
                            uint64_t *out)
{
    const char *text = yoke_launch_value(run->launch, option, NULL);
    *out = otherwise;
    if (text == NULL || yoke_parse_u64(text, strlen(text), 1, 1u << 24, out))
        return YOKE_OK;
    if (strchr(text, '$') != NULL)
        return bad(run, option, "'%s' is set outside of the script: write its value",
                   text);
    return bad(run, option, "'%s' is no whole number above 0", text);
}

static bool flag(const run_t *run, const char *option)
{
    return yoke_launch_value(run->launch, option, NULL) != NULL;
}

static uint64_t count_decoders(const yoke_model_t *model)
{
    uint64_t count = 0;
    for (size_t l = 0; l < model->layer_count; l++)
        count += model->layers[l].kind == YOKE_LAYER_DECODER;
    return count;
}

static yoke_status_t match_one(const run_t *run, const char *option, uint64_t of_model,
                               const char *what)
{
    uint64_t stated = 0;
    yoke_status_t status = number(run, option, of_model, &stated);
    if (status != YOKE_OK || stated == of_model)
        return status;
    return bad(run, option, "%llu, and the model %s has %llu %s",
               (unsigned long long)stated, run->model->name ? run->model->name : "",
               (unsigned long long)of_model, what);
}

yoke_status_t yoke_launch_matches(const yoke_launch_t *launch, const char *path,
                                  const yoke_model_t *model)
{
    run_t run = {.launch = launch, .path = path, .model = model};
    yoke_status_t status =
        match_one(&run, "--num-layers", count_decoders(model), "decoder layers");
    if (status == YOKE_OK)
        status = match_one(&run, "--hidden-size", model->hidden, "as its width");
    if (status == YOKE_OK)
        status = match_one(&run, "--num-attention-heads", model->heads, "query heads");
    return status;
}

yoke_status_t yoke_launch_without_plan(const yoke_launch_t *launch, yoke_strings_t *out)
{
    static const char *const decided[] = {"--tensor-model-parallel-size",
                                          "--pipeline-model-parallel-size",
                                          "--context-parallel-size",
                                          "--pipeline-model-parallel-layout",
                                          "--decoder-first-pipeline-num-layers",
                                          "--decoder-last-pipeline-num-layers",
                                          "--num-layers-per-virtual-pipeline-stage",
                                          "--num-virtual-stages-per-pipeline-rank",
                                          "--account-for-embedding-in-pipeline-split",
                                          "--account-for-loss-in-pipeline-split",
                                          "--micro-batch-size",
                                          "--global-batch-size",
                                          "--seq-length",
                                          "--optimizer",
                                          "--use-distributed-optimizer",
                                          "--bf16",
                                          "--fp16",
                                          "--fp8-format",
                                          "--recompute-granularity",
                                          "--recompute-method",
                                          "--recompute-num-layers",
                                          "--recompute-activations",
                                          NULL};
    yoke_status_t status = YOKE_OK;
    bool drops = false;
    for (size_t i = 0; i < launch->words.count && status == YOKE_OK; i++) {
        const char *word = launch->words.items[i];
        if (strncmp(word, "--", 2) == 0) {
            size_t size = strcspn(word, "=");
            drops = false;
            for (size_t d = 0; decided[d] != NULL && !drops; d++)
                drops =
                    strlen(decided[d]) == size && strncmp(word, decided[d], size) == 0;
        }
        if (!drops)
            status = yoke_strings_add(out, word);
    }
    return status;
}

/* --- stages --------------------------------------------------------------------------
 */

/* Decoder layers of each stage to the last layer of each, ends with the ends. */
static void set_lasts(run_t *run, const uint64_t *decoders)
{
    size_t layer = 0;
    const size_t count = run->model->layer_count;
    for (uint64_t s = 0; s < run->pp; s++) {
        uint64_t left = decoders[s];
        while (layer < count &&
               (left > 0 || run->model->layers[layer].kind != YOKE_LAYER_DECODER)) {
            left -= run->model->layers[layer].kind == YOKE_LAYER_DECODER;
            layer++;
            if (left == 0 && s + 1 < run->pp && layer > 0 &&
                run->model->layers[layer - 1].kind == YOKE_LAYER_DECODER)
                break;
        }
        run->last[s] = (unsigned)(layer > 0 ? layer - 1 : 0);
    }
    run->last[run->pp - 1] = (unsigned)count - 1;
}

/* "E|t*3|..." in order; letters follow the model's kinds. */
static yoke_status_t read_layout(run_t *run, const char *layout)
{
    static const char option[] = "--pipeline-model-parallel-layout";
    uint64_t stage = 0;
    size_t layer = 0;
    if (strchr(layout, '(') != NULL)
        return bad(run, option, "brackets are not read: write every stage");
    for (const char *at = layout; *at != '\0'; at++) {
        uint64_t times = 1;
        if (*at == ',')
            continue;
        if (*at == '|') {
            if (layer == 0 || stage + 1 >= run->pp || stage + 1 >= MOST_LAYOUT)
                return bad(run, option,
                           layer == 0 ? "the first stage is empty"
                                      : "more stages than pipeline ranks: "
                                        "interleaved runs are not predicted");
            if (stage > 0 && run->last[stage - 1] + 1u == layer)
                return bad(run, option, "stage %llu is empty", (unsigned long long)stage);
            run->last[stage++] = (unsigned)layer - 1;
            continue;
        }
        char letter = *at;
        if (at[1] == '*') {
            size_t digits = strspn(at + 2, "0123456789");
            if (!yoke_parse_u64(at + 2, digits, 1, 100000, &times))
                return bad(run, option, "'*' without a number");
            at += 1 + digits;
        }
        for (; times > 0; times--, layer++) {
            static const char letters[] = {'E', 't', 'L', 'm'};
            if (layer >= run->model->layer_count ||
                letters[run->model->layers[layer].kind] != letter)
                return bad(run, option, "layer %zu of the model is no '%c'", layer,
                           letter);
        }
    }
    if (layer != run->model->layer_count || stage + 1 != run->pp)
        return bad(run, option, "%llu stages and %zu layers; %llu and %zu are needed",
                   (unsigned long long)stage + 1, layer, (unsigned long long)run->pp,
                   run->model->layer_count);
    run->last[stage] = (unsigned)layer - 1;
    for (uint64_t s = 1; s < run->pp; s++)
        if (run->last[s] <= run->last[s - 1])
            return bad(run, option, "stage %llu is empty", (unsigned long long)s);
    return YOKE_OK;
}

static yoke_status_t split_even(run_t *run)
{
    uint64_t decoders[MOST_LAYOUT] = {0};
    uint64_t first = 0, last = 0, layers = count_decoders(run->model);
    yoke_status_t status = number(run, "--decoder-first-pipeline-num-layers", 0, &first);
    if (status == YOKE_OK)
        status = number(run, "--decoder-last-pipeline-num-layers", 0, &last);
    if (status != YOKE_OK)
        return status;
    if (run->pp == 1)
        first = last = 0;
    uint64_t shares = run->pp - (first > 0) - (last > 0);
    uint64_t rest = first + last <= layers ? layers - first - last : 1;
    if (first + last > layers || (shares > 0 ? rest % shares != 0 : rest != 0) ||
        rest < shares)
        return bad(run, "--pipeline-model-parallel-size",
                   "Megatron-LM refuses to cut %llu layers into %llu equal stages",
                   (unsigned long long)rest, (unsigned long long)shares);
    for (uint64_t s = 0; s < run->pp; s++)
        decoders[s] = s == 0 && first > 0            ? first
                      : s + 1 == run->pp && last > 0 ? last
                                                     : rest / shares;
    set_lasts(run, decoders);
    return YOKE_OK;
}

static yoke_status_t read_stages(run_t *run)
{
    const char *layout =
        yoke_launch_value(run->launch, "--pipeline-model-parallel-layout", NULL);
    static const char *const interleaved[] = {"--num-layers-per-virtual-pipeline-stage",
                                              "--num-virtual-stages-per-pipeline-rank"};
    for (size_t i = 0; i < 2; i++)
        if (flag(run, interleaved[i]))
            return bad(run, interleaved[i], "interleaved runs are not predicted");
    if (run->pp > MOST_LAYOUT || run->pp > run->model->layer_count)
        return bad(run, "--pipeline-model-parallel-size", "more stages than layers");
    return layout != NULL ? read_layout(run, layout) : split_even(run);
}

/* --- the plan ------------------------------------------------------------------------
 */

static yoke_recompute_t read_recompute(const run_t *run)
{
    const char *text = yoke_launch_value(run->launch, "--recompute-granularity", NULL);
    if (text != NULL && strcmp(text, "full") == 0)
        return YOKE_RECOMPUTE_FULL;
    return (text != NULL && strcmp(text, "selective") == 0) ||
                   flag(run, "--recompute-activations")
               ? YOKE_RECOMPUTE_SELECTIVE
               : YOKE_RECOMPUTE_NONE;
}

static yoke_status_t read_sizes(run_t *run)
{
    uint64_t devices = run->problem->slot_count;
    yoke_status_t status = number(run, "--tensor-model-parallel-size", 1, &run->tp);
    if (status == YOKE_OK)
        status = number(run, "--pipeline-model-parallel-size", 1, &run->pp);
    if (status == YOKE_OK)
        status = number(run, "--context-parallel-size", 1, &run->cp);
    if (status == YOKE_OK)
        status = number(run, "--expert-model-parallel-size", 1, &run->ep);
    if (status == YOKE_OK)
        status = number(run, "--micro-batch-size", 1, &run->micro_batch);
    if (status != YOKE_OK)
        return status;
    if (run->cp != 1)
        return bad(run, "--context-parallel-size", "runs with it are not predicted");
    if (run->ep != 1)
        return bad(run, "--expert-model-parallel-size", "runs with it are not predicted");
    if (devices % (run->tp * run->pp) != 0)
        return bad(run, "--pipeline-model-parallel-size",
                   "tensor x pipeline degree is %llu, which does not divide the %llu "
                   "devices planned on; choose them with --nodes or --exclude",
                   (unsigned long long)(run->tp * run->pp), (unsigned long long)devices);
    run->dp = devices / (run->tp * run->pp);
    return YOKE_OK;
}

static yoke_status_t read_job(run_t *run, const yoke_plan_options_t *options)
{
    yoke_plan_t *plan = run->plan;
    uint64_t each = run->micro_batch * run->dp;
    yoke_status_t status = number(run, "--global-batch-size", each, &plan->global_batch);
    if (status == YOKE_OK)
        status = number(run, "--seq-length", options->sequence, &plan->sequence);
    if (status != YOKE_OK)
        return status;
    if (plan->global_batch % each != 0)
        return bad(run, "--global-batch-size",
                   "%llu is not divisible by micro-batch x replicas = %llu x %llu, which "
                   "Megatron-LM refuses",
                   (unsigned long long)plan->global_batch,
                   (unsigned long long)run->micro_batch, (unsigned long long)run->dp);
    const char *optimizer = yoke_launch_value(run->launch, "--optimizer", NULL);
    plan->dtype = flag(run, "--fp8-format") ? YOKE_FP8
                  : flag(run, "--bf16")     ? YOKE_BF16
                  : flag(run, "--fp16")     ? YOKE_FP16
                                            : YOKE_FP32;
    plan->optimizer = optimizer != NULL && strcmp(optimizer, "sgd") == 0
                          ? YOKE_OPTIMIZER_SGD
                          : YOKE_OPTIMIZER_ADAM;
    plan->sharded_optimizer = flag(run, "--use-distributed-optimizer");
    plan->memory_policy =
        yoke_memory_policy_text(options->memory, options->memory_fraction);
    status = plan->memory_policy != NULL
                 ? yoke_plan_set_string(&plan->nodes, options->nodes)
                 : yoke_fail_memory();
    for (const char *const *s = options->exclude;
         s != NULL && *s != NULL && status == YOKE_OK; s++)
        status = yoke_plan_add_exclude(plan, *s);
    return status;
}

static yoke_status_t add_replica(const run_t *run, yoke_plan_stage_t *stage, size_t rank)
{
    yoke_plan_replica_t *replica = yoke_stage_add_replica(stage);
    if (replica == NULL)
        return yoke_fail_memory();
    replica->micro_batch = run->micro_batch;
    replica->tp = run->tp;
    replica->share = 1.0 / (double)run->dp;
    for (size_t i = 0; i < run->tp; i++) {
        char *name = yoke_problem_slot_name(run->problem, (unsigned)(rank + i));
        yoke_plan_device_t *device =
            name != NULL ? yoke_replica_add_device(replica, name) : NULL;
        free(name);
        if (device == NULL)
            return yoke_fail_memory();
    }
    return YOKE_OK;
}

static yoke_status_t add_stages(run_t *run)
{
    yoke_plan_pipeline_t *pipeline = yoke_plan_add_pipeline(run->plan);
    yoke_recompute_t recompute = read_recompute(run);
    yoke_status_t status = pipeline != NULL ? YOKE_OK : yoke_fail_memory();
    if (status == YOKE_OK)
        pipeline->micro_batches = run->plan->global_batch / (run->micro_batch * run->dp);
    for (uint64_t s = 0; s < run->pp && status == YOKE_OK; s++) {
        yoke_plan_stage_t *stage = yoke_pipeline_add_stage(pipeline);
        if (stage == NULL ||
            yoke_stage_add_chunk(stage, s == 0 ? 0 : run->last[s - 1] + 1u,
                                 run->last[s]) == NULL)
            return yoke_fail_memory();
        stage->recompute = recompute;
        for (uint64_t r = 0; r < run->dp && status == YOKE_OK; r++)
            status = add_replica(run, stage, (size_t)((s * run->dp + r) * run->tp));
    }
    return status;
}

yoke_status_t yoke_launch_plan(const yoke_launch_t *launch, const char *path,
                               const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_plan_options_t *options, yoke_plan_t **out_plan)
{
    run_t run = {.launch = launch, .path = path, .model = model};
    yoke_plan_options_t open = *options;
    open.runtime = NULL;
    open.split = NULL;
    open.fix = NULL;
    open.tp = open.dp = open.stages = open.micro_batch = 0;
    if (open.sequence == 0)
        open.sequence = 4096;
    yoke_status_t status = yoke_launch_matches(launch, path, model);
    if (status == YOKE_OK)
        status = yoke_problem_new(model, inventory, &open, &run.problem);
    if (status == YOKE_OK && (run.plan = yoke_plan_new()) == NULL)
        status = yoke_fail_memory();
    if (status == YOKE_OK)
        status = read_sizes(&run);
    if (status == YOKE_OK)
        status = read_stages(&run);
    if (status == YOKE_OK)
        status = read_job(&run, &open);
    if (status == YOKE_OK)
        status = add_stages(&run);
    if (status == YOKE_OK)
        status = yoke_plan_renew(run.plan, model, inventory, options->command, out_plan);
    yoke_plan_free(run.plan);
    yoke_problem_free(run.problem);
    return status;
}

/* --- the log -------------------------------------------------------------------------
 */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

yoke_status_t yoke_launch_log_time(const char *path, double *out_seconds,
                                   unsigned *out_iterations)
{
    static const char mark[] = "elapsed time per iteration (ms):";
    char *data = NULL;
    size_t size = 0, count = 0, capacity = 0;
    double *times = NULL;
    yoke_status_t status = yoke_file_read(path, 0, &data, &size);
    if (status != YOKE_OK)
        return status;
    for (const char *at = data; (at = strstr(at, mark)) != NULL;) {
        at += sizeof mark - 1;
        double value = strtod(at, NULL);
        if (!(value > 0 && value < 1e9))
            continue;
        if (count == capacity) {
            capacity = capacity > 0 ? 2 * capacity : 64;
            double *grown = realloc(times, capacity * sizeof *grown);
            if (grown == NULL) {
                free(times);
                free(data);
                return yoke_fail_memory();
            }
            times = grown;
        }
        times[count++] = value / 1000;
    }
    free(data);
    if (count == 0) {
        free(times);
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: no line with '%s', as Megatron-LM writes them", path, mark);
    }
    size_t skip = count > 1; /* the first one warms up */
    qsort(times + skip, count - skip, sizeof *times, compare_doubles);
    *out_seconds = times[skip + (count - skip - 1) / 2];
    *out_iterations = (unsigned)(count - skip);
    free(times);
    return YOKE_OK;
}
