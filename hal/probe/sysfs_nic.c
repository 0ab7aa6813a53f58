/* SPDX-License-Identifier: Apache-2.0 */
/* Network interfaces: InfiniBand and RoCE devices first, then the Ethernet that is left.
 */
#include "hal/probe/sysfs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"

static yoke_status_t place(const char *root, const char *folder, const char *name,
                           yoke_nic_t *nic)
{
    char *real = yoke_sysfs_real(root, "%s/%s/device", folder, name);
    int64_t numa = yoke_sysfs_number(-1, root, "%s/%s/device/numa_node", folder, name);
    nic->numa = numa >= 0 ? (int)numa : -1;
    if (real != NULL && yoke_sysfs_pci_of(real, &nic->pci)) {
        char text[24];
        yoke_pci_text(&nic->pci, text);
        nic->pci.vendor_id =
            (uint16_t)yoke_sysfs_number(0, root, "/sys/bus/pci/devices/%s/vendor", text);
        nic->pci.device_id =
            (uint16_t)yoke_sysfs_number(0, root, "/sys/bus/pci/devices/%s/device", text);
        if (nic->numa < 0) {
            numa = yoke_sysfs_number(-1, root, "/sys/bus/pci/devices/%s/numa_node", text);
            nic->numa = numa >= 0 ? (int)numa : -1;
        }
    }
    free(real);
    return yoke_set_string(&nic->id, name);
}

/* "200 Gb/sec (4X HDR)" of the first port that is up, else of the first port. */
static yoke_status_t add_infiniband(const char *root, const char *name, yoke_node_t *node)
{
    static const char folder[] = "/sys/class/infiniband";
    yoke_nic_t *nic = yoke_node_add_nic(node);
    if (nic == NULL)
        return yoke_fail_memory();
    yoke_status_t status = place(root, folder, name, nic);
    char *layer = yoke_sysfs_line(root, "%s/%s/ports/1/link_layer", folder, name);
    char *rate = yoke_sysfs_line(root, "%s/%s/ports/1/rate", folder, name);
    char *state = yoke_sysfs_line(root, "%s/%s/ports/1/state", folder, name);
    unsigned whole = 0, tenth = 0;
    if (status == YOKE_OK && layer != NULL)
        status = yoke_set_string(
            &nic->kind, strcmp(layer, "InfiniBand") == 0 ? "infiniband" : "roce");
    /* A port that is down reports the rate that it would fall back to. */
    bool up = state == NULL || strstr(state, "ACTIVE") != NULL;
    if (status == YOKE_OK && up && rate != NULL &&
        sscanf(rate, "%6u.%1u", &whole, &tenth) >= 1 && whole > 0)
        status = yoke_quantity_set(&nic->rate, (whole * 10.0 + tenth) * 1e8 / 8,
                                   YOKE_SOURCE_SYSFS, 0, rate);
    free(layer);
    free(rate);
    free(state);
    return status;
}

static bool listed(const yoke_node_t *node, const yoke_pci_t *pci)
{
    for (size_t i = 0; i < node->nic_count; i++)
        if (pci->valid && node->nics[i].pci.valid &&
            yoke_pci_compare(&node->nics[i].pci, pci) == 0)
            return true;
    return false;
}

static yoke_status_t add_ethernet(const char *root, const char *name, yoke_node_t *node)
{
    static const char folder[] = "/sys/class/net";
    yoke_nic_t nic = {.numa = -1};
    yoke_status_t status = place(root, folder, name, &nic);
    int64_t type = yoke_sysfs_number(0, root, "%s/%s/type", folder, name);
    int64_t megabits = yoke_sysfs_number(-1, root, "%s/%s/speed", folder, name);
    char *wireless = yoke_sysfs_real(root, "%s/%s/wireless", folder, name);
    /* 1 and 32 are ARPHRD_ETHER and ARPHRD_INFINIBAND of <linux/if_arp.h>. */
    bool wanted =
        (type == 1 || type == 32) && wireless == NULL && !listed(node, &nic.pci);
    free(wireless);
    if (status == YOKE_OK && wanted)
        status = yoke_set_string(&nic.kind, type == 32 ? "infiniband" : "ethernet");
    if (status == YOKE_OK && wanted && megabits > 0 && megabits < 100000000)
        status = yoke_quantity_set(&nic.rate, (double)megabits * 1e6 / 8,
                                   YOKE_SOURCE_SYSFS, 0, "speed");
    yoke_nic_t *slot = status == YOKE_OK && wanted ? yoke_node_add_nic(node) : NULL;
    if (slot != NULL)
        *slot = nic;
    else
        yoke_nic_clear(&nic);
    return status == YOKE_OK && wanted && slot == NULL ? yoke_fail_memory() : status;
}

yoke_status_t yoke_sysfs_nics(const char *root, yoke_node_t *node)
{
    yoke_strings_t names = {0};
    yoke_status_t status = yoke_sysfs_list(root, "/sys/class/infiniband", &names);
    for (size_t i = 0; i < names.count && status == YOKE_OK; i++)
        status = add_infiniband(root, names.items[i], node);
    yoke_strings_free(&names);
    if (status == YOKE_OK)
        status = yoke_sysfs_list(root, "/sys/class/net", &names);
    for (size_t i = 0; i < names.count && status == YOKE_OK; i++) {
        /* Bridges, tunnels and bonds have no device of their own. */
        char *device = yoke_sysfs_real(root, "/sys/class/net/%s/device", names.items[i]);
        if (device != NULL)
            status = add_ethernet(root, names.items[i], node);
        free(device);
    }
    yoke_strings_free(&names);
    return status;
}
