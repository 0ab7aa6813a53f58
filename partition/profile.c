/* SPDX-License-Identifier: Apache-2.0 */
/* Reads profiles and finds what applies to a run. */
#include "partition/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "yoke/inventory.h"

#define SCHEMA "yoke-profiles/1"
#define FILE_LIMIT ((size_t)4 << 20)

static yoke_status_t copy_string(const yoke_cursor_t *at, const char *key, char **out)
{
    const char *text = NULL;
    yoke_status_t status = yoke_opt_string(at, key, &text);
    if (status != YOKE_OK || text == NULL)
        return status;
    *out = yoke_strdup(text);
    return *out == NULL ? yoke_fail_memory() : YOKE_OK;
}

static yoke_status_t read_values(const yoke_cursor_t *at, yoke_profile_t *profile)
{
    yoke_cursor_t all;
    yoke_status_t status = yoke_cursor_need(at, "constants", &all);
    if (status == YOKE_OK)
        status = yoke_cursor_object(&all);
    if (status != YOKE_OK)
        return status;
    size_t count = json_object_size(all.value);
    profile->values = calloc(count > 0 ? count : 1, sizeof *profile->values);
    if (profile->values == NULL)
        return yoke_fail_memory();
    const char *name;
    json_t *value;
    yoke_constants_t scratch = {0};
    json_object_foreach((json_t *)(uintptr_t)all.value, name, value)
    {
        if (!json_is_number(value) ||
            !yoke_constants_set(&scratch, name, json_number_value(value)))
            return yoke_cursor_fail(&all, name,
                                    "must be a constant of the cost model "
                                    "(docs/cost-model.md), within its range");
        struct yoke_profile_value *slot = &profile->values[profile->value_count];
        slot->name = yoke_strdup(name);
        slot->value = json_number_value(value);
        if (slot->name == NULL)
            return yoke_fail_memory();
        profile->value_count++;
    }
    return YOKE_OK;
}

static yoke_status_t read_profile(const yoke_cursor_t *at, yoke_profile_t *profile)
{
    static const char *const allowed[] = {
        "name",      "source",    "framework",
        "device",    "notes",     "constants",
        "network",   "precision", "pipeline_micro_batch",
        "recompute", "type",      NULL};
    const char *text = NULL;
    yoke_status_t status = yoke_cursor_object(at);
    if (status == YOKE_OK)
        status = yoke_cursor_only(at, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "name", &text);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "source", &text);
    if (status == YOKE_OK)
        status = copy_string(at, "name", &profile->name);
    if (status == YOKE_OK)
        status = copy_string(at, "source", &profile->source);
    if (status == YOKE_OK)
        status = copy_string(at, "framework", &profile->framework);
    if (status == YOKE_OK)
        status = copy_string(at, "device", &profile->device);
    if (status == YOKE_OK)
        status = copy_string(at, "notes", &profile->notes);
    if (status == YOKE_OK)
        status = copy_string(at, "recompute", &profile->recompute);
    if (status == YOKE_OK)
        status = copy_string(at, "type", &profile->type);
    if (status == YOKE_OK)
        status = copy_string(at, "precision", &profile->precision);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "pipeline_micro_batch", 1e-3, 1e6,
                                 &profile->pipeline_micro_batch);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "network", 1, 1e15, &profile->network);
    return status == YOKE_OK ? read_values(at, profile) : status;
}

static yoke_status_t read_device(const yoke_cursor_t *at, yoke_profile_device_t *device)
{
    static const char *const allowed[] = {"name",   "like",  "source", "bandwidth",
                                          "memory", "link",  "fp16",   "bf16",
                                          "fp8",    "peers", NULL};
    const char *text = NULL;
    yoke_status_t status = yoke_cursor_object(at);
    if (status == YOKE_OK)
        status = yoke_cursor_only(at, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "name", &text);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "like", &text);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "source", &text);
    if (status == YOKE_OK)
        status = copy_string(at, "name", &device->name);
    if (status == YOKE_OK)
        status = copy_string(at, "like", &device->like);
    if (status == YOKE_OK)
        status = copy_string(at, "source", &device->source);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "bandwidth", 1, 1e16, &device->bandwidth);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "memory", 1, 1e16, &device->memory);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "link", 1, 1e16, &device->link);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "peers", 1, 1024, &device->peers);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "fp16", 1, 1e19, &device->compute[YOKE_FP16]);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "bf16", 1, 1e19, &device->compute[YOKE_BF16]);
    if (status == YOKE_OK)
        status = yoke_opt_double(at, "fp8", 1, 1e19, &device->compute[YOKE_FP8]);
    return status;
}

