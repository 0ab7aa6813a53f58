/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_INVENTORY_SUPPORT_H
#define TESTS_INVENTORY_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "inventory/document.h"
#include "inventory/record.h"

#define must(expression)                                                                 \
    do {                                                                                 \
        if ((expression) != YOKE_OK)                                                     \
            fail_msg("%s", yoke_last_error());                                           \
    } while (0)

static inline void quiet(void *context, yoke_log_level_t level, const char *line)
{
    (void)context;
    (void)level;
    (void)line;
}

static inline json_t *case_file(const char *case_id, const char *file)
{
    const char *root = getenv("YOKE_SOURCE_DIR");
    yoke_json_t json = {0};
    char *path =
        yoke_format("%s/tests/cases/%s/%s", root == NULL ? "." : root, case_id, file);
    must(yoke_json_read(path, 0, &json));
    json_t *value = json_incref(json.root);
    yoke_json_free(&json);
    free(path);
    return value;
}

static inline const char *string_in(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static inline double number_in(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static inline yoke_record_t *add_record(yoke_records_t *records, const char *runtime,
                                        int64_t ordinal, const char *name,
                                        const char *pci)
{
    yoke_record_t *record = yoke_records_add(records);
    assert_non_null(record);
    record->runtime = yoke_strdup(runtime);
    record->probe = yoke_strdup(runtime);
    record->ordinal = ordinal;
    if (name != NULL)
        record->name = yoke_strdup(name);
    if (pci != NULL && !yoke_pci_parse(pci, &record->pci))
        fail_msg("bad address %s", pci);
    return record;
}

static inline void set_bytes(yoke_quantity_t *quantity, double bytes)
{
    must(yoke_quantity_set(quantity, bytes, YOKE_SOURCE_RUNTIME, 0, NULL));
}

static inline const yoke_inventory_device_t *device_by_id(const yoke_node_t *node,
                                                          const char *id)
{
    for (size_t i = 0; i < node->device_count; i++)
        if (strcmp(node->devices[i].id, id) == 0)
            return &node->devices[i];
    fail_msg("no device %s", id);
    return NULL;
}

static inline char *node_text(const yoke_node_t *node)
{
    json_t *json = yoke_node_to_json(node);
    char *text = json_dumps(json, JSON_INDENT(1));
    json_decref(json);
    return text;
}

#endif
