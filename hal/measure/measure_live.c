/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device by its live backend: pinned copies, a copy within it, a triad of the portable
 * dialect, launches, and matrix products by the vendor's library, each result compared
 * with what it must be. Runs in the helper, so that nothing is released at the end.
 */
#include "hal/measure/measure_live.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "hal/live/object.h"
#include "hal/measure/matrix.h"
#include "yoke/kernel.h"
#include "yoke/operators.h"

#define BUDGET 0.5 /* seconds a figure */
#define COPY_BYTES ((uint64_t)64 << 20)
#define LAUNCHES 256 /* launches of one run */
#define SMALLEST 64  /* matrices; a device that is slow with these is slow with all */

/* --- helpers ---------------------------------------------------------------------------
 */

bool yoke_live_failed(int fd, const char *what, const char *with, yoke_status_t status)
{
    if (status == YOKE_OK)
        return false;
    yoke_measure_problem(fd, what, with, yoke_last_error());
    return true;
}

bool yoke_live_open(int fd, const char *name, yoke_live_t *live)
{
    memset(live, 0, sizeof *live);
    live->fd = fd;
    live->info.struct_size = sizeof live->info;
    uint64_t available = 0;
    if (yoke_live_failed(fd, "set-up", name,
                         yoke_device_open(name, NULL, &live->device)) ||
        yoke_live_failed(fd, "set-up", name,
                         yoke_device_info(live->device, &live->info)) ||
        yoke_live_failed(fd, "set-up", name,
                         yoke_queue_create(live->device, NULL, &live->queue)) ||
        yoke_live_failed(fd, "set-up", name,
                         yoke_device_memory(live->device, &available, NULL)))
        return false;
    live->limit = available / 8;
    snprintf(live->with, sizeof live->with, "%s", live->info.backend);
    return true;
}

static yoke_buffer_t *buffer(yoke_live_t *live, const char *what, yoke_memory_kind_t kind,
                             uint64_t size)
{
    yoke_buffer_t *made = NULL;
    yoke_live_failed(live->fd, what, live->with,
                     yoke_buffer_create(live->device, kind, size, &made));
    return made;
}

static bool sync(yoke_live_t *live, const char *what)
{
    return !yoke_live_failed(live->fd, what, live->with, yoke_queue_sync(live->queue));
}

/* Ordinary host memory to and from the device; waits. */
static bool put(yoke_live_t *live, const char *what, yoke_buffer_t *to, const void *data,
                uint64_t size)
{
    return !yoke_live_failed(
               live->fd, what, live->with,
               yoke_queue_write(live->queue, yoke_span(to, 0), data, size)) &&
           sync(live, what);
}

static bool get(yoke_live_t *live, const char *what, void *data, yoke_buffer_t *from,
                uint64_t size)
{
    return !yoke_live_failed(
               live->fd, what, live->with,
               yoke_queue_read(live->queue, data, yoke_span(from, 0), size)) &&
           sync(live, what);
}

uint64_t yoke_live_bounded(const yoke_live_t *live, uint64_t bytes)
{
    while (bytes > live->limit && bytes > 65536)
        bytes /= 2;
    return bytes;
}

/* --- copies ----------------------------------------------------------------------------
 */

bool yoke_live_time_copy(yoke_live_t *live, const char *what, yoke_buffer_t *to,
                         yoke_buffer_t *from, uint64_t size, yoke_timing_t *timing)
{
    while (yoke_timing_more(timing, BUDGET)) {
        double begin = yoke_measure_now();
        if (yoke_live_failed(live->fd, what, live->with,
                             yoke_queue_copy(live->queue, yoke_span(to, 0),
                                             yoke_span(from, 0), size)) ||
            !sync(live, what))
            return false;
        yoke_timing_add(timing, yoke_measure_now() - begin);
    }
    return true;
}

static void pattern(unsigned char *data, uint64_t size)
{
    for (uint64_t i = 0; i < size; i++)
        data[i] = (unsigned char)(i * 31 + (i >> 12));
}