static yoke_status_t read_devices(const yoke_cursor_t *root, yoke_profiles_t *out)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(root, "devices", &list))
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_array(&list);
    size_t count = status == YOKE_OK ? yoke_cursor_count(&list) : 0;
    out->devices = calloc(count + 1, sizeof *out->devices);
    if (out->devices == NULL)
        return yoke_fail_memory();
    for (; status == YOKE_OK && out->device_count < count; out->device_count++) {
        yoke_cursor_t item = yoke_cursor_item(&list, out->device_count);
        status = read_device(&item, &out->devices[out->device_count]);
    }
    return status;
}

static yoke_status_t read_size(const yoke_cursor_t *at, const char *key, unsigned *out)
{
    uint64_t value = 0;
    yoke_status_t status = yoke_need_u64(at, key, 1, 1u << 26, &value);
    *out = (unsigned)value;
    return status;
}

static yoke_status_t read_model(const yoke_cursor_t *at, yoke_profile_model_t *model)
{
    static const char *const allowed[] = {"name",       "source", "layers",
                                          "hidden",     "heads",  "ffn",
                                          "vocabulary", "gated",  NULL};
    const char *text = NULL;
    yoke_status_t status = yoke_cursor_object(at);
    if (status == YOKE_OK)
        status = yoke_cursor_only(at, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "name", &text);
    if (status == YOKE_OK)
        status = yoke_need_string(at, "source", &text);
    if (status == YOKE_OK)
        status = copy_string(at, "name", &model->name);
    if (status == YOKE_OK)
        status = copy_string(at, "source", &model->source);
    if (status == YOKE_OK)
        status = read_size(at, "layers", &model->layers);
    if (status == YOKE_OK)
        status = read_size(at, "hidden", &model->hidden);
    if (status == YOKE_OK)
        status = read_size(at, "heads", &model->heads);
    if (status == YOKE_OK)
        status = read_size(at, "ffn", &model->ffn);
    if (status == YOKE_OK)
        status = read_size(at, "vocabulary", &model->vocabulary);
    if (status == YOKE_OK)
        status = yoke_opt_bool(at, "gated", &model->gated);
    return status;
}

static yoke_status_t read_models(const yoke_cursor_t *root, yoke_profiles_t *out)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(root, "models", &list))
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_array(&list);
    size_t count = status == YOKE_OK ? yoke_cursor_count(&list) : 0;
    out->models = calloc(count + 1, sizeof *out->models);
    if (out->models == NULL)
        return yoke_fail_memory();
    for (; status == YOKE_OK && out->model_count < count; out->model_count++) {
        yoke_cursor_t item = yoke_cursor_item(&list, out->model_count);
        status = read_model(&item, &out->models[out->model_count]);
    }
    return status;
}

