/* SPDX-License-Identifier: Apache-2.0 */
/* The vendors' own libraries without a device: NVIDIA's stub for linking, NVRTC, hipRTC
 * (with an architecture on which it aborts), libamdhip64. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cudalike/cudalike.h"
#include "base/text.h"
#include "hal/kernels/dialect.h"
#include "hal/loader.h"
#include "yoke/status.h"

static const char axpy[] =
    "extern \"C\" __global__ void axpy(float a, const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] += a * x[i] * FACTOR; }\n";

/* The portable dialect, with most of its words. */
static const char portable[] =
    "YOKE_FUNCTION f32 twice(f32 x) { return YOKE_FMA(x, 1.0f, x); }\n"
    "YOKE_CONSTANT f32 table[2] = {1.0f, 2.0f};\n"
    "YOKE_KERNEL void sum(YOKE_GLOBAL const f32 *x, YOKE_GLOBAL u32 *out, u32 n)\n"
    "{ YOKE_LOCAL_ARRAY(f32, part, 64);\n"
    "  u32 i = YOKE_ITEM(0); u64 at = YOKE_GLOBAL_ID(0);\n"
    "  part[i] = at < n ? twice(x[at]) * table[i & 1] : 0.0f;\n"
    "  YOKE_BARRIER();\n"
    "  if (i == 0) { f32 s = 0.0f; for (u32 j = 0; j < 64; j++) s += YOKE_EXP(part[j]);\n"
    "    YOKE_ATOMIC_ADD_U32(out, YOKE_AS_U32(s) + f32_to_f16(s) + f32_to_f8e4m3(s)); }\n"
    "#ifdef YOKE_HAS_F64\n"
    "  if (i == 1) out[1] = (u32)((f64)x[0] * 3.0);\n"
    "#endif\n"
    "}\n";

static yoke_text_t said;

static void hear(void *context, const char *text, size_t size)
{
    (void)context;
    yoke_text_add_bytes(&said, text, size);
}

static yoke_status_t compile(const yoke_rtc_loaded_t *loaded, const char *architecture,
                             const char *text, const char *options,
                             yoke_rtc_code_t *out_code)
{
    const yoke_impl_program_source_t source = {text, strlen(text), "axpy.cu", options,
                                               false};
    yoke_text_free(&said);
    return yoke_rtc_compile(loaded, architecture, &source, hear, NULL, out_code);
}

/* The dialect's prologue and options, as the core puts them together. */
static void compile_portable(const yoke_rtc_loaded_t *loaded, yoke_dialect_t dialect,
                             const char *architecture, const char *program,
                             const char *options, yoke_rtc_code_t *out_code)
{
    char *text = NULL,
         *all = yoke_format("%s %s", yoke_dialect_options(dialect), options);
    size_t size = 0;
    assert_int_equal(yoke_dialect_source(dialect, YOKE_CAP_FP64 | YOKE_CAP_ATOMICS64,
                                         NULL, program, strlen(program), &text, &size),
                     YOKE_OK);
    yoke_status_t status = compile(loaded, architecture, text, all, out_code);
    if (status != YOKE_OK)
        fail_msg("%s: %s", all, yoke_text_get(&said));
    free(text);
    free(all);
}

/* The operators' own texts, of hal/kernels/kernels/. */
static void compile_operators(const yoke_rtc_loaded_t *loaded, yoke_dialect_t dialect,
                              const char *architecture, const yoke_element_t *elements,
                              size_t count)
{
    extern const char yoke_text_element[], yoke_text_vector[], yoke_text_convert[],
        yoke_text_select[], yoke_text_matrix[], yoke_text_rows[], yoke_text_layers[];
    const struct {
        const char *text;
        bool all; /* for every element; else for floats only */
    } texts[] = {{yoke_text_vector, true},  {yoke_text_convert, true},
                 {yoke_text_select, false}, {yoke_text_matrix, false},
                 {yoke_text_rows, false},   {yoke_text_layers, false}};
    for (size_t e = 0; e < count; e++)
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            yoke_rtc_code_t code = {0};
            char options[64];
            if (!texts[t].all && elements[e] > YOKE_ELEMENT_BF16)
                continue;
            char *program = yoke_format("%s%s", yoke_text_element, texts[t].text);
            snprintf(options, sizeof options, "-DYO_ELEMENT=%d -DYO_GROUP=256",
                     (int)elements[e]);
            compile_portable(loaded, dialect, architecture, program, options, &code);
            free(code.data);
            free(program);
        }
}

