/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of JSON between the helper and its parent. */
#include "hal/probe/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "inventory/document.h"

static void put_line(int fd, const char *line, size_t size)
{
    while (size > 0) {
        ssize_t done = write(fd, line, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return; /* the parent has gone: nobody to tell */
        line += done;
        size -= (size_t)done;
    }
}

void yoke_wire_put(int fd, const char *key, json_t *value)
{
    json_t *root = json_object();
    json_object_set_new(root, key, value);
    char *text = json_dumps(root, JSON_COMPACT);
    char *line = text != NULL ? yoke_format("%s\n", text) : NULL;
    if (line != NULL)
        put_line(fd, line, strlen(line));
    free(line);
    free(text);
    json_decref(root);
}

void yoke_wire_put_record(int fd, const yoke_record_t *record)
{
    yoke_wire_put(fd, "record", yoke_record_to_json(record));
}

void yoke_wire_put_finding(int fd, const yoke_finding_t *finding)
{
    json_t *object = json_object();
    yoke_json_set_string(object, "probe", finding->probe);
    yoke_json_set_string(object, "verdict", finding->verdict);
    yoke_json_set_string(object, "library", finding->library);
    yoke_json_set_string(object, "call", finding->call);
    if (finding->has_code)
        json_object_set_new(object, "code", json_integer(finding->code));
    yoke_json_set_string(object, "code_name", finding->code_name);
    yoke_json_set_string(object, "text", finding->text);
    json_object_set_new(object, "fault", json_boolean(finding->fault));
    yoke_wire_put(fd, "finding", object);
}

static char *member(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? yoke_strdup(text) : NULL;
}

static yoke_status_t read_finding(const json_t *value, const yoke_wire_sink_t *sink)
{
    const json_t *code = json_object_get(value, "code");
    yoke_finding_t finding = {
        .probe = member(value, "probe"),
        .verdict = member(value, "verdict"),
        .library = member(value, "library"),
        .call = member(value, "call"),
        .has_code = json_is_integer(code),
        .code = json_integer_value(code),
        .code_name = member(value, "code_name"),
        .text = member(value, "text"),
        .fault = json_is_true(json_object_get(value, "fault")),
    };
    yoke_status_t status = YOKE_OK;
    if (finding.probe != NULL && finding.verdict != NULL)
        status = sink->finding(sink->context, &finding);
    yoke_finding_clear(&finding);
    return status;
}

static yoke_status_t read_record(const char *probe, const json_t *value,
                                 const yoke_wire_sink_t *sink)
{
    yoke_cursor_t at = {.file = probe, .value = value};
    yoke_record_t record = {0};
    if (yoke_record_from_json(&at, &record) != YOKE_OK)
        return YOKE_OK; /* said already; one bad record costs one device */
    return sink->record(sink->context, &record);
}

static yoke_status_t read_line(const char *probe, const char *line, size_t size,
                               const yoke_wire_sink_t *sink)
{
    const char *key;
    json_t *value;
    yoke_status_t status = YOKE_OK;
    json_t *root = json_loadb(line, size, 0, NULL);
    if (root == NULL && size > 0)
        yoke_info("%s: a line that is no JSON was dropped", probe);
    json_object_foreach(root, key, value)
    {
        if (status != YOKE_OK)
            break;
        if (strcmp(key, "record") == 0)
            status = read_record(probe, value, sink);
        else if (strcmp(key, "finding") == 0)
            status = read_finding(value, sink);
        else if (sink->other != NULL)
            status = sink->other(sink->context, key, value);
    }
    json_decref(root);
    return status;
}

yoke_status_t yoke_wire_read(const char *probe, const yoke_text_t *lines,
                             const yoke_wire_sink_t *sink)
{
    const char *text = yoke_text_get(lines);
    const char *newline;
    yoke_status_t status = YOKE_OK;
    while (status == YOKE_OK && (newline = strchr(text, '\n')) != NULL) {
        status = read_line(probe, text, (size_t)(newline - text), sink);
        text = newline + 1;
    }
    return status;
}

void yoke_record_clear(yoke_record_t *record)
{
    yoke_record_t *item = malloc(sizeof *item);
    if (item != NULL) {
        *item = *record;
        yoke_records_t one = {.items = item, .count = 1, .capacity = 1};
        yoke_records_free(&one);
    }
    memset(record, 0, sizeof *record);
}
