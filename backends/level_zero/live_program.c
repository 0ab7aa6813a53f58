/* SPDX-License-Identifier: Apache-2.0 */
/* Modules from SPIR-V or the driver's own binary; OpenCL C is made SPIR-V first. */
#include "backends/level_zero/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define SPIRV_MAGIC 0x07230203u /* SPIR-V specification, 3.1 Magic Number */

static void show_log(yoke_impl_device_t *device, yoke_ze_build_log_t handle,
                     yoke_log_text_t log, void *log_context)
{
    size_t size = 0;
    char *text = NULL;
    if (handle == NULL)
        return;
    if (log != NULL && device->ze->log_text(handle, &size, NULL) == YOKE_ZE_SUCCESS &&
        size > 1 && size < 1 << 24)
        text = calloc(1, size + 1);
    if (text != NULL && device->ze->log_text(handle, &size, text) == YOKE_ZE_SUCCESS)
        log(log_context, text, strlen(text));
    free(text);
    device->ze->log_destroy(handle);
}

static bool is_spirv(const void *data, size_t size)
{
    uint32_t magic = 0;
    if (size < sizeof magic)
        return false;
    memcpy(&magic, data, sizeof magic);
    return magic == SPIRV_MAGIC;
}

static yoke_status_t make_module(yoke_impl_device_t *device, const void *data,
                                 size_t size, const char *flags, yoke_log_text_t log,
                                 void *log_context, yoke_ze_module_t *out_module)
{
    const yoke_ze_module_desc_t desc = {
        .stype = YOKE_ZE_MODULE_DESC,
        .format = is_spirv(data, size) ? YOKE_ZE_FORMAT_SPIRV : YOKE_ZE_FORMAT_NATIVE,
        .size = size,
        .data = data,
        .flags = flags};
    yoke_ze_module_t module = NULL;
    yoke_ze_build_log_t build_log = NULL;
    uint32_t code = device->ze->module_create(device->context, device->slot->device,
                                              &desc, &module, &build_log);
    show_log(device, build_log, log, log_context);
    if (code == YOKE_ZE_ERROR_MODULE_BUILD_FAILURE ||
        code == YOKE_ZE_ERROR_MODULE_LINK_FAILURE ||
        code == (uint32_t)YOKE_ZE_ERROR_INVALID_NATIVE_BINARY) {
        const char *name = yoke_ze_error_name((int64_t)code);
        if (log != NULL) {
            log(log_context, "zeModuleCreate: ", 16);
            log(log_context, name, strlen(name));
            log(log_context, "\n", 1);
        }
        return YOKE_ERR_BAD_INPUT;
    }
    if (code != YOKE_ZE_SUCCESS)
        return yoke_ze_fail("zeModuleCreate", code);
    *out_module = module;
    return YOKE_OK;
}

static yoke_status_t make(yoke_impl_device_t *device,
                          const yoke_impl_program_source_t *source, yoke_log_text_t log,
                          void *log_context, yoke_ze_module_t *out_module)
{
    void *spirv = NULL;
    size_t size = 0;
    if (source->binary)
        return make_module(device, source->data, source->size, source->options, log,
                           log_context, out_module);
    yoke_status_t status = yoke_ze_spirv_compile(source, log, log_context, &spirv, &size);
    if (status == YOKE_OK)
        status = make_module(device, spirv, size, "", log, log_context, out_module);
    free(spirv);
    return status;
}

yoke_status_t yoke_ze_program_create(yoke_impl_device_t *device,
                                     const yoke_impl_program_source_t *source,
                                     yoke_log_text_t log, void *log_context,
                                     yoke_impl_program_t **out_program)
{
    yoke_impl_program_t *program = calloc(1, sizeof *program);
    if (program == NULL)
        return yoke_fail_memory();
    yoke_status_t status = make(device, source, log, log_context, &program->module);
    if (status != YOKE_OK) {
        free(program);
        return status;
    }
    program->device = device;
    pthread_mutex_init(&program->lock, NULL);
    *out_program = program;
    return YOKE_OK;
}

void yoke_ze_program_destroy(yoke_impl_program_t *program)
{
    program->device->ze->module_destroy(program->module);
    pthread_mutex_destroy(&program->lock);
    free(program->binary);
    free(program);
}

static yoke_status_t read_binary(yoke_impl_program_t *program)
{
    const yoke_ze_live_t *ze = program->device->ze;
    size_t size = 0;
    uint32_t code = ze->module_binary(program->module, &size, NULL);
    if (code != YOKE_ZE_SUCCESS || size == 0)
        return code != YOKE_ZE_SUCCESS
                   ? yoke_ze_fail("zeModuleGetNativeBinary", code)
                   : yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                            "level_zero: the driver gives no binary");
    if (size > (size_t)1 << 30)
        return yoke_backend_fail_text(
            YOKE_ERR_SYSTEM,
            "level_zero: zeModuleGetNativeBinary says that the binary has %zu bytes",
            size);
    uint8_t *binary = malloc(size);
    if (binary == NULL)
        return yoke_fail_memory();
    code = ze->module_binary(program->module, &size, binary);
    if (code != YOKE_ZE_SUCCESS) {
        free(binary);
        return yoke_ze_fail("zeModuleGetNativeBinary", code);
    }
    program->binary = binary;
    program->binary_size = size;
    return YOKE_OK;
}

