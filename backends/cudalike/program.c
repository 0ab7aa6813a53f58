/* SPDX-License-Identifier: Apache-2.0 */
/* Modules and launches. */
#include "backends/cudalike/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "yoke/kernel.h"

struct yoke_impl_program {
    yoke_impl_device_t *device;
    void *module;
    yoke_rtc_code_t code;
};

/* CUjit_option of cuda.h: buffer for the errors of the assembler in the driver. */
enum { JIT_ERROR_LOG = 5, JIT_ERROR_LOG_SIZE = 6 };
#define JIT_LOG_SIZE 8192

static int load_module(yoke_impl_program_t *program, char *jit_log)
{
    const yoke_cudalike_api_t *api = program->device->api;
    int options[2] = {JIT_ERROR_LOG, JIT_ERROR_LOG_SIZE};
    void *values[2] = {jit_log, (void *)(uintptr_t)(JIT_LOG_SIZE - 1)};
    if (program->device->flavour->jit_log && api->module_load_log != NULL)
        return api->module_load_log(&program->module, program->code.data, 2, options,
                                    values);
    return api->module_load(&program->module, program->code.data);
}

/* Code that this device cannot take is the caller's input, not a failure of ours. */
static yoke_status_t refuse_module(yoke_impl_program_t *program, int code,
                                   const char *jit_log, yoke_log_text_t log,
                                   void *log_context)
{
    const yoke_impl_device_t *device = program->device;
    const char *call =
        yoke_cudalike_symbol_name(device->flavour, YOKE_CUDALIKE_SLOT(module_load));
    const char *name = device->flavour->ops->error_name(code);
    char line[200];
    switch (code) {
    case YOKE_CUDALIKE_INVALID_IMAGE:
    case YOKE_CUDALIKE_INVALID_PTX:
    case YOKE_CUDALIKE_INVALID_SOURCE:
        snprintf(line, sizeof line, "%s: %s (%d)\n", call, name != NULL ? name : "",
                 code);
        log(log_context, line, strlen(line));
        if (jit_log[0] != '\0')
            log(log_context, jit_log, strlen(jit_log));
        return YOKE_ERR_BAD_INPUT;
    case YOKE_CUDALIKE_NO_BINARY:
    case YOKE_CUDALIKE_PTX_VERSION:
        return yoke_backend_fail(device->flavour->ops, YOKE_ERR_UNSUPPORTED, call, code,
                                 jit_log[0] != '\0' ? jit_log
                                                    : "it is not for this device");
    default:
        return yoke_cudalike_fail(device->runtime, YOKE_CUDALIKE_SLOT(module_load), code);
    }
}

static yoke_status_t load_code(yoke_impl_program_t *program, yoke_log_text_t log,
                               void *log_context)
{
    yoke_cudalike_scope_t scope;
    char jit_log[JIT_LOG_SIZE] = "";
    int code = yoke_cudalike_enter(program->device, &scope);
    if (code != 0)
        return yoke_cudalike_fail(program->device->runtime, scope.slot, code);
    code = load_module(program, jit_log);
    yoke_cudalike_leave(&scope);
    jit_log[JIT_LOG_SIZE - 1] = '\0';
    if (code != 0)
        return refuse_module(program, code, jit_log, log, log_context);
    if (program->module == NULL)
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s:%u loaded nothing",
                                      program->device->flavour->ops->name,
                                      program->device->ordinal);
    return YOKE_OK;
}

/* Text forms (PTX) end with a NUL for the loader. */
static yoke_status_t keep_binary(const yoke_impl_program_source_t *source,
                                 yoke_rtc_code_t *out_code)
{
    unsigned char *data = malloc(source->size + 1);
    if (data == NULL)
        return yoke_fail_memory();
    memcpy(data, source->data, source->size);
    data[source->size] = '\0';
    out_code->data = data;
    out_code->size = source->size;
    return YOKE_OK;
}

