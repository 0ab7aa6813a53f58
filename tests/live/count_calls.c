/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: counts allocations and locks of the process while `counting` is set. The
 * program under test finds both by dlsym().
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

atomic_int yoke_test_counting;
atomic_int yoke_test_allocations, yoke_test_locks;

/* glibc's own names of what is replaced here: manual, "Replacing malloc", and
 * malloc/malloc.c of glibc. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void __libc_free(void *memory);
extern void *__libc_memalign(size_t alignment, size_t size);

/* Where set, only calls from between these addresses count. */
uintptr_t yoke_test_from, yoke_test_to;

static void note_from(atomic_int *counter, const void *caller)
{
    uintptr_t from = (uintptr_t)caller;
    if (atomic_load(&yoke_test_counting) &&
        (yoke_test_to == 0 || (from >= yoke_test_from && from < yoke_test_to)))
        atomic_fetch_add(counter, 1);
}
#define note(counter) note_from(counter, __builtin_return_address(0))

void *malloc(size_t size)
{
    note(&yoke_test_allocations);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    note(&yoke_test_allocations);
    return __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    note(&yoke_test_allocations);
    return __libc_realloc(old, size);
}

void free(void *memory)
{
    note(&yoke_test_allocations);
    __libc_free(memory);
}

void *memalign(size_t alignment, size_t size);
void *memalign(size_t alignment, size_t size)
{
    note(&yoke_test_allocations);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    note(&yoke_test_allocations);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    note(&yoke_test_allocations);
    *out = __libc_memalign(alignment, size);
    return *out == NULL ? ENOMEM : 0;
}

#define LOCK(name, type)                                                                 \
    int name(type *lock)                                                                 \
    {                                                                                    \
        static int (*real)(type *);                                                      \
        if (real == NULL)                                                                \
            *(void **)&real = dlsym(RTLD_NEXT, #name);                                   \
        note(&yoke_test_locks);                                                          \
        return real(lock);                                                               \
    }

LOCK(pthread_mutex_lock, pthread_mutex_t)
LOCK(pthread_mutex_trylock, pthread_mutex_t)
LOCK(pthread_rwlock_rdlock, pthread_rwlock_t)
LOCK(pthread_rwlock_wrlock, pthread_rwlock_t)
LOCK(pthread_spin_lock, pthread_spinlock_t)
