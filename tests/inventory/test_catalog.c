/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog: every row by each of its names, no wrong match, joining, user files. */
#include "tests/inventory/support.h"

#include <unistd.h>

#include "inventory/catalog.h"
#include "inventory/vendor.h"

static const yoke_catalog_t *catalog(void)
{
    const yoke_catalog_t *loaded = NULL;
    must(yoke_catalog_default(&loaded));
    return loaded;
}

static const yoke_catalog_device_t *found(const char *vendor, const char *name)
{
    return yoke_catalog_find(catalog(), vendor, name);
}

static const char *name_of(const char *vendor, const char *name)
{
    const yoke_catalog_device_t *row = found(vendor, name);
    return row == NULL ? "-" : row->name;
}

static void every_row_by_every_alias(void **state)
{
    (void)state;
    size_t rows = 0;
    for (size_t i = 0; i < catalog()->device_count; i++) {
        const yoke_catalog_device_t *row = &catalog()->devices[i];
        bool all = found(row->vendor, row->name) == row && found(NULL, row->name) == row;
        for (size_t j = 0; j < row->aliases.count; j++) {
            char *shouted = yoke_strdup(row->aliases.items[j]);
            for (char *at = shouted; *at != '\0'; at++)
                if (*at >= 'a' && *at <= 'z')
                    *at = (char)(*at - 'a' + 'A');
            all = all && found(row->vendor, row->aliases.items[j]) == row &&
                  found(NULL, shouted) == row;
            free(shouted);
        }
        if (!all)
            fail_msg("%s is not found by all its names", row->name);
        rows++;
    }
    assert_int_equal(rows, 70);
    assert_int_equal(catalog()->link_count, 60);
}

