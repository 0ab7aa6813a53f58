/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a split. Nothing is corrected: a lost layer is worse than a refusal. */
#include "partition/split.h"

#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* One item without the blanks around it. */
typedef struct item {
    const char *at;
    size_t size;
} item_t;

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Takes the item before the next comma off the text; false: there is none left. */
static bool next_item(const char **rest, item_t *out_item)
{
    if (*rest == NULL)
        return false;
    const char *at = *rest;
    size_t size = strcspn(at, ",");
    *rest = at[size] == ',' ? at + size + 1 : NULL;
    while (size > 0 && is_blank(at[0])) {
        at++;
        size--;
    }
    while (size > 0 && is_blank(at[size - 1]))
        size--;
    *out_item = (item_t){at, size};
    return true;
}

static yoke_status_t fail_item(const char *text, size_t number, const item_t *item)
{
    int shown = item->size > 40 ? 40 : (int)item->size;
    if (item->size == 0)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "--split '%s': item %zu is empty; write the layers of every stage as whole "
            "numbers, like \"27,27,27\"",
            text, number);
    return yoke_fail(
        YOKE_ERR_USAGE,
        "--split '%s': item %zu, '%.*s', is no whole number of layers; write the "
        "layers of every stage separated by commas, like \"27,27,27\"",
        text, number, shown, item->at);
}

/* Count, sum (which saturates) and the first item of 0. */
typedef struct summary {
    size_t count, zero;
    uint64_t sum;
} summary_t;

static yoke_status_t summarise(const char *text, size_t stages, uint64_t *values,
                               summary_t *out_summary)
{
    summary_t summary = {0};
    item_t item;
    for (const char *rest = text; next_item(&rest, &item);) {
        uint64_t value = 0;
        if (!yoke_parse_u64(item.at, item.size, 0, UINT32_MAX, &value))
            return fail_item(text, summary.count + 1, &item);
        if (value == 0 && summary.zero == 0)
            summary.zero = summary.count + 1;
        if (values != NULL && summary.count < stages)
            values[summary.count] = value;
        summary.sum += value;
        summary.count++;
    }
    *out_summary = summary;
    return YOKE_OK;
}

yoke_status_t yoke_split_parse(const char *text, uint64_t layers, size_t stages,
                               uint64_t *out)
{
    summary_t summary;
    yoke_status_t status = summarise(text, 0, NULL, &summary);
    if (status != YOKE_OK)
        return status;
    unsigned long long sum = (unsigned long long)summary.sum;
    if (summary.zero != 0)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "--split '%s': item %zu is 0, and every stage needs at least 1 layer (the "
            "items sum to %llu, the model has %llu layers to split)",
            text, summary.zero, sum, (unsigned long long)layers);
    if (summary.count != stages)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "--split '%s': has %zu items for %zu stages; give one number a stage", text,
            summary.count, stages);
    if (summary.sum != layers)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "--split '%s': sums to %llu, and the model has %llu layers to split", text,
            sum, (unsigned long long)layers);
    return summarise(text, stages, out, &summary);
}
