/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers: kinds, sizes, addresses, exhaustion, many at once, a framework's allocator. */
#include "hal/cts/case.h"

#include <stdlib.h>

static yoke_memory_kind_t kind_of(yoke_cts_t *t)
{
    return (yoke_memory_kind_t)yoke_cts_second(t);
}

/* Both ends of the buffer can be written and read, and nothing between them is touched.
 */
static void size_usable(yoke_cts_t *t)
{
    uint64_t size = (uint64_t)yoke_cts_parameter(t);
    size_t end = size < 96 ? (size_t)size : 96;
    unsigned char head[96], tail[96];
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer_of(t, yoke_cts_device(t), kind_of(t), size);
    EQUAL(t, size, yoke_buffer_size(buffer));
    EQUAL(t, kind_of(t), yoke_buffer_kind(buffer));
    yoke_cts_noise(head, end, size);
    yoke_cts_noise(tail, end, size + 1);
    yoke_cts_put(t, queue, buffer, 0, head, end);
    if (size >= 2 * end) {
        yoke_cts_put(t, queue, buffer, size - end, tail, end);
        EXPECT(t, queue, buffer, size - end, tail, end);
    }
    EXPECT(t, queue, buffer, 0, head, end);
}

static void size_zero(yoke_cts_t *t)
{
    yoke_buffer_t *buffer = NULL;
    GIVES(t, YOKE_ERR_USAGE,
          yoke_buffer_create(yoke_cts_device(t), YOKE_MEMORY_DEVICE, 0, &buffer));
    CHECK(t, buffer == NULL);
}

static void size_absurd(yoke_cts_t *t)
{
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 511, 1ull << 63,
                                     1ull << 60};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        yoke_buffer_t *buffer = NULL;
        yoke_status_t status =
            yoke_buffer_create(yoke_cts_device(t), YOKE_MEMORY_DEVICE, sizes[i], &buffer);
        if (buffer != NULL)
            yoke_cts_keep_buffer(t, buffer);
        EQUAL(t, YOKE_ERR_DEVICE_MEMORY, status);
        CHECK(t, buffer == NULL && yoke_last_error()[0] != '\0');
    }
}

static void kind_unknown(yoke_cts_t *t)
{
    yoke_buffer_t *buffer = NULL;
    yoke_status_t status =
        yoke_buffer_create(yoke_cts_device(t), (yoke_memory_kind_t)77, 100, &buffer);
    CHECK(t, status == YOKE_ERR_USAGE || status == YOKE_ERR_UNSUPPORTED);
    CHECK(t, buffer == NULL);
}

static void kind_absent(yoke_cts_t *t)
{
    static const struct {
        yoke_memory_kind_t kind;
        uint64_t bit;
    } kinds[] = {{YOKE_MEMORY_HOST, YOKE_CAP_PINNED},
                 {YOKE_MEMORY_SHARED, YOKE_CAP_SHARED}};
    size_t absent = 0;
    for (size_t i = 0; i < 2; i++) {
        yoke_buffer_t *buffer = NULL;
        if ((yoke_cts_info(t)->capabilities & kinds[i].bit) != 0)
            continue;
        absent++;
        GIVES(t, YOKE_ERR_UNSUPPORTED,
              yoke_buffer_create(yoke_cts_device(t), kinds[i].kind, 100, &buffer));
        CHECK(t, buffer == NULL);
    }
    if (absent == 0)
        yoke_cts_unsupported(t, "the device has every kind of memory");
}

static void getters(yoke_cts_t *t)
{
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 12345);
    CHECK(t, yoke_buffer_device(buffer) == yoke_cts_device(t));
    EQUAL(t, 12345, yoke_buffer_size(buffer));
    EQUAL(t, 0, yoke_buffer_size(NULL));
    CHECK(t, yoke_buffer_device(NULL) == NULL);
}

/* --- addresses ---------------------------------------------------------------------- */

static void address_differs(yoke_cts_t *t)
{
    char *addresses[16];
    for (size_t i = 0; i < 16; i++) {
        void *address = NULL;
        yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1000);
        OK(t, yoke_buffer_address(buffer, &address));
        CHECK(t, address != NULL);
        addresses[i] = address;
        for (size_t j = 0; j < i; j++)
            CHECK(t, (uintptr_t)addresses[i] >= (uintptr_t)addresses[j] + 1000 ||
                         (uintptr_t)addresses[j] >= (uintptr_t)addresses[i] + 1000);
    }
}

