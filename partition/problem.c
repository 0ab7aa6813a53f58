/* SPDX-License-Identifier: Apache-2.0 */
/* The planning problem: which devices take part, in which classes, at which rates. */
#include "partition/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define DEFAULT_GLOBAL_BATCH 512
#define DEFAULT_SEQUENCE 4096
#define DEFAULT_SHAPES 2
#define MAX_SLOTS 100000

/* One device of one expanded host, before classes exist. */
typedef struct candidate {
    const char *host; /* borrowed from the host list */
    const yoke_node_t *node;
    const yoke_device_t *device;
    yoke_rates_t rates;
    double limit, total;
    char *key; /* equal text: equal devices */
} candidate_t;

typedef struct host_entry {
    char *name;
    const yoke_node_t *node;
    candidate_t *devices;
    size_t count;
    char *shape; /* equal text: equal nodes */
    double nic;
} host_entry_t;

typedef struct builder {
    yoke_problem_t *problem;
    host_entry_t *hosts;
    size_t host_count;
    bool accelerators;    /* any schedulable accelerator: then CPUs are left out */
    yoke_text_t missing;  /* questions about unknown rates, one line each */
    yoke_strings_t asked; /* types already asked about */
} builder_t;

static void fill_defaults(yoke_plan_options_t *options)
{
    if (options->global_batch == 0)
        options->global_batch = DEFAULT_GLOBAL_BATCH;
    if (options->sequence == 0)
        options->sequence = DEFAULT_SEQUENCE;
    if (options->max_shapes == 0)
        options->max_shapes = DEFAULT_SHAPES;
}

static const char *type_of(const yoke_device_t *device)
{
    if (device->type != NULL)
        return device->type;
    return device->name != NULL ? device->name : device->id;
}

static yoke_status_t add_note(yoke_problem_t *problem, char *note)
{
    if (note == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < problem->note_count; i++)
        if (strcmp(problem->notes[i], note) == 0) {
            free(note);
            return YOKE_OK;
        }
    char **grown = realloc(problem->notes, (problem->note_count + 1) * sizeof *grown);
    if (grown == NULL) {
        free(note);
        return yoke_fail_memory();
    }
    problem->notes = grown;
    problem->notes[problem->note_count++] = note;
    return YOKE_OK;
}

static yoke_status_t leave_out(yoke_problem_t *problem, const char *host,
                               const yoke_device_t *device, const char *reason)
{
    struct yoke_unused_entry *grown =
        realloc(problem->unused, (problem->unused_count + 1) * sizeof *grown);
    if (grown == NULL)
        return yoke_fail_memory();
    problem->unused = grown;
    struct yoke_unused_entry *entry = &grown[problem->unused_count];
    entry->device = yoke_format("%s/%s", host, device->id);
    entry->reason = yoke_strdup(reason);
    problem->unused_count++;
    return entry->device != NULL && entry->reason != NULL ? YOKE_OK : yoke_fail_memory();
}

static int compare_hosts(const void *a, const void *b)
{
    return yoke_natural_compare(((const host_entry_t *)a)->name,
                                ((const host_entry_t *)b)->name);
}

static bool host_wanted(const yoke_strings_t *wanted, const char *name)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->items[i], name) == 0)
            return true;
    return wanted->count == 0;
}

static yoke_status_t add_host(builder_t *builder, const char *name,
                              const yoke_node_t *node)
{
    host_entry_t *grown =
        realloc(builder->hosts, (builder->host_count + 1) * sizeof *grown);
    if (grown == NULL)
        return yoke_fail_memory();
    builder->hosts = grown;
    host_entry_t *host = &grown[builder->host_count];
    memset(host, 0, sizeof *host);
    host->name = yoke_strdup(name);
    host->node = node;
    if (host->name == NULL)
        return yoke_fail_memory();
    builder->host_count++;
    return YOKE_OK;
}

static yoke_status_t check_nodes_exist(const builder_t *builder,
                                       const yoke_strings_t *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        bool found = false;
        for (size_t j = 0; j < builder->host_count && !found; j++)
            found = strcmp(builder->hosts[j].name, wanted->items[i]) == 0;
        if (!found)
            return yoke_fail(YOKE_ERR_USAGE, "--nodes: the cluster has no host '%s'",
                             wanted->items[i]);
    }
    return YOKE_OK;
}

