/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_COMM_ENTRIES_H
#define YOKE_COMM_ENTRIES_H

/*
 * Who owns which element, and entries on the wire.
 *
 * Elements are dealt out to the owners in stripes, so that a layer with large gradients
 * is not one owner's. Entries for one owner are numbered in the owner's own space (its
 * stripes one after the other) and written as
 *
 *   uint32 counts[blocks]      entries in each block of 65,536 numbers
 *   value  values[sum]         float, or its upper half (bf16, cut) with error feedback:
 *                              what is cut is fed back as the rest is
 *   uint16 numbers[sum]        within the block, ascending
 *
 * 6 or 4 bytes an entry. Byte order is the machine's: ranks of one job agree in it
 * (yoke_control_create() compares).
 */

#include <stdbool.h>
#include <stddef.h>
#include "ucx_comm/compression/select.h"

typedef struct yoke_owners {
    uint64_t count; /* elements of the vector */
    uint32_t ranks;
    uint32_t stripe; /* elements */
    bool halves;     /* values travel as their upper halves */
} yoke_owners_t;

yoke_owners_t yoke_owners_of(uint64_t count, uint32_t ranks, bool halves);
/* elements of one owner */
uint64_t yoke_owner_length(const yoke_owners_t *owners, uint32_t owner);
/* the owner's number -> the vector's index */
uint64_t yoke_owner_index(const yoke_owners_t *owners, uint32_t owner, uint64_t number);

/* Bytes of an entry: value and number. */
static inline double yoke_entry_size(bool halves)
{
    return halves ? 4 : 6;
}

/* What is picked: by threshold, or drawn. */
typedef struct yoke_picker {
    bool draws;
    yoke_threshold_t threshold; /* ties are used up */
    double scale;
    uint64_t seed, call;
} yoke_picker_t;

/* Bytes of a message with `entries` entries for an owner of `length` elements. */
size_t yoke_entries_size(uint64_t length, uint64_t entries, bool halves);

/*
 * Write what is picked of the elements that `owner` owns; at most `room` entries. With
 * `keep` what is sent is taken off values (what stays is the error to be fed back; 0
 * where it is not finite).
 * @return bytes written; *out_entries: how many
 */
size_t yoke_entries_pack(const yoke_owners_t *owners, uint32_t owner,
                         yoke_picker_t *picker, float *values, bool keep, uint64_t room,
                         void *message, uint64_t *out_entries);

/* false: not a message for an owner of `length` elements. */
bool yoke_entries_check(const void *message, size_t size, uint64_t length, bool halves);
/* Add entries (checked) to the owner's own elements. */
void yoke_entries_add(const void *message, uint64_t length, bool halves, float *own);
/* Put entries (checked) of `owner`, times `factor`, into the vector. */
void yoke_entries_put(const void *message, const yoke_owners_t *owners, uint32_t owner,
                      float factor, float *vector);

#endif
