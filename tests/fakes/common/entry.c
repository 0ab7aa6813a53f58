/* SPDX-License-Identifier: Apache-2.0 */
#include "entry.h"
#include "stream.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern fake_function_t *const __start_fake_functions[]
    __attribute__((visibility("hidden")));
extern fake_function_t *const __stop_fake_functions[]
    __attribute__((visibility("hidden")));

static atomic_ullong all_calls;
static atomic_llong alive;
static atomic_ullong hang_release; /* grows with every yoke_fake_fault() */

/* ---- faults ------------------------------------------------------------------------ */

static fake_function_t *find_function(const char *name)
{
    for (fake_function_t *const *f = __start_fake_functions; f < __stop_fake_functions;
         f++)
        if (strcmp((*f)->name, name) == 0)
            return *f;
    return NULL;
}

static yoke_fake_fault_t fault_of(const char *word)
{
    static const char *const names[] = {"none",    "error", "unwritten",
                                        "garbage", "hang",  "crash"};
    for (int i = 0; i < 6; i++)
        if (strcmp(word, names[i]) == 0)
            return (yoke_fake_fault_t)i;
    return YOKE_FAKE_NONE;
}

static void set_fault(fake_function_t *f, yoke_fake_fault_t fault, int64_t code,
                      uint64_t nth)
{
    atomic_store(&f->code, code);
    atomic_store(&f->from, atomic_load(&f->calls) + (nth > 0 ? nth : 1));
    atomic_store(&f->fault, fault);
}

/* "fault FUNCTION KIND [CODE [NTH]]" */
static void use_line(int card, const char *value)
{
    char name[128] = "", kind[16] = "";
    long long code = 0;
    unsigned long long nth = 1;
    (void)card;
    if (sscanf(value, "%127s %15s %lli %llu", name, kind, &code, &nth) < 2)
        return;
    fake_function_t *f = find_function(name);
    if (f != NULL)
        set_fault(f, fault_of(kind), code, nth);
}

static pthread_once_t lines_once = PTHREAD_ONCE_INIT;

static void read_lines(void)
{
    fake_config_each("fault", use_line);
}

static void hang(void)
{
    unsigned long long before = atomic_load(&hang_release);
    for (int i = 0; i < 3000 && atomic_load(&hang_release) == before; i++)
        usleep(10000);
}

bool fake_enter(fake_function_t *function, int64_t *out_code)
{
    pthread_once(&lines_once, read_lines);
    unsigned long long call = atomic_fetch_add(&function->calls, 1) + 1;
    atomic_fetch_add(&all_calls, 1);
    int fault = atomic_load_explicit(&function->fault, memory_order_acquire);
    if (fault == YOKE_FAKE_NONE || call < atomic_load(&function->from))
        return false;
    switch (fault) {
    case YOKE_FAKE_ERROR:
        *out_code = atomic_load(&function->code);
        return true;
    case YOKE_FAKE_UNWRITTEN:
        *out_code = 0;
        return true;
    case YOKE_FAKE_HANG:
        hang();
        return false;
    case YOKE_FAKE_CRASH:
        abort();
    default:
        return false;
    }
}

int64_t fake_output(fake_function_t *function, int64_t value)
{
    if (atomic_load_explicit(&function->fault, memory_order_acquire) !=
            YOKE_FAKE_GARBAGE ||
        atomic_load(&function->calls) < atomic_load(&function->from))
        return value;
    int64_t code = atomic_load(&function->code);
    return code != 0 ? code : (int64_t)0x7ffffff07ffffff0;
}

/* ---- handles ----------------------------------------------------------------------- */

static pthread_mutex_t handle_lock = PTHREAD_MUTEX_INITIALIZER;
static const fake_handle_t **handles; /* open addressing; NULL: never used */
static size_t handle_room, handle_used;
static const fake_handle_t tombstone;