static yoke_status_t make_code(yoke_impl_device_t *device,
                               const yoke_impl_program_source_t *source,
                               yoke_log_text_t log, void *log_context,
                               yoke_rtc_code_t *out_code)
{
    const yoke_impl_runtime_t *runtime = device->runtime;
    if (source->binary)
        return keep_binary(source, out_code);
    if (!runtime->rtc.usable)
        return yoke_backend_fail_text(
            YOKE_ERR_UNSUPPORTED, "%s compiles no source here: %s",
            device->flavour->ops->name,
            runtime->rtc.problem != NULL ? runtime->rtc.problem
                                         : "no public source gives its compiler's calls");
    return yoke_rtc_compile(&runtime->rtc, runtime->cards[device->ordinal].architecture,
                            source, log, log_context, out_code);
}

yoke_status_t yoke_cudalike_program_create(yoke_impl_device_t *device,
                                           const yoke_impl_program_source_t *source,
                                           yoke_log_text_t log, void *log_context,
                                           yoke_impl_program_t **out_program)
{
    if (device->api->module_load == NULL)
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED, "%s loads no programs",
                                      device->flavour->ops->name);
    yoke_impl_program_t *program = calloc(1, sizeof *program);
    if (program == NULL)
        return yoke_fail_memory();
    program->device = device;
    yoke_status_t status = make_code(device, source, log, log_context, &program->code);
    if (status == YOKE_OK)
        status = load_code(program, log, log_context);
    if (status != YOKE_OK) {
        free(program->code.data);
        free(program);
        return status;
    }
    *out_program = program;
    return YOKE_OK;
}

void yoke_cudalike_program_destroy(yoke_impl_program_t *program)
{
    yoke_cudalike_scope_t scope;
    if (yoke_cudalike_enter(program->device, &scope) == 0) {
        (void)program->device->api->module_unload(program->module);
        yoke_cudalike_leave(&scope);
    }
    free(program->code.data);
    free(program);
}

yoke_status_t yoke_cudalike_program_binary(yoke_impl_program_t *program,
                                           const void **out_data, size_t *out_size)
{
    *out_data = program->code.data;
    *out_size = program->code.size;
    return YOKE_OK;
}

const char *yoke_cudalike_compiler_version(yoke_impl_device_t *device)
{
    return device->runtime->rtc.usable ? device->runtime->rtc.version : NULL;
}

yoke_status_t yoke_cudalike_kernel_create(yoke_impl_program_t *program, const char *name,
                                          yoke_impl_kernel_t **out_kernel)
{
    yoke_impl_device_t *device = program->device;
    yoke_cudalike_scope_t scope;
    void *function = NULL;
    int code = yoke_cudalike_enter(device, &scope);
    if (code != 0)
        return yoke_cudalike_fail(device->runtime, scope.slot, code);
    code = device->api->module_function(&function, program->module, name);
    yoke_cudalike_leave(&scope);
    if (code == YOKE_CUDALIKE_NOT_FOUND)
        return yoke_backend_fail(
            device->flavour->ops, YOKE_ERR_NOT_FOUND,
            yoke_cudalike_symbol_name(device->flavour,
                                      YOKE_CUDALIKE_SLOT(module_function)),
            code, name);
    if (code != 0)
        return yoke_cudalike_fail(device->runtime, YOKE_CUDALIKE_SLOT(module_function),
                                  code);
    if (function == NULL)
        return yoke_backend_fail_text(YOKE_ERR_SYSTEM, "%s:%u gave no kernel %s",
                                      device->flavour->ops->name, device->ordinal, name);
    yoke_impl_kernel_t *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL)
        return yoke_fail_memory();
    kernel->function = function;
    *out_kernel = kernel;
    return YOKE_OK;
}

void yoke_cudalike_kernel_destroy(yoke_impl_kernel_t *kernel)
{
    free(kernel);
}

/* --- launch ------------------------------------------------------------------------- */

/* The vendor's array of pointers, behind it the addresses that those of buffers point to,
 * and what is needed to make the launch once more. No two of the latter are neighbours,
 * or the compiler packs them in a vector first, which takes longer. */
typedef struct launch_call {
    const yoke_impl_queue_t *queue;
    void *parameters[2 * YOKE_MAX_ARGUMENTS];
    const yoke_launch_t *launch;
    const void *between;
    const yoke_impl_kernel_t *kernel;
} launch_call_t;
_Static_assert(sizeof(void *) == sizeof(yoke_cudalike_address_t),
               "an address has the size of a pointer");

