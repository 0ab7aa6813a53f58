/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_INVENTORY_RANKS_H
#define YOKE_TOOLS_INVENTORY_RANKS_H

/* --gather: which rank this process is, where the ranks meet, and the sending. */

#include <stdbool.h>
#include <stddef.h>
#include "base/text.h"
#include "yoke/status.h"

typedef struct gather_rank {
    unsigned rank, size;
    int local_rank; /* -1: the launcher does not say */
    int local_size; /* -1: the launcher does not say */
    char job[96];   /* the same on all ranks of one job, letters and digits only */
    char *address;  /* HOST:PORT of rank 0, or NULL */
    char *folder;   /* shared folder with the address of rank 0, or NULL */
} gather_rank_t;

/* From the launcher's variables. `rendezvous`: the option's value or NULL. */
yoke_status_t gather_rank_find(const char *rendezvous, gather_rank_t *out_rank);
void gather_rank_free(gather_rank_t *rank);

/* What a rank sends: its document (empty for ranks that did not probe) and its host. */
typedef struct gather_part {
    bool came;
    char *host;
    char *document;
} gather_part_t;

/* Rank 0: wait for all others, at most `timeout` seconds. parts[0..size-1]; parts[0] is
 * the caller's own. */
yoke_status_t gather_receive(const gather_rank_t *rank, double timeout,
                             gather_part_t *parts);
/* Every other rank: send to rank 0; waits for it at most `timeout` seconds. */
yoke_status_t gather_send(const gather_rank_t *rank, double timeout,
                          const gather_part_t *part);

#endif
