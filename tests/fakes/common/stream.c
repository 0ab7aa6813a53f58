/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define POLL 50000 /* nanoseconds between questions of a polling wait */
#define FOREVER INT64_MAX

struct fake_mark {
    int references; /* all fields under `lock` */
    bool done;
    int64_t time;
    fake_stream_t *stream; /* until done */
};

typedef struct work {
    struct work *next;
    void (*run)(void *);
    bool (*ready)(void *);
    void *data;            /* `inside`, or from malloc() */
    fake_mark_t *after[2]; /* marks that come first */
    fake_mark_t **more;    /* and others, from malloc(); NULL-terminated */
    fake_mark_t *mark;
    int64_t enqueued;
    int64_t ending; /* when a slow operation ends; 0: not started */
    bool hurry;
    enum { NOT_HOST, HOST, HOST_CALLED, HOST_ENDED } host;
    _Alignas(16) unsigned char inside[FAKE_INLINE];
} work_t;

struct fake_stream {
    fake_stream_t *next;
    fake_card_t *card;
    const void *group;
    fake_stream_kind_t kind;
    work_t *head, *tail;
    fake_mark_t *last; /* of the work enqueued last */
    bool dying;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake;   /* for the worker */
static pthread_cond_t called; /* for the thread of host functions */
static pthread_cond_t ended;  /* for those who wait */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool working, calling;
static fake_stream_t *streams;
static work_t *spare_work;
static fake_mark_t *spare_marks; /* chained through `stream` */

int64_t fake_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void prepare(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wake, &attributes);
    pthread_cond_init(&called, &attributes);
    pthread_cond_init(&ended, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void wait_until(pthread_cond_t *condition, int64_t when)
{
    struct timespec until = {when / 1000000000, when % 1000000000};
    if (when == FOREVER)
        pthread_cond_wait(condition, &lock);
    else
        pthread_cond_timedwait(condition, &lock, &until);
}

/* ---- objects from chunks: enqueueing must not call malloc() -------------------------
 */

static void *chunk(size_t size)
{
    void *at =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        abort();
    return at;
}

static work_t *new_work(void)
{
    if (spare_work == NULL) {
        work_t *all = chunk(256 * sizeof *all);
        for (int i = 0; i < 256; i++) {
            all[i].next = spare_work;
            spare_work = &all[i];
        }
    }
    work_t *work = spare_work;
    spare_work = work->next;
    memset(work, 0, offsetof(work_t, inside));
    return work;
}

static fake_mark_t *new_mark(void)
{
    if (spare_marks == NULL) {
        fake_mark_t *all = chunk(1024 * sizeof *all);
        for (int i = 0; i < 1024; i++) {
            all[i].stream = (fake_stream_t *)(void *)spare_marks;
            spare_marks = &all[i];
        }
    }
    fake_mark_t *mark = spare_marks;
    spare_marks = (fake_mark_t *)(void *)mark->stream;
    memset(mark, 0, sizeof *mark);
    mark->references = 1;
    return mark;
}

static void drop_mark(fake_mark_t *mark)
{
    if (mark == NULL || --mark->references > 0)
        return;
    mark->stream = (fake_stream_t *)(void *)spare_marks;
    spare_marks = mark;
}

static void drop_work(work_t *work)
{
    drop_mark(work->after[0]);
    drop_mark(work->after[1]);
    for (fake_mark_t **m = work->more; m != NULL && *m != NULL; m++)
        drop_mark(*m);
    free(work->more);
    drop_mark(work->mark);
    if (work->data != work->inside)
        free(work->data);
    work->next = spare_work;
    spare_work = work;
}

static fake_mark_t *hold(fake_mark_t *mark)
{
    if (mark != NULL)
        mark->references++;
    return mark;
}

/* ---- the worker -------------------------------------------------------------------- */

static bool reached(const work_t *work)
{
    for (int i = 0; i < 2; i++)
        if (work->after[i] != NULL && !work->after[i]->done)
            return false;
    for (fake_mark_t **m = work->more; m != NULL && *m != NULL; m++)
        if (!(*m)->done)
            return false;
    return true;
}

/* Somebody waits: what leads to this mark need not sit out its latency. */
static void hurry(const fake_mark_t *mark)
{
    if (mark == NULL || mark->done)
        return;
    for (work_t *w = mark->stream->head; w != NULL; w = w->next) {
        if (!w->hurry) {
            w->hurry = true;
            hurry(w->after[0]);
            hurry(w->after[1]);
            for (fake_mark_t **m = w->more; m != NULL && *m != NULL; m++)
                hurry(*m);
        }
        if (w->mark == mark)
            break;
    }
    pthread_cond_signal(&wake);
}

static void finish(fake_stream_t *stream)
{
    work_t *work = stream->head;
    work->mark->done = true;
    work->mark->time = fake_now();
    work->mark->stream = NULL;
    stream->head = work->next;
    if (stream->head == NULL)
        stream->tail = NULL;
    drop_work(work);
    pthread_cond_broadcast(&ended);
}

/* Host functions have a thread of their own, one for all streams: they may block, and
 * "may be serialized" (cuLaunchHostFunc in cuda.h). */
static void *caller(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        fake_stream_t *stream = streams;
        while (stream != NULL &&
               (stream->head == NULL || stream->head->host != HOST_CALLED))
            stream = stream->next;
        if (stream == NULL) {
            pthread_cond_wait(&called, &lock);
            continue;
        }
        work_t *work = stream->head;
        pthread_mutex_unlock(&lock);
        work->run(work->data);
        pthread_mutex_lock(&lock);
        work->host = HOST_ENDED;
        pthread_cond_signal(&wake);
    }
    return NULL;
}

/* Work that is no host function, or one that has been called and has ended. */
static bool host_passed(work_t *work)
{
    if (work->host == HOST) {
        work->host = HOST_CALLED;
        pthread_cond_signal(&called);
    }
    return work->host == NOT_HOST || work->host == HOST_ENDED;
}

/* Go on with the first work of a stream; false: not yet, *until says when to ask again.
 */
static bool step(fake_stream_t *stream, int64_t *until)
{
    work_t *work = stream->head;
    int64_t now = fake_now();
    bool lost = atomic_load(&stream->card->lost);
    if (lost && work->host != HOST_CALLED) {
        finish(stream);
        return true;
    }
    if (work->ending == 0) {
        int64_t start = work->hurry ? 0 : work->enqueued + stream->card->latency * 1000ll;
        if (!reached(work))
            return false;
        if (start > now) {
            *until = start < *until ? start : *until;
            return false;
        }
        if (work->ready != NULL && !work->ready(work->data)) {
            *until = now + POLL < *until ? now + POLL : *until;
            return false;
        }
        if (!host_passed(work))
            return false;
        if (work->run != NULL && work->host == NOT_HOST) {
            pthread_mutex_unlock(&lock);
            work->run(work->data);
            pthread_mutex_lock(&lock);
        }
        work->ending = now + (work->run != NULL ? stream->card->slow * 1000ll : 0);
    }
    if (work->ending > fake_now()) {
        *until = work->ending < *until ? work->ending : *until;
        return false;
    }
    finish(stream);
    return true;
}

static void bury(void)
{
    for (fake_stream_t **s = &streams; *s != NULL;) {
        fake_stream_t *stream = *s;
        if (!stream->dying || stream->head != NULL) {
            s = &stream->next;
            continue;
        }
        *s = stream->next;
        drop_mark(stream->last);
        free(stream);
    }
}

static void *worker(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        bool moved = false;
        int64_t until = FOREVER;
        for (fake_stream_t *s = streams; s != NULL; s = s->next)
            if (s->head != NULL)
                moved |= step(s, &until);
        bury();
        if (!moved)
            wait_until(&wake, until);
    }
    return NULL;
}

