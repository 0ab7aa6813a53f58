/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers out of a config.json by a descriptor's keys, with refusals that say where. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "costmodel/arch.h"
#include "costmodel/model_parts.h"

yoke_status_t arch_notice(yoke_model_t *model, const char *format, ...)
{
    yoke_text_t text = {0};
    va_list args;
    va_start(args, format);
    yoke_text_vprintf(&text, format, args);
    va_end(args);
    yoke_status_t status = text.failed
                               ? yoke_fail_memory()
                               : yoke_model_add_notice(model, yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

typedef enum presence { ABSENT, NULLED, PRESENT } presence_t;

/* Where a key stands: the object that has it and its last name ("b" of "a.b"). */
typedef struct place {
    yoke_cursor_t holder;
    yoke_cursor_t object; /* parent of holder's content when the key is nested */
    char outer[64];
    const char *key;
} place_t;

static presence_t locate(const yoke_cursor_t *object, const char *key, place_t *place)
{
    place->object = *object;
    place->holder = *object;
    place->key = key;
    const char *dot = strchr(key, '.');
    if (dot != NULL) {
        size_t size = (size_t)(dot - key);
        if (size >= sizeof place->outer)
            return ABSENT;
        memcpy(place->outer, key, size);
        place->outer[size] = '\0';
        place->key = dot + 1;
        if (!yoke_cursor_member(&place->object, place->outer, &place->holder))
            return ABSENT;
    }
    const json_t *value = json_object_get(place->holder.value, place->key);
    if (value == NULL)
        return ABSENT;
    return json_is_null(value) ? NULLED : PRESENT;
}

static yoke_status_t read_present(const place_t *place, const arch_key_t *key,
                                  uint64_t *out_value)
{
    if ((key->flags & ARCH_BOOL) != 0) {
        bool truth = false;
        yoke_status_t status = yoke_need_bool(&place->holder, place->key, &truth);
        *out_value = truth;
        return status;
    }
    if ((key->flags & ARCH_COUNT) != 0) {
        yoke_cursor_t list;
        yoke_status_t status = yoke_cursor_need(&place->holder, place->key, &list);
        if (status == YOKE_OK)
            status = yoke_cursor_array(&list);
        *out_value = status == YOKE_OK ? yoke_cursor_count(&list) : 0;
        return status;
    }
    uint64_t least = (key->flags & ARCH_ZERO) != 0 ? 0 : 1;
    uint64_t most =
        (key->flags & ARCH_LAYERS) != 0 ? ARCH_LIMIT_LAYERS : ARCH_LIMIT_NUMBER;
    return yoke_need_u64(&place->holder, place->key, least, most, out_value);
}

static yoke_status_t fail_missing(const arch_import_t *import,
                                  const yoke_cursor_t *object, const arch_key_t *key)
{
    yoke_text_t names = {0};
    for (size_t i = 0; i < 3 && key->keys[i] != NULL; i++)
        yoke_text_printf(&names, "%s%s", i == 0 ? "" : " or ", key->keys[i]);
    unsigned long long most =
        (key->flags & ARCH_LAYERS) != 0 ? ARCH_LIMIT_LAYERS : ARCH_LIMIT_NUMBER;
    yoke_status_t status = yoke_cursor_fail(
        object, NULL, "%s is absent; %s needs it, a whole number from 1 to %llu",
        yoke_text_get(&names), import->arch->name, most);
    yoke_text_free(&names);
    return status;
}

/* hidden/heads is the one quotient that people's files get wrong. */
static yoke_status_t fail_formula(const arch_import_t *import,
                                  const yoke_cursor_t *object, const arch_key_t *key,
                                  const char *formula, arch_outcome_t outcome)
{
    const arch_values_t *values = &import->values;
    if (strcmp(formula, "hidden/heads") == 0)
        return yoke_cursor_fail(object, NULL,
                                "hidden size %llu is not divisible by %llu attention "
                                "heads and %s gives no width "
                                "of a head; correct one of them%s",
                                (unsigned long long)arch_get(values, "hidden"),
                                (unsigned long long)arch_get(values, "heads"),
                                key->keys[0] == NULL ? "the class" : key->keys[0],
                                key->keys[0] == NULL ? "" : " or give it");
    const char *name = key->keys[0] == NULL ? key->name : key->keys[0];
    if (outcome == ARCH_NOT_WHOLE)
        return yoke_cursor_fail(object, NULL, "%s = %s does not come out whole", name,
                                formula);
    if (outcome == ARCH_TOO_LARGE)
        return yoke_cursor_fail(object, NULL, "%s = %s is too large", name, formula);
    return yoke_cursor_fail(object, NULL, "%s = %s cannot be computed (%s: wrong table)",
                            name, formula, import->arch->name);
}

static yoke_status_t read_absent(arch_import_t *import, const yoke_cursor_t *object,
                                 const arch_key_t *key, presence_t presence)
{
    const char *formula =
        presence == NULLED && key->null != NULL ? key->null : key->absent;
    if (formula == NULL)
        return fail_missing(import, object, key);
    uint64_t value = 0;
    arch_outcome_t outcome = arch_evaluate(formula, &import->values, &value);
    if (outcome != ARCH_OK)
        return fail_formula(import, object, key, formula, outcome);
    arch_set(&import->values, key->name, value);
    if ((key->flags & ARCH_DEFAULT) != 0 && formula == key->absent)
        return arch_notice(import->model, "%s is absent: %llu, the default of %s",
                           key->keys[0], (unsigned long long)value, import->arch->name);
    return YOKE_OK;
}

static yoke_status_t read_key(arch_import_t *import, const arch_key_t *key,
                              const yoke_cursor_t *object)
{
    const yoke_cursor_t *from = (key->flags & ARCH_TOP) != 0 ? &import->top : object;
    presence_t presence = ABSENT;
    place_t place;
    for (size_t i = 0; i < 3 && key->keys[i] != NULL && presence != PRESENT; i++) {
        presence_t found = locate(from, key->keys[i], &place);
        if (found == PRESENT) {
            uint64_t value = 0;
            yoke_status_t status = read_present(&place, key, &value);
            if (status != YOKE_OK)
                return status;
            arch_set(&import->values, key->name, value);
        }
        presence = found == ABSENT ? presence : found;
    }
    if (presence == PRESENT)
        return YOKE_OK;
    return read_absent(import, from, key, presence);
}

yoke_status_t arch_read_keys(arch_import_t *import, const arch_key_t *keys,
                             const yoke_cursor_t *object)
{
    yoke_status_t status = yoke_cursor_object(object);
    for (; status == YOKE_OK && keys->name != NULL; keys++)
        status = read_key(import, keys, object);
    return status;
}

yoke_status_t arch_read_layer_list(arch_import_t *import, const char *key,
                                   unsigned char mark, bool *out_found)
{
    yoke_cursor_t list;
    *out_found = yoke_cursor_member(&import->config, key, &list);
    if (!*out_found)
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_array(&list);
    uint64_t layers = arch_get(&import->values, "layers");
    for (size_t i = 0; status == YOKE_OK && i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_integer(item.value) || json_integer_value(item.value) < 0 ||
            (uint64_t)json_integer_value(item.value) >= layers)
            return yoke_cursor_fail(&item, NULL,
                                    "must be the number of a layer, 0 to %llu",
                                    (unsigned long long)layers - 1);
        import->sparse[json_integer_value(item.value)] = mark;
    }
    return status;
}

yoke_status_t arch_layer_type(arch_import_t *import, uint64_t index,
                              const char **out_type)
{
    yoke_cursor_t list;
    *out_type = NULL;
    if (!yoke_cursor_member(&import->config, "layer_types", &list))
        return YOKE_OK;
    yoke_status_t status = yoke_cursor_array(&list);
    if (status != YOKE_OK)
        return status;
    uint64_t layers = arch_get(&import->values, "layers");
    if (yoke_cursor_count(&list) != layers)
        return yoke_cursor_fail(
            &list, NULL, "must have one entry for each of the %llu layers, has %zu",
            (unsigned long long)layers, yoke_cursor_count(&list));
    yoke_cursor_t item = yoke_cursor_item(&list, (size_t)index);
    if (!json_is_string(item.value))
        return yoke_cursor_fail(&item, NULL,
                                "must be a string such as \"full_attention\"");
    *out_type = json_string_value(item.value);
    return YOKE_OK;
}
