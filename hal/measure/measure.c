/* SPDX-License-Identifier: Apache-2.0 */
/* Time the devices of an inventory, each in a helper process, and put the figures into
 * it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/backend.h"
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
    yoke_inventory_device_t *peer; /* of a pair: where to; else NULL */
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

/* What a device has for each thing that is timed besides matrix products. */
static yoke_status_t apply_bytes(yoke_inventory_device_t *device,
                                 const yoke_measurement_t *item)
{
    yoke_measurement_t changed = *item;
    if (strcmp(item->what, "memory triad") == 0 ||
        strcmp(item->what, "copy within device") == 0)
        return improve(&device->bandwidth, item);
    if (strcmp(item->what, "memory copy") == 0) {
        /* Half of what moves is read, half written: the rate of a copy is half of it. */
        changed.median = item->median / 2;
        yoke_status_t status = improve(&device->copy_to, &changed);
        return status == YOKE_OK ? improve(&device->copy_from, &changed) : status;
    }
    if (strcmp(item->what, "kernel launches") == 0)
        return yoke_quantity_set(&device->launch, 1 / item->median, YOKE_SOURCE_MEASURED,
                                 0, item->with);
    /* On the host, an OpenCL "copy to device" is a copy within one memory. */
    if (device->kind == YOKE_DEVICE_CPU)
        return YOKE_OK;
    if (strcmp(item->what, "copy to device") == 0)
        return improve(&device->copy_to, item);
    if (strcmp(item->what, "copy from device") == 0)
        return improve(&device->copy_from, item);
    return YOKE_OK;
}

/* The figure that a measurement is compared with, before it takes its place. */
static double nominal_of(const yoke_quantity_t *quantity)
{
    return yoke_known(quantity) && quantity->source != YOKE_SOURCE_MEASURED
               ? quantity->value
               : 0;
}

