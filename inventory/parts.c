/* SPDX-License-Identifier: Apache-2.0 */
/* Growing, clearing and copying the parts of an inventory. */
#include "inventory/parts.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "inventory/document.h"

#define AT(type, member) offsetof(type, member)
#define PART(type, strings, quantities)                                                  \
    {                                                                                    \
        sizeof(type), strings, quantities                                                \
    }

static const size_t no_offsets[] = {YOKE_PART_END};
static const size_t view_strings[] = {AT(yoke_view_t, runtime),
                                      AT(yoke_view_t, library),
                                      AT(yoke_view_t, version),
                                      AT(yoke_view_t, driver),
                                      AT(yoke_view_t, name),
                                      AT(yoke_view_t, platform),
                                      YOKE_PART_END};
static const size_t view_quantities[] = {AT(yoke_view_t, memory_total), YOKE_PART_END};
static const size_t device_strings[] = {
    AT(yoke_inventory_device_t, id),        AT(yoke_inventory_device_t, vendor),
    AT(yoke_inventory_device_t, name),      AT(yoke_inventory_device_t, type),
    AT(yoke_inventory_device_t, uuid_text), AT(yoke_inventory_device_t, partition),
    AT(yoke_inventory_device_t, parent),    AT(yoke_inventory_device_t, reason),
    AT(yoke_inventory_device_t, hidden_by), AT(yoke_inventory_device_t, health),
    AT(yoke_inventory_device_t, link_name), YOKE_PART_END};
#define DTYPES(member)                                                                   \
    AT(yoke_inventory_device_t, member[0]), AT(yoke_inventory_device_t, member[1]),      \
        AT(yoke_inventory_device_t, member[2]), AT(yoke_inventory_device_t, member[3]),  \
        AT(yoke_inventory_device_t, member[4]), AT(yoke_inventory_device_t, member[5]),  \
        AT(yoke_inventory_device_t, member[6])
_Static_assert(YOKE_DTYPE_COUNT == 7, "list every data type in DTYPES()");
static const size_t device_quantities[] = {
    AT(yoke_inventory_device_t, memory.total),
    AT(yoke_inventory_device_t, memory.free),
    AT(yoke_inventory_device_t, memory.usable),
    DTYPES(compute),
    DTYPES(achieved),
    AT(yoke_inventory_device_t, bandwidth),
    AT(yoke_inventory_device_t, bandwidth_achieved),
    AT(yoke_inventory_device_t, copy_to),
    AT(yoke_inventory_device_t, copy_from),
    AT(yoke_inventory_device_t, launch),
    AT(yoke_inventory_device_t, link_rate),
    YOKE_PART_END};
static const size_t nic_strings[] = {AT(yoke_nic_t, id), AT(yoke_nic_t, kind),
                                     AT(yoke_nic_t, owner), YOKE_PART_END};
static const size_t nic_quantities[] = {AT(yoke_nic_t, rate), YOKE_PART_END};
static const size_t finding_strings[] = {AT(yoke_finding_t, probe),
                                         AT(yoke_finding_t, verdict),
                                         AT(yoke_finding_t, library),
                                         AT(yoke_finding_t, call),
                                         AT(yoke_finding_t, code_name),
                                         AT(yoke_finding_t, text),
                                         YOKE_PART_END};
static const size_t node_strings[] = {AT(yoke_node_t, hosts), AT(yoke_node_t, os),
                                      AT(yoke_node_t, kernel), YOKE_PART_END};
static const size_t link_strings[] = {AT(yoke_link_t, between[0]),
                                      AT(yoke_link_t, between[1]), AT(yoke_link_t, kind),
                                      YOKE_PART_END};
static const size_t link_quantities[] = {AT(yoke_link_t, rate), AT(yoke_link_t, latency),
                                         YOKE_PART_END};

const yoke_part_t yoke_view_part = PART(yoke_view_t, view_strings, view_quantities);
const yoke_part_t yoke_device_part =
    PART(yoke_inventory_device_t, device_strings, device_quantities);
const yoke_part_t yoke_nic_part = PART(yoke_nic_t, nic_strings, nic_quantities);
const yoke_part_t yoke_finding_part = PART(yoke_finding_t, finding_strings, no_offsets);
const yoke_part_t yoke_node_part = PART(yoke_node_t, node_strings, no_offsets);
const yoke_part_t yoke_link_part = PART(yoke_link_t, link_strings, link_quantities);

yoke_status_t yoke_set_string(char **member, const char *value)
{
    char *copy = NULL;
    if (value != NULL) {
        copy = yoke_strdup(value);
        if (copy == NULL)
            return yoke_fail_memory();
    }
    free(*member);
    *member = copy;
    return YOKE_OK;
}

