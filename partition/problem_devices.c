/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices take part, at which rates; the others are named with the reason. */
#include "partition/problem_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/catalog.h"

const char *yoke_problem_type(const yoke_inventory_device_t *device)
{
    if (device->type != NULL)
        return device->type;
    return device->name != NULL ? device->name : device->id;
}

yoke_status_t yoke_problem_add_note(yoke_problem_t *problem, char *note)
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
                               const yoke_inventory_device_t *device, const char *reason)
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

/* The same with a reason to free. */
static yoke_status_t leave_out_formatted(yoke_problem_t *problem, const char *host,
                                         const yoke_inventory_device_t *device,
                                         char *reason)
{
    yoke_status_t status =
        reason ? leave_out(problem, host, device, reason) : yoke_fail_memory();
    free(reason);
    return status;
}

static yoke_status_t excluded(const yoke_problem_t *problem, const char *host,
                              const yoke_inventory_device_t *device, bool *out)
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

static double fraction_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* The memory limit under the policy; false: unknown. */
static bool memory_limit(const yoke_problem_t *problem,
                         const yoke_inventory_device_t *device, double *out_limit)
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
    } else if (yoke_known(&memory->free)) { /* at least that */
        usable = memory->free.value;
        known = true;
    }
    /* More than there is cannot be used, whatever the document says. */
    if (yoke_known(&memory->total) && usable > memory->total.value)
        usable = memory->total.value;
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
                                      const yoke_inventory_device_t *device, double limit)
{
    char have[32], take[32];
    if (problem->options.memory != YOKE_MEMORY_USABLE ||
        !yoke_known(&device->memory.free) ||
        fraction_of(device->memory.free.value, limit) >= 0.8)
        return YOKE_OK;
    return yoke_problem_add_note(
        problem,
        yoke_format("%s/%s: %s are free now, the plan takes the usable %s; "
                    "--memory free plans with what is free",
                    host, device->id, yoke_show_bytes(device->memory.free.value, have),
                    yoke_show_bytes(limit, take)));
}

/* The data types that it is known to compute in. */
static void add_other_dtypes(const yoke_inventory_device_t *device, yoke_dtype_t dtype,
                             yoke_text_t *text)
{
    static const yoke_dtype_t trained_in[] = {YOKE_BF16, YOKE_FP16, YOKE_TF32,
                                              YOKE_FP32, YOKE_FP64, YOKE_FP8};
    bool first = true;
    for (size_t i = 0; i < sizeof trained_in / sizeof *trained_in; i++) {
        const yoke_dtype_t other = trained_in[i];
        if (other == dtype || !yoke_known(&device->compute[other]) ||
            !(device->compute[other].value > 0))
            continue;
        yoke_text_printf(text, "%s%s", first ? ", or plan with --dtype " : " or ",
                         yoke_dtype_name(other));
        first = false;
    }
}

/* What must be given before a type can be planned on: words, keys and an example. */
typedef struct question {
    yoke_text_t what, keys, example;
    unsigned count;
} question_t;

static void add_item(question_t *question, const char *what, const char *key,
                     const char *unit, const char *example)
{
    const char *comma = question->keys.size > 0 ? "," : "";
    yoke_text_printf(&question->keys, "%s%s=%s", comma, key, unit);
    yoke_text_printf(&question->example, "%s%s=%s", comma, key, example);
    if (what == NULL)
        return;
    yoke_text_printf(&question->what, "%s%s", question->what.size > 0 ? " and " : "",
                     what);
    question->count++;
}

/* Names near to one that the catalog does not have; without a catalog nothing is said. */
static void add_nearest(const yoke_inventory_device_t *device, yoke_text_t *text)
{
    const yoke_catalog_t *catalog = NULL;
    const char *name = device->type != NULL ? device->type : device->name;
    if (name == NULL || yoke_catalog_default(&catalog) != YOKE_OK ||
        yoke_catalog_find(catalog, NULL, name) != NULL)
        return;
    char *nearest = yoke_catalog_nearest(catalog, name);
    if (nearest != NULL)
        yoke_text_printf(text, "; type '%s' is not in the catalog; near are %s", name,
                         nearest);
    else if (device->type != NULL)
        yoke_text_printf(text, "; type '%s' is not in the catalog", name);
    free(nearest);
}

