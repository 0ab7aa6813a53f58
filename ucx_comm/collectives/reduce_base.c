/* SPDX-License-Identifier: Apache-2.0 */
/* The loops with what every processor of the target has. */
#define REDUCE_LOOPS yoke_reduce_loops_base
#include "ucx_comm/collectives/reduce_loops.inc"
