/* SPDX-License-Identifier: Apache-2.0 */
/* What a call would do: its schedules are built for all ranks and counted. */

#include "ucx_comm/collectives/explain.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "base/text.h"

#define MOST_PAIRS 12 /* ranks whose pairs the text lists one by one */

yoke_status_t yoke_traffic_count(const yoke_shape_t *shape, uint64_t *out_bytes)
{
    size_t n = (size_t)shape->size;
    memset(out_bytes, 0, n * n * sizeof *out_bytes);
    for (int r = 0; r < shape->size; r++) {
        yoke_shape_t mine = *shape;
        yoke_schedule_t *schedule = NULL;
        mine.rank = r;
        yoke_status_t status = yoke_schedule_build(&mine, &schedule);
        if (status != YOKE_OK)
            return status;
        for (uint32_t i = 0; i < schedule->count; i++)
            if (schedule->steps[i].kind == YOKE_STEP_SEND)
                out_bytes[r * shape->size + schedule->steps[i].peer] +=
                    schedule->steps[i].size;
        yoke_schedule_free(schedule);
    }
    return YOKE_OK;
}

yoke_shape_t yoke_explain_shape(const yoke_topology_t *topology,
                                yoke_collective_t collective, uint64_t size,
                                const yoke_choice_t *choice)
{
    yoke_shape_t shape = {.collective = collective, .reduction = YOKE_REDUCE_SUM};
    bool vector = collective == YOKE_COLLECTIVE_ALL_REDUCE ||
                  collective == YOKE_COLLECTIVE_BROADCAST ||
                  collective == YOKE_COLLECTIVE_REDUCE;
    shape.size = yoke_topology_size(topology);
    shape.topology = topology;
    shape.algorithm = choice->algorithm;
    shape.radix = choice->radix;
    shape.chunk = choice->chunk;
    uint64_t share = vector ? size : size / (uint64_t)shape.size;
    shape.element = share % 4 == 0 ? YOKE_ELEMENT_F32 : YOKE_ELEMENT_U8;
    shape.count = shape.stride = share / yoke_element_size(shape.element);
    /* What goes through one arena is cut in the same way. */
    if (shape.algorithm == YOKE_ALGORITHM_SHARED)
        shape.algorithm = YOKE_ALGORITHM_LINEAR;
    return shape;
}

/* What one explanation speaks of. */
typedef struct plan {
    const yoke_topology_t *topology;
    yoke_collective_t collective;
    uint64_t size;
    const yoke_choice_t *choice;
    uint64_t *bytes; /* [from * n + to] */
    int n;
} plan_t;

static double seconds_of(const plan_t *plan, int from, int to, uint64_t bytes)
{
    double rate = yoke_topology_bandwidth(plan->topology, from, to);
    double time = yoke_topology_latency(plan->topology, from, to);
    return rate > 0 ? time + (double)bytes / rate : time;
}

static uint64_t island_bytes(const plan_t *plan, int level, int group)
{
    uint64_t bytes = 0;
    for (int a = 0; a < plan->n; a++)
        for (int b = 0; b < plan->n; b++)
            if (yoke_topology_group_of(plan->topology, level, a) == group &&
                yoke_topology_group_of(plan->topology, level, b) != group)
                bytes += plan->bytes[a * plan->n + b];
    return bytes;
}

static int level_count(const plan_t *plan)
{
    return yoke_topology_levels(plan->topology);
}

/* --- text
 * --------------------------------------------------------------------------------- */

static void say_ranks(const plan_t *plan, int level, int group, yoke_text_t *out)
{
    const char *comma = "";
    for (int r = 0; r < plan->n; r++) {
        int last = r;
        if (yoke_topology_group_of(plan->topology, level, r) != group)
            continue;
        while (last + 1 < plan->n &&
               yoke_topology_group_of(plan->topology, level, last + 1) == group)
            last++;
        yoke_text_printf(out, last > r ? "%s%d-%d" : "%s%d", comma, r, last);
        comma = ",";
        r = last;
    }
}

