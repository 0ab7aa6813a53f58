/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An OpenCL device by portable kernels: copies, triad, and a matrix product with an 8 x
 * 16 tile of registers in each work item. What it reaches is a lower bound of the device.
 */
#include "hal/measure/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
#include "backends/opencl/cl.h"
#include "base/text.h"
#include "hal/loader.h"
#include "hal/measure/matrix.h"

#define BUDGET 0.6 /* seconds a figure */
#define WITH "portable kernel"
#define MATRIX "fp32 matrix product"

static const char source[] =
    "__kernel void triad(__global float4 *a, __global const float4 *b,\n"
    "                    __global const float4 *c)\n"
    "{ size_t i = get_global_id(0); a[i] = b[i] + 3.0f * c[i]; }\n"
    "#define GEMM(name, rows)                                                           "
    "\\\n"
    "__kernel void name(uint n, __global const float *a, __global const float16 *b,     "
    "\\\n"
    "                   __global float16 *c)                                            "
    "\\\n"
    "{                                                                                  "
    "\\\n"
    "  uint col = get_global_id(0), row = get_global_id(1) * rows, ld = n / 16;         "
    "\\\n"
    "  float16 sum[rows];                                                               "
    "\\\n"
    "  __attribute__((opencl_unroll_hint))                                              "
    "\\\n"
    "  for (uint i = 0; i < rows; i++) sum[i] = 0;                                      "
    "\\\n"
    "  for (uint k = 0; k < n; k++) {                                                   "
    "\\\n"
    "    float16 v = b[k * ld + col];                                                   "
    "\\\n"
    "    __attribute__((opencl_unroll_hint))                                            "
    "\\\n"
    "    for (uint i = 0; i < rows; i++) sum[i] += a[(row + i) * n + k] * v;            "
    "\\\n"
    "  }                                                                                "
    "\\\n"
    "  __attribute__((opencl_unroll_hint))                                              "
    "\\\n"
    "  for (uint i = 0; i < rows; i++) c[(row + i) * ld + col] = sum[i];                "
    "\\\n"
    "}\n"
    "GEMM(gemm4, 4)\n"
    "GEMM(gemm6, 6)\n"
    "GEMM(gemm8, 8)\n";

typedef struct bench {
    int fd;
    yoke_cl_t cl;
    yoke_cl_work_t work;
    yoke_cl_device_t device;
    yoke_cl_context_t context;
    yoke_cl_queue_t queue;
    yoke_cl_program_t program;
    size_t limit; /* largest buffer */
} bench_t;

static bool failed(const bench_t *bench, const char *what, const char *call, int32_t code)
{
    if (code == YOKE_CL_SUCCESS)
        return false;
    const char *name = yoke_cl_error_name(code);
    char *text =
        yoke_format("%s() returned %d (%s)", call, code, name != NULL ? name : "?");
    yoke_measure_problem(bench->fd, what, WITH, text);
    free(text);
    return true;
}

/* --- set-up ------------------------------------------------------------------------- */

static bool open_loader(bench_t *bench, const char *library)
{
    static const char *const names[] = {"libOpenCL.so.1", NULL};
    yoke_library_t loader;
    char *problem = NULL;
    bool found;
    yoke_cl_work_t *w = &bench->work;
    const yoke_symbol_t symbols[] = {
        {"clGetPlatformIDs", NULL, &bench->cl.get_platforms, false},
        {"clGetPlatformInfo", NULL, &bench->cl.platform_info, false},
        {"clGetDeviceIDs", NULL, &bench->cl.get_devices, false},
        {"clGetDeviceInfo", NULL, &bench->cl.device_info, false},
        {"clCreateContext", NULL, &w->create_context, false},
        {"clCreateCommandQueue", NULL, &w->create_queue, false},
        {"clCreateBuffer", NULL, &w->create_buffer, false},
        {"clCreateProgramWithSource", NULL, &w->create_program, false},
        {"clBuildProgram", NULL, &w->build_program, false},
        {"clGetProgramBuildInfo", NULL, &w->build_info, false},
        {"clCreateKernel", NULL, &w->create_kernel, false},
        {"clSetKernelArg", NULL, &w->set_argument, false},
        {"clEnqueueNDRangeKernel", NULL, &w->launch, false},
        {"clEnqueueWriteBuffer", NULL, &w->write_buffer, false},
        {"clEnqueueReadBuffer", NULL, &w->read_buffer, false},
        {"clFinish", NULL, &w->finish, false},
    };
    setenv("OCL_ICD_VENDORS", library, 1);
    setenv("OCL_ICD_FILENAMES", library, 1);
    if (!yoke_library_open("OPENCL", names, &loader, &problem, &found)) {
        yoke_measure_problem(bench->fd, "set-up", WITH, problem);
        free(problem);
        return false;
    }
    return yoke_library_resolve(&loader, symbols, sizeof symbols / sizeof *symbols) ==
           NULL;
}

