/* SPDX-License-Identifier: Apache-2.0 */
/* Run the units and turn what they said, and how they ended, into records and findings.
 */
#include "hal/probe/units.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/probe/wire.h"
#include "inventory/document.h"

/* --- run ---------------------------------------------------------------------------- */

static const char **as_list(const yoke_strings_t *strings)
{
    const char **list = calloc(strings->count + 1, sizeof *list);
    for (size_t i = 0; list != NULL && i < strings->count; i++)
        list[i] = strings->items[i];
    return list;
}

static yoke_status_t keep_record(void *context, yoke_record_t *record)
{
    yoke_unit_t *unit = context;
    yoke_record_t *slot = yoke_records_add(&unit->records);
    if (slot == NULL) {
        yoke_record_clear(record);
        return yoke_fail_memory();
    }
    *slot = *record;
    return YOKE_OK;
}

static yoke_status_t copy_finding(const yoke_finding_t *from, yoke_finding_t *out)
{
    yoke_finding_t copy = {
        .has_code = from->has_code, .code = from->code, .fault = from->fault};
    yoke_status_t status = yoke_set_string(&copy.probe, from->probe);
    if (status == YOKE_OK)
        status = yoke_set_string(&copy.verdict, from->verdict);
    if (status == YOKE_OK)
        status = yoke_set_string(&copy.library, from->library);
    if (status == YOKE_OK)
        status = yoke_set_string(&copy.call, from->call);
    if (status == YOKE_OK)
        status = yoke_set_string(&copy.code_name, from->code_name);
    if (status == YOKE_OK)
        status = yoke_set_string(&copy.text, from->text);
    *out = copy;
    return status;
}

static yoke_status_t keep_finding(void *context, const yoke_finding_t *finding)
{
    yoke_unit_t *unit = context;
    yoke_finding_t *items =
        realloc(unit->findings, (unit->finding_count + 1) * sizeof *items);
    if (items == NULL)
        return yoke_fail_memory();
    unit->findings = items;
    return copy_finding(finding, &items[unit->finding_count++]);
}

static yoke_status_t keep_other(void *context, const char *key, const json_t *value)
{
    yoke_unit_t *unit = context;
    if (strcmp(key, "topology") == 0 && unit->topology == NULL)
        unit->topology = json_deep_copy(value);
    return YOKE_OK;
}

yoke_status_t yoke_units_run(yoke_units_t *units, double timeout)
{
    yoke_child_t *children = calloc(units->count + 1, sizeof *children);
    yoke_status_t status = children != NULL ? YOKE_OK : yoke_fail_memory();
    for (size_t i = 0; i < units->count && status == YOKE_OK; i++) {
        yoke_unit_t *unit = &units->items[i];
        unit->argument_list = as_list(&unit->arguments);
        unit->environment_list = as_list(&unit->environment);
        if (unit->argument_list == NULL || unit->environment_list == NULL)
            status = yoke_fail_memory();
        children[i].arguments = unit->argument_list;
        children[i].environment = unit->environment_list;
        children[i].timeout = timeout;
    }
    if (status == YOKE_OK)
        yoke_children_run(children, units->count);
    for (size_t i = 0; i < units->count && status == YOKE_OK; i++) {
        yoke_wire_sink_t sink = {&units->items[i], keep_record, keep_finding, keep_other};
        units->items[i].child = children[i];
        status = yoke_wire_read(units->items[i].probe, &children[i].lines, &sink);
    }
    free(children);
    return status;
}

const json_t *yoke_units_topology(const yoke_units_t *units)
{
    for (size_t i = 0; i < units->count; i++)
        if (units->items[i].topology != NULL)
            return units->items[i].topology;
    return NULL;
}

/* --- how it ended ------------------------------------------------------------------- */

static char *end_text(const yoke_unit_t *unit, double timeout)
{
    const yoke_child_t *child = &unit->child;
    const char *said = child->last_words;
    char what[160];
    if (child->end == YOKE_CHILD_NOT_STARTED)
        return yoke_strdup(child->problem != NULL ? child->problem : "not started");
    if (child->end == YOKE_CHILD_TIMED_OUT)
        snprintf(what, sizeof what, "no answer within %g s; the process was killed",
                 timeout);
    else if (child->overflowed)
        snprintf(what, sizeof what, "it wrote without end; the process was killed");
    else if (child->signal_number != 0)
        snprintf(what, sizeof what, "the probe of this library died by SIG%s (%d)",
                 sigabbrev_np(child->signal_number) != NULL
                     ? sigabbrev_np(child->signal_number)
                     : "?",
                 child->signal_number);
    else
        snprintf(what, sizeof what,
                 "the probe of this library died: it ended the process with exit code %d",
                 child->exit_code);
    return yoke_format("%s%s%s", what, said != NULL ? "; its last words: " : "",
                       said != NULL ? said : "");
}

