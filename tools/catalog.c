/* SPDX-License-Identifier: Apache-2.0 */
/* yoke catalog: list, search and show the published figures, with who says so. */
#include "tools/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "base/table.h"
#include "base/text.h"
#include "inventory/catalog.h"
#include "inventory/document.h"
#include "inventory/vendor.h"

static const yoke_option_t options[] = {
    {.name = "links", .help = "List links instead of devices."},
    {.name = "vendor",
     .argument = "NAME",
     .help = "Only devices of this maker, as in --vendor huawei."},
    {.name = "sources",
     .help = "Show every number with its source, also of several rows."},
    {.name = "catalog",
     .argument = "FILE",
     .help = "Read this catalog file too; its rows replace bundled ones of the same "
             "name. May "
             "be given several times. $YOKE_CATALOG names files for every command."},
    {.name = NULL},
};

typedef struct choice {
    const yoke_catalog_t *catalog;
    const yoke_args_t *args;
    const yoke_catalog_device_t **devices;
    size_t device_count;
    const yoke_catalog_link_t **links;
    size_t link_count;
} choice_t;

/* --- choosing --------------------------------------------------------------------- */

static bool holds(const char *text, const char *word)
{
    return text != NULL && strcasestr(text, word) != NULL;
}

static bool device_holds(const yoke_catalog_device_t *device, const char *word)
{
    bool found = holds(device->name, word) || holds(device->vendor, word) ||
                 holds(device->architecture, word) || holds(device->runtime, word);
    for (size_t i = 0; i < device->aliases.count && !found; i++)
        found = holds(device->aliases.items[i], word);
    return found;
}

static bool is_wanted(const yoke_args_t *args, const yoke_catalog_device_t *device)
{
    const char *vendor = yoke_args_value(args, "vendor");
    if (vendor != NULL && (device->vendor == NULL ||
                           strcasecmp(yoke_vendor_canonical(vendor),
                                      yoke_vendor_canonical(device->vendor)) != 0))
        return false;
    for (size_t i = 0; i < args->positional_count; i++)
        if (!device_holds(device, args->positional[i]))
            return false;
    return true;
}

/* An exact name or alias is that device, also where others hold the word ("H20"). */
static const yoke_catalog_device_t *exact(const choice_t *choice)
{
    yoke_text_t name = {0};
    for (size_t i = 0; i < choice->args->positional_count; i++)
        yoke_text_printf(&name, "%s%s", i > 0 ? " " : "", choice->args->positional[i]);
    const yoke_catalog_device_t *device =
        name.size == 0
            ? NULL
            : yoke_catalog_find(choice->catalog, yoke_args_value(choice->args, "vendor"),
                                yoke_text_get(&name));
    yoke_text_free(&name);
    return device;
}

static void choose_devices(choice_t *choice)
{
    const yoke_catalog_device_t *device = exact(choice);
    if (device != NULL) {
        choice->devices[choice->device_count++] = device;
        return;
    }
    for (size_t i = 0; i < choice->catalog->device_count; i++)
        if (is_wanted(choice->args, &choice->catalog->devices[i]))
            choice->devices[choice->device_count++] = &choice->catalog->devices[i];
}

static void choose_links(choice_t *choice)
{
    const yoke_args_t *args = choice->args;
    for (size_t i = 0; i < choice->catalog->link_count; i++) {
        const yoke_catalog_link_t *link = &choice->catalog->links[i];
        bool wanted = true;
        for (size_t j = 0; j < args->positional_count; j++)
            wanted = wanted && (holds(link->name, args->positional[j]) ||
                                holds(link->kind, args->positional[j]));
        if (wanted)
            choice->links[choice->link_count++] = link;
    }
}

/* --- lists ------------------------------------------------------------------------ */

static const char *doubt(const yoke_quantity_t *quantity)
{
    return (quantity->marks & (YOKE_MARK_DISPUTED | YOKE_MARK_NOT_REREAD)) != 0 ? "?"
                                                                                : "";
}

static void cell_rate(yoke_table_t *table, const yoke_quantity_t *quantity,
                      const char *unit)
{
    char shown[32];
    if (!yoke_known(quantity))
        yoke_table_cell(table, NULL);
    else
        yoke_table_cellf(table, "%s%s", doubt(quantity),
                         yoke_show_rate(quantity->value, unit, shown));
}

