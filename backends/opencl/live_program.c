/* SPDX-License-Identifier: Apache-2.0 */
/* Programs from OpenCL C, from a runtime's own binary, or from SPIR-V where it is taken.
 */
#include "backends/opencl/live.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define SPIRV_MAGIC 0x07230203u /* SPIR-V specification, 3.1 Magic Number */

static void say(yoke_log_text_t log, void *log_context, const char *text)
{
    if (log != NULL)
        log(log_context, text, strlen(text));
}

static void show_log(yoke_impl_device_t *device, yoke_cl_program_t program,
                     yoke_log_text_t log, void *log_context)
{
    size_t size = 0;
    if (log == NULL ||
        device->cl->work.build_info(program, device->slot->device,
                                    YOKE_CL_PROGRAM_BUILD_LOG, 0, NULL,
                                    &size) != YOKE_CL_SUCCESS ||
        size <= 1 || size > 1 << 24)
        return;
    char *text = calloc(1, size + 1);
    if (text != NULL && device->cl->work.build_info(program, device->slot->device,
                                                    YOKE_CL_PROGRAM_BUILD_LOG, size, text,
                                                    NULL) == YOKE_CL_SUCCESS)
        log(log_context, text, strlen(text));
    free(text);
}

static bool is_spirv(const yoke_impl_program_source_t *source)
{
    uint32_t magic = 0;
    if (source->size < sizeof magic)
        return false;
    memcpy(&magic, source->data, sizeof magic);
    return magic == SPIRV_MAGIC;
}

static yoke_cl_program_t from_binary(yoke_impl_device_t *device,
                                     const yoke_impl_program_source_t *source,
                                     const char **out_call, int32_t *out_code)
{
    const unsigned char *data = source->data;
    int32_t state = YOKE_CL_SUCCESS;
    *out_call = "clCreateProgramWithBinary";
    yoke_cl_program_t program =
        device->cl->create_binary(device->context, 1, &device->slot->device,
                                  &source->size, &data, &state, out_code);
    if (program == NULL || *out_code != YOKE_CL_SUCCESS || state == YOKE_CL_SUCCESS)
        return program;
    device->cl->release_program(program);
    *out_code = state;
    return NULL;
}

static yoke_cl_program_t from_source(yoke_impl_device_t *device,
                                     const yoke_impl_program_source_t *source,
                                     const char **out_call, int32_t *out_code)
{
    const char *text = source->data;
    *out_call = "clCreateProgramWithSource";
    return device->cl->work.create_program(device->context, 1, &text, &source->size,
                                           out_code);
}

/* Codes that mean that the text or the binary is at fault. */
static bool is_bad_input(int32_t code)
{
    return code == YOKE_CL_BUILD_PROGRAM_FAILURE ||
           code == YOKE_CL_COMPILE_PROGRAM_FAILURE ||
           code == YOKE_CL_LINK_PROGRAM_FAILURE || code == YOKE_CL_INVALID_BINARY ||
           code == YOKE_CL_INVALID_BUILD_OPTIONS || code == YOKE_CL_INVALID_VALUE;
}

static yoke_status_t refuse(const char *call, int32_t code, yoke_log_text_t log,
                            void *log_context)
{
    const char *name = yoke_cl_error_name(code);
    if (!is_bad_input(code))
        return yoke_ocl_fail(call, code);
    say(log, log_context, call);
    say(log, log_context, ": ");
    say(log, log_context, name != NULL ? name : "unknown code");
    say(log, log_context, "\n");
    return YOKE_ERR_BAD_INPUT;
}

