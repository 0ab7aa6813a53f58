/* SPDX-License-Identifier: Apache-2.0 */
/* Time the devices of an inventory, each in a helper process, and put the figures into
 * it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "hal/probe/child.h"
#include "hal/probe/probe.h"
#include "hal/probe/wire.h"
#include "inventory/document.h"

/* A device is done in about 10 s; a loaded machine gets more before it is given up. */
#define DEADLINE 60.0

typedef struct job {
    yoke_node_t *node;
    yoke_inventory_device_t *device;
    bool native; /* the host by itself, not an OpenCL view of it */
    yoke_measurements_t *measurements;
} job_t;

static yoke_status_t add(yoke_measurements_t *list, yoke_measurement_t **out_item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity > 0 ? 2 * list->capacity : 16;
        yoke_measurement_t *items = realloc(list->items, capacity * sizeof *items);
        if (items == NULL)
            return yoke_fail_memory();
        list->items = items;
        list->capacity = capacity;
    }
    *out_item = &list->items[list->count++];
    memset(*out_item, 0, sizeof **out_item);
    return YOKE_OK;
}

/*
 * A lower bound never replaces a figure that is higher, nor one that was measured with
 * the vendor's own library.
 */
static yoke_status_t improve(yoke_quantity_t *quantity, const yoke_measurement_t *item)
{
    bool bound = (item->marks & YOKE_MARK_LOWER_BOUND) != 0;
    bool keeps =
        yoke_known(quantity) && (quantity->value >= item->median ||
                                 (quantity->source == YOKE_SOURCE_MEASURED &&
                                  (quantity->marks & YOKE_MARK_LOWER_BOUND) == 0));
    if (bound && keeps)
        return YOKE_OK;
    return yoke_quantity_set(quantity, item->median, YOKE_SOURCE_MEASURED, item->marks,
                             item->with);
}

static yoke_status_t apply(const job_t *job, const yoke_measurement_t *item)
{
    yoke_inventory_device_t *device = job->device;
    yoke_dtype_t dtype;
    yoke_status_t status = YOKE_OK;
    if (item->problem != NULL || item->what == NULL || !(item->median > 0) ||
        !isfinite(item->median))
        return YOKE_OK;
    if (item->dtype != NULL && yoke_dtype_parse(item->dtype, &dtype))
        return improve(&device->compute[dtype], item);
    if (strcmp(item->what, "memory triad") == 0)
        return improve(&device->bandwidth, item);
    if (strcmp(item->what, "memory copy") == 0) {
        /* Half of what moves is read, half written: the rate of a copy is half of it. */
        yoke_measurement_t half = *item;
        half.median = item->median / 2;
        status = improve(&device->copy_to, &half);
        return status == YOKE_OK ? improve(&device->copy_from, &half) : status;
    }
    /* On the host, an OpenCL "copy to device" is a copy within one memory. */
    if (device->kind == YOKE_DEVICE_CPU)
        return YOKE_OK;
    if (strcmp(item->what, "copy to device") == 0)
        return improve(&device->copy_to, item);
    if (strcmp(item->what, "copy from device") == 0)
        return improve(&device->copy_from, item);
    return YOKE_OK;
}

static char *text_of(const json_t *value, const char *key)
{
    const char *text = json_string_value(json_object_get(value, key));
    return text != NULL ? yoke_strdup(text) : NULL;
}

static yoke_status_t take(void *context, const char *key, const json_t *value)
{
    const job_t *job = context;
    yoke_measurement_t *item = NULL;
    if (strcmp(key, "measurement") != 0)
        return YOKE_OK;
    yoke_status_t status = add(job->measurements, &item);
    if (status != YOKE_OK)
        return status;
    item->device = yoke_strdup(job->device->id);
    item->what = text_of(value, "what");
    item->with = text_of(value, "with");
    item->dtype = text_of(value, "dtype");
    item->problem = text_of(value, "problem");
    item->median = json_number_value(json_object_get(value, "median"));
    item->low = json_number_value(json_object_get(value, "low"));
    item->high = json_number_value(json_object_get(value, "high"));
    item->runs = (unsigned)json_integer_value(json_object_get(value, "runs"));
    if (json_is_true(json_object_get(value, "lower_bound")))
        item->marks |= YOKE_MARK_LOWER_BOUND;
    if (item->problem != NULL) {
        char *text =
            yoke_format("%s: %s", item->what != NULL ? item->what : "?", item->problem);
        bool told =
            text != NULL &&
            yoke_node_add_finding(job->node, "measure", "no device", text, true) != NULL;
        free(text);
        return told ? YOKE_OK : yoke_fail_memory();
    }
    return apply(job, item);
}

