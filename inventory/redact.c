/* SPDX-License-Identifier: Apache-2.0 */
/* --redact: host names and UUIDs become counters, the same name the same counter. */
#include "inventory/operations.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"
#include "inventory/parts.h"
#include "inventory/selector.h"

typedef struct redactor {
    yoke_strings_t hosts; /* sorted; the n-th becomes host-<n> */
    int width;
    yoke_strings_t uuids; /* in order of appearance */
} redactor_t;

static int compare_names(const void *a, const void *b)
{
    return yoke_natural_compare(*(const char *const *)a, *(const char *const *)b);
}

/* --- collecting ------------------------------------------------------------------- */

static yoke_status_t collect_hosts(const yoke_inventory_t *inventory,
                                   redactor_t *redactor)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++) {
        yoke_strings_t names = {0};
        status = yoke_hostlist_expand(inventory->nodes[i].hosts, &names);
        for (size_t j = 0; j < names.count && status == YOKE_OK; j++)
            status = yoke_strings_add(&redactor->hosts, names.items[j]);
        yoke_strings_free(&names);
    }
    if (redactor->hosts.count > 1)
        qsort(redactor->hosts.items, redactor->hosts.count, sizeof(char *),
              compare_names);
    redactor->width = 2;
    for (size_t limit = 100; redactor->hosts.count >= limit; limit *= 10)
        redactor->width++;
    return status;
}

static size_t find_uuid(const redactor_t *redactor, const char *text, size_t size)
{
    for (size_t i = 0; i < redactor->uuids.count; i++)
        if (strlen(redactor->uuids.items[i]) == size &&
            strncmp(redactor->uuids.items[i], text, size) == 0)
            return i;
    return SIZE_MAX;
}

/* Texts that stand for a device's UUID, without "GPU-" and the like. */
static yoke_status_t collect_uuids(const yoke_inventory_t *inventory,
                                   redactor_t *redactor)
{
    for (size_t i = 0; i < inventory->node_count; i++) {
        for (size_t j = 0; j < inventory->nodes[i].device_count; j++) {
            const yoke_inventory_device_t *device = &inventory->nodes[i].devices[j];
            char buffer[40];
            const char *text = device->uuid_text;
            if (text == NULL && device->has_uuid)
                text = yoke_uuid_text(device->uuid, buffer);
            if (text == NULL || find_uuid(redactor, text, strlen(text)) != SIZE_MAX)
                continue;
            yoke_status_t status = yoke_strings_add(&redactor->uuids, text);
            if (status != YOKE_OK)
                return status;
        }
    }
    return YOKE_OK;
}

/* --- replacing in texts ----------------------------------------------------------- */

static char *host_name(const redactor_t *redactor, size_t index)
{
    return yoke_format("host-%0*zu", redactor->width, index + 1);
}

static void uuid_bytes(size_t index, uint8_t out[16])
{
    memset(out, 0, 16);
    for (size_t i = 0; i < 8; i++)
        out[15 - i] = (uint8_t)((index + 1) >> (8 * i) & 0xff);
}

static char *uuid_name(const redactor_t *redactor, size_t index)
{
    char buffer[40];
    uint8_t bytes[16];
    const char *text = redactor->uuids.items[index];
    size_t prefix =
        strncmp(text, "GPU-", 4) == 0 || strncmp(text, "MIG-", 4) == 0 ? 4 : 0;
    uuid_bytes(index, bytes);
    return yoke_format("%.*s%s", (int)prefix, text, yoke_uuid_text(bytes, buffer));
}

static size_t find_host(const redactor_t *redactor, const char *text, size_t size)
{
    char *name = yoke_strndup(text, size);
    size_t found = SIZE_MAX;
    char **item = name == NULL || redactor->hosts.count == 0
                      ? NULL
                      : bsearch(&name, redactor->hosts.items, redactor->hosts.count,
                                sizeof(char *), compare_names);
    if (item != NULL)
        found = (size_t)(item - redactor->hosts.items);
    free(name);
    return found;
}

