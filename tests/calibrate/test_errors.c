/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "partition/run_errors.h"

static void near(double got, double want)
{
    if (got > want + 1e-9 || got < want - 1e-9)
        fail_msg("got %g, want %g", got, want);
}

static void test_figures(void **state)
{
    (void)state;
    /* Errors +10, -20, +30, 0 %; two groups. In the first the pick (predicted 0.8)
     * took 1.0 where 1.0 is the best; in the second the pick (2.0) took 2.0, best 2.0. */
    yoke_error_row_t rows[] = {{1.1, 1, 0}, {0.8, 1, 0}, {2.6, 2, 1}, {4, 4, 1}};
    yoke_errors_t errors = yoke_errors_of(rows, 4);
    assert_int_equal(errors.count, 4);
    near(errors.mean, 0.15);
    near(errors.median, 0.15);
    near(errors.p90, 0.30);
    near(errors.bias, 0.05);
    assert_int_equal(errors.pairs, 1); /* the first two differ by less than 5 % */
    near(errors.order, 1);
    near(errors.regret, 0);
    assert_int_equal(errors.groups, 2);
}

static void test_regret(void **state)
{
    (void)state;
    /* Predicted best is the run that takes 3 where 2 would do: 50 %. The pairs: (2, 3)
     * and (2, 4) wrong, (3, 4) right. */
    yoke_error_row_t rows[] = {{9, 2, 7}, {1, 3, 7}, {5, 4, 7}, {1, 1, 8}};
    yoke_errors_t errors = yoke_errors_of(rows, 4);
    assert_int_equal(errors.groups, 1);
    assert_int_equal(errors.pairs, 3);
    near(errors.order, 1.0 / 3);
    near(errors.regret, 0.5);
    near(errors.regret_most, 0.5);
    assert_int_equal(yoke_errors_of(rows, 0).count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_regret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