static size_t slot_of(const void *handle)
{
    return (size_t)(((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u) & (handle_room - 1);
}

static size_t find_slot(const void *handle)
{
    size_t i = slot_of(handle);
    while (handles[i] != NULL && handles[i] != handle)
        i = (i + 1) & (handle_room - 1);
    return i;
}

static void grow(void)
{
    const fake_handle_t **old = handles;
    size_t room = handle_room;
    handle_room = room == 0 ? 1024 : room * 2;
    handles = calloc(handle_room, sizeof *handles);
    if (handles == NULL)
        abort();
    handle_used = 0;
    for (size_t i = 0; i < room; i++) {
        if (old[i] == NULL || old[i] == &tombstone)
            continue;
        handles[find_slot(old[i])] = old[i];
        handle_used++;
    }
    free(old);
}

static void add(fake_handle_t *handle, uint32_t kind, uint32_t quiet)
{
    handle->kind = kind;
    handle->quiet = quiet;
    pthread_mutex_lock(&handle_lock);
    if (2 * (handle_used + 1) > handle_room)
        grow();
    handles[find_slot(handle)] = handle;
    handle_used++;
    pthread_mutex_unlock(&handle_lock);
    if (!quiet)
        fake_alive_change(1);
}

void fake_handle_add(fake_handle_t *handle, uint32_t kind)
{
    add(handle, kind, 0);
}

void fake_handle_add_quiet(fake_handle_t *handle, uint32_t kind)
{
    add(handle, kind, 1);
}

void fake_handle_remove(fake_handle_t *handle)
{
    pthread_mutex_lock(&handle_lock);
    size_t i = handle_room > 0 ? find_slot(handle) : 0;
    if (handle_room > 0 && handles[i] == handle)
        handles[i] = &tombstone;
    pthread_mutex_unlock(&handle_lock);
    handle->kind = 0;
    if (!handle->quiet)
        fake_alive_change(-1);
}

void *fake_handle_check(const void *handle, uint32_t kind)
{
    if (handle == NULL)
        return NULL;
    pthread_mutex_lock(&handle_lock);
    bool live = handle_room > 0 && handles[find_slot(handle)] == handle;
    if (live && ((const fake_handle_t *)handle)->kind != kind)
        live = false;
    pthread_mutex_unlock(&handle_lock);
    return live ? (void *)(uintptr_t)handle : NULL;
}

void fake_alive_change(int64_t by)
{
    atomic_fetch_add(&alive, by);
}

/* ---- ../fake.h --------------------------------------------------------------------- */

FAKE_API uint64_t yoke_fake_calls(void)
{
    return atomic_load(&all_calls);
}

FAKE_API uint64_t yoke_fake_calls_of(const char *function)
{
    fake_function_t *f = find_function(function);
    return f != NULL ? atomic_load(&f->calls) : 0;
}

FAKE_API const char *const *yoke_fake_functions(size_t *out_count)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const char **names;
    size_t count = (size_t)(__stop_fake_functions - __start_fake_functions);
    pthread_mutex_lock(&lock);
    if (names == NULL && (names = calloc(count, sizeof *names)) != NULL)
        for (size_t i = 0; i < count; i++)
            names[i] = __start_fake_functions[i]->name;
    pthread_mutex_unlock(&lock);
    *out_count = names != NULL ? count : 0;
    return names;
}

FAKE_API void yoke_fake_fault(const char *function, yoke_fake_fault_t fault, int64_t code,
                              uint64_t nth)
{
    pthread_once(&lines_once, read_lines);
    atomic_fetch_add(&hang_release, 1);
    if (function == NULL) {
        for (fake_function_t *const *f = __start_fake_functions;
             f < __stop_fake_functions; f++)
            atomic_store(&(*f)->fault, YOKE_FAKE_NONE);
        return;
    }
    fake_function_t *f = find_function(function);
    if (f != NULL)
        set_fault(f, fault, code, nth);
}

FAKE_API void yoke_fake_lose(int ordinal)
{
    fake_card_t *card = fake_visible(ordinal);
    if (card == NULL)
        return;
    atomic_store(&card->lost, true);
    fake_stream_wake();
}

FAKE_API uint64_t yoke_fake_alive(void)
{
    int64_t count = atomic_load(&alive);
    return count > 0 ? (uint64_t)count : 0;
}
