/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_LAUNCH_PARTS_H
#define YOKE_PARTITION_LAUNCH_PARTS_H

/* Words of a launch script while it is read: private to launch_*.c. */

#include "partition/launch_script.h"

#define YOKE_LAUNCH_MOST_WORDS 20000
#define YOKE_LAUNCH_MOST_BYTES (1u << 20)

typedef struct yoke_launch_variable {
    char *name;
    yoke_strings_t words; /* one, but for an array */
    unsigned *lines;      /* where each stands */
    bool array;
} yoke_launch_variable_t;

typedef struct yoke_launch_words {
    yoke_strings_t list;
    unsigned *lines;
} yoke_launch_words_t;

typedef struct yoke_launch_reader {
    const char *name, *at, *end;
    unsigned line;
    yoke_launch_variable_t *variables;
    size_t variable_count;
    size_t bytes;             /* made by expansion, so far */
    yoke_launch_words_t best; /* the longest command with a .py */
    size_t best_program;
    unsigned best_line;
    yoke_status_t status;
} yoke_launch_reader_t;

/* The word being read; `present` also when it is empty but quoted. */
typedef struct yoke_launch_word {
    yoke_text_t text;
    bool present;
    unsigned line; /* of a variable's word; 0: where the reader is */
} yoke_launch_word_t;

/* The first failure, with file:line; reading ends. */
void yoke_launch_fail(yoke_launch_reader_t *reader, const char *what);
void yoke_launch_words_free(yoke_launch_words_t *words);
/* The word, when there is one, to the list; it is empty then. */
void yoke_launch_push(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                      yoke_launch_word_t *word);
const yoke_launch_variable_t *yoke_launch_find(const yoke_launch_reader_t *reader,
                                               const char *name, size_t size);
/* Length of a name at a place; 0: there is none. */
size_t yoke_launch_name_size(const char *at, const char *end);
/* A word with its expansions; `words` NULL: an assignment's value, which is not split. */
void yoke_launch_word(yoke_launch_reader_t *reader, yoke_launch_words_t *words,
                      yoke_launch_word_t *word);
/* Is this the end of a word? */
bool yoke_launch_ends_word(char c);
/* Value of "$((...))"; false: it is not known. */
bool yoke_launch_sum(const yoke_launch_reader_t *reader, const char *begin,
                     const char *end, int64_t *out_value);

#endif
