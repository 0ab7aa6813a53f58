/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of whole numbers and variables in a launch script. */
#include <ctype.h>
#include <string.h>

#include "partition/launch_parts.h"

#define MOST_DEPTH 8

typedef struct sum {
    const char *at, *end;
    const yoke_launch_reader_t *reader;
    bool unknown;
    unsigned depth;
} sum_t;

static int64_t sum_terms(sum_t *sum);

static void sum_blanks(sum_t *sum)
{
    while (sum->at < sum->end && (isspace((unsigned char)*sum->at) || *sum->at == '$' ||
                                  *sum->at == '{' || *sum->at == '}'))
        sum->at++;
}

static int64_t sum_atom(sum_t *sum)
{
    sum_blanks(sum);
    if (sum->at < sum->end && *sum->at == '(' && sum->depth < MOST_DEPTH) {
        sum->at++;
        sum->depth++;
        int64_t value = sum_terms(sum);
        sum->depth--;
        sum_blanks(sum);
        sum->unknown = sum->unknown || sum->at == sum->end || *sum->at != ')';
        sum->at += sum->at < sum->end;
        return value;
    }
    uint64_t value = 0;
    size_t size = yoke_launch_name_size(sum->at, sum->end), digits = 0;
    const yoke_launch_variable_t *variable =
        size > 0 ? yoke_launch_find(sum->reader, sum->at, size) : NULL;
    while (sum->at + digits < sum->end && isdigit((unsigned char)sum->at[digits]))
        digits++;
    const char *text = sum->at;
    size_t length = digits;
    if (variable != NULL && variable->words.count == 1) {
        text = variable->words.items[0];
        length = strlen(text);
    }
    sum->unknown = sum->unknown || !yoke_parse_u64(text, length, 0, 1u << 30, &value);
    sum->at += size > 0 ? size : digits;
    return (int64_t)value;
}

static int64_t sum_factors(sum_t *sum)
{
    int64_t value = sum_atom(sum);
    for (sum_blanks(sum);
         sum->at < sum->end && !sum->unknown && strchr("*/%", *sum->at) != NULL;
         sum_blanks(sum)) {
        char sign = *sum->at++;
        int64_t other = sum_atom(sum);
        bool large = value > (1 << 30) || value < -(1 << 30);
        sum->unknown = sum->unknown || large || (sign != '*' && other == 0);
        if (!sum->unknown)
            value = sign == '*'   ? value * other
                    : sign == '/' ? value / other
                                  : value % other;
    }
    return value;
}

static int64_t sum_terms(sum_t *sum)
{
    int64_t value = sum_factors(sum);
    for (sum_blanks(sum);
         sum->at < sum->end && !sum->unknown && (*sum->at == '+' || *sum->at == '-');
         sum_blanks(sum)) {
        char sign = *sum->at++;
        int64_t other = sum_factors(sum);
        bool large = value > INT64_MAX / 4 || value < INT64_MIN / 4 ||
                     other > INT64_MAX / 4 || other < INT64_MIN / 4;
        sum->unknown = sum->unknown || large;
        if (!sum->unknown)
            value = sign == '+' ? value + other : value - other;
    }
    return value;
}

bool yoke_launch_sum(const yoke_launch_reader_t *reader, const char *begin,
                     const char *end, int64_t *out_value)
{
    sum_t sum = {begin, end, reader, false, 0};
    int64_t value = sum_terms(&sum);
    sum_blanks(&sum);
    if (sum.unknown || sum.at != end)
        return false;
    *out_value = value;
    return true;
}
