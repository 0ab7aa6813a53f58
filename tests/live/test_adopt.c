/* SPDX-License-Identifier: Apache-2.0 */
/* Native objects in and out, programs, and tensors of frameworks. */
#include "tests/live/mock.h"

#include <stdio.h>

#include "hal/live/dlpack_abi.h"
#include "hal/live/registry.h"
#include "yoke/dlpack.h"

static int released;
static void *released_handle;

static void count_release(void *context, void *handle)
{
    assert_ptr_equal(context, &released);
    released_handle = handle;
    released++;
}

/* --- native objects ------------------------------------------------------------------
 */

static void wrapped_objects_are_let_go(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(0, 0);
    yoke_buffer_t *buffer = NULL;
    yoke_queue_t *queue = NULL;
    yoke_event_t *event = NULL;
    yoke_native_t native = {.struct_size = sizeof native};
    unsigned char bytes[64] = {1, 2, 3};
    int stream = 0, mark = 0;
    released = 0;
    assert_ok(yoke_buffer_wrap(device, YOKE_MEMORY_DEVICE, bytes, 64, count_release,
                               &released, &buffer));
    assert_ok(yoke_queue_wrap(device, &stream, count_release, &released, &queue));
    assert_ok(yoke_event_wrap(device, &mark, count_release, &released, &event));
    unsigned char back[3] = {0};
    assert_ok(yoke_queue_read(queue, back, yoke_span(buffer, 0), 3));
    assert_memory_equal(back, bytes, 3);
    assert_ok(yoke_queue_native(queue, &native));
    assert_ptr_equal(native.handle, &stream);
    assert_ptr_equal(native.context, &mock);
    assert_ok(yoke_buffer_native(buffer, &native));
    assert_ptr_equal(native.handle, bytes);
    assert_fails(yoke_event_native(event, &native), YOKE_ERR_UNSUPPORTED, "mock:0");
    native.struct_size = 3;
    assert_fails(yoke_device_native(device, &native), YOKE_ERR_USAGE, "struct_size");
    native = (yoke_native_t){.struct_size = offsetof(yoke_native_t, context)};
    assert_ok(yoke_device_native(device, &native));
    assert_null(native.context); /* not within the size that was given */
    int synced = mock.synced;
    yoke_queue_destroy(queue);
    assert_int_equal(mock.synced, synced); /* not waited for */
    assert_int_equal(released, 1);
    assert_ptr_equal(released_handle, &stream);
    yoke_buffer_destroy(buffer);
    assert_ptr_equal(released_handle, bytes);
    yoke_event_destroy(event);
    assert_ptr_equal(released_handle, &mark);
    assert_int_equal(released, 3);
    yoke_device_close(device);
    assert_int_equal(mock.alive, 0);
}

static void devices_are_adopted(void **state)
{
    (void)state;
    yoke_native_t native = {.struct_size = sizeof native, .handle = (void *)1};
    yoke_device_info_t info = {.struct_size = sizeof info};
    yoke_device_t *device = NULL;
    assert_ok(yoke_device_from_native("mock", &native, NULL, &device));
    assert_ok(yoke_device_info(device, &info));
    assert_int_equal(info.ordinal, 1);
    yoke_device_close(device);
    native.handle = (void *)5;
    device = NULL;
    assert_fails(yoke_device_from_native("mock", &native, NULL, &device),
                 YOKE_ERR_NOT_FOUND, "no such native device");
    assert_null(device);
    assert_fails(yoke_device_from_native("null", &native, NULL, &device),
                 YOKE_ERR_UNSUPPORTED, "adopts no devices");
    native.struct_size = 2;
    assert_fails(yoke_device_from_native("mock", &native, NULL, &device), YOKE_ERR_USAGE,
                 "struct_size");
}

/* --- programs ------------------------------------------------------------------------
 */

static yoke_status_t compile(yoke_device_t *device, yoke_program_format_t format,
                             const char *text, const char *options,
                             yoke_program_t **out_program)
{
    yoke_program_options_t chosen = {.struct_size = sizeof chosen,
                                     .format = format,
                                     .data = text,
                                     .size = strlen(text),
                                     .name = "axpy.c",
                                     .options = options};
    return yoke_program_create(device, &chosen, out_program);
}

