/* SPDX-License-Identifier: Apache-2.0 */
/* Many devices in few words: ids of a host in brackets, then equal hosts in brackets. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/plan_print.h"

/* Devices of one host, as "gpu[0-7]". */
typedef struct host_group {
    char *ids;
    yoke_strings_t hosts;
} host_group_t;

typedef struct groups {
    host_group_t *items;
    size_t count;
} groups_t;

static int compare_names(const void *a, const void *b)
{
    return yoke_natural_compare(*(char *const *)a, *(char *const *)b);
}

static size_t host_length(const char *name)
{
    return strcspn(name, "/");
}

static bool same_host(const char *a, const char *b)
{
    size_t length = host_length(a);
    return length == host_length(b) && strncmp(a, b, length) == 0;
}

static yoke_status_t add_host(groups_t *groups, const char *ids, const char *host)
{
    for (size_t i = 0; i < groups->count; i++)
        if (strcmp(groups->items[i].ids, ids) == 0)
            return yoke_strings_add(&groups->items[i].hosts, host);
    host_group_t *grown = realloc(groups->items, (groups->count + 1) * sizeof *grown);
    if (grown == NULL)
        return yoke_fail_memory();
    groups->items = grown;
    host_group_t *group = &grown[groups->count];
    *group = (host_group_t){.ids = yoke_strdup(ids)};
    if (group->ids == NULL)
        return yoke_fail_memory();
    groups->count++;
    return yoke_strings_add(&group->hosts, host);
}

/* One host's ids, `count` names from `names` on. */
static yoke_status_t take_host(groups_t *groups, char *const *names, size_t count)
{
    yoke_strings_t ids = {0};
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < count && status == YOKE_OK; i++) {
        const char *id = names[i] + host_length(names[i]);
        status = yoke_strings_add(&ids, *id == '/' ? id + 1 : id);
    }
    char *list = status == YOKE_OK ? yoke_hostlist_compress(&ids) : NULL;
    char *host = yoke_strndup(names[0], host_length(names[0]));
    if (status == YOKE_OK)
        status = list != NULL && host != NULL ? add_host(groups, list, host)
                                              : yoke_fail_memory();
    free(list);
    free(host);
    yoke_strings_free(&ids);
    return status;
}

static yoke_status_t write_groups(const groups_t *groups, yoke_text_t *text)
{
    for (size_t i = 0; i < groups->count; i++) {
        char *hosts = yoke_hostlist_compress(&groups->items[i].hosts);
        if (hosts == NULL)
            return yoke_fail_memory();
        yoke_text_printf(text, "%s%s/%s", i > 0 ? ", " : "", hosts, groups->items[i].ids);
        free(hosts);
    }
    return YOKE_OK;
}

yoke_status_t yoke_print_devices(const yoke_strings_t *names, yoke_text_t *text)
{
    groups_t groups = {0};
    yoke_status_t status = YOKE_OK;
    char **sorted = calloc(names->count + 1, sizeof *sorted);
    if (sorted == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < names->count; i++)
        sorted[i] = names->items[i];
    if (names->count > 1)
        qsort(sorted, names->count, sizeof *sorted, compare_names);
    for (size_t i = 0; i < names->count && status == YOKE_OK;) {
        size_t count = 1;
        while (i + count < names->count && same_host(sorted[i], sorted[i + count]))
            count++;
        status = take_host(&groups, sorted + i, count);
        i += count;
    }
    if (status == YOKE_OK)
        status = write_groups(&groups, text);
    for (size_t i = 0; i < groups.count; i++) {
        free(groups.items[i].ids);
        yoke_strings_free(&groups.items[i].hosts);
    }
    free(groups.items);
    free(sorted);
    return status;
}
