/* SPDX-License-Identifier: Apache-2.0 */
/* A launch script read word by word, with its simple assignments. Nothing is run. */
#include "partition/launch_script.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"

#define MOST_WORDS 20000
#define MOST_BYTES (1u << 20)
#define MOST_DEPTH 8

typedef struct variable {
    char *name;
    yoke_strings_t words; /* one, but for an array */
    unsigned *lines;      /* where each stands */
    bool array;
} variable_t;

typedef struct words {
    yoke_strings_t list;
    unsigned *lines;
} words_t;

typedef struct reader {
    const char *name, *at, *end;
    unsigned line;
    variable_t *variables;
    size_t variable_count;
    size_t bytes; /* made by expansion, so far */
    words_t best; /* the longest command with a .py */
    size_t best_program;
    unsigned best_line;
    yoke_status_t status;
} reader_t;

/* The word being read; `present` also when it is empty but quoted. */
typedef struct word {
    yoke_text_t text;
    bool present;
    unsigned line; /* of a variable's word; 0: where the reader is */
} word_t;

static void fail(reader_t *reader, const char *what)
{
    if (reader->status == YOKE_OK)
        reader->status =
            yoke_fail(YOKE_ERR_BAD_INPUT, "%s:%u: %s", reader->name, reader->line, what);
    reader->at = reader->end;
}

static void words_free(words_t *words)
{
    yoke_strings_free(&words->list);
    free(words->lines);
    memset(words, 0, sizeof *words);
}

