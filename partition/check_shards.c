/* SPDX-License-Identifier: Apache-2.0 */
/* Do the shards of every tensor group cover each dimension, without gap or overlap? */
#include "partition/check.h"

#include <stdlib.h>
#include <string.h>

typedef struct range {
    uint64_t begin, end;
    size_t device;
} range_t;

/* One replica under examination. */
typedef struct examined {
    const yoke_plan_replica_t *replica;
    const char *place; /* its JSON pointer */
    yoke_faults_t *faults;
} examined_t;

/* The nth shard of a dimension on a device; NULL: there are fewer. */
static const yoke_plan_shard_t *find_shard(const yoke_plan_device_t *device,
                                           const char *dimension, size_t nth)
{
    for (size_t i = 0; i < device->shard_count; i++)
        if (strcmp(device->shards[i].dimension, dimension) == 0 && nth-- == 0)
            return &device->shards[i];
    return NULL;
}

static const char *shards_pointer(const examined_t *at, size_t device, char buffer[128])
{
    yoke_snprintf(buffer, 128, "%s/devices/%zu/shards", at->place, device);
    return buffer;
}

static int compare_ranges(const void *a, const void *b)
{
    const range_t *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->device < y->device ? -1 : x->device > y->device;
}

/* The ranges of one dimension, one a device; false: one is missing or empty. */
static bool gather(const examined_t *at, const yoke_extent_t *extent, size_t nth,
                   range_t *ranges)
{
    bool good = true;
    char pointer[128];
    for (size_t d = 0; d < at->replica->device_count; d++) {
        const yoke_plan_shard_t *shard =
            find_shard(&at->replica->devices[d], extent->dimension, nth);
        if (shard == NULL) {
            yoke_faults_add(at->faults, shards_pointer(at, d, pointer),
                            "no shard of %s (0 to %llu); every device of the replica "
                            "needs one, or none "
                            "lists shards and has equal ones",
                            extent->dimension, (unsigned long long)extent->padded);
            good = false;
            continue;
        }
        ranges[d] = (range_t){shard->begin, shard->end, d};
        if (shard->begin >= shard->end || shard->end > extent->padded) {
            yoke_faults_add(at->faults, shards_pointer(at, d, pointer),
                            "%s %llu to %llu is no part of 0 to %llu", extent->dimension,
                            (unsigned long long)shard->begin,
                            (unsigned long long)shard->end,
                            (unsigned long long)extent->padded);
            good = false;
        }
    }
    return good;
}

static void fault_cover(const examined_t *at, size_t device, const char *what,
                        const yoke_extent_t *extent, uint64_t begin, uint64_t end)
{
    char pointer[128];
    yoke_faults_add(
        at->faults, shards_pointer(at, device, pointer),
        "%s %llu to %llu %s; the shards of a replica must cover 0 to %llu, each part "
        "on %llu device%s (without any `shards` they are equal)",
        extent->dimension, (unsigned long long)begin, (unsigned long long)end, what,
        (unsigned long long)extent->padded, (unsigned long long)extent->copies,
        extent->copies == 1 ? "" : "s");
}

/* Sorted ranges, each `copies` times in a row, one behind the other. */
static bool check_cover(const examined_t *at, const yoke_extent_t *extent,
                        const range_t *ranges)
{
    size_t count = at->replica->device_count;
    uint64_t next = 0;
    for (size_t i = 0; i < count;) {
        size_t same = 1;
        while (i + same < count && ranges[i + same].begin == ranges[i].begin &&
               ranges[i + same].end == ranges[i].end)
            same++;
        if (ranges[i].begin > next)
            fault_cover(at, ranges[i].device, "is on no device", extent, next,
                        ranges[i].begin);
        else if (ranges[i].begin < next)
            fault_cover(at, ranges[i].device, "is on too many devices", extent,
                        ranges[i].begin, ranges[i].end < next ? ranges[i].end : next);
        else if (same != extent->copies)
            fault_cover(at, ranges[i].device,
                        same > extent->copies ? "is on too many devices"
                                              : "is on too few devices",
                        extent, ranges[i].begin, ranges[i].end);
        if (ranges[i].begin != next || same != extent->copies)
            return false;
        next = ranges[i].end;
        i += same;
    }
    if (next < extent->size) {
        fault_cover(at, ranges[count - 1].device, "is on no device", extent, next,
                    extent->padded);
        return false;
    }
    return true;
}

/* Only the equal split has times; the last part of a padded dimension may stop at its
 * size. */
static void check_equal(const examined_t *at, const yoke_extent_t *extent,
                        const range_t *ranges)
{
    char pointer[128];
    size_t count = at->replica->device_count;
    for (size_t i = 0; i < count; i++) {
        uint64_t begin, end;
        yoke_extent_range(extent, i, count, &begin, &end);
        bool last = ranges[i].end == extent->size && end == extent->padded;
        if (ranges[i].begin == begin && (ranges[i].end == end || last))
            continue;
        yoke_faults_add(
            at->faults, shards_pointer(at, ranges[i].device, pointer),
            "%s %llu to %llu: unequal shards are not simulated yet, so the times "
            "cannot be checked; equal ones would be %llu to %llu here",
            extent->dimension, (unsigned long long)ranges[i].begin,
            (unsigned long long)ranges[i].end, (unsigned long long)begin,
            (unsigned long long)end);
        return;
    }
}