/* ---- enqueueing -------------------------------------------------------------------- */

static void start_thread(void *(*run)(void *), bool *running)
{
    pthread_t thread;
    if (*running)
        return;
    if (pthread_create(&thread, NULL, run, NULL) != 0)
        abort();
    pthread_detach(thread);
    *running = true;
}

/* What the null stream's work waits for: the last work of every joining stream. */
static void join(work_t *work, const fake_stream_t *null)
{
    size_t count = 0, at = 0;
    for (fake_stream_t *s = streams; s != NULL; s = s->next)
        count += s->group == null->group && s->kind == FAKE_STREAM_JOINING &&
                 s->last != NULL && !s->last->done;
    if (count == 0)
        return;
    work->more = calloc(count + 1, sizeof *work->more);
    if (work->more == NULL)
        abort();
    for (fake_stream_t *s = streams; s != NULL; s = s->next)
        if (s->group == null->group && s->kind == FAKE_STREAM_JOINING &&
            s->last != NULL && !s->last->done)
            work->more[at++] = hold(s->last);
}

static fake_mark_t *null_mark(const fake_stream_t *stream)
{
    for (fake_stream_t *s = streams; s != NULL; s = s->next)
        if (s->group == stream->group && s->kind == FAKE_STREAM_NULL && s->last != NULL &&
            !s->last->done)
            return hold(s->last);
    return NULL;
}

