/* SPDX-License-Identifier: Apache-2.0 */
/* Answers of a probe: records, and findings that name library, call and code. */
#include "backends/backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "inventory/document.h"

void yoke_run_record_init(const yoke_probe_run_t *run, const char *library,
                          yoke_record_t *out_record)
{
    memset(out_record, 0, sizeof *out_record);
    out_record->probe = yoke_strdup(run->probe);
    out_record->runtime = yoke_strdup(run->backend->name);
    out_record->library = library != NULL ? yoke_strdup(library) : NULL;
    out_record->ordinal = out_record->native = -1;
    out_record->numa = -1;
}

void yoke_run_put(yoke_probe_run_t *run, yoke_record_t *record)
{
    run->put_record(run, record);
    yoke_record_t *item = malloc(sizeof *item);
    if (item != NULL) {
        *item = *record;
        yoke_records_t one = {.items = item, .count = 1, .capacity = 1};
        yoke_records_free(&one);
    }
    memset(record, 0, sizeof *record);
}

/* Bytes of the UTF-8 sequence at `text` (at most `left`); 0: it is none. */
static size_t sequence_length(const unsigned char *text, size_t left)
{
    size_t length = text[0] < 0x80                      ? 1
                    : text[0] >= 0xc2 && text[0] < 0xe0 ? 2
                    : text[0] >= 0xe0 && text[0] < 0xf0 ? 3
                    : text[0] >= 0xf0 && text[0] < 0xf5 ? 4
                                                        : 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    /* Overlong forms, surrogates, values above U+10FFFF. */
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

char *yoke_run_text(const char *raw, size_t size)
{
    yoke_text_t text = {0};
    size_t used = 0, end = strnlen(raw, size), length;
    while (used < end && (unsigned char)raw[used] <= ' ')
        used++;
    while (end > used && (unsigned char)raw[end - 1] <= ' ')
        end--;
    for (; used<end; used += length> 0 ? length : 1) {
        const unsigned char *at = (const unsigned char *)raw + used;
        length = sequence_length(at, end - used);
        if (length == 0 || *at < ' ' || *at == 127)
            yoke_text_add(&text, "?");
        else
            yoke_text_add_bytes(&text, raw + used, length);
    }
    return text.data;
}

void yoke_run_bytes(yoke_quantity_t *quantity, uint64_t bytes, const char *detail)
{
    if (bytes != 0)
        yoke_quantity_set(quantity, (double)bytes, YOKE_SOURCE_RUNTIME, 0, detail);
}

void yoke_run_memory(yoke_record_t *record, uint64_t bytes, const char *detail)
{
    yoke_run_bytes(&record->memory_total, bytes, detail);
    yoke_run_bytes(&record->memory_usable, bytes, detail);
}

void yoke_run_code(yoke_probe_run_t *run, const char *verdict, const char *library,
                   const char *call, int64_t code, bool fault, const char *text)
{
    const char *name =
        run->backend->error_name != NULL ? run->backend->error_name(code) : NULL;
    char shown[40];
    snprintf(shown, sizeof shown, code >= 0x10000 ? "0x%llx" : "%lld", (long long)code);
    char *sentence = yoke_format("%s() returned %s (%s)%s%s", call, shown,
                                 name != NULL ? name : "not a code that we know",
                                 text != NULL ? ": " : "", text != NULL ? text : "");
    yoke_finding_t finding = {.probe = (char *)run->probe,
                              .verdict = (char *)verdict,
                              .library = (char *)library,
                              .call = (char *)call,
                              .has_code = true,
                              .code = code,
                              .code_name = (char *)name,
                              .text = sentence,
                              .fault = fault};
    run->put_finding(run, &finding);
    free(sentence);
}

void yoke_run_say(yoke_probe_run_t *run, const char *verdict, const char *library,
                  const char *call, bool fault, const char *format, ...)
{
    char sentence[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    char *clean = yoke_run_text(sentence, sizeof sentence);
    yoke_finding_t finding = {.probe = (char *)run->probe,
                              .verdict = (char *)verdict,
                              .library = (char *)library,
                              .call = (char *)call,
                              .text = clean,
                              .fault = fault};
    run->put_finding(run, &finding);
    free(clean);
}

void yoke_run_unhealthy(yoke_probe_run_t *run, yoke_record_t *record, const char *library,
                        const char *call, int64_t code, bool lost)
{
    free(record->health);
    record->health = yoke_strdup(lost ? "lost" : "faulty");
    yoke_run_code(run, "no device", library, call, code, true,
                  lost ? "one device is lost" : "one device does not answer");
}

bool yoke_run_believable(yoke_probe_run_t *run, const char *library, const char *call,
                         int64_t count, int64_t most)
{
    if (count >= 0 && count <= most)
        return true;
    yoke_run_say(
        run, "no device", library, call, true,
        "%s() tells of %lld devices, which cannot be: nothing else that %s says is "
        "taken; reinstall the driver, or restart the machine",
        call, (long long)count, library);
    return false;
}

bool yoke_run_open(yoke_probe_run_t *run, const yoke_symbol_t *symbols, size_t count,
                   yoke_library_t *out_library)
{
    const yoke_backend_t *backend = run->backend;
    char *problem = NULL;
    bool found = false;
    if (!yoke_library_open(backend->library_key, backend->libraries, out_library,
                           &problem, &found)) {
        yoke_run_say(run, "library not found", backend->libraries[0], "dlopen", found,
                     "%s%s%s", problem != NULL ? problem : "not loaded",
                     backend->missing != NULL && !found ? "; " : "",
                     backend->missing != NULL && !found ? backend->missing : "");
        free(problem);
        return false;
    }
    const char *missing = yoke_library_resolve(out_library, symbols, count);
    if (missing != NULL) {
        yoke_run_say(
            run, "symbol missing", out_library->path, missing, true,
            "%s has no function %s: it is too old, or another library of that name",
            out_library->path, missing);
        return false;
    }
    return true;
}
