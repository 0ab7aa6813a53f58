/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many inventories into one. Every node becomes a text of all that it says, hosts are
 * sorted by name, and hosts with one text fold into one entry: nothing depends on the
 * order of the documents.
 */
#include "inventory/operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "inventory/document.h"
#include "inventory/parts.h"

#define MAX_SKEW 300.0 /* seconds */

typedef struct source {
    const yoke_inventory_t *inventory;
    size_t document; /* index of the inventory among those given */
    const yoke_node_t *node;
    yoke_text_t key; /* all that it says but its hosts and time, as bytes to compare */
} source_t;

typedef struct host {
    char *name;
    const source_t *source;
} host_t;

typedef struct merger {
    source_t *sources;
    size_t source_count;
    host_t *hosts;
    size_t host_count;
} merger_t;

static void free_merger(merger_t *merger)
{
    for (size_t i = 0; i < merger->source_count; i++)
        yoke_text_free(&merger->sources[i].key);
    for (size_t i = 0; i < merger->host_count; i++)
        free(merger->hosts[i].name);
    free(merger->sources);
    free(merger->hosts);
}

void yoke_merge_report_free(yoke_merge_report_t *report)
{
    yoke_strings_free(&report->duplicates);
    for (size_t i = 0; i < report->undecided_count; i++)
        free(report->undecided[i].host);
    free(report->undecided);
    report->undecided = NULL;
    report->undecided_count = 0;
    yoke_strings_free(&report->skewed);
    yoke_strings_free(&report->missing);
    yoke_strings_free(&report->extra);
}

/* --- reading ---------------------------------------------------------------------- */

/* "x-*" members of one node, under a path that does not name its hosts. */
static json_t *extra_of(const yoke_inventory_t *inventory, const char *hosts)
{
    json_t *found = json_object();
    char *prefix = yoke_extra_node_path(hosts);
    size_t length = prefix == NULL ? 0 : strlen(prefix);
    const char *path;
    json_t *members;
    json_object_foreach((json_t *)inventory->extra, path, members)
    {
        if (prefix != NULL && strncmp(path, prefix, length) == 0 &&
            (path[length] == '/' || path[length] == '\0'))
            json_object_set(found, path + length, members);
    }
    free(prefix);
    return found;
}

static yoke_status_t read_source(const yoke_inventory_t *inventory, size_t document,
                                 size_t index, source_t *out)
{
    const yoke_node_t *node = &inventory->nodes[index];
    yoke_text_t key = {0};
    yoke_node_key(node, &key);
    if (inventory->extra != NULL) {
        json_t *extra = extra_of(inventory, node->hosts);
        char *text = json_dumps(extra, JSON_COMPACT | JSON_REAL_PRECISION(12));
        yoke_text_add(&key, text == NULL ? "" : text);
        free(text);
        json_decref(extra);
    }
    *out = (source_t){inventory, document, node, key};
    return key.failed ? yoke_fail_memory() : YOKE_OK;
}

static int compare_keys(const source_t *a, const source_t *b)
{
    size_t shorter = a->key.size < b->key.size ? a->key.size : b->key.size;
    int order = shorter == 0 ? 0 : memcmp(a->key.data, b->key.data, shorter);
    if (order != 0 || a->key.size == b->key.size)
        return order;
    return a->key.size < b->key.size ? -1 : 1;
}

static yoke_status_t add_hosts(merger_t *merger, const source_t *source)
{
    yoke_strings_t names = {0};
    yoke_status_t status = yoke_hostlist_expand(source->node->hosts, &names);
    for (size_t i = 0; i < names.count && status == YOKE_OK; i++) {
        void *items = merger->hosts;
        host_t *host = yoke_grow(&items, &merger->host_count, sizeof *host);
        if (host == NULL) {
            status = YOKE_ERR_NO_MEMORY;
            break;
        }
        merger->hosts = items;
        *host = (host_t){names.items[i], source};
        names.items[i] = NULL;
    }
    yoke_strings_free(&names);
    return status;
}

static yoke_status_t read_all(yoke_inventory_t *const *documents, size_t count,
                              merger_t *merger)
{
    size_t total = 0;
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < count; i++)
        total += documents[i]->node_count;
    merger->sources = calloc(total + 1, sizeof *merger->sources);
    if (merger->sources == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < documents[i]->node_count && status == YOKE_OK; j++) {
            source_t *source = &merger->sources[merger->source_count];
            status = read_source(documents[i], i, j, source);
            merger->source_count++;
            if (status == YOKE_OK)
                status = add_hosts(merger, source);
        }
    }
    return status;
}