/* The unit did not come to its end: one finding, beside what it delivered before. */
static yoke_status_t tell_end(const yoke_unit_t *unit, double timeout, yoke_node_t *node)
{
    const yoke_child_t *child = &unit->child;
    const char *library = unit->library;
    if (child->end == YOKE_CHILD_FINISHED)
        return YOKE_OK;
    const char *verdict = child->end == YOKE_CHILD_TIMED_OUT     ? "timed out"
                          : child->no_helper                     ? "absent"
                          : child->end == YOKE_CHILD_NOT_STARTED ? "denied"
                                                                 : "crashed";
    if (library == NULL && unit->backend != NULL && unit->backend->libraries != NULL)
        library = unit->backend->libraries[0];
    char *text = end_text(unit, timeout);
    yoke_finding_t *finding =
        text != NULL ? yoke_node_add_finding(node, unit->probe, verdict, text, true)
                     : NULL;
    free(text);
    if (finding == NULL)
        return yoke_fail_memory();
    if (child->signal_number != 0) {
        finding->has_code = true;
        finding->code = child->signal_number;
        const char *name = sigabbrev_np(child->signal_number);
        finding->code_name = name != NULL ? yoke_format("SIG%s", name) : NULL;
    }
    return yoke_set_string(&finding->library, library);
}

/* --- collect ------------------------------------------------------------------------ */

static yoke_status_t move_finding(yoke_finding_t *from, yoke_node_t *node)
{
    yoke_finding_t *slot =
        yoke_node_add_finding(node, from->probe, from->verdict, from->text, from->fault);
    if (slot == NULL)
        return yoke_fail_memory();
    yoke_finding_clear(slot);
    *slot = *from;
    memset(from, 0, sizeof *from);
    return YOKE_OK;
}

static yoke_unit_t *unmasked_twin(yoke_units_t *units, const yoke_unit_t *unit)
{
    for (size_t i = 0; i < units->count; i++)
        if (units->items[i].unmasked && strcmp(units->items[i].probe, unit->probe) == 0)
            return &units->items[i];
    return NULL;
}

/* "No device" where the other run saw some is not the library's fault: a variable did it.
 */
static yoke_status_t tell_hidden(yoke_unit_t *unit, size_t hidden, yoke_node_t *node)
{
    const char *variable = yoke_mask_set(unit->backend);
    char *text = yoke_format("%s=%s hides %zu device%s", variable, getenv(variable),
                             hidden, hidden == 1 ? "" : "s");
    yoke_finding_t *finding =
        text != NULL ? yoke_node_add_finding(node, unit->probe, "hidden", text, false)
                     : NULL;
    free(text);
    if (finding == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < unit->finding_count; i++)
        if (strcmp(unit->findings[i].verdict, "no device") == 0)
            unit->findings[i].fault = false;
    return yoke_set_string(&finding->library,
                           unit->finding_count > 0 ? unit->findings[0].library : NULL);
}

static bool same_library_before(const yoke_units_t *units, const yoke_unit_t *unit,
                                const char **out_other)
{
    if (unit->backend == NULL || !unit->backend->vendor_files ||
        unit->records.count == 0 || unit->records.items[0].library == NULL)
        return false;
    for (const yoke_unit_t *other = units->items; other < unit; other++)
        if (other->backend == unit->backend && other->unmasked == unit->unmasked &&
            other->records.count > 0 && other->records.items[0].library != NULL &&
            strcmp(other->records.items[0].library, unit->records.items[0].library) ==
                0) {
            *out_other = other->probe;
            return true;
        }
    return false;
}

/* Two files may name one library by different paths; the loader said which file it is. */
static yoke_status_t drop_repeated(yoke_units_t *units, yoke_node_t *node)
{
    for (size_t i = units->count; i-- > 0;) {
        yoke_unit_t *unit = &units->items[i];
        const char *other;
        if (!same_library_before(units, unit, &other))
            continue;
        if (!unit->unmasked) {
            char *text = yoke_format("the same library as %s (%s); listed once", other,
                                     unit->records.items[0].library);
            if (text == NULL ||
                yoke_node_add_finding(node, unit->probe, "ok", text, false) == NULL) {
                free(text);
                return yoke_fail_memory();
            }
            free(text);
        }
        yoke_records_free(&unit->records);
        memset(&unit->records, 0, sizeof unit->records);
        for (size_t j = 0; j < unit->finding_count; j++)
            yoke_finding_clear(&unit->findings[j]);
        unit->finding_count = 0;
    }
    return YOKE_OK;
}

static yoke_status_t collect_unit(yoke_units_t *units, yoke_unit_t *unit, double timeout,
                                  yoke_node_t *node, yoke_records_t *records)
{
    yoke_unit_t *all = unit->backend != NULL ? unmasked_twin(units, unit) : NULL;
    yoke_records_t empty = {0};
    size_t hidden = 0;
    yoke_status_t status = YOKE_OK;
    if (unit->backend != NULL)
        status = yoke_masks_merge(unit->backend, &unit->records,
                                  all != NULL ? &all->records : &empty, &hidden);
    if (status == YOKE_OK && hidden > 0)
        status = tell_hidden(unit, hidden, node);
    for (size_t i = 0; i < unit->records.count && status == YOKE_OK; i++) {
        yoke_record_t *slot = yoke_records_add(records);
        if (slot == NULL)
            return yoke_fail_memory();
        *slot = unit->records.items[i];
        memset(&unit->records.items[i], 0, sizeof *slot);
    }
    for (size_t i = 0; i < unit->finding_count && status == YOKE_OK; i++)
        status = move_finding(&unit->findings[i], node);
    return status == YOKE_OK ? tell_end(unit, timeout, node) : status;
}

yoke_status_t yoke_units_collect(yoke_units_t *units, double timeout, yoke_node_t *node,
                                 yoke_records_t *records)
{
    yoke_status_t status = drop_repeated(units, node);
    for (size_t i = 0; i < units->count && status == YOKE_OK; i++)
        if (!units->items[i].unmasked)
            status = collect_unit(units, &units->items[i], timeout, node, records);
    return status;
}
