/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_PLANE_H
#define YOKE_COMM_PLANE_H

/*
 * What one control plane consists of; for the files of this folder.
 *
 * Threads: the user's thread and the watcher share everything below under `lock`. Only
 * the watcher reads from links and closes them; either writes. `changed` is signalled
 * when anything that a waiting call looks at may have changed.
 */

#include <pthread.h>
#include "ucx_comm/control/proof.h"
#include "ucx_comm/control/settings.h"
#include "ucx_comm/control/wire.h"

/* A block of an all-gather that came before it was asked for. */
typedef struct yoke_block {
    struct yoke_block *next;
    uint64_t key;
    size_t size;
    uint8_t bytes[];
} yoke_block_t;

/* The connection to one other rank. */
typedef struct yoke_mesh_link {
    int fd;        /* -1: none */
    int process;   /* pidfd, or -1 */
    bool closing;  /* the rank has failed: what waits is sent, what comes is dropped */
    bool shut;     /* our end is shut */
    bool muted;    /* for tests: a link that loses what is sent */
    int64_t heard; /* when anything came */
    uint8_t *in;   /* YOKE_FRAME_HEADER + YOKE_FRAME_LIMIT bytes */
    size_t in_used;
    uint8_t *out;
    size_t out_used, out_done, out_capacity;
} yoke_mesh_link_t;

/* What is known of one rank. */
typedef struct yoke_standing {
    bool failed;       /* known to have failed */
    bool shown;        /* in yoke_control_failed() */
    bool departed;     /* destroyed its communicator in good order */
    int64_t heard;     /* when it last gave a sign of life */
    uint32_t seen_top; /* frames of it that were seen: the highest number, and which of */
    uint64_t seen;     /* the 64 up to it */
    yoke_block_t *blocks;
    /* its last vote */
    uint64_t vote_number;
    uint32_t vote_flags;
} yoke_standing_t;

/* See agree.c. */
typedef struct yoke_agreement {
    uint64_t number; /* of this rank's last call */
    bool voting;     /* voted, and no decision yet */
    uint32_t flags;
    int told;                /* the coordinator that has this rank's vote, or -1 */
    uint64_t decided_number; /* of the last decision; 0: none */
    uint32_t decided_flags;
    uint8_t *decided; /* the ranks that it found failed, as bits */
    int told_decision;
} yoke_agreement_t;

struct yoke_control {
    int size, rank;
    uint32_t epoch;
    uint64_t identity;
    uint8_t key[YOKE_KEY_SIZE];
    yoke_control_settings_t settings;
    yoke_peer_t *peers;
    int64_t beat_ms;

    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t watcher;
    bool watching;
    bool stop;
    int wake; /* eventfd: the watcher is to look again */

    _Atomic uint32_t state; /* yoke_control_state_t */
    yoke_status_t reason;
    char reason_text[YOKE_WIRE_TEXT];
    bool reason_told;
    bool expelled; /* the others have given this rank up */

    yoke_mesh_link_t *links;
    yoke_standing_t *standings;
    uint32_t sequence;
    uint64_t gathers;
    yoke_agreement_t agreement;
};

/* --- control.c -------------------------------------------------------------------- */

/* Up to how many ranks all are linked to all; a variable for tests only. */
extern int yoke_mesh_full_limit;
/* Are ranks a and b of `size` linked directly? See README.md. */
bool yoke_mesh_linked(int size, int a, int b);
/* What this process says of its place. */
yoke_status_t yoke_peer_here(yoke_peer_t *out_peer);
/* Fills address[] and addresses: what to tell the others, loopback last. */
yoke_status_t yoke_own_addresses(const yoke_control_settings_t *settings,
                                 yoke_place_t *place);

/* --- mesh.c ----------------------------------------------------------------------- */

/* Connect all links of this rank; places[] are all ranks'. On failure the message names
 * the pair. */
yoke_status_t yoke_mesh_connect(yoke_control_t *control, const yoke_place_t *places,
                                int listener, int64_t deadline);

/* --- watch.c ---------------------------------------------------------------------- */

yoke_status_t yoke_watch_start(yoke_control_t *control);
void yoke_watch_stop(yoke_control_t *control);
/* With the lock held. Send to one rank, or to all (YOKE_ANY_RANK); where there is no
 * direct link the frame is passed on by others. */
void yoke_send(yoke_control_t *control, yoke_frame_type_t type, uint32_t target,
               uint64_t key, const void *payload, size_t size);
/* A frame that goes no further than the link to `rank`. */
void yoke_send_direct(yoke_control_t *control, int rank, yoke_frame_type_t type);
void yoke_link_put(yoke_control_t *control, yoke_mesh_link_t *link,
                   const yoke_frame_t *frame, const void *payload);

/* --- liveness.c; all with the lock held ------------------------------------------- */

/* The first reason wins. */
void yoke_set_revoked(yoke_control_t *control, yoke_status_t status, const char *text);
/* `announce`: tell all ranks, the failed one included. */
void yoke_set_failed(yoke_control_t *control, int rank, bool announce, const char *text);
void yoke_set_departed(yoke_control_t *control, int rank);
void yoke_take_revoke(yoke_control_t *control, const uint8_t *payload, size_t size);
/* Returns true where it is news, to be passed on. */
bool yoke_take_failed(yoke_control_t *control, const uint8_t *payload, size_t size);
/* "rank 3 (host n1, process 77)" */
char *yoke_rank_text(const yoke_control_t *control, int rank, char buffer[160]);
static inline bool yoke_is_gone(const yoke_control_t *control, int rank)
{
    return control->standings[rank].failed || control->standings[rank].departed;
}
/* Waits for `changed`; false once the deadline has passed. */
bool yoke_wait_changed(yoke_control_t *control, int64_t deadline);
/* The reason as a failure of the calling thread. */
yoke_status_t yoke_fail_reason(yoke_control_t *control);

/* --- gather.c, agree.c ------------------------------------------------------------ */

void yoke_take_block(yoke_control_t *control, int origin, uint64_t key,
                     const uint8_t *payload, size_t size);
void yoke_drop_blocks(yoke_control_t *control);
/* All-gather among ranks[] (this one included), whether the plane is revoked or not. */
yoke_status_t yoke_gather_among(yoke_control_t *control, const int *ranks, int count,
                                uint64_t key, const void *mine, size_t size, void *all,
                                int64_t deadline);

void yoke_take_vote(yoke_control_t *control, int origin, uint64_t number,
                    const uint8_t *payload, size_t size);
void yoke_take_decision(yoke_control_t *control, uint64_t number, const uint8_t *payload,
                        size_t size);
/* After anything has changed. */
void yoke_agree_step(yoke_control_t *control);

#endif
