/* SPDX-License-Identifier: Apache-2.0 */
/* Finding a vendor's library: one that was named, one that the process has, one that the
 * dynamic loader finds. */
#include <dlfcn.h>
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"
#include "ucx_comm/vendor/library.h"
#include "yoke/backend.h"

/* ---- what is in the process already ------------------------------------------------ */

typedef struct loaded {
    const char *stem;
    char *paths[16];
    size_t count;
} loaded_t;

static int look(struct dl_phdr_info *info, size_t size, void *context)
{
    loaded_t *loaded = context;
    (void)size;
    const char *name = info->dlpi_name;
    if (name == NULL || name[0] == '\0' || loaded->count == 16)
        return 0;
    const char *slash = strrchr(name, '/');
    const char *file = slash != NULL ? slash + 1 : name;
    if (strncmp(file, loaded->stem, strlen(loaded->stem)) == 0)
        loaded->paths[loaded->count++] = yoke_strdup(name);
    return 0;
}

static bool has(const char *path, const char *symbol)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    bool found = handle != NULL && dlsym(handle, symbol) != NULL;
    if (handle != NULL)
        dlclose(handle);
    return found;
}

/* Path of a loaded one that is of this kind; freed by the caller; NULL: none. */
static char *find_loaded(const yoke_vendor_kind_t *kind)
{
    loaded_t loaded = {.stem = kind->stem};
    char *found = NULL;
    dl_iterate_phdr(look, &loaded);
    for (size_t i = 0; i < loaded.count; i++)
        if (found == NULL && loaded.paths[i] != NULL &&
            has(loaded.paths[i], kind->marker))
            found = loaded.paths[i];
        else
            free(loaded.paths[i]);
    return found;
}

/* ---- one file ---------------------------------------------------------------------- */

/* A library that does not tell its version: equal files have equal numbers. The first
 * pages hold the linker's build id where there is one. */
static void number_build(yoke_vendor_t *vendor)
{
    uint64_t sum = 14695981039346656037u;
    unsigned char page[4096];
    struct stat about;
    FILE *file = vendor->library.path != NULL ? fopen(vendor->library.path, "rb") : NULL;
    if (file != NULL && fstat(fileno(file), &about) == 0)
        sum ^= (uint64_t)about.st_size;
    for (int i = 0; file != NULL && i < 16; i++) {
        size_t got = fread(page, 1, sizeof page, file);
        for (size_t j = 0; j < got; j++)
            sum = (sum ^ page[j]) * 1099511628211u;
    }
    if (file != NULL)
        fclose(file);
    snprintf(vendor->version, sizeof vendor->version, "build-%016" PRIx64, sum);
}

static void copy_numbers(yoke_vendor_t *vendor)
{
    const yoke_vendor_kind_t *kind = vendor->kind;
    vendor->id_size = kind->id_size;
    vendor->bytes = kind->bytes;
    vendor->code_count = kind->code_count;
    for (size_t i = 0; i < kind->code_count && i < YOKE_VENDOR_CODES; i++)
        vendor->codes[i] = kind->codes[i];
    memcpy(vendor->elements, kind->elements, sizeof vendor->elements);
    memcpy(vendor->reductions, kind->reductions, sizeof vendor->reductions);
}

static void drop_what_is_newer(yoke_vendor_t *vendor)
{
    const yoke_vendor_kind_t *kind = vendor->kind;
    for (int i = 0; i < YOKE_ELEMENT_COUNT; i++)
        if (vendor->number < kind->since[i])
            vendor->elements[i] = -1;
    if (vendor->number < kind->average_since)
        vendor->reductions[YOKE_REDUCE_AVG] = -1;
}

