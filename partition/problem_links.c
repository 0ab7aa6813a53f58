/* SPDX-License-Identifier: Apache-2.0 */
/* The inventory's links: which classes of devices they join, and what is said where none
 * is known. */
#include "partition/problem_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* How many of a class's hosts a link reaches, and whether some pairs there are left out.
 */
typedef struct coverage {
    unsigned hosts;
    bool partial;
} coverage_t;

/* Devices of one class in one host: that match the first end, the second, both, all. */
typedef struct tally {
    unsigned class_index;
    double first, second, both, all;
} tally_t;

typedef struct joining {
    yoke_problem_t *problem;
    const yoke_link_t *link;
    size_t index;         /* in the document */
    unsigned char *match; /* by slot: 1: the first end, 2: the second */
    bool any[2];          /* some planned device matches the end */
    coverage_t *like;     /* by class: pairs of it */
    coverage_t *unlike;   /* by class: pairs with other classes of the node */
    tally_t *tallies;     /* of one host */
} joining_t;

static bool is_full(const coverage_t *coverage, const yoke_class_t *class)
{
    return coverage->hosts == class->hosts && !coverage->partial;
}

static yoke_status_t match_ends(joining_t *joining)
{
    const yoke_problem_t *problem = joining->problem;
    joining->any[0] = joining->any[1] = false;
    for (size_t s = 0; s < problem->slot_count; s++) {
        joining->match[s] = 0;
        for (int e = 0; e < 2; e++) {
            bool match = false;
            yoke_status_t status = yoke_selector_match(
                joining->link->between[e], problem->hosts[problem->slots[s].host],
                problem->slots[s].device, &match);
            if (status != YOKE_OK)
                return status;
            joining->match[s] |= (unsigned char)(match ? 1 << e : 0);
            joining->any[e] = joining->any[e] || match;
        }
    }
    return YOKE_OK;
}

static void add_coverage(coverage_t *coverage, double pairs, double all)
{
    if (!(pairs > 0))
        return;
    coverage->hosts++;
    coverage->partial = coverage->partial || pairs < all;
}

/* A pair is joined when one of it matches one end and the other the other end. */
static void cover_host(joining_t *joining, size_t count)
{
    tally_t sum = {0};
    double firsts = 0, seconds = 0, boths = 0; /* devices of classes that match at all */
    for (size_t i = 0; i < count; i++) {
        const tally_t *t = &joining->tallies[i];
        sum.first += t->first;
        sum.second += t->second;
        sum.both += t->both;
        firsts += t->first > 0 ? t->all : 0;
        seconds += t->second > 0 ? t->all : 0;
        boths += t->first > 0 && t->second > 0 ? t->all : 0;
    }
    for (size_t i = 0; i < count; i++) {
        const tally_t *t = &joining->tallies[i];
        add_coverage(&joining->like[t->class_index],
                     t->first * t->second - t->both - t->both * (t->both - 1) / 2,
                     t->all * (t->all - 1) / 2);
        double others = 0; /* unlike devices of the classes that it is joined with */
        if (t->first > 0 && t->second > 0)
            others = firsts + seconds - boths - t->all;
        else
            others = t->first > 0 ? seconds : firsts;
        add_coverage(&joining->unlike[t->class_index],
                     t->first * (sum.second - t->second) +
                         t->second * (sum.first - t->first) -
                         t->both * (sum.both - t->both),
                     t->all * others);
    }
}

static void cover(joining_t *joining)
{
    const yoke_problem_t *problem = joining->problem;
    memset(joining->like, 0, problem->class_count * sizeof *joining->like);
    memset(joining->unlike, 0, problem->class_count * sizeof *joining->unlike);
    size_t count = 0;
    for (size_t s = 0; s < problem->slot_count; s++) {
        const yoke_slot_t *slot = &problem->slots[s];
        const bool same_host = s > 0 && slot->host == problem->slots[s - 1].host;
        if (!same_host) {
            cover_host(joining, count);
            count = 0;
        }
        if (!same_host || slot->class_index != problem->slots[s - 1].class_index)
            joining->tallies[count++] = (tally_t){.class_index = slot->class_index};
        tally_t *tally = &joining->tallies[count - 1];
        tally->first += (joining->match[s] & 1) != 0;
        tally->second += (joining->match[s] & 2) != 0;
        tally->both += joining->match[s] == 3;
        tally->all++;
    }
    cover_host(joining, count);
}

