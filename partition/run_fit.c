/* SPDX-License-Identifier: Apache-2.0 */
/* Fits a few constants to measured runs. */
#include "partition/run_errors.h"

#include <string.h>

#include "base/error.h"

enum { MOST_CONSTANTS = 16, ROUNDS = 60 };

#define LEAST 1e-3

typedef struct fit {
    const yoke_run_set_t *set;
    const bool *use;
    const char *const *names;
    size_t count;
} fit_t;

/* Mean of the greater of predicted / measured and its inverse, less 1, with the named
 * constants from `values`. */
static yoke_status_t get_loss(const fit_t *fit, const double *values, double *out)
{
    double sum = 0;
    size_t rows = 0;
    for (size_t i = 0; i < fit->set->run_count; i++) {
        const yoke_run_t *run = &fit->set->runs[i];
        if (!fit->use[i] || run->time <= 0)
            continue;
        yoke_constants_t constants = run->constants;
        yoke_run_result_t result;
        for (size_t k = 0; k < fit->count; k++)
            if (!yoke_constants_set(&constants, fit->names[k], values[k])) {
                *out = 1e300;
                return YOKE_OK;
            }
        yoke_status_t status = yoke_run_predict(run, &constants, &result);
        if (status != YOKE_OK)
            return status;
        double ratio = result.time / run->time;
        sum += (ratio < 1 ? 1 / ratio : ratio) - 1;
        rows++;
    }
    if (rows == 0)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: none of the runs to fit to has a measured time",
                         fit->set->csv.name);
    *out = sum / (double)rows;
    return YOKE_OK;
}

/* One constant up and down by `step`; keeps what is better. */
static yoke_status_t try_both(const fit_t *fit, double *values, size_t k, double step,
                              double *loss, bool *moved)
{
    double old = values[k], best = *loss;
    for (int way = 0; way < 2; way++) {
        double trial[MOST_CONSTANTS], got;
        memcpy(trial, values, fit->count * sizeof *trial);
        trial[k] = way == 0 ? old * step : old / step;
        if (old == 0) /* from nothing: a factor would leave it there */
            trial[k] = way == 0 ? LEAST * step : 0;
        yoke_status_t status = get_loss(fit, trial, &got);
        if (status != YOKE_OK)
            return status;
        if (got < best - 1e-9) {
            best = got;
            values[k] = trial[k];
            *moved = true;
        }
    }
    *loss = best;
    return YOKE_OK;
}

static yoke_status_t start(const fit_t *fit, const yoke_constants_t *constants,
                           double *values)
{
    for (size_t k = 0; k < fit->count; k++)
        if (!yoke_constants_value(constants, fit->names[k], &values[k]))
            return yoke_fail(
                YOKE_ERR_USAGE,
                "no constant is called \"%s\"; docs/cost-model.md names them",
                fit->names[k]);
    return YOKE_OK;
}

yoke_status_t yoke_run_fit(const yoke_run_set_t *set, const bool *use,
                           const char *const *names, yoke_constants_t *constants,
                           double *out_loss)
{
    fit_t fit = {set, use, names, 0};
    double values[MOST_CONSTANTS], loss = 0, step = 1.5;
    while (names[fit.count] != NULL)
        fit.count++;
    if (fit.count == 0 || fit.count > MOST_CONSTANTS)
        return yoke_fail(YOKE_ERR_USAGE, "from 1 to %d constants can be fitted at once",
                         MOST_CONSTANTS);
    yoke_status_t status = start(&fit, constants, values);
    if (status == YOKE_OK)
        status = get_loss(&fit, values, &loss);
    for (int round = 0; status == YOKE_OK && round < ROUNDS && step > 1.004; round++) {
        bool moved = false;
        for (size_t k = 0; status == YOKE_OK && k < fit.count; k++)
            status = try_both(&fit, values, k, step, &loss, &moved);
        if (!moved)
            step = 1 + (step - 1) / 2;
    }
    if (status != YOKE_OK)
        return status;
    for (size_t k = 0; k < fit.count; k++)
        (void)yoke_constants_set(constants, names[k], values[k]);
    *out_loss = loss;
    return YOKE_OK;
}
