/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/partition/fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

yoke_problem_t *fixture_problem(const yoke_model_t *model,
                                const yoke_constants_t *constants, unsigned hosts,
                                unsigned kinds, unsigned per_host)
{
    yoke_problem_t *problem = calloc(1, sizeof *problem);
    assert_non_null(problem);
    problem->model = model;
    problem->constants = constants;
    problem->options = (yoke_plan_options_t){.struct_size = sizeof problem->options,
                                             .global_batch = 8,
                                             .sequence = 1024,
                                             .dtype = YOKE_BF16};
    problem->host_count = hosts;
    problem->class_count = kinds;
    problem->slot_count = (size_t)hosts * kinds * per_host;
    problem->classes = calloc(kinds, sizeof *problem->classes);
    problem->slots = calloc(problem->slot_count, sizeof *problem->slots);
    assert_non_null(problem->classes);
    assert_non_null(problem->slots);
    for (unsigned k = 0; k < kinds; k++)
        problem->classes[k] = (yoke_class_t){.hosts = hosts,
                                             .per_host = per_host,
                                             .count = hosts * per_host,
                                             .rates = {.compute = 1e14,
                                                       .bandwidth = 1e12,
                                                       .link = 1e11,
                                                       .link_peers = per_host},
                                             .memory_limit = 8e10,
                                             .memory_total = 8e10,
                                             .nic = 1e10,
                                             .host_devices = kinds * per_host,
                                             .intra = 2e10};
    for (size_t i = 0; i < problem->slot_count; i++) {
        problem->slots[i].host = (unsigned)(i / (kinds * per_host));
        problem->slots[i].class_index = (unsigned)(i / per_host % kinds);
    }
    return problem;
}

void fixture_problem_free(yoke_problem_t *problem)
{
    free(problem->classes);
    free(problem->slots);
    free(problem);
}

unsigned fixture_slot(const yoke_problem_t *problem, unsigned host, unsigned kind,
                      unsigned index)
{
    unsigned per_host = problem->classes[0].per_host;
    unsigned kinds = (unsigned)problem->class_count;
    return (host * kinds + kind) * per_host + index;
}

void fixture_pipeline_set(fixture_pipeline_t *out, const yoke_problem_t *problem,
                          unsigned stages, const unsigned *cuts, const unsigned *slots,
                          unsigned micro_batches, unsigned micro_batch)
{
    *out = (fixture_pipeline_t){0};
    out->pipeline = (yoke_pipeline_t){micro_batches, out->stages, stages};
    for (unsigned s = 0; s < stages; s++) {
        out->slots[s] = slots[s];
        out->replicas[s] =
            (yoke_replica_t){.micro_batch = micro_batch,
                             .tp = 1,
                             .class_index = problem->slots[slots[s]].class_index,
                             .slots = &out->slots[s]};
        out->stages[s] = (yoke_stage_t){
            .first = s == 0 ? 0 : cuts[s - 1],
            .last =
                s + 1 == stages ? (unsigned)problem->model->layer_count - 1 : cuts[s] - 1,
            .replicas = &out->replicas[s],
            .replica_count = 1};
    }
}
