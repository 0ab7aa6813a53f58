/* SPDX-License-Identifier: Apache-2.0 */
/* Device masks: the published case and the rules one by one. */
#include "tests/inventory/support.h"

#include "inventory/visibility.h"

static const char *from_object(void *context, const char *name)
{
    return string_in(context, name);
}

static yoke_visibility_t applied(const char *runtime, const yoke_card_t *cards,
                                 size_t count, json_t *environment)
{
    yoke_visibility_t visibility = {0};
    must(yoke_visibility_apply(runtime, cards, count, from_object, environment,
                               &visibility));
    return visibility;
}

/* "0 2 | 1:VARIABLE": visible in order, hidden with the variable. */
static void check(const char *runtime, const yoke_card_t *cards, size_t count,
                  json_t *environment, const char *wanted)
{
    yoke_text_t text = {0};
    yoke_visibility_t visibility = applied(runtime, cards, count, environment);
    for (size_t i = 0; i < visibility.count; i++)
        yoke_text_printf(&text, "%zu ", visibility.order[i]);
    yoke_text_add(&text, "|");
    for (size_t i = 0; i < count; i++)
        if (visibility.hidden_by[i] != NULL)
            yoke_text_printf(&text, " %zu:%s", i, visibility.hidden_by[i]);
    assert_string_equal(yoke_text_get(&text), wanted);
    yoke_text_free(&text);
    yoke_visibility_free(&visibility);
    json_decref(environment);
}

static size_t read_cards(const json_t *list, yoke_card_t *cards)
{
    size_t i;
    json_t *card;
    json_array_foreach(list, i, card) cards[i] =
        (yoke_card_t){.pci = string_in(card, "bdf"), .speed = number_in(card, "speed")};
    return json_array_size(list);
}

static void check_case(const char *runtime, const json_t *vendor, const json_t *right)
{
    yoke_card_t cards[8];
    size_t count = read_cards(json_object_get(vendor, "cards"), cards);
    const char *letter;
    json_t *environment;
    json_object_foreach(json_object_get(vendor, "env"), letter, environment)
    {
        const json_t *answer = json_object_get(right, letter);
        yoke_visibility_t seen = applied(runtime, cards, count, environment);
        if (json_is_string(answer)) {
            assert_int_equal(seen.warnings.count, 1);
            assert_non_null(strstr(seen.warnings.items[0], "HIP_VISIBLE_DEVICES"));
            assert_non_null(strstr(seen.warnings.items[0], "CUDA_VISIBLE_DEVICES"));
        } else if (json_is_integer(answer)) {
            assert_int_equal(seen.count, json_integer_value(answer));
        } else {
            assert_int_equal(seen.count, json_array_size(answer));
            for (size_t i = 0; i < seen.count; i++)
                assert_string_equal(cards[seen.order[i]].pci,
                                    json_string_value(json_array_get(answer, i)));
        }
        yoke_visibility_free(&seen);
    }
}

static void published_case(void **state)
{
    (void)state;
    json_t *scenarios = case_file("hal-06-visible-masks", "scenarios.json");
    json_t *wanted = case_file("hal-06-visible-masks", "case.json");
    const json_t *right = json_object_get(wanted, "right");
    check_case("hip", json_object_get(scenarios, "amd"), right);
    check_case("cuda", json_object_get(scenarios, "nvidia"), right);
    json_decref(scenarios);
    json_decref(wanted);
}

static const yoke_card_t four[] = {
    {.pci = "0000:0c:00.0", .uuid = "GPU-aaaa1111", .speed = 1},
    {.pci = "0000:02:00.0", .uuid = "GPU-aaaa2222", .speed = 3},
    {.pci = "0001:01:00.0", .uuid = "GPU-bbbb3333", .speed = 3},
    {.pci = "0000:07:00.0", .uuid = "MIG-cccc4444", .slice = true},
};

