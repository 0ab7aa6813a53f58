/* SPDX-License-Identifier: Apache-2.0 */
/* yoke_model_read(): what the user named, found, told apart and read. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "costmodel/arch.h"
#include "costmodel/model_parts.h"
#include "costmodel/model_weights.h"

static bool ends(const char *text, const char *with)
{
    size_t size = strlen(text), tail = strlen(with);
    return size >= tail && strcmp(text + size - tail, with) == 0;
}

/* The folder of a path, "." where it has none. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return yoke_strdup(".");
    return slash == path ? yoke_strdup("/") : yoke_strndup(path, (size_t)(slash - path));
}

/* "x/Llama-3.1-8B/config.json" -> "Llama-3.1-8B", "x/gpt2.json" -> "gpt2". */
static char *name_of_path(const char *path)
{
    char *folder = ends(path, "/config.json") ? folder_of(path) : NULL;
    const char *text = folder != NULL ? folder : path;
    const char *slash = strrchr(text, '/');
    const char *base = slash == NULL ? text : slash + 1;
    size_t size = strlen(base);
    if (folder == NULL && size > 5 && ends(base, ".json"))
        size -= 5;
    char *name = yoke_strndup(base, size);
    free(folder);
    return name;
}

/* "_name_or_path" is a name unless it is somebody's path. */
static yoke_status_t set_name(const yoke_json_t *json, const char *path,
                              yoke_model_t *model)
{
    const char *stated = json_string_value(json_object_get(json->root, "_name_or_path"));
    bool usable = stated != NULL && *stated != '\0' && *stated != '/' && *stated != '.' &&
                  *stated != '~';
    model->name = usable ? yoke_strdup(stated) : name_of_path(path);
    return model->name == NULL ? yoke_fail_memory() : YOKE_OK;
}

/* Formats that are no JSON: say what they are rather than where the syntax fails. */
static yoke_status_t refuse_yaml(const char *name, const char *data, size_t size)
{
    size_t i = 0;
    if (size >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0)
        i = 3;
    while (i < size && strchr(" \t\r\n", data[i]) != NULL && data[i] != '\0')
        i++;
    if (i < size && (data[i] == '{' || data[i] == '['))
        return YOKE_OK;
    char *text = yoke_strndup(data, size);
    if (text == NULL)
        return yoke_fail_memory();
    bool megatron =
        strstr(text, "MODEL_ARGS:") != NULL || strstr(text, "--num-layers") != NULL;
    free(text);
    if (megatron)
        return yoke_fail(
            YOKE_ERR_UNSUPPORTED,
            "%s: this is a list of Megatron-LM arguments; it is not read yet, use "
            "the config.json of the same model in Hugging Face format",
            name);
    if (ends(name, ".yaml") || ends(name, ".yml"))
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: this is YAML; a model is a config.json of the Hugging Face "
                         "format or a yoke-model/1 document",
                         name);
    return YOKE_OK;
}

/* `folder` NULL: from memory, without files beside it. */
static yoke_status_t read_config(const yoke_json_t *json, const char *path,
                                 const char *folder, const yoke_model_options_t *options,
                                 yoke_model_t *model)
{
    const arch_t *arch = NULL;
    const char *index = options != NULL ? options->index : NULL;
    yoke_status_t status = arch_import_config(json, options, model, &arch);
    if (status == YOKE_OK)
        status = set_name(json, path, model);
    if (status == YOKE_OK)
        status = yoke_model_finish(model, json->name);
    if (status != YOKE_OK || (folder == NULL && index == NULL))
        return status;
    char *own = index != NULL ? folder_of(index) : NULL;
    status = yoke_model_compare_weights(model, arch, own != NULL ? own : folder, index);
    free(own);
    return status;
}

static yoke_status_t from_json(const yoke_json_t *json, const char *path,
                               const char *folder, const yoke_model_options_t *options,
                               yoke_model_t **out_model)
{
    yoke_model_t *model = yoke_model_new();
    if (model == NULL)
        return YOKE_ERR_NO_MEMORY;
    const char *schema = json_string_value(json_object_get(json->root, "schema"));
    yoke_status_t status;
    if (schema != NULL && (strncmp(schema, "yoke-inventory/", 15) == 0 ||
                           strncmp(schema, "yoke-plan/", 10) == 0))
        status =
            yoke_fail(YOKE_ERR_BAD_INPUT,
                      "%s: /schema: this is %s (\"%.40s\"), where a model is "
                      "expected: a config.json or a yoke-model/1 document",
                      json->name, schema[5] == 'i' ? "an inventory" : "a plan", schema);
    else if (schema != NULL)
        status = yoke_model_from_json(json, model);
    else
        status = read_config(json, path, folder, options, model);
    if (status == YOKE_OK)
        *out_model = model;
    else
        yoke_model_free(model);
    return status;
}

