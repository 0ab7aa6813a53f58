/* SPDX-License-Identifier: Apache-2.0 */
/* The beginning of every operator's program: the element type that -DYO_ELEMENT=<value of
 * yoke_element_t> chooses, and how work is shared out.
 *
 *   element  as stored          number  what single operations are made in
 *   wide     what long integer sums are made in; of floating point it is `number`
 *   wrap     unsigned namesake of `number`, so that integers wrap and nothing overflows
 *
 * With -DYO_GROUP=<items> a group of that many items shares a row, and trees in local
 * memory join their parts. Without it (CPUs) an item takes a run of rows or elements, and
 * nothing waits for anything. */

#if YO_ELEMENT == 0
typedef f64 element;
typedef f64 number;
typedef f64 wide;
typedef f64 wrap;
typedef f64 wide_wrap;
#define YO_FLOAT
#define YO_LOAD(x) (x)
#define YO_STORE(x) (x)
#elif YO_ELEMENT >= 1 && YO_ELEMENT <= 5
#define YO_FLOAT
typedef f32 number;
typedef f32 wide;
typedef f32 wrap;
typedef f32 wide_wrap;
#if YO_ELEMENT == 1
typedef f32 element;
#define YO_LOAD(x) (x)
#define YO_STORE(x) (x)
#elif YO_ELEMENT == 2
typedef u16 element;
#define YO_LOAD(x) f16_to_f32(x)
#define YO_STORE(x) f32_to_f16(x)
#elif YO_ELEMENT == 3
typedef u16 element;
#define YO_LOAD(x) bf16_to_f32(x)
#define YO_STORE(x) f32_to_bf16(x)
#elif YO_ELEMENT == 4
typedef u8 element;
#define YO_LOAD(x) f8e4m3_to_f32(x)
#define YO_STORE(x) f32_to_f8e4m3(x)
#else
typedef u8 element;
#define YO_LOAD(x) f8e5m2_to_f32(x)
#define YO_STORE(x) f32_to_f8e5m2(x)
#endif
#else
#define YO_LOAD(x) ((number)(x))
#define YO_STORE(x) ((element)(x))
#if YO_ELEMENT == 6
typedef i8 element;
typedef i32 number;
typedef u32 wrap;
#elif YO_ELEMENT == 7
typedef u8 element;
typedef u32 number;
typedef u32 wrap;
#elif YO_ELEMENT == 8
typedef i32 element;
typedef i32 number;
typedef u32 wrap;
#elif YO_ELEMENT == 9
typedef u32 element;
typedef u32 number;
typedef u32 wrap;
#elif YO_ELEMENT == 10
typedef i64 element;
typedef i64 number;
typedef u64 wrap;
#else
typedef u64 element;
typedef u64 number;
typedef u64 wrap;
#endif
#if YO_ELEMENT % 2 == 0
#define YO_SIGNED
typedef i64 wide;
#else
typedef u64 wide;
#endif
typedef u64 wide_wrap;
#endif

#define YO_ADD(a, b) ((number)((wrap)(a) + (wrap)(b)))
#define YO_MULTIPLY(a, b) ((number)((wrap)(a) * (wrap)(b)))
#define YO_WIDE_ADD(a, b) ((wide)((wide_wrap)(a) + (wide_wrap)(b)))
#define YO_LEAST(a, b) ((a) < (b) ? (a) : (b))

/* Of two values the larger and the smaller; NaN when either is NaN. */
#ifdef YO_FLOAT
#define YO_LARGER(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define YO_SMALLER(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#else
#define YO_LARGER(a, b) ((a) > (b) ? (a) : (b))
#define YO_SMALLER(a, b) ((a) < (b) ? (a) : (b))
#endif

#ifdef YO_GROUP

#define YO_EACH(i, n)                                                                    \
    for (u64 i = (u64)YOKE_GROUP(0) * YO_GROUP + YOKE_ITEM(0); i < (n);                  \
         i += (u64)YOKE_GROUPS(0) * YO_GROUP)
#define YO_ROWS(r, n) for (u64 r = YOKE_GROUP(0); r < (n); r += YOKE_GROUPS(0))
#define YO_COLUMNS(c, n) for (u64 c = YOKE_ITEM(0); c < (n); c += YO_GROUP)
#define YO_FIRST (YOKE_ITEM(0) == 0)
#define YO_TREE(type) YOKE_LOCAL_ARRAY(type, tree, YO_GROUP)

/* The sum over the group's items; every item gets it. */
YOKE_FUNCTION f32 yo_group_sum(YOKE_LOCAL f32 *tree, u32 item, f32 x)
{
    YOKE_BARRIER();
    tree[item] = x;
    YOKE_BARRIER();
    for (u32 width = YO_GROUP / 2; width > 0; width /= 2) {
        if (item < width)
            tree[item] = tree[item] + tree[item + width];
        YOKE_BARRIER();
    }
    return tree[0];
}

YOKE_FUNCTION f32 yo_group_largest(YOKE_LOCAL f32 *tree, u32 item, f32 x)
{
    YOKE_BARRIER();
    tree[item] = x;
    YOKE_BARRIER();
    for (u32 width = YO_GROUP / 2; width > 0; width /= 2) {
        if (item < width && tree[item + width] > tree[item])
            tree[item] = tree[item + width];
        YOKE_BARRIER();
    }
    return tree[0];
}

#define YO_COLUMN_SUM(total, c, n, expression)                                           \
    total = 0.0f;                                                                        \
    YO_COLUMNS(c, n) total += (expression);                                              \
    total = yo_group_sum(tree, YOKE_ITEM(0), total);
#define YO_LARGEST(x) yo_group_largest(tree, YOKE_ITEM(0), x)

#else

#define YO_CHUNK(n) (((n) + YOKE_GROUPS(0) - 1) / YOKE_GROUPS(0))
#define YO_EACH(i, n)                                                                    \
    for (u64 i = YO_CHUNK(n) * YOKE_GROUP(0),                                            \
             i##_end = YO_LEAST(YO_CHUNK(n) * YOKE_GROUP(0) + YO_CHUNK(n), (n));         \
         i < i##_end; i++)
#define YO_ROWS(r, n) YO_EACH(r, n)
#define YO_COLUMNS(c, n) for (u64 c = 0; c < (n); c++)
#define YO_FIRST 1
#define YO_TREE(type)

/* Eight lanes, which vectorize, over blocks of 1024, which keeps the error of long rows
 * small: always the same order. */
#define YO_COLUMN_SUM(total, c, n, expression)                                           \
    total = 0.0f;                                                                        \
    for (u64 c##_block = 0; c##_block < (n); c##_block += 1024) {                        \
        f32 lane[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};                  \
        u64 c##_stop = YO_LEAST(c##_block + 1024, (n));                                  \
        u64 c##_at = c##_block;                                                          \
        for (; c##_at + 8 <= c##_stop; c##_at += 8)                                      \
            for (u32 j = 0; j < 8; j++) {                                                \
                u64 c = c##_at + j;                                                      \
                lane[j] += (expression);                                                 \
            }                                                                            \
        for (; c##_at < c##_stop; c##_at++) {                                            \
            u64 c = c##_at;                                                              \
            lane[0] += (expression);                                                     \
        }                                                                                \
        total += ((lane[0] + lane[4]) + (lane[1] + lane[5])) +                           \
                 ((lane[2] + lane[6]) + (lane[3] + lane[7]));                            \
    }
#define YO_LARGEST(x) (x)

#endif
