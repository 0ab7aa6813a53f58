/* SPDX-License-Identifier: Apache-2.0 */
/* Merging probe records: the published cases, their kinds of fault in other forms, and
 * independence of the order. */
#include "tests/inventory/support.h"

#include "inventory/identity.h"

static yoke_node_t merged(const yoke_records_t *records)
{
    yoke_node_t node = {0};
    must(yoke_set_string(&node.hosts, "n1"));
    must(yoke_identity_merge(records, &node));
    return node;
}

/* The same records in `shift` rotated, and in reversed, order give the same bytes. */
static void check_order(yoke_records_t *records)
{
    yoke_node_t first = merged(records);
    char *wanted = node_text(&first);
    for (size_t turn = 0; turn < 2 * records->count; turn++) {
        yoke_record_t moved = records->items[0];
        memmove(&records->items[0], &records->items[1],
                (records->count - 1) * sizeof *records->items);
        records->items[records->count - 1] = moved;
        for (size_t i = 0; turn == records->count && i < records->count / 2; i++) {
            yoke_record_t other = records->items[i];
            records->items[i] = records->items[records->count - 1 - i];
            records->items[records->count - 1 - i] = other;
        }
        yoke_node_t node = merged(records);
        char *text = node_text(&node);
        assert_string_equal(text, wanted);
        free(text);
        yoke_node_clear(&node);
    }
    free(wanted);
    yoke_node_clear(&first);
}

/* --- hal-01 ----------------------------------------------------------------------- */

static void add_case_device(const json_t *device, const char *runtime,
                            const char *platform, const char *version, size_t ordinal,
                            yoke_records_t *records)
{
    const char *type = string_in(device, "type");
    yoke_record_t *record =
        add_record(records, runtime, (int64_t)ordinal, string_in(device, "name"),
                   string_in(device, "bdf"));
    record->platform = platform == NULL ? NULL : yoke_strdup(platform);
    record->version = version == NULL ? NULL : yoke_strdup(version);
    if (type != NULL) {
        record->kind_known = true;
        record->kind = strcmp(type, "CPU") == 0 ? YOKE_DEVICE_CPU : YOKE_DEVICE_GPU;
    }
    bool native = json_object_get(device, "total_mem") != NULL;
    set_bytes(&record->memory_total,
              number_in(device, native ? "total_mem" : "global_mem"));
}

static yoke_records_t case_records(void)
{
    yoke_records_t records = {0};
    json_t *root = case_file("hal-01-opencl-twice", "enumeration.json");
    size_t i, j, k;
    json_t *backend, *platform, *device;
    json_array_foreach(json_object_get(root, "backends"), i, backend)
    {
        const char *runtime = string_in(backend, "backend");
        json_array_foreach(json_object_get(backend, "devices"), j, device)
            add_case_device(device, runtime, NULL, NULL, j, &records);
        json_array_foreach(json_object_get(backend, "platforms"), j, platform)
            json_array_foreach(json_object_get(platform, "devices"), k, device)
                add_case_device(device, runtime, string_in(platform, "name"),
                                string_in(platform, "version"), k, &records);
    }
    json_decref(root);
    return records;
}

typedef struct tally {
    size_t accelerators, schedulable, cpus, emulators, unresolved;
    double bytes;
} tally_t;

static tally_t tally(const yoke_node_t *node)
{
    tally_t sum = {0};
    for (size_t i = 0; i < node->device_count; i++) {
        const yoke_inventory_device_t *device = &node->devices[i];
        bool unresolved = strncmp(device->id, "unresolved:", 11) == 0;
        bool accelerator =
            device->kind == YOKE_DEVICE_GPU || device->kind == YOKE_DEVICE_NPU;
        sum.cpus += device->kind == YOKE_DEVICE_CPU ? 1 : 0;
        sum.emulators += device->kind == YOKE_DEVICE_EMULATOR ? 1 : 0;
        sum.unresolved += unresolved ? 1 : 0;
        sum.schedulable += accelerator && device->schedulable ? 1 : 0;
        if (accelerator && !unresolved && device->parent == NULL) {
            sum.accelerators++;
            sum.bytes += device->memory.total.value;
        }
    }
    return sum;
}