static bool find_device(bench_t *bench, const char *platform, unsigned index)
{
    yoke_cl_platform_t platforms[64] = {0};
    yoke_cl_device_t devices[256] = {0};
    uint32_t platform_count = 0, count = 0;
    int32_t code = bench->cl.get_platforms(64, platforms, &platform_count);
    if (failed(bench, "set-up", "clGetPlatformIDs", code))
        return false;
    for (uint32_t i = 0; i < platform_count && i < 64; i++) {
        char name[512] = "";
        bench->cl.platform_info(platforms[i], YOKE_CL_PLATFORM_NAME, sizeof name - 1,
                                name, NULL);
        if (strcmp(name, platform) != 0)
            continue;
        code =
            bench->cl.get_devices(platforms[i], YOKE_CL_TYPE_ALL, 256, devices, &count);
        if (code == YOKE_CL_SUCCESS && index < count) {
            bench->device = devices[index];
            return true;
        }
    }
    yoke_measure_problem(bench->fd, "set-up", WITH, "the device is no longer there");
    return false;
}

/* The compiler's own words say more than the code. */
static void tell_build(const bench_t *bench, int32_t code)
{
    static char log[4096];
    const char *name = yoke_cl_error_name(code);
    size_t size = 0;
    bench->work.build_info(bench->program, bench->device, YOKE_CL_PROGRAM_BUILD_LOG,
                           sizeof log - 1, log, &size);
    char *clean = yoke_run_text(log, sizeof log);
    char *text = yoke_format("clBuildProgram() returned %d (%s): %.300s", code,
                             name != NULL ? name : "?", clean != NULL ? clean : "no log");
    yoke_measure_problem(bench->fd, "set-up", WITH, text);
    free(text);
    free(clean);
}

static bool build(bench_t *bench)
{
    const char *text = source;
    int32_t code = 0;
    const yoke_cl_work_t *w = &bench->work;
    bench->context = w->create_context(NULL, 1, &bench->device, NULL, NULL, &code);
    if (failed(bench, "set-up", "clCreateContext", code))
        return false;
    /* Not the ...WithProperties form of 2.0: it never returns on some 1.x platforms. */
    bench->queue = w->create_queue(bench->context, bench->device, 0, &code);
    if (failed(bench, "set-up", "clCreateCommandQueue", code))
        return false;
    bench->program = w->create_program(bench->context, 1, &text, NULL, &code);
    if (failed(bench, "set-up", "clCreateProgramWithSource", code))
        return false;
    code = w->build_program(bench->program, 1, &bench->device, "", NULL, NULL);
    if (code != YOKE_CL_SUCCESS)
        tell_build(bench, code);
    return code == YOKE_CL_SUCCESS;
}

static void find_limit(bench_t *bench)
{
    uint64_t largest = 0, global = 0;
    bench->cl.device_info(bench->device, YOKE_CL_DEVICE_MAX_MEM_ALLOC_SIZE,
                          sizeof largest, &largest, NULL);
    bench->cl.device_info(bench->device, YOKE_CL_DEVICE_GLOBAL_MEM_SIZE, sizeof global,
                          &global, NULL);
    if (largest == 0 || largest > global / 8)
        largest = global / 8;
    bench->limit = (size_t)largest;
}

static yoke_cl_memory_t buffer(const bench_t *bench, const char *what, size_t bytes)
{
    int32_t code = 0;
    yoke_cl_memory_t memory = bench->work.create_buffer(
        bench->context, YOKE_CL_MEM_READ_WRITE, bytes, NULL, &code);
    return failed(bench, what, "clCreateBuffer", code) ? NULL : memory;
}

static bool put(const bench_t *bench, const char *what, yoke_cl_memory_t memory,
                const void *data, size_t bytes)
{
    return !failed(
        bench, what, "clEnqueueWriteBuffer",
        bench->work.write_buffer(bench->queue, memory, 1, 0, bytes, data, 0, NULL, NULL));
}

