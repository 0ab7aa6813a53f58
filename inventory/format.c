/* SPDX-License-Identifier: Apache-2.0 */
/* The formats by name, and what several of them need. */
#include "inventory/format.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"
#include "inventory/operations.h"

static yoke_status_t format_json(const yoke_inventory_t *inventory, size_t width,
                                 yoke_text_t *out)
{
    char *text = NULL;
    (void)width;
    yoke_status_t status = yoke_inventory_text(inventory, &text);
    if (status == YOKE_OK)
        yoke_text_add(out, text);
    free(text);
    return status;
}

const char *const yoke_inventory_formats[] = {
    "table", "json", "yaml", "slurm", "k8s", "hostfile", "mpi", "prometheus", NULL};
static yoke_status_t (*const writers[])(const yoke_inventory_t *, size_t,
                                        yoke_text_t *) = {
    yoke_format_table, format_json,          yoke_format_yaml, yoke_format_slurm,
    yoke_format_k8s,   yoke_format_hostfile, yoke_format_mpi,  yoke_format_prometheus};
_Static_assert(sizeof yoke_inventory_formats / sizeof *yoke_inventory_formats ==
                   sizeof writers / sizeof *writers + 1,
               "one writer a format");

yoke_status_t yoke_inventory_format(const yoke_inventory_t *inventory, const char *format,
                                    size_t width, char **out_text)
{
    size_t i = 0;
    yoke_text_t text = {0};
    while (yoke_inventory_formats[i] != NULL &&
           strcmp(yoke_inventory_formats[i], format) != 0)
        i++;
    if (yoke_inventory_formats[i] == NULL)
        return yoke_fail(
            YOKE_ERR_USAGE,
            "unknown format \"%s\"; known are table, json, yaml, slurm, k8s, "
            "hostfile, mpi and prometheus",
            format);
    yoke_text_add(&text, "");
    yoke_status_t status = writers[i](inventory, width == 0 ? 80 : width, &text);
    if (status == YOKE_OK && text.failed)
        status = yoke_fail_memory();
    if (status != YOKE_OK) {
        yoke_text_free(&text);
        return status;
    }
    *out_text = text.data != NULL ? text.data : yoke_strdup("");
    return *out_text == NULL ? yoke_fail_memory() : YOKE_OK;
}

const char *yoke_device_label(const yoke_inventory_device_t *device)
{
    if (device->type != NULL)
        return device->type;
    if (device->name != NULL)
        return device->name;
    return device->vendor != NULL ? device->vendor : "unknown";
}

bool yoke_device_is_accelerator(const yoke_inventory_device_t *device)
{
    return device->kind == YOKE_DEVICE_GPU || device->kind == YOKE_DEVICE_NPU;
}

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

void yoke_format_token(const char *text, bool lower, size_t limit, yoke_text_t *out)
{
    yoke_text_t token = {0};
    for (; *text != '\0' && token.size < limit; text++) {
        bool kept = is_alphanumeric(*text) || strchr("-_.", *text) != NULL;
        char c = kept ? *text : '-';
        if (lower && c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        bool repeated = token.size > 0 && !is_alphanumeric(c) &&
                        !is_alphanumeric(token.data[token.size - 1]);
        if ((token.size > 0 || is_alphanumeric(c)) && !repeated)
            yoke_text_add_bytes(&token, &c, 1);
    }
    while (token.size > 0 && !is_alphanumeric(token.data[token.size - 1]))
        token.data[--token.size] = '\0';
    yoke_text_add(out, token.size > 0 ? token.data : "unknown");
    out->failed = out->failed || token.failed;
    yoke_text_free(&token);
}

yoke_status_t yoke_count_types(const yoke_node_t *node, yoke_type_count_t **out_counts,
                               size_t *out_count)
{
    yoke_type_count_t *counts = calloc(node->device_count + 1, sizeof *counts);
    size_t used = 0;
    if (counts == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < node->device_count; i++) {
        const yoke_inventory_device_t *device = &node->devices[i];
        size_t j = 0;
        if (!device->schedulable || !yoke_device_is_accelerator(device))
            continue;
        while (j < used && (counts[j].first->kind != device->kind ||
                            strcmp(yoke_device_label(counts[j].first),
                                   yoke_device_label(device)) != 0))
            j++;
        if (j == used)
            counts[used++] = (yoke_type_count_t){device, 0};
        counts[j].count++;
    }
    *out_counts = counts;
    *out_count = used;
    return YOKE_OK;
}
