/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_PROBLEM_H
#define YOKE_PARTITION_PROBLEM_H

/*
 * The planning problem in canonical form: devices sorted by host and id, grouped into
 * classes of equal devices in equal nodes. Everything after this works on indexes.
 */

#include "costmodel/cost.h"

struct yoke_runtime;
struct yoke_layer_times;

typedef struct yoke_class {
    const yoke_inventory_device_t *device; /* an example */
    const char *type;                      /* catalog name, else the device's name */
    unsigned shape;    /* node shape: nodes with equal device lists and NICs */
    unsigned hosts;    /* number of nodes of that shape */
    unsigned per_host; /* devices of this class in each */
    unsigned count;    /* hosts x per_host */
    yoke_rates_t rates;
    double memory_limit; /* bytes under the memory policy */
    double memory_total;
    double nic; /* bytes/s per direction of the node's NICs, achieved */
    double nic_latency;
    unsigned host_devices; /* schedulable devices in one such node, all classes */
    double intra;          /* bytes/s per direction between unlike devices of the node */
    double intra_latency;
    const char *link_name;
    const yoke_quantity_t *link_from;  /* what rates.link is from; NULL: generic */
    const yoke_quantity_t *intra_from; /* what intra is from; NULL: generic */
    int measured; /* type in the measured layer times; -1: not among them */
} yoke_class_t;

typedef struct yoke_slot {
    unsigned host; /* index into hosts */
    unsigned class_index;
    const yoke_inventory_device_t *device;
} yoke_slot_t;

typedef struct yoke_problem {
    const yoke_model_t *model;
    const yoke_inventory_t *inventory;
    yoke_plan_options_t options; /* defaults filled in */
    const yoke_constants_t *constants;
    char **hosts; /* expanded names in natural order */
    size_t host_count;
    unsigned *host_shape;
    yoke_slot_t *slots; /* by host, then class, then id */
    size_t slot_count;
    yoke_class_t *classes; /* a total order: by shape's first host, then type, ... */
    size_t class_count;
    struct yoke_unused_entry {
        char *device, *reason;
    } * unused; /* devices never planned on */
    size_t unused_count;
    char **notes;
    size_t note_count;
    const struct yoke_runtime *runtime;      /* rules that a plan keeps; NULL: none */
    const struct yoke_layer_times *measured; /* NULL: all times are the cost model's */
} yoke_problem_t;

yoke_status_t yoke_problem_new(const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_plan_options_t *options,
                               yoke_problem_t **out_problem);
void yoke_problem_free(yoke_problem_t *problem);
/* Index of "host/device-id", or -1. */
long yoke_problem_find(const yoke_problem_t *problem, const char *name);
/* "host/device-id"; caller frees. */
char *yoke_problem_slot_name(const yoke_problem_t *problem, unsigned slot);

#endif
