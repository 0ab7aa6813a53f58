/* SPDX-License-Identifier: Apache-2.0 */
/* The driver of the search: sheets, nodes in order of their bounds, the even split. */
#include "partition/search.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/runtime.h"
#include "partition/search_state.h"
#include "partition/split.h"

#define MAX_DEGREES 16
#define MAX_MICRO_BATCHES 24
#define MAX_VECTORS 4096      /* combinations of degrees over the classes */
#define DEFAULT_EFFORT 200000 /* nodes of the exact enumeration */
#define HEURISTIC_NODES 1500  /* nodes that the heuristics expand at most */
#define PATIENCE 100          /* of them that fit without a better plan */
#define TWO_SHAPE_SHEETS 24
#define EXACT_UNITS 16 /* largest number of tensor groups for the exact enumeration */

yoke_status_t yoke_candidate_evaluate(const yoke_problem_t *problem,
                                      yoke_cost_cache_t *cache,
                                      const yoke_candidate_t *candidate,
                                      yoke_placement_t *placement,
                                      yoke_evaluation_t *evaluation, bool *out_placed)
{
    *out_placed = yoke_place(problem, candidate, placement);
    if (!*out_placed)
        return YOKE_OK;
    return yoke_evaluate(problem, cache, &placement->layout, NULL, NULL, evaluation);
}

unsigned yoke_search_steps(const yoke_search_t *search, const yoke_sheet_t *sheet)
{
    return (unsigned)(search->problem->options.global_batch / sheet->micro_batch);
}

bool yoke_search_sharded(const yoke_search_t *search, unsigned replicas)
{
    return search->problem->options.sharded_optimizer != YOKE_OFF && replicas > 1;
}

void yoke_search_start(const yoke_sheet_t *sheet, yoke_candidate_t *out)
{
    out->micro_batch = sheet->micro_batch;
    out->recompute = sheet->recompute;
    out->sharded_optimizer = false;
    out->shape_count = 0;
    memcpy(out->tp, sheet->tp, sizeof out->tp);
}

static void remember_miss(yoke_search_t *search)
{
    const yoke_evaluation_t *evaluation = &search->evaluation;
    yoke_search_result_t *result = search->result;
    const yoke_memory_terms_t *memory =
        &evaluation->stages[evaluation->tightest_stage].memory;
    if (result->have_miss &&
        memory->predicted / memory->limit >= result->miss_needed / result->miss_limit)
        return;
    size_t index = evaluation->tightest_stage;
    for (unsigned p = 0; p < search->placement.layout.pipeline_count; p++) {
        const yoke_pipeline_t *pipeline = &search->placement.layout.pipelines[p];
        if (index < pipeline->stage_count) {
            result->miss_class = pipeline->stages[index].replicas[0].class_index;
            result->miss_stage = (unsigned)index;
            break;
        }
        index -= pipeline->stage_count;
    }
    result->have_miss = true;
    result->miss_needed = memory->predicted;
    result->miss_limit = memory->limit;
}

/*
 * A runtime without stages for the embedding or the head alone: the neighbour gives one
 * of its decoder layers, where it has two.
 */
static void mend_ends(const yoke_model_t *model, yoke_shape_t *shape)
{
    for (unsigned s = 1; s < shape->stages; s++) {
        uint16_t first = (uint16_t)(s > 1 ? shape->last[s - 2] + 1u : 0);
        bool lonely = model->layers[shape->last[s]].kind == YOKE_LAYER_HEAD &&
                      shape->last[s - 1] + 1u == shape->last[s];
        if (lonely && shape->last[s - 1] > first)
            shape->last[s - 1]--;
    }
    if (shape->stages > 1 && shape->last[0] == 0 &&
        model->layers[0].kind == YOKE_LAYER_EMBEDDING && shape->last[1] > 1)
        shape->last[0] = 1;
}

