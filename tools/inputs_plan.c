/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs that a command line leaves out, from the command that made the plan
 * (made_by.command). Only options are read from it, and nothing is run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "base/text.h"
#include "tools/help.h"
#include "tools/inputs.h"

/* --- quoting, both ways
 * ------------------------------------------------------------------ */

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%"

void yoke_quote_word(const char *word, yoke_text_t *out)
{
    if (word[0] != '\0' && strspn(word, PLAIN) == strlen(word)) {
        yoke_text_add(out, word);
        return;
    }
    yoke_text_add(out, "'");
    for (; *word != '\0'; word++)
        if (*word == '\'')
            yoke_text_add(out, "'\\''");
        else
            yoke_text_add_bytes(out, word, 1);
    yoke_text_add(out, "'");
}

/* One word as a shell reads it; returns where it ends. */
static const char *read_word(const char *at, yoke_text_t *out)
{
    char quote = '\0';
    for (; *at != '\0' && (quote != '\0' || strchr(" \t\n", *at) == NULL); at++) {
        bool escapes =
            *at == '\\' && (quote == '\0' || (quote == '"' && strchr("\\\"$`", at[1])));
        if (quote != '\0' ? *at == quote : *at == '\'' || *at == '"')
            quote = quote != '\0' ? '\0' : *at;
        else if (escapes && at[1] != '\0')
            yoke_text_add_bytes(out, ++at, 1);
        else
            yoke_text_add_bytes(out, at, 1);
    }
    return at;
}

static yoke_status_t read_words(const char *command, yoke_strings_t *out_words)
{
    yoke_status_t status = YOKE_OK;
    while (status == YOKE_OK) {
        yoke_text_t word = {0};
        command += strspn(command, " \t\n");
        if (*command == '\0')
            break;
        command = read_word(command, &word);
        status = word.failed ? yoke_fail_memory()
                             : yoke_strings_add(out_words, yoke_text_get(&word));
        yoke_text_free(&word);
    }
    return status;
}

/* --- options of the plan's command
 * ------------------------------------------------------- */

/* Is this word the option: "--model", "--model=X", "-m", "-mX"? Its value, or "" when it
 * is the next word; NULL: it is not. */
static const char *match_option(const char *word, const char *name, char letter)
{
    size_t size = strlen(name);
    if (letter != '\0' && word[0] == '-' && word[1] == letter)
        return word + 2;
    if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, size) != 0)
        return NULL;
    if (word[2 + size] == '=')
        return word + 3 + size;
    return word[2 + size] == '\0' ? word + 2 + size : NULL;
}

/* The nth value that the command gives to an option, or NULL. */
static const char *command_value(const yoke_strings_t *words, const char *name,
                                 char letter, size_t nth)
{
    for (size_t i = 2; i < words->count; i++) {
        const char *value = match_option(words->items[i], name, letter);
        if (value == NULL)
            continue;
        if (value[0] == '\0')
            value = ++i < words->count ? words->items[i] : NULL;
        if (value != NULL && nth-- == 0)
            return value;
    }
    return NULL;
}

/* The last one counts, as on a command line. */
static const char *last_value(const yoke_strings_t *words, const char *name, char letter)
{
    const char *value = NULL, *next;
    for (size_t i = 0; (next = command_value(words, name, letter, i)) != NULL; i++)
        value = next;
    return value;
}

static bool made_here(const yoke_strings_t *words)
{
    return words->count > 2 && strcmp(words->items[0], "yoke") == 0 &&
           (strcmp(words->items[1], "plan") == 0 ||
            strcmp(words->items[1], "check") == 0);
}

/* --- giving them
 * ------------------------------------------------------------------------- */

static yoke_status_t give(yoke_args_t *args, const char *name, const char *value)
{
    const yoke_option_t *option;
    size_t i = 0;
    while ((option = yoke_command_option(args->command, i)) != NULL &&
           strcmp(option->name, name) != 0)
        i++;
    void *grown = realloc(args->given, (args->given_count + 1) * sizeof *args->given);
    if (grown == NULL)
        return yoke_fail_memory();
    args->given = grown;
    args->given[args->given_count].option = option;
    args->given[args->given_count++].value = value;
    return YOKE_OK;
}

