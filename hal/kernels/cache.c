/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compile cache: one file an entry, named by a hash of its key. Files are written
 * under another name and renamed, so that readers see whole ones; all work is relative to
 * an open folder that was checked. Whatever goes wrong, there is just no entry.
 */
#include "hal/kernels/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"

#define DEFAULT_LIMIT ((uint64_t)256 << 20)
#define STALE_SECONDS                                                                    \
    3600 /* a temporary file that old was left by a process that died                    \
          */
#define NAME_SIZE 48

/* --- the folder --------------------------------------------------------------------- */

/* Caller frees; NULL: no cache. */
static char *folder_path(void)
{
    const char *chosen = getenv("YOKE_CACHE_DIR"), *cache = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    if (chosen != NULL && chosen[0] != '\0')
        return strcmp(chosen, "off") == 0 ? NULL : yoke_strdup(chosen);
    /* The XDG base directory specification ignores relative ones. */
    if (cache != NULL && cache[0] == '/')
        return yoke_format("%s/yoke", cache);
    if (home != NULL && home[0] == '/')
        return yoke_format("%s/.cache/yoke", home);
    return NULL;
}

static void make_folders(char *path)
{
    for (char *at = path + 1; *at != '\0'; at++)
        if (*at == '/') {
            *at = '\0';
            (void)mkdir(path, 0700);
            *at = '/';
        }
    (void)mkdir(path, 0700);
}

/* -1: none, or others may write there, whose code would then run here. */
static int open_folder(bool make)
{
    static _Atomic bool told;
    struct stat about;
    char *path = folder_path();
    if (path == NULL)
        return -1;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0 && make && errno == ENOENT) {
        make_folders(path);
        folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (folder >= 0 && (fstat(folder, &about) != 0 || about.st_uid != geteuid() ||
                        (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)) {
        if (!atomic_exchange(&told, true))
            yoke_warn("%s: not used to keep compiled programs: it must belong to the "
                      "user and be writable by nobody else (chmod go-w), or set "
                      "YOKE_CACHE_DIR",
                      path);
        close(folder);
        folder = -1;
    }
    free(path);
    return folder;
}

/* In bytes; 0: nothing is kept. */
static uint64_t limit(void)
{
    static _Atomic bool told;
    const char *text = getenv("YOKE_CACHE_SIZE");
    double value = 0;
    if (text == NULL || text[0] == '\0')
        return DEFAULT_LIMIT;
    yoke_fail_quiet(true);
    yoke_status_t status = yoke_parse_quantity(text, &value);
    yoke_fail_quiet(false);
    if (status != YOKE_OK) {
        if (!atomic_exchange(&told, true))
            yoke_warn("YOKE_CACHE_SIZE: '%s' is no size, as 256MiB is; the default of "
                      "256 MiB holds",
                      text);
        return DEFAULT_LIMIT;
    }
    return value < 1e18 ? (uint64_t)value : UINT64_MAX;
}

/* --- names -------------------------------------------------------------------------- */

/* Two hashes of 64 bits (FNV-1a with two bases). */
static void entry_name(const unsigned char *key, size_t size, char out[NAME_SIZE])
{
    uint64_t a = UINT64_C(0xcbf29ce484222325), b = UINT64_C(0x84222325cbf29ce4);
    for (size_t i = 0; i < size; i++) {
        a = (a ^ key[i]) * UINT64_C(0x100000001b3);
        b = (b ^ (unsigned char)~key[i]) * UINT64_C(0x100000001b3);
    }
    snprintf(out, NAME_SIZE, "%016" PRIx64 "%016" PRIx64 ".bin", a, b);
}

static bool is_entry(const char *name)
{
    return strlen(name) == 36 && strcmp(name + 32, ".bin") == 0;
}

/* --- reading ------------------------------------------------------------------------ */

static char *read_file(int folder, const char *name, size_t *out_size)
{
    struct stat about;
    char *data = NULL;
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return NULL;
    if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_uid != geteuid() || about.st_size <= 0 || about.st_size > (off_t)1 << 30)
        goto out;
    size_t size = (size_t)about.st_size, done = 0;
    data = malloc(size);
    while (data != NULL && done < size) {
        ssize_t more = read(file, data + done, size - done);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            break;
        done += (size_t)more;
    }
    *out_size = done;
    /* The oldest are removed first: it is young again. */
    (void)futimens(file, NULL);
out:
    close(file);
    return data;
}