static yoke_status_t make(yoke_impl_device_t *device,
                          const yoke_impl_program_source_t *source, yoke_log_text_t log,
                          void *log_context, yoke_cl_program_t *out_program)
{
    int32_t code = YOKE_CL_SUCCESS;
    const char *call = "clCreateProgramWithIL";
    yoke_cl_program_t program;
    if (!source->binary)
        program = from_source(device, source, &call, &code);
    else if (!is_spirv(source))
        program = from_binary(device, source, &call, &code);
    else if (device->slot->il)
        program =
            device->cl->create_il(device->context, source->data, source->size, &code);
    else
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED, "opencl: %s takes no SPIR-V",
                                      device->slot->info.name);
    if (program == NULL)
        return refuse(call, code, log, log_context);
    code = device->cl->work.build_program(program, 1, &device->slot->device,
                                          source->options, NULL, NULL);
    show_log(device, program, log, log_context);
    if (code != YOKE_CL_SUCCESS) {
        device->cl->release_program(program);
        return refuse("clBuildProgram", code, log, log_context);
    }
    *out_program = program;
    return YOKE_OK;
}

yoke_status_t yoke_ocl_program_create(yoke_impl_device_t *device,
                                      const yoke_impl_program_source_t *source,
                                      yoke_log_text_t log, void *log_context,
                                      yoke_impl_program_t **out_program)
{
    yoke_impl_program_t *program = calloc(1, sizeof *program);
    if (program == NULL)
        return yoke_fail_memory();
    yoke_status_t status = make(device, source, log, log_context, &program->program);
    if (status != YOKE_OK) {
        free(program);
        return status;
    }
    program->device = device;
    pthread_mutex_init(&program->lock, NULL);
    *out_program = program;
    return YOKE_OK;
}

void yoke_ocl_program_destroy(yoke_impl_program_t *program)
{
    program->device->cl->release_program(program->program);
    pthread_mutex_destroy(&program->lock);
    free(program->binary);
    free(program);
}

/* --- binaries ------------------------------------------------------------------------
 */

#define MAX_DEVICES 64

/* An adopted context may hold more devices; the program was built for one of them, and
 * the others have no binary. */
static yoke_status_t read_binary(yoke_impl_program_t *program)
{
    const yoke_ocl_live_t *cl = program->device->cl;
    yoke_cl_device_t devices[MAX_DEVICES] = {0};
    size_t sizes[MAX_DEVICES] = {0};
    unsigned char *binaries[MAX_DEVICES] = {0};
    uint32_t count = 0, mine = 0;
    int32_t code = cl->program_info(program->program, YOKE_CL_PROGRAM_NUM_DEVICES,
                                    sizeof count, &count, NULL);
    if (code == YOKE_CL_SUCCESS && (count == 0 || count > MAX_DEVICES))
        return yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                      "opencl: a program of %u devices gives no binary",
                                      count);
    if (code == YOKE_CL_SUCCESS)
        code = cl->program_info(program->program, YOKE_CL_PROGRAM_DEVICES,
                                count * sizeof *devices, devices, NULL);
    if (code == YOKE_CL_SUCCESS)
        code = cl->program_info(program->program, YOKE_CL_PROGRAM_BINARY_SIZES,
                                count * sizeof *sizes, sizes, NULL);
    while (mine + 1 < count && devices[mine] != program->device->slot->device)
        mine++;
    if (code != YOKE_CL_SUCCESS || sizes[mine] == 0)
        return code != YOKE_CL_SUCCESS
                   ? yoke_ocl_fail("clGetProgramInfo", code)
                   : yoke_backend_fail_text(YOKE_ERR_UNSUPPORTED,
                                            "opencl: %s gives no binary of a program",
                                            program->device->slot->info.name);
    binaries[mine] = malloc(sizes[mine]);
    if (binaries[mine] == NULL)
        return yoke_fail_memory();
    code = cl->program_info(program->program, YOKE_CL_PROGRAM_BINARIES,
                            count * sizeof *binaries, binaries, NULL);
    if (code != YOKE_CL_SUCCESS) {
        free(binaries[mine]);
        return yoke_ocl_fail("clGetProgramInfo", code);
    }
    program->binary = binaries[mine];
    program->binary_size = sizes[mine];
    return YOKE_OK;
}

yoke_status_t yoke_ocl_program_binary(yoke_impl_program_t *program, const void **out_data,
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

const char *yoke_ocl_compiler_version(yoke_impl_device_t *device)
{
    return device->slot->compiler != NULL ? device->slot->compiler : "";
}