static size_t word_length(const char *at)
{
    return strspn(at,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
}

/* One word; a full stop behind it is not part of it. */
static void add_word(const redactor_t *redactor, const char *word, size_t size,
                     bool hosts, yoke_text_t *out)
{
    size_t core = size;
    while (core > 0 && word[core - 1] == '.')
        core--;
    size_t uuid = find_uuid(redactor, word, core);
    size_t host = hosts && uuid == SIZE_MAX ? find_host(redactor, word, core) : SIZE_MAX;
    char *name = NULL;
    if (uuid != SIZE_MAX)
        name = uuid_name(redactor, uuid);
    else if (host != SIZE_MAX)
        name = host_name(redactor, host);
    if (name == NULL)
        core = 0;
    else
        yoke_text_add(out, name);
    yoke_text_add_bytes(out, word + core, size - core);
    free(name);
}

/* A home folder names a person. */
static size_t home_length(const char *at)
{
    if (strncmp(at, "/home/", 6) != 0)
        return 0;
    size_t name = strcspn(at + 6, "/ \t:");
    return name == 0 ? 0 : 6 + name;
}

static yoke_status_t replace(const redactor_t *redactor, bool hosts, char **member)
{
    yoke_text_t out = {0};
    if (*member == NULL)
        return YOKE_OK;
    for (const char *at = *member; *at != '\0';) {
        size_t home = home_length(at);
        size_t word = home > 0 ? home : word_length(at);
        if (home > 0)
            yoke_text_add(&out, "/home/user");
        else if (word > 0)
            add_word(redactor, at, word, hosts, &out);
        else
            yoke_text_add_bytes(&out, at, 1);
        at += word > 0 ? word : 1;
    }
    yoke_status_t status =
        out.failed ? yoke_fail_memory() : yoke_set_string(member, yoke_text_get(&out));
    yoke_text_free(&out);
    return status;
}

/* --- parts ------------------------------------------------------------------------ */

/* Names such as "cuda" may be a host's too: only free text is searched for hosts. */
static bool is_free_text(void *part, size_t offset, const yoke_part_t *table)
{
    (void)part;
    if (table == &yoke_device_part)
        return offset == offsetof(yoke_inventory_device_t, reason);
    if (table == &yoke_finding_part)
        return offset == offsetof(yoke_finding_t, text) ||
               offset == offsetof(yoke_finding_t, library);
    return false;
}

static yoke_status_t redact_part(const redactor_t *redactor, void *part,
                                 const yoke_part_t *table)
{
    yoke_status_t status = YOKE_OK;
    for (const size_t *at = table->strings; *at != YOKE_PART_END && status == YOKE_OK;
         at++)
        status = replace(redactor, is_free_text(part, *at, table),
                         yoke_part_string(part, *at));
    for (const size_t *at = table->quantities; *at != YOKE_PART_END && status == YOKE_OK;
         at++)
        status = replace(redactor, true, &yoke_part_quantity(part, *at)->detail);
    return status;
}

static yoke_status_t redact_device(const redactor_t *redactor,
                                   yoke_inventory_device_t *device)
{
    char buffer[40];
    const char *text = device->uuid_text;
    if (text == NULL && device->has_uuid)
        text = yoke_uuid_text(device->uuid, buffer);
    size_t uuid = text == NULL ? SIZE_MAX : find_uuid(redactor, text, strlen(text));
    if (uuid != SIZE_MAX)
        uuid_bytes(uuid, device->uuid);
    yoke_status_t status = redact_part(redactor, device, &yoke_device_part);
    for (size_t i = 0; i < device->view_count && status == YOKE_OK; i++)
        status = redact_part(redactor, &device->views[i], &yoke_view_part);
    return status;
}

static yoke_status_t redact_nic(const redactor_t *redactor, yoke_nic_t *nic)
{
    yoke_status_t status = redact_part(redactor, nic, &yoke_nic_part);
    for (size_t i = 0; i < nic->near_count && status == YOKE_OK; i++)
        status = replace(redactor, false, &nic->near[i]);
    return status;
}

/* New names of the hosts that a pattern matches, as a list. */
static yoke_status_t rename_hosts(const redactor_t *redactor, const char *pattern,
                                  char **out_list)
{
    yoke_strings_t names = {0};
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < redactor->hosts.count && status == YOKE_OK; i++) {
        if (!yoke_host_match(pattern, redactor->hosts.items[i]))
            continue;
        char *name = host_name(redactor, i);
        status = name == NULL ? yoke_fail_memory() : yoke_strings_add(&names, name);
        free(name);
    }
    char *list = NULL;
    if (status == YOKE_OK && names.count == 0)
        list = yoke_strdup("host-none");
    else if (status == YOKE_OK)
        list = yoke_hostlist_compress(&names);
    yoke_strings_free(&names);
    if (list == NULL)
        return yoke_fail_memory();
    *out_list = list;
    return YOKE_OK;
}

