/* SPDX-License-Identifier: Apache-2.0 */
/* Which architecture a config.json is of, and its import from end to end. */
#include "costmodel/arch.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/text.h"
#include "costmodel/model_parts.h"

const arch_t *const arch_all[] = {&arch_llama,
                                  &arch_mistral,
                                  &arch_mixtral,
                                  &arch_qwen,
                                  &arch_qwen2,
                                  &arch_qwen2_moe,
                                  &arch_qwen3,
                                  &arch_qwen3_moe,
                                  &arch_qwen3_next,
                                  &arch_qwen3_vl,
                                  &arch_deepseek_v3,
                                  &arch_deepseek_v32,
                                  &arch_gemma,
                                  &arch_gemma2,
                                  &arch_gemma3,
                                  &arch_gemma3_vision,
                                  &arch_gpt2,
                                  &arch_gpt_bigcode,
                                  &arch_gptj,
                                  &arch_gpt_neox,
                                  &arch_gpt_oss,
                                  &arch_mpt,
                                  &arch_phi,
                                  &arch_phi3,
                                  &arch_llama4,
                                  &arch_baichuan,
                                  &arch_internlm,
                                  &arch_minicpm,
                                  &arch_decilm,
                                  &arch_nemotron_h,
                                  NULL};

const char *const *yoke_model_architectures(void)
{
    /* Written in the same order as arch_all; a test compares both. */
    static const char *const names[] = {"LlamaForCausalLM",
                                        "MistralForCausalLM",
                                        "MixtralForCausalLM",
                                        "QWenLMHeadModel",
                                        "Qwen2ForCausalLM",
                                        "Qwen2MoeForCausalLM",
                                        "Qwen3ForCausalLM",
                                        "Qwen3MoeForCausalLM",
                                        "Qwen3NextForCausalLM",
                                        "Qwen3VLForConditionalGeneration",
                                        "DeepseekV3ForCausalLM",
                                        "DeepseekV32ForCausalLM",
                                        "GemmaForCausalLM",
                                        "Gemma2ForCausalLM",
                                        "Gemma3ForCausalLM",
                                        "Gemma3ForConditionalGeneration",
                                        "GPT2LMHeadModel",
                                        "GPTBigCodeForCausalLM",
                                        "GPTJForCausalLM",
                                        "GPTNeoXForCausalLM",
                                        "GptOssForCausalLM",
                                        "MptForCausalLM",
                                        "PhiForCausalLM",
                                        "Phi3ForCausalLM",
                                        "Llama4ForConditionalGeneration",
                                        "BaiChuanForCausalLM",
                                        "InternLMForCausalLM",
                                        "MiniCPMForCausalLM",
                                        "DeciLMForCausalLM",
                                        "NemotronHForCausalLM",
                                        NULL};
    return names;
}

/* BaiChuanForCausalLM was renamed BaichuanForCausalLM: letter case does not matter. */
static const arch_t *by_name(const char *name)
{
    for (size_t i = 0; arch_all[i] != NULL; i++)
        if (strcasecmp(arch_all[i]->name, name) == 0)
            return arch_all[i];
    return NULL;
}

static bool has_type(const arch_t *arch, const char *type)
{
    for (size_t i = 0; i < 3 && arch->model_types[i] != NULL; i++)
        if (strcmp(arch->model_types[i], type) == 0)
            return true;
    return false;
}

static const arch_t *by_type(const char *type)
{
    for (size_t i = 0; arch_all[i] != NULL; i++)
        if (has_type(arch_all[i], type))
            return arch_all[i];
    return NULL;
}

static yoke_status_t fail_unknown(const yoke_cursor_t *top, const char *what,
                                  const char *name)
{
    yoke_text_t known = {0};
    const char *const *names = yoke_model_architectures();
    for (size_t i = 0; names[i] != NULL; i++)
        yoke_text_printf(&known, "%s%s", i == 0 ? "" : ", ", names[i]);
    const char *nearest = yoke_nearest(name, names);
    yoke_status_t status = yoke_fail(
        YOKE_ERR_UNSUPPORTED, "%s: /%s: \"%.100s\" is not known%s%s%s; known are: %s",
        top->file, what, name, nearest == NULL ? "" : "; did you mean ",
        nearest == NULL ? "" : nearest, nearest == NULL ? "" : "?",
        yoke_text_get(&known));
    yoke_text_free(&known);
    return status;
}

/* Files of other formats that people keep beside the real one, by keys they cannot hide.
 */
