/* SPDX-License-Identifier: Apache-2.0 */
/* Copies that do not read what they overwrite into the caches. */
#include <string.h>

#include "ucx_comm/collectives/shared/parts.h"

#ifdef __SSE2__
#include <emmintrin.h>

/* `to` is aligned to 16 */
static void copy_lines(unsigned char *to, const unsigned char *from, uint64_t lines)
{
    for (; lines > 0; lines--, to += LINE, from += LINE) {
        const __m128i a = _mm_loadu_si128((const __m128i *)(const void *)from);
        const __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(from + 16));
        const __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(from + 32));
        const __m128i d = _mm_loadu_si128((const __m128i *)(const void *)(from + 48));
        _mm_stream_si128((__m128i *)(void *)to, a);
        _mm_stream_si128((__m128i *)(void *)(to + 16), b);
        _mm_stream_si128((__m128i *)(void *)(to + 32), c);
        _mm_stream_si128((__m128i *)(void *)(to + 48), d);
    }
    _mm_sfence(); /* these stores are not ordered by themselves */
}

static void copy_past(unsigned char *to, const unsigned char *from, uint64_t size)
{
    const uint64_t before = -(uint64_t)(uintptr_t)to & (LINE - 1);
    if (size < before + LINE) {
        memcpy(to, from, size);
        return;
    }
    memcpy(to, from, before);
    const uint64_t lines = (size - before) / LINE;
    copy_lines(to + before, from + before, lines);
    const uint64_t done = before + lines * LINE;
    memcpy(to + done, from + done, size - done);
}
#else
static void copy_past(unsigned char *to, const unsigned char *from, uint64_t size)
{
    memcpy(to, from, size);
}
#endif

void yoke_shared_copy(void *dst, const void *src, uint64_t size, bool past_caches)
{
    if (size == 0 || dst == src)
        return;
    if (past_caches)
        copy_past(dst, src, size);
    else
        memcpy(dst, src, size);
}