void yoke_search_try(yoke_search_t *search, const yoke_candidate_t *given)
{
    bool placed = false;
    yoke_candidate_t mended;
    const yoke_candidate_t *candidate = given;
    if (yoke_runtime_has(search->problem->runtime, YOKE_RULE_DECODERS_IN_EVERY_STAGE)) {
        mended = *given;
        candidate = &mended;
        for (unsigned g = 0; g < mended.shape_count; g++)
            mend_ends(search->problem->model, &mended.shapes[g]);
    }
    yoke_status_t status =
        yoke_candidate_evaluate(search->problem, search->cache, candidate,
                                &search->placement, &search->evaluation, &placed);
    if (status != YOKE_OK) {
        search->status = status;
        return;
    }
    if (!placed)
        return;
    if (search->problem->runtime != NULL &&
        !yoke_runtime_allows(search->problem->runtime, search->problem,
                             &search->placement.layout, NULL, 0, NULL))
        return;
    yoke_search_result_t *result = search->result;
    result->evaluated++;
    if (!search->evaluation.fits) {
        remember_miss(search);
        return;
    }
    search->fitting++;
    if (!result->found || search->evaluation.iteration_time < result->time) {
        result->found = true;
        result->time = search->evaluation.iteration_time;
        result->best = *candidate;
    }
}

bool yoke_search_sends(yoke_search_t *search, const yoke_candidate_t *candidate,
                       unsigned shape, double *out_send)
{
    if (!yoke_place(search->problem, candidate, &search->placement))
        return false;
    const yoke_pipeline_t *pipeline = &search->placement.layout.pipelines[shape];
    for (unsigned s = 0; s + 1 < pipeline->stage_count; s++) {
        const yoke_stage_t *from = &pipeline->stages[s], *to = &pipeline->stages[s + 1];
        const yoke_cost_table_t *table = yoke_cost_cache_get(
            search->cache, from->replicas[0].class_index, from->replicas[0].tp,
            candidate->micro_batch, candidate->recompute);
        if (table == NULL)
            return false;
        out_send[s] = 0;
        for (unsigned r = 0; r < from->replica_count; r++) {
            double time = yoke_boundary_time(search->problem, &from->replicas[r],
                                             &to->replicas[r], table->boundary[0]);
            if (time > out_send[s])
                out_send[s] = time;
        }
    }
    return true;
}

/* All vectors of degrees, one a class; classes without a degree get 0. */
typedef struct vectors {
    unsigned degrees[YOKE_MAX_CLASSES][MAX_DEGREES];
    size_t counts[YOKE_MAX_CLASSES];
    size_t total;
    /* A runtime with one degree for all: the degrees of any class, ascending. */
    bool uniform;
    unsigned common[MAX_DEGREES];
} vectors_t;

/* One vector a degree: classes that cannot run it are left out. */
static void make_uniform(const yoke_problem_t *problem, vectors_t *vectors)
{
    vectors->uniform = true;
    vectors->total = 0;
    for (unsigned last = 0; vectors->total < MAX_DEGREES;) {
        unsigned next = UINT32_MAX;
        for (unsigned c = 0; c < problem->class_count; c++)
            for (size_t d = 0; d < vectors->counts[c]; d++)
                if (vectors->degrees[c][d] > last && vectors->degrees[c][d] < next)
                    next = vectors->degrees[c][d];
        if (next == UINT32_MAX)
            return;
        vectors->common[vectors->total++] = last = next;
    }
}

static void get_uniform(const yoke_problem_t *problem, const vectors_t *vectors,
                        size_t index, unsigned *out_tp)
{
    for (unsigned c = 0; c < problem->class_count; c++) {
        out_tp[c] = 0;
        for (size_t d = 0; d < vectors->counts[c]; d++)
            if (vectors->degrees[c][d] == vectors->common[index])
                out_tp[c] = vectors->common[index];
    }
}

static void list_vectors(const yoke_problem_t *problem, uint64_t classes, vectors_t *out)
{
    out->total = 1;
    for (unsigned c = 0; c < problem->class_count; c++) {
        out->counts[c] = 0;
        if (classes >> c & 1)
            out->counts[c] = yoke_class_degrees(problem, c, out->degrees[c], MAX_DEGREES);
        if (out->counts[c] == 0) {
            out->degrees[c][0] = 0;
            out->counts[c] = 1;
        }
        out->total = out->total > MAX_VECTORS ? out->total : out->total * out->counts[c];
    }
    if (yoke_runtime_has(problem->runtime, YOKE_RULE_EQUAL_TENSOR_DEGREE))
        make_uniform(problem, out);
}

/* Vector number `index`; with too many combinations every class takes the same step. */
static void get_vector(const yoke_problem_t *problem, const vectors_t *vectors,
                       size_t index, unsigned *out_tp)
{
    if (vectors->uniform) {
        get_uniform(problem, vectors, index, out_tp);
        return;
    }
    for (unsigned c = 0; c < problem->class_count; c++) {
        size_t count = vectors->counts[c];
        size_t step = vectors->total <= MAX_VECTORS ? index % count
                                                    : (index < count ? index : count - 1);
        out_tp[c] = vectors->degrees[c][step];
        index = vectors->total <= MAX_VECTORS ? index / count : index;
    }
}

