/* SPDX-License-Identifier: Apache-2.0 */
/* Members whose name begins with "x-": kept from reading to writing, wherever they stand.
 */
#include "inventory/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* JSON pointer escapes, so that a '/' in a device id cannot look like a level. */
static void add_step(yoke_text_t *path, const char *step)
{
    yoke_text_add(path, "/");
    for (; *step != '\0'; step++) {
        if (*step == '~')
            yoke_text_add(path, "~0");
        else if (*step == '/')
            yoke_text_add(path, "~1");
        else
            yoke_text_add_bytes(path, step, 1);
    }
}

/* Array items are named by what identifies them, else by their place. */
static void add_item_step(yoke_text_t *path, const json_t *item, size_t index)
{
    const json_t *name = json_object_get(item, "hosts");
    if (name == NULL)
        name = json_object_get(item, "id");
    if (json_is_string(name))
        add_step(path, json_string_value(name));
    else
        yoke_text_printf(path, "/%zu", index);
}

static void shorten(yoke_text_t *path, size_t size)
{
    if (path->data == NULL)
        return;
    path->size = size;
    path->data[size] = '\0';
}

/* Called for every object of a document, the deepest first. */
typedef void (*visit_t)(json_t *object, const char *path, void *context);

static void walk(json_t *value, yoke_text_t *path, visit_t visit, void *context)
{
    size_t size = path->size;
    if (json_is_object(value)) {
        const char *key;
        json_t *member;
        json_object_foreach(value, key, member)
        {
            if (strncmp(key, "x-", 2) == 0 ||
                !(json_is_object(member) || json_is_array(member)))
                continue;
            add_step(path, key);
            walk(member, path, visit, context);
            shorten(path, size);
        }
        visit(value, yoke_text_get(path), context);
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        json_t *item = json_array_get(value, i);
        if (!json_is_object(item))
            continue;
        add_item_step(path, item, i);
        walk(item, path, visit, context);
        shorten(path, size);
    }
}

static void collect(json_t *object, const char *path, void *context)
{
    json_t *kept = NULL;
    const char *key;
    json_t *member;
    json_object_foreach(object, key, member)
    {
        if (strncmp(key, "x-", 2) != 0)
            continue;
        if (kept == NULL)
            kept = json_object();
        json_object_set_new(kept, key, json_deep_copy(member));
    }
    if (kept != NULL)
        json_object_set_new(context, path, kept);
}

yoke_status_t yoke_extra_collect(const json_t *document, void **out_extra)
{
    yoke_text_t path = {0};
    json_t *extra = json_object();
    /* walk() changes nothing by itself; collect() only reads. */
    walk((json_t *)(size_t)document, &path, collect, extra);
    bool failed = extra == NULL || path.failed;
    yoke_text_free(&path);
    if (failed || json_object_size(extra) == 0) {
        json_decref(extra);
        extra = NULL;
    }
    if (failed)
        return yoke_fail_memory();
    *out_extra = extra;
    return YOKE_OK;
}

static void attach(json_t *object, const char *path, void *context)
{
    json_t *kept = json_object_get(context, path);
    if (kept == NULL)
        return;
    json_t *copy = json_deep_copy(kept);
    json_object_update_missing(object, copy);
    json_decref(copy);
}

void yoke_extra_attach(const void *extra, json_t *document)
{
    yoke_text_t path = {0};
    if (extra == NULL)
        return;
    walk(document, &path, attach, (void *)(size_t)extra);
    yoke_text_free(&path);
}

char *yoke_extra_node_path(const char *hosts)
{
    yoke_text_t path = {0};
    yoke_text_add(&path, "/nodes");
    add_step(&path, hosts);
    if (path.failed)
        yoke_text_free(&path);
    return path.data;
}

static bool begins_with_step(const char *path, const char *prefix, size_t length)
{
    return strncmp(path, prefix, length) == 0 &&
           (path[length] == '/' || path[length] == '\0');
}

yoke_status_t yoke_extra_copy_node(void *extra, const char *from, const char *to)
{
    if (extra == NULL || strcmp(from, to) == 0)
        return YOKE_OK;
    char *old_path = yoke_extra_node_path(from);
    char *new_path = yoke_extra_node_path(to);
    json_t *added = json_object();
    const char *path;
    json_t *kept;
    size_t length = old_path == NULL ? 0 : strlen(old_path);
    json_object_foreach(extra, path, kept)
    {
        if (new_path == NULL || length == 0 || !begins_with_step(path, old_path, length))
            continue;
        char *place = yoke_format("%s%s", new_path, path + length);
        if (place != NULL)
            json_object_set_new(added, place, json_deep_copy(kept));
        free(place);
    }
    bool failed =
        old_path == NULL || new_path == NULL || json_object_update(extra, added) != 0;
    json_decref(added);
    free(old_path);
    free(new_path);
    return failed ? yoke_fail_memory() : YOKE_OK;
}

void yoke_extra_free(void *extra)
{
    json_decref(extra);
}