static void names_that_hold_other_names(void **state)
{
    static const struct {
        const char *vendor, *name, *row;
    } cases[] = {
        {"NVIDIA", "NVIDIA H20", "H20-96GB"},
        {"NVIDIA", "NVIDIA H200", "H200-SXM-141GB"},
        {"NVIDIA", "NVIDIA H20-3e", "H20-3e-141GB"},
        {"NVIDIA", "NVIDIA H200 NVL", "-"},
        {"NVIDIA", "NVIDIA H100 NVL", "-"},
        {"NVIDIA", "NVIDIA A10", "A10"},
        {"NVIDIA", "NVIDIA A10G", "-"},
        {"NVIDIA", "NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"},
        {"NVIDIA", "NVIDIA A100-SXM-64GB", "-"},
        {"NVIDIA", "A100", "-"},
        {"NVIDIA", "NVIDIA L4", "L4"},
        {"NVIDIA", "NVIDIA L40S", "L40S"},
        {"NVIDIA", "NVIDIA L40", "-"},
        {"NVIDIA", "NVIDIA L20", "L20"},
        {"NVIDIA", "NVIDIA A30", "A30"},
        {"NVIDIA", "NVIDIA A3", "-"},
        {"NVIDIA", "Tesla V100-SXM2-32GB", "V100-SXM2-32GB"},
        {"NVIDIA", "Tesla V100-SXM3-32GB", "-"},
        {"Iluvatar CoreX", "Iluvatar BI-V100", "BI-V100"},
        {"Iluvatar CoreX", "Iluvatar BI-V150", "BI-V150"},
        {"Iluvatar CoreX", "Iluvatar MR-V100", "-"},
        {"Iluvatar CoreX", "MR-V100", "-"},
        {"NVIDIA", "BI-V100", "-"},
        {"Enflame", "S60", "S60"},
        {"Moore Threads", "MTT S60", "-"},
        {"Moore Threads", "S60", "-"},
        {"Moore Threads", "MTT S4000", "MTT S4000"},
        {NULL, "MTT S60", "-"},
        {"Hygon", "K100", "DCU K100"},
        {"Hygon", "K100_AI", "DCU K100_AI"},
        {"Hygon", "DCU K100-AI", "DCU K100_AI"},
        {"Hygon", "DCU", "-"},
        {"AMD", "AMD Instinct MI250", "-"},
        {"AMD", "AMD Instinct MI250X", "Instinct MI250X"},
        {"AMD", "AMD Instinct MI300A", "-"},
        {"AMD", "AMD Instinct MI300X OAM", "Instinct MI300X"},
        {"AMD", "AMD Instinct MI308X OAM", "Instinct MI308X"},
        {"AMD", "AMD Instinct MI50/MI60", "-"},
        {"AMD", "gfx90a", "-"},
        {"Huawei", "910B", "-"},
        {"Huawei", "910A", "Ascend 910A"},
        {"Huawei", "Ascend910B4", "Ascend 910B4"},
        {"Huawei", "910B4-1", "Ascend 910B4-1"},
        {"Huawei", "Ascend910_9391", "Ascend 910C"},
        {"Huawei", "Ascend310P3", "-"},
        {"NVIDIA", "NVIDIA GeForce RTX 4090", "RTX 4090"},
        {"NVIDIA", "NVIDIA GeForce RTX 4090 D", "-"},
        {"NVIDIA", "NVIDIA GeForce RTX 4090 Laptop GPU", "-"},
        {"NVIDIA", "NVIDIA GeForce RTX 3090 Ti", "-"},
        {"NVIDIA", "NVIDIA GeForce RTX 5090 D", "-"},
        {"NVIDIA", "NVIDIA H800", "H800-SXM5-80GB"},
        {"NVIDIA", "NVIDIA B200", "B200-SXM-180GB"},
        {"NVIDIA", "NVIDIA GB200", "-"},
        {"Kunlunxin", "R300", "R300"},
        {"Kunlunxin", "R200", "R200"},
        {"AMD", "R200", "-"},
        {"Kunlunxin", "P800-OAM", "P800"},
        {"Biren", "BR100", "BR100"},
        {"Biren", "Biren104P", "BR104"},
        {"Intel", "Intel(R) Data Center GPU Max 1550", "Data Center GPU Max 1550"},
        {"Intel", "Intel(R) Arc(TM) B580 Graphics", "Arc B580"},
        {"Intel", "Intel(R) Arc(TM) B570 Graphics", "-"},
        {"MetaX", "MXC500", "C500"},
        {"MetaX", "C50", "-"},
        {NULL, "", "-"},
        {NULL, "NVIDIA", "-"},
        {"AMD", "AMD EPYC 7763 64-Core Processor", "-"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name_of(cases[i].vendor, cases[i].name), cases[i].row) != 0)
            fail_msg("%s became %s", cases[i].name,
                     name_of(cases[i].vendor, cases[i].name));
}

static void names_are_normalised(void **state)
{
    (void)state;
    assert_string_equal(name_of(NULL, "nvidia a100 sxm4_80gb"), "A100-SXM4-80GB");
    assert_string_equal(name_of(NULL, "Ascend910B3"), "Ascend 910B3");
    assert_string_equal(name_of(NULL, "mi300x"), "Instinct MI300X");
    assert_string_equal(name_of("Advanced Micro Devices, Inc.", "MI300X"),
                        "Instinct MI300X");
    assert_string_equal(name_of("Huawei Technologies", "910b2"), "Ascend 910B2");
}

static size_t by_pci(uint16_t vendor, uint16_t device, double gibibytes,
                     const char **name)
{
    const yoke_catalog_device_t *rows[8] = {NULL};
    size_t count =
        yoke_catalog_find_pci(catalog(), vendor, device, gibibytes * 0x1p30, rows, 8);
    *name = count == 0 ? "-" : rows[0]->name;
    return count;
}

