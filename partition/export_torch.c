/* SPDX-License-Identifier: Apache-2.0 */
/* torchtitan: keys of the plan in its TOML, on the user's file. */
#include "partition/export_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

enum { MOST_KEYS = 32 };

typedef struct key {
    const char *section, *name;
    char *value;
} toml_key_t;

typedef struct keys {
    toml_key_t items[MOST_KEYS];
    size_t count;
    bool failed;
} keys_t;

static void set(keys_t *keys, const char *section, const char *name, char *value)
{
    keys->failed = keys->failed || value == NULL || keys->count == MOST_KEYS;
    if (keys->failed)
        free(value);
    else
        keys->items[keys->count++] = (toml_key_t){section, name, value};
}

static void set_number(keys_t *keys, const char *section, const char *name,
                       uint64_t value)
{
    set(keys, section, name, yoke_format("%llu", (unsigned long long)value));
}

static void set_text(keys_t *keys, const char *section, const char *name,
                     const char *value)
{
    set(keys, section, name, yoke_format("\"%s\"", value));
}

/* Modules of each stage by their names in torchtitan's decoder models. */
static char *modules(const yoke_exporter_t *export)
{
    yoke_text_t text = {0};
    unsigned decoder = 0;
    yoke_text_add(&text, "[");
    for (unsigned s = 0; s < export->stages; s++) {
        const yoke_stage_t *stage = &export->replay.layout.pipelines[0].stages[s];
        yoke_text_add(&text, s > 0 ? ", [" : "[");
        for (unsigned l = stage->first; l <= stage->last; l++) {
            const char *comma = l > stage->first ? ", " : "";
            switch (export->model->layers[l].kind) {
            case YOKE_LAYER_EMBEDDING:
                yoke_text_printf(&text, "%s\"tok_embeddings\"", comma);
                break;
            case YOKE_LAYER_HEAD:
                yoke_text_printf(&text, "%s\"norm\", \"output\"", comma);
                break;
            default:
                yoke_text_printf(&text, "%s\"layers.%u\"", comma, decoder++);
            }
        }
        yoke_text_add(&text, "]");
    }
    yoke_text_add(&text, "]");
    char *copy = text.failed ? NULL : yoke_strdup(yoke_text_get(&text));
    yoke_text_free(&text);
    return copy;
}

static void set_all(const yoke_exporter_t *export, keys_t *keys)
{
    const yoke_plan_t *plan = export->plan;
    const yoke_pipeline_t *pipeline = &export->replay.layout.pipelines[0];
    const yoke_replica_t *replica = &pipeline->stages[0].replicas[0];
    bool piped = export->stages > 1;
    set_number(keys, "training", "seq_len", plan->sequence);
    set_number(keys, "training", "global_batch_size", plan->global_batch);
    set_number(keys, "training", "local_batch_size",
               (uint64_t)replica->micro_batch * (piped ? pipeline->micro_batches : 1));
    set_text(keys, "training", "mixed_precision_param",
             plan->dtype == YOKE_BF16 ? "bfloat16" : "float32");
    set_number(keys, "parallelism", "tensor_parallel_degree", replica->tp);
    set_number(keys, "parallelism", "context_parallel_degree", 1);
    set_number(keys, "parallelism", "data_parallel_replicate_degree",
               plan->sharded_optimizer ? 1 : export->replicas);
    set_number(keys, "parallelism", "data_parallel_shard_degree",
               plan->sharded_optimizer ? export->replicas : 1);
    set_text(keys, "parallelism", "fsdp_reshard_after_forward", "never");
    set_number(keys, "parallelism", "pipeline_parallel_degree", export->stages);
    if (piped) {
        set_text(keys, "parallelism", "pipeline_parallel_schedule", "1F1B");
        set_number(keys, "parallelism", "pipeline_parallel_microbatch_size",
                   replica->micro_batch);
        set(keys, "parallelism", "module_fqns_per_model_part", modules(export));
    }
    set_text(keys, "activation_checkpoint", "mode",
             pipeline->stages[0].recompute == YOKE_RECOMPUTE_FULL ? "full" : "none");
}

/* --- on the user's file --------------------------------------------------------------
 */

static void add_section(const keys_t *keys, const char *section, yoke_text_t *out)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->items[i].section, section) == 0)
            yoke_text_printf(out, "%s = %s\n", keys->items[i].name, keys->items[i].value);
}

