/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/inputs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "inventory/catalog.h"

yoke_status_t yoke_input_model(const yoke_args_t *args, yoke_model_t **out_model)
{
    const char *model = yoke_args_value(args, "model");
    const char *cluster = yoke_args_value(args, "cluster");
    if (cluster != NULL && strcmp(model, "-") == 0 && strcmp(cluster, "-") == 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "--model - and --cluster -: only one of them can "
                         "be standard input; give a file for the other");
    return yoke_model_read(model, NULL, out_model);
}

/* Could this be a one-line cluster? They begin with a number of nodes. */
static bool looks_like_line(const char *text)
{
    text += strspn(text, " \t\n");
    size_t digits = strspn(text, "0123456789");
    text += digits + strspn(text + digits, " \t");
    return digits > 0 && (*text == 'x' || *text == 'X');
}

static yoke_status_t no_such_cluster(const char *name)
{
    yoke_strings_t names = {0};
    yoke_text_t list = {0};
    char *folder = yoke_format("%s/clusters", yoke_data_dir());
    DIR *directory = folder ? opendir(folder) : NULL;
    for (struct dirent *entry;
         directory != NULL && (entry = readdir(directory)) != NULL;) {
        size_t size = strlen(entry->d_name);
        if (size > 5 && strcmp(entry->d_name + size - 5, ".json") == 0) {
            entry->d_name[size - 5] = '\0';
            yoke_strings_add(&names, entry->d_name);
        }
    }
    if (directory != NULL)
        closedir(directory);
    for (size_t i = 0; i < names.count; i++) /* insertion sort: the folder has no order */
        for (size_t j = i;
             j > 0 && yoke_natural_compare(names.items[j - 1], names.items[j]) > 0; j--) {
            char *swap = names.items[j];
            names.items[j] = names.items[j - 1];
            names.items[j - 1] = swap;
        }
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
    free(folder);
    return status;
}

static yoke_status_t load_cluster(const char *name, yoke_inventory_t **out_inventory)
{
    if (yoke_file_exists(name) || strcmp(name, "-") == 0 || looks_like_line(name))
        return yoke_cluster_load(name, out_inventory);
    if (yoke_directory_exists(name))
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "--cluster: '%s' is a folder; give an inventory document, and "
                         "`yoke inventory --merge FOLDER` makes one of many",
                         name);
    if (strchr(name, '/') != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "--cluster: there is no file '%s'", name);
    char *path = yoke_format("%s/clusters/%s.json", yoke_data_dir(), name);
    if (path == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_file_exists(path) ? yoke_cluster_load(path, out_inventory)
                                                  : no_such_cluster(name);
    if (status == YOKE_OK) { /* the bundled name, so that a plan is the same everywhere */
        free((*out_inventory)->name);
        (*out_inventory)->name = yoke_strdup(name);
    }
    free(path);
    return status;
}

yoke_status_t yoke_input_catalog(const yoke_args_t *args)
{
    enum { MOST = 32 };
    const char *files[MOST + 1] = {NULL};
    if (yoke_args_nth(args, "catalog", MOST) != NULL)
        return yoke_fail(YOKE_ERR_USAGE, "--catalog: at most %d files", MOST);
    for (size_t i = 0; i < MOST; i++)
        files[i] = yoke_args_nth(args, "catalog", i);
    return files[0] != NULL ? yoke_catalog_use(files) : YOKE_OK;
}

yoke_status_t yoke_input_cluster(const yoke_args_t *args,
                                 yoke_inventory_t **out_inventory)
{
    yoke_inventory_t *inventory = NULL;
    yoke_status_t status = yoke_input_catalog(args);
    if (status == YOKE_OK)
        status = load_cluster(yoke_args_value(args, "cluster"), &inventory);
    const char *assume;
    for (size_t i = 0; status == YOKE_OK && (assume = yoke_args_nth(args, "assume", i));
         i++)
        status = yoke_inventory_assume(inventory, assume);
    if (status != YOKE_OK) {
        yoke_inventory_free(inventory);
        return status;
    }
    *out_inventory = inventory;
    return YOKE_OK;
}
