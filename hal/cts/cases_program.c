/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: options, the compiler's log, names of kernels, binaries, the compile cache.
 */
#include "hal/cts/case.h"

#include <stdlib.h>

static const char source[] = "YOKE_KERNEL void put(YOKE_GLOBAL u32 *y)\n"
                             "{\n"
                             "    y[0] = VALUE;\n"
                             "}\n";

static void expect_value(yoke_cts_t *t, yoke_program_t *program, uint32_t expected)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *y = yoke_cts_buffer(t, yoke_cts_device(t), 4);
    yoke_argument_t argument = yoke_argument_span(y, 0);
    yoke_cts_launch(t, queue, yoke_cts_kernel(t, program, "put"), 1, 1, &argument, 1);
    EXPECT(t, queue, y, 0, &expected, 4);
}

static yoke_program_t *make(yoke_cts_t *t, yoke_program_options_t o)
{
    yoke_program_t *program = NULL;
    OK(t, yoke_program_create(yoke_cts_device(t), &o, &program));
    CHECK(t, program != NULL);
    yoke_cts_keep_program(t, program);
    return program;
}

static yoke_program_options_t with(const char *options, uint32_t flags)
{
    yoke_program_options_t o = {
        sizeof o, YOKE_PROGRAM_DIALECT, flags, source, strlen(source), "put.c", options};
    return o;
}

static void option_define(yoke_cts_t *t)
{
    expect_value(t, make(t, with("-DVALUE=41u", 0)), 41);
    expect_value(t, make(t, with("-DVALUE=42u", 0)), 42);
}

static void options_several(yoke_cts_t *t)
{
    expect_value(t, make(t, with("-DA=7u -DB=A+1u  -DVALUE=A*10u+B", 0)), 78);
}

static void option_without_value(yoke_cts_t *t)
{
    static const char text[] = "#ifdef FLAG\n"
                               "#define VALUE 5u\n"
                               "#else\n"
                               "#define VALUE 6u\n"
                               "#endif\n"
                               "YOKE_KERNEL void put(YOKE_GLOBAL u32 *y)\n"
                               "{\n"
                               "    y[0] = VALUE;\n"
                               "}\n";
    expect_value(t, yoke_cts_compile(t, yoke_cts_device(t), text, "-DFLAG"), 5);
    expect_value(t, yoke_cts_compile(t, yoke_cts_device(t), text, NULL), 6);
}

static void option_refused(yoke_cts_t *t)
{
    static const char *const bad[] = {"-O3", "-I/tmp", "-DVALUE=1u -w", "VALUE=1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        yoke_program_options_t o = with(bad[i], 0);
        yoke_program_t *program = NULL;
        yoke_status_t status = yoke_program_create(yoke_cts_device(t), &o, &program);
        yoke_program_destroy(program);
        if (status != YOKE_ERR_USAGE && status != YOKE_ERR_BAD_INPUT)
            FAIL(t, "options \"%s\" of a program in the dialect give %s", bad[i],
                 yoke_status_name(status));
    }
}

/* The text need not end with NUL. */
static void size_counts(yoke_cts_t *t)
{
    size_t length = strlen(source);
    char *text = yoke_cts_memory(t, length + 20);
    memcpy(text, source, length);
    memcpy(text + length, "this is no program", 19);
    yoke_program_options_t o = with("-DVALUE=43u", 0);
    o.data = text;
    o.size = length;
    yoke_program_t *program = make(t, o);
    memset(text, ' ', length); /* it was read during the call */
    expect_value(t, program, 43);
}

static void compile_error(yoke_cts_t *t)
{
    static const char bad[] = "YOKE_KERNEL void put(YOKE_GLOBAL u32 *y)\n"
                              "{\n"
                              "    y[0] = nosuchname;\n"
                              "}\n";
    yoke_program_options_t o = {
        sizeof o, YOKE_PROGRAM_DIALECT, 0, bad, strlen(bad), "bad.c", NULL};
    yoke_program_t *program = NULL;
    GIVES(t, YOKE_ERR_BAD_INPUT, yoke_program_create(yoke_cts_device(t), &o, &program));
    CHECK(t, program == NULL);
    if (strstr(yoke_program_log(), "nosuchname") == NULL)
        FAIL(t, "the log does not name the fault: %.200s", yoke_program_log());
    /* By its name, where the compiler follows #line (Oclgrind's does not). */
    if (strstr(yoke_program_log(), "program:3") != NULL)
        FAIL(t, "the log does not name the program: %.200s", yoke_program_log());
    if (strstr(yoke_last_error(), "bad.c") == NULL)
        FAIL(t, "the message does not name the program: %.200s", yoke_last_error());
    (void)yoke_cts_compile(t, yoke_cts_device(t), source, "-DVALUE=1u");
    if (strstr(yoke_program_log(), "nosuchname") != NULL)
        FAIL(t, "the log is of an older program");
}

static void not_a_program(yoke_cts_t *t)
{
    static const char *const bad[] = {"}", "YOKE_KERNEL void x(", "\"", "#if 1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        yoke_program_options_t o = {
            sizeof o, YOKE_PROGRAM_DIALECT, 0, bad[i], strlen(bad[i]), NULL, NULL};
        yoke_program_t *program = NULL;
        yoke_status_t status = yoke_program_create(yoke_cts_device(t), &o, &program);
        yoke_program_destroy(program);
        EQUAL(t, YOKE_ERR_BAD_INPUT, status);
    }
}

