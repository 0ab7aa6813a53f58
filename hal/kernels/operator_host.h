/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_KERNELS_OPERATOR_HOST_H
#define YOKE_HAL_KERNELS_OPERATOR_HOST_H

/* Calls of operators in this process: operator_host.c. All wait for the queue. */

#include "hal/kernels/operator.h"

#pragma GCC visibility push(hidden)

yoke_status_t yoke_call_on_host(yoke_call_t *call, yoke_op_kernel_t kernel);
/** The same, a piece after another, for operations on single elements. */
yoke_status_t yoke_call_in_pieces(yoke_call_t *call, yoke_op_kernel_t kernel);
/** One more than the largest of `count` indices that are below `limit`; 0 for none. */
yoke_status_t yoke_host_largest(yoke_call_t *call, yoke_span_t indices, uint64_t count,
                                uint64_t limit, uint64_t *out_extent);

#pragma GCC visibility pop
#endif
