/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster from a file, by the name of a bundled one, or from one line:
 * "2x8xA100-SXM4-80GB + 4x8xAscend910B3; nic=100Gb". */
#include "inventory/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "inventory/catalog.h"

#define MAX_NODES 1000000u
#define MAX_DEVICES 1024u

typedef struct parser {
    const char *text; /* the whole line, for messages */
    const char *at;
    const yoke_catalog_t *catalog;
    yoke_inventory_t *inventory;
    uint64_t nodes; /* so far */
} parser_t;

static yoke_status_t fail_at(const parser_t *parser, const char *at, const char *what)
{
    return yoke_fail(
        YOKE_ERR_BAD_INPUT,
        "cluster \"%s\": column %zu: %s; write NODESxDEVICESxTYPE + ..., like "
        "\"2x8xA100-SXM4-80GB + 4x8xAscend910B3; nic=100Gb\"",
        parser->text, (size_t)(at - parser->text) + 1, what);
}

static void skip_blanks(parser_t *parser)
{
    parser->at += strspn(parser->at, " \t\n");
}

static yoke_status_t read_count(parser_t *parser, uint64_t max, const char *what,
                                uint64_t *out)
{
    skip_blanks(parser);
    size_t digits = strspn(parser->at, "0123456789");
    if (!yoke_parse_u64(parser->at, digits, 1, max, out)) {
        char *message = yoke_format("expected the number of %s (1 to %llu)", what,
                                    (unsigned long long)max);
        yoke_status_t status =
            fail_at(parser, parser->at, message == NULL ? "" : message);
        free(message);
        return status;
    }
    parser->at += digits;
    skip_blanks(parser);
    if (*parser->at != 'x' && *parser->at != 'X')
        return fail_at(parser, parser->at, "expected 'x' after the number");
    parser->at++;
    skip_blanks(parser);
    return YOKE_OK;
}

static yoke_status_t fail_type(const parser_t *parser, const char *at, const char *name)
{
    char *nearest = yoke_catalog_nearest(parser->catalog, name);
    yoke_status_t status = yoke_fail(
        YOKE_ERR_BAD_INPUT,
        "cluster \"%s\": column %zu: \"%s\" is not in the catalog%s%s; `yoke catalog` "
        "lists "
        "the names, a cluster file with --assume takes devices that it does not have",
        parser->text, (size_t)(at - parser->text) + 1, name,
        nearest == NULL ? "" : "; near are ", nearest == NULL ? "" : nearest);
    free(nearest);
    return status;
}

/* A type ends at '+', ';' or a ')' that it did not open ("T20(32GB)"). */
static size_t type_length(const char *at)
{
    size_t length = 0;
    int depth = 0;
    for (; at[length] != '\0' && strchr("+;", at[length]) == NULL; length++) {
        depth += (at[length] == '(') - (at[length] == ')');
        if (depth < 0)
            break;
    }
    while (length > 0 && strchr(" \t\n", at[length - 1]) != NULL)
        length--;
    return length;
}

static yoke_status_t read_type(parser_t *parser, const yoke_catalog_device_t **out_row)
{
    const char *start = parser->at;
    size_t length = type_length(start);
    if (length == 0)
        return fail_at(parser, start, "expected the name of a device type");
    char *name = yoke_strndup(start, length);
    if (name == NULL)
        return yoke_fail_memory();
    const yoke_catalog_device_t *row = yoke_catalog_find(parser->catalog, NULL, name);
    yoke_status_t status = row == NULL ? fail_type(parser, start, name) : YOKE_OK;
    free(name);
    if (status != YOKE_OK)
        return status;
    parser->at = start + length;
    skip_blanks(parser);
    *out_row = row;
    return YOKE_OK;
}

