/* SPDX-License-Identifier: Apache-2.0 */
/* Words first, kernels from words. Comments, texts and directives are no words. */
#include "hal/kernels/signature.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define MAX_WORD 255
#define MAX_KERNELS 65536

/* --- words -------------------------------------------------------------------------- */

typedef struct reader {
    const char *at, *end;
    uint32_t line;
    bool fresh; /* nothing but blanks since the line began */
    /* The last word: an identifier or number, or one other character; size 0: the end. */
    const char *word;
    size_t size;
} reader_t;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (c >= '0' && c <= '9') || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f' || c == '\0';
}

/* One character further. */
static void step(reader_t *reader)
{
    if (*reader->at == '\n') {
        reader->line++;
        reader->fresh = true;
    }
    reader->at++;
}

static bool starts(const reader_t *reader, const char *what)
{
    size_t size = strlen(what);
    return (size_t)(reader->end - reader->at) >= size &&
           memcmp(reader->at, what, size) == 0;
}

/* Length of a backslash and line end, which join two lines; 0: none here. */
static size_t joint(const reader_t *reader)
{
    return starts(reader, "\\\n") ? 2 : starts(reader, "\\\r\n") ? 3 : 0;
}

static void skip_joint(reader_t *reader, size_t size)
{
    bool fresh = reader->fresh;
    while (size-- > 0)
        step(reader);
    reader->fresh = fresh;
}

static void skip_line(reader_t *reader)
{
    while (reader->at < reader->end && *reader->at != '\n') {
        size_t size = joint(reader);
        if (size > 0)
            skip_joint(reader, size);
        else
            step(reader);
    }
}

static void skip_comment(reader_t *reader)
{
    bool fresh = reader->fresh;
    step(reader);
    step(reader);
    while (reader->at < reader->end && !starts(reader, "*/"))
        step(reader);
    for (int i = 0; i < 2 && reader->at < reader->end; i++)
        step(reader);
    reader->fresh = fresh;
}

/* A directive; "# 12" and "#line 12" say which line is next. A comment that begins in one
 * may go on over the next lines. */
static void skip_directive(reader_t *reader)
{
    uint32_t next = 0;
    step(reader);
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
        step(reader);
    if (starts(reader, "line"))
        reader->at += 4;
    while (reader->at < reader->end && (*reader->at == ' ' || *reader->at == '\t'))
        step(reader);
    while (reader->at < reader->end && is_digit(*reader->at) && next < 100000000) {
        next = next * 10 + (uint32_t)(*reader->at - '0');
        step(reader);
    }
    while (reader->at < reader->end && *reader->at != '\n') {
        size_t size = joint(reader);
        if (size > 0)
            skip_joint(reader, size);
        else if (starts(reader, "/*"))
            skip_comment(reader);
        else if (starts(reader, "//"))
            skip_line(reader);
        else
            step(reader);
    }
    if (next > 0)
        reader->line = next - 1;
}

static void skip_text(reader_t *reader, char quote)
{
    step(reader);
    while (reader->at < reader->end && *reader->at != quote && *reader->at != '\n') {
        if (*reader->at == '\\' && reader->at + 1 < reader->end)
            step(reader);
        step(reader);
    }
    if (reader->at < reader->end && *reader->at == quote)
        step(reader);
}

/* What is no word, up to the next one. */
static void skip(reader_t *reader)
{
    while (reader->at < reader->end) {
        size_t size = joint(reader);
        if (size > 0)
            skip_joint(reader, size);
        else if (*reader->at == '\n' || is_blank(*reader->at))
            step(reader);
        else if (starts(reader, "//"))
            skip_line(reader);
        else if (starts(reader, "/*"))
            skip_comment(reader);
        else if (*reader->at == '#' && reader->fresh)
            skip_directive(reader);
        else if (*reader->at == '"' || *reader->at == '\'')
            skip_text(reader, *reader->at);
        else
            return;
    }
}

