/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences of two inventories. Both are compared as documents, member by member, so
 * that no field can be forgotten; array items are paired by what names them.
 */
#include "inventory/operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "inventory/document.h"
#include "inventory/parts.h"

typedef struct differ {
    yoke_changes_t *changes;
    const char *where;
    yoke_text_t path; /* inside `where` */
    bool failed;
} differ_t;

/* --- recording -------------------------------------------------------------------- */

static void clear_change(yoke_change_t *change)
{
    free(change->what);
    free(change->where);
    free(change->field);
    free(change->before);
    free(change->after);
    free(change->note);
}

void yoke_changes_free(yoke_changes_t *changes)
{
    for (size_t i = 0; i < changes->count; i++)
        clear_change(&changes->items[i]);
    free(changes->items);
    *changes = (yoke_changes_t){0};
}

static char *value_text(const json_t *value)
{
    if (value == NULL)
        return NULL;
    if (json_is_string(value))
        return yoke_strdup(json_string_value(value));
    char *dumped =
        json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(12));
    char *text = dumped == NULL ? NULL : yoke_strdup(dumped);
    free(dumped);
    return text;
}

static void record(differ_t *differ, const char *what, const char *field,
                   const json_t *before, const json_t *after, const char *note)
{
    yoke_change_t change = {
        .what = yoke_strdup(what),
        .where = yoke_strdup(differ->where),
        .field = field == NULL ? NULL : yoke_strdup(field),
        .before = value_text(before),
        .after = value_text(after),
        .note = note == NULL ? NULL : yoke_strdup(note),
    };
    yoke_changes_t *changes = differ->changes;
    void *items = changes->items;
    yoke_change_t *slot = yoke_grow(&items, &changes->count, sizeof *slot);
    if (slot == NULL || change.what == NULL || change.where == NULL) {
        differ->failed = true;
        clear_change(&change);
        if (slot != NULL)
            changes->count--;
    }
    if (items != NULL)
        changes->items = items;
    if (!differ->failed)
        *slot = change;
}

/* --- what is no change ------------------------------------------------------------ */

static bool is_volatile(const char *path)
{
    return strcmp(path, "/gathered_at") == 0 || strcmp(path, "/memory/free") == 0 ||
           strncmp(path, "/memory/origin/free", strlen("/memory/origin/free")) == 0;
}

static bool is_measured(const json_t *object)
{
    const char *source = json_string_value(json_object_get(object, "source"));
    return source != NULL && strcmp(source, "measured") == 0;
}

static bool is_close(const json_t *before, const json_t *after)
{
    double a = json_number_value(before);
    double b = json_number_value(after);
    double larger = a > b ? a : b;
    double apart = a > b ? a - b : b - a;
    return json_is_number(before) && json_is_number(after) && apart <= 0.1 * larger;
}

/* Documents hold 12 digits: numbers that are written alike are equal. */
static bool is_written_alike(const json_t *before, const json_t *after)
{
    if (!json_is_number(before) || !json_is_number(after))
        return false;
    char *left = value_text(before);
    char *right = value_text(after);
    bool alike = left != NULL && right != NULL && strcmp(left, right) == 0;
    free(left);
    free(right);
    return alike;
}

/* --- pairing ---------------------------------------------------------------------- */

static char *identity_of(const json_t *item)
{
    static const char *const names[] = {"id", "probe", "runtime", NULL};
    if (!json_is_object(item))
        return value_text(item);
    const json_t *between = json_object_get(item, "between");
    if (between != NULL)
        return value_text(between);
    for (size_t i = 0; names[i] != NULL; i++) {
        const char *name = json_string_value(json_object_get(item, names[i]));
        if (name == NULL)
            continue;
        const char *platform = json_string_value(json_object_get(item, "platform"));
        return yoke_format("%s%s%s", name, platform == NULL ? "" : ":",
                           platform == NULL ? "" : platform);
    }
    return yoke_strdup("?");
}