/* --- hosts ------------------------------------------------------------------------ */

/* By name; of one name the newest first. Where no time tells, what the nodes say decides,
 * so that the order of the documents never does. */
static int compare_hosts(const void *a, const void *b)
{
    const host_t *left = a;
    const host_t *right = b;
    int order = yoke_natural_compare(left->name, right->name);
    if (order != 0)
        return order;
    double x = left->source->node->gathered_at;
    double y = right->source->node->gathered_at;
    if (x != y)
        return x > y ? -1 : 1;
    return compare_keys(left->source, right->source);
}

/* Two documents of equal time say different things of one host. */
static bool is_undecided(const host_t *taken, const host_t *dropped)
{
    return taken->source->node->gathered_at == dropped->source->node->gathered_at &&
           compare_keys(taken->source, dropped->source) != 0;
}

static yoke_status_t tell_undecided(const host_t *taken, const host_t *dropped,
                                    yoke_merge_report_t *report)
{
    void *items = report->undecided;
    size_t count = report->undecided_count;
    if (count > 0 && strcmp(report->undecided[count - 1].host, taken->name) == 0)
        return YOKE_OK;
    char *name = yoke_strdup(taken->name);
    yoke_undecided_t *slot =
        name == NULL ? NULL : yoke_grow(&items, &report->undecided_count, sizeof *slot);
    if (slot == NULL) {
        free(name);
        return yoke_fail_memory();
    }
    report->undecided = items;
    *slot = (yoke_undecided_t){name, taken->source->document, dropped->source->document};
    return YOKE_OK;
}

static yoke_status_t tell_duplicate(const host_t *taken, const host_t *dropped,
                                    yoke_merge_report_t *report)
{
    yoke_strings_t *told = &report->duplicates;
    if (is_undecided(taken, dropped))
        return tell_undecided(taken, dropped, report);
    if (told->count > 0 && strcmp(told->items[told->count - 1], taken->name) == 0)
        return YOKE_OK;
    return yoke_strings_add(told, taken->name);
}

