/* SPDX-License-Identifier: Apache-2.0 */
/* The small parts of the probe: vendor files, helper processes, texts, checks of results.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/backend.h"
#include "backends/cuda/cu.h"
#include "backends/hip/hip.h"
#include "backends/level_zero/ze.h"
#include "backends/opencl/cl.h"
#include "base/text.h"
#include "hal/probe/child.h"
#include "hal/probe/icd.h"
#include "hal/loader.h"
#include "hal/measure/matrix.h"
#include "hal/probe/sysfs.h"
#include "hal/probe/wire.h"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/yoke-test-hal-XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char *command = yoke_format("rm -rf '%s'", folder);
    int code = system(command);
    free(command);
    return code;
}

static void put_file(const char *name, const char *data, size_t size, mode_t mode)
{
    char *path = yoke_format("%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, size), (ssize_t)size);
    close(fd);
    free(path);
}

/* --- vendor files ------------------------------------------------------------------- */

static const char *library_in(const char *text, size_t size)
{
    static char library[256];
    yoke_icds_t icds;
    put_file("one.icd", text, size, 0644);
    char *path = yoke_format("%s/one.icd", folder);
    setenv("OCL_ICD_VENDORS", path, 1);
    assert_int_equal(yoke_icds_list(NULL, &icds), YOKE_OK);
    assert_int_equal(icds.count, 1);
    snprintf(library, sizeof library, "%s",
             icds.items[0].library != NULL ? icds.items[0].library : "(none)");
    assert_int_equal(icds.items[0].library == NULL, icds.items[0].problem != NULL);
    yoke_icds_free(&icds);
    free(path);
    return library;
}

static void vendor_files(void **state)
{
    (void)state;
    assert_string_equal(library_in("libx.so", 7), "libx.so");
    assert_string_equal(library_in("libx.so  \t\r\n", 11), "libx.so");
    assert_string_equal(library_in("\xef\xbb\xbf libx.so\n", 12), "libx.so");
    assert_string_equal(library_in("\r\n\n libx.so\nliby.so\n", 19), "libx.so");
    assert_string_equal(library_in("/opt/a b/libx.so\n", 17), "/opt/a b/libx.so");
    assert_string_equal(library_in("", 0), "(none)");
    assert_string_equal(library_in(" \r\n\t\n", 5), "(none)");
    assert_string_equal(library_in("\0\0\0", 3), "(none)");
}

/* --- helper processes --------------------------------------------------------------- */

static void run_script(const char *script, yoke_child_t *child)
{
    static const char *const arguments[] = {"one", "two words", NULL};
    char *path = yoke_format("%s/helper", folder);
    char *text = yoke_format("#!/bin/sh\n%s\n", script);
    put_file("helper", text, strlen(text), 0755);
    setenv("YOKE_PROBE_HELPER", path, 1);
    child->arguments = arguments;
    if (child->timeout == 0)
        child->timeout = 30;
    yoke_children_run(child, 1);
    free(text);
    free(path);
}

static void child_finishes(void **state)
{
    (void)state;
    yoke_child_t child = {0};
    run_script(
        "echo \"$2\" >&3; echo noise; echo oops >&2; printf '\\nend 1 93 0\\n' >&3",
        &child);
    assert_int_equal(child.end, YOKE_CHILD_FINISHED);
    assert_string_equal(yoke_text_get(&child.lines), "two words\n");
    assert_string_equal(child.last_words, "oops");
    yoke_child_clear(&child);
}

static void child_keeps_what_was_said(void **state)
{
    (void)state;
    yoke_child_t child = {0};
    run_script("printf 'first\\nsecond\\nto' >&3; printf '\\nend 0 0 11\\n' >&3", &child);
    assert_int_equal(child.end, YOKE_CHILD_CRASHED);
    assert_int_equal(child.signal_number, SIGSEGV);
    assert_non_null(strstr(yoke_text_get(&child.lines), "first\nsecond\n"));
    yoke_child_clear(&child);
}

