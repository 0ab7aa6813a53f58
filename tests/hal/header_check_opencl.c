/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of OpenCL against the installed CL/cl.h; compiling is the test. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include "backends/opencl/cl.h"

#define SAME(ours, theirs)                                                               \
    _Static_assert((long long)(ours) == (long long)(theirs), #theirs)

SAME(YOKE_CL_SUCCESS, CL_SUCCESS);
SAME(YOKE_CL_DEVICE_NOT_FOUND, CL_DEVICE_NOT_FOUND);
SAME(YOKE_CL_PLATFORM_NOT_FOUND, CL_PLATFORM_NOT_FOUND_KHR);
SAME(YOKE_CL_PLATFORM_VERSION, CL_PLATFORM_VERSION);
SAME(YOKE_CL_PLATFORM_NAME, CL_PLATFORM_NAME);
SAME(YOKE_CL_PLATFORM_VENDOR, CL_PLATFORM_VENDOR);
SAME(YOKE_CL_DEVICE_TYPE, CL_DEVICE_TYPE);
SAME(YOKE_CL_DEVICE_VENDOR_ID, CL_DEVICE_VENDOR_ID);
SAME(YOKE_CL_DEVICE_MAX_MEM_ALLOC_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
SAME(YOKE_CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_GLOBAL_MEM_SIZE);
SAME(YOKE_CL_DEVICE_NAME, CL_DEVICE_NAME);
SAME(YOKE_CL_DEVICE_VENDOR, CL_DEVICE_VENDOR);
SAME(YOKE_CL_DRIVER_VERSION, CL_DRIVER_VERSION);
SAME(YOKE_CL_DEVICE_VERSION, CL_DEVICE_VERSION);
SAME(YOKE_CL_DEVICE_EXTENSIONS, CL_DEVICE_EXTENSIONS);
SAME(YOKE_CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_HOST_UNIFIED_MEMORY);
SAME(YOKE_CL_DEVICE_UUID_KHR, CL_DEVICE_UUID_KHR);
SAME(YOKE_CL_DEVICE_PCI_BUS_INFO_KHR, CL_DEVICE_PCI_BUS_INFO_KHR);
SAME(YOKE_CL_DEVICE_GLOBAL_FREE_MEMORY_AMD, CL_DEVICE_GLOBAL_FREE_MEMORY_AMD);
SAME(YOKE_CL_TYPE_CPU, CL_DEVICE_TYPE_CPU);
SAME(YOKE_CL_TYPE_GPU, CL_DEVICE_TYPE_GPU);
SAME(YOKE_CL_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ACCELERATOR);
SAME(YOKE_CL_TYPE_CUSTOM, CL_DEVICE_TYPE_CUSTOM);
SAME(YOKE_CL_TYPE_ALL, CL_DEVICE_TYPE_ALL);
SAME(YOKE_CL_MEM_READ_WRITE, CL_MEM_READ_WRITE);
SAME(YOKE_CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BUILD_LOG);
SAME(sizeof(yoke_cl_pci_t), sizeof(cl_device_pci_bus_info_khr));
SAME(sizeof(uint32_t), sizeof(cl_uint));
SAME(sizeof(uint32_t), sizeof(cl_bool));
SAME(sizeof(uint64_t), sizeof(cl_device_type));
SAME(sizeof(uint64_t), sizeof(cl_mem_flags));
SAME(sizeof(uint64_t), sizeof(cl_command_queue_properties));
SAME(sizeof(intptr_t), sizeof(cl_context_properties));

/*
 * Prototypes: a call of theirs through the types of ours. Handles are pointers to
 * different structs in both, so they go through void *.
 */
#define PASS(handle) ((void *)(handle))
int header_check_opencl(yoke_cl_platform_t platform, yoke_cl_device_t device);
int header_check_opencl(yoke_cl_platform_t platform, yoke_cl_device_t device)
{
    uint32_t count = 0;
    size_t size = 0;
    int32_t code = clGetPlatformIDs(1, PASS(&platform), &count);
    code |= clGetPlatformInfo(PASS(platform), YOKE_CL_PLATFORM_NAME, size, NULL, &size);
    code |= clGetDeviceIDs(PASS(platform), YOKE_CL_TYPE_ALL, 1, PASS(&device), &count);
    code |= clGetDeviceInfo(PASS(device), YOKE_CL_DEVICE_NAME, size, NULL, &size);
    cl_context (*create_context)(const intptr_t *, uint32_t, const cl_device_id *,
                                 void (*)(const char *, const void *, size_t, void *),
                                 void *, int32_t *) = clCreateContext;
    cl_command_queue (*create_queue)(cl_context, cl_device_id, uint64_t, int32_t *) =
        clCreateCommandQueue;
    cl_mem (*create_buffer)(cl_context, uint64_t, size_t, void *, int32_t *) =
        clCreateBuffer;
    cl_program (*create_program)(cl_context, uint32_t, const char **, const size_t *,
                                 int32_t *) = clCreateProgramWithSource;
    int32_t (*build)(cl_program, uint32_t, const cl_device_id *, const char *,
                     void (*)(cl_program, void *), void *) = clBuildProgram;
    int32_t (*argument)(cl_kernel, uint32_t, size_t, const void *) = clSetKernelArg;
    int32_t (*launch)(cl_command_queue, cl_kernel, uint32_t, const size_t *,
                      const size_t *, const size_t *, uint32_t, const cl_event *,
                      cl_event *) = clEnqueueNDRangeKernel;
    int32_t (*put)(cl_command_queue, cl_mem, uint32_t, size_t, size_t, const void *,
                   uint32_t, const cl_event *, cl_event *) = clEnqueueWriteBuffer;
    int32_t (*get)(cl_command_queue, cl_mem, uint32_t, size_t, size_t, void *, uint32_t,
                   const cl_event *, cl_event *) = clEnqueueReadBuffer;
    return code + (create_context && create_queue && create_buffer && create_program &&
                   build && argument && launch && put && get);
}