static double rate_of(const yoke_link_t *link)
{
    return link->rate.value * (link->fraction > 0 ? link->fraction : 1.0);
}

static double latency_of(const joining_t *joining)
{
    return yoke_known(&joining->link->latency)
               ? joining->link->latency.value
               : joining->problem->constants->link_latency;
}

/* All pairs of a class are joined: that is its link. Of several for the paths between
 * unlike devices, which have one rate a class, the slowest. */
static void set_full(const joining_t *joining)
{
    const yoke_problem_t *problem = joining->problem;
    const yoke_link_t *link = joining->link;
    for (size_t c = 0; c < problem->class_count; c++) {
        yoke_class_t *class = &problem->classes[c];
        if (is_full(&joining->like[c], class)) {
            class->rates.link = rate_of(link);
            class->rates.link_latency = latency_of(joining);
            class->rates.link_mesh = false;
            class->rates.link_group = 0;
            class->rates.link_uncertainty =
                yoke_quantity_uncertainty(&link->rate, problem->constants);
            class->link_from = &link->rate;
            if (link->kind != NULL)
                class->link_name = link->kind;
        }
        if (is_full(&joining->unlike[c], class) &&
            (class->intra_from == NULL || rate_of(link) < class->intra)) {
            class->intra = rate_of(link);
            class->intra_latency = latency_of(joining);
            class->intra_from = &link->rate;
        }
    }
}

static bool lower(double *value, double limit)
{
    if (!(limit < *value))
        return false;
    *value = limit;
    return true;
}

static void at_least(double *value, double least)
{
    if (*value < least)
        *value = least;
}

/* Only some pairs of the class are joined: the others have what they had, and a group
 * goes at the pace of its slowest pair. */
static bool limit_like(const joining_t *joining, yoke_class_t *class)
{
    yoke_rates_t *rates = &class->rates;
    const double rate = rate_of(joining->link);
    bool limited;
    if (rates->link_mesh) {
        limited = rate < yoke_rates_pair_bandwidth(rates);
        if (limited) {
            rates->link_mesh = false;
            rates->link = rate;
        }
    } else {
        limited = lower(&rates->link, rate);
        if (rates->link_group != 0)
            limited = lower(&rates->link_beyond, rate) || limited;
    }
    if (limited)
        at_least(&rates->link_latency, latency_of(joining));
    return limited;
}

static bool limit_unlike(const joining_t *joining, yoke_class_t *class)
{
    bool limited = lower(&class->intra, rate_of(joining->link));
    if (limited)
        at_least(&class->intra_latency, latency_of(joining));
    return limited;
}

static yoke_status_t note_partial(const joining_t *joining, const yoke_class_t *class,
                                  const char *pairs, bool limited)
{
    char rate[32];
    return yoke_problem_add_note(
        joining->problem,
        yoke_format(
            "the link between '%s' and '%s' joins only some of the pairs %s %s in "
            "a node: its %s %s",
            joining->link->between[0], joining->link->between[1], pairs, class->type,
            yoke_show_rate(rate_of(joining->link), "B/s", rate),
            limited ? "limit all of them"
                    : "are more than what all of them have, and are not used"));
}

static yoke_status_t set_partial(const joining_t *joining, bool *out_any)
{
    const yoke_problem_t *problem = joining->problem;
    yoke_status_t status = YOKE_OK;
    for (size_t c = 0; status == YOKE_OK && c < problem->class_count; c++) {
        yoke_class_t *class = &problem->classes[c];
        const coverage_t *like = &joining->like[c], *unlike = &joining->unlike[c];
        *out_any = *out_any || like->hosts > 0 || unlike->hosts > 0;
        if (like->hosts > 0 && !is_full(like, class))
            status = note_partial(joining, class, "of type", limit_like(joining, class));
        if (status == YOKE_OK && unlike->hosts > 0 && !is_full(unlike, class))
            status = note_partial(joining, class, "of unlike devices with type",
                                  limit_unlike(joining, class));
    }
    return status;
}