static yoke_status_t expand_hosts(builder_t *builder)
{
    const yoke_problem_t *problem = builder->problem;
    yoke_strings_t wanted = {0};
    yoke_status_t status = YOKE_OK;
    if (problem->options.nodes != NULL)
        status = yoke_hostlist_expand(problem->options.nodes, &wanted);
    for (size_t i = 0; status == YOKE_OK && i < problem->inventory->node_count; i++) {
        const yoke_node_t *node = &problem->inventory->nodes[i];
        yoke_strings_t names = {0};
        status = yoke_hostlist_expand(node->hosts, &names);
        for (size_t j = 0; status == YOKE_OK && j < names.count; j++)
            if (host_wanted(&wanted, names.items[j]))
                status = add_host(builder, names.items[j], node);
        yoke_strings_free(&names);
    }
    if (status == YOKE_OK && builder->host_count > 0)
        qsort(builder->hosts, builder->host_count, sizeof *builder->hosts, compare_hosts);
    for (size_t i = 1; status == YOKE_OK && i < builder->host_count; i++)
        if (strcmp(builder->hosts[i].name, builder->hosts[i - 1].name) == 0)
            status =
                yoke_fail(YOKE_ERR_BAD_INPUT, "%s: host '%s' is listed twice",
                          problem->inventory->name ? problem->inventory->name : "cluster",
                          builder->hosts[i].name);
    if (status == YOKE_OK)
        status = check_nodes_exist(builder, &wanted);
    yoke_strings_free(&wanted);
    return status;
}

static yoke_status_t excluded(const yoke_problem_t *problem, const char *host,
                              const yoke_device_t *device, bool *out)
{
    *out = false;
    for (const char *const *s = problem->options.exclude; s != NULL && *s != NULL; s++) {
        bool match = false;
        yoke_status_t status = yoke_selector_match(*s, host, device, &match);
        if (status != YOKE_OK)
            return status;
        *out = *out || match;
    }
    return YOKE_OK;
}

/* Every --exclude must hit something: a typing mistake would silently plan on the device.
 */
static yoke_status_t check_excludes(const builder_t *builder)
{
    const yoke_plan_options_t *options = &builder->problem->options;
    for (const char *const *s = options->exclude; s != NULL && *s != NULL; s++) {
        bool any = false;
        for (size_t h = 0; h < builder->host_count && !any; h++) {
            const yoke_node_t *node = builder->hosts[h].node;
            for (size_t d = 0; d < node->device_count && !any; d++) {
                yoke_status_t status = yoke_selector_match(*s, builder->hosts[h].name,
                                                           &node->devices[d], &any);
                if (status != YOKE_OK)
                    return status;
            }
        }
        if (!any)
            return yoke_fail(YOKE_ERR_USAGE,
                             "--exclude: '%s' matches no device of the cluster", *s);
    }
    return YOKE_OK;
}

static double fraction_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* The memory limit under the policy; false: unknown. */
static bool memory_limit(const yoke_problem_t *problem, const yoke_device_t *device,
                         double *out_limit)
{
    const yoke_memory_t *memory = &device->memory;
    double usable = 0;
    bool known = false;
    if (yoke_known(&memory->usable)) {
        usable = memory->usable.value;
        known = true;
    } else if (yoke_known(&memory->total)) {
        usable = memory->total.value * (1.0 - problem->constants->reserve_fraction);
        known = true;
    }
    if (problem->options.memory == YOKE_MEMORY_FRACTION && yoke_known(&memory->total)) {
        *out_limit = memory->total.value * problem->options.memory_fraction;
        return true;
    }
    if (problem->options.memory == YOKE_MEMORY_FREE && yoke_known(&memory->free)) {
        *out_limit = memory->free.value < usable || !known ? memory->free.value : usable;
        return true;
    }
    *out_limit = usable;
    return known;
}

static yoke_status_t note_free_memory(yoke_problem_t *problem, const char *host,
                                      const yoke_device_t *device, double limit)
{
    char have[32], take[32];
    if (problem->options.memory != YOKE_MEMORY_USABLE ||
        !yoke_known(&device->memory.free) ||
        fraction_of(device->memory.free.value, limit) >= 0.8)
        return YOKE_OK;
    return add_note(problem,
                    yoke_format("%s/%s: %s are free now, the plan takes the usable %s; "
                                "--memory free plans with what is free",
                                host, device->id,
                                yoke_show_bytes(device->memory.free.value, have),
                                yoke_show_bytes(limit, take)));
}

