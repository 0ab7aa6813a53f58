/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A libOpenCL.so.1 that does nothing but count: one platform of OpenCL 1.2 with one
 * device. Every call succeeds at once, so that what is left of an enqueue is Yoke's own.
 * It exports the counting part of tests/fakes/fake.h. Whether OpenCL is used rightly is
 * asked elsewhere, of real runtimes.
 */
#define CL_TARGET_OPENCL_VERSION 120
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#include <CL/cl.h>
#include <stdint.h>
#include <string.h>

#define FUNCTIONS(DO)                                                                    \
    DO(clGetPlatformIDs)                                                                 \
    DO(clGetPlatformInfo)                                                                \
    DO(clGetDeviceIDs)                                                                   \
    DO(clGetDeviceInfo)                                                                  \
    DO(clCreateContext)                                                                  \
    DO(clRetainContext)                                                                  \
    DO(clReleaseContext)                                                                 \
    DO(clGetContextInfo)                                                                 \
    DO(clCreateCommandQueue)                                                             \
    DO(clReleaseCommandQueue)                                                            \
    DO(clGetCommandQueueInfo)                                                            \
    DO(clCreateBuffer)                                                                   \
    DO(clCreateSubBuffer)                                                                \
    DO(clReleaseMemObject)                                                               \
    DO(clGetMemObjectInfo)                                                               \
    DO(clCreateProgramWithSource)                                                        \
    DO(clCreateProgramWithBinary)                                                        \
    DO(clBuildProgram)                                                                   \
    DO(clGetProgramInfo)                                                                 \
    DO(clGetProgramBuildInfo)                                                            \
    DO(clReleaseProgram)                                                                 \
    DO(clCreateKernel)                                                                   \
    DO(clGetKernelInfo)                                                                  \
    DO(clReleaseKernel)                                                                  \
    DO(clSetKernelArg)                                                                   \
    DO(clEnqueueNDRangeKernel)                                                           \
    DO(clEnqueueReadBuffer)                                                              \
    DO(clEnqueueWriteBuffer)                                                             \
    DO(clEnqueueCopyBuffer)                                                              \
    DO(clEnqueueFillBuffer)                                                              \
    DO(clEnqueueMapBuffer)                                                               \
    DO(clEnqueueUnmapMemObject)                                                          \
    DO(clEnqueueMarkerWithWaitList)                                                      \
    DO(clEnqueueBarrierWithWaitList)                                                     \
    DO(clFlush)                                                                          \
    DO(clFinish)                                                                         \
    DO(clWaitForEvents)                                                                  \
    DO(clGetEventInfo)                                                                   \
    DO(clRetainEvent)                                                                    \
    DO(clReleaseEvent)                                                                   \
    DO(clCreateUserEvent)                                                                \
    DO(clSetUserEventStatus)                                                             \
    DO(clSetEventCallback)                                                               \
    DO(clGetEventProfilingInfo)

#define NUMBER(name) NUMBER_##name,
enum { FUNCTIONS(NUMBER) NUMBERS };
#define NAME(name) #name,
static const char *const names[] = {FUNCTIONS(NAME)};
static uint64_t calls[NUMBERS];
#define COUNT(name) (calls[NUMBER_##name]++)

const char *const *yoke_fake_functions(size_t *out_count);
const char *const *yoke_fake_functions(size_t *out_count)
{
    *out_count = NUMBERS;
    return names;
}

uint64_t yoke_fake_calls_of(const char *function);
uint64_t yoke_fake_calls_of(const char *function)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (strcmp(names[i], function) == 0)
            return calls[i];
    return 0;
}

/* --- objects: addresses of nothing ---------------------------------------------------
 */

static char things[8];
#define PLATFORM ((cl_platform_id)(void *)&things[0])
#define DEVICE ((cl_device_id)(void *)&things[1])
#define CONTEXT ((cl_context)(void *)&things[2])

static cl_int answer(const void *value, size_t has, size_t size, void *out,
                     size_t *out_size)
{
    if (out_size != NULL)
        *out_size = has;
    if (out != NULL)
        memcpy(out, value, has < size ? has : size);
    return CL_SUCCESS;
}

static cl_int text(const char *value, size_t size, void *out, size_t *out_size)
{
    return answer(value, strlen(value) + 1, size, out, out_size);
}

static void *made(cl_int *out_code, size_t thing)
{
    if (out_code != NULL)
        *out_code = CL_SUCCESS;
    return &things[thing];
}

/* --- information ---------------------------------------------------------------------
 */

