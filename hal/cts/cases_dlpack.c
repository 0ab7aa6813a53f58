/* SPDX-License-Identifier: Apache-2.0 */
/* DLPack: tensors out, back in, from a framework's own memory, and what is refused. The
 * structs are declared here from the standard (github.com/dmlc/dlpack, dlpack.h 1.1). */
#include "hal/cts/case.h"

#include <stdlib.h>

typedef struct dl_device {
    int32_t device_type, device_id;
} dl_device_t;
typedef struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
} dl_type_t;
typedef struct dl_tensor {
    void *data;
    dl_device_t device;
    int32_t ndim;
    dl_type_t dtype;
    int64_t *shape, *strides;
    uint64_t byte_offset;
} dl_tensor_t;
struct DLManagedTensor {
    dl_tensor_t dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensor *self);
};
struct DLManagedTensorVersioned {
    uint32_t major, minor;
    void *manager_ctx;
    void (*deleter)(struct DLManagedTensorVersioned *self);
    uint64_t flags;
    dl_tensor_t dl_tensor;
};
typedef struct DLManagedTensor legacy_t;
typedef struct DLManagedTensorVersioned versioned_t;

/* DLDataTypeCode and DLDeviceType of the same header. */
enum {
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_F8E4M3FN = 10,
    DL_F8E5M2 = 12
};
enum {
    DL_CPU = 1,
    DL_CUDA = 2,
    DL_OPENCL = 4,
    DL_ROCM = 10,
    DL_EXT = 12,
    DL_ONEAPI = 14
};

static const dl_type_t types[YOKE_ELEMENT_COUNT] = {
    [YOKE_ELEMENT_F64] = {DL_FLOAT, 64, 1},
    [YOKE_ELEMENT_F32] = {DL_FLOAT, 32, 1},
    [YOKE_ELEMENT_F16] = {DL_FLOAT, 16, 1},
    [YOKE_ELEMENT_BF16] = {DL_BFLOAT, 16, 1},
    [YOKE_ELEMENT_F8E4M3] = {DL_F8E4M3FN, 8, 1},
    [YOKE_ELEMENT_F8E5M2] = {DL_F8E5M2, 8, 1},
    [YOKE_ELEMENT_I8] = {DL_INT, 8, 1},
    [YOKE_ELEMENT_U8] = {DL_UINT, 8, 1},
    [YOKE_ELEMENT_I32] = {DL_INT, 32, 1},
    [YOKE_ELEMENT_U32] = {DL_UINT, 32, 1},
    [YOKE_ELEMENT_I64] = {DL_INT, 64, 1},
    [YOKE_ELEMENT_U64] = {DL_UINT, 64, 1},
};

static int32_t device_type(const char *backend)
{
    static const struct {
        const char *backend;
        int32_t type;
    } table[] = {{"host", DL_CPU},         {"cuda", DL_CUDA}, {"corex", DL_CUDA},
                 {"hip", DL_ROCM},         {"dtk", DL_ROCM},  {"opencl", DL_OPENCL},
                 {"level_zero", DL_ONEAPI}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].backend, backend) == 0)
            return table[i].type;
    return DL_EXT;
}

static void count_up(void *context)
{
    ++*(int *)context;
}

enum { ROWS = 5, COLUMNS = 7 };

static yoke_dltensor_t tensor_of(yoke_buffer_t *buffer, yoke_element_t element)
{
    yoke_dltensor_t tensor = {.struct_size = sizeof tensor,
                              .span = {buffer, 64},
                              .element = element,
                              .dimensions = 2,
                              .shape = {ROWS, COLUMNS},
                              .strides = {COLUMNS, 1}};
    return tensor;
}

static void check_tensor(yoke_cts_t *t, const dl_tensor_t *dl, yoke_element_t element)
{
    EQUAL(t, device_type(yoke_cts_backend(t)), dl->device.device_type);
    EQUAL(t, yoke_cts_info(t)->ordinal, dl->device.device_id);
    EQUAL(t, 2, dl->ndim);
    EQUAL(t, ROWS, dl->shape[0]);
    EQUAL(t, COLUMNS, dl->shape[1]);
    if (dl->strides != NULL) {
        EQUAL(t, COLUMNS, dl->strides[0]);
        EQUAL(t, 1, dl->strides[1]);
    }
    EQUAL(t, types[element].code, dl->dtype.code);
    EQUAL(t, types[element].bits, dl->dtype.bits);
    EQUAL(t, 1, dl->dtype.lanes);
    CHECK(t, dl->data != NULL);
}

static void end_versioned(void *object)
{
    versioned_t *managed = object;
    managed->deleter(managed);
}

