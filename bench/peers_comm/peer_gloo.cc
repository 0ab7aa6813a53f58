/* SPDX-License-Identifier: Apache-2.0 */
/* Gloo over TCP on the loopback: see measure.h. One process a rank:
 *   RANK=0 SIZE=2 STORE=folder peer_gloo COLLECTIVE ITERATIONS BYTES... */
#include <memory>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "measure.h"

static std::shared_ptr<gloo::rendezvous::Context> context;

static void barrier(struct library *)
{
    gloo::BarrierOptions options(context);
    gloo::barrier(options);
}

template <typename T>
static void all_reduce(T *send, T *recv, size_t count,
                       void (*function)(void *, const void *, const void *, size_t))
{
    gloo::AllreduceOptions options(context);
    options.setInput(send, count);
    options.setOutput(recv, count);
    options.setReduceFunction(function);
    gloo::allreduce(options);
}

/* Gloo's reduce-scatter is of an older interface with other semantics: left out. */
static void call(struct library *library, enum collective collective, float *send,
                 float *recv, size_t count)
{
    const size_t ranks = (size_t)library->ranks;
    if (collective == ALL_REDUCE) {
        all_reduce<float>(send, recv, count, gloo::sum<float>);
    } else if (collective == ALL_GATHER) {
        gloo::AllgatherOptions options(context);
        options.setInput(send, count);
        options.setOutput(recv, count * ranks);
        gloo::allgather(options);
    } else if (collective == BROADCAST) {
        gloo::BroadcastOptions options(context);
        options.setOutput(library->rank == 0 ? send : recv, count);
        options.setRoot(0);
        gloo::broadcast(options);
    } else {
        gloo::AlltoallOptions options(context);
        options.setInput(send, count * ranks);
        options.setOutput(recv, count * ranks);
        gloo::alltoall(options);
    }
}

static void largest(struct library *, double *values, int count)
{
    double *copy = (double *)malloc((size_t)count * sizeof *copy);
    memcpy(copy, values, (size_t)count * sizeof *copy);
    all_reduce<double>(copy, values, (size_t)count, gloo::max<double>);
    free(copy);
}

int main(int argc, char **argv)
{
    const char *rank = getenv("RANK"), *size = getenv("SIZE"), *store = getenv("STORE");
    if (rank == NULL || size == NULL || store == NULL) {
        fprintf(stderr, "%s: RANK, SIZE and STORE say which rank this is\n", argv[0]);
        return 2;
    }
    if (argc > 1 && strcmp(argv[1], "reduce-scatter") == 0)
        return 0;
    struct library library = {NULL, atoi(rank), atoi(size), barrier, call, largest};
    gloo::transport::tcp::attr attributes("127.0.0.1");
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    context = std::make_shared<gloo::rendezvous::Context>(library.rank, library.ranks);
    gloo::rendezvous::FileStore files(store);
    context->connectFullMesh(files, device);
    return measure(&library, argc, argv);
}