static size_t vector_count(const vectors_t *vectors)
{
    return vectors->total <= MAX_VECTORS ? vectors->total : MAX_DEGREES;
}

static size_t list_recompute(const yoke_problem_t *problem, yoke_recompute_t out[3])
{
    size_t count = 0;
    if (problem->options.recompute != YOKE_RECOMPUTE_AUTO) {
        out[0] = problem->options.recompute;
        return 1;
    }
    for (unsigned r = YOKE_RECOMPUTE_NONE; r < YOKE_RECOMPUTE_AUTO; r++)
        if (problem->runtime == NULL || problem->runtime->recompute[r])
            out[count++] = (yoke_recompute_t)r;
    return count;
}

static unsigned max_replicas_of(const yoke_search_t *search, const yoke_sheet_t *sheet)
{
    bool may_shard = search->problem->options.sharded_optimizer != YOKE_OFF;
    unsigned most = yoke_sheet_max_replicas(sheet, false);
    unsigned sharded = may_shard ? yoke_sheet_max_replicas(sheet, true) : 0;
    if (sharded > 1 && sharded > most)
        most = sharded;
    unsigned steps = yoke_search_steps(search, sheet);
    return most < steps ? most : steps;
}

static yoke_status_t make_sheets(yoke_search_t *search, uint64_t classes)
{
    const yoke_problem_t *problem = search->problem;
    unsigned micro[MAX_MICRO_BATCHES];
    yoke_recompute_t recompute[3];
    vectors_t *vectors = calloc(1, sizeof *vectors);
    if (vectors == NULL)
        return yoke_fail_memory();
    size_t micro_count = yoke_micro_batches(problem, micro, MAX_MICRO_BATCHES);
    size_t recompute_count = list_recompute(problem, recompute);
    list_vectors(problem, classes, vectors);
    size_t vector_total = vector_count(vectors);
    search->truncated = vectors->total > MAX_VECTORS;
    size_t most = micro_count * recompute_count * vector_total;
    search->sheets = calloc(most + 1, sizeof *search->sheets);
    search->max_replicas = calloc(most + 1, sizeof *search->max_replicas);
    yoke_status_t status = YOKE_OK;
    if (search->sheets == NULL || search->max_replicas == NULL)
        status = yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < most; i++) {
        unsigned tp[YOKE_MAX_CLASSES] = {0};
        get_vector(problem, vectors, i / (micro_count * recompute_count), tp);
        for (unsigned c = 0; c < problem->class_count; c++)
            if ((classes >> c & 1) == 0)
                tp[c] = 0;
        yoke_sheet_t *sheet = &search->sheets[search->sheet_count];
        if (!yoke_sheet_init(problem, search->cache, micro[i % micro_count],
                             recompute[i / micro_count % recompute_count], tp, sheet))
            continue;
        search->max_replicas[search->sheet_count] = max_replicas_of(search, sheet);
        search->sheet_count++;
    }
    free(vectors);
    return status;
}

static int compare_nodes(const void *a, const void *b)
{
    const yoke_node_ref_t *x = a, *y = b;
    if (x->estimate != y->estimate)
        return x->estimate < y->estimate ? -1 : 1;
    if (x->sheet != y->sheet)
        return x->sheet < y->sheet ? -1 : 1;
    return x->replicas < y->replicas ? -1 : x->replicas > y->replicas;
}

/*
 * Replica counts worth a node: those that divide the steps and, where pipelines may
 * differ by one step, the largest that leave a class a given number of stages.
 */
static bool worth_a_node(const yoke_search_t *search, const yoke_sheet_t *sheet,
                         unsigned replicas)
{
    if (yoke_search_steps(search, sheet) % replicas == 0)
        return true;
    if (search->problem->options.max_shapes < 2)
        return false;
    if (search->problem->options.dp != 0) /* the only count that may be planned */
        return true;
    for (size_t c = 0; c < search->problem->class_count; c++) {
        unsigned units = sheet->units[c];
        if (units >= replicas && units / replicas != units / (replicas + 1))
            return true;
    }
    return false;
}

