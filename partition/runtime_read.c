/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of a runtime from their document. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "partition/document.h"
#include "partition/runtime.h"

#define SCHEMA "yoke-runtime/1"
#define FILE_LIMIT (1u << 20)

static const char *const rule_names[YOKE_RULE_COUNT + 1] = {
    "equal_pipelines",   "equal_tensor_degree",
    "equal_data_degree", "equal_recompute",
    "one_vendor",        "one_type_a_stage",
    "types_together",    "one_type_a_host",
    "hosts_in_order",    "decoders_in_every_stage",
    "tied_ends_equal",   "prediction_layers",
    "interleaving",      "one_chunk",
    "replicas_shard",    NULL};

const char *yoke_runtime_rule_name(yoke_runtime_rule_t rule)
{
    return rule < YOKE_RULE_COUNT ? rule_names[rule] : NULL;
}

void yoke_runtime_clear(yoke_runtime_t *runtime)
{
    free(runtime->name);
    free(runtime->title);
    for (size_t i = 0; i < YOKE_RULE_COUNT; i++)
        free(runtime->because[i]);
    memset(runtime, 0, sizeof *runtime);
}

/* --- lists of names ------------------------------------------------------------------
 */

static bool set_dtype(const char *name, yoke_runtime_t *out)
{
    yoke_dtype_t dtype;
    if (!yoke_dtype_parse(name, &dtype))
        return false;
    out->dtypes[dtype] = true;
    return true;
}

static bool set_recompute(const char *name, yoke_runtime_t *out)
{
    yoke_recompute_t recompute;
    if (!yoke_recompute_parse(name, &recompute) || recompute == YOKE_RECOMPUTE_AUTO)
        return false;
    out->recompute[recompute] = true;
    return true;
}

static bool set_optimizer(const char *name, yoke_runtime_t *out)
{
    yoke_optimizer_t optimizer;
    if (!yoke_optimizer_parse(name, &optimizer))
        return false;
    out->optimizers[optimizer] = true;
    return true;
}

static yoke_status_t read_names(const yoke_cursor_t *root, const char *key,
                                bool (*set)(const char *, yoke_runtime_t *),
                                yoke_runtime_t *out)
{
    yoke_cursor_t list;
    yoke_status_t status = yoke_cursor_need(root, key, &list);
    if (status == YOKE_OK)
        status = yoke_cursor_array(&list);
    for (size_t i = 0; status == YOKE_OK && i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        const char *name = json_string_value(item.value);
        if (name == NULL || !set(name, out))
            status =
                yoke_cursor_fail(&item, NULL, "expected a name of the plan's %s", key);
    }
    return status;
}

/* --- rules ---------------------------------------------------------------------------
 */

static yoke_status_t read_rule(const yoke_cursor_t *rules, size_t index,
                               yoke_runtime_t *out)
{
    static const char *const allowed[] = {"because", "source", NULL};
    const char *because = NULL, *source = NULL;
    yoke_cursor_t at;
    if (!yoke_cursor_member(rules, rule_names[index], &at))
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_object(&at);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&at, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(&at, "because", &because);
    if (status == YOKE_OK)
        status = yoke_need_string(&at, "source", &source);
    if (status != YOKE_OK)
        return status;
    out->because[index] = yoke_strdup(because);
    return out->because[index] != NULL ? YOKE_OK : yoke_fail_memory();
}

static yoke_status_t read_rules(const yoke_cursor_t *root, yoke_runtime_t *out)
{
    yoke_cursor_t rules;
    yoke_status_t status = yoke_cursor_need(root, "rules", &rules);
    if (status == YOKE_OK)
        status = yoke_cursor_object(&rules);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&rules, rule_names);
    for (size_t i = 0; status == YOKE_OK && i < YOKE_RULE_COUNT; i++)
        status = read_rule(&rules, i, out);
    return status;
}

static yoke_status_t read_names_of(const yoke_cursor_t *root, yoke_runtime_t *out)
{
    const char *name = NULL, *title = NULL;
    yoke_status_t status = yoke_need_string(root, "name", &name);
    if (status == YOKE_OK)
        status = yoke_need_string(root, "title", &title);
    if (status != YOKE_OK)
        return status;
    out->name = yoke_strdup(name);
    out->title = yoke_strdup(title);
    return out->name != NULL && out->title != NULL ? YOKE_OK : yoke_fail_memory();
}

