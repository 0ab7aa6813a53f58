/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_FAILURE_H
#define YOKE_PARTITION_FAILURE_H

/* What is left of a plan when devices fail, before anybody plans anew. */

#include "partition/replay.h"

typedef struct yoke_failure {
    size_t devices;                     /* that failed */
    unsigned replicas, replicas_before; /* tensor groups left, and before */
    unsigned pipelines, pipelines_before;
    bool goes_on; /* false: of the last pipeline a stage has no device left */
    unsigned lost_pipeline, lost_stage; /* that stage */
} yoke_failure_t;

/**
 * Take the devices that `selector` picks out of the replay's layout, with the tensor
 * groups that they are in. A pipeline with a stage that has no replica left stops; one
 * that lost replicas runs smaller micro-batches and more of them; what a stopped one did
 * is spread over the others. At least the same number of samples is processed in a step.
 * Where nothing goes on the replay cannot be run any more, only freed.
 * @retval YOKE_ERR_USAGE  the selector matches no device of the plan
 */
yoke_status_t yoke_replay_fail(yoke_replay_t *replay, const char *selector,
                               yoke_failure_t *out_failure);

#endif