static void pci_ids_are_narrowed_by_memory(void **state)
{
    const char *name;
    (void)state;
    assert_int_equal(by_pci(0x10de, 0x20b2, 79.2, &name), 1);
    assert_string_equal(name, "A100-SXM4-80GB");
    assert_int_equal(by_pci(0x19e5, 0xd802, 0, &name), 5);
    assert_int_equal(by_pci(0x19e5, 0xd802, 32, &name), 1);
    assert_string_equal(name, "Ascend 910B4");
    assert_int_equal(by_pci(0x19e5, 0xd802, 64, &name), 4);
    assert_int_equal(by_pci(0x10de, 0x2684, 48, &name), 1); /* unusual size, same card */
    assert_int_equal(by_pci(0x10de, 0x9999, 0, &name), 0);
    assert_int_equal(by_pci(0, 0, 0, &name), 0);
}

/* --- joining ---------------------------------------------------------------------- */

static yoke_inventory_device_t device_of(const char *vendor, const char *name,
                                         double gibibytes)
{
    yoke_inventory_device_t device = {
        .kind = YOKE_DEVICE_GPU, .schedulable = true, .numa = -1};
    must(yoke_set_string(&device.id, "g"));
    must(yoke_set_string(&device.vendor, vendor));
    must(yoke_set_string(&device.name, name));
    if (gibibytes > 0)
        set_bytes(&device.memory.total, gibibytes * 0x1p30);
    return device;
}

static void figures_fill_unknowns(void **state)
{
    (void)state;
    yoke_inventory_device_t device = device_of("NVIDIA", "NVIDIA A100-SXM4-80GB", 79.2);
    must(yoke_quantity_set(&device.compute[YOKE_BF16], 2.5e14, YOKE_SOURCE_MEASURED, 0,
                           "x"));
    must(yoke_catalog_join(catalog(), &device));
    assert_string_equal(device.type, "A100-SXM4-80GB");
    assert_true(device.memory.total.value == 79.2 * 0x1p30);
    assert_int_equal(device.memory.total.source, YOKE_SOURCE_RUNTIME);
    assert_true(device.compute[YOKE_BF16].value == 2.5e14);
    assert_false(yoke_known(&device.achieved[YOKE_BF16])); /* measured is achieved */
    assert_true(device.compute[YOKE_TF32].value == 156e12);
    assert_int_equal(device.compute[YOKE_TF32].source, YOKE_SOURCE_CATALOG);
    assert_non_null(device.compute[YOKE_TF32].detail);
    assert_true(device.bandwidth.value == 2039e9);
    assert_true(device.link_rate.value == 300e9);
    assert_false(device.link_mesh);
    assert_null(device.reason);
    yoke_device_clear(&device);
}

static unsigned group_of(const yoke_catalog_t *from, const char *name)
{
    yoke_inventory_device_t device = device_of(NULL, name, 0);
    must(yoke_catalog_join(from, &device));
    assert_non_null(device.type);
    unsigned group = device.link_group;
    yoke_device_clear(&device);
    return group;
}

/* A bridge joins two; islands join what the row says, else no more than a pair is sure.
 */
static void topology_limits_groups(void **state)
{
    static const char rows[] =
        "{\"schema\": \"yoke-catalog/1\", \"devices\": ["
        "{\"vendor\": \"V\", \"name\": \"Isle 4\", \"kind\": \"gpu\", "
        "\"link\": {\"name\": \"L\", \"topology\": \"islands\", \"group\": 4}},"
        "{\"vendor\": \"V\", \"name\": \"Isle 9\", \"kind\": \"gpu\", "
        "\"link\": {\"topology\": \"islands\"}}], \"links\": []}";
    static const char wrong[] =
        "{\"schema\": \"yoke-catalog/1\", \"devices\": ["
        "{\"vendor\": \"V\", \"name\": \"Isle 4\", \"kind\": \"gpu\", "
        "\"link\": {\"topology\": \"mesh\", \"group\": 4}}], \"links\": []}";
    yoke_catalog_t *own = NULL, *none = NULL;
    (void)state;
    assert_int_equal(group_of(catalog(), "A100-PCIE-80GB"), 2);
    assert_int_equal(group_of(catalog(), "RTX 3090"), 2);
    assert_int_equal(group_of(catalog(), "A100-SXM4-80GB"), 0);
    assert_int_equal(group_of(catalog(), "Instinct MI300X"), 0);
    must(yoke_catalog_parse("rows.json", rows, strlen(rows), &own));
    assert_int_equal(group_of(own, "Isle 4"), 4);
    assert_int_equal(group_of(own, "Isle 9"), 2);
    json_t *row = yoke_catalog_device_to_json(&own->devices[0]);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(row, "link"), "group")), 4);
    json_decref(row);
    yoke_catalog_free(own);
    assert_int_equal(yoke_catalog_parse("wrong.json", wrong, strlen(wrong), &none),
                     YOKE_ERR_BAD_INPUT);
    assert_non_null(strstr(yoke_last_error(), "/devices/0/link"));
}