static bool get(const bench_t *bench, const char *what, yoke_cl_memory_t memory,
                void *data, size_t bytes)
{
    return !failed(
        bench, what, "clEnqueueReadBuffer",
        bench->work.read_buffer(bench->queue, memory, 1, 0, bytes, data, 0, NULL, NULL));
}

/* --- copies ------------------------------------------------------------------------- */

static void measure_copies(const bench_t *bench)
{
    static const char *const names[2] = {"copy to device", "copy from device"};
    size_t bytes = (size_t)64 << 20;
    if (bytes > bench->limit)
        bytes = bench->limit & ~(size_t)4095;
    unsigned char *data = malloc(bytes), *back = calloc(1, bytes);
    yoke_cl_memory_t memory = buffer(bench, names[0], bytes);
    yoke_timing_t timings[2] = {{.runs = 0}, {.runs = 0}};
    bool fine = data != NULL && back != NULL && memory != NULL && bytes > 0;
    for (size_t i = 0; fine && i < bytes; i++)
        data[i] = (unsigned char)(i * 31 + (i >> 12));
    /* The first touch of the pages is no transfer. */
    fine = fine && put(bench, names[0], memory, data, bytes) &&
           get(bench, names[1], memory, back, bytes);
    for (int way = 0; fine && way < 2; way++) {
        while (fine && yoke_timing_more(&timings[way], BUDGET)) {
            double begin = yoke_measure_now();
            fine = way == 0 ? put(bench, names[way], memory, data, bytes)
                            : get(bench, names[way], memory, back, bytes);
            yoke_timing_add(&timings[way], yoke_measure_now() - begin);
        }
    }
    if (fine && memcmp(data, back, bytes) != 0)
        yoke_measure_problem(bench->fd, names[1], WITH,
                             "the bytes that came back are wrong");
    else if (fine)
        for (int way = 0; way < 2; way++)
            yoke_measure_put(bench->fd, names[way], "OpenCL", NULL, (double)bytes,
                             &timings[way], false);
    free(data);
    free(back);
}

/* --- kernels ------------------------------------------------------------------------ */

static bool launch(const bench_t *bench, const char *what, yoke_cl_kernel_t kernel,
                   unsigned dimensions, const size_t *global)
{
    return !failed(bench, what, "clEnqueueNDRangeKernel",
                   bench->work.launch(bench->queue, kernel, dimensions, NULL, global,
                                      NULL, 0, NULL, NULL)) &&
           !failed(bench, what, "clFinish", bench->work.finish(bench->queue));
}

static bool time_kernel(const bench_t *bench, const char *what, yoke_cl_kernel_t kernel,
                        unsigned dimensions, const size_t *global, yoke_timing_t *timing)
{
    bool fine = launch(bench, what, kernel, dimensions, global); /* compiles here */
    while (fine && yoke_timing_more(timing, BUDGET)) {
        double begin = yoke_measure_now();
        fine = launch(bench, what, kernel, dimensions, global);
        yoke_timing_add(timing, yoke_measure_now() - begin);
    }
    return fine;
}

static yoke_cl_kernel_t make_kernel(const bench_t *bench, const char *what,
                                    const char *name)
{
    int32_t code = 0;
    yoke_cl_kernel_t kernel = bench->work.create_kernel(bench->program, name, &code);
    return failed(bench, what, "clCreateKernel", code) ? NULL : kernel;
}

static bool triad_right(const float *a, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != (float)(i % 512) + 3.0f * (float)(i % 64))
            return false;
    return true;
}

static void measure_triad(const bench_t *bench)
{
    static const char what[] = "memory triad";
    size_t bytes = (size_t)128 << 20;
    while (bytes > bench->limit && bytes > 65536)
        bytes /= 2;
    size_t count = bytes / sizeof(float), global = count / 4;
    yoke_cl_memory_t memories[3];
    yoke_cl_kernel_t kernel = make_kernel(bench, what, "triad");
    float *data = calloc(count, sizeof *data);
    yoke_timing_t timing = {0};
    bool fine = kernel != NULL && data != NULL;
    for (uint32_t i = 0; fine && i < 3; i++) {
        memories[i] = buffer(bench, what, bytes);
        fine = memories[i] != NULL &&
               !failed(
                   bench, what, "clSetKernelArg",
                   bench->work.set_argument(kernel, i, sizeof memories[i], &memories[i]));
    }
    for (size_t i = 0; fine && i < count; i++)
        data[i] = (float)(i % 512);
    fine = fine && put(bench, what, memories[1], data, bytes);
    for (size_t i = 0; fine && i < count; i++)
        data[i] = (float)(i % 64);
    fine = fine && put(bench, what, memories[2], data, bytes) &&
           time_kernel(bench, what, kernel, 1, &global, &timing) &&
           get(bench, what, memories[0], data, bytes);
    if (fine && !triad_right(data, count))
        yoke_measure_problem(bench->fd, what, WITH, "the result is wrong");
    else if (fine)
        yoke_measure_put(bench->fd, what, WITH, NULL, 3.0 * (double)bytes, &timing, true);
    free(data);
}

