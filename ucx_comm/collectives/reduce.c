/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reductions of host memory. Several sources go block by block, so that each is read once
 * from memory and what is between stays in the first cache.
 */
#include "ucx_comm/collectives/reduce.h"

#include <stdatomic.h>
#include <string.h>
#ifdef YOKE_REDUCE_HAS_AVX2
#include <cpuid.h>
#endif

#include "ucx_comm/collectives/reduce_loops.h"

#define BLOCK_BYTES 8192u
#define BLOCK_FLOATS (BLOCK_BYTES / sizeof(float))

#ifdef YOKE_REDUCE_HAS_AVX2
/* Some virtual machines hide the one and show the other. */
static const yoke_reduce_loops_t *choose_loops(void)
{
    unsigned a, b, c = 0, d;
    const bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
    return f16c && __builtin_cpu_supports("avx2") ? &yoke_reduce_loops_avx2
                                                  : &yoke_reduce_loops_base;
}
#else
static const yoke_reduce_loops_t *choose_loops(void)
{
    return &yoke_reduce_loops_base;
}
#endif

/* Asked once: the answer leaves a virtual machine, which takes microseconds. */
static const yoke_reduce_loops_t *loops(void)
{
    static const yoke_reduce_loops_t *_Atomic chosen;
    const yoke_reduce_loops_t *l = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (l == NULL) {
        l = choose_loops();
        atomic_store_explicit(&chosen, l, memory_order_relaxed);
    }
    return l;
}

static yoke_reduction_t loop_of(yoke_reduction_t reduction)
{
    return reduction == YOKE_REDUCE_AVG ? YOKE_REDUCE_SUM : reduction;
}

/* f16, bf16 and fp8, where an operation rounds */
static bool through_f32(const yoke_reduce_loops_t *l, yoke_element_t element,
                        yoke_reduction_t loop)
{
    return l->widen[element] != NULL &&
           (loop == YOKE_REDUCE_SUM || loop == YOKE_REDUCE_PROD);
}

void yoke_reduce_pair(void *dst, const void *a, const void *b, uint64_t count,
                      yoke_element_t element, yoke_reduction_t reduction)
{
    loops()->two[element][loop_of(reduction)](dst, a, b, count);
}

static void divide(const yoke_reduce_loops_t *l, void *data, uint64_t count,
                   yoke_element_t element, unsigned ranks)
{
    if (l->divide[element] != NULL) {
        l->divide[element](data, count, ranks);
        return;
    }
    const size_t size = yoke_element_size(element);
    float block[BLOCK_FLOATS];
    for (uint64_t at = 0; at < count; at += BLOCK_FLOATS) {
        const size_t n = count - at < BLOCK_FLOATS ? (size_t)(count - at) : BLOCK_FLOATS;
        char *piece = (char *)data + at * size;
        l->widen[element](block, piece, n);
        l->divide[YOKE_ELEMENT_F32](block, n, ranks);
        l->narrow[element](piece, block, n);
    }
}

void yoke_reduce_scale(void *data, uint64_t count, yoke_element_t element, unsigned ranks)
{
    if (ranks != 0)
        divide(loops(), data, count, element, ranks);
}

/* One call of yoke_reduce_many(). */
typedef struct many {
    const yoke_reduce_loops_t *loops;
    const void *const *sources;
    unsigned n, ranks; /* ranks 0: no division */
    yoke_element_t element;
    yoke_reduction_t loop;
    size_t size; /* of an element */
} many_t;

static const void *source(const many_t *m, unsigned i, uint64_t at)
{
    return (const char *)m->sources[i] + at * m->size;
}

static void many_through_f32(const many_t *m, void *dst, uint64_t at, size_t count)
{
    float block[BLOCK_FLOATS];
    const yoke_reduce_loops_t *l = m->loops;
    l->widen[m->element](block, source(m, 0, at), count);
    for (unsigned i = 1; i < m->n; i++)
        (m->loop == YOKE_REDUCE_SUM ? l->add : l->multiply)[m->element](
            block, source(m, i, at), count);
    if (m->ranks != 0)
        l->divide[YOKE_ELEMENT_F32](block, count, m->ranks);
    l->narrow[m->element](dst, block, count);
}

/* dst is written last, since it may be any of the sources. */
static void many_in_own_type(const many_t *m, void *dst, uint64_t at, size_t count)
{
    _Alignas(64) unsigned char block[BLOCK_BYTES];
    void (*two)(void *, const void *, const void *, size_t) =
        m->loops->two[m->element][m->loop];
    const void *so_far = source(m, 0, at);
    for (unsigned i = 1; i < m->n; i++) {
        void *to = i + 1 < m->n ? (void *)block : dst;
        two(to, so_far, source(m, i, at), count);
        so_far = to;
    }
    if (m->n == 1 && dst != so_far)
        memcpy(dst, so_far, count * m->size);
    if (m->ranks != 0)
        divide(m->loops, dst, count, m->element, m->ranks);
}

void yoke_reduce_many(void *dst, const void *const *sources, unsigned n, uint64_t count,
                      yoke_element_t element, yoke_reduction_t reduction, unsigned ranks)
{
    const many_t m = {loops(),
                      sources,
                      n,
                      reduction == YOKE_REDUCE_AVG ? ranks : 0,
                      element,
                      loop_of(reduction),
                      yoke_element_size(element)};
    const bool wide = through_f32(m.loops, element, m.loop);
    const size_t most = wide ? BLOCK_FLOATS : BLOCK_BYTES / m.size;
    if (n == 0)
        return;
    for (uint64_t at = 0; at < count; at += most) {
        const size_t piece = count - at < most ? (size_t)(count - at) : most;
        void *to = (char *)dst + at * m.size;
        if (wide && (n > 2 || m.ranks != 0))
            many_through_f32(&m, to, at, piece);
        else
            many_in_own_type(&m, to, at, piece);
    }
}
