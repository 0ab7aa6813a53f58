/* SPDX-License-Identifier: Apache-2.0 */
/* Elementwise operators, folds of a whole vector, and gather and scatter by index, of one
 * element type. */

YOKE_KERNEL void op_axpy(YOKE_GLOBAL const element *x, u64 x_at, YOKE_GLOBAL element *y,
                         u64 y_at, u64 count, number alpha)
{
    x += x_at;
    y += y_at;
    YO_EACH(i, count)
        y[i] = YO_STORE(YO_ADD(YO_LOAD(y[i]), YO_MULTIPLY(alpha, YO_LOAD(x[i]))));
}

#ifndef YO_FLOAT
/* Toward zero; a divisor may be above the largest of the type. */
YOKE_FUNCTION element yo_divide(element x, u64 divisor)
{
#ifdef YO_SIGNED
    u64 magnitude = x < 0 ? (u64)0 - (u64)(i64)x : (u64)x;
    u64 quotient = magnitude / divisor;
    return (element)(i64)(x < 0 ? (u64)0 - quotient : quotient);
#else
    return (element)((u64)x / divisor);
#endif
}
#endif

YOKE_KERNEL void op_scale(YOKE_GLOBAL element *x, u64 x_at, u64 count, number alpha,
                          u64 divisor)
{
    x += x_at;
#ifndef YO_FLOAT
    if (divisor != 0) {
        YO_EACH(i, count)
            x[i] = yo_divide(x[i], divisor);
        return;
    }
#endif
    YO_EACH(i, count)
        x[i] = YO_STORE(YO_MULTIPLY(YO_LOAD(x[i]), alpha));
}

/* op: yoke_reduction_t */
YOKE_KERNEL void op_reduce(YOKE_GLOBAL element *dst, u64 dst_at,
                           YOKE_GLOBAL const element *a, u64 a_at,
                           YOKE_GLOBAL const element *b, u64 b_at, u64 count, u32 op)
{
    dst += dst_at;
    a += a_at;
    b += b_at;
    if (op == 1) {
        YO_EACH(i, count)
            dst[i] = YO_STORE(YO_MULTIPLY(YO_LOAD(a[i]), YO_LOAD(b[i])));
    } else if (op == 2) {
        YO_EACH(i, count)
        {
            number x = YO_LOAD(a[i]);
            number y = YO_LOAD(b[i]);
            dst[i] = YO_STORE(YO_LARGER(x, y));
        }
    } else if (op == 3) {
        YO_EACH(i, count)
        {
            number x = YO_LOAD(a[i]);
            number y = YO_LOAD(b[i]);
            dst[i] = YO_STORE(YO_SMALLER(x, y));
        }
    } else {
        YO_EACH(i, count)
            dst[i] = YO_STORE(YO_ADD(YO_LOAD(a[i]), YO_LOAD(b[i])));
    }
}

/* An index at or past `limit`, where the buffer ends, reads 0 and writes nothing. */
YOKE_KERNEL void op_pack(YOKE_GLOBAL element *dst, u64 dst_at,
                         YOKE_GLOBAL const element *src, u64 src_at,
                         YOKE_GLOBAL const u32 *indices, u64 indices_at, u64 count,
                         u64 limit)
{
    dst += dst_at;
    src += src_at;
    indices += indices_at;
    YO_EACH(i, count)
        dst[i] = indices[i] < limit ? src[indices[i]] : (element)0;
}

YOKE_KERNEL void op_unpack(YOKE_GLOBAL element *dst, u64 dst_at,
                           YOKE_GLOBAL const element *src, u64 src_at,
                           YOKE_GLOBAL const u32 *indices, u64 indices_at, u64 count,
                           u64 limit, u32 add)
{
    dst += dst_at;
    src += src_at;
    indices += indices_at;
    YO_EACH(i, count)
    {
        u64 at = indices[i];
        if (at < limit)
            dst[at] = add != 0 ? YO_STORE(YO_ADD(YO_LOAD(dst[at]), YO_LOAD(src[i])))
                               : src[i];
    }
}

/* --- folds: part p is src[p * chunk .. (p + 1) * chunk); then the parts ------------- */

YOKE_FUNCTION wide yo_join(wide a, wide b, u32 op)
{
    if (op == 2)
        return YO_LARGER(a, b);
    if (op == 3)
        return YO_SMALLER(a, b);
    return YO_WIDE_ADD(a, b);
}

/* op 5: a sum of squares */
#ifdef YO_FLOAT
#define YO_TERM(x, op) ((op) == 5 ? (x) * (x) : (x))
#else
#define YO_TERM(x, op) (x)
#endif

