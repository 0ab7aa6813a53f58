/* SPDX-License-Identifier: Apache-2.0 */
/* Compares what is current around every public call of a case. */
#include "hal/cts/current.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "hal/cts/wrapped.h"

static void *watched;
static uint64_t (*get_current)(void);
static void (*set_current)(int ordinal);
static uint64_t nothing; /* what get_current() gives when nothing is current */
static bool keeps_first; /* the first call may leave its device current then */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char fault[160];

/* Arguments may hold calls: theirs end before the outer one begins, so one value would do
 * if none changed anything; with a stack the outer call is not blamed for an inner one.
 */
static _Thread_local uint64_t before[8];
static _Thread_local unsigned depth;

bool yoke_cts_current_watch(const char *library, bool may_keep_first)
{
    if (library == NULL || library[0] == '\0')
        return false;
    watched = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (watched == NULL)
        return false;
    *(void **)&get_current = dlsym(watched, "yoke_fake_current");
    *(void **)&set_current = dlsym(watched, "yoke_fake_set_current");
    if (get_current == NULL)
        yoke_cts_current_unwatch();
    keeps_first = may_keep_first && set_current != NULL && get_current != NULL;
    if (keeps_first) {
        set_current(-1);
        nothing = get_current();
    }
    return get_current != NULL;
}

void yoke_cts_current_unwatch(void)
{
    get_current = NULL;
    set_current = NULL;
    if (watched != NULL)
        dlclose(watched);
    watched = NULL;
}

void *yoke_cts_current_symbol(const char *name)
{
    return watched == NULL ? NULL : dlsym(watched, name);
}

void yoke_cts_current_set(int ordinal)
{
    if (set_current != NULL)
        set_current(ordinal);
}

const char *yoke_cts_current_fault(void)
{
    return fault[0] == '\0' ? NULL : fault;
}

void yoke_cts_current_clear(void)
{
    pthread_mutex_lock(&lock);
    fault[0] = '\0';
    pthread_mutex_unlock(&lock);
    depth = 0; /* a case that was left in the middle of a call */
}

void yoke_cts_enter(void)
{
    if (get_current == NULL)
        return;
    if (depth < sizeof before / sizeof before[0])
        before[depth] = get_current();
    depth++;
}

void yoke_cts_leave(const char *function, const char *file, int line)
{
    if (get_current == NULL || depth == 0)
        return;
    depth--;
    if (depth >= sizeof before / sizeof before[0] || get_current() == before[depth])
        return;
    if (keeps_first && before[depth] == nothing)
        return;
    const char *slash = strrchr(file, '/');
    pthread_mutex_lock(&lock);
    if (fault[0] == '\0')
        snprintf(fault, sizeof fault, "%s:%d: %s() changed the caller's current device",
                 slash != NULL ? slash + 1 : file, line, function);
    pthread_mutex_unlock(&lock);
    /* Blame the next call for its own changes only. */
    for (unsigned i = 0; i < depth && i < sizeof before / sizeof before[0]; i++)
        before[i] = get_current();
}
