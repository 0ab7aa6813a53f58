/* SPDX-License-Identifier: Apache-2.0 */
/* yoke/compress.h: making one, and one call of it. */

#include "ucx_comm/compression/compressor.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BUDGET 0.20
#define MOST_ELEMENTS UINT32_MAX /* counters of select.c */

static yoke_status_t check(uint64_t count, yoke_element_t element,
                           const yoke_compressor_options_t *options)
{
    if (count == 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_compressor_create: a gradient of 0 elements");
    if (count > MOST_ELEMENTS)
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "yoke_compressor_create: %llu elements: at most 2^32 - 1; give "
                         "each part of the gradient a compressor",
                         (unsigned long long)count);
    if (element != YOKE_ELEMENT_F32) {
        const char *name = yoke_element_name(element);
        return yoke_fail(YOKE_ERR_UNSUPPORTED,
                         "yoke_compressor_create: elements are f32, not %s",
                         name != NULL ? name : "of a known type");
    }
    if (options->method != YOKE_COMPRESS_TOP_K && options->method != YOKE_COMPRESS_SAMPLE)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_compressor_create: no method %d",
                         (int)options->method);
    const uint32_t known =
        YOKE_COMPRESS_NO_FEEDBACK | YOKE_COMPRESS_ALWAYS | YOKE_COMPRESS_TWO_LEVEL;
    if ((options->flags & ~known) != 0)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_compressor_create: unknown flags 0x%x",
                         options->flags & ~known);
    if (!(options->budget > 0 && options->budget <= 1))
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_compressor_create: a budget of %g: a part of the dense "
                         "bytes, above 0 and at most 1",
                         options->budget);
    return YOKE_OK;
}

/* Half of the dense bytes go each way: 4 bytes an element there, 4 or 6 an entry here. */
static void divide_budget(yoke_compressor_t *c)
{
    uint64_t ranks = c->owners.ranks;
    double size = yoke_entry_size(c->owners.halves);
    double entries = c->options.budget * (double)c->count * sizeof(float) / size;
    /* what is told besides the entries: counts of blocks, sizes */
    double told = (double)(c->count / 65536 + 2 * ranks) * 4 + 16 * (double)ranks;
    entries -= told / size;
    if (c->options.method == YOKE_COMPRESS_SAMPLE)
        entries -= 4 * sqrt(entries > 0 ? entries : 0); /* draws vary */
    if (entries < 1)
        entries = 1;
    c->sender_entries = entries < (double)c->count ? (uint64_t)entries : c->count;
    c->owner_entries = c->sender_entries / ranks > 0 ? c->sender_entries / ranks : 1;
}

static yoke_status_t no_memory(uint64_t count)
{
    return yoke_fail(YOKE_ERR_NO_MEMORY,
                     "yoke_compressor_create: no memory for a gradient of %llu elements",
                     (unsigned long long)count);
}

static yoke_status_t allocate(yoke_compressor_t *c)
{
    c->sum = calloc(c->count, sizeof *c->sum);
    c->result = malloc(c->count * sizeof *c->result);
    if (c->sum == NULL || c->result == NULL)
        return no_memory(c->count);
    if (c->across == NULL)
        return YOKE_OK;
    /* what is cut off needs the feedback */
    bool halves = (c->options.flags & YOKE_COMPRESS_NO_FEEDBACK) == 0;
    c->owners = yoke_owners_of(c->count, (uint32_t)yoke_comm_size(c->across), halves);
    c->own_length = yoke_owner_length(&c->owners, (uint32_t)yoke_comm_rank(c->across));
    c->own = calloc(c->own_length + 1, sizeof *c->own);
    c->scratch = malloc(YOKE_SELECT_SCRATCH * sizeof *c->scratch);
    c->sizes = calloc((size_t)c->owners.ranks * 4, sizeof *c->sizes);
    if (c->own == NULL || c->scratch == NULL || c->sizes == NULL)
        return no_memory(c->count);
    divide_budget(c);
    return YOKE_OK;
}

