/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_LEVEL_ZERO_DRIVER_H
#define YOKE_TESTS_FAKES_LEVEL_ZERO_DRIVER_H

/*
 * Objects of the fake Level Zero driver. Types and values are those of the real header
 * (oneapi-src/level-zero, include/ze_api.h of 1.8.12, specification 1.4); what a function
 * checks is what its comment there lists under "returns".
 */

#include <level_zero/ze_api.h>
#include <pthread.h>
#include "spirv.h"
#include "tests/fakes/common/entry.h"
#include "tests/fakes/common/memory.h"
#include "tests/fakes/common/stream.h"

enum {
    KIND_DRIVER = 0x2e00,
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_LIST,
    KIND_POOL,
    KIND_EVENT,
    KIND_FENCE,
    KIND_MODULE,
    KIND_KERNEL,
    KIND_LOG
};

/* A card, or one tile of it. */
typedef struct device {
    fake_handle_t handle;
    fake_card_t *card;
    int tile;             /* -1: the whole card */
    bool root;            /* zeDeviceGet() names it */
    struct device *tiles; /* sub-devices that are visible */
    uint32_t tile_count;
} device_t;

typedef struct context {
    fake_handle_t handle;
} context_t;

/* An event's state changes under event_lock(). */
typedef struct event {
    fake_handle_t handle;
    uint32_t flags; /* of its pool */
    bool signaled;
    int64_t start, end;  /* nanoseconds */
    fake_mark_t *signal; /* a point in a stream by which it will have been signalled */
} event_t;

/* --- commands (command.c) ------------------------------------------------------------
 */

#define COMMAND_DATA 1280
#define COMMAND_WAITS 32

/*
 * Commands between two barriers may overlap on a device. Here the later ones run first,
 * as far as their events allow, so that a program which counts on the order of a list
 * sees it.
 */
typedef struct command {
    struct command *next;
    void (*run)(void *data); /* NULL: nothing but waits and a signal */
    bool after_earlier;      /* not before all earlier commands have run */
    bool before_later;       /* later commands run after it */
    bool resets;             /* `signal` is reset instead */
    event_t *signal;
    uint32_t wait_count;
    event_t *waits[COMMAND_WAITS];
    _Alignas(16) unsigned char data[COMMAND_DATA];
} command_t;

/* The commands of one stream that have not run. */
typedef struct engine {
    pthread_mutex_t lock;
    command_t *pending; /* in the order they came */
    fake_stream_t *stream;
    bool ordered;
} engine_t;

/* From chunks that are kept: appending does not allocate. */
command_t *command_new(void (*run)(void *data), const void *data, size_t size);
command_t *command_copy(const command_t *command);
void command_free(command_t *command);
/* Set waits and signal after checking the handles. */
ze_result_t command_events(command_t *command, ze_event_handle_t signal, uint32_t count,
                           const ze_event_handle_t *waits);
void engine_open(engine_t *engine, fake_card_t *card, bool ordered);
void engine_close(engine_t *engine);
/* Takes the command. */
void engine_push(engine_t *engine, command_t *command);

/* --- events (event.c) -----------------------------------------------------------------
 */

void event_set(event_t *event, bool signaled, int64_t start, int64_t end);
bool event_is_set(event_t *event);
/* Takes the reference. */
void event_will_be_set(event_t *event, fake_mark_t *mark);

/* --- checks ---------------------------------------------------------------------------
 */

/* zeInit() was called, and the device works. */
ze_result_t driver_check(void);
ze_result_t device_enter(ze_device_handle_t handle, device_t **out_device);
ze_result_t card_check(const fake_card_t *card);
ze_result_t context_enter(ze_context_handle_t handle, context_t **out_context);
/* API version of the driver: level_zero api 1.4 */
uint32_t driver_api(void);
/* The root device that shows a card, or its first tile. */
ze_device_handle_t device_of_card(const fake_card_t *card);
uint64_t device_memory(const device_t *device);
/* Nanoseconds in one tick of the device's clock, and how many bits of it there are. */
#define DEVICE_TICK 80u
#define DEVICE_TIMESTAMP_BITS 32u
uint64_t device_ticks(int64_t nanoseconds);

#define QUEUE_GROUPS 2 /* 0: compute and copies, 1: copies only */

#endif