static void is_elf(const yoke_rtc_code_t *code)
{
    assert_true(code->size > 64);
    assert_memory_equal(code->data, "\177ELF", 4);
    assert_int_equal(code->data[code->size], 0);
}

static void nvrtc(void **state)
{
    (void)state;
#ifndef YOKE_REAL_NVRTC
    print_message("skipped: no NVRTC is installed\n");
    skip();
#else
    yoke_rtc_loaded_t loaded = {0};
    yoke_rtc_code_t code = {0};
    setenv("YOKE_LIB_NVRTC", YOKE_REAL_NVRTC, 1);
    yoke_rtc_load(&loaded, &yoke_rtc_nvrtc, NULL);
    if (!loaded.usable)
        fail_msg("%s: %s", YOKE_REAL_NVRTC, loaded.problem);
    assert_int_equal(strncmp(loaded.version, "NVRTC ", 6), 0);
    /* exactly this device: a cubin */
    assert_int_equal(compile(&loaded, "sm_90", axpy, "-DFACTOR=2.0f --fmad=false", &code),
                     YOKE_OK);
    is_elf(&code);
    free(code.data);
    compile_portable(&loaded, YOKE_DIALECT_CUDA, "sm_80", portable, "", &code);
    is_elf(&code);
    free(code.data);
    /* a device after all that it knows: text, which the driver finishes */
    assert_int_equal(compile(&loaded, "sm_999", axpy, "-DFACTOR=1", &code), YOKE_OK);
    assert_non_null(strstr((const char *)code.data, ".target sm_"));
    assert_non_null(strstr((const char *)code.data, "axpy"));
    free(code.data);
    /* one before all that it knows */
    assert_int_equal(compile(&loaded, "sm_10", axpy, "-DFACTOR=1", &code),
                     YOKE_ERR_UNSUPPORTED);
    assert_non_null(strstr(yoke_last_error(), "1.0"));
    /* the caller's mistakes, with the compiler's words */
    assert_int_equal(compile(&loaded, "sm_90", axpy, "", &code), YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_text_get(&said), "FACTOR"));
    assert_int_equal(compile(&loaded, "sm_90", axpy, "--no-such-option", &code),
                     YOKE_ERR_BAD_INPUT);
    static const yoke_element_t elements[] = {YOKE_ELEMENT_BF16};
    compile_operators(&loaded, YOKE_DIALECT_CUDA, "sm_90", elements, 1);
    yoke_rtc_forget(&loaded);
#endif
}

static void hiprtc(void **state)
{
    (void)state;
#ifndef YOKE_REAL_HIP
    print_message("skipped: no HIP runtime is installed\n");
    skip();
#else
    yoke_rtc_loaded_t loaded = {0};
    yoke_rtc_code_t code = {0};
    const char *names[] = {YOKE_REAL_HIP, NULL};
    yoke_library_t library = {0};
    char *problem = NULL;
    bool found = false;
    setenv("YOKE_PROBE_HELPER", YOKE_BUILD_DIR "/bin/yoke-probe", 1);
    assert_true(yoke_library_open(NULL, names, &library, &problem, &found));
    yoke_rtc_load(&loaded, &yoke_rtc_hiprtc, &library);
    if (!loaded.usable)
        fail_msg("%s: %s", YOKE_REAL_HIP, loaded.problem);
    assert_int_equal(
        compile(&loaded, "gfx90a", axpy, "-DFACTOR=2.0f -ffp-contract=off", &code),
        YOKE_OK);
    is_elf(&code);
    free(code.data);
    compile_portable(&loaded, YOKE_DIALECT_HIP, "gfx90a", portable, "", &code);
    is_elf(&code);
    free(code.data);
    assert_int_equal(compile(&loaded, "gfx90a", axpy, "", &code), YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_text_get(&said), "FACTOR"));
    /* On this one hipRTC 5.2 aborts its process: ours goes on. */
    yoke_status_t status = compile(&loaded, "gfx9999", axpy, "-DFACTOR=1", &code);
    assert_true(status == YOKE_ERR_UNSUPPORTED || status == YOKE_ERR_BAD_INPUT);
    if (status == YOKE_ERR_UNSUPPORTED)
        assert_non_null(strstr(yoke_last_error(), "gfx9999"));
    /* and is none the worse for it */
    assert_int_equal(compile(&loaded, "gfx90a", axpy, "-DFACTOR=1", &code), YOKE_OK);
    free(code.data);
    /* without the helper there is no compiler, and that is said */
    yoke_rtc_forget(&loaded);
    setenv("YOKE_PROBE_HELPER", "/no/such/helper", 1);
    yoke_rtc_load(&loaded, &yoke_rtc_hiprtc, &library);
    assert_false(loaded.usable);
    assert_non_null(strstr(loaded.problem, "YOKE_PROBE_HELPER"));
    yoke_rtc_forget(&loaded);
    yoke_library_forget(&library);