static yoke_status_t apply(const job_t *job, yoke_measurement_t *item)
{
    yoke_inventory_device_t *device = job->device;
    yoke_dtype_t dtype;
    if (item->problem != NULL || item->what == NULL || !(item->median > 0) ||
        !isfinite(item->median) || job->peer != NULL)
        return YOKE_OK;
    if (item->dtype == NULL || !yoke_dtype_parse(item->dtype, &dtype)) {
        if (strcmp(item->what, "memory triad") == 0)
            item->nominal = nominal_of(&device->bandwidth);
        return apply_bytes(device, item);
    }
    item->nominal = nominal_of(&device->compute[dtype]);
    return improve(&device->compute[dtype], item);
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
    item->device = job->peer != NULL
                       ? yoke_format("%s -> %s", job->device->id, job->peer->id)
                       : yoke_strdup(job->device->id);
    item->of_pair = job->peer != NULL;
    item->what = text_of(value, "what");
    item->with = text_of(value, "with");
    item->dtype = text_of(value, "dtype");
    item->unit =
        yoke_strdup(item->dtype != NULL ? "FLOP/s"
                    : item->what != NULL && (strcmp(item->what, "kernel launches") == 0 ||
                                             strncmp(item->what, "small ", 6) == 0)
                        ? "/s"
                        : "B/s");
    item->problem = text_of(value, "problem");
    item->median = json_number_value(json_object_get(value, "median"));
    item->low = json_number_value(json_object_get(value, "low"));
    item->high = json_number_value(json_object_get(value, "high"));
    item->runs = (unsigned)json_integer_value(json_object_get(value, "runs"));
    if (json_is_true(json_object_get(value, "lower_bound")))
        item->marks |= YOKE_MARK_LOWER_BOUND;
    if (item->problem != NULL) {
        char *text = yoke_format("%s: %s: %s", item->device != NULL ? item->device : "?",
                                 item->what != NULL ? item->what : "?", item->problem);
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
        char *text = yoke_format("measuring %s by %s %s: %s%s%s", job->device->id,
                                 arguments[1], arguments[2] != NULL ? arguments[2] : "",
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

/* --- which devices, and by what
 * ----------------------------------------------------------- */

static bool is_timed(const yoke_inventory_device_t *device)
{
    return device->kind != YOKE_DEVICE_EMULATOR && device->hidden_by == NULL &&
           (device->schedulable || device->kind == YOKE_DEVICE_CPU);
}

/* The name by which the live backend of a view opens the device; NULL: there is none, or
 * OpenCL, whose devices have other numbers when one library is asked alone. */
static char *live_name(const yoke_view_t *view)
{
    const yoke_backend_t *backend =
        view->runtime != NULL ? yoke_backend_find(view->runtime) : NULL;
    if (backend == NULL || backend->live == NULL || strcmp(view->runtime, "host") == 0 ||
        strcmp(view->runtime, "opencl") == 0)
        return NULL;
    /* The helper sees what the probe saw: the number means the same device. */
    return view->ordinal >= 0
               ? yoke_format("%s:%lld", view->runtime, (long long)view->ordinal)
               : NULL;
}

static yoke_status_t measure_view(job_t *job, const yoke_view_t *view)
{
    char index[24];
    const char *runtime = view->runtime != NULL ? view->runtime : "";
    const char *const host[] = {"measure", "host", NULL};
    const char *const opencl[] = {
        "measure", "opencl", view->library, view->platform != NULL ? view->platform : "",
        index,     NULL};
    snprintf(index, sizeof index, "%lld", (long long)view->ordinal);
    if (strcmp(runtime, "host") == 0)
        return run_job(job, host);
    if (strcmp(runtime, "opencl") == 0)
        return view->ordinal >= 0 && view->library != NULL ? run_job(job, opencl)
                                                           : YOKE_OK;
    char *name = live_name(view);
    const char *const live[] = {"measure", "live", name, NULL};
    yoke_status_t status = name != NULL ? run_job(job, live) : YOKE_OK;
    free(name);
    return status;
}

static yoke_status_t measure_device(job_t *job)
{
    yoke_status_t status = YOKE_OK;
    if (!is_timed(job->device))
        return YOKE_OK;
    for (size_t i = 0; i < job->device->view_count && status == YOKE_OK; i++)
        status = measure_view(job, &job->device->views[i]);
    return status;
}

/* --- pairs
 * ----------------------------------------------------------------------------------- */

/* By the first runtime that both have, so that peers are found; else each by its first.
 */
static bool pair_names(const yoke_inventory_device_t *a, const yoke_inventory_device_t *b,
                       char **out_a, char **out_b)
{
    *out_a = *out_b = NULL;
    for (size_t i = 0; i < a->view_count && *out_b == NULL; i++)
        for (size_t j = 0; j < b->view_count && *out_b == NULL; j++) {
            if (a->views[i].runtime == NULL || b->views[j].runtime == NULL ||
                strcmp(a->views[i].runtime, b->views[j].runtime) != 0)
                continue;
            free(*out_a);
            *out_a = live_name(&a->views[i]);
            *out_b = *out_a != NULL ? live_name(&b->views[j]) : NULL;
        }
    for (size_t i = 0; i < a->view_count && *out_b == NULL && *out_a == NULL; i++)
        *out_a = live_name(&a->views[i]);
    for (size_t j = 0; j < b->view_count && *out_a != NULL && *out_b == NULL; j++)
        *out_b = live_name(&b->views[j]);
    return *out_a != NULL && *out_b != NULL;
}

/* The link that the two figures of a pair make. */
static yoke_status_t add_pair(yoke_inventory_t *inventory, const job_t *job, size_t first)
{
    const yoke_measurements_t *list = job->measurements;
    const yoke_measurement_t *rate = NULL, *small = NULL;
    for (size_t i = first; i < list->count; i++) {
        const yoke_measurement_t *item = &list->items[i];
        if (item->problem != NULL || item->what == NULL || !(item->median > 0))
            continue;
        if (strcmp(item->what, "copy between devices") == 0)
            rate = item;
        else if (strcmp(item->what, "small copies between devices") == 0)
            small = item;
    }
    if (rate == NULL || small == NULL)
        return YOKE_OK;
    yoke_link_t *link = yoke_inventory_add_link(inventory);
    if (link == NULL)
        return YOKE_ERR_NO_MEMORY;
    link->between[0] = yoke_format("%s/%s", job->node->hosts, job->device->id);
    link->between[1] = yoke_format("%s/%s", job->node->hosts, job->peer->id);
    link->kind = yoke_strdup(strcmp(rate->with, "peer") == 0 ? "peer copy"
                                                             : "copy through the host");
    if (link->between[0] == NULL || link->between[1] == NULL || link->kind == NULL)
        return yoke_fail_memory();
    yoke_status_t status =
        yoke_quantity_set(&link->rate, rate->median, YOKE_SOURCE_MEASURED, 0, rate->with);
    return status == YOKE_OK ? yoke_quantity_set(&link->latency, 1 / small->median,
                                                 YOKE_SOURCE_MEASURED, 0, small->with)
                             : status;
}

static yoke_status_t measure_pair(yoke_inventory_t *inventory, job_t *job)
{
    char *from, *to;
    yoke_status_t status = YOKE_OK;
    size_t first = job->measurements->count;
    if (pair_names(job->device, job->peer, &from, &to)) {
        const char *const pair[] = {"measure", "pair", from, to, NULL};
        status = run_job(job, pair);
    }
    if (status == YOKE_OK)
        status = add_pair(inventory, job, first);
    free(from);
    free(to);
    return status;
}

static bool is_paired(const yoke_inventory_device_t *device)
{
    return is_timed(device) && device->kind != YOKE_DEVICE_CPU;
}

static yoke_status_t measure_pairs(yoke_inventory_t *inventory, yoke_node_t *node,
                                   yoke_measurements_t *measurements)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; status == YOKE_OK && i < node->device_count; i++)
        for (size_t j = i + 1; status == YOKE_OK && j < node->device_count; j++) {
            job_t job = {.node = node,
                         .device = &node->devices[i],
                         .peer = &node->devices[j],
                         .measurements = measurements};
            if (is_paired(job.device) && is_paired(job.peer))
                status = measure_pair(inventory, &job);
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
    for (size_t i = 0; status == YOKE_OK && i < inventory->node_count; i++) {
        yoke_node_t *node = &inventory->nodes[i];
        for (size_t j = 0; status == YOKE_OK && j < node->device_count; j++) {
            job_t job = {
                .node = node, .device = &node->devices[j], .measurements = &measurements};
            status = measure_device(&job);
        }
        if (status == YOKE_OK)
            status = measure_pairs(inventory, node, &measurements);
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
        free(item->unit);
    }
    free(measurements->items);
    memset(measurements, 0, sizeof *measurements);
}
