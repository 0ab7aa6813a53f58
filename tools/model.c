/* SPDX-License-Identifier: Apache-2.0 */
/* yoke model: the layers of a model, with what they hold, compute and keep. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "base/text.h"
#include "costmodel/model_parts.h"
#include "tools/cli.h"
#include "yoke/inventory.h"
#include "yoke/model.h"

static int run(int argc, char **argv);

static const yoke_option_t options[] = {
    {.name = "seq",
     .argument = "TOKENS",
     .help = "Tokens of a sample. Default: 4096, or the model's longest sequence where "
             "that is "
             "shorter.",
     .heading = "What to compute for"},
    {.name = "batch", .argument = "SAMPLES", .help = "Samples at once. Default: 1."},
    {.name = "dtype",
     .argument = "TYPE",
     .help = "Data type of weights and activations: fp32, fp16, bf16, fp8 and so on. "
             "Default: "
             "that of the stored weights, or bf16."},
    {.name = "with-prediction",
     .help =
         "Make layers of the extra prediction layers too (DeepSeek V3); they are counted "
         "apart otherwise.",
     .heading = "What to read"},
    {.name = "index",
     .argument = "FILE",
     .help = "Safetensors index or file to compare with. Default: "
             "model.safetensors.index.json or model.safetensors beside the config, where "
             "there "
             "is one."},
    {.name = "from",
     .argument = "hf",
     .help = "Format of CONFIG. Only hf (config.json of Hugging Face) in this version; "
             "yoke-model/1 documents are told apart by themselves."},
    {.name = "layers",
     .help = "List every layer, not one row for equal ones.",
     .heading = "Output"},
    {.name = NULL},
};

const yoke_command_t yoke_model_command = {
    .name = "model",
    .summary = "the layers of a model: parameters, FLOPs, bytes",
    .usage = "yoke model CONFIG [options]",
    .description =
        "Reads a Hugging Face config.json (or its folder, or weights or an index beside "
        "it), a "
        "yoke-model/1 document, or a bundled model by its bare name. Prints exact "
        "parameter "
        "counts, and for each layer the FLOPs of a forward pass, the bytes of its "
        "weights and "
        "the bytes of activations that training keeps for the backward pass.\n\n"
        "Where weights are there, their names, shapes and bytes are compared with what "
        "the "
        "architecture makes; differences are notices, the counts stay the "
        "architecture's. Only "
        "headers are read. An architecture that is not known is refused with the list of "
        "those that are.",
    .examples = "yoke model llama-3.1-8b\n"
                "    a bundled model\n"
                "yoke model ./Mixtral-8x7B --seq 8192 --dtype fp8\n"
                "    a folder with a config.json, longer sequences, 1-byte weights\n"
                "yoke model config.json -o model.json\n"
                "    write the model document instead of the table\n",
    .options = options,
    .run = run,
};

/* What the table is made for. */
typedef struct view {
    const yoke_model_t *model;
    double batch, sequence;
    yoke_dtype_t dtype;
    bool every; /* --layers */
} view_t;

static int whole(const yoke_args_t *args, const char *name, uint64_t max, uint64_t *out)
{
    const char *text = yoke_args_value(args, name);
    if (text == NULL || yoke_parse_u64(text, strlen(text), 1, max, out))
        return 0;
    return yoke_usage_error(&yoke_model_command,
                            "--%s %s: expected a whole number from 1 to %llu", name, text,
                            (unsigned long long)max);
}

static int read_view(const yoke_args_t *args, view_t *view)
{
    uint64_t sequence = 4096, batch = 1;
    const yoke_model_t *model = view->model;
    if (model->positions != 0 && model->positions < sequence)
        sequence = model->positions;
    int code = whole(args, "seq", 1u << 30, &sequence);
    code = code ? code : whole(args, "batch", 1u << 24, &batch);
    if (code != 0)
        return code;
    view->sequence = (double)sequence;
    view->batch = (double)batch;
    view->every = yoke_args_has(args, "layers");
    view->dtype = YOKE_BF16;
    if (model->dtype != NULL)
        yoke_dtype_parse(model->dtype, &view->dtype);
    const char *dtype = yoke_args_value(args, "dtype");
    if (dtype != NULL && !yoke_dtype_parse(dtype, &view->dtype))
        return yoke_usage_error(
            &yoke_model_command,
            "--dtype %s: expected one of fp64, fp32, tf32, fp16, bf16, fp8, int8", dtype);
    return 0;
}

