/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_PROBE_H
#define YOKE_COMM_PROBE_H

/* Timed exchanges of messages. For topology/. */

#include "ucx_comm/topology/topology.h"

typedef struct yoke_probe {
    yoke_control_t *control;
    yoke_transport_t *transport;
    int rank, size;
    uint64_t tag;         /* of the round under way; all ranks count alike */
    char *memory;         /* PROBE_MEMORY bytes */
    uint64_t deadline_ns; /* of one wait */
} yoke_probe_t;

yoke_status_t yoke_probe_open(yoke_control_t *control, yoke_transport_t *transport,
                              yoke_probe_t *out_probe);
void yoke_probe_close(yoke_probe_t *probe);
double yoke_probe_now(void); /* seconds */

/* One rank's part of a round; what it saw. */
typedef struct yoke_seen {
    double latency; /* seconds, one way */
    double rate;    /* bytes/s that came in */
} yoke_seen_t;

/* Both ranks of a pair call it with the other's rank, while others do not talk: latency
 * to and fro, then each direction's rate alone. */
yoke_status_t yoke_probe_pair(yoke_probe_t *probe, int peer, yoke_seen_t *out_seen);
/* All ranks that take part at once: send to `to`, receive from `from`; the same rate is
 * expected in all of them, by which the amount goes. -1, -1: only the round is counted.
 */
yoke_status_t yoke_probe_flow(yoke_probe_t *probe, int to, int from, double expected,
                              yoke_seen_t *out_seen);
/* Seconds of one round in which all that take part send 8 bytes to `to` and wait for
 * those of `from`: three
 * rounds of four take longer. */
yoke_status_t yoke_probe_round(yoke_probe_t *probe, int to, int from,
                               double *out_seconds);
/* Seconds that each of many small messages takes this rank, sending to `to` and receiving
 * from `from` at once. */
yoke_status_t yoke_probe_overhead(yoke_probe_t *probe, int to, int from,
                                  double *out_seconds);
/* bytes/s that this rank adds up */
double yoke_probe_reduction(yoke_probe_t *probe);

#endif
