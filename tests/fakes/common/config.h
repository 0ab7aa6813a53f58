/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_FAKES_COMMON_CONFIG_H
#define YOKE_TESTS_FAKES_COMMON_CONFIG_H

/*
 * What the devices of a fake are like: the library's defaults, overridden by lines of the
 * file $YOKE_FAKES (../README.md). Read once, when the library is first called; the
 * answers never change after that, but for `lost`.
 *
 * A card is a physical device, numbered in PCI order from 0; an ordinal is the vendor's
 * index among those that its mask leaves.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_MAX_CARDS 64

typedef struct fake_card {
    int index;
    char name[128];
    char arch[64]; /* "sm_90", "gfx90a", "Ascend910B3" */
    uint64_t memory;
    uint32_t domain, bus, device, function;
    uint8_t uuid[16];
    bool unified;   /* shares the host's memory */
    bool peer;      /* reaches the others' memory */
    int mig, tiles; /* slices; 0: none */
    int64_t broken; /* every call on it answers this code and writes nothing; 0: works */
    uint32_t slow;  /* microseconds that each operation takes */
    uint32_t latency; /* microseconds before enqueued work may start unless waited for */
    atomic_bool lost;
} fake_card_t;

/* How a mask treats an entry that is no device. */
typedef enum fake_mask_rule {
    FAKE_MASK_STOP,  /* the list ends there */
    FAKE_MASK_DROP,  /* it is passed over */
    FAKE_MASK_DIGITS /* the list ends there; nothing but digits and commas is allowed */
} fake_mask_rule_t;

/* Defined once by each library. */
typedef struct fake_defaults {
    const char *vendor; /* first word of its lines: "nvidia" */
    const char *name;   /* of a device */
    const char *arch;
    const char *mask; /* variable that hides devices, or NULL */
    fake_mask_rule_t rule;
    const char *uuid_prefix; /* "GPU-": entries of the mask may be UUIDs; NULL: not */
    uint64_t memory;
    uint32_t first_bus; /* of card 0; the next have the next buses */
} fake_defaults_t;
extern const fake_defaults_t fake_defaults;

/* Value of a key for a card (-1: for all); the last line counts, one that names the card
 * before one for all. */
const char *fake_config_text(int card, const char *key, const char *fallback);
/* A number; suffixes K, M, G are powers of 1024; 0x is hexadecimal. */
int64_t fake_config_number(int card, const char *key, int64_t fallback);
/* Calls back for every line of this vendor with the key, in order. */
void fake_config_each(const char *key, void (*use)(int card, const char *value));

int fake_card_count(void);
/* NULL for an index out of range. */
fake_card_t *fake_card(int index);
/* Card behind ordinal `i` when nothing is hidden (the `order` line). */
fake_card_t *fake_unmasked(int i);
/* The same after the mask; NULL: there is no such ordinal. */
fake_card_t *fake_visible(int ordinal);
int fake_visible_count(void);
/* Ordinal of a card, -1 when it is hidden. */
int fake_ordinal_of(const fake_card_t *card);
/* "0000:41:00.0" */
void fake_pci_text(const fake_card_t *card, char *text, size_t size);
/* 8-4-4-4-12 hexadecimal digits. */
void fake_uuid_text(const fake_card_t *card, char *text, size_t size);
/* Folder of the library that this is part of; static. */
const char *fake_library_folder(void);

#endif