#ifdef YO_GROUP

YOKE_FUNCTION wide yo_group_join(YOKE_LOCAL wide *tree, u32 item, wide x, u32 op)
{
    YOKE_BARRIER();
    tree[item] = x;
    YOKE_BARRIER();
    for (u32 width = YO_GROUP / 2; width > 0; width /= 2) {
        if (item < width)
            tree[item] = yo_join(tree[item], tree[item + width], op);
        YOKE_BARRIER();
    }
    return tree[0];
}

YOKE_KERNEL void op_fold_part(YOKE_GLOBAL const element *src, u64 src_at,
                              YOKE_GLOBAL wide *part, u64 part_at, u64 count, u64 chunk,
                              u32 op)
{
    YOKE_LOCAL_ARRAY(wide, tree, YO_GROUP);
    src += src_at;
    part += part_at;
    u64 parts = (count + chunk - 1) / chunk;
    YO_ROWS(p, parts)
    {
        u64 stop = YO_LEAST((p + 1) * chunk, count);
        wide sum = op == 2 || op == 3 ? (wide)YO_LOAD(src[p * chunk]) : (wide)0;
        for (u64 i = p * chunk + YOKE_ITEM(0); i < stop; i += YO_GROUP) {
            wide x = (wide)YO_LOAD(src[i]);
            sum = yo_join(sum, YO_TERM(x, op), op);
        }
        sum = yo_group_join(tree, YOKE_ITEM(0), sum, op);
        if (YO_FIRST)
            part[p] = sum;
    }
}

#else

/* Sixteen lanes over blocks of 4096; see YO_COLUMN_SUM. */
YOKE_FUNCTION wide yo_sum_run(YOKE_GLOBAL const element *src, u64 from, u64 stop, u32 op)
{
    wide total = 0;
    for (u64 block = from; block < stop; block += 4096) {
        wide lane[16];
        u64 end = YO_LEAST(block + 4096, stop);
        u64 i = block;
        for (u32 j = 0; j < 16; j++)
            lane[j] = 0;
        for (; i + 16 <= end; i += 16)
            for (u32 j = 0; j < 16; j++) {
                wide x = (wide)YO_LOAD(src[i + j]);
                lane[j] = YO_WIDE_ADD(lane[j], YO_TERM(x, op));
            }
        for (; i < end; i++) {
            wide x = (wide)YO_LOAD(src[i]);
            lane[0] = YO_WIDE_ADD(lane[0], YO_TERM(x, op));
        }
        for (u32 width = 8; width > 0; width /= 2)
            for (u32 j = 0; j < width; j++)
                lane[j] = YO_WIDE_ADD(lane[j], lane[j + width]);
        total = YO_WIDE_ADD(total, lane[0]);
    }
    return total;
}

YOKE_KERNEL void op_fold_part(YOKE_GLOBAL const element *src, u64 src_at,
                              YOKE_GLOBAL wide *part, u64 part_at, u64 count, u64 chunk,
                              u32 op)
{
    src += src_at;
    part += part_at;
    u64 parts = (count + chunk - 1) / chunk;
    YO_ROWS(p, parts)
    {
        u64 stop = YO_LEAST((p + 1) * chunk, count);
        if (op == 2 || op == 3) {
            wide most = (wide)YO_LOAD(src[p * chunk]);
            for (u64 i = p * chunk + 1; i < stop; i++)
                most = yo_join(most, (wide)YO_LOAD(src[i]), op);
            part[p] = most;
        } else {
            part[p] = yo_sum_run(src, p * chunk, stop, op);
        }
    }
}

#endif

/* One group. kind: what dst is: 0 wide, 1 element, 2 f32. */
YOKE_KERNEL void op_fold_end(YOKE_GLOBAL const wide *part, u64 part_at,
                             YOKE_GLOBAL u8 *dst, u64 dst_at, u64 parts, u32 op, u32 kind)
{
    YO_TREE(wide);
    part += part_at;
    wide sum = op == 2 || op == 3 ? part[0] : (wide)0;
    YO_COLUMNS(p, parts)
        sum = yo_join(sum, part[p], op);
#ifdef YO_GROUP
    sum = yo_group_join(tree, YOKE_ITEM(0), sum, op);
#endif
    if (YO_FIRST) {
        if (kind == 0)
            ((YOKE_GLOBAL wide *)dst)[dst_at] = sum;
        else if (kind == 1)
            ((YOKE_GLOBAL element *)dst)[dst_at] = YO_STORE((number)sum);
        else
            ((YOKE_GLOBAL f32 *)dst)[dst_at] = (f32)sum;
    }
}
