/* SPDX-License-Identifier: Apache-2.0 */
#include "gemm.h"
#include "config.h"
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

const fake_service_t *fake_service_find(const char *file)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", fake_library_folder(), file);
    void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    if (library == NULL)
        return NULL;
    fake_service_entry_t entry;
    *(void **)(void *)&entry = dlsym(library, "yoke_fake_service");
    return entry != NULL ? entry() : NULL;
}

/* ---- numbers ----------------------------------------------------------------------- */

static const size_t sizes[] = {4, 8, 2, 2, 1, 1, 4, 1, 1};

/* Floats of few bits: sign, exponent, mantissa; IEEE but for e4m3, which has no infinity.
 */
static double small_float(unsigned bits, int exponent_bits, int mantissa_bits,
                          bool finite)
{
    int bias = (1 << (exponent_bits - 1)) - 1;
    unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
    int exponent = (int)(bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
    double sign = (bits >> (exponent_bits + mantissa_bits)) != 0 ? -1.0 : 1.0;
    int top = (1 << exponent_bits) - 1;
    if (exponent == top && finite && mantissa == (1u << mantissa_bits) - 1)
        return NAN;
    if (exponent == top && !finite)
        return mantissa != 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * ldexp((double)mantissa + (double)(1u << mantissa_bits),
                        exponent - bias - mantissa_bits);
}

double fake_element_read(const void *at, fake_element_t element)
{
    union {
        float f32;
        double f64;
        uint16_t u16;
        int8_t i8;
        uint8_t u8;
        int32_t i32;
    } value;
    memset(&value, 0, sizeof value);
    memcpy(&value, at, sizes[element]);
    switch (element) {
    case FAKE_F32:
        return (double)value.f32;
    case FAKE_F64:
        return value.f64;
    case FAKE_F16:
        return small_float(value.u16, 5, 10, false);
    case FAKE_BF16:
        return small_float(value.u16, 8, 7, false);
    case FAKE_I8:
        return value.i8;
    case FAKE_U8:
        return value.u8;
    case FAKE_I32:
        return value.i32;
    case FAKE_E4M3:
        return small_float(value.u8, 4, 3, true);
    case FAKE_E5M2:
        return small_float(value.u8, 5, 2, false);
    default:
        return 0;
    }
}

/* The nearest, ties to even, by halving the interval of the codes: they are in order. */
static unsigned to_small_float(double x, int exponent_bits, int mantissa_bits,
                               bool finite)
{
    unsigned sign = signbit(x) ? 1u << (exponent_bits + mantissa_bits) : 0;
    unsigned top = (1u << (exponent_bits + mantissa_bits)) - 1;
    unsigned infinity = ((1u << exponent_bits) - 1) << mantissa_bits;
    unsigned highest = finite ? top - 1 : infinity - 1;
    double want = fabs(x);
    if (isnan(x))
        return sign | top;
    if (want >= small_float(highest, exponent_bits, mantissa_bits, finite)) {
        double last = small_float(highest, exponent_bits, mantissa_bits, finite);
        double step =
            last - small_float(highest - 1, exponent_bits, mantissa_bits, finite);
        bool inside = want < last + step / 2;
        return sign | (inside || finite ? highest : infinity);
    }
    unsigned low = 0, high = highest;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (small_float(middle, exponent_bits, mantissa_bits, finite) <= want)
            low = middle;
        else
            high = middle;
    }
    double below = want - small_float(low, exponent_bits, mantissa_bits, finite);
    double above = small_float(high, exponent_bits, mantissa_bits, finite) - want;
    return sign | (below < above || (below == above && (low & 1u) == 0) ? low : high);
}