/* Pinned memory -> device -> another place of the device -> pinned memory: four figures'
 * copies whose end is compared with the beginning. */
static void measure_copies(yoke_live_t *live)
{
    static const char *const names[3] = {"copy to device", "copy from device",
                                         "copy within device"};
    uint64_t size = yoke_live_bounded(live, COPY_BYTES);
    bool pinned = (live->info.capabilities & YOKE_CAP_PINNED) != 0;
    if (!pinned) {
        yoke_measure_problem(live->fd, names[0], live->with,
                             "this runtime has no pinned memory");
        return;
    }
    yoke_buffer_t *in = buffer(live, names[0], YOKE_MEMORY_HOST, size);
    yoke_buffer_t *out = buffer(live, names[1], YOKE_MEMORY_HOST, size);
    yoke_buffer_t *a = buffer(live, names[0], YOKE_MEMORY_DEVICE, size);
    yoke_buffer_t *b = buffer(live, names[2], YOKE_MEMORY_DEVICE, size);
    void *source = NULL, *result = NULL;
    if (in == NULL || out == NULL || a == NULL || b == NULL ||
        yoke_buffer_host_address(in, &source) != YOKE_OK ||
        yoke_buffer_host_address(out, &result) != YOKE_OK)
        return;
    pattern(source, size);
    memset(result, 0, size);
    yoke_timing_t timings[3] = {{.runs = 0}, {.runs = 0}, {.runs = 0}};
    if (!yoke_live_time_copy(live, names[0], a, in, size, &timings[0]) ||
        !yoke_live_time_copy(live, names[2], b, a, size, &timings[2]) ||
        !yoke_live_time_copy(live, names[1], out, b, size, &timings[1]))
        return;
    if (memcmp(source, result, size) != 0) {
        yoke_measure_problem(live->fd, names[1], live->with,
                             "the bytes that came back are wrong");
        return;
    }
    for (int i = 0; i < 3; i++) /* within the device each byte is read and written */
        yoke_measure_put(live->fd, names[i], live->with, NULL,
                         (double)size * (i == 2 ? 2 : 1), &timings[i], i == 2);
    yoke_buffer_destroy(in);
    yoke_buffer_destroy(out);
    yoke_buffer_destroy(a);
    yoke_buffer_destroy(b);
}

/* --- kernels
 * ----------------------------------------------------------------------------- */

static const char source[] =
    "YOKE_KERNEL void triad(YOKE_GLOBAL f32 *a, YOKE_GLOBAL const f32 *b,\n"
    "                       YOKE_GLOBAL const f32 *c, u64 count)\n"
    "{\n"
    "    u64 i = YOKE_GLOBAL_ID(0);\n"
    "    if (i < count)\n"
    "        a[i] = b[i] + 3.0f * c[i];\n"
    "}\n"
    "YOKE_KERNEL void mark(YOKE_GLOBAL u32 *last, u32 number)\n"
    "{\n"
    "    if (YOKE_GLOBAL_ID(0) == 0)\n"
    "        last[0] = number;\n"
    "}\n";

static bool compile(yoke_live_t *live, yoke_program_t **out_program)
{
    yoke_program_options_t options = {.struct_size = sizeof options,
                                      .format = YOKE_PROGRAM_DIALECT,
                                      .data = source,
                                      .size = sizeof source - 1,
                                      .name = "measure"};
    return !yoke_live_failed(live->fd, "set-up", live->with,
                             yoke_program_create(live->device, &options, out_program));
}

static yoke_kernel_t *kernel_of(yoke_live_t *live, yoke_program_t *program,
                                const char *name)
{
    yoke_kernel_t *kernel = NULL;
    yoke_live_failed(live->fd, name, live->with,
                     yoke_kernel_create(program, name, &kernel));
    return kernel;
}

static bool triad_right(const float *a, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (a[i] != (float)(i % 512) + 3.0f * (float)(i % 64))
            return false;
    return true;
}