cl_int clGetPlatformIDs(cl_uint size, cl_platform_id *out, cl_uint *out_count)
{
    COUNT(clGetPlatformIDs);
    if (out_count != NULL)
        *out_count = 1;
    if (out != NULL && size > 0)
        *out = PLATFORM;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t size,
                         void *out, size_t *out_size)
{
    (void)platform;
    COUNT(clGetPlatformInfo);
    return text(what == CL_PLATFORM_VERSION      ? "OpenCL 1.2 stub"
                : what == CL_PLATFORM_EXTENSIONS ? ""
                                                 : "stub",
                size, out, out_size);
}

cl_int clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint size,
                      cl_device_id *out, cl_uint *out_count)
{
    (void)platform, (void)type;
    COUNT(clGetDeviceIDs);
    if (out_count != NULL)
        *out_count = 1;
    if (out != NULL && size > 0)
        *out = DEVICE;
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *out,
                       size_t *out_size)
{
    const cl_device_type type = CL_DEVICE_TYPE_GPU;
    const cl_ulong memory = 1u << 30;
    const size_t group = 1024, items[3] = {1024, 1024, 1024};
    const cl_uint number = 1024;
    (void)device;
    COUNT(clGetDeviceInfo);
    switch (what) {
    case CL_DEVICE_TYPE:
        return answer(&type, sizeof type, size, out, out_size);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return answer(&memory, sizeof memory, size, out, out_size);
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
        return answer(&group, sizeof group, size, out, out_size);
    case CL_DEVICE_MAX_WORK_ITEM_SIZES:
        return answer(items, sizeof items, size, out, out_size);
    case CL_DEVICE_NAME:
    case CL_DEVICE_VENDOR:
        return text("stub", size, out, out_size);
    case CL_DEVICE_VERSION:
        return text("OpenCL 1.2 stub", size, out, out_size);
    case CL_DRIVER_VERSION:
        return text("1", size, out, out_size);
    case CL_DEVICE_EXTENSIONS:
        return text("", size, out, out_size);
    case CL_DEVICE_COMPILER_AVAILABLE:
    case CL_DEVICE_MAX_COMPUTE_UNITS:
    case CL_DEVICE_MEM_BASE_ADDR_ALIGN:
    case CL_DEVICE_VENDOR_ID:
        return answer(&number, sizeof number, size, out, out_size);
    default:
        return CL_INVALID_VALUE;
    }
}

/* Kernels: "empty" takes nothing, the others three arguments. */
cl_int clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t size, void *out,
                       size_t *out_size)
{
    const cl_uint count = kernel == (cl_kernel)(void *)&things[7] ? 0 : 3;
    COUNT(clGetKernelInfo);
    return what == CL_KERNEL_NUM_ARGS ? answer(&count, sizeof count, size, out, out_size)
                                      : CL_INVALID_VALUE;
}

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *out_code)
{
    (void)program;
    COUNT(clCreateKernel);
    return made(out_code, strcmp(name, "empty") == 0 ? 7 : 6);
}

cl_int clGetEventInfo(cl_event event, cl_event_info what, size_t size, void *out,
                      size_t *out_size)
{
    const cl_int complete = CL_COMPLETE;
    (void)event;
    COUNT(clGetEventInfo);
    return what == CL_EVENT_COMMAND_EXECUTION_STATUS
               ? answer(&complete, sizeof complete, size, out, out_size)
               : CL_INVALID_VALUE;
}

/* --- all else: "yes" -----------------------------------------------------------------
 */

#define YES(name, parameters)                                                            \
    cl_int name parameters                                                               \
    {                                                                                    \
        COUNT(name);                                                                     \
        return CL_SUCCESS;                                                               \
    }
#define NO(name, parameters)                                                             \
    cl_int name parameters                                                               \
    {                                                                                    \
        COUNT(name);                                                                     \
        return CL_INVALID_VALUE;                                                         \
    }