static void helper_itself_dies(void **state)
{
    (void)state;
    yoke_child_t child = {0};
    run_script("echo first >&3; kill -9 $$", &child);
    assert_int_equal(child.end, YOKE_CHILD_CRASHED);
    assert_string_equal(yoke_text_get(&child.lines), "first\n");
    yoke_child_clear(&child);
}

static void child_hangs(void **state)
{
    (void)state;
    yoke_child_t child = {.timeout = 0.3};
    run_script("echo first >&3; sleep 30 & sleep 30", &child);
    assert_int_equal(child.end, YOKE_CHILD_TIMED_OUT);
    assert_string_equal(yoke_text_get(&child.lines), "first\n");
    yoke_child_clear(&child);
}

static void child_floods(void **state)
{
    (void)state;
    yoke_child_t child = {0};
    run_script(
        "while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; "
        "done >&3",
        &child);
    assert_int_equal(child.end, YOKE_CHILD_CRASHED);
    assert_true(child.overflowed);
    assert_true(child.lines.size <= (size_t)4 << 20);
    yoke_child_clear(&child);
}

static void environment_is_changed(void **state)
{
    (void)state;
    static const char *const changes[] = {"YOKE_TEST_A=2", "YOKE_TEST_B", NULL};
    yoke_child_t child = {.environment = changes};
    setenv("YOKE_TEST_A", "1", 1);
    setenv("YOKE_TEST_B", "1", 1);
    run_script(
        "echo \"$YOKE_TEST_A${YOKE_TEST_B-gone}\" >&3; printf '\\nend 1 93 0\\n' >&3",
        &child);
    assert_string_equal(yoke_text_get(&child.lines), "2gone\n");
    assert_string_equal(getenv("YOKE_TEST_B"), "1");
    yoke_child_clear(&child);
}

static void sigchld_of_the_caller(void **state)
{
    (void)state;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old, after;
    sigaction(SIGCHLD, &ignore, &old);
    yoke_child_t child = {0};
    run_script("printf '\\nend 0 0 6\\n' >&3", &child);
    assert_int_equal(child.end, YOKE_CHILD_CRASHED);
    assert_int_equal(child.signal_number, SIGABRT);
    sigaction(SIGCHLD, &old, &after);
    assert_true(after.sa_handler == SIG_IGN);
    yoke_child_clear(&child);
}

static void no_child_of_the_caller_is_taken(void **state)
{
    (void)state;
    pid_t own = fork();
    if (own == 0)
        _exit(7);
    yoke_child_t child = {0};
    run_script("printf '\\nend 1 93 0\\n' >&3", &child);
    int status = 0;
    assert_int_equal(waitpid(own, &status, 0), own);
    assert_int_equal(WEXITSTATUS(status), 7);
    yoke_child_clear(&child);
}

static void descriptors_do_not_leak(void **state)
{
    (void)state;
    yoke_child_t child = {0};
    int open_one = open("/dev/null", O_RDONLY); /* without O_CLOEXEC */
    run_script(
        "ls /proc/self/fd | tr '\\n' ' ' >&3; echo >&3; printf '\\nend 1 93 0\\n' >&3",
        &child);
    /* 0 1 2 3, and the one by which ls reads the folder */
    int highest = 0;
    for (const char *c = yoke_text_get(&child.lines); *c != '\0' && *c != '\n'; c++)
        if (*c >= '0' && *c <= '9')
            highest = atoi(c) > highest ? atoi(c) : highest;
    assert_true(highest <= 5);
    close(open_one);
    yoke_child_clear(&child);
}

static void helper_is_missing(void **state)
{
    (void)state;
    static const char *const arguments[] = {NULL};
    yoke_child_t child = {.arguments = arguments, .timeout = 1};
    setenv("YOKE_PROBE_HELPER", "/nowhere/yoke-probe", 1);
    yoke_children_run(&child, 1);
    assert_int_equal(child.end, YOKE_CHILD_NOT_STARTED);
    assert_non_null(strstr(child.problem, "/nowhere/yoke-probe"));
    yoke_child_clear(&child);
}