yoke_status_t yoke_ze_program_binary(yoke_impl_program_t *program, const void **out_data,
                                     size_t *out_size)
{
    yoke_status_t status = YOKE_OK;
    pthread_mutex_lock(&program->lock);
    if (program->binary == NULL)
        status = read_binary(program);
    if (status == YOKE_OK) {
        *out_data = program->binary;
        *out_size = program->binary_size;
    }
    pthread_mutex_unlock(&program->lock);
    return status;
}

const char *yoke_ze_compiler_version(yoke_impl_device_t *device)
{
    const char *compiler = device->runtime->compiler;
    return compiler != NULL ? compiler : "";
}

/* --- kernels ------------------------------------------------------------------------ */

yoke_status_t yoke_ze_kernel_create(yoke_impl_program_t *program, const char *name,
                                    yoke_impl_kernel_t **out_kernel)
{
    const yoke_ze_live_t *ze = program->device->ze;
    const yoke_ze_kernel_desc_t desc = {.stype = YOKE_ZE_KERNEL_DESC, .name = name};
    yoke_ze_kernel_properties_t properties = {.stype = YOKE_ZE_KERNEL_PROPERTIES};
    yoke_impl_kernel_t *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return yoke_fail_memory();
    kernel->device = program->device;
    kernel->program = program;
    kernel->name = yoke_strdup(name);
    if (kernel->name == NULL) {
        free(kernel);
        return yoke_fail_memory();
    }
    uint32_t code = ze->kernel_create(program->module, &desc, &kernel->kernel);
    if (code != YOKE_ZE_SUCCESS) {
        free(kernel->name);
        free(kernel);
        return code == (uint32_t)YOKE_ZE_ERROR_INVALID_KERNEL_NAME
                   ? yoke_backend_fail(&yoke_level_zero_ops, YOKE_ERR_NOT_FOUND,
                                       "zeKernelCreate", (int64_t)code, name)
                   : yoke_ze_fail("zeKernelCreate", code);
    }
    code = ze->kernel_properties(kernel->kernel, &properties);
    kernel->argument_count = properties.arguments;
    if (code == YOKE_ZE_SUCCESS && kernel->argument_count <= YOKE_MAX_ARGUMENTS) {
        *out_kernel = kernel;
        return YOKE_OK;
    }
    yoke_status_t status =
        code != YOKE_ZE_SUCCESS
            ? yoke_ze_fail("zeKernelGetProperties", code)
            : yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                     "level_zero: kernel %s takes %u arguments, %d is "
                                     "the most",
                                     name, properties.arguments, YOKE_MAX_ARGUMENTS);
    yoke_ze_kernel_destroy(kernel);
    return status;
}

void yoke_ze_kernel_destroy(yoke_impl_kernel_t *kernel)
{
    kernel->device->ze->kernel_destroy(kernel->kernel);
    free(kernel->name);
    free(kernel);
}

yoke_status_t yoke_ze_set_argument(const yoke_impl_device_t *device,
                                   yoke_ze_kernel_t kernel, uint32_t index,
                                   const yoke_argument_t *argument)
{
    const yoke_impl_buffer_t *buffer = yoke_backend_buffer(argument->span.buffer);
    const void *pointer = NULL, *value = &pointer;
    size_t size = sizeof pointer;
    if (argument->kind != YOKE_ARGUMENT_SPAN) {
        value = argument->kind == YOKE_ARGUMENT_LOCAL ? NULL : argument->value;
        size = argument->size;
    } else if (buffer != NULL) {
        if (buffer->device->context != device->context)
            return yoke_backend_fail_text(YOKE_ERR_UNREACHABLE,
                                          "level_zero: argument %u is a buffer of "
                                          "another context than the kernel",
                                          index);
        pointer = buffer->pointer + argument->span.offset;
    }
    uint32_t code = device->ze->kernel_argument(kernel, index, size, value);
    return code == YOKE_ZE_SUCCESS ? YOKE_OK
                                   : yoke_ze_fail("zeKernelSetArgumentValue", code);
}

yoke_status_t yoke_ze_set_group(const yoke_impl_device_t *device, yoke_ze_kernel_t kernel,
                                const uint32_t local[3])
{
    uint32_t code = device->ze->kernel_group(kernel, local[0], local[1], local[2]);
    return code == YOKE_ZE_SUCCESS ? YOKE_OK : yoke_ze_fail("zeKernelSetGroupSize", code);
}

/* A kernel keeps its arguments: they are set again only when they differ. A new buffer
 * may get the address of one that has ended, and a driver remembers whose memory an
 * argument was; so buffers are told apart by their numbers. */

