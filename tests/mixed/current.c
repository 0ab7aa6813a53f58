/* SPDX-License-Identifier: Apache-2.0 */
/* What every fake library has as the thread's current device, around every call. */
#include "tests/mixed/current.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>

#include "hal/cts/wrapped.h"

enum { MAX_FAKES = 24 };

static struct {
    void *library;
    uint64_t (*get)(void);
    void (*set)(int ordinal);
    uint64_t (*alive)(void);
} fakes[MAX_FAKES];
static unsigned count;
static char fault[200];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A call inside the arguments of another has its own place. */
static _Thread_local uint64_t before[8][MAX_FAKES];
static _Thread_local unsigned depth;

void current_add(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL || count == MAX_FAKES)
        return;
    for (unsigned i = 0; i < count; i++)
        if (fakes[i].library == library)
            return;
    *(void **)&fakes[count].get = dlsym(library, "yoke_fake_current");
    *(void **)&fakes[count].set = dlsym(library, "yoke_fake_set_current");
    *(void **)&fakes[count].alive = dlsym(library, "yoke_fake_alive");
    fakes[count].library = library;
    if (fakes[count].get != NULL && fakes[count].set != NULL)
        count++;
}

unsigned current_count(void)
{
    return count;
}

void current_set(int ordinal)
{
    for (unsigned i = 0; i < count; i++)
        fakes[i].set(ordinal);
}

const char *current_fault(void)
{
    return fault[0] == '\0' ? NULL : fault;
}

uint64_t current_alive(void)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += fakes[i].alive != NULL ? fakes[i].alive() : 0;
    return sum;
}

void yoke_cts_enter(void)
{
    for (unsigned i = 0; i < count && depth < 8; i++)
        before[depth][i] = fakes[i].get();
    depth++;
}

void yoke_cts_leave(const char *function, const char *file, int line)
{
    depth--;
    for (unsigned i = 0; i < count && depth < 8; i++) {
        if (fakes[i].get() == before[depth][i])
            continue;
        Dl_info where = {0};
        void *address;
        memcpy(&address, &fakes[i].get, sizeof address);
        dladdr(address, &where);
        pthread_mutex_lock(&lock);
        if (fault[0] == '\0')
            snprintf(fault, sizeof fault, "%s:%d: %s() changed the current device of %s",
                     file, line, function, where.dli_fname);
        pthread_mutex_unlock(&lock);
    }
}
