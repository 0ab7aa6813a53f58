/* SPDX-License-Identifier: Apache-2.0 */
/* What hwloc knows, as plain JSON. */
#include "hal/probe/topology.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/text.h"

/*
 * Only hwloc's own reading of sysfs: its plug-ins load OpenCL, CUDA, NVML, ROCm and X11,
 * and its PCI plug-in reads the running machine whatever the root is.
 */
static void steer(const char *sysroot)
{
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    setenv("HWLOC_COMPONENTS", "linux,stop", 1);
    setenv("HWLOC_HIDE_ERRORS", "2", 1);
    if (sysroot == NULL || sysroot[0] == '\0')
        return;
    unsetenv("HWLOC_XMLFILE");
    unsetenv("HWLOC_SYNTHETIC");
    setenv("HWLOC_FSROOT", sysroot, 1);
    setenv("HWLOC_THISSYSTEM", "0", 1);
}

static json_t *describe_nodes(hwloc_topology_t topology)
{
    json_t *list = json_array();
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) !=
           NULL) {
        json_t *item = json_object();
        json_object_set_new(item, "index", json_integer((json_int_t)node->os_index));
        json_object_set_new(item, "bytes",
                            json_integer((json_int_t)node->attr->numanode.local_memory));
        json_array_append_new(list, item);
    }
    return list;
}

static void address(const struct hwloc_pcidev_attr_s *pci, char text[32])
{
    snprintf(text, 32, "%04x:%02x:%02x.%01x", (unsigned)pci->domain, (unsigned)pci->bus,
             (unsigned)pci->dev, (unsigned)pci->func);
}

/* A device that hangs at the whole machine is a device of unknown place. */
static json_t *numa_of(hwloc_topology_t topology, hwloc_obj_t device)
{
    hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, device);
    if (place == NULL || place->nodeset == NULL || place->parent == NULL ||
        hwloc_bitmap_weight(place->nodeset) != 1)
        return json_null();
    return json_integer(hwloc_bitmap_first(place->nodeset));
}

/* Bridges from the device up to the root complex. */
static json_t *bridges_of(hwloc_obj_t device)
{
    json_t *list = json_array();
    for (hwloc_obj_t up = device->parent; up != NULL && up->type == HWLOC_OBJ_BRIDGE;
         up = up->parent) {
        char text[64];
        if (up->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
            address(&up->attr->bridge.upstream.pci, text);
        else
            snprintf(text, sizeof text, "host-%04x:%02x",
                     (unsigned)up->attr->bridge.downstream.pci.domain,
                     (unsigned)up->attr->bridge.downstream.pci.secondary_bus);
        json_array_append_new(list, json_string(text));
    }
    return list;
}

static json_t *describe_pci(hwloc_topology_t topology)
{
    json_t *list = json_array();
    hwloc_obj_t device = NULL;
    while ((device = hwloc_get_next_pcidev(topology, device)) != NULL) {
        char text[32];
        json_t *item = json_object();
        address(&device->attr->pcidev, text);
        json_object_set_new(item, "address", json_string(text));
        json_object_set_new(item, "numa", numa_of(topology, device));
        json_object_set_new(item, "bridges", bridges_of(device));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *describe(hwloc_topology_t topology)
{
    json_t *root = json_object();
    unsigned version = hwloc_get_api_version();
    char text[32];
    snprintf(text, sizeof text, "%u.%u", version >> 16, version >> 8 & 255);
    json_object_set_new(root, "interface", json_string(text));
    hwloc_obj_t machine = hwloc_get_root_obj(topology);
    json_object_set_new(root, "machine_bytes",
                        json_integer((json_int_t)machine->total_memory));
    json_object_set_new(root, "nodes", describe_nodes(topology));
    int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    int threads = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    json_object_set_new(root, "cores", json_integer(cores));
    json_object_set_new(root, "threads", json_integer(threads));
    json_object_set_new(root, "pci", describe_pci(topology));
    return root;
}

json_t *yoke_topology_read(const char *sysroot)
{
    hwloc_topology_t topology;
    json_t *root = NULL;
    steer(sysroot);
    if (hwloc_topology_init(&topology) != 0)
        return json_pack("{s:s}", "problem", "hwloc_topology_init() failed");
    if (hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_ALL) == 0 &&
        hwloc_topology_load(topology) == 0)
        root = describe(topology);
    hwloc_topology_destroy(topology);
    return root != NULL ? root
                        : json_pack("{s:s}", "problem", "hwloc_topology_load() failed");
}
