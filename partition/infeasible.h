/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_INFEASIBLE_H
#define YOKE_PARTITION_INFEASIBLE_H

/* Why there is no plan: which constraint, which device, how much is missing, and the
 * nearest change of the options with which there is one. */

#include "partition/search.h"

/* Fails with YOKE_ERR_NO and the message, or with what went wrong on the way. `result` is
 * of a search that found nothing. */
yoke_status_t yoke_infeasible_explain(const yoke_problem_t *problem,
                                      const yoke_search_result_t *result);

/* A tensor-parallel degree was asked for that the class cannot run: YOKE_ERR_NO. */
yoke_status_t yoke_infeasible_degree(const yoke_problem_t *problem, unsigned class_index,
                                     uint64_t degree);

#endif
