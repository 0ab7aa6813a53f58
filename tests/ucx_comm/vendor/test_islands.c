/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks a vendor's library carries together, of the case comm-11-library-versions
 * and others; and numbers out of headers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <jansson.h>
#include <unistd.h>

#include "ucx_comm/vendor/islands.h"
#include "ucx_comm/vendor/library.h"

/* "nccl 2.18.6" */
static yoke_vendor_member_t member_of(json_t *rank, char *text)
{
    snprintf(text, 64, "%s", json_string_value(json_object_get(rank, "coll")));
    char *space = strchr(text, ' ');
    assert_non_null(space);
    *space = '\0';
    return (yoke_vendor_member_t){json_string_value(json_object_get(rank, "vendor")),
                                  text, space + 1, 0};
}

static void case_of_library_versions(void **state)
{
    (void)state;
    char path[512], texts[16][64];
    const char *folder = getenv("YOKE_SHARED_DIR");
    snprintf(path, sizeof path, "%s/cases/comm-11-library-versions/ranks.json",
             folder != NULL ? folder : "");
    json_t *ranks = json_load_file(path, 0, NULL);
    if (ranks == NULL)
        skip();
    snprintf(path, sizeof path, "%s/cases/comm-11-library-versions/case.json", folder);
    json_t *about = json_load_file(path, 0, NULL);
    json_t *right = json_object_get(about, "right");
    yoke_vendor_member_t members[16];
    int count = (int)json_array_size(ranks), group[16], leader[16], size[16] = {0};
    assert_in_range(count, 1, 16);
    for (int i = 0; i < count; i++)
        members[i] = member_of(json_array_get(ranks, (size_t)i), texts[i]);
    int groups = yoke_vendor_islands(members, count, group, leader);
    json_t *vendor_groups = json_array(), *alone = json_array();
    for (int i = 0; i < count; i++)
        size[group[i]]++;
    for (int g = 0; g < groups; g++) {
        json_t *list = json_array();
        for (int i = 0; i < count; i++)
            if (group[i] == g)
                json_array_append_new(size[g] > 1 ? list : alone, json_integer(i));
        if (size[g] > 1)
            json_array_append(vendor_groups, list);
        json_decref(list);
    }
    assert_true(json_equal(vendor_groups, json_object_get(right, "vendor_groups")));
    assert_true(json_equal(alone, json_object_get(right, "alone")));
    assert_int_equal(groups, 3);
    assert_int_equal(leader[0], 0);
    assert_int_equal(leader[1], 2);
    assert_int_equal(leader[2], 3);
    json_decref(vendor_groups);
    json_decref(alone);
    json_decref(about);
    json_decref(ranks);
}

static void any_order(void **state)
{
    (void)state;
    const yoke_vendor_member_t nvidia = {"nvidia", "nccl", "2.18.6", 0};
    const yoke_vendor_member_t far = {"nvidia", "nccl", "2.18.6", 1};
    const yoke_vendor_member_t amd = {"amd", "rccl", "2.18.6", 0};
    const yoke_vendor_member_t none = {"intel", "", "", 0};
    const yoke_vendor_member_t null = {NULL, NULL, NULL, 0};
    const yoke_vendor_member_t members[] = {none, amd,    nvidia, none, amd,
                                            far,  nvidia, null,   null};
    static const int right[] = {0, 1, 2, 3, 1, 4, 2, 5, 6};
    int group[9], leader[9];
    assert_int_equal(yoke_vendor_islands(members, 9, group, leader), 7);
    for (int i = 0; i < 9; i++)
        assert_int_equal(group[i], right[i]);
    assert_int_equal(leader[4], 5);
    assert_int_equal(yoke_vendor_islands(members, 0, group, NULL), 0);
}

static void numbers_of_headers(void **state)
{
    (void)state;
    static const char text[] =
        "/* A = 9, enum { Z = 1 } */ // B = 8\n"
        "#define SIZE 192\n"
        "# define  OTHER (0x10u)\n"
        "#define SIZE_MORE 7\n"
        "#define NOT_PLAIN (SIZE + 1)\n"
        "enum kind { A = 3, B, C = (0x20), D, E = A + 1, F, G = -2, };\n"
        "typedef enum { H, I = 5UL } t; int enumerate; enum u x;\n"
        "enum broken { J = 1";
    static const struct {
        const char *name;
        int value; /* -1000: none */
    } rows[] = {{"SIZE", 192}, {"OTHER", 16},  {"SIZE_MORE", 7}, {"NOT_PLAIN", -1000},
                {"A", 3},      {"B", 4},       {"C", 32},        {"D", 33},
                {"E", -1000},  {"F", -1000},   {"G", -2},        {"H", 0},
                {"I", 5},      {"J", 1},       {"Z", -1000},     {"SIZ", -1000},
                {"x", -1000},  {"kind", -1000}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t value = -1000;
        bool found = yoke_vendor_header_number(text, rows[i].name, &value);
        if (found != (rows[i].value != -1000) || (found && value != rows[i].value))
            fail_msg("%s: %d %lld", rows[i].name, found, (long long)value);
    }
    int64_t value;
    assert_false(yoke_vendor_header_number("/* no end", "A", &value));
    assert_false(yoke_vendor_header_number("", "A", &value));
}

static void header_of_bkcl(void **state)
{
    (void)state;
    char path[512], header[512];
    yoke_vendor_t *vendor = NULL;
    snprintf(path, sizeof path, "%s/kunlun/libbkcl.so", getenv("VENDOR_LIBRARIES"));
    const yoke_vendor_kind_t *kind = yoke_vendor_kind("bkcl");

    assert_int_equal(yoke_vendor_open(kind, path, &vendor), YOKE_OK); /* beside it */
    assert_int_equal(yoke_vendor_id_size(vendor), 1168);
    assert_false(yoke_vendor_can(vendor, YOKE_COLLECTIVE_ALL_REDUCE, YOKE_ELEMENT_I8,
                                 YOKE_REDUCE_SUM, NULL));
    assert_false(yoke_vendor_can(vendor, YOKE_COLLECTIVE_ALL_REDUCE, YOKE_ELEMENT_F32,
                                 YOKE_REDUCE_AVG, NULL));
    yoke_vendor_close(vendor);

    setenv("YOKE_LIB_BKCL_HEADER", "/nowhere/bkcl.h", 1);
    assert_int_equal(yoke_vendor_open(kind, path, &vendor), YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "YOKE_LIB_BKCL_HEADER"));

    snprintf(header, sizeof header, "/tmp/yoke-bkcl-%d.h", (int)getpid());
    FILE *file = fopen(header, "w");
    assert_non_null(file);
    fputs("#define BKCL_UNIQUE_ID_BYTES 64\nenum { BKCL_SUCCESS };\n", file);
    fclose(file);
    setenv("YOKE_LIB_BKCL_HEADER", header, 1);
    assert_int_equal(yoke_vendor_open(kind, path, &vendor), YOKE_ERR_NOT_FOUND);
    assert_non_null(strstr(yoke_last_error(), "BKCL_UINT8"));
    unsetenv("YOKE_LIB_BKCL_HEADER");
    remove(header);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(case_of_library_versions),
        cmocka_unit_test(any_order),
        cmocka_unit_test(numbers_of_headers),
        cmocka_unit_test(header_of_bkcl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