yoke_status_t yoke_quantity_set(yoke_quantity_t *quantity, double value,
                                yoke_source_t source, unsigned marks, const char *detail)
{
    yoke_status_t status = yoke_set_string(&quantity->detail, detail);
    if (status != YOKE_OK)
        return status;
    quantity->value = value;
    quantity->source = source;
    quantity->marks = marks;
    return YOKE_OK;
}

void yoke_quantity_clear(yoke_quantity_t *quantity)
{
    free(quantity->detail);
    *quantity = (yoke_quantity_t){0};
}

yoke_status_t yoke_device_set_link(yoke_inventory_device_t *device, double rate,
                                   const char *detail)
{
    device->link_group = 0;
    return yoke_quantity_set(&device->link_rate, rate, YOKE_SOURCE_USER, 0, detail);
}

yoke_status_t yoke_quantity_copy(const yoke_quantity_t *from, yoke_quantity_t *out)
{
    return yoke_quantity_set(out, from->value, from->source, from->marks, from->detail);
}

static void clear_part(void *part, const yoke_part_t *table)
{
    for (const size_t *at = table->strings; *at != YOKE_PART_END; at++)
        free(*yoke_part_string(part, *at));
    for (const size_t *at = table->quantities; *at != YOKE_PART_END; at++)
        free(yoke_part_quantity(part, *at)->detail);
    memset(part, 0, table->size);
}

/* Copies the part with its strings and quantities; other pointers must be replaced by the
 * caller. On failure what was copied is freed and the part zeroed. */
static yoke_status_t copy_part(const void *from, void *out, const yoke_part_t *table)
{
    bool failed = false;
    memcpy(out, from, table->size);
    for (const size_t *at = table->strings; *at != YOKE_PART_END; at++) {
        char **member = yoke_part_string(out, *at);
        char *copy = *member == NULL || failed ? NULL : yoke_strdup(*member);
        failed = failed || (*member != NULL && copy == NULL);
        *member = copy;
    }
    for (const size_t *at = table->quantities; *at != YOKE_PART_END; at++) {
        char **member = &yoke_part_quantity(out, *at)->detail;
        char *copy = *member == NULL || failed ? NULL : yoke_strdup(*member);
        failed = failed || (*member != NULL && copy == NULL);
        *member = copy;
    }
    if (!failed)
        return YOKE_OK;
    clear_part(out, table);
    return yoke_fail_memory();
}

void *yoke_grow(void **items, size_t *count, size_t size)
{
    size_t used = *count;
    bool full = used == 0 || (used & (used - 1)) == 0;
    if (full) {
        size_t capacity = used == 0 ? 1 : used * 2;
        void *grown =
            capacity > SIZE_MAX / size ? NULL : realloc(*items, capacity * size);
        if (grown == NULL) {
            yoke_fail_memory();
            return NULL;
        }
        *items = grown;
    }
    void *item = (char *)*items + used * size;
    memset(item, 0, size);
    (*count)++;
    return item;
}

/* Appends to a typed array without a cast that hides its type. */
#define GROW(array, count)                                                               \
    __extension__({                                                                      \
        void *items_ = (array);                                                          \
        void *item_ = yoke_grow(&items_, &(count), sizeof *(array));                     \
        (array) = items_;                                                                \
        item_;                                                                           \
    })

yoke_inventory_t *yoke_inventory_new(void)
{
    yoke_inventory_t *inventory = calloc(1, sizeof *inventory);
    if (inventory == NULL)
        yoke_fail_memory();
    return inventory;
}

yoke_node_t *yoke_inventory_add_node(yoke_inventory_t *inventory, const char *hosts)
{
    yoke_node_t *node = GROW(inventory->nodes, inventory->node_count);
    if (node == NULL)
        return NULL;
    if (yoke_set_string(&node->hosts, hosts) != YOKE_OK) {
        inventory->node_count--;
        return NULL;
    }
    return node;
}

yoke_link_t *yoke_inventory_add_link(yoke_inventory_t *inventory)
{
    return GROW(inventory->links, inventory->link_count);
}

yoke_inventory_device_t *yoke_node_add_device(yoke_node_t *node)
{
    yoke_inventory_device_t *device = GROW(node->devices, node->device_count);
    if (device != NULL)
        device->numa = -1;
    return device;
}

yoke_nic_t *yoke_node_add_nic(yoke_node_t *node)
{
    yoke_nic_t *nic = GROW(node->nics, node->nic_count);
    if (nic != NULL)
        nic->numa = -1;
    return nic;
}

