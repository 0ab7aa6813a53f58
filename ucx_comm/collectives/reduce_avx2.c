/* SPDX-License-Identifier: Apache-2.0 */
/* The loops for x86-64 with AVX2 and F16C. */
#define REDUCE_LOOPS yoke_reduce_loops_avx2
#include "ucx_comm/collectives/reduce_loops.inc"