/* Does a line of a section set one of the keys? */
static bool is_ours(const keys_t *keys, const char *section, const char *line,
                    size_t size)
{
    size_t begin = 0;
    while (begin < size && (line[begin] == ' ' || line[begin] == '\t'))
        begin++;
    for (size_t i = 0; i < keys->count; i++) {
        const char *name = keys->items[i].name;
        size_t length = strlen(name);
        if (strcmp(keys->items[i].section, section) != 0 || size - begin <= length ||
            strncmp(line + begin, name, length) != 0)
            continue;
        size_t after = begin + length;
        while (after < size && (line[after] == ' ' || line[after] == '\t'))
            after++;
        if (after < size && line[after] == '=')
            return true;
    }
    return false;
}

/* Brackets that a line leaves open: its value goes on below. */
static int open_brackets(const char *line, size_t size)
{
    int open = 0;
    char quote = '\0';
    for (size_t i = 0; i < size && (quote != '\0' || line[i] != '#'); i++) {
        if (quote != '\0')
            quote = line[i] == quote ? '\0' : quote;
        else if (line[i] == '"' || line[i] == '\'')
            quote = line[i];
        else
            open += (line[i] == '[') - (line[i] == ']');
    }
    return open;
}

static void begin_section(const keys_t *keys, const char *line, size_t size,
                          char section[64], unsigned *done, yoke_text_t *out)
{
    static const char *const sections[] = {"training", "parallelism",
                                           "activation_checkpoint"};
    size_t begin = 1, length = 0;
    while (begin + length < size && line[begin + length] != ']')
        length++;
    yoke_snprintf(section, 64, "%.*s", (int)(length < 63 ? length : 63), line + begin);
    yoke_text_add_bytes(out, line, size);
    yoke_text_add(out, "\n");
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(sections[i], section) == 0) {
            *done |= 1u << i;
            add_section(keys, section, out);
        }
}

static void add_rest(const keys_t *keys, unsigned done, yoke_text_t *out)
{
    static const char *const sections[] = {"training", "parallelism",
                                           "activation_checkpoint"};
    for (unsigned i = 0; i < 3; i++)
        if ((done & 1u << i) == 0) {
            yoke_text_printf(out, "\n[%s]\n", sections[i]);
            add_section(keys, sections[i], out);
        }
}

static yoke_status_t merge_base(const keys_t *keys, const char *path, yoke_text_t *out)
{
    char *data = NULL, section[64] = "";
    size_t size = 0;
    unsigned done = 0, line_number = 0;
    int open = 0;
    bool dropping = false;
    yoke_status_t status = yoke_file_read(path, 1u << 20, &data, &size);
    if (status != YOKE_OK)
        return status;
    for (const char *at = data; *at != '\0' && status == YOKE_OK;) {
        size_t length = strcspn(at, "\n");
        line_number++;
        if (open == 0)
            dropping = is_ours(keys, section, at, length);
        if (open == 0 && at[0] == '[' && !dropping) {
            begin_section(keys, at, length, section, &done, out);
        } else {
            open += open_brackets(at, length);
            if (open < 0)
                status = yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%u: ']' closes nothing", path,
                                   line_number);
            if (!dropping) {
                yoke_text_add_bytes(out, at, length);
                yoke_text_add(out, "\n");
            }
        }
        at += length + (at[length] == '\n');
    }
    if (status == YOKE_OK && open > 0)
        status =
            yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%u: '[' is not closed", path, line_number);
    free(data);
    add_rest(keys, done, out);
    return status;
}

yoke_status_t yoke_export_torch(yoke_exporter_t *export)
{
    keys_t keys = {.count = 0};
    yoke_text_t toml = {0}, run = {0};
    yoke_status_t status = YOKE_OK;
    set_all(export, &keys);
    if (keys.failed)
        status = yoke_fail_memory();
    else if (export->options->base != NULL)
        status = merge_base(&keys, export->options->base, &toml);
    else
        add_rest(&keys, 0, &toml);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "train.toml", &toml, false);
    yoke_text_add(&run, "#!/usr/bin/env bash\n"
                        "# torchtitan by the plan, on every host of ./hosts.\n"
                        "set -euo pipefail\n"
                        "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
                        "exec \"$here/launch.sh\" -m torchtitan.train "
                        "--job.config_file \"$here/train.toml\" \"$@\"\n");
    if (status == YOKE_OK)
        status = yoke_export_add(export, "run.sh", &run, true);
    if (status == YOKE_OK)
        status = yoke_export_launchers(export);
    for (size_t i = 0; i < keys.count; i++)
        free(keys.items[i].value);
    yoke_text_free(&toml);
    yoke_text_free(&run);
    if (status == YOKE_OK)
        export->out.start = yoke_strdup("sbatch job.sbatch, or ./run.sh on every host");
    return status;
}
