/* SPDX-License-Identifier: Apache-2.0 */
/* A program of somebody else that communicates, in the common part of C11 and C++17: one
 * rank, that is its own all-gather. */
#include <stdio.h>
#include <string.h>

#include <yoke/comm.h>

static yoke_status_t alone(void *context, const void *mine, size_t size, void *all)
{
    (void)context;
    memcpy(all, mine, size);
    return YOKE_OK;
}

int main(void)
{
    yoke_comm_t *comm = NULL;
    int32_t mine = 42, sum = 0;
    if (yoke_comm_create(1, 0, alone, NULL, NULL, &comm) != YOKE_OK ||
        yoke_comm_all_reduce(comm, yoke_comm_host(&mine), yoke_comm_host(&sum), 1,
                             YOKE_ELEMENT_I32, YOKE_REDUCE_SUM, NULL) != YOKE_OK)
        return 1;
    yoke_comm_destroy(comm);
    printf("%d\n", (int)sum);
    return 0;
}