/* --- lines through the pipe --------------------------------------------------------- */

static yoke_status_t count_record(void *context, yoke_record_t *record)
{
    *(int *)context += 1;
    yoke_record_clear(record);
    return YOKE_OK;
}

static yoke_status_t count_finding(void *context, const yoke_finding_t *finding)
{
    assert_string_equal(finding->verdict, "no device");
    assert_int_equal(finding->code, 0x78000001);
    *(int *)context += 10;
    return YOKE_OK;
}

static void garbage_is_dropped(void **state)
{
    (void)state;
    int seen = 0;
    yoke_wire_sink_t sink = {&seen, count_record, count_finding, NULL};
    yoke_text_t lines = {0};
    yoke_text_add(&lines,
                  "{\"record\": {\"probe\": \"hip\", \"runtime\": \"hip\"}}\n"
                  "libhip: hello\n{\"rec\n\n[]\n3\n{}\n"
                  "{\"finding\": {\"probe\": \"ze\", \"verdict\": \"no device\", "
                  "\"code\": 2013265921}}\n{\"finding\": 7}\n{\"unknown\": 1}\n{\"rec");
    assert_int_equal(yoke_wire_read("hip", &lines, &sink), YOKE_OK);
    assert_int_equal(seen, 11);
    yoke_text_free(&lines);
}

/* --- texts and codes of vendors ----------------------------------------------------- */

static void check_text(const char *raw, size_t size, const char *want)
{
    char *text = yoke_run_text(raw, size);
    if (want == NULL)
        assert_null(text);
    else
        assert_string_equal(text, want);
    free(text);
}

static void texts_of_vendors(void **state)
{
    (void)state;
    check_text("  A100\t ", 8, "A100");
    check_text("no end here", 5, "no en");
    check_text("", 0, NULL);
    check_text(" \n ", 3, NULL);
    check_text("a\033[31mred", 9, "a?[31mred");
    check_text("caf\xc3\xa9", 5, "caf\xc3\xa9");
    check_text("caf\xe9!", 5, "caf?!");
    check_text("\xc0\xaf", 2, "??");           /* overlong */
    check_text("\xed\xa0\x80", 3, "???");      /* surrogate */
    check_text("\xf0\x9f\x98", 3, "???");      /* torn */
    check_text("\xf4\x90\x80\x80", 4, "????"); /* above U+10FFFF */
}

static void names_of_codes(void **state)
{
    (void)state;
    assert_string_equal(yoke_cl_error_name(-1001), "CL_PLATFORM_NOT_FOUND_KHR");
    assert_string_equal(yoke_cl_error_name(-30), "CL_INVALID_VALUE");
    assert_string_equal(yoke_ze_error_name(0x78000001), "ZE_RESULT_ERROR_UNINITIALIZED");
    assert_string_equal(yoke_cu_error_name(803), "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH");
    assert_string_equal(yoke_hip_error_name(100), "hipErrorNoDevice");
    assert_string_equal(yoke_nvml_error_name(15), "NVML_ERROR_GPU_IS_LOST");
    assert_null(yoke_hip_error_name(-77));
    assert_null(yoke_cl_error_name(12345));
}

