/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors from and to frameworks. */
#include "hal/live/dlpack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* --- import --------------------------------------------------------------------------
 */

static yoke_status_t take_shape(const dl_tensor_t *from, yoke_dltensor_t *out)
{
    if (from->ndim < 0 || from->ndim > YOKE_MAX_DIMENSIONS)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "DLPack: %d dimensions; %d are the most",
                         (int)from->ndim, YOKE_MAX_DIMENSIONS);
    out->dimensions = (uint32_t)from->ndim;
    if (from->ndim > 0 && from->shape == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "DLPack: the tensor has no shape");
    int64_t dense = 1;
    for (int32_t i = from->ndim; i-- > 0;) {
        out->shape[i] = from->shape[i];
        out->strides[i] = from->strides != NULL ? from->strides[i] : dense;
        /* What overflows here is found by yoke_dlpack_range(), or the tensor is empty. */
        if (__builtin_mul_overflow(dense, from->shape[i], &dense))
            dense = INT64_MAX;
    }
    return YOKE_OK;
}

static yoke_status_t take_meaning(const yoke_device_t *device, const dl_tensor_t *from,
                                  yoke_dltensor_t *out, yoke_memory_kind_t *out_kind)
{
    if (!yoke_dlpack_is_on(device, from, out_kind))
        return yoke_fail(
            YOKE_ERR_USAGE,
            "DLPack: the tensor lies on device type %d, number %d, not on %s",
            (int)from->device.device_type, (int)from->device.device_id, device->label);
    if (!yoke_dlpack_element(from, &out->element))
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "DLPack: no element type of code %u, %u bits and %u lanes",
                         from->dtype.code, from->dtype.bits, from->dtype.lanes);
    return take_shape(from, out);
}

/* A tensor without elements has no memory; its buffer only ends it. */
static yoke_status_t wrap_nothing(yoke_device_t *device, yoke_release_t release,
                                  void *managed, yoke_dltensor_t *out)
{
    yoke_buffer_t *buffer = yoke_object_new(sizeof *buffer, YOKE_OBJECT_BUFFER, device);
    if (buffer == NULL)
        return YOKE_ERR_NO_MEMORY;
    buffer->wrapped = (yoke_wrapped_t){true, NULL, release, managed};
    yoke_object_attach(&buffer->object);
    out->span = yoke_span(buffer, 0);
    return YOKE_OK;
}

static yoke_status_t wrap_memory(yoke_device_t *device, const dl_tensor_t *from,
                                 yoke_memory_kind_t kind, yoke_release_t release,
                                 void *managed, yoke_dltensor_t *out)
{
    yoke_dlpack_range_t range;
    yoke_status_t status = yoke_dlpack_range(out->dimensions, out->shape, out->strides,
                                             yoke_element_size(out->element), &range);
    if (status != YOKE_OK)
        return status;
    if (range.empty)
        return wrap_nothing(device, release, managed, out);
    /* An address may be moved down to the lowest element; a handle may not. */
    uint64_t offset = from->byte_offset, size = 0;
    uint64_t shift = range.below > offset ? range.below - offset : 0;
    bool addresses = (device->info.capabilities & YOKE_CAP_ADDRESS) != 0;
    if (__builtin_add_overflow(offset, range.above, &size) ||
        __builtin_add_overflow(size, shift, &size) || from->data == NULL ||
        (shift > 0 && (!addresses || shift > (uintptr_t)from->data)))
        return yoke_fail(YOKE_ERR_USAGE,
                         "DLPack: byte_offset %" PRIu64 " with %" PRIu64
                         " bytes below and %" PRIu64 " above do not fit the memory at %p",
                         from->byte_offset, range.below, range.above, from->data);
    status = yoke_buffer_wrap(device, kind, (char *)from->data - shift, size, release,
                              managed, &out->span.buffer);
    out->span.offset = offset + shift;
    return status;
}

