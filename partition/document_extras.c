/* SPDX-License-Identifier: Apache-2.0 */
/* The user's own "x-*" members: taken out of a document and put back into its successor.
 */
#include "partition/document.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

static bool is_extra(const char *key)
{
    return strncmp(key, "x-", 2) == 0;
}

/* Members of one object; nothing is added when there are none. */
static yoke_status_t collect_here(const json_t *object, const char *pointer,
                                  json_t *extras)
{
    json_t *found = NULL;
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value)
    {
        if (!is_extra(key))
            continue;
        if (found == NULL) {
            found = json_object();
            if (json_object_set_new(extras, pointer, found) != 0)
                return yoke_fail_memory();
        }
        if (json_object_set(found, key, value) != 0)
            return yoke_fail_memory();
    }
    return YOKE_OK;
}

/* Depth is that of a document whose unknown members were refused, so a few levels. */
static yoke_status_t collect(const json_t *value, yoke_text_t *pointer, json_t *extras)
{
    size_t length = pointer->size;
    yoke_status_t status = YOKE_OK;
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        status = collect_here(value, yoke_text_get(pointer), extras);
        json_object_foreach((json_t *)value, key, member)
        {
            if (status != YOKE_OK || is_extra(key))
                continue;
            yoke_text_printf(pointer, "/%s", key);
            status =
                pointer->failed ? yoke_fail_memory() : collect(member, pointer, extras);
            pointer->size = length;
        }
    }
    for (size_t i = 0; i < json_array_size(value) && status == YOKE_OK; i++) {
        yoke_text_printf(pointer, "/%zu", i);
        status = pointer->failed ? yoke_fail_memory()
                                 : collect(json_array_get(value, i), pointer, extras);
        pointer->size = length;
    }
    if (pointer->data != NULL)
        pointer->data[pointer->size] = '\0';
    return status;
}

yoke_status_t yoke_extras_collect(const json_t *root, json_t **out_extras)
{
    yoke_text_t pointer = {0};
    json_t *extras = json_object();
    yoke_status_t status =
        extras != NULL ? collect(root, &pointer, extras) : yoke_fail_memory();
    yoke_text_free(&pointer);
    if (status != YOKE_OK || json_object_size(extras) == 0) {
        json_decref(extras);
        extras = NULL;
    }
    if (status == YOKE_OK)
        *out_extras = extras;
    return status;
}

/* Value at a pointer whose keys hold neither '~' nor '/'; NULL where it leads nowhere. */
static json_t *resolve(json_t *value, const char *pointer)
{
    while (value != NULL && *pointer == '/') {
        size_t length = strcspn(pointer + 1, "/");
        uint64_t index;
        char key[64]; /* the keys of a plan are shorter */
        if (json_is_object(value) && length < sizeof key) {
            memcpy(key, pointer + 1, length);
            key[length] = '\0';
            value = json_object_get(value, key);
        } else if (yoke_parse_u64(pointer + 1, length, 0, SIZE_MAX, &index)) {
            value = json_array_get(value, (size_t)index);
        } else {
            value = NULL;
        }
        pointer += length + 1;
    }
    return value;
}

yoke_status_t yoke_extras_restore(json_t *root, const json_t *extras)
{
    const char *pointer;
    json_t *members;
    if (root == NULL)
        return yoke_fail_memory();
    json_object_foreach((json_t *)extras, pointer, members)
    {
        json_t *object = resolve(root, pointer);
        if (json_is_object(object) && json_object_update(object, members) != 0)
            return yoke_fail_memory();
    }
    return YOKE_OK;
}
