/* SPDX-License-Identifier: Apache-2.0 */
/* The one dynamic loader: soname first, the loader's own words kept. */
#include "hal/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#ifdef __SANITIZE_ADDRESS__
#define EXTRA_FLAGS                                                                      \
    0 /* the sanitizer names leaks of libraries only while they are mapped */
#else
#define EXTRA_FLAGS RTLD_NODELETE
#endif

/* "cannot open shared object file: No such file or directory" of the library itself, not
 * of something that it needs, is the only failure that makes the next name worth trying.
 */
static bool is_absent(const char *name, const char *problem)
{
    size_t length = strlen(name);
    return strncmp(problem, name, length) == 0 && problem[length] == ':' &&
           strstr(problem, "No such file or directory") != NULL;
}

static char *resolved_path(void *handle, const char *name)
{
    struct link_map *map = NULL;
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != NULL &&
        map->l_name != NULL && map->l_name[0] != '\0') {
        char *real = realpath(map->l_name, NULL);
        return real != NULL ? real : yoke_strdup(map->l_name);
    }
    return yoke_strdup(name);
}

static bool try_open(const char *name, yoke_library_t *out_library, yoke_text_t *problem,
                     bool *out_found)
{
    dlerror();
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL | EXTRA_FLAGS);
    if (handle == NULL) {
        const char *words = dlerror();
        if (words == NULL)
            words = "dlopen failed without a message";
        *out_found = !is_absent(name, words);
        yoke_text_printf(problem, "%s%s", problem->size > 0 ? "; " : "", words);
        return false;
    }
    out_library->handle = handle;
    out_library->path = resolved_path(handle, name);
    yoke_info("%s: took %s", name, out_library->path != NULL ? out_library->path : name);
    return true;
}

bool yoke_library_open(const char *key, const char *const *names,
                       yoke_library_t *out_library, char **out_problem, bool *out_found)
{
    yoke_text_t problem = {0};
    char variable[64] = "YOKE_LIB_";
    const char *override = NULL;

    *out_found = false;
    if (key != NULL && strlen(key) < sizeof variable - 10) {
        strcat(variable, key);
        override = getenv(variable);
    }
    if (override != NULL && override[0] != '\0') {
        if (try_open(override, out_library, &problem, out_found))
            return true;
        yoke_text_printf(&problem, " (from $%s)", variable);
        *out_found = true; /* somebody named it: its absence is a fault */
    } else {
        for (size_t i = 0; names[i] != NULL && !*out_found; i++)
            if (try_open(names[i], out_library, &problem, out_found)) {
                yoke_text_free(&problem);
                return true;
            }
    }
    *out_problem = yoke_strdup(yoke_text_get(&problem));
    yoke_text_free(&problem);
    return false;
}

const char *yoke_library_resolve(const yoke_library_t *library,
                                 const yoke_symbol_t *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        void *address = dlsym(library->handle, symbols[i].name);
        if (address == NULL && symbols[i].other != NULL)
            address = dlsym(library->handle, symbols[i].other);
        if (address == NULL && !symbols[i].optional)
            return symbols[i].name;
        memcpy(symbols[i].slot, &address, sizeof address);
    }
    return NULL;
}

void yoke_library_forget(yoke_library_t *library)
{
    free(library->path);
    library->path = NULL;
    library->handle = NULL;
}
