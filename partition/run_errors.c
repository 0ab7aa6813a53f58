/* SPDX-License-Identifier: Apache-2.0 */
#include "partition/run_errors.h"

#include <stdlib.h>
#include <string.h>

static double error_of(const yoke_error_row_t *row)
{
    double error = row->predicted / row->measured - 1;
    return error < 0 ? -error : error;
}

static int by_error(const void *a, const void *b)
{
    double x = error_of(a), y = error_of(b);
    return x < y ? -1 : x > y ? 1 : 0;
}

static int by_group(const void *a, const void *b)
{
    const yoke_error_row_t *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->measured < y->measured ? -1 : x->measured > y->measured ? 1 : 0;
}

/* Pairs and regret of the rows of one group, the fastest measured first. */
static void add_group(const yoke_error_row_t *rows, size_t count, size_t *right,
                      yoke_errors_t *errors)
{
    size_t pick = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].predicted < rows[pick].predicted)
            pick = i;
        for (size_t j = i + 1; j < count; j++) {
            if (rows[j].measured <= 1.05 * rows[i].measured)
                continue;
            errors->pairs++;
            *right += rows[i].predicted < rows[j].predicted ? 1 : 0;
        }
    }
    if (count < 2)
        return;
    double regret = rows[pick].measured / rows[0].measured - 1;
    errors->groups++;
    errors->regret += regret;
    if (regret > errors->regret_most)
        errors->regret_most = regret;
}

yoke_errors_t yoke_errors_of(yoke_error_row_t *rows, size_t count)
{
    yoke_errors_t errors = {.count = count};
    if (count == 0)
        return errors;
    qsort(rows, count, sizeof *rows, by_error);
    for (size_t i = 0; i < count; i++) {
        errors.mean += error_of(&rows[i]) / (double)count;
        errors.bias += (rows[i].predicted / rows[i].measured - 1) / (double)count;
    }
    size_t middle = count / 2;
    errors.median = count % 2 != 0
                        ? error_of(&rows[middle])
                        : (error_of(&rows[middle - 1]) + error_of(&rows[middle])) / 2;
    size_t ninth = (9 * count + 9) / 10; /* nearest rank */
    errors.p90 = error_of(&rows[ninth > 0 ? ninth - 1 : 0]);

    size_t right = 0;
    qsort(rows, count, sizeof *rows, by_group);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && rows[end].group == rows[i].group; end++)
            ;
        add_group(&rows[i], end - i, &right, &errors);
    }
    errors.order = errors.pairs > 0 ? (double)right / (double)errors.pairs : 0;
    errors.regret /= errors.groups > 0 ? (double)errors.groups : 1;
    return errors;
}

bool yoke_run_rivals(const yoke_run_t *a, const yoke_run_t *b)
{
    return a->model == b->model && a->devices == b->devices &&
           a->global_batch == b->global_batch && a->sequence == b->sequence &&
           a->fp8 == b->fp8 && strcmp(a->source, b->source) == 0 &&
           strcmp(a->device_name, b->device_name) == 0;
}

void yoke_run_groups(const yoke_run_set_t *set, unsigned *out)
{
    for (size_t i = 0; i < set->run_count; i++) {
        out[i] = (unsigned)i;
        for (size_t j = 0; j < i; j++)
            if (out[j] == j && yoke_run_rivals(&set->runs[i], &set->runs[j])) {
                out[i] = (unsigned)j;
                break;
            }
    }
}