static void end_legacy(void *object)
{
    legacy_t *managed = object;
    managed->deleter(managed);
}

/* Out, looked at, back in: the same bytes, and the release called once, at the end. */
static void round_trip(yoke_cts_t *t)
{
    yoke_element_t element = (yoke_element_t)yoke_cts_parameter(t);
    size_t size = ROWS * COLUMNS * yoke_element_size(element);
    unsigned char data[ROWS * COLUMNS * 8];
    int *released = yoke_cts_memory(t, sizeof *released);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1024);
    yoke_dltensor_t tensor = tensor_of(buffer, element),
                    back = {.struct_size = sizeof back};
    versioned_t *managed = NULL;
    yoke_cts_noise(data, size, 150);
    yoke_cts_put(t, queue, buffer, 64, data, size);
    OK(t, yoke_dlpack_export(&tensor, count_up, released, &managed));
    yoke_cts_keep(t, managed, end_versioned);
    EQUAL(t, 1, managed->major);
    EQUAL(t, 0, managed->flags & 1);
    check_tensor(t, &managed->dl_tensor, element);
    OK(t, yoke_dlpack_import(yoke_cts_device(t), managed, &back));
    yoke_cts_forget(t, managed);
    yoke_cts_keep_buffer(t, back.span.buffer);
    EQUAL(t, element, back.element);
    EQUAL(t, 2, back.dimensions);
    EQUAL(t, ROWS, back.shape[0]);
    EQUAL(t, COLUMNS, back.strides[0]);
    EQUAL(t, 1, back.strides[1]);
    EXPECT(t, queue, back.span.buffer, back.span.offset, data, size);
    EQUAL(t, 0, *released);
    yoke_cts_forget(t, back.span.buffer);
    yoke_buffer_destroy(back.span.buffer);
    EQUAL(t, 1, *released);
}

static void round_trip_legacy(yoke_cts_t *t)
{
    unsigned char data[ROWS * COLUMNS * 4];
    int *released = yoke_cts_memory(t, sizeof *released);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1024);
    yoke_dltensor_t tensor = tensor_of(buffer, YOKE_ELEMENT_F32);
    yoke_dltensor_t back = {.struct_size = sizeof back};
    legacy_t *managed = NULL;
    yoke_cts_noise(data, sizeof data, 151);
    yoke_cts_put(t, queue, buffer, 64, data, sizeof data);
    OK(t, yoke_dlpack_export_legacy(&tensor, count_up, released, &managed));
    yoke_cts_keep(t, managed, end_legacy);
    check_tensor(t, &managed->dl_tensor, YOKE_ELEMENT_F32);
    OK(t, yoke_dlpack_import_legacy(yoke_cts_device(t), managed, &back));
    yoke_cts_forget(t, managed);
    yoke_cts_keep_buffer(t, back.span.buffer);
    EXPECT(t, queue, back.span.buffer, back.span.offset, data, sizeof data);
    yoke_cts_forget(t, back.span.buffer);
    yoke_buffer_destroy(back.span.buffer);
    EQUAL(t, 1, *released);
}

static void never_imported(yoke_cts_t *t)
{
    int released = 0;
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1024);
    yoke_dltensor_t tensor = tensor_of(buffer, YOKE_ELEMENT_U8);
    versioned_t *managed = NULL;
    tensor.read_only = 1;
    OK(t, yoke_dlpack_export(&tensor, count_up, &released, &managed));
    uint64_t flags = managed->flags;
    managed->deleter(managed);
    EQUAL(t, 1, released);
    EQUAL(t, 1, flags & 1);
    OK(t, yoke_dlpack_export(&tensor, NULL, NULL, &managed));
    managed->deleter(managed);
}

/* --- a framework's tensor ----------------------------------------------------------- */

typedef struct framework {
    versioned_t managed;
    int64_t shape[2], strides[2];
    int deleted;
} framework_t;

static void framework_deletes(versioned_t *self)
{
    ((framework_t *)self->manager_ctx)->deleted++;
}

static framework_t *make_framework(yoke_cts_t *t, yoke_buffer_t *buffer)
{
    framework_t *f = yoke_cts_memory(t, sizeof *f);
    yoke_native_t native = {.struct_size = sizeof native};
    OK(t, yoke_buffer_native(buffer, &native));
    *f = (framework_t){.managed = {1, 0, f, framework_deletes, 0, {0}},
                       .shape = {ROWS, COLUMNS},
                       .strides = {COLUMNS, 1}};
    f->managed.dl_tensor = (dl_tensor_t){
        native.handle,
        {device_type(yoke_cts_backend(t)), (int32_t)yoke_cts_info(t)->ordinal},
        2,
        {DL_FLOAT, 32, 1},
        f->shape,
        NULL,
        128};
    return f;
}

