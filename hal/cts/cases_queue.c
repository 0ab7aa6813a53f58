/* SPDX-License-Identifier: Apache-2.0 */
/* Queues: copy, write, read, fill with offsets and odd sizes, and what may be asked. */
#include "hal/cts/case.h"

enum { GUARD = 64 };

/* A buffer of noise around the range under test, and its copy on the host. */
typedef struct field {
    yoke_queue_t *queue;
    yoke_buffer_t *buffer;
    unsigned char *model;
    size_t size;
} field_t;

static field_t field_of(yoke_cts_t *t, yoke_queue_t *queue, yoke_memory_kind_t kind,
                        size_t size, uint64_t seed)
{
    field_t field = {queue, NULL, yoke_cts_memory(t, size), size};
    field.buffer = yoke_cts_buffer_of(t, yoke_cts_device(t), kind, size);
    yoke_cts_noise(field.model, size, seed);
    yoke_cts_put(t, queue, field.buffer, 0, field.model, size);
    return field;
}

static field_t new_field(yoke_cts_t *t, size_t size, uint64_t seed)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    return field_of(t, queue, YOKE_MEMORY_DEVICE, size, seed);
}

static void check_field(yoke_cts_t *t, const field_t *field)
{
    EXPECT(t, field->queue, field->buffer, 0, field->model, field->size);
}

/* --- write and read ----------------------------------------------------------------- */

static void write_at(yoke_cts_t *t)
{
    size_t size = (size_t)yoke_cts_parameter(t), offset = (size_t)yoke_cts_second(t);
    field_t field = new_field(t, offset + size + GUARD, 11);
    unsigned char *data = yoke_cts_memory(t, size);
    yoke_cts_noise(data, size, 12);
    OK(t, yoke_queue_write(field.queue, yoke_span(field.buffer, offset), data, size));
    memcpy(field.model + offset, data, size);
    check_field(t, &field);
}

static void read_at(yoke_cts_t *t)
{
    size_t size = (size_t)yoke_cts_parameter(t), offset = (size_t)yoke_cts_second(t);
    field_t field = new_field(t, offset + size + GUARD, 13);
    unsigned char *data = yoke_cts_memory(t, size + 2 * GUARD);
    unsigned char *expected = yoke_cts_memory(t, size + 2 * GUARD);
    memset(data, 0x77, size + 2 * GUARD);
    memset(expected, 0x77, size + 2 * GUARD);
    memcpy(expected + GUARD, field.model + offset, size);
    OK(t,
       yoke_queue_read(field.queue, data + GUARD, yoke_span(field.buffer, offset), size));
    OK(t, yoke_queue_sync(field.queue));
    BYTES(t, "host memory around the read", expected, data, size + 2 * GUARD);
}

/* --- copy --------------------------------------------------------------------------- */

static void copy_size(yoke_cts_t *t)
{
    size_t size = (size_t)yoke_cts_parameter(t);
    field_t from = new_field(t, size + GUARD, 14);
    field_t to = field_of(t, from.queue, YOKE_MEMORY_DEVICE, size + GUARD, 15);
    OK(t, yoke_queue_copy(from.queue, yoke_span(to.buffer, 0), yoke_span(from.buffer, 0),
                          size));
    memcpy(to.model, from.model, size);
    check_field(t, &to);
    check_field(t, &from);
}

static void copy_offset(yoke_cts_t *t)
{
    size_t dst = (size_t)yoke_cts_parameter(t), src = (size_t)yoke_cts_second(t);
    enum { SIZE = 1237 };
    field_t from = new_field(t, src + SIZE + GUARD, 16);
    field_t to = field_of(t, from.queue, YOKE_MEMORY_DEVICE, dst + SIZE + GUARD, 17);
    OK(t, yoke_queue_copy(from.queue, yoke_span(to.buffer, dst),
                          yoke_span(from.buffer, src), SIZE));
    memcpy(to.model + dst, from.model + src, SIZE);
    check_field(t, &to);
}