static yoke_status_t add_string(char ***list, size_t *count, char *string)
{
    void *items = *list;
    char **item = string == NULL ? NULL : yoke_grow(&items, count, sizeof *item);
    if (item == NULL) {
        free(string);
        return yoke_fail_memory();
    }
    *list = items;
    *item = string;
    return YOKE_OK;
}

yoke_status_t yoke_nic_add_near(yoke_nic_t *nic, const char *device_id)
{
    return add_string(&nic->near, &nic->near_count, yoke_strdup(device_id));
}

yoke_status_t yoke_node_warn(yoke_node_t *node, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int length = vasprintf(&text, format, args);
    va_end(args);
    return add_string(&node->warnings, &node->warning_count, length < 0 ? NULL : text);
}

yoke_finding_t *yoke_node_add_finding(yoke_node_t *node, const char *probe,
                                      const char *verdict, const char *text, bool fault)
{
    yoke_finding_t *finding = GROW(node->findings, node->finding_count);
    if (finding == NULL)
        return NULL;
    finding->fault = fault;
    if (yoke_set_string(&finding->probe, probe) != YOKE_OK ||
        yoke_set_string(&finding->verdict, verdict) != YOKE_OK ||
        yoke_set_string(&finding->text, text) != YOKE_OK) {
        yoke_finding_clear(finding);
        node->finding_count--;
        return NULL;
    }
    return finding;
}

yoke_view_t *yoke_device_add_view(yoke_inventory_device_t *device)
{
    yoke_view_t *view = GROW(device->views, device->view_count);
    if (view != NULL)
        view->ordinal = view->native = -1;
    return view;
}

static void free_strings(char **strings, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(strings[i]);
    free(strings);
}

void yoke_view_clear(yoke_view_t *view)
{
    clear_part(view, &yoke_view_part);
}

void yoke_device_clear(yoke_inventory_device_t *device)
{
    for (size_t i = 0; i < device->view_count; i++)
        yoke_view_clear(&device->views[i]);
    free(device->views);
    clear_part(device, &yoke_device_part);
}

void yoke_nic_clear(yoke_nic_t *nic)
{
    free_strings(nic->near, nic->near_count);
    clear_part(nic, &yoke_nic_part);
}

void yoke_finding_clear(yoke_finding_t *finding)
{
    clear_part(finding, &yoke_finding_part);
}

void yoke_link_clear(yoke_link_t *link)
{
    clear_part(link, &yoke_link_part);
}

void yoke_node_clear(yoke_node_t *node)
{
    for (size_t i = 0; i < node->device_count; i++)
        yoke_device_clear(&node->devices[i]);
    for (size_t i = 0; i < node->nic_count; i++)
        yoke_nic_clear(&node->nics[i]);
    for (size_t i = 0; i < node->finding_count; i++)
        yoke_finding_clear(&node->findings[i]);
    free(node->devices);
    free(node->nics);
    free(node->findings);
    free_strings(node->warnings, node->warning_count);
    clear_part(node, &yoke_node_part);
}

void yoke_inventory_free(yoke_inventory_t *inventory)
{
    if (inventory == NULL)
        return;
    for (size_t i = 0; i < inventory->node_count; i++)
        yoke_node_clear(&inventory->nodes[i]);
    for (size_t i = 0; i < inventory->link_count; i++)
        yoke_link_clear(&inventory->links[i]);
    free(inventory->nodes);
    free(inventory->links);
    free(inventory->name);
    yoke_extra_free(inventory->extra);
    free(inventory);
}

yoke_status_t yoke_device_copy(const yoke_inventory_device_t *device,
                               yoke_inventory_device_t *out)
{
    yoke_inventory_device_t copy;
    yoke_status_t status = copy_part(device, &copy, &yoke_device_part);
    if (status != YOKE_OK)
        return status;
    copy.views = NULL;
    copy.view_count = 0;
    for (size_t i = 0; i < device->view_count && status == YOKE_OK; i++) {
        yoke_view_t *view = yoke_device_add_view(&copy);
        status = view == NULL ? YOKE_ERR_NO_MEMORY
                              : copy_part(&device->views[i], view, &yoke_view_part);
    }
    if (status != YOKE_OK)
        yoke_device_clear(&copy);
    else
        *out = copy;
    return status;
}

static yoke_status_t copy_nic(const yoke_nic_t *nic, yoke_nic_t *out)
{
    yoke_status_t status = copy_part(nic, out, &yoke_nic_part);
    if (status != YOKE_OK)
        return status;
    out->near = NULL;
    out->near_count = 0;
    for (size_t i = 0; i < nic->near_count && status == YOKE_OK; i++)
        status = yoke_nic_add_near(out, nic->near[i]);
    return status;
}

