/* SPDX-License-Identifier: Apache-2.0 */
/* A launch script read word by word, with its simple assignments. Nothing is run. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "partition/launch_parts.h"

/* --- statements ----------------------------------------------------------------------
 */

/* Blanks and continued lines; with `lines` also line ends and comments. */
static void skip(yoke_launch_reader_t *reader, bool lines)
{
    while (reader->at < reader->end) {
        const char *at = reader->at;
        if (*at == '\\' && at + 1 < reader->end && at[1] == '\n') {
            reader->at += 2;
            reader->line++;
        } else if (*at == '\\' && at + 2 < reader->end && at[1] == '\r' &&
                   at[2] == '\n') {
            reader->at += 3;
            reader->line++;
        } else if (*at == '#') {
            while (reader->at < reader->end && *reader->at != '\n')
                reader->at++;
        } else if (*at == ' ' || *at == '\t' || *at == '\r') {
            reader->at++;
        } else if (lines && *at == '\n') {
            reader->at++;
            reader->line++;
        } else {
            return;
        }
    }
}

static yoke_launch_variable_t *set_variable(yoke_launch_reader_t *reader,
                                            const char *name, size_t size)
{
    yoke_launch_variable_t *known =
        (yoke_launch_variable_t *)yoke_launch_find(reader, name, size);
    if (known != NULL)
        return known;
    yoke_launch_variable_t *grown =
        realloc(reader->variables, (reader->variable_count + 1) * sizeof *grown);
    char *copy = yoke_strndup(name, size);
    if (grown != NULL)
        reader->variables = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        reader->status = yoke_fail_memory();
        return NULL;
    }
    grown[reader->variable_count] = (yoke_launch_variable_t){.name = copy};
    return &grown[reader->variable_count++];
}

static void read_array(yoke_launch_reader_t *reader, yoke_launch_words_t *words)
{
    reader->at++;
    for (skip(reader, true); reader->at < reader->end && *reader->at != ')';
         skip(reader, true)) {
        yoke_launch_word_t word = {0};
        if (yoke_launch_ends_word(*reader->at)) {
            yoke_launch_fail(reader, "an array holds something that is no word");
            break;
        }
        yoke_launch_word(reader, words, &word);
        yoke_launch_push(reader, words, &word);
    }
    if (reader->at == reader->end)
        yoke_launch_fail(reader, "an array is not closed");
    else
        reader->at++;
}

/* A variable's words, with their lines. */
static void append_words(yoke_launch_reader_t *reader, yoke_launch_variable_t *variable,
                         const yoke_launch_words_t *more)
{
    size_t count = variable->words.count + more->list.count;
    unsigned *grown = realloc(variable->lines, (count + 1) * sizeof *grown);
    if (grown == NULL) {
        reader->status = yoke_fail_memory();
        return;
    }
    variable->lines = grown;
    for (size_t i = 0; i < more->list.count && reader->status == YOKE_OK; i++) {
        grown[variable->words.count] = more->lines[i];
        reader->status = yoke_strings_add(&variable->words, more->list.items[i]);
    }
    if (count > YOKE_LAUNCH_MOST_WORDS)
        yoke_launch_fail(reader, "more words than a launch script has");
}

/* "+=" on a string. */
static void append_text(yoke_launch_reader_t *reader, yoke_launch_variable_t *variable,
                        const char *text)
{
    char *joined = yoke_format("%s%s", variable->words.items[0], text);
    reader->bytes += strlen(text) + strlen(variable->words.items[0]);
    if (joined == NULL) {
        reader->status = yoke_fail_memory();
        return;
    }
    free(variable->words.items[0]);
    variable->words.items[0] = joined;
    if (reader->bytes > YOKE_LAUNCH_MOST_BYTES)
        yoke_launch_fail(reader, "its variables expand to more than 1 MiB");
}

static void assign(yoke_launch_reader_t *reader, yoke_launch_variable_t *variable,
                   const yoke_launch_words_t *value, bool array, bool more)
{
    if (more && !array && variable->words.count == 1 && value->list.count == 1) {
        append_text(reader, variable, value->list.items[0]);
        return;
    }
    if (!more)
        yoke_strings_free(&variable->words);
    variable->array = array;
    append_words(reader, variable, value);
}

/* NAME=value, NAME+=value, NAME=( ... ); false: no assignment stands here. */
static bool read_assignment(yoke_launch_reader_t *reader)
{
    const char *name = reader->at;
    size_t size = yoke_launch_name_size(name, reader->end);
    const char *sign = name + size;
    bool more = sign + 1 < reader->end && sign[0] == '+' && sign[1] == '=';
    if (size == 0 || sign == reader->end || (*sign != '=' && !more))
        return false;
    yoke_launch_words_t value = {0};
    yoke_launch_word_t word = {0};
    reader->at = sign + (more ? 2 : 1);
    bool array = reader->at < reader->end && *reader->at == '(';
    if (array) {
        read_array(reader, &value);
    } else {
        word.present = true;
        word.line = reader->line;
        yoke_launch_word(reader, NULL, &word);
        yoke_launch_push(reader, &value, &word);
    }
    yoke_launch_variable_t *variable =
        reader->status == YOKE_OK ? set_variable(reader, name, size) : NULL;
    if (variable != NULL)
        assign(reader, variable, &value, array, more);
    yoke_launch_words_free(&value);
    return true;
}

