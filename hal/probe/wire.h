/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_HAL_WIRE_H
#define YOKE_HAL_WIRE_H

/*
 * What goes through the pipe between helper and parent: one JSON object a line,
 * {"record": ...}, {"finding": ...}, {"topology": ...} or {"measurement": ...}.
 */

#include <jansson.h>
#include "base/text.h"
#include "inventory/record.h"

/* Helper's side: one write() a line. Threads: one writer. */
void yoke_wire_put(int fd, const char *key, json_t *value); /* steals value */
void yoke_wire_put_record(int fd, const yoke_record_t *record);
void yoke_wire_put_finding(int fd, const yoke_finding_t *finding);

/* Parent's side. Lines that are no JSON are dropped: a torn end, or a library's garbage.
 */
typedef struct yoke_wire_sink {
    void *context;
    yoke_status_t (*record)(void *context, yoke_record_t *record); /* takes ownership */
    yoke_status_t (*finding)(void *context, const yoke_finding_t *finding);
    yoke_status_t (*other)(void *context, const char *key, const json_t *value);
} yoke_wire_sink_t;
yoke_status_t yoke_wire_read(const char *probe, const yoke_text_t *lines,
                             const yoke_wire_sink_t *sink);

/* Free what a record owns and zero it. */
void yoke_record_clear(yoke_record_t *record);

#endif