static void list_devices(const choice_t *choice, size_t width, yoke_text_t *out)
{
    static const char *const headers[] = {"~VENDOR", "NAME",       ">MEMORY",
                                          ">FLOP/s", ">BANDWIDTH", ">LINK"};
    yoke_table_t *table = yoke_table_new(headers, 6);
    for (size_t i = 0; i < choice->device_count; i++) {
        const yoke_catalog_device_t *device = choice->devices[i];
        char shown[32];
        yoke_table_cell(table, device->vendor);
        yoke_table_cellf(table, "%s%s", device->name, device->user ? " (user)" : "");
        if (yoke_known(&device->memory))
            yoke_table_cellf(table, "%s%s", doubt(&device->memory),
                             yoke_show_bytes(device->memory.value, shown));
        else
            yoke_table_cell(table, NULL);
        /* A bf16 of 0 (V100, T4) is a device that cannot: what it can is in fp16. */
        const yoke_quantity_t *bf16 = &device->compute[YOKE_BF16];
        bool has_bf16 = yoke_known(bf16) && bf16->value > 0;
        cell_rate(table, has_bf16 ? bf16 : &device->compute[YOKE_FP16], "");
        cell_rate(table, &device->bandwidth, "B/s");
        cell_rate(table, &device->link_rate, "B/s");
    }
    yoke_table_print(table, width, 0, out);
    yoke_table_free(table);
    yoke_text_printf(out,
                     "%zu devices. FLOP/s: dense peak in bf16, else in fp16. LINK: per "
                     "direction.\n\"-\" unknown; \"?\" disputed or not re-read. One name "
                     "shows all, with sources.\n",
                     choice->device_count);
}

static void list_links(const choice_t *choice, size_t width, yoke_text_t *out)
{
    static const char *const headers[] = {"~NAME", "KIND",      "TOPOLOGY",
                                          ">RATE", ">ACHIEVED", ">LATENCY"};
    yoke_table_t *table = yoke_table_new(headers, 6);
    for (size_t i = 0; i < choice->link_count; i++) {
        const yoke_catalog_link_t *link = choice->links[i];
        char shown[32];
        yoke_table_cell(table, link->name);
        yoke_table_cell(table, link->kind);
        yoke_table_cell(table, link->topology);
        cell_rate(table, &link->rate, "B/s");
        if (yoke_known(&link->fraction))
            yoke_table_cellf(table, "%.0f %%", link->fraction.value * 100);
        else
            yoke_table_cell(table, NULL);
        yoke_table_cell(table, yoke_known(&link->latency)
                                   ? yoke_show_seconds(link->latency.value, shown)
                                   : NULL);
    }
    yoke_table_print(table, width, 0, out);
    yoke_table_free(table);
    yoke_text_printf(out,
                     "%zu links; rates per direction; \"?\" disputed or not re-read\n",
                     choice->link_count);
}

/* --- one row ---------------------------------------------------------------------- */

static void add_line(const char *label, const char *value, const char *marks,
                     const char *source, size_t width, yoke_text_t *out)
{
    yoke_text_t line = {0};
    if (value == NULL)
        yoke_text_add(&line, label);
    else
        yoke_text_printf(&line, "%-16s %s", label, value);
    if (marks != NULL && *marks != '\0')
        yoke_text_printf(&line, " [%s]", marks);
    yoke_text_printf(out, "  %s\n", yoke_text_get(&line));
    yoke_text_free(&line);
    if (source == NULL)
        return;
    yoke_text_add(out, "      ");
    yoke_wrap(source, width, 6, out);
    yoke_text_add(out, "\n");
}

typedef enum unit {
    UNIT_BYTES,
    UNIT_FLOPS,
    UNIT_RATE,
    UNIT_FRACTION,
    UNIT_SECONDS,
    UNIT_WATTS
} unit_t;

static void show_value(double value, unit_t unit, char buffer[32])
{
    switch (unit) {
    case UNIT_BYTES:
        yoke_show_bytes(value, buffer);
        break;
    case UNIT_FLOPS:
        yoke_show_rate(value, "FLOP/s", buffer);
        break;
    case UNIT_RATE:
        yoke_show_rate(value, "B/s", buffer);
        break;
    case UNIT_SECONDS:
        yoke_show_seconds(value, buffer);
        break;
    case UNIT_FRACTION:
        yoke_snprintf(buffer, 32, "%.1f %% of peak", value * 100);
        break;
    case UNIT_WATTS:
        yoke_snprintf(buffer, 32, "%.0f W", value);
        break;
    }
}

static void add_figure(const char *label, const yoke_quantity_t *quantity, unit_t unit,
                       size_t width, yoke_text_t *out)
{
    char shown[32];
    char marks[64];
    if (!yoke_known(quantity))
        return;
    show_value(quantity->value, unit, shown);
    bool cannot = unit == UNIT_FLOPS && !(quantity->value > 0);
    add_line(label, cannot ? "none: cannot compute in it" : shown,
             yoke_marks_text(quantity->marks, marks), quantity->detail, width, out);
}