static void runtime_memory_wins(void **state)
{
    (void)state;
    yoke_inventory_device_t device = device_of("NVIDIA", "NVIDIA GeForce RTX 4090", 48);
    must(yoke_catalog_join(catalog(), &device));
    assert_string_equal(device.type, "RTX 4090");
    assert_true(device.memory.total.value == 48 * 0x1p30);
    assert_non_null(strstr(device.reason, "48.0 GiB"));
    assert_non_null(strstr(device.reason, "24.0 GiB"));
    assert_true(device.schedulable);
    must(yoke_catalog_join(catalog(), &device)); /* again: no second note */
    assert_null(strchr(device.reason, ';') != NULL
                    ? strstr(strchr(device.reason, ';'), "has")
                    : NULL);
    yoke_device_clear(&device);
}

static void refused_memory_stays_unknown(void **state)
{
    (void)state;
    yoke_inventory_device_t device = device_of("NVIDIA", "NVIDIA L40S", 0);
    device.schedulable = false;
    must(yoke_catalog_join(catalog(), &device));
    assert_string_equal(device.type, "L40S");
    assert_false(yoke_known(&device.memory.total));
    yoke_device_clear(&device);
}

static void half_packages_get_half(void **state)
{
    static const struct {
        double gibibytes, memory, rate;
    } cases[] = {{64, 64, 383e12 / 2}, {0, 64, 383e12 / 2}, {128, 128, 383e12}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        yoke_inventory_device_t device =
            device_of("AMD", "AMD Instinct MI250X", cases[i].gibibytes);
        must(yoke_catalog_join(catalog(), &device));
        assert_true(device.memory.total.value == cases[i].memory * 0x1p30);
        assert_true(device.compute[YOKE_BF16].value == cases[i].rate);
        assert_true(device.link_mesh);
        assert_int_equal(device.link_rate.marks, YOKE_MARK_DISPUTED);
        yoke_device_clear(&device);
    }
}

static void parts_of_cards_get_nothing(void **state)
{
    (void)state;
    yoke_inventory_device_t device = device_of("NVIDIA", "NVIDIA A100-SXM4-80GB", 10);
    must(yoke_set_string(&device.partition, "mig0"));
    must(yoke_catalog_join(catalog(), &device));
    assert_null(device.type);
    assert_false(yoke_known(&device.compute[YOKE_BF16]));
    yoke_device_clear(&device);
}

static void ambiguous_ids_name_the_candidates(void **state)
{
    (void)state;
    yoke_inventory_device_t device = device_of("Huawei", NULL, 64);
    device.pci = (yoke_pci_t){.valid = true, .vendor_id = 0x19e5, .device_id = 0xd802};
    must(yoke_catalog_join(catalog(), &device));
    assert_null(device.type);
    assert_non_null(strstr(device.reason, "Ascend 910B2"));
    assert_null(strstr(device.reason, "Ascend 910B4,"));
    yoke_device_clear(&device);
    device = device_of("AMD", NULL, 0);
    device.pci = (yoke_pci_t){.valid = true, .vendor_id = 0x1002, .device_id = 0x740c};
    must(yoke_catalog_join(catalog(), &device));
    assert_null(device.type);
    assert_non_null(strstr(device.reason, "MI250X, Instinct MI250;"));
    yoke_device_clear(&device);
}

