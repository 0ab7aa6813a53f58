/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: names, information, opening and closing, memory, limits, threads. */
#include "hal/cts/case.h"

#include <stdio.h>

/* --- information -------------------------------------------------------------------- */

static void info_strings(yoke_cts_t *t)
{
    const yoke_device_info_t *info = yoke_cts_info(t);
    CHECK(t, info->backend != NULL && strcmp(info->backend, yoke_cts_backend(t)) == 0);
    CHECK(t, info->name != NULL && info->name[0] != '\0');
    CHECK(t, info->vendor != NULL && info->architecture != NULL);
    CHECK(t, info->library != NULL && info->version != NULL);
}

static void info_figures(yoke_cts_t *t)
{
    const yoke_device_info_t *info = yoke_cts_info(t);
    CHECK(t, info->kind >= YOKE_DEVICE_GPU && info->kind <= YOKE_DEVICE_OTHER);
    CHECK(t, info->alignment >= 1 && (info->alignment & (info->alignment - 1)) == 0);
    if ((info->capabilities & (YOKE_CAP_SOURCE | YOKE_CAP_BINARY)) != 0) {
        CHECK(t, info->compute_units >= 1 && info->subgroup >= 1);
        CHECK(t, info->max_group >= 1);
        for (int i = 0; i < 3; i++)
            CHECK(t, info->max_groups[i] >= 1);
    }
    if ((info->valid & YOKE_INFO_MEMORY) != 0)
        CHECK(t, info->memory_total > 0);
}

static void info_short_struct(yoke_cts_t *t)
{
    yoke_device_info_t info;
    memset(&info, 0x5a, sizeof info);
    info.struct_size = offsetof(yoke_device_info_t, version);
    OK(t, yoke_device_info(yoke_cts_device(t), &info));
    CHECK(t, info.name != NULL && strcmp(info.name, yoke_cts_info(t)->name) == 0);
    const unsigned char *rest = (const unsigned char *)&info;
    for (size_t i = offsetof(yoke_device_info_t, version); i < sizeof info; i++)
        if (rest[i] != 0x5a)
            FAIL(t, "byte %zu past the caller's struct_size was written", i);
}

static void info_repeats(yoke_cts_t *t)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    OK(t, yoke_device_info(yoke_cts_device(t), &info));
    EQUAL(t, yoke_cts_info(t)->capabilities, info.capabilities);
    EQUAL(t, yoke_cts_info(t)->ordinal, info.ordinal);
    EQUAL(t, yoke_cts_info(t)->memory_total, info.memory_total);
}

static void info_subgroup_fits(yoke_cts_t *t)
{
    const yoke_device_info_t *info = yoke_cts_info(t);
    if (info->max_group == 0)
        yoke_cts_unsupported(t, "no launches");
    CHECK(t, info->subgroup <= info->max_group);
}

static void capability_names(yoke_cts_t *t)
{
    for (unsigned i = 0; i <= 16; i++) {
        const char *name = yoke_capability_name(1ull << i);
        CHECK(t, name != NULL && name[0] != '\0');
        for (unsigned j = 0; j < i; j++)
            CHECK(t, strcmp(name, yoke_capability_name(1ull << j)) != 0);
    }
    CHECK(t, yoke_capability_name(0) == NULL);
    CHECK(t, yoke_capability_name(1ull << 63) == NULL);
}

static void capabilities_known(yoke_cts_t *t)
{
    uint64_t left = yoke_cts_info(t)->capabilities;
    for (; left != 0; left &= left - 1)
        CHECK(t, yoke_capability_name(left & (~left + 1)) != NULL);
}

/* --- names -------------------------------------------------------------------------- */

static yoke_device_t *open_named(yoke_cts_t *t, const char *name)
{
    yoke_device_t *device = NULL;
    OK(t, yoke_device_open(name, NULL, &device));
    CHECK(t, device != NULL);
    yoke_cts_keep_device(t, device);
    return device;
}

static uint32_t ordinal_of(yoke_cts_t *t, yoke_device_t *device)
{
    yoke_device_info_t info = {.struct_size = sizeof info};
    OK(t, yoke_device_info(device, &info));
    return info.ordinal;
}

