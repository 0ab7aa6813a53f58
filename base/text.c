/* SPDX-License-Identifier: Apache-2.0 */
/* Growable text, string lists, and the orders and distances between words. */
#include "base/text.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"

int yoke_vsnprintf(char *buffer, size_t size, const char *format, va_list args)
{
    /* glibc hands out a static object for "C", so this neither allocates nor fails. */
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t previous = uselocale(c_locale);
    int length = vsnprintf(buffer, size, format, args);
    uselocale(previous);
    if (c_locale != (locale_t)0)
        freelocale(c_locale);
    return length;
}

int yoke_snprintf(char *buffer, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int length = yoke_vsnprintf(buffer, size, format, args);
    va_end(args);
    return length;
}

static bool reserve(yoke_text_t *text, size_t more)
{
    if (text->failed)
        return false;
    if (more < text->capacity - text->size)
        return true;
    size_t capacity = text->capacity < 64 ? 64 : text->capacity;
    while (capacity - text->size <= more && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    char *data = capacity - text->size > more ? realloc(text->data, capacity) : NULL;
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void yoke_text_add_bytes(yoke_text_t *text, const char *bytes, size_t size)
{
    if (!reserve(text, size))
        return;
    if (size > 0)
        memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void yoke_text_add(yoke_text_t *text, const char *string)
{
    yoke_text_add_bytes(text, string, strlen(string));
}

void yoke_text_vprintf(yoke_text_t *text, const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = yoke_vsnprintf(NULL, 0, format, args);
    if (length < 0)
        text->failed = true;
    else if (reserve(text, (size_t)length)) {
        yoke_vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void yoke_text_printf(yoke_text_t *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    yoke_text_vprintf(text, format, args);
    va_end(args);
}

void yoke_text_free(yoke_text_t *text)
{
    free(text->data);
    *text = (yoke_text_t){0};
}

const char *yoke_text_get(const yoke_text_t *text)
{
    return text->data == NULL ? "" : text->data;
}

char *yoke_strndup(const char *string, size_t size)
{
    size_t length = strnlen(string, size);
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, string, length);
    copy[length] = '\0';
    return copy;
}

char *yoke_strdup(const char *string)
{
    return yoke_strndup(string, SIZE_MAX - 1);
}

char *yoke_format(const char *format, ...)
{
    yoke_text_t text = {0};
    va_list args;
    va_start(args, format);
    yoke_text_vprintf(&text, format, args);
    va_end(args);
    if (text.failed)
        yoke_text_free(&text);
    return text.data;
}

static bool strings_reserve(yoke_strings_t *list)
{
    if (list->count < list->capacity)
        return true;
    size_t capacity = list->capacity == 0 ? 16 : list->capacity * 2;
    char **items = realloc(list->items, capacity * sizeof *items);
    if (items == NULL)
        return false;
    list->items = items;
    list->capacity = capacity;
    return true;
}

yoke_status_t yoke_strings_add(yoke_strings_t *list, const char *string)
{
    char *copy = yoke_strdup(string);
    if (copy == NULL || !strings_reserve(list)) {
        free(copy);
        return yoke_fail_memory();
    }
    list->items[list->count++] = copy;
    return YOKE_OK;
}

void yoke_strings_free(yoke_strings_t *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->items[i]);
    free(list->items);
    *list = (yoke_strings_t){0};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_zeros(const char *at)
{
    while (*at == '0')
        at++;
    return at;
}

static size_t digit_count(const char *at)
{
    size_t count = 0;
    while (is_digit(at[count]))
        count++;
    return count;
}

/* Compares two runs of digits of any length by value and steps over both. */
static int compare_numbers(const char **a, const char **b)
{
    const char *x = skip_zeros(*a);
    const char *y = skip_zeros(*b);
    size_t x_count = digit_count(x);
    size_t y_count = digit_count(y);
    *a = x + x_count;
    *b = y + y_count;
    if (x_count != y_count)
        return x_count < y_count ? -1 : 1;
    return memcmp(x, y, x_count);
}

int yoke_natural_compare(const char *a, const char *b)
{
    const char *x = a;
    const char *y = b;
    while (*x != '\0' && *y != '\0') {
        int order = 0;
        if (is_digit(*x) && is_digit(*y))
            order = compare_numbers(&x, &y);
        else
            order = (int)(unsigned char)*x++ - (int)(unsigned char)*y++;
        if (order != 0)
            return order;
    }
    if (*x != *y)
        return *x == '\0' ? -1 : 1;
    /* Same values ("n1", "n01"): the spelling decides, so that the order is total. */
    return strcmp(a, b);
}

#define NEAREST_LENGTH 63

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

/* Edit distance in which swapping two neighbours is one edit: the usual slip of typing.
 */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t rows[3][NEAREST_LENGTH + 2];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3];
        const size_t *last = rows[(i + 2) % 3];
        const size_t *before = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t change = lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1;
            now[j] = smallest(last[j] + 1, now[j - 1] + 1, last[j - 1] + change);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]) && before[j - 2] + 1 < now[j])
                now[j] = before[j - 2] + 1;
        }
    }
    return rows[a_length % 3][b_length];
}

const char *yoke_nearest(const char *word, const char *const *candidates)
{
    size_t length = strlen(word);
    /* More than a third of the letters wrong is another word, not a slip. */
    size_t best = length / 3 + 2;
    const char *nearest = NULL;
    if (length == 0 || length > NEAREST_LENGTH)
        return NULL;
    for (; *candidates != NULL; candidates++) {
        size_t other = strlen(*candidates);
        if (other > NEAREST_LENGTH)
            continue;
        size_t edits = distance(word, length, *candidates, other);
        if (edits < best && edits < length) {
            best = edits;
            nearest = *candidates;
        }
    }
    return nearest;
}
