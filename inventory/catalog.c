/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog: its rows, and loading files one over another. */
#include "inventory/catalog_parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/file.h"
#include "inventory/document.h"
#include "inventory/parts.h"

#define MAX_CATALOG_BYTES (16u << 20)

static void clear_device(yoke_catalog_device_t *device)
{
    free(device->vendor);
    free(device->name);
    yoke_strings_free(&device->aliases);
    yoke_strings_free(&device->shared);
    free(device->pci_devices);
    free(device->architecture);
    yoke_quantity_clear(&device->memory);
    yoke_quantity_clear(&device->bandwidth);
    yoke_quantity_clear(&device->power);
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++) {
        yoke_quantity_clear(&device->compute[i]);
        yoke_quantity_clear(&device->achieved[i]);
    }
    yoke_quantity_clear(&device->bandwidth_achieved);
    free(device->link_name);
    free(device->link);
    free(device->link_topology);
    free(device->pcie_source);
    yoke_quantity_clear(&device->link_rate);
    free(device->runtime);
    free(device->collectives);
    free(device->source);
    free(device->file);
}

static void clear_link(yoke_catalog_link_t *link)
{
    free(link->name);
    free(link->kind);
    free(link->topology);
    yoke_quantity_clear(&link->rate);
    yoke_quantity_clear(&link->fraction);
    yoke_quantity_clear(&link->latency);
    free(link->source);
    free(link->file);
}

void yoke_catalog_free(yoke_catalog_t *catalog)
{
    if (catalog == NULL)
        return;
    for (size_t i = 0; i < catalog->device_count; i++)
        clear_device(&catalog->devices[i]);
    for (size_t i = 0; i < catalog->link_count; i++)
        clear_link(&catalog->links[i]);
    free(catalog->devices);
    free(catalog->links);
    yoke_catalog_index_free(catalog->index);
    free(catalog);
}

yoke_catalog_device_t *yoke_catalog_add_device(yoke_catalog_t *catalog)
{
    void *items = catalog->devices;
    yoke_catalog_device_t *row = yoke_grow(&items, &catalog->device_count, sizeof *row);
    catalog->devices = items;
    return row;
}

yoke_catalog_link_t *yoke_catalog_add_link(yoke_catalog_t *catalog)
{
    void *items = catalog->links;
    yoke_catalog_link_t *row = yoke_grow(&items, &catalog->link_count, sizeof *row);
    catalog->links = items;
    return row;
}

static bool same_device(const yoke_catalog_device_t *a, const yoke_catalog_device_t *b)
{
    bool same_vendor =
        a->vendor == NULL || b->vendor == NULL || strcasecmp(a->vendor, b->vendor) == 0;
    return same_vendor && strcasecmp(a->name, b->name) == 0;
}

/* Rows from `first` on replace earlier ones of the same name, which keep their place. */
static void replace_devices(yoke_catalog_t *catalog, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < catalog->device_count; i++) {
        size_t j = 0;
        while (j < first && !same_device(&catalog->devices[j], &catalog->devices[i]))
            j++;
        if (j < first) {
            clear_device(&catalog->devices[j]);
            catalog->devices[j] = catalog->devices[i];
        } else {
            catalog->devices[kept++] = catalog->devices[i];
        }
    }
    catalog->device_count = kept;
}

static void replace_links(yoke_catalog_t *catalog, size_t first)
{
    size_t kept = first;
    for (size_t i = first; i < catalog->link_count; i++) {
        size_t j = 0;
        while (j < first &&
               strcasecmp(catalog->links[j].name, catalog->links[i].name) != 0)
            j++;
        if (j < first) {
            clear_link(&catalog->links[j]);
            catalog->links[j] = catalog->links[i];
        } else {
            catalog->links[kept++] = catalog->links[i];
        }
    }
    catalog->link_count = kept;
}

static yoke_status_t check_repeats(const yoke_catalog_t *catalog, size_t devices,
                                   size_t links, const char *file)
{
    for (size_t i = devices; i < catalog->device_count; i++)
        for (size_t j = devices; j < i; j++)
            if (same_device(&catalog->devices[i], &catalog->devices[j]))
                return yoke_fail(YOKE_ERR_BAD_INPUT,
                                 "%s: /devices/%zu: \"%s\" stands twice", file,
                                 i - devices, catalog->devices[i].name);
    for (size_t i = links; i < catalog->link_count; i++)
        for (size_t j = links; j < i; j++)
            if (strcasecmp(catalog->links[i].name, catalog->links[j].name) == 0)
                return yoke_fail(YOKE_ERR_BAD_INPUT,
                                 "%s: /links/%zu: \"%s\" stands twice", file, i - links,
                                 catalog->links[i].name);
    return YOKE_OK;
}