static void add_compute(const yoke_catalog_device_t *device, size_t width,
                        yoke_text_t *out)
{
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++) {
        const char *dtype = yoke_dtype_name((yoke_dtype_t)i);
        char label[32];
        add_figure(dtype, &device->compute[i], UNIT_FLOPS, width, out);
        yoke_snprintf(label, sizeof label, "%s achieved", dtype);
        add_figure(label, &device->achieved[i], UNIT_FRACTION, width, out);
    }
}

static void add_names(const yoke_catalog_device_t *device, size_t width, yoke_text_t *out)
{
    yoke_text_t text = {0};
    for (size_t i = 0; i < device->aliases.count; i++)
        yoke_text_printf(&text, "%s%s", i > 0 ? ", " : "", device->aliases.items[i]);
    if (text.size > 0) {
        yoke_text_add(out, "  also called      ");
        yoke_wrap(yoke_text_get(&text), width, 19, out);
        yoke_text_add(out, "\n");
    }
    yoke_text_free(&text);
    if (device->architecture != NULL)
        add_line("architecture", device->architecture, NULL, NULL, width, out);
    for (size_t i = 0; i < device->pci_device_count; i++)
        yoke_text_printf(out, "%s%04x:%04x%s", i == 0 ? "  PCI id           " : ", ",
                         device->pci_vendor, device->pci_devices[i],
                         i + 1 == device->pci_device_count ? "\n" : "");
    for (size_t i = 0; i < device->shared.count; i++)
        yoke_text_printf(out, "  PCI id %.4s is also that of %s\n",
                         device->shared.items[i], device->shared.items[i] + 5);
}

static void show_device(const yoke_catalog_device_t *device, size_t width,
                        yoke_text_t *out)
{
    yoke_text_printf(out, "%s (%s, %s)%s%s\n", device->name,
                     device->vendor == NULL ? "vendor unknown" : device->vendor,
                     yoke_device_kind_name(device->kind), device->user ? ", from " : "",
                     device->user ? device->file : "");
    add_names(device, width, out);
    if (device->parts > 1)
        yoke_text_printf(
            out,
            "  parts            the runtime shows %u devices for one of these; "
            "each has a\n                   %s of the figures below\n",
            device->parts, device->parts == 2 ? "half" : "share");
    add_figure("memory", &device->memory, UNIT_BYTES, width, out);
    add_figure("bandwidth", &device->bandwidth, UNIT_RATE, width, out);
    add_figure("  achieved", &device->bandwidth_achieved, UNIT_FRACTION, width, out);
    add_compute(device, width, out);
    if (device->link_name != NULL && !yoke_known(&device->link_rate))
        add_line("link", device->link_name, NULL, NULL, width, out);
    add_figure(device->link_name == NULL ? "link" : device->link_name, &device->link_rate,
               UNIT_RATE, width, out);
    if (device->link_topology != NULL)
        add_line("link topology", device->link_topology, NULL, NULL, width, out);
    if (device->pcie_generation != 0 && device->pcie_lanes != 0)
        yoke_text_printf(out, "  PCIe             generation %u, %u lanes\n",
                         device->pcie_generation, device->pcie_lanes);
    add_figure("power", &device->power, UNIT_WATTS, width, out);
    if (device->runtime != NULL)
        add_line("runtime", device->runtime, NULL, NULL, width, out);
    if (device->collectives != NULL)
        add_line("collectives", device->collectives, NULL, NULL, width, out);
    add_line("all sources", NULL, NULL, device->source, width, out);
}

static void show_link(const yoke_catalog_link_t *link, size_t width, yoke_text_t *out)
{
    yoke_text_printf(out, "%s (%s%s%s)\n", link->name,
                     link->kind == NULL ? "kind unknown" : link->kind,
                     link->topology == NULL ? "" : ", ",
                     link->topology == NULL ? "" : link->topology);
    add_figure("rate", &link->rate, UNIT_RATE, width, out);
    add_figure("achieved", &link->fraction, UNIT_FRACTION, width, out);
    add_figure("latency", &link->latency, UNIT_SECONDS, width, out);
    if (link->source != NULL && !yoke_known(&link->rate))
        add_line("rate", "unknown", NULL, link->source, width, out);
}

/* --- output ----------------------------------------------------------------------- */

static void add_text(const choice_t *choice, yoke_text_t *out)
{
    size_t width = yoke_terminal_width();
    bool all = yoke_args_has(choice->args, "sources");
    if (yoke_args_has(choice->args, "links")) {
        if (!all && choice->link_count != 1)
            list_links(choice, width, out);
        for (size_t i = 0; (all || choice->link_count == 1) && i < choice->link_count;
             i++)
            show_link(choice->links[i], width, out);
        return;
    }
    if (!all && choice->device_count != 1)
        list_devices(choice, width, out);
    for (size_t i = 0; (all || choice->device_count == 1) && i < choice->device_count;
         i++) {
        if (i > 0)
            yoke_text_add(out, "\n");
        show_device(choice->devices[i], width, out);
    }
}