static void name_ordinal(yoke_cts_t *t)
{
    char name[64];
    uint32_t ordinal = yoke_cts_info(t)->ordinal;
    snprintf(name, sizeof name, "%s:%" PRIu32, yoke_cts_backend(t), ordinal);
    EQUAL(t, ordinal, ordinal_of(t, open_named(t, name)));
}

static void name_alone(yoke_cts_t *t)
{
    EQUAL(t, 0, ordinal_of(t, open_named(t, yoke_cts_backend(t))));
}

static void name_pci(yoke_cts_t *t)
{
    char name[64];
    const yoke_device_info_t *info = yoke_cts_info(t);
    if ((info->valid & YOKE_INFO_PCI) == 0)
        yoke_cts_unsupported(t, "the runtime tells no PCI address");
    snprintf(name, sizeof name, "%s:%04x:%02x:%02x.%x", yoke_cts_backend(t),
             (unsigned)info->pci.domain, (unsigned)info->pci.bus,
             (unsigned)info->pci.device, (unsigned)info->pci.function);
    EQUAL(t, info->ordinal, ordinal_of(t, open_named(t, name)));
}

static void name_uuid(yoke_cts_t *t)
{
    char name[96];
    const yoke_device_info_t *info = yoke_cts_info(t);
    if ((info->valid & YOKE_INFO_UUID) == 0)
        yoke_cts_unsupported(t, "the runtime tells no UUID");
    int at = snprintf(name, sizeof name, "%s:GPU-", yoke_cts_backend(t));
    for (size_t i = 0; i < 16; i++)
        at += snprintf(name + at, sizeof name - (size_t)at, "%02x%s", info->uuid[i],
                       i == 3 || i == 5 || i == 7 || i == 9 ? "-" : "");
    EQUAL(t, info->ordinal, ordinal_of(t, open_named(t, name)));
}

static void refused(yoke_cts_t *t, const char *name, yoke_status_t expected)
{
    yoke_device_t *device = NULL;
    yoke_status_t status = yoke_device_open(name, NULL, &device);
    if (device != NULL)
        yoke_cts_keep_device(t, device);
    if (status != expected)
        FAIL(t, "yoke_device_open(\"%s\") gives %s and should give %s", name,
             yoke_status_name(status), yoke_status_name(expected));
    CHECK(t, device == NULL && yoke_last_error()[0] != '\0');
}

static void name_unknown_backend(yoke_cts_t *t)
{
    refused(t, "nosuchruntime", YOKE_ERR_NOT_FOUND);
    refused(t, "nosuchruntime:0", YOKE_ERR_NOT_FOUND);
}

static void name_past_the_end(yoke_cts_t *t)
{
    char name[64];
    uint32_t count = 0;
    OK(t, yoke_device_count(yoke_cts_backend(t), &count));
    snprintf(name, sizeof name, "%s:%" PRIu32, yoke_cts_backend(t), count);
    refused(t, name, YOKE_ERR_NOT_FOUND);
    snprintf(name, sizeof name, "%s:4294967295", yoke_cts_backend(t));
    refused(t, name, YOKE_ERR_NOT_FOUND);
}

static void name_other_pci(yoke_cts_t *t)
{
    char name[64];
    snprintf(name, sizeof name, "%s:fffe:fe:1d.6", yoke_cts_backend(t));
    refused(t, name, YOKE_ERR_NOT_FOUND);
}

static void name_malformed(yoke_cts_t *t)
{
    char name[64];
    static const char *const endings[] = {
        ":", ":x", ":-1", ":0x1", ":1.5", ":0 ", ":99999999999", ":GPU-12", ":0000:00"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        snprintf(name, sizeof name, "%s%s", yoke_cts_backend(t), endings[i]);
        refused(t, name, YOKE_ERR_USAGE);
    }
    refused(t, "", YOKE_ERR_USAGE);
}

static void message_lists_what_is_there(yoke_cts_t *t)
{
    refused(t, "nosuchruntime", YOKE_ERR_NOT_FOUND);
    if (strstr(yoke_last_error(), yoke_cts_backend(t)) == NULL)
        FAIL(t, "the message does not name %s: %s", yoke_cts_backend(t),
             yoke_last_error());
}

static void count_holds(yoke_cts_t *t)
{
    uint32_t count = 0;
    OK(t, yoke_device_count(yoke_cts_backend(t), &count));
    CHECK(t, count > yoke_cts_info(t)->ordinal);
}