static void kernel_missing(yoke_cts_t *t)
{
    yoke_program_t *program =
        yoke_cts_compile(t, yoke_cts_device(t), source, "-DVALUE=1u");
    static const char *const names[] = {"nosuchkernel", "pu", "putt", "VALUE"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        yoke_kernel_t *kernel = NULL;
        GIVES(t, YOKE_ERR_NOT_FOUND, yoke_kernel_create(program, names[i], &kernel));
        CHECK(t, kernel == NULL);
    }
}

static void kernel_twice(yoke_cts_t *t)
{
    yoke_program_t *program =
        yoke_cts_compile(t, yoke_cts_device(t), source, "-DVALUE=9u");
    yoke_kernel_t *kernel = NULL;
    OK(t, yoke_kernel_create(program, "put", &kernel));
    yoke_kernel_destroy(kernel);
    expect_value(t, program, 9);
    expect_value(t, program, 9);
}

static void cached_twice(yoke_cts_t *t)
{
    expect_value(t, make(t, with("-DVALUE=1234u", 0)), 1234);
    expect_value(t, make(t, with("-DVALUE=1234u", 0)), 1234);
    expect_value(t, make(t, with("-DVALUE=1235u", 0)), 1235);
}

static void cache_off(yoke_cts_t *t)
{
    expect_value(t, make(t, with("-DVALUE=77u", YOKE_PROGRAM_NO_CACHE)), 77);
    expect_value(t, make(t, with("-DVALUE=78u", YOKE_PROGRAM_NO_CACHE)), 78);
}

static void binary_round_trip(yoke_cts_t *t)
{
    const void *data = NULL;
    size_t size = 0;
    yoke_program_t *first = make(t, with("-DVALUE=4711u", 0)), *second = NULL;
    yoke_status_t status = yoke_program_binary(first, &data, &size);
    if (status == YOKE_ERR_UNSUPPORTED)
        yoke_cts_unsupported(t, "the runtime gives no binary out");
    OK(t, status);
    CHECK(t, data != NULL && size > 0);
    void *copy = yoke_cts_memory(t, size);
    memcpy(copy, data, size);
    yoke_program_options_t o = {sizeof o, YOKE_PROGRAM_BINARY, 0, copy, size, NULL, NULL};
    second = make(t, o);
    memset(copy, 0, size);
    expect_value(t, second, 4711);
    expect_value(t, first, 4711);
}

static void binary_damaged(yoke_cts_t *t)
{
    unsigned char bytes[512];
    yoke_program_options_t o = {
        sizeof o, YOKE_PROGRAM_BINARY, 0, bytes, sizeof bytes, NULL, NULL};
    yoke_program_t *program = NULL;
    yoke_cts_noise(bytes, sizeof bytes, 140);
    yoke_status_t status = yoke_program_create(yoke_cts_device(t), &o, &program);
    yoke_program_destroy(program);
    CHECK(t, status != YOKE_OK && yoke_last_error()[0] != '\0');
}

static void source_absent(yoke_cts_t *t)
{
    if ((yoke_cts_info(t)->capabilities & YOKE_CAP_SOURCE) != 0)
        yoke_cts_unsupported(t, "the device compiles the dialect");
    yoke_program_options_t o = with("-DVALUE=1u", 0);
    yoke_program_t *program = NULL;
    GIVES(t, YOKE_ERR_UNSUPPORTED, yoke_program_create(yoke_cts_device(t), &o, &program));
    CHECK(t, program == NULL);
}

static void format_unknown(yoke_cts_t *t)
{
    yoke_program_options_t o = with("-DVALUE=1u", 0);
    yoke_program_t *program = NULL;
    o.format = (yoke_program_format_t)99;
    yoke_status_t status = yoke_program_create(yoke_cts_device(t), &o, &program);
    CHECK(t, status == YOKE_ERR_USAGE || status == YOKE_ERR_UNSUPPORTED);
    CHECK(t, program == NULL);
}

#define K(name, function)                                                                \
    {                                                                                    \
        "program/" name, YOKE_CAP_SOURCE, 0, function, 0, 0                              \
    }

static const yoke_cts_case_t cases[] = {
    K("option-define", option_define),
    K("options-several", options_several),
    K("option-without-value", option_without_value),
    K("option-refused", option_refused),
    K("size-counts", size_counts),
    K("compile-error", compile_error),
    K("not-a-program", not_a_program),
    K("kernel-missing", kernel_missing),
    K("kernel-twice", kernel_twice),
    K("cached-twice", cached_twice),
    K("cache-off", cache_off),
    {"program/binary-round-trip", YOKE_CAP_SOURCE | YOKE_CAP_BINARY, 0, binary_round_trip,
     0, 0},
    {"program/binary-damaged", YOKE_CAP_BINARY, 0, binary_damaged, 0, 0},
    {"program/source-absent", 0, 0, source_absent, 0, 0},
    {"program/format-unknown", 0, 0, format_unknown, 0, 0},
};

YOKE_CTS_GROUP(program, cases);