static void cuda_orders_and_stops(void **state)
{
    (void)state;
    check("cuda", four, 3, json_object(), "1 2 0 |");
    check("cuda", four, 3, json_pack("{s:s}", "CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
          "1 0 2 |");
    check("cuda", four, 3, json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "2,-1,0"),
          "0 | 1:CUDA_VISIBLE_DEVICES 2:CUDA_VISIBLE_DEVICES");
    check("cuda", four, 3,
          json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "GPU-bbbb, GPU-aaaa2"),
          "2 1 | 0:CUDA_VISIBLE_DEVICES");
    check("cuda", four, 3, json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "GPU-aaaa"),
          "| 0:CUDA_VISIBLE_DEVICES 1:CUDA_VISIBLE_DEVICES 2:CUDA_VISIBLE_DEVICES");
    check("cuda", four, 3, json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "0,1,0"),
          "| 0:CUDA_VISIBLE_DEVICES 1:CUDA_VISIBLE_DEVICES 2:CUDA_VISIBLE_DEVICES");
    check("cuda", four, 4, json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "MIG-cccc4444"),
          "3 | 0:CUDA_VISIBLE_DEVICES 1:CUDA_VISIBLE_DEVICES 2:CUDA_VISIBLE_DEVICES");
    check("cuda", four, 3, json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "NoDevFiles"),
          "| 0:CUDA_VISIBLE_DEVICES 1:CUDA_VISIBLE_DEVICES 2:CUDA_VISIBLE_DEVICES");
    check("cuda", four, 3,
          json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "99999999999999999999"),
          "| 0:CUDA_VISIBLE_DEVICES 1:CUDA_VISIBLE_DEVICES 2:CUDA_VISIBLE_DEVICES");
}

static void hip_masks_compose(void **state)
{
    (void)state;
    check(
        "hip", four, 3,
        json_pack("{s:s,s:s}", "ROCR_VISIBLE_DEVICES", "2,0", "HIP_VISIBLE_DEVICES", "1"),
        "0 | 1:ROCR_VISIBLE_DEVICES 2:HIP_VISIBLE_DEVICES");
    check("hip", four, 3,
          json_pack("{s:s,s:s}", "GPU_DEVICE_ORDINAL", "1,2", "HIP_VISIBLE_DEVICES", "0"),
          "1 | 0:GPU_DEVICE_ORDINAL 2:HIP_VISIBLE_DEVICES");
    check("hip", four, 3, json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "1"),
          "1 | 0:CUDA_VISIBLE_DEVICES 2:CUDA_VISIBLE_DEVICES");
    check("hip", four, 3, json_pack("{s:s}", "ROCR_VISIBLE_DEVICES", "GPU-bbbb3333"),
          "2 | 0:ROCR_VISIBLE_DEVICES 1:ROCR_VISIBLE_DEVICES");
}

static void each_vendor_has_its_own(void **state)
{
    static const struct {
        const char *runtime, *variable;
    } own[] = {{"ascend", "ASCEND_RT_VISIBLE_DEVICES"},
               {"cambricon", "MLU_VISIBLE_DEVICES"},
               {"musa", "MUSA_VISIBLE_DEVICES"},
               {"level_zero", "ZE_AFFINITY_MASK"}};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char *wanted = yoke_format("2 0 | 1:%s", own[i].variable);
        check(own[i].runtime, four, 3, json_pack("{s:s}", own[i].variable, "2,0"),
              wanted);
        check(own[i].runtime, four, 3, json_pack("{s:s}", "CUDA_VISIBLE_DEVICES", "1"),
              "0 1 2 |");
        assert_string_equal(yoke_visibility_variables(own[i].runtime)[0],
                            own[i].variable);
        free(wanted);
    }
}

static void level_zero_names_tiles(void **state)
{
    (void)state;
    check("level_zero", four, 3, json_pack("{s:s}", "ZE_AFFINITY_MASK", "0.1,0.0,2"),
          "0 2 | 1:ZE_AFFINITY_MASK");
    check("level_zero", four, 3, json_pack("{s:s}", "ZE_AFFINITY_MASK", ""), "0 1 2 |");
}

static void pocl_is_only_told(void **state)
{
    (void)state;
    json_t *environment = json_pack("{s:s}", "POCL_DEVICES", "cpu");
    yoke_visibility_t seen = applied("opencl", four, 3, environment);
    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.warnings.count, 1);
    yoke_visibility_free(&seen);
    json_decref(environment);
    check("null", four, 3, json_object(), "0 1 2 |");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(published_case),
        cmocka_unit_test(cuda_orders_and_stops),
        cmocka_unit_test(hip_masks_compose),
        cmocka_unit_test(each_vendor_has_its_own),
        cmocka_unit_test(level_zero_names_tiles),
        cmocka_unit_test(pocl_is_only_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