static yoke_status_t drop_duplicates(merger_t *merger, yoke_merge_report_t *report)
{
    size_t kept = 0;
    yoke_status_t status = YOKE_OK;
    if (merger->host_count > 1)
        qsort(merger->hosts, merger->host_count, sizeof *merger->hosts, compare_hosts);
    for (size_t i = 0; i < merger->host_count; i++) {
        host_t *host = &merger->hosts[i];
        if (kept == 0 || strcmp(merger->hosts[kept - 1].name, host->name) != 0) {
            merger->hosts[kept++] = *host;
            continue;
        }
        if (status == YOKE_OK)
            status = tell_duplicate(&merger->hosts[kept - 1], host, report);
        free(host->name);
    }
    merger->host_count = kept;
    return status;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static yoke_status_t find_skewed(const merger_t *merger, yoke_strings_t *out_skewed)
{
    size_t count = 0;
    yoke_status_t status = YOKE_OK;
    double *times = calloc(merger->host_count + 1, sizeof *times);
    if (times == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < merger->host_count; i++)
        if (merger->hosts[i].source->node->gathered_at > 0)
            times[count++] = merger->hosts[i].source->node->gathered_at;
    if (count > 1)
        qsort(times, count, sizeof *times, compare_doubles);
    double median = count > 0 ? times[(count - 1) / 2] : 0;
    free(times);
    for (size_t i = 0; i < merger->host_count && status == YOKE_OK; i++) {
        double time = merger->hosts[i].source->node->gathered_at;
        if (time > 0 && (time > median + MAX_SKEW || time < median - MAX_SKEW))
            status = yoke_strings_add(out_skewed, merger->hosts[i].name);
    }
    return status;
}

static int compare_names(const void *a, const void *b)
{
    return yoke_natural_compare(*(const char *const *)a, *(const char *const *)b);
}

static yoke_status_t check_expected(const merger_t *merger, const char *expect,
                                    yoke_merge_report_t *report)
{
    yoke_strings_t wanted = {0};
    yoke_status_t status = yoke_hostlist_expand(expect, &wanted);
    if (status == YOKE_OK && wanted.count > 1)
        qsort(wanted.items, wanted.count, sizeof *wanted.items, compare_names);
    size_t i = 0;
    size_t j = 0;
    while (status == YOKE_OK && (i < wanted.count || j < merger->host_count)) {
        int order = i == wanted.count ? 1
                    : j == merger->host_count
                        ? -1
                        : yoke_natural_compare(wanted.items[i], merger->hosts[j].name);
        if (order < 0)
            status = yoke_strings_add(&report->missing, wanted.items[i]);
        else if (order > 0)
            status = yoke_strings_add(&report->extra, merger->hosts[j].name);
        const char *name = order <= 0 ? wanted.items[i] : NULL;
        while (order <= 0 && i < wanted.count && strcmp(wanted.items[i], name) == 0)
            i++;
        j += order >= 0 ? 1 : 0;
    }
    yoke_strings_free(&wanted);
    return status;
}

/* --- writing ---------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    const host_t *left = a;
    const host_t *right = b;
    int order = compare_keys(left->source, right->source);
    return order != 0 ? order : yoke_natural_compare(left->name, right->name);
}

static yoke_status_t keep_extra(const source_t *source, const char *hosts,
                                yoke_inventory_t *inventory)
{
    if (source->inventory->extra == NULL)
        return YOKE_OK;
    json_t *found = extra_of(source->inventory, source->node->hosts);
    char *prefix = yoke_extra_node_path(hosts);
    const char *path;
    json_t *members;
    if (inventory->extra == NULL)
        inventory->extra = json_object();
    json_object_foreach(found, path, members)
    {
        char *place = prefix == NULL ? NULL : yoke_format("%s%s", prefix, path);
        if (place != NULL)
            json_object_set(inventory->extra, place, members);
        free(place);
    }
    free(prefix);
    json_decref(found);
    return YOKE_OK;
}

/* Hosts first..last say the same: one entry, gathered when the last of them was. */
static yoke_status_t add_entry(const merger_t *merger, size_t first, size_t last,
                               yoke_inventory_t *inventory)
{
    yoke_strings_t names = {0};
    yoke_status_t status = YOKE_OK;
    double newest = 0;
    for (size_t i = first; i <= last && status == YOKE_OK; i++) {
        double time = merger->hosts[i].source->node->gathered_at;
        newest = time > newest ? time : newest;
        status = yoke_strings_add(&names, merger->hosts[i].name);
    }
    char *hosts = status == YOKE_OK ? yoke_hostlist_compress(&names) : NULL;
    yoke_strings_free(&names);
    if (hosts == NULL)
        return yoke_fail_memory();
    yoke_node_t *node = yoke_inventory_add_node(inventory, NULL);
    status = node == NULL ? YOKE_ERR_NO_MEMORY
                          : yoke_node_copy(merger->hosts[first].source->node, node);
    if (status == YOKE_OK)
        status = yoke_set_string(&node->hosts, hosts);
    if (status == YOKE_OK) {
        node->gathered_at = newest;
        status = keep_extra(merger->hosts[first].source, hosts, inventory);
    }
    free(hosts);
    return status;
}

static int compare_nodes(const void *a, const void *b)
{
    return yoke_natural_compare(((const yoke_node_t *)a)->hosts,
                                ((const yoke_node_t *)b)->hosts);
}

static yoke_status_t add_entries(merger_t *merger, yoke_inventory_t *inventory)
{
    yoke_status_t status = YOKE_OK;
    if (merger->host_count > 1)
        qsort(merger->hosts, merger->host_count, sizeof *merger->hosts, compare_texts);
    for (size_t first = 0; first < merger->host_count && status == YOKE_OK;) {
        size_t last = first;
        while (last + 1 < merger->host_count &&
               compare_keys(merger->hosts[last + 1].source,
                            merger->hosts[first].source) == 0)
            last++;
        status = add_entry(merger, first, last, inventory);
        first = last + 1;
    }
    if (inventory->node_count > 1)
        qsort(inventory->nodes, inventory->node_count, sizeof *inventory->nodes,
              compare_nodes);
    return status;
}

typedef struct link_text {
    char *text;
    const yoke_link_t *link;
} link_text_t;

static int compare_links(const void *a, const void *b)
{
    return strcmp(((const link_text_t *)a)->text, ((const link_text_t *)b)->text);
}

static char *text_of_link(const yoke_link_t *link)
{
    char numbers[3][32];
    const double values[3] = {link->rate.value, link->latency.value, link->fraction};
    for (size_t i = 0; i < 3; i++)
        yoke_snprintf(numbers[i], sizeof numbers[i], "%.12g", values[i]);
    return yoke_format(
        "%s\n%s\n%s\n%s %d %u %s\n%s %d %u %s\n%s", link->between[0], link->between[1],
        link->kind == NULL ? "" : link->kind, numbers[0], (int)link->rate.source,
        link->rate.marks, link->rate.detail == NULL ? "" : link->rate.detail, numbers[1],
        (int)link->latency.source, link->latency.marks,
        link->latency.detail == NULL ? "" : link->latency.detail, numbers[2]);
}

static yoke_status_t add_links(yoke_inventory_t *const *documents, size_t count,
                               yoke_inventory_t *inventory)
{
    link_text_t *links = NULL;
    size_t link_count = 0;
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < documents[i]->link_count && status == YOKE_OK; j++) {
            void *items = links;
            char *text = text_of_link(&documents[i]->links[j]);
            link_text_t *slot =
                text == NULL ? NULL : yoke_grow(&items, &link_count, sizeof *slot);
            if (slot == NULL) {
                free(text);
                status = yoke_fail_memory();
                break;
            }
            links = items;
            *slot = (link_text_t){text, &documents[i]->links[j]};
        }
    }
    if (link_count > 1)
        qsort(links, link_count, sizeof *links, compare_links);
    for (size_t i = 0; i < link_count && status == YOKE_OK; i++) {
        if (i > 0 && strcmp(links[i - 1].text, links[i].text) == 0)
            continue;
        yoke_link_t *link = yoke_inventory_add_link(inventory);
        status = link == NULL ? YOKE_ERR_NO_MEMORY : yoke_link_copy(links[i].link, link);
    }
    for (size_t i = 0; i < link_count; i++)
        free(links[i].text);
    free(links);
    return status;
}

