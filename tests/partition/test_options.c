/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the library that the command would refuse: numbers cut to 32 bits, values
 * that are none of their type. */
#include "tests/base/support.h"

#include "tests/costmodel/fixture.h"
#include "tests/partition/plan_fixture.h"

static const char cluster[] =
    "{\"schema\": \"yoke-inventory/1\", \"nodes\": [{\"hosts\": \"n1\", \"devices\": "
    "[{\"id\": "
    "\"g0\", \"kind\": \"gpu\", \"name\": \"A\", \"compute\": {\"bf16\": {\"rate\": "
    "1e14}}, "
    "\"bandwidth\": {\"rate\": 1e12}, \"memory\": {\"total\": 80000000000}}]}]}";

static yoke_status_t search(const yoke_plan_options_t *options)
{
    yoke_inventory_t *inventory = NULL;
    yoke_model_t *model = fixture_plan_model();
    yoke_plan_t *plan = NULL;
    assert_int_equal(
        yoke_inventory_parse("c.json", cluster, sizeof cluster - 1, &inventory), YOKE_OK);
    yoke_status_t status = yoke_plan_search(model, inventory, options, &plan);
    assert_true((plan != NULL) == (status == YOKE_OK));
    yoke_plan_free(plan);
    yoke_inventory_free(inventory);
    fixture_model_free(model);
    return status;
}

static yoke_plan_options_t good(void)
{
    return (yoke_plan_options_t){.struct_size = sizeof(yoke_plan_options_t),
                                 .dtype = YOKE_BF16,
                                 .recompute = YOKE_RECOMPUTE_AUTO,
                                 .global_batch = 8,
                                 .sequence = 128};
}

static void numbers_beyond_32_bits(void **state)
{
    (void)state;
    const uint64_t large = UINT64_C(1) << 32;
    yoke_plan_options_t options = good();
    assert_int_equal(search(&options), YOKE_OK);
    options.micro_batch = options.global_batch = large;
    assert_int_equal(search(&options), YOKE_ERR_USAGE);
    options = good();
    options.global_batch = large + 8;
    assert_int_equal(search(&options), YOKE_ERR_USAGE);
    options.global_batch = UINT64_MAX;
    assert_int_equal(search(&options), YOKE_ERR_USAGE);
    uint64_t *const degrees[] = {&options.tp, &options.dp, &options.stages,
                                 &options.micro_batch, &options.sequence};
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        options = good();
        *degrees[i] = large + 1;
        assert_int_equal(search(&options), YOKE_ERR_USAGE);
    }
}

static void values_of_no_type(void **state)
{
    (void)state;
    for (int wrong = -1; wrong <= 99; wrong += 100) {
        yoke_plan_options_t options = good();
        memcpy(&options.dtype, &wrong, sizeof options.dtype);
        assert_int_equal(search(&options), YOKE_ERR_USAGE);
        options = good();
        memcpy(&options.optimizer, &wrong, sizeof options.optimizer);
        assert_int_equal(search(&options), YOKE_ERR_USAGE);
        options = good();
        memcpy(&options.recompute, &wrong, sizeof options.recompute);
        assert_int_equal(search(&options), YOKE_ERR_USAGE);
        options = good();
        memcpy(&options.sharded_optimizer, &wrong, sizeof options.sharded_optimizer);
        assert_int_equal(search(&options), YOKE_ERR_USAGE);
        options = good();
        memcpy(&options.memory, &wrong, sizeof options.memory);
        assert_int_equal(search(&options), YOKE_ERR_USAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_beyond_32_bits),
        cmocka_unit_test(values_of_no_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
