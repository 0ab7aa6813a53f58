/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of the host: kernels by the C compiler, with and without barriers. */
#include "tests/host_live/support.h"

#include <sys/stat.h>
#include <unistd.h>

static const char axpy[] =
    "#define REAL TYPE\n"
    "YOKE_FUNCTION REAL twice(REAL x) { return x + x; }\n"
    "YOKE_KERNEL void axpy(YOKE_GLOBAL REAL *y, YOKE_GLOBAL const REAL *x,\n"
    "                      REAL alpha, const u64 n)\n"
    "{\n"
    "    u64 i = YOKE_GLOBAL_ID(0);\n"
    "    if (i < n) y[i] += alpha * twice(x[i]);\n"
    "}\n"
    "#if 0\nYOKE_KERNEL void never(nothing x) {}\n#endif\n"
    "#define MAKE(name) YOKE_KERNEL void name(YOKE_GLOBAL u32 *x) { x[0] += 1u; }\n"
    "MAKE(first) MAKE(second)\n";

static void launch_axpy(yoke_impl_program_t *program)
{
    enum { n = 1000 };
    yoke_impl_queue_t *queue = make_queue();
    fake_public_t x = {make_buffer(n * 4)}, y = {make_buffer(n * 4 + 8)};
    yoke_impl_kernel_t *kernel;
    float *fx = ops->buffer_address(x.impl), *fy = ops->buffer_address(y.impl);
    for (int i = 0; i < n + 2; i++)
        fy[i] = 1;
    for (int i = 0; i < n; i++)
        fx[i] = (float)i;
    assert_int_equal(ops->kernel_create(program, "axpy", &kernel), YOKE_OK);
    float alpha = 0.5f;
    uint64_t count = n;
    yoke_argument_t arguments[] = {argument(&y, 4), argument(&x, 0),
                                   yoke_argument_value(&alpha, 4),
                                   yoke_argument_value(&count, 8)};
    yoke_launch_t launch = {{16, 1, 1}, {64, 1, 1}};
    assert_int_equal(ops->launch(queue, kernel, &launch, arguments, 4), YOKE_OK);
    assert_int_equal(ops->queue_sync(queue), YOKE_OK);
    assert_true(fy[0] == 1 && fy[n + 1] == 1);
    for (int i = 0; i < n; i++)
        assert_true(fy[i + 1] == 1 + (float)i);
    /* What does not fit the kernel is refused and not run. */
    assert_int_equal(ops->launch(queue, kernel, &launch, arguments, 3), YOKE_ERR_USAGE);
    arguments[2].size = 8;
    assert_int_equal(ops->launch(queue, kernel, &launch, arguments, 4), YOKE_ERR_USAGE);
    arguments[2] = argument(&x, 0);
    assert_int_equal(ops->launch(queue, kernel, &launch, arguments, 4), YOKE_ERR_USAGE);
    launch.local[1] = 1024;
    assert_int_equal(ops->launch(queue, kernel, &launch, arguments, 4),
                     YOKE_ERR_OUT_OF_RANGE);
    assert_true(fy[1] == 1);
    ops->kernel_destroy(kernel);
    ops->buffer_destroy(x.impl);
    ops->buffer_destroy(y.impl);
    ops->queue_destroy(queue);
}

static void test_compile_and_binary(void **state)
{
    (void)state;
    yoke_impl_program_t *program, *again;
    yoke_impl_kernel_t *kernel = NULL;
    const void *data;
    size_t size;
    assert_int_equal(compile_dialect(axpy, "-DTYPE=f32", &program), YOKE_OK);
    launch_axpy(program);
    assert_int_equal(ops->kernel_create(program, "never", &kernel), YOKE_ERR_NOT_FOUND);
    assert_null(kernel);
    assert_int_equal(ops->kernel_create(program, "second", &kernel), YOKE_OK);
    ops->kernel_destroy(kernel);
    assert_int_equal(ops->program_binary(program, &data, &size), YOKE_OK);
    assert_int_equal(compile_source(data, size, true, "", &again), YOKE_OK);
    launch_axpy(again);
    launch_axpy(program);
    ops->program_destroy(again);
    /* Cut anywhere, it is refused, not loaded. */
    for (size_t cut = 0; cut < size; cut += size / 7) {
        char *part = malloc(cut + 1);
        memcpy(part, data, cut);
        again = NULL;
        assert_int_not_equal(compile_source(part, cut, true, "", &again), YOKE_OK);
        assert_null(again);
        free(part);
    }
    ops->program_destroy(program);
}

