/* SPDX-License-Identifier: Apache-2.0 */
/* Words of a launch script: quotes, escapes and what dollars stand for. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "partition/launch_parts.h"

#define MOST_DEPTH 8

void yoke_launch_fail(yoke_launch_reader_t *reader, const char *what)
{
    if (reader->status == YOKE_OK)
        reader->status =
            yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%u: %s", reader->name, reader->line, what);
    reader->at = reader->end;
}

void yoke_launch_words_free(yoke_launch_words_t *words)
{
    yoke_strings_free(&words->list);
    free(words->lines);
    memset(words, 0, sizeof *words);
}

void yoke_launch_push(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                      yoke_launch_word_t *word)
{
    if (word->present && reader->status == YOKE_OK) {
        unsigned *grown =
            words->list.count >= YOKE_LAUNCH_MOST_WORDS
                ? NULL
                : realloc(words->lines, (words->list.count + 1) * sizeof *words->lines);
        if (words->list.count >= YOKE_LAUNCH_MOST_WORDS)
            yoke_launch_fail(reader, "more words than a launch script has");
        else if (grown == NULL || word->text.failed)
            reader->status = yoke_fail_memory();
        if (grown != NULL) {
            words->lines = grown;
            grown[words->list.count] = word->line != 0 ? word->line : reader->line;
        }
        if (reader->status == YOKE_OK)
            reader->status = yoke_strings_add(&words->list, yoke_text_get(&word->text));
    }
    yoke_text_free(&word->text);
    word->present = false;
    word->line = 0;
}

static void add(yoke_launch_reader_t *reader, yoke_launch_word_t *word, const char *bytes,
                size_t size)
{
    reader->bytes += size;
    if (reader->bytes > YOKE_LAUNCH_MOST_BYTES) {
        yoke_launch_fail(reader, "its variables expand to more than 1 MiB");
        return;
    }
    yoke_text_add_bytes(&word->text, bytes, size);
    word->present = true;
}

/* --- variables -----------------------------------------------------------------------
 */

const yoke_launch_variable_t *yoke_launch_find(const yoke_launch_reader_t *reader,
                                               const char *name, size_t size)
{
    for (size_t i = reader->variable_count; i-- > 0;)
        if (strlen(reader->variables[i].name) == size &&
            strncmp(reader->variables[i].name, name, size) == 0)
            return &reader->variables[i];
    return NULL;
}

size_t yoke_launch_name_size(const char *at, const char *end)
{
    size_t size = 0;
    if (at == end || !(isalpha((unsigned char)*at) || *at == '_'))
        return 0;
    while (at + size < end && (isalnum((unsigned char)at[size]) || at[size] == '_'))
        size++;
    return size;
}

/* Text of an unquoted expansion: blanks part words. */
static void add_split(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                      yoke_launch_word_t *word, const char *text)
{
    for (; *text != '\0'; text++)
        if (isspace((unsigned char)*text) && words != NULL) {
            const unsigned line = word->line;
            yoke_launch_push(reader, words, word);
            word->line = line;
        } else {
            add(reader, word, text, 1);
        }
}

static void add_variable(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                         yoke_launch_word_t *word, const yoke_launch_variable_t *variable,
                         bool quoted)
{
    word->present = word->present || quoted;
    for (size_t i = 0; i < variable->words.count; i++) {
        const char *text = variable->words.items[i];
        if (i > 0 && words != NULL)
            yoke_launch_push(reader, words, word);
        else if (i > 0)
            add(reader, word, " ", 1);
        word->line = variable->lines[i];
        if (quoted || variable->array)
            add(reader, word, text, strlen(text));
        else
            add_split(reader, words, word, text);
    }
}

static void read_text(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                      yoke_launch_word_t *word, bool quoted, unsigned depth);

/* The text between two places, expanded in its turn. */
static void expand(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                   yoke_launch_word_t *word, const char *from, const char *to,
                   bool quoted, unsigned depth)
{
    if (depth > MOST_DEPTH) {
        yoke_launch_fail(reader, "${...} is nested too deep");
        return;
    }
    const char *at = reader->at, *end = reader->end;
    reader->at = from;
    reader->end = to;
    while (reader->at < reader->end)
        read_text(reader, words, word, quoted, depth + 1);
    if (reader->status == YOKE_OK)
        reader->at = at;
    reader->end = end;
    if (reader->status != YOKE_OK)
        reader->at = end;
}

/* The bracket that closes the one at `open`, or NULL. */
static const char *closing(const char *open, const char *end)
{
    const char close = *open == '(' ? ')' : '}';
    unsigned depth = 0;
    for (const char *at = open; at < end; at++) {
        depth += *at == *open;
        if (*at == close && --depth == 0)
            return at;
    }
    return NULL;
}

