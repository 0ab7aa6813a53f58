/* SPDX-License-Identifier: Apache-2.0 */
/* The log of a run: failures that cases provoke must not reach the user's terminal, and
 * the tracing layer's lines are looked at. */
#include <pthread.h>

#include "hal/cts/context.h"

enum { KEPT = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char kept[KEPT];
static size_t size, lines;

static void sink(void *context, yoke_log_level_t level, const char *line)
{
    size_t length = strlen(line);
    (void)context;
    (void)level;
    pthread_mutex_lock(&lock);
    if (size + length + 2 < KEPT) {
        memcpy(kept + size, line, length);
        size += length;
        kept[size++] = '\n';
        kept[size] = '\0';
    }
    lines++;
    pthread_mutex_unlock(&lock);
}

void yoke_cts_context_sink(yoke_cts_t *t)
{
    (void)t;
    yoke_log_set_sink(sink, NULL);
}

void yoke_cts_log_start(yoke_cts_t *t)
{
    (void)t;
    pthread_mutex_lock(&lock);
    size = lines = 0;
    kept[0] = '\0';
    pthread_mutex_unlock(&lock);
}

bool yoke_cts_log_has(yoke_cts_t *t, const char *text)
{
    (void)t;
    pthread_mutex_lock(&lock);
    bool has = strstr(kept, text) != NULL;
    pthread_mutex_unlock(&lock);
    return has;
}

size_t yoke_cts_log_lines(yoke_cts_t *t)
{
    (void)t;
    pthread_mutex_lock(&lock);
    size_t count = lines;
    pthread_mutex_unlock(&lock);
    return count;
}
