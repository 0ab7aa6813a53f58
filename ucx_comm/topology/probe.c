/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timed exchanges.
 *
 * Latency: the fastest of some round trips of 8 bytes, halved: others' work on the
 * machine only ever adds to it. Rate: a stream of chunks, timed by the receiver from its
 * second chunk on, so that neither the start of a connection nor the burst that a shaped
 * link lets through (tc tbf: 128 KiB here) counts; its length follows from a first guess,
 * so that a slow link takes tens of milliseconds and a fast one is still timed well.
 * Short streams are repeated and the best is taken.
 */

#include "ucx_comm/topology/probe.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ucx_comm/collectives/reduce.h"

#define TRIPS 100
#define WARM_TRIPS 3
#define TRIP_SECONDS 0.003 /* all of them; both ends stop alike */
#define ROUNDS 25
#define FLOWS 3
#define SMALL 32 /* messages of one overhead measurement */
#define GUESS ((uint64_t)64 << 10)
#define AHEAD 4 /* chunks under way */
#define CHUNK_MOST ((uint64_t)512 << 10)
#define PROBE_MEMORY ((size_t)(2 * AHEAD * CHUNK_MOST))
#define STREAM_SECONDS 0.012
#define FLOW_SECONDS 0.06 /* flows decide who owns how much */
#define SLOW 2e8          /* bytes/s: links that may be shaped, with bursts */
#define WAIT_NS 20000000000ull

double yoke_probe_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

yoke_status_t yoke_probe_open(yoke_control_t *control, yoke_transport_t *transport,
                              yoke_probe_t *out_probe)
{
    yoke_probe_t probe = {
        control, transport, yoke_control_rank(control), yoke_control_size(control), 0,
        NULL,    WAIT_NS};
    probe.memory = aligned_alloc(4096, PROBE_MEMORY);
    if (probe.memory == NULL)
        return yoke_fail_memory();
    memset(probe.memory, 1, PROBE_MEMORY);
    *out_probe = probe;
    return YOKE_OK;
}

void yoke_probe_close(yoke_probe_t *probe)
{
    free(probe->memory);
    probe->memory = NULL;
}

/* --- messages ------------------------------------------------------------------------
 */

#define TAG_PROBE (1ull << 61)

static yoke_message_t message_of(const yoke_probe_t *probe, int peer, void *data,
                                 uint64_t size)
{
    yoke_message_t message = {.peer = peer, .data = data, .size = size};
    message.tag = TAG_PROBE | probe->tag;
    message.signature.sequence = probe->tag;
    message.signature.root = -1;
    message.signature.count = size;
    message.signature.element = message.signature.reduction = 0xff;
    message.status = YOKE_ERR_NOT_READY;
    return message;
}

/* One that failed may still be in the transport's lists. */
static yoke_status_t give_up(yoke_probe_t *probe, yoke_status_t status)
{
    yoke_transport_cancel(probe->transport, YOKE_ERR_REVOKED);
    return status;
}

static yoke_status_t await(yoke_probe_t *probe, const yoke_message_t *message)
{
    double end = yoke_probe_now() + 1e-9 * (double)probe->deadline_ns;
    for (unsigned idle = 0; message->status == YOKE_ERR_NOT_READY;) {
        if (yoke_transport_progress(probe->transport) > 0) {
            idle = 0;
            continue;
        }
        yoke_transport_pause(probe->transport, idle++);
        if (idle % 64 == 0 && yoke_probe_now() > end) {
            yoke_control_suspect(probe->control, message->peer,
                                 "the measuring of the links");
            return give_up(probe, yoke_control_reason(probe->control));
        }
    }
    if (message->status == YOKE_ERR_REVOKED)
        return yoke_control_reason(probe->control);
    return message->status;
}

static yoke_status_t start_send(yoke_probe_t *probe, yoke_message_t *message)
{
    yoke_status_t status = yoke_transport_send(probe->transport, message);
    return status == YOKE_ERR_NOT_READY ? YOKE_OK : status;
}

static yoke_status_t start_receive(yoke_probe_t *probe, yoke_message_t *message)
{
    yoke_status_t status = yoke_transport_receive(probe->transport, message);
    return status == YOKE_ERR_NOT_READY ? YOKE_OK : status;
}

static yoke_status_t send_all(yoke_probe_t *probe, int peer, void *data, uint64_t size)
{
    yoke_message_t message = message_of(probe, peer, data, size);
    yoke_status_t status = start_send(probe, &message);
    return status == YOKE_OK ? await(probe, &message) : give_up(probe, status);
}

static yoke_status_t receive_all(yoke_probe_t *probe, int peer, void *data, uint64_t size)
{
    yoke_message_t message = message_of(probe, peer, data, size);
    yoke_status_t status = start_receive(probe, &message);
    return status == YOKE_OK ? await(probe, &message) : give_up(probe, status);
}

/* --- latency
 * ---------------------------------------------------------------------------- */