/* Words after which another command begins. */
static bool is_keyword(const char *word)
{
    static const char *const words[] = {
        "export", "declare", "local", "readonly", "typeset", "then", "else", "do",
        "if",     "elif",    "while", "{",        "-a",      "-x",   "time", NULL};
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

static bool is_program(const char *word)
{
    size_t size = strlen(word);
    return size > 3 && strcmp(word + size - 3, ".py") == 0;
}

static void keep_command(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                         unsigned line)
{
    size_t program = 0;
    while (program < words->list.count && !is_program(words->list.items[program]))
        program++;
    if (program == words->list.count || words->list.count < reader->best.list.count) {
        yoke_launch_words_free(words);
        return;
    }
    yoke_launch_words_free(&reader->best);
    reader->best = *words;
    reader->best_program = program;
    reader->best_line = line;
    memset(words, 0, sizeof *words);
}

static void read_command(yoke_launch_reader_t *reader)
{
    yoke_launch_words_t words = {0};
    const unsigned line = reader->line;
    while (reader->status == YOKE_OK) {
        skip(reader, false);
        if (reader->at == reader->end || *reader->at == '\n' ||
            strchr(";&|()", *reader->at) != NULL)
            break;
        yoke_launch_word_t word = {0};
        if (*reader->at == '<' || *reader->at == '>') { /* and the file behind it */
            while (reader->at < reader->end && strchr("<>&", *reader->at) != NULL)
                reader->at++;
            skip(reader, false);
            yoke_launch_word(reader, NULL, &word);
            yoke_text_free(&word.text);
            continue;
        }
        yoke_launch_word(reader, &words, &word);
        const char *text = yoke_text_get(&word.text);
        if (reader->at < reader->end && strchr("<>", *reader->at) != NULL &&
            strspn(text, "0123456789") == strlen(text)) { /* "2>&1" */
            yoke_text_free(&word.text);
            continue;
        }
        yoke_launch_push(reader, &words, &word);
        if (words.list.count == 1 && is_keyword(words.list.items[0])) {
            yoke_launch_words_free(&words);
            return;
        }
    }
    if (reader->status == YOKE_OK)
        keep_command(reader, &words, line);
    yoke_launch_words_free(&words);
}

static void read_script(yoke_launch_reader_t *reader)
{
    while (reader->status == YOKE_OK) {
        skip(reader, true);
        if (reader->at == reader->end)
            return;
        if (strchr(";&|()", *reader->at) != NULL)
            reader->at++;
        else if (!read_assignment(reader))
            read_command(reader);
    }
}

/* --- public --------------------------------------------------------------------------
 */

static yoke_status_t take(yoke_launch_reader_t *reader, yoke_launch_t *out)
{
    yoke_launch_t launch = {.line = reader->best_line};
    const yoke_launch_words_t *words = &reader->best;
    if (words->list.count == 0)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s:%u: no command with a Python program (a word that ends in "
                         ".py) was found up to the end",
                         reader->name, reader->line);
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < reader->best_program && status == YOKE_OK; i++)
        status = yoke_strings_add(&launch.launcher, words->list.items[i]);
    for (size_t i = reader->best_program + 1; i < words->list.count && status == YOKE_OK;
         i++)
        status = yoke_strings_add(&launch.words, words->list.items[i]);
    launch.program = yoke_strdup(words->list.items[reader->best_program]);
    launch.lines = calloc(words->list.count + 1, sizeof *launch.lines);
    if (launch.program == NULL || launch.lines == NULL)
        status = yoke_fail_memory();
    for (size_t i = 0; status == YOKE_OK && i < launch.words.count; i++)
        launch.lines[i] = words->lines[reader->best_program + 1 + i];
    if (status == YOKE_OK)
        *out = launch;
    else
        yoke_launch_free(&launch);
    return status;
}

yoke_status_t yoke_launch_parse(const char *name, const char *data, size_t size,
                                yoke_launch_t *out_launch)
{
    const char *zero = memchr(data, '\0', size);
    yoke_launch_reader_t reader = {
        .name = name, .at = data, .end = data + size, .line = 1};
    if (zero != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "%s: holds a zero byte: no script", name);
    read_script(&reader);
    yoke_status_t status =
        reader.status == YOKE_OK ? take(&reader, out_launch) : reader.status;
    for (size_t i = 0; i < reader.variable_count; i++) {
        free(reader.variables[i].name);
        free(reader.variables[i].lines);
        yoke_strings_free(&reader.variables[i].words);
    }
    free(reader.variables);
    yoke_launch_words_free(&reader.best);
    return status;
}

yoke_status_t yoke_launch_read(const char *path, yoke_launch_t *out_launch)
{
    char *data = NULL;
    size_t size = 0;
    yoke_status_t status = yoke_file_read(path, 1u << 20, &data, &size);
    if (status == YOKE_OK)
        status = yoke_launch_parse(path, data, size, out_launch);
    free(data);
    return status;
}

void yoke_launch_free(yoke_launch_t *launch)
{
    free(launch->program);
    free(launch->lines);
    yoke_strings_free(&launch->launcher);
    yoke_strings_free(&launch->words);
    memset(launch, 0, sizeof *launch);
}

/* "--option value", "--option=value" and flags; the last one counts. */
const char *yoke_launch_value(const yoke_launch_t *launch, const char *option,
                              unsigned *out_line)
{
    const char *value = NULL;
    size_t size = strlen(option);
    for (size_t i = 0; i < launch->words.count; i++) {
        const char *word = launch->words.items[i];
        if (strncmp(word, option, size) != 0 || (word[size] != '\0' && word[size] != '='))
            continue;
        bool next = i + 1 < launch->words.count &&
                    strncmp(launch->words.items[i + 1], "--", 2) != 0;
        value = word[size] == '=' ? word + size + 1
                : next            ? launch->words.items[i + 1]
                                  : "";
        if (out_line != NULL)
            *out_line = launch->lines[i];
    }
    return value;
}