/* Tile heights; all divide the size, and rows of 3840 bytes do not fall on one cache set.
 */
static const struct {
    const char *kernel;
    size_t rows;
} tiles[] = {{"gemm4", 4}, {"gemm6", 6}, {"gemm8", 8}};
#define TILES (sizeof tiles / sizeof *tiles)
#define MATRIX_SIZE 960

/* Arguments of one kernel; false after a message. */
static bool set_matrices(const bench_t *bench, yoke_cl_kernel_t kernel,
                         const yoke_cl_memory_t memories[3])
{
    const uint32_t size = MATRIX_SIZE;
    int32_t code = bench->work.set_argument(kernel, 0, sizeof size, &size);
    for (uint32_t i = 0; i < 3 && code == YOKE_CL_SUCCESS; i++)
        code = bench->work.set_argument(kernel, i + 1, sizeof *memories, &memories[i]);
    return !failed(bench, MATRIX, "clSetKernelArg", code);
}

/* The fastest of the kernels by one run each, after one that compiles. */
static bool choose_tile(const bench_t *bench, const yoke_cl_memory_t memories[3],
                        yoke_cl_kernel_t *out_kernel, size_t global[2])
{
    double best = 0;
    for (size_t i = 0; i < TILES; i++) {
        const size_t range[2] = {MATRIX_SIZE / 16, MATRIX_SIZE / tiles[i].rows};
        yoke_cl_kernel_t kernel = make_kernel(bench, MATRIX, tiles[i].kernel);
        if (kernel == NULL || !set_matrices(bench, kernel, memories) ||
            !launch(bench, MATRIX, kernel, 2, range))
            return false;
        double begin = yoke_measure_now();
        if (!launch(bench, MATRIX, kernel, 2, range))
            return false;
        double seconds = yoke_measure_now() - begin;
        if (i > 0 && seconds >= best)
            continue;
        best = seconds;
        *out_kernel = kernel;
        memcpy(global, range, sizeof range);
    }
    return true;
}

static void measure_matrix(const bench_t *bench)
{
    const size_t n = MATRIX_SIZE, bytes = n * n * sizeof(float);
    float *host[3] = {malloc(bytes), malloc(bytes), calloc(1, bytes)};
    yoke_cl_memory_t memories[3];
    yoke_cl_kernel_t kernel = NULL;
    size_t global[2];
    yoke_timing_t timing = {0};
    bool fine = host[0] != NULL && host[1] != NULL && host[2] != NULL;
    if (fine) {
        yoke_matrix_fill_single(host[0], n, 1);
        yoke_matrix_fill_single(host[1], n, 2);
    }
    for (uint32_t i = 0; fine && i < 3; i++) {
        memories[i] = buffer(bench, MATRIX, bytes);
        fine = memories[i] != NULL && put(bench, MATRIX, memories[i], host[i], bytes);
    }
    fine = fine && choose_tile(bench, memories, &kernel, global) &&
           time_kernel(bench, MATRIX, kernel, 2, global, &timing) &&
           get(bench, MATRIX, memories[2], host[2], bytes);
    if (fine && !yoke_matrix_check_single(host[0], host[1], host[2], n))
        yoke_measure_problem(bench->fd, MATRIX, WITH, "the result is wrong");
    else if (fine)
        yoke_measure_put(bench->fd, MATRIX, WITH, "fp32", 2.0 * (double)(n * n * n),
                         &timing, true);
    for (size_t i = 0; i < 3; i++)
        free(host[i]);
}

void yoke_measure_opencl(const char *library, const char *platform, unsigned index,
                         int fd)
{
    bench_t bench = {.fd = fd};
    if (!open_loader(&bench, library) || !find_device(&bench, platform, index) ||
        !build(&bench))
        return;
    find_limit(&bench);
    measure_copies(&bench);
    measure_triad(&bench);
    measure_matrix(&bench);
    /* The process ends now; nothing is released. */
}
