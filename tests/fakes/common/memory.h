/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_MEMORY_H
#define YOKE_TESTS_FAKES_COMMON_MEMORY_H

/*
 * Memory of the fake devices. A device's addresses lie in a reservation that nobody may
 * touch: the host faults there, as it would on a real address. The fake itself works in a
 * second range of the same length, the shadow. Addresses are not used again soon, so that
 * a stale one is found. Threads: any.
 */

#include "config.h"

typedef enum fake_memory_kind {
    FAKE_MEMORY_DEVICE,
    FAKE_MEMORY_PINNED,     /* the host's, known to the runtime */
    FAKE_MEMORY_REGISTERED, /* pinned by registering what somebody else allocated */
    FAKE_MEMORY_MANAGED     /* one address for host and device; counts as device memory */
} fake_memory_kind_t;

typedef struct fake_block {
    uintptr_t address;
    size_t size;
    fake_memory_kind_t kind;
    fake_card_t *card;
    void *owner; /* the library's context, or NULL */
} fake_block_t;

/* NULL: more than the device has left. Content is rubbish. Counts as alive. */
void *fake_memory_allocate(fake_card_t *card, fake_memory_kind_t kind, size_t size,
                           void *owner);
/* False: not the start of a live block of that kind. Work in flight is the caller's care.
 */
bool fake_memory_free(const void *address, fake_memory_kind_t kind);
/* Adopt host memory; false: it overlaps a block. */
bool fake_memory_register(void *address, size_t size, fake_card_t *card, void *owner);
/* Everything of one owner; how many there were. */
size_t fake_memory_free_owner(const void *owner);

/* The live block that holds all of [address, address + size); size may be 0. */
bool fake_memory_find(const void *address, size_t size, fake_block_t *out_block);
/* In the reservation of some device, live or not. */
bool fake_memory_is_device(const void *address);
/* What an address range is to the runtime. */
typedef enum fake_place {
    FAKE_PLACE_HOST, /* nothing that the runtime knows: ordinary memory */
    FAKE_PLACE_DEVICE,
    FAKE_PLACE_PINNED, /* registered too */
    FAKE_PLACE_MANAGED,
    FAKE_PLACE_BAD /* a device address that is free, or a range past a block's end */
} fake_place_t;
fake_place_t fake_memory_place(const void *address, size_t size);
/* Where the fake reads and writes what the guest calls `address`. */
void *fake_shadow(const void *address);

void fake_memory_info(fake_card_t *card, uint64_t *out_free, uint64_t *out_total);

#endif
