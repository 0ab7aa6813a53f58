/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_CONTROL_H
#define YOKE_COMM_CONTROL_H

/*
 * The control plane of one communicator: how its ranks find each other, stay aware of
 * each other, and agree when some are gone. It carries small messages over TCP, and has
 * one thread that sleeps in poll(): hang-ups, pidfds of ranks of the same host,
 * heartbeats, and the flood of a revocation. It never touches user data.
 *
 * Threads: everything but the functions marked "any" belongs to the thread that uses the
 * communicator.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include "yoke/comm.h"

#define YOKE_COMM_PROTOCOL 1 /* version of everything that ranks say to each other */

typedef struct yoke_control yoke_control_t;

/* What a rank says of its place; gathered when the control plane is made. */
typedef struct yoke_peer {
    char host[64];       /* host name, for messages */
    uint8_t machine[16]; /* boot id: ranks with equal ones run on one kernel */
    uint64_t pid_space;  /* inode of the PID namespace */
    uint64_t net_space;  /* inode of the network namespace */
    uint64_t user_space; /* inode of the user namespace */
    int32_t pid;         /* in its own PID namespace */
    uint32_t protocol;   /* YOKE_COMM_PROTOCOL */
    char address[64];    /* numeric address that it is reached by */
    char interface[16];
} yoke_peer_t;

typedef enum yoke_control_state {
    YOKE_CONTROL_RUNNING = 0,
    YOKE_CONTROL_REVOKED = 1, /* calls under way must end */
} yoke_control_state_t;

/* `all_gather` is called a few times, the same number on every rank. */
yoke_status_t yoke_control_create(int size, int rank, yoke_comm_all_gather_t all_gather,
                                  void *context, const yoke_comm_options_t *options,
                                  yoke_control_t **out_control);
/* A control plane of some ranks of `parent`, which must all call it: ranks[] are ranks of
 * the parent, ascending in the new order. New sockets, new epoch: nothing of the parent's
 * reaches it. Works on a revoked parent as long as all of ranks[] live. */
yoke_status_t yoke_control_create_from(yoke_control_t *parent, const int *ranks,
                                       int count, uint32_t epoch,
                                       yoke_control_t **out_control);
void yoke_control_destroy(yoke_control_t *control);

int yoke_control_rank(const yoke_control_t *control);
int yoke_control_size(const yoke_control_t *control);
const yoke_peer_t *yoke_control_peer(const yoke_control_t *control, int rank);
/* A random number equal on all ranks of this control plane and on no other. */
uint64_t yoke_control_identity(const yoke_control_t *control);

/* All-gather of small data (up to 64 KiB a rank) at any later time; fails with
 * YOKE_ERR_REVOKED, YOKE_ERR_PEER_FAILED or YOKE_ERR_TIMEOUT. */
yoke_status_t yoke_control_all_gather(yoke_control_t *control, const void *mine,
                                      size_t size, void *all, uint32_t timeout_ms);
/* The word that waiting loops look at: a yoke_control_state_t. Threads: any. */
const _Atomic uint32_t *yoke_control_state(const yoke_control_t *control);
/* Why: YOKE_OK while running; sets the last error to a sentence that names rank, host and
 * reason. Threads: any. */
yoke_status_t yoke_control_reason(yoke_control_t *control);

/* Revoke on all ranks. status and text: the reason, told to all (the first one wins).
 * Returns at once. Threads: any. */
void yoke_control_revoke(yoke_control_t *control, yoke_status_t status, const char *text);
/*
 * This rank waited past a deadline for `rank`. Looks whether it still beats; returns true
 * and revokes with YOKE_ERR_PEER_FAILED where it does not, else revokes with
 * YOKE_ERR_TIMEOUT. Takes at most 100 ms.
 */
bool yoke_control_suspect(yoke_control_t *control, int rank, const char *what);
/* Counts the ranks known to have failed; writes up to `capacity`. From the first
 * agreement on these are the ones that the last one found, the same on all survivors; a
 * rank that fails later joins them in the next one. Threads: any. */
int yoke_control_failed(yoke_control_t *control, int *ranks, int capacity);
/* The rank has failed, or has destroyed its communicator in good order: what has not come
 * from it will not come. The latter alone revokes nothing, since all may have come; who
 * still needs it calls yoke_control_suspect(). Threads: any. */
bool yoke_control_departed(yoke_control_t *control, int rank);

/* Agreement of survivors (yoke_comm_agree). After it every survivor has the same set in
 * yoke_control_failed(); ranks that destroyed their communicator are in it. Fails with
 * YOKE_ERR_PEER_FAILED on a rank that the others have given up, and with
 * YOKE_ERR_TIMEOUT, after which a further call goes on with the same agreement. */
yoke_status_t yoke_control_agree(yoke_control_t *control, uint32_t *flags,
                                 uint32_t timeout_ms);

/* --- ways to a control plane ------------------------------------------------------- */

/* An all-gather from a rendezvous, PMIx or the environment: the context of
 * yoke_control_create(). */
typedef struct yoke_rendezvous yoke_rendezvous_t;

yoke_status_t yoke_rendezvous_host(int size, const yoke_comm_options_t *options,
                                   yoke_comm_id_t *out_id);
yoke_status_t yoke_rendezvous_join(const yoke_comm_id_t *id, int size, int rank,
                                   const yoke_comm_options_t *options,
                                   yoke_rendezvous_t **out_rendezvous);
/* PMIx, or RANK and its kin; gives size and rank. */
yoke_status_t yoke_rendezvous_from_env(const yoke_comm_options_t *options, int *out_size,
                                       int *out_rank, yoke_rendezvous_t **out_rendezvous);
/* a yoke_comm_all_gather_t; context is the yoke_rendezvous_t */
yoke_status_t yoke_rendezvous_all_gather(void *rendezvous, const void *mine, size_t size,
                                         void *all);
void yoke_rendezvous_close(yoke_rendezvous_t *rendezvous);

#endif
