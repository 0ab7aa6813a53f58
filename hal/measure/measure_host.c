/* SPDX-License-Identifier: Apache-2.0 */
/* The host: triad and copy over memory with all allowed cores, matrix products by
 * OpenBLAS. */
#include "hal/measure/measure.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "hal/loader.h"
#include "hal/measure/matrix.h"

#define MAX_THREADS 256
#define BUDGET 0.8 /* seconds a figure */

typedef double vector_t __attribute__((vector_size(32)));

/* --- memory ------------------------------------------------------------------------- */

typedef struct streams {
    vector_t *a, *b, *c;
    size_t count; /* vectors of four */
    unsigned threads;
    unsigned passes;
    bool copy; /* a = b instead of a = b + 3 c */
    pthread_barrier_t barrier;
} streams_t;

typedef struct part {
    streams_t *streams;
    unsigned index;
    double begin[YOKE_MEASURE_RUNS + 1], end[YOKE_MEASURE_RUNS + 1];
} part_t;

static void *stream_part(void *argument)
{
    part_t *part = argument;
    streams_t *s = part->streams;
    size_t begin = s->count * part->index / s->threads;
    size_t end = s->count * (part->index + 1) / s->threads;
    const vector_t three = {3, 3, 3, 3};
    for (size_t i = begin; i < end; i++) { /* first touch: pages near their thread */
        double x = (double)(i % 1000);
        s->a[i] = (vector_t){0, 0, 0, 0};
        s->b[i] = (vector_t){x, x + 1, x + 2, x + 3};
        s->c[i] = (vector_t){1, 2, 3, x};
    }
    for (unsigned pass = 0; pass < s->passes; pass++) {
        pthread_barrier_wait(&s->barrier);
        part->begin[pass] = yoke_measure_now();
        if (s->copy)
            memcpy(s->a + begin, s->b + begin, (end - begin) * sizeof *s->a);
        else
            for (size_t i = begin; i < end; i++)
                s->a[i] = s->b[i] + three * s->c[i];
        part->end[pass] = yoke_measure_now();
    }
    return NULL;
}

static bool stream_right(const streams_t *s)
{
    for (size_t i = 0; i < s->count; i++) {
        double x = (double)(i % 1000);
        double want[4] = {x + 3, x + 7, x + 11, x + 3 + 3 * x};
        for (int k = 0; k < 4; k++)
            if (s->a[i][k] != (s->copy ? x + k : want[k]))
                return false;
    }
    return true;
}

/* From the first thread's begin to the last one's end. */
static double pass_seconds(const part_t *parts, unsigned count, unsigned pass)
{
    double begin = parts[0].begin[pass], end = parts[0].end[pass];
    for (unsigned i = 1; i < count; i++) {
        begin = parts[i].begin[pass] < begin ? parts[i].begin[pass] : begin;
        end = parts[i].end[pass] > end ? parts[i].end[pass] : end;
    }
    return end - begin;
}

/* One warming pass, then timed ones. */
static void time_passes(streams_t *s, yoke_timing_t *timing)
{
    static part_t parts[MAX_THREADS];
    pthread_t threads[MAX_THREADS];
    s->passes = YOKE_MEASURE_RUNS + 1;
    if (pthread_barrier_init(&s->barrier, NULL, s->threads) != 0)
        return;
    for (unsigned i = 0; i < s->threads; i++) {
        parts[i].streams = s;
        parts[i].index = i;
        if (pthread_create(&threads[i], NULL, stream_part, &parts[i]) != 0)
            _exit(3); /* the others wait at the barrier for ever; the helper ends here */
    }
    for (unsigned i = 0; i < s->threads; i++)
        pthread_join(threads[i], NULL);
    for (unsigned pass = 1; pass < s->passes; pass++)
        yoke_timing_add(timing, pass_seconds(parts, s->threads, pass));
    pthread_barrier_destroy(&s->barrier);
}

static unsigned allowed_cpus(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (unsigned)count;
}

static void measure_memory(int fd, bool copy, const char *what)
{
    /* Each array well above the caches of today's processors. */
    const size_t bytes = (size_t)192 << 20;
    streams_t s = {
        .count = bytes / sizeof(vector_t), .threads = allowed_cpus(), .copy = copy};
    yoke_timing_t timing = {0};
    char with[64];
    s.a = aligned_alloc(64, bytes);
    s.b = aligned_alloc(64, bytes);
    s.c = aligned_alloc(64, bytes);
    snprintf(with, sizeof with, "%u thread%s", s.threads, s.threads == 1 ? "" : "s");
    if (s.a == NULL || s.b == NULL || s.c == NULL) {
        yoke_measure_problem(fd, what, with, "no memory for three arrays of 192 MiB");
    } else {
        time_passes(&s, &timing);
        double moved = (double)bytes * (copy ? 2 : 3);
        if (!stream_right(&s))
            yoke_measure_problem(fd, what, with, "the result is wrong");
        else
            yoke_measure_put(fd, what, with, NULL, moved, &timing, false);
    }
    free(s.a);
    free(s.b);
    free(s.c);
}

