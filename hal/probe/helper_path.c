/* SPDX-License-Identifier: Apache-2.0 */
/* Where the helper program is: beside the command in a build tree, in libexec otherwise.
 */
#include "hal/probe/child.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? yoke_strndup(path, (size_t)(slash - path)) : yoke_strdup(".");
}

static char *executable_folder(void)
{
    char path[4096];
    ssize_t size = readlink("/proc/self/exe", path, sizeof path - 1);
    if (size <= 0)
        return NULL;
    path[size] = '\0';
    return folder_of(path);
}

static char *library_folder(void)
{
    Dl_info info;
    if (dladdr((const void *)(uintptr_t)&yoke_helper_path, &info) == 0 ||
        info.dli_fname == NULL)
        return NULL;
    char *real = realpath(info.dli_fname, NULL);
    char *folder = real != NULL ? folder_of(real) : NULL;
    free(real);
    return folder;
}

static char *take(char *candidate, yoke_text_t *tried)
{
    if (candidate == NULL)
        return NULL;
    if (access(candidate, X_OK) == 0)
        return candidate;
    yoke_text_printf(tried, "%s%s", tried->size > 0 ? ", " : "", candidate);
    free(candidate);
    return NULL;
}

char *yoke_helper_path(char **out_tried)
{
    yoke_text_t tried = {0};
    const char *given = getenv("YOKE_PROBE_HELPER");
    char *found = NULL;
    if (given != NULL && given[0] != '\0') {
        found = take(yoke_strdup(given), &tried);
    } else {
        char *executable = executable_folder(), *library = library_folder();
        if (executable != NULL)
            found = take(yoke_format("%s/yoke-probe", executable), &tried);
        if (found == NULL && library != NULL)
            found = take(yoke_format("%s/bin/yoke-probe", library), &tried);
        if (found == NULL && library != NULL)
            found = take(yoke_format("%s/%s/yoke-probe", library, YOKE_LIBEXEC_FROM_LIB),
                         &tried);
        if (found == NULL)
            found = take(yoke_strdup(YOKE_LIBEXEC_DIR "/yoke-probe"), &tried);
        free(executable);
        free(library);
    }
    *out_tried = yoke_strdup(yoke_text_get(&tried));
    yoke_text_free(&tried);
    return found;
}