typedef struct named {
    char *name; /* with "#2" for the second of a name */
    const json_t *item;
} named_t;

static int compare_named(const void *a, const void *b)
{
    const named_t *left = a;
    const named_t *right = b;
    return yoke_natural_compare(left->name, right->name);
}

static void free_named(named_t *list, size_t count)
{
    for (size_t i = 0; list != NULL && i < count; i++)
        free(list[i].name);
    free(list);
}

static named_t *name_items(const json_t *array)
{
    size_t count = json_array_size(array);
    named_t *list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < count; i++) {
        char *name = identity_of(json_array_get(array, i));
        size_t same = 1;
        for (size_t j = 0; name != NULL && j < i; j++) {
            size_t length = strlen(name);
            if (strncmp(list[j].name, name, length) == 0 &&
                (list[j].name[length] == '\0' || list[j].name[length] == '\t'))
                same++;
        }
        list[i].item = json_array_get(array, i);
        list[i].name =
            name == NULL || same == 1 ? name : yoke_format("%s\t%zu", name, same);
        if (list[i].name != name)
            free(name);
        if (list[i].name == NULL) {
            free_named(list, i);
            return NULL;
        }
    }
    if (list != NULL && count > 1)
        qsort(list, count, sizeof *list, compare_named);
    return list;
}

/* --- comparing -------------------------------------------------------------------- */

static void compare_values(differ_t *differ, const json_t *before, const json_t *after);

static bool is_list_of_names(const json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++)
        if (json_is_object(json_array_get(array, i)))
            return false;
    return true;
}

static void step(differ_t *differ, const char *name, const json_t *before,
                 const json_t *after)
{
    size_t size = differ->path.size;
    yoke_text_printf(&differ->path, "/%s", name);
    compare_values(differ, before, after);
    if (differ->path.data != NULL) {
        differ->path.size = size;
        differ->path.data[size] = '\0';
    }
}

typedef void (*pair_t)(differ_t *differ, const char *name, const json_t *before,
                       const json_t *after);

/* Calls `pair` for items of one name; one side is NULL where it has none. */
static void pair_items(differ_t *differ, const json_t *before, const json_t *after,
                       pair_t pair)
{
    size_t before_count = json_array_size(before);
    size_t after_count = json_array_size(after);
    named_t *left = name_items(before);
    named_t *right = name_items(after);
    size_t i = 0;
    size_t j = 0;
    differ->failed = differ->failed || left == NULL || right == NULL;
    while (!differ->failed && (i < before_count || j < after_count)) {
        int order = i == before_count  ? 1
                    : j == after_count ? -1
                                       : compare_named(&left[i], &right[j]);
        pair(differ, order <= 0 ? left[i].name : right[j].name,
             order <= 0 ? left[i].item : NULL, order >= 0 ? right[j].item : NULL);
        i += order <= 0 ? 1 : 0;
        j += order >= 0 ? 1 : 0;
    }
    free_named(left, before_count);
    free_named(right, after_count);
}

static const char *note_of(const char *path, const json_t *after)
{
    const char *text = json_string_value(after);
    if (strcmp(path, "/health") == 0 && text != NULL && strcmp(text, "lost") == 0)
        return "device lost";
    if (strcmp(path, "/health") == 0 && text != NULL && strcmp(text, "faulty") == 0)
        return "device faulty";
    if (strcmp(path, "/schedulable") == 0 && json_is_false(after))
        return "can no longer be scheduled";
    return NULL;
}

static void compare_objects(differ_t *differ, const json_t *before, const json_t *after)
{
    const char *key;
    json_t *value;
    bool measured = is_measured(before) && is_measured(after);
    json_object_foreach((json_t *)(size_t)before, key, value)
    {
        const json_t *other = json_object_get(after, key);
        if (!(measured && is_close(value, other)))
            step(differ, key, value, other);
    }
    json_object_foreach((json_t *)(size_t)after, key, value)
    {
        if (json_object_get(before, key) == NULL)
            step(differ, key, NULL, value);
    }
}

