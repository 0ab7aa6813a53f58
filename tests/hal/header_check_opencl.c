/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of OpenCL against the installed CL/cl.h; compiling is the test. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include "backends/opencl/cl.h"
#include "backends/opencl/live.h"

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

/* Live devices. */
SAME(YOKE_CL_DEVICE_NOT_AVAILABLE, CL_DEVICE_NOT_AVAILABLE);
SAME(YOKE_CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MEM_OBJECT_ALLOCATION_FAILURE);
SAME(YOKE_CL_OUT_OF_RESOURCES, CL_OUT_OF_RESOURCES);
SAME(YOKE_CL_OUT_OF_HOST_MEMORY, CL_OUT_OF_HOST_MEMORY);
SAME(YOKE_CL_BUILD_PROGRAM_FAILURE, CL_BUILD_PROGRAM_FAILURE);
SAME(YOKE_CL_MISALIGNED_SUB_BUFFER_OFFSET, CL_MISALIGNED_SUB_BUFFER_OFFSET);
SAME(YOKE_CL_COMPILE_PROGRAM_FAILURE, CL_COMPILE_PROGRAM_FAILURE);
SAME(YOKE_CL_LINK_PROGRAM_FAILURE, CL_LINK_PROGRAM_FAILURE);
SAME(YOKE_CL_INVALID_VALUE, CL_INVALID_VALUE);
SAME(YOKE_CL_INVALID_CONTEXT, CL_INVALID_CONTEXT);
SAME(YOKE_CL_INVALID_COMMAND_QUEUE, CL_INVALID_COMMAND_QUEUE);
SAME(YOKE_CL_INVALID_BINARY, CL_INVALID_BINARY);
SAME(YOKE_CL_INVALID_BUILD_OPTIONS, CL_INVALID_BUILD_OPTIONS);
SAME(YOKE_CL_INVALID_KERNEL_NAME, CL_INVALID_KERNEL_NAME);
SAME(YOKE_CL_INVALID_ARG_INDEX, CL_INVALID_ARG_INDEX);
SAME(YOKE_CL_INVALID_ARG_VALUE, CL_INVALID_ARG_VALUE);
SAME(YOKE_CL_INVALID_ARG_SIZE, CL_INVALID_ARG_SIZE);
SAME(YOKE_CL_INVALID_KERNEL_ARGS, CL_INVALID_KERNEL_ARGS);
SAME(YOKE_CL_INVALID_WORK_GROUP_SIZE, CL_INVALID_WORK_GROUP_SIZE);
SAME(YOKE_CL_INVALID_WORK_ITEM_SIZE, CL_INVALID_WORK_ITEM_SIZE);
SAME(YOKE_CL_INVALID_BUFFER_SIZE, CL_INVALID_BUFFER_SIZE);
SAME(YOKE_CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_GLOBAL_WORK_SIZE);
SAME(YOKE_CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_COMPUTE_UNITS);
SAME(YOKE_CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE);
SAME(YOKE_CL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_DEVICE_MEM_BASE_ADDR_ALIGN);
SAME(YOKE_CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_LOCAL_MEM_SIZE);
SAME(YOKE_CL_DEVICE_COMPILER_AVAILABLE, CL_DEVICE_COMPILER_AVAILABLE);
SAME(YOKE_CL_DEVICE_DOUBLE_FP_CONFIG, CL_DEVICE_DOUBLE_FP_CONFIG);
SAME(YOKE_CL_DEVICE_SVM_CAPABILITIES, CL_DEVICE_SVM_CAPABILITIES);
SAME(YOKE_CL_DEVICE_IL_VERSION, CL_DEVICE_IL_VERSION);
SAME(YOKE_CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL,
     CL_DEVICE_DEVICE_MEM_CAPABILITIES_INTEL);
