/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations of a recorded trace run slower, by the user's selectors. */
#include <string.h>

#include "base/error.h"
#include "partition/recording_parts.h"

typedef struct selector {
    unsigned dp, pp, tp; /* YOKE_ANY_RANK: any */
    const char *name;    /* of an operation; its length, 0: any */
    size_t name_length;
} selector_t;

static yoke_status_t fail_selector(const char *text)
{
    return yoke_fail(
        YOKE_ERR_USAGE,
        "--slow %s: expected ranks of the trace, for example 'dp=0,pp=3', "
        "'pp=3' or 'dp=1,op=forward-send' (dp, pp, tp: ranks from 0; op: the "
        "name of an operation)",
        text);
}

static yoke_status_t read_selector(const char *text, selector_t *out)
{
    selector_t selector = {YOKE_ANY_RANK, YOKE_ANY_RANK, YOKE_ANY_RANK, NULL, 0};
    for (const char *part = text; *part != '\0';) {
        size_t length = strcspn(part, ",");
        uint64_t value = 0;
        const char *content = part + 3;
        unsigned *number = strncmp(part, "dp=", 3) == 0   ? &selector.dp
                           : strncmp(part, "pp=", 3) == 0 ? &selector.pp
                           : strncmp(part, "tp=", 3) == 0 ? &selector.tp
                                                          : NULL;
        bool is_name = strncmp(part, "op=", 3) == 0 && length > 3;
        if (is_name) {
            selector.name = content;
            selector.name_length = length - 3;
        } else if (number == NULL || !yoke_parse_u64(content, length - 3, 0,
                                                     YOKE_MOST_RECORDED_RANKS, &value)) {
            return fail_selector(text);
        } else {
            *number = (unsigned)value;
        }
        part += length;
        if (*part == ',' && *++part == '\0')
            return fail_selector(text);
    }
    *out = selector;
    return YOKE_OK;
}

static bool selects(const selector_t *selector, const yoke_recording_t *recording,
                    const yoke_operation_t *operation)
{
    const yoke_recorded_rank_t *rank = &recording->ranks[operation->rank];
    const char *name = recording->names.items[operation->name];
    if ((selector->dp != YOKE_ANY_RANK && selector->dp != rank->dp) ||
        (selector->pp != YOKE_ANY_RANK && selector->pp != rank->pp) ||
        (selector->tp != YOKE_ANY_RANK && selector->tp != rank->tp))
        return false;
    if (selector->name == NULL)
        return !yoke_is_exchange(operation);
    return strlen(name) == selector->name_length &&
           strncmp(name, selector->name, selector->name_length) == 0;
}

yoke_status_t yoke_recorded_speeds(yoke_recorded_run_t *run,
                                   const yoke_recording_slow_t *slow, size_t slow_count)
{
    size_t count = run->recording->operation_count;
    for (size_t i = 0; i < count; i++)
        run->speeds[i] = 1;
    for (size_t s = 0; s < slow_count; s++) {
        selector_t selector = {0};
        size_t matches = 0;
        yoke_status_t status = read_selector(slow[s].selector, &selector);
        if (status != YOKE_OK)
            return status;
        for (size_t i = 0; i < count; i++)
            if (selects(&selector, run->recording, yoke_recorded_at(run, i))) {
                run->speeds[i] *= slow[s].factor;
                matches++;
            }
        if (matches == 0)
            return yoke_fail(YOKE_ERR_USAGE,
                             "--slow: '%s' matches no operation of the trace",
                             slow[s].selector);
    }
    return YOKE_OK;
}