static yoke_status_t add_json(const yoke_json_t *json, bool user, yoke_catalog_t *catalog)
{
    size_t devices = catalog->device_count;
    size_t links = catalog->link_count;
    yoke_status_t status = yoke_catalog_read_json(json, user, catalog);
    if (status == YOKE_OK)
        status = check_repeats(catalog, devices, links, json->name);
    if (status == YOKE_OK) {
        replace_devices(catalog, devices);
        replace_links(catalog, links);
    }
    return status;
}

static yoke_status_t add_file(const char *path, bool user, yoke_catalog_t *catalog)
{
    yoke_json_t json = {0};
    yoke_status_t status = yoke_json_read(path, MAX_CATALOG_BYTES, &json);
    if (status != YOKE_OK)
        return status;
    status = add_json(&json, user, catalog);
    yoke_json_free(&json);
    return status;
}

static yoke_status_t add_bundled(yoke_catalog_t *catalog)
{
    static const char *const names[] = {"accelerators", "links", NULL};
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; names[i] != NULL && status == YOKE_OK; i++) {
        char *path = yoke_format("%s/catalog/%s.json", yoke_data_dir(), names[i]);
        status = path == NULL ? yoke_fail_memory() : add_file(path, false, catalog);
        free(path);
    }
    return status;
}

/* Files of $YOKE_CATALOG, separated by ':'; empty ones are passed over. */
static yoke_status_t add_environment(yoke_catalog_t *catalog)
{
    const char *at = getenv("YOKE_CATALOG");
    yoke_status_t status = YOKE_OK;
    while (at != NULL && *at != '\0' && status == YOKE_OK) {
        size_t length = strcspn(at, ":");
        if (length > 0) {
            char *path = yoke_strndup(at, length);
            status = path == NULL ? yoke_fail_memory() : add_file(path, true, catalog);
            free(path);
        }
        at += length + (at[length] == ':' ? 1 : 0);
    }
    return status;
}

yoke_status_t yoke_catalog_load(const char *const *files, yoke_catalog_t **out_catalog)
{
    yoke_catalog_t *catalog = calloc(1, sizeof *catalog);
    if (catalog == NULL)
        return yoke_fail_memory();
    yoke_status_t status = add_bundled(catalog);
    if (status == YOKE_OK)
        status = add_environment(catalog);
    for (size_t i = 0; files != NULL && files[i] != NULL && status == YOKE_OK; i++)
        status = add_file(files[i], true, catalog);
    if (status == YOKE_OK)
        status = yoke_catalog_index_build(catalog);
    if (status != YOKE_OK)
        yoke_catalog_free(catalog);
    else
        *out_catalog = catalog;
    return status;
}

yoke_status_t yoke_catalog_parse(const char *name, const char *data, size_t size,
                                 yoke_catalog_t **out_catalog)
{
    yoke_json_t json = {0};
    yoke_status_t status = yoke_json_parse(name, data, size, &json);
    if (status != YOKE_OK)
        return status;
    yoke_catalog_t *catalog = calloc(1, sizeof *catalog);
    status = catalog == NULL ? yoke_fail_memory() : add_json(&json, true, catalog);
    if (status == YOKE_OK)
        status = yoke_catalog_index_build(catalog);
    yoke_json_free(&json);
    if (status != YOKE_OK)
        yoke_catalog_free(catalog);
    else
        *out_catalog = catalog;
    return status;
}

/* --- the process's catalog -------------------------------------------------------- */

static pthread_mutex_t default_lock = PTHREAD_MUTEX_INITIALIZER;
static yoke_catalog_t *default_catalog;

yoke_status_t yoke_catalog_default(const yoke_catalog_t **out_catalog)
{
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&default_lock);
    if (default_catalog == NULL)
        status = yoke_catalog_load(NULL, &default_catalog);
    if (status == YOKE_OK)
        *out_catalog = default_catalog;
    pthread_mutex_unlock(&default_lock);
    return status;
}

yoke_status_t yoke_catalog_use(const char *const *files)
{
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&default_lock);
    if (default_catalog != NULL)
        status = yoke_fail(YOKE_ERR_USAGE,
                           "catalog files must be given before the catalog is used");
    else
        status = yoke_catalog_load(files, &default_catalog);
    pthread_mutex_unlock(&default_lock);
    return status;
}