static void push(reader_t *reader, words_t *words, word_t *word)
{
    if (word->present && reader->status == YOKE_OK) {
        unsigned *grown =
            words->list.count >= MOST_WORDS
                ? NULL
                : realloc(words->lines, (words->list.count + 1) * sizeof *words->lines);
        if (words->list.count >= MOST_WORDS)
            fail(reader, "more words than a launch script has");
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

static void add(reader_t *reader, word_t *word, const char *bytes, size_t size)
{
    reader->bytes += size;
    if (reader->bytes > MOST_BYTES) {
        fail(reader, "its variables expand to more than 1 MiB");
        return;
    }
    yoke_text_add_bytes(&word->text, bytes, size);
    word->present = true;
}

/* --- variables -----------------------------------------------------------------------
 */

static const variable_t *find(const reader_t *reader, const char *name, size_t size)
{
    for (size_t i = reader->variable_count; i-- > 0;)
        if (strlen(reader->variables[i].name) == size &&
            strncmp(reader->variables[i].name, name, size) == 0)
            return &reader->variables[i];
    return NULL;
}

static size_t name_size(const char *at, const char *end)
{
    size_t size = 0;
    if (at == end || !(isalpha((unsigned char)*at) || *at == '_'))
        return 0;
    while (at + size < end && (isalnum((unsigned char)at[size]) || at[size] == '_'))
        size++;
    return size;
}

/* Text of an unquoted expansion: blanks part words. */
static void add_split(reader_t *reader, words_t *words, word_t *word, const char *text)
{
    for (; *text != '\0'; text++)
        if (isspace((unsigned char)*text) && words != NULL) {
            const unsigned line = word->line;
            push(reader, words, word);
            word->line = line;
        } else {
            add(reader, word, text, 1);
        }
}

static void add_variable(reader_t *reader, words_t *words, word_t *word,
                         const variable_t *variable, bool quoted)
{
    word->present = word->present || quoted;
    for (size_t i = 0; i < variable->words.count; i++) {
        const char *text = variable->words.items[i];
        if (i > 0 && words != NULL)
            push(reader, words, word);
        else if (i > 0)
            add(reader, word, " ", 1);
        word->line = variable->lines[i];
        if (quoted || variable->array)
            add(reader, word, text, strlen(text));
        else
            add_split(reader, words, word, text);
    }
}

static void read_text(reader_t *reader, words_t *words, word_t *word, bool quoted,
                      unsigned depth);

/* The text between two places, expanded in its turn. */
static void expand(reader_t *reader, words_t *words, word_t *word, const char *from,
                   const char *to, bool quoted, unsigned depth)
{
    if (depth > MOST_DEPTH) {
        fail(reader, "${...} is nested too deep");
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

/* --- sums ----------------------------------------------------------------------------
 */

typedef struct sum {
    const char *at, *end;
    const reader_t *reader;
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
    size_t size = name_size(sum->at, sum->end), digits = 0;
    const variable_t *variable = size > 0 ? find(sum->reader, sum->at, size) : NULL;
    while (sum->at + digits < sum->end && isdigit((unsigned char)sum->at[digits]))
        digits++;
    const char *text = variable != NULL && variable->words.count == 1
                           ? variable->words.items[0]
                           : sum->at;
    size_t length = variable != NULL ? strlen(text) : digits;
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

/* "$((...))" at `dollar`; false: not known, stays as it is. */
static bool add_sum(reader_t *reader, word_t *word, const char *begin, const char *end)
{
    sum_t sum = {begin, end, reader, false, 0};
    int64_t value = sum_terms(&sum);
    sum_blanks(&sum);
    if (sum.unknown || sum.at != end)
        return false;
    char text[32];
    yoke_snprintf(text, sizeof text, "%lld", (long long)value);
    add(reader, word, text, strlen(text));
    return true;
}

/* --- dollars -------------------------------------------------------------------------
 */

/* "${NAME}", "${NAME[@]}", "${NAME:-default}"; the rest stays as it is. */
static void read_braces(reader_t *reader, words_t *words, word_t *word, bool quoted,
                        unsigned depth)
{
    const char *begin = reader->at, *close = closing(begin + 1, reader->end);
    if (close == NULL) {
        fail(reader, "${ is not closed");
        return;
    }
    const char *name = begin + 2;
    size_t size = name_size(name, close);
    const char *rest = name + size;
    const variable_t *variable = find(reader, name, size);
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

static void read_dollar(reader_t *reader, words_t *words, word_t *word, bool quoted,
                        unsigned depth)
{
    const char *begin = reader->at, *next = begin + 1;
    size_t size = name_size(next, reader->end);
    const variable_t *variable = size > 0 ? find(reader, next, size) : NULL;
    if (next < reader->end && *next == '{') {
        read_braces(reader, words, word, quoted, depth);
    } else if (next < reader->end && *next == '(') {
        const char *close = closing(next, reader->end);
        if (close == NULL) {
            fail(reader, "$( is not closed");
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
static void read_text(reader_t *reader, words_t *words, word_t *word, bool quoted,
                      unsigned depth)
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

static void read_quoted(reader_t *reader, words_t *words, word_t *word, bool split)
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
        fail(reader, "a quote is not closed");
    else
        reader->at++;
}

static bool ends_word(char c)
{
    return isspace((unsigned char)c) || strchr(";&|()<>", c) != NULL;
}

/* A word; `words` NULL: an assignment's value, which is not split. */
static void read_word(reader_t *reader, words_t *words, word_t *word)
{
    while (reader->at < reader->end && !ends_word(*reader->at)) {
        if (*reader->at == '\'' || *reader->at == '"')
            read_quoted(reader, words, word, words != NULL);
        else
            read_text(reader, words, word, false, 0);
    }
}

/* --- statements ----------------------------------------------------------------------
 */

/* Blanks and continued lines; with `lines` also line ends and comments. */
static void skip(reader_t *reader, bool lines)
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

static variable_t *set_variable(reader_t *reader, const char *name, size_t size)
{
    variable_t *known = (variable_t *)find(reader, name, size);
    if (known != NULL)
        return known;
    variable_t *grown =
        realloc(reader->variables, (reader->variable_count + 1) * sizeof *grown);
    char *copy = yoke_strndup(name, size);
    if (grown != NULL)
        reader->variables = grown;
    if (grown == NULL || copy == NULL) {
        free(copy);
        reader->status = yoke_fail_memory();
        return NULL;
    }
    grown[reader->variable_count] = (variable_t){.name = copy};
    return &grown[reader->variable_count++];
}

static void read_array(reader_t *reader, words_t *words)
{
    reader->at++;
    for (skip(reader, true); reader->at < reader->end && *reader->at != ')';
         skip(reader, true)) {
        word_t word = {0};
        if (ends_word(*reader->at)) {
            fail(reader, "an array holds something that is no word");
            break;
        }
        read_word(reader, words, &word);
        push(reader, words, &word);
    }
    if (reader->at == reader->end)
        fail(reader, "an array is not closed");
    else
        reader->at++;
}

/* A variable's words, with their lines. */
static void append_words(reader_t *reader, variable_t *variable, const words_t *more)
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
    if (count > MOST_WORDS)
        fail(reader, "more words than a launch script has");
}

/* "+=" on a string. */
static void append_text(reader_t *reader, variable_t *variable, const char *text)
{
    char *joined = yoke_format("%s%s", variable->words.items[0], text);
    reader->bytes += strlen(text) + strlen(variable->words.items[0]);
    if (joined == NULL) {
        reader->status = yoke_fail_memory();
        return;
    }
    free(variable->words.items[0]);
    variable->words.items[0] = joined;
    if (reader->bytes > MOST_BYTES)
        fail(reader, "its variables expand to more than 1 MiB");
}

static void assign(reader_t *reader, variable_t *variable, const words_t *value,
                   bool array, bool more)
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
static bool read_assignment(reader_t *reader)
{
    const char *name = reader->at;
    size_t size = name_size(name, reader->end);
    const char *sign = name + size;
    bool more = sign + 1 < reader->end && sign[0] == '+' && sign[1] == '=';
    if (size == 0 || sign == reader->end || (*sign != '=' && !more))
        return false;
    words_t value = {0};
    word_t word = {0};
    reader->at = sign + (more ? 2 : 1);
    bool array = reader->at < reader->end && *reader->at == '(';
    if (array) {
        read_array(reader, &value);
    } else {
        word.present = true;
        word.line = reader->line;
        read_word(reader, NULL, &word);
        push(reader, &value, &word);
    }
    variable_t *variable =
        reader->status == YOKE_OK ? set_variable(reader, name, size) : NULL;
    if (variable != NULL)
        assign(reader, variable, &value, array, more);
    words_free(&value);
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

static void keep_command(reader_t *reader, words_t *words, unsigned line)
{
    size_t program = 0;
    while (program < words->list.count && !is_program(words->list.items[program]))
        program++;
    if (program == words->list.count || words->list.count < reader->best.list.count) {
        words_free(words);
        return;
    }
    words_free(&reader->best);
    reader->best = *words;
    reader->best_program = program;
    reader->best_line = line;
    memset(words, 0, sizeof *words);
}

static void read_command(reader_t *reader)
{
    words_t words = {0};
    const unsigned line = reader->line;
    while (reader->status == YOKE_OK) {
        skip(reader, false);
        if (reader->at == reader->end || *reader->at == '\n' ||
            strchr(";&|()", *reader->at) != NULL)
            break;
        word_t word = {0};
        if (*reader->at == '<' || *reader->at == '>') { /* and the file behind it */
            while (reader->at < reader->end && strchr("<>&", *reader->at) != NULL)
                reader->at++;
            skip(reader, false);
            read_word(reader, NULL, &word);
            yoke_text_free(&word.text);
            continue;
        }
        read_word(reader, &words, &word);
        const char *text = yoke_text_get(&word.text);
        if (reader->at < reader->end && strchr("<>", *reader->at) != NULL &&
            strspn(text, "0123456789") == strlen(text)) { /* "2>&1" */
            yoke_text_free(&word.text);
            continue;
        }
        push(reader, &words, &word);
        if (words.list.count == 1 && is_keyword(words.list.items[0])) {
            words_free(&words);
            return;
        }
    }
    if (reader->status == YOKE_OK)
        keep_command(reader, &words, line);
    words_free(&words);
}

static void read_script(reader_t *reader)
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

static yoke_status_t take(reader_t *reader, yoke_launch_t *out)
{
    yoke_launch_t launch = {.line = reader->best_line};
    const words_t *words = &reader->best;
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
    reader_t reader = {.name = name, .at = data, .end = data + size, .line = 1};
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
    words_free(&reader.best);
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
