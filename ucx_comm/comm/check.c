/* SPDX-License-Identifier: Apache-2.0 */
/* Do all ranks make the same call? */

#include "ucx_comm/comm/object.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

uint64_t yoke_check_hash(const uint64_t *counts, int n)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (int i = 0; counts != NULL && i < n; i++)
        hash = ((hash ^ counts[i]) * 0x100000001b3u) ^ (hash >> 31);
    return hash;
}

yoke_check_t yoke_check_of(const yoke_comm_request_t *request)
{
    const yoke_signature_t *signature = &request->signature;
    yoke_check_t check;
    memset(&check, 0, sizeof check);
    check.collective = signature->collective;
    check.element = signature->element;
    check.reduction = signature->reduction;
    check.algorithm = signature->algorithm;
    check.root = signature->root;
    check.v_form = request->shape.counts != NULL;
    check.count = check.v_form ? 0 : request->shape.count;
    check.counts = check.v_form && request->shape.send_counts == NULL
                       ? yoke_check_hash(request->shape.counts, request->shape.size)
                       : 0;
    return check;
}

typedef enum field {
    FIELD_COLLECTIVE,
    FIELD_V_FORM,
    FIELD_ELEMENT,
    FIELD_REDUCTION,
    FIELD_ROOT,
    FIELD_COUNT,
    FIELD_COUNTS,
    FIELD_ALGORITHM,
    FIELDS
} field_t;

static const char *const field_names[FIELDS] = {
    "collective", "form",  "element type", "reduction",
    "root",       "count", "counts",       "algorithm",
};

static uint64_t value_of(const yoke_check_t *check, field_t field)
{
    switch (field) {
    case FIELD_COLLECTIVE:
        return check->collective;
    case FIELD_V_FORM:
        return check->v_form;
    case FIELD_ELEMENT:
        return check->element;
    case FIELD_REDUCTION:
        return check->reduction;
    case FIELD_ROOT:
        return (uint64_t)(uint32_t)check->root;
    case FIELD_COUNT:
        return check->count;
    case FIELD_COUNTS:
        return check->counts;
    default:
        return check->algorithm;
    }
}

static void print_value(yoke_text_t *text, field_t field, uint64_t value)
{
    const char *name = NULL;
    if (field == FIELD_COLLECTIVE)
        name = yoke_collective_name((yoke_collective_t)value);
    else if (field == FIELD_ELEMENT)
        name = yoke_element_name((yoke_element_t)value);
    else if (field == FIELD_REDUCTION)
        name = yoke_reduction_name((yoke_reduction_t)value);
    else if (field == FIELD_ALGORITHM)
        name = yoke_algorithm_name((yoke_algorithm_t)value);
    else if (field == FIELD_V_FORM)
        name = value ? "v-form" : "equal counts";
    if (name != NULL)
        yoke_text_add(text, name);
    else if (field == FIELD_COUNTS)
        yoke_text_printf(text, "an array with hash %016llx", (unsigned long long)value);
    else if (field <= FIELD_REDUCTION)
        yoke_text_add(text, "none");
    else
        yoke_text_printf(text, "%llu", (unsigned long long)value);
}

/* "rank 0 gave 1000; ranks 1, 2, 3 gave 2000": one part for each value there is. */
static void print_values(yoke_text_t *text, field_t field, int n,
                         const yoke_check_t *checks)
{
    for (int r = 0; r < n; r++) {
        uint64_t value = value_of(&checks[r], field);
        int count = 0, first = -1;
        for (int i = 0; i < n; i++)
            if (value_of(&checks[i], field) == value) {
                first = first < 0 ? i : first;
                count++;
            }
        if (first < r)
            continue;
        yoke_text_add(text, r > 0 ? "; " : ": ");
        yoke_text_add(text, count > 1 ? "ranks " : "rank ");
        int listed = 0;
        for (int i = r; i < n && listed < 8; i++)
            if (value_of(&checks[i], field) == value)
                yoke_text_printf(text, "%s%d", listed++ > 0 ? ", " : "", i);
        if (count > listed)
            yoke_text_printf(text, " and %d more", count - listed);
        yoke_text_add(text, " gave ");
        print_value(text, field, value);
    }
}

yoke_status_t yoke_check_compare(const yoke_comm_t *comm, uint64_t sequence,
                                 const yoke_check_t *checks)
{
    for (int field = 0; field < FIELDS; field++) {
        bool same = true;
        for (int r = 1; r < comm->size; r++)
            same = same && value_of(&checks[r], (field_t)field) ==
                               value_of(&checks[0], (field_t)field);
        if (same)
            continue;
        yoke_text_t text = {0};
        yoke_text_printf(&text, "call number %llu differs between ranks in its %s",
                         (unsigned long long)sequence, field_names[field]);
        print_values(&text, (field_t)field, comm->size, checks);
        yoke_status_t status = yoke_fail(YOKE_ERR_MISMATCH, "%s", yoke_text_get(&text));
        yoke_text_free(&text);
        return status;
    }
    return YOKE_OK;
}