/* Nodes of all sheets; `all` replica counts, or only those worth a node. */
static yoke_status_t list_nodes(const yoke_search_t *search, bool all,
                                yoke_node_ref_t **out_nodes, size_t *out_count)
{
    yoke_node_ref_t *nodes = NULL;
    size_t count = 0, capacity = 0;
    unsigned fixed = (unsigned)search->problem->options.dp;
    for (unsigned i = 0; i < search->sheet_count; i++) {
        for (unsigned d = 1; d <= search->max_replicas[i]; d++) {
            if ((fixed != 0 && d != fixed) ||
                (!all && !worth_a_node(search, &search->sheets[i], d)))
                continue;
            if (count == capacity) {
                capacity = capacity ? 2 * capacity : 256;
                yoke_node_ref_t *grown = realloc(nodes, capacity * sizeof *grown);
                if (grown == NULL) {
                    free(nodes);
                    return yoke_fail_memory();
                }
                nodes = grown;
            }
            const yoke_sheet_t *sheet = &search->sheets[i];
            double bound = yoke_bound_replicas(sheet, d);
            nodes[count++] = (yoke_node_ref_t){
                bound, all ? bound : yoke_search_estimate(search, sheet, d), i, d};
        }
    }
    if (count > 0)
        qsort(nodes, count, sizeof *nodes, compare_nodes);
    *out_nodes = nodes;
    *out_count = count;
    return YOKE_OK;
}

static bool beaten(const yoke_search_result_t *result, double bound)
{
    return result->found && bound * (1.0 - 1e-9) >= result->time;
}

/* Fewer replicas, and with them a higher bound, by what single groups can hold. */
static double refined_bound(yoke_search_t *search, size_t index, unsigned replicas)
{
    yoke_sheet_t *sheet = &search->sheets[index];
    bool may_shard = search->problem->options.sharded_optimizer != YOKE_OFF;
    unsigned most = yoke_sheet_max_replicas_by_layers(sheet, replicas, may_shard);
    return yoke_bound_replicas(sheet, most);
}

/*
 * The family bound: the least over all sheets at the most replicas that memory allows.
 * Sheets come by their quick bound, so that only few need the careful one.
 */
static yoke_status_t set_bound(yoke_search_t *search)
{
    yoke_search_result_t *result = search->result;
    const unsigned fixed = (unsigned)search->problem->options.dp;
    yoke_node_ref_t *nodes = calloc(search->sheet_count + 1, sizeof *nodes);
    if (nodes == NULL)
        return yoke_fail_memory();
    size_t count = 0;
    for (unsigned i = 0; i < search->sheet_count; i++) {
        unsigned replicas = fixed != 0 ? fixed : search->max_replicas[i];
        if (search->max_replicas[i] == 0 || replicas > search->max_replicas[i])
            continue;
        double bound = yoke_bound_replicas(&search->sheets[i], replicas);
        nodes[count++] = (yoke_node_ref_t){bound, bound, i, replicas};
    }
    qsort(nodes, count, sizeof *nodes, compare_nodes);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && nodes[i].bound >= result->bound)
            break;
        double bound = fixed != 0
                           ? nodes[i].bound
                           : refined_bound(search, nodes[i].sheet, nodes[i].replicas);
        if (i == 0 || bound < result->bound)
            result->bound = bound;
    }
    free(nodes);
    result->binding =
        "work of all layers over the speed of all devices, plus the pipeline fill "
        "of one micro-batch";
    return YOKE_OK;
}

static unsigned total_units(const yoke_sheet_t *sheet)
{
    unsigned units = 0;
    for (size_t c = 0; c < sheet->problem->class_count; c++)
        units += sheet->units[c];
    return units;
}

static void run_heuristics(yoke_search_t *search, const yoke_node_ref_t *nodes,
                           size_t count)
{
    unsigned idle = 0; /* nodes with a plan that fits, none of them better */
    for (size_t i = 0; i < count && i < HEURISTIC_NODES && idle < PATIENCE; i++) {
        const double before = search->result->found ? search->result->time : 0;
        const uint64_t fitting = search->fitting;
        if (beaten(search->result, nodes[i].bound))
            continue;
        yoke_search_one_shape(search, &search->sheets[nodes[i].sheet], nodes[i].replicas);
        if (search->result->found && search->result->time != before)
            idle = 0;
        else
            idle += search->fitting != fitting;
    }
    if (search->problem->options.max_shapes < 2 || search->split_count > 0)
        return;
    size_t tried = 0;
    unsigned *seen = calloc(search->sheet_count + 1, sizeof *seen);
    for (size_t i = 0; seen != NULL && i < count && tried < TWO_SHAPE_SHEETS; i++) {
        if (seen[nodes[i].sheet] || beaten(search->result, nodes[i].bound))
            continue;
        seen[nodes[i].sheet] = 1;
        yoke_sheet_t *sheet = &search->sheets[nodes[i].sheet];
        const double before = search->result->time;
        yoke_search_two_shapes(search, sheet);
        if (search->result->found && search->result->time != before)
            yoke_search_refine(search, sheet);
        tried++;
    }
    free(seen);
    yoke_search_polish(search);
}