static yoke_status_t add_devices(const parser_t *parser, yoke_node_t *node,
                                 const yoke_catalog_device_t *row, uint64_t count)
{
    if (node->device_count + count > MAX_DEVICES)
        return fail_at(parser, parser->at, "more than 1024 devices in a node");
    for (uint64_t i = 0; i < count; i++) {
        size_t index = node->device_count;
        yoke_inventory_device_t *device = yoke_node_add_device(node);
        if (device == NULL)
            return YOKE_ERR_NO_MEMORY;
        device->kind = row->kind;
        device->schedulable = true;
        device->id = yoke_format("%s%zu", yoke_device_kind_name(row->kind), index);
        if (device->id == NULL)
            return yoke_fail_memory();
        yoke_status_t status = yoke_set_string(&device->type, row->name);
        if (status == YOKE_OK)
            status = yoke_set_string(&device->vendor, row->vendor);
        if (status == YOKE_OK)
            status = yoke_catalog_join(parser->catalog, device);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

static yoke_status_t read_group(parser_t *parser, yoke_node_t *node,
                                const yoke_catalog_device_t **out_row)
{
    uint64_t devices = 0;
    yoke_status_t status = read_count(parser, MAX_DEVICES, "devices", &devices);
    if (status == YOKE_OK)
        status = read_type(parser, out_row);
    if (status == YOKE_OK)
        status = add_devices(parser, node, *out_row, devices);
    return status;
}

static yoke_status_t read_mixed(parser_t *parser, yoke_node_t *node)
{
    const yoke_catalog_device_t *row = NULL;
    for (;;) {
        yoke_status_t status = read_group(parser, node, &row);
        if (status != YOKE_OK)
            return status;
        char next = *parser->at;
        if (next != '+' && next != ')')
            return fail_at(parser, parser->at, "expected '+' or ')'");
        parser->at++;
        if (next == ')')
            break;
    }
    skip_blanks(parser);
    return YOKE_OK;
}

/* "Ascend 910B3" -> "ascend-910b3" */
static char *slug_of(const char *name)
{
    yoke_text_t slug = {0};
    for (; *name != '\0'; name++) {
        bool upper = *name >= 'A' && *name <= 'Z';
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= '0' && *name <= '9');
        char c = upper ? (char)(*name - 'A' + 'a') : *name;
        if (upper || plain)
            yoke_text_add_bytes(&slug, &c, 1);
        else if (slug.size > 0 && slug.data[slug.size - 1] != '-')
            yoke_text_add(&slug, "-");
    }
    while (slug.size > 0 && slug.data[slug.size - 1] == '-')
        slug.data[--slug.size] = '\0';
    return slug.data;
}

/* How many hosts the earlier entries named after this type have. */
static uint64_t hosts_of_slug(const yoke_inventory_t *inventory, const char *slug)
{
    uint64_t count = 0;
    size_t length = strlen(slug);
    for (size_t i = 0; i < inventory->node_count; i++) {
        const char *hosts = inventory->nodes[i].hosts;
        if (hosts != NULL && strncmp(hosts, slug, length) == 0 && hosts[length] == '-' &&
            strspn(hosts + length + 1, "[0123456789-]") == strlen(hosts + length + 1))
            count += yoke_hostlist_count(hosts);
    }
    return count;
}

static yoke_status_t name_hosts(parser_t *parser, size_t index, const char *type,
                                uint64_t nodes)
{
    char *slug = slug_of(type);
    if (slug == NULL)
        return yoke_fail_memory();
    uint64_t first = hosts_of_slug(parser->inventory, slug) + 1;
    uint64_t last = first + nodes - 1;
    char *hosts = nodes == 1
                      ? yoke_format("%s-%02llu", slug, (unsigned long long)first)
                      : yoke_format("%s-[%02llu-%02llu]", slug, (unsigned long long)first,
                                    (unsigned long long)last);
    yoke_status_t status =
        hosts == NULL ? yoke_fail_memory()
                      : yoke_set_string(&parser->inventory->nodes[index].hosts, hosts);
    free(hosts);
    free(slug);
    return status;
}

static yoke_status_t read_term(parser_t *parser)
{
    const yoke_catalog_device_t *row = NULL;
    uint64_t nodes = 0;
    yoke_status_t status = read_count(parser, MAX_NODES, "nodes", &nodes);
    if (status != YOKE_OK)
        return status;
    parser->nodes += nodes;
    if (parser->nodes > MAX_NODES)
        return fail_at(parser, parser->at, "more than 1000000 nodes");
    yoke_node_t *node = yoke_inventory_add_node(parser->inventory, NULL);
    if (node == NULL)
        return YOKE_ERR_NO_MEMORY;
    size_t index = parser->inventory->node_count - 1;
    if (*parser->at == '(') {
        parser->at++;
        status = read_mixed(parser, node);
    } else {
        status = read_group(parser, node, &row);
    }
    if (status != YOKE_OK)
        return status;
    return name_hosts(parser, index, row == NULL ? "mixed" : row->name, nodes);
}

static yoke_status_t set_option(parser_t *parser, const char *start, bool nic,
                                double rate)
{
    yoke_status_t status = YOKE_OK;
    if (rate <= 0)
        return fail_at(parser, start, "a rate must be above zero");
    for (size_t i = 0; i < parser->inventory->node_count && status == YOKE_OK; i++) {
        yoke_node_t *node = &parser->inventory->nodes[i];
        yoke_nic_t *added = nic ? yoke_node_add_nic(node) : NULL;
        if (nic && added == NULL)
            return YOKE_ERR_NO_MEMORY;
        if (nic) {
            status = yoke_set_string(&added->id, "nic0");
            if (status == YOKE_OK)
                status = yoke_quantity_set(&added->rate, rate, YOKE_SOURCE_USER, 0, NULL);
            continue;
        }
        for (size_t j = 0; j < node->device_count && status == YOKE_OK; j++)
            status = yoke_device_set_link(&node->devices[j], rate, NULL);
    }
    return status;
}

static yoke_status_t read_option(parser_t *parser, bool seen[2])
{
    skip_blanks(parser);
    const char *start = parser->at;
    bool nic = strncmp(start, "nic=", 4) == 0;
    bool link = strncmp(start, "link=", 5) == 0;
    if (!nic && !link)
        return fail_at(parser, start, "expected nic=RATE or link=RATE after ';'");
    if (seen[nic])
        return fail_at(parser, start, "this option stands twice");
    seen[nic] = true;
    const char *value = start + (nic ? 4 : 5);
    size_t length = strcspn(value, ";,");
    parser->at = value + length;
    while (length > 0 && strchr(" \t\n", value[length - 1]) != NULL)
        length--;
    char *text = yoke_strndup(value, length);
    double rate = 0;
    if (text == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_parse_quantity(text, &rate);
    free(text);
    return status == YOKE_OK ? set_option(parser, start, nic, rate) : status;
}

static yoke_status_t read_line(parser_t *parser)
{
    bool seen[2] = {false, false};
    for (;;) {
        yoke_status_t status = read_term(parser);
        if (status != YOKE_OK)
            return status;
        if (*parser->at != '+')
            break;
        parser->at++;
    }
    if (*parser->at != ';' && *parser->at != '\0')
        return fail_at(parser, parser->at, "expected '+', ';' or the end");
    while (*parser->at == ';' || *parser->at == ',') {
        parser->at++;
        yoke_status_t status = read_option(parser, seen);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

static yoke_status_t parse_line(const yoke_catalog_t *catalog, const char *line,
                                yoke_inventory_t **out_inventory)
{
    parser_t parser = {.text = line, .at = line, .catalog = catalog};
    parser.inventory = yoke_inventory_new();
    if (parser.inventory == NULL)
        return YOKE_ERR_NO_MEMORY;
    yoke_status_t status = read_line(&parser);
    if (status == YOKE_OK)
        status = yoke_set_string(&parser.inventory->name, line);
    if (status != YOKE_OK)
        yoke_inventory_free(parser.inventory);
    else
        *out_inventory = parser.inventory;
    return status;
}

/* "2x8xA100" begins with a count; a path with a folder or an ending is meant as a file.
 */
static bool looks_like_line(const char *text)
{
    text += strspn(text, " \t\n");
    size_t digits = strspn(text, "0123456789");
    text += digits + strspn(text + digits, " \t");
    return digits > 0 && (*text == 'x' || *text == 'X');
}

/* --- bundled clusters --------------------------------------------------------------- */

static yoke_status_t fail_bundled(const char *name)
{
    yoke_strings_t names = {0};
    yoke_text_t list = {0};
    yoke_data_names("clusters", &names);
    for (size_t i = 0; i < names.count; i++)
        yoke_text_printf(&list, "%s%s", i > 0 ? ", " : "", names.items[i]);
    yoke_status_t status =
        yoke_fail(YOKE_ERR_BAD_INPUT,
                  "--cluster: there is no file '%s' and no bundled cluster of that name "
                  "(%s); one line "
                  "looks like \"2x8xA100-SXM4-80GB + 4x8xV100-SXM2-32GB; nic=100Gb\"",
                  name, list.size > 0 ? yoke_text_get(&list) : "none is installed");
    yoke_text_free(&list);
    yoke_strings_free(&names);
    return status;
}

static yoke_status_t load_file(const yoke_catalog_t *catalog, const char *path,
                               yoke_inventory_t **out_inventory)
{
    yoke_inventory_t *inventory = NULL;
    yoke_status_t status = yoke_inventory_read(path, &inventory);
    if (status == YOKE_OK)
        status = yoke_catalog_join_inventory(catalog, inventory);
    if (status != YOKE_OK)
        yoke_inventory_free(inventory);
    else
        *out_inventory = inventory;
    return status;
}

static yoke_status_t load_bundled(const yoke_catalog_t *catalog, const char *name,
                                  yoke_inventory_t **out_inventory)
{
    yoke_inventory_t *inventory = NULL;
    char *path = yoke_format("%s/clusters/%s.json", yoke_data_dir(), name);
    if (path == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_file_exists(path) ? load_file(catalog, path, &inventory)
                                                  : fail_bundled(name);
    free(path);
    /* Its own name and not its path, so that a plan is the same everywhere. */
    if (status == YOKE_OK)
        status = yoke_set_string(&inventory->name, name);
    if (status != YOKE_OK)
        yoke_inventory_free(inventory);
    else
        *out_inventory = inventory;
    return status;
}

yoke_status_t yoke_cluster_load(const char *cluster, yoke_inventory_t **out_inventory)
{
    const yoke_catalog_t *catalog = NULL;
    yoke_status_t status = yoke_catalog_default(&catalog);
    if (status != YOKE_OK)
        return status;
    if (strcmp(cluster, "-") == 0 || yoke_file_exists(cluster))
        return load_file(catalog, cluster, out_inventory);
    if (looks_like_line(cluster))
        return parse_line(catalog, cluster, out_inventory);
    if (yoke_directory_exists(cluster))
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "--cluster: '%s' is a folder; give an inventory document, and "
                         "`yoke inventory --merge FOLDER` makes one of many",
                         cluster);
    if (strchr(cluster, '/') != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "--cluster: there is no file '%s'", cluster);
    return load_bundled(catalog, cluster, out_inventory);
}