static void programs(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(0, 0);
    yoke_program_t *program = NULL;
    yoke_kernel_t *kernel = NULL;
    assert_ok(compile(device, YOKE_PROGRAM_DIALECT, "YOKE_KERNEL void k(void) {}",
                      " -DN=4  -DT=float", &program));
    assert_string_equal(yoke_program_log(), "1 warning\n");
    assert_fails(yoke_kernel_create(program, "none", &kernel), YOKE_ERR_NOT_FOUND,
                 "mockKernel");
    assert_fails(yoke_kernel_create(program, "", &kernel), YOKE_ERR_USAGE, "no name");
    assert_ok(yoke_kernel_create(program, "k", &kernel));
    yoke_program_destroy(program);
    assert_int_equal(mock.alive, 3); /* the kernel keeps its program */
    yoke_kernel_destroy(kernel);
    assert_int_equal(mock.alive, 1);
    program = NULL;
    assert_fails(compile(device, YOKE_PROGRAM_NATIVE, "syntax error", NULL, &program),
                 YOKE_ERR_BAD_INPUT, "axpy.c: does not compile for mock:0: 1 warning");
    assert_string_equal(yoke_program_log(), "1 warning\nline 1: no");
    assert_non_null(strstr(yoke_last_error(), "line 1: no"));
    assert_fails(compile(device, YOKE_PROGRAM_DIALECT, "x", "-O3", &program),
                 YOKE_ERR_USAGE, "'-O3'");
    assert_string_equal(yoke_program_log(), "");
    assert_fails(compile(device, YOKE_PROGRAM_NATIVE, "", NULL, &program), YOKE_ERR_USAGE,
                 "empty");
    assert_fails(compile(device, (yoke_program_format_t)9, "x", NULL, &program),
                 YOKE_ERR_USAGE, "no program format 9");
    assert_null(program);
    assert_ok(compile(device, YOKE_PROGRAM_BINARY, "binary", NULL, &program));
    assert_true(mock.compiled_a_binary);
    const void *data = NULL;
    size_t size = 0;
    assert_fails(yoke_program_binary(program, &data, &size), YOKE_ERR_UNSUPPORTED,
                 "no binaries");
    yoke_program_destroy(program);
    yoke_device_close(device);
    mock.capabilities &= ~(uint64_t)(YOKE_CAP_SOURCE | YOKE_CAP_BINARY);
    device = mock_device(0, 0);
    assert_fails(compile(device, YOKE_PROGRAM_DIALECT, "x", NULL, &program),
                 YOKE_ERR_UNSUPPORTED, "'source'");
    assert_fails(compile(device, YOKE_PROGRAM_BINARY, "x", NULL, &program),
                 YOKE_ERR_UNSUPPORTED, "'binary'");
    yoke_device_close(device);
    assert_int_equal(mock.alive, 0);
}

/* --- DLPack --------------------------------------------------------------------------
 */

static int deleted;

static void delete_versioned(struct DLManagedTensorVersioned *self)
{
    assert_ptr_equal(self->manager_ctx, &deleted);
    deleted++;
}

static void delete_legacy(struct DLManagedTensor *self)
{
    assert_ptr_equal(self->manager_ctx, &deleted);
    deleted++;
}

/* A tensor of f32 [2][3] on extension device 0, as the mock's memory is. */
static float numbers[16];
static int64_t shape[] = {2, 3}, strides[] = {3, 1};

static dl_tensor_t tensor_of_six(void)
{
    return (dl_tensor_t){.data = numbers,
                         .device = {DL_EXT_DEV, 0},
                         .ndim = 2,
                         .dtype = {DL_FLOAT, 32, 1},
                         .shape = shape,
                         .strides = strides};
}

static struct DLManagedTensorVersioned managed_six(void)
{
    return (struct DLManagedTensorVersioned){.version = {1, 0},
                                             .manager_ctx = &deleted,
                                             .deleter = delete_versioned,
                                             .dl_tensor = tensor_of_six()};
}