SAME(YOKE_CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL, CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL);
SAME(YOKE_CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV);
SAME(YOKE_CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
SAME(YOKE_CL_DEVICE_WARP_SIZE_NV, CL_DEVICE_WARP_SIZE_NV);
SAME(YOKE_CL_DEVICE_WAVEFRONT_WIDTH_AMD, CL_DEVICE_WAVEFRONT_WIDTH_AMD);
SAME(YOKE_CL_CONTEXT_DEVICES, CL_CONTEXT_DEVICES);
SAME(YOKE_CL_CONTEXT_PLATFORM, CL_CONTEXT_PLATFORM);
SAME(YOKE_CL_QUEUE_CONTEXT, CL_QUEUE_CONTEXT);
SAME(YOKE_CL_QUEUE_DEVICE, CL_QUEUE_DEVICE);
SAME(YOKE_CL_QUEUE_PROPERTIES, CL_QUEUE_PROPERTIES);
SAME(YOKE_CL_QUEUE_PRIORITY_KHR, CL_QUEUE_PRIORITY_KHR);
SAME(YOKE_CL_MEM_ALLOC_HOST_PTR, CL_MEM_ALLOC_HOST_PTR);
SAME(YOKE_CL_MEM_SVM_FINE_GRAIN_BUFFER, CL_MEM_SVM_FINE_GRAIN_BUFFER);
SAME(YOKE_CL_MEM_SIZE, CL_MEM_SIZE);
SAME(YOKE_CL_MEM_CONTEXT, CL_MEM_CONTEXT);
SAME(YOKE_CL_MEM_OFFSET, CL_MEM_OFFSET);
SAME(YOKE_CL_MEM_ALLOC_TYPE_INTEL, CL_MEM_ALLOC_TYPE_INTEL);
SAME(YOKE_CL_MEM_TYPE_UNKNOWN_INTEL, CL_MEM_TYPE_UNKNOWN_INTEL);
SAME(YOKE_CL_MEM_TYPE_DEVICE_INTEL, CL_MEM_TYPE_DEVICE_INTEL);
SAME(YOKE_CL_PROGRAM_NUM_DEVICES, CL_PROGRAM_NUM_DEVICES);
SAME(YOKE_CL_PROGRAM_DEVICES, CL_PROGRAM_DEVICES);
SAME(YOKE_CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARY_SIZES);
SAME(YOKE_CL_PROGRAM_BINARIES, CL_PROGRAM_BINARIES);
SAME(YOKE_CL_KERNEL_NUM_ARGS, CL_KERNEL_NUM_ARGS);
SAME(YOKE_CL_EVENT_CONTEXT, CL_EVENT_CONTEXT);
SAME(YOKE_CL_COMPLETE, CL_COMPLETE);
SAME(YOKE_CL_DEVICE_SHARED_MEM_CAPABILITIES_INTEL,
     CL_DEVICE_SINGLE_DEVICE_SHARED_MEM_CAPABILITIES_INTEL);
SAME(YOKE_CL_SVM_FINE_GRAIN_BUFFER, CL_DEVICE_SVM_FINE_GRAIN_BUFFER);
SAME(YOKE_CL_QUEUE_PRIORITY_HIGH, CL_QUEUE_PRIORITY_HIGH_KHR);
SAME(YOKE_CL_QUEUE_PRIORITY_LOW, CL_QUEUE_PRIORITY_LOW_KHR);
SAME(YOKE_CL_QUEUE_OUT_OF_ORDER, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
SAME(YOKE_CL_QUEUE_PROFILING, CL_QUEUE_PROFILING_ENABLE);
SAME(YOKE_CL_MEM_ASSOCIATED, CL_MEM_ASSOCIATED_MEMOBJECT);
SAME(YOKE_CL_MAP_READ_WRITE, (CL_MAP_READ | CL_MAP_WRITE));
SAME(YOKE_CL_BUFFER_CREATE_REGION, CL_BUFFER_CREATE_TYPE_REGION);
SAME(YOKE_CL_EVENT_STATUS, CL_EVENT_COMMAND_EXECUTION_STATUS);
SAME(YOKE_CL_PROFILING_END, CL_PROFILING_COMMAND_END);
SAME(sizeof(yoke_ocl_region_t), sizeof(cl_buffer_region));
SAME(offsetof(yoke_ocl_region_t, size), offsetof(cl_buffer_region, size));
SAME(sizeof(uint64_t), sizeof(cl_svm_mem_flags));
SAME(sizeof(uint64_t), sizeof(cl_map_flags));
SAME(sizeof(uint64_t), sizeof(cl_queue_properties));
SAME(sizeof(uint64_t), sizeof(cl_mem_properties_intel));
SAME(sizeof(uint32_t), sizeof(cl_unified_shared_memory_type_intel));

/*
 * Prototypes: a call of theirs through the types of ours. Handles are pointers to
 * different structs in both, so they go through void *.
 */
/* Every entry point of live devices, spelled with their handles and our other types. */
static int live_prototypes(void)
{
    typedef const cl_event *events;
    int32_t (*one)(cl_context) = clRetainContext;
    int32_t (*two)(cl_context) = clReleaseContext;
    int32_t (*three)(cl_context, uint32_t, size_t, void *, size_t *) = clGetContextInfo;
    int32_t (*four)(cl_command_queue) = clReleaseCommandQueue;
    int32_t (*five)(cl_command_queue, uint32_t, size_t, void *, size_t *) =
        clGetCommandQueueInfo;
    int32_t (*six)(cl_command_queue) = clFlush;
    int32_t (*finish)(cl_command_queue) = clFinish;
    int32_t (*seven)(cl_mem) = clReleaseMemObject;
    int32_t (*eight)(cl_mem, uint32_t, size_t, void *, size_t *) = clGetMemObjectInfo;
    cl_mem (*sub)(cl_mem, uint64_t, uint32_t, const void *, int32_t *) =
        clCreateSubBuffer;
    void *(*map)(cl_command_queue, cl_mem, uint32_t, uint64_t, size_t, size_t, uint32_t,
                 events, cl_event *, int32_t *) = clEnqueueMapBuffer;
    int32_t (*unmap)(cl_command_queue, cl_mem, void *, uint32_t, events, cl_event *) =
        clEnqueueUnmapMemObject;
    int32_t (*copy)(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, uint32_t,
                    events, cl_event *) = clEnqueueCopyBuffer;
    int32_t (*event)(cl_event, uint32_t, size_t, void *, size_t *) = clGetEventInfo;
    int32_t (*wait)(uint32_t, events) = clWaitForEvents;
    int32_t (*drop)(cl_event) = clReleaseEvent;
    int32_t (*hold)(cl_event) = clRetainEvent;
    cl_event (*user)(cl_context, int32_t *) = clCreateUserEvent;
    int32_t (*set)(cl_event, int32_t) = clSetUserEventStatus;
    int32_t (*notify)(cl_event, int32_t, void (*)(cl_event, int32_t, void *), void *) =
        clSetEventCallback;
    int32_t (*times)(cl_event, uint32_t, size_t, void *, size_t *) =
        clGetEventProfilingInfo;
    cl_program (*binary)(cl_context, uint32_t, const cl_device_id *, const size_t *,
                         const unsigned char **, int32_t *, int32_t *) =
        clCreateProgramWithBinary;
    int32_t (*program)(cl_program, uint32_t, size_t, void *, size_t *) = clGetProgramInfo;
    int32_t (*log)(cl_program, cl_device_id, uint32_t, size_t, void *, size_t *) =
        clGetProgramBuildInfo;
    int32_t (*end_program)(cl_program) = clReleaseProgram;
    cl_kernel (*make_kernel)(cl_program, const char *, int32_t *) = clCreateKernel;
    int32_t (*kernel)(cl_kernel, uint32_t, size_t, void *, size_t *) = clGetKernelInfo;
    int32_t (*end_kernel)(cl_kernel) = clReleaseKernel;
    int32_t (*marker_1_1)(cl_command_queue, cl_event *) = clEnqueueMarker;
    int32_t (*wait_1_1)(cl_command_queue, uint32_t, events) = clEnqueueWaitForEvents;
    int32_t (*marker)(cl_command_queue, uint32_t, events, cl_event *) =
        clEnqueueMarkerWithWaitList;
    int32_t (*barrier)(cl_command_queue, uint32_t, events, cl_event *) =
        clEnqueueBarrierWithWaitList;
    int32_t (*fill)(cl_command_queue, cl_mem, const void *, size_t, size_t, size_t,
                    uint32_t, events, cl_event *) = clEnqueueFillBuffer;
    void *(*extension)(cl_platform_id, const char *) =
        clGetExtensionFunctionAddressForPlatform;
    return one && two && three && four && five && six && finish && seven && eight &&
           sub && map && unmap && copy && event && wait && drop && hold && user && set &&
           notify && times && binary && program && log && end_program && make_kernel &&
           kernel && end_kernel && marker_1_1 && wait_1_1 && marker && barrier && fill &&
           extension;
}

/* The same for OpenCL 2.0 and later, and for unified shared memory. */
static int later_prototypes(void)
{
    typedef const cl_event *events;
    void *(*allocate)(cl_context, uint64_t, size_t, uint32_t) = clSVMAlloc;
    void (*release)(cl_context, void *) = clSVMFree;
    int32_t (*copy)(cl_command_queue, uint32_t, void *, const void *, size_t, uint32_t,
                    events, cl_event *) = clEnqueueSVMMemcpy;
    int32_t (*fill)(cl_command_queue, void *, const void *, size_t, size_t, uint32_t,
                    events, cl_event *) = clEnqueueSVMMemFill;
    int32_t (*argument)(cl_kernel, uint32_t, const void *) = clSetKernelArgSVMPointer;
    cl_command_queue (*queue)(cl_context, cl_device_id, const uint64_t *, int32_t *) =
        clCreateCommandQueueWithProperties;
    cl_program (*il)(cl_context, const void *, size_t, int32_t *) = clCreateProgramWithIL;
    clHostMemAllocINTEL_fn usm_host = NULL;
    void *(*host)(cl_context, const uint64_t *, size_t, uint32_t, int32_t *) = usm_host;
    clDeviceMemAllocINTEL_fn usm_device = NULL;
    void *(*device)(cl_context, cl_device_id, const uint64_t *, size_t, uint32_t,
                    int32_t *) = usm_device;
    clSharedMemAllocINTEL_fn usm_shared = NULL;
    void *(*shared)(cl_context, cl_device_id, const uint64_t *, size_t, uint32_t,
                    int32_t *) = usm_shared;
    clMemFreeINTEL_fn usm_free = NULL;
    int32_t (*end)(cl_context, void *) = usm_free;
    clGetMemAllocInfoINTEL_fn usm_info = NULL;
    int32_t (*info)(cl_context, const void *, uint32_t, size_t, void *, size_t *) =
        usm_info;
    clSetKernelArgMemPointerINTEL_fn usm_argument = NULL;
    int32_t (*pointer)(cl_kernel, uint32_t, const void *) = usm_argument;
    clEnqueueMemFillINTEL_fn usm_fill = NULL;
    int32_t (*fills)(cl_command_queue, void *, const void *, size_t, size_t, uint32_t,
                     events, cl_event *) = usm_fill;
    clEnqueueMemcpyINTEL_fn usm_copy = NULL;
    int32_t (*copies)(cl_command_queue, uint32_t, void *, const void *, size_t, uint32_t,
                      events, cl_event *) = usm_copy;
    return allocate && release && copy && fill && argument && queue && il && host &&
           device && shared && end && info && pointer && fills && copies;
}

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
    return code + live_prototypes() + later_prototypes() +
           (create_context && create_queue && create_buffer && create_program && build &&
            argument && launch && put && get);
}
