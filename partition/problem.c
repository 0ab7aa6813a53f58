/* SPDX-License-Identifier: Apache-2.0 */
/* The planning problem: hosts, classes of equal devices, links. */
#include "partition/problem_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "partition/layer_times.h"
#include "partition/runtime.h"

#define DEFAULT_GLOBAL_BATCH 512
#define DEFAULT_SEQUENCE 4096
#define DEFAULT_SHAPES 2

static void fill_defaults(yoke_plan_options_t *options)
{
    if (options->global_batch == 0)
        options->global_batch = DEFAULT_GLOBAL_BATCH;
    if (options->sequence == 0)
        options->sequence = DEFAULT_SEQUENCE;
    if (options->max_shapes == 0)
        options->max_shapes = DEFAULT_SHAPES;
}

static int compare_hosts(const void *a, const void *b)
{
    return yoke_natural_compare(((const yoke_problem_host_t *)a)->name,
                                ((const yoke_problem_host_t *)b)->name);
}

static bool host_wanted(const yoke_strings_t *wanted, const char *name)
{
    for (size_t i = 0; i < wanted->count; i++)
        if (strcmp(wanted->items[i], name) == 0)
            return true;
    return wanted->count == 0;
}

static yoke_status_t add_host(yoke_problem_builder_t *builder, const char *name,
                              const yoke_node_t *node)
{
    yoke_problem_host_t *grown =
        realloc(builder->hosts, (builder->host_count + 1) * sizeof *grown);
    if (grown == NULL)
        return yoke_fail_memory();
    builder->hosts = grown;
    yoke_problem_host_t *host = &grown[builder->host_count];
    memset(host, 0, sizeof *host);
    host->name = yoke_strdup(name);
    host->node = node;
    if (host->name == NULL)
        return yoke_fail_memory();
    builder->host_count++;
    return YOKE_OK;
}

/* Entries of the inventory as they are written: what --nodes may pick from. */
static void add_known_hosts(const yoke_inventory_t *inventory, yoke_text_t *text)
{
    for (size_t i = 0; i < inventory->node_count && i < 8; i++)
        yoke_text_printf(text, "%s%s", i > 0 ? ", " : "", inventory->nodes[i].hosts);
    if (inventory->node_count > 8)
        yoke_text_printf(text, " and %zu more entries", inventory->node_count - 8);
}

static yoke_status_t check_nodes_exist(const yoke_problem_builder_t *builder,
                                       const yoke_strings_t *wanted)
{
    for (size_t i = 0; i < wanted->count; i++) {
        bool found = false;
        for (size_t j = 0; j < builder->host_count && !found; j++)
            found = strcmp(builder->hosts[j].name, wanted->items[i]) == 0;
        if (found)
            continue;
        yoke_text_t known = {0};
        add_known_hosts(builder->problem->inventory, &known);
        yoke_status_t status = yoke_fail(
            YOKE_ERR_USAGE, "--nodes: the cluster has no host '%s'; its hosts are %s",
            wanted->items[i], yoke_text_get(&known));
        yoke_text_free(&known);
        return status;
    }
    return YOKE_OK;
}

