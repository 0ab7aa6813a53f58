/* SPDX-License-Identifier: Apache-2.0 */
/* What compilers say, one text per thread. */
#include "hal/live/log.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/text.h"
#include "yoke/kernel.h"

#define LOG_LIMIT ((size_t)1 << 20)

static pthread_key_t key;
static pthread_once_t made = PTHREAD_ONCE_INIT;
static bool has_key;

static void free_log(void *log)
{
    yoke_text_free(log);
    free(log);
}

static void make_key(void)
{
    has_key = pthread_key_create(&key, free_log) == 0;
}

/* NULL when there is none yet, or no memory for one. */
static yoke_text_t *get_log(bool create)
{
    pthread_once(&made, make_key);
    yoke_text_t *log = has_key ? pthread_getspecific(key) : NULL;
    if (log == NULL && has_key && create && (log = calloc(1, sizeof *log)) != NULL &&
        pthread_setspecific(key, log) != 0) {
        free(log);
        log = NULL;
    }
    return log;
}

void yoke_program_log_clear(void)
{
    yoke_text_t *log = get_log(false);
    if (log != NULL)
        yoke_text_free(log);
}

void yoke_program_log_add(void *context, const char *text, size_t size)
{
    (void)context;
    yoke_text_t *log = get_log(true);
    if (log == NULL || text == NULL || log->size >= LOG_LIMIT)
        return;
    while (size > 0 && text[size - 1] == '\0') /* vendors count the NUL */
        size--;
    yoke_text_add_bytes(log, text, size < LOG_LIMIT ? size : LOG_LIMIT);
}

const char *yoke_program_log(void)
{
    const yoke_text_t *log = get_log(false);
    return log == NULL ? "" : yoke_text_get(log);
}