static void measure_triad(yoke_live_t *live, yoke_program_t *program)
{
    static const char what[] = "memory triad";
    uint64_t bytes = yoke_live_bounded(live, (uint64_t)128 << 20),
             count = bytes / sizeof(float);
    yoke_kernel_t *kernel = kernel_of(live, program, "triad");
    float *data = malloc(bytes);
    yoke_buffer_t *memory[3];
    bool fine = kernel != NULL && data != NULL;
    for (int i = 0; fine && i < 3; i++)
        fine = (memory[i] = buffer(live, what, YOKE_MEMORY_DEVICE, bytes)) != NULL;
    for (uint64_t i = 0; fine && i < count; i++)
        data[i] = (float)(i % 512);
    fine = fine && put(live, what, memory[1], data, bytes);
    for (uint64_t i = 0; fine && i < count; i++)
        data[i] = (float)(i % 64);
    fine = fine && put(live, what, memory[2], data, bytes);
    yoke_timing_t timing = {0};
    uint32_t local = live->info.max_group >= 256 ? 256 : 64;
    yoke_launch_t launch = {{(uint32_t)((count + local - 1) / local), 1, 1},
                            {local, 1, 1}};
    for (unsigned run = 0; fine && (run == 0 || yoke_timing_more(&timing, BUDGET));
         run++) {
        yoke_argument_t arguments[4] = {
            yoke_argument_span(memory[0], 0), yoke_argument_span(memory[1], 0),
            yoke_argument_span(memory[2], 0), yoke_argument_value(&count, sizeof count)};
        double begin = yoke_measure_now();
        fine = !yoke_live_failed(
                   live->fd, what, live->with,
                   yoke_kernel_launch(live->queue, kernel, &launch, arguments, 4)) &&
               sync(live, what);
        if (run > 0) /* the first one warms */
            yoke_timing_add(&timing, yoke_measure_now() - begin);
    }
    fine = fine && get(live, what, data, memory[0], bytes);
    if (fine && !triad_right(data, count))
        yoke_measure_problem(live->fd, what, "portable kernel", "the result is wrong");
    else if (fine)
        yoke_measure_put(live->fd, what, "portable kernel", NULL, 3.0 * (double)bytes,
                         &timing, true);
    free(data);
}

/* Launches of a kernel that leaves its number, back to back; the last one must be there.
 */
static void measure_launches(yoke_live_t *live, yoke_program_t *program)
{
    static const char what[] = "kernel launches";
    yoke_kernel_t *kernel = kernel_of(live, program, "mark");
    yoke_buffer_t *last = buffer(live, what, YOKE_MEMORY_DEVICE, sizeof(uint32_t));
    yoke_timing_t timing = {0};
    const yoke_launch_t launch = {{1, 1, 1}, {1, 1, 1}};
    uint32_t number = 0, found = 0;
    bool fine = kernel != NULL && last != NULL;
    for (unsigned run = 0; fine && (run == 0 || yoke_timing_more(&timing, BUDGET));
         run++) {
        double begin = yoke_measure_now();
        for (int i = 0; fine && i < LAUNCHES; i++) {
            number++;
            yoke_argument_t arguments[2] = {yoke_argument_span(last, 0),
                                            yoke_argument_value(&number, sizeof number)};
            fine = !yoke_live_failed(
                live->fd, what, live->with,
                yoke_kernel_launch(live->queue, kernel, &launch, arguments, 2));
        }
        fine = fine && sync(live, what);
        if (run > 0)
            yoke_timing_add(&timing, yoke_measure_now() - begin);
    }
    fine = fine && get(live, what, &found, last, sizeof found);
    if (fine && found != number)
        yoke_measure_problem(live->fd, what, live->with, "the last one left no trace");
    else if (fine)
        yoke_measure_put(live->fd, what, live->with, NULL, LAUNCHES, &timing, false);
    yoke_buffer_destroy(last);
}

