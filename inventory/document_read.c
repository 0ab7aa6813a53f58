/* SPDX-License-Identifier: Apache-2.0 */
/* Reading yoke-inventory/1. Nothing in a document is trusted: counts, names and numbers
 * have limits, and every refusal names its place. */
#include "inventory/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "inventory/parts.h"
#include "inventory/reading.h"
#include "inventory/selector.h"

#define MAX_HOSTS 1000000u

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A name that stands twice in an array of `count` names, or NULL. */
static yoke_status_t check_distinct(const yoke_cursor_t *at, const char *what,
                                    const char **names, size_t count)
{
    if (count > 1)
        qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            return yoke_cursor_fail(at, NULL, "%s \"%s\" stands twice", what, names[i]);
    return YOKE_OK;
}

static yoke_status_t check_device_ids(const yoke_cursor_t *at, const yoke_node_t *node)
{
    const char **ids = calloc(node->device_count + 1, sizeof *ids);
    if (ids == NULL)
        return yoke_fail_memory();
    for (size_t i = 0; i < node->device_count; i++)
        ids[i] = node->devices[i].id;
    yoke_status_t status = check_distinct(at, "the device id", ids, node->device_count);
    free(ids);
    return status;
}

static yoke_status_t read_devices(const yoke_cursor_t *at, yoke_node_t *node)
{
    yoke_cursor_t list;
    TRY(yoke_cursor_need(at, "devices", &list));
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        yoke_inventory_device_t *device = yoke_node_add_device(node);
        if (device == NULL)
            return YOKE_ERR_NO_MEMORY;
        TRY(yoke_read_device(&item, device));
    }
    return check_device_ids(&list, node);
}

static yoke_status_t read_near(const yoke_cursor_t *at, yoke_nic_t *nic)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "near", &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_string(item.value))
            return yoke_cursor_fail(&item, NULL, "must be a device id");
        TRY(yoke_nic_add_near(nic, json_string_value(item.value)));
    }
    return YOKE_OK;
}

static yoke_status_t read_nic(const yoke_cursor_t *at, yoke_nic_t *nic)
{
    static const char *const allowed[] = {"id",     "kind",  "pci",    "pci_ids",
                                          "numa",   "rate",  "source", "marks",
                                          "detail", "owner", "near",   NULL};
    static const char *const keys[] = {"rate", NULL};
    static const double max[] = {YOKE_MAX_RATE};
    yoke_quantity_t *quantities[] = {&nic->rate};
    int64_t numa = -1;
    TRY(yoke_read_only(at, allowed));
    TRY(yoke_read_id(at, "id", &nic->id));
    TRY(yoke_read_string(at, "kind", &nic->kind));
    TRY(yoke_read_pci(at, &nic->pci));
    TRY(yoke_read_index(at, "numa", &numa));
    nic->numa = (int)numa;
    TRY(yoke_read_shared(at, keys, max, quantities, 1));
    TRY(yoke_read_string(at, "owner", &nic->owner));
    return read_near(at, nic);
}

static yoke_status_t read_nics(const yoke_cursor_t *at, yoke_node_t *node)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "nics", &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        yoke_nic_t *nic = yoke_node_add_nic(node);
        if (nic == NULL)
            return YOKE_ERR_NO_MEMORY;
        TRY(read_nic(&item, nic));
    }
    return YOKE_OK;
}

static yoke_status_t read_finding(const yoke_cursor_t *at, yoke_node_t *node)
{
    static const char *const allowed[] = {"probe", "verdict", "library",
                                          "call",  "code",    "code_name",
                                          "text",  "fault",   NULL};
    yoke_cursor_t code;
    yoke_finding_t *finding = yoke_node_add_finding(node, NULL, NULL, NULL, false);
    if (finding == NULL)
        return YOKE_ERR_NO_MEMORY;
    TRY(yoke_read_only(at, allowed));
    TRY(yoke_read_string(at, "probe", &finding->probe));
    TRY(yoke_read_string(at, "verdict", &finding->verdict));
    TRY(yoke_read_string(at, "library", &finding->library));
    TRY(yoke_read_string(at, "call", &finding->call));
    if (yoke_cursor_member(at, "code", &code)) {
        if (!json_is_integer(code.value))
            return yoke_cursor_fail(&code, NULL, "must be a whole number");
        finding->has_code = true;
        finding->code = json_integer_value(code.value);
    }
    TRY(yoke_read_string(at, "code_name", &finding->code_name));
    TRY(yoke_read_string(at, "text", &finding->text));
    return yoke_opt_bool(at, "fault", &finding->fault);
}

static yoke_status_t read_findings(const yoke_cursor_t *at, yoke_node_t *node)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "findings", &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        TRY(read_finding(&item, node));
    }
    return YOKE_OK;
}

static yoke_status_t read_warnings(const yoke_cursor_t *at, yoke_node_t *node)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "warnings", &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_string(item.value))
            return yoke_cursor_fail(&item, NULL, "must be a string");
        TRY(yoke_node_warn(node, "%s", json_string_value(item.value)));
    }
    return YOKE_OK;
}

