/* SPDX-License-Identifier: Apache-2.0 */
/* Conversion of any element type to the one of the program. Every value is rounded once:
 * where it passes through f32 on its way to a smaller type, it is first rounded to odd,
 * after which a second rounding gives what one rounding would have given. */

#ifdef YO_FLOAT

YOKE_FUNCTION element yo_from_f32(f32 x)
{
#if YO_ELEMENT == 0
    return (f64)x;
#else
    return YO_STORE(x);
#endif
}

#ifdef YOKE_HAS_F64
YOKE_FUNCTION element yo_from_f64(f64 x)
{
#if YO_ELEMENT <= 1
    return (element)x;
#else
    f32 near = (f32)x;
    u32 bits = YOKE_AS_U32(near);
    if (x != x || (f64)near == x)
        return yo_from_f32(near);
    if (x < (f64)0.0f ? (f64)near < x : (f64)near > x)
        bits -= 1;
    return yo_from_f32(YOKE_AS_F32(bits | 1));
#endif
}
#endif

YOKE_FUNCTION element yo_from_integer(u64 magnitude, u32 negative)
{
#if YO_ELEMENT <= 1
    return negative ? -(element)magnitude : (element)magnitude;
#else
    u32 shift = 0;
    u64 lost = 0;
    while (magnitude >= ((u64)1 << 24)) {
        lost |= magnitude & 1;
        magnitude >>= 1;
        shift++;
    }
    f32 x = (f32)(magnitude | lost) * YOKE_AS_F32((127 + shift) << 23);
    return yo_from_f32(negative ? -x : x);
#endif
}

#else

#if YO_ELEMENT == 6
#define YO_MOST ((u64)127)
#elif YO_ELEMENT == 7
#define YO_MOST ((u64)255)
#elif YO_ELEMENT == 8
#define YO_MOST ((u64)2147483647)
#elif YO_ELEMENT == 9
#define YO_MOST ((u64)4294967295u)
#elif YO_ELEMENT == 10
#define YO_MOST (~(u64)0 >> 1)
#else
#define YO_MOST (~(u64)0)
#endif
#ifdef YO_SIGNED
#define YO_MOST_BELOW (YO_MOST + 1)
#else
#define YO_MOST_BELOW ((u64)0)
#endif

/* Saturates. */
YOKE_FUNCTION element yo_from_integer(u64 magnitude, u32 negative)
{
    if (!negative)
        return (element)(magnitude > YO_MOST ? YO_MOST : magnitude);
    return (element)((u64)0 - (magnitude > YO_MOST_BELOW ? YO_MOST_BELOW : magnitude));
}

#define YO_FROM_REAL                                                                     \
    u32 negative = x < 0;                                                                \
    if (x != x)                                                                          \
        return 0;                                                                        \
    if (negative)                                                                        \
        x = -x;                                                                          \
    if (x >= 18446744073709551616.0f)                                                    \
        return yo_from_integer(~(u64)0, negative);                                       \
    return yo_from_integer((u64)x, negative);

YOKE_FUNCTION element yo_from_f32(f32 x)
{
    YO_FROM_REAL
}

#ifdef YOKE_HAS_F64
YOKE_FUNCTION element yo_from_f64(f64 x)
{
    YO_FROM_REAL
}
#endif

#endif

YOKE_FUNCTION element yo_from_signed(i64 x)
{
    return yo_from_integer(x < 0 ? (u64)0 - (u64)x : (u64)x, x < 0);
}

#define YO_CONVERT(type, function, value)                                                \
    {                                                                                    \
        YOKE_GLOBAL const type *from = (YOKE_GLOBAL const type *)src + src_at;           \
        YO_EACH(i, count)                                                                \
            dst[i] = function(value(from[i]));                                           \
    }
#define YO_UNSIGNED(x) (u64)(x), 0
#define YO_AS_IT_IS(x) (x)

/* kind: yoke_element_t of src; src_at counts such elements. */
YOKE_KERNEL void op_convert(YOKE_GLOBAL element *dst, u64 dst_at,
                            YOKE_GLOBAL const u8 *src, u64 src_at, u64 count, u32 kind)
{
    dst += dst_at;
#ifdef YOKE_HAS_F64
    if (kind == 0)
        YO_CONVERT(f64, yo_from_f64, YO_AS_IT_IS)
#endif
    if (kind == 1)
        YO_CONVERT(f32, yo_from_f32, YO_AS_IT_IS)
    else if (kind == 2)
        YO_CONVERT(u16, yo_from_f32, f16_to_f32)
    else if (kind == 3)
        YO_CONVERT(u16, yo_from_f32, bf16_to_f32)
    else if (kind == 4)
        YO_CONVERT(u8, yo_from_f32, f8e4m3_to_f32)
    else if (kind == 5)
        YO_CONVERT(u8, yo_from_f32, f8e5m2_to_f32)
    else if (kind == 6)
        YO_CONVERT(i8, yo_from_signed, (i64))
    else if (kind == 7)
        YO_CONVERT(u8, yo_from_integer, YO_UNSIGNED)
    else if (kind == 8)
        YO_CONVERT(i32, yo_from_signed, (i64))
    else if (kind == 9)
        YO_CONVERT(u32, yo_from_integer, YO_UNSIGNED)
    else if (kind == 10)
        YO_CONVERT(i64, yo_from_signed, (i64))
    else if (kind == 11)
        YO_CONVERT(u64, yo_from_integer, YO_UNSIGNED)
}
