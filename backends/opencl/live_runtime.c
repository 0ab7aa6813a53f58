/* SPDX-License-Identifier: Apache-2.0 */
/* The ICD loader opened in this process, its devices, and their contexts. */
#include "backends/opencl/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define COUNT(list) (sizeof(list) / sizeof *(list))

static const char *resolve(const yoke_library_t *library, yoke_ocl_live_t *cl)
{
    const yoke_symbol_t symbols[] = {
        {"clGetPlatformIDs", NULL, &cl->query.get_platforms, false},
        {"clGetPlatformInfo", NULL, &cl->query.platform_info, false},
        {"clGetDeviceIDs", NULL, &cl->query.get_devices, false},
        {"clGetDeviceInfo", NULL, &cl->query.device_info, false},
        {"clCreateContext", NULL, &cl->work.create_context, false},
        {"clCreateCommandQueue", NULL, &cl->work.create_queue, false},
        {"clCreateBuffer", NULL, &cl->work.create_buffer, false},
        {"clCreateProgramWithSource", NULL, &cl->work.create_program, false},
        {"clBuildProgram", NULL, &cl->work.build_program, false},
        {"clGetProgramBuildInfo", NULL, &cl->work.build_info, false},
        {"clCreateKernel", NULL, &cl->work.create_kernel, false},
        {"clSetKernelArg", NULL, &cl->work.set_argument, false},
        {"clEnqueueNDRangeKernel", NULL, &cl->work.launch, false},
        {"clEnqueueWriteBuffer", NULL, &cl->work.write_buffer, false},
        {"clEnqueueReadBuffer", NULL, &cl->work.read_buffer, false},
        {"clFinish", NULL, &cl->work.finish, false},
        {"clRetainContext", NULL, &cl->retain_context, false},
        {"clReleaseContext", NULL, &cl->release_context, false},
        {"clGetContextInfo", NULL, &cl->context_info, false},
        {"clReleaseCommandQueue", NULL, &cl->release_queue, false},
        {"clGetCommandQueueInfo", NULL, &cl->queue_info, false},
        {"clFlush", NULL, &cl->flush, false},
        {"clReleaseMemObject", NULL, &cl->release_memory, false},
        {"clGetMemObjectInfo", NULL, &cl->memory_info, false},
        {"clCreateSubBuffer", NULL, &cl->sub_buffer, false},
        {"clEnqueueMapBuffer", NULL, &cl->map, false},
        {"clEnqueueUnmapMemObject", NULL, &cl->unmap, false},
        {"clEnqueueCopyBuffer", NULL, &cl->copy, false},
        {"clGetEventInfo", NULL, &cl->event_info, false},
        {"clWaitForEvents", NULL, &cl->wait, false},
        {"clReleaseEvent", NULL, &cl->release_event, false},
        {"clRetainEvent", NULL, &cl->retain_event, false},
        {"clCreateUserEvent", NULL, &cl->user_event, false},
        {"clSetUserEventStatus", NULL, &cl->set_user_event, false},
        {"clSetEventCallback", NULL, &cl->on_event, false},
        {"clGetEventProfilingInfo", NULL, &cl->profiling, false},
        {"clCreateProgramWithBinary", NULL, &cl->create_binary, false},
        {"clGetProgramInfo", NULL, &cl->program_info, false},
        {"clReleaseProgram", NULL, &cl->release_program, false},
        {"clGetKernelInfo", NULL, &cl->kernel_info, false},
        {"clReleaseKernel", NULL, &cl->release_kernel, false},
        {"clEnqueueMarker", NULL, &cl->marker_1_1, true},
        {"clEnqueueWaitForEvents", NULL, &cl->wait_1_1, true},
        {"clEnqueueMarkerWithWaitList", NULL, &cl->marker, true},
        {"clEnqueueBarrierWithWaitList", NULL, &cl->barrier, true},
        {"clEnqueueFillBuffer", NULL, &cl->fill, true},
        {"clGetExtensionFunctionAddressForPlatform", NULL, &cl->extension, true},
        {"clSVMAlloc", NULL, &cl->svm_alloc, true},
        {"clSVMFree", NULL, &cl->svm_free, true},
        {"clEnqueueSVMMemcpy", NULL, &cl->svm_copy, true},
        {"clEnqueueSVMMemFill", NULL, &cl->svm_fill, true},
        {"clSetKernelArgSVMPointer", NULL, &cl->svm_argument, true},
        {"clCreateCommandQueueWithProperties", NULL, &cl->queue_2_0, true},
        {"clCreateProgramWithIL", NULL, &cl->create_il, true},
    };
    return yoke_library_resolve(library, symbols, COUNT(symbols));
}

