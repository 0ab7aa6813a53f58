/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and launches. An image is what the fake NVRTC of the same vendor gave. */
#include "cuda.h"
#include <stdlib.h>
#include <string.h>

static int number_of(const char *arch)
{
    const char *digits = strpbrk(arch, "0123456789");
    return digits != NULL ? atoi(digits) : 0;
}

/* A cubin runs on devices of the same major and the same or a higher minor capability,
 * PTX on any that is not older ("Binary compatibility", CUDA C++ Programming Guide). */
static cu_result_t fits(const fake_image_t *image, const fake_card_t *card)
{
    int have = number_of(card->arch), want = number_of(image->arch);
    if (image->form == 'p')
        return want <= have ? CU_SUCCESS : CU_INVALID_PTX;
    return want <= have && want / 10 == have / 10 ? CU_SUCCESS : CU_NO_BINARY_FOR_GPU;
}

static cu_result_t load(cu_context_t *context, void **out, const void *data)
{
    const fake_image_t *image = fake_image_check(data, 0);
    if (out == NULL || data == NULL)
        return CU_INVALID_VALUE;
    if (image == NULL || strcmp(image->vendor, fake_defaults.vendor) != 0)
        return CU_INVALID_IMAGE;
    cu_result_t result = fits(image, context->card);
    if (result != CU_SUCCESS)
        return result;
    const fake_module_t *code = fake_module_load(image);
    cu_module_t *module = code != NULL ? calloc(1, sizeof *module) : NULL;
    if (module == NULL)
        return CU_INVALID_IMAGE;
    module->context = context;
    module->module = code;
    fake_handle_add(&module->handle, KIND_MODULE);
    *out = module;
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuModuleLoadData(void **out_module, const void *image)
{
    CU_CALL_CONTEXT(cuModuleLoadData);
    return load(context, out_module, image);
}

FAKE_API cu_result_t cuModuleLoadDataEx(void **out_module, const void *image,
                                        unsigned count, int *options, void **values)
{
    CU_CALL_CONTEXT(cuModuleLoadDataEx);
    (void)count;
    (void)options;
    (void)values;
    return load(context, out_module, image);
}

FAKE_API cu_result_t cuModuleUnload(void *handle)
{
    CU_CALL_CONTEXT(cuModuleUnload);
    cu_module_t *module = fake_handle_check(handle, KIND_MODULE);
    if (module == NULL || module->context != context)
        return CU_INVALID_HANDLE;
    fake_handle_remove(&module->handle);
    while (module->functions != NULL) {
        cu_function_t *function = module->functions;
        module->functions = function->next;
        fake_handle_remove(&function->handle);
        free(function);
    }
    free(module);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuModuleGetFunction(void **out_function, void *handle,
                                         const char *name)
{
    CU_CALL_CONTEXT(cuModuleGetFunction);
    cu_module_t *module = fake_handle_check(handle, KIND_MODULE);
    if (module == NULL || module->context != context)
        return CU_INVALID_HANDLE;
    if (out_function == NULL || name == NULL)
        return CU_INVALID_VALUE;
    const fake_kernel_t *kernel = fake_module_kernel(module->module, name);
    if (kernel == NULL)
        return CU_NOT_FOUND;
    cu_function_t *function = module->functions;
    while (function != NULL && function->kernel != kernel)
        function = function->next;
    if (function == NULL) {
        function = calloc(1, sizeof *function);
        if (function == NULL)
            return CU_OUT_OF_MEMORY;
        function->module = module;
        function->kernel = kernel;
        function->dynamic_limit = 49152;
        function->next = module->functions;
        module->functions = function;
        fake_handle_add_quiet(&function->handle, KIND_FUNCTION);
    }
    *out_function = function;
    return CU_SUCCESS;
}

/* CUfunction_attribute: MAX_THREADS_PER_BLOCK 0, ..., MAX_DYNAMIC_SHARED_SIZE_BYTES 8. */
FAKE_API cu_result_t cuFuncGetAttribute(int *value, int which, void *handle)
{
    CU_CALL_CONTEXT(cuFuncGetAttribute);
    cu_function_t *function = fake_handle_check(handle, KIND_FUNCTION);
    (void)context;
    if (function == NULL)
        return CU_INVALID_HANDLE;
    if (value == NULL || which < 0 || which > 15)
        return CU_INVALID_VALUE;
    FAKE_OUT(*value, which == 0 ? 1024 : which == 8 ? function->dynamic_limit : 0);
    return CU_SUCCESS;
}

FAKE_API cu_result_t cuFuncSetAttribute(void *handle, int which, int value)
{
    CU_CALL_CONTEXT(cuFuncSetAttribute);
    cu_function_t *function = fake_handle_check(handle, KIND_FUNCTION);
    (void)context;
    if (function == NULL)
        return CU_INVALID_HANDLE;
    if (which != 8 || value < 0 || value > 232448)
        return CU_INVALID_VALUE;
    function->dynamic_limit = value;
    return CU_SUCCESS;
}

/* ---- launching --------------------------------------------------------------------- */

static void illegal(void *context)
{
    cu_fail(context, CU_ILLEGAL_ADDRESS);
}

/* Each context has an address space of its own; host memory is seen by all, another
 * context's by those that enabled access to it. */
static bool reaches(void *data, const fake_block_t *block)
{
    cu_context_t *context = data;
    cu_context_t *owner = block->owner;
    if (owner == context || block->kind != FAKE_MEMORY_DEVICE)
        return true;
    return owner != NULL && owner->card != context->card &&
           atomic_load(&context->peers[owner->device]);
}

/* `extra`: pairs of CU_LAUNCH_PARAM_BUFFER_POINTER (1), _BUFFER_SIZE (2), end 0. */
static bool read_extra(void **extra, fake_launch_t *launch)
{
    for (; *extra != NULL; extra += 2) {
        if (*extra == (void *)1)
            launch->packed = extra[1];
        else if (*extra == (void *)2)
            launch->packed_size = *(const size_t *)extra[1];
        else
            return false;
    }
    return launch->packed != NULL;
}

static cu_result_t check_shape(const fake_launch_t *launch, const cu_function_t *function)
{
    const uint32_t *b = launch->block, *g = launch->grid;
    for (int i = 0; i < 3; i++)
        if (b[i] == 0 || g[i] == 0)
            return CU_INVALID_VALUE;
    if (b[0] > 1024 || b[1] > 1024 || b[2] > 64 || b[0] * b[1] * b[2] > 1024)
        return CU_INVALID_VALUE;
    if (g[0] > 2147483647u || g[1] > 65535 || g[2] > 65535)
        return CU_INVALID_VALUE;
    return launch->shared > (size_t)function->dynamic_limit ? CU_INVALID_VALUE
                                                            : CU_SUCCESS;
}

FAKE_API cu_result_t cuLaunchKernel(void *handle, unsigned gx, unsigned gy, unsigned gz,
                                    unsigned bx, unsigned by, unsigned bz,
                                    unsigned shared, void *stream, void **parameters,
                                    void **extra)
{
    CU_CALL_CONTEXT(cuLaunchKernel);
    fake_stream_t *queue;
    cu_context_t *of;
    cu_function_t *function = fake_handle_check(handle, KIND_FUNCTION);
    if (function == NULL || function->module->context != context)
        return CU_INVALID_HANDLE;
    cu_result_t result = cu_queue(context, stream, &queue, &of);
    if (result != CU_SUCCESS)
        return result;
    if (of != context)
        return CU_INVALID_HANDLE;
    fake_launch_t launch = {.grid = {gx, gy, gz},
                            .block = {bx, by, bz},
                            .shared = shared,
                            .parameters = parameters,
                            .illegal = illegal,
                            .reaches = reaches,
                            .context = context};
    result = check_shape(&launch, function);
    if (result != CU_SUCCESS)
        return result;
    if (fake_kernel_parameters(function->kernel) > 0 &&
        (parameters != NULL) == (extra != NULL))
        return CU_INVALID_VALUE;
    if (extra != NULL && !read_extra(extra, &launch))
        return CU_INVALID_VALUE;
    return fake_kernel_launch(function->kernel, queue, &launch) ? CU_SUCCESS
                                                                : CU_INVALID_VALUE;
}