/* --- matrix products
 * ----------------------------------------------------------------------- */

static const struct {
    yoke_element_t element;
    const char *dtype;
    double epsilon; /* relative error of one rounding of the output */
} types[] = {{YOKE_ELEMENT_F64, "fp64", 0},
             {YOKE_ELEMENT_F32, "fp32", 0},
             {YOKE_ELEMENT_F16, "fp16", 1.0 / 2048},
             {YOKE_ELEMENT_BF16, "bf16", 1.0 / 256}};

static yoke_status_t multiply(yoke_operators_t *operators, yoke_live_t *live,
                              yoke_element_t element, yoke_buffer_t *const memory[3],
                              uint64_t n)
{
    yoke_gemm_t gemm = {.struct_size = sizeof gemm,
                        .element = element,
                        .output = element,
                        .m = n,
                        .n = n,
                        .k = n,
                        .alpha = 1,
                        .a = yoke_span(memory[0], 0),
                        .b = yoke_span(memory[1], 0),
                        .c = yoke_span(memory[2], 0)};
    yoke_status_t status = yoke_op_gemm(operators, live->queue, &gemm);
    return status == YOKE_OK ? yoke_queue_sync(live->queue) : status;
}

/* Element `i` of test data and results, as numbers. */
static void encode(yoke_element_t element, void *to, const double *from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        switch (element) {
        case YOKE_ELEMENT_F64:
            ((double *)to)[i] = from[i];
            break;
        case YOKE_ELEMENT_F32:
            ((float *)to)[i] = (float)from[i];
            break;
        case YOKE_ELEMENT_BF16:
            ((uint16_t *)to)[i] = yoke_matrix_to_bf16((float)from[i]);
            break;
        default:
            ((uint16_t *)to)[i] = yoke_matrix_to_f16((float)from[i]);
        }
}

static void decode(yoke_element_t element, double *to, const void *from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        switch (element) {
        case YOKE_ELEMENT_F64:
            to[i] = ((const double *)from)[i];
            break;
        case YOKE_ELEMENT_F32:
            to[i] = (double)((const float *)from)[i];
            break;
        case YOKE_ELEMENT_BF16:
            to[i] = (double)yoke_matrix_from_bf16(((const uint16_t *)from)[i]);
            break;
        default:
            to[i] = (double)yoke_matrix_from_f16(((const uint16_t *)from)[i]);
        }
}

typedef struct product {
    yoke_operators_t *operators;
    yoke_buffer_t *memory[3];
    uint64_t n;
    char what[32];
    size_t type;
} product_t;

/* Matrices of size n on the device; false after a message. */
static bool fill(yoke_live_t *live, product_t *product, double *host[2], void *raw)
{
    size_t count = product->n * product->n;
    yoke_element_t element = types[product->type].element;
    for (int i = 0; i < 2; i++) {
        yoke_matrix_fill_double(host[i], product->n, (uint32_t)i + 1);
        encode(element, raw, host[i], count);
        if (!put(live, product->what, product->memory[i], raw,
                 count * yoke_element_size(element)))
            return false;
    }
    return true;
}

static bool time_product(yoke_live_t *live, product_t *product, yoke_timing_t *timing)
{
    yoke_element_t element = types[product->type].element;
    while (yoke_timing_more(timing, BUDGET)) {
        double begin = yoke_measure_now();
        yoke_status_t status =
            multiply(product->operators, live, element, product->memory, product->n);
        if (yoke_live_failed(live->fd, product->what, live->with, status))
            return false;
        yoke_timing_add(timing, yoke_measure_now() - begin);
    }
    return true;
}

/* Large enough to be fast, small enough for the runs of the budget. */
static bool choose_size(yoke_live_t *live, product_t *product, uint64_t largest)
{
    yoke_element_t element = types[product->type].element;
    for (product->n = SMALLEST;; product->n *= 2) {
        double seconds = 0;
        for (int run = 0; run < 2; run++) { /* the first one loads and warms */
            double begin = yoke_measure_now();
            yoke_status_t status =
                multiply(product->operators, live, element, product->memory, product->n);
            if (yoke_live_failed(live->fd, product->what, live->with, status))
                return false;
            seconds = yoke_measure_now() - begin;
        }
        if (product->n >= largest || seconds * 8 * 6 > BUDGET)
            return true;
    }
}