static yoke_status_t no_record(void *context, yoke_record_t *record)
{
    (void)context;
    yoke_record_clear(record);
    return YOKE_OK;
}

static yoke_status_t no_finding(void *context, const yoke_finding_t *finding)
{
    (void)context;
    (void)finding;
    return YOKE_OK;
}

static yoke_status_t run_job(job_t *job, const char *const *arguments)
{
    yoke_child_t child = {.arguments = arguments, .timeout = DEADLINE};
    yoke_wire_sink_t sink = {job, no_record, no_finding, take};
    yoke_children_run(&child, 1);
    yoke_status_t status = yoke_wire_read("measure", &child.lines, &sink);
    if (status == YOKE_OK && child.end != YOKE_CHILD_FINISHED) {
        const char *said = child.problem != NULL      ? child.problem
                           : child.last_words != NULL ? child.last_words
                                                      : "";
        char *text =
            yoke_format("measuring %s by %s: %s%s%s", job->device->id, arguments[1],
                        child.end == YOKE_CHILD_TIMED_OUT ? "not done in 60 s"
                        : child.end == YOKE_CHILD_CRASHED ? "the process died"
                                                          : "not started",
                        said[0] != '\0' ? ": " : "", said);
        bool told = text != NULL &&
                    yoke_node_add_finding(job->node, "measure",
                                          child.end == YOKE_CHILD_TIMED_OUT ? "timed out"
                                                                            : "crashed",
                                          text, true) != NULL;
        status = told ? YOKE_OK : yoke_fail_memory();
        free(text);
    }
    yoke_child_clear(&child);
    return status;
}

static yoke_status_t measure_device(job_t *job)
{
    yoke_inventory_device_t *device = job->device;
    yoke_status_t status = YOKE_OK;
    if (device->kind == YOKE_DEVICE_EMULATOR || device->hidden_by != NULL ||
        (!device->schedulable && device->kind != YOKE_DEVICE_CPU))
        return YOKE_OK;
    for (size_t i = 0; i < device->view_count && status == YOKE_OK; i++) {
        const yoke_view_t *view = &device->views[i];
        char index[24];
        const char *const host[] = {"measure", "host", NULL};
        const char *const opencl[] = {
            "measure",     "opencl",
            view->library, view->platform != NULL ? view->platform : "",
            index,         NULL};
        snprintf(index, sizeof index, "%lld", (long long)view->ordinal);
        if (view->runtime != NULL && strcmp(view->runtime, "host") == 0)
            status = run_job(job, host);
        else if (view->runtime != NULL && strcmp(view->runtime, "opencl") == 0 &&
                 view->ordinal >= 0 && view->library != NULL)
            status = run_job(job, opencl);
    }
    return status;
}

yoke_status_t yoke_measure(yoke_inventory_t *inventory,
                           const yoke_probe_options_t *options,
                           yoke_measurements_t *out_measurements)
{
    yoke_probe_settings_t settings;
    yoke_measurements_t measurements = {0};
    yoke_status_t status = yoke_probe_settings(options, &settings);
    if (status == YOKE_OK && settings.sysroot[0] != '\0')
        status =
            yoke_fail(YOKE_ERR_USAGE,
                      "a saved tree cannot be timed: leave out --measure or --sysroot");
    for (size_t i = 0; status == YOKE_OK && i < inventory->node_count; i++)
        for (size_t j = 0; status == YOKE_OK && j < inventory->nodes[i].device_count;
             j++) {
            job_t job = {.node = &inventory->nodes[i],
                         .device = &inventory->nodes[i].devices[j],
                         .measurements = &measurements};
            status = measure_device(&job);
        }
    if (status == YOKE_OK)
        *out_measurements = measurements;
    else
        yoke_measurements_free(&measurements);
    return status;
}

void yoke_measurements_free(yoke_measurements_t *measurements)
{
    for (size_t i = 0; i < measurements->count; i++) {
        yoke_measurement_t *item = &measurements->items[i];
        free(item->device);
        free(item->what);
        free(item->with);
        free(item->problem);
        free(item->dtype);
    }
    free(measurements->items);
    memset(measurements, 0, sizeof *measurements);
}
