/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TESTS_HAL_FAKE_H
#define YOKE_TESTS_HAL_FAKE_H

/*
 * Cards of the fake vendor libraries. FAKE_CARDS: how many (8); FAKE_ORDER=reverse: the
 * runtime numbers them from the last PCI address; FAKE_BROKEN=N: card N (in PCI order)
 * answers every call with an error and writes nothing; FAKE_MASK: name of the variable to
 * obey.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline int fake_cards(void)
{
    const char *text = getenv("FAKE_CARDS");
    return text != NULL ? atoi(text) : 8;
}

static inline int fake_broken(int card)
{
    const char *text = getenv("FAKE_BROKEN");
    return text != NULL && atoi(text) == card;
}

/* Card (in PCI order) behind index i when nothing is hidden. */
static inline int fake_native(int i)
{
    const char *order = getenv("FAKE_ORDER");
    return order != NULL && strcmp(order, "reverse") == 0 ? fake_cards() - 1 - i : i;
}

/* Card behind visible index i; -1: there is none. As the CUDA manual says, the list ends
 * at the first invalid entry. */
static inline int fake_visible(const char *variable, int i)
{
    const char *mask = getenv(variable);
    if (mask == NULL)
        return i >= 0 && i < fake_cards() ? fake_native(i) : -1;
    for (int seen = 0; *mask != '\0'; seen++) {
        char *end;
        long index = strtol(mask, &end, 10);
        if (end == mask || index < 0 || index >= fake_cards())
            return -1;
        if (seen == i)
            return fake_native((int)index);
        mask = *end == ',' ? end + 1 : end;
    }
    return -1;
}

static inline int fake_count(const char *variable)
{
    int count = 0;
    while (fake_visible(variable, count) >= 0)
        count++;
    return count;
}

/* Four PCI domains, as MI300 machines have: the bus number alone tells nothing. */
static inline void fake_pci(int card, char *text, int size)
{
    snprintf(text, (size_t)size, "%04x:%02x:00.0", card % 4, 2 + card / 4);
}

#endif