/* Whether the library takes a type shows when it is asked for the first time: what it
 * does not take runs elsewhere, and says nothing of the device. */
static bool is_vendors(const product_t *product)
{
    return strcmp(yoke_operators_path(product->operators, "gemm",
                                      types[product->type].element),
                  "vendor") == 0;
}

static void run_product(yoke_live_t *live, product_t *product, const char *library)
{
    uint64_t largest = live->limit < (uint64_t)1 << 30 ? 1024 : 4096;
    size_t size = yoke_element_size(types[product->type].element);
    while (largest > SMALLEST && largest * largest * size > live->limit)
        largest /= 2;
    size_t count = largest * largest;
    double *host[3] = {malloc(count * sizeof(double)), malloc(count * sizeof(double)),
                       malloc(count * sizeof(double))};
    void *raw = malloc(count * size);
    yoke_timing_t timing = {0};
    bool fine = host[0] != NULL && host[1] != NULL && host[2] != NULL && raw != NULL;
    for (int i = 0; fine && i < 3; i++)
        fine = (product->memory[i] = buffer(live, product->what, YOKE_MEMORY_DEVICE,
                                            count * size)) != NULL;
    fine =
        fine && choose_size(live, product, largest) && is_vendors(product) &&
        fill(live, product, host, raw) && time_product(live, product, &timing) &&
        get(live, product->what, raw, product->memory[2], product->n * product->n * size);
    if (fine) {
        uint64_t n = product->n;
        decode(types[product->type].element, host[2], raw, n * n);
        if (yoke_matrix_check_rounded(host[0], host[1], host[2], n,
                                      types[product->type].epsilon))
            yoke_measure_put(live->fd, product->what, library, types[product->type].dtype,
                             2.0 * (double)(n * n * n), &timing, false);
        else
            yoke_measure_problem(live->fd, product->what, library, "the result is wrong");
    }
    for (int i = 0; i < 3; i++) {
        free(host[i]);
        yoke_buffer_destroy(product->memory[i]);
    }
    free(raw);
}

static void measure_products(yoke_live_t *live)
{
    const yoke_backend_ops_t *ops = live->device->object.ops;
    const char *library = NULL;
    product_t product = {0};
    if ((live->info.capabilities & YOKE_CAP_GEMM) == 0 || ops->gemm_library == NULL)
        return;
    library = ops->gemm_library(live->device->object.impl.device);
    if (library == NULL) {
        yoke_measure_problem(live->fd, "matrix product", live->with,
                             "the vendor's matrix library cannot be loaded");
        return;
    }
    if (yoke_live_failed(live->fd, "set-up", live->with,
                         yoke_operators_create(live->device, &product.operators)))
        return;
    for (product.type = 0; product.type < sizeof types / sizeof *types; product.type++) {
        if (!is_vendors(&product))
            continue;
        snprintf(product.what, sizeof product.what, "%s matrix product",
                 types[product.type].dtype);
        run_product(live, &product, library);
    }
}

/* --- all of it
 * ------------------------------------------------------------------------------ */

void yoke_measure_live(const char *name, bool short_list, int fd)
{
    yoke_live_t live;
    yoke_program_t *program = NULL;
    if (!yoke_live_open(fd, name, &live))
        return;
    if (!short_list)
        measure_copies(&live);
    if ((live.info.capabilities & YOKE_CAP_SOURCE) != 0 && compile(&live, &program)) {
        if (!short_list)
            measure_triad(&live, program);
        measure_launches(&live, program);
    }
    if (!short_list)
        measure_products(&live);
    /* The process ends now; nothing is released. */
}
