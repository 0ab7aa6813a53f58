/* SPDX-License-Identifier: Apache-2.0 */
/* From rows of a table to runs. What a row does not say is named, not guessed. */
#include "partition/run_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

bool yoke_run_refuse(yoke_run_reader_t *reader, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (reader->reason[0] == '\0')
        yoke_vsnprintf(reader->reason, sizeof reader->reason, format, args);
    va_end(args);
    return false;
}

const char *yoke_run_field_text(const yoke_run_reader_t *reader, const char *column)
{
    const char *text = yoke_csv_get(&reader->set->csv, reader->row, column);
    return text != NULL ? text : "";
}

bool yoke_run_number(yoke_run_reader_t *reader, const char *column, double min,
                     double max, double *out)
{
    const char *text = yoke_run_field_text(reader, column);
    char *end = NULL;
    double value = strtod(text, &end);
    if (text[0] == '\0')
        return yoke_run_refuse(reader, "%s is empty", column);
    if (*end != '\0' || !(value >= min && value <= max))
        return yoke_run_refuse(reader, "%s is \"%.40s\", expected a number from %g to %g",
                               column, text, min, max);
    *out = value;
    return true;
}

bool yoke_run_whole(yoke_run_reader_t *reader, const char *column, unsigned max,
                    unsigned *out)
{
    double value;
    if (!yoke_run_number(reader, column, 1, max, &value))
        return false;
    *out = (unsigned)value;
    if ((double)*out != value)
        return yoke_run_refuse(reader, "%s is not a whole number", column);
    return true;
}

/* "experts=8;topk=2": a value by its key, or `absent`. */
static unsigned moe_value(const char *text, const char *key, unsigned absent)
{
    size_t size = strlen(key);
    for (const char *at = text; at != NULL && *at != '\0';) {
        if (strncmp(at, key, size) == 0 && at[size] == '=')
            return (unsigned)strtoul(at + size + 1, NULL, 10);
        at = strpbrk(at, ";,:");
        at = at != NULL ? at + 1 : NULL;
    }
    return absent;
}

static void write_experts(const yoke_run_sizes_t *sizes, yoke_text_t *out)
{
    unsigned width = moe_value(sizes->moe, "moe_ffn", sizes->ffn);
    unsigned shared = moe_value(sizes->moe, "shared_ffn", 0);
    unsigned count = moe_value(sizes->moe, "shared", 0);
    unsigned dense = moe_value(sizes->moe, "dense_layers", 0);
    unsigned latent = moe_value(sizes->moe, "kv_lora", 0);
    if (shared > 0 && width > 0)
        count = (shared + width - 1) / width;
    bool deepseek = latent > 0 || dense > 0 || count > 0;
    yoke_text_printf(out,
                     "\"architectures\":[\"%s\"],\"%s\":%u,\"num_experts_per_tok\":%u,"
                     "\"moe_intermediate_size\":%u,",
                     deepseek ? "DeepseekV3ForCausalLM" : "Qwen3MoeForCausalLM",
                     deepseek ? "n_routed_experts" : "num_experts",
                     moe_value(sizes->moe, "experts", 0),
                     moe_value(sizes->moe, "topk", 1), width);
    if (!deepseek)
        return;
    /* Without latent attention the widths are those of plain heads. */
    unsigned q = moe_value(sizes->moe, "q_lora", 0);
    yoke_text_printf(
        out,
        "\"n_shared_experts\":%u,\"first_k_dense_replace\":%u,"
        "\"kv_lora_rank\":%u,\"qk_nope_head_dim\":%u,"
        "\"qk_rope_head_dim\":%u,\"v_head_dim\":%u,",
        count, dense, latent > 0 ? latent : 512, moe_value(sizes->moe, "qk_nope", 128),
        moe_value(sizes->moe, "qk_rope", 64), moe_value(sizes->moe, "v", 128));
    if (q > 0)
        yoke_text_printf(out, "\"q_lora_rank\":%u,", q);
}

