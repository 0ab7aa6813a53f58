/* SPDX-License-Identifier: Apache-2.0 */
/* Looking things up in the catalog: by exact normalised names, by PCI id, by nearness. */
#include "inventory/catalog_parts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "inventory/parts.h"

/* --- names ------------------------------------------------------------------------ */

/* Makers' names that tools put before a product's name. "MTT" and "Tesla" belong to it.
 */
static const char *const prefixes[] = {
    "nvidia",    "amd",          "intel", "huawei",   "hygon",
    "cambricon", "moorethreads", "metax", "iluvatar", "kunlunxin",
    "enflame",   "biren",        "thead", "habana",   NULL};

static void strip_marks(char *text)
{
    static const char *const marks[] = {"(r)",      "(tm)",         "(c)",
                                        "\xC2\xAE", "\xE2\x84\xA2", NULL};
    for (size_t i = 0; marks[i] != NULL; i++)
        for (char *at = strstr(text, marks[i]); at != NULL; at = strstr(at, marks[i])) {
            size_t length = strlen(marks[i]);
            memmove(at, at + length, strlen(at + length) + 1);
        }
}

char *yoke_catalog_normalise(const char *name)
{
    char *out = yoke_strdup(name);
    if (out == NULL)
        return NULL;
    for (char *at = out; *at != '\0'; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    strip_marks(out);
    char *to = out;
    for (const char *from = out; *from != '\0'; from++)
        if (*from != ' ' && *from != '\t' && *from != '-' && *from != '_')
            *to++ = *from;
    *to = '\0';
    for (size_t i = 0; prefixes[i] != NULL; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(out, prefixes[i], length) == 0 && out[length] != '\0') {
            memmove(out, out + length, strlen(out + length) + 1);
            break;
        }
    }
    return out;
}

/* --- index ------------------------------------------------------------------------ */

typedef struct entry {
    char *key;
    size_t row;
} entry_t;

typedef struct index {
    entry_t *entries; /* sorted by key, then by row */
    size_t count;
} index_t;

void yoke_catalog_index_free(void *pointer)
{
    index_t *index = pointer;
    if (index == NULL)
        return;
    for (size_t i = 0; i < index->count; i++)
        free(index->entries[i].key);
    free(index->entries);
    free(index);
}

static int compare_entries(const void *a, const void *b)
{
    const entry_t *left = a;
    const entry_t *right = b;
    int order = strcmp(left->key, right->key);
    if (order != 0)
        return order;
    return left->row == right->row ? 0 : left->row < right->row ? -1 : 1;
}

static yoke_status_t add_entry(index_t *index, const char *name, size_t row)
{
    void *entries = index->entries;
    char *key = yoke_catalog_normalise(name);
    entry_t *entry =
        key == NULL ? NULL : yoke_grow(&entries, &index->count, sizeof *entry);
    if (entry == NULL) {
        free(key);
        return yoke_fail_memory();
    }
    index->entries = entries;
    *entry = (entry_t){key, row};
    return YOKE_OK;
}

/* One name must not lead to two rows of one maker; between makers the maker decides. */
static yoke_status_t check_index(const yoke_catalog_t *catalog, const index_t *index)
{
    for (size_t i = 1; i < index->count; i++) {
        const yoke_catalog_device_t *a = &catalog->devices[index->entries[i - 1].row];
        const yoke_catalog_device_t *b = &catalog->devices[index->entries[i].row];
        if (a == b || strcmp(index->entries[i - 1].key, index->entries[i].key) != 0)
            continue;
        if (a->vendor == NULL || b->vendor == NULL ||
            strcasecmp(a->vendor, b->vendor) == 0)
            return yoke_fail(
                YOKE_ERR_BAD_INPUT,
                "%s: the devices \"%s\" (%s) and \"%s\" have the same name or "
                "alias \"%s\"; remove it from one of them",
                b->file, a->name, a->file, b->name, index->entries[i].key);
    }
    return YOKE_OK;
}

