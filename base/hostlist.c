/* SPDX-License-Identifier: Apache-2.0 */
/* Host lists as Slurm writes them: "login,n[01-03,7]-ib". */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MAX_NAMES 1000000u
#define MAX_DIGITS 18
#define MAX_NAME 255
#define MAX_BRACKETS 4

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_blanks(const char *at)
{
    while (is_blank(*at))
        at++;
    return at;
}

static uint64_t add_capped(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t multiply_capped(uint64_t a, uint64_t b)
{
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}

/* A fault found while parsing: where, and what. */
typedef struct fault {
    const char *at;
    const char *what;
} fault_t;

static bool fault_at(fault_t *fault, const char *at, const char *what)
{
    *fault = (fault_t){at, what};
    return false;
}

/* One "01-03" or "7" inside brackets. */
typedef struct range {
    uint64_t low, high;
    size_t width; /* zero-padded to this many digits */
} range_t;

/* Reads one number and steps over it. */
static bool take_number(const char **at, uint64_t *out_value, size_t *out_width,
                        fault_t *fault)
{
    size_t digits = 0;
    while (is_digit((*at)[digits]))
        digits++;
    if (digits == 0)
        return fault_at(fault, *at, "a number is missing");
    if (!yoke_parse_u64(*at, digits, 0, UINT64_MAX, out_value) || digits > MAX_DIGITS)
        return fault_at(fault, *at, "the number has more than 18 digits");
    *at += digits;
    *out_width = digits;
    return true;
}

static bool take_range(const char **at, range_t *out_range, fault_t *fault)
{
    const char *start = *at;
    size_t high_width = 0;
    if (!take_number(at, &out_range->low, &out_range->width, fault))
        return false;
    out_range->high = out_range->low;
    if (**at != '-')
        return true;
    (*at)++;
    const char *high = *at;
    if (!take_number(at, &out_range->high, &high_width, fault))
        return false;
    if (out_range->high < out_range->low)
        return fault_at(fault, start, "the range runs backwards");
    if (*high == '0' && high_width > 1 && high_width != out_range->width)
        return fault_at(fault, start, "the ends of the range are padded differently");
    return true;
}

/* Checks "[...]" and steps over it; multiplies *count by its numbers. */
static bool check_brackets(const char **at, uint64_t *count, fault_t *fault)
{
    uint64_t numbers = 0;
    const char *open = *at;
    do {
        range_t range = {0};
        (*at)++;
        if (!take_range(at, &range, fault))
            return false;
        numbers = add_capped(numbers, range.high - range.low + 1);
    } while (**at == ',');
    if (**at == '\0')
        return fault_at(fault, open, "\"[\" is not closed");
    if (**at != ']')
        return fault_at(fault, *at, "expected \"-\", \",\" or \"]\"");
    (*at)++;
    *count = multiply_capped(*count, numbers);
    return true;
}

/* Checks one name of the list and steps over it. */
static bool check_name(const char **at, uint64_t *out_count, fault_t *fault)
{
    const char *start = *at;
    uint64_t count = 1;
    int brackets = 0;
    while (**at != '\0' && **at != ',' && !is_blank(**at)) {
        if (**at == ']')
            return fault_at(fault, *at, "\"]\" without \"[\"");
        if (**at != '[')
            (*at)++;
        else if (++brackets > MAX_BRACKETS)
            return fault_at(fault, *at, "more than 4 brackets in one name");
        else if (!check_brackets(at, &count, fault))
            return false;
    }
    if (*at == start)
        return fault_at(fault, start, "a name is missing");
    *out_count = count;
    return true;
}

static bool check_list(const char *list, uint64_t *out_count, fault_t *fault)
{
    uint64_t total = 0;
    const char *at = skip_blanks(list);
    for (;;) {
        uint64_t count = 0;
        if (!check_name(&at, &count, fault))
            return false;
        total = add_capped(total, count);
        at = skip_blanks(at);
        if (*at == '\0')
            break;
        if (*at != ',')
            return fault_at(fault, at, "names are separated by commas");
        at = skip_blanks(at + 1);
    }
    *out_count = total;
    return true;
}

/* The name as far as it is expanded. */
typedef struct prefix {
    char text[MAX_NAME + 1];
    size_t length;
} prefix_t;

static bool prefix_add(prefix_t *prefix, const char *bytes, size_t size)
{
    if (size > MAX_NAME - prefix->length)
        return false;
    memcpy(prefix->text + prefix->length, bytes, size);
    prefix->length += size;
    prefix->text[prefix->length] = '\0';
    return true;
}

static yoke_status_t fail_long(void)
{
    return yoke_fail(YOKE_ERR_BAD_INPUT, "host list: a name has more than %d characters",
                     MAX_NAME);
}

static yoke_status_t expand_name(const char *at, prefix_t prefix, yoke_strings_t *out);

static yoke_status_t expand_range(const range_t *range, const char *rest,
                                  const prefix_t *prefix, yoke_strings_t *out)
{
    for (uint64_t number = range->low; number <= range->high; number++) {
        char digits[24];
        prefix_t longer = *prefix;
        int length = yoke_snprintf(digits, sizeof digits, "%0*llu", (int)range->width,
                                   (unsigned long long)number);
        if (!prefix_add(&longer, digits, (size_t)length))
            return fail_long();
        yoke_status_t status = expand_name(rest, longer, out);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

static yoke_status_t expand_brackets(const char *open, const prefix_t *prefix,
                                     yoke_strings_t *out)
{
    const char *rest = strchr(open, ']') + 1;
    const char *at = open;
    do {
        range_t range = {0};
        fault_t fault;
        at++;
        take_range(&at, &range, &fault);
        yoke_status_t status = expand_range(&range, rest, prefix, out);
        if (status != YOKE_OK)
            return status;
    } while (*at == ',');
    return YOKE_OK;
}

/* The rest of one checked name; at most MAX_BRACKETS deep. */
static yoke_status_t expand_name(const char *at, prefix_t prefix, yoke_strings_t *out)
{
    size_t plain = strcspn(at, "[, \t\r\n");
    if (!prefix_add(&prefix, at, plain))
        return fail_long();
    if (at[plain] == '[')
        return expand_brackets(at + plain, &prefix, out);
    return yoke_strings_add(out, prefix.text);
}

static const char *end_of_name(const char *at)
{
    bool inside = false;
    for (; *at != '\0' && (inside || (*at != ',' && !is_blank(*at))); at++)
        if (*at == '[' || *at == ']')
            inside = *at == '[';
    return at;
}

static yoke_status_t fail_list(const char *list, const fault_t *fault)
{
    /* The whole list may be long; what is near the fault tells the place. */
    int shown = (int)strcspn(fault->at, "\n");
    return yoke_fail(YOKE_ERR_BAD_INPUT, "host list: character %zu (\"%.*s\"): %s",
                     (size_t)(fault->at - list) + 1, shown > 24 ? 24 : shown, fault->at,
                     fault->what);
}

yoke_status_t yoke_hostlist_expand(const char *hostlist, yoke_strings_t *out_hosts)
{
    yoke_strings_t hosts = {0};
    uint64_t count = 0;
    fault_t fault = {0};
    if (!check_list(hostlist, &count, &fault))
        return fail_list(hostlist, &fault);
    if (count > MAX_NAMES)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "host list: more than %u names", MAX_NAMES);
    for (const char *at = skip_blanks(hostlist); *at != '\0';) {
        prefix_t prefix = {.length = 0};
        yoke_status_t status = expand_name(at, prefix, &hosts);
        if (status != YOKE_OK) {
            yoke_strings_free(&hosts);
            return status;
        }
        at = skip_blanks(end_of_name(at));
        if (*at == ',')
            at = skip_blanks(at + 1);
    }
    *out_hosts = hosts;
    return YOKE_OK;
}

uint64_t yoke_hostlist_count(const char *hostlist)
{
    uint64_t count = 0;
    fault_t fault;
    return check_list(hostlist, &count, &fault) ? count : 0;
}

/*
 * Compressing: every name is cut at one run of digits, names that agree before and after
 * it make a group, and a group's numbers become ranges.
 */
typedef struct cut {
    const char *name;
    size_t before; /* length before the digits */
    size_t digits; /* 0: no number to fold */
    size_t padded; /* width where it must be zero-padded, else SIZE_MAX */
    uint64_t number;
} cut_t;

static cut_t cut_at_last_number(const char *name)
{
    cut_t cut = {.name = name, .before = strlen(name)};
    while (cut.before > 0 && !is_digit(name[cut.before - 1]))
        cut.before--;
    while (cut.before > 0 && is_digit(name[cut.before - 1])) {
        cut.before--;
        cut.digits++;
    }
    return cut;
}

static cut_t cut_at_first_number(const char *name)
{
    cut_t cut = {.name = name};
    while (name[cut.before] != '\0' && !is_digit(name[cut.before]))
        cut.before++;
    while (is_digit(name[cut.before + cut.digits]))
        cut.digits++;
    return cut;
}

static cut_t cut_name(const char *name, bool first)
{
    cut_t cut = first ? cut_at_first_number(name) : cut_at_last_number(name);
    /* Longer "numbers" are serial numbers: part of the name. */
    if (cut.digits > MAX_DIGITS || cut.digits == 0) {
        cut.before = strlen(name);
        cut.digits = 0;
    }
    yoke_parse_u64(name + cut.before, cut.digits, 0, UINT64_MAX, &cut.number);
    cut.padded = cut.digits > 1 && name[cut.before] == '0' ? cut.digits : SIZE_MAX;
    return cut;
}

static int compare_groups(const cut_t *a, const cut_t *b)
{
    size_t shorter = a->before < b->before ? a->before : b->before;
    int order = memcmp(a->name, b->name, shorter);
    if (order != 0)
        return order;
    if (a->before != b->before)
        return a->before < b->before ? -1 : 1;
    if ((a->digits == 0) != (b->digits == 0))
        return a->digits == 0 ? -1 : 1;
    return strcmp(a->name + a->before + a->digits, b->name + b->before + b->digits);
}

static int compare_widths(const void *left, const void *right)
{
    const cut_t *a = left;
    const cut_t *b = right;
    int order = compare_groups(a, b);
    if (order != 0 || a->digits == b->digits)
        return order;
    return a->digits < b->digits ? -1 : 1;
}

static int compare_cuts(const void *left, const void *right)
{
    const cut_t *a = left;
    const cut_t *b = right;
    int order = compare_groups(a, b);
    if (order != 0)
        return order;
    if (a->padded != b->padded)
        return a->padded < b->padded ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return 0;
}

/* "10" belongs to "08", "09" and to "8", "9" alike: where its group has padded names of
 * its width, it goes with those, or a range would break in two. */
static void join_padded(cut_t *cuts, size_t count)
{
    qsort(cuts, count, sizeof *cuts, compare_widths);
    for (size_t i = 0; i < count;) {
        size_t end = i;
        bool padded = false;
        for (; end < count && compare_widths(&cuts[i], &cuts[end]) == 0; end++)
            padded = padded || cuts[end].padded != SIZE_MAX;
        for (; i < end; i++)
            cuts[i].padded = padded ? cuts[i].digits : SIZE_MAX;
    }
}

/* Number of cuts from `first` on that one range with the first one's width spells. */
static size_t run_length(const cut_t *cuts, size_t first, size_t end)
{
    size_t next = first + 1;
    while (next < end && cuts[next].number == cuts[next - 1].number + 1) {
        bool padded = cuts[next].name[cuts[next].before] == '0';
        bool wider = cuts[next].digits > cuts[first].digits && !padded;
        if (cuts[next].digits != cuts[first].digits && !wider)
            break;
        next++;
    }
    return next - first;
}

static void add_digits(yoke_text_t *out, const cut_t *cut)
{
    yoke_text_add_bytes(out, cut->name + cut->before, cut->digits);
}

static void add_group(yoke_text_t *out, const cut_t *cuts, size_t first, size_t end)
{
    const cut_t *head = &cuts[first];
    if (out->size > 0)
        yoke_text_add(out, ",");
    if (end - first == 1) {
        yoke_text_add(out, head->name);
        return;
    }
    yoke_text_add_bytes(out, head->name, head->before);
    for (size_t i = first; i < end;) {
        size_t length = run_length(cuts, i, end);
        yoke_text_add(out, i == first ? "[" : ",");
        add_digits(out, &cuts[i]);
        if (length > 1) {
            yoke_text_add(out, "-");
            add_digits(out, &cuts[i + length - 1]);
        }
        i += length;
    }
    yoke_text_add(out, "]");
    yoke_text_add(out, head->name + head->before + head->digits);
}

typedef struct group {
    const char *smallest; /* naturally smallest name: groups come in this order */
    size_t first, end;
} group_t;

static int compare_smallest(const void *left, const void *right)
{
    return yoke_natural_compare(((const group_t *)left)->smallest,
                                ((const group_t *)right)->smallest);
}

static size_t find_groups(const cut_t *cuts, size_t count, group_t *groups)
{
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool fresh = i == 0 || compare_groups(&cuts[i - 1], &cuts[i]) != 0;
        if (fresh)
            groups[found++] = (group_t){cuts[i].name, i, i};
        group_t *group = &groups[found - 1];
        group->end = i + 1;
        if (yoke_natural_compare(cuts[i].name, group->smallest) < 0)
            group->smallest = cuts[i].name;
    }
    qsort(groups, found, sizeof *groups, compare_smallest);
    return found;
}

static void compress(const char *const *names, size_t count, bool first, yoke_text_t *out)
{
    cut_t *cuts = malloc((count + 1) * sizeof *cuts);
    group_t *groups = malloc((count + 1) * sizeof *groups);
    out->failed = cuts == NULL || groups == NULL;
    if (!out->failed) {
        for (size_t i = 0; i < count; i++)
            cuts[i] = cut_name(names[i], first);
        join_padded(cuts, count);
        qsort(cuts, count, sizeof *cuts, compare_cuts);
        size_t found = find_groups(cuts, count, groups);
        for (size_t i = 0; i < found; i++)
            add_group(out, cuts, groups[i].first, groups[i].end);
        yoke_text_add(out, "");
    }
    free(groups);
    free(cuts);
}

static int compare_names(const void *left, const void *right)
{
    return yoke_natural_compare(*(const char *const *)left, *(const char *const *)right);
}

static size_t sort_distinct(const char **names, size_t count)
{
    size_t kept = 0;
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || strcmp(names[kept - 1], names[i]) != 0)
            names[kept++] = names[i];
    return kept;
}

char *yoke_hostlist_compress(const yoke_strings_t *hosts)
{
    yoke_text_t by_last = {0};
    yoke_text_t by_first = {0};
    const char **names = malloc((hosts->count + 1) * sizeof *names);
    if (names == NULL)
        return NULL;
    for (size_t i = 0; i < hosts->count; i++)
        names[i] = hosts->items[i];
    size_t count = sort_distinct(names, hosts->count);
    compress(names, count, false, &by_last);
    compress(names, count, true, &by_first);
    free(names);
    if (by_last.failed || by_first.failed) {
        yoke_text_free(&by_last);
        yoke_text_free(&by_first);
        return NULL;
    }
    /* "n1.c2.org" counts in front, "rack1-n2" at the end. */
    bool last = by_last.size <= by_first.size;
    yoke_text_free(last ? &by_first : &by_last);
    return last ? by_last.data : by_first.data;
}