static void address_stays(yoke_cts_t *t)
{
    void *first = NULL, *second = NULL;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 4096);
    unsigned char byte = 1;
    OK(t, yoke_buffer_address(buffer, &first));
    yoke_cts_put(t, queue, buffer, 4095, &byte, 1);
    OK(t, yoke_buffer_address(buffer, &second));
    CHECK(t, first == second);
}

static void address_aligned(yoke_cts_t *t)
{
    void *address = NULL;
    for (uint64_t size = 1; size < 100; size += 33) {
        yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), size);
        OK(t, yoke_buffer_address(buffer, &address));
        EQUAL(t, 0, (uintptr_t)address % 64);
    }
}

static void address_absent(yoke_cts_t *t)
{
    void *address = &address;
    if ((yoke_cts_info(t)->capabilities & YOKE_CAP_ADDRESS) != 0)
        yoke_cts_unsupported(t, "buffers have addresses here");
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 100);
    GIVES(t, YOKE_ERR_UNSUPPORTED, yoke_buffer_address(buffer, &address));
    CHECK(t, address == &address);
}

static void host_address_absent(yoke_cts_t *t)
{
    void *address = &address;
    if (strcmp(yoke_cts_backend(t), "host") == 0)
        yoke_cts_unsupported(t, "the host reaches every buffer of the host backend");
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 100);
    yoke_status_t status = yoke_buffer_host_address(buffer, &address);
    if (status == YOKE_OK)
        yoke_cts_unsupported(t, "the host reaches device memory here");
    EQUAL(t, YOKE_ERR_UNSUPPORTED, status);
    CHECK(t, address == &address);
}

/* The host writes by the address, the device reads; and the other way. */
static void host_address_both_ways(yoke_cts_t *t)
{
    unsigned char *address = NULL, data[777];
    void *pointer = NULL;
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *shared =
        yoke_cts_buffer_of(t, yoke_cts_device(t), kind_of(t), sizeof data);
    yoke_buffer_t *device = yoke_cts_buffer(t, yoke_cts_device(t), sizeof data);
    OK(t, yoke_buffer_host_address(shared, &pointer));
    address = pointer;
    CHECK(t, address != NULL);
    yoke_cts_noise(address, sizeof data, 3);
    memcpy(data, address, sizeof data);
    OK(t,
       yoke_queue_copy(queue, yoke_span(device, 0), yoke_span(shared, 0), sizeof data));
    EXPECT(t, queue, device, 0, data, sizeof data);
    yoke_cts_noise(data, sizeof data, 4);
    yoke_cts_put(t, queue, device, 0, data, sizeof data);
    OK(t,
       yoke_queue_copy(queue, yoke_span(shared, 0), yoke_span(device, 0), sizeof data));
    OK(t, yoke_queue_sync(queue));
    BYTES(t, "what the host sees", data, address, sizeof data);
}

/* --- exhaustion --------------------------------------------------------------------- */

static void exhaust(yoke_cts_t *t, yoke_device_t *device, uint64_t size, size_t most)
{
    yoke_buffer_t *buffers[64];
    size_t count = 0;
    yoke_status_t status = YOKE_OK;
    for (; count < most; count++) {
        buffers[count] = NULL;
        status = yoke_buffer_create(device, YOKE_MEMORY_DEVICE, size, &buffers[count]);
        if (status != YOKE_OK)
            break;
    }
    for (size_t i = 0; i < count; i++)
        yoke_buffer_destroy(buffers[i]);
    EQUAL(t, YOKE_ERR_DEVICE_MEMORY, status);
}

static void exhaustion_by_limit(yoke_cts_t *t)
{
    yoke_device_t *device = NULL;
    OK(t, yoke_device_open(yoke_cts_device_name(t), NULL, &device));
    yoke_cts_keep_device(t, device);
    OK(t, yoke_device_limit_memory(device, 8 << 20));
    for (int round = 0; round < 3; round++)
        exhaust(t, device, 1 << 20, 9);
    yoke_buffer_t *buffer = yoke_cts_buffer(t, device, 7 << 20);
    EQUAL(t, 7 << 20, yoke_buffer_size(buffer));
    OK(t, yoke_device_limit_memory(device, 0));
}

static void exhaustion_by_runtime(yoke_cts_t *t)
{
    uint64_t total = 0;
    OK(t, yoke_device_memory(yoke_cts_device(t), NULL, &total));
    yoke_buffer_t *buffer = NULL;
    yoke_status_t status =
        yoke_buffer_create(yoke_cts_device(t), YOKE_MEMORY_DEVICE, 2 * total, &buffer);
    yoke_buffer_destroy(buffer);
    EQUAL(t, YOKE_ERR_DEVICE_MEMORY, status);
    (void)yoke_cts_buffer(t, yoke_cts_device(t), 1 << 20);
}

