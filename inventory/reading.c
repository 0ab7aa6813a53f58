/* SPDX-License-Identifier: Apache-2.0 */
/* Members that recur in the document: names, indexes, PCI addresses, quantities. */
#include "inventory/reading.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static bool is_later_minor(const yoke_cursor_t *at)
{
    while (at->parent != NULL)
        at = at->parent;
    const char *schema = json_string_value(json_object_get(at->value, "schema"));
    const char *dot = schema == NULL ? NULL : strrchr(schema, '.');
    return dot != NULL && strcmp(dot, ".0") != 0;
}

yoke_status_t yoke_read_only(const yoke_cursor_t *at, const char *const *allowed)
{
    return is_later_minor(at) ? yoke_cursor_object(at) : yoke_cursor_only(at, allowed);
}

yoke_status_t yoke_read_string(const yoke_cursor_t *at, const char *key, char **member)
{
    const char *text = NULL;
    TRY(yoke_opt_string(at, key, &text));
    return text == NULL ? YOKE_OK : yoke_set_string(member, text);
}

/* A name that goes into tables, selectors and files of other programs. */
yoke_status_t yoke_read_id(const yoke_cursor_t *at, const char *key, char **member)
{
    const char *text = NULL;
    TRY(yoke_need_string(at, key, &text));
    if (*text == '\0')
        return yoke_cursor_fail(at, key, "must not be empty");
    if (strlen(text) > 255)
        return yoke_cursor_fail(at, key, "is longer than 255 characters");
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c <= ' ' || *c == 0x7f || *c == ',')
            return yoke_cursor_fail(at, key,
                                    "\"%s\" holds a blank, a comma or a control "
                                    "character",
                                    text);
    return yoke_set_string(member, text);
}

yoke_status_t yoke_read_index(const yoke_cursor_t *at, const char *key, int64_t *out)
{
    uint64_t index = 0;
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, key, &child))
        return YOKE_OK;
    TRY(yoke_opt_u64(at, key, 0, INT32_MAX, &index));
    *out = (int64_t)index;
    return YOKE_OK;
}

yoke_status_t yoke_read_unsigned(const yoke_cursor_t *at, const char *key, unsigned max,
                                 unsigned *out)
{
    uint64_t value = *out;
    TRY(yoke_opt_u64(at, key, 0, max, &value));
    *out = (unsigned)value;
    return YOKE_OK;
}

/* "source", "marks" and "detail" of the object; members that are absent leave *out. */
static yoke_status_t read_origin(const yoke_cursor_t *at, yoke_quantity_t *out)
{
    const char *source = NULL;
    yoke_cursor_t marks;
    TRY(yoke_opt_string(at, "source", &source));
    if (source != NULL && !yoke_source_parse(source, &out->source))
        return yoke_cursor_fail(at, "source",
                                "must be \"measured\", \"runtime\", \"sysfs\", "
                                "\"imported\", \"catalog\" or \"user\", found \"%s\"",
                                source);
    if (yoke_cursor_member(at, "marks", &marks))
        TRY(yoke_marks_from_json(at, "marks", &out->marks));
    return yoke_read_string(at, "detail", &out->detail);
}

/* A number with the origin that `shared` gives, or its own; null leaves it unknown. */
static yoke_status_t read_value(const yoke_cursor_t *at, const char *key, double max,
                                const yoke_quantity_t *shared, yoke_quantity_t *out)
{
    yoke_cursor_t child;
    double value = 0;
    if (!yoke_cursor_member(at, key, &child))
        return YOKE_OK;
    TRY(yoke_opt_double(at, key, 0, max, &value));
    yoke_source_t source =
        shared->source == YOKE_SOURCE_UNKNOWN ? YOKE_SOURCE_USER : shared->source;
    return yoke_quantity_set(out, value, source, shared->marks, shared->detail);
}

static yoke_status_t read_own_origin(const yoke_cursor_t *at, const char *key,
                                     yoke_quantity_t *quantity)
{
    static const char *const allowed[] = {"source", "marks", "detail", NULL};
    yoke_cursor_t origins, own;
    if (!yoke_known(quantity) || !yoke_cursor_member(at, "origin", &origins) ||
        !yoke_cursor_member(&origins, key, &own))
        return YOKE_OK;
    TRY(yoke_read_only(&own, allowed));
    double value = quantity->value;
    yoke_quantity_clear(quantity);
    TRY(read_origin(&own, quantity));
    quantity->value = value;
    if (quantity->source == YOKE_SOURCE_UNKNOWN)
        quantity->source = YOKE_SOURCE_USER;
    return YOKE_OK;
}

yoke_status_t yoke_read_shared(const yoke_cursor_t *at, const char *const *keys,
                               const double *max, yoke_quantity_t *const *quantities,
                               size_t count)
{
    yoke_quantity_t shared = {0};
    yoke_cursor_t origins;
    yoke_status_t status = read_origin(at, &shared);
    if (status == YOKE_OK && yoke_cursor_member(at, "origin", &origins))
        status = yoke_read_only(&origins, keys);
    for (size_t i = 0; i < count && status == YOKE_OK; i++) {
        status = read_value(at, keys[i], max[i], &shared, quantities[i]);
        if (status == YOKE_OK)
            status = read_own_origin(at, keys[i], quantities[i]);
    }
    yoke_quantity_clear(&shared);
    return status;
}

yoke_status_t yoke_quantity_from_json(const yoke_cursor_t *at, const char *key,
                                      double max, yoke_quantity_t *out_quantity)
{
    const char *const allowed[] = {key, "source", "marks", "detail", NULL};
    const char *const keys[] = {key, NULL};
    TRY(yoke_read_only(at, allowed));
    return yoke_read_shared(at, keys, &max, &out_quantity, 1);
}

yoke_status_t yoke_read_quantity(const yoke_cursor_t *at, const char *member,
                                 const char *key, double max, yoke_quantity_t *out)
{
    yoke_cursor_t child;
    if (!yoke_cursor_member(at, member, &child))
        return YOKE_OK;
    return yoke_quantity_from_json(&child, key, max, out);
}

yoke_status_t yoke_read_pci(const yoke_cursor_t *at, yoke_pci_t *out)
{
    const char *text = NULL;
    const char *ids = NULL;
    yoke_pci_t pci = {0};
    TRY(yoke_opt_string(at, "pci", &text));
    TRY(yoke_opt_string(at, "pci_ids", &ids));
    if (text != NULL && !yoke_pci_parse(text, &pci))
        return yoke_cursor_fail(at, "pci",
                                "\"%s\" is not a PCI address like 0000:c1:00.0", text);
    if (ids != NULL) {
        char *end = NULL;
        unsigned long vendor = strtoul(ids, &end, 16);
        bool well = strlen(ids) == 9 && end == ids + 4 && *end == ':' &&
                    strspn(ids + 5, "0123456789abcdef") == 4;
        if (!well)
            return yoke_cursor_fail(
                at, "pci_ids", "\"%s\" is not VENDOR:DEVICE in hex, like 10de:20b2", ids);
        pci.vendor_id = (uint16_t)vendor;
        pci.device_id = (uint16_t)strtoul(ids + 5, NULL, 16);
    }
    *out = pci;
    return YOKE_OK;
}