/* Without a call, for which a launch would have to save registers. */
static inline bool same_value(const unsigned char *a, const unsigned char *b,
                              uint32_t size)
{
    if (size == 4)
        return memcmp(a, b, 4) == 0;
    if (size == 8)
        return memcmp(a, b, 8) == 0;
    while (size > 0 && *a == *b)
        a++, b++, size--;
    return size == 0;
}

/* What the last launch set, as this one wants it? */
static inline bool is_kept(const yoke_ze_argument_t *last,
                           const yoke_argument_t *argument)
{
    uint64_t key[2];
    if (last->kind != argument->kind)
        return false;
    if (argument->kind == YOKE_ARGUMENT_SPAN) {
        const yoke_impl_buffer_t *buffer = yoke_backend_buffer(argument->span.buffer);
        memcpy(key, last->value, sizeof key);
        return last->size == sizeof key && buffer != NULL && key[0] == buffer->id &&
               key[1] == argument->span.offset;
    }
    if (last->size != argument->size || last->size == 0)
        return false;
    return argument->kind == YOKE_ARGUMENT_LOCAL ||
           same_value(last->value, argument->value, last->size);
}

static void keep(yoke_ze_argument_t *last, uint32_t kind, uint32_t size,
                 const void *value)
{
    if (value != NULL && size > sizeof last->value)
        return;
    last->kind = kind;
    last->size = size;
    if (value != NULL)
        memcpy(last->value, value, size);
}

static yoke_status_t set_argument(yoke_impl_kernel_t *kernel, uint32_t index,
                                  const yoke_argument_t *argument)
{
    yoke_ze_argument_t *last = &kernel->arguments[index];
    const yoke_impl_buffer_t *buffer = yoke_backend_buffer(argument->span.buffer);
    last->size = 0;
    yoke_status_t status =
        yoke_ze_set_argument(kernel->device, kernel->kernel, index, argument);
    if (status != YOKE_OK)
        return status;
    if (argument->kind == YOKE_ARGUMENT_SPAN) {
        const uint64_t key[2] = {buffer != NULL ? buffer->id : 0, argument->span.offset};
        keep(last, argument->kind, sizeof key, key);
    } else {
        keep(last, argument->kind, argument->size,
             argument->kind == YOKE_ARGUMENT_LOCAL ? NULL : argument->value);
    }
    return YOKE_OK;
}

static inline bool same_group(const uint32_t a[3], const uint32_t b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static yoke_status_t set_group(yoke_impl_kernel_t *kernel, const uint32_t local[3])
{
    memset(kernel->group, 0, sizeof kernel->group);
    yoke_status_t status = yoke_ze_set_group(kernel->device, kernel->kernel, local);
    if (status == YOKE_OK)
        memcpy(kernel->group, local, sizeof kernel->group);
    return status;
}

static inline bool all_kept(const yoke_impl_kernel_t *kernel, const yoke_launch_t *launch,
                            const yoke_argument_t *arguments, size_t count)
{
    const yoke_ze_argument_t *last = kernel->arguments;
    if (count != kernel->argument_count || !same_group(kernel->group, launch->local))
        return false;
    for (; count > 0; count--, arguments++, last++)
        if (!is_kept(last, arguments))
            return false;
    return true;
}

static __attribute__((noinline)) yoke_status_t
set_changed(yoke_impl_kernel_t *kernel, const yoke_launch_t *launch,
            const yoke_argument_t *arguments, size_t count)
{
    yoke_status_t status = YOKE_OK;
    if (count != kernel->argument_count)
        return yoke_backend_fail_text(YOKE_ERR_USAGE,
                                      "level_zero: %zu arguments given to a kernel that "
                                      "takes %u",
                                      count, kernel->argument_count);
    if (!same_group(kernel->group, launch->local))
        status = set_group(kernel, launch->local);
    for (size_t i = 0; i < count && status == YOKE_OK; i++)
        if (!is_kept(&kernel->arguments[i], &arguments[i]))
            status = set_argument(kernel, (uint32_t)i, &arguments[i]);
    return status;
}

/* A repeated launch sets nothing again: tests/tax counts its instructions. */
yoke_status_t yoke_ze_launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                             const yoke_launch_t *launch,
                             const yoke_argument_t *arguments, size_t count)
{
    _Static_assert(sizeof(yoke_ze_group_count_t) == sizeof launch->groups,
                   "both are three numbers of 32 bits");
    const yoke_ze_group_count_t *groups =
        (const yoke_ze_group_count_t *)(const void *)launch->groups;
    yoke_status_t status = YOKE_OK;
    if (__builtin_expect(!all_kept(kernel, launch, arguments, count), 0))
        status = set_changed(kernel, launch, arguments, count);
    if (status == YOKE_OK)
        status = yoke_ze_begin(queue);
    if (status != YOKE_OK)
        return status;
    uint32_t code = queue->ze->launch(queue->list, kernel->kernel, groups, NULL, 0, NULL);
    return code == YOKE_ZE_SUCCESS
               ? YOKE_OK
               : yoke_ze_fail("zeCommandListAppendLaunchKernel", code);
}