static work_t *begin(const void *data, size_t size)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    work_t *work = new_work();
    work->data = size <= FAKE_INLINE ? work->inside : malloc(size);
    if (work->data == NULL)
        abort();
    if (size > 0)
        memcpy(work->data, data, size);
    work->enqueued = fake_now();
    work->mark = new_mark();
    return work;
}

static void end(fake_stream_t *stream, work_t *work)
{
    work->mark->stream = stream;
    if (stream->kind == FAKE_STREAM_NULL)
        join(work, stream);
    else if (stream->kind == FAKE_STREAM_JOINING)
        work->after[1] = null_mark(stream);
    if (stream->tail != NULL)
        stream->tail->next = work;
    else
        stream->head = work;
    stream->tail = work;
    drop_mark(stream->last);
    stream->last = hold(work->mark);
    start_thread(worker, &working);
    if (work->host == HOST)
        start_thread(caller, &calling);
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

void fake_stream_push(fake_stream_t *stream, void (*run)(void *data), const void *data,
                      size_t size)
{
    work_t *work = begin(data, size);
    work->run = run;
    end(stream, work);
}

void fake_stream_push_host(fake_stream_t *stream, void (*run)(void *data),
                           const void *data, size_t size)
{
    work_t *work = begin(data, size);
    work->run = run;
    work->host = HOST;
    end(stream, work);
}

void fake_stream_push_poll(fake_stream_t *stream, bool (*ready)(void *data),
                           const void *data, size_t size)
{
    work_t *work = begin(data, size);
    work->ready = ready;
    end(stream, work);
}

void fake_stream_push_wait(fake_stream_t *stream, fake_mark_t *mark)
{
    work_t *work = begin(NULL, 0);
    work->after[0] = hold(mark);
    end(stream, work);
}

fake_mark_t *fake_stream_push_mark(fake_stream_t *stream)
{
    work_t *work = begin(NULL, 0);
    fake_mark_t *mark = hold(work->mark);
    end(stream, work);
    return mark;
}

/* ---- waiting ----------------------------------------------------------------------- */

fake_mark_t *fake_mark_retain(fake_mark_t *mark)
{
    pthread_mutex_lock(&lock);
    hold(mark);
    pthread_mutex_unlock(&lock);
    return mark;
}

void fake_mark_release(fake_mark_t *mark)
{
    pthread_mutex_lock(&lock);
    drop_mark(mark);
    pthread_mutex_unlock(&lock);
}

/* Under the lock; keeps the mark while waiting. */
static bool wait_mark(fake_mark_t *mark, int64_t until)
{
    if (mark == NULL)
        return true;
    hold(mark);
    hurry(mark);
    while (!mark->done && fake_now() < until)
        wait_until(&ended, until);
    bool done = mark->done;
    drop_mark(mark);
    return done;
}

static int64_t deadline(int64_t nanoseconds)
{
    return nanoseconds < 0 || nanoseconds > FOREVER / 2 ? FOREVER
                                                        : fake_now() + nanoseconds;
}

bool fake_mark_done(fake_mark_t *mark)
{
    pthread_mutex_lock(&lock);
    hurry(mark);
    bool done = mark->done;
    pthread_mutex_unlock(&lock);
    return done;
}

void fake_mark_wait(fake_mark_t *mark)
{
    fake_mark_wait_for(mark, FOREVER);
}

bool fake_mark_wait_for(fake_mark_t *mark, int64_t nanoseconds)
{
    pthread_mutex_lock(&lock);
    bool done = wait_mark(mark, deadline(nanoseconds));
    pthread_mutex_unlock(&lock);
    return done;
}

int64_t fake_mark_time(fake_mark_t *mark)
{
    pthread_mutex_lock(&lock);
    int64_t when = mark->time;
    pthread_mutex_unlock(&lock);
    return when;
}

bool fake_stream_idle(fake_stream_t *stream)
{
    pthread_mutex_lock(&lock);
    hurry(stream->last);
    bool idle = stream->last == NULL || stream->last->done;
    pthread_mutex_unlock(&lock);
    return idle;
}

void fake_stream_wait(fake_stream_t *stream)
{
    fake_stream_wait_for(stream, FOREVER);
}

bool fake_stream_wait_for(fake_stream_t *stream, int64_t nanoseconds)
{
    pthread_mutex_lock(&lock);
    bool done = wait_mark(stream->last, deadline(nanoseconds));
    pthread_mutex_unlock(&lock);
    return done;
}

/* Streams end only when the worker buries them, which needs the lock: after each wait the
 * list is walked anew. */
static void wait_matching(const void *group, const fake_card_t *card)
{
    pthread_mutex_lock(&lock);
    for (fake_stream_t *s = streams; s != NULL;) {
        bool mine = group != NULL ? s->group == group : s->card == card;
        if (!mine || s->last == NULL || s->last->done) {
            s = s->next;
            continue;
        }
        wait_mark(s->last, FOREVER);
        s = streams;
    }
    pthread_mutex_unlock(&lock);
}

bool fake_group_idle(const void *group)
{
    bool idle = true;
    pthread_mutex_lock(&lock);
    for (fake_stream_t *s = streams; s != NULL; s = s->next) {
        if (s->group != group || s->last == NULL || s->last->done)
            continue;
        hurry(s->last);
        idle = false;
    }
    pthread_mutex_unlock(&lock);
    return idle;
}

void fake_group_wait(const void *group)
{
    wait_matching(group, NULL);
}

void fake_card_wait(const fake_card_t *card)
{
    wait_matching(NULL, card);
}

/* ---- streams ----------------------------------------------------------------------- */

fake_stream_t *fake_stream_create(fake_card_t *card, const void *group,
                                  fake_stream_kind_t kind)
{
    fake_stream_t *stream = calloc(1, sizeof *stream);
    if (stream == NULL)
        return NULL;
    pthread_once(&once, prepare);
    stream->card = card;
    stream->group = group;
    stream->kind = kind;
    pthread_mutex_lock(&lock);
    stream->next = streams;
    streams = stream;
    pthread_mutex_unlock(&lock);
    return stream;
}

void fake_stream_destroy(fake_stream_t *stream)
{
    pthread_mutex_lock(&lock);
    stream->dying = true;
    if (stream->head == NULL && !working)
        bury();
    else
        pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}

fake_card_t *fake_stream_card(const fake_stream_t *stream)
{
    return stream->card;
}

void fake_stream_wake(void)
{
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&wake);
    pthread_mutex_unlock(&lock);
}