/* --- matrix products ---------------------------------------------------------------- */

/* Order, transposition of the CBLAS interface: row-major 101, no transposition 111. */
typedef struct blas {
    void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *,
                  int, float, float *, int);
    void (*dgemm)(int, int, int, int, int, int, double, const double *, int,
                  const double *, int, double, double *, int);
    const char *(*config)(void);
    char name[96];
} blas_t;

/* The kernel for machines without a BLAS: row times row, the compiler's vectors. */
static void plain_single(const float *a, const float *b, float *c, size_t n)
{
    memset(c, 0, n * n * sizeof *c);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void plain_double(const double *a, const double *b, double *c, size_t n)
{
    memset(c, 0, n * n * sizeof *c);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
}

static void multiply(const blas_t *blas, bool single, const void *a, const void *b,
                     void *c, size_t n)
{
    int m = (int)n;
    if (single && blas->sgemm != NULL)
        blas->sgemm(101, 111, 111, m, m, m, 1, a, m, b, m, 0, c, m);
    else if (!single && blas->dgemm != NULL)
        blas->dgemm(101, 111, 111, m, m, m, 1, a, m, b, m, 0, c, m);
    else if (single)
        plain_single(a, b, c, n);
    else
        plain_double(a, b, c, n);
}

/* Large enough to be fast, small enough for five runs in the budget. */
static size_t choose_size(const blas_t *blas, bool single, const void *a, const void *b,
                          void *c)
{
    size_t n = 256;
    for (;;) {
        multiply(blas, single, a, b, c, n); /* warms threads and caches */
        double begin = yoke_measure_now();
        multiply(blas, single, a, b, c, n);
        double seconds = yoke_measure_now() - begin;
        if (n >= 2048 || seconds * 8 * 6 > BUDGET)
            return n;
        n *= 2;
    }
}

static void measure_matrix(int fd, const blas_t *blas, bool single)
{
    const char *dtype = single ? "fp32" : "fp64";
    const char *what = single ? "fp32 matrix product" : "fp64 matrix product";
    const size_t largest = 2048, element = single ? sizeof(float) : sizeof(double);
    void *a = calloc(largest * largest, element), *b = calloc(largest * largest, element);
    void *c = calloc(largest * largest, element);
    yoke_timing_t timing = {0};
    bool right = false;
    if (a == NULL || b == NULL || c == NULL) {
        yoke_measure_problem(fd, what, blas->name, "no memory for the matrices");
        goto out;
    }
    size_t n = choose_size(blas, single, a, b, c);
    if (single) {
        yoke_matrix_fill_single(a, n, 1);
        yoke_matrix_fill_single(b, n, 2);
    } else {
        yoke_matrix_fill_double(a, n, 1);
        yoke_matrix_fill_double(b, n, 2);
    }
    while (yoke_timing_more(&timing, BUDGET)) {
        double begin = yoke_measure_now();
        multiply(blas, single, a, b, c, n);
        yoke_timing_add(&timing, yoke_measure_now() - begin);
    }
    right = single ? yoke_matrix_check_single(a, b, c, n)
                   : yoke_matrix_check_double(a, b, c, n);
    if (right)
        yoke_measure_put(fd, what, blas->name, dtype, 2.0 * (double)(n * n * n), &timing,
                         blas->sgemm == NULL);
    else
        yoke_measure_problem(fd, what, blas->name, "the result is wrong");
out:
    free(a);
    free(b);
    free(c);
}

static void open_blas(blas_t *blas)
{
    static const char *const names[] = {"libopenblas.so.0", NULL};
    yoke_library_t library;
    char *problem = NULL;
    bool found;
    memset(blas, 0, sizeof *blas);
    snprintf(blas->name, sizeof blas->name, "portable kernel, one thread (no OpenBLAS)");
    const yoke_symbol_t symbols[] = {
        {"cblas_sgemm", NULL, &blas->sgemm, false},
        {"cblas_dgemm", NULL, &blas->dgemm, false},
        {"openblas_get_config", NULL, &blas->config, true},
    };
    if (!yoke_library_open("OPENBLAS", names, &library, &problem, &found)) {
        free(problem);
        return;
    }
    if (yoke_library_resolve(&library, symbols, 3) != NULL) {
        memset(blas, 0, sizeof *blas);
        return;
    }
    char version[32] = "OpenBLAS";
    if (blas->config != NULL) /* "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." */
        sscanf(blas->config(), "%*s %31s", version);
    snprintf(blas->name, sizeof blas->name, "OpenBLAS %s", version);
}

void yoke_measure_host(int fd)
{
    blas_t blas;
    measure_memory(fd, false, "memory triad");
    measure_memory(fd, true, "memory copy");
    open_blas(&blas);
    measure_matrix(fd, &blas, true);
    measure_matrix(fd, &blas, false);
}
