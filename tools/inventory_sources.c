/* SPDX-License-Identifier: Apache-2.0 */
/* Where an inventory comes from: this machine, or documents. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "inventory/catalog.h"
#include "inventory/operations.h"
#include "tools/inventory_parts.h"

bool yoke_inventory_has_fault(const yoke_inventory_t *inventory)
{
    for (size_t i = 0; i < inventory->node_count; i++)
        for (size_t j = 0; j < inventory->nodes[i].finding_count; j++)
            if (inventory->nodes[i].findings[j].fault)
                return true;
    return false;
}

static yoke_status_t probe_options(const yoke_args_t *args, yoke_probe_options_t *out)
{
    const char *timeout = yoke_args_value(args, "timeout");
    *out = (yoke_probe_options_t){.struct_size = sizeof *out,
                                  .sysroot = yoke_args_value(args, "sysroot"),
                                  .backends = yoke_args_value(args, "backend")};
    if (timeout != NULL && (yoke_parse_quantity(timeout, &out->timeout) != YOKE_OK ||
                            !(out->timeout > 0) || out->timeout > 86400)) {
        yoke_usage_error(args->command,
                         "--timeout %s: give seconds above 0, at most 86400", timeout);
        return YOKE_ERR_USAGE;
    }
    return YOKE_OK;
}

yoke_status_t yoke_inventory_from_machine(const yoke_args_t *args,
                                          inventory_result_t *out)
{
    yoke_probe_options_t options;
    yoke_inventory_t *inventory = NULL;
    const yoke_catalog_t *catalog = NULL;
    yoke_status_t status = probe_options(args, &options);
    if (status == YOKE_OK)
        status = yoke_probe(&options, &inventory);
    if (status == YOKE_OK && yoke_args_has(args, "measure")) {
        /* Published figures first: a lower bound must not take their place. */
        status = yoke_catalog_default(&catalog);
        if (status == YOKE_OK)
            status = yoke_catalog_join_inventory(catalog, inventory);
        if (status == YOKE_OK)
            status = yoke_measure(inventory, &options, &out->measurements);
    }
    if (status != YOKE_OK) {
        yoke_inventory_free(inventory);
        return status;
    }
    out->inventory = inventory;
    out->partial = yoke_inventory_has_fault(inventory);
    return YOKE_OK;
}