/*
 * Where memory as a whole is short no node is listed, and nothing was tried. One try of
 * the thriftiest sheets all the same, so that the refusal can say which device misses how
 * much.
 */
static void try_for_miss(yoke_search_t *search)
{
    const yoke_search_result_t *result = search->result;
    const unsigned fixed = (unsigned)search->problem->options.dp;
    unsigned least = UINT32_MAX;
    yoke_recompute_t most = YOKE_RECOMPUTE_NONE;
    for (size_t i = 0; i < search->sheet_count; i++) {
        const yoke_sheet_t *sheet = &search->sheets[i];
        least = sheet->micro_batch < least ? sheet->micro_batch : least;
        most = sheet->recompute > most ? sheet->recompute : most;
    }
    for (size_t i = 0; i < search->sheet_count; i++) {
        yoke_sheet_t *sheet = &search->sheets[i];
        if (sheet->micro_batch == least && sheet->recompute == most && !result->found &&
            search->status == YOKE_OK)
            yoke_search_one_shape(search, sheet, fixed != 0 ? fixed : 1);
    }
}

static yoke_status_t run_exact(yoke_search_t *search)
{
    yoke_node_ref_t *nodes = NULL;
    size_t count = 0;
    for (size_t i = 0; i < search->sheet_count; i++)
        if (total_units(&search->sheets[i]) > EXACT_UNITS &&
            !beaten(search->result,
                    yoke_bound_replicas(&search->sheets[i], search->max_replicas[i])))
            return YOKE_OK; /* too large to be complete */
    bool one_shape = search->problem->options.max_shapes < 2 || search->split_count > 0;
    yoke_status_t status = list_nodes(search, !one_shape, &nodes, &count);
    if (status != YOKE_OK)
        return status;
    bool complete = true;
    for (size_t i = 0; i < count && complete; i++) {
        /* Not the end: nodes with one shape come in the order of their estimates. */
        if (beaten(search->result, nodes[i].bound))
            continue;
        yoke_sheet_t *sheet = &search->sheets[nodes[i].sheet];
        complete = total_units(sheet) <= EXACT_UNITS &&
                   yoke_search_exact_node(search, sheet, nodes[i].replicas);
    }
    search->result->complete = complete && !search->truncated;
    free(nodes);
    return YOKE_OK;
}

static void search_free(yoke_search_t *search)
{
    for (size_t i = 0; i < search->sheet_count; i++)
        yoke_sheet_free(&search->sheets[i]);
    free(search->sheets);
    free(search->max_replicas);
    yoke_placement_free(&search->placement);
    yoke_evaluation_free(&search->evaluation);
}

static yoke_status_t search_init(yoke_search_t *search, const yoke_problem_t *problem,
                                 yoke_cost_cache_t *cache, yoke_search_result_t *result)
{
    memset(search, 0, sizeof *search);
    memset(result, 0, sizeof *result);
    search->problem = problem;
    search->cache = cache;
    search->result = result;
    search->effort = problem->options.effort ? problem->options.effort : DEFAULT_EFFORT;
    if (problem->class_count > YOKE_MAX_CLASSES)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "the cluster has %zu classes of devices; at most %d are planned",
                         problem->class_count, YOKE_MAX_CLASSES);
    if (problem->model->layer_count == 0 || problem->model->layer_count > UINT16_MAX - 1)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "the model has %zu layers; 1 to %d are planned",
                         problem->model->layer_count, UINT16_MAX - 1);
    const yoke_plan_options_t *options = &problem->options;
    if (options->stages > YOKE_MAX_STAGES ||
        options->stages > problem->model->layer_count)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "--stages %llu: the model has %zu layers and a stage holds at least one; at "
            "most %d stages are planned",
            (unsigned long long)options->stages, problem->model->layer_count,
            YOKE_MAX_STAGES);
    if (options->micro_batch != 0 && options->global_batch % options->micro_batch != 0)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "--micro-batch %llu does not divide the global batch of %llu samples",
            (unsigned long long)options->micro_batch,
            (unsigned long long)options->global_batch);
    return yoke_placement_init(problem, &search->placement);
}

