/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every operator on every device named: test_operators [DEVICE...], or
 * $YOKE_TEST_DEVICES, or "host:none --few host --one opencl". After "--few" and
 * "--one" fewer element types are tested on the devices that follow, for compilers that
 * take their time; "--all" goes back. "DEVICE:none": as if it had no compiler;
 * "DEVICE:16": rows shared by groups of 16 items, as on GPUs. A device that is not there
 * is skipped.
 */

#include "tests/operators/support.h"
#include "tests/operators/tests.h"
#include "hal/kernels/operator.h"

static bool number(const char *text)
{
    return text[0] >= '1' && text[0] <= '9' && strspn(text, "0123456789") == strlen(text);
}

/* true: an option, not a device. */
static bool choose_elements(const char *word)
{
    uint32_t one = 1u << YOKE_ELEMENT_F32;
    uint32_t few = one | 1u << YOKE_ELEMENT_F16 | 1u << YOKE_ELEMENT_I8;
    if (strcmp(word, "--all") == 0)
        bench.elements = UINT32_MAX;
    else if (strcmp(word, "--few") == 0)
        bench.elements = few;
    else if (strcmp(word, "--one") == 0)
        bench.elements = one;
    else
        return false;
    return true;
}

/* false: not there. */
static bool bench_open(const char *spec)
{
    char device[64];
    const char *colon = strrchr(spec, ':');
    bool special = colon != NULL && (strcmp(colon + 1, "none") == 0 || number(colon + 1));
    (void)snprintf(device, sizeof device, "%.*s",
                   special ? (int)(colon - spec) : (int)strlen(spec), spec);
    bench.name = spec;
    if (yoke_device_open(device, NULL, &bench.device) != YOKE_OK) {
        printf("%s: skipped: %s\n", spec, yoke_last_error());
        return false;
    }
    OK(yoke_queue_create(bench.device, NULL, &bench.queue));
    OK(yoke_operators_create(bench.device, &bench.operators));
    OK(yoke_buffer_create(bench.device, YOKE_MEMORY_DEVICE, 128 * 1024, &bench.scratch));
    if (special && number(colon + 1))
        yoke_operators_share_rows(bench.operators, (uint32_t)atoi(colon + 1));
    else if (special)
        bench.operators->no_compiler = true;
    if (special)
        bench.operators->no_gemm = UINT32_MAX;
    printf("%s: axpy by %s, gemm by %s\n", spec,
           yoke_operators_path(bench.operators, "axpy", YOKE_ELEMENT_F32),
           yoke_operators_path(bench.operators, "gemm", YOKE_ELEMENT_F32));
    return true;
}

static void bench_close(void)
{
    yoke_operators_destroy(bench.operators);
    yoke_buffer_destroy(bench.scratch);
    yoke_queue_destroy(bench.queue);
    yoke_device_close(bench.device);
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fill),          cmocka_unit_test(test_convert),
        cmocka_unit_test(test_axpy_scale),    cmocka_unit_test(test_reduce),
        cmocka_unit_test(test_fold),          cmocka_unit_test(test_select),
        cmocka_unit_test(test_pack_unpack),   cmocka_unit_test(test_gemm),
        cmocka_unit_test(test_columns),       cmocka_unit_test(test_softmax),
        cmocka_unit_test(test_norms),         cmocka_unit_test(test_activations),
        cmocka_unit_test(test_embedding),     cmocka_unit_test(test_rotary),
        cmocka_unit_test(test_cross_entropy), cmocka_unit_test(test_adam),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests_name(bench.name, tests, NULL, NULL);
}

int main(int argc, char **argv)
{
    static char standard[] = "host:none --few host --one opencl";
    char *listed = getenv("YOKE_TEST_DEVICES");
    char *names[32];
    int count = 0;
    int failed = 0;
    int ran = 0;
    for (int i = 1; i < argc && count < 32; i++)
        names[count++] = argv[i];
    listed = listed == NULL ? standard : strdup(listed);
    if (count == 0)
        for (char *name = strtok(listed, " "); name != NULL && count < 32;
             name = strtok(NULL, " "))
            names[count++] = name;
    yoke_log_set_level(YOKE_LOG_WARNING);
    bench.elements = UINT32_MAX;
    for (int i = 0; i < count; i++)
        if (!choose_elements(names[i]) && bench_open(names[i])) {
            ran++;
            failed += run_all();
            bench_close();
        }
    if (listed != standard)
        free(listed);
    return failed != 0 ? 1 : ran == 0 ? 77 : 0;
}