static void next(reader_t *reader)
{
    skip(reader);
    reader->word = reader->at;
    reader->size = 0;
    if (reader->at >= reader->end)
        return;
    reader->fresh = false;
    if (!is_letter(*reader->at)) {
        reader->at++;
    } else {
        while (reader->at < reader->end && is_letter(*reader->at))
            reader->at++;
    }
    reader->size = (size_t)(reader->at - reader->word);
}

static bool is(const reader_t *reader, const char *word)
{
    return reader->size == strlen(word) && memcmp(reader->word, word, reader->size) == 0;
}

static bool is_name(const reader_t *reader)
{
    return reader->size > 0 && is_letter(*reader->word) && !is_digit(*reader->word);
}

/* --- parameters --------------------------------------------------------------------- */

static yoke_status_t bad(const reader_t *reader, const char *what)
{
    /* Foreign bytes are shown only where they can be printed. */
    char shown[41];
    size_t size = reader->size < 40 ? reader->size : 40;
    for (size_t i = 0; i < size; i++) {
        char c = reader->word[i];
        shown[i] = c >= ' ' && c <= '~' ? c : '?';
    }
    shown[size] = '\0';
    return yoke_fail(YOKE_ERR_BAD_INPUT, "line %u: %s%s%s%s", reader->line, what,
                     reader->size > 0 ? " before \"" : ", but the text ends", shown,
                     reader->size > 0 ? "\"" : "");
}

static uint32_t size_of(const char *type)
{
    static const struct {
        const char *name;
        uint32_t size;
    } sizes[] = {{"i8", 1},  {"u8", 1},  {"i16", 2}, {"u16", 2}, {"i32", 4},
                 {"u32", 4}, {"f32", 4}, {"i64", 8}, {"u64", 8}, {"f64", 8}};
    if (strncmp(type, "const ", 6) == 0)
        type += 6;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(type, sizes[i].name) == 0)
            return sizes[i].size;
    return 0;
}

/* What was read of one parameter: the last name is its own, the others its type. */
typedef struct draft {
    yoke_text_t type;
    char last[MAX_WORD + 1];
    unsigned stars;
    bool local;
} draft_t;

static yoke_status_t take_word(reader_t *reader, draft_t *draft)
{
    if (is(reader, "*")) {
        if (++draft->stars > 1)
            return bad(reader, "a pointer to pointers cannot be given to a kernel");
    } else if (!is_name(reader)) {
        return bad(reader, "a parameter is written \"type name\": unexpected text");
    }
    if (reader->size > MAX_WORD)
        return bad(reader, "a word is too long");
    if (draft->last[0] != '\0') {
        if (draft->type.size > 0)
            yoke_text_add(&draft->type, " ");
        yoke_text_add(&draft->type, draft->last);
    }
    memcpy(draft->last, reader->word, reader->size);
    draft->last[reader->size] = '\0';
    draft->local = draft->local || is(reader, "YOKE_LOCAL");
    return YOKE_OK;
}

static yoke_status_t finish_parameter(reader_t *reader, draft_t *draft,
                                      yoke_signature_t *signature)
{
    if (draft->type.size == 0 || draft->last[0] == '*')
        return bad(reader, "a parameter is written \"type name\": one is missing");
    if (signature->count == YOKE_MAX_ARGUMENTS)
        return bad(reader, "a kernel has too many parameters");
    yoke_parameter_t *parameter = &signature->parameters[signature->count];
    parameter->name = yoke_strdup(draft->last);
    if (parameter->name == NULL || draft->type.failed) {
        free(parameter->name);
        parameter->name = NULL;
        return yoke_fail_memory();
    }
    parameter->type = draft->type.data;
    draft->type = (yoke_text_t){0};
    parameter->kind = draft->stars == 0 ? YOKE_ARGUMENT_VALUE
                      : draft->local    ? YOKE_ARGUMENT_LOCAL
                                        : YOKE_ARGUMENT_SPAN;
    if (draft->stars == 0)
        parameter->size = size_of(parameter->type);
    signature->count++;
    return YOKE_OK;
}

