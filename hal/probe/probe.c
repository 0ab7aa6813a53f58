/* SPDX-License-Identifier: Apache-2.0 */
/* The whole probe: sysfs first, then one helper process for each vendor library, then the
 * records become devices. */
#include "yoke/probe.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "hal/probe/probe.h"
#include "hal/probe/sysfs.h"
#include "hal/probe/topology.h"
#include "hal/probe/units.h"
#include "inventory/document.h"

#define DEFAULT_TIMEOUT 5.0
#define LONGEST_TIMEOUT 86400.0

/* --- options ------------------------------------------------------------------------ */

static yoke_status_t parse_timeout(const char *text, double *out_timeout)
{
    double value;
    if (yoke_parse_quantity(text, &value) != YOKE_OK)
        return YOKE_ERR_USAGE;
    if (!(value > 0) || value > LONGEST_TIMEOUT)
        return yoke_fail(YOKE_ERR_USAGE,
                         "YOKE_PROBE_TIMEOUT=%s: give seconds between 0 and 86400", text);
    *out_timeout = value;
    return YOKE_OK;
}

yoke_status_t yoke_probe_settings(const yoke_probe_options_t *options,
                                  yoke_probe_settings_t *out_settings)
{
    yoke_probe_options_t given = {0};
    yoke_probe_settings_t settings = {"", NULL, DEFAULT_TIMEOUT};
    const char *text = getenv("YOKE_PROBE_TIMEOUT");
    yoke_status_t status = YOKE_OK;
    if (options != NULL) /* a caller built against an older header has a smaller struct */
        memcpy(&given, options,
               options->struct_size < sizeof given ? options->struct_size : sizeof given);
    if (given.timeout != 0)
        settings.timeout = given.timeout;
    else if (text != NULL && text[0] != '\0')
        status = parse_timeout(text, &settings.timeout);
    if (status != YOKE_OK)
        return status;
    if (!isfinite(settings.timeout) || settings.timeout <= 0 ||
        settings.timeout > LONGEST_TIMEOUT)
        return yoke_fail(YOKE_ERR_USAGE, "timeout: give seconds between 0 and 86400");
    settings.backends = given.backends != NULL ? given.backends : getenv("YOKE_BACKENDS");
    if (settings.backends != NULL && settings.backends[0] == '\0')
        settings.backends = NULL;
    if (given.sysroot != NULL && strcmp(given.sysroot, "/") != 0)
        settings.sysroot = given.sysroot;
    if (settings.sysroot[0] != '\0' && !yoke_directory_exists(settings.sysroot))
        return yoke_fail(YOKE_ERR_SYSTEM,
                         "%s: no such folder; --sysroot needs the root of "
                         "a saved tree with sys/ and proc/ in it",
                         settings.sysroot);
    *out_settings = settings;
    return YOKE_OK;
}

/* --- memory that several sources describe ------------------------------------------- */

static bool differs(double a, double b)
{
    return b > 0 && (a > b ? a - b : b - a) > 0.02 * b;
}

static double opencl_memory_of_host(const yoke_records_t *records, const char **out_name)
{
    for (size_t i = 0; i < records->count; i++) {
        const yoke_record_t *record = &records->items[i];
        if (strcmp(record->runtime, "opencl") == 0 && !record->emulator &&
            record->kind_known && record->kind == YOKE_DEVICE_CPU &&
            yoke_known(&record->memory_total)) {
            *out_name = record->platform != NULL ? record->platform : record->probe;
            return record->memory_total.value;
        }
    }
    return 0;
}

/* Memory can be plugged in, and not all who count it notice: say all figures. */
static yoke_status_t compare_memory(const yoke_host_memory_t *memory,
                                    const json_t *topology, const yoke_records_t *records,
                                    yoke_node_t *node)
{
    yoke_text_t text = {0};
    const char *platform = "";
    double total = (double)memory->total;
    double hwloc = (double)json_integer_value(json_object_get(topology, "machine_bytes"));
    double opencl = opencl_memory_of_host(records, &platform);
    bool nodes_differ =
        memory->nodes_total != 0 && differs((double)memory->nodes_total, total);
    bool hwloc_differs = hwloc > 0 && differs(hwloc, total);
    /* PoCL takes three quarters by its own rule: only less than half is strange. */
    bool opencl_differs = opencl > 0 && opencl < 0.5 * total;
    if (memory->total == 0 || (!nodes_differ && !hwloc_differs && !opencl_differs))
        return YOKE_OK;
    yoke_text_printf(&text, "memory of the host: /proc/meminfo says %.0f kB",
                     total / 1024);
    if (memory->nodes_total != 0)
        yoke_text_printf(&text, ", %u NUMA node%s together %.0f kB", memory->nodes,
                         memory->nodes == 1 ? "" : "s",
                         (double)memory->nodes_total / 1024);
    if (hwloc > 0)
        yoke_text_printf(&text, ", hwloc %.0f kB", hwloc / 1024);
    if (opencl > 0)
        yoke_text_printf(&text, ", %s %.0f B", platform, opencl);
    yoke_text_add(&text, "; /proc/meminfo is taken");
    yoke_status_t status = text.failed ? yoke_fail_memory()
                                       : yoke_node_warn(node, "%s", yoke_text_get(&text));
    yoke_text_free(&text);
    return status;
}

