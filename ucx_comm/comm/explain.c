/* SPDX-License-Identifier: Apache-2.0 */
/* What the communicator found out about its links. */

#include "ucx_comm/comm/object.h"

#include "base/error.h"

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
                         "yoke_comm_explain: the links were not measured");
    return yoke_topology_explain(comm->topology, which, size, json, out_text);
}

int yoke_comm_island(const yoke_comm_t *comm)
{
    if (comm == NULL)
        return -1;
    return comm->topology != NULL ? yoke_topology_island_of(comm->topology, comm->rank)
                                  : 0;
}