/* The query heads of a device must find their key/value heads on it. */
static void check_heads(const examined_t *at, const yoke_extent_t *heads,
                        const yoke_extent_t *kv_heads)
{
    char pointer[128];
    for (size_t d = 0; d < at->replica->device_count; d++) {
        const yoke_plan_shard_t *q =
            find_shard(&at->replica->devices[d], heads->dimension, 0);
        const yoke_plan_shard_t *kv =
            find_shard(&at->replica->devices[d], kv_heads->dimension, 0);
        if (q == NULL || kv == NULL || q->begin >= q->end || q->end > heads->size)
            continue;
        uint64_t begin = q->begin * kv_heads->size / heads->size;
        uint64_t end = ((q->end - 1) * kv_heads->size) / heads->size + 1;
        if (kv->begin == begin && kv->end == end)
            continue;
        yoke_faults_add(
            at->faults, shards_pointer(at, d, pointer),
            "heads %llu to %llu use kv_heads %llu to %llu, and the device has %llu "
            "to %llu",
            (unsigned long long)q->begin, (unsigned long long)q->end,
            (unsigned long long)begin, (unsigned long long)end,
            (unsigned long long)kv->begin, (unsigned long long)kv->end);
        return;
    }
}

/* Shards of dimensions that the layers do not have. */
static void check_foreign(const examined_t *at, const yoke_extent_t *extents,
                          size_t count)
{
    char pointer[128];
    for (size_t d = 0; d < at->replica->device_count; d++) {
        const yoke_plan_device_t *device = &at->replica->devices[d];
        for (size_t i = 0; i < device->shard_count; i++) {
            size_t stated = 0, there = 0;
            for (size_t j = 0; j <= i; j++)
                stated +=
                    strcmp(device->shards[j].dimension, device->shards[i].dimension) == 0;
            for (size_t e = 0; e < count; e++)
                there += strcmp(extents[e].dimension, device->shards[i].dimension) == 0;
            if (stated <= there)
                continue;
            yoke_snprintf(pointer, sizeof pointer, "%s/devices/%zu/shards/%zu", at->place,
                          d, i);
            yoke_faults_add(
                at->faults, pointer,
                "the stage's layers have %zu dimension%s %s to be cut, not %zu", there,
                there == 1 ? "" : "s", device->shards[i].dimension, stated);
            return;
        }
    }
}

static void check_replica(const examined_t *at, const yoke_extent_t *extents,
                          size_t count)
{
    const yoke_extent_t *heads = NULL, *kv_heads = NULL;
    range_t *ranges = calloc(at->replica->device_count, sizeof *ranges);
    if (ranges == NULL) {
        yoke_faults_add(at->faults, at->place, "out of memory while checking the shards");
        return;
    }
    size_t before = at->faults->count;
    for (size_t e = 0; e < count; e++) {
        size_t nth = 0;
        for (size_t i = 0; i < e; i++)
            nth += strcmp(extents[i].dimension, extents[e].dimension) == 0;
        if (nth == 0 && strcmp(extents[e].dimension, "heads") == 0)
            heads = &extents[e];
        if (nth == 0 && strcmp(extents[e].dimension, "kv_heads") == 0)
            kv_heads = &extents[e];
        if (!gather(at, &extents[e], nth, ranges))
            continue;
        qsort(ranges, at->replica->device_count, sizeof *ranges, compare_ranges);
        if (check_cover(at, &extents[e], ranges))
            check_equal(at, &extents[e], ranges);
    }
    if (heads != NULL && kv_heads != NULL && at->faults->count == before)
        check_heads(at, heads, kv_heads);
    check_foreign(at, extents, count);
    free(ranges);
}

/* A plan written by hand may leave the shards of a replica out: they are the equal ones.
 */
static bool states_shards(const yoke_plan_replica_t *replica)
{
    for (size_t d = 0; d < replica->device_count; d++)
        if (replica->devices[d].shard_count > 0)
            return true;
    return false;
}

void yoke_check_shards(const yoke_plan_t *plan, const yoke_model_t *model,
                       yoke_faults_t *faults)
{
    yoke_extent_t extents[YOKE_EXTENT_MAX];
    char place[96];
    for (size_t p = 0; p < plan->pipeline_count; p++)
        for (size_t s = 0; s < plan->pipelines[p].stage_count; s++) {
            const yoke_plan_stage_t *stage = &plan->pipelines[p].stages[s];
            for (size_t r = 0; r < stage->replica_count; r++) {
                const yoke_plan_replica_t *replica = &stage->replicas[r];
                if (!states_shards(replica))
                    continue;
                size_t count =
                    yoke_layer_extents(model, (unsigned)stage->chunks[0].first,
                                       (unsigned)stage->chunks[0].last,
                                       (unsigned)replica->device_count, extents);
                yoke_fault_place(place, (long)p, (long)s, (long)r);
                examined_t at = {replica, place, faults};
                check_replica(&at, extents, count);
            }
        }
}