/* Members of the document itself; of two values the one whose text sorts first. */
static yoke_status_t add_root_extra(const yoke_inventory_t *document,
                                    yoke_inventory_t *inventory)
{
    const json_t *members = json_object_get(document->extra, "");
    const char *key;
    json_t *value;
    if (members == NULL)
        return YOKE_OK;
    if (inventory->extra == NULL)
        inventory->extra = json_object();
    json_t *kept = json_object_get(inventory->extra, "");
    if (kept == NULL) {
        kept = json_object();
        json_object_set_new(inventory->extra, "", kept);
    }
    json_object_foreach((json_t *)(size_t)members, key, value)
    {
        json_t *old = json_object_get(kept, key);
        char *before = old == NULL ? NULL : json_dumps(old, JSON_ENCODE_ANY);
        char *after = json_dumps(value, JSON_ENCODE_ANY);
        if (before == NULL || (after != NULL && strcmp(after, before) < 0))
            json_object_set(kept, key, value);
        free(before);
        free(after);
    }
    return YOKE_OK;
}

static yoke_status_t build(yoke_inventory_t *const *documents, size_t count,
                           merger_t *merger, yoke_inventory_t **out_inventory)
{
    yoke_inventory_t *inventory = yoke_inventory_new();
    if (inventory == NULL)
        return YOKE_ERR_NO_MEMORY;
    yoke_status_t status = add_entries(merger, inventory);
    if (status == YOKE_OK)
        status = add_links(documents, count, inventory);
    for (size_t i = 0; i < count && status == YOKE_OK; i++)
        status = add_root_extra(documents[i], inventory);
    if (status != YOKE_OK)
        yoke_inventory_free(inventory);
    else
        *out_inventory = inventory;
    return status;
}

yoke_status_t yoke_inventory_merge(yoke_inventory_t *const *documents, size_t count,
                                   const char *expect, yoke_inventory_t **out_inventory,
                                   yoke_merge_report_t *out_report)
{
    merger_t merger = {0};
    yoke_merge_report_t report = {0};
    yoke_status_t status = read_all(documents, count, &merger);
    if (status == YOKE_OK)
        status = drop_duplicates(&merger, &report);
    if (status == YOKE_OK)
        status = find_skewed(&merger, &report.skewed);
    if (status == YOKE_OK && expect != NULL)
        status = check_expected(&merger, expect, &report);
    if (status == YOKE_OK)
        status = build(documents, count, &merger, out_inventory);
    free_merger(&merger);
    if (status != YOKE_OK)
        yoke_merge_report_free(&report);
    else
        *out_report = report;
    return status;
}