/* Devices that are not planned on count: they are there. */
static yoke_status_t matches_any(const yoke_inventory_t *inventory, const char *selector,
                                 bool *out)
{
    yoke_status_t status = YOKE_OK;
    for (size_t n = 0; status == YOKE_OK && !*out && n < inventory->node_count; n++) {
        const yoke_node_t *node = &inventory->nodes[n];
        yoke_strings_t hosts = {0};
        if (node->device_count > 0)
            status = yoke_hostlist_expand(node->hosts, &hosts);
        for (size_t h = 0; status == YOKE_OK && !*out && h < hosts.count; h++)
            for (size_t d = 0; status == YOKE_OK && !*out && d < node->device_count; d++)
                status =
                    yoke_selector_match(selector, hosts.items[h], &node->devices[d], out);
        yoke_strings_free(&hosts);
    }
    return status;
}

/* An end that no planned device matches: known to the inventory, or a typing mistake. */
static yoke_status_t check_end(const joining_t *joining, int end)
{
    const yoke_inventory_t *inventory = joining->problem->inventory;
    const char *selector = joining->link->between[end];
    bool known = joining->any[end];
    yoke_status_t status = known ? YOKE_OK : matches_any(inventory, selector, &known);
    if (status == YOKE_OK && !known)
        status = yoke_fail(YOKE_ERR_BAD_INPUT,
                           "%s: /links/%zu/between/%d: '%s' matches no device of the "
                           "cluster; write [HOSTS/]DEVICE, type:NAME, vendor:NAME, "
                           "host:HOSTS or kind:gpu",
                           inventory->name ? inventory->name : "cluster", joining->index,
                           end, selector);
    return status;
}

static yoke_status_t check_link(const joining_t *joining)
{
    const yoke_inventory_t *inventory = joining->problem->inventory;
    const yoke_link_t *link = joining->link;
    if (yoke_known(&link->rate) && rate_of(link) < YOKE_LEAST_RATE)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s: /links/%zu/rate: %g bytes/s is none of a link; leave the "
                         "link out, or write its rate in bytes per second",
                         inventory->name ? inventory->name : "cluster", joining->index,
                         rate_of(link));
    yoke_status_t status = check_end(joining, 0);
    return status == YOKE_OK ? check_end(joining, 1) : status;
}

static yoke_status_t note_unused(const joining_t *joining)
{
    const char *why =
        "joins no two devices of one host and is not used: between hosts the "
        "plan takes the rates of the NICs";
    if (!yoke_known(&joining->link->rate))
        why = "has no rate and is not used";
    else if (!joining->any[0] || !joining->any[1])
        why = "joins no planned devices";
    return yoke_problem_add_note(joining->problem,
                                 yoke_format("the link between '%s' and '%s' %s",
                                             joining->link->between[0],
                                             joining->link->between[1], why));
}

/* Links that join whole classes first: what limits some pairs comes on top of them. */
static yoke_status_t apply(joining_t *joining, bool whole)
{
    const yoke_inventory_t *inventory = joining->problem->inventory;
    yoke_status_t status = YOKE_OK;
    for (size_t i = 0; status == YOKE_OK && i < inventory->link_count; i++) {
        joining->link = &inventory->links[i];
        joining->index = i;
        bool used = false;
        status = match_ends(joining);
        if (status != YOKE_OK)
            break;
        cover(joining);
        const bool known = yoke_known(&joining->link->rate);
        if (whole) {
            status = check_link(joining);
            if (status == YOKE_OK && known)
                set_full(joining);
            continue;
        }
        if (known)
            status = set_partial(joining, &used);
        if (status == YOKE_OK && !used)
            status = note_unused(joining);
    }
    return status;
}

