/* SPDX-License-Identifier: Apache-2.0 */
/* Objects: their list in the device, loss of the device, and what stays of freed ones. */
#include "hal/live/object.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* --- freed objects of the validation layer -------------------------------------------
 * They are kept so that a freed handle is recognised; the oldest are freed for good. */

#define KEPT_OBJECTS 4096

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static yoke_object_t *kept[KEPT_OBJECTS];
static size_t kept_next;

static void keep_aside(yoke_object_t *object)
{
    object->device = NULL;
    atomic_store(&object->flags, YOKE_FLAG_VALIDATE | YOKE_FLAG_FREED);
    pthread_mutex_lock(&kept_lock);
    yoke_object_t *oldest = kept[kept_next];
    kept[kept_next] = object;
    kept_next = (kept_next + 1) % KEPT_OBJECTS;
    pthread_mutex_unlock(&kept_lock);
    free(oldest);
}

static void free_or_keep(yoke_object_t *object)
{
    if ((yoke_object_flags(object) & YOKE_FLAG_VALIDATE) != 0)
        keep_aside(object);
    else
        free(object);
}

/* --- checks --------------------------------------------------------------------------
 */

static const char *kind_name(uint32_t kind)
{
    switch ((yoke_object_kind_t)kind) {
    case YOKE_OBJECT_DEVICE:
        return "device";
    case YOKE_OBJECT_BUFFER:
        return "buffer";
    case YOKE_OBJECT_QUEUE:
        return "queue";
    case YOKE_OBJECT_EVENT:
        return "event";
    case YOKE_OBJECT_PROGRAM:
        return "program";
    case YOKE_OBJECT_KERNEL:
        return "kernel";
    case YOKE_OBJECT_PREPARED:
        return "prepared launch";
    case YOKE_OBJECT_POOL:
        return "pool";
    case YOKE_OBJECT_TRANSFER:
        return "transfer";
    case YOKE_OBJECT_OPERATORS:
        return "set of operators";
    }
    return "unknown object";
}

yoke_status_t yoke_object_check_alive(const yoke_object_t *object,
                                      yoke_object_kind_t kind, const char *call)
{
    if (object == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the %s is NULL", call, kind_name(kind));
    uint32_t flags = yoke_object_flags(object);
    if ((flags & YOKE_FLAG_FREED) != 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: this %s was freed before; drop the handle when it ends",
                         call, kind_name(object->kind));
    if ((flags & YOKE_FLAG_VALIDATE) != 0 && object->kind != (uint32_t)kind)
        return yoke_fail(YOKE_ERR_USAGE, "%s: a handle of a %s was given as a %s", call,
                         kind_name(object->kind), kind_name(kind));
    return YOKE_OK;
}

yoke_status_t yoke_object_check_slow(const yoke_object_t *object, yoke_object_kind_t kind,
                                     const char *call)
{
    yoke_status_t status = yoke_object_check_alive(object, kind, call);
    if (status == YOKE_OK && (yoke_object_flags(object) & YOKE_FLAG_LOST) != 0)
        return yoke_fail(YOKE_ERR_DEVICE_LOST,
                         "%s: %s was lost before; end its objects and open it anew", call,
                         object->device->label);
    return status;
}

bool yoke_object_endable(const yoke_object_t *object, yoke_object_kind_t kind,
                         const char *call)
{
    return object != NULL && yoke_object_check_alive(object, kind, call) == YOKE_OK;
}

/* --- loss ----------------------------------------------------------------------------
 */

yoke_status_t yoke_device_answer_slow(yoke_device_t *device, yoke_status_t status)
{
    if (status != YOKE_ERR_NOT_READY)
        yoke_fail_at(device->label);
    if (status != YOKE_ERR_DEVICE_LOST)
        return status;
    pthread_mutex_lock(&device->lock);
    uint32_t before = atomic_fetch_or(&device->object.flags, YOKE_FLAG_LOST);
    for (yoke_object_t *object = device->objects; object != NULL; object = object->next)
        atomic_fetch_or(&object->flags, YOKE_FLAG_LOST);
    pthread_mutex_unlock(&device->lock);
    if ((before & YOKE_FLAG_LOST) == 0)
        yoke_warn("%s is lost; its objects take no more work", device->label);
    return status;
}

/* --- lives ---------------------------------------------------------------------------
 */

void yoke_device_retain(yoke_device_t *device)
{
    atomic_fetch_add_explicit(&device->holds, 1, memory_order_relaxed);
}

void yoke_device_release(yoke_device_t *device)
{
    if (atomic_fetch_sub_explicit(&device->holds, 1, memory_order_acq_rel) != 1)
        return;
    device->object.ops->device_close(device->object.impl.device);
    pthread_mutex_destroy(&device->lock);
    free_or_keep(&device->object);
}

void *yoke_object_new(size_t size, yoke_object_kind_t kind, yoke_device_t *device)
{
    yoke_object_t *object = calloc(1, size);
    if (object == NULL) {
        yoke_fail_memory();
        return NULL;
    }
    object->kind = (uint32_t)kind;
    object->ops = device->object.ops;
    object->device = device;
    return object;
}

void yoke_object_discard(yoke_object_t *object)
{
    free(object);
}

void yoke_object_attach(yoke_object_t *object)
{
    yoke_device_t *device = object->device;
    yoke_device_retain(device);
    pthread_mutex_lock(&device->lock);
    atomic_store(&object->flags, yoke_object_flags(&device->object));
    object->next = device->objects;
    if (object->next != NULL)
        object->next->previous = object;
    device->objects = object;
    pthread_mutex_unlock(&device->lock);
}

void yoke_object_end(yoke_object_t *object)
{
    yoke_device_t *device = object->device;
    pthread_mutex_lock(&device->lock);
    if (object->previous != NULL)
        object->previous->next = object->next;
    else
        device->objects = object->next;
    if (object->next != NULL)
        object->next->previous = object->previous;
    pthread_mutex_unlock(&device->lock);
    free_or_keep(object);
    yoke_device_release(device);
}

/* --- options -------------------------------------------------------------------------
 */

yoke_status_t yoke_options_take(void *out, size_t size, const void *options,
                                const char *call)
{
    if (options == NULL)
        return YOKE_OK;
    size_t given = *(const size_t *)options;
    if (given < sizeof(size_t))
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: struct_size of the options is %zu; set it to their sizeof",
                         call, given);
    memcpy(out, options, given < size ? given : size);
    *(size_t *)out = size;
    return YOKE_OK;
}
