/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures of kernels, read from text as people write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hal/kernels/signature.h"
#include "yoke/status.h"

static yoke_status_t read_text(const char *text, yoke_signatures_t *out)
{
    /* Without a final zero, so that reading past the end is seen. */
    size_t size = strlen(text);
    char *copy = malloc(size + 1);
    memcpy(copy, text, size);
    char *exact = size > 0 ? realloc(copy, size) : copy;
    yoke_status_t status = yoke_signatures_read(exact, size, out);
    free(exact);
    return status;
}

static void test_plain(void **state)
{
    (void)state;
    static const struct {
        yoke_argument_kind_t kind;
        uint32_t size;
        const char *type, *name;
    } expected[] = {
        {YOKE_ARGUMENT_SPAN, 0, "YOKE_GLOBAL f32 *", "x"},
        {YOKE_ARGUMENT_SPAN, 0, "YOKE_GLOBAL const u8 * restrict", "y"},
        {YOKE_ARGUMENT_VALUE, 8, "const u64", "n"},
        {YOKE_ARGUMENT_VALUE, 0, "struct shape", "s"},
        {YOKE_ARGUMENT_LOCAL, 0, "YOKE_LOCAL f32 *", "part"},
    };
    yoke_signatures_t found;
    assert_int_equal(
        read_text("#define YOKE_KERNEL_NOT void f(int)\n"
                  "// YOKE_KERNEL void no(f32 x)\n"
                  "/* YOKE_KERNEL void no(f32 x)\n */ YOKE_FUNCTION f32 g(f32 a);\n"
                  "const char *s = \"YOKE_KERNEL void no(\\\" f32 x)\";\n"
                  "#define LONG \\\nYOKE_KERNEL void no(f32 x)\n"
                  "YOKE_KERNEL /* here */ void\n\tfirst (YOKE_GLOBAL f32 *x,\n"
                  "YOKE_GLOBAL const u8*restrict y, // a comment, with (\n"
                  "const u64 n, struct shape s,YOKE_LOCAL f32\\\n *part) { }\r\n"
                  "YOKE_KERNEL void second(void) {}\n"
                  "# 77 \"other\"\n"
                  "YOKE_KERNEL void third() { YOKE_BARRIER(); }",
                  &found),
        YOKE_OK);
    assert_int_equal(found.count, 3);
    assert_true(found.barrier);
    const yoke_signature_t *first = yoke_signatures_find(&found, "first");
    assert_ptr_equal(first, &found.items[0]);
    assert_int_equal(first->line, 9);
    assert_int_equal(first->count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(first->parameters[i].kind, expected[i].kind);
        assert_int_equal(first->parameters[i].size, expected[i].size);
        assert_string_equal(first->parameters[i].type, expected[i].type);
        assert_string_equal(first->parameters[i].name, expected[i].name);
    }
    assert_int_equal(found.items[1].count, 0);
    assert_int_equal(found.items[2].count, 0);
    assert_int_equal(found.items[2].line, 77);
    assert_null(yoke_signatures_find(&found, "no"));
    yoke_signatures_free(&found);
    assert_int_equal(read_text("", &found), YOKE_OK);
    assert_true(found.count == 0 && !found.barrier);
    yoke_signatures_free(&found);
}

static void test_bad(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"\n\nYOKE_KERNEL int f(u32 x) {}", "line 3: a kernel is written"},
        {"YOKE_KERNEL void 3(u32 x) {}", "line 1: a kernel is written"},
        {"YOKE_KERNEL void f {}", "line 1: a kernel is written"},
        {"YOKE_KERNEL", "but the text ends"},
        {"YOKE_KERNEL void f(u32 x,\n", "line 2"},
        {"YOKE_KERNEL void f(u32 x,) {}", "a parameter is missing"},
        {"YOKE_KERNEL void f(,u32 x) {}", "one is missing"},
        {"YOKE_KERNEL void f(u32) {}", "one is missing"},
        {"YOKE_KERNEL void f(u32 *) {}", "one is missing"},
        {"YOKE_KERNEL void f(u32 **x) {}", "a pointer to pointers"},
        {"YOKE_KERNEL void f(u32 x[4]) {}", "unexpected text"},
        {"YOKE_KERNEL void f(void (*g)(u32)) {}", "unexpected text"},
        {"YOKE_KERNEL void f(u32 x /* no end", "but the text ends"},
        {"YOKE_KERNEL void f(u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,"
         "u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,"
         "u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a,u32 a) {}",
         "too many parameters"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        yoke_signatures_t found = {.count = 99};
        assert_int_equal(read_text(cases[i].text, &found), YOKE_ERR_BAD_INPUT);
        assert_int_equal(found.count, 99);
        assert_non_null(strstr(yoke_last_error(), cases[i].message));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plain),
                                       cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
