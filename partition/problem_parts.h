/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_PROBLEM_PARTS_H
#define YOKE_PARTITION_PROBLEM_PARTS_H

/* What problem.c (hosts, classes), problem_devices.c (which devices take part) and
 * problem_links.c (links of a node) share while a problem is made. */

#include "base/text.h"
#include "partition/problem.h"

#define YOKE_MAX_SLOTS 100000 /* devices, and hosts */
#define YOKE_LEAST_RATE 1e6   /* FLOP/s or bytes/s: less is a rate without its unit */

/* One device of one expanded host, before classes exist. */
typedef struct yoke_problem_device {
    const char *host; /* borrowed from the host list */
    const yoke_node_t *node;
    const yoke_inventory_device_t *device;
    yoke_rates_t rates;
    double limit, total;
    char *key; /* equal text: equal devices */
} yoke_problem_device_t;

typedef struct yoke_problem_host {
    char *name;
    const yoke_node_t *node;
    yoke_problem_device_t *devices;
    size_t count;
    char *shape; /* equal text: equal nodes */
    double nic;
} yoke_problem_host_t;

typedef struct yoke_problem_builder {
    yoke_problem_t *problem;
    yoke_problem_host_t *hosts;
    size_t host_count;
    bool accelerators;    /* any schedulable accelerator: then CPUs are left out */
    yoke_text_t missing;  /* questions about unknown rates, one line each */
    yoke_strings_t asked; /* types already asked about */
} yoke_problem_builder_t;

/* Fill devices, shape and nic of every host, or say why a device is left out. */
yoke_status_t yoke_problem_take_devices(yoke_problem_builder_t *builder);
/* Add a note once; takes the text, NULL is out of memory. */
yoke_status_t yoke_problem_add_note(yoke_problem_t *problem, char *note);
/* The inventory's links into the classes that they join; an end that matches nothing is
 * an error. */
yoke_status_t yoke_problem_apply_links(yoke_problem_t *problem);
/* Say which rates within a node are taken without being known. */
yoke_status_t yoke_problem_note_links(yoke_problem_t *problem);
/* Catalog name, else the device's own, else its id. */
const char *yoke_problem_type(const yoke_inventory_device_t *device);

#endif