static void test_bad_source(void **state)
{
    (void)state;
    yoke_impl_program_t *program = NULL;
    assert_int_equal(compile_dialect("\nYOKE_KERNEL void f(YOKE_GLOBAL f32 *x)\n"
                                     "{ x[0] = undefined_name; }\n",
                                     "", &program),
                     YOKE_ERR_BAD_INPUT);
    /* In the user's lines, not the prologue's. */
    assert_non_null(strstr(last_log, "program:3:"));
    assert_non_null(strstr(last_log, "undefined_name"));
    assert_int_equal(compile_dialect("\n\nYOKE_KERNEL int f(u32 x) {}", "", &program),
                     YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(last_log, "line 3"));
    /* A native program's too, by the name that it was given, odd ones as well. */
    yoke_impl_program_source_t native = {.name = "a \"b\" \\c.cl",
                                         .data = "\nint f(void) { return nosuch; }\n",
                                         .options = ""};
    native.size = strlen(native.data);
    last_log[0] = '\0';
    assert_int_equal(ops->program_create(device, &native, keep_log, NULL, &program),
                     YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(last_log, ":2:"));
    assert_non_null(strstr(last_log, "c.cl"));
    assert_null(strstr(last_log, "program.c"));
    assert_int_equal(compile_dialect("#error \"no\"\n", "", &program),
                     YOKE_ERR_BAD_INPUT);
    assert_null(program);
}

/* Sums of groups by halves: wrong unless every item waits at every barrier. Items of one
 * half end early. */
static const char halves[] =
    "YOKE_KERNEL void halves(YOKE_GLOBAL u32 *out, YOKE_GLOBAL const u32 *in, u32 "
    "rounds)\n"
    "{\n"
    "    YOKE_LOCAL_ARRAY(u32, part, 1024);\n"
    "    u32 i = YOKE_ITEM(0) + YOKE_ITEMS(0) * (YOKE_ITEM(1) + YOKE_ITEMS(1) * "
    "YOKE_ITEM(2));\n"
    "    u32 n = YOKE_ITEMS(0) * YOKE_ITEMS(1) * YOKE_ITEMS(2);\n"
    "    u32 g = YOKE_GROUP(0) + YOKE_GROUPS(0) * (YOKE_GROUP(1) + YOKE_GROUPS(1) * "
    "YOKE_GROUP(2));\n"
    "    part[i] = in[g * n + i];\n"
    "    YOKE_BARRIER();\n"
    "    for (u32 half = n / 2u; half > 0u; half /= 2u) {\n"
    "        if (i < half) part[i] += part[i + half];\n"
    "        YOKE_BARRIER();\n"
    "    }\n"
    "    if (i >= n / 2u) return;\n"
    "    for (u32 r = 0; r < rounds; r++) YOKE_BARRIER();\n"
    "    if (i == 0u) out[g] = part[0];\n"
    "}\n";

static void test_barriers(void **state)
{
    (void)state;
    static const yoke_launch_t shapes[] = {{{3, 2, 2}, {16, 2, 2}},
                                           {{5, 1, 1}, {256, 1, 1}},
                                           {{2, 1, 1}, {1024, 1, 1}},
                                           {{7, 1, 1}, {2, 1, 1}}};
    yoke_impl_program_t *program;
    yoke_impl_kernel_t *kernel;
    yoke_impl_queue_t *queue = make_queue();
    fake_public_t in = {make_buffer(65536)}, out = {make_buffer(65536)};
    assert_int_equal(compile_dialect(halves, "", &program), YOKE_OK);
    assert_int_equal(ops->kernel_create(program, "halves", &kernel), YOKE_OK);
    uint32_t *values = ops->buffer_address(in.impl),
             *sums = ops->buffer_address(out.impl);
    for (uint32_t i = 0; i < 16384; i++)
        values[i] = i * 2654435761u;
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const yoke_launch_t *shape = &shapes[s];
        uint32_t rounds = 3, n = shape->local[0] * shape->local[1] * shape->local[2];
        uint32_t groups = shape->groups[0] * shape->groups[1] * shape->groups[2];
        yoke_argument_t arguments[] = {argument(&out, 0), argument(&in, 0),
                                       yoke_argument_value(&rounds, 4)};
        memset(sums, 0, 4096);
        assert_int_equal(ops->launch(queue, kernel, shape, arguments, 3), YOKE_OK);
        for (uint32_t g = 0; g < groups; g++) {
            uint32_t sum = 0;
            for (uint32_t i = 0; i < n; i++)
                sum += values[g * n + i];
            assert_int_equal(sums[g], sum);
        }
    }
    ops->kernel_destroy(kernel);
    ops->program_destroy(program);
    ops->buffer_destroy(in.impl);
    ops->buffer_destroy(out.impl);
    ops->queue_destroy(queue);
}

