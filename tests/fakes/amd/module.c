/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and launches. An image is what the hiprtc of the same library gave. */
#include "hip.h"
#include <stdlib.h>
#include <string.h>

/* "gfx90a:sramecc+:xnack-" runs on "gfx90a". */
static bool same_arch(const char *image, const char *card)
{
    size_t a = strcspn(image, ":"), b = strcspn(card, ":");
    return a == b && strncmp(image, card, a) == 0;
}

static hip_result_t load(hip_device_t *device, void **out, const void *data)
{
    if (out == NULL || data == NULL)
        return HIP_INVALID_VALUE;
    const fake_image_t *image = fake_image_check(data, 0);
    if (image == NULL || strcmp(image->vendor, fake_defaults.vendor) != 0)
        return HIP_INVALID_IMAGE;
    if (!same_arch(image->arch, device->card->arch))
        return HIP_NO_BINARY_FOR_GPU;
    const fake_module_t *code = fake_module_load(image);
    hip_module_t *module = code != NULL ? calloc(1, sizeof *module) : NULL;
    if (module == NULL)
        return HIP_INVALID_IMAGE;
    module->device = device;
    module->module = code;
    fake_handle_add(&module->handle, KIND_MODULE);
    *out = module;
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipModuleLoadData(void **out_module, const void *image)
{
    HIP_CALL_DEVICE(hipModuleLoadData);
    return hip_done(load(device, out_module, image));
}

FAKE_API hip_result_t hipModuleLoadDataEx(void **out_module, const void *image,
                                          unsigned count, int *options, void **values)
{
    HIP_CALL_DEVICE(hipModuleLoadDataEx);
    (void)count;
    (void)options;
    (void)values;
    return hip_done(load(device, out_module, image));
}

FAKE_API hip_result_t hipModuleUnload(void *handle)
{
    HIP_CALL(hipModuleUnload);
    hip_module_t *module = fake_handle_check(handle, KIND_MODULE);
    if (module == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    fake_handle_remove(&module->handle);
    while (module->functions != NULL) {
        hip_function_t *function = module->functions;
        module->functions = function->next;
        fake_handle_remove(&function->handle);
        free(function);
    }
    free(module);
    return HIP_SUCCESS;
}

FAKE_API hip_result_t hipModuleGetFunction(void **out_function, void *handle,
                                           const char *name)
{
    HIP_CALL(hipModuleGetFunction);
    hip_module_t *module = fake_handle_check(handle, KIND_MODULE);
    if (out_function == NULL || name == NULL)
        return hip_done(HIP_INVALID_VALUE);
    if (module == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    const fake_kernel_t *kernel = fake_module_kernel(module->module, name);
    if (kernel == NULL)
        return hip_done(HIP_NOT_FOUND);
    hip_function_t *function = module->functions;
    while (function != NULL && function->kernel != kernel)
        function = function->next;
    if (function == NULL) {
        function = calloc(1, sizeof *function);
        if (function == NULL)
            return hip_done(HIP_OUT_OF_MEMORY);
        function->module = module;
        function->kernel = kernel;
        function->next = module->functions;
        module->functions = function;
        fake_handle_add_quiet(&function->handle, KIND_FUNCTION);
    }
    *out_function = function;
    return HIP_SUCCESS;
}

static void illegal(void *device)
{
    hip_fail(device, HIP_ILLEGAL_ADDRESS);
}

static bool reaches(void *data, const fake_block_t *block)
{
    hip_device_t *device = data;
    const hip_device_t *owner = block->owner;
    return owner == device || block->kind != FAKE_MEMORY_DEVICE ||
           atomic_load(&device->peers[owner->ordinal]);
}

/* HIP_LAUNCH_PARAM_BUFFER_POINTER 1, _BUFFER_SIZE 2, _END 3 (hip_runtime_api.h). */
static bool read_extra(void **extra, fake_launch_t *launch)
{
    for (; *extra != (void *)3; extra += 2) {
        if (*extra == (void *)1)
            launch->packed = extra[1];
        else if (*extra == (void *)2)
            launch->packed_size = *(const size_t *)extra[1];
        else
            return false;
    }
    return launch->packed != NULL;
}

static bool shape_is_good(const fake_launch_t *launch)
{
    const uint32_t *b = launch->block, *g = launch->grid;
    for (int i = 0; i < 3; i++)
        if (b[i] == 0 || g[i] == 0 || b[i] > 1024 || g[i] > 2147483647u)
            return false;
    return (uint64_t)b[0] * b[1] * b[2] <= 1024 && launch->shared <= 65536;
}

FAKE_API hip_result_t hipModuleLaunchKernel(void *handle, unsigned gx, unsigned gy,
                                            unsigned gz, unsigned bx, unsigned by,
                                            unsigned bz, unsigned shared, void *stream,
                                            void **parameters, void **extra)
{
    HIP_CALL(hipModuleLaunchKernel);
    fake_stream_t *queue;
    hip_device_t *device;
    hip_function_t *function = fake_handle_check(handle, KIND_FUNCTION);
    if (function == NULL)
        return hip_done(HIP_INVALID_HANDLE);
    hip_result_t result = hip_queue(stream, &queue, &device);
    if (result != HIP_SUCCESS)
        return hip_done(result);
    hip_device_t *mine = NULL;
    hip_current(&mine);
    /* A launch into a stream of another than the current device fails. */
    if (function->module->device != device || mine != device)
        return hip_done(HIP_INVALID_HANDLE);
    fake_launch_t launch = {.grid = {gx, gy, gz},
                            .block = {bx, by, bz},
                            .shared = shared,
                            .parameters = parameters,
                            .illegal = illegal,
                            .reaches = reaches,
                            .context = device};
    if (!shape_is_good(&launch) || (extra != NULL && !read_extra(extra, &launch)) ||
        (fake_kernel_parameters(function->kernel) > 0 &&
         (parameters != NULL) == (extra != NULL)))
        return hip_done(HIP_INVALID_VALUE);
    return fake_kernel_launch(function->kernel, queue, &launch)
               ? HIP_SUCCESS
               : hip_done(HIP_INVALID_VALUE);
}
