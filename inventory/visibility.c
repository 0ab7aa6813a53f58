/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device masks. Each runtime has a chain of variables; a variable chooses from what the
 * one before it left, by index into that, by UUID or (MIG) by slice.
 */
#include "inventory/visibility.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "inventory/document.h"

const char *yoke_environment(void *context, const char *name)
{
    (void)context;
    return getenv(name);
}

typedef struct rules {
    const char *runtime;
    const char *variables[5]; /* every variable that may hide a device */
} rules_t;

static const rules_t all_rules[] = {
    {"cuda", {"CUDA_VISIBLE_DEVICES"}},
    {"corex", {"CUDA_VISIBLE_DEVICES"}},
    {"hip",
     {"ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_VISIBLE_DEVICES",
      "CUDA_VISIBLE_DEVICES"}},
    {"dtk",
     {"ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HIP_VISIBLE_DEVICES",
      "CUDA_VISIBLE_DEVICES"}},
    {"maca", {"MACA_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}},
    {"musa", {"MUSA_VISIBLE_DEVICES"}},
    {"ascend", {"ASCEND_RT_VISIBLE_DEVICES"}},
    {"cambricon", {"MLU_VISIBLE_DEVICES"}},
    {"level_zero", {"ZE_AFFINITY_MASK"}},
    {NULL, {NULL}},
};

static const rules_t *rules_of(const char *runtime)
{
    const rules_t *rules = all_rules;
    while (rules->runtime != NULL && strcmp(rules->runtime, runtime) != 0)
        rules++;
    return rules;
}

const char *const *yoke_visibility_variables(const char *runtime)
{
    return rules_of(runtime)->variables;
}

/* --- one variable ----------------------------------------------------------------- */

typedef struct selection {
    size_t *items; /* indexes of cards, in order */
    size_t count;
} selection_t;

typedef struct state {
    const yoke_card_t *cards;
    size_t card_count;
    selection_t now;
    yoke_visibility_t *out;
} state_t;

static bool contains(const selection_t *selection, size_t card)
{
    for (size_t i = 0; i < selection->count; i++)
        if (selection->items[i] == card)
            return true;
    return false;
}

static bool begins_with_case(const char *text, const char *prefix, size_t size)
{
    return text != NULL && strncasecmp(text, prefix, size) == 0;
}

/* Index among the whole cards that are left; SIZE_MAX: there is none. Slices are chosen
 * by their UUID only. */
static size_t by_index(const state_t *state, const char *token, size_t size)
{
    uint64_t index = 0;
    if (!yoke_parse_u64(token, size, 0, SIZE_MAX / 2, &index))
        return SIZE_MAX;
    for (size_t i = 0; i < state->now.count; i++) {
        size_t card = state->now.items[i];
        if (state->cards[card].slice)
            continue;
        if (index-- == 0)
            return card;
    }
    return SIZE_MAX;
}

/* The one card whose UUID begins so; several or none: SIZE_MAX. */
static size_t by_uuid(const state_t *state, const char *token, size_t size)
{
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < state->now.count; i++) {
        size_t card = state->now.items[i];
        if (!begins_with_case(state->cards[card].uuid, token, size))
            continue;
        if (strlen(state->cards[card].uuid) == size)
            return card;
        if (found != SIZE_MAX)
            return SIZE_MAX;
        found = card;
    }
    return found;
}

static bool looks_like_uuid(const char *token, size_t size)
{
    return size > 4 &&
           (strncasecmp(token, "GPU-", 4) == 0 || strncasecmp(token, "MIG-", 4) == 0);
}

/* "0.1" of Level Zero names a tile of a card: the card stays visible. */
static size_t card_part(const char *runtime, const char *token, size_t size)
{
    const char *dot =
        strcmp(runtime, "level_zero") == 0 ? memchr(token, '.', size) : NULL;
    return dot == NULL ? size : (size_t)(dot - token);
}

static void warn(state_t *state, const char *variable, const char *value,
                 const char *token, size_t size, const char *what)
{
    char *text =
        yoke_format("%s=%s: \"%.*s\" %s", variable, value, (int)size, token, what);
    if (text != NULL)
        yoke_strings_add(&state->out->warnings, text);
    free(text);
}

static bool stops_at_invalid(const char *runtime)
{
    return strcmp(runtime, "level_zero") != 0;
}

static yoke_status_t choose(state_t *state, const char *runtime, const char *variable,
                            const char *value)
{
    selection_t next = {calloc(state->card_count + 1, sizeof *next.items), 0};
    if (next.items == NULL)
        return yoke_fail_memory();
    for (const char *at = value; *at != '\0';) {
        at += strspn(at, " \t");
        size_t size = strcspn(at, ",");
        size_t shown = size;
        while (shown > 0 && strchr(" \t", at[shown - 1]) != NULL)
            shown--;
        size_t key = card_part(runtime, at, shown);
        size_t card =
            looks_like_uuid(at, key) ? by_uuid(state, at, key) : by_index(state, at, key);
        if (card == SIZE_MAX && stops_at_invalid(runtime)) {
            if (strncmp(at, "-1", shown) != 0 || shown != 2)
                warn(state, variable, value, at, shown,
                     "names no card; it and all behind it are ignored");
            break;
        }
        if (card == SIZE_MAX)
            warn(state, variable, value, at, shown, "names no card");
        else if (!contains(&next, card))
            next.items[next.count++] = card;
        else if (!stops_at_invalid(runtime) || key != shown)
            ; /* two tiles of one card */
        else {
            /* A card twice: CUDA shows none at all then. */
            warn(state, variable, value, at, shown, "stands twice; no card is visible");
            next.count = 0;
            break;
        }
        at += size + (at[size] == ',' ? 1 : 0);
    }
    for (size_t i = 0; i < state->now.count; i++) {
        size_t card = state->now.items[i];
        if (!contains(&next, card))
            state->out->hidden_by[card] = variable;
    }
    free(state->now.items);
    state->now = next;
    return YOKE_OK;
}

/* --- order before any mask -------------------------------------------------------- */

static int compare_pci(const yoke_card_t *a, const yoke_card_t *b)
{
    yoke_pci_t left, right;
    if (a->pci == NULL || b->pci == NULL || !yoke_pci_parse(a->pci, &left) ||
        !yoke_pci_parse(b->pci, &right))
        return 0;
    return yoke_pci_compare(&left, &right);
}

/* Insertion sort: stable, and the lists are short. */
static void sort_cards(state_t *state, bool fastest_first)
{
    size_t *items = state->now.items;
    for (size_t i = 1; i < state->now.count; i++) {
        size_t card = items[i];
        size_t j = i;
        while (j > 0) {
            const yoke_card_t *a = &state->cards[items[j - 1]];
            const yoke_card_t *b = &state->cards[card];
            bool before = fastest_first ? b->speed > a->speed : compare_pci(a, b) > 0;
            if (!before)
                break;
            items[j] = items[j - 1];
            j--;
        }
        items[j] = card;
    }
}

static void order_cuda(state_t *state, yoke_getenv_t lookup, void *context)
{
    const char *order = lookup(context, "CUDA_DEVICE_ORDER");
    if (order != NULL && strcmp(order, "PCI_BUS_ID") == 0)
        sort_cards(state, false);
    else
        sort_cards(state, true);
}

/* --- runtimes --------------------------------------------------------------------- */

static bool is_amd_like(const char *runtime)
{
    return strcmp(runtime, "hip") == 0 || strcmp(runtime, "dtk") == 0;
}

/* HIP honours either; with both set, which one counts depends on its version. */
static yoke_status_t check_conflict(state_t *state, const char *hip, const char *cuda)
{
    if (hip == NULL || cuda == NULL || strcmp(hip, cuda) == 0)
        return YOKE_OK;
    char *text =
        yoke_format("HIP_VISIBLE_DEVICES=%s and CUDA_VISIBLE_DEVICES=%s disagree; "
                    "HIP_VISIBLE_DEVICES is taken, unset one of them",
                    hip, cuda);
    yoke_status_t status =
        text == NULL ? yoke_fail_memory() : yoke_strings_add(&state->out->warnings, text);
    free(text);
    return status;
}

static yoke_status_t apply_chain(state_t *state, const char *runtime,
                                 yoke_getenv_t lookup, void *context)
{
    const rules_t *rules = rules_of(runtime);
    yoke_status_t status = YOKE_OK;
    const char *hip = NULL;
    if (is_amd_like(runtime)) {
        hip = lookup(context, "HIP_VISIBLE_DEVICES");
        status = check_conflict(state, hip, lookup(context, "CUDA_VISIBLE_DEVICES"));
    }
    for (size_t i = 0; rules->variables[i] != NULL && status == YOKE_OK; i++) {
        const char *variable = rules->variables[i];
        const char *value = lookup(context, variable);
        bool shadowed = hip != NULL && strcmp(variable, "CUDA_VISIBLE_DEVICES") == 0;
        /* Level Zero: empty means no mask; elsewhere empty hides everything. */
        bool no_mask =
            value != NULL && *value == '\0' && strcmp(runtime, "level_zero") == 0;
        if (value != NULL && !shadowed && !no_mask)
            status = choose(state, runtime, variable, value);
    }
    return status;
}

static yoke_status_t apply_opencl(state_t *state, yoke_getenv_t lookup, void *context)
{
    const char *value = lookup(context, "POCL_DEVICES");
    if (value == NULL)
        return YOKE_OK;
    char *text = yoke_format("POCL_DEVICES=%s chooses what PoCL shows", value);
    yoke_status_t status =
        text == NULL ? yoke_fail_memory() : yoke_strings_add(&state->out->warnings, text);
    free(text);
    return status;
}

yoke_status_t yoke_visibility_apply(const char *runtime, const yoke_card_t *cards,
                                    size_t count, yoke_getenv_t lookup, void *context,
                                    yoke_visibility_t *out_visibility)
{
    yoke_visibility_t out = {0};
    state_t state = {.cards = cards, .card_count = count, .out = &out};
    state.now.items = calloc(count + 1, sizeof *state.now.items);
    out.hidden_by = calloc(count + 1, sizeof *out.hidden_by);
    yoke_status_t status = YOKE_OK;
    if (state.now.items == NULL || out.hidden_by == NULL)
        status = yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < count; i++)
        state.now.items[state.now.count++] = i;
    if (status == YOKE_OK && strcmp(runtime, "cuda") == 0)
        order_cuda(&state, lookup, context);
    if (status == YOKE_OK)
        status = strcmp(runtime, "opencl") == 0
                     ? apply_opencl(&state, lookup, context)
                     : apply_chain(&state, runtime, lookup, context);
    out.order = state.now.items;
    out.count = state.now.count;
    if (status != YOKE_OK)
        yoke_visibility_free(&out);
    else
        *out_visibility = out;
    return status;
}

void yoke_visibility_free(yoke_visibility_t *visibility)
{
    free(visibility->order);
    free((void *)visibility->hidden_by);
    yoke_strings_free(&visibility->warnings);
    *visibility = (yoke_visibility_t){0};
}