static void libraries(void **state)
{
    (void)state;
    static const char *const absent[] = {"libabsent-one.so.1", "libabsent-two.so", NULL};
    static const char *const there[] = {"libabsent-one.so.1", "libc.so.6", NULL};
    yoke_library_t library;
    char *problem = NULL;
    bool found = true;
    assert_false(yoke_library_open("TEST", absent, &library, &problem, &found));
    assert_false(found);
    assert_non_null(strstr(problem, "libabsent-one.so.1"));
    assert_non_null(strstr(problem, "libabsent-two.so"));
    free(problem);
    assert_true(yoke_library_open("TEST", there, &library, &problem, &found));
    size_t (*length)(const char *) = NULL;
    void (*missing)(void) = NULL;
    const yoke_symbol_t symbols[] = {{"strlen_v2", "strlen", &length, false},
                                     {"yoke_no_such_function", NULL, &missing, true}};
    assert_null(yoke_library_resolve(&library, symbols, 2));
    assert_int_equal(length("four"), 4);
    assert_true(missing == NULL);
    const yoke_symbol_t needed[] = {{"yoke_no_such_function", NULL, &missing, false}};
    assert_string_equal(yoke_library_resolve(&library, needed, 1),
                        "yoke_no_such_function");
    yoke_library_forget(&library);
    /* A file that is there and is no library: its problem is the answer. */
    put_file("libtext.so", "no library\n", 11, 0644);
    char *path = yoke_format("%s/libtext.so", folder);
    setenv("YOKE_LIB_TEST", path, 1);
    assert_false(yoke_library_open("TEST", there, &library, &problem, &found));
    assert_true(found);
    assert_non_null(strstr(problem, "libtext.so"));
    free(problem);
    free(path);
    unsetenv("YOKE_LIB_TEST");
}

/* --- results of measurements -------------------------------------------------------- */

static void wrong_products_are_found(void **state)
{
    (void)state;
    enum { N = 64 };
    float a[N * N], b[N * N], c[N * N];
    double x[N * N], y[N * N], z[N * N];
    yoke_matrix_fill_single(a, N, 1);
    yoke_matrix_fill_single(b, N, 2);
    yoke_matrix_fill_double(x, N, 1);
    yoke_matrix_fill_double(y, N, 2);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            double wide = 0;
            for (int k = 0; k < N; k++) {
                sum += a[i * N + k] * b[k * N + j];
                wide += x[i * N + k] * y[k * N + j];
            }
            c[i * N + j] = sum;
            z[i * N + j] = wide;
        }
    assert_true(yoke_matrix_check_single(a, b, c, N));
    assert_true(yoke_matrix_check_double(x, y, z, N));
    /* Any single element, and two that swap places within a row. */
    for (int i = 0; i < N * N; i += 97) {
        c[i] += 0.0625f;
        z[i] -= 0.0625;
        assert_false(yoke_matrix_check_single(a, b, c, N));
        assert_false(yoke_matrix_check_double(x, y, z, N));
        c[i] -= 0.0625f;
        z[i] += 0.0625;
    }
    memset(c, 0, sizeof c);
    assert_false(yoke_matrix_check_single(a, b, c, N));
}

/* --- addresses in paths ------------------------------------------------------------- */

static void addresses_in_paths(void **state)
{
    (void)state;
    yoke_pci_t pci;
    assert_true(yoke_sysfs_pci_of("/sys/devices/pci0000:00/0000:00:03.0/virtio2", &pci));
    assert_int_equal(pci.device, 3);
    assert_true(
        yoke_sysfs_pci_of("/sys/devices/pci10000:e0/10000:e0:06.0/10000:e1:00.1", &pci));
    assert_int_equal(pci.domain, 0x10000);
    assert_int_equal(pci.bus, 0xe1);
    assert_int_equal(pci.function, 1);
    assert_false(yoke_sysfs_pci_of("/sys/devices/virtual/net/lo", &pci));
    assert_false(yoke_sysfs_pci_of("", &pci));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vendor_files),
        cmocka_unit_test(child_finishes),
        cmocka_unit_test(child_keeps_what_was_said),
        cmocka_unit_test(helper_itself_dies),
        cmocka_unit_test(child_hangs),
        cmocka_unit_test(child_floods),
        cmocka_unit_test(environment_is_changed),
        cmocka_unit_test(sigchld_of_the_caller),
        cmocka_unit_test(no_child_of_the_caller_is_taken),
        cmocka_unit_test(descriptors_do_not_leak),
        cmocka_unit_test(helper_is_missing),
        cmocka_unit_test(garbage_is_dropped),
        cmocka_unit_test(texts_of_vendors),
        cmocka_unit_test(names_of_codes),
        cmocka_unit_test(libraries),
        cmocka_unit_test(wrong_products_are_found),
        cmocka_unit_test(addresses_in_paths),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