yoke_status_t yoke_cache_get(const yoke_cache_key_t *key, void **out_data,
                             size_t *out_size)
{
    char name[NAME_SIZE], *entry = NULL;
    size_t key_size, entry_size = 0, size = 0;
    const void *data = NULL;
    void *bytes = NULL;
    yoke_status_t status = YOKE_ERR_NOT_FOUND;
    int folder = limit() > 0 ? open_folder(false) : -1;
    if (folder < 0)
        return status;
    bytes = yoke_cache_key_bytes(key, &key_size);
    if (bytes == NULL)
        goto out;
    entry_name(bytes, key_size, name);
    entry = read_file(folder, name, &entry_size);
    if (entry == NULL)
        goto out;
    if (yoke_cache_entry_read(entry, entry_size, bytes, key_size, &data, &size)) {
        memmove(entry, data, size);
        *out_data = entry;
        *out_size = size;
        entry = NULL;
        status = YOKE_OK;
    } else {
        yoke_debug("compile cache: %s is damaged; it is made anew", name);
    }
out:
    free(entry);
    free(bytes);
    close(folder);
    return status;
}

/* --- writing ------------------------------------------------------------------------ */

static bool write_all(int file, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t done = write(file, data, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        data += done;
        size -= (size_t)done;
    }
    return true;
}

static bool write_file(int folder, const char *name, const void *data, size_t size)
{
    static _Atomic unsigned counter;
    char other[NAME_SIZE];
    snprintf(other, sizeof other, "tmp-%ld-%u", (long)getpid(),
             atomic_fetch_add(&counter, 1));
    int file =
        openat(folder, other, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    bool good = write_all(file, data, size);
    good = close(file) == 0 && good;
    if (good && renameat(folder, other, folder, name) == 0)
        return true;
    (void)unlinkat(folder, other, 0);
    return false;
}

/* --- the bound ---------------------------------------------------------------------- */

typedef struct found {
    char name[NAME_SIZE];
    uint64_t size;
    struct timespec used;
} found_t;

static int older(const void *a, const void *b)
{
    const found_t *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* All entries; on the way, what dead processes left is removed. */
static size_t list(int folder, found_t **out, uint64_t *out_total)
{
    size_t count = 0, room = 0;
    struct dirent *item;
    struct stat about;
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    if (stream == NULL && copy >= 0)
        close(copy);
    while (stream != NULL && (item = readdir(stream)) != NULL) {
        bool entry = is_entry(item->d_name);
        if ((!entry && strncmp(item->d_name, "tmp-", 4) != 0) ||
            fstatat(folder, item->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (!entry) {
            if (about.st_mtime + STALE_SECONDS < time(NULL))
                (void)unlinkat(folder, item->d_name, 0);
            continue;
        }
        if (count == room) {
            room = room == 0 ? 64 : room * 2;
            found_t *more = realloc(*out, room * sizeof **out);
            if (more == NULL)
                break;
            *out = more;
        }
        found_t *found = &(*out)[count++];
        memset(found->name, 0, sizeof found->name);
        memcpy(found->name, item->d_name, strnlen(item->d_name, sizeof found->name - 1));
        found->size = (uint64_t)about.st_size;
        found->used = about.st_mtim;
        *out_total += found->size;
    }
    if (stream != NULL)
        closedir(stream);
    return count;
}

static void trim(int folder)
{
    found_t *items = NULL;
    uint64_t total = 0, most = limit();
    size_t count = list(folder, &items, &total);
    if (total > most)
        qsort(items, count, sizeof *items, older);
    for (size_t i = 0; i < count && total > most; i++)
        if (unlinkat(folder, items[i].name, 0) == 0)
            total -= items[i].size;
    free(items);
}

yoke_status_t yoke_cache_put(const yoke_cache_key_t *key, const void *data, size_t size)
{
    char name[NAME_SIZE];
    size_t key_size, entry_size;
    void *entry = NULL, *bytes = NULL;
    yoke_status_t status = YOKE_ERR_NOT_FOUND;
    bool none = limit() == 0;
    int folder = open_folder(!none);
    if (folder < 0)
        return status;
    if (none) { /* what was kept before goes */
        trim(folder);
        close(folder);
        return status;
    }
    bytes = yoke_cache_key_bytes(key, &key_size);
    if (bytes != NULL)
        entry = yoke_cache_entry_make(bytes, key_size, data, size, &entry_size);
    if (entry == NULL)
        goto out;
    entry_name(bytes, key_size, name);
    if (write_file(folder, name, entry, entry_size)) {
        trim(folder);
        status = YOKE_OK;
    } else {
        yoke_debug("compile cache: %s cannot be written: %s", name, strerror(errno));
        status = YOKE_ERR_SYSTEM;
    }
out:
    free(entry);
    free(bytes);
    close(folder);
    return status;
}