yoke_status_t yoke_problem_apply_links(yoke_problem_t *problem)
{
    if (problem->inventory->link_count == 0)
        return YOKE_OK;
    joining_t joining = {.problem = problem};
    joining.match = calloc(problem->slot_count + 1, sizeof *joining.match);
    joining.like = calloc(problem->class_count + 1, sizeof *joining.like);
    joining.unlike = calloc(problem->class_count + 1, sizeof *joining.unlike);
    joining.tallies = calloc(problem->class_count + 1, sizeof *joining.tallies);
    yoke_status_t status = YOKE_OK;
    if (joining.match == NULL || joining.like == NULL || joining.unlike == NULL ||
        joining.tallies == NULL)
        status = yoke_fail_memory();
    if (status == YOKE_OK)
        status = apply(&joining, true);
    if (status == YOKE_OK)
        status = apply(&joining, false);
    free(joining.match);
    free(joining.like);
    free(joining.unlike);
    free(joining.tallies);
    return status;
}

/* --- what is taken without being known --------------------------------------------- */

static yoke_status_t note_unknown(yoke_problem_t *problem, const yoke_class_t *class)
{
    char rate[32];
    return yoke_problem_add_note(
        problem,
        yoke_format("the in-node link of type %s is unknown; %s (generic) is taken: give "
                    "--assume 'type:%s:link=RATE'",
                    class->type, yoke_show_rate(class->rates.link, "B/s", rate),
                    class->type));
}

/* Has the type nodes with more devices than its bridges join? Their note says it all. */
static bool noted_elsewhere(const yoke_problem_t *problem, const yoke_class_t *class)
{
    for (size_t c = 0; c < problem->class_count; c++) {
        const yoke_class_t *other = &problem->classes[c];
        if (strcmp(other->type, class->type) == 0 &&
            other->rates.link_group == class->rates.link_group &&
            other->per_host > class->rates.link_group)
            return class->per_host <= class->rates.link_group;
    }
    return false;
}

/* Nothing tells whether bridges were plugged in, nor where. */
static yoke_status_t note_bridge(yoke_problem_t *problem, const yoke_class_t *class)
{
    const yoke_rates_t *rates = &class->rates;
    yoke_text_t text = {0};
    char rate[32];
    if (noted_elsewhere(problem, class))
        return YOKE_OK;
    if (rates->link_group == 2)
        yoke_text_printf(&text, "a bridge between pairs of type %s is assumed",
                         class->type);
    else
        yoke_text_printf(&text, "links among every %u devices of type %s are assumed",
                         rates->link_group, class->type);
    if (class->link_name != NULL)
        yoke_text_printf(&text, " (%s)", class->link_name);
    if (class->per_host > rates->link_group)
        yoke_text_printf(&text,
                         "; what it does not join goes at %s (generic): give --assume "
                         "'type:%s:link=RATE' for one link that joins all of a node",
                         yoke_show_rate(rates->link_beyond, "B/s", rate), class->type);
    char *note = text.failed ? NULL : yoke_strdup(yoke_text_get(&text));
    yoke_text_free(&text);
    return yoke_problem_add_note(problem, note);
}

static yoke_status_t note_unlike(yoke_problem_t *problem, const yoke_class_t *class)
{
    char rate[32];
    return yoke_problem_add_note(
        problem,
        yoke_format(
            "the path between unlike devices of a node is unknown; %s (generic) is "
            "taken: give a link between them in the cluster file",
            yoke_show_rate(class->intra, "B/s", rate)));
}

yoke_status_t yoke_problem_note_links(yoke_problem_t *problem)
{
    yoke_status_t status = YOKE_OK;
    for (size_t c = 0; status == YOKE_OK && c < problem->class_count; c++) {
        const yoke_class_t *class = &problem->classes[c];
        if (class->per_host > 1 && class->link_from == NULL)
            status = note_unknown(problem, class);
        else if (class->per_host > 1 && class->rates.link_group != 0)
            status = note_bridge(problem, class);
        if (status == YOKE_OK && class->host_devices > class->per_host &&
            class->intra_from == NULL)
            status = note_unlike(problem, class);
    }
    return status;
}
