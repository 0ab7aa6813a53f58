/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The communication groups that a layout needs:
 *   tensor    the devices of one replica, where there are several;
 *   data      all that hold the same layers, one group per tensor rank where the degrees
 * are equal; layers that different sets of replicas hold make groups of their own;
 *   pipeline  the devices on both sides of one stage boundary.
 */
#include "partition/plan_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A group while it is filled. */
typedef struct filling {
    const builder_t *build;
    yoke_plan_group_t *group;
    bool any, one_host, one_class;
    unsigned host, class_index;
} filling_t;

static yoke_status_t begin(const builder_t *build, const char *kind, filling_t *out)
{
    yoke_plan_group_t *group = yoke_plan_add_group(build->plan, kind, NULL);
    if (group == NULL)
        return yoke_fail_memory();
    *out = (filling_t){build, group, false, true, true, 0, 0};
    return YOKE_OK;
}

static yoke_status_t add_slot(filling_t *filling, unsigned index)
{
    const yoke_slot_t *slot = &filling->build->problem->slots[index];
    if (!filling->any) {
        filling->any = true;
        filling->host = slot->host;
        filling->class_index = slot->class_index;
    }
    filling->one_host = filling->one_host && slot->host == filling->host;
    filling->one_class = filling->one_class && slot->class_index == filling->class_index;
    char *name = yoke_problem_slot_name(filling->build->problem, index);
    yoke_status_t status =
        name != NULL ? yoke_group_add_rank(filling->group, name) : yoke_fail_memory();
    free(name);
    return status;
}

static yoke_status_t add_replica(filling_t *filling, const yoke_replica_t *replica)
{
    yoke_status_t status = YOKE_OK;
    for (unsigned d = 0; d < replica->tp && status == YOKE_OK; d++)
        status = add_slot(filling, replica->slots[d]);
    return status;
}

/* Does the link of the type join all of the group? As the times are computed. */
static bool joined(const filling_t *filling)
{
    const yoke_rates_t *rates =
        &filling->build->problem->classes[filling->class_index].rates;
    if (rates->link_group == 0 || rates->link_peers <= rates->link_group)
        return true;
    return strcmp(filling->group->kind, "tensor") == 0 &&
           filling->group->rank_count <= rates->link_group;
}

/* "nic" between hosts; within one the link of the type, "host" between devices that it
 * does not join. */
static yoke_status_t finish(filling_t *filling)
{
    const char *transport = "nic";
    if (filling->one_host && filling->one_class && joined(filling))
        transport = filling->build->problem->classes[filling->class_index].link_name;
    else if (filling->one_host)
        transport = "host";
    return yoke_plan_set_string(&filling->group->transport, transport);
}

static yoke_status_t add_tensor_groups(const builder_t *build, const yoke_stage_t *stage)
{
    yoke_status_t status = YOKE_OK;
    for (unsigned r = 0; r < stage->replica_count && status == YOKE_OK; r++) {
        filling_t filling = {0};
        if (stage->replicas[r].tp < 2)
            continue;
        status = begin(build, "tensor", &filling);
        if (status == YOKE_OK)
            status = add_replica(&filling, &stage->replicas[r]);
        if (status == YOKE_OK)
            status = finish(&filling);
    }
    return status;
}

static yoke_status_t add_pipeline_group(const builder_t *build, const yoke_stage_t *from,
                                        const yoke_stage_t *to)
{
    filling_t filling = {0};
    yoke_status_t status = begin(build, "pipeline", &filling);
    for (unsigned r = 0; r < from->replica_count && status == YOKE_OK; r++)
        status = add_replica(&filling, &from->replicas[r]);
    for (unsigned r = 0; r < to->replica_count && status == YOKE_OK; r++)
        status = add_replica(&filling, &to->replicas[r]);
    return status == YOKE_OK ? finish(&filling) : status;
}

/* --- data groups ----------------------------------------------------------------------
 */

static const yoke_stage_t *stage_of(const yoke_pipeline_t *pipeline, unsigned layer)
{
    for (unsigned s = 0; s < pipeline->stage_count; s++)
        if (layer >= pipeline->stages[s].first && layer <= pipeline->stages[s].last)
            return &pipeline->stages[s];
    return NULL;
}

/* Common degree of all that hold the layer; 0: they differ. */
static unsigned common_degree(const yoke_layout_t *layout, unsigned layer)
{
    unsigned degree = 0;
    for (unsigned p = 0; p < layout->pipeline_count; p++) {
        const yoke_stage_t *stage = stage_of(&layout->pipelines[p], layer);
        for (unsigned r = 0; stage != NULL && r < stage->replica_count; r++) {
            if (degree != 0 && stage->replicas[r].tp != degree)
                return 0;
            degree = stage->replicas[r].tp;
        }
    }
    return degree;
}

/* Holders of one layer: all their devices, or those of one tensor rank. */
static yoke_status_t add_data_group(const builder_t *build, unsigned layer, long rank)
{
    filling_t filling = {0};
    yoke_status_t status = begin(build, "data", &filling);
    for (unsigned p = 0; p < build->layout->pipeline_count; p++) {
        const yoke_stage_t *stage = stage_of(&build->layout->pipelines[p], layer);
        for (unsigned r = 0; stage != NULL && r < stage->replica_count; r++) {
            if (status != YOKE_OK)
                return status;
            status = rank < 0 ? add_replica(&filling, &stage->replicas[r])
                              : add_slot(&filling, stage->replicas[r].slots[rank]);
        }
    }
    return status == YOKE_OK ? finish(&filling) : status;
}

static yoke_status_t add_layer_groups(const builder_t *build, unsigned layer)
{
    if (yoke_layout_layer_ranks(build->layout, layer) < 2)
        return YOKE_OK;
    unsigned degree = common_degree(build->layout, layer);
    yoke_status_t status = YOKE_OK;
    if (degree == 0)
        return add_data_group(build, layer, -1);
    for (unsigned rank = 0; rank < degree && status == YOKE_OK; rank++)
        status = add_data_group(build, layer, (long)rank);
    return status;
}

/* Does a stage of some pipeline begin here? Only there the holders change. */
static bool begins_stage(const yoke_layout_t *layout, unsigned layer)
{
    for (unsigned p = 0; p < layout->pipeline_count; p++) {
        const yoke_stage_t *stage = stage_of(&layout->pipelines[p], layer);
        if (stage != NULL && stage->first == layer)
            return true;
    }
    return false;
}

yoke_status_t yoke_plan_build_groups(const builder_t *build)
{
    const yoke_layout_t *layout = build->layout;
    yoke_status_t status = YOKE_OK;
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        for (unsigned s = 0; s < layout->pipelines[p].stage_count && status == YOKE_OK;
             s++)
            status = add_tensor_groups(build, &layout->pipelines[p].stages[s]);
    for (unsigned i = 0; i < build->problem->model->layer_count && status == YOKE_OK; i++)
        if (begins_stage(layout, i))
            status = add_layer_groups(build, i);
    for (unsigned p = 0; p < layout->pipeline_count; p++)
        for (unsigned s = 1; s < layout->pipelines[p].stage_count && status == YOKE_OK;
             s++)
            status = add_pipeline_group(build, &layout->pipelines[p].stages[s - 1],
                                        &layout->pipelines[p].stages[s]);
    return status;
}
