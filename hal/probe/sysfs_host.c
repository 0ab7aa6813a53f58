/* SPDX-License-Identifier: Apache-2.0 */
/* The host itself: name, kernel, processor, memory. */
#include "hal/probe/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "inventory/document.h"
#include "inventory/vendor.h"

/* Value of "Key:   value" or "KEY=value" in a text; caller frees. */
static char *value_of(const char *text, const char *key, char separator)
{
    size_t length = strlen(key);
    for (const char *line = text; line != NULL && *line != '\0';) {
        size_t size = strcspn(line, "\n");
        if (size > length && strncmp(line, key, length) == 0) {
            const char *at = line + length, *end = line + size;
            while (at < end && (*at == ' ' || *at == '\t'))
                at++;
            if (at < end && *at == separator) {
                at++;
                while (at < end && (*at == ' ' || *at == '"'))
                    at++;
                while (end > at && (end[-1] == ' ' || end[-1] == '"'))
                    end--;
                return yoke_strndup(at, (size_t)(end - at));
            }
        }
        line += size + (line[size] == '\n' ? 1 : 0);
    }
    return NULL;
}

static uint64_t kilobytes(const char *text, const char *key)
{
    char *value = value_of(text, key, ':');
    unsigned long long number = 0;
    if (value == NULL || sscanf(value, "%18llu", &number) != 1)
        number = 0;
    free(value);
    return (uint64_t)number * 1024;
}

static yoke_status_t read_names(const char *root, yoke_node_t *node)
{
    bool live = root[0] == '\0';
    struct utsname uts;
    bool known = live && uname(&uts) == 0;
    char *host = yoke_sysfs_line(root, "/proc/sys/kernel/hostname");
    char *kernel = yoke_sysfs_line(root, "/proc/sys/kernel/osrelease");
    char *release = yoke_sysfs_text(root, "/etc/os-release");
    char *os = release != NULL ? value_of(release, "PRETTY_NAME", '=') : NULL;
    if (host == NULL)
        host = yoke_sysfs_line(root, "/etc/hostname");
    yoke_status_t status = yoke_set_string(&node->hosts, known          ? uts.nodename
                                                         : host != NULL ? host
                                                                        : "unknown");
    if (status == YOKE_OK)
        status = yoke_set_string(&node->kernel, known ? uts.release : kernel);
    if (status == YOKE_OK)
        status = yoke_set_string(&node->os, os);
    node->gathered_at = live ? (double)time(NULL) : 0;
    free(host);
    free(kernel);
    free(release);
    free(os);
    return status;
}

static void read_memory(const char *root, yoke_host_memory_t *memory)
{
    yoke_strings_t nodes = {0};
    char *text = yoke_sysfs_text(root, "/proc/meminfo");
    if (text != NULL) {
        memory->total = kilobytes(text, "MemTotal");
        memory->available = kilobytes(text, "MemAvailable");
    }
    free(text);
    if (yoke_sysfs_list(root, "/sys/devices/system/node", &nodes) != YOKE_OK)
        return;
    for (size_t i = 0; i < nodes.count; i++) {
        unsigned number;
        char prefix[64];
        if (sscanf(nodes.items[i], "node%9u", &number) != 1)
            continue;
        text =
            yoke_sysfs_text(root, "/sys/devices/system/node/%s/meminfo", nodes.items[i]);
        snprintf(prefix, sizeof prefix, "Node %u MemTotal", number);
        if (text != NULL) {
            memory->nodes_total += kilobytes(text, prefix);
            memory->nodes++;
        }
        free(text);
    }
    yoke_strings_free(&nodes);
}

/* Names of Arm implementers say nothing to a user; the model name is absent there. */
static void read_processor(const char *root, yoke_record_t *record)
{
    char *text = yoke_sysfs_text(root, "/proc/cpuinfo");
    char *vendor = text != NULL ? value_of(text, "vendor_id", ':') : NULL;
    record->name = text != NULL ? value_of(text, "model name", ':') : NULL;
    if (record->name == NULL)
        record->name = yoke_strdup("host processor");
    record->vendor = vendor != NULL ? yoke_strdup(yoke_vendor_canonical(vendor)) : NULL;
    free(vendor);
    free(text);
}

static yoke_status_t fill_memory(const yoke_host_memory_t *memory, yoke_record_t *record)
{
    uint64_t usable = memory->total, left = memory->available;
    const char *why = "/proc/meminfo";
    if (memory->total == 0)
        return YOKE_OK;
    if (memory->cgroup_limit != 0 && memory->cgroup_limit < usable) {
        usable = memory->cgroup_limit;
        why = memory->cgroup_file;
        uint64_t room = memory->cgroup_limit > memory->cgroup_used
                            ? memory->cgroup_limit - memory->cgroup_used
                            : 0;
        left = room < left ? room : left;
    }
    yoke_status_t status = yoke_quantity_set(&record->memory_total, (double)memory->total,
                                             YOKE_SOURCE_SYSFS, 0, "/proc/meminfo");
    if (status == YOKE_OK && memory->available != 0)
        status = yoke_quantity_set(&record->memory_free, (double)left, YOKE_SOURCE_SYSFS,
                                   0, why);
    if (status == YOKE_OK)
        status = yoke_quantity_set(&record->memory_usable, (double)usable,
                                   YOKE_SOURCE_SYSFS, 0, why);
    return status;
}

yoke_status_t yoke_sysfs_host(const char *root, yoke_node_t *node,
                              yoke_records_t *records, yoke_host_memory_t *out_memory)
{
    yoke_host_memory_t memory = {0};
    yoke_status_t status = read_names(root, node);
    if (status != YOKE_OK)
        return status;
    read_memory(root, &memory);
    yoke_sysfs_cgroup(root, &memory);
    yoke_record_t *record = yoke_records_add(records);
    if (record == NULL)
        return yoke_fail_memory();
    record->probe = yoke_strdup("host");
    record->runtime = yoke_strdup("host");
    record->ordinal = record->native = 0;
    record->kind = YOKE_DEVICE_CPU;
    record->kind_known = true;
    read_processor(root, record);
    status = fill_memory(&memory, record);
    *out_memory = memory;
    return status;
}
