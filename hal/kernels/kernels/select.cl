/* SPDX-License-Identifier: Apache-2.0 */
/* Elements of at least a threshold, in order: blocks of 256 are counted, the counts made
 * into places, and each block writes from its place. */

#define YO_BLOCK 256

#ifdef YO_GROUP
#define YO_RUN ((YO_BLOCK + YO_GROUP - 1) / YO_GROUP)
#else
#define YO_RUN YO_BLOCK
#endif

YOKE_FUNCTION u32 yo_count_run(YOKE_GLOBAL const f32 *x, u64 from, u64 stop, f32 threshold)
{
    u32 found = 0;
    for (u64 i = from; i < stop; i++)
        found += YOKE_FABS(x[i]) >= threshold;
    return found;
}

#ifdef YO_GROUP
/* What the items before this one hold together; *total: what all hold. */
YOKE_FUNCTION u32 yo_before(YOKE_LOCAL u32 *tree, u32 item, u32 own)
{
    YOKE_BARRIER();
    tree[item] = own;
    YOKE_BARRIER();
    for (u32 step = 1; step < YO_GROUP; step *= 2) {
        u32 left = item >= step ? tree[item - step] : 0;
        YOKE_BARRIER();
        tree[item] += left;
        YOKE_BARRIER();
    }
    return tree[item] - own;
}
#endif

YOKE_KERNEL void op_select_count(YOKE_GLOBAL const f32 *x, u64 x_at,
                                 YOKE_GLOBAL u32 *place, u64 place_at, u64 count,
                                 f32 threshold)
{
    YO_TREE(u32);
    x += x_at;
    place += place_at;
    YO_ROWS(b, (count + YO_BLOCK - 1) / YO_BLOCK)
    {
        u64 from = b * YO_BLOCK;
        u64 stop = YO_LEAST(from + YO_BLOCK, count);
#ifdef YO_GROUP
        u64 own = YO_LEAST(from + YOKE_ITEM(0) * YO_RUN, stop);
        u32 found = yo_count_run(x, own, YO_LEAST(own + YO_RUN, stop), threshold);
        (void)yo_before(tree, YOKE_ITEM(0), found);
        if (YO_FIRST)
            place[b] = tree[YO_GROUP - 1];
#else
        place[b] = yo_count_run(x, from, stop, threshold);
#endif
    }
}

/* One group. place[b] becomes the sum of all before b. */
YOKE_KERNEL void op_select_place(YOKE_GLOBAL u32 *place, u64 place_at,
                                 YOKE_GLOBAL u32 *found, u64 found_at, u64 blocks)
{
    YO_TREE(u32);
    place += place_at;
#ifdef YO_GROUP
    u64 run = (blocks + YO_GROUP - 1) / YO_GROUP;
    u64 from = YO_LEAST(run * YOKE_ITEM(0), blocks);
    u64 stop = YO_LEAST(from + run, blocks);
    u32 sum = 0;
    for (u64 b = from; b < stop; b++)
        sum += place[b];
    u32 at = yo_before(tree, YOKE_ITEM(0), sum);
    u32 total = tree[YO_GROUP - 1];
#else
    u64 from = 0;
    u64 stop = blocks;
    u32 at = 0;
#endif
    for (u64 b = from; b < stop; b++) {
        u32 here = place[b];
        place[b] = at;
        at += here;
    }
#ifdef YO_GROUP
    at = total;
#endif
    if (YO_FIRST)
        found[found_at] = at;
}

YOKE_FUNCTION void yo_write_run(YOKE_GLOBAL const f32 *x, u64 from, u64 stop,
                                f32 threshold, u32 at, u32 capacity,
                                YOKE_GLOBAL u32 *indices, YOKE_GLOBAL f32 *values)
{
    for (u64 i = from; i < stop && at < capacity; i++)
        if (YOKE_FABS(x[i]) >= threshold) {
            indices[at] = (u32)i;
            values[at] = x[i];
            at++;
        }
}

YOKE_KERNEL void op_select_write(YOKE_GLOBAL const f32 *x, u64 x_at,
                                 YOKE_GLOBAL const u32 *place, u64 place_at,
                                 YOKE_GLOBAL u32 *indices, u64 indices_at,
                                 YOKE_GLOBAL f32 *values, u64 values_at, u64 count,
                                 f32 threshold, u32 capacity)
{
    YO_TREE(u32);
    x += x_at;
    place += place_at;
    indices += indices_at;
    values += values_at;
    YO_ROWS(b, (count + YO_BLOCK - 1) / YO_BLOCK)
    {
        u64 from = b * YO_BLOCK;
        u64 stop = YO_LEAST(from + YO_BLOCK, count);
        u32 at = place[b];
#ifdef YO_GROUP
        from = YO_LEAST(from + YOKE_ITEM(0) * YO_RUN, stop);
        stop = YO_LEAST(from + YO_RUN, stop);
        at += yo_before(tree, YOKE_ITEM(0), yo_count_run(x, from, stop, threshold));
#endif
        yo_write_run(x, from, stop, threshold, at, capacity, indices, values);
    }
}