static void unknown_names_beat_the_pci_id(void **state)
{
    (void)state;
    yoke_inventory_device_t device = device_of("AMD", "AMD Instinct MI250", 64);
    device.pci = (yoke_pci_t){.valid = true, .vendor_id = 0x1002, .device_id = 0x7408};
    must(yoke_catalog_join(catalog(), &device));
    assert_null(device.type);
    yoke_device_clear(&device);
    device = device_of("Hygon", "DCU", 64); /* says what it is, not which */
    device.pci = (yoke_pci_t){.valid = true, .vendor_id = 0x1d94, .device_id = 0x6211};
    must(yoke_catalog_join(catalog(), &device));
    assert_string_equal(device.type, "DCU K100_AI");
    yoke_device_clear(&device);
}

static void hosts_are_not_matched(void **state)
{
    (void)state;
    yoke_inventory_device_t device = device_of("NVIDIA", "NVIDIA L4", 24);
    device.kind = YOKE_DEVICE_EMULATOR;
    must(yoke_catalog_join(catalog(), &device));
    assert_null(device.type);
    yoke_device_clear(&device);
}

static void links_by_kind_and_rate(void **state)
{
    static const struct {
        const char *kind;
        double rate;
        const char *row;
    } cases[] = {{"infiniband", 25e9, "InfiniBand HDR 4x"},
                 {"infiniband", 48e9, "InfiniBand NDR 4x"},
                 {"roce", 12.5e9, "RoCE 100G"},
                 {"ethernet", 3.125e9, "TCP 25G"},
                 {NULL, 1.25e9, "TCP 10G"},
                 {"roce", 50e9, "RoCE 400G"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(
            yoke_catalog_nic_link(catalog(), cases[i].kind, cases[i].rate)->name,
            cases[i].row);
    assert_non_null(yoke_catalog_find_link(catalog(), "roce 100g"));
    assert_null(yoke_catalog_find_link(catalog(), "roce"));
}

/* --- files ------------------------------------------------------------------------ */

#define CATALOG(devices) "{\"schema\":\"yoke-catalog/1\",\"devices\":[" devices "]}"

static void refusals_name_the_place(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"schema\":\"yoke-catalog/9\"}", "/schema"},
        {"{\"schema\":\"yoke-catalog/1\",\"device\":[]}", "did you mean \"devices\""},
        {CATALOG("{}"), "/devices/0: member \"name\" is missing"},
        {CATALOG("{\"name\":\"\"}"), "/devices/0/name"},
        {CATALOG("{\"name\":\"a\",\"memory\":{\"bytes\":1}}"), "\"source\" is missing"},
        {CATALOG("{\"name\":\"a\",\"memory\":{\"bytes\":1,\"source\":\"\"}}"),
         "/devices/0/memory/source"},
        {CATALOG("{\"name\":\"a\",\"memory\":{\"bytes\":-1,\"source\":\"s\"}}"),
         "/devices/0/memory/bytes"},
        {CATALOG("{\"name\":\"a\",\"achieved\":{\"bf16\":{\"fraction\":1.5,\"source\":"
                 "\"s\"}}}"),
         "/achieved/bf16/fraction"},
        {CATALOG("{\"name\":\"a\",\"parts\":0}"), "/devices/0/parts"},
        {CATALOG("{\"name\":\"a\",\"pci\":{\"vendor\":\"10DE\"}}"), "/pci/vendor"},
        {CATALOG("{\"name\":\"a\",\"link\":{\"topology\":\"ring\"}}"), "/link/topology"},
        {CATALOG("{\"name\":\"a\"},{\"name\":\"A\"}"), "/devices/1: \"A\" stands twice"},
        {CATALOG("{\"name\":\"a\"},{\"name\":\"b\",\"aliases\":[\"nvidia A\"]}"),
         "same name or alias \"a\""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yoke_catalog_t *loaded = NULL;
        assert_int_equal(
            yoke_catalog_parse("c.json", cases[i].text, strlen(cases[i].text), &loaded),
            YOKE_ERR_BAD_INPUT);
        if (strstr(yoke_last_error(), cases[i].message) == NULL)
            fail_msg("%s\n   gave: %s", cases[i].text, yoke_last_error());
    }
}

static void user_rows_replace_and_add(void **state)
{
    static const char text[] =
        CATALOG("{\"vendor\":\"Hygon\",\"name\":\"DCU BW1000\",\"aliases\":[\"BW1000\"],"
                "\"compute\":{\"bf16\":{\"rate\":3e14,\"source\":\"our own run\"}}},"
                "{\"vendor\":\"Acme\",\"name\":\"A1\"}");
    char path[] = "/tmp/yoke-catalog-XXXXXX";
    (void)state;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (int)strlen(text));
    close(fd);
    const char *files[] = {path, NULL};
    yoke_catalog_t *loaded = NULL;
    must(yoke_catalog_load(files, &loaded));
    assert_int_equal(loaded->device_count, 71);
    const yoke_catalog_device_t *row = yoke_catalog_find(loaded, NULL, "BW1000");
    assert_true(row->user);
    assert_int_equal(row->compute[YOKE_BF16].source, YOKE_SOURCE_USER);
    assert_non_null(yoke_catalog_find(loaded, "Acme", "A1"));
    yoke_catalog_free(loaded);
    setenv("YOKE_CATALOG", path, 1);
    must(yoke_catalog_load(NULL, &loaded));
    assert_int_equal(loaded->device_count, 71);
    yoke_catalog_free(loaded);
    setenv("YOKE_CATALOG", "/nonexistent/catalog.json", 1);
    assert_int_not_equal(yoke_catalog_load(NULL, &loaded), YOKE_OK);
    assert_non_null(strstr(yoke_last_error(), "/nonexistent/catalog.json"));
    unsetenv("YOKE_CATALOG");
    unlink(path);
}

