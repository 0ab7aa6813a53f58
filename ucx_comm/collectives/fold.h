/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_FOLD_H
#define YOKE_COMM_FOLD_H

/* How n ranks become a power of two of places: the first 2 (n - power) ranks are pairs
 * whose odd one has a place. */

#include "ucx_comm/collectives/builders.h"

typedef struct yoke_fold {
    int power, extra; /* places; pairs */
    int place;        /* this rank's, or -1 */
    int partner;      /* the other one of its pair, or -1 */
} yoke_fold_t;

yoke_fold_t yoke_fold_of(int size, int rank);
int yoke_fold_rank(const yoke_fold_t *fold, int place);

#endif
