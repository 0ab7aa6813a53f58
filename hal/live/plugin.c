/* SPDX-License-Identifier: Apache-2.0 */
/* Plug-ins: backends in shared objects of others. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "hal/live/registry.h"
#include "hal/loader.h"

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;

/* Who can write a file can run code in this process, and so can who can put another in
 * its place. In a folder with the sticky bit (/tmp) only the owner of an entry can. */
static yoke_status_t check_owner(const char *path, const struct stat *facts)
{
    if (facts->st_uid != 0 && facts->st_uid != geteuid())
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: belongs to user %u: a plug-in and the folders above it "
                         "must be root's or your own",
                         path, (unsigned)facts->st_uid);
    bool sticky = S_ISDIR(facts->st_mode) && (facts->st_mode & S_ISVTX) != 0;
    if ((facts->st_mode & (S_IWGRP | S_IWOTH)) != 0 && !sticky)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: others may write it (mode %04o): a plug-in is loaded only "
                         "from where nobody else can; chmod go-w it",
                         path, (unsigned)(facts->st_mode & 07777));
    return YOKE_OK;
}

/* `path` is absolute and without links; it is cut short and restored. */
static yoke_status_t check_folders(char *path)
{
    struct stat facts;
    for (char *slash = strrchr(path, '/'); slash != NULL;) {
        char after = slash == path ? slash[1] : '/';
        char *end = slash == path ? slash + 1 : slash;
        *end = '\0';
        yoke_status_t status =
            stat(path, &facts) == 0
                ? check_owner(path, &facts)
                : yoke_fail(YOKE_ERR_USAGE, "%s: %s", path, strerror(errno));
        char *above = slash == path ? NULL : strrchr(path, '/');
        *end = after;
        if (status != YOKE_OK)
            return status;
        slash = above;
    }
    return YOKE_OK;
}

static yoke_status_t check_file(const char *path, char **out_real, struct stat *out_facts)
{
    char *real = realpath(path, NULL);
    if (real == NULL && errno == ENOMEM)
        return yoke_fail_memory();
    if (real == NULL)
        return yoke_fail(YOKE_ERR_NOT_FOUND, "%s: %s", path, strerror(errno));
    yoke_status_t status = YOKE_OK;
    if (stat(real, out_facts) != 0)
        status = yoke_fail(YOKE_ERR_NOT_FOUND, "%s: %s", real, strerror(errno));
    else if (!S_ISREG(out_facts->st_mode))
        status = yoke_fail(YOKE_ERR_NOT_FOUND, "%s: is not a regular file", real);
    if (status == YOKE_OK)
        status = check_owner(real, out_facts);
    if (status == YOKE_OK)
        status = check_folders(real);
    if (status == YOKE_OK)
        *out_real = real;
    else
        free(real);
    return status;
}

static yoke_status_t open_file(const char *path, yoke_backend_entry_t *out_entry)
{
    const char *const files[] = {path, NULL};
    yoke_library_t library = {0};
    char *problem = NULL;
    bool found = false;
    if (!yoke_library_open(NULL, files, &library, &problem, &found)) {
        yoke_fail(YOKE_ERR_UNSUPPORTED, "%s",
                  problem != NULL ? problem : "out of host memory");
        free(problem);
        return YOKE_ERR_UNSUPPORTED;
    }
    const yoke_symbol_t symbols[] = {{"yoke_backend_entry", NULL, out_entry, false}};
    const char *missing = yoke_library_resolve(&library, symbols, 1);
    yoke_library_forget(&library);
    if (missing != NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: exports no %s(): not a plug-in", path,
                         missing);
    return YOKE_OK;
}

static yoke_status_t add_file(const char *path, const struct stat *facts)
{
    yoke_backend_entry_t entry = NULL;
    yoke_status_t status = open_file(path, &entry);
    if (status != YOKE_OK)
        return status;
    const yoke_backend_ops_t *ops = entry(YOKE_BACKEND_ABI_MAJOR);
    if (ops == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: does not know ABI %u of this library's backends", path,
                         YOKE_BACKEND_ABI_MAJOR);
    yoke_runtime_t *runtime = NULL;
    status = yoke_registry_add(ops, path, &runtime);
    if (status != YOKE_OK)
        return status;
    runtime->file_device = (uint64_t)facts->st_dev;
    runtime->file_number = (uint64_t)facts->st_ino;
    runtime->plugin = true;
    yoke_info("%s: backend '%s', ABI %u.%u", path, ops->name, ops->abi_major,
              ops->abi_minor);
    return YOKE_OK;
}

yoke_status_t yoke_plugin_load(const char *path)
{
    char *real = NULL;
    struct stat facts;
    yoke_status_t status = check_file(path, &real, &facts);
    if (status != YOKE_OK)
        return status;
    pthread_mutex_lock(&loading);
    if (!yoke_registry_has_file((uint64_t)facts.st_dev, (uint64_t)facts.st_ino))
        status = add_file(real, &facts);
    pthread_mutex_unlock(&loading);
    free(real);
    return status;
}

yoke_status_t yoke_backend_load(const char *path)
{
    if (path == NULL || path[0] == '\0')
        return yoke_fail(YOKE_ERR_USAGE, "yoke_backend_load: no path");
    yoke_registry_fill();
    return yoke_plugin_load(path);
}

static int is_plugin(const struct dirent *entry)
{
    size_t size = strlen(entry->d_name);
    return entry->d_name[0] != '.' && size > 3 &&
           strcmp(entry->d_name + size - 3, ".so") == 0;
}

/* Told once, and not once a file. */
static bool is_safe_folder(const char *folder)
{
    struct stat facts;
    char *real = realpath(folder, NULL);
    if (real == NULL || stat(real, &facts) != 0) {
        yoke_warn("YOKE_PLUGIN_DIR: %s: %s", folder, strerror(errno));
        free(real);
        return false;
    }
    yoke_fail_quiet(true);
    yoke_status_t status = check_owner(real, &facts);
    if (status == YOKE_OK)
        status = check_folders(real);
    yoke_fail_quiet(false);
    if (status != YOKE_OK)
        yoke_warn("YOKE_PLUGIN_DIR: nothing is loaded from %s: %s", folder,
                  yoke_last_error());
    free(real);
    return status == YOKE_OK;
}

void yoke_plugin_load_folder(void)
{
    const char *folder = getenv("YOKE_PLUGIN_DIR");
    struct dirent **entries = NULL;
    if (folder == NULL || folder[0] == '\0' || !is_safe_folder(folder))
        return;
    int count = scandir(folder, &entries, is_plugin, alphasort);
    if (count < 0)
        yoke_warn("YOKE_PLUGIN_DIR: %s: %s", folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *path = yoke_format("%s/%s", folder, entries[i]->d_name);
        if (path != NULL && yoke_plugin_load(path) != YOKE_OK)
            yoke_warn("YOKE_PLUGIN_DIR: %s was not loaded", path);
        free(path);
        free(entries[i]);
    }
    free(entries);
}