static void tensors_are_imported(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(0, 0);
    yoke_dltensor_t tensor = {.struct_size = sizeof tensor};
    struct DLManagedTensorVersioned managed = managed_six();
    void *address = NULL;
    deleted = 0;
    managed.flags = DL_FLAG_READ_ONLY;
    managed.dl_tensor.byte_offset = 8;
    assert_ok(yoke_dlpack_import(device, &managed, &tensor));
    assert_int_equal(tensor.element, YOKE_ELEMENT_F32);
    assert_int_equal(tensor.dimensions, 2);
    assert_int_equal(tensor.shape[1], 3);
    assert_int_equal(tensor.strides[0], 3);
    assert_int_equal(tensor.read_only, 1);
    assert_int_equal(tensor.span.offset, 8);
    assert_int_equal(yoke_buffer_size(tensor.span.buffer), 8 + 24);
    assert_ok(yoke_buffer_address(tensor.span.buffer, &address));
    assert_ptr_equal(address, numbers);
    assert_int_equal(deleted, 0);
    yoke_buffer_destroy(tensor.span.buffer);
    assert_int_equal(deleted, 1);
    /* Legacy, without strides. */
    struct DLManagedTensor old = {tensor_of_six(), &deleted, delete_legacy};
    old.dl_tensor.strides = NULL;
    assert_ok(yoke_dlpack_import_legacy(device, &old, &tensor));
    assert_int_equal(tensor.strides[0], 3);
    assert_int_equal(tensor.strides[1], 1);
    assert_int_equal(tensor.read_only, 0);
    yoke_buffer_destroy(tensor.span.buffer);
    assert_int_equal(deleted, 2);
    /* Rows in reverse: element 0 is the last row's. */
    int64_t reverse[] = {-3, 1};
    managed = managed_six();
    managed.dl_tensor.strides = reverse;
    managed.dl_tensor.data = numbers + 3;
    assert_ok(yoke_dlpack_import(device, &managed, &tensor));
    assert_int_equal(tensor.span.offset, 12);
    assert_int_equal(yoke_buffer_size(tensor.span.buffer), 24);
    assert_ok(yoke_buffer_address(tensor.span.buffer, &address));
    assert_ptr_equal(address, numbers);
    yoke_buffer_destroy(tensor.span.buffer);
    /* Nothing in it; no deleter. */
    int64_t none[] = {2, 0};
    managed = managed_six();
    managed.dl_tensor.shape = none;
    managed.dl_tensor.data = NULL;
    managed.deleter = NULL;
    assert_ok(yoke_dlpack_import(device, &managed, &tensor));
    assert_int_equal(yoke_buffer_size(tensor.span.buffer), 0);
    yoke_buffer_destroy(tensor.span.buffer);
    /* A scalar. */
    managed = managed_six();
    managed.dl_tensor.ndim = 0;
    managed.dl_tensor.shape = managed.dl_tensor.strides = NULL;
    assert_ok(yoke_dlpack_import(device, &managed, &tensor));
    assert_int_equal(yoke_buffer_size(tensor.span.buffer), 4);
    yoke_buffer_destroy(tensor.span.buffer);
    yoke_device_close(device);
    assert_int_equal(mock.alive, 0);
}

static void refused(yoke_device_t *device, const struct DLManagedTensorVersioned *from,
                    yoke_status_t expected, const char *text)
{
    struct DLManagedTensorVersioned managed = *from;
    yoke_dltensor_t tensor = {.struct_size = sizeof tensor};
    int before = deleted;
    assert_fails(yoke_dlpack_import(device, &managed, &tensor), expected, text);
    assert_null(tensor.span.buffer);
    assert_int_equal(deleted, before); /* it stays the giver's */
}