static void rows_survive_writing(void **state)
{
    (void)state;
    json_t *root = json_object();
    json_t *devices = json_array();
    json_t *links = json_array();
    for (size_t i = 0; i < catalog()->device_count; i++)
        json_array_append_new(devices,
                              yoke_catalog_device_to_json(&catalog()->devices[i]));
    for (size_t i = 0; i < catalog()->link_count; i++)
        json_array_append_new(links, yoke_catalog_link_to_json(&catalog()->links[i]));
    json_object_set_new(root, "schema", json_string("yoke-catalog/1"));
    json_object_set_new(root, "devices", devices);
    json_object_set_new(root, "links", links);
    char *path = yoke_format("%s/catalog/accelerators.json", getenv("YOKE_DATA_DIR"));
    yoke_json_t bundled = {0};
    must(yoke_json_read(path, 0, &bundled));
    assert_true(json_equal(json_object_get(bundled.root, "devices"), devices));
    char *text = yoke_json_text(root);
    yoke_catalog_t *again = NULL;
    must(yoke_catalog_parse("again", text, strlen(text), &again));
    assert_int_equal(again->device_count, 70);
    yoke_catalog_free(again);
    free(text);
    free(path);
    yoke_json_free(&bundled);
    json_decref(root);
}

static void every_number_has_a_source(void **state)
{
    (void)state;
    for (size_t i = 0; i < catalog()->device_count; i++) {
        const yoke_catalog_device_t *row = &catalog()->devices[i];
        const yoke_quantity_t *all[] = {&row->memory, &row->bandwidth, &row->power,
                                        &row->link_rate, &row->bandwidth_achieved};
        for (size_t j = 0; j < 5; j++)
            if (yoke_known(all[j]))
                assert_true(all[j]->detail != NULL && *all[j]->detail != '\0');
        for (size_t j = 0; j < YOKE_DTYPE_COUNT; j++)
            if (yoke_known(&row->compute[j]))
                assert_true(row->compute[j].detail != NULL &&
                            *row->compute[j].detail != '\0');
    }
    assert_int_equal(found(NULL, "H800-SXM5-80GB")->bandwidth.marks,
                     YOKE_MARK_NOT_REREAD);
    assert_int_equal(found(NULL, "H800-SXM5-80GB")->compute[YOKE_FP64].marks,
                     YOKE_MARK_DISPUTED);
    assert_int_equal(found(NULL, "910B3")->compute[YOKE_BF16].marks, YOKE_MARK_DISPUTED);
    assert_int_equal(found(NULL, "A100-SXM4-80GB")->compute[YOKE_BF16].marks, 0);
    assert_int_equal(found(NULL, "H20")->compute[YOKE_FP8].marks, YOKE_MARK_NOT_REREAD);
}

