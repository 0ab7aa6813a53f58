/* SPDX-License-Identifier: Apache-2.0 */
/* Order of symbols, matrices seen column by column, options, tables of the flavours. */
#include "toy.h"

#include <dlfcn.h>
#include <stdio.h>

#include "yoke/status.h"

/* --- symbols: names of libc stand in for a vendor's ----------------------------------
 */

static void second_names(void **state)
{
    (void)state;
    static const yoke_cudalike_symbol_t rows[] = {
        YOKE_CUDALIKE_NEED(init, "strtol", "strtoul"),
        YOKE_CUDALIKE_NEED(version, "no_such_function_v2", "strtoul"),
        YOKE_CUDALIKE_MAY(launch, "no_such_function", "nor_this"),
    };
    static const yoke_cudalike_symbol_t more[] = {
        YOKE_CUDALIKE_NEED(init, "no_such_function", NULL)};
    yoke_library_t self = {dlopen(NULL, RTLD_NOW), NULL};
    yoke_cudalike_flavour_t flavour = {.symbols = rows, .symbol_count = 3};
    yoke_cudalike_api_t api;
    assert_null(yoke_cudalike_resolve(&flavour, &self, &api));
    assert_ptr_equal(*(void **)(void *)&api.init, dlsym(self.handle, "strtol"));
    assert_ptr_equal(*(void **)(void *)&api.version, dlsym(self.handle, "strtoul"));
    assert_null(*(void **)(void *)&api.launch);
    flavour.symbols = more;
    flavour.symbol_count = 1;
    assert_string_equal(yoke_cudalike_resolve(&flavour, &self, &api), "no_such_function");
    dlclose(self.handle);
}

static void versioned_first(void **state)
{
    (void)state;
    bool seen = false;
    for (size_t i = 0; i < toy_flavour.symbol_count; i++) {
        const yoke_cudalike_symbol_t *row = &toy_flavour.symbols[i];
        size_t length = strlen(row->name);
        assert_int_equal(strncmp(row->name, "toy", 3), 0);
        if (row->other != NULL) /* "..._v2" before the plain name */
            assert_true(strncmp(row->name, row->other, strlen(row->other)) == 0 &&
                        strcmp(row->name + length - 3, "_v2") == 0);
        seen = seen || strcmp(row->name, "toyMemAlloc_v2") == 0;
        for (size_t j = 0; j < i; j++)
            assert_int_not_equal(row->slot, toy_flavour.symbols[j].slot);
    }
    assert_true(seen);
}

/* --- matrices ------------------------------------------------------------------------
 */

/* As the vendors' manuals define it: C = op(A) op(B), all column-major. */
static void column_major(const yoke_gemm_column_t *c)
{
    const double *a = (const double *)c->first, *b = (const double *)c->second;
    double *out = (double *)c->out;
    for (int j = 0; j < c->n; j++)
        for (int i = 0; i < c->m; i++) {
            double sum = 0;
            for (int k = 0; k < c->k; k++)
                sum += (c->transpose_first ? a[k + i * c->ld_first]
                                           : a[i + k * c->ld_first]) *
                       (c->transpose_second ? b[j + k * c->ld_second]
                                            : b[k + j * c->ld_second]);
            out[i + j * c->ld_out] = sum;
        }
}

static void rows_as_columns(void **state)
{
    (void)state;
    enum { M = 3, N = 5, K = 4, PAD = 2 };
    for (uint32_t flags = 0; flags < 4; flags++) {
        bool ta = (flags & 1) != 0, tb = (flags & 2) != 0;
        uint64_t lda = (ta ? M : K) + PAD, ldb = (tb ? K : N) + PAD, ldc = N + PAD;
        double a[64], b[64], c[64], want[64];
        for (int i = 0; i < 64; i++) {
            a[i] = i * 3 % 17;
            b[i] = i * 5 % 13;
            c[i] = want[i] = -1;
        }
        for (uint64_t i = 0; i < M; i++)
            for (uint64_t j = 0; j < N; j++) {
                want[i * ldc + j] = 0;
                for (uint64_t k = 0; k < K; k++)
                    want[i * ldc + j] += (ta ? a[k * lda + i] : a[i * lda + k]) *
                                         (tb ? b[j * ldb + k] : b[k * ldb + j]);
            }
        yoke_impl_gemm_t gemm = {.transpose_a = ta,
                                 .transpose_b = tb,
                                 .m = M,
                                 .n = N,
                                 .k = K,
                                 .lda = lda,
                                 .ldb = ldb,
                                 .ldc = ldc};
        yoke_gemm_column_t column;
        assert_true(
            yoke_gemm_to_column(&gemm, (uint64_t)a, (uint64_t)b, (uint64_t)c, &column));
        assert_int_equal(column.batch, 1);
        column_major(&column);
        assert_memory_equal(c, want, sizeof c);
    }
}

