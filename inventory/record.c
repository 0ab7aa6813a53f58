/* SPDX-License-Identifier: Apache-2.0 */
/* Probe records: growth, and their JSON for the helper's pipe. */
#include "inventory/record.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "inventory/document.h"
#include "inventory/parts.h"
#include "inventory/reading.h"

#define AT(member) offsetof(yoke_record_t, member)

static const struct {
    const char *key;
    size_t offset;
} strings[] = {
    {"probe", AT(probe)},
    {"runtime", AT(runtime)},
    {"platform", AT(platform)},
    {"library", AT(library)},
    {"version", AT(version)},
    {"driver", AT(driver)},
    {"name", AT(name)},
    {"vendor", AT(vendor)},
    {"uuid", AT(uuid_text)},
    {"partition", AT(partition)},
    {"parent_uuid", AT(parent_uuid)},
    {"hidden_by", AT(hidden_by)},
    {"health", AT(health)},
};
static const struct {
    const char *key;
    size_t offset;
} flags[] = {
    {"emulator", AT(emulator)},
    {"partitioned", AT(partitioned)},
    {"memory_refused", AT(memory_refused)},
    {"integrated", AT(integrated)},
};
static const struct {
    const char *key;
    size_t offset;
} counts[] = {
    {"pcie_generation", AT(pcie_generation)},
    {"pcie_lanes", AT(pcie_lanes)},
    {"pcie_generation_max", AT(pcie_generation_max)},
    {"pcie_lanes_max", AT(pcie_lanes_max)},
};
static const struct {
    const char *key, *number;
    size_t offset;
} quantities[] = {
    {"memory_total", "bytes", AT(memory_total)},
    {"memory_free", "bytes", AT(memory_free)},
    {"memory_usable", "bytes", AT(memory_usable)},
    {"bandwidth", "rate", AT(bandwidth)},
};
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void *member(const yoke_record_t *record, size_t offset)
{
    return (char *)(size_t)record + offset;
}

static void clear_record(yoke_record_t *record)
{
    for (size_t i = 0; i < COUNT(strings); i++)
        free(*(char **)member(record, strings[i].offset));
    for (size_t i = 0; i < COUNT(quantities); i++)
        yoke_quantity_clear(member(record, quantities[i].offset));
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        yoke_quantity_clear(&record->compute[i]);
    memset(record, 0, sizeof *record);
}

yoke_record_t *yoke_records_add(yoke_records_t *records)
{
    if (records->count == records->capacity) {
        size_t capacity = records->capacity == 0 ? 8 : records->capacity * 2;
        void *items = realloc(records->items, capacity * sizeof *records->items);
        if (items == NULL) {
            yoke_fail_memory();
            return NULL;
        }
        records->items = items;
        records->capacity = capacity;
    }
    yoke_record_t *record = &records->items[records->count++];
    *record = (yoke_record_t){.ordinal = -1, .native = -1, .numa = -1};
    return record;
}

void yoke_records_free(yoke_records_t *records)
{
    for (size_t i = 0; i < records->count; i++)
        clear_record(&records->items[i]);
    free(records->items);
    *records = (yoke_records_t){0};
}

static void set_pci(json_t *object, const char *key, const yoke_pci_t *pci)
{
    char text[24];
    if (pci->valid)
        yoke_json_set_string(object, key, yoke_pci_text(pci, text));
}

json_t *yoke_record_to_json(const yoke_record_t *record)
{
    char text[40];
    json_t *object = json_object();
    for (size_t i = 0; i < COUNT(strings); i++) {
        const char *value = *(char **)member(record, strings[i].offset);
        if (value != NULL)
            yoke_json_set_string(object, strings[i].key, value);
    }
    for (size_t i = 0; i < COUNT(flags); i++)
        if (*(bool *)member(record, flags[i].offset))
            json_object_set_new(object, flags[i].key, json_true());
    for (size_t i = 0; i < COUNT(counts); i++)
        if (*(unsigned *)member(record, counts[i].offset) != 0)
            yoke_json_set_u64(object, counts[i].key,
                              *(unsigned *)member(record, counts[i].offset));
    for (size_t i = 0; i < COUNT(quantities); i++) {
        const yoke_quantity_t *quantity = member(record, quantities[i].offset);
        if (yoke_known(quantity))
            json_object_set_new(object, quantities[i].key,
                                yoke_quantity_to_json(quantity, quantities[i].number));
    }
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        if (yoke_known(&record->compute[i]))
            json_object_set_new(object, yoke_dtype_name((yoke_dtype_t)i),
                                yoke_quantity_to_json(&record->compute[i], "rate"));
    if (record->kind_known)
        yoke_json_set_string(object, "kind", yoke_device_kind_name(record->kind));
    set_pci(object, "pci", &record->pci);
    set_pci(object, "parent_pci", &record->parent_pci);
    if (record->pci.vendor_id != 0 || record->pci.device_id != 0) {
        yoke_json_set_u64(object, "pci_vendor", record->pci.vendor_id);
        yoke_json_set_u64(object, "pci_device", record->pci.device_id);
    }
    if (record->has_uuid)
        yoke_json_set_string(object, "uuid_bytes", yoke_uuid_text(record->uuid, text));
    json_object_set_new(object, "ordinal", json_integer(record->ordinal));
    json_object_set_new(object, "native", json_integer(record->native));
    json_object_set_new(object, "numa", json_integer(record->numa));
    return object;
}