static yoke_status_t from_text(const char *name, const char *data, size_t size,
                               const char *folder, const yoke_model_options_t *options,
                               yoke_model_t **out_model)
{
    yoke_json_t json = {0};
    yoke_status_t status = refuse_yaml(name, data, size);
    if (status == YOKE_OK)
        status = yoke_json_parse(name, data, size, &json);
    if (status != YOKE_OK)
        return status;
    status = from_json(&json, name, folder, options, out_model);
    yoke_json_free(&json);
    return status;
}

yoke_status_t yoke_model_parse(const char *name, const char *data, size_t size,
                               const yoke_model_options_t *options,
                               yoke_model_t **out_model)
{
    return from_text(name, data, size, NULL, options, out_model);
}

/* "did you mean" and the list of the bundled models. */
static yoke_status_t fail_bundled(const char *name)
{
    yoke_strings_t names = {0};
    yoke_text_t known = {0};
    yoke_status_t status = yoke_data_names("models", &names);
    if (status != YOKE_OK) {
        yoke_strings_free(&names);
        return status;
    }
    for (size_t i = 0; i < names.count; i++)
        yoke_text_printf(&known, "%s%s", i == 0 ? "" : ", ", names.items[i]);
    status =
        yoke_fail(YOKE_ERR_NOT_FOUND,
                  "%s: no such file, and no bundled model of that name; bundled are: %s",
                  name, known.size == 0 ? "none" : yoke_text_get(&known));
    yoke_strings_free(&names);
    yoke_text_free(&known);
    return status;
}

static yoke_status_t read_bundled(const char *name, const yoke_model_options_t *options,
                                  yoke_model_t **out_model)
{
    char *path = yoke_format("%s/models/%s.json", yoke_data_dir(), name);
    char *data = NULL;
    size_t size = 0;
    yoke_status_t status = YOKE_OK;
    if (path == NULL)
        status = yoke_fail_memory();
    else if (!yoke_file_exists(path))
        status = fail_bundled(name);
    if (status == YOKE_OK)
        status = yoke_file_read(path, 0, &data, &size);
    if (status == YOKE_OK)
        status = from_text(path, data, size, NULL, options, out_model);
    free(data);
    free(path);
    return status;
}

/* The config.json beside a weight file or index, and the index to compare with. */
static yoke_status_t read_beside(const char *path, const yoke_model_options_t *options,
                                 yoke_model_t **out_model)
{
    yoke_model_options_t own = {.struct_size = sizeof own};
    if (options != NULL)
        own = *options;
    if (own.index == NULL)
        own.index = path;
    char *folder = folder_of(path);
    char *config = folder == NULL ? NULL : yoke_format("%s/config.json", folder);
    yoke_status_t status = YOKE_OK;
    if (config == NULL)
        status = yoke_fail_memory();
    else if (!yoke_file_exists(config))
        status = yoke_fail(YOKE_ERR_NOT_FOUND,
                           "%s: weights have no sizes of attention; put the model's "
                           "config.json beside it",
                           path);
    else
        status = yoke_model_read(config, &own, out_model);
    free(config);
    free(folder);
    return status;
}

static yoke_status_t read_folder(const char *path, const yoke_model_options_t *options,
                                 yoke_model_t **out_model)
{
    char *config = yoke_format("%s%sconfig.json", path, ends(path, "/") ? "" : "/");
    if (config == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_model_read(config, options, out_model);
    free(config);
    return status;
}

static yoke_status_t read_file(const char *path, const yoke_model_options_t *options,
                               yoke_model_t **out_model)
{
    char *data = NULL, *folder = folder_of(path);
    size_t size = 0;
    if (folder == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_file_read(path, 0, &data, &size);
    if (status == YOKE_OK)
        status = from_text(strcmp(path, "-") == 0 ? "standard input" : path, data, size,
                           strcmp(path, "-") == 0 ? NULL : folder, options, out_model);
    free(data);
    free(folder);
    return status;
}

yoke_status_t yoke_model_read(const char *path, const yoke_model_options_t *options,
                              yoke_model_t **out_model)
{
    if (options != NULL && options->struct_size < sizeof *options)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_model_options_t: struct_size is too small");
    if (yoke_directory_exists(path))
        return read_folder(path, options, out_model);
    if (ends(path, ".safetensors") || ends(path, ".safetensors.index.json"))
        return read_beside(path, options, out_model);
    if (strcmp(path, "-") != 0 && strchr(path, '/') == NULL && !yoke_file_exists(path))
        return read_bundled(path, options, out_model);
    return read_file(path, options, out_model);
}