static void too_large_for_an_int(void **state)
{
    (void)state;
    yoke_impl_gemm_t gemm = {.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1};
    yoke_gemm_column_t column;
    assert_true(yoke_gemm_to_column(&gemm, 0, 0, 0, &column));
    gemm.ldc = (uint64_t)1 << 31;
    assert_false(yoke_gemm_to_column(&gemm, 0, 0, 0, &column));
    gemm.ldc = 1;
    gemm.stride_a = UINT64_MAX;
    assert_false(yoke_gemm_to_column(&gemm, 0, 0, 0, &column));
}

/* --- compilers ------------------------------------------------------------------------
 */

static void options_are_split(void **state)
{
    (void)state;
    const char *words[4];
    char *block = NULL;
    size_t count = 0;
    assert_true(yoke_rtc_split("  -DN=4\t-D 'T=long long' ", words, 4, &count, &block));
    assert_int_equal(count, 3);
    assert_string_equal(words[0], "-DN=4");
    assert_string_equal(words[1], "-D");
    assert_string_equal(words[2], "T=long long");
    free(block);
    assert_true(yoke_rtc_split("", words, 4, &count, &block));
    assert_int_equal(count, 0);
    free(block);
    assert_true(yoke_rtc_split("a b c d", words, 4, &count, &block));
    assert_string_equal(words[3], "d");
    free(block);
    assert_false(yoke_rtc_split("a b c d e", words, 4, &count, &block));
}

static void architectures_are_picked(void **state)
{
    (void)state;
    static const int archs[] = {75, 80, 86, 90, 100, 120};
    assert_int_equal(yoke_rtc_pick(archs, 6, 90), 90);
    assert_int_equal(yoke_rtc_pick(archs, 6, 89), 86);
    assert_int_equal(yoke_rtc_pick(archs, 6, 999), 120);
    assert_int_equal(yoke_rtc_pick(archs, 6, 70), 0);
}

/* --- flavours -------------------------------------------------------------------------
 */

static void versions_are_shown(void **state)
{
    (void)state;
    yoke_cudalike_flavour_t flavour = {.packing = YOKE_CUDALIKE_PACK_CUDA};
    char text[32];
    yoke_cudalike_show_version(&flavour, 13000, text, sizeof text);
    assert_string_equal(text, "13.0");
    yoke_cudalike_show_version(&flavour, 12040, text, sizeof text);
    assert_string_equal(text, "12.4");
    flavour.packing = YOKE_CUDALIKE_PACK_HIP;
    yoke_cudalike_show_version(&flavour, 50221153, text, sizeof text);
    assert_string_equal(text, "5.2.21153");
    flavour.packing = YOKE_CUDALIKE_PACK_MUSA;
    yoke_cudalike_show_version(&flavour, 50200, text, sizeof text);
    assert_string_equal(text, "5.2.0");
    yoke_cudalike_show_version(&flavour, -1, text, sizeof text);
    assert_string_equal(text, "");
}

static int asked;

static int count_attributes(int *out_value, int attribute, int device)
{
    (void)device;
    assert_true(attribute >= 0); /* never one without a source */
    asked++;
    *out_value = 1;
    return 0;
}

static void unsourced_is_not_asked(void **state)
{
    (void)state;
    yoke_cudalike_flavour_t flavour = {.contexts = true};
    yoke_cudalike_api_t api = {.attribute = count_attributes};
    flavour.attributes[YOKE_CUDALIKE_WAIT_VALUE] = YOKE_CUDALIKE_UNSOURCED;
    flavour.attributes[YOKE_CUDALIKE_SUBGROUP] = 10;
    asked = 0;
    assert_int_equal(
        yoke_cudalike_attribute(&flavour, &api, YOKE_CUDALIKE_WAIT_VALUE, 0, 9), 9);
    assert_int_equal(asked, 0);
    assert_int_equal(
        yoke_cudalike_attribute(&flavour, &api, YOKE_CUDALIKE_SUBGROUP, 0, 9), 1);
    assert_int_equal(asked, 1);
}

/* Every code that means something here has a name in every flavour. */
static void codes_have_names(void **state)
{
    (void)state;
    static const int codes[] = {0,   1,   2,   100, 101, 201, 400,
                                500, 600, 700, 709, 719, 999};
    static const char *const names[] = {"cuda", "hip", "dtk", "musa", "maca", "corex"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const yoke_backend_t *backend = yoke_backend_find(names[i]);
        assert_non_null(backend);
        assert_non_null(backend->live);
        assert_string_equal(backend->live->name, names[i]);
        assert_int_equal(backend->live->struct_size, sizeof(yoke_backend_ops_t));
        for (size_t j = 0; j < sizeof codes / sizeof *codes; j++)
            if (backend->live->error_name(codes[j]) == NULL)
                fail_msg("%s has no name for code %d", names[i], codes[j]);
        assert_null(backend->live->error_name(-12345));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_names),       cmocka_unit_test(versioned_first),
        cmocka_unit_test(rows_as_columns),    cmocka_unit_test(too_large_for_an_int),
        cmocka_unit_test(options_are_split),  cmocka_unit_test(architectures_are_picked),
        cmocka_unit_test(versions_are_shown), cmocka_unit_test(unsourced_is_not_asked),
        cmocka_unit_test(codes_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
