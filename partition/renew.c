/* SPDX-License-Identifier: Apache-2.0 */
/* An edited plan made whole again: everything that follows from the placement. */
#include <jansson.h>
#include <stdlib.h>

#include "base/error.h"
#include "partition/certificate.h"
#include "partition/replay.h"

/* The certificate's reasons speak of the search; nobody searched here. */
static yoke_status_t add_unused(const yoke_replay_t *replay, yoke_plan_t *plan)
{
    size_t first = plan->unused_count;
    yoke_status_t status =
        yoke_certificate_unused(replay->problem, &replay->layout, plan);
    for (size_t i = first; status == YOKE_OK && i < plan->unused_count; i++)
        status = yoke_plan_set_string(&plan->unused[i].reason,
                                      "the placement has no work for it");
    return status;
}

static yoke_status_t add_notes(const yoke_problem_t *problem, yoke_plan_t *plan)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; status == YOKE_OK && i < problem->note_count; i++)
        status = yoke_plan_add_note(plan, "%s", problem->notes[i]);
    if (status == YOKE_OK)
        status = yoke_plan_add_note(
            plan,
            "all figures were made anew from the placement, which was given and not "
            "searched: no bound and no alternatives are stated");
    return status;
}

static yoke_status_t certify(const yoke_replay_t *replay, yoke_plan_t *plan)
{
    yoke_status_t status =
        yoke_certificate_range(replay->problem, &replay->layout,
                               &plan->iteration_time_low, &plan->iteration_time_high);
    if (status == YOKE_OK)
        status = yoke_certificate_sensitivity(replay->problem, &replay->layout, plan);
    if (status == YOKE_OK)
        status = add_unused(replay, plan);
    if (status == YOKE_OK)
        status = add_notes(replay->problem, plan);
    if (status != YOKE_OK)
        return status;
    free(plan->limited_by);
    plan->limited_by =
        yoke_certificate_limit(replay->problem, &replay->layout, &replay->evaluation);
    return plan->limited_by != NULL ? YOKE_OK : yoke_fail_memory();
}

yoke_status_t yoke_plan_renew(const yoke_plan_t *plan, const yoke_model_t *model,
                              const yoke_inventory_t *inventory, const char *command,
                              yoke_plan_t **out_plan)
{
    yoke_replay_t replay;
    yoke_plan_t *anew = NULL;
    yoke_status_t status = yoke_replay_new(plan, model, inventory, NULL, 0, &replay);
    if (status != YOKE_OK)
        return status;
    status = yoke_replay_run(&replay, NULL, NULL);
    if (status == YOKE_OK)
        status = yoke_plan_from_layout(replay.problem, replay.cache, &replay.layout,
                                       &replay.evaluation, &anew);
    if (status == YOKE_OK)
        status = certify(&replay, anew);
    if (status == YOKE_OK && command != NULL)
        status = yoke_plan_set_string(&anew->made_by_command, command);
    if (status == YOKE_OK && plan->extra != NULL)
        anew->extra = json_incref((json_t *)plan->extra);
    yoke_replay_free(&replay);
    if (status != YOKE_OK) {
        yoke_plan_free(anew);
        return status;
    }
    *out_plan = anew;
    return YOKE_OK;
}