static void copy_within(yoke_cts_t *t)
{
    field_t field = new_field(t, 8192, 18);
    OK(t, yoke_queue_copy(field.queue, yoke_span(field.buffer, 4099),
                          yoke_span(field.buffer, 3), 4093));
    memcpy(field.model + 4099, field.model + 3, 4093);
    check_field(t, &field);
    OK(t, yoke_queue_copy(field.queue, yoke_span(field.buffer, 0),
                          yoke_span(field.buffer, 4096), 4096));
    memcpy(field.model, field.model + 4096, 4096);
    check_field(t, &field);
}

static void copy_kinds(yoke_cts_t *t)
{
    yoke_memory_kind_t to_kind = (yoke_memory_kind_t)yoke_cts_parameter(t);
    yoke_memory_kind_t from_kind = (yoke_memory_kind_t)yoke_cts_second(t);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    field_t from = field_of(t, queue, from_kind, 70001, 19);
    field_t to = field_of(t, queue, to_kind, 70001, 20);
    OK(t,
       yoke_queue_copy(queue, yoke_span(to.buffer, 1), yoke_span(from.buffer, 2), 69999));
    memcpy(to.model + 1, from.model + 2, 69999);
    check_field(t, &to);
}

static void copy_chain(yoke_cts_t *t)
{
    unsigned char data[5000];
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *chain[8];
    yoke_cts_noise(data, sizeof data, 21);
    for (size_t i = 0; i < 8; i++)
        chain[i] = yoke_cts_buffer(t, yoke_cts_device(t), sizeof data);
    OK(t, yoke_queue_write(queue, yoke_span(chain[0], 0), data, sizeof data));
    for (size_t i = 1; i < 8; i++)
        OK(t, yoke_queue_copy(queue, yoke_span(chain[i], 0), yoke_span(chain[i - 1], 0),
                              sizeof data));
    EXPECT(t, queue, chain[7], 0, data, sizeof data);
}

/* --- fill --------------------------------------------------------------------------- */

static void fill(yoke_cts_t *t, size_t pattern_size, size_t offset, size_t count)
{
    unsigned char pattern[16];
    size_t size = pattern_size * count;
    field_t field = new_field(t, offset + size + GUARD, 22);
    yoke_cts_noise(pattern, sizeof pattern, 23 + pattern_size);
    OK(t, yoke_queue_fill(field.queue, yoke_span(field.buffer, offset), pattern,
                          pattern_size, size));
    memset(pattern, 0, sizeof pattern); /* it was read before the call returned */
    yoke_cts_noise(pattern, sizeof pattern, 23 + pattern_size);
    for (size_t i = 0; i < size; i++)
        field.model[offset + i] = pattern[i % pattern_size];
    check_field(t, &field);
}

static void fill_count(yoke_cts_t *t)
{
    fill(t, (size_t)yoke_cts_parameter(t), 0, (size_t)yoke_cts_second(t));
}

static void fill_offset(yoke_cts_t *t)
{
    size_t pattern_size = (size_t)yoke_cts_parameter(t);
    fill(t, pattern_size, pattern_size * (size_t)yoke_cts_second(t), 333);
}

static void fill_pattern_is_copied(yoke_cts_t *t)
{
    field_t field = new_field(t, 1 << 16, 24);
    uint32_t pattern;
    for (uint32_t i = 0; i < 64; i++) {
        pattern = i * 0x01010101u;
        OK(t, yoke_queue_fill(field.queue, yoke_span(field.buffer, i * 1024), &pattern, 4,
                              1024));
        pattern = 0xdeadbeefu;
        memset(field.model + i * 1024, (int)i, 1024);
    }
    check_field(t, &field);
}