static const char native[] =
    "#include <stdint.h>\n"
    "void sum(const uint32_t *groups, const uint32_t *items, void *const *arguments)\n"
    "{\n"
    "    uint32_t *x = *(uint32_t **)arguments[0], by = *(uint32_t *)arguments[1];\n"
    "    float *local = *(float **)arguments[2];\n"
    "    local[99] = 1;\n"
    "    for (uint32_t i = 0; i < groups[0] * items[0]; i++) x[i] += by;\n"
    "}\n";

static void test_native(void **state)
{
    (void)state;
    yoke_impl_program_t *program;
    yoke_impl_kernel_t *kernel;
    yoke_impl_queue_t *queue = make_queue();
    fake_public_t x = {make_buffer(64)};
    uint32_t *values = ops->buffer_address(x.impl), by = 5;
    memset(values, 0, 64);
    assert_int_equal(compile_source(native, strlen(native), false, "", &program),
                     YOKE_OK);
    assert_int_equal(ops->kernel_create(program, "sum", &kernel), YOKE_OK);
    yoke_argument_t arguments[] = {argument(&x, 0), yoke_argument_value(&by, 4),
                                   yoke_argument_local(400)};
    yoke_launch_t launch = {{4, 1, 1}, {2, 1, 1}};
    assert_int_equal(ops->launch(queue, kernel, &launch, arguments, 3), YOKE_OK);
    assert_true(values[0] == 5 && values[7] == 5 && values[8] == 0);
    ops->kernel_destroy(kernel);
    ops->program_destroy(program);
    ops->buffer_destroy(x.impl);
    ops->queue_destroy(queue);
}

static void with_compiler(const char *text, mode_t mode, const char *first,
                          const char *second)
{
    char path[] = "/tmp/yoke-no-compiler-XXXXXX";
    yoke_impl_program_t *program = NULL;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
    assert_int_equal(fchmod(file, mode), 0);
    close(file);
    setenv("YOKE_HOST_CC", path, 1);
    assert_int_equal(compile_dialect(axpy, "-DTYPE=f32", &program), YOKE_ERR_SYSTEM);
    if (strstr(yoke_last_error(), path) == NULL ||
        strstr(yoke_last_error(), first) == NULL ||
        strstr(yoke_last_error(), second) == NULL)
        fail_msg("%s", yoke_last_error());
    unsetenv("YOKE_HOST_CC");
    unlink(path);
}

/* It is not the source that is wrong. */
static void test_broken_compiler(void **state)
{
    (void)state;
    with_compiler("#!/bin/sh\nexit 3\n", 0700, "exit code 3", "no message");
    with_compiler("#!/bin/sh\necho x >&2\nkill -9 $$\n", 0700, "signal 9", "");
    with_compiler("#!/bin/sh\nexit 0\n", 0700, "made no file", "");
    with_compiler("#!/nowhere/sh\n", 0700, "cannot be run", "No such file");
}

static void test_compiler(void **state)
{
    (void)state;
    char *compiler = yoke_host_compiler();
    assert_non_null(compiler);
    free(compiler);
    assert_true(strlen(ops->compiler_version(device)) > 4);
    setenv("YOKE_HOST_CC", "/nowhere/cc", 1);
    assert_null(yoke_host_compiler());
    yoke_impl_program_t *program = NULL;
    assert_int_equal(compile_dialect(axpy, "-DTYPE=f32", &program), YOKE_ERR_UNSUPPORTED);
    assert_non_null(strstr(yoke_last_error(), "YOKE_HOST_CC: /nowhere/cc"));
    setenv("YOKE_HOST_CC", "clang", 1);
    compiler = yoke_host_compiler();
    if (compiler != NULL) {
        assert_int_equal(compile_dialect(axpy, "-DTYPE=f32", &program), YOKE_OK);
        assert_string_equal(last_log, "");
        launch_axpy(program);
        ops->program_destroy(program);
    }
    free(compiler);
    unsetenv("YOKE_HOST_CC");
}

int main(void)
{
    char *compiler = yoke_host_compiler();
    if (compiler == NULL) {
        print_message("skipped: no C compiler in $PATH\n");
        return 77;
    }
    free(compiler);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_compile_and_binary),
                                       cmocka_unit_test(test_bad_source),
                                       cmocka_unit_test(test_barriers),
                                       cmocka_unit_test(test_native),
                                       cmocka_unit_test(test_compiler),
                                       cmocka_unit_test(test_broken_compiler)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