/* Parts name their card, NICs their owner: dangling names would mislead a plan. */
static bool has_device(const yoke_node_t *node, const char *id)
{
    for (size_t i = 0; i < node->device_count; i++)
        if (strcmp(node->devices[i].id, id) == 0)
            return true;
    return false;
}

static yoke_status_t check_references(const yoke_cursor_t *at, const yoke_node_t *node)
{
    for (size_t i = 0; i < node->nic_count; i++) {
        const yoke_nic_t *nic = &node->nics[i];
        const char *missing = NULL;
        if (nic->owner != NULL && !has_device(node, nic->owner))
            missing = nic->owner;
        for (size_t j = 0; j < nic->near_count && missing == NULL; j++)
            if (!has_device(node, nic->near[j]))
                missing = nic->near[j];
        if (missing != NULL)
            return yoke_cursor_fail(at, "nics",
                                    "NIC \"%s\" names the device \"%s\", which "
                                    "this node does not have",
                                    nic->id, missing);
    }
    return YOKE_OK;
}

static yoke_status_t read_hosts(const yoke_cursor_t *at, yoke_node_t *node,
                                uint64_t *total_hosts)
{
    const char *hosts = NULL;
    TRY(yoke_need_string(at, "hosts", &hosts));
    if (strchr(hosts, '/') != NULL)
        return yoke_cursor_fail(at, "hosts", "\"%.80s\": a host name holds no '/'",
                                hosts);
    for (const char *c = hosts; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            return yoke_cursor_fail(at, "hosts", "holds a control character");
    uint64_t count = yoke_hostlist_count(hosts);
    if (count == 0)
        return yoke_cursor_fail(at, "hosts",
                                "\"%.80s\" is not a host list like \"gpu01\" or "
                                "\"npu-[01-04]\"",
                                hosts);
    *total_hosts = count > UINT64_MAX - *total_hosts ? UINT64_MAX : *total_hosts + count;
    if (*total_hosts > MAX_HOSTS)
        return yoke_cursor_fail(
            at, "hosts",
            "with this list the document names %llu hosts; at most %u "
            "are read",
            (unsigned long long)*total_hosts, MAX_HOSTS);
    return yoke_set_string(&node->hosts, hosts);
}

static yoke_status_t read_node(const yoke_cursor_t *at, yoke_node_t *node,
                               uint64_t *total_hosts)
{
    static const char *const allowed[] = {"hosts",       "os",       "kernel",
                                          "gathered_at", "devices",  "nics",
                                          "findings",    "warnings", NULL};
    TRY(yoke_read_only(at, allowed));
    TRY(read_hosts(at, node, total_hosts));
    TRY(yoke_read_string(at, "os", &node->os));
    TRY(yoke_read_string(at, "kernel", &node->kernel));
    TRY(yoke_opt_double(at, "gathered_at", 0, 1e12, &node->gathered_at));
    TRY(read_devices(at, node));
    TRY(read_nics(at, node));
    TRY(read_findings(at, node));
    TRY(read_warnings(at, node));
    return check_references(at, node);
}

/* One host must not be described twice. */
static yoke_status_t check_hosts(const yoke_cursor_t *at,
                                 const yoke_inventory_t *inventory)
{
    yoke_strings_t all = {0};
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; i < inventory->node_count && status == YOKE_OK; i++) {
        yoke_strings_t hosts = {0};
        status = yoke_hostlist_expand(inventory->nodes[i].hosts, &hosts);
        for (size_t j = 0; j < hosts.count && status == YOKE_OK; j++)
            status = yoke_strings_add(&all, hosts.items[j]);
        yoke_strings_free(&hosts);
    }
    if (status == YOKE_OK)
        status =
            check_distinct(at, "the host", (const char **)(void *)all.items, all.count);
    yoke_strings_free(&all);
    return status;
}

static yoke_status_t read_nodes(const yoke_cursor_t *at, yoke_inventory_t *inventory)
{
    yoke_cursor_t list;
    uint64_t total_hosts = 0;
    TRY(yoke_cursor_need(at, "nodes", &list));
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        yoke_node_t *node = yoke_inventory_add_node(inventory, NULL);
        if (node == NULL)
            return YOKE_ERR_NO_MEMORY;
        TRY(read_node(&item, node, &total_hosts));
    }
    return check_hosts(&list, inventory);
}

static yoke_status_t read_between(const yoke_cursor_t *at, yoke_link_t *link)
{
    yoke_cursor_t list;
    TRY(yoke_cursor_need(at, "between", &list));
    TRY(yoke_cursor_array(&list));
    if (yoke_cursor_count(&list) != 2)
        return yoke_cursor_fail(&list, NULL, "must hold two selectors, found %zu",
                                yoke_cursor_count(&list));
    for (size_t i = 0; i < 2; i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        if (!json_is_string(item.value))
            return yoke_cursor_fail(&item, NULL, "must be a selector");
        const char *selector = json_string_value(item.value);
        if (!yoke_selector_valid(selector))
            return yoke_cursor_fail(&item, NULL, "\"%.80s\" is not a selector", selector);
        TRY(yoke_set_string(&link->between[i], selector));
    }
    return YOKE_OK;
}