static yoke_layer_work_t work_of(const view_t *view, size_t layer)
{
    yoke_layer_work_t work;
    yoke_layer_get_work(&view->model->layers[layer], view->batch, view->sequence,
                        yoke_dtype_size(view->dtype), &work);
    return work;
}

/* Layers that are shown in one row: equal ones, wherever they stand in the stack. */
typedef struct row {
    size_t first, count;
    yoke_text_t name; /* "layers.0-3,8" */
} row_t;

enum { MOST_ROWS = 64 }; /* a stack of more kinds of layers gets a row for every run */

static size_t stem_of(const char *name)
{
    size_t stem = strlen(name);
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9')
        stem--;
    return stem;
}

/* Append layers first..last: a comma before, unless the row is new. */
static void row_add(const yoke_model_t *model, row_t *row, size_t first, size_t count)
{
    const char *name = model->layers[first].name;
    const char *last = model->layers[first + count - 1].name;
    if (row->count == 0)
        yoke_text_add(&row->name, name);
    else
        yoke_text_printf(&row->name, ",%s", name + stem_of(name));
    if (count > 1)
        yoke_text_printf(&row->name, "-%s", last + stem_of(last));
    if (row->count == 0)
        row->first = first;
    row->count += count;
}

static row_t *row_for(const view_t *view, row_t *rows, size_t *count, size_t layer)
{
    const yoke_layer_t *layers = view->model->layers;
    for (size_t i = 0; !view->every && i < *count && i < MOST_ROWS; i++)
        if (yoke_layer_equal(&layers[rows[i].first], &layers[layer]))
            return &rows[i];
    return &rows[(*count)++];
}

static bool is_sparse(const yoke_model_t *model)
{
    return model->parameters_active != model->parameters_total;
}

static void print_row(const view_t *view, const row_t *row, yoke_table_t *table)
{
    const yoke_layer_t *layer = &view->model->layers[row->first];
    yoke_layer_work_t work = work_of(view, row->first);
    double weights = (double)layer->parameters * yoke_dtype_size(view->dtype);
    char text[32];
    yoke_table_cell(table, yoke_text_get(&row->name));
    yoke_table_cellf(table, "%zu", row->count);
    yoke_table_cell(table, yoke_show_count(layer->parameters, text));
    if (is_sparse(view->model))
        yoke_table_cell(table, yoke_show_count(layer->active, text));
    yoke_table_cellf(table, "%.1f", (work.matmul_flops + work.attention_flops) / 1e9);
    yoke_table_cell(table, yoke_show_bytes(weights, text));
    yoke_table_cell(table, yoke_show_bytes(work.activation_bytes, text));
}

static yoke_table_t *new_table(const yoke_model_t *model)
{
    static const char *const dense[] = {"~layers", ">x",       ">parameters",
                                        ">GFLOP",  ">weights", ">activations"};
    static const char *const sparse[] = {"~layers", ">x",       ">parameters", ">active",
                                         ">GFLOP",  ">weights", ">activations"};
    return is_sparse(model) ? yoke_table_new(sparse, 7) : yoke_table_new(dense, 6);
}

static yoke_status_t print_layers(const view_t *view, yoke_text_t *out)
{
    const yoke_model_t *model = view->model;
    size_t row_count = 0;
    row_t *rows = calloc(model->layer_count, sizeof *rows);
    if (rows == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < model->layer_count;) {
        size_t count = view->every ? 1 : yoke_model_run(model, i);
        row_add(model, row_for(view, rows, &row_count, i), i, count);
        i += count;
    }
    yoke_table_t *table = new_table(model);
    for (size_t i = 0; i < row_count; i++) {
        print_row(view, &rows[i], table);
        yoke_text_free(&rows[i].name);
    }
    yoke_table_print(table, 80, 0, out);
    yoke_table_free(table);
    free(rows);
    return YOKE_OK;
}