static void write_element(void *at, fake_element_t element, double value)
{
    float f32 = (float)value;
    uint16_t u16 = 0;
    int8_t i8 = 0;
    uint8_t u8 = 0;
    int32_t i32 = 0;
    const void *from = &f32;
    switch (element) {
    case FAKE_F64:
        from = &value;
        break;
    case FAKE_F16:
        u16 = (uint16_t)to_small_float(value, 5, 10, false);
        from = &u16;
        break;
    case FAKE_BF16:
        u16 = (uint16_t)to_small_float(value, 8, 7, false);
        from = &u16;
        break;
    case FAKE_E4M3:
        u8 = (uint8_t)to_small_float(value, 4, 3, true);
        from = &u8;
        break;
    case FAKE_E5M2:
        u8 = (uint8_t)to_small_float(value, 5, 2, false);
        from = &u8;
        break;
    case FAKE_I8:
        i8 = (int8_t)(value < -128 ? -128 : value > 127 ? 127 : value);
        from = &i8;
        break;
    case FAKE_U8:
        u8 = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
        from = &u8;
        break;
    case FAKE_I32:
        i32 = (int32_t)value;
        from = &i32;
        break;
    default:
        break;
    }
    memcpy(at, from, sizes[element]);
}

/* ---- products ---------------------------------------------------------------------- */

static char *place(const fake_matrix_t *matrix, const char *base, int64_t batch,
                   int64_t row, int64_t column)
{
    int64_t index = batch * matrix->stride + column * matrix->ld + row;
    return (char *)(uintptr_t)base + index * (int64_t)sizes[matrix->element];
}

static void run_gemm(void *data)
{
    const fake_gemm_t *g = data;
    const char *a = g->service->shadow(g->a.address),
               *b = g->service->shadow(g->b.address);
    const char *c = g->beta != 0 ? g->service->shadow(g->c.address) : NULL;
    const char *d = g->service->shadow(g->d.address);
    for (int64_t batch = 0; batch < g->batch; batch++)
        for (int64_t j = 0; j < g->n; j++)
            for (int64_t i = 0; i < g->m; i++) {
                double sum = 0;
                for (int64_t l = 0; l < g->k; l++)
                    sum +=
                        fake_element_read(g->transpose_a ? place(&g->a, a, batch, l, i)
                                                         : place(&g->a, a, batch, i, l),
                                          g->a.element) *
                        fake_element_read(g->transpose_b ? place(&g->b, b, batch, j, l)
                                                         : place(&g->b, b, batch, l, j),
                                          g->b.element);
                sum *= g->alpha;
                if (c != NULL)
                    sum += g->beta *
                           fake_element_read(place(&g->c, c, batch, i, j), g->c.element);
                write_element(place(&g->d, d, batch, i, j), g->d.element, sum);
            }
}

static bool usable(const fake_gemm_t *g, const fake_matrix_t *matrix, int64_t rows,
                   int64_t columns)
{
    int64_t last = (g->batch - 1) * matrix->stride + (columns - 1) * matrix->ld + rows;
    return g->service->usable(matrix->address, (size_t)last * sizes[matrix->element]);
}

fake_gemm_result_t fake_gemm_enqueue(const fake_gemm_t *g, void *stream)
{
    int64_t a_rows = g->transpose_a ? g->k : g->m, b_rows = g->transpose_b ? g->n : g->k;
    if (g->m < 0 || g->n < 0 || g->k < 0 || g->batch < 0 || g->a.ld < a_rows ||
        g->b.ld < b_rows || g->d.ld < g->m)
        return FAKE_GEMM_SHAPE;
    if (g->m == 0 || g->n == 0 || g->batch == 0)
        return FAKE_GEMM_OK;
    if ((g->k > 0 && (!usable(g, &g->a, a_rows, g->transpose_a ? g->m : g->k) ||
                      !usable(g, &g->b, b_rows, g->transpose_b ? g->k : g->n))) ||
        !usable(g, &g->d, g->m, g->n) || (g->beta != 0 && !usable(g, &g->c, g->m, g->n)))
        return FAKE_GEMM_ADDRESS;
    return g->service->push(stream, run_gemm, g, sizeof *g) == 0 ? FAKE_GEMM_OK
                                                                 : FAKE_GEMM_STREAM;
}
