/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_ARENA_H
#define YOKE_COMM_ARENA_H

/*
 * Memory shared by the ranks of one communicator that run on one kernel. Anonymous
 * (memfd), so that nothing is left behind however a rank ends. Where namespaces keep two
 * processes of one machine apart, they do not share one, and a warning says so once.
 */

#include "ucx_comm/control/control.h"

typedef struct yoke_arena yoke_arena_t;

/* Collective over the control plane. Each rank gets the arena of its own group of ranks
 * that can share memory (possibly itself alone). `size`: bytes, equal on all ranks. */
yoke_status_t yoke_arena_create(yoke_control_t *control, uint64_t size,
                                yoke_arena_t **out_arena);
void yoke_arena_destroy(yoke_arena_t *arena);

void *yoke_arena_base(const yoke_arena_t *arena); /* zeroed, page-aligned */
uint64_t yoke_arena_size(const yoke_arena_t *arena);
int yoke_arena_ranks(const yoke_arena_t *arena); /* how many share it */
int yoke_arena_index(const yoke_arena_t *arena); /* which of them this rank is */
/* rank of the communicator that is number `index` of the arena, ascending */
int yoke_arena_rank(const yoke_arena_t *arena, int index);
/* all ranks of the communicator are in it */
bool yoke_arena_is_whole(const yoke_arena_t *arena);
/* process_vm_readv works between the ranks of it (tried when it was made) */
bool yoke_arena_single_copy(const yoke_arena_t *arena);
/* Copy from the own memory of number `index`, at its address, where single_copy() holds.
 * false: it failed, and errno says why (ESRCH: the process has ended; EFAULT: it has no
 * such memory); `to` may be overwritten then. */
bool yoke_arena_read(const yoke_arena_t *arena, int index, void *to, uint64_t address,
                     uint64_t size);

/* For tests: ranks whose numbers differ modulo this are taken to be on different
 * machines. 0: as it is. */
extern int yoke_arena_pretended_hosts;

#endif
