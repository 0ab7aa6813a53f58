/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of the vendors' libraries, and what their codes mean. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "hal/live/current.h"
#include "ucx_comm/vendor/library.h"
#include "yoke/backend.h"

/* ---- codes ------------------------------------------------------------------------- */

const yoke_vendor_code_t *yoke_vendor_code(const yoke_vendor_t *vendor, int64_t code)
{
    for (size_t i = 0; i < vendor->code_count; i++)
        if (vendor->codes[i].code == code)
            return &vendor->codes[i];
    return NULL;
}

bool yoke_vendor_good(const yoke_vendor_t *vendor, int64_t code)
{
    return vendor->code_count > 0 && code == vendor->codes[0].code;
}

static _Thread_local const yoke_vendor_t *naming;

static const char *name_of(int64_t code)
{
    const yoke_vendor_code_t *known = yoke_vendor_code(naming, code);
    return known != NULL ? known->name : NULL;
}

static yoke_status_t fail_with(const yoke_vendor_t *vendor, void *comm, const char *call,
                               int64_t code, const char *hint)
{
    static const yoke_backend_ops_t names = {.struct_size = sizeof names,
                                             .error_name = name_of};
    char function[96], text[512];
    const yoke_vendor_code_t *known = yoke_vendor_code(vendor, code);
    yoke_status_t status = known != NULL ? known->status : YOKE_ERR_SYSTEM;
    const char *words = vendor->kind->family->words(vendor, comm, code);
    bool has_words = words != NULL && words[0] != '\0';
    if (status == YOKE_OK) /* a success that should not be one, or "in progress" */
        status = YOKE_ERR_SYSTEM;
    snprintf(function, sizeof function, "%s%s", vendor->kind->prefix, call);
    snprintf(text, sizeof text, "%.200s%s%s %s, %s%s%s", has_words ? words : "",
             has_words ? "; " : "", vendor->kind->name, vendor->version,
             yoke_vendor_path(vendor), hint != NULL ? "; " : "",
             hint != NULL ? hint : "");
    naming = vendor;
    return yoke_backend_fail(&names, status, function, code, text);
}

yoke_status_t yoke_vendor_fail(const yoke_vendor_t *vendor, void *comm, const char *call,
                               int64_t code)
{
    return fail_with(vendor, comm, call, code, NULL);
}

yoke_status_t yoke_vendor_comm_fail(yoke_vendor_comm_t *comm, const char *call,
                                    int64_t code)
{
    comm->failed = true;
    return yoke_vendor_fail(comm->vendor, comm->comm, call, code);
}

/* ---- ids --------------------------------------------------------------------------- */

typedef struct id_call {
    const yoke_vendor_t *vendor;
    void *id;
    yoke_status_t status;
} id_call_t;

static void make_id(void *context)
{
    id_call_t *c = context;
    const char *call = "";
    int64_t code = c->vendor->kind->family->make_id(c->vendor, c->id, &call);
    c->status = yoke_vendor_good(c->vendor, code)
                    ? YOKE_OK
                    : fail_with(c->vendor, NULL, call, code, c->vendor->kind->hint);
}

/* What the vendor writes past the end of its id is found, and not by a crash. */
#define CANARY 64

yoke_status_t yoke_vendor_make_id(const yoke_vendor_t *vendor, yoke_device_t *device,
                                  void *id)
{
    if (vendor == NULL || device == NULL || id == NULL)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_vendor_make_id: vendor, device or id is NULL");
    unsigned char *room = calloc(1, vendor->id_size + CANARY);
    if (room == NULL)
        return yoke_fail_memory();
    memset(room + vendor->id_size, 0xa5, CANARY);
    id_call_t call = {vendor, room, YOKE_OK};
    yoke_status_t status = yoke_device_call(device, make_id, &call);
    if (status == YOKE_OK)
        status = call.status;
    for (size_t i = 0; i < CANARY && status == YOKE_OK; i++)
        if (room[vendor->id_size + i] != 0xa5)
            status = yoke_fail(YOKE_ERR_SYSTEM,
                               "%s %s (%s) wrote an id of more than %zu bytes: not a "
                               "version that Yoke knows",
                               vendor->kind->name, vendor->version,
                               yoke_vendor_path(vendor), vendor->id_size);
    if (status == YOKE_OK)
        memcpy(id, room, vendor->id_size);
    free(room);
    return status;
}

/* ---- making one -------------------------------------------------------------------- */

typedef struct join {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool done, abandoned;
    const yoke_vendor_t *vendor;
    yoke_device_t *device; /* held */
    int size, rank, ordinal;
    void *id, *comm;
    yoke_status_t status;
    char message[768];
} join_t;