static void print_parameters(const view_t *view, yoke_text_t *out)
{
    const yoke_model_t *model = view->model;
    char text[32], bytes[32];
    double size = (double)yoke_dtype_size(view->dtype);
    yoke_text_printf(
        out, "%s: %s, %zu layers%s\n", model->name == NULL ? "model" : model->name,
        model->architecture == NULL ? "unnamed architecture" : model->architecture,
        model->layer_count, model->tied ? ", head tied to the embedding" : "");
    yoke_text_printf(out, "parameters   %s",
                     yoke_show_count(model->parameters_total, text));
    if (is_sparse(model))
        yoke_text_printf(out, ", of which a token uses %s",
                         yoke_show_count(model->parameters_active, text));
    if (model->parameters_other != 0)
        yoke_text_printf(out, "\n             %s of them in no layer (vision)",
                         yoke_show_count(model->parameters_other, text));
    if (model->parameters_prediction != 0)
        yoke_text_printf(out, "\n             and %s in extra prediction layers",
                         yoke_show_count(model->parameters_prediction, text));
    yoke_text_printf(out, "\nweights      %s in %s\n",
                     yoke_show_bytes((double)model->parameters_total * size, bytes),
                     yoke_dtype_name(view->dtype));
}

static void print_work(const view_t *view, yoke_text_t *out)
{
    double flops = 0, kept = 0, cache = 0, logits = 0;
    char text[4][32];
    for (size_t i = 0; i < view->model->layer_count; i++) {
        yoke_layer_work_t work = work_of(view, i);
        flops += work.matmul_flops + work.attention_flops;
        kept += work.activation_bytes;
        cache += work.cache_bytes;
        logits += work.logit_bytes;
    }
    yoke_text_printf(out, "for %.0f x %.0f tokens:\n", view->batch, view->sequence);
    yoke_text_printf(out, "forward      %s\n", yoke_show_rate(flops, "FLOP", text[0]));
    yoke_text_printf(
        out, "kept         %s of activations for the backward pass, %s of logits\n",
        yoke_show_bytes(kept, text[1]), yoke_show_bytes(logits, text[2]));
    yoke_text_printf(out, "cache        %s when decoding\n\n",
                     yoke_show_bytes(cache, text[3]));
}

static int show_table(const yoke_args_t *args, const yoke_model_t *model)
{
    view_t view = {.model = model};
    yoke_text_t out = {0};
    int code = read_view(args, &view);
    if (code != 0)
        return code;
    print_parameters(&view, &out);
    print_work(&view, &out);
    yoke_status_t status = print_layers(&view, &out);
    yoke_text_add(&out,
                  "GFLOP (forward), weights and activations are those of one layer.\n");
    if (status == YOKE_OK)
        status =
            out.failed ? yoke_fail_memory() : yoke_write_output("-", yoke_text_get(&out));
    yoke_text_free(&out);
    return yoke_status_exit_code(status);
}

static int write_document(const yoke_model_t *model, const char *path)
{
    char *text = NULL;
    yoke_status_t status = yoke_model_text(model, &text);
    if (status == YOKE_OK)
        status = yoke_write_output(path, text);
    free(text);
    return yoke_status_exit_code(status);
}

static int show(const yoke_args_t *args, const yoke_model_t *model)
{
    const char *json = yoke_args_value(args, "json");
    for (size_t i = 0; i < model->notice_count; i++)
        fprintf(stderr, "yoke model: notice: %s\n", model->notices[i]);
    return json != NULL ? write_document(model, json) : show_table(args, model);
}

static int check_usage(const yoke_args_t *args)
{
    const char *from = yoke_args_value(args, "from");
    if (args->positional_count == 0)
        return yoke_usage_error(&yoke_model_command,
                                "no model given; give a config.json, its folder, or a "
                                "bundled name such as llama-3.1-8b");
    if (args->positional_count > 1)
        return yoke_usage_error(&yoke_model_command, "one model at a time, found also %s",
                                args->positional[1]);
    if (from != NULL && strcmp(from, "hf") != 0)
        return yoke_usage_error(&yoke_model_command,
                                "--from %s: only hf can be read in this version", from);
    return 0;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    yoke_model_t *model = NULL;
    int code = 0;
    if (!yoke_args_parse(&yoke_model_command, argc, argv, &args, &code))
        return code;
    code = check_usage(&args);
    if (code == 0) {
        yoke_model_options_t wanted = {.struct_size = sizeof wanted,
                                       .prediction_layers =
                                           yoke_args_has(&args, "with-prediction"),
                                       .index = yoke_args_value(&args, "index")};
        code =
            yoke_status_exit_code(yoke_model_read(args.positional[0], &wanted, &model));
    }
    if (code == 0)
        code = show(&args, model);
    yoke_model_free(model);
    yoke_args_free(&args);
    return code;
}
