/* SPDX-License-Identifier: Apache-2.0 */
/* The formulas of the tables: sums, products and exact quotients in checked 64 bits. */
#include <string.h>

#include "costmodel/arch.h"

void arch_set(arch_values_t *values, const char *name, uint64_t value)
{
    for (size_t i = 0; i < values->count; i++)
        if (strcmp(values->items[i].name, name) == 0) {
            values->items[i].value = value;
            return;
        }
    /* Names come from the tables only, and a test runs every table: this never drops. */
    if (values->count == ARCH_VALUES)
        return;
    values->items[values->count].name = name;
    values->items[values->count].value = value;
    values->count++;
}

static bool find(const arch_values_t *values, const char *name, size_t size,
                 uint64_t *out_value)
{
    for (size_t i = 0; i < values->count; i++)
        if (strncmp(values->items[i].name, name, size) == 0 &&
            values->items[i].name[size] == '\0') {
            *out_value = values->items[i].value;
            return true;
        }
    return false;
}

uint64_t arch_get(const arch_values_t *values, const char *name)
{
    uint64_t value = 0;
    return find(values, name, strlen(name), &value) ? value : 0;
}

typedef struct parser {
    const char *at;
    const arch_values_t *values;
    arch_outcome_t outcome;
} parser_t;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static uint64_t stop(parser_t *parser, arch_outcome_t outcome)
{
    if (parser->outcome == ARCH_OK)
        parser->outcome = outcome;
    return 0;
}

static uint64_t checked(parser_t *parser, bool overflow, uint64_t value)
{
    return overflow || value > ARCH_LIMIT_TOTAL ? stop(parser, ARCH_TOO_LARGE) : value;
}

static uint64_t sum(parser_t *parser);

static uint64_t factor(parser_t *parser)
{
    uint64_t value = 0;
    if (*parser->at == '(') {
        parser->at++;
        value = sum(parser);
        if (*parser->at != ')')
            return stop(parser, ARCH_BAD_FORMULA);
        parser->at++;
        return value;
    }
    if (is_digit(*parser->at)) {
        for (; is_digit(*parser->at); parser->at++)
            value = value * 10 + (uint64_t)(*parser->at - '0');
        return value;
    }
    const char *begin = parser->at;
    while (is_letter(*parser->at) || (parser->at > begin && is_digit(*parser->at)))
        parser->at++;
    if (parser->at == begin ||
        !find(parser->values, begin, (size_t)(parser->at - begin), &value))
        return stop(parser, ARCH_BAD_FORMULA);
    return value;
}

static uint64_t product(parser_t *parser)
{
    uint64_t value = factor(parser);
    while (parser->outcome == ARCH_OK && (*parser->at == '*' || *parser->at == '/')) {
        char sign = *parser->at++;
        uint64_t right = factor(parser);
        if (sign == '*') {
            uint64_t result = 0;
            bool overflow = __builtin_mul_overflow(value, right, &result);
            value = checked(parser, overflow, result);
        } else if (right == 0 || value % right != 0) {
            return stop(parser, ARCH_NOT_WHOLE);
        } else {
            value /= right;
        }
    }
    return value;
}

static uint64_t sum(parser_t *parser)
{
    uint64_t value = product(parser);
    while (parser->outcome == ARCH_OK && *parser->at == '+') {
        parser->at++;
        uint64_t result = 0;
        bool overflow = __builtin_add_overflow(value, product(parser), &result);
        value = checked(parser, overflow, result);
    }
    return value;
}

arch_outcome_t arch_evaluate(const char *formula, const arch_values_t *values,
                             uint64_t *out_value)
{
    parser_t parser = {.at = formula, .values = values};
    uint64_t value = sum(&parser);
    if (parser.outcome == ARCH_OK && *parser.at != '\0')
        parser.outcome = ARCH_BAD_FORMULA;
    if (parser.outcome == ARCH_OK)
        *out_value = value;
    return parser.outcome;
}

arch_outcome_t arch_condition(const char *condition, const arch_values_t *values,
                              bool *out_true)
{
    bool truth = true;
    for (const char *at = condition; at != NULL && *at != '\0';) {
        bool wanted = *at != '!';
        if (!wanted)
            at++;
        size_t size = strcspn(at, "&");
        uint64_t value = 0;
        if (!find(values, at, size, &value))
            return ARCH_BAD_FORMULA;
        truth = truth && (value != 0) == wanted;
        at += size;
        if (*at == '&')
            at++;
    }
    *out_true = truth;
    return ARCH_OK;
}