/* --- the probe ---------------------------------------------------------------------- */

static yoke_status_t tell_sysfs(const char *root, const yoke_records_t *records,
                                yoke_node_t *node)
{
    size_t cards = 0;
    for (size_t i = 0; i < records->count; i++)
        cards += strcmp(records->items[i].runtime, "sysfs") == 0 ? 1 : 0;
    char *folder = yoke_format("%s/sys/bus/pci/devices", root);
    if (folder == NULL)
        return yoke_fail_memory();
    bool there = yoke_directory_exists(folder);
    char *text =
        there ? yoke_format("%zu accelerator%s on the PCI bus", cards,
                            cards == 1 ? "" : "s")
              : yoke_format("%s is not there: cards that no runtime sees stay unknown",
                            folder);
    yoke_status_t status =
        text != NULL && yoke_node_add_finding(node, "sysfs", there ? "ok" : "absent",
                                              text, false) != NULL
            ? YOKE_OK
            : yoke_fail_memory();
    free(text);
    free(folder);
    return status;
}

/* A saved tree often lacks what hwloc needs; nothing failed then. */
static yoke_status_t tell_topology(const char *root, const json_t *topology,
                                   yoke_node_t *node)
{
    const char *problem = json_string_value(json_object_get(topology, "problem"));
    const char *version = json_string_value(json_object_get(topology, "interface"));
    if (topology == NULL)
        return YOKE_OK; /* not asked, or its end is a finding already */
    char *text = problem != NULL
                     ? yoke_strdup(problem)
                     : yoke_format("topology by hwloc (interface %s)", version);
    yoke_status_t status =
        text != NULL &&
                yoke_node_add_finding(node, "hwloc", problem != NULL ? "absent" : "ok",
                                      text, problem != NULL && root[0] == '\0') != NULL
            ? YOKE_OK
            : yoke_fail_memory();
    free(text);
    return status;
}

static yoke_status_t probe_node(const yoke_probe_settings_t *settings, yoke_node_t *node,
                                yoke_records_t *records, yoke_units_t *units)
{
    const char *root = settings->sysroot;
    yoke_host_memory_t memory = {0};
    yoke_status_t status = yoke_sysfs_host(root, node, records, &memory);
    if (status == YOKE_OK)
        status = yoke_sysfs_accelerators(root, records);
    if (status == YOKE_OK)
        status = yoke_sysfs_nics(root, node);
    if (status == YOKE_OK)
        status = tell_sysfs(root, records, node);
    if (status == YOKE_OK)
        status = yoke_units_plan(root, settings->backends, node, units);
    if (status == YOKE_OK)
        status = yoke_units_run(units, settings->timeout);
    const json_t *topology = yoke_units_topology(units);
    if (status == YOKE_OK)
        status = tell_topology(root, topology, node);
    if (status == YOKE_OK)
        status = yoke_units_collect(units, settings->timeout, node, records);
    if (status == YOKE_OK)
        status = compare_memory(&memory, topology, records, node);
    if (status == YOKE_OK)
        status = yoke_identity_merge(records, node);
    return status == YOKE_OK ? yoke_topology_apply(root, topology, node) : status;
}

yoke_status_t yoke_probe(const yoke_probe_options_t *options,
                         yoke_inventory_t **out_inventory)
{
    yoke_probe_settings_t settings;
    yoke_records_t records = {0};
    yoke_units_t units = {0};
    yoke_status_t status = yoke_probe_settings(options, &settings);
    if (status != YOKE_OK)
        return status;
    yoke_inventory_t *inventory = yoke_inventory_new();
    yoke_node_t *node =
        inventory != NULL ? yoke_inventory_add_node(inventory, "unknown") : NULL;
    status =
        node != NULL ? probe_node(&settings, node, &records, &units) : yoke_fail_memory();
    yoke_units_free(&units);
    yoke_records_free(&records);
    if (status == YOKE_OK)
        *out_inventory = inventory;
    else
        yoke_inventory_free(inventory);
    return status;
}