static yoke_status_t expand_hosts(yoke_problem_builder_t *builder)
{
    const yoke_problem_t *problem = builder->problem;
    yoke_strings_t wanted = {0};
    yoke_status_t status = YOKE_OK;
    if (problem->options.nodes != NULL) {
        if (yoke_hostlist_count(problem->options.nodes) == 0)
            return yoke_fail(YOKE_ERR_USAGE,
                             "--nodes '%s': no list of hosts; write names separated by "
                             "commas, numbers in brackets, as in 'a100-[01-04],v100-07'",
                             problem->options.nodes);
        status = yoke_hostlist_expand(problem->options.nodes, &wanted);
    }
    for (size_t i = 0; status == YOKE_OK && i < problem->inventory->node_count; i++) {
        const yoke_node_t *node = &problem->inventory->nodes[i];
        yoke_strings_t names = {0};
        const uint64_t count = yoke_hostlist_count(node->hosts);
        /* With --nodes only the wanted ones count, and expanding is bounded by itself. */
        if (wanted.count == 0 && count > YOKE_MAX_SLOTS - builder->host_count)
            status = yoke_fail(YOKE_ERR_BAD_INPUT,
                               "the cluster has more than %d hosts; at most so many are "
                               "planned: choose some with --nodes",
                               YOKE_MAX_SLOTS);
        else
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

/* Every --exclude must hit something: a typing mistake would silently plan on the device.
 */
static yoke_status_t check_excludes(const yoke_problem_builder_t *builder)
{
    const yoke_plan_options_t *options = &builder->problem->options;
    for (const char *const *s = options->exclude; s != NULL && *s != NULL; s++) {
        bool any = false;
        for (size_t h = 0; h < builder->host_count && !any; h++) {
            const yoke_node_t *node = builder->hosts[h].node;
            for (size_t d = 0; d < node->device_count && !any; d++) {
                yoke_status_t status = yoke_selector_match(*s, builder->hosts[h].name,
                                                           &node->devices[d], &any);
                if (status == YOKE_ERR_BAD_INPUT) /* no selector: the message says so */
                    return YOKE_ERR_USAGE;
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

/* Hosts of one shape stand for it in `examples`. A host without devices to plan on has no
 * shape. */
static unsigned find_shape(const yoke_problem_builder_t *builder, size_t host,
                           size_t *examples, unsigned *count)
{
    const yoke_problem_host_t *hosts = builder->hosts;
    if (hosts[host].count == 0)
        return UINT32_MAX;
    for (unsigned i = 0; i < *count; i++)
        if (strcmp(hosts[examples[i]].shape, hosts[host].shape) == 0)
            return i;
    examples[*count] = host;
    return (*count)++;
}

static unsigned class_of(yoke_problem_t *problem, const yoke_problem_host_t *host,
                         unsigned shape, const yoke_problem_device_t *candidate,
                         char ***keys)
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
        .type = yoke_problem_type(candidate->device),
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
    if (yoke_known(&candidate->device->link_rate) &&
        candidate->device->link_rate.value > 0)
        class->link_from = &candidate->device->link_rate;
    class->rates.link_peers = per_host;
    return (unsigned)problem->class_count++;
}

static yoke_status_t build_classes(yoke_problem_builder_t *builder)
{
    yoke_problem_t *problem = builder->problem;
    size_t total = 0;
    for (size_t h = 0; h < builder->host_count; h++)
        total += builder->hosts[h].count;
    problem->hosts = calloc(builder->host_count + 1, sizeof *problem->hosts);
    problem->host_shape = calloc(builder->host_count + 1, sizeof *problem->host_shape);
    problem->slots = calloc(total + 1, sizeof *problem->slots);
    if (problem->hosts == NULL || problem->host_shape == NULL || problem->slots == NULL)
        return yoke_fail_memory();
    char **keys = NULL;
    size_t *examples = calloc(builder->host_count + 1, sizeof *examples);
    unsigned shapes = 0;
    yoke_status_t status = examples != NULL ? YOKE_OK : yoke_fail_memory();
    for (size_t h = 0; status == YOKE_OK && h < builder->host_count; h++) {
        yoke_problem_host_t *host = &builder->hosts[h];
        unsigned shape = find_shape(builder, h, examples, &shapes);
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
    free(examples);
    free(keys);
    return status;
}

/* Positions beyond those that the model was trained or built with may not exist. */
static yoke_status_t note_sequence(yoke_problem_t *problem)
{
    const uint64_t most = problem->model->positions;
    char made[32], asked[32];
    if (most == 0 || problem->options.sequence <= most)
        return YOKE_OK;
    return yoke_problem_add_note(
        problem,
        yoke_format("the model was made for at most %s tokens a sample, the plan is for "
                    "%s; --seq %llu plans with what it was made for",
                    yoke_show_count(most, made),
                    yoke_show_count(problem->options.sequence, asked),
                    (unsigned long long)most));
}

/* Between hosts the network's rate is needed; asked for once, for all hosts without. */
static yoke_status_t check_network(yoke_problem_t *problem)
{
    yoke_strings_t unknown = {0};
    yoke_status_t status = YOKE_OK;
    unsigned hosts = 0;
    for (size_t s = 0; status == YOKE_OK && s < problem->slot_count; s++) {
        const yoke_slot_t *slot = &problem->slots[s];
        if (s > 0 && slot->host == problem->slots[s - 1].host)
            continue;
        hosts++;
        double rate = problem->classes[slot->class_index].nic;
        if (rate > 0 && rate < YOKE_LEAST_RATE)
            status = yoke_fail(YOKE_ERR_BAD_INPUT,
                               "%s: its network rate of %g bytes/s is none of a cluster; "
                               "write the unit, as in nic=100Gb",
                               problem->hosts[slot->host],
                               rate / problem->constants->nic_fraction);
        if (!(problem->classes[slot->class_index].nic > 0))
            status = yoke_strings_add(&unknown, problem->hosts[slot->host]);
    }
    if (status == YOKE_OK && hosts > 1 && unknown.count > 0) {
        char *list = yoke_hostlist_compress(&unknown);
        status = list == NULL
                     ? yoke_fail_memory()
                     : yoke_fail(YOKE_ERR_UNKNOWN_RATE,
                                 "cannot plan: the network rate of host%s %s is unknown: "
                                 "give --assume 'host:%s:nic=RATE' (for example "
                                 "nic=100Gb), or '; nic=RATE' at the end of a one-line "
                                 "cluster, or plan on one host with --nodes %s",
                                 unknown.count > 1 ? "s" : "", list, list,
                                 problem->hosts[problem->slots[0].host]);
        free(list);
    }
    yoke_strings_free(&unknown);
    return status;
}

/* Devices that share a reason are counted: the message names the first of them. */
static void add_reasons(const yoke_problem_t *problem, yoke_text_t *text)
{
    unsigned shown = 0;
    for (size_t i = 0; i < problem->unused_count && shown < 4; i++) {
        const struct yoke_unused_entry *entry = &problem->unused[i];
        size_t same = 0;
        bool first = true;
        for (size_t j = 0; j < problem->unused_count; j++) {
            bool equal = strcmp(problem->unused[j].reason, entry->reason) == 0;
            first = first && !(equal && j < i);
            same += equal;
        }
        if (!first)
            continue;
        yoke_text_printf(text, "%s%s", shown++ > 0 ? "; " : ": ", entry->device);
        if (same > 1)
            yoke_text_printf(text, " and %zu more", same - 1);
        yoke_text_printf(text, ": %s", entry->reason);
    }
}

static yoke_status_t no_devices(const yoke_problem_t *problem)
{
    yoke_text_t why = {0};
    add_reasons(problem, &why);
    yoke_status_t status =
        yoke_fail(YOKE_ERR_NO, "no feasible plan: the cluster has no device to plan on%s",
                  yoke_text_get(&why));
    yoke_text_free(&why);
    return status;
}

static void builder_free(yoke_problem_builder_t *builder)
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

static yoke_status_t take_runtime(yoke_problem_t *problem)
{
    yoke_plan_options_t *options = &problem->options;
    char why[160];
    yoke_status_t status = yoke_runtime_find(options->runtime, &problem->runtime);
    if (status != YOKE_OK || problem->runtime == NULL)
        return status;
    if (!yoke_runtime_takes_job(problem->runtime, options, why, sizeof why))
        return yoke_fail(YOKE_ERR_NO,
                         "no feasible plan: %s; take another --dtype or "
                         "--optimizer, or plan without --for",
                         why);
    if (options->recompute != YOKE_RECOMPUTE_AUTO &&
        !problem->runtime->recompute[options->recompute])
        return yoke_fail(YOKE_ERR_NO,
                         "no feasible plan: %s cannot recompute %s; leave "
                         "--recompute out, or plan without --for",
                         problem->runtime->title,
                         yoke_recompute_name(options->recompute));
    if (yoke_runtime_has(problem->runtime, YOKE_RULE_EQUAL_PIPELINES))
        options->max_shapes = 1;
    return YOKE_OK;
}

/* Measured layer times, where the process uses some: do they fit, and what do they lack?
 */
static yoke_status_t take_layer_times(yoke_problem_t *problem)
{
    const yoke_layer_times_t *times = yoke_layer_times_current();
    for (size_t c = 0; c < problem->class_count; c++)
        problem->classes[c].measured =
            yoke_layer_times_type(times, problem->classes[c].type);
    if (times == NULL)
        return YOKE_OK;
    yoke_status_t status = yoke_layer_times_match(
        times, problem->model, problem->options.sequence, problem->options.dtype);
    if (status != YOKE_OK)
        return status;
    problem->measured = times;
    status =
        yoke_problem_add_note(problem, yoke_format("layer times are measured ones: %s",
                                                   yoke_layer_times_title(times)));
    for (size_t c = 0; status == YOKE_OK && c < problem->class_count; c++) {
        const yoke_class_t *class = &problem->classes[c];
        bool again = false;
        for (size_t b = 0; b < c; b++)
            again = again || strcmp(problem->classes[b].type, class->type) == 0;
        if (class->measured >= 0 || again)
            continue;
        status = yoke_problem_add_note(
            problem, yoke_format(yoke_layer_times_only_measured(times)
                                     ? "%s is not in the measured layer times, which "
                                       "want no estimate: it is not planned on"
                                     : "%s is not in the measured layer times: its "
                                       "times are the cost model's",
                                 class->type));
    }
    return status;
}

yoke_status_t yoke_problem_new(const yoke_model_t *model,
                               const yoke_inventory_t *inventory,
                               const yoke_plan_options_t *options,
                               yoke_problem_t **out_problem)
{
    yoke_problem_t *problem = calloc(1, sizeof *problem);
    if (problem == NULL)
        return yoke_fail_memory();
    yoke_problem_builder_t builder = {.problem = problem};
    problem->model = model;
    problem->inventory = inventory;
    problem->options = *options;
    fill_defaults(&problem->options);
    yoke_status_t status = take_runtime(problem);
    if (status == YOKE_OK)
        status = yoke_constants_get(&problem->constants);
    if (status == YOKE_OK)
        status = expand_hosts(&builder);
    if (status == YOKE_OK)
        status = check_excludes(&builder);
    if (status == YOKE_OK)
        status = yoke_problem_take_devices(&builder);
    if (status == YOKE_OK)
        status = build_classes(&builder);
    if (status == YOKE_OK && problem->slot_count == 0)
        status = no_devices(problem);
    if (status == YOKE_OK)
        status = yoke_problem_apply_links(problem);
    if (status == YOKE_OK)
        status = yoke_problem_note_links(problem);
    if (status == YOKE_OK)
        status = check_network(problem);
    if (status == YOKE_OK)
        status = note_sequence(problem);
    if (status == YOKE_OK)
        status = take_layer_times(problem);
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