static void tell_what_is_missing(const yoke_vendor_t *vendor)
{
    static const yoke_collective_t all[] = {
        YOKE_COLLECTIVE_BROADCAST,      YOKE_COLLECTIVE_REDUCE,
        YOKE_COLLECTIVE_REDUCE_SCATTER, YOKE_COLLECTIVE_ALL_GATHER,
        YOKE_COLLECTIVE_GATHER,         YOKE_COLLECTIVE_SCATTER,
        YOKE_COLLECTIVE_ALL_TO_ALL,     YOKE_COLLECTIVE_SEND_RECV};
    char why[128];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!yoke_vendor_can(vendor, all[i], YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, why))
            yoke_info("%s: %s", vendor->library.path, why);
    if (!yoke_vendor_can_abort(vendor))
        yoke_info("%s: %s %s cannot abort", vendor->library.path, vendor->kind->name,
                  vendor->version);
}

/* An opened library as a vendor. @param out_other  it is a library of another kind */
static yoke_status_t take(yoke_vendor_t *vendor, bool *out_other)
{
    const yoke_vendor_kind_t *kind = vendor->kind;
    const char *path = vendor->library.path;
    char why[256];
    int64_t code = 0;
    *out_other = false;
    copy_numbers(vendor);
    if (kind->foreign != NULL && dlsym(vendor->library.handle, kind->foreign) != NULL) {
        *out_other = true;
        return yoke_fail(YOKE_ERR_NOT_FOUND, "%s: %s is %s", kind->name, path,
                         kind->foreign_name);
    }
    if (dlsym(vendor->library.handle, kind->marker) == NULL) {
        *out_other = true;
        return yoke_fail(YOKE_ERR_NOT_FOUND, "%s: %s has no %s", kind->name, path,
                         kind->marker);
    }
    const char *missing = kind->family->resolve(vendor);
    if (missing != NULL)
        return yoke_fail(YOKE_ERR_SYSTEM, "%s: %s lacks %s", kind->name, path, missing);
    if (kind->id_size == 0 && !yoke_vendor_read_header(vendor, why))
        return yoke_fail(YOKE_ERR_NOT_FOUND, "%s: %s: %s", kind->name, path, why);
    bool tells = kind->family->version(vendor, &code);
    if (tells && !yoke_vendor_good(vendor, code))
        return yoke_vendor_fail(vendor, NULL, "version", code);
    if (tells && vendor->version[0] == '\0')
        return yoke_fail(YOKE_ERR_SYSTEM, "%s: %s does not tell a version", kind->name,
                         path);
    if (!tells)
        number_build(vendor);
    drop_what_is_newer(vendor);
    yoke_info("%s %s: %s", kind->name, vendor->version, path);
    tell_what_is_missing(vendor);
    return YOKE_OK;
}

static void reset(yoke_vendor_t *vendor)
{
    yoke_library_forget(&vendor->library);
    free(vendor->functions);
    memset(vendor->version, 0, sizeof vendor->version);
    vendor->functions = NULL;
    vendor->number = 0;
    vendor->code_count = 0;
}

/* ---- the search -------------------------------------------------------------------- */

/* @param out_next  no file of that name, or another library: worth trying the next */
static yoke_status_t try_file(yoke_vendor_t *vendor, const char *key, const char *file,
                              yoke_text_t *tried, bool *out_next)
{
    const char *names[] = {file, NULL};
    char *problem = NULL;
    bool found = false;
    yoke_status_t status;
    if (yoke_library_open(key, names, &vendor->library, &problem, &found)) {
        yoke_fail_quiet(true);
        status = take(vendor, out_next);
        yoke_fail_quiet(false);
        if (status == YOKE_OK)
            return YOKE_OK;
        yoke_text_printf(tried, "%s%s", tried->size > 0 ? "; " : "", yoke_last_error());
        reset(vendor);
        return status;
    }
    *out_next = !found;
    yoke_text_printf(tried, "%s%s", tried->size > 0 ? "; " : "",
                     problem != NULL ? problem : "out of memory");
    free(problem);
    return found ? YOKE_ERR_SYSTEM : YOKE_ERR_NOT_FOUND;
}