static void fill_kind(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    field_t field =
        field_of(t, queue, (yoke_memory_kind_t)yoke_cts_parameter(t), 8000, 25);
    uint64_t pattern = 0x0123456789abcdefull;
    OK(t, yoke_queue_fill(queue, yoke_span(field.buffer, 8), &pattern, 8, 7984));
    for (size_t i = 8; i < 7992; i += 8)
        memcpy(field.model + i, &pattern, 8);
    check_field(t, &field);
}

/* --- nothing ------------------------------------------------------------------------ */

static void zero_size(yoke_cts_t *t)
{
    field_t field = new_field(t, 256, 26);
    field_t other = field_of(t, field.queue, YOKE_MEMORY_DEVICE, 256, 27);
    unsigned char pattern = 1;
    OK(t, yoke_queue_copy(field.queue, yoke_span(field.buffer, 0),
                          yoke_span(other.buffer, 0), 0));
    OK(t, yoke_queue_copy(field.queue, yoke_span(field.buffer, 256),
                          yoke_span(other.buffer, 256), 0));
    OK(t, yoke_queue_write(field.queue, yoke_span(field.buffer, 256), &pattern, 0));
    OK(t, yoke_queue_write(field.queue, yoke_span(field.buffer, 0), &pattern, 0));
    OK(t, yoke_queue_read(field.queue, &pattern, yoke_span(field.buffer, 0), 0));
    OK(t, yoke_queue_fill(field.queue, yoke_span(field.buffer, 16), &pattern, 1, 0));
    check_field(t, &field);
    EQUAL(t, 1, pattern);
}

static void empty(yoke_cts_t *t)
{
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_status_t status;
    do { /* OpenCL and Level Zero have to enqueue a mark to know */
        status = yoke_queue_query(queue);
    } while (status == YOKE_ERR_NOT_READY);
    OK(t, status);
    OK(t, yoke_queue_sync(queue));
    OK(t, yoke_queue_sync(queue));
    OK(t, yoke_queue_query(queue));
    CHECK(t, yoke_queue_device(queue) == yoke_cts_device(t));
}

static void query_after_sync(yoke_cts_t *t)
{
    field_t field = new_field(t, 1 << 20, 28);
    for (int i = 0; i < 10; i++) {
        OK(t, yoke_queue_write(field.queue, yoke_span(field.buffer, 0), field.model,
                               field.size));
        yoke_status_t status = yoke_queue_query(field.queue);
        CHECK(t, status == YOKE_OK || status == YOKE_ERR_NOT_READY);
        OK(t, yoke_queue_sync(field.queue));
        OK(t, yoke_queue_query(field.queue));
    }
}

/* When it says that all has ended, what was read is there. */
static void query_tells_the_truth(yoke_cts_t *t)
{
    field_t field = new_field(t, 3 << 20, 29);
    unsigned char *data = yoke_cts_memory(t, field.size);
    OK(t, yoke_queue_read(field.queue, data, yoke_span(field.buffer, 0), field.size));
    yoke_status_t status;
    do {
        status = yoke_queue_query(field.queue);
    } while (status == YOKE_ERR_NOT_READY);
    OK(t, status);
    BYTES(t, "read before the query", field.model, data, field.size);
}

static void destroy_waits(yoke_cts_t *t)
{
    unsigned char *data = yoke_cts_memory(t, 1 << 20);
    unsigned char *back = yoke_cts_memory(t, 1 << 20);
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1 << 20);
    yoke_queue_t *queue = NULL;
    yoke_cts_noise(data, 1 << 20, 30);
    OK(t, yoke_queue_create(yoke_cts_device(t), NULL, &queue));
    yoke_status_t wrote = yoke_queue_write(queue, yoke_span(buffer, 0), data, 1 << 20);
    yoke_status_t read = yoke_queue_read(queue, back, yoke_span(buffer, 0), 1 << 20);
    yoke_queue_destroy(queue);
    OK(t, wrote);
    OK(t, read);
    BYTES(t, "read before the queue ended", data, back, 1 << 20);
}

