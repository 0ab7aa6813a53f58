/* SPDX-License-Identifier: Apache-2.0 */
/* All conversions of the dialect at once; `what` chooses. Compared with a reference by
 * test_conversions.c and compilers.py. */
YOKE_KERNEL void widen(YOKE_GLOBAL u32 *out, YOKE_GLOBAL const u32 *in, u32 what, u32 n)
{
    u64 i = YOKE_GLOBAL_ID(0);
    if (i >= n)
        return;
    u32 x = in[i];
    f32 y = 0.0f;
    if (what == 0u)
        y = f16_to_f32((u16)x);
    if (what == 1u)
        y = bf16_to_f32((u16)x);
    if (what == 2u)
        y = f8e4m3_to_f32((u8)x);
    if (what == 3u)
        y = f8e5m2_to_f32((u8)x);
    out[i] = YOKE_AS_U32(y);
}

YOKE_KERNEL void narrow(YOKE_GLOBAL u32 *out, YOKE_GLOBAL const u32 *in, u32 what, u32 n)
{
    u64 i = YOKE_GLOBAL_ID(0);
    if (i >= n)
        return;
    f32 x = YOKE_AS_F32(in[i]);
    if (what == 0u)
        out[i] = f32_to_f16(x);
    if (what == 1u)
        out[i] = f32_to_bf16(x);
    if (what == 2u)
        out[i] = f32_to_f8e4m3(x);
    if (what == 3u)
        out[i] = f32_to_f8e5m2(x);
}