static void say_groups(const plan_t *plan, yoke_text_t *out)
{
    static const char *const headers[] = {"level", "~ranks", ">sends out", ">uplink",
                                          ">busy"};
    yoke_table_t *table = yoke_table_new(headers, 5);
    for (int l = 0; l < level_count(plan); l++)
        for (int g = 0; g < yoke_topology_groups(plan->topology, l); g++) {
            char bytes[32], rate[32], time[32];
            yoke_text_t ranks = {0};
            uint64_t sent = island_bytes(plan, l, g);
            double uplink = yoke_topology_group_uplink(plan->topology, l, g);
            say_ranks(plan, l, g, &ranks);
            if (l == 0)
                yoke_table_cellf(table, "island %d", g);
            else
                yoke_table_cellf(table, "level %d, group %d", l, g);
            yoke_table_cell(table, yoke_text_get(&ranks));
            yoke_table_cell(table, yoke_show_bytes((double)sent, bytes));
            yoke_table_cell(table, yoke_show_rate(uplink, "B/s", rate));
            yoke_table_cell(table, yoke_show_seconds((double)sent / uplink, time));
            yoke_text_free(&ranks);
        }
    yoke_table_print(table, 80, 2, out);
    yoke_table_free(table);
}

static void say_pairs(const plan_t *plan, yoke_text_t *out)
{
    static const char *const headers[] = {"link", ">bytes", ">rate", ">latency", ">time"};
    yoke_table_t *table = yoke_table_new(headers, 5);
    for (int a = 0; a < plan->n; a++)
        for (int b = 0; b < plan->n; b++) {
            char bytes[32], rate[32], latency[32], time[32];
            uint64_t sent = plan->bytes[a * plan->n + b];
            if (sent == 0)
                continue;
            yoke_table_cellf(table, "%d -> %d", a, b);
            yoke_table_cell(table, yoke_show_bytes((double)sent, bytes));
            yoke_table_cell(table,
                            yoke_show_rate(yoke_topology_bandwidth(plan->topology, a, b),
                                           "B/s", rate));
            yoke_table_cell(
                table,
                yoke_show_seconds(yoke_topology_latency(plan->topology, a, b), latency));
            yoke_table_cell(table, yoke_show_seconds(seconds_of(plan, a, b, sent), time));
        }
    yoke_table_print(table, 80, 2, out);
    yoke_table_free(table);
}

static yoke_status_t as_text(const plan_t *plan, char **out_text)
{
    yoke_text_t out = {0};
    char bytes[32], time[32], chunk[32];
    int levels = level_count(plan), islands = yoke_topology_islands(plan->topology);
    yoke_text_printf(&out, "%s of %s on %d ranks: %s",
                     yoke_collective_name(plan->collective),
                     yoke_show_bytes((double)plan->size, bytes), plan->n,
                     yoke_algorithm_name(plan->choice->algorithm));
    if (plan->choice->chunk > 0)
        yoke_text_printf(&out, " in chunks of %s",
                         yoke_show_bytes((double)plan->choice->chunk, chunk));
    yoke_text_printf(&out, "\npredicted time: %s\n",
                     yoke_show_seconds(plan->choice->predicted, time));
    yoke_text_printf(&out, "links: %s\n", yoke_topology_source(plan->topology));
    if (levels == 0)
        yoke_text_printf(&out, "islands: all links are alike\n");
    else {
        yoke_text_printf(&out, "islands: %d, in %d level%s\n", islands, levels,
                         levels > 1 ? "s" : "");
        say_groups(plan, &out);
    }
    if (plan->n <= MOST_PAIRS)
        say_pairs(plan, &out);
    char *text = out.failed ? NULL : yoke_strdup(yoke_text_get(&out));
    yoke_text_free(&out);
    if (text == NULL)
        return yoke_fail_memory();
    *out_text = text;
    return YOKE_OK;
}