/* "$((...))"; false: not known, stays as it is. */
static bool add_sum(yoke_launch_reader_t *reader, yoke_launch_word_t *word,
                    const char *begin, const char *end)
{
    int64_t value = 0;
    char text[32];
    if (!yoke_launch_sum(reader, begin, end, &value))
        return false;
    yoke_snprintf(text, sizeof text, "%lld", (long long)value);
    add(reader, word, text, strlen(text));
    return true;
}

/* --- dollars -------------------------------------------------------------------------
 */

/* "${NAME}", "${NAME[@]}", "${NAME:-default}"; the rest stays as it is. */
static void read_braces(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                        yoke_launch_word_t *word, bool quoted, unsigned depth)
{
    const char *begin = reader->at, *close = closing(begin + 1, reader->end);
    if (close == NULL) {
        yoke_launch_fail(reader, "${ is not closed");
        return;
    }
    const char *name = begin + 2;
    size_t size = yoke_launch_name_size(name, close);
    const char *rest = name + size;
    const yoke_launch_variable_t *variable = yoke_launch_find(reader, name, size);
    bool otherwise = rest < close && (*rest == '-' || (*rest == ':' && rest[1] == '-'));
    bool whole = rest == close || (close - rest == 3 && (memcmp(rest, "[@]", 3) == 0 ||
                                                         memcmp(rest, "[*]", 3) == 0));
    reader->at = close + 1;
    if (variable != NULL && (whole || otherwise))
        add_variable(reader, words, word, variable, quoted);
    else if (otherwise)
        expand(reader, words, word, rest + (*rest == ':' ? 2 : 1), close, quoted, depth);
    else
        add(reader, word, begin, (size_t)(close + 1 - begin));
}

static void read_dollar(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                        yoke_launch_word_t *word, bool quoted, unsigned depth)
{
    const char *begin = reader->at, *next = begin + 1;
    size_t size = yoke_launch_name_size(next, reader->end);
    const yoke_launch_variable_t *variable =
        size > 0 ? yoke_launch_find(reader, next, size) : NULL;
    if (next < reader->end && *next == '{') {
        read_braces(reader, words, word, quoted, depth);
    } else if (next < reader->end && *next == '(') {
        const char *close = closing(next, reader->end);
        if (close == NULL) {
            yoke_launch_fail(reader, "$( is not closed");
            return;
        }
        reader->at = close + 1;
        bool sum = next[1] == '(' && close[-1] == ')' && close - next >= 4;
        if (!sum || !add_sum(reader, word, next + 2, close - 1))
            add(reader, word, begin, (size_t)(close + 1 - begin));
    } else if (next < reader->end && (*next == '@' || *next == '*')) {
        reader->at = next + 1; /* arguments of the script: none are known */
    } else if (variable != NULL) {
        reader->at = next + size;
        add_variable(reader, words, word, variable, quoted);
    } else {
        reader->at = next + size;
        add(reader, word, begin, 1 + size);
    }
}

/* One character, expansion or escape of a word. */
static void read_text(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                      yoke_launch_word_t *word, bool quoted, unsigned depth)
{
    const char *at = reader->at;
    if (*at == '$') {
        read_dollar(reader, words, word, quoted, depth);
        return;
    }
    if (*at == '\\' && at + 1 < reader->end) {
        bool crlf = at[1] == '\r' && at + 2 < reader->end && at[2] == '\n';
        reader->at += crlf ? 3 : 2;
        if (at[1] == '\n' || crlf)
            reader->line++;
        else if (quoted && strchr("\\\"$`", at[1]) == NULL)
            add(reader, word, at, 2);
        else
            add(reader, word, at + 1, 1);
        return;
    }
    reader->line += *at == '\n';
    add(reader, word, at, 1);
    reader->at++;
}

static void read_quoted(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                        yoke_launch_word_t *word, bool split)
{
    if (reader->end - reader->at >= 4 &&
        (memcmp(reader->at, "\"$@\"", 4) == 0 || memcmp(reader->at, "\"$*\"", 4) == 0)) {
        reader->at += 4; /* arguments of the script: none are known */
        return;
    }
    const char quote = *reader->at++;
    word->present = true;
    while (reader->at < reader->end && *reader->at != quote) {
        if (quote == '"') {
            read_text(reader, split ? words : NULL, word, true, 0);
        } else {
            reader->line += *reader->at == '\n';
            add(reader, word, reader->at++, 1);
        }
    }
    if (reader->at == reader->end)
        yoke_launch_fail(reader, "a quote is not closed");
    else
        reader->at++;
}

bool yoke_launch_ends_word(char c)
{
    return strchr(" \t\r\n;&|()<>", c) != NULL;
}

/* A word; `words` NULL: an assignment's value, which is not split. */
void yoke_launch_word(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                      yoke_launch_word_t *word)
{
    while (reader->at < reader->end && !yoke_launch_ends_word(*reader->at)) {
        if (*reader->at == '\'' || *reader->at == '"')
            read_quoted(reader, words, word, words != NULL);
        else
            read_text(reader, words, word, false, 0);
    }
}