static yoke_status_t read_link(const yoke_cursor_t *at, yoke_link_t *link)
{
    static const char *const allowed[] = {"between",  "kind",  "rate",   "latency",
                                          "source",   "marks", "detail", "origin",
                                          "fraction", NULL};
    static const char *const keys[] = {"rate", "latency", NULL};
    static const double max[] = {YOKE_MAX_RATE, YOKE_MAX_SECONDS};
    yoke_quantity_t *quantities[] = {&link->rate, &link->latency};
    TRY(yoke_read_only(at, allowed));
    TRY(read_between(at, link));
    TRY(yoke_read_string(at, "kind", &link->kind));
    TRY(yoke_opt_double(at, "fraction", 0, YOKE_MAX_FRACTION, &link->fraction));
    return yoke_read_shared(at, keys, max, quantities, 2);
}

static yoke_status_t read_links(const yoke_cursor_t *at, yoke_inventory_t *inventory)
{
    yoke_cursor_t list;
    if (!yoke_cursor_member(at, "links", &list))
        return YOKE_OK;
    TRY(yoke_cursor_array(&list));
    for (size_t i = 0; i < yoke_cursor_count(&list); i++) {
        yoke_cursor_t item = yoke_cursor_item(&list, i);
        yoke_link_t *link = yoke_inventory_add_link(inventory);
        if (link == NULL)
            return YOKE_ERR_NO_MEMORY;
        TRY(read_link(&item, link));
    }
    return YOKE_OK;
}

/* What the document is instead, when it is one of ours or a model's configuration. */
static const char *other_kind(const yoke_cursor_t *at, const char *schema)
{
    if (schema != NULL && strncmp(schema, "yoke-model/", 11) == 0)
        return ": this is a model document, where an inventory is expected";
    if (schema != NULL && strncmp(schema, "yoke-plan/", 10) == 0)
        return ": this is a plan, where an inventory is expected";
    if (schema == NULL && (json_object_get(at->value, "model_type") != NULL ||
                           json_object_get(at->value, "architectures") != NULL))
        return ": this is the config.json of a model, where an inventory is expected";
    return "";
}

static yoke_status_t check_schema(const yoke_cursor_t *at)
{
    const char *schema = NULL;
    const char *instead = other_kind(at, NULL);
    if (json_object_get(at->value, "schema") == NULL && instead[0] != '\0')
        return yoke_cursor_fail(at, NULL, "no \"schema\"%s", instead);
    TRY(yoke_need_string(at, "schema", &schema));
    static const char wanted[] = "yoke-inventory/1";
    size_t length = sizeof wanted - 1;
    bool ours = strncmp(schema, wanted, length) == 0;
    uint64_t minor = 0;
    if (ours && schema[length] == '.' &&
        yoke_parse_u64(schema + length + 1, strlen(schema + length + 1), 0, UINT32_MAX,
                       &minor))
        return YOKE_OK;
    if (ours && schema[length] == '\0')
        return YOKE_OK;
    return yoke_cursor_fail(at, "schema", "must be \"%s\", found \"%.60s\"%s", wanted,
                            schema, other_kind(at, schema));
}

static yoke_status_t read_root(const yoke_cursor_t *at, yoke_inventory_t *inventory)
{
    static const char *const allowed[] = {"schema", "nodes", "links", NULL};
    TRY(yoke_cursor_object(at));
    TRY(check_schema(at));
    TRY(yoke_read_only(at, allowed));
    TRY(read_nodes(at, inventory));
    return read_links(at, inventory);
}

yoke_status_t yoke_inventory_from_json(const yoke_json_t *json,
                                       yoke_inventory_t **out_inventory)
{
    yoke_inventory_t *inventory = yoke_inventory_new();
    if (inventory == NULL)
        return YOKE_ERR_NO_MEMORY;
    yoke_cursor_t root = yoke_json_cursor(json);
    yoke_status_t status = read_root(&root, inventory);
    if (status == YOKE_OK)
        status = yoke_extra_collect(json->root, &inventory->extra);
    if (status == YOKE_OK)
        status = yoke_set_string(&inventory->name, json->name);
    if (status != YOKE_OK)
        yoke_inventory_free(inventory);
    else
        *out_inventory = inventory;
    return status;
}

yoke_status_t yoke_inventory_parse(const char *name, const char *data, size_t size,
                                   yoke_inventory_t **out_inventory)
{
    yoke_json_t json = {0};
    TRY(yoke_json_parse(name, data, size, &json));
    yoke_status_t status = yoke_inventory_from_json(&json, out_inventory);
    yoke_json_free(&json);
    return status;
}

yoke_status_t yoke_inventory_read(const char *path, yoke_inventory_t **out_inventory)
{
    yoke_json_t json = {0};
    TRY(yoke_json_read(path, 0, &json));
    yoke_status_t status = yoke_inventory_from_json(&json, out_inventory);
    yoke_json_free(&json);
    return status;
}