static yoke_status_t split_levels(yoke_compressor_t *c)
{
    if ((c->options.flags & YOKE_COMPRESS_TWO_LEVEL) == 0) {
        c->across = c->comm;
        return YOKE_OK;
    }
    int32_t island = c->options.island;
    if (island < 0)
        island = yoke_comm_island(c->comm);
    yoke_status_t status =
        yoke_comm_split(c->comm, island, yoke_comm_rank(c->comm), &c->island);
    if (status != YOKE_OK)
        return status;
    bool leads = yoke_comm_rank(c->island) == 0;
    return yoke_comm_split(c->comm, leads ? 0 : -1, yoke_comm_rank(c->comm), &c->across);
}

yoke_status_t yoke_compressor_create(yoke_comm_t *comm, uint64_t count,
                                     yoke_element_t element,
                                     const yoke_compressor_options_t *options,
                                     yoke_compressor_t **out_compressor)
{
    yoke_compressor_options_t wanted = {.struct_size = sizeof wanted, .island = -1};
    if (options != NULL) {
        if (options->struct_size < sizeof wanted)
            return yoke_fail(
                YOKE_ERR_USAGE,
                "yoke_compressor_create: options.struct_size is %zu, not %zu",
                options->struct_size, sizeof wanted);
        wanted = *options;
    }
    if (wanted.budget == 0)
        wanted.budget = BUDGET;
    if (comm == NULL || out_compressor == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_compressor_create: %s is NULL",
                         comm == NULL ? "comm" : "out_compressor");
    yoke_status_t status = check(count, element, &wanted);
    if (status != YOKE_OK)
        return status;
    yoke_compressor_t *c = calloc(1, sizeof *c);
    if (c == NULL)
        return no_memory(count);
    c->comm = comm;
    c->options = wanted;
    c->count = count;
    c->statistics.struct_size = sizeof c->statistics;
    status = split_levels(c);
    if (status == YOKE_OK)
        status = allocate(c);
    if (status == YOKE_OK)
        status = yoke_compressor_measure(c);
    if (status != YOKE_OK) {
        yoke_compressor_destroy(c);
        return status;
    }
    *out_compressor = c;
    return YOKE_OK;
}

void yoke_compressor_destroy(yoke_compressor_t *c)
{
    if (c == NULL)
        return;
    if (c->across != c->comm)
        yoke_comm_destroy(c->across);
    yoke_comm_destroy(c->island);
    yoke_queue_destroy(c->queue);
    free(c->sum);
    free(c->result);
    free(c->own);
    free(c->scratch);
    free(c->outgoing);
    free(c->incoming);
    free(c->sizes);
    free(c);
}

/* --- one call ---------------------------------------------------------------------- */

static yoke_status_t queue_for(yoke_compressor_t *c, yoke_comm_buffer_t buffer)
{
    yoke_device_t *device = yoke_buffer_device(buffer.span.buffer);
    if (c->queue != NULL && yoke_queue_device(c->queue) == device)
        return YOKE_OK;
    yoke_queue_destroy(c->queue);
    c->queue = NULL;
    return yoke_queue_create(device, NULL, &c->queue);
}

/* The gradient, added to what was kept of earlier ones. */
static yoke_status_t take_gradient(yoke_compressor_t *c, yoke_comm_buffer_t send)
{
    const float *gradient = send.host;
    if (gradient == NULL) {
        yoke_status_t status = queue_for(c, send);
        if (status == YOKE_OK)
            status = yoke_queue_read(c->queue, c->result, send.span,
                                     c->count * sizeof *c->result);
        if (status == YOKE_OK)
            status = yoke_queue_sync(c->queue);
        if (status != YOKE_OK)
            return status;
        gradient = c->result;
    }
    for (uint64_t i = 0; i < c->count; i++)
        c->sum[i] += gradient[i];
    return YOKE_OK;
}

static yoke_status_t give_result(yoke_compressor_t *c, yoke_comm_buffer_t recv,
                                 const float *result)
{
    if (recv.host != NULL)
        return YOKE_OK; /* made in place */
    yoke_status_t status = queue_for(c, recv);
    if (status == YOKE_OK)
        status = yoke_queue_write(c->queue, recv.span, result, c->count * sizeof *result);
    return status == YOKE_OK ? yoke_queue_sync(c->queue) : status;
}