yoke_status_t yoke_catalog_index_build(yoke_catalog_t *catalog)
{
    index_t *index = calloc(1, sizeof *index);
    if (index == NULL)
        return yoke_fail_memory();
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < catalog->device_count && status == YOKE_OK; i++) {
        const yoke_catalog_device_t *device = &catalog->devices[i];
        status = add_entry(index, device->name, i);
        for (size_t j = 0; j < device->aliases.count && status == YOKE_OK; j++)
            status = add_entry(index, device->aliases.items[j], i);
    }
    if (index->count > 1)
        qsort(index->entries, index->count, sizeof *index->entries, compare_entries);
    if (status == YOKE_OK)
        status = check_index(catalog, index);
    if (status != YOKE_OK) {
        yoke_catalog_index_free(index);
        return status;
    }
    yoke_catalog_index_free(catalog->index);
    catalog->index = index;
    return YOKE_OK;
}

/* --- looking up ------------------------------------------------------------------- */

static size_t lower_bound(const index_t *index, const char *key)
{
    size_t low = 0;
    size_t high = index->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(index->entries[middle].key, key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const yoke_catalog_device_t *yoke_catalog_find(const yoke_catalog_t *catalog,
                                               const char *vendor, const char *name)
{
    const index_t *index = catalog->index;
    const yoke_catalog_device_t *found = NULL;
    char *key = name == NULL ? NULL : yoke_catalog_normalise(name);
    if (key == NULL)
        return NULL;
    const char *maker = yoke_vendor_canonical(vendor);
    for (size_t i = lower_bound(index, key);
         i < index->count && strcmp(index->entries[i].key, key) == 0; i++) {
        const yoke_catalog_device_t *row = &catalog->devices[index->entries[i].row];
        const char *row_maker = yoke_vendor_canonical(row->vendor);
        if (maker != NULL && row_maker != NULL && strcasecmp(maker, row_maker) != 0)
            continue;
        if (found != NULL && found != row) {
            found = NULL; /* two makers use this name and the caller's is not known */
            break;
        }
        found = row;
    }
    free(key);
    return found;
}

static bool has_id(const yoke_catalog_device_t *row, uint16_t vendor_id,
                   uint16_t device_id)
{
    for (size_t i = 0; row->pci_vendor == vendor_id && i < row->pci_device_count; i++)
        if (row->pci_devices[i] == device_id)
            return true;
    return false;
}

/* Runtimes show a little less than the nominal size (24 GiB: 22.5), never much more. */
static bool fits_memory(const yoke_catalog_device_t *row, double memory)
{
    if (!yoke_known(&row->memory))
        return true;
    for (unsigned parts = 1; parts <= row->parts; parts++) {
        double nominal = row->memory.value / parts;
        if (memory >= 0.8 * nominal && memory <= 1.05 * nominal)
            return true;
    }
    return false;
}

static size_t collect_pci(const yoke_catalog_t *catalog, uint16_t vendor_id,
                          uint16_t device_id, double memory,
                          const yoke_catalog_device_t **out_rows, size_t capacity)
{
    size_t count = 0;
    for (size_t i = 0; i < catalog->device_count; i++) {
        const yoke_catalog_device_t *row = &catalog->devices[i];
        if (!has_id(row, vendor_id, device_id) ||
            (memory > 0 && !fits_memory(row, memory)))
            continue;
        if (count < capacity)
            out_rows[count] = row;
        count++;
    }
    return count;
}

size_t yoke_catalog_find_pci(const yoke_catalog_t *catalog, uint16_t vendor_id,
                             uint16_t device_id, double memory,
                             const yoke_catalog_device_t **out_rows, size_t capacity)
{
    if (vendor_id == 0)
        return 0;
    size_t count = collect_pci(catalog, vendor_id, device_id, memory, out_rows, capacity);
    if (count == 0 && memory > 0) /* an unusual size does not hide the card's name */
        count = collect_pci(catalog, vendor_id, device_id, 0, out_rows, capacity);
    return count;
}

const char *yoke_catalog_sharing(const yoke_catalog_device_t *row, uint16_t device_id)
{
    for (size_t i = 0; i < row->shared.count; i++)
        if (strtoul(row->shared.items[i], NULL, 16) == device_id)
            return row->shared.items[i] + 5;
    return NULL;
}

const yoke_catalog_link_t *yoke_catalog_find_link(const yoke_catalog_t *catalog,
                                                  const char *name)
{
    char *key = yoke_catalog_normalise(name);
    const yoke_catalog_link_t *found = NULL;
    for (size_t i = 0; key != NULL && i < catalog->link_count && found == NULL; i++) {
        char *other = yoke_catalog_normalise(catalog->links[i].name);
        if (other != NULL && strcmp(other, key) == 0)
            found = &catalog->links[i];
        free(other);
    }
    free(key);
    return found;
}

static const char *nic_prefix(const char *kind)
{
    if (kind != NULL && strcasecmp(kind, "infiniband") == 0)
        return "InfiniBand ";
    if (kind != NULL && strcasecmp(kind, "roce") == 0)
        return "RoCE ";
    return "TCP ";
}

const yoke_catalog_link_t *yoke_catalog_nic_link(const yoke_catalog_t *catalog,
                                                 const char *kind, double rate)
{
    const char *prefix = nic_prefix(kind);
    const yoke_catalog_link_t *best = NULL;
    double best_ratio = 0;
    for (size_t i = 0; i < catalog->link_count; i++) {
        const yoke_catalog_link_t *link = &catalog->links[i];
        if (strncmp(link->name, prefix, strlen(prefix)) != 0 ||
            !yoke_known(&link->rate) || link->rate.value <= 0 ||
            strstr(link->name, "910C") != NULL)
            continue;
        double ratio =
            rate < link->rate.value ? rate / link->rate.value : link->rate.value / rate;
        if (best == NULL || ratio > best_ratio) {
            best = link;
            best_ratio = ratio;
        }
    }
    return best;
}

/* --- a wrong name ----------------------------------------------------------------- */

typedef struct near {
    const char *name;
    double score;
} near_t;

/* Length of the longest common part, ties by how much of the longer name it is; 0 when it
 * is less than half of the wrong name. */
static double nearness(const char *a, const char *b)
{
    size_t best = 0;
    for (const char *i = a; *i != '\0'; i++)
        for (const char *j = b; *j != '\0'; j++) {
            size_t length = 0;
            while (i[length] != '\0' && i[length] == j[length])
                length++;
            best = length > best ? length : best;
        }
    size_t longest = strlen(a) > strlen(b) ? strlen(a) : strlen(b);
    if (best < 3 || 2 * best < strlen(a))
        return 0;
    return (double)best + (double)best / (double)longest;
}

static int compare_near(const void *a, const void *b)
{
    const near_t *left = a;
    const near_t *right = b;
    if (left->score > right->score)
        return -1;
    if (left->score < right->score)
        return 1;
    return yoke_natural_compare(left->name, right->name);
}

char *yoke_catalog_nearest(const yoke_catalog_t *catalog, const char *name)
{
    const index_t *index = catalog->index;
    yoke_text_t text = {0};
    char *key = yoke_catalog_normalise(name);
    near_t *near = calloc(catalog->device_count + 1, sizeof *near);
    for (size_t i = 0; key != NULL && near != NULL && i < index->count; i++) {
        const entry_t *entry = &index->entries[i];
        double score = nearness(key, entry->key);
        near[entry->row].name = catalog->devices[entry->row].name;
        if (score > near[entry->row].score)
            near[entry->row].score = score;
    }
    if (near != NULL && catalog->device_count > 1)
        qsort(near, catalog->device_count, sizeof *near, compare_near);
    for (size_t i = 0; key != NULL && near != NULL && i < catalog->device_count && i < 4;
         i++)
        if (near[i].score > 0)
            yoke_text_printf(&text, "%s%s", i > 0 ? ", " : "", near[i].name);
    free(near);
    free(key);
    return text.data;
}