static void makers_and_classes(void **state)
{
    (void)state;
    assert_string_equal(yoke_vendor_by_pci(0x19e5), "Huawei");
    assert_null(yoke_vendor_by_pci(0x1f3f)); /* 3SNIC, not Rebellions */
    assert_string_equal(yoke_vendor_by_pci(0x1eff), "Rebellions");
    assert_string_equal(yoke_vendor_canonical("NVIDIA Corporation"), "NVIDIA");
    assert_string_equal(yoke_vendor_canonical("Intel(R) Corporation"), "Intel");
    assert_string_equal(yoke_vendor_canonical("Intelligence Ltd"), "Intelligence Ltd");
    assert_int_equal(yoke_vendor_device_kind("Huawei"), YOKE_DEVICE_NPU);
    assert_true(yoke_pci_is_accelerator(0x19e5, 0xd802, 0x120000));
    assert_false(yoke_pci_is_accelerator(0x19e5, 0x0222, 0x020000)); /* Huawei's NIC */
    assert_false(yoke_pci_is_accelerator(0x1a03, 0x2000, 0x030000)); /* ASPEED */
    assert_true(yoke_pci_is_accelerator(0x1002, 0x74a1, 0x120000));
    assert_true(yoke_pci_is_accelerator(0x10de, 0x20b2, 0x030200));
    assert_false(yoke_pci_is_accelerator(0x10de, 0x22ba, 0x040300)); /* its audio */
    assert_false(yoke_pci_is_accelerator(0x9999, 0x0a01, 0x060400)); /* a bridge */
    assert_true(yoke_pci_is_accelerator(0x9999, 0x0a01, 0x0b4000));
}

int main(void)
{
    yoke_log_set_sink(quiet, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_by_every_alias),
        cmocka_unit_test(names_that_hold_other_names),
        cmocka_unit_test(names_are_normalised),
        cmocka_unit_test(pci_ids_are_narrowed_by_memory),
        cmocka_unit_test(figures_fill_unknowns),
        cmocka_unit_test(topology_limits_groups),
        cmocka_unit_test(runtime_memory_wins),
        cmocka_unit_test(refused_memory_stays_unknown),
        cmocka_unit_test(half_packages_get_half),
        cmocka_unit_test(parts_of_cards_get_nothing),
        cmocka_unit_test(ambiguous_ids_name_the_candidates),
        cmocka_unit_test(unknown_names_beat_the_pci_id),
        cmocka_unit_test(hosts_are_not_matched),
        cmocka_unit_test(links_by_kind_and_rate),
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(user_rows_replace_and_add),
        cmocka_unit_test(rows_survive_writing),
        cmocka_unit_test(every_number_has_a_source),
        cmocka_unit_test(makers_and_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