static void many(yoke_cts_t *t)
{
    size_t count = (size_t)yoke_cts_parameter(t);
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t **buffers = yoke_cts_memory(t, count * sizeof(void *));
    for (size_t i = 0; i < count; i++) {
        uint32_t value = (uint32_t)i;
        buffers[i] = yoke_cts_buffer(t, yoke_cts_device(t), 4);
        OK(t, yoke_queue_fill(queue, yoke_span(buffers[i], 0), &value, 4, 4));
    }
    OK(t, yoke_queue_sync(queue));
    for (size_t i = 0; i < count; i += 7) {
        uint32_t value = 0;
        yoke_cts_get(t, queue, buffers[i], 0, &value, 4);
        EQUAL(t, i, value);
    }
}

static void create_and_end(yoke_cts_t *t)
{
    for (int i = 0; i < 300; i++) {
        yoke_buffer_t *buffer = NULL;
        OK(t, yoke_buffer_create(yoke_cts_device(t), YOKE_MEMORY_DEVICE,
                                 (uint64_t)(1 + i * 997), &buffer));
        yoke_buffer_destroy(buffer);
    }
}

static void distinct_content(yoke_cts_t *t)
{
    unsigned char a[3000], b[3000];
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *first = yoke_cts_buffer(t, yoke_cts_device(t), sizeof a);
    yoke_buffer_t *second = yoke_cts_buffer(t, yoke_cts_device(t), sizeof b);
    yoke_cts_noise(a, sizeof a, 5);
    yoke_cts_noise(b, sizeof b, 6);
    yoke_cts_put(t, queue, first, 0, a, sizeof a);
    yoke_cts_put(t, queue, second, 0, b, sizeof b);
    EXPECT(t, queue, first, 0, a, sizeof a);
    EXPECT(t, queue, second, 0, b, sizeof b);
}

/* --- a framework's allocator -------------------------------------------------------- */

typedef struct lender {
    yoke_cts_t *t;
    yoke_buffer_t *arena; /* what it cuts from */
    uint64_t used, allocated, released, bytes_released;
    bool refuses;
} lender_t;

static void *lend(void *context, size_t size)
{
    lender_t *lender = context;
    void *start = NULL;
    uint64_t at = (lender->used + 4095) / 4096 * 4096;
    if (lender->refuses || yoke_buffer_address(lender->arena, &start) != YOKE_OK ||
        at + size > yoke_buffer_size(lender->arena))
        return NULL;
    lender->used = at + size;
    lender->allocated++;
    return (char *)start + at;
}

static void take_back(void *context, void *address, size_t size)
{
    lender_t *lender = context;
    (void)address;
    lender->released++;
    lender->bytes_released += size;
}

static yoke_device_t *open_with(yoke_cts_t *t, lender_t *lender)
{
    yoke_allocator_t allocator = {sizeof allocator, lend, take_back, lender};
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    yoke_device_t *device = NULL;
    options.allocator = &allocator;
    lender->arena = yoke_cts_buffer(t, yoke_cts_device(t), 1 << 20);
    OK(t, yoke_device_open(yoke_cts_device_name(t), &options, &device));
    yoke_cts_keep_device(t, device);
    return device;
}

static void allocator_used(yoke_cts_t *t)
{
    lender_t lender = {.t = t};
    unsigned char data[5000];
    void *arena = NULL, *address = NULL;
    yoke_device_t *device = open_with(t, &lender);
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *buffer = NULL;
    OK(t, yoke_buffer_create(device, YOKE_MEMORY_DEVICE, sizeof data, &buffer));
    OK(t, yoke_buffer_address(buffer, &address));
    OK(t, yoke_buffer_address(lender.arena, &arena));
    yoke_cts_noise(data, sizeof data, 7);
    yoke_status_t status =
        yoke_queue_write(queue, yoke_span(buffer, 0), data, sizeof data);
    yoke_status_t waited = yoke_queue_sync(queue);
    yoke_buffer_destroy(buffer);
    OK(t, status);
    OK(t, waited);
    CHECK(t, (char *)address >= (char *)arena &&
                 (char *)address < (char *)arena + (1 << 20));
    EXPECT(t, queue, lender.arena, (uint64_t)((char *)address - (char *)arena), data,
           sizeof data);
    EQUAL(t, 1, lender.allocated);
    EQUAL(t, 1, lender.released);
    CHECK(t, lender.bytes_released >= sizeof data);
}