static yoke_status_t read_address(const yoke_cursor_t *at, const char *key,
                                  yoke_pci_t *out)
{
    const char *text = NULL;
    TRY(yoke_opt_string(at, key, &text));
    if (text != NULL && !yoke_pci_parse(text, out))
        return yoke_cursor_fail(at, key, "\"%s\" is not a PCI address", text);
    return YOKE_OK;
}

static yoke_status_t read_pci(const yoke_cursor_t *at, yoke_record_t *record)
{
    unsigned vendor = 0;
    unsigned device = 0;
    TRY(read_address(at, "pci", &record->pci));
    TRY(read_address(at, "parent_pci", &record->parent_pci));
    TRY(yoke_read_unsigned(at, "pci_vendor", UINT16_MAX, &vendor));
    TRY(yoke_read_unsigned(at, "pci_device", UINT16_MAX, &device));
    record->pci.vendor_id = (uint16_t)vendor;
    record->pci.device_id = (uint16_t)device;
    return YOKE_OK;
}

static yoke_status_t read_signed(const yoke_cursor_t *at, const char *key, int64_t max,
                                 int64_t *out)
{
    double value = (double)*out;
    TRY(yoke_opt_double(at, key, -1, (double)max, &value));
    *out = (int64_t)value;
    return YOKE_OK;
}

static yoke_status_t read_identity(const yoke_cursor_t *at, yoke_record_t *record)
{
    const char *kind = NULL;
    const char *bytes = NULL;
    int64_t numa = -1;
    TRY(yoke_opt_string(at, "kind", &kind));
    if (kind != NULL && !yoke_device_kind_parse(kind, &record->kind))
        return yoke_cursor_fail(at, "kind", "\"%s\" is no kind of device", kind);
    record->kind_known = kind != NULL;
    TRY(read_pci(at, record));
    TRY(yoke_opt_string(at, "uuid_bytes", &bytes));
    if (bytes != NULL && !yoke_uuid_parse(bytes, record->uuid))
        return yoke_cursor_fail(at, "uuid_bytes", "\"%s\" is not a UUID", bytes);
    record->has_uuid = bytes != NULL;
    TRY(read_signed(at, "ordinal", INT32_MAX, &record->ordinal));
    TRY(read_signed(at, "native", INT32_MAX, &record->native));
    TRY(read_signed(at, "numa", INT16_MAX, &numa));
    record->numa = (int)numa;
    return YOKE_OK;
}

static yoke_status_t read_record(const yoke_cursor_t *at, yoke_record_t *record)
{
    TRY(yoke_cursor_object(at));
    for (size_t i = 0; i < COUNT(strings); i++)
        TRY(yoke_read_string(at, strings[i].key, member(record, strings[i].offset)));
    for (size_t i = 0; i < COUNT(flags); i++)
        TRY(yoke_opt_bool(at, flags[i].key, member(record, flags[i].offset)));
    for (size_t i = 0; i < COUNT(counts); i++)
        TRY(yoke_read_unsigned(at, counts[i].key, 4096,
                               member(record, counts[i].offset)));
    for (size_t i = 0; i < COUNT(quantities); i++) {
        bool bytes = strcmp(quantities[i].number, "bytes") == 0;
        TRY(yoke_read_quantity(at, quantities[i].key, quantities[i].number,
                               bytes ? YOKE_MAX_BYTES : YOKE_MAX_RATE,
                               member(record, quantities[i].offset)));
    }
    for (size_t i = 0; i < YOKE_DTYPE_COUNT; i++)
        TRY(yoke_read_quantity(at, yoke_dtype_name((yoke_dtype_t)i), "rate",
                               YOKE_MAX_RATE, &record->compute[i]));
    return read_identity(at, record);
}

yoke_status_t yoke_record_from_json(const yoke_cursor_t *at, yoke_record_t *out_record)
{
    yoke_record_t record = {.ordinal = -1, .native = -1, .numa = -1};
    yoke_status_t status = read_record(at, &record);
    if (status == YOKE_OK && record.runtime == NULL)
        status = yoke_cursor_fail(at, NULL, "member \"runtime\" is missing");
    if (status != YOKE_OK)
        clear_record(&record);
    else
        *out_record = record;
    return status;
}
