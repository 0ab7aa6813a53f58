/* SPDX-License-Identifier: Apache-2.0 */
/* What the communicator found out about its links. */

#include "ucx_comm/comm/object.h"

#include "base/error.h"
#include "ucx_comm/collectives/explain.h"

yoke_status_t yoke_comm_explain(yoke_comm_t *comm, const char *collective, uint64_t size,
                                bool json, char **out_text)
{
    yoke_collective_t which;
    if (comm == NULL || collective == NULL || out_text == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_explain: an argument is NULL");
    if (!yoke_collective_parse(collective, &which))
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_comm_explain: no collective is called '%s'", collective);
    if (comm->topology == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "yoke_comm_explain: a communicator of one rank has no links");
    yoke_choice_t choice = {0};
    yoke_topology_choose(comm->topology, which, size, &choice);
    yoke_shape_t shape = yoke_explain_shape(comm->topology, which, size, &choice);
    if (comm->forced[which] != YOKE_ALGORITHM_AUTO) {
        shape.algorithm = comm->forced[which];
        if (shape.algorithm == YOKE_ALGORITHM_SHARED || yoke_builder_find(&shape) != NULL)
            choice.algorithm = comm->forced[which];
        choice.predicted = yoke_topology_predict(comm->topology, which, size,
                                                 choice.algorithm, choice.chunk);
    }
    return yoke_collective_explain(comm->topology, which, size, &choice, json, out_text);
}

int yoke_comm_island(const yoke_comm_t *comm)
{
    if (comm == NULL)
        return -1;
    return comm->topology != NULL ? yoke_topology_island_of(comm->topology, comm->rank)
                                  : 0;
}

yoke_status_t yoke_comm_links(yoke_comm_t *comm, char **out_text)
{
    if (comm == NULL || out_text == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_links: an argument is NULL");
    if (comm->topology == NULL)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "yoke_comm_links: a communicator of one rank has no links");
    return yoke_topology_links(comm->topology, out_text);
}