/* One question a type; what is known of it is not asked for again. */
static yoke_status_t ask_for_rate(yoke_problem_builder_t *builder,
                                  const yoke_inventory_device_t *device)
{
    const char *type = yoke_problem_type(device);
    for (size_t i = 0; i < builder->asked.count; i++)
        if (strcmp(builder->asked.items[i], type) == 0)
            return YOKE_OK;
    const yoke_dtype_t dtype = builder->problem->options.dtype;
    const bool compute = !yoke_known(&device->compute[dtype]);
    const bool bandwidth =
        !yoke_known(&device->bandwidth) || !(device->bandwidth.value > 0);
    double limit = 0;
    const bool memory = !memory_limit(builder->problem, device, &limit);
    question_t question = {0};
    char rate[32];
    yoke_snprintf(rate, sizeof rate, "%s compute rate", yoke_dtype_name(dtype));
    if (compute)
        add_item(&question, rate, yoke_dtype_name(dtype), "RATE", "300T");
    if (bandwidth)
        add_item(&question, "memory bandwidth", "hbm", "RATE", "1.6T");
    if (memory)
        add_item(&question, compute || bandwidth ? NULL : "memory size", "memory", "SIZE",
                 "64GiB");
    yoke_text_t *text = &builder->missing;
    yoke_text_printf(text,
                     "%sthe %s of type %s %s unknown: give --assume 'type:%s:%s' (for "
                     "example %s), leave it out with --exclude 'type:%s'",
                     text->size > 0 ? "; " : "", yoke_text_get(&question.what), type,
                     question.count > 1 ? "are" : "is", type,
                     yoke_text_get(&question.keys), yoke_text_get(&question.example),
                     type);
    if (compute)
        add_other_dtypes(device, dtype, text);
    add_nearest(device, text);
    yoke_text_free(&question.what);
    yoke_text_free(&question.keys);
    yoke_text_free(&question.example);
    return yoke_strings_add(&builder->asked, type);
}

static bool is_assumed(const yoke_quantity_t *quantity)
{
    return quantity->source == YOKE_SOURCE_USER && quantity->detail != NULL &&
           strcmp(quantity->detail, "--assume") == 0;
}

/* Whoever gives figures of a device for this run wants it planned on. */
static bool is_wanted(const yoke_inventory_device_t *device)
{
    bool wanted = is_assumed(&device->bandwidth) || is_assumed(&device->link_rate);
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        wanted = wanted || is_assumed(&device->compute[i]);
    return wanted;
}

/* A rate without its unit ("bf16=300" for 300T) would give a step of a million years. */
static yoke_status_t check_size(const char *host, const yoke_inventory_device_t *device,
                                const char *what, double rate)
{
    if (rate >= YOKE_LEAST_RATE)
        return YOKE_OK;
    return yoke_fail(YOKE_ERR_BAD_INPUT,
                     "%s/%s: its %s, %g per second, is no rate of an accelerator; write "
                     "the unit, as in 300T or 1.6TB/s",
                     host, device->id, what, rate);
}

static yoke_status_t note_doubts(yoke_problem_t *problem,
                                 const yoke_inventory_device_t *device)
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
        yoke_status_t status = yoke_problem_add_note(
            problem, yoke_format("the %s of type %s %s", used[i].name,
                                 yoke_problem_type(device), doubt));
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

static char *class_key(const yoke_inventory_device_t *device, const yoke_rates_t *rates,
                       double limit)
{
    return yoke_format("%s|%.17g|%.17g|%.17g|%.17g|%d|%u|%.17g|%u",
                       yoke_problem_type(device), limit, rates->compute, rates->bandwidth,
                       rates->link, rates->link_mesh, (unsigned)rates->host,
                       rates->link_latency, rates->link_group);
}