static void compare_values(differ_t *differ, const json_t *before, const json_t *after)
{
    const char *path = yoke_text_get(&differ->path);
    if (differ->failed || is_volatile(path) || json_equal(before, after) ||
        is_written_alike(before, after))
        return;
    if (json_is_object(before) && json_is_object(after))
        compare_objects(differ, before, after);
    else if (json_is_array(before) && json_is_array(after) &&
             !(is_list_of_names(before) && is_list_of_names(after)))
        pair_items(differ, before, after, step);
    else
        record(differ, "changed", path, before, after, note_of(path, after));
}

/* A card that runs below what it can; only told where the speed changed. */
static void note_slow_links(yoke_changes_t *changes, size_t first, const json_t *device)
{
    const json_t *pcie = json_object_get(device, "pcie");
    double lanes = json_number_value(json_object_get(pcie, "lanes"));
    double generation = json_number_value(json_object_get(pcie, "generation"));
    bool slow = lanes < json_number_value(json_object_get(pcie, "lanes_max")) ||
                generation < json_number_value(json_object_get(pcie, "generation_max"));
    for (size_t i = first; i < changes->count && slow; i++) {
        yoke_change_t *change = &changes->items[i];
        if (change->field != NULL && strncmp(change->field, "/pcie/", 6) == 0 &&
            change->note == NULL)
            change->note = yoke_strdup("runs below its maximum");
    }
}

static const json_t *label_of(const json_t *device)
{
    const json_t *type = json_object_get(device, "type");
    const json_t *name = json_object_get(device, "name");
    if (json_is_string(type))
        return type;
    return json_is_string(name) ? name : NULL;
}

static void pair_devices(differ_t *differ, const char *name, const json_t *before,
                         const json_t *after)
{
    const char *outer = differ->where;
    char *where = yoke_format("%s/%s", outer, name);
    yoke_text_t path = differ->path;
    size_t first = differ->changes->count;
    if (where == NULL) {
        differ->failed = true;
        return;
    }
    differ->where = where;
    differ->path = (yoke_text_t){0};
    if (before == NULL)
        record(differ, "added", NULL, NULL, label_of(after), NULL);
    else if (after == NULL)
        record(differ, "removed", NULL, label_of(before), NULL, NULL);
    else
        compare_objects(differ, before, after);
    note_slow_links(differ->changes, first, after);
    yoke_text_free(&differ->path);
    differ->where = outer;
    differ->path = path;
    free(where);
}

static void compare_nodes(differ_t *differ, const json_t *before, const json_t *after)
{
    const char *key;
    json_t *value;
    pair_items(differ, json_object_get(before, "devices"),
               json_object_get(after, "devices"), pair_devices);
    json_object_foreach((json_t *)(size_t)before, key, value)
    {
        if (strcmp(key, "devices") != 0 && strcmp(key, "hosts") != 0)
            step(differ, key, value, json_object_get(after, key));
    }
    json_object_foreach((json_t *)(size_t)after, key, value)
    {
        if (json_object_get(before, key) == NULL)
            step(differ, key, NULL, value);
    }
}

static void pair_links(differ_t *differ, const char *name, const json_t *before,
                       const json_t *after)
{
    char *where = yoke_format("link %s", name);
    if (where == NULL) {
        differ->failed = true;
        return;
    }
    differ->where = where;
    if (before == NULL)
        record(differ, "added", NULL, NULL, json_object_get(after, "kind"), NULL);
    else if (after == NULL)
        record(differ, "removed", NULL, json_object_get(before, "kind"), NULL,
               "link lost");
    else
        compare_objects(differ, before, after);
    free(where);
}

/* --- hosts ------------------------------------------------------------------------ */

typedef struct host {
    char *name;
    size_t before, after; /* node entries; SIZE_MAX: none */
} host_t;

static int compare_hosts(const void *a, const void *b)
{
    return yoke_natural_compare(((const host_t *)a)->name, ((const host_t *)b)->name);
}