static yoke_status_t write_json(const choice_t *choice, const char *path)
{
    json_t *root = json_object();
    json_t *devices = json_array();
    json_t *links = json_array();
    yoke_json_set_string(root, "schema", "yoke-catalog/1");
    for (size_t i = 0; i < choice->device_count; i++)
        json_array_append_new(devices, yoke_catalog_device_to_json(choice->devices[i]));
    for (size_t i = 0; i < choice->link_count; i++)
        json_array_append_new(links, yoke_catalog_link_to_json(choice->links[i]));
    json_object_set_new(root, "devices", devices);
    json_object_set_new(root, "links", links);
    yoke_status_t status = yoke_json_write(path, root);
    json_decref(root);
    return status;
}

static yoke_status_t write_text(const choice_t *choice)
{
    yoke_text_t out = {0};
    add_text(choice, &out);
    yoke_status_t status =
        out.failed ? yoke_fail_memory() : yoke_write_output("-", yoke_text_get(&out));
    yoke_text_free(&out);
    return status;
}

static yoke_status_t fail_nothing(const choice_t *choice)
{
    const char *word =
        choice->args->positional_count > 0 ? choice->args->positional[0] : "";
    char *nearest = *word == '\0' || yoke_args_has(choice->args, "links")
                        ? NULL
                        : yoke_catalog_nearest(choice->catalog, word);
    yoke_status_t status =
        yoke_fail(YOKE_ERR_NO, "nothing in the catalog fits%s%s",
                  nearest == NULL ? "" : "; near are ", nearest == NULL ? "" : nearest);
    free(nearest);
    return status;
}

static yoke_status_t show(const yoke_args_t *args)
{
    choice_t choice = {.args = args};
    yoke_status_t status = yoke_catalog_default(&choice.catalog);
    if (status != YOKE_OK)
        return status;
    choice.devices = calloc(choice.catalog->device_count + 1, sizeof *choice.devices);
    choice.links = calloc(choice.catalog->link_count + 1, sizeof *choice.links);
    if (choice.devices == NULL || choice.links == NULL)
        status = yoke_fail_memory();
    else if (yoke_args_has(args, "links"))
        choose_links(&choice);
    else
        choose_devices(&choice);
    const char *json = yoke_args_value(args, "json");
    if (status == YOKE_OK && choice.device_count + choice.link_count == 0)
        status = fail_nothing(&choice);
    else if (status == YOKE_OK)
        status = json != NULL ? write_json(&choice, json) : write_text(&choice);
    free((void *)choice.devices);
    free((void *)choice.links);
    return status;
}

static yoke_status_t use_files(const yoke_args_t *args)
{
    size_t count = 0;
    while (yoke_args_nth(args, "catalog", count) != NULL)
        count++;
    if (count == 0)
        return YOKE_OK;
    const char **files = calloc(count + 1, sizeof *files);
    if (files == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < count; i++)
        files[i] = yoke_args_nth(args, "catalog", i);
    yoke_status_t status = yoke_catalog_use(files);
    free((void *)files);
    return status;
}

static int run(int argc, char **argv)
{
    yoke_args_t args;
    int code = 0;
    if (!yoke_args_parse(&yoke_catalog_command, argc, argv, &args, &code))
        return code;
    if (yoke_args_has(&args, "links") && yoke_args_has(&args, "vendor")) {
        yoke_args_free(&args);
        return yoke_usage_error(&yoke_catalog_command,
                                "--vendor is for devices, not links");
    }
    yoke_status_t status = use_files(&args);
    if (status == YOKE_OK)
        status = show(&args);
    yoke_args_free(&args);
    return yoke_status_exit_code(status);
}

const yoke_command_t yoke_catalog_command = {
    .name = "catalog",
    .summary = "List and search published figures of accelerators and links",
    .usage = "yoke catalog [WORD...] [options]",
    .description =
        "Without words all devices are listed; with words those whose name, aliases, "
        "maker, "
        "architecture or runtime hold every one of them. A single device is shown with "
        "all "
        "its numbers, the source of each, and the marks \"disputed\" (public sources "
        "disagree) and \"not re-read\" (quoted from memory of the named document).\n\n"
        "Rates are dense peaks; \"achieved\" is the fraction of them that large matrix "
        "products or copies were measured to reach. Links are told per direction.\n\n"
        "Exit codes: 0 found, 1 nothing fits, 2 usage, 3 a catalog file is malformed.",
    .examples = "yoke catalog\n    all devices\n"
                "yoke catalog 910B\n    those whose name holds 910B\n"
                "yoke catalog H20\n    one device, with the sources\n"
                "yoke catalog --links roce\n    links whose name holds roce\n",
    .options = options,
    .run = run,
};