#endif
}

static void cuda_stub(void **state)
{
    (void)state;
#ifndef YOKE_CUDA_STUB
    print_message("skipped: NVIDIA's stub library is not installed\n");
    skip();
#else
    extern const yoke_backend_ops_t yoke_cuda_ops, yoke_corex_ops;
    yoke_impl_runtime_t *runtime = NULL;
    setenv("YOKE_LIB_CUDA", YOKE_CUDA_STUB, 1);
    assert_int_equal(yoke_cuda_ops.runtime_open(&runtime), YOKE_ERR_SYSTEM);
    assert_null(runtime);
    assert_non_null(strstr(yoke_last_error(), "cuInit: CUDA_ERROR_STUB_LIBRARY (34)"));
    /* it has every name of the driver API's table, so CoreX fails in the same call */
    setenv("YOKE_LIB_COREX", YOKE_CUDA_STUB, 1);
    assert_int_equal(yoke_corex_ops.runtime_open(&runtime), YOKE_ERR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(), "CUDA_ERROR_STUB_LIBRARY"));
#endif
}

static void hip_without_a_device(void **state)
{
    (void)state;
#ifndef YOKE_REAL_HIP
    print_message("skipped: no HIP runtime is installed\n");
    skip();
#else
    extern const yoke_backend_ops_t yoke_hip_ops;
    static yoke_impl_runtime_t *runtime; /* kept for the process */
    yoke_impl_info_t info = {.struct_size = sizeof info};
    uint32_t count = 99;
    setenv("YOKE_LIB_HIP", YOKE_REAL_HIP, 1);
    setenv("HIP_VISIBLE_DEVICES", "-1", 1); /* also where there is one */
    setenv("ROCR_VISIBLE_DEVICES", "", 1);
    assert_int_equal(yoke_hip_ops.runtime_open(&runtime), YOKE_OK);
    assert_int_equal(yoke_hip_ops.device_count(runtime, &count), YOKE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(yoke_hip_ops.device_info(runtime, 0, &info), YOKE_ERR_NOT_FOUND);
#endif
}

static void absent_libraries(void **state)
{
    (void)state;
    static const char *const names[] = {"dtk", "musa", "maca"};
    for (size_t i = 0; i < 3; i++) {
        const yoke_backend_t *backend = yoke_backend_find(names[i]);
        yoke_impl_runtime_t *runtime = NULL;
        char key[32];
        snprintf(key, sizeof key, "YOKE_LIB_%s", backend->library_key);
        if (getenv(key) != NULL)
            continue;
        yoke_status_t status = backend->live->runtime_open(&runtime);
        if (status == YOKE_OK)
            continue; /* a machine that has it */
        assert_int_equal(status, YOKE_ERR_NOT_FOUND);
        assert_non_null(strstr(yoke_last_error(), backend->libraries[0]));
    }
}

/* Another library of the right name, as a user's override may point at. */
static void wrong_library(void **state)
{
    (void)state;
    extern const yoke_backend_ops_t yoke_musa_ops;
    yoke_impl_runtime_t *runtime = NULL;
    setenv("YOKE_LIB_MUSA", "libm.so.6", 1);
    assert_int_equal(yoke_musa_ops.runtime_open(&runtime), YOKE_ERR_SYSTEM);
    assert_non_null(strstr(yoke_last_error(), "has no function muInit"));
    setenv("YOKE_LIB_MUSA", "/no/such/file", 1);
    assert_int_not_equal(yoke_musa_ops.runtime_open(&runtime), YOKE_OK);
    assert_non_null(strstr(yoke_last_error(), "YOKE_LIB_MUSA"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuda_stub),        cmocka_unit_test(nvrtc),
        cmocka_unit_test(hiprtc),           cmocka_unit_test(hip_without_a_device),
        cmocka_unit_test(absent_libraries), cmocka_unit_test(wrong_library),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    yoke_text_free(&said);
    return failed;
}