#define MAKES(type, name, thing, parameters)                                             \
    type name parameters                                                                 \
    {                                                                                    \
        COUNT(name);                                                                     \
        return made(code, thing);                                                        \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* An event for who asks for one. */
static cl_int enqueued(cl_event *out_event)
{
    if (out_event != NULL)
        *out_event = (cl_event)(void *)&things[5];
    return CL_SUCCESS;
}
#define ENQUEUES(name, parameters)                                                       \
    cl_int name parameters                                                               \
    {                                                                                    \
        COUNT(name);                                                                     \
        return enqueued(event);                                                          \
    }

MAKES(cl_context, clCreateContext, 2,
      (const cl_context_properties *properties, cl_uint count,
       const cl_device_id *devices,
       void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *data,
       cl_int *code))
YES(clRetainContext, (cl_context context))
YES(clReleaseContext, (cl_context context))
NO(clGetContextInfo,
   (cl_context context, cl_context_info what, size_t size, void *out, size_t *out_size))
MAKES(cl_command_queue, clCreateCommandQueue, 3,
      (cl_context context, cl_device_id device, cl_command_queue_properties properties,
       cl_int *code))
YES(clReleaseCommandQueue, (cl_command_queue queue))
NO(clGetCommandQueueInfo, (cl_command_queue queue, cl_command_queue_info what,
                           size_t size, void *out, size_t *out_size))
MAKES(cl_mem, clCreateBuffer, 4,
      (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code))
MAKES(cl_mem, clCreateSubBuffer, 4,
      (cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type, const void *region,
       cl_int *code))
YES(clReleaseMemObject, (cl_mem memory))
NO(clGetMemObjectInfo,
   (cl_mem memory, cl_mem_info what, size_t size, void *out, size_t *out_size))
MAKES(cl_program, clCreateProgramWithSource, 5,
      (cl_context context, cl_uint count, const char **texts, const size_t *sizes,
       cl_int *code))
MAKES(cl_program, clCreateProgramWithBinary, 5,
      (cl_context context, cl_uint count, const cl_device_id *devices,
       const size_t *sizes, const unsigned char **binaries, cl_int *status, cl_int *code))
YES(clBuildProgram,
    (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
     void(CL_CALLBACK *notify)(cl_program, void *), void *data))
NO(clGetProgramInfo,
   (cl_program program, cl_program_info what, size_t size, void *out, size_t *out_size))
NO(clGetProgramBuildInfo,
   (cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
    void *out, size_t *out_size))
YES(clReleaseProgram, (cl_program program))
YES(clReleaseKernel, (cl_kernel kernel))
YES(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value))
ENQUEUES(clEnqueueNDRangeKernel,
         (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
          const size_t *offset, const size_t *global, const size_t *local, cl_uint count,
          const cl_event *waits, cl_event *event))
ENQUEUES(clEnqueueReadBuffer,
         (cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset,
          size_t size, void *out, cl_uint count, const cl_event *waits, cl_event *event))
ENQUEUES(clEnqueueWriteBuffer, (cl_command_queue queue, cl_mem memory, cl_bool blocking,
                                size_t offset, size_t size, const void *from,
                                cl_uint count, const cl_event *waits, cl_event *event))
ENQUEUES(clEnqueueCopyBuffer, (cl_command_queue queue, cl_mem from, cl_mem to,
                               size_t from_offset, size_t to_offset, size_t size,
                               cl_uint count, const cl_event *waits, cl_event *event))
ENQUEUES(clEnqueueFillBuffer, (cl_command_queue queue, cl_mem memory, const void *pattern,
                               size_t pattern_size, size_t offset, size_t size,
                               cl_uint count, const cl_event *waits, cl_event *event))
MAKES(void *, clEnqueueMapBuffer, 0,
      (cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags,
       size_t offset, size_t size, cl_uint count, const cl_event *waits, cl_event *event,
       cl_int *code))
ENQUEUES(clEnqueueUnmapMemObject, (cl_command_queue queue, cl_mem memory, void *mapped,
                                   cl_uint count, const cl_event *waits, cl_event *event))
ENQUEUES(clEnqueueMarkerWithWaitList,
         (cl_command_queue queue, cl_uint count, const cl_event *waits, cl_event *event))
ENQUEUES(clEnqueueBarrierWithWaitList,
         (cl_command_queue queue, cl_uint count, const cl_event *waits, cl_event *event))
YES(clFlush, (cl_command_queue queue))
YES(clFinish, (cl_command_queue queue))
YES(clWaitForEvents, (cl_uint count, const cl_event *events))
YES(clRetainEvent, (cl_event event))
YES(clReleaseEvent, (cl_event event))
MAKES(cl_event, clCreateUserEvent, 5, (cl_context context, cl_int *code))
YES(clSetUserEventStatus, (cl_event event, cl_int status))
YES(clSetEventCallback, (cl_event event, cl_int state,
                         void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data))
NO(clGetEventProfilingInfo,
   (cl_event event, cl_profiling_info what, size_t size, void *out, size_t *out_size))
