/* SPDX-License-Identifier: Apache-2.0 */
/* The table of stages, and which devices they are. */
#include <math.h>
#include <string.h>

#include "base/table.h"
#include "partition/plan_print.h"

#define GIB 1073741824.0

/* --- what is equal --------------------------------------------------------------------
 */

static const char *replica_type(const yoke_plan_replica_t *replica)
{
    return replica->device_count > 0 ? replica->devices[0].type : NULL;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_replica(const yoke_plan_replica_t *a, const yoke_plan_replica_t *b)
{
    return a->tp == b->tp && a->micro_batch == b->micro_batch && a->cp == b->cp &&
           a->ep == b->ep && same_text(replica_type(a), replica_type(b));
}

static bool same_stage(const yoke_plan_stage_t *a, const yoke_plan_stage_t *b)
{
    if (a->recompute != b->recompute || a->chunk_count != b->chunk_count ||
        a->replica_count != b->replica_count)
        return false;
    for (size_t c = 0; c < a->chunk_count; c++)
        if (a->chunks[c].first != b->chunks[c].first ||
            a->chunks[c].last != b->chunks[c].last)
            return false;
    for (size_t r = 0; r < a->replica_count; r++)
        if (!same_replica(&a->replicas[r], &b->replicas[r]))
            return false;
    return true;
}

static bool same_pipeline(const yoke_plan_pipeline_t *a, const yoke_plan_pipeline_t *b)
{
    if (a->micro_batches != b->micro_batches || a->stage_count != b->stage_count)
        return false;
    for (size_t s = 0; s < a->stage_count; s++)
        if (!same_stage(&a->stages[s], &b->stages[s]))
            return false;
    return true;
}

size_t yoke_pipeline_kind(const yoke_plan_t *plan, size_t pipeline)
{
    for (size_t p = 0; p < pipeline; p++)
        if (same_pipeline(&plan->pipelines[p], &plan->pipelines[pipeline]))
            return p;
    return pipeline;
}

static size_t count_kind(const yoke_plan_t *plan, size_t kind)
{
    size_t count = 0;
    for (size_t p = kind; p < plan->pipeline_count; p++)
        count += same_pipeline(&plan->pipelines[p], &plan->pipelines[kind]);
    return count;
}

const char *yoke_stage_type(const yoke_plan_stage_t *stage)
{
    const char *type =
        stage->replica_count > 0 ? replica_type(&stage->replicas[0]) : NULL;
    for (size_t r = 1; r < stage->replica_count; r++)
        if (!same_text(type, replica_type(&stage->replicas[r])))
            return "mixed";
    return type;
}

/* --- cells ----------------------------------------------------------------------------
 */

void yoke_print_layers(const yoke_plan_stage_t *stage, yoke_text_t *text)
{
    for (size_t c = 0; c < stage->chunk_count; c++) {
        unsigned long long first = (unsigned long long)stage->chunks[c].first;
        unsigned long long last = (unsigned long long)stage->chunks[c].last;
        yoke_text_printf(text, first == last ? "%s%llu" : "%s%llu-%llu", c > 0 ? "," : "",
                         first, last);
    }
}

static void cell_time(yoke_table_t *table, double seconds)
{
    char buffer[32];
    yoke_table_cell(table, isnan(seconds) ? NULL : yoke_show_seconds(seconds, buffer));
}

/* The fullest device of the replicas from `first` on that are equal to it. */
static const yoke_memory_terms_t *fullest(const yoke_plan_stage_t *stage, size_t first)
{
    const yoke_memory_terms_t *most = NULL;
    for (size_t r = first; r < stage->replica_count; r++) {
        if (!same_replica(&stage->replicas[r], &stage->replicas[first]))
            continue;
        for (size_t d = 0; d < stage->replicas[r].device_count; d++) {
            const yoke_memory_terms_t *memory = &stage->replicas[r].devices[d].memory;
            if (most == NULL ||
                memory->predicted - memory->limit > most->predicted - most->limit)
                most = memory;
        }
    }
    return most;
}

static void cell_memory(yoke_table_t *table, const yoke_memory_terms_t *memory)
{
    if (memory == NULL || isnan(memory->predicted) || isnan(memory->limit))
        yoke_table_cell(table, NULL);
    else
        yoke_table_cellf(table, "%.1f/%.1f", memory->predicted / GIB,
                         memory->limit / GIB);
}

/* One row for the replicas that are equal to replica `first`, of `times` pipelines. */
static void add_row(yoke_table_t *table, const yoke_plan_stage_t *stage, size_t index,
                    size_t first, size_t times)
{
    const yoke_plan_replica_t *replica = &stage->replicas[first];
    size_t replicas = 0, devices = 0;
    for (size_t r = first; r < stage->replica_count; r++) {
        if (!same_replica(&stage->replicas[r], replica))
            continue;
        replicas++;
        devices += stage->replicas[r].device_count;
    }
    yoke_text_t layers = {0};
    if (first == 0) {
        yoke_print_layers(stage, &layers);
        yoke_table_cellf(table, "%zu", index);
        yoke_table_cell(table, yoke_text_get(&layers));
    } else {
        yoke_table_cell(table, "");
        yoke_table_cell(table, "");
    }
    yoke_text_free(&layers);
    yoke_table_cell(table, replica_type(replica));
    yoke_table_cellf(table, "%zu", devices * times);
    yoke_table_cellf(table, "%llu", (unsigned long long)replica->tp);
    yoke_table_cellf(table, "%zu", replicas * times);
    yoke_table_cellf(table, "%llu", (unsigned long long)replica->micro_batch);
    cell_time(table, first == 0 ? stage->forward_time : (double)NAN);
    cell_time(table, first == 0 ? stage->backward_time : (double)NAN);
    cell_memory(table, fullest(stage, first));
}

static void add_stage(yoke_table_t *table, const yoke_plan_stage_t *stage, size_t index,
                      size_t times)
{
    for (size_t r = 0; r < stage->replica_count; r++) {
        bool seen = false;
        for (size_t q = 0; q < r && !seen; q++)
            seen = same_replica(&stage->replicas[q], &stage->replicas[r]);
        if (!seen)
            add_row(table, stage, index, r, times);
    }
}

/* --- one kind of pipelines
 * -------------------------------------------------------------- */

static void print_title(const yoke_plan_t *plan, size_t kind, size_t times, size_t width,
                        yoke_text_t *text)
{
    const yoke_plan_pipeline_t *pipeline = &plan->pipelines[kind];
    const char *recompute = NULL;
    bool mixed = false;
    uint64_t samples = 0;
    for (size_t s = 0; s < pipeline->stage_count; s++) {
        const char *name = yoke_recompute_name(pipeline->stages[s].recompute);
        mixed = mixed || (recompute != NULL && strcmp(recompute, name) != 0);
        recompute = name;
    }
    for (size_t r = 0; pipeline->stage_count > 0 && r < pipeline->stages[0].replica_count;
         r++)
        samples += pipeline->stages[0].replicas[r].micro_batch;
    yoke_text_t title = {0};
    if (times > 1)
        yoke_text_printf(&title, "%zu equal pipelines from number %zu on: each ", times,
                         kind);
    else if (plan->pipeline_count > 1)
        yoke_text_printf(&title, "Pipeline %zu: ", kind);
    else
        yoke_text_add(&title, "One pipeline: ");
    yoke_text_printf(&title,
                     "%zu stage%s, %llu micro-batch%s of %llu sample%s, recomputation %s",
                     pipeline->stage_count, pipeline->stage_count == 1 ? "" : "s",
                     (unsigned long long)pipeline->micro_batches,
                     pipeline->micro_batches == 1 ? "" : "es",
                     (unsigned long long)samples, samples == 1 ? "" : "s",
                     mixed ? "by stage" : (recompute != NULL ? recompute : "none"));
    yoke_print_paragraph(yoke_text_get(&title), width, 2, text);
    yoke_text_free(&title);
}

/* Who the devices of a stage are, over all pipelines of the kind. */
static void print_who(const yoke_plan_t *plan, size_t kind, size_t index, size_t width,
                      yoke_text_t *text)
{
    yoke_strings_t names = {0};
    yoke_text_t line = {0};
    for (size_t p = kind; p < plan->pipeline_count; p++) {
        if (!same_pipeline(&plan->pipelines[p], &plan->pipelines[kind]))
            continue;
        const yoke_plan_stage_t *stage = &plan->pipelines[p].stages[index];
        for (size_t r = 0; r < stage->replica_count; r++)
            for (size_t d = 0; d < stage->replicas[r].device_count; d++)
                if (yoke_strings_add(&names, stage->replicas[r].devices[d].device) !=
                    YOKE_OK)
                    text->failed = true;
    }
    yoke_text_printf(&line, "stage %zu: ", index);
    if (yoke_print_devices(&names, &line) != YOKE_OK)
        text->failed = true;
    const yoke_plan_stage_t *stage = &plan->pipelines[kind].stages[index];
    if (stage->recompute != YOKE_RECOMPUTE_NONE)
        yoke_text_printf(&line, " (recomputes: %s)",
                         yoke_recompute_name(stage->recompute));
    yoke_print_paragraph(yoke_text_get(&line), width, 4, text);
    yoke_text_free(&line);
    yoke_strings_free(&names);
}

static void print_kind(const yoke_plan_t *plan, size_t kind, size_t width,
                       yoke_text_t *text)
{
    static const char *const headers[] = {">Stage",    "Layers", "~Type", ">Dev",
                                          ">tp",       ">dp",    ">mb",   ">Forward",
                                          ">Backward", ">GiB"};
    const yoke_plan_pipeline_t *pipeline = &plan->pipelines[kind];
    size_t times = count_kind(plan, kind);
    yoke_table_t *table = yoke_table_new(headers, sizeof headers / sizeof *headers);
    print_title(plan, kind, times, width, text);
    for (size_t s = 0; s < pipeline->stage_count; s++)
        add_stage(table, &pipeline->stages[s], s, times);
    yoke_table_print(table, width, 2, text);
    yoke_table_free(table);
    for (size_t s = 0; s < pipeline->stage_count; s++)
        print_who(plan, kind, s, width, text);
}

static void print_legend(const yoke_model_t *model, size_t width, yoke_text_t *text)
{
    yoke_text_t legend = {0};
    yoke_text_add(&legend,
                  "tp: devices that share each layer; dp: replicas beside one another; "
                  "mb: samples of a micro-batch on each; GiB: predicted/limit");
    if (model != NULL && model->layer_count > 1 && model->layers[0].name != NULL &&
        model->layers[model->layer_count - 1].name != NULL)
        yoke_text_printf(
            &legend, "; layer 0 is '%s', 1 '%s', %zu '%s'", model->layers[0].name,
            model->layers[1].name != NULL ? model->layers[1].name : "?",
            model->layer_count - 1, model->layers[model->layer_count - 1].name);
    yoke_print_paragraph(yoke_text_get(&legend), width, 2, text);
    yoke_text_free(&legend);
}

void yoke_print_placement(const yoke_plan_t *plan, const yoke_model_t *model,
                          size_t width, yoke_text_t *text)
{
    yoke_print_heading("Placement", text);
    for (size_t p = 0; p < plan->pipeline_count; p++)
        if (yoke_pipeline_kind(plan, p) == p)
            print_kind(plan, p, width, text);
    print_legend(model, width, text);
}
