/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks, shares and segments of a call; the table of builders. */

#include "ucx_comm/collectives/algorithms.h"

#include <string.h>

#include "base/error.h"

#define LINE 64                /* bytes: where shares of large vectors begin */
#define LARGE ((uint64_t)4096) /* bytes of a share that is large */
#define MOST_SEGMENTS 1024

const yoke_builder_t *const yoke_builders[] = {
    yoke_linear_builders,       yoke_knomial_builders,
    yoke_ring_builders,         yoke_recursive_doubling_builders,
    yoke_rabenseifner_builders, yoke_bruck_builders,
    yoke_pairwise_builders,     yoke_weighted_builders,
    yoke_hierarchical_builders, NULL,
};

static const char *const names[YOKE_COLLECTIVE_COUNT] = {
    [YOKE_COLLECTIVE_NONE] = "none",
    [YOKE_COLLECTIVE_BARRIER] = "barrier",
    [YOKE_COLLECTIVE_BROADCAST] = "broadcast",
    [YOKE_COLLECTIVE_REDUCE] = "reduce",
    [YOKE_COLLECTIVE_ALL_REDUCE] = "all-reduce",
    [YOKE_COLLECTIVE_REDUCE_SCATTER] = "reduce-scatter",
    [YOKE_COLLECTIVE_ALL_GATHER] = "all-gather",
    [YOKE_COLLECTIVE_GATHER] = "gather",
    [YOKE_COLLECTIVE_SCATTER] = "scatter",
    [YOKE_COLLECTIVE_ALL_TO_ALL] = "all-to-all",
    [YOKE_COLLECTIVE_SEND_RECV] = "send-recv",
};

const char *yoke_collective_name(yoke_collective_t collective)
{
    return (unsigned)collective < YOKE_COLLECTIVE_COUNT ? names[collective] : NULL;
}

bool yoke_collective_parse(const char *name, yoke_collective_t *out_collective)
{
    for (int i = 1; name != NULL && i < YOKE_COLLECTIVE_COUNT; i++)
        if (strcmp(name, names[i]) == 0) {
            *out_collective = (yoke_collective_t)i;
            return true;
        }
    return false;
}

uint64_t yoke_shape_bytes(const yoke_shape_t *shape)
{
    return shape->count * yoke_element_size(shape->element);
}

uint64_t yoke_block_size(const yoke_shape_t *shape, int rank)
{
    uint64_t count = shape->counts != NULL ? shape->counts[rank] : shape->count;
    return count * yoke_element_size(shape->element);
}

uint64_t yoke_block_offset(const yoke_shape_t *shape, int rank)
{
    uint64_t first = shape->counts != NULL ? shape->displacements[rank]
                                           : shape->stride * (uint64_t)rank;
    return first * yoke_element_size(shape->element);
}

uint64_t yoke_send_size(const yoke_shape_t *shape, int rank)
{
    uint64_t count = shape->send_counts != NULL ? shape->send_counts[rank] : shape->count;
    return count * yoke_element_size(shape->element);
}

uint64_t yoke_send_offset(const yoke_shape_t *shape, int rank)
{
    uint64_t first = shape->send_counts != NULL ? shape->send_displacements[rank]
                                                : shape->stride * (uint64_t)rank;
    return first * yoke_element_size(shape->element);
}

bool yoke_blocks_touch(const yoke_shape_t *shape)
{
    for (int i = 0; i + 1 < shape->size; i++)
        if (yoke_block_offset(shape, i) + yoke_block_size(shape, i) !=
            yoke_block_offset(shape, i + 1))
            return false;
    return true;
}

/* Elements that shares and segments are made of: one, or those of a cache line. */
static uint64_t grain(const yoke_shape_t *shape, uint64_t share)
{
    uint64_t unit = yoke_element_size(shape->element);
    return share >= LARGE ? LINE : unit;
}

uint64_t yoke_share_offset(const yoke_shape_t *shape, uint64_t bytes, int parts,
                           int index)
{
    uint64_t unit = grain(shape, bytes / (uint64_t)parts);
    uint64_t units = bytes / unit;
    uint64_t each = units / (uint64_t)parts, more = units % (uint64_t)parts;
    uint64_t i = (uint64_t)index;
    /* What does not fill a line is the last share's. */
    return index == parts ? bytes : (each * i + (i < more ? i : more)) * unit;
}

uint32_t yoke_segments(const yoke_shape_t *shape, uint64_t size, uint64_t usual)
{
    uint64_t chunk = shape->chunk != 0 ? shape->chunk : usual;
    uint64_t segments = size / chunk + (size % chunk != 0);
    if (segments > MOST_SEGMENTS)
        segments = MOST_SEGMENTS;
    return segments > 0 ? (uint32_t)segments : 1;
}

uint64_t yoke_segment_offset(const yoke_shape_t *shape, uint64_t size, uint32_t segments,
                             uint32_t index)
{
    return yoke_share_offset(shape, size, (int)segments, (int)index);
}

const yoke_builder_t *yoke_builder_find(const yoke_shape_t *shape)
{
    for (int table = 0; yoke_builders[table] != NULL; table++)
        for (const yoke_builder_t *entry = yoke_builders[table]; entry->build != NULL;
             entry++)
            if (entry->algorithm == shape->algorithm &&
                entry->collective == shape->collective &&
                (entry->can == NULL || entry->can(shape)))
                return entry;
    return NULL;
}

yoke_status_t yoke_schedule_build(const yoke_shape_t *shape,
                                  yoke_schedule_t **out_schedule)
{
    const yoke_builder_t *builder = yoke_builder_find(shape);
    if (builder == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "algorithm %s does not do %s of this shape",
                         yoke_algorithm_name(shape->algorithm),
                         yoke_collective_name(shape->collective));
    yoke_schedule_t *schedule =
        yoke_schedule_create(shape->element, shape->reduction, (unsigned)shape->size);
    if (schedule == NULL)
        return YOKE_ERR_NO_MEMORY;
    builder->build(shape, schedule);
    yoke_status_t status = yoke_schedule_seal(schedule);
    if (status != YOKE_OK) {
        yoke_schedule_free(schedule);
        return status;
    }
    *out_schedule = schedule;
    return YOKE_OK;
}
