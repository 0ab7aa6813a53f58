/* SPDX-License-Identifier: Apache-2.0 */
/* Every word of the dialect at least once; compilers.py gives it to all compilers. */
YOKE_CONSTANT f32 table[4] = {1.0f, 2.0f, 4.0f, 8.0f};

YOKE_FUNCTION f32 first(YOKE_LOCAL const f32 *values, YOKE_GLOBAL const f32 *others)
{
    return values[0] + others[0] + table[1];
}

YOKE_KERNEL void words(YOKE_GLOBAL f32 *x, YOKE_GLOBAL const f32 *y,
                       YOKE_GLOBAL u32 *count, u64 n, f32 alpha, i32 shift)
{
    YOKE_LOCAL_ARRAY(f32, part, 64);
    u64 i = YOKE_GLOBAL_ID(0) + YOKE_GLOBAL_ID(1) + YOKE_GLOBAL_ID(2);
    u32 item = YOKE_ITEM(0);
    i64 wide = (i64)shift * 2;
    i16 small = (i16)wide;
    i8 tiny = (i8)small;
    f32 a = i < n ? x[i] : 0.0f;
    part[item % 64u] = a;
    YOKE_BARRIER();
    a = YOKE_EXP(a) + YOKE_LOG(a) + YOKE_SQRT(a) + YOKE_RSQRT(a) + YOKE_TANH(a) +
        YOKE_ERF(a);
    a += YOKE_FABS(a) + YOKE_FLOOR(a) + YOKE_SIN(a) + YOKE_COS(a) + YOKE_POW(a, alpha);
    a = YOKE_FMA(a, alpha, 1.0f) + YOKE_FMAX(a, alpha) + YOKE_FMIN(a, alpha) + (f32)tiny;
    u32 half = 1u, kernel = 2u, global = 3u, local = 4u, constant = 5u;
    a += (f32)(half + kernel + global + local + constant);
    a += YOKE_AS_F32(YOKE_AS_U32(a) ^ 1u) + first(part, y) + table[item & 3u];
    a += f16_to_f32(f32_to_f16(a)) + bf16_to_f32(f32_to_bf16(a));
    a += f8e4m3_to_f32(f32_to_f8e4m3(a)) + f8e5m2_to_f32(f32_to_f8e5m2(a));
    if (i < n)
        x[i] = a;
    YOKE_ATOMIC_ADD_U32(&count[0], 1u);
    YOKE_ATOMIC_MAX_U32(&count[1], YOKE_GROUP(0));
    YOKE_ATOMIC_MIN_U32(&count[2], YOKE_GROUPS(1));
    YOKE_ATOMIC_CAS_U32(&count[3], 0u, YOKE_ITEMS(2));
#ifdef YOKE_HAS_F64
    count[4] = (u32)((f64)a * 2.0);
#endif
}

/* A compiler that contracts a * b + c makes one fused instruction of this. */
YOKE_KERNEL void uncontracted(YOKE_GLOBAL f32 *x, f32 a)
{
    x[YOKE_ITEM(0)] = x[YOKE_ITEM(0)] * a + 1.0f;
}
