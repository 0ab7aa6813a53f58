/* SPDX-License-Identifier: Apache-2.0 */
#include "ucx_comm/compression/select.h"
#include <math.h>
#include <string.h>

static uint32_t magnitude(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits & 0x7fffffffu;
}

/* The highest bucket whose entries, with all above it, reach k; *left: how many of that
 * bucket are wanted. */
static uint32_t bucket_of(const uint32_t *counts, uint32_t buckets, uint64_t k,
                          uint64_t *left)
{
    uint32_t bucket = buckets - 1;
    while (bucket > 0 && counts[bucket] < k)
        k -= counts[bucket--];
    *left = k;
    return bucket;
}

yoke_threshold_t yoke_select_largest(const float *values, uint64_t n, uint64_t k,
                                     uint32_t scratch[YOKE_SELECT_SCRATCH])
{
    if (k >= n)
        return (yoke_threshold_t){.bits = 0, .ties = n};
    if (k == 0)
        return (yoke_threshold_t){.bits = UINT32_MAX, .ties = 0};
    /* Upper 15 bits first, then the lower 16 of the bucket where the k-th lies. Counters
     * of 32 bits do for vectors below 2^32 entries (yoke_compressor_create()). */
    memset(scratch, 0, 32768 * sizeof *scratch);
    for (uint64_t i = 0; i < n; i++)
        scratch[magnitude(values[i]) >> 16]++;
    uint32_t upper = bucket_of(scratch, 32768, k, &k);
    memset(scratch, 0, 65536 * sizeof *scratch);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t bits = magnitude(values[i]);
        if (bits >> 16 == upper)
            scratch[bits & 0xffffu]++;
    }
    uint32_t lower = bucket_of(scratch, 65536, k, &k);
    return (yoke_threshold_t){.bits = upper << 16 | lower, .ties = k};
}

double yoke_select_scale(const float *values, uint64_t n, double k)
{
    if (k >= (double)n)
        return INFINITY;
    double scale = 0;
    double certain = 0; /* entries whose probability has reached 1 */
    /* Each round takes out the entries that the scale of the last one makes certain; the
     * scale only grows, and a few rounds come close (the greedy form of the paper). */
    for (int round = 0; round < 6; round++) {
        double sum = 0;
        double now = 0;
        for (uint64_t i = 0; i < n; i++) {
            double value = fabs((double)values[i]);
            if (!isfinite(value) || (round > 0 && value * scale >= 1))
                now++;
            else
                sum += value;
        }
        if (sum <= 0 || now >= k)
            break;
        if (round > 0 && now <= certain)
            break;
        certain = now;
        scale = (k - now) / sum;
    }
    return scale;
}

double yoke_select_draw(uint64_t seed, uint64_t call, uint64_t index)
{
    /* the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) over a Weyl sequence
     */
    uint64_t z =
        seed + call * 0xd1342543de82ef95ull + (index + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}
