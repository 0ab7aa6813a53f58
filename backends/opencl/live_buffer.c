/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory. DEVICE is a cl_mem, or a USM allocation where the platform has USM. HOST is
 * USM, else fine-grain SVM, else a cl_mem with CL_MEM_ALLOC_HOST_PTR that stays mapped
 * for its life. SHARED is USM or fine-grain SVM (coarse-grain memory would have to be
 * mapped before the host may look at it).
 */
#include "backends/opencl/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "yoke/buffer.h"

static _Atomic uint64_t last_id;

static yoke_impl_buffer_t *new_buffer(yoke_impl_device_t *device, uint64_t size)
{
    yoke_impl_buffer_t *buffer = calloc(1, sizeof *buffer);
    if (buffer == NULL)
        return NULL;
    buffer->device = device;
    buffer->context = device->context;
    buffer->size = size;
    buffer->id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
    return buffer;
}

/* --- kinds of memory ---------------------------------------------------------------- */

static yoke_status_t make_usm(yoke_impl_buffer_t *buffer, uint32_t kind)
{
    const yoke_impl_device_t *device = buffer->device;
    const yoke_ocl_usm_t *usm = &device->slot->usm_calls;
    int32_t code = YOKE_CL_SUCCESS;
    const char *call = "clDeviceMemAllocINTEL";
    void *pointer = NULL;
    if (kind == YOKE_MEMORY_HOST) {
        call = "clHostMemAllocINTEL";
        pointer = usm->host(device->context, NULL, buffer->size, 0, &code);
    } else if (kind == YOKE_MEMORY_SHARED) {
        call = "clSharedMemAllocINTEL";
        pointer = usm->shared(device->context, device->slot->device, NULL, buffer->size,
                              0, &code);
    } else {
        pointer = usm->device(device->context, device->slot->device, NULL, buffer->size,
                              0, &code);
    }
    if (pointer == NULL || code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail_memory(
            call, code != YOKE_CL_SUCCESS ? code : YOKE_CL_OUT_OF_RESOURCES);
    buffer->pointer = pointer;
    buffer->usm = true;
    buffer->host = kind != YOKE_MEMORY_DEVICE;
    return YOKE_OK;
}

/* clSVMAlloc() says NULL and nothing else. */
static yoke_status_t make_svm(yoke_impl_buffer_t *buffer)
{
    const uint64_t flags = YOKE_CL_MEM_READ_WRITE | YOKE_CL_MEM_SVM_FINE_GRAIN_BUFFER;
    buffer->pointer =
        buffer->device->cl->svm_alloc(buffer->context, flags, buffer->size, 0);
    buffer->host = true;
    return buffer->pointer != NULL
               ? YOKE_OK
               : yoke_backend_fail_text(YOKE_ERR_DEVICE_MEMORY,
                                        "opencl: clSVMAlloc gave no %llu bytes on %s",
                                        (unsigned long long)buffer->size,
                                        buffer->device->slot->info.name);
}

static yoke_status_t make_memory(yoke_impl_buffer_t *buffer, uint64_t flags)
{
    int32_t code = YOKE_CL_SUCCESS;
    buffer->memory = buffer->device->cl->work.create_buffer(
        buffer->context, flags | YOKE_CL_MEM_READ_WRITE, buffer->size, NULL, &code);
    return buffer->memory != NULL ? YOKE_OK
                                  : yoke_ocl_fail_memory("clCreateBuffer", code);
}

static yoke_status_t make_mapped(yoke_impl_buffer_t *buffer)
{
    yoke_impl_device_t *device = buffer->device;
    int32_t code = YOKE_CL_SUCCESS;
    yoke_status_t status = make_memory(buffer, YOKE_CL_MEM_ALLOC_HOST_PTR);
    if (status != YOKE_OK)
        return status;
    pthread_mutex_lock(&device->lock);
    buffer->pointer =
        device->cl->map(device->maps, buffer->memory, 1, YOKE_CL_MAP_READ_WRITE, 0,
                        buffer->size, 0, NULL, NULL, &code);
    pthread_mutex_unlock(&device->lock);
    buffer->host = true;
    if (buffer->pointer != NULL)
        return YOKE_OK;
    device->cl->release_memory(buffer->memory);
    return yoke_ocl_fail_memory("clEnqueueMapBuffer", code);
}

yoke_status_t yoke_ocl_buffer_create(yoke_impl_device_t *device, uint32_t kind,
                                     uint64_t size, yoke_impl_buffer_t **out_buffer)
{
    const yoke_ocl_slot_t *slot = device->slot;
    yoke_status_t status;
    if (kind > YOKE_MEMORY_SHARED ||
        (kind == YOKE_MEMORY_SHARED && !slot->usm_shared && !slot->svm))
        return yoke_backend_fail_text(
            YOKE_ERR_UNSUPPORTED,
            "opencl: %s has no memory of kind %u (shared memory needs unified shared "
            "memory or fine-grain SVM)",
            slot->info.name, kind);
    yoke_impl_buffer_t *buffer = new_buffer(device, size);
    if (buffer == NULL)
        return yoke_fail_memory();
    if (slot->usm)
        status = make_usm(buffer, kind);
    else if (kind == YOKE_MEMORY_DEVICE)
        status = make_memory(buffer, 0);
    else if (slot->svm)
        status = make_svm(buffer);
    else
        status = make_mapped(buffer);
    if (status == YOKE_OK)
        *out_buffer = buffer;
    else
        free(buffer);
    return status;
}

/* --- the caller's memory ------------------------------------------------------------ */

/* On platforms with USM a handle may be an address or a cl_mem; the runtime knows its own
 * addresses. */
static bool is_usm(const yoke_impl_device_t *device, const void *handle, bool *out_host)
{
    uint32_t type = YOKE_CL_MEM_TYPE_UNKNOWN_INTEL;
    if (!device->slot->usm || device->slot->usm_calls.info(
                                  device->context, handle, YOKE_CL_MEM_ALLOC_TYPE_INTEL,
                                  sizeof type, &type, NULL) != YOKE_CL_SUCCESS)
        return false;
    *out_host = type != YOKE_CL_MEM_TYPE_DEVICE_INTEL;
    return type != YOKE_CL_MEM_TYPE_UNKNOWN_INTEL;
}

static yoke_status_t take_memory(yoke_impl_buffer_t *buffer, yoke_cl_memory_t memory)
{
    const yoke_ocl_live_t *cl = buffer->device->cl;
    yoke_cl_context_t context = NULL;
    size_t size = 0, origin = 0;
    int32_t code =
        cl->memory_info(memory, YOKE_CL_MEM_CONTEXT, sizeof context, &context, NULL);
    if (code == YOKE_CL_SUCCESS)
        code = cl->memory_info(memory, YOKE_CL_MEM_SIZE, sizeof size, &size, NULL);
    if (code == YOKE_CL_SUCCESS)
        code = cl->memory_info(memory, YOKE_CL_MEM_ASSOCIATED, sizeof buffer->whole,
                               &buffer->whole, NULL);
    if (code == YOKE_CL_SUCCESS && buffer->whole != NULL)
        code = cl->memory_info(memory, YOKE_CL_MEM_OFFSET, sizeof origin, &origin, NULL);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clGetMemObjectInfo", code);
    if (context != buffer->context)
        return yoke_backend_fail_text(
            YOKE_ERR_UNREACHABLE,
            "opencl: the cl_mem belongs to another context than the device; open the "
            "device with yoke_native_t.context set to the context of the cl_mem");
    if (buffer->size > size)
        return yoke_backend_fail_text(YOKE_ERR_OUT_OF_RANGE,
                                      "opencl: the cl_mem has %zu bytes, not %llu", size,
                                      (unsigned long long)buffer->size);
    buffer->memory = memory;
    buffer->origin = origin;
    return YOKE_OK;
}

yoke_status_t yoke_ocl_buffer_wrap(yoke_impl_device_t *device, uint32_t kind,
                                   void *handle, uint64_t size,
                                   yoke_impl_buffer_t **out_buffer)
{
    (void)kind;
    yoke_status_t status = YOKE_OK;
    yoke_impl_buffer_t *buffer = new_buffer(device, size);
    if (buffer == NULL)
        return yoke_fail_memory();
    buffer->wrapped = true;
    if (is_usm(device, handle, &buffer->host)) {
        buffer->pointer = handle;
        buffer->usm = true;
    } else {
        status = take_memory(buffer, (yoke_cl_memory_t)handle);
    }
    if (status == YOKE_OK)
        *out_buffer = buffer;
    else
        free(buffer);
    return status;
}

void yoke_ocl_buffer_destroy(yoke_impl_buffer_t *buffer)
{
    yoke_impl_device_t *device = buffer->device;
    for (size_t i = 0; i < YOKE_CL_SUB_BUFFERS; i++) {
        yoke_ocl_sub_t *sub =
            atomic_load_explicit(&buffer->subs[i], memory_order_acquire);
        if (sub != NULL)
            device->cl->release_memory(sub->memory);
        free(sub);
    }
    if (buffer->wrapped)
        ; /* the caller's */
    else if (buffer->usm)
        device->slot->usm_calls.free(buffer->context, buffer->pointer);
    else if (buffer->memory == NULL)
        device->cl->svm_free(buffer->context, buffer->pointer);
    else if (buffer->pointer != NULL) {
        pthread_mutex_lock(&device->lock);
        device->cl->unmap(device->maps, buffer->memory, buffer->pointer, 0, NULL, NULL);
        device->cl->work.finish(device->maps);
        pthread_mutex_unlock(&device->lock);
    }
    if (buffer->memory != NULL && !buffer->wrapped)
        device->cl->release_memory(buffer->memory);
    free(buffer);
}

void *yoke_ocl_buffer_address(yoke_impl_buffer_t *buffer)
{
    return buffer->memory == NULL ? buffer->pointer : NULL;
}

void *yoke_ocl_buffer_host_address(yoke_impl_buffer_t *buffer)
{
    return buffer->host ? buffer->pointer : NULL;
}

/* The cl_mem; the address where there is none. */
void *yoke_ocl_buffer_native(yoke_impl_buffer_t *buffer)
{
    return buffer->memory != NULL ? (void *)buffer->memory : buffer->pointer;
}

/* --- lending ------------------------------------------------------------------------ */

yoke_status_t yoke_ocl_lend(yoke_impl_queue_t *queue, yoke_impl_buffer_t *const *buffers,
                            size_t count)
{
    pthread_mutex_lock(&queue->device->lock);
    for (size_t i = 0; i < count; i++) {
        int32_t code = queue->cl->unmap(queue->queue, buffers[i]->memory,
                                        buffers[i]->pointer, 0, NULL, NULL);
        if (code != YOKE_CL_SUCCESS)
            return yoke_ocl_take_back(queue, buffers, i,
                                      yoke_ocl_fail("clEnqueueUnmapMemObject", code));
    }
    return YOKE_OK;
}

/* The host's address must stay: a runtime that maps elsewhere is refused. */
static yoke_status_t map_again(yoke_impl_queue_t *queue, const yoke_impl_buffer_t *buffer)
{
    int32_t code = YOKE_CL_SUCCESS;
    void *pointer =
        queue->cl->map(queue->queue, buffer->memory, 0, YOKE_CL_MAP_READ_WRITE, 0,
                       buffer->size, 0, NULL, NULL, &code);
    if (pointer == NULL)
        return yoke_ocl_fail("clEnqueueMapBuffer", code);
    if (pointer != buffer->pointer)
        return yoke_backend_fail_text(
            YOKE_ERR_SYSTEM,
            "opencl: %s maps a buffer at another address the second time; do not give "
            "pinned memory to kernels there",
            queue->device->slot->info.name);
    return YOKE_OK;
}

yoke_status_t yoke_ocl_take_back(yoke_impl_queue_t *queue,
                                 yoke_impl_buffer_t *const *buffers, size_t count,
                                 yoke_status_t status)
{
    for (size_t i = 0; i < count; i++) {
        yoke_status_t mapped = map_again(queue, buffers[i]);
        if (status == YOKE_OK)
            status = mapped;
    }
    queue->dirty = true;
    pthread_mutex_unlock(&queue->device->lock);
    return status;
}

/* --- parts -------------------------------------------------------------------------- */

static yoke_status_t make_sub(const yoke_impl_buffer_t *buffer, uint64_t offset,
                              yoke_cl_memory_t *out_memory)
{
    const yoke_ocl_region_t region = {buffer->origin + offset, buffer->size - offset};
    int32_t code = YOKE_CL_SUCCESS;
    if (offset >= buffer->size)
        return yoke_backend_fail_text(
            YOKE_ERR_OUT_OF_RANGE,
            "opencl: offset %llu of a kernel argument passes the buffer's end (%llu)",
            (unsigned long long)offset, (unsigned long long)buffer->size);
    yoke_cl_memory_t memory = buffer->device->cl->sub_buffer(
        buffer->whole != NULL ? buffer->whole : buffer->memory, YOKE_CL_MEM_READ_WRITE,
        YOKE_CL_BUFFER_CREATE_REGION, &region, &code);
    if (memory == NULL)
        return yoke_ocl_fail("clCreateSubBuffer", code);
    *out_memory = memory;
    return YOKE_OK;
}

#define PROBES 8

/*
 * A kernel's pointer into the middle of a cl_mem needs a sub-buffer. They are kept in a
 * small table without a lock (several queues may use the buffer at once): a slot is
 * filled once and stays. When the PROBES places of an offset are taken by others, the
 * sub-buffer is made for this launch alone.
 */
yoke_status_t yoke_ocl_buffer_part(yoke_impl_buffer_t *buffer, uint64_t offset,
                                   yoke_cl_memory_t *out_memory, bool *out_loose)
{
    size_t place = (size_t)((offset >> 7) * 0x9E3779B97F4A7C15u >> 32);
    _Atomic(yoke_ocl_sub_t *) *empty = NULL;
    *out_loose = false;
    for (size_t i = 0; i < PROBES; i++) {
        _Atomic(yoke_ocl_sub_t *) *at =
            &buffer->subs[(place + i) & (YOKE_CL_SUB_BUFFERS - 1)];
        yoke_ocl_sub_t *sub = atomic_load_explicit(at, memory_order_acquire);
        if (sub == NULL) {
            empty = at;
            break;
        }
        if (sub->offset == offset) {
            *out_memory = sub->memory;
            return YOKE_OK;
        }
    }
    yoke_cl_memory_t memory = NULL;
    yoke_status_t status = make_sub(buffer, offset, &memory);
    if (status != YOKE_OK)
        return status;
    *out_memory = memory;
    *out_loose = true;
    yoke_ocl_sub_t *sub = empty != NULL ? malloc(sizeof *sub) : NULL;
    if (sub == NULL)
        return YOKE_OK;
    *sub = (yoke_ocl_sub_t){offset, memory};
    yoke_ocl_sub_t *expected = NULL;
    if (atomic_compare_exchange_strong_explicit(
            empty, &expected, sub, memory_order_acq_rel, memory_order_relaxed))
        *out_loose = false;
    else /* another thread was quicker */
        free(sub);
    return YOKE_OK;
}