static void write_config(const yoke_run_sizes_t *sizes, bool tied, yoke_text_t *out)
{
    yoke_text_add(out, "{");
    if (sizes->moe[0] != '\0')
        write_experts(sizes, out);
    else if (sizes->gated)
        yoke_text_add(out, "\"architectures\":[\"LlamaForCausalLM\"],");
    else
        yoke_text_printf(
            out,
            "\"architectures\":[\"GPT2LMHeadModel\"],\"n_embd\":%u,"
            "\"n_layer\":%u,\"n_head\":%u,\"n_inner\":%u,\"n_positions\":%u,",
            sizes->hidden, sizes->layers, sizes->heads, sizes->ffn, sizes->seq);
    if (sizes->gated || sizes->moe[0] != '\0')
        yoke_text_printf(out,
                         "\"hidden_size\":%u,\"num_hidden_layers\":%u,"
                         "\"num_attention_heads\":%u,\"num_key_value_heads\":%u,"
                         "\"head_dim\":%u,\"intermediate_size\":%u,",
                         sizes->hidden, sizes->layers, sizes->heads, sizes->kv_heads,
                         sizes->head_dim, sizes->ffn);
    yoke_text_printf(out, "\"vocab_size\":%u,\"tie_word_embeddings\":%s}", sizes->vocab,
                     tied ? "true" : "false");
}

static bool read_sizes(yoke_run_reader_t *reader, yoke_run_sizes_t *out)
{
    double gated = 0;
    *out = (yoke_run_sizes_t){.moe = yoke_run_field_text(reader, "moe")};
    if (!yoke_run_whole(reader, "layers", 4096, &out->layers) ||
        !yoke_run_whole(reader, "hidden", 1u << 20, &out->hidden) ||
        !yoke_run_whole(reader, "heads", 1u << 16, &out->heads) ||
        !yoke_run_whole(reader, "vocab", 1u << 26, &out->vocab) ||
        !yoke_run_whole(reader, "seq", 1u << 26, &out->seq) ||
        !yoke_run_number(reader, "gated_mlp", 0, 1, &gated))
        return false;
    out->gated = gated != 0;
    bool experts_only =
        out->moe[0] != '\0' && yoke_run_field_text(reader, "ffn")[0] == '\0';
    if (experts_only)
        out->ffn = moe_value(out->moe, "moe_ffn", 1);
    else if (!yoke_run_whole(reader, "ffn", 1u << 24, &out->ffn))
        return false;
    out->kv_heads = out->heads;
    out->head_dim = out->hidden / out->heads;
    if (yoke_run_field_text(reader, "kv_heads")[0] != '\0' &&
        !yoke_run_whole(reader, "kv_heads", 1u << 16, &out->kv_heads))
        return false;
    if (yoke_run_field_text(reader, "head_dim")[0] != '\0' &&
        !yoke_run_whole(reader, "head_dim", 1u << 16, &out->head_dim))
        return false;
    if (!out->gated && out->moe[0] == '\0' && out->kv_heads != out->heads)
        return yoke_run_refuse(reader,
                               "kv_heads differ from heads without a gated MLP: no such "
                               "model is known");
    return true;
}

/* Models are made once for equal sizes. */
bool yoke_run_get_model(yoke_run_reader_t *reader, const yoke_run_sizes_t *sizes,
                        const yoke_model_t **out)
{
    yoke_run_set_t *set = reader->set;
    yoke_text_t key = {0};
    write_config(sizes, !sizes->gated && sizes->moe[0] == '\0', &key);
    for (size_t i = set->model_count; i-- > 0;)
        if (strcmp(set->models[i].key, yoke_text_get(&key)) == 0) {
            yoke_text_free(&key);
            *out = set->models[i].model;
            return true;
        }
    struct yoke_run_model *more =
        realloc(set->models, (set->model_count + 1) * sizeof *more);
    yoke_model_t *model = NULL;
    if (more != NULL)
        set->models = more;
    yoke_fail_quiet(true);
    yoke_status_t status =
        more == NULL || key.failed
            ? YOKE_ERR_NO_MEMORY
            : yoke_model_parse("row", key.data, key.size, NULL, &model);
    yoke_fail_quiet(false);
    if (status != YOKE_OK) {
        yoke_text_free(&key);
        return yoke_run_refuse(reader, "its sizes make no model: %s", yoke_last_error());
    }
    set->models[set->model_count++] =
        (struct yoke_run_model){.key = key.data, .model = model};
    *out = model;
    return true;
}