static void host_memory_is_free_after_sync(yoke_cts_t *t)
{
    field_t field = new_field(t, 100000, 31);
    unsigned char *data = yoke_cts_memory(t, field.size);
    yoke_cts_noise(data, field.size, 32);
    OK(t, yoke_queue_write(field.queue, yoke_span(field.buffer, 0), data, field.size));
    OK(t, yoke_queue_sync(field.queue));
    memcpy(field.model, data, field.size);
    memset(data, 0, field.size);
    check_field(t, &field);
}

static void many_queues(yoke_cts_t *t)
{
    enum { COUNT = 16 };
    field_t fields[COUNT];
    for (size_t i = 0; i < COUNT; i++)
        fields[i] = new_field(t, 4000 + i, 40 + i);
    for (size_t i = 0; i < COUNT; i++)
        check_field(t, &fields[i]);
}

static void create_and_end(yoke_cts_t *t)
{
    for (int i = 0; i < 100; i++) {
        yoke_queue_t *queue = NULL;
        OK(t, yoke_queue_create(yoke_cts_device(t), NULL, &queue));
        yoke_queue_destroy(queue);
    }
}

static void priority(yoke_cts_t *t)
{
    yoke_queue_options_t options = {sizeof options, (int32_t)yoke_cts_parameter(t), 0};
    yoke_queue_t *queue = NULL;
    OK(t, yoke_queue_create(yoke_cts_device(t), &options, &queue));
    yoke_cts_keep_queue(t, queue);
    field_t field = field_of(t, queue, YOKE_MEMORY_DEVICE, 5000, 60);
    check_field(t, &field);
}

static void options_short(yoke_cts_t *t)
{
    yoke_queue_options_t options = {sizeof(size_t), INT32_MIN, UINT32_MAX};
    yoke_queue_t *queue = NULL;
    OK(t, yoke_queue_create(yoke_cts_device(t), &options, &queue));
    yoke_cts_keep_queue(t, queue);
    OK(t, yoke_queue_sync(queue));
}

#define WRITE(text, size, offset)                                                        \
    {                                                                                    \
        "queue/write-" text, 0, 0, write_at, size, offset                                \
    }
#define READ(text, size, offset)                                                         \
    {                                                                                    \
        "queue/read-" text, 0, 0, read_at, size, offset                                  \
    }
#define COPY(text, size)                                                                 \
    {                                                                                    \
        "queue/copy-" text, 0, 0, copy_size, size, 0                                     \
    }
#define COPY_OFFSET(dst, src)                                                            \
    {                                                                                    \
        "queue/copy-offset-" #dst "-" #src, 0, 0, copy_offset, dst, src                  \
    }
#define FILL(pattern, text, count)                                                       \
    {                                                                                    \
        "queue/fill-" #pattern "-" text, 0, 0, fill_count, pattern, count                \
    }