static yoke_status_t read_document(const yoke_json_t *json, yoke_runtime_t *out)
{
    static const char *const allowed[] = {"schema",    "name",       "title", "dtypes",
                                          "recompute", "optimizers", "rules", NULL};
    const char *schema = NULL;
    yoke_cursor_t root = yoke_json_cursor(json);
    yoke_status_t status = yoke_cursor_object(&root);
    if (status == YOKE_OK)
        status = yoke_cursor_only(&root, allowed);
    if (status == YOKE_OK)
        status = yoke_need_string(&root, "schema", &schema);
    if (status == YOKE_OK && strcmp(schema, SCHEMA) != 0)
        status = yoke_cursor_fail(&root, "schema", "must be \"" SCHEMA "\", not \"%s\"",
                                  schema);
    if (status == YOKE_OK)
        status = read_names_of(&root, out);
    if (status == YOKE_OK)
        status = read_names(&root, "dtypes", set_dtype, out);
    if (status == YOKE_OK)
        status = read_names(&root, "recompute", set_recompute, out);
    if (status == YOKE_OK)
        status = read_names(&root, "optimizers", set_optimizer, out);
    return status == YOKE_OK ? read_rules(&root, out) : status;
}

static yoke_status_t take(yoke_json_t *json, yoke_runtime_t *out_runtime)
{
    yoke_runtime_t runtime = {0};
    yoke_status_t status = read_document(json, &runtime);
    yoke_json_free(json);
    if (status == YOKE_OK)
        *out_runtime = runtime;
    else
        yoke_runtime_clear(&runtime);
    return status;
}

yoke_status_t yoke_runtime_read(const char *path, yoke_runtime_t *out_runtime)
{
    yoke_json_t json;
    yoke_status_t status = yoke_json_read(path, FILE_LIMIT, &json);
    return status == YOKE_OK ? take(&json, out_runtime) : status;
}

yoke_status_t yoke_runtime_parse(const char *name, const char *data, size_t size,
                                 yoke_runtime_t *out_runtime)
{
    yoke_json_t json;
    yoke_status_t status = yoke_json_parse(name, data, size, &json);
    return status == YOKE_OK ? take(&json, out_runtime) : status;
}

/* --- all of them ---------------------------------------------------------------------
 */

static yoke_runtime_t *all;
static size_t all_count;

static void drop_all(void)
{
    for (size_t i = 0; i < all_count; i++)
        yoke_runtime_clear(&all[i]);
    free(all);
    all = NULL;
    all_count = 0;
}

static yoke_status_t load_all(void)
{
    yoke_strings_t names = {0};
    yoke_status_t status = yoke_data_names("runtimes", &names);
    if (status == YOKE_OK)
        all = calloc(names.count + 1, sizeof *all);
    if (status == YOKE_OK && all == NULL)
        status = yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < names.count; i++) {
        char *path = yoke_format("%s/runtimes/%s.json", yoke_data_dir(), names.items[i]);
        status = path != NULL ? yoke_runtime_read(path, &all[i]) : yoke_fail_memory();
        all_count += status == YOKE_OK;
        free(path);
    }
    if (status != YOKE_OK)
        drop_all();
    yoke_strings_free(&names);
    return status;
}

yoke_status_t yoke_runtimes_get(const yoke_runtime_t **out_runtimes, size_t *out_count)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool loaded;
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&lock);
    if (!loaded)
        status = load_all();
    loaded = status == YOKE_OK;
    pthread_mutex_unlock(&lock);
    if (status != YOKE_OK)
        return status;
    *out_runtimes = all;
    *out_count = all_count;
    return YOKE_OK;
}

yoke_status_t yoke_runtime_find(const char *name, const yoke_runtime_t **out_runtime)
{
    const yoke_runtime_t *runtimes = NULL;
    size_t count = 0;
    *out_runtime = NULL;
    if (name == NULL || strcmp(name, "yoke") == 0)
        return YOKE_OK;
    yoke_status_t status = yoke_runtimes_get(&runtimes, &count);
    if (status != YOKE_OK)
        return status;
    yoke_text_t list = {0};
    for (size_t i = 0; i < count; i++) {
        if (strcmp(runtimes[i].name, name) == 0) {
            *out_runtime = &runtimes[i];
            yoke_text_free(&list);
            return YOKE_OK;
        }
        yoke_text_printf(&list, ", %s", runtimes[i].name);
    }
    status = yoke_fail(YOKE_ERR_USAGE, "--for %s: expected yoke (no rules)%s", name,
                       yoke_text_get(&list));
    yoke_text_free(&list);
    return status;
}