static void count_unknown(yoke_cts_t *t)
{
    uint32_t count = 77;
    GIVES(t, YOKE_ERR_NOT_FOUND, yoke_device_count("nosuchruntime", &count));
    EQUAL(t, 77, count);
}

static void backends_listed(yoke_cts_t *t)
{
    const char *const *names = NULL;
    size_t count = 0;
    bool found = false;
    OK(t, yoke_backends_list(&names, &count));
    for (size_t i = 0; i < count; i++) {
        CHECK(t, names[i] != NULL && names[i][0] != '\0');
        found |= strcmp(names[i], yoke_cts_backend(t)) == 0;
    }
    CHECK(t, found);
}

/* --- opening and closing ------------------------------------------------------------ */

static void open_twice(yoke_cts_t *t)
{
    unsigned char data[64];
    yoke_device_t *other = open_named(t, yoke_cts_device_name(t));
    yoke_queue_t *queue = yoke_cts_queue(t, yoke_cts_device(t));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, other, sizeof data);
    yoke_cts_noise(data, sizeof data, 1);
    yoke_cts_put(t, queue, buffer, 0, data, sizeof data);
    EXPECT(t, queue, buffer, 0, data, sizeof data);
}

static void open_many(yoke_cts_t *t)
{
    for (int i = 0; i < 20; i++) {
        yoke_device_t *device = NULL;
        OK(t, yoke_device_open(yoke_cts_device_name(t), NULL, &device));
        OK(t, yoke_device_status(device));
        yoke_device_close(device);
    }
}

static void close_before_objects(yoke_cts_t *t)
{
    unsigned char data[100];
    yoke_device_t *device = open_named(t, yoke_cts_device_name(t));
    yoke_queue_t *queue = yoke_cts_queue(t, device);
    yoke_buffer_t *buffer = yoke_cts_buffer(t, device, sizeof data);
    yoke_event_t *event = yoke_cts_event(t, device, 0);
    yoke_cts_forget(t, device);
    yoke_device_close(device);
    yoke_cts_noise(data, sizeof data, 2);
    yoke_cts_put(t, queue, buffer, 0, data, sizeof data);
    OK(t, yoke_event_record(event, queue));
    OK(t, yoke_event_sync(event));
    EXPECT(t, queue, buffer, 0, data, sizeof data);
    yoke_device_info_t info = {.struct_size = sizeof info};
    OK(t, yoke_device_info(yoke_queue_device(queue), &info));
    CHECK(t, strcmp(info.name, yoke_cts_info(t)->name) == 0);
}

static void close_any_order(yoke_cts_t *t)
{
    for (int order = 0; order < 6; order++) {
        yoke_device_t *device = NULL;
        yoke_queue_t *queue = NULL;
        yoke_buffer_t *buffer = NULL;
        OK(t, yoke_device_open(yoke_cts_device_name(t), NULL, &device));
        yoke_cts_keep_device(t, device);
        OK(t, yoke_queue_create(device, NULL, &queue));
        yoke_cts_keep_queue(t, queue);
        OK(t, yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 100, &buffer));
        yoke_cts_keep_buffer(t, buffer);
        int second = (order + 1 + order / 3) % 3;
        int sequence[3] = {order % 3, second, 3 - order % 3 - second};
        for (int i = 0; i < 3; i++)
            if (sequence[i] == 0) {
                yoke_cts_forget(t, device);
                yoke_device_close(device);
            } else if (sequence[i] == 1) {
                yoke_cts_forget(t, queue);
                yoke_queue_destroy(queue);
            } else {
                yoke_cts_forget(t, buffer);
                yoke_buffer_destroy(buffer);
            }
    }
}

static void end_null(yoke_cts_t *t)
{
    (void)t;
    yoke_device_close(NULL);
    yoke_queue_destroy(NULL);
    yoke_event_destroy(NULL);
    yoke_buffer_destroy(NULL);
    yoke_program_destroy(NULL);
    yoke_kernel_destroy(NULL);
}

static void options_short(yoke_cts_t *t)
{
    yoke_device_options_t options = YOKE_DEVICE_OPTIONS_INIT;
    options.struct_size = offsetof(yoke_device_options_t, allocator);
    yoke_device_t *device = NULL;
    OK(t, yoke_device_open(yoke_cts_device_name(t), &options, &device));
    yoke_cts_keep_device(t, device);
    (void)yoke_cts_buffer(t, device, 1000);
}