static yoke_status_t open_library(yoke_library_t *out_library)
{
    static const char *const names[] = {"libOpenCL.so.1", NULL};
    char *problem = NULL;
    bool found = false;
    if (yoke_library_open("OPENCL", names, out_library, &problem, &found))
        return YOKE_OK;
    yoke_status_t status = yoke_backend_fail_text(
        found ? YOKE_ERR_SYSTEM : YOKE_ERR_NOT_FOUND, "opencl: %s; %s",
        problem != NULL ? problem : "libOpenCL.so.1 cannot be loaded",
        found
            ? "mend or replace the library, or name another in YOKE_LIB_OPENCL"
            : "install the OpenCL ICD loader (Debian: ocl-icd-libopencl1) or name it in "
              "YOKE_LIB_OPENCL");
    free(problem);
    return status;
}

yoke_status_t yoke_ocl_runtime_open(yoke_impl_runtime_t **out_runtime)
{
    yoke_impl_runtime_t *runtime = calloc(1, sizeof *runtime);
    if (runtime == NULL)
        return yoke_fail_memory();
    yoke_status_t status = open_library(&runtime->library);
    if (status != YOKE_OK)
        goto out_free;
    const char *missing = resolve(&runtime->library, &runtime->cl);
    if (missing != NULL) {
        status = yoke_backend_fail_text(YOKE_ERR_SYSTEM,
                                        "opencl: %s lacks %s; it is no OpenCL 1.1 loader",
                                        runtime->library.path, missing);
        goto out_library;
    }
    status = yoke_ocl_slots_find(runtime);
    if (status != YOKE_OK)
        goto out_library;
    pthread_mutex_init(&runtime->lock, NULL);
    *out_runtime = runtime;
    return YOKE_OK;

out_library:
    yoke_library_forget(&runtime->library);
out_free:
    free(runtime);
    return status;
}

yoke_status_t yoke_ocl_device_count(yoke_impl_runtime_t *runtime, uint32_t *out_count)
{
    *out_count = (uint32_t)runtime->slot_count;
    return YOKE_OK;
}

yoke_status_t yoke_ocl_device_info(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                   yoke_impl_info_t *out_info)
{
    if (ordinal >= runtime->slot_count)
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND,
                                      "opencl: no device %u; there are %zu", ordinal,
                                      runtime->slot_count);
    size_t size = out_info->struct_size != 0 ? out_info->struct_size : sizeof *out_info;
    yoke_impl_info_t info = runtime->slots[ordinal].info;
    info.struct_size = size < sizeof info ? size : sizeof info;
    memcpy(out_info, &info, info.struct_size);
    return YOKE_OK;
}

yoke_status_t yoke_ocl_device_find(yoke_impl_runtime_t *runtime,
                                   const yoke_native_t *native, uint32_t *out_ordinal)
{
    for (size_t i = 0; i < runtime->slot_count; i++)
        if ((void *)runtime->slots[i].device == native->handle) {
            *out_ordinal = (uint32_t)i;
            return YOKE_OK;
        }
    return yoke_backend_fail_text(
        YOKE_ERR_NOT_FOUND,
        "opencl: the cl_device_id %p is none of the %zu devices that "
        "clGetDeviceIDs lists; sub-devices cannot be adopted",
        native->handle, runtime->slot_count);
}

/* --- devices ------------------------------------------------------------------------ */

static yoke_status_t make_context(yoke_impl_runtime_t *runtime, yoke_ocl_slot_t *slot)
{
    const intptr_t properties[] = {YOKE_CL_CONTEXT_PLATFORM, (intptr_t)slot->platform, 0};
    int32_t code = YOKE_CL_SUCCESS;
    slot->context =
        runtime->cl.work.create_context(properties, 1, &slot->device, NULL, NULL, &code);
    if (slot->context != NULL && code == YOKE_CL_SUCCESS)
        return YOKE_OK;
    slot->context = NULL;
    return yoke_ocl_fail("clCreateContext", code);
}