#define FILLS(pattern)                                                                   \
    FILL(pattern, "one", 1), FILL(pattern, "three", 3), FILL(pattern, "1001", 1001),     \
        FILL(pattern, "64k-less-1", (1 << 16) / (pattern)-1),                            \
        {"queue/fill-" #pattern "-offset-1", 0, 0, fill_offset, pattern, 1},             \
    {                                                                                    \
        "queue/fill-" #pattern "-offset-37", 0, 0, fill_offset, pattern, 37              \
    }

static const yoke_cts_case_t cases[] = {
    WRITE("1", 1, 0),
    WRITE("3", 3, 0),
    WRITE("17", 17, 0),
    WRITE("4099", 4099, 0),
    WRITE("1m-and-1", (1 << 20) + 1, 0),
    WRITE("offset-1", 100, 1),
    WRITE("offset-4", 1000, 4),
    WRITE("offset-13", 4099, 13),
    WRITE("offset-4095", 8191, 4095),
    READ("1", 1, 0),
    READ("3", 3, 0),
    READ("17", 17, 0),
    READ("4099", 4099, 0),
    READ("1m-and-1", (1 << 20) + 1, 0),
    READ("offset-1", 100, 1),
    READ("offset-4", 1000, 4),
    READ("offset-13", 4099, 13),
    READ("offset-4095", 8191, 4095),
    COPY("1", 1),
    COPY("3", 3),
    COPY("4", 4),
    COPY("17", 17),
    COPY("4099", 4099),
    COPY("1m-and-1", (1 << 20) + 1),
    COPY_OFFSET(0, 1),
    COPY_OFFSET(1, 0),
    COPY_OFFSET(1, 1),
    COPY_OFFSET(4, 8),
    COPY_OFFSET(5, 3),
    COPY_OFFSET(16, 0),
    COPY_OFFSET(127, 129),
    COPY_OFFSET(4097, 4095),
    {"queue/copy-within-one-buffer", 0, 0, copy_within, 0, 0},
    {"queue/copy-to-pinned", YOKE_CAP_PINNED, 0, copy_kinds, YOKE_MEMORY_HOST,
     YOKE_MEMORY_DEVICE},
    {"queue/copy-from-pinned", YOKE_CAP_PINNED, 0, copy_kinds, YOKE_MEMORY_DEVICE,
     YOKE_MEMORY_HOST},
    {"queue/copy-pinned-to-pinned", YOKE_CAP_PINNED, 0, copy_kinds, YOKE_MEMORY_HOST,
     YOKE_MEMORY_HOST},
    {"queue/copy-to-shared", YOKE_CAP_SHARED, 0, copy_kinds, YOKE_MEMORY_SHARED,
     YOKE_MEMORY_DEVICE},
    {"queue/copy-from-shared", YOKE_CAP_SHARED, 0, copy_kinds, YOKE_MEMORY_DEVICE,
     YOKE_MEMORY_SHARED},
    {"queue/copy-shared-to-shared", YOKE_CAP_SHARED, 0, copy_kinds, YOKE_MEMORY_SHARED,
     YOKE_MEMORY_SHARED},
    {"queue/copy-shared-to-pinned", YOKE_CAP_SHARED | YOKE_CAP_PINNED, 0, copy_kinds,
     YOKE_MEMORY_HOST, YOKE_MEMORY_SHARED},
    {"queue/copy-chain", 0, 0, copy_chain, 0, 0},
    FILLS(1),
    FILLS(2),
    FILLS(4),
    FILLS(8),
    FILLS(16),
    {"queue/fill-pattern-is-copied", 0, 0, fill_pattern_is_copied, 0, 0},
    {"queue/fill-pinned", YOKE_CAP_PINNED, 0, fill_kind, YOKE_MEMORY_HOST, 0},
    {"queue/fill-shared", YOKE_CAP_SHARED, 0, fill_kind, YOKE_MEMORY_SHARED, 0},
    {"queue/zero-size", 0, 0, zero_size, 0, 0},
    {"queue/empty", 0, 0, empty, 0, 0},
    {"queue/query-after-sync", 0, 0, query_after_sync, 0, 0},
    {"queue/query-tells-the-truth", 0, 0, query_tells_the_truth, 0, 0},
    {"queue/destroy-waits", 0, 0, destroy_waits, 0, 0},
    {"queue/host-memory-free-after-sync", 0, 0, host_memory_is_free_after_sync, 0, 0},
    {"queue/many-queues", 0, 0, many_queues, 0, 0},
    {"queue/create-and-end", 0, 0, create_and_end, 0, 0},
    {"queue/priority-high", 0, 0, priority, -1, 0},
    {"queue/priority-low", 0, 0, priority, 1, 0},
    {"queue/priority-far-out", 0, 0, priority, -1000, 0},
    {"queue/options-short-struct", 0, 0, options_short, 0, 0},
};

YOKE_CTS_GROUP(queue, cases);
