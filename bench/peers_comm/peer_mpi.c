/* SPDX-License-Identifier: Apache-2.0 */
/* Any MPI: see measure.h. */
#include <mpi.h>

#include "measure.h"

static void barrier(struct library *library)
{
    (void)library;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void call(struct library *library, enum collective collective, float *send,
                 float *recv, size_t count)
{
    const int n = (int)count;
    switch (collective) {
    case ALL_REDUCE:
        MPI_Allreduce(send, recv, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case ALL_GATHER:
        MPI_Allgather(send, n, MPI_FLOAT, recv, n, MPI_FLOAT, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter_block(send, recv, n, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case BROADCAST:
        MPI_Bcast(library->rank == 0 ? send : recv, n, MPI_FLOAT, 0, MPI_COMM_WORLD);
        break;
    default:
        MPI_Alltoall(send, n, MPI_FLOAT, recv, n, MPI_FLOAT, MPI_COMM_WORLD);
        break;
    }
}

static void largest(struct library *library, double *values, int count)
{
    (void)library;
    MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    struct library library = {.barrier = barrier, .call = call, .largest = largest};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &library.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &library.ranks);
    const int code = measure(&library, argc, argv);
    MPI_Finalize();
    return code;
}
