/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Devices that an environment variable hides. The runtime itself is asked twice, with the
 * variable and without: what only the second answer holds is hidden. Which of several
 * variables did it follows from the rules in inventory/visibility.h.
 */
#include "hal/probe/units.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/probe/wire.h"
#include "inventory/document.h"
#include "inventory/visibility.h"

const char *const *yoke_masks_of(const yoke_backend_t *backend)
{
    static const char *const none[] = {NULL};
    if (backend->masks != NULL)
        return backend->masks;
    return backend->hidden_as != NULL ? yoke_visibility_variables(backend->hidden_as)
                                      : none;
}

static const char *first_set(const char *const *names)
{
    while (*names != NULL && getenv(*names) == NULL)
        names++;
    return *names;
}

const char *yoke_mask_set(const yoke_backend_t *backend)
{
    return first_set(yoke_masks_of(backend));
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_device(const yoke_record_t *a, const yoke_record_t *b)
{
    if (!same_text(a->platform, b->platform) || !same_text(a->partition, b->partition))
        return false;
    if (a->pci.valid && b->pci.valid)
        return yoke_pci_compare(&a->pci, &b->pci) == 0;
    if (a->has_uuid && b->has_uuid)
        return memcmp(a->uuid, b->uuid, sizeof a->uuid) == 0;
    if (a->uuid_text != NULL && b->uuid_text != NULL)
        return strcmp(a->uuid_text, b->uuid_text) == 0;
    return same_text(a->name, b->name);
}

/* First record of `visible` that is the same device and was not taken yet. */
static yoke_record_t *match(yoke_records_t *visible, size_t count, bool *taken,
                            const yoke_record_t *record)
{
    for (size_t i = 0; i < count; i++)
        if (!taken[i] && same_device(&visible->items[i], record)) {
            taken[i] = true;
            return &visible->items[i];
        }
    return NULL;
}

/* OpenCL of a GPU vendor obeys the variables of the vendor's native runtime. */
static const char *hider_of_view(const yoke_record_t *record)
{
    static const char *const pocl[] = {"POCL_DEVICES", NULL};
    const char *vendor = record->vendor != NULL ? record->vendor : "";
    if (record->platform != NULL &&
        strstr(record->platform, "Portable Computing") != NULL)
        return first_set(pocl);
    return first_set(yoke_visibility_variables(strcmp(vendor, "NVIDIA") == 0 ? "cuda"
                                               : strcmp(vendor, "AMD") == 0
                                                   ? "hip"
                                                   : "level_zero"));
}

/* Name of the variable that hides the i-th of all devices; NULL: the rules do not tell.
 */
static const char *hider(const yoke_backend_t *backend, const yoke_records_t *all,
                         size_t i)
{
    yoke_card_t *cards = calloc(all->count, sizeof *cards);
    char(*texts)[24] = calloc(all->count, sizeof *texts);
    yoke_visibility_t visibility = {0};
    const char *name = NULL;
    if (backend->hidden_as == NULL) {
        name = hider_of_view(&all->items[i]);
        goto out;
    }
    for (size_t j = 0; cards != NULL && texts != NULL && j < all->count; j++) {
        const yoke_record_t *record = &all->items[j];
        if (record->pci.valid)
            cards[j].pci = yoke_pci_text(&record->pci, texts[j]);
        cards[j].uuid = record->uuid_text;
        cards[j].slice = record->partition != NULL;
    }
    if (cards != NULL && texts != NULL &&
        yoke_visibility_apply(backend->hidden_as, cards, all->count, yoke_environment,
                              NULL, &visibility) == YOKE_OK) {
        name = visibility.hidden_by != NULL ? visibility.hidden_by[i] : NULL;
        yoke_visibility_free(&visibility);
    }
out:
    free(cards);
    free(texts);
    return name != NULL ? name : yoke_mask_set(backend);
}

/* Moves the record: it is no longer in `all` then. */
static yoke_status_t add_hidden(const yoke_backend_t *backend, const yoke_records_t *all,
                                size_t i, yoke_records_t *visible)
{
    const char *name = hider(backend, all, i);
    yoke_record_t *slot = yoke_records_add(visible);
    json_t *json = slot != NULL ? yoke_record_to_json(&all->items[i]) : NULL;
    yoke_cursor_t at = {.file = backend->name, .value = json};
    if (json == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_record_from_json(&at, slot);
    json_decref(json);
    if (status != YOKE_OK)
        return status;
    slot->native = all->items[i].ordinal;
    slot->ordinal = -1;
    return yoke_set_string(&slot->hidden_by, name);
}

yoke_status_t yoke_masks_merge(const yoke_backend_t *backend, yoke_records_t *visible,
                               yoke_records_t *all, size_t *out_hidden)
{
    size_t count = visible->count;
    bool *taken = calloc(count + 1, sizeof *taken);
    yoke_status_t status = taken != NULL ? YOKE_OK : yoke_fail_memory();
    *out_hidden = 0;
    if (yoke_mask_set(backend) == NULL)
        for (size_t i = 0; i < count; i++)
            visible->items[i].native = visible->items[i].ordinal;
    for (size_t i = 0; i < all->count && status == YOKE_OK; i++) {
        yoke_record_t *seen = match(visible, count, taken, &all->items[i]);
        if (seen != NULL) {
            seen->native = all->items[i].ordinal;
            continue;
        }
        status = add_hidden(backend, all, i, visible);
        *out_hidden += 1;
    }
    free(taken);
    return status;
}