bool yoke_input_leads_outside(const char *value)
{
    if (value[0] == '/' || value[0] == '~')
        return true;
    for (const char *at = value; (at = strstr(at, "..")) != NULL; at += 2)
        if ((at == value || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return true;
    return false;
}

/* No path in a document leads outside the folder one works in. */
static yoke_status_t refuse_outside(const char *name, char letter, const char *value)
{
    yoke_text_t word = {0};
    yoke_quote_word(value, &word);
    yoke_status_t status =
        yoke_fail(YOKE_ERR_USAGE,
                  "--%s is missing; the plan was made with one outside of "
                  "this folder: give it, -%c %s",
                  name, letter, yoke_text_get(&word));
    yoke_text_free(&word);
    return status;
}

static yoke_status_t take_one(yoke_args_t *args, const yoke_strings_t *words,
                              const char *name, char letter, yoke_text_t *taken)
{
    const char *value = made_here(words) ? last_value(words, name, letter) : NULL;
    if (value == NULL)
        return yoke_fail(YOKE_ERR_USAGE,
                         "--%s is missing, and the plan does not say which one it was "
                         "made with (/made_by/command)",
                         name);
    if (strcmp(value, "-") == 0)
        return yoke_fail(YOKE_ERR_USAGE,
                         "--%s is missing, and the plan was made with one from standard "
                         "input; give it as a file",
                         name);
    if (yoke_input_leads_outside(value))
        return refuse_outside(name, letter, value);
    yoke_text_printf(taken, " -%c ", letter);
    yoke_quote_word(value, taken);
    return give(args, name, value);
}

/* What belongs to the cluster: taken with it. */
static yoke_status_t take_list(yoke_args_t *args, const yoke_strings_t *words,
                               const char *name, yoke_text_t *taken)
{
    const char *value;
    yoke_status_t status = YOKE_OK;
    if (yoke_args_has(args, name))
        return YOKE_OK;
    for (size_t i = 0;
         status == YOKE_OK && (value = command_value(words, name, '\0', i)) != NULL;
         i++) {
        if (strcmp(name, "assume") != 0 && yoke_input_leads_outside(value))
            return yoke_fail(YOKE_ERR_USAGE,
                             "the plan was made with a --%s outside of this folder: "
                             "give --cluster and --%s",
                             name, name);
        yoke_text_printf(taken, " --%s ", name);
        yoke_quote_word(value, taken);
        status = give(args, name, value);
    }
    return status;
}

/* The words come from a document: no control character of theirs reaches a terminal. */
static void say(const yoke_args_t *args, const char *text)
{
    yoke_text_t line = {0};
    yoke_text_printf(&line, "yoke %s: %s", args->command->name, text);
    for (size_t i = 0; i < line.size; i++)
        if ((unsigned char)line.data[i] < ' ' || line.data[i] == 127)
            line.data[i] = '?';
    yoke_text_t wrapped = {0};
    yoke_wrap(yoke_text_get(&line), 80, 2, &wrapped);
    fprintf(stderr, "%s\n", yoke_text_get(&wrapped));
    yoke_text_free(&wrapped);
    yoke_text_free(&line);
}

/* A cluster that was given, without the figures that the plan's own had in addition. */
static void say_missing(const yoke_args_t *args, const yoke_strings_t *words)
{
    static const char *const names[] = {"assume", "catalog", "profile"};
    for (size_t n = 0; n < 3 && made_here(words); n++) {
        yoke_text_t line = {0};
        const char *value;
        if (yoke_args_has(args, names[n]) ||
            command_value(words, names[n], '\0', 0) == NULL)
            continue;
        yoke_text_add(&line, "note: the plan was made with");
        for (size_t i = 0; (value = command_value(words, names[n], '\0', i)) != NULL;
             i++) {
            yoke_text_printf(&line, " --%s ", names[n]);
            yoke_quote_word(value, &line);
        }
        yoke_text_printf(&line,
                         " and this run is without; give it too, or leave --cluster out "
                         "to take all of them from the plan");
        say(args, yoke_text_get(&line));
        yoke_text_free(&line);
    }
}

static yoke_status_t take_missing(yoke_args_t *args, const yoke_strings_t *words)
{
    yoke_text_t taken = {0};
    yoke_status_t status = YOKE_OK;
    if (yoke_args_value(args, "model") == NULL)
        status = take_one(args, words, "model", 'm', &taken);
    if (status == YOKE_OK && yoke_args_value(args, "cluster") == NULL) {
        status = take_one(args, words, "cluster", 'c', &taken);
        if (status == YOKE_OK)
            status = take_list(args, words, "assume", &taken);
        if (status == YOKE_OK)
            status = take_list(args, words, "catalog", &taken);
        if (status == YOKE_OK)
            status = take_list(args, words, "profile", &taken);
    } else if (status == YOKE_OK) {
        say_missing(args, words);
    }
    if (status == YOKE_OK && taken.size > 0) {
        yoke_text_t line = {0};
        yoke_text_printf(&line, "using%s as in the plan", yoke_text_get(&taken));
        say(args, yoke_text_get(&line));
        yoke_text_free(&line);
    }
    yoke_text_free(&taken);
    return status;
}

yoke_status_t yoke_input_from_plan(yoke_args_t *args, const yoke_plan_t *plan,
                                   yoke_strings_t *out_words)
{
    yoke_status_t status = YOKE_OK;
    if (plan->made_by_command != NULL)
        status = read_words(plan->made_by_command, out_words);
    return status == YOKE_OK ? take_missing(args, out_words) : status;
}