static int compare_pairs(const void *a, const void *b)
{
    const host_t *left = a;
    const host_t *right = b;
    if (left->before != right->before)
        return left->before < right->before ? -1 : 1;
    if (left->after != right->after)
        return left->after < right->after ? -1 : 1;
    return compare_hosts(a, b);
}

typedef struct hosts {
    host_t *items;
    size_t count;
} hosts_t;

static void free_hosts(hosts_t *hosts)
{
    for (size_t i = 0; i < hosts->count; i++)
        free(hosts->items[i].name);
    free(hosts->items);
}

static yoke_status_t add_hosts(const yoke_inventory_t *inventory, bool after,
                               hosts_t *hosts)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++) {
        yoke_strings_t names = {0};
        status = yoke_hostlist_expand(inventory->nodes[i].hosts, &names);
        for (size_t j = 0; j < names.count && status == YOKE_OK; j++) {
            void *items = hosts->items;
            host_t *host = yoke_grow(&items, &hosts->count, sizeof *host);
            if (host == NULL) {
                status = YOKE_ERR_NO_MEMORY;
                break;
            }
            hosts->items = items;
            *host = (host_t){names.items[j], after ? SIZE_MAX : i, after ? i : SIZE_MAX};
            names.items[j] = NULL;
        }
        yoke_strings_free(&names);
    }
    return status;
}

/* One item a host: where it stands before and where after. */
static void join_hosts(hosts_t *hosts)
{
    size_t kept = 0;
    if (hosts->count > 1)
        qsort(hosts->items, hosts->count, sizeof *hosts->items, compare_hosts);
    for (size_t i = 0; i < hosts->count; i++) {
        host_t *last = kept > 0 ? &hosts->items[kept - 1] : NULL;
        host_t *host = &hosts->items[i];
        if (last == NULL || strcmp(last->name, host->name) != 0) {
            hosts->items[kept++] = *host;
            continue;
        }
        last->before = last->before != SIZE_MAX ? last->before : host->before;
        last->after = last->after != SIZE_MAX ? last->after : host->after;
        free(host->name);
    }
    hosts->count = kept;
    if (kept > 1)
        qsort(hosts->items, kept, sizeof *hosts->items, compare_pairs);
}

/* Hosts first..last stand in the same entries: compare those once. */
static void compare_entry(differ_t *differ, const hosts_t *hosts, size_t first,
                          size_t last, const json_t *before, const json_t *after)
{
    yoke_strings_t names = {0};
    const host_t *host = &hosts->items[first];
    for (size_t i = first; i <= last && !differ->failed; i++)
        differ->failed = yoke_strings_add(&names, hosts->items[i].name) != YOKE_OK;
    char *where = differ->failed ? NULL : yoke_hostlist_compress(&names);
    differ->failed = differ->failed || where == NULL;
    differ->where = where;
    if (differ->failed)
        ;
    else if (host->before == SIZE_MAX)
        record(differ, "added", NULL, NULL, NULL, NULL);
    else if (host->after == SIZE_MAX)
        record(differ, "removed", NULL, NULL, NULL, NULL);
    else
        compare_nodes(differ, json_array_get(before, host->before),
                      json_array_get(after, host->after));
    free(where);
    yoke_strings_free(&names);
}

static void compare_all(differ_t *differ, const hosts_t *hosts, const json_t *before,
                        const json_t *after)
{
    const json_t *before_nodes = json_object_get(before, "nodes");
    const json_t *after_nodes = json_object_get(after, "nodes");
    for (size_t first = 0; first < hosts->count && !differ->failed;) {
        size_t last = first;
        while (last + 1 < hosts->count &&
               hosts->items[last + 1].before == hosts->items[first].before &&
               hosts->items[last + 1].after == hosts->items[first].after)
            last++;
        compare_entry(differ, hosts, first, last, before_nodes, after_nodes);
        first = last + 1;
    }
    pair_items(differ, json_object_get(before, "links"), json_object_get(after, "links"),
               pair_links);
    differ->where = "document";
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(size_t)before, key, value)
    {
        if (strncmp(key, "x-", 2) == 0)
            step(differ, key, value, json_object_get(after, key));
    }
    json_object_foreach((json_t *)(size_t)after, key, value)
    {
        if (strncmp(key, "x-", 2) == 0 && json_object_get(before, key) == NULL)
            step(differ, key, NULL, value);
    }
}