/* After "(": up to and with ")". */
static yoke_status_t read_parameters(reader_t *reader, yoke_signature_t *signature)
{
    draft_t draft = {0};
    yoke_status_t status = YOKE_OK;
    next(reader);
    while (status == YOKE_OK && !is(reader, ")")) {
        if (is(reader, ",")) {
            status = finish_parameter(reader, &draft, signature);
            draft = (draft_t){.type = draft.type};
            next(reader);
            if (status == YOKE_OK && is(reader, ")"))
                status = bad(reader, "a parameter is missing");
        } else {
            status = take_word(reader, &draft);
            next(reader);
        }
    }
    /* "(void)" and "()" are no parameters. */
    bool none = signature->count == 0 && draft.type.size == 0 &&
                (draft.last[0] == '\0' || strcmp(draft.last, "void") == 0);
    if (status == YOKE_OK && !none)
        status = finish_parameter(reader, &draft, signature);
    yoke_text_free(&draft.type);
    return status;
}

/* --- kernels ------------------------------------------------------------------------ */

static void clear_signature(yoke_signature_t *signature)
{
    for (uint32_t i = 0; i < signature->count; i++) {
        free(signature->parameters[i].type);
        free(signature->parameters[i].name);
    }
    free(signature->name);
}

/* After YOKE_KERNEL. */
static yoke_status_t read_kernel(reader_t *reader, yoke_signature_t *signature)
{
    static const char form[] =
        "a kernel is written YOKE_KERNEL void name(type a, ...): unexpected text";
    next(reader);
    if (!is(reader, "void"))
        return bad(reader, form);
    next(reader);
    if (!is_name(reader) || reader->size > MAX_WORD)
        return bad(reader, form);
    signature->line = reader->line;
    signature->name = yoke_strndup(reader->word, reader->size);
    if (signature->name == NULL)
        return yoke_fail_memory();
    next(reader);
    if (!is(reader, "("))
        return bad(reader, form);
    return read_parameters(reader, signature);
}

static yoke_signature_t *add(yoke_signatures_t *signatures)
{
    if ((signatures->count & (signatures->count - 1)) == 0) { /* 0, 1, 2, 4, ... */
        size_t room = signatures->count == 0 ? 1 : signatures->count * 2;
        yoke_signature_t *items = realloc(signatures->items, room * sizeof *items);
        if (items == NULL)
            return NULL;
        signatures->items = items;
    }
    yoke_signature_t *item = &signatures->items[signatures->count++];
    memset(item, 0, sizeof *item);
    return item;
}

yoke_status_t yoke_signatures_read(const char *text, size_t size,
                                   yoke_signatures_t *out_signatures)
{
    yoke_signatures_t found = {0};
    reader_t reader = {.at = text, .end = text + size, .line = 1, .fresh = true};
    yoke_status_t status = YOKE_OK;
    for (next(&reader); status == YOKE_OK && reader.size > 0; next(&reader)) {
        if (is(&reader, "YOKE_BARRIER"))
            found.barrier = true;
        if (!is(&reader, "YOKE_KERNEL"))
            continue;
        if (found.count == MAX_KERNELS) {
            status = bad(&reader, "too many kernels");
            break;
        }
        yoke_signature_t *signature = add(&found);
        status = signature == NULL ? yoke_fail_memory() : read_kernel(&reader, signature);
    }
    if (status == YOKE_OK)
        *out_signatures = found;
    else
        yoke_signatures_free(&found);
    return status;
}

void yoke_signatures_free(yoke_signatures_t *signatures)
{
    for (size_t i = 0; i < signatures->count; i++)
        clear_signature(&signatures->items[i]);
    free(signatures->items);
    *signatures = (yoke_signatures_t){0};
}

const yoke_signature_t *yoke_signatures_find(const yoke_signatures_t *signatures,
                                             const char *name)
{
    for (size_t i = 0; i < signatures->count; i++)
        if (strcmp(signatures->items[i].name, name) == 0)
            return &signatures->items[i];
    return NULL;
}
