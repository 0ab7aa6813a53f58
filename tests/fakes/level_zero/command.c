/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static command_t *spare;

/* --- one command -------------------------------------------------------------------- */

static command_t *take(void)
{
    pthread_mutex_lock(&lock);
    if (spare == NULL) {
        enum { CHUNK = 128 };
        command_t *all = mmap(NULL, CHUNK * sizeof *all, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (all == MAP_FAILED)
            abort();
        for (int i = 0; i < CHUNK; i++) {
            all[i].next = spare;
            spare = &all[i];
        }
    }
    command_t *command = spare;
    spare = command->next;
    pthread_mutex_unlock(&lock);
    return command;
}

command_t *command_new(void (*run)(void *data), const void *data, size_t size)
{
    command_t *command = take();
    memset(command, 0, offsetof(command_t, data));
    command->run = run;
    if (size > 0)
        memcpy(command->data, data, size);
    return command;
}

command_t *command_copy(const command_t *command)
{
    command_t *copy = take();
    memcpy(copy, command, sizeof *copy);
    copy->next = NULL;
    return copy;
}

void command_free(command_t *command)
{
    pthread_mutex_lock(&lock);
    command->next = spare;
    spare = command;
    pthread_mutex_unlock(&lock);
}

ze_result_t command_events(command_t *command, ze_event_handle_t signal, uint32_t count,
                           const ze_event_handle_t *waits)
{
    if (count > 0 && waits == NULL)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    if (count > COMMAND_WAITS)
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        command->waits[i] = fake_handle_check(waits[i], KIND_EVENT);
        if (command->waits[i] == NULL)
            return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    }
    command->wait_count = count;
    if (signal == NULL)
        return ZE_RESULT_SUCCESS;
    command->signal = fake_handle_check(signal, KIND_EVENT);
    return command->signal != NULL ? ZE_RESULT_SUCCESS
                                   : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

/* --- engines ------------------------------------------------------------------------ */

static bool is_ready(const command_t *command)
{
    for (uint32_t i = 0; i < command->wait_count; i++)
        if (!event_is_set(command->waits[i]))
            return false;
    return true;
}

/* Where the command that runs next hangs; NULL: none can. */
static command_t **choose(engine_t *engine)
{
    command_t **chosen = NULL;
    for (command_t **c = &engine->pending; *c != NULL; c = &(*c)->next) {
        bool first = c == &engine->pending;
        if ((first || !(*c)->after_earlier) && is_ready(*c))
            chosen = c;
        if ((*c)->before_later || engine->ordered)
            break;
    }
    return chosen;
}

static bool step_ready(void *data)
{
    engine_t *engine = *(engine_t **)data;
    pthread_mutex_lock(&engine->lock);
    bool ready = choose(engine) != NULL;
    pthread_mutex_unlock(&engine->lock);
    return ready;
}

static void step_run(void *data)
{
    engine_t *engine = *(engine_t **)data;
    pthread_mutex_lock(&engine->lock);
    command_t **place = choose(engine);
    command_t *command = place != NULL ? *place : NULL;
    if (command != NULL)
        *place = command->next;
    pthread_mutex_unlock(&engine->lock);
    if (command == NULL)
        return; /* an event was reset meanwhile: the program's fault */
    int64_t start = fake_now();
    if (command->run != NULL)
        command->run(command->data);
    if (command->signal != NULL)
        event_set(command->signal, !command->resets, start, fake_now());
    command_free(command);
}

void engine_open(engine_t *engine, fake_card_t *card, bool ordered)
{
    pthread_mutex_init(&engine->lock, NULL);
    engine->pending = NULL;
    engine->ordered = ordered;
    engine->stream = fake_stream_create(card, engine, FAKE_STREAM_FREE);
}

void engine_close(engine_t *engine)
{
    fake_stream_wait(engine->stream);
    fake_stream_destroy(engine->stream);
    while (engine->pending != NULL) {
        command_t *command = engine->pending;
        engine->pending = command->next;
        command_free(command);
    }
    pthread_mutex_destroy(&engine->lock);
}

void engine_push(engine_t *engine, command_t *command)
{
    event_t *signal = command->resets ? NULL : command->signal;
    pthread_mutex_lock(&engine->lock);
    command_t **end = &engine->pending;
    while (*end != NULL)
        end = &(*end)->next;
    *end = command;
    pthread_mutex_unlock(&engine->lock);
    fake_stream_push_poll(engine->stream, step_ready, &engine, sizeof engine);
    fake_stream_push(engine->stream, step_run, &engine, sizeof engine);
    if (signal != NULL)
        event_will_be_set(signal, fake_stream_push_mark(engine->stream));
}