static yoke_status_t ask_for_rate(builder_t *builder, const yoke_device_t *device,
                                  const char *missing)
{
    const char *type = type_of(device);
    for (size_t i = 0; i < builder->asked.count; i++)
        if (strcmp(builder->asked.items[i], type) == 0)
            return YOKE_OK;
    const char *dtype = yoke_dtype_name(builder->problem->options.dtype);
    bool both = !yoke_known(&device->compute[builder->problem->options.dtype]) &&
                !yoke_known(&device->bandwidth);
    if (builder->missing.size > 0)
        yoke_text_add(&builder->missing, "; ");
    yoke_text_printf(
        &builder->missing,
        "the %s of type %s %s unknown: give --assume 'type:%s:%s=RATE,hbm=RATE' "
        "(for example %s=300T,hbm=1.6T) or leave it out with --exclude 'type:%s'",
        both ? "compute rate and memory bandwidth"
             : (strcmp(missing, "hbm") == 0 ? "memory bandwidth" : "compute rate"),
        type, both ? "are" : "is", type, dtype, dtype, type);
    return yoke_strings_add(&builder->asked, type);
}

static yoke_status_t note_doubts(yoke_problem_t *problem, const yoke_device_t *device)
{
    const yoke_dtype_t dtype = problem->options.dtype;
    const struct {
        const yoke_quantity_t *quantity;
        const char *name;
    } used[] = {
        {&device->compute[dtype], yoke_dtype_name(dtype)},
        {&device->bandwidth, "memory bandwidth"},
        {&device->memory.total, "memory size"},
        {&device->link_rate, "link rate"},
    };
    for (size_t i = 0; i < sizeof used / sizeof *used; i++) {
        const yoke_quantity_t *quantity = used[i].quantity;
        if (!yoke_known(quantity))
            continue;
        const char *doubt = NULL;
        if (quantity->marks & YOKE_MARK_DISPUTED)
            doubt = "is disputed between public sources";
        else if (quantity->marks & YOKE_MARK_NOT_REREAD)
            doubt = "is quoted from memory of its source, not re-read";
        else if (quantity->marks & YOKE_MARK_LOWER_BOUND)
            doubt = "is a lower bound from a portable kernel";
        if (doubt == NULL)
            continue;
        yoke_status_t status =
            add_note(problem, yoke_format("the %s of type %s %s", used[i].name,
                                          type_of(device), doubt));
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

static char *class_key(const yoke_device_t *device, const yoke_rates_t *rates,
                       double limit)
{
    return yoke_format("%s|%.17g|%.17g|%.17g|%.17g|%d|%u|%.17g", type_of(device), limit,
                       rates->compute, rates->bandwidth, rates->link, rates->link_mesh,
                       (unsigned)rates->host, rates->link_latency);
}

static yoke_status_t add_candidate(builder_t *builder, host_entry_t *host,
                                   const yoke_device_t *device, const yoke_rates_t *rates,
                                   double limit)
{
    candidate_t *grown = realloc(host->devices, (host->count + 1) * sizeof *grown);
    if (grown == NULL)
        return yoke_fail_memory();
    host->devices = grown;
    candidate_t *candidate = &grown[host->count];
    *candidate = (candidate_t){.host = host->name,
                               .node = host->node,
                               .device = device,
                               .rates = *rates,
                               .limit = limit,
                               .key = class_key(device, rates, limit)};
    if (candidate->key == NULL)
        return yoke_fail_memory();
    host->count++;
    yoke_status_t status = note_doubts(builder->problem, device);
    return status != YOKE_OK
               ? status
               : note_free_memory(builder->problem, host->name, device, limit);
}

/* Take the device in, or say why it is left out. */
static yoke_status_t consider(builder_t *builder, host_entry_t *host,
                              const yoke_device_t *device)
{
    yoke_problem_t *problem = builder->problem;
    bool skip = false;
    yoke_status_t status = excluded(problem, host->name, device, &skip);
    if (status != YOKE_OK)
        return status;
    if (skip)
        return leave_out(problem, host->name, device, "excluded by --exclude");
    if (!device->schedulable)
        return leave_out(problem, host->name, device,
                         device->reason ? device->reason : "not schedulable");
    if (device->kind == YOKE_DEVICE_EMULATOR)
        return leave_out(problem, host->name, device, "an emulator");
    if (device->kind == YOKE_DEVICE_CPU && builder->accelerators)
        return leave_out(problem, host->name, device, "a host CPU beside accelerators");
    yoke_rates_t rates;
    bool supported = false;
    const char *missing = NULL;
    if (!yoke_rates_from_device(device, problem->options.dtype, problem->constants,
                                &rates, &supported, &missing))
        return ask_for_rate(builder, device, missing);
    if (!supported) {
        char reason[96];
        snprintf(reason, sizeof reason, "it cannot compute in %s",
                 yoke_dtype_name(problem->options.dtype));
        return leave_out(problem, host->name, device, reason);
    }
    double limit = 0;
    if (!memory_limit(problem, device, &limit))
        return leave_out(problem, host->name, device,
                         "its memory is unknown (give --assume 'SELECTOR:memory=SIZE')");
    if (!(limit > 0))
        return leave_out(problem, host->name, device,
                         "it has no memory to plan with (0 bytes)");
    return add_candidate(builder, host, device, &rates, limit);
}

static int compare_candidates(const void *a, const void *b)
{
    const candidate_t *x = a, *y = b;
    int order = yoke_natural_compare(x->key, y->key);
    return order != 0 ? order : yoke_natural_compare(x->device->id, y->device->id);
}

/* Rate of all NICs of a node per direction; 0: none known. */
static double node_nic_rate(const yoke_node_t *node)
{
    double rate = 0;
    for (size_t i = 0; i < node->nic_count; i++)
        if (yoke_known(&node->nics[i].rate))
            rate += node->nics[i].rate.value;
    return rate;
}

static yoke_status_t take_devices(builder_t *builder)
{
    for (size_t h = 0; h < builder->host_count; h++)
        for (size_t d = 0; d < builder->hosts[h].node->device_count; d++) {
            const yoke_device_t *device = &builder->hosts[h].node->devices[d];
            if (device->schedulable &&
                (device->kind == YOKE_DEVICE_GPU || device->kind == YOKE_DEVICE_NPU ||
                 device->kind == YOKE_DEVICE_OTHER))
                builder->accelerators = true;
        }
    for (size_t h = 0; h < builder->host_count; h++) {
        host_entry_t *host = &builder->hosts[h];
        for (size_t d = 0; d < host->node->device_count; d++) {
            yoke_status_t status = consider(builder, host, &host->node->devices[d]);
            if (status != YOKE_OK)
                return status;
        }
        if (host->count > 0)
            qsort(host->devices, host->count, sizeof *host->devices, compare_candidates);
        host->nic = node_nic_rate(host->node);
        yoke_text_t shape = {0};
        for (size_t d = 0; d < host->count; d++)
            yoke_text_printf(&shape, "%s\n", host->devices[d].key);
        yoke_text_printf(&shape, "nic %.17g", host->nic);
        host->shape = yoke_strdup(yoke_text_get(&shape));
        bool failed = shape.failed || host->shape == NULL;
        yoke_text_free(&shape);
        if (failed)
            return yoke_fail_memory();
    }
    if (builder->missing.size > 0)
        return yoke_fail(YOKE_ERR_UNKNOWN_RATE, "cannot plan: %s",
                         yoke_text_get(&builder->missing));
    return YOKE_OK;
}

static unsigned find_shape(const builder_t *builder, size_t host)
{
    unsigned shape = 0;
    for (size_t i = 0; i < host; i++) {
        if (builder->hosts[i].count > 0 &&
            strcmp(builder->hosts[i].shape, builder->hosts[host].shape) == 0)
            return builder->problem->host_shape[i];
        if (builder->problem->host_shape[i] >= shape)
            shape = builder->problem->host_shape[i] + 1;
    }
    return shape;
}

static unsigned class_of(yoke_problem_t *problem, const host_entry_t *host,
                         unsigned shape, const candidate_t *candidate, char ***keys)
{
    for (size_t i = 0; i < problem->class_count; i++)
        if (problem->classes[i].shape == shape && strcmp((*keys)[i], candidate->key) == 0)
            return (unsigned)i;
    yoke_class_t *grown =
        realloc(problem->classes, (problem->class_count + 1) * sizeof *grown);
    if (grown == NULL)
        return UINT32_MAX;
    problem->classes = grown;
    char **grown_keys = realloc(*keys, (problem->class_count + 1) * sizeof **keys);
    if (grown_keys == NULL)
        return UINT32_MAX;
    *keys = grown_keys;
    grown_keys[problem->class_count] = candidate->key;
    unsigned per_host = 0;
    for (size_t d = 0; d < host->count; d++)
        per_host += strcmp(host->devices[d].key, candidate->key) == 0;
    const yoke_constants_t *constants = problem->constants;
    yoke_class_t *class = &grown[problem->class_count];
    *class = (yoke_class_t){
        .device = candidate->device,
        .type = type_of(candidate->device),
        .shape = shape,
        .per_host = per_host,
        .rates = candidate->rates,
        .memory_limit = candidate->limit,
        .memory_total = yoke_known(&candidate->device->memory.total)
                            ? candidate->device->memory.total.value
                            : candidate->limit,
        .nic = host->nic * constants->nic_fraction,
        .nic_latency = constants->nic_latency,
        .host_devices = (unsigned)host->count,
        .intra = constants->default_intra_rate,
        .intra_latency = constants->link_latency,
        .link_name = candidate->device->link_name,
    };
    class->rates.link_peers = per_host;
    return (unsigned)problem->class_count++;
}

static yoke_status_t build_classes(builder_t *builder)
{
    yoke_problem_t *problem = builder->problem;
    size_t total = 0;
    for (size_t h = 0; h < builder->host_count; h++)
        total += builder->hosts[h].count;
    if (total > MAX_SLOTS)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "the cluster has %zu devices; at most %d are planned", total,
                         MAX_SLOTS);
    problem->hosts = calloc(builder->host_count + 1, sizeof *problem->hosts);
    problem->host_shape = calloc(builder->host_count + 1, sizeof *problem->host_shape);
    problem->slots = calloc(total + 1, sizeof *problem->slots);
    if (problem->hosts == NULL || problem->host_shape == NULL || problem->slots == NULL)
        return yoke_fail_memory();
    char **keys = NULL;
    yoke_status_t status = YOKE_OK;
    for (size_t h = 0; status == YOKE_OK && h < builder->host_count; h++) {
        host_entry_t *host = &builder->hosts[h];
        unsigned shape = find_shape(builder, h);
        problem->host_shape[h] = shape;
        problem->hosts[h] = yoke_strdup(host->name);
        problem->host_count = h + 1;
        if (problem->hosts[h] == NULL)
            status = yoke_fail_memory();
        unsigned previous = UINT32_MAX;
        for (size_t d = 0; status == YOKE_OK && d < host->count; d++) {
            unsigned index = class_of(problem, host, shape, &host->devices[d], &keys);
            if (index == UINT32_MAX) {
                status = yoke_fail_memory();
                break;
            }
            yoke_class_t *class = &problem->classes[index];
            class->count++;
            class->hosts += index != previous;
            previous = index;
            problem->slots[problem->slot_count++] =
                (yoke_slot_t){(unsigned)h, index, host->devices[d].device};
        }
    }
    free(keys);
    return status;
}

/* Links of the document between devices of one class, or of two classes in a node. */
static yoke_status_t apply_links(yoke_problem_t *problem)
{
    for (size_t i = 0; i < problem->inventory->link_count; i++) {
        const yoke_link_t *link = &problem->inventory->links[i];
        if (!yoke_known(&link->rate))
            continue;
        double fraction = link->fraction > 0 ? link->fraction : 1.0;
        bool used = false;
        for (size_t s = 0; s < problem->slot_count; s++) {
            const yoke_slot_t *slot = &problem->slots[s];
            bool match[2] = {false, false};
            for (int e = 0; e < 2; e++) {
                yoke_status_t status =
                    yoke_selector_match(link->between[e], problem->hosts[slot->host],
                                        slot->device, &match[e]);
                if (status != YOKE_OK)
                    return status;
            }
            yoke_class_t *class = &problem->classes[slot->class_index];
            double latency = yoke_known(&link->latency)
                                 ? link->latency.value
                                 : problem->constants->link_latency;
            if (match[0] && match[1]) {
                class->rates.link = link->rate.value * fraction;
                class->rates.link_latency = latency;
                used = true;
            } else if (match[0] || match[1]) {
                class->intra = link->rate.value * fraction;
                class->intra_latency = latency;
                used = true;
            }
        }
        if (!used) {
            yoke_status_t status = add_note(
                problem,
                yoke_format("the link between '%s' and '%s' joins no planned devices",
                            link->between[0], link->between[1]));
            if (status != YOKE_OK)
                return status;
        }
    }
    return YOKE_OK;
}

static yoke_status_t check_network(yoke_problem_t *problem)
{
    unsigned hosts = 0;
    for (size_t s = 0; s < problem->slot_count; s++)
        hosts += s == 0 || problem->slots[s].host != problem->slots[s - 1].host;
    if (hosts < 2)
        return YOKE_OK;
    for (size_t s = 0; s < problem->slot_count; s++)
        if (!(problem->classes[problem->slots[s].class_index].nic > 0))
            return yoke_fail(
                YOKE_ERR_UNKNOWN_RATE,
                "cannot plan: the network rate of host '%s' is unknown: give "
                "--assume 'host:%s:nic=RATE' (for example nic=100Gb), or nic=RATE "
                "in a one-line cluster",
                problem->hosts[problem->slots[s].host],
                problem->hosts[problem->slots[s].host]);
    return YOKE_OK;
}

static yoke_status_t no_devices(const yoke_problem_t *problem)
{
    yoke_text_t why = {0};
    for (size_t i = 0; i < problem->unused_count && i < 4; i++)
        yoke_text_printf(&why, "%s%s: %s", i > 0 ? "; " : "", problem->unused[i].device,
                         problem->unused[i].reason);
    if (problem->unused_count > 4)
        yoke_text_printf(&why, "; and %zu more", problem->unused_count - 4);
    yoke_status_t status = yoke_fail(
        YOKE_ERR_NO, "no feasible plan: the cluster has no device to plan on%s%s",
        why.size > 0 ? ": " : "", yoke_text_get(&why));
    yoke_text_free(&why);
    return status;
}

static void builder_free(builder_t *builder)
{
    for (size_t h = 0; h < builder->host_count; h++) {
        for (size_t d = 0; d < builder->hosts[h].count; d++)
            free(builder->hosts[h].devices[d].key);
        free(builder->hosts[h].devices);
        free(builder->hosts[h].shape);
        free(builder->hosts[h].name);
    }
    free(builder->hosts);
    yoke_text_free(&builder->missing);
    yoke_strings_free(&builder->asked);
}

yoke_status_t yoke_problem_new(const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_plan_options_t *options,
                               yoke_problem_t **out_problem)
{
    yoke_problem_t *problem = calloc(1, sizeof *problem);
    if (problem == NULL)
        return yoke_fail_memory();
    builder_t builder = {.problem = problem};
    problem->model = model;
    problem->inventory = inventory;
    problem->options = *options;
    fill_defaults(&problem->options);
    yoke_status_t status = yoke_constants_get(&problem->constants);
    if (status == YOKE_OK)
        status = expand_hosts(&builder);
    if (status == YOKE_OK)
        status = check_excludes(&builder);
    if (status == YOKE_OK)
        status = take_devices(&builder);
    if (status == YOKE_OK)
        status = build_classes(&builder);
    if (status == YOKE_OK && problem->slot_count == 0)
        status = no_devices(problem);
    if (status == YOKE_OK)
        status = apply_links(problem);
    if (status == YOKE_OK)
        status = check_network(problem);
    builder_free(&builder);
    if (status != YOKE_OK) {
        yoke_problem_free(problem);
        return status;
    }
    *out_problem = problem;
    return YOKE_OK;
}

void yoke_problem_free(yoke_problem_t *problem)
{
    if (problem == NULL)
        return;
    for (size_t i = 0; i < problem->host_count; i++)
        free(problem->hosts[i]);
    for (size_t i = 0; i < problem->unused_count; i++) {
        free(problem->unused[i].device);
        free(problem->unused[i].reason);
    }
    for (size_t i = 0; i < problem->note_count; i++)
        free(problem->notes[i]);
    free(problem->hosts);
    free(problem->host_shape);
    free(problem->slots);
    free(problem->classes);
    free(problem->unused);
    free(problem->notes);
    free(problem);
}

char *yoke_problem_slot_name(const yoke_problem_t *problem, unsigned slot)
{
    return yoke_format("%s/%s", problem->hosts[problem->slots[slot].host],
                       problem->slots[slot].device->id);
}

long yoke_problem_find(const yoke_problem_t *problem, const char *name)
{
    const char *slash = strchr(name, '/');
    if (slash == NULL)
        return -1;
    size_t size = (size_t)(slash - name);
    for (size_t s = 0; s < problem->slot_count; s++) {
        const char *host = problem->hosts[problem->slots[s].host];
        if (strlen(host) == size && strncmp(host, name, size) == 0 &&
            strcmp(problem->slots[s].device->id, slash + 1) == 0)
            return (long)s;
    }
    return -1;
}