static void join_free(join_t *join)
{
    pthread_cond_destroy(&join->ended);
    pthread_mutex_destroy(&join->lock);
    free(join->id);
    free(join);
}

static void join_now(void *context)
{
    join_t *join = context;
    const yoke_vendor_t *vendor = join->vendor;
    const char *call = "";
    int64_t code = vendor->kind->family->join(vendor, join->size, join->rank, join->id,
                                              join->ordinal, &join->comm, &call);
    join->status = YOKE_OK;
    if (!yoke_vendor_good(vendor, code))
        join->status = fail_with(vendor, NULL, call, code, vendor->kind->hint);
    else if (join->comm == NULL)
        join->status = yoke_fail(YOKE_ERR_SYSTEM, "%s%s: success, and no communicator",
                                 vendor->kind->prefix, call);
}

static void end_comm(void *context)
{
    join_t *join = context;
    const char *call = "";
    if (join->comm != NULL && join->vendor->kind->family->can_stop(join->vendor))
        join->vendor->kind->family->stop(join->vendor, join->comm, &call);
}

static void *join_apart(void *context)
{
    join_t *join = context;
    yoke_status_t status = yoke_device_call(join->device, join_now, join);
    pthread_mutex_lock(&join->lock);
    if (status != YOKE_OK)
        join->status = status;
    if (join->status != YOKE_OK)
        snprintf(join->message, sizeof join->message, "%s", yoke_last_error());
    join->done = true;
    bool abandoned = join->abandoned;
    pthread_cond_signal(&join->ended);
    pthread_mutex_unlock(&join->lock);
    if (abandoned) { /* too late: nobody will use it */
        if (join->status == YOKE_OK)
            yoke_device_call(join->device, end_comm, join);
        join_free(join);
    }
    return NULL;
}

/* Waits for the thread; false: not in time, and the thread has the join now. */
static bool join_wait(join_t *join, uint32_t timeout_ms)
{
    struct timespec until;
    int error = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&join->lock);
    while (!join->done && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&join->ended, &join->lock, &until);
    bool done = join->done;
    join->abandoned = !done;
    pthread_mutex_unlock(&join->lock);
    return done;
}

static yoke_status_t join_make(const yoke_vendor_t *vendor, yoke_device_t *device,
                               const void *id, int size, int rank, join_t **out_join)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    pthread_condattr_t attributes;
    yoke_status_t status = yoke_device_info(device, &info);
    if (status != YOKE_OK)
        return status;
    join_t *join = calloc(1, sizeof *join);
    void *copy = malloc(vendor->id_size);
    if (join == NULL || copy == NULL) {
        free(join);
        free(copy);
        return yoke_fail_memory();
    }
    memcpy(copy, id, vendor->id_size);
    pthread_mutex_init(&join->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&join->ended, &attributes);
    pthread_condattr_destroy(&attributes);
    join->vendor = vendor;
    join->device = device;
    join->id = copy;
    join->size = size;
    join->rank = rank;
    join->ordinal = (int)info.ordinal;
    *out_join = join;
    return YOKE_OK;
}

static yoke_status_t join_run(join_t *join, uint32_t timeout_ms, void **out_comm)
{
    pthread_t thread;
    const yoke_vendor_kind_t *kind = join->vendor->kind;
    if (timeout_ms == 0) {
        yoke_status_t status = yoke_device_call(join->device, join_now, join);
        status = status == YOKE_OK ? join->status : status;
        *out_comm = join->comm;
        join_free(join);
        return status;
    }
    if (pthread_create(&thread, NULL, join_apart, join) != 0) {
        join_free(join);
        return yoke_fail(YOKE_ERR_SYSTEM, "%s: no thread for the set-up", kind->name);
    }
    if (!join_wait(join, timeout_ms)) {
        pthread_detach(thread);
        return yoke_fail(YOKE_ERR_TIMEOUT,
                         "%s: not all ranks came to the communicator within %u ms",
                         kind->name, timeout_ms);
    }
    pthread_join(thread, NULL);
    yoke_status_t status = join->status;
    if (status != YOKE_OK)
        yoke_fail(status, "%s", join->message);
    *out_comm = join->comm;
    join_free(join);
    return status;
}

