/* SPDX-License-Identifier: Apache-2.0 */
#include "scan.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Next whole word `word` in `text`, outside of strings. */
static char *find_word(char *text, const char *word)
{
    size_t length = strlen(word);
    char before = ' ';
    for (char *at = text; *at != '\0'; before = *at++) {
        if (*at == '"') {
            for (at++; *at != '\0' && *at != '"' && *at != '\n'; at++)
                if (*at == '\\' && at[1] != '\0')
                    at++;
            if (*at == '\0')
                return NULL;
        } else if (!is_word(before) && strncmp(at, word, length) == 0 &&
                   !is_word(at[length])) {
            return at;
        }
    }
    return NULL;
}

/* The identifier that ends just before `end`, spaces between aside. */
static char *word_before(const char *start, const char *end)
{
    while (end > start && isspace((unsigned char)end[-1]))
        end--;
    const char *first = end;
    while (first > start && is_word(first[-1]))
        first--;
    return first < end ? strndup(first, (size_t)(end - first)) : NULL;
}

static bool keep_name(char **names, size_t *count, char *name)
{
    if (name == NULL)
        return true;
    for (size_t i = 0; i < *count; i++) {
        if (strcmp(names[i], name) == 0) {
            free(name);
            return true;
        }
    }
    if (*count == FAKE_SCAN_NAMES) {
        free(name);
        return false;
    }
    names[(*count)++] = name;
    return true;
}

/* A template is no kernel by itself. */
static bool is_template(const char *start, const char *at)
{
    const char *begin = at;
    while (begin > start && strchr(";{}", begin[-1]) == NULL)
        begin--;
    for (; begin < at; begin++)
        if (strncmp(begin, "template", 8) == 0)
            return true;
    return false;
}

static bool scan_kernels(char *text, fake_scan_t *out)
{
    for (char *at = text; (at = find_word(at, "__global__")) != NULL;) {
        memset(at, ' ', strlen("__global__"));
        char *open = strchr(at, '(');
        for (char *attribute;
             open != NULL && (attribute = word_before(at, open)) != NULL;) {
            bool skip = strcmp(attribute, "__attribute__") == 0;
            free(attribute);
            if (!skip)
                break;
            int depth = 0;
            do
                depth += *open == '(' ? 1 : *open == ')' ? -1 : 0;
            while (*++open != '\0' && depth > 0);
            open = strchr(open, '(');
        }
        if (open != NULL && !is_template(text, at) &&
            !keep_name(out->kernels, &out->kernel_count, word_before(at, open)))
            return false;
    }
    return true;
}

static bool scan_shared(char *text, fake_scan_t *out)
{
    for (char *at = text; (at = find_word(at, "__shared__")) != NULL;) {
        char *before = word_before(text, at);
        bool dynamic = before != NULL && strcmp(before, "extern") == 0;
        free(before);
        memset(at, ' ', strlen("__shared__"));
        if (!dynamic) {
            memcpy(at, "static", 6);
            continue;
        }
        char *end = strchr(at, ';');
        char *open = end;
        while (open != NULL && open > at && *open != '[')
            open--;
        if (open != NULL && open > at &&
            !keep_name(out->dynamic, &out->dynamic_count, word_before(at, open)))
            return false;
    }
    return true;
}

static bool make_tail(fake_scan_t *out)
{
    size_t size = 0;
    FILE *tail = open_memstream(&out->tail, &size);
    if (tail == NULL)
        return false;
    fprintf(tail,
            "\n# 1 \"kernels\"\nextern \"C\" const fake_entry fake_entries[] = {\n");
    for (size_t i = 0; i < out->kernel_count; i++)
        fprintf(tail, "fake_kernel<decltype(&%s), &%s>::entry(\"%s\"),\n",
                out->kernels[i], out->kernels[i], out->kernels[i]);
    fprintf(tail, "{0, 0, 0, 0, 0, 0}};\n");
    return fclose(tail) == 0;
}

bool fake_scan(char *text, fake_scan_t *out)
{
    return scan_kernels(text, out) && scan_shared(text, out) && make_tail(out);
}

void fake_scan_free(fake_scan_t *scan)
{
    for (size_t i = 0; i < scan->kernel_count; i++)
        free(scan->kernels[i]);
    for (size_t i = 0; i < scan->dynamic_count; i++)
        free(scan->dynamic[i]);
    free(scan->tail);
}
