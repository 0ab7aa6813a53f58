/* SPDX-License-Identifier: Apache-2.0 */
/* Raw program for OpenCL (specification 1.2). Events are objects of one recording there:
 * a program that keeps the last one releases the one before it, and flushes where
 * somebody may poll it. */
#include "bench/hal_tax.h"

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

static struct {
    __typeof__(&clEnqueueNDRangeKernel) launch;
    __typeof__(&clEnqueueCopyBuffer) copy;
    __typeof__(&clEnqueueWriteBuffer) write;
    __typeof__(&clEnqueueReadBuffer) read;
    __typeof__(&clEnqueueFillBuffer) fill;
    __typeof__(&clEnqueueMarkerWithWaitList) mark;
    __typeof__(&clEnqueueBarrierWithWaitList) wait;
    __typeof__(&clReleaseEvent) release;
    __typeof__(&clFlush) flush;
    cl_kernel empty, kernel;
    cl_event event;
} vendor;

static bool load(tax_t *tax, const char *prefix)
{
    static const char source[] =
        "kernel void empty(void) { }"
        "kernel void axpy(float a, global const float *x, global float *y)"
        "{ size_t i = get_global_id(0); y[i] = a * x[i] + y[i]; }";
    __typeof__(&clCreateProgramWithSource) create;
    __typeof__(&clBuildProgram) build;
    __typeof__(&clCreateKernel) kernel;
    __typeof__(&clSetKernelArg) argument;
    const char *text = source;
    cl_mem x = tax->native_x, y = tax->native_y;
    cl_device_id device = tax->native.handle;
    if (!TAX_FIND(tax, prefix, "CreateProgramWithSource", create) ||
        !TAX_FIND(tax, prefix, "BuildProgram", build) ||
        !TAX_FIND(tax, prefix, "CreateKernel", kernel) ||
        !TAX_FIND(tax, prefix, "SetKernelArg", argument))
        return false;
    cl_program program = create(tax->native.context, 1, &text, NULL, NULL);
    if (program == NULL || build(program, 1, &device, "", NULL, NULL) != CL_SUCCESS)
        return false;
    vendor.kernel = kernel(program, "axpy", NULL);
    vendor.empty = kernel(program, "empty", NULL);
    return vendor.kernel != NULL && vendor.empty != NULL &&
           argument(vendor.kernel, 0, sizeof tax->factor, &tax->factor) == CL_SUCCESS &&
           argument(vendor.kernel, 1, sizeof x, &x) == CL_SUCCESS &&
           argument(vendor.kernel, 2, sizeof y, &y) == CL_SUCCESS;
}

static bool cl_open(tax_t *tax, const char *prefix)
{
    return TAX_FIND(tax, prefix, "EnqueueNDRangeKernel", vendor.launch) &&
           TAX_FIND(tax, prefix, "EnqueueCopyBuffer", vendor.copy) &&
           TAX_FIND(tax, prefix, "EnqueueWriteBuffer", vendor.write) &&
           TAX_FIND(tax, prefix, "EnqueueReadBuffer", vendor.read) &&
           TAX_FIND(tax, prefix, "EnqueueFillBuffer", vendor.fill) &&
           TAX_FIND(tax, prefix, "EnqueueMarkerWithWaitList", vendor.mark) &&
           TAX_FIND(tax, prefix, "EnqueueBarrierWithWaitList", vendor.wait) &&
           TAX_FIND(tax, prefix, "ReleaseEvent", vendor.release) &&
           TAX_FIND(tax, prefix, "Flush", vendor.flush) && load(tax, prefix) &&
           vendor.mark(tax->stream, 0, NULL, &vendor.event) == CL_SUCCESS;
}

static cl_int record(cl_command_queue queue)
{
    cl_event event = NULL;
    cl_int code = vendor.mark(queue, 0, NULL, &event);
    if (code != CL_SUCCESS)
        return code;
    vendor.release(vendor.event);
    vendor.event = event;
    return vendor.flush(queue);
}

static int cl_loop(tax_t *tax, tax_operation_t operation, unsigned long count)
{
    static const size_t global[3] = {TAX_ITEMS, 1, 1}, local[3] = {TAX_GROUP, 1, 1};
    static const cl_uint seven = 7;
    cl_command_queue queue = tax->stream;
    cl_mem x = tax->native_x, y = tax->native_y;
    cl_int code = CL_SUCCESS;
    for (unsigned long i = 0; i < count && code == CL_SUCCESS; i++)
        switch (operation) {
        case TAX_EMPTY:
            code =
                vendor.launch(queue, vendor.empty, 3, NULL, global, local, 0, NULL, NULL);
            break;
        case TAX_LAUNCH:
        case TAX_PREPARED:
            code = vendor.launch(queue, vendor.kernel, 3, NULL, global, local, 0, NULL,
                                 NULL);
            break;
        case TAX_COPY:
            code = vendor.copy(queue, x, y, 0, 0, TAX_SIZE, 0, NULL, NULL);
            break;
        case TAX_WRITE:
            code =
                vendor.write(queue, x, CL_FALSE, 0, TAX_SIZE, tax->host, 0, NULL, NULL);
            break;
        case TAX_READ:
            code = vendor.read(queue, x, CL_FALSE, 0, TAX_SIZE, tax->host, 0, NULL, NULL);
            break;
        case TAX_FILL:
            code =
                vendor.fill(queue, x, &seven, sizeof seven, 0, TAX_SIZE, 0, NULL, NULL);
            break;
        case TAX_RECORD:
            code = record(queue);
            break;
        default:
            code = vendor.wait(queue, 1, &vendor.event, NULL);
            break;
        }
    return code;
}

const tax_vendor_t tax_opencl = {
    .backend = "opencl", .prefix = "cl", .open = cl_open, .loop = cl_loop};