bool yoke_run_recompute(yoke_run_reader_t *reader, const char *text,
                        yoke_recompute_t *out)
{
    static const char *const names[] = {"none", "selective", "full"};
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (yoke_recompute_t)i;
            return true;
        }
    if (text[0] == '\0')
        return yoke_run_refuse(reader, "recompute is empty");
    return yoke_run_refuse(
        reader, "recompute is \"%.40s\", expected none, selective or full", text);
}

static bool read_precision(yoke_run_reader_t *reader, yoke_run_t *run)
{
    const char *text = yoke_run_field_text(reader, "precision");
    run->dtype = strcmp(text, "fp16") == 0   ? YOKE_FP16
                 : strcmp(text, "fp32") == 0 ? YOKE_FP32
                                             : YOKE_BF16;
    run->fp8 = strncmp(text, "fp8", 3) == 0 || strcmp(text, "mxfp8") == 0 ||
               strcmp(text, "bf16+fp8") == 0;
    if (text[0] == '\0')
        return yoke_run_refuse(reader, "precision is empty");
    if (!run->fp8 && strcmp(text, "bf16") != 0 && strcmp(text, "fp16") != 0 &&
        strcmp(text, "fp32") != 0)
        return yoke_run_refuse(reader, "precision \"%.40s\" is not modelled", text);
    return true;
}

double yoke_run_parse_network(const char *text, unsigned per_node)
{
    const char *unit = strstr(text, "Gbps");
    if (unit == NULL || unit == text)
        return 0;
    const char *begin = unit;
    while (begin > text && ((begin[-1] >= '0' && begin[-1] <= '9') || begin[-1] == '.'))
        begin--;
    double rate = strtod(begin, NULL) * 1e9 / 8;
    if (strncmp(unit, "Gbps/node", 9) == 0)
        return rate;
    if (strncmp(unit, "Gbps/GPU", 8) == 0)
        return rate * per_node;
    /* "4x100Gbps", "8x HDR 200Gbps": the count stands before the nearest x. */
    for (const char *at = begin; at > text; at--)
        if (at[-1] == 'x' && at - 1 > text && at[-2] >= '0' && at[-2] <= '9') {
            const char *digits = at - 1;
            while (digits > text && digits[-1] >= '0' && digits[-1] <= '9')
                digits--;
            return rate * strtod(digits, NULL);
        } else if (at[-1] == ';' || at[-1] == ':') {
            break;
        }
    return rate * per_node;
}

/* A table of memory has no column for it: where devices stand does not matter there. */
static bool read_per_node(yoke_run_reader_t *reader, unsigned *out)
{
    *out = UINT_MAX;
    return yoke_csv_column(&reader->set->csv, "devices_per_node") < 0 ||
           yoke_run_whole(reader, "devices_per_node", 1024, out);
}