static void status_ok(yoke_cts_t *t)
{
    OK(t, yoke_device_status(yoke_cts_device(t)));
}

/* --- memory ------------------------------------------------------------------------- */

static void memory_now(yoke_cts_t *t)
{
    uint64_t free_bytes = 0, total = 0, alone = 0;
    OK(t, yoke_device_memory(yoke_cts_device(t), &free_bytes, &total));
    CHECK(t, total > 0 && free_bytes <= total);
    OK(t, yoke_device_memory(yoke_cts_device(t), NULL, &alone));
    EQUAL(t, total, alone);
    OK(t, yoke_device_memory(yoke_cts_device(t), &alone, NULL));
    CHECK(t, alone <= total);
    OK(t, yoke_device_memory(yoke_cts_device(t), NULL, NULL));
}

/* Only where the library itself keeps the account nobody else changes it. */
static void memory_accounted(yoke_cts_t *t)
{
    uint64_t before = 0, during = 0, after = 0;
    if ((yoke_cts_info(t)->capabilities & YOKE_CAP_FREE_MEMORY) != 0)
        yoke_cts_unsupported(t, "the runtime's own figure, which others change too");
    OK(t, yoke_device_memory(yoke_cts_device(t), &before, NULL));
    yoke_buffer_t *buffer = yoke_cts_buffer(t, yoke_cts_device(t), 1 << 20);
    OK(t, yoke_device_memory(yoke_cts_device(t), &during, NULL));
    yoke_cts_forget(t, buffer);
    yoke_buffer_destroy(buffer);
    OK(t, yoke_device_memory(yoke_cts_device(t), &after, NULL));
    CHECK(t, before >= during && before - during >= 1 << 20);
    EQUAL(t, before, after);
}

static void no_limit(void *device)
{
    (void)yoke_device_limit_memory(device, 0);
}

/* A device with a limit that ends with the case, also when the case fails. */
static yoke_device_t *open_limited(yoke_cts_t *t, uint64_t limit)
{
    yoke_device_t *device = open_named(t, yoke_cts_device_name(t));
    yoke_cts_keep(t, device, no_limit);
    OK(t, yoke_device_limit_memory(device, limit));
    return device;
}

static void limit_refuses(yoke_cts_t *t)
{
    yoke_device_t *device = open_limited(t, 1 << 20);
    yoke_buffer_t *buffer = NULL;
    GIVES(t, YOKE_ERR_DEVICE_MEMORY,
          yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 2 << 20, &buffer));
    CHECK(t, buffer == NULL);
    (void)yoke_cts_buffer(t, device, 1 << 19);
    GIVES(t, YOKE_ERR_DEVICE_MEMORY,
          yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 1 << 20, &buffer));
    CHECK(t, buffer == NULL);
    OK(t, yoke_device_limit_memory(device, 0));
    (void)yoke_cts_buffer(t, device, 2 << 20);
}

static void limit_counts_what_ends(yoke_cts_t *t)
{
    yoke_device_t *device = open_limited(t, 4 << 20);
    for (int i = 0; i < 16; i++) {
        yoke_buffer_t *buffer = NULL;
        OK(t, yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 3 << 20, &buffer));
        yoke_buffer_destroy(buffer);
    }
}

static void limit_says_how_much(yoke_cts_t *t)
{
    yoke_device_t *device = open_limited(t, 1 << 20);
    yoke_buffer_t *buffer = NULL;
    GIVES(t, YOKE_ERR_DEVICE_MEMORY,
          yoke_buffer_create(device, YOKE_MEMORY_DEVICE, 1 << 30, &buffer));
    if (strpbrk(yoke_last_error(), "0123456789") == NULL)
        FAIL(t, "the message does not say how much is free: %s", yoke_last_error());
}

static void reach_self(yoke_cts_t *t)
{
    bool can = false;
    yoke_device_t *other = open_named(t, yoke_cts_device_name(t));
    OK(t, yoke_device_can_reach(yoke_cts_device(t), other, &can));
    CHECK(t, can);
}

/* --- threads ------------------------------------------------------------------------ */

