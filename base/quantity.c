/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers with units: what a user types and what a table shows. */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool yoke_parse_u64(const char *text, size_t size, uint64_t min, uint64_t max,
                    uint64_t *out)
{
    uint64_t value = 0;
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (!is_digit(text[i]))
            return false;
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    if (value < min || value > max)
        return false;
    *out = value;
    return true;
}

static size_t skip_digits(const char *text, size_t at)
{
    while (is_digit(text[at]))
        at++;
    return at;
}

/* Length of the decimal number at the start of `text`; 0 if there is none. */
static size_t number_length(const char *text)
{
    size_t whole = skip_digits(text, 0);
    size_t end = whole;
    size_t digits = whole;
    if (text[end] == '.') {
        end = skip_digits(text, whole + 1);
        digits += end - whole - 1;
    }
    if (digits == 0)
        return 0;
    if (text[end] == 'e' || text[end] == 'E') {
        size_t exponent = end + 1;
        if (text[exponent] == '+' || text[exponent] == '-')
            exponent++;
        if (is_digit(text[exponent]))
            end = skip_digits(text, exponent);
    }
    return end;
}

static double number_value(const char *text)
{
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c_locale == (locale_t)0)
        return NAN;
    double value = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return value;
}

/* The factor of a prefix; steps over it. A unit may begin with a prefix's letter ("P" is
 * none here), so the caller tries the bare unit first. */
static double take_prefix(const char **at)
{
    static const char letters[] = "kMGTP";
    char letter = **at == 'K' ? 'k' : **at;
    const char *found = letter == '\0' ? NULL : strchr(letters, letter);
    if (found == NULL)
        return 1.0;
    bool binary = (*at)[1] == 'i' && strncmp(*at + 1, "it", 2) != 0;
    *at += binary ? 2 : 1;
    double step = binary ? 1024.0 : 1000.0;
    double factor = step;
    for (const char *letter_at = letters; letter_at < found; letter_at++)
        factor *= step;
    return factor;
}

typedef struct unit {
    const char *name;
    double factor;
    bool needs_prefix;
} unit_t;

/* Whether `at` is exactly one unit; *out_factor is what it multiplies by. */
static bool unit_factor(const char *at, bool prefixed, double *out_factor)
{
    /* A "b" alone is refused: in "7b" it is as likely a billion as a bit. */
    static const unit_t units[] = {
        {"", 1.0, false},         {"B", 1.0, false},      {"B/s", 1.0, false},
        {"Bps", 1.0, true},       {"byte", 1.0, false},   {"bytes", 1.0, false},
        {"b", 0.125, true},       {"b/s", 0.125, true},   {"bps", 0.125, true},
        {"bit", 0.125, false},    {"bits", 0.125, false}, {"bit/s", 0.125, false},
        {"bits/s", 0.125, false}, {"FLOP", 1.0, false},   {"FLOPs", 1.0, false},
        {"FLOPS", 1.0, false},    {"FLOP/s", 1.0, false}, {"FLOPs/s", 1.0, false},
        {"flop/s", 1.0, false},   {"flops", 1.0, false},  {"OP/s", 1.0, false},
        {"OPS", 1.0, false},      {"ops", 1.0, false},    {"/s", 1.0, false},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(at, units[i].name) == 0 && (prefixed || !units[i].needs_prefix)) {
            *out_factor = units[i].factor;
            return true;
        }
    return false;
}

yoke_status_t yoke_parse_quantity(const char *text, double *out_value)
{
    size_t length = number_length(text);
    if (length == 0)
        return yoke_fail(
            YOKE_ERR_BAD_INPUT,
            "quantity \"%s\": must begin with a number that is not negative, "
            "as in 80GiB or 312T",
            text);
    const char *at = text + length;
    if (at[0] == ' ' && at[1] != '\0')
        at++;
    const char *unit = at;
    double prefix = take_prefix(&unit);
    double factor = 1.0;
    if (!unit_factor(unit, unit != at, &factor))
        return yoke_fail(
            YOKE_ERR_BAD_INPUT,
            "quantity \"%s\": cannot read \"%s\"; write a prefix (k M G T P, or "
            "Ki Mi Gi Ti Pi) and a unit (B, B/s, bit/s, FLOP/s or none)",
            text, text + length);
    double value = number_value(text) * prefix * factor;
    if (!isfinite(value))
        return yoke_fail(YOKE_ERR_BAD_INPUT, "quantity \"%s\": too large", text);
    *out_value = value;
    return YOKE_OK;
}

/* Three significant digits, which is what the inputs of a plan are good for. */
static void show(double value, const char *prefix, const char *unit, char buffer[32])
{
    double size = fabs(value);
    int decimals = size < 9.995 ? 2 : size < 99.95 ? 1 : 0;
    if (size == 0)
        decimals = 0;
    if (size < 1e7)
        yoke_snprintf(buffer, 32, "%.*f %s%s", decimals, value, prefix, unit);
    else
        yoke_snprintf(buffer, 32, "%.0e %s%s", value, prefix, unit);
}

/* Divides by `step` until the rounded value has at most three digits before the point. */
static size_t scale(double *value, double step, double limit, size_t prefixes)
{
    size_t prefix = 0;
    while (prefix + 1 < prefixes && fabs(*value) >= limit) {
        *value /= step;
        prefix++;
    }
    return prefix;
}

static char *show_unknown(char buffer[32])
{
    snprintf(buffer, 32, "unknown");
    return buffer;
}

char *yoke_show_bytes(double bytes, char buffer[32])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (!isfinite(bytes))
        return show_unknown(buffer);
    size_t unit = scale(&bytes, 1024.0, 1023.5, sizeof units / sizeof *units);
    if (unit == 0)
        snprintf(buffer, 32, "%.0f B", bytes);
    else
        show(bytes, "", units[unit], buffer);
    return buffer;
}

char *yoke_show_rate(double per_second, const char *unit, char buffer[32])
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    if (!isfinite(per_second))
        return show_unknown(buffer);
    size_t prefix = scale(&per_second, 1e3, 999.5, sizeof prefixes / sizeof *prefixes);
    show(per_second, prefixes[prefix], unit, buffer);
    return buffer;
}

char *yoke_show_seconds(double seconds, char buffer[32])
{
    double size = fabs(seconds);
    if (!isfinite(seconds))
        return show_unknown(buffer);
    if (size >= 48 * 3600.0)
        show(seconds / (24 * 3600.0), "", "d", buffer);
    else if (size >= 2 * 3600.0)
        show(seconds / 3600.0, "", "h", buffer);
    else if (size >= 120.0)
        show(seconds / 60.0, "", "min", buffer);
    else if (size >= 0.9995 || size == 0)
        show(seconds, "", "s", buffer);
    else if (size >= 0.9995e-3)
        show(seconds * 1e3, "", "ms", buffer);
    else if (size >= 0.9995e-6)
        show(seconds * 1e6, "", "us", buffer);
    else
        show(seconds * 1e9, "", "ns", buffer);
    return buffer;
}

char *yoke_show_count(uint64_t count, char buffer[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)count);
    size_t out = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer[out++] = ',';
        buffer[out++] = digits[i];
    }
    buffer[out] = '\0';
    return buffer;
}