static yoke_status_t own_context(yoke_impl_device_t *device)
{
    yoke_ocl_slot_t *slot = device->slot;
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&device->runtime->lock);
    if (slot->context == NULL)
        status = make_context(device->runtime, slot);
    if (status == YOKE_OK)
        slot->context_users++;
    device->context = slot->context;
    pthread_mutex_unlock(&device->runtime->lock);
    return status;
}

/* The caller's context, which must hold the device. */
static yoke_status_t adopt_context(yoke_impl_device_t *device, yoke_cl_context_t context)
{
    yoke_cl_device_t devices[64] = {0};
    size_t size = 0;
    int32_t code = device->cl->context_info(context, YOKE_CL_CONTEXT_DEVICES,
                                            sizeof devices, devices, &size);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clGetContextInfo", code);
    for (size_t i = 0; i < size / sizeof *devices && i < COUNT(devices); i++)
        if (devices[i] == device->slot->device) {
            code = device->cl->retain_context(context);
            if (code != YOKE_CL_SUCCESS)
                return yoke_ocl_fail("clRetainContext", code);
            device->context = context;
            device->adopted = true;
            return YOKE_OK;
        }
    return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                  "opencl: the context %p does not hold the device; give "
                                  "the context that the queues and buffers belong to",
                                  (void *)context);
}

static void release_context(yoke_impl_device_t *device)
{
    pthread_mutex_lock(&device->runtime->lock);
    if (device->adopted) {
        device->cl->release_context(device->context);
    } else if (--device->slot->context_users == 0) {
        device->cl->release_context(device->slot->context);
        device->slot->context = NULL;
    }
    pthread_mutex_unlock(&device->runtime->lock);
}

yoke_status_t yoke_ocl_device_open(yoke_impl_runtime_t *runtime, uint32_t ordinal,
                                   const yoke_native_t *native,
                                   yoke_impl_device_t **out_device)
{
    if (ordinal >= runtime->slot_count)
        return yoke_backend_fail_text(YOKE_ERR_NOT_FOUND,
                                      "opencl: no device %u; there are %zu", ordinal,
                                      runtime->slot_count);
    yoke_impl_device_t *device = calloc(1, sizeof *device);
    if (device == NULL)
        return yoke_fail_memory();
    device->runtime = runtime;
    device->cl = &runtime->cl;
    device->slot = &runtime->slots[ordinal];
    bool adopt = native != NULL && native->context != NULL;
    yoke_status_t status = adopt
                               ? adopt_context(device, (yoke_cl_context_t)native->context)
                               : own_context(device);
    if (status != YOKE_OK)
        goto out_free;
    if (!device->slot->usm && !device->slot->svm) {
        int32_t code = YOKE_CL_SUCCESS;
        device->maps = device->cl->work.create_queue(device->context,
                                                     device->slot->device, 0, &code);
        if (device->maps == NULL) {
            status = yoke_ocl_fail("clCreateCommandQueue", code);
            goto out_context;
        }
    }
    pthread_mutex_init(&device->lock, NULL);
    *out_device = device;
    return YOKE_OK;

out_context:
    release_context(device);
out_free:
    free(device);
    return status;
}

void yoke_ocl_device_close(yoke_impl_device_t *device)
{
    if (device->maps != NULL)
        device->cl->release_queue(device->maps);
    release_context(device);
    pthread_mutex_destroy(&device->lock);
    free(device);
}

void yoke_ocl_device_native(yoke_impl_device_t *device, yoke_native_t *out)
{
    out->handle = device->slot->device;
    out->context = device->context;
}

/* cl_amd_device_attribute_query: two values in KiB, the total and the largest block. */
yoke_status_t yoke_ocl_memory_info(yoke_impl_device_t *device, uint64_t *out_free,
                                   uint64_t *out_total)
{
    uint64_t kibibytes[2] = {0, 0};
    if ((device->slot->info.capabilities & YOKE_CAP_FREE_MEMORY) == 0)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "opencl: %s does not tell how much memory is free",
                                      device->slot->info.name);
    int32_t code = device->cl->query.device_info(device->slot->device,
                                                 YOKE_CL_DEVICE_GLOBAL_FREE_MEMORY_AMD,
                                                 sizeof kibibytes, kibibytes, NULL);
    if (code != YOKE_CL_SUCCESS)
        return yoke_ocl_fail("clGetDeviceInfo", code);
    *out_free = kibibytes[0] * 1024;
    *out_total = device->slot->info.memory_total;
    return YOKE_OK;
}