static void foreign_tensors_are_refused(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(0, 0);
    struct DLManagedTensorVersioned bad = managed_six();
    yoke_dltensor_t tensor = {.struct_size = sizeof tensor};
    int64_t negative[] = {2, -1}, huge[] = {INT64_MAX, 2};
#define BAD(change, status, text)                                                        \
    bad = managed_six();                                                                 \
    change;                                                                              \
    refused(device, &bad, status, text)
    BAD(bad.version.major = 2, YOKE_ERR_UNSUPPORTED, "DLPack 2.0");
    BAD(bad.dl_tensor.device.device_type = DL_CUDA, YOKE_ERR_USAGE, "device type 2");
    BAD(bad.dl_tensor.device.device_id = 1, YOKE_ERR_USAGE, "number 1");
    BAD(bad.dl_tensor.device.device_id = -1, YOKE_ERR_USAGE, "number -1");
    BAD(bad.dl_tensor.dtype.lanes = 4, YOKE_ERR_UNSUPPORTED, "4 lanes");
    BAD(bad.dl_tensor.dtype.bits = 128, YOKE_ERR_UNSUPPORTED, "128 bits");
    BAD(bad.dl_tensor.dtype.code = 5, YOKE_ERR_UNSUPPORTED, "code 5");
    BAD(bad.dl_tensor.ndim = 17, YOKE_ERR_UNSUPPORTED, "17 dimensions");
    BAD(bad.dl_tensor.ndim = -1, YOKE_ERR_UNSUPPORTED, "-1 dimensions");
    BAD(bad.dl_tensor.shape = NULL, YOKE_ERR_USAGE, "no shape");
    BAD(bad.dl_tensor.shape = negative, YOKE_ERR_USAGE, "negative");
    BAD(bad.dl_tensor.shape = huge, YOKE_ERR_USAGE, "pass all memory");
    BAD(bad.dl_tensor.data = NULL, YOKE_ERR_USAGE, "do not fit");
    BAD(bad.dl_tensor.byte_offset = UINT64_MAX - 3, YOKE_ERR_USAGE, "do not fit");
    mock.answer = YOKE_ERR_SYSTEM;
    BAD((void)0, YOKE_ERR_SYSTEM, "mockWrapBuffer");
    assert_fails(yoke_dlpack_import(device, NULL, &tensor), YOKE_ERR_USAGE, "NULL");
    assert_fails(yoke_dlpack_import_legacy(device, NULL, &tensor), YOKE_ERR_USAGE,
                 "NULL");
    bad = managed_six();
    assert_fails(yoke_dlpack_import(NULL, &bad, &tensor), YOKE_ERR_USAGE, "NULL");
    assert_fails(yoke_dlpack_import(device, &bad, NULL), YOKE_ERR_USAGE, "struct_size");
    yoke_device_close(device);
    assert_int_equal(mock.alive, 0);
}

static void end_export(void *context)
{
    ++*(int *)context;
}

/* Out and in again: the same bytes, for every element type and both forms. */
static void tensors_come_back(void **state)
{
    (void)state;
    yoke_device_t *device = mock_device(1, 0);
    yoke_buffer_t *buffer = NULL;
    void *address = NULL, *again = NULL;
    int ended = 0;
    assert_ok(yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 256, &buffer));
    assert_ok(yoke_buffer_address(buffer, &address));
    for (unsigned i = 0; i < YOKE_ELEMENT_COUNT; i++) {
        yoke_dltensor_t out = {.struct_size = sizeof out,
                               .span = {buffer, 64},
                               .element = (yoke_element_t)i,
                               .dimensions = 3,
                               .shape = {2, 2, 3},
                               .strides = {6, -3, 1}};
        yoke_dltensor_t in = {.struct_size = sizeof in};
        struct DLManagedTensorVersioned *managed = NULL;
        struct DLManagedTensor *old = NULL;
        assert_ok(yoke_dlpack_export(&out, end_export, &ended, &managed));
        assert_int_equal(managed->version.major, 1);
        assert_ptr_equal(managed->dl_tensor.data, address);
        assert_int_equal(managed->dl_tensor.byte_offset, 64);
        assert_int_equal(managed->dl_tensor.device.device_type, DL_EXT_DEV);
        assert_int_equal(managed->dl_tensor.device.device_id, 1);
        assert_ok(yoke_dlpack_import(device, managed, &in));
        assert_int_equal(in.element, i);
        assert_memory_equal(in.shape, out.shape, sizeof in.shape);
        assert_memory_equal(in.strides, out.strides, sizeof in.strides);
        assert_ok(yoke_buffer_address(in.span.buffer, &again));
        assert_ptr_equal((char *)again + in.span.offset, (char *)address + 64);
        yoke_buffer_destroy(in.span.buffer);
        assert_int_equal(ended, (int)(2 * i + 1));
        assert_ok(yoke_dlpack_export_legacy(&out, end_export, &ended, &old));
        assert_ok(yoke_dlpack_import_legacy(device, old, &in));
        yoke_buffer_destroy(in.span.buffer);
        assert_int_equal(ended, (int)(2 * i + 2));
    }
    yoke_dltensor_t wrong = {.struct_size = sizeof wrong,
                             .span = {buffer, 0},
                             .dimensions = 1,
                             .shape = {33},
                             .strides = {1}};
    struct DLManagedTensorVersioned *managed = NULL;
    struct DLManagedTensor *old = NULL;
    assert_fails(yoke_dlpack_export(&wrong, NULL, NULL, &managed), YOKE_ERR_OUT_OF_RANGE,
                 "256 bytes");
    wrong.shape[0] = 2;
    wrong.strides[0] = -1;
    assert_fails(yoke_dlpack_export(&wrong, NULL, NULL, &managed), YOKE_ERR_OUT_OF_RANGE,
                 "below");
    wrong.strides[0] = 1;
    wrong.read_only = 1;
    assert_fails(yoke_dlpack_export_legacy(&wrong, NULL, NULL, &old),
                 YOKE_ERR_UNSUPPORTED, "read-only");
    assert_ok(yoke_dlpack_export(&wrong, NULL, NULL, &managed));
    assert_int_equal(managed->flags, DL_FLAG_READ_ONLY);
    managed->deleter(managed);
    managed = NULL;
    wrong.span.buffer = NULL;
    assert_fails(yoke_dlpack_export(&wrong, NULL, NULL, &managed), YOKE_ERR_USAGE,
                 "NULL");
    assert_fails(yoke_dlpack_export(NULL, NULL, NULL, &managed), YOKE_ERR_USAGE,
                 "struct_size");
    assert_null(managed);
    assert_null(old);
    yoke_buffer_destroy(buffer);
    yoke_device_close(device);
    assert_int_equal(mock.alive, 0);
}