static void import_without_strides(yoke_cts_t *t)
{
    unsigned char data[ROWS * COLUMNS * 4];
    yoke_dltensor_t back = {.struct_size = sizeof back};
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1024);
    framework_t *f = make_framework(t, buffer);
    yoke_cts_noise(data, sizeof data, 152);
    yoke_cts_put(t, queue, buffer, 128, data, sizeof data);
    OK(t, yoke_dlpack_import(yoke_cts_device(t), &f->managed, &back));
    yoke_cts_keep_buffer(t, back.span.buffer);
    EQUAL(t, COLUMNS, back.strides[0]);
    EQUAL(t, 1, back.strides[1]);
    EXPECT(t, queue, back.span.buffer, back.span.offset, data, sizeof data);
    EQUAL(t, 0, f->deleted);
    yoke_cts_forget(t, back.span.buffer);
    yoke_buffer_destroy(back.span.buffer);
    EQUAL(t, 1, f->deleted);
}

/* Rows that are apart: the buffer reaches to the last element. */
static void import_strided(yoke_cts_t *t)
{
    uint32_t value = 0xabcd, back_value = 0;
    yoke_dltensor_t back = {.struct_size = sizeof back};
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 4096);
    framework_t *f = make_framework(t, buffer);
    f->strides[0] = 32;
    f->managed.dl_tensor.strides = f->strides;
    uint64_t last = ((ROWS - 1) * 32 + COLUMNS - 1) * 4;
    yoke_cts_put(t, queue, buffer, 128 + last, &value, 4);
    OK(t, yoke_dlpack_import(yoke_cts_device(t), &f->managed, &back));
    yoke_cts_keep_buffer(t, back.span.buffer);
    EQUAL(t, 32, back.strides[0]);
    CHECK(t, yoke_buffer_size(back.span.buffer) >= back.span.offset + last + 4);
    yoke_cts_get(t, queue, back.span.buffer, back.span.offset + last, &back_value, 4);
    EQUAL(t, value, back_value);
}

static void import_scalar(yoke_cts_t *t)
{
    yoke_dltensor_t back = {.struct_size = sizeof back};
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1024);
    framework_t *f = make_framework(t, buffer);
    f->managed.dl_tensor.ndim = 0;
    f->managed.dl_tensor.shape = NULL;
    OK(t, yoke_dlpack_import(yoke_cts_device(t), &f->managed, &back));
    yoke_cts_keep_buffer(t, back.span.buffer);
    EQUAL(t, 0, back.dimensions);
    CHECK(t, yoke_buffer_size(back.span.buffer) >= back.span.offset + 4);
}

/* One fault each in an otherwise good tensor. */
static void spoil(framework_t *f, int64_t which)
{
    dl_tensor_t *dl = &f->managed.dl_tensor;
    static int64_t many[YOKE_MAX_DIMENSIONS + 1];
    for (size_t i = 0; i <= YOKE_MAX_DIMENSIONS; i++)
        many[i] = 1;
    switch (which) {
    case 0:
        f->managed.major = 2;
        break;
    case 1:
        dl->dtype.lanes = 4;
        break;
    case 2:
        dl->dtype.code = 5; /* complex */
        break;
    case 3:
        dl->dtype.bits = 24;
        break;
    case 4:
        dl->ndim = YOKE_MAX_DIMENSIONS + 1;
        dl->shape = many;
        break;
    case 5:
        dl->device.device_type = 7; /* Vulkan */
        break;
    case 6:
        dl->device.device_id += 41;
        break;
    case 7:
        f->shape[0] = -1;
        break;
    case 8:
        f->shape[0] = f->shape[1] = INT64_MAX / 2;
        break;
    default:
        dl->byte_offset = UINT64_MAX - 8;
        break;
    }
}

static void import_refused(yoke_cts_t *t)
{
    yoke_dltensor_t back = {.struct_size = sizeof back};
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1024);
    framework_t *f = make_framework(t, buffer);
    if (yoke_cts_parameter(t) == 6 && f->managed.dl_tensor.device.device_type == DL_CPU)
        yoke_cts_unsupported(t, "memory of the CPU is one device, whatever its number");
    spoil(f, yoke_cts_parameter(t));
    GIVES(t, (yoke_status_t)yoke_cts_second(t),
          yoke_dlpack_import(yoke_cts_device(t), &f->managed, &back));
    CHECK(t, back.span.buffer == NULL);
    EQUAL(t, 0, f->deleted); /* it stays the giver's */
}