/* All of it, with what senders and owners had kept. */
static yoke_status_t dense(yoke_compressor_t *c, float *vector,
                           yoke_reduction_t reduction)
{
    if (c->across != NULL) {
        uint32_t me = (uint32_t)yoke_comm_rank(c->across);
        for (uint64_t i = 0; i < c->own_length; i++)
            c->sum[yoke_owner_index(&c->owners, me, i)] += c->own[i];
        memset(c->own, 0, c->own_length * sizeof *c->own);
    }
    yoke_status_t status =
        yoke_comm_all_reduce(c->comm, yoke_comm_host(c->sum), yoke_comm_host(vector),
                             c->count, YOKE_ELEMENT_F32, reduction, NULL);
    memset(c->sum, 0, c->count * sizeof *c->sum);
    return status;
}

static yoke_status_t sparse(yoke_compressor_t *c, float *vector, float factor)
{
    yoke_status_t status = YOKE_OK;
    if (c->island != NULL) {
        status =
            yoke_comm_reduce(c->island, yoke_comm_host(c->sum), yoke_comm_host(c->sum),
                             c->count, YOKE_ELEMENT_F32, YOKE_REDUCE_SUM, 0, NULL);
        if (c->across == NULL) /* now it is the leader's */
            memset(c->sum, 0, c->count * sizeof *c->sum);
    }
    if (status == YOKE_OK && c->across != NULL)
        status = yoke_compressor_exchange(c, vector, factor);
    if (status == YOKE_OK && c->island != NULL)
        status = yoke_comm_broadcast(c->island, yoke_comm_host(vector), c->count,
                                     YOKE_ELEMENT_F32, 0, NULL);
    return status;
}

yoke_status_t yoke_compressor_all_reduce(yoke_compressor_t *c, yoke_comm_buffer_t send,
                                         yoke_comm_buffer_t recv,
                                         yoke_reduction_t reduction)
{
    if (c == NULL)
        return yoke_fail(YOKE_ERR_USAGE,
                         "yoke_compressor_all_reduce: the compressor is NULL");
    if (reduction != YOKE_REDUCE_SUM && reduction != YOKE_REDUCE_AVG)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_compressor_all_reduce: sum or avg, not %s",
                         yoke_reduction_name(reduction) != NULL
                             ? yoke_reduction_name(reduction)
                             : "an unknown operation");
    if ((send.host == NULL && send.span.buffer == NULL) ||
        (recv.host == NULL && recv.span.buffer == NULL))
        return yoke_fail(YOKE_ERR_USAGE, "yoke_compressor_all_reduce: %s has no memory",
                         send.host == NULL && send.span.buffer == NULL ? "send" : "recv");
    int ranks = yoke_comm_size(c->comm);
    yoke_status_t status = take_gradient(c, send);
    if (status != YOKE_OK)
        return status;
    float *vector = recv.host != NULL ? recv.host : c->result;
    bool worth = yoke_compressor_predict(c);
    if (ranks > 1 && (worth || (c->options.flags & YOKE_COMPRESS_ALWAYS) != 0)) {
        float factor = reduction == YOKE_REDUCE_AVG ? 1.0F / (float)ranks : 1.0F;
        status = sparse(c, vector, factor);
        c->statistics.sparse_calls++;
        c->statistics.dense_bytes += c->across == NULL
                                         ? 0
                                         : 2 * (uint64_t)(c->owners.ranks - 1) *
                                               c->count / c->owners.ranks * sizeof(float);
    } else {
        status = dense(c, vector, reduction);
    }
    if (status != YOKE_OK)
        return status;
    c->call++;
    c->statistics.calls++;
    return give_result(c, recv, vector);
}

void yoke_compressor_statistics(const yoke_compressor_t *c,
                                yoke_compressor_statistics_t *statistics)
{
    size_t size = statistics->struct_size;
    if (size > sizeof c->statistics)
        size = sizeof c->statistics;
    memcpy(statistics, &c->statistics, size);
    statistics->struct_size = size;
}