static const char *thread_opens(void *context, size_t i)
{
    (void)i;
    for (int n = 0; n < 8; n++) {
        yoke_device_t *device = NULL;
        yoke_device_info_t info = {.struct_size = sizeof info};
        if (yoke_device_open(context, NULL, &device) != YOKE_OK)
            return "a device does not open";
        yoke_status_t status = yoke_device_info(device, &info);
        yoke_device_close(device);
        if (status != YOKE_OK)
            return "no information";
    }
    return NULL;
}

static void threads_open(yoke_cts_t *t)
{
    char name[128];
    snprintf(name, sizeof name, "%s", yoke_cts_device_name(t));
    yoke_cts_threads(t, 4, thread_opens, name);
}

static const char *thread_creates(void *context, size_t i)
{
    for (int n = 0; n < 8; n++) {
        yoke_buffer_t *buffer = NULL;
        yoke_queue_t *queue = NULL;
        yoke_event_t *event = NULL;
        uint64_t size = 100 + 1000 * i;
        bool good =
            yoke_buffer_create(context, YOKE_MEMORY_DEVICE, size, &buffer) == YOKE_OK &&
            yoke_queue_create(context, NULL, &queue) == YOKE_OK &&
            yoke_event_create(context, 0, &event) == YOKE_OK &&
            yoke_buffer_size(buffer) == size &&
            yoke_device_memory(context, NULL, NULL) == YOKE_OK;
        yoke_event_destroy(event);
        yoke_queue_destroy(queue);
        yoke_buffer_destroy(buffer);
        if (!good)
            return "objects on one device from several threads";
    }
    return NULL;
}

static void threads_create(yoke_cts_t *t)
{
    yoke_cts_threads(t, 4, thread_creates, yoke_cts_device(t));
}

static const yoke_cts_case_t cases[] = {
    {"device/info-strings", 0, 0, info_strings, 0, 0},
    {"device/info-figures", 0, 0, info_figures, 0, 0},
    {"device/info-short-struct", 0, 0, info_short_struct, 0, 0},
    {"device/info-repeats", 0, 0, info_repeats, 0, 0},
    {"device/info-subgroup-fits", 0, 0, info_subgroup_fits, 0, 0},
    {"device/capability-names", 0, 0, capability_names, 0, 0},
    {"device/capabilities-known", 0, 0, capabilities_known, 0, 0},
    {"device/name-ordinal", 0, 0, name_ordinal, 0, 0},
    {"device/name-alone", 0, 0, name_alone, 0, 0},
    {"device/name-pci", 0, 0, name_pci, 0, 0},
    {"device/name-uuid", 0, 0, name_uuid, 0, 0},
    {"device/name-unknown-backend", 0, 0, name_unknown_backend, 0, 0},
    {"device/name-past-the-end", 0, 0, name_past_the_end, 0, 0},
    {"device/name-other-pci", 0, 0, name_other_pci, 0, 0},
    {"device/name-malformed", 0, 0, name_malformed, 0, 0},
    {"device/message-lists-what-is-there", 0, 0, message_lists_what_is_there, 0, 0},
    {"device/count", 0, 0, count_holds, 0, 0},
    {"device/count-unknown-backend", 0, 0, count_unknown, 0, 0},
    {"device/backends-listed", 0, 0, backends_listed, 0, 0},
    {"device/open-twice", 0, 0, open_twice, 0, 0},
    {"device/open-many", 0, 0, open_many, 0, 0},
    {"device/close-before-objects", 0, 0, close_before_objects, 0, 0},
    {"device/close-any-order", 0, 0, close_any_order, 0, 0},
    {"device/end-null", 0, 0, end_null, 0, 0},
    {"device/options-short-struct", 0, 0, options_short, 0, 0},
    {"device/status", 0, 0, status_ok, 0, 0},
    {"device/memory-now", 0, 0, memory_now, 0, 0},
    {"device/memory-accounted", 0, 0, memory_accounted, 0, 0},
    {"device/limit-refuses", 0, 0, limit_refuses, 0, 0},
    {"device/limit-counts-what-ends", 0, 0, limit_counts_what_ends, 0, 0},
    {"device/limit-says-how-much", 0, 0, limit_says_how_much, 0, 0},
    {"device/reach-self", 0, 0, reach_self, 0, 0},
    {"device/threads-open", 0, 0, threads_open, 0, 0},
    {"device/threads-create", 0, 0, threads_create, 0, 0},
};

YOKE_CTS_GROUP(device, cases);