static yoke_status_t fail_foreign(const yoke_cursor_t *top)
{
    static const struct {
        const char *keys[4];
        const char *what;
    } foreign[] = {
        {{"dim", "inter_dim", "n_layers"},
         "the model arguments of DeepSeek's own inference code; use the config.json of "
         "the "
         "same model in Hugging Face format"},
        {{"dim", "n_layers", "n_heads", "norm_eps"},
         "a params.json of Meta's or Mistral's own code; use the config.json of the same "
         "model in Hugging Face format"},
        {{"num_layers", "hidden_size", "ffn_hidden_size"},
         "Megatron-LM arguments; use the config.json of the same model in Hugging Face "
         "format"},
        {{"weight_map"},
         "a safetensors index, which has no sizes; give the folder that also holds the "
         "config.json"},
        {{"nodes"}, "not a model but an inventory"},
        {{"pipelines"}, "not a model but a plan"}};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        bool all = true;
        for (size_t k = 0; k < 4 && foreign[i].keys[k] != NULL; k++)
            all = all && json_object_get(top->value, foreign[i].keys[k]) != NULL;
        if (all)
            return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: this is %s", top->file,
                             foreign[i].what);
    }
    return yoke_cursor_fail(
        top, NULL,
        "neither \"architectures\" nor \"model_type\": not a config.json "
        "of the Hugging Face format, nor a yoke-model/1 document");
}

/* The first entry of "architectures" decides; without one, "model_type". */
static yoke_status_t choose(const yoke_cursor_t *top, const arch_t **out_arch,
                            const char **out_name, const char **out_type)
{
    yoke_cursor_t list;
    const char *type = NULL;
    yoke_status_t status = yoke_opt_string(top, "model_type", &type);
    if (status != YOKE_OK)
        return status;
    *out_type = type;
    if (!yoke_cursor_member(top, "architectures", &list)) {
        if (type == NULL)
            return fail_foreign(top);
        *out_arch = by_type(type);
        if (*out_arch == NULL)
            return fail_unknown(top, "model_type", type);
        *out_name = (*out_arch)->name;
        return YOKE_OK;
    }
    status = yoke_cursor_array(&list);
    if (status != YOKE_OK)
        return status;
    yoke_cursor_t first = yoke_cursor_item(&list, 0);
    if (!json_is_string(first.value))
        return yoke_cursor_fail(&list, NULL, "must name an architecture");
    *out_name = json_string_value(first.value);
    *out_arch = by_name(*out_name);
    return *out_arch == NULL ? fail_unknown(top, "architectures/0", *out_name) : YOKE_OK;
}

static const struct {
    const char *file, *ours;
} dtypes[] = {{"bfloat16", "bf16"},     {"float16", "fp16"},    {"half", "fp16"},
              {"float32", "fp32"},      {"float", "fp32"},      {"float64", "fp64"},
              {"float8_e4m3fn", "fp8"}, {"float8_e5m2", "fp8"}, {"int8", "int8"}};

static yoke_status_t read_dtype(arch_import_t *import)
{
    const char *text = NULL;
    const yoke_cursor_t *const places[] = {&import->top, &import->config};
    static const char *const keys[] = {"torch_dtype", "dtype"};
    for (size_t i = 0; i < 2 && text == NULL; i++)
        for (size_t k = 0; k < 2 && text == NULL; k++) {
            yoke_status_t status = yoke_opt_string(places[i], keys[k], &text);
            if (status != YOKE_OK)
                return status;
        }
    const char *method = NULL;
    yoke_cursor_t quantised;
    if (yoke_cursor_member(&import->top, "quantization_config", &quantised) &&
        json_is_object(quantised.value)) {
        yoke_status_t status = yoke_opt_string(&quantised, "quant_method", &method);
        if (status != YOKE_OK)
            return status;
        if (method == NULL)
            method = "an unnamed method";
    }
    if (method != NULL && strcmp(method, "fp8") == 0) {
        text = "float8_e4m3fn";
    } else if (method != NULL) {
        text = NULL;
        yoke_status_t status =
            arch_notice(import->model,
                        "weights are stored quantised by %s: bytes of weights are not "
                        "those of one data type",
                        method);
        if (status != YOKE_OK)
            return status;
    }
    for (size_t i = 0; text != NULL && i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(text, dtypes[i].file) == 0) {
            import->model->dtype = yoke_strdup(dtypes[i].ours);
            return import->model->dtype == NULL ? yoke_fail_memory() : YOKE_OK;
        }
    return YOKE_OK;
}