static void allocator_refuses(yoke_cts_t *t)
{
    lender_t lender = {.t = t, .refuses = true};
    yoke_device_t *device = open_with(t, &lender);
    yoke_buffer_t *buffer = NULL;
    GIVES(t, YOKE_ERR_DEVICE_MEMORY,
          yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 100, &buffer));
    CHECK(t, buffer == NULL);
    EQUAL(t, 0, lender.released);
}

static void allocator_not_for_pinned(yoke_cts_t *t)
{
    lender_t lender = {.t = t};
    yoke_device_t *device = open_with(t, &lender);
    yoke_buffer_t *buffer = NULL;
    OK(t, yoke_buffer_create(device, YOKE_MEMORY_HOST, 100, &buffer));
    yoke_buffer_destroy(buffer);
    EQUAL(t, 0, lender.allocated + lender.released);
}

#define SIZE(text, bytes)                                                                \
    {                                                                                    \
        "buffer/size-" text, 0, 0, size_usable, bytes, YOKE_MEMORY_DEVICE                \
    }
#define PINNED(text, bytes)                                                              \
    {                                                                                    \
        "buffer/pinned-size-" text, YOKE_CAP_PINNED, 0, size_usable, bytes,              \
            YOKE_MEMORY_HOST                                                             \
    }
#define SHARED(text, bytes)                                                              \
    {                                                                                    \
        "buffer/shared-size-" text, YOKE_CAP_SHARED, 0, size_usable, bytes,              \
            YOKE_MEMORY_SHARED                                                           \
    }

static const yoke_cts_case_t cases[] = {
    SIZE("1", 1),
    SIZE("2", 2),
    SIZE("3", 3),
    SIZE("7", 7),
    SIZE("64", 64),
    SIZE("255", 255),
    SIZE("256", 256),
    SIZE("257", 257),
    SIZE("4095", 4095),
    SIZE("4097", 4097),
    SIZE("65537", 65537),
    SIZE("1m-less-1", (1 << 20) - 1),
    SIZE("1m-and-1", (1 << 20) + 1),
    SIZE("2m", 2 << 20),
    SIZE("16m-and-3", (16 << 20) + 3),
    SIZE("64m", 64 << 20),
    PINNED("1", 1),
    PINNED("4095", 4095),
    PINNED("65537", 65537),
    PINNED("4m", 4 << 20),
    SHARED("1", 1),
    SHARED("4095", 4095),
    SHARED("65537", 65537),
    SHARED("4m", 4 << 20),
    {"buffer/size-zero", 0, 0, size_zero, 0, 0},
    {"buffer/size-absurd", 0, 0, size_absurd, 0, 0},
    {"buffer/kind-unknown", 0, 0, kind_unknown, 0, 0},
    {"buffer/kind-absent", 0, 0, kind_absent, 0, 0},
    {"buffer/getters", 0, 0, getters, 0, 0},
    {"buffer/address-differs", YOKE_CAP_ADDRESS, 0, address_differs, 0, 0},
    {"buffer/address-stays", YOKE_CAP_ADDRESS, 0, address_stays, 0, 0},
    {"buffer/address-aligned", YOKE_CAP_ADDRESS, 0, address_aligned, 0, 0},
    {"buffer/address-absent", 0, 0, address_absent, 0, 0},
    {"buffer/host-address-absent", 0, 0, host_address_absent, 0, 0},
    {"buffer/pinned-both-ways", YOKE_CAP_PINNED, 0, host_address_both_ways, 0,
     YOKE_MEMORY_HOST},
    {"buffer/shared-both-ways", YOKE_CAP_SHARED, 0, host_address_both_ways, 0,
     YOKE_MEMORY_SHARED},
    {"buffer/exhaustion-by-limit", 0, 0, exhaustion_by_limit, 0, 0},
    {"buffer/exhaustion-by-runtime", YOKE_CAP_EXHAUSTS, 0, exhaustion_by_runtime, 0, 0},
    {"buffer/many-64", 0, 0, many, 64, 0},
    {"buffer/many-1000", 0, 0, many, 1000, 0},
    {"buffer/create-and-end", 0, 0, create_and_end, 0, 0},
    {"buffer/distinct-content", 0, 0, distinct_content, 0, 0},
    {"buffer/allocator-used", YOKE_CAP_ADDRESS, 0, allocator_used, 0, 0},
    {"buffer/allocator-refuses", YOKE_CAP_ADDRESS, 0, allocator_refuses, 0, 0},
    {"buffer/allocator-not-for-pinned", YOKE_CAP_ADDRESS | YOKE_CAP_PINNED, 0,
     allocator_not_for_pinned, 0, 0},
};

YOKE_CTS_GROUP(buffer, cases);