static bool read_degrees(yoke_run_reader_t *reader, yoke_run_t *run)
{
    double zero = 0, parallel = 0;
    if (!yoke_run_whole(reader, "n_devices", 1u << 20, &run->devices) ||
        !read_per_node(reader, &run->per_node) ||
        !yoke_run_whole(reader, "tp", 1024, &run->tp) ||
        !yoke_run_whole(reader, "pp", 1024, &run->pp) ||
        !yoke_run_whole(reader, "dp", 1u << 20, &run->dp) ||
        !yoke_run_whole(reader, "cp", 1024, &run->cp) ||
        !yoke_run_whole(reader, "ep", 1024, &run->ep) ||
        !yoke_run_whole(reader, "vpp", 256, &run->chunks) ||
        !yoke_run_number(reader, "micro_batch", 1e-3, 1e6, &run->micro_batch) ||
        !yoke_run_number(reader, "global_batch", 1, 1e9, &run->global_batch) ||
        !yoke_run_number(reader, "zero_stage", 0, 3, &zero) ||
        !yoke_run_number(reader, "sequence_parallel", 0, 1, &parallel) ||
        !read_precision(reader, run))
        return false;
    if (!yoke_run_recompute(reader, yoke_run_field_text(reader, "recompute"),
                            &run->recompute))
        return false;
    run->zero = (unsigned)zero;
    run->sequence_parallel = parallel != 0;
    if ((double)run->tp * run->pp * run->dp * run->cp != run->devices)
        return yoke_run_refuse(reader, "tp x pp x dp x cp is not n_devices");
    return true;
}

static bool read_device(yoke_run_reader_t *reader, yoke_run_t *run,
                        yoke_inventory_device_t *out_device)
{
    run->device_name = yoke_run_field_text(reader, "device");
    if (run->device_name[0] == '\0')
        return yoke_run_refuse(reader, "device is empty");
    if (!yoke_profiles_device(reader->profiles, run->device_name, out_device))
        return yoke_run_refuse(reader, "device \"%.60s\" is not in the catalog",
                               run->device_name);
    return true;
}

static bool make_stages(yoke_run_reader_t *reader, yoke_run_t *run, unsigned layers,
                        const yoke_inventory_device_t *device)
{
    if (run->pp > layers)
        return yoke_run_refuse(reader, "pp is more than the layers");
    run->stages = calloc(run->pp, sizeof *run->stages);
    if (run->stages == NULL)
        return yoke_run_refuse(reader, "no memory");
    run->stage_count = run->pp;
    for (unsigned s = 0; s < run->pp; s++)
        run->stages[s] = (yoke_run_stage_t){.device = *device,
                                            .tp = run->tp,
                                            .replicas = run->dp,
                                            .layers = (s + 1) * layers / run->pp -
                                                      s * layers / run->pp};
    return true;
}

bool yoke_run_apply(yoke_run_reader_t *reader, yoke_run_t *run)
{
    yoke_profile_effect_t effect;
    yoke_text_t names = {0};
    yoke_profiles_apply(reader->profiles, run->framework, run->device_name,
                        yoke_run_field_text(reader, "precision"), run->notes, &effect,
                        &names);
    run->profiles = names.data;
    run->constants = effect.constants;
    if (run->network <= 0)
        run->network = effect.network;
    run->said_recompute = effect.recompute;
    run->said_type = effect.type;
    if (run->pp > 1 && effect.pipeline_micro_batch > 0)
        run->micro_batch = effect.pipeline_micro_batch;
    if (run->devices > run->per_node && run->network <= 0)
        return yoke_run_refuse(reader, "network does not say the rate of a node");
    return true;
}

static bool read_run(yoke_run_reader_t *reader, yoke_run_t *run)
{
    yoke_run_sizes_t sizes;
    yoke_inventory_device_t device;
    run->source = yoke_run_field_text(reader, "source");
    run->framework = yoke_run_field_text(reader, "framework");
    run->model_name = yoke_run_field_text(reader, "model");
    run->notes = yoke_run_field_text(reader, "notes");
    if (!read_sizes(reader, &sizes) || !read_degrees(reader, run) ||
        !read_device(reader, run, &device) ||
        !yoke_run_get_model(reader, &sizes, &run->model) ||
        !make_stages(reader, run, sizes.layers, &device))
        return false;
    for (size_t i = 0; i < run->model->layer_count; i++)
        if (!yoke_layer_can_shard(&run->model->layers[i], run->tp))
            return yoke_run_refuse(reader, "tp %u does not divide its heads or widths",
                                   run->tp);
    run->sequence = sizes.seq;
    run->network =
        yoke_run_parse_network(yoke_run_field_text(reader, "network"), run->per_node);
    double value;
    if (yoke_run_field_text(reader, "iteration_time_s")[0] != '\0') {
        if (!yoke_run_number(reader, "iteration_time_s", 1e-9, 1e9, &value))
            return false;
        run->time = value;
    }
    if (yoke_run_field_text(reader, "measured_gib")[0] != '\0') {
        if (!yoke_run_number(reader, "measured_gib", 1e-6, 1e6, &value))
            return false;
        run->memory = value * 1073741824.0;
    }
    return yoke_run_apply(reader, run);
}