/* --- JSON
 * --------------------------------------------------------------------------------- */

static json_t *groups_to_json(const plan_t *plan, int level)
{
    json_t *groups = json_array();
    for (int g = 0; g < yoke_topology_groups(plan->topology, level); g++) {
        json_t *group = json_object(), *ranks = json_array();
        uint64_t sent = island_bytes(plan, level, g);
        double uplink = yoke_topology_group_uplink(plan->topology, level, g);
        for (int r = 0; r < plan->n; r++)
            if (yoke_topology_group_of(plan->topology, level, r) == g)
                json_array_append_new(ranks, json_integer(r));
        json_object_set_new(group, "ranks", ranks);
        json_object_set_new(group, "bytes_out", json_integer((json_int_t)sent));
        if (uplink < 1e300) {
            json_object_set_new(group, "uplink", json_real(uplink));
            json_object_set_new(group, "seconds", json_real((double)sent / uplink));
        }
        json_array_append_new(groups, group);
    }
    return groups;
}

static json_t *links_to_json(const plan_t *plan)
{
    json_t *links = json_array();
    for (int a = 0; a < plan->n; a++)
        for (int b = 0; b < plan->n; b++) {
            uint64_t sent = plan->bytes[a * plan->n + b];
            if (a == b)
                continue;
            json_t *link = json_object();
            json_object_set_new(link, "from", json_integer(a));
            json_object_set_new(link, "to", json_integer(b));
            json_object_set_new(link, "bytes", json_integer((json_int_t)sent));
            json_object_set_new(link, "rate",
                                json_real(yoke_topology_bandwidth(plan->topology, a, b)));
            json_object_set_new(link, "latency",
                                json_real(yoke_topology_latency(plan->topology, a, b)));
            json_object_set_new(link, "seconds",
                                json_real(sent > 0 ? seconds_of(plan, a, b, sent) : 0));
            json_array_append_new(links, link);
        }
    return links;
}

static yoke_status_t as_json(const plan_t *plan, char **out_text)
{
    json_t *root = json_object(), *levels = json_array();
    for (int l = 0; l < level_count(plan); l++)
        json_array_append_new(levels, groups_to_json(plan, l));
    json_object_set_new(root, "collective",
                        json_string(yoke_collective_name(plan->collective)));
    json_object_set_new(root, "size", json_integer((json_int_t)plan->size));
    json_object_set_new(root, "ranks", json_integer(plan->n));
    json_object_set_new(root, "algorithm",
                        json_string(yoke_algorithm_name(plan->choice->algorithm)));
    json_object_set_new(root, "chunk", json_integer((json_int_t)plan->choice->chunk));
    json_object_set_new(root, "seconds", json_real(plan->choice->predicted));
    json_object_set_new(root, "source",
                        json_string(yoke_topology_source(plan->topology)));
    json_object_set_new(root, "islands",
                        json_integer(yoke_topology_islands(plan->topology)));
    json_object_set_new(root, "levels", levels);
    json_object_set_new(root, "links", links_to_json(plan));
    *out_text = root != NULL ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    return *out_text != NULL ? YOKE_OK : yoke_fail_memory();
}

yoke_status_t yoke_collective_explain(const yoke_topology_t *topology,
                                      yoke_collective_t collective, uint64_t size,
                                      const yoke_choice_t *choice, bool json,
                                      char **out_text)
{
    plan_t plan = {topology, collective, size, choice, NULL, 0};
    plan.n = yoke_topology_size(topology);
    plan.bytes = calloc((size_t)plan.n * (size_t)plan.n, sizeof *plan.bytes);
    if (plan.bytes == NULL)
        return yoke_fail_memory();
    yoke_shape_t shape = yoke_explain_shape(topology, collective, size, choice);
    yoke_status_t status = yoke_traffic_count(&shape, plan.bytes);
    if (status == YOKE_OK)
        status = json ? as_json(&plan, out_text) : as_text(&plan, out_text);
    free(plan.bytes);
    return status;
}