/* One round trip; the lower rank begins. */
static yoke_status_t trip(yoke_probe_t *probe, int peer, double *out_time)
{
    char *data = probe->memory;
    double start = yoke_probe_now();
    yoke_status_t status = YOKE_OK;
    for (int half = 0; half < 2 && status == YOKE_OK; half++)
        status = (half == 0) == (probe->rank < peer) ? send_all(probe, peer, data, 8)
                                                     : receive_all(probe, peer, data, 8);
    *out_time = yoke_probe_now() - start;
    return status;
}

static yoke_status_t ping(yoke_probe_t *probe, int peer, double *out_latency)
{
    double best = 1e9, time = 0, slowest = 0;
    yoke_status_t status = YOKE_OK;
    for (int i = 0; i < WARM_TRIPS && status == YOKE_OK; i++)
        status = trip(probe, peer, &slowest);
    double wanted = slowest > 0 ? TRIP_SECONDS / slowest : TRIPS;
    uint64_t trips = wanted > TRIPS ? TRIPS : wanted < 9 ? 9 : (uint64_t)wanted;
    if (status == YOKE_OK) /* as the lower rank says */
        status = probe->rank < peer ? send_all(probe, peer, &trips, sizeof trips)
                                    : receive_all(probe, peer, &trips, sizeof trips);
    for (uint64_t i = 0; i < trips && status == YOKE_OK; i++) {
        status = trip(probe, peer, &time);
        best = time < best ? time : best;
    }
    *out_latency = best / 2;
    return status;
}

/* --- streams
 * ---------------------------------------------------------------------------- */

typedef struct stream {
    int to, from; /* -1: does not send, does not receive */
    uint64_t chunk;
    unsigned count, skip; /* chunks; those before the clock starts */
} stream_t;

/* Up to AHEAD chunks each way are under way. */
static yoke_status_t run_stream(yoke_probe_t *probe, const stream_t *stream,
                                double *out_rate)
{
    yoke_message_t out[AHEAD], in[AHEAD];
    unsigned sent = 0, came = 0, out_begun = 0, in_begun = 0;
    unsigned sends = stream->to >= 0 ? stream->count : 0;
    unsigned receives = stream->from >= 0 ? stream->count : 0;
    double first = 0, last = 0;
    yoke_status_t status = YOKE_OK;
    while (status == YOKE_OK && (sent < sends || came < receives)) {
        for (; in_begun < receives && in_begun < came + AHEAD && status == YOKE_OK;
             in_begun++) {
            char *at = probe->memory + in_begun % AHEAD * stream->chunk;
            in[in_begun % AHEAD] = message_of(probe, stream->from, at, stream->chunk);
            status = start_receive(probe, &in[in_begun % AHEAD]);
        }
        for (; out_begun < sends && out_begun < sent + AHEAD && status == YOKE_OK;
             out_begun++) {
            char *at = probe->memory + (AHEAD + out_begun % AHEAD) * stream->chunk;
            out[out_begun % AHEAD] = message_of(probe, stream->to, at, stream->chunk);
            status = start_send(probe, &out[out_begun % AHEAD]);
        }
        if (status != YOKE_OK)
            break;
        if (came < receives) {
            status = await(probe, &in[came % AHEAD]);
            last = yoke_probe_now();
            if (++came == stream->skip)
                first = last;
        } else
            status = await(probe, &out[sent % AHEAD]);
        while (sent < out_begun && out[sent % AHEAD].status == YOKE_OK)
            sent++;
        if (sent < out_begun && out[sent % AHEAD].status != YOKE_ERR_NOT_READY)
            status = out[sent % AHEAD].status;
    }
    if (status != YOKE_OK)
        return give_up(probe, status);
    double bytes = (double)stream->chunk * (stream->count - stream->skip);
    if (receives > 0)
        *out_rate = last > first ? bytes / (last - first) : bytes / 1e-9;
    return YOKE_OK;
}

/* The length of a stream for a rate: about so many seconds, within bounds. */
static stream_t stream_for(double rate, double seconds)
{
    stream_t stream = {-1, -1, GUESS, 0, 2};
    if (rate > 1e9)
        stream.chunk = CHUNK_MOST;
    else if (rate < 4e6)
        stream.chunk = GUESS / 4;
    double wanted = rate * seconds / (double)stream.chunk;
    stream.count = wanted < 6 ? 8 : wanted > 48 ? 48 : (unsigned)wanted + 2;
    return stream;
}

static unsigned repeats_for(double rate)
{
    return rate > 1e9 ? 3 : rate > 2e8 ? 2 : 1;
}

