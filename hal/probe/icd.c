/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCL vendor files. */
#include "hal/probe/icd.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

static bool ends_with(const char *text, const char *end)
{
    size_t a = strlen(text), b = strlen(end);
    return a > b && strcmp(text + a - b, end) == 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* First line without blanks, tabs and carriage returns at its ends; NULL: nothing there.
 */
static char *library_named(const char *data, size_t size)
{
    size_t begin = 0, end;
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
        begin = 3;
    while (begin < size && (unsigned char)data[begin] <= ' ')
        begin++;
    for (end = begin; end < size && data[end] != '\n' && data[end] != '\0';)
        end++;
    while (end > begin && (unsigned char)data[end - 1] <= ' ')
        end--;
    return end > begin ? yoke_strndup(data + begin, end - begin) : NULL;
}

static void read_icd(const char *path, yoke_icd_t *icd)
{
    char *data = NULL;
    size_t size = 0;
    icd->name = yoke_strdup(base_name(path));
    icd->fault = true;
    if (!yoke_file_try_read(path, 65536, &data, &size)) {
        icd->problem = yoke_format("%s: cannot be read as a file", path);
        return;
    }
    icd->library = library_named(data, size);
    if (icd->library == NULL)
        icd->problem = yoke_format("%s: no library named in the file", path);
    free(data);
}

static yoke_status_t add(yoke_icds_t *icds, yoke_icd_t **out_icd)
{
    yoke_icd_t *items = realloc(icds->items, (icds->count + 1) * sizeof *items);
    if (items == NULL)
        return yoke_fail_memory();
    icds->items = items;
    *out_icd = &items[icds->count++];
    memset(*out_icd, 0, sizeof **out_icd);
    return YOKE_OK;
}

static int by_name(const void *a, const void *b)
{
    return yoke_natural_compare(*(char *const *)a, *(char *const *)b);
}

static yoke_status_t list_folder(const char *folder, yoke_icds_t *icds)
{
    yoke_strings_t names = {0};
    yoke_status_t status = YOKE_OK;
    struct dirent *entry;
    DIR *dir = opendir(folder);
    while (dir != NULL && status == YOKE_OK && (entry = readdir(dir)) != NULL)
        if (ends_with(entry->d_name, ".icd"))
            status = yoke_strings_add(&names, entry->d_name);
    if (dir != NULL)
        closedir(dir);
    if (names.count > 1)
        qsort(names.items, names.count, sizeof *names.items, by_name);
    for (size_t i = 0; i < names.count && status == YOKE_OK; i++) {
        yoke_icd_t *icd = NULL;
        char *path = yoke_format("%s/%s", folder, names.items[i]);
        status = path != NULL ? add(icds, &icd) : yoke_fail_memory();
        if (status == YOKE_OK)
            read_icd(path, icd);
        free(path);
    }
    yoke_strings_free(&names);
    return status;
}

/* Two files that name one library are one platform; the second is only mentioned. */
static void mark_repeated(yoke_icds_t *icds)
{
    for (size_t i = 1; i < icds->count; i++) {
        for (size_t j = 0; j < i && icds->items[i].library != NULL; j++) {
            if (icds->items[j].library == NULL ||
                strcmp(icds->items[i].library, icds->items[j].library) != 0)
                continue;
            icds->items[i].problem =
                yoke_format("names the same library as %s (%s)", icds->items[j].name,
                            icds->items[j].library);
            icds->items[i].fault = false;
            free(icds->items[i].library);
            icds->items[i].library = NULL;
        }
    }
}

static const char *from_environment(void)
{
    static const char *const names[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"};
    for (size_t i = 0; i < 2; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return value;
    }
    return NULL;
}

yoke_status_t yoke_icds_list(const char *sysroot, yoke_icds_t *out_icds)
{
    bool live = sysroot == NULL || sysroot[0] == '\0';
    const char *given = live ? from_environment() : NULL;
    yoke_icds_t icds = {0};
    yoke_icd_t *icd = NULL;
    yoke_status_t status;

    icds.where = given != NULL
                     ? yoke_strdup(given)
                     : yoke_format("%s/etc/OpenCL/vendors", live ? "" : sysroot);
    if (icds.where == NULL)
        return yoke_fail_memory();
    if (given == NULL || yoke_directory_exists(given)) {
        status = list_folder(icds.where, &icds);
    } else if (ends_with(given, ".icd")) {
        status = add(&icds, &icd);
        if (status == YOKE_OK)
            read_icd(given, icd);
    } else if (strchr(given, '/') == NULL || yoke_file_exists(given)) {
        status = add(&icds, &icd);
        if (status == YOKE_OK) {
            icd->name = yoke_strdup(base_name(given));
            icd->library = yoke_strdup(given);
        }
    } else {
        status = YOKE_OK; /* a folder that is not there: no platforms */
    }
    mark_repeated(&icds);
    if (status != YOKE_OK)
        yoke_icds_free(&icds);
    else
        *out_icds = icds;
    return status;
}

void yoke_icds_free(yoke_icds_t *icds)
{
    for (size_t i = 0; i < icds->count; i++) {
        free(icds->items[i].name);
        free(icds->items[i].library);
        free(icds->items[i].problem);
    }
    free(icds->items);
    free(icds->where);
    memset(icds, 0, sizeof *icds);
}