static yoke_status_t add_row(yoke_run_reader_t *reader)
{
    yoke_run_set_t *set = reader->set;
    yoke_run_t run = {.row = reader->row, .line = set->csv.lines[reader->row + 1]};
    reader->reason[0] = '\0';
    if (reader->mixed ? yoke_run_read_mixed(reader, &run) : read_run(reader, &run)) {
        set->runs[set->run_count++] = run;
        return YOKE_OK;
    }
    free(run.stages);
    free(run.profiles);
    yoke_run_miss_t *entry = &set->misses[set->miss_count];
    *entry = (yoke_run_miss_t){
        .row = run.row,
        .line = run.line,
        .source = yoke_run_field_text(reader, reader->mixed ? "system" : "source"),
        .reason = yoke_strdup(reader->reason)};
    set->miss_count += entry->reason != NULL ? 1 : 0;
    return entry->reason != NULL ? YOKE_OK : yoke_fail_memory();
}

static yoke_status_t check_columns(const yoke_csv_t *csv, bool mixed)
{
    static const char *const needed[] = {
        "source", "layers", "hidden",      "heads",        "ffn",       "seq",
        "vocab",  "device", "n_devices",   "gated_mlp",    "precision", "tp",
        "pp",     "dp",     "micro_batch", "global_batch", "recompute", NULL};
    static const char *const plans[] = {"system",        "model",       "seq_len",
                                        "global_batch",  "micro_batch", "layer_split",
                                        "stage_devices", NULL};
    const char *const *names = mixed ? plans : needed;
    for (size_t i = 0; names[i] != NULL; i++)
        if (yoke_csv_column(csv, names[i]) < 0)
            return yoke_fail(YOKE_ERR_BAD_INPUT,
                             "%s:1: no column \"%s\"; docs/accuracy.md names the columns",
                             csv->name, names[i]);
    return YOKE_OK;
}

yoke_status_t yoke_run_set_read(yoke_csv_t *csv, const yoke_profiles_t *profiles,
                                yoke_run_set_t *out_set)
{
    yoke_run_set_t set = {.csv = *csv};
    *csv = (yoke_csv_t){0};
    yoke_run_reader_t reader = {.set = &set, .profiles = profiles};
    reader.mixed = yoke_csv_column(&set.csv, "stage_devices") >= 0;
    yoke_status_t status = check_columns(&set.csv, reader.mixed);
    if (status == YOKE_OK) {
        set.runs = calloc(set.csv.rows + 1, sizeof *set.runs);
        set.misses = calloc(set.csv.rows + 1, sizeof *set.misses);
        if (set.runs == NULL || set.misses == NULL)
            status = yoke_fail_memory();
    }
    for (; status == YOKE_OK && reader.row < set.csv.rows; reader.row++)
        status = add_row(&reader);
    if (status != YOKE_OK) {
        yoke_run_set_free(&set);
        return status;
    }
    *out_set = set;
    return YOKE_OK;
}

void yoke_run_set_free(yoke_run_set_t *set)
{
    for (size_t i = 0; i < set->run_count; i++) {
        free(set->runs[i].stages);
        free(set->runs[i].profiles);
    }
    for (size_t i = 0; i < set->miss_count; i++)
        free(set->misses[i].reason);
    for (size_t i = 0; i < set->model_count; i++) {
        free(set->models[i].key);
        yoke_model_free(set->models[i].model);
    }
    free(set->runs);
    free(set->misses);
    free(set->models);
    yoke_csv_free(&set->csv);
    *set = (yoke_run_set_t){0};
}