static yoke_status_t read_split(yoke_search_t *search)
{
    const yoke_plan_options_t *options = &search->problem->options;
    if (options->split == NULL)
        return YOKE_OK;
    uint64_t decoders = 0;
    for (size_t l = 0; l < search->problem->model->layer_count; l++)
        decoders += search->problem->model->layers[l].kind == YOKE_LAYER_DECODER;
    size_t stages = 1;
    for (const char *p = options->split; *p != '\0'; p++)
        stages += *p == ',';
    if (options->stages != 0)
        stages = options->stages;
    if (stages > YOKE_MAX_STAGES)
        return yoke_fail(YOKE_ERR_USAGE, "--split: at most %d stages", YOKE_MAX_STAGES);
    yoke_status_t status =
        yoke_split_parse(options->split, decoders, stages, search->split);
    if (status == YOKE_OK)
        search->split_count = (unsigned)stages;
    return status;
}

yoke_status_t yoke_search(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                          uint64_t classes, yoke_search_result_t *out_result)
{
    yoke_search_t search;
    yoke_node_ref_t *nodes = NULL;
    size_t count = 0;
    yoke_status_t status = search_init(&search, problem, cache, out_result);
    if (status == YOKE_OK)
        status = read_split(&search);
    if (status == YOKE_OK)
        status = make_sheets(&search, classes);
    if (status == YOKE_OK)
        status = list_nodes(&search, false, &nodes, &count);
    if (status == YOKE_OK) {
        run_heuristics(&search, nodes, count);
        if (!out_result->found && !out_result->have_miss)
            try_for_miss(&search);
        status = search.status;
    }
    if (status == YOKE_OK)
        status = set_bound(&search);
    if (status == YOKE_OK)
        status = run_exact(&search);
    if (status == YOKE_OK)
        status = search.status;
    free(nodes);
    search_free(&search);
    return status;
}

/* One even candidate: same degree everywhere, every device used, layers evenly cut. */
static void try_even(yoke_search_t *search, yoke_sheet_t *sheet, unsigned replicas)
{
    const yoke_problem_t *problem = search->problem;
    yoke_candidate_t candidate;
    yoke_search_start(sheet, &candidate);
    candidate.sharded_optimizer = yoke_search_sharded(search, replicas);
    candidate.shape_count = 1;
    yoke_shape_t *shape = &candidate.shapes[0];
    shape->dp = replicas;
    shape->micro_batches = yoke_search_steps(search, sheet) / replicas;
    shape->stages = 0;
    for (unsigned c = 0; c < problem->class_count; c++) {
        unsigned units = sheet->units[c];
        if (units * sheet->tp[c] != problem->classes[c].count || units % replicas != 0)
            return;
        for (unsigned k = 0; k < units / replicas; k++) {
            if (shape->stages == YOKE_MAX_STAGES)
                return;
            shape->classes[shape->stages++] = (uint8_t)c;
        }
    }
    if (yoke_cut_even(problem->model, shape->stages, shape->last))
        yoke_search_try(search, &candidate);
}

yoke_status_t yoke_search_even(const yoke_problem_t *problem, yoke_cost_cache_t *cache,
                               yoke_search_result_t *out_result)
{
    yoke_search_t search;
    yoke_status_t status = search_init(&search, problem, cache, out_result);
    if (status == YOKE_OK)
        status = make_sheets(&search, YOKE_ALL_CLASSES);
    for (size_t i = 0; status == YOKE_OK && i < search.sheet_count; i++) {
        yoke_sheet_t *sheet = &search.sheets[i];
        bool equal = true;
        for (size_t c = 1; c < problem->class_count; c++)
            equal = equal && sheet->tp[c] == sheet->tp[0];
        unsigned steps = yoke_search_steps(&search, sheet);
        for (unsigned d = 1; equal && d <= search.max_replicas[i] && status == YOKE_OK;
             d++) {
            if (problem->options.dp != 0 && d != problem->options.dp)
                continue;
            if (steps % d == 0 && !beaten(out_result, yoke_bound_replicas(sheet, d)))
                try_even(&search, sheet, d);
            status = search.status;
        }
    }
    search_free(&search);
    return status;
}
