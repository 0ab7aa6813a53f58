/* SPDX-License-Identifier: Apache-2.0 */
/* Ends while many threads hold thread-local blocks of a loaded library (README.md).
 * usage: leak_check LIBRARY threads|leak */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 512 };

static char *(*thread_block)(void);
static pthread_barrier_t ready;

static void *holder(void *unused)
{
    (void)unused;
    thread_block()[0] = 1;
    pthread_barrier_wait(&ready);
    for (;;)
        pause();
}

static void __attribute__((noinline)) leak(void)
{
    char *volatile lost = malloc(48);
    lost[0] = 1;
    lost = NULL;
}

int main(int argc, char **argv)
{
    pthread_attr_t small;
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL) {
        fprintf(stderr, "usage: leak_check LIBRARY threads|leak\n");
        return 2;
    }
    *(void **)&thread_block = dlsym(library, "thread_block");
    if (thread_block == NULL)
        return 2;
    pthread_barrier_init(&ready, NULL, THREADS + 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, &small, holder, NULL) != 0) {
            printf("skipped: no %d threads can be made here\n", THREADS);
            return 77;
        }
    }
    pthread_attr_destroy(&small);
    pthread_barrier_wait(&ready);
    if (strcmp(argv[2], "leak") == 0)
        leak();
    return 0;
}