yoke_status_t yoke_vendor_comm_create_within(const yoke_vendor_t *vendor,
                                             yoke_device_t *device, const void *id,
                                             int size, int rank, uint32_t timeout_ms,
                                             yoke_vendor_comm_t **out_comm)
{
    join_t *join = NULL;
    if (vendor == NULL || device == NULL || id == NULL || out_comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_comm_create: vendor, device, id or "
                                         "out_comm is NULL");
    if (size < 1 || rank < 0 || rank >= size)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_comm_create: rank %d of %d", rank,
                         size);
    yoke_vendor_comm_t *comm = calloc(1, sizeof *comm);
    if (comm == NULL)
        return yoke_fail_memory();
    comm->vendor = vendor;
    comm->device = device;
    comm->size = size;
    comm->rank = rank;
    yoke_status_t status = join_make(vendor, device, id, size, rank, &join);
    if (status == YOKE_OK)
        status = join_run(join, timeout_ms, &comm->comm);
    if (status != YOKE_OK) {
        free(comm);
        return status;
    }
    *out_comm = comm;
    return YOKE_OK;
}

yoke_status_t yoke_vendor_comm_create(const yoke_vendor_t *vendor, yoke_device_t *device,
                                      const void *id, int size, int rank,
                                      yoke_vendor_comm_t **out_comm)
{
    return yoke_vendor_comm_create_within(vendor, device, id, size, rank, 60000,
                                          out_comm);
}

/* ---- ending one -------------------------------------------------------------------- */

typedef struct end_call {
    yoke_vendor_comm_t *comm;
    yoke_status_t status;
} end_call_t;

static void stop(void *context)
{
    end_call_t *c = context;
    const yoke_vendor_t *vendor = c->comm->vendor;
    const char *call = "";
    int64_t code = vendor->kind->family->stop(vendor, c->comm->comm, &call);
    /* The library has freed it, whatever it answers. */
    void *comm = c->comm->comm;
    c->comm->comm = NULL;
    c->comm->failed = true;
    (void)comm;
    c->status = yoke_vendor_good(vendor, code)
                    ? YOKE_OK
                    : yoke_vendor_fail(vendor, NULL, call, code);
}

static void leave(void *context)
{
    end_call_t *c = context;
    const yoke_vendor_t *vendor = c->comm->vendor;
    const char *call = "";
    int64_t code = vendor->kind->family->leave(vendor, c->comm->comm, &call);
    c->comm->comm = NULL;
    if (!yoke_vendor_good(vendor, code))
        yoke_vendor_fail(vendor, NULL, call, code);
}

yoke_status_t yoke_vendor_comm_abort(yoke_vendor_comm_t *comm)
{
    if (comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_comm_abort: comm is NULL");
    if (comm->comm == NULL)
        return YOKE_OK;
    comm->failed = true;
    if (!yoke_vendor_can_abort(comm->vendor))
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s %s cannot abort a communicator",
                         comm->vendor->kind->name, comm->vendor->version);
    end_call_t call = {comm, YOKE_OK};
    yoke_status_t status = yoke_device_call(comm->device, stop, &call);
    return status == YOKE_OK ? call.status : status;
}

void yoke_vendor_comm_destroy(yoke_vendor_comm_t *comm)
{
    if (comm == NULL)
        return;
    end_call_t call = {comm, YOKE_OK};
    if (comm->comm != NULL && !comm->failed)
        yoke_device_call(comm->device, leave, &call);
    else if (comm->comm != NULL && yoke_vendor_can_abort(comm->vendor))
        yoke_device_call(comm->device, stop, &call);
    else if (comm->comm != NULL)
        yoke_info("%s: a failed communicator is left as it is: ending it would wait for "
                  "the others",
                  comm->vendor->kind->name);
    free(comm->held);
    free(comm);
}

static void ask(void *context)
{
    end_call_t *c = context;
    const yoke_vendor_t *vendor = c->comm->vendor;
    const char *call = "";
    int64_t found = 0;
    int64_t code =
        vendor->kind->family->asynchronous(vendor, c->comm->comm, &found, &call);
    if (!yoke_vendor_good(vendor, code)) {
        c->status = yoke_vendor_comm_fail(c->comm, call, code);
        return;
    }
    const yoke_vendor_code_t *known = yoke_vendor_code(vendor, found);
    if (known == NULL || known->status != YOKE_OK)
        c->status = yoke_vendor_comm_fail(c->comm, call, found);
}

yoke_status_t yoke_vendor_comm_status(yoke_vendor_comm_t *comm)
{
    if (comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_vendor_comm_status: comm is NULL");
    if (comm->comm == NULL)
        return yoke_fail(YOKE_ERR_REVOKED, "the %s communicator was aborted",
                         comm->vendor->kind->name);
    end_call_t call = {comm, YOKE_OK};
    yoke_status_t status = yoke_device_call(comm->device, ask, &call);
    return status == YOKE_OK ? call.status : status;
}