static yoke_status_t read_profiles(const yoke_cursor_t *root, yoke_profiles_t *out)
{
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_need(root, "profiles", &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    size_t count = status == YOKE_OK ? yoke_cursor_count(&list) : 0;
    out->profiles = calloc(count + 1, sizeof *out->profiles);
    if (out->profiles == NULL)
        return yoke_fail_memory();
    for (; status == YOKE_OK && out->profile_count < count; out->profile_count++) {
        yoke_cursor_t item = yoke_cursor_item(&list, out->profile_count);
        status = read_profile(&item, &out->profiles[out->profile_count]);
    }
    return status;
}

static yoke_status_t read_document(const yoke_json_t *json, yoke_profiles_t *out)
{
    static const char *const allowed[] = {"schema", "devices", "models", "profiles",
                                          NULL};
    yoke_cursor_t root = yoke_json_cursor(json);
    const char *schema = NULL;
    yoke_status_t status = yoke_cursor_object(&root);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&root, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(&root, "schema", &schema);
    if (status == YOKE_OK && strcmp(schema, SCHEMA) != 0)
        status = yoke_cursor_fail(&root, "schema", "must be \"" SCHEMA "\", not \"%s\"",
                                  schema);
    if (status == YOKE_OK)
        status = read_devices(&root, out);
    if (status == YOKE_OK)
        status = read_models(&root, out);
    return status == YOKE_OK ? read_profiles(&root, out) : status;
}

static bool holds_constants(const yoke_json_t *json)
{
    const char *schema = json_string_value(json_object_get(json->root, "schema"));
    return schema != NULL && strcmp(schema, "yoke-constants/1") == 0;
}

yoke_status_t yoke_profiles_read(const char *path, yoke_profiles_t *out_profiles)
{
    yoke_profiles_t profiles = {0};
    const yoke_constants_t *base = NULL;
    yoke_json_t json = {0};
    char *bundled =
        path == NULL ? yoke_format("%s/costmodel/profiles.json", yoke_data_dir()) : NULL;
    if (path == NULL && bundled == NULL)
        return yoke_fail_memory();
    const char *file = path != NULL ? path : bundled;
    yoke_status_t status = yoke_constants_get(&base);
    if (status == YOKE_OK)
        status = yoke_json_read(file, FILE_LIMIT, &json);
    if (status == YOKE_OK) {
        profiles.base = *base;
        status = holds_constants(&json) ? yoke_constants_read(file, &profiles.base)
                                        : read_document(&json, &profiles);
        yoke_json_free(&json);
    }
    free(bundled);
    if (status != YOKE_OK) {
        yoke_profiles_free(&profiles);
        return status;
    }
    *out_profiles = profiles;
    return YOKE_OK;
}

void yoke_profiles_free(yoke_profiles_t *profiles)
{
    for (size_t i = 0; profiles->profiles != NULL && i < profiles->profile_count; i++) {
        yoke_profile_t *profile = &profiles->profiles[i];
        for (size_t v = 0; v < profile->value_count; v++)
            free(profile->values[v].name);
        free(profile->values);
        free(profile->name);
        free(profile->source);
        free(profile->framework);
        free(profile->device);
        free(profile->precision);
        free(profile->recompute);
        free(profile->type);
        free(profile->notes);
    }
    for (size_t i = 0; profiles->devices != NULL && i < profiles->device_count; i++) {
        free(profiles->devices[i].name);
        free(profiles->devices[i].like);
        free(profiles->devices[i].source);
    }
    for (size_t i = 0; profiles->models != NULL && i < profiles->model_count; i++) {
        free(profiles->models[i].name);
        free(profiles->models[i].source);
    }
    free(profiles->models);
    free(profiles->profiles);
    free(profiles->devices);
    *profiles = (yoke_profiles_t){0};
}

static bool matches(const char *part, const char *text)
{
    return part == NULL || (text != NULL && strstr(text, part) != NULL);
}

void yoke_profiles_apply(const yoke_profiles_t *profiles, const char *framework,
                         const char *device, const char *precision, const char *notes,
                         yoke_profile_effect_t *out_effect, yoke_text_t *names)
{
    *out_effect = (yoke_profile_effect_t){.constants = profiles->base};
    for (size_t i = 0; i < profiles->profile_count; i++) {
        const yoke_profile_t *profile = &profiles->profiles[i];
        if (!matches(profile->framework, framework) ||
            !matches(profile->device, device) ||
            !matches(profile->precision, precision) || !matches(profile->notes, notes))
            continue;
        for (size_t v = 0; v < profile->value_count; v++)
            (void)yoke_constants_set(&out_effect->constants, profile->values[v].name,
                                     profile->values[v].value);
        if (profile->network > 0)
            out_effect->network = profile->network;
        if (profile->pipeline_micro_batch > 0)
            out_effect->pipeline_micro_batch = profile->pipeline_micro_batch;
        if (profile->recompute != NULL)
            out_effect->recompute = profile->recompute;
        if (profile->type != NULL)
            out_effect->type = profile->type;
        yoke_text_printf(names, "%s%s", names->size > 0 ? ", " : "", profile->name);
    }
}

static const yoke_catalog_device_t *find(const yoke_catalog_t *catalog, const char *name)
{
    const char *plain = strchr(name, ':') != NULL ? strchr(name, ':') + 1 : name;
    return yoke_catalog_find(catalog, NULL, plain);
}

static void fill(const yoke_catalog_device_t *row, yoke_inventory_device_t *out)
{
    *out = (yoke_inventory_device_t){.kind = row->kind,
                                     .name = row->name,
                                     .bandwidth = row->bandwidth,
                                     .bandwidth_achieved = row->bandwidth_achieved,
                                     .link_rate = row->link_rate,
                                     .link_mesh = row->link_mesh,
                                     .link_group = row->link_group};
    out->memory.total = row->memory;
    memcpy(out->compute, row->compute, sizeof out->compute);
    memcpy(out->achieved, row->achieved, sizeof out->achieved);
    /* The two 16-bit types share the matrix units: what one reaches, the other does. */
    if (!yoke_known(&out->achieved[YOKE_FP16]))
        out->achieved[YOKE_FP16] = out->achieved[YOKE_BF16];
}

static void set(yoke_quantity_t *quantity, double value)
{
    if (value > 0)
        *quantity = (yoke_quantity_t){.value = value, .source = YOKE_SOURCE_CATALOG};
}

/* The name itself, then without what stands behind a blank and a bracket, then without a
 * count "x16" at the end. */
static bool next_form(char *name)
{
    char *bracket = strstr(name, " (");
    if (bracket != NULL) {
        *bracket = '\0';
        return true;
    }
    size_t size = strlen(name), digits = 0;
    while (digits < size && name[size - 1 - digits] >= '0' &&
           name[size - 1 - digits] <= '9')
        digits++;
    if (digits == 0 || digits + 1 >= size || name[size - 1 - digits] != 'x')
        return false;
    name[size - 1 - digits] = '\0';
    return true;
}

bool yoke_profiles_device(const yoke_profiles_t *profiles, const char *name,
                          yoke_inventory_device_t *out_device)
{
    const yoke_catalog_t *catalog = NULL;
    char form[256];
    if (yoke_catalog_default(&catalog) != YOKE_OK || strlen(name) >= sizeof form)
        return false;
    memcpy(form, name, strlen(name) + 1);
    do {
        const yoke_catalog_device_t *row = find(catalog, form);
        const yoke_profile_device_t *own = NULL;
        for (size_t i = 0; i < profiles->device_count; i++)
            if (strcmp(profiles->devices[i].name, form) == 0)
                own = &profiles->devices[i];
        if (own != NULL)
            row = find(catalog, own->like);
        if (row == NULL)
            continue;
        fill(row, out_device);
        if (own != NULL) {
            set(&out_device->bandwidth, own->bandwidth);
            set(&out_device->memory.total, own->memory);
            set(&out_device->link_rate, own->link);
            for (size_t d = 0; d < YOKE_DTYPE_COUNT; d++)
                set(&out_device->compute[d], own->compute[d]);
        }
        return true;
    } while (next_form(form));
    return false;
}

unsigned yoke_profiles_peers(const yoke_profiles_t *profiles, const char *name)
{
    for (size_t i = 0; i < profiles->device_count; i++)
        if (strcmp(profiles->devices[i].name, name) == 0)
            return (unsigned)profiles->devices[i].peers;
    return 0;
}

const yoke_profile_model_t *yoke_profiles_model(const yoke_profiles_t *profiles,
                                                const char *name)
{
    for (size_t i = 0; i < profiles->model_count; i++)
        if (strcmp(profiles->models[i].name, name) == 0)
            return &profiles->models[i];
    return NULL;
}