/* The numbers that receivers rely on, by backend; "cuda" here is the mock under its name
 * where the library has no live one. */
static void device_types_by_backend(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t memory, pinned, pinned_id;
    } rows[] = {{"corex", DL_CUDA, DL_CUDA_HOST, 0},
                {"dtk", DL_ROCM, DL_ROCM_HOST, 0},
                {"musa", DL_EXT_DEV, DL_EXT_DEV, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        yoke_backend_ops_t ops = mock_ops;
        yoke_device_t *device = NULL;
        char name[16];
        ops.name = rows[i].name;
        if (yoke_registry_add(&ops, "test", NULL) != YOKE_OK)
            continue; /* the real one is there; it has tests of its own */
        snprintf(name, sizeof name, "%s:1", rows[i].name);
        assert_ok(yoke_device_open(name, NULL, &device));
        for (int pinned = 0; pinned < 2; pinned++) {
            yoke_dltensor_t out = {.struct_size = sizeof out};
            yoke_dltensor_t in = {.struct_size = sizeof in};
            struct DLManagedTensorVersioned *managed = NULL;
            assert_ok(yoke_buffer_create(device,
                                         pinned ? YOKE_MEMORY_HOST : YOKE_MEMORY_DEVICE,
                                         64, &out.span.buffer));
            assert_ok(yoke_dlpack_export(&out, NULL, NULL, &managed));
            assert_int_equal(managed->dl_tensor.device.device_type,
                             pinned ? rows[i].pinned : rows[i].memory);
            assert_int_equal(managed->dl_tensor.device.device_id,
                             pinned ? rows[i].pinned_id : 1);
            assert_ok(yoke_dlpack_import(device, managed, &in));
            yoke_buffer_destroy(in.span.buffer);
            yoke_buffer_destroy(out.span.buffer);
        }
        yoke_device_close(device);
    }
    assert_int_equal(mock.alive, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(wrapped_objects_are_let_go, mock_reset),
        cmocka_unit_test_setup(devices_are_adopted, mock_reset),
        cmocka_unit_test_setup(programs, mock_reset),
        cmocka_unit_test_setup(tensors_are_imported, mock_reset),
        cmocka_unit_test_setup(foreign_tensors_are_refused, mock_reset),
        cmocka_unit_test_setup(tensors_come_back, mock_reset),
        cmocka_unit_test_setup(device_types_by_backend, mock_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