static void null_arguments(yoke_cts_t *t)
{
    yoke_dltensor_t back = {.struct_size = sizeof back};
    versioned_t *managed = NULL;
    legacy_t *legacy = NULL;
    GIVES(t, YOKE_ERR_USAGE, yoke_dlpack_import(yoke_cts_device(t), NULL, &back));
    GIVES(t, YOKE_ERR_USAGE, yoke_dlpack_import_legacy(yoke_cts_device(t), NULL, &back));
    GIVES(t, YOKE_ERR_USAGE, yoke_dlpack_export(NULL, NULL, NULL, &managed));
    GIVES(t, YOKE_ERR_USAGE, yoke_dlpack_export_legacy(NULL, NULL, NULL, &legacy));
    CHECK(t, managed == NULL && legacy == NULL);
}

/* --- names of elements -------------------------------------------------------------- */

static void element_names(yoke_cts_t *t)
{
    for (int i = 0; i < YOKE_ELEMENT_COUNT; i++) {
        yoke_element_t back = YOKE_ELEMENT_COUNT;
        const char *name = yoke_element_name((yoke_element_t)i);
        CHECK(t, name != NULL && yoke_element_parse(name, &back));
        EQUAL(t, i, back);
        EQUAL(t, types[i].bits, 8 * yoke_element_size((yoke_element_t)i));
    }
    yoke_element_t untouched = YOKE_ELEMENT_I8;
    CHECK(t, !yoke_element_parse("f33", &untouched) && untouched == YOKE_ELEMENT_I8);
    CHECK(t, yoke_element_name(YOKE_ELEMENT_COUNT) == NULL);
    EQUAL(t, 0, yoke_element_size(YOKE_ELEMENT_COUNT));
    for (int i = 0; i < YOKE_REDUCTION_COUNT; i++) {
        yoke_reduction_t back = YOKE_REDUCTION_COUNT;
        CHECK(t, yoke_reduction_parse(yoke_reduction_name((yoke_reduction_t)i), &back));
        EQUAL(t, i, back);
    }
}

#define TRIP(name, element)                                                              \
    {                                                                                    \
        "dlpack/round-trip-" name, YOKE_CAP_WRAP, 0, round_trip, element, 0              \
    }
#define REFUSED(name, which, status)                                                     \
    {                                                                                    \
        "dlpack/refused-" name, YOKE_CAP_WRAP, 0, import_refused, which, status          \
    }

static const yoke_cts_case_t cases[] = {
    TRIP("f64", YOKE_ELEMENT_F64),
    TRIP("f32", YOKE_ELEMENT_F32),
    TRIP("f16", YOKE_ELEMENT_F16),
    TRIP("bf16", YOKE_ELEMENT_BF16),
    TRIP("f8e4m3", YOKE_ELEMENT_F8E4M3),
    TRIP("f8e5m2", YOKE_ELEMENT_F8E5M2),
    TRIP("i8", YOKE_ELEMENT_I8),
    TRIP("u8", YOKE_ELEMENT_U8),
    TRIP("i32", YOKE_ELEMENT_I32),
    TRIP("u32", YOKE_ELEMENT_U32),
    TRIP("i64", YOKE_ELEMENT_I64),
    TRIP("u64", YOKE_ELEMENT_U64),
    {"dlpack/round-trip-legacy", YOKE_CAP_WRAP, 0, round_trip_legacy, 0, 0},
    {"dlpack/never-imported", YOKE_CAP_WRAP, 0, never_imported, 0, 0},
    {"dlpack/import-without-strides", YOKE_CAP_WRAP, 0, import_without_strides, 0, 0},
    {"dlpack/import-strided", YOKE_CAP_WRAP, 0, import_strided, 0, 0},
    {"dlpack/import-scalar", YOKE_CAP_WRAP, 0, import_scalar, 0, 0},
    REFUSED("major-version", 0, YOKE_ERR_UNSUPPORTED),
    REFUSED("lanes", 1, YOKE_ERR_UNSUPPORTED),
    REFUSED("complex", 2, YOKE_ERR_UNSUPPORTED),
    REFUSED("24-bits", 3, YOKE_ERR_UNSUPPORTED),
    REFUSED("dimensions", 4, YOKE_ERR_UNSUPPORTED),
    REFUSED("device-type", 5, YOKE_ERR_USAGE),
    REFUSED("device-id", 6, YOKE_ERR_USAGE),
    REFUSED("negative-shape", 7, YOKE_ERR_USAGE),
    REFUSED("size-overflow", 8, YOKE_ERR_USAGE),
    REFUSED("offset-overflow", 9, YOKE_ERR_USAGE),
    {"dlpack/null", 0, 0, null_arguments, 0, 0},
    {"dlpack/element-names", 0, 0, element_names, 0, 0},
};

YOKE_CTS_GROUP(dlpack, cases);