static yoke_status_t copy_node_lists(const yoke_node_t *node, yoke_node_t *out)
{
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < node->device_count && status == YOKE_OK; i++) {
        yoke_inventory_device_t *device = yoke_node_add_device(out);
        status = device == NULL ? YOKE_ERR_NO_MEMORY
                                : yoke_device_copy(&node->devices[i], device);
    }
    for (size_t i = 0; i < node->nic_count && status == YOKE_OK; i++) {
        yoke_nic_t *nic = yoke_node_add_nic(out);
        status = nic == NULL ? YOKE_ERR_NO_MEMORY : copy_nic(&node->nics[i], nic);
    }
    for (size_t i = 0; i < node->finding_count && status == YOKE_OK; i++) {
        yoke_finding_t *finding = GROW(out->findings, out->finding_count);
        status = finding == NULL
                     ? YOKE_ERR_NO_MEMORY
                     : copy_part(&node->findings[i], finding, &yoke_finding_part);
    }
    for (size_t i = 0; i < node->warning_count && status == YOKE_OK; i++)
        status = yoke_node_warn(out, "%s", node->warnings[i]);
    return status;
}

yoke_status_t yoke_node_copy(const yoke_node_t *node, yoke_node_t *out)
{
    yoke_node_t copy = {0};
    yoke_status_t status = yoke_set_string(&copy.hosts, node->hosts);
    if (status == YOKE_OK)
        status = yoke_set_string(&copy.os, node->os);
    if (status == YOKE_OK)
        status = yoke_set_string(&copy.kernel, node->kernel);
    copy.gathered_at = node->gathered_at;
    if (status == YOKE_OK)
        status = copy_node_lists(node, &copy);
    if (status != YOKE_OK)
        yoke_node_clear(&copy);
    else
        *out = copy;
    return status;
}

yoke_status_t yoke_link_copy(const yoke_link_t *link, yoke_link_t *out)
{
    return copy_part(link, out, &yoke_link_part);
}

yoke_status_t yoke_inventory_copy(const yoke_inventory_t *inventory,
                                  yoke_inventory_t **out_inventory)
{
    yoke_inventory_t *copy = yoke_inventory_new();
    if (copy == NULL)
        return YOKE_ERR_NO_MEMORY;
    yoke_status_t status = yoke_set_string(&copy->name, inventory->name);
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++) {
        yoke_node_t *node = GROW(copy->nodes, copy->node_count);
        status = node == NULL ? YOKE_ERR_NO_MEMORY
                              : yoke_node_copy(&inventory->nodes[i], node);
    }
    for (size_t i = 0; i < inventory->link_count && status == YOKE_OK; i++) {
        yoke_link_t *link = yoke_inventory_add_link(copy);
        status = link == NULL ? YOKE_ERR_NO_MEMORY
                              : yoke_link_copy(&inventory->links[i], link);
    }
    if (status == YOKE_OK && inventory->extra != NULL) {
        copy->extra = json_deep_copy(inventory->extra);
        status = copy->extra == NULL ? yoke_fail_memory() : YOKE_OK;
    }
    if (status != YOKE_OK)
        yoke_inventory_free(copy);
    else
        *out_inventory = copy;
    return status;
}

yoke_status_t yoke_inventory_split_node(yoke_inventory_t *inventory, size_t index,
                                        const char *chosen, const char *rest)
{
    if (chosen == NULL || rest == NULL || *chosen == '\0' || *rest == '\0')
        return YOKE_OK;
    yoke_node_t copy = {0};
    yoke_node_t *node = &inventory->nodes[index];
    yoke_status_t status = yoke_extra_copy_node(inventory->extra, node->hosts, chosen);
    if (status == YOKE_OK)
        status = yoke_extra_copy_node(inventory->extra, node->hosts, rest);
    if (status == YOKE_OK)
        status = yoke_node_copy(node, &copy);
    if (status == YOKE_OK)
        status = yoke_set_string(&copy.hosts, chosen);
    if (status == YOKE_OK)
        status = yoke_set_string(&node->hosts, rest);
    if (status == YOKE_OK && GROW(inventory->nodes, inventory->node_count) == NULL)
        status = YOKE_ERR_NO_MEMORY;
    if (status != YOKE_OK) {
        yoke_node_clear(&copy);
        return status;
    }
    yoke_node_t *nodes = inventory->nodes;
    memmove(&nodes[index + 2], &nodes[index + 1],
            (inventory->node_count - index - 2) * sizeof *nodes);
    nodes[index + 1] = copy;
    return YOKE_OK;
}