/* --- documents ---------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return yoke_natural_compare(*(char *const *)a, *(char *const *)b);
}

static yoke_status_t add_folder(const char *folder, yoke_strings_t *files)
{
    struct dirent *entry;
    size_t first = files->count;
    yoke_status_t status = YOKE_OK;
    DIR *dir = opendir(folder);
    if (dir == NULL)
        return yoke_fail(YOKE_ERR_SYSTEM, "%s: cannot open the folder", folder);
    while (status == YOKE_OK && (entry = readdir(dir)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length < 6 || strcmp(entry->d_name + length - 5, ".json") != 0)
            continue;
        char *path = yoke_format("%s/%s", folder, entry->d_name);
        status = path != NULL ? yoke_strings_add(files, path) : yoke_fail_memory();
        free(path);
    }
    closedir(dir);
    if (status == YOKE_OK && files->count == first)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: no *.json file in this folder", folder);
    if (files->count > first)
        qsort(files->items + first, files->count - first, sizeof *files->items, by_name);
    return status;
}

static void tell_hosts(const char *what, const yoke_strings_t *hosts)
{
    char *list = hosts->count > 0 ? yoke_hostlist_compress(hosts) : NULL;
    if (list != NULL)
        fprintf(stderr, "yoke inventory: %s: %s\n", what, list);
    free(list);
}

static void tell_undecided(yoke_inventory_t *const *documents,
                           const yoke_merge_report_t *report)
{
    for (size_t i = 0; i < report->undecided_count; i++) {
        const yoke_undecided_t *item = &report->undecided[i];
        fprintf(
            stderr,
            "yoke inventory: %s: %s and %s say different things of it and no gathered_at "
            "tells which is newer; %s is taken, by its content. Leave one of them out\n",
            item->host, documents[item->taken]->name, documents[item->dropped]->name,
            documents[item->taken]->name);
    }
}

yoke_status_t yoke_inventory_combine(yoke_inventory_t **documents, size_t count,
                                     const char *expect, bool duplicates_are_news,
                                     inventory_result_t *out)
{
    yoke_merge_report_t report = {0};
    yoke_status_t status =
        yoke_inventory_merge(documents, count, expect, &out->inventory, &report);
    if (status != YOKE_OK)
        return status;
    if (duplicates_are_news) {
        tell_hosts("given more than once, the newest is taken", &report.duplicates);
        tell_undecided(documents, &report);
        out->partial = out->partial || report.undecided_count > 0;
    }
    tell_hosts("clock more than 5 minutes off the others", &report.skewed);
    tell_hosts("expected but not there", &report.missing);
    tell_hosts("there but not expected", &report.extra);
    out->partial = out->partial || report.missing.count > 0;
    yoke_merge_report_free(&report);
    return YOKE_OK;
}

yoke_status_t yoke_inventory_from_files(const yoke_args_t *args, inventory_result_t *out)
{
    yoke_strings_t files = {0};
    yoke_inventory_t **documents = NULL;
    size_t count = 0;
    yoke_status_t status = YOKE_OK;
    if (args->positional_count == 0) {
        yoke_usage_error(args->command,
                         "--merge needs documents or folders as arguments");
        return YOKE_ERR_USAGE;
    }
    for (size_t i = 0; i < args->positional_count && status == YOKE_OK; i++)
        status = yoke_directory_exists(args->positional[i])
                     ? add_folder(args->positional[i], &files)
                     : yoke_strings_add(&files, args->positional[i]);
    if (status == YOKE_OK) {
        documents = calloc(files.count + 1, sizeof *documents);
        status = documents != NULL ? YOKE_OK : yoke_fail_memory();
    }
    for (; status == YOKE_OK && count < files.count; count++) {
        status = yoke_inventory_read(files.items[count], &documents[count]);
        if (status != YOKE_OK)
            break;
    }
    if (status == YOKE_OK)
        status = yoke_inventory_combine(documents, count, yoke_args_value(args, "expect"),
                                        true, out);
    for (size_t i = 0; i < count; i++)
        yoke_inventory_free(documents[i]);
    free(documents);
    yoke_strings_free(&files);
    return status;
}

/* --- difference --------------------------------------------------------------------- */

static yoke_status_t write_changes(const yoke_args_t *args, const yoke_changes_t *changes)
{
    const char *json = yoke_args_value(args, "json");
    const char *path = json != NULL ? json : yoke_args_value(args, "output");
    if (path != NULL) {
        json_t *root = yoke_changes_to_json(changes);
        char *text = root != NULL ? yoke_json_text(root) : NULL;
        yoke_status_t status =
            text != NULL ? yoke_write_output(path, text) : yoke_fail_memory();
        free(text);
        json_decref(root);
        if (status != YOKE_OK || json != NULL)
            return status;
    }
    char *text = yoke_changes_text(changes);
    yoke_status_t status =
        text != NULL ? yoke_write_output("-", text) : yoke_fail_memory();
    free(text);
    return status;
}

int yoke_inventory_run_diff(const yoke_args_t *args)
{
    yoke_inventory_t *before = NULL, *after = NULL;
    yoke_changes_t changes = {0};
    if (args->positional_count != 2)
        return yoke_usage_error(args->command, "--diff needs two documents as arguments");
    yoke_status_t status = yoke_inventory_read(args->positional[0], &before);
    if (status == YOKE_OK)
        status = yoke_inventory_read(args->positional[1], &after);
    if (status == YOKE_OK)
        status = yoke_inventory_diff(before, after, &changes);
    if (status == YOKE_OK)
        status = write_changes(args, &changes);
    int code = status != YOKE_OK   ? yoke_status_exit_code(status)
               : changes.count > 0 ? 1
                                   : 0;
    yoke_changes_free(&changes);
    yoke_inventory_free(before);
    yoke_inventory_free(after);
    return code;
}