static int compare_changes(const void *a, const void *b)
{
    const yoke_change_t *left = a;
    const yoke_change_t *right = b;
    int order = yoke_natural_compare(left->where, right->where);
    if (order == 0)
        order = strcmp(left->what, right->what);
    if (order == 0)
        order = strcmp(left->field == NULL ? "" : left->field,
                       right->field == NULL ? "" : right->field);
    return order;
}

yoke_status_t yoke_inventory_diff(const yoke_inventory_t *before,
                                  const yoke_inventory_t *after,
                                  yoke_changes_t *out_changes)
{
    yoke_changes_t changes = {0};
    differ_t differ = {.changes = &changes};
    hosts_t hosts = {0};
    json_t *left = yoke_inventory_to_json(before);
    json_t *right = yoke_inventory_to_json(after);
    yoke_status_t status = left == NULL || right == NULL ? YOKE_ERR_NO_MEMORY : YOKE_OK;
    if (status == YOKE_OK)
        status = add_hosts(before, false, &hosts);
    if (status == YOKE_OK)
        status = add_hosts(after, true, &hosts);
    if (status == YOKE_OK) {
        join_hosts(&hosts);
        compare_all(&differ, &hosts, left, right);
        status = differ.failed ? yoke_fail_memory() : YOKE_OK;
    }
    free_hosts(&hosts);
    yoke_text_free(&differ.path);
    json_decref(left);
    json_decref(right);
    if (status != YOKE_OK) {
        yoke_changes_free(&changes);
        return status;
    }
    if (changes.count > 1)
        qsort(changes.items, changes.count, sizeof *changes.items, compare_changes);
    *out_changes = changes;
    return YOKE_OK;
}

/* --- showing ---------------------------------------------------------------------- */

static const char *shown(const char *value)
{
    return value == NULL ? "absent" : strcmp(value, "null") == 0 ? "unknown" : value;
}

char *yoke_changes_text(const yoke_changes_t *changes)
{
    yoke_text_t text = {0};
    yoke_text_add(&text, "");
    for (size_t i = 0; i < changes->count; i++) {
        const yoke_change_t *change = &changes->items[i];
        const char *label = change->before != NULL ? change->before : change->after;
        if (change->field == NULL)
            yoke_text_printf(&text, "%s %s%s%s%s", change->what, change->where,
                             label == NULL ? "" : " (", label == NULL ? "" : label,
                             label == NULL ? "" : ")");
        else
            yoke_text_printf(&text, "%s %s %s: %s -> %s", change->what, change->where,
                             change->field, shown(change->before), shown(change->after));
        yoke_text_printf(&text, "%s%s\n", change->note == NULL ? "" : "; ",
                         change->note == NULL ? "" : change->note);
    }
    if (text.failed)
        yoke_text_free(&text);
    else if (text.data == NULL)
        return yoke_strdup("");
    return text.data;
}

json_t *yoke_changes_to_json(const yoke_changes_t *changes)
{
    json_t *list = json_array();
    for (size_t i = 0; i < changes->count; i++) {
        const yoke_change_t *change = &changes->items[i];
        json_t *object = json_object();
        yoke_json_set_string(object, "what", change->what);
        yoke_json_set_string(object, "where", change->where);
        yoke_json_set_string(object, "field", change->field);
        yoke_json_set_string(object, "before", change->before);
        yoke_json_set_string(object, "after", change->after);
        yoke_json_set_string(object, "note", change->note);
        json_array_append_new(list, object);
    }
    return list;
}
