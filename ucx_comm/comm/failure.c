/* SPDX-License-Identifier: Apache-2.0 */
/* Splitting, and what is left to do when a communicator has failed. */

#include "ucx_comm/comm/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define SHRINK                                                                           \
    (1u << 31) /* in the epoch: ranks may have seen unlike numbers of splits             \
                */

static yoke_status_t need(const yoke_comm_t *comm, const void *output, const char *name)
{
    if (comm == NULL || output == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "%s: %s is NULL", name,
                         comm == NULL ? "the communicator" : "the output");
    if (comm->in_group)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: not between yoke_comm_group_begin() and "
                         "yoke_comm_group_end()",
                         name);
    return YOKE_OK;
}

yoke_status_t yoke_comm_status(yoke_comm_t *comm)
{
    if (comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_status: the communicator is NULL");
    return yoke_control_reason(comm->control);
}

int yoke_comm_failed(yoke_comm_t *comm, int *ranks, int capacity)
{
    return comm != NULL ? yoke_control_failed(comm->control, ranks, capacity) : 0;
}

yoke_status_t yoke_comm_revoke(yoke_comm_t *comm)
{
    if (comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_revoke: the communicator is NULL");
    char text[64];
    snprintf(text, sizeof text, "rank %d called yoke_comm_revoke()", comm->rank);
    yoke_control_revoke(comm->control, YOKE_ERR_REVOKED, text);
    return YOKE_OK;
}

/* Every waiting loop looks at the control plane's word at least once a millisecond. */
yoke_status_t yoke_comm_abort(yoke_comm_t *comm)
{
    if (comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_abort: the communicator is NULL");
    char text[64];
    snprintf(text, sizeof text, "rank %d called yoke_comm_abort()", comm->rank);
    yoke_control_revoke(comm->control, YOKE_ERR_REVOKED, text);
    return YOKE_OK;
}

yoke_status_t yoke_comm_agree(yoke_comm_t *comm, uint32_t *flags)
{
    yoke_status_t status = need(comm, flags, __func__);
    if (status != YOKE_OK)
        return status;
    yoke_comm_lock(comm);
    status = yoke_control_agree(comm->control, flags, comm->timeout_ms);
    yoke_comm_unlock(comm);
    return status;
}

/* A communicator of ranks[0..count) of `comm`, in that order. */
static yoke_status_t open_child(yoke_comm_t *comm, const int *ranks, int count,
                                uint32_t epoch, yoke_comm_t **out_comm)
{
    yoke_control_t *control = NULL;
    yoke_status_t status =
        yoke_control_create_from(comm->control, ranks, count, epoch, &control);
    if (status != YOKE_OK)
        return status;
    yoke_comm_options_t options = yoke_comm_inherited(comm);
    return yoke_comm_open(control, &options, out_comm);
}

yoke_status_t yoke_comm_shrink(yoke_comm_t *comm, yoke_comm_t **out_comm)
{
    yoke_status_t status = need(comm, out_comm, __func__);
    if (status != YOKE_OK)
        return status;
    int *failed = calloc((size_t)comm->size, sizeof *failed);
    int *alive = calloc((size_t)comm->size, sizeof *alive);
    if (failed == NULL || alive == NULL)
        status = yoke_fail_memory();
    uint32_t flags = UINT32_MAX;
    yoke_comm_lock(comm);
    if (status == YOKE_OK)
        status = yoke_control_agree(comm->control, &flags, comm->timeout_ms);
    int gone = 0, count = 0;
    if (status == YOKE_OK) {
        gone = yoke_control_failed(comm->control, failed, comm->size);
        for (int r = 0, f = 0; r < comm->size; r++) {
            if (f < gone && failed[f] == r)
                f++;
            else
                alive[count++] = r;
        }
        status = open_child(comm, alive, count, SHRINK | ++comm->shrinks, out_comm);
    }
    yoke_comm_unlock(comm);
    free(failed);
    free(alive);
    return status;
}

typedef struct wish {
    int32_t color, key, rank;
} wish_t;

static int compare_wishes(const void *left, const void *right)
{
    const wish_t *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->rank - b->rank;
}

yoke_status_t yoke_comm_split(yoke_comm_t *comm, int color, int key,
                              yoke_comm_t **out_comm)
{
    yoke_status_t status = need(comm, out_comm, __func__);
    if (status != YOKE_OK)
        return status;
    wish_t mine = {color < 0 ? -1 : color, key, comm->rank};
    wish_t *wishes = calloc((size_t)comm->size, sizeof *wishes);
    int *ranks = calloc((size_t)comm->size, sizeof *ranks);
    if (wishes == NULL || ranks == NULL)
        status = yoke_fail_memory();
    if (status == YOKE_OK)
        status = yoke_call_exchange(comm, &mine, sizeof mine, wishes);
    if (status == YOKE_OK) {
        int count = 0;
        qsort(wishes, (size_t)comm->size, sizeof *wishes, compare_wishes);
        for (int i = 0; i < comm->size; i++)
            if (wishes[i].color == mine.color)
                ranks[count++] = wishes[i].rank;
        comm->splits++;
        if (mine.color < 0)
            *out_comm = NULL;
        else
            status = open_child(comm, ranks, count, comm->splits, out_comm);
    }
    free(wishes);
    free(ranks);
    return status;
}