static yoke_status_t add_candidate(yoke_problem_builder_t *builder,
                                   yoke_problem_host_t *host,
                                   const yoke_inventory_device_t *device,
                                   const yoke_rates_t *rates, double limit)
{
    yoke_problem_device_t *grown =
        realloc(host->devices, (host->count + 1) * sizeof *grown);
    if (grown == NULL)
        return yoke_fail_memory();
    host->devices = grown;
    yoke_problem_device_t *candidate = &grown[host->count];
    *candidate = (yoke_problem_device_t){.host = host->name,
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
static yoke_status_t consider(yoke_problem_builder_t *builder, yoke_problem_host_t *host,
                              const yoke_inventory_device_t *device)
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
    double limit = 0;
    bool sized = memory_limit(problem, device, &limit);
    if (sized && !(limit > 0))
        return leave_out(problem, host->name, device,
                         "it has no memory to plan with (0 bytes)");
    yoke_rates_t rates;
    bool supported = false;
    const char *missing = NULL;
    if (!yoke_rates_from_device(device, problem->options.dtype, problem->constants,
                                &rates, &supported, &missing))
        return ask_for_rate(builder, device);
    if (!supported)
        return leave_out_formatted(problem, host->name, device,
                                   yoke_format("it cannot compute in %s",
                                               yoke_dtype_name(problem->options.dtype)));
    if (!sized && is_wanted(device))
        return ask_for_rate(builder, device);
    if (!sized)
        return leave_out_formatted(
            problem, host->name, device,
            yoke_format("its memory is unknown (give --assume 'type:%s:memory=SIZE')",
                        yoke_problem_type(device)));
    status = check_size(host->name, device, yoke_dtype_name(problem->options.dtype),
                        device->compute[problem->options.dtype].value);
    if (status == YOKE_OK)
        status =
            check_size(host->name, device, "memory bandwidth", device->bandwidth.value);
    if (status != YOKE_OK)
        return status;
    return add_candidate(builder, host, device, &rates, limit);
}

static int compare_candidates(const void *a, const void *b)
{
    const yoke_problem_device_t *x = a, *y = b;
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

static yoke_status_t fail_too_many(void)
{
    return yoke_fail(YOKE_ERR_BAD_INPUT,
                     "the cluster has more than %d devices; at most so many are planned: "
                     "take some of its hosts with --nodes",
                     YOKE_MAX_SLOTS);
}

yoke_status_t yoke_problem_take_devices(yoke_problem_builder_t *builder)
{
    size_t total = 0;
    for (size_t h = 0; h < builder->host_count; h++)
        for (size_t d = 0; d < builder->hosts[h].node->device_count; d++) {
            const yoke_inventory_device_t *device = &builder->hosts[h].node->devices[d];
            if (device->schedulable &&
                (device->kind == YOKE_DEVICE_GPU || device->kind == YOKE_DEVICE_NPU ||
                 device->kind == YOKE_DEVICE_OTHER))
                builder->accelerators = true;
        }
    for (size_t h = 0; h < builder->host_count; h++) {
        yoke_problem_host_t *host = &builder->hosts[h];
        if (total > YOKE_MAX_SLOTS)
            return fail_too_many();
        for (size_t d = 0; d < host->node->device_count; d++) {
            yoke_status_t status = consider(builder, host, &host->node->devices[d]);
            if (status != YOKE_OK)
                return status;
        }
        if (host->count > 0)
            qsort(host->devices, host->count, sizeof *host->devices, compare_candidates);
        total += host->count;
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
    if (total > YOKE_MAX_SLOTS)
        return fail_too_many();
    if (builder->missing.size > 0)
        return yoke_fail(YOKE_ERR_UNKNOWN_RATE, "cannot plan: %s",
                         yoke_text_get(&builder->missing));
    return YOKE_OK;
}