static yoke_status_t import(yoke_device_t *device, const dl_tensor_t *from,
                            bool read_only, yoke_release_t release, void *managed,
                            yoke_dltensor_t *out_tensor, const char *call)
{
    yoke_dltensor_t tensor = {.struct_size = sizeof tensor, .read_only = read_only};
    yoke_memory_kind_t kind = YOKE_MEMORY_DEVICE;
    yoke_status_t status =
        yoke_object_check(YOKE_OBJECT(device), YOKE_OBJECT_DEVICE, call);
    if (status == YOKE_OK &&
        (out_tensor == NULL || out_tensor->struct_size < sizeof tensor))
        status = yoke_fail(YOKE_ERR_USAGE,
                           "%s: set out_tensor->struct_size to its sizeof", call);
    if (status == YOKE_OK)
        status = take_meaning(device, from, &tensor, &kind);
    if (status == YOKE_OK)
        status = wrap_memory(device, from, kind, release, managed, &tensor);
    if (status == YOKE_OK) {
        tensor.struct_size = out_tensor->struct_size;
        memcpy(out_tensor, &tensor, sizeof tensor);
    }
    return status;
}

static void delete_versioned(void *context, void *handle)
{
    struct DLManagedTensorVersioned *managed = context;
    (void)handle;
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

static void delete_legacy(void *context, void *handle)
{
    struct DLManagedTensor *managed = context;
    (void)handle;
    if (managed->deleter != NULL)
        managed->deleter(managed);
}

yoke_status_t yoke_dlpack_import(yoke_device_t *device,
                                 struct DLManagedTensorVersioned *managed,
                                 yoke_dltensor_t *out_tensor)
{
    static const char call[] = "yoke_dlpack_import";
    if (managed == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the tensor is NULL", call);
    if (managed->version.major != DL_MAJOR)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "%s: DLPack %u.%u; %u.x is known", call,
                         managed->version.major, managed->version.minor, DL_MAJOR);
    return import(device, &managed->dl_tensor, (managed->flags & DL_FLAG_READ_ONLY) != 0,
                  delete_versioned, managed, out_tensor, call);
}

yoke_status_t yoke_dlpack_import_legacy(yoke_device_t *device,
                                        struct DLManagedTensor *managed,
                                        yoke_dltensor_t *out_tensor)
{
    static const char call[] = "yoke_dlpack_import_legacy";
    if (managed == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the tensor is NULL", call);
    return import(device, &managed->dl_tensor, false, delete_legacy, managed, out_tensor,
                  call);
}

/* --- export --------------------------------------------------------------------------
 */

/* What a receiver gets, and what ends it. */
typedef struct given {
    union {
        struct DLManagedTensorVersioned versioned;
        struct DLManagedTensor legacy;
    } managed; /* first: its address is the given one's */
    int64_t shape[YOKE_MAX_DIMENSIONS], strides[YOKE_MAX_DIMENSIONS];
    void (*release)(void *context);
    void *context;
} given_t;

static void end_given(given_t *given)
{
    if (given->release != NULL)
        given->release(given->context);
    free(given);
}

static void end_versioned(struct DLManagedTensorVersioned *self)
{
    end_given(self->manager_ctx);
}

static void end_legacy(struct DLManagedTensor *self)
{
    end_given(self->manager_ctx);
}

static yoke_status_t check_tensor(const yoke_dltensor_t *tensor, const char *call,
                                  yoke_dlpack_range_t *out_range)
{
    if (tensor == NULL || tensor->struct_size < sizeof *tensor)
        return yoke_fail(YOKE_ERR_USAGE, "%s: set tensor->struct_size to its sizeof",
                         call);
    if (tensor->dimensions > YOKE_MAX_DIMENSIONS ||
        yoke_element_size(tensor->element) == 0)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %u dimensions of element type %d", call,
                         tensor->dimensions, (int)tensor->element);
    yoke_status_t status = yoke_object_check_alive(YOKE_OBJECT(tensor->span.buffer),
                                                   YOKE_OBJECT_BUFFER, call);
    if (status == YOKE_OK)
        status = yoke_dlpack_range(tensor->dimensions, tensor->shape, tensor->strides,
                                   yoke_element_size(tensor->element), out_range);
    if (status != YOKE_OK || out_range->empty)
        return status;
    uint64_t size = tensor->span.buffer->size, offset = tensor->span.offset;
    if (offset > size || out_range->above > size - offset || out_range->below > offset)
        return yoke_fail(YOKE_ERR_OUT_OF_RANGE,
                         "%s: %" PRIu64 " bytes below and %" PRIu64
                         " above offset %" PRIu64 " pass a buffer of %" PRIu64 " bytes",
                         call, out_range->below, out_range->above, offset, size);
    return YOKE_OK;
}

static yoke_status_t fill_tensor(const yoke_dltensor_t *from, const char *call,
                                 given_t *given, dl_tensor_t *out)
{
    const yoke_buffer_t *buffer = from->span.buffer;
    const yoke_backend_ops_t *ops = buffer->object.ops;
    yoke_impl_buffer_t *impl = buffer->object.impl.buffer;
    if (impl != NULL && ops->buffer_address != NULL)
        out->data = ops->buffer_address(impl);
    if (impl != NULL && out->data == NULL && ops->buffer_native != NULL)
        out->data = ops->buffer_native(impl);
    if (impl != NULL && out->data == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "%s: buffers of %s have neither an address nor a handle to give",
                         call, buffer->object.device->label);
    out->device.device_type = yoke_dlpack_device_type(buffer->object.device, buffer->kind,
                                                      &out->device.device_id);
    out->ndim = (int32_t)from->dimensions;
    yoke_dlpack_set_element(from->element, out);
    memcpy(given->shape, from->shape, sizeof given->shape);
    memcpy(given->strides, from->strides, sizeof given->strides);
    out->shape = given->shape;
    out->strides = given->strides;
    out->byte_offset = impl != NULL ? from->span.offset : 0;
    return YOKE_OK;
}

static yoke_status_t make_given(const yoke_dltensor_t *tensor,
                                void (*release)(void *context), void *context,
                                const void *out, const char *call, given_t **out_given)
{
    yoke_dlpack_range_t range;
    if (out == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: the output is NULL", call);
    yoke_status_t status = check_tensor(tensor, call, &range);
    if (status != YOKE_OK)
        return status;
    given_t *given = calloc(1, sizeof *given);
    if (given == NULL)
        return yoke_fail_memory();
    given->release = release;
    given->context = context;
    *out_given = given;
    return YOKE_OK;
}

yoke_status_t yoke_dlpack_export(const yoke_dltensor_t *tensor,
                                 void (*release)(void *context), void *context,
                                 struct DLManagedTensorVersioned **out_managed)
{
    static const char call[] = "yoke_dlpack_export";
    given_t *given = NULL;
    yoke_status_t status =
        make_given(tensor, release, context, out_managed, call, &given);
    if (status != YOKE_OK)
        return status;
    struct DLManagedTensorVersioned *managed = &given->managed.versioned;
    managed->version.major = DL_MAJOR;
    managed->version.minor = DL_MINOR;
    managed->manager_ctx = given;
    managed->deleter = end_versioned;
    managed->flags = tensor->read_only != 0 ? DL_FLAG_READ_ONLY : 0;
    status = fill_tensor(tensor, call, given, &managed->dl_tensor);
    if (status == YOKE_OK)
        *out_managed = managed;
    else
        free(given);
    return status;
}

yoke_status_t yoke_dlpack_export_legacy(const yoke_dltensor_t *tensor,
                                        void (*release)(void *context), void *context,
                                        struct DLManagedTensor **out_managed)
{
    static const char call[] = "yoke_dlpack_export_legacy";
    given_t *given = NULL;
    yoke_status_t status =
        make_given(tensor, release, context, out_managed, call, &given);
    if (status != YOKE_OK)
        return status;
    struct DLManagedTensor *managed = &given->managed.legacy;
    managed->manager_ctx = given;
    managed->deleter = end_legacy;
    status = tensor->read_only != 0
                 ? yoke_fail(YOKE_ERR_UNSUPPORTED,
                             "%s: it cannot say that the tensor is read-only; use "
                             "yoke_dlpack_export()",
                             call)
                 : fill_tensor(tensor, call, given, &managed->dl_tensor);
    if (status == YOKE_OK)
        *out_managed = managed;
    else
        free(given);
    return status;
}