static yoke_status_t redact_node(const redactor_t *redactor, yoke_node_t *node)
{
    char *hosts = NULL;
    yoke_status_t status = rename_hosts(redactor, node->hosts, &hosts);
    if (status == YOKE_OK)
        status = yoke_set_string(&node->hosts, hosts);
    free(hosts);
    for (size_t i = 0; i < node->device_count && status == YOKE_OK; i++)
        status = redact_device(redactor, &node->devices[i]);
    for (size_t i = 0; i < node->nic_count && status == YOKE_OK; i++)
        status = redact_nic(redactor, &node->nics[i]);
    for (size_t i = 0; i < node->finding_count && status == YOKE_OK; i++)
        status = redact_part(redactor, &node->findings[i], &yoke_finding_part);
    for (size_t i = 0; i < node->warning_count && status == YOKE_OK; i++)
        status = replace(redactor, true, &node->warnings[i]);
    return status;
}

static yoke_status_t redact_selector(const redactor_t *redactor, char **selector)
{
    char *pattern = NULL;
    char *hosts = NULL;
    if (!yoke_selector_hosts(*selector, &pattern))
        return replace(redactor, false, selector);
    bool prefixed = strncmp(*selector, "host:", 5) == 0;
    const char *rest = prefixed ? "" : strchr(*selector, '/');
    yoke_status_t status = rename_hosts(redactor, pattern, &hosts);
    char *renamed = status == YOKE_OK
                        ? yoke_format("%s%s%s", prefixed ? "host:" : "", hosts, rest)
                        : NULL;
    if (status == YOKE_OK)
        status =
            renamed == NULL ? yoke_fail_memory() : yoke_set_string(selector, renamed);
    if (status == YOKE_OK)
        status = replace(redactor, false, selector);
    free(renamed);
    free(hosts);
    free(pattern);
    return status;
}

static yoke_status_t redact_link(const redactor_t *redactor, yoke_link_t *link)
{
    yoke_status_t status = redact_selector(redactor, &link->between[0]);
    if (status == YOKE_OK)
        status = redact_selector(redactor, &link->between[1]);
    if (status == YOKE_OK)
        status = replace(redactor, true, &link->rate.detail);
    if (status == YOKE_OK)
        status = replace(redactor, true, &link->latency.detail);
    return status;
}

yoke_status_t yoke_inventory_redact(yoke_inventory_t *inventory)
{
    redactor_t redactor = {0};
    yoke_status_t status = collect_hosts(inventory, &redactor);
    if (status == YOKE_OK)
        status = collect_uuids(inventory, &redactor);
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++)
        status = redact_node(&redactor, &inventory->nodes[i]);
    for (size_t i = 0; i < inventory->link_count && status == YOKE_OK; i++)
        status = redact_link(&redactor, &inventory->links[i]);
    if (status == YOKE_OK) {
        yoke_extra_free(inventory->extra);
        inventory->extra = NULL;
    }
    yoke_strings_free(&redactor.hosts);
    yoke_strings_free(&redactor.uuids);
    return status;
}