static inline void put(void **parameter, const yoke_argument_t *argument)
{
    if (__builtin_expect(argument->kind != YOKE_ARGUMENT_SPAN, 0)) {
        *parameter = (void *)(uintptr_t)argument->value; /* only read */
        return;
    }
    /* None, or that of a tensor without elements. */
    const yoke_impl_buffer_t *buffer = yoke_backend_buffer(argument->span.buffer);
    void **address = parameter + YOKE_MAX_ARGUMENTS; /* one counter for both */
    *parameter = address;
    *address = buffer == NULL
                   ? NULL
                   : (void *)(uintptr_t)(buffer->address + argument->span.offset);
}

/* Where the note says that something else is current, the vendor has refused, or there is
 * dynamic local memory. */
static __attribute__((noinline)) yoke_status_t
launch_carefully(launch_call_t *call, bool tried, int code, unsigned shared)
{
    const uint32_t *groups = call->launch->groups, *local = call->launch->local;
    yoke_impl_device_t *device = call->queue->device;
    yoke_cudalike_scope_t scope;
    if (!tried || yoke_cudalike_suspect(code)) {
        int entered = yoke_cudalike_enter(device, &scope);
        if (entered != 0)
            return yoke_cudalike_fail(device->runtime, scope.slot, entered);
        if (!tried || scope.changed)
            code = device->api->launch(call->kernel->function, groups[0], groups[1],
                                       groups[2], local[0], local[1], local[2], shared,
                                       call->queue->stream, call->parameters, NULL);
        yoke_cudalike_leave(&scope);
    }
    return code == 0
               ? YOKE_OK
               : yoke_cudalike_fail(device->runtime, YOKE_CUDALIKE_SLOT(launch), code);
}

/* What is rare is out of line, with what it needs in memory, so that no register has to
 * be saved for it: tests/tax counts instructions. */
static inline __attribute__((always_inline)) yoke_status_t
launch_with(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
            const yoke_launch_t *launch, launch_call_t *call, unsigned shared)
{
    const uint32_t *groups = launch->groups, *local = launch->local;
    int code;
    call->queue = queue;
    call->kernel = kernel;
    call->launch = launch;
    if (__builtin_expect(yoke_cudalike_noted[queue->index] != queue->enough, 0))
        return launch_carefully(call, false, 0, shared);
    code = queue->api->launch(kernel->function, groups[0], groups[1], groups[2], local[0],
                              local[1], local[2], shared, queue->stream, call->parameters,
                              NULL);
    return __builtin_expect(code == 0, 1) ? YOKE_OK
                                          : launch_carefully(call, true, code, shared);
}

/* The last argument is dynamic local memory, which is no parameter in CUDA's launch. */
static __attribute__((noinline)) yoke_status_t
launch_local(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
             const yoke_launch_t *launch, const yoke_argument_t *arguments, size_t count)
{
    launch_call_t call;
    for (size_t i = 0; i + 1 < count; i++)
        put(&call.parameters[i], &arguments[i]);
    return launch_with(queue, kernel, launch, &call, arguments[count - 1].size);
}

static __attribute__((noinline)) yoke_status_t
launch_arguments(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                 const yoke_launch_t *launch, const yoke_argument_t *arguments,
                 size_t count)
{
    const yoke_argument_t *argument = arguments, *end = arguments + count;
    launch_call_t call;
    for (void **parameter = call.parameters; argument != end; argument++, parameter++) {
        if (__builtin_expect(argument->kind > YOKE_ARGUMENT_VALUE, 0))
            return launch_local(queue, kernel, launch, arguments, count);
        put(parameter, argument);
    }
    return launch_with(queue, kernel, launch, &call, 0);
}

yoke_status_t yoke_cudalike_launch(yoke_impl_queue_t *queue, yoke_impl_kernel_t *kernel,
                                   const yoke_launch_t *launch,
                                   const yoke_argument_t *arguments, size_t count)
{
    launch_call_t call;
    if (count == 0)
        return launch_with(queue, kernel, launch, &call, 0);
    if (__builtin_expect(count > YOKE_MAX_ARGUMENTS, 0))
        return yoke_backend_fail_text(YOKE_ERR_OUT_OF_RANGE, "%zu arguments, at most %d",
                                      count, YOKE_MAX_ARGUMENTS);
    return launch_arguments(queue, kernel, launch, arguments, count);
}