/* The file is silent on `name`, and the class's own number was taken for it. */
static const char *defaulted_key(const arch_import_t *import, const char *name)
{
    for (const arch_key_t *key = import->arch->keys; key->name != NULL; key++)
        if (strcmp(key->name, name) == 0 && (key->flags & ARCH_DEFAULT) != 0 &&
            key->keys[1] == NULL &&
            json_object_get(import->config.value, key->keys[0]) == NULL)
            return key->keys[0];
    return NULL;
}

/* A number that is not in the file must not be told as if it were. */
static yoke_status_t fail_kv_heads(const arch_import_t *import,
                                   unsigned long long kv_heads, unsigned long long heads)
{
    const char *absent = defaulted_key(import, "kv_heads");
    if (absent == NULL)
        return yoke_cursor_fail(&import->config, NULL,
                                "%llu key/value heads do not divide %llu attention heads",
                                kv_heads, heads);
    return yoke_cursor_fail(
        &import->config, NULL,
        "%s is absent, and %llu key/value heads, the default of %s, do "
        "not divide %llu attention heads; give it",
        absent, kv_heads, import->arch->name, heads);
}

/* Relations that every architecture keeps. */
static yoke_status_t check_relations(const arch_import_t *import)
{
    const arch_values_t *values = &import->values;
    unsigned long long heads = arch_get(values, "heads");
    unsigned long long kv_heads = arch_get(values, "kv_heads");
    unsigned long long experts = arch_get(values, "experts"),
                       topk = arch_get(values, "topk");
    if (kv_heads > heads || (kv_heads != 0 && heads % kv_heads != 0))
        return fail_kv_heads(import, kv_heads, heads);
    if (topk > experts)
        return yoke_cursor_fail(&import->config, NULL,
                                "a token uses %llu experts and a layer has only %llu",
                                topk, experts);
    return YOKE_OK;
}

static yoke_status_t fill_model(arch_import_t *import, const char *name)
{
    yoke_model_t *model = import->model;
    const arch_values_t *values = &import->values;
    model->architecture = yoke_strdup(name);
    model->hidden = arch_get(values, "hidden");
    model->vocabulary = arch_get(values, "vocabulary");
    model->heads = arch_get(values, "heads");
    model->kv_heads = arch_get(values, "kv_heads");
    model->head_dim = arch_get(values, "head_dim");
    model->positions = arch_get(values, "positions");
    model->experts = arch_get(values, "experts");
    model->tied = arch_get(values, "tied") != 0;
    return model->architecture == NULL ? yoke_fail_memory() : YOKE_OK;
}

static yoke_status_t import_values(arch_import_t *import, const char *name)
{
    const arch_t *arch = import->arch;
    yoke_status_t status = arch_read_keys(import, arch->keys, &import->config);
    if (status == YOKE_OK && arch->check != NULL)
        status = arch->check(import);
    if (status == YOKE_OK)
        status = check_relations(import);
    if (status == YOKE_OK)
        status = read_dtype(import);
    return status == YOKE_OK ? fill_model(import, name) : status;
}

/* kv_heads of a searched stack differ by layer: the model's are the most of any. */
static void settle_kv_heads(yoke_model_t *model)
{
    for (size_t i = 0; i < model->layer_count; i++)
        if (!model->layers[i].attention.linear &&
            model->layers[i].attention.kv_heads > model->kv_heads)
            model->kv_heads = model->layers[i].attention.kv_heads;
}

yoke_status_t arch_import_config(const yoke_json_t *json,
                                 const yoke_model_options_t *options, yoke_model_t *model,
                                 const arch_t **out_arch)
{
    const char *name = NULL, *type = NULL;
    arch_import_t import = {.top = yoke_json_cursor(json), .model = model};
    yoke_status_t status = yoke_cursor_object(&import.top);
    if (status == YOKE_OK)
        status = choose(&import.top, &import.arch, &name, &type);
    if (status != YOKE_OK)
        return status;
    import.config = import.top;
    if (import.arch->nested != NULL)
        status = yoke_cursor_need(&import.top, import.arch->nested, &import.config);
    if (status == YOKE_OK && type != NULL && !has_type(import.arch, type))
        status = arch_notice(model, "model_type \"%.60s\" is read as %s", type,
                             import.arch->name);
    if (status == YOKE_OK)
        status = import_values(&import, name);
    if (status == YOKE_OK)
        status = arch_build(&import, options != NULL && options->prediction_layers);
    free(import.sparse);
    if (status != YOKE_OK)
        return status;
    settle_kv_heads(model);
    *out_arch = import.arch;
    return YOKE_OK;
}