/* One direction; the receiver learns the rate. */
static yoke_status_t one_way(yoke_probe_t *probe, int from, int to, double *out_rate)
{
    bool receives = probe->rank == to;
    int peer = receives ? from : to;
    stream_t guess = {receives ? -1 : to, receives ? from : -1, GUESS, 3, 1};
    double rate = 0, best = 0;
    yoke_status_t status = run_stream(probe, &guess, &rate);
    /* Both must run the same stream. */
    if (status == YOKE_OK)
        status = receives ? send_all(probe, peer, &rate, sizeof rate)
                          : receive_all(probe, peer, &rate, sizeof rate);
    for (unsigned i = 0; status == YOKE_OK && i < repeats_for(rate); i++) {
        stream_t stream = stream_for(rate, STREAM_SECONDS);
        double seen = 0;
        stream.to = guess.to;
        stream.from = guess.from;
        status = run_stream(probe, &stream, &seen);
        best = seen > best ? seen : best;
    }
    if (receives)
        *out_rate = best;
    return status;
}

yoke_status_t yoke_probe_pair(yoke_probe_t *probe, int peer, yoke_seen_t *out_seen)
{
    int low = probe->rank < peer ? probe->rank : peer;
    int high = probe->rank < peer ? peer : probe->rank;
    yoke_status_t status = ping(probe, peer, &out_seen->latency);
    if (status == YOKE_OK)
        status = one_way(probe, low, high, &out_seen->rate);
    if (status == YOKE_OK)
        status = one_way(probe, high, low, &out_seen->rate);
    return status;
}

/* --- many at once
 * ------------------------------------------------------------------------- */

static int compare(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Number `at` of the values in rising order. */
static double rank_of(double *values, int count, int at)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[at];
}

yoke_status_t yoke_probe_flow(yoke_probe_t *probe, int to, int from, double expected,
                              yoke_seen_t *out_seen)
{
    if (to < 0 && from < 0)
        return YOKE_OK;
    bool slow = expected < SLOW;
    stream_t stream = stream_for(expected, slow ? FLOW_SECONDS : STREAM_SECONDS);
    double rates[FLOWS] = {0};
    int flows = slow ? 1 : FLOWS;
    yoke_status_t status = YOKE_OK;
    stream.to = to;
    stream.from = from;
    if (slow) { /* bursts on the way must be over on all flows */
        stream.skip += 4;
        stream.count += 4;
    }
    for (int i = 0; status == YOKE_OK && i < flows; i++)
        status = run_stream(probe, &stream, &rates[i]);
    out_seen->rate = rank_of(rates, flows, flows / 2);
    return status;
}

yoke_status_t yoke_probe_round(yoke_probe_t *probe, int to, int from, double *out_seconds)
{
    double times[ROUNDS] = {0};
    yoke_status_t status = YOKE_OK;
    for (int i = 0; i < ROUNDS && status == YOKE_OK; i++) {
        double start = yoke_probe_now();
        yoke_message_t in = message_of(probe, from, probe->memory, 8);
        yoke_message_t out = message_of(probe, to, probe->memory + 64, 8);
        status = start_receive(probe, &in);
        if (status == YOKE_OK)
            status = start_send(probe, &out);
        if (status == YOKE_OK)
            status = await(probe, &in);
        if (status == YOKE_OK)
            status = await(probe, &out);
        times[i] = yoke_probe_now() - start;
        if (status != YOKE_OK)
            return give_up(probe, status);
    }
    *out_seconds = rank_of(times, ROUNDS, ROUNDS / 4);
    return status;
}

yoke_status_t yoke_probe_overhead(yoke_probe_t *probe, int to, int from,
                                  double *out_seconds)
{
    yoke_message_t in[SMALL], out[SMALL];
    double best = 1e9;
    for (int repeat = 0; repeat < 4; repeat++) {
        yoke_status_t status = YOKE_OK;
        double start = yoke_probe_now();
        for (int i = 0; i < SMALL && status == YOKE_OK; i++) {
            in[i] = message_of(probe, from, probe->memory + 64 * i, 8);
            status = start_receive(probe, &in[i]);
        }
        for (int i = 0; i < SMALL && status == YOKE_OK; i++) {
            out[i] = message_of(probe, to, probe->memory + 64 * (SMALL + i), 8);
            status = start_send(probe, &out[i]);
        }
        for (int i = 0; i < SMALL && status == YOKE_OK; i++)
            status = await(probe, &in[i]);
        for (int i = 0; i < SMALL && status == YOKE_OK; i++)
            status = await(probe, &out[i]);
        if (status != YOKE_OK)
            return give_up(probe, status);
        double each = (yoke_probe_now() - start) / SMALL;
        best = repeat > 0 && each < best ? each : best;
    }
    *out_seconds = best;
    return YOKE_OK;
}

double yoke_probe_reduction(yoke_probe_t *probe)
{
    uint64_t bytes = (uint64_t)256 << 10;
    char *a = probe->memory, *b = probe->memory + bytes;
    memset(probe->memory, 0, (size_t)(2 * bytes));
    double best = 0;
    for (int i = 0; i < 8; i++) {
        double start = yoke_probe_now();
        yoke_reduce_pair(a, a, b, bytes / 4, YOKE_ELEMENT_F32, YOKE_REDUCE_SUM);
        double rate = (double)bytes / (yoke_probe_now() - start + 1e-9);
        best = rate > best ? rate : best;
    }
    return best;
}