static bool is_named(const yoke_vendor_kind_t *kind)
{
    char variable[64];
    snprintf(variable, sizeof variable, "YOKE_LIB_%s", kind->key);
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0';
}

static yoke_status_t search(yoke_vendor_t *vendor, const char *path, yoke_text_t *tried)
{
    const yoke_vendor_kind_t *kind = vendor->kind;
    bool next = true;
    if (path != NULL)
        return try_file(vendor, NULL, path, tried, &next);
    if (is_named(kind)) /* the loader looks at the variable, and not at the name */
        return try_file(vendor, kind->key, kind->files[0], tried, &next);
    char *loaded = find_loaded(kind);
    if (loaded != NULL) {
        yoke_info("%s: the process has %s already", kind->name, loaded);
        yoke_status_t status = try_file(vendor, NULL, loaded, tried, &next);
        free(loaded);
        return status;
    }
    yoke_status_t status = YOKE_ERR_NOT_FOUND;
    for (size_t i = 0; kind->files[i] != NULL && next; i++) {
        status = try_file(vendor, NULL, kind->files[i], tried, &next);
        if (status == YOKE_OK)
            return YOKE_OK;
    }
    return status;
}

yoke_status_t yoke_vendor_open(const yoke_vendor_kind_t *kind, const char *path,
                               yoke_vendor_t **out_vendor)
{
    yoke_vendor_t *vendor = calloc(1, sizeof *vendor);
    yoke_text_t tried = {0};
    if (vendor == NULL)
        return yoke_fail_memory();
    vendor->kind = kind;
    yoke_status_t status = search(vendor, path, &tried);
    if (status == YOKE_OK)
        *out_vendor = vendor;
    else {
        free(vendor);
        yoke_fail(status, "no %s library: %s; set YOKE_LIB_%s to the file", kind->name,
                  yoke_text_get(&tried), kind->key);
    }
    yoke_text_free(&tried);
    return status;
}

void yoke_vendor_close(yoke_vendor_t *vendor)
{
    if (vendor == NULL)
        return;
    reset(vendor);
    free(vendor);
}

const yoke_vendor_kind_t *yoke_vendor_kind(const char *name)
{
    for (size_t i = 0; i < yoke_vendor_kind_count; i++)
        if (strcmp(yoke_vendor_kinds[i].name, name) == 0)
            return &yoke_vendor_kinds[i];
    return NULL;
}

yoke_status_t yoke_vendor_load(const char *runtime, const yoke_vendor_t **out_vendor)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static yoke_vendor_t *kept[16];
    size_t i = 0;
    while (i < yoke_vendor_kind_count &&
           strcmp(yoke_vendor_kinds[i].runtime, runtime) != 0)
        i++;
    if (i == yoke_vendor_kind_count || i >= sizeof kept / sizeof *kept)
        return yoke_fail(YOKE_ERR_NOT_FOUND,
                         "no vendor's collective library is known for '%s'%s", runtime,
                         strcmp(runtime, "level_zero") == 0
                             ? ": oneCCL wants a SYCL queue there"
                             : "");
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&lock);
    if (kept[i] == NULL)
        status = yoke_vendor_open(&yoke_vendor_kinds[i], NULL, &kept[i]);
    if (status == YOKE_OK)
        *out_vendor = kept[i];
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- what it says of itself -------------------------------------------------------- */

const char *yoke_vendor_name(const yoke_vendor_t *vendor)
{
    return vendor->kind->name;
}

const char *yoke_vendor_version(const yoke_vendor_t *vendor)
{
    return vendor->version;
}

const char *yoke_vendor_path(const yoke_vendor_t *vendor)
{
    return vendor->library.path != NULL ? vendor->library.path : "";
}

size_t yoke_vendor_id_size(const yoke_vendor_t *vendor)
{
    return vendor->id_size;
}

bool yoke_vendor_can_abort(const yoke_vendor_t *vendor)
{
    return vendor->kind->family->can_stop(vendor);
}