static void one_driver_installed_twice(void **state)
{
    (void)state;
    json_t *wanted = case_file("hal-01-opencl-twice", "case.json");
    const json_t *right = json_object_get(wanted, "right");
    yoke_records_t records = case_records();
    yoke_node_t node = merged(&records);
    tally_t sum = tally(&node);
    assert_int_equal(sum.accelerators, (int)number_in(right, "accelerators"));
    assert_int_equal(sum.cpus, (int)number_in(right, "cpu_devices"));
    assert_true(sum.bytes == number_in(right, "total_accelerator_bytes"));
    assert_int_equal(sum.unresolved, 0);
    const yoke_inventory_device_t *third = device_by_id(&node, "0000:09:00.0");
    assert_int_equal(third->view_count, 3); /* the keyless one found its card */
    assert_string_equal(third->views[0].runtime, "hip");
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
    json_decref(wanted);
}

static void keyless_view_of_two_cards_is_unresolved(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    add_record(&records, "hip", 0, "Card S", "03:00.0");
    add_record(&records, "hip", 1, "Card S", "06:00.0");
    add_record(&records, "opencl", 0, "Card S", NULL);
    yoke_node_t node = merged(&records);
    tally_t sum = tally(&node);
    assert_int_equal(sum.accelerators, 2);
    assert_int_equal(sum.unresolved, 1);
    assert_int_equal(sum.schedulable, 2);
    assert_non_null(
        strstr(device_by_id(&node, "unresolved:opencl:0")->reason, "several"));
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

static void two_keyless_views_never_share_a_card(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    add_record(&records, "hip", 0, "Card S", "03:00.0");
    add_record(&records, "opencl", 0, "Card S", NULL);
    add_record(&records, "opencl", 1, "Card S", NULL);
    yoke_node_t node = merged(&records);
    tally_t sum = tally(&node);
    assert_int_equal(sum.accelerators, 1);
    assert_int_equal(sum.unresolved, 2);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

static void keyless_view_of_another_name_or_size_is_unresolved(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    set_bytes(&add_record(&records, "hip", 0, "Card S", "03:00.0")->memory_total, 8e9);
    set_bytes(&add_record(&records, "opencl", 0, "Card S", NULL)->memory_total, 16e9);
    add_record(&records, "level_zero", 0, "Card X", NULL);
    yoke_node_t node = merged(&records);
    assert_int_equal(tally(&node).unresolved, 2);
    assert_int_equal(tally(&node).schedulable, 1);
    yoke_node_clear(&node);
    yoke_records_free(&records);
}

/* --- addresses -------------------------------------------------------------------- */

static void domains_tell_cards_apart(void **state)
{
    static const char *const addresses[] = {"0000:02:00.0", "0001:02:00.0",
                                            "0002:02:00.0", "10003:02:00.0"};
    (void)state;
    yoke_records_t records = {0};
    for (int i = 0; i < 4; i++) {
        yoke_record_t *seen = add_record(&records, "sysfs", -1, NULL, addresses[i]);
        seen->pci.vendor_id = 0x1002;
        seen->pci.device_id = 0x74a1;
        add_record(&records, "hip", 3 - i, "AMD Instinct MI300X OAM", addresses[i]);
    }
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 4);
    assert_string_equal(node.devices[0].id, "0000:02:00.0");
    assert_string_equal(node.devices[3].id, "10003:02:00.0");
    assert_string_equal(node.devices[0].vendor, "AMD");
    assert_int_equal(node.devices[0].views[0].ordinal, 3);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

static yoke_record_t *add_function(yoke_records_t *records, const char *pci,
                                   uint16_t vendor, uint16_t device)
{
    yoke_record_t *record = add_record(records, "sysfs", -1, NULL, pci);
    record->pci.vendor_id = vendor;
    record->pci.device_id = device;
    return record;
}

static void two_functions_are_one_card(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    add_function(&records, "0000:c1:00.1", 0x19e5, 0xd802);
    add_function(&records, "0000:c1:00.0", 0x19e5, 0xd802);
    add_function(&records, "0000:c2:00.0", 0x19e5, 0xd802);
    add_function(&records, "0000:c2:00.1", 0x19e5, 0xd802);
    add_record(&records, "ascend", 0, "910B2", "0000:c1:00.0");
    add_record(&records, "ascend", 1, "910B2", "0000:c2:00.1"); /* the runtime's word */
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 2);
    assert_string_equal(node.devices[0].id, "0000:c1:00.0");
    assert_string_equal(node.devices[1].id, "0000:c2:00.1");
    assert_int_equal(node.devices[0].kind, YOKE_DEVICE_NPU);
    assert_true(node.devices[1].schedulable);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

static void functions_listed_apart_by_a_runtime_stay_apart(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    add_function(&records, "0000:c1:00.0", 0x19e5, 0xd803);
    add_function(&records, "0000:c1:00.1", 0x19e5, 0xd803);
    add_record(&records, "ascend", 0, "Ascend910", "0000:c1:00.0");
    add_record(&records, "ascend", 1, "Ascend910", "0000:c1:00.1");
    add_function(&records, "0000:d1:00.0", 0x10de, 0x2684); /* a card and its audio */
    add_function(&records, "0000:d1:00.1", 0x10de, 0x22ba);
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 4);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

static void virtual_function_is_a_part(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    add_function(&records, "0000:83:00.0", 0x1002, 0x74a1);
    yoke_record_t *virtual = add_function(&records, "0000:83:02.0", 0x1002, 0x74b5);
    virtual->partition = yoke_strdup("vf-0000:83:02.0");
    assert_true(yoke_pci_parse("0000:83:00.0", &virtual->parent_pci));
    add_record(&records, "hip", 0, "AMD Instinct MI300X VF", "0000:83:02.0");
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 2);
    const yoke_inventory_device_t *part = device_by_id(&node, "0000:83:02.0");
    assert_string_equal(part->parent, "0000:83:00.0");
    assert_true(part->schedulable);
    assert_false(device_by_id(&node, "0000:83:00.0")->schedulable);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

static void card_that_only_the_kernel_lists_stays(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    add_function(&records, "0000:01:00.0", 0x10de, 0x2684)->driver =
        yoke_strdup("vfio-pci");
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 1);
    assert_false(node.devices[0].schedulable);
    assert_non_null(strstr(node.devices[0].reason, "vfio-pci"));
    assert_int_equal(node.devices[0].view_count, 0);
    assert_false(yoke_known(&node.devices[0].memory.total));
    yoke_node_clear(&node);
    yoke_records_free(&records);
}

static void set_uuid(yoke_record_t *record, uint8_t last)
{
    record->has_uuid = true;
    memset(record->uuid, 0x11, sizeof record->uuid);
    record->uuid[15] = last;
}

static void uuid_joins_what_has_no_address(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    set_uuid(add_record(&records, "cuda", 0, "A", "01:00.0"), 1);
    set_uuid(add_record(&records, "cuda", 1, "A", "02:00.0"), 2);
    set_uuid(add_record(&records, "opencl", 0, "A", NULL), 2);
    set_uuid(add_record(&records, "level_zero", 0, "B", NULL), 9);
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 3);
    assert_int_equal(device_by_id(&node, "0000:02:00.0")->view_count, 2);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

static void uuid_of_two_cards_proves_nothing(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    set_uuid(add_record(&records, "cuda", 0, "A", "01:00.0"), 1);
    set_uuid(add_record(&records, "cuda", 1, "A", "02:00.0"), 1);
    set_uuid(add_record(&records, "opencl", 0, "A", NULL), 1);
    yoke_node_t node = merged(&records);
    tally_t sum = tally(&node);
    assert_int_equal(sum.accelerators, 2);
    assert_int_equal(sum.unresolved, 1);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

static void partitions_at_one_address_are_parts(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    add_function(&records, "0000:02:00.0", 0x1002, 0x74a1);
    for (uint8_t i = 0; i < 8; i++) {
        yoke_record_t *part = add_record(&records, "hip", i, "MI300X", "0000:02:00.0");
        set_uuid(part, i);
        part->uuid_text = yoke_format("GPU-%u", i);
        set_bytes(&part->memory_total, 24e9);
    }
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 9);
    assert_int_equal(tally(&node).schedulable, 8);
    assert_false(device_by_id(&node, "0000:02:00.0")->schedulable);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

/* --- hosts and emulators ---------------------------------------------------------- */

static void host_is_one_device_and_emulators_are_none(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    yoke_record_t *host = add_record(&records, "host", 0, "EPYC", NULL);
    host->kind_known = true;
    host->kind = YOKE_DEVICE_CPU;
    set_bytes(&host->memory_total, 24e9);
    for (int i = 0; i < 2; i++) {
        yoke_record_t *cpu = add_record(&records, "opencl", 0, "pthread-skylake", NULL);
        cpu->platform =
            yoke_strdup(i == 0 ? "Portable Computing Language" : "Intel(R) OpenCL");
        cpu->kind_known = true;
        cpu->kind = YOKE_DEVICE_CPU;
        cpu->integrated = true;
        set_bytes(&cpu->memory_total, 6e9);
    }
    yoke_record_t *emulator =
        add_record(&records, "opencl", 0, "Oclgrind Simulator", NULL);
    emulator->platform = yoke_strdup("Oclgrind");
    emulator->emulator = true;
    emulator->kind_known = true;
    emulator->kind = YOKE_DEVICE_GPU;
    yoke_node_t node = merged(&records);
    tally_t sum = tally(&node);
    assert_int_equal(node.device_count, 2);
    assert_int_equal(sum.accelerators, 0);
    assert_int_equal(sum.emulators, 1);
    const yoke_inventory_device_t *device = device_by_id(&node, "host");
    assert_int_equal(device->view_count, 3);
    assert_true(device->memory.total.value == 24e9); /* the kernel's, not the smaller */
    assert_false(device->memory.unified);
    assert_true(device->schedulable);
    assert_false(node.devices[1].schedulable);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

/* --- hal-04 ----------------------------------------------------------------------- */

static yoke_records_t unified_records(void)
{
    yoke_records_t records = {0};
    json_t *root = case_file("hal-04-unified-not-supported", "probe.json");
    const json_t *memory = json_object_get(root, "host");
    size_t i;
    json_t *gpu;
    yoke_record_t *host = add_record(&records, "host", 0, "CPU", NULL);
    host->kind_known = true;
    host->kind = YOKE_DEVICE_CPU;
    set_bytes(&host->memory_total, number_in(memory, "mem_total_kib") * 1024);
    set_bytes(&host->memory_free, number_in(memory, "mem_available_kib") * 1024);
    json_array_foreach(json_object_get(root, "gpus"), i, gpu)
    {
        yoke_record_t *record = add_record(&records, "cuda", (int64_t)i,
                                           string_in(gpu, "name"), string_in(gpu, "bdf"));
        record->integrated = json_is_true(json_object_get(gpu, "integrated"));
        record->memory_refused =
            strcmp(string_in(gpu, "mem_query"), "NOT_SUPPORTED") == 0;
    }
    json_decref(root);
    return records;
}

static void unified_memory_is_one_pool(void **state)
{
    (void)state;
    json_t *wanted = case_file("hal-04-unified-not-supported", "case.json");
    const json_t *right = json_object_get(wanted, "right");
    const json_t *gpu0 = json_object_get(right, "gpu0");
    yoke_records_t records = unified_records();
    yoke_node_t node = merged(&records);
    const yoke_inventory_device_t *integrated = device_by_id(&node, "000f:01:00.0");
    const yoke_inventory_device_t *discrete = device_by_id(&node, "0002:01:00.0");
    size_t unknown = 0;
    assert_true(integrated->memory.unified);
    assert_true(integrated->memory.total.value == number_in(gpu0, "total_bytes"));
    assert_true(integrated->memory.free.value == number_in(gpu0, "free_bytes"));
    assert_true(integrated->schedulable);
    assert_false(yoke_known(&discrete->memory.total));
    assert_false(discrete->schedulable);
    assert_true(yoke_node_memory_sum(&node, &unknown) ==
                number_in(right, "device_plus_host_tier_bytes"));
    assert_int_equal(unknown, 1);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
    json_decref(wanted);
}

static void unified_memory_that_is_told_counts_once_too(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    yoke_record_t *host = add_record(&records, "host", 0, "CPU", NULL);
    host->kind_known = true;
    host->kind = YOKE_DEVICE_CPU;
    set_bytes(&host->memory_total, 64e9);
    yoke_record_t *integrated = add_record(&records, "level_zero", 0, "iGPU", "00:02.0");
    integrated->integrated = true;
    set_bytes(&integrated->memory_total, 58e9);
    set_bytes(&add_record(&records, "level_zero", 1, "dGPU", "03:00.0")->memory_total,
              12e9);
    yoke_node_t node = merged(&records);
    size_t unknown = 7;
    assert_true(yoke_node_memory_sum(&node, &unknown) == 76e9);
    assert_int_equal(unknown, 0);
    assert_true(device_by_id(&node, "0000:00:02.0")->memory.total.value == 58e9);
    yoke_node_clear(&node);
    yoke_records_free(&records);
}

/* --- inv-01 ----------------------------------------------------------------------- */

static void add_slices(const json_t *gpu, yoke_records_t *records)
{
    size_t i;
    json_t *slice;
    json_array_foreach(json_object_get(gpu, "slices"), i, slice)
    {
        yoke_record_t *record = add_record(
            records, "nvml", -1, string_in(slice, "profile"), string_in(gpu, "bdf"));
        record->uuid_text = yoke_strdup(string_in(slice, "uuid"));
        record->partition = yoke_format("mig%zu", i);
        record->parent_uuid = yoke_strdup(string_in(gpu, "uuid"));
        set_bytes(&record->memory_total, number_in(slice, "mib") * 1048576);
    }
}

static yoke_records_t slice_records(void)
{
    yoke_records_t records = {0};
    json_t *root = case_file("inv-01-slices-and-parent", "probe.json");
    size_t i;
    json_t *gpu;
    json_array_foreach(json_object_get(root, "gpus"), i, gpu)
    {
        const char *query = string_in(gpu, "parent_memory_query");
        yoke_record_t *card =
            add_record(&records, "nvml", (int64_t)i, "A100", string_in(gpu, "bdf"));
        card->uuid_text = yoke_strdup(string_in(gpu, "uuid"));
        card->partitioned = strcmp(string_in(gpu, "partition"), "on") == 0;
        if (query == NULL)
            set_bytes(&card->memory_total, number_in(gpu, "total_mib") * 1048576);
        else
            card->memory_refused = true;
        add_slices(gpu, &records);
    }
    json_decref(root);
    return records;
}

static void slices_are_scheduled_and_their_card_is_not(void **state)
{
    (void)state;
    json_t *wanted = case_file("inv-01-slices-and-parent", "case.json");
    const json_t *right = json_object_get(wanted, "right");
    yoke_records_t records = slice_records();
    yoke_node_t node = merged(&records);
    size_t cards = 0, units = 0;
    double mebibytes = 0;
    for (size_t i = 0; i < node.device_count; i++) {
        cards += node.devices[i].parent == NULL ? 1 : 0;
        if (!node.devices[i].schedulable)
            continue;
        units++;
        mebibytes += node.devices[i].memory.total.value / 1048576;
    }
    assert_int_equal(cards, (int)number_in(right, "cards"));
    assert_int_equal(units, (int)number_in(right, "schedulable"));
    assert_true(mebibytes == number_in(right, "total_mib"));
    assert_non_null(device_by_id(&node, "0000:07:00.0/mig3"));
    assert_string_equal(device_by_id(&node, "0000:07:00.0/mig3")->parent, "0000:07:00.0");
    assert_false(device_by_id(&node, "0000:48:00.0")->schedulable);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
    json_decref(wanted);
}

static void slice_without_its_card_is_listed(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    yoke_record_t *slice = add_record(&records, "cuda", 0, "A100 MIG 1g.5gb", NULL);
    slice->uuid_text = yoke_strdup("MIG-a0");
    slice->partition = yoke_strdup("MIG-a0");
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 1);
    assert_true(node.devices[0].schedulable);
    assert_null(node.devices[0].parent);
    yoke_node_clear(&node);
    yoke_records_free(&records);
}

static void two_runtimes_list_one_slice(void **state)
{
    (void)state;
    yoke_records_t records = slice_records();
    yoke_record_t *slice = add_record(&records, "cuda", 0, "A100 MIG 2g.10gb", NULL);
    slice->uuid_text = yoke_strdup("MIG-a1");
    slice->partition = yoke_strdup("MIG-a1");
    yoke_node_t node = merged(&records);
    assert_int_equal(node.device_count, 7);
    assert_int_equal(tally(&node).schedulable, 5);
    yoke_node_clear(&node);
    check_order(&records);
    yoke_records_free(&records);
}

/* --- inv-04 ----------------------------------------------------------------------- */

static void unknown_numa_node_is_not_node_zero(void **state)
{
    (void)state;
    json_t *probe = case_file("inv-04-numa-unknown", "probe.json");
    json_t *wanted = case_file("inv-04-numa-unknown", "case.json");
    const json_t *right = json_object_get(wanted, "right");
    yoke_records_t records = {0};
    size_t i;
    json_t *card;
    json_array_foreach(probe, i, card)
    {
        const char *pci = string_in(card, "bdf");
        const json_t *numa = json_object_get(card, "driver_numa");
        add_record(&records, "sysfs", -1, NULL, pci)->numa =
            (int)number_in(card, "sysfs_numa");
        add_record(&records, "cuda", (int64_t)i, "A", pci)->numa =
            json_is_integer(numa) ? (int)json_integer_value(numa) : -1;
    }
    yoke_node_t node = merged(&records);
    for (i = 0; i < node.device_count; i++) {
        const json_t *numa = json_array_get(json_object_get(right, "numa"), i);
        assert_int_equal(node.devices[i].numa,
                         json_is_null(numa) ? -1 : (int)json_integer_value(numa));
    }
    const yoke_inventory_device_t *cards = node.devices;
    for (i = 1; i < 4; i++)
        assert_string_equal(
            yoke_distance_name(yoke_device_distance(&cards[0], &cards[i])),
            string_in(right, "pairs_with_card0"));
    assert_string_equal(yoke_distance_name(yoke_device_distance(&cards[1], &cards[3])),
                        string_in(right, "pair_1_3"));
    assert_string_equal(yoke_distance_name(yoke_device_distance(&cards[2], &cards[3])),
                        string_in(right, "pair_2_3"));
    assert_int_equal(yoke_device_distance(&cards[0], &cards[0]), YOKE_DISTANCE_SAME_CARD);
    json_t *json = yoke_device_to_json(&cards[0]);
    assert_true(json_is_null(json_object_get(json, "numa")));
    json_decref(json);
    yoke_node_clear(&node);
    yoke_records_free(&records);
    json_decref(probe);
    json_decref(wanted);
}

/* --- health, hidden, records as JSON ---------------------------------------------- */

static void one_faulty_card_costs_one_device(void **state)
{
    (void)state;
    yoke_records_t records = {0};
    for (int i = 0; i < 8; i++) {
        char pci[24];
        snprintf(pci, sizeof pci, "%02x:00.0", i + 1);
        yoke_record_t *record = add_record(&records, "cuda", i, "A", pci);
        record->health = yoke_strdup(i == 3 ? "lost" : "ok");
        record->hidden_by = i == 5 ? yoke_strdup("CUDA_VISIBLE_DEVICES") : NULL;
        record->native = i;
    }
    yoke_node_t node = merged(&records);
    assert_int_equal(tally(&node).accelerators, 8);
    assert_int_equal(tally(&node).schedulable, 6);
    assert_string_equal(node.devices[3].health, "lost");
    assert_string_equal(node.devices[5].hidden_by, "CUDA_VISIBLE_DEVICES");
    assert_int_equal(node.devices[5].views[0].ordinal, -1);
    assert_int_equal(node.devices[5].views[0].native, 5);
    yoke_node_clear(&node);
    yoke_records_free(&records);
}

static void records_survive_the_pipe(void **state)
{
    (void)state;
    yoke_records_t records = slice_records();
    set_uuid(add_record(&records, "level_zero", 2, "tile", "0000:03:00.0"), 5);
    must(yoke_quantity_set(&records.items[0].compute[YOKE_BF16], 3e14,
                           YOKE_SOURCE_MEASURED, YOKE_MARK_LOWER_BOUND,
                           "portable kernel"));
    records.items[1].pcie_lanes_max = 16;
    assert_true(yoke_pci_parse("0001:03:00.0", &records.items[2].parent_pci));
    for (size_t i = 0; i < records.count; i++) {
        yoke_records_t copies = {0};
        json_t *json = yoke_record_to_json(&records.items[i]);
        yoke_cursor_t at = {.file = "pipe", .value = json};
        must(yoke_record_from_json(&at, yoke_records_add(&copies)));
        json_t *again = yoke_record_to_json(&copies.items[0]);
        assert_true(json_equal(json, again));
        json_decref(json);
        json_decref(again);
        yoke_records_free(&copies);
    }
    yoke_records_free(&records);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_driver_installed_twice),
        cmocka_unit_test(keyless_view_of_two_cards_is_unresolved),
        cmocka_unit_test(two_keyless_views_never_share_a_card),
        cmocka_unit_test(keyless_view_of_another_name_or_size_is_unresolved),
        cmocka_unit_test(domains_tell_cards_apart),
        cmocka_unit_test(two_functions_are_one_card),
        cmocka_unit_test(functions_listed_apart_by_a_runtime_stay_apart),
        cmocka_unit_test(virtual_function_is_a_part),
        cmocka_unit_test(card_that_only_the_kernel_lists_stays),
        cmocka_unit_test(uuid_joins_what_has_no_address),
        cmocka_unit_test(uuid_of_two_cards_proves_nothing),
        cmocka_unit_test(partitions_at_one_address_are_parts),
        cmocka_unit_test(host_is_one_device_and_emulators_are_none),
        cmocka_unit_test(unified_memory_is_one_pool),
        cmocka_unit_test(unified_memory_that_is_told_counts_once_too),
        cmocka_unit_test(slices_are_scheduled_and_their_card_is_not),
        cmocka_unit_test(slice_without_its_card_is_listed),
        cmocka_unit_test(two_runtimes_list_one_slice),
        cmocka_unit_test(unknown_numa_node_is_not_node_zero),
        cmocka_unit_test(one_faulty_card_costs_one_device),
        cmocka_unit_test(records_survive_the_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
