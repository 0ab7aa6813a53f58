/* SPDX-License-Identifier: Apache-2.0 */
/* --gather: one rank of each host probes, rank 0 merges and prints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "tools/inventory_parts.h"
#include "tools/inventory_ranks.h"

#define DEFAULT_TIMEOUT 60.0 /* for the slowest rank to start, probe and send */

static double gather_timeout(void)
{
    const char *text = getenv("YOKE_GATHER_TIMEOUT");
    double value = 0;
    if (text == NULL || yoke_parse_quantity(text, &value) != YOKE_OK || !(value > 0) ||
        value > 86400)
        return DEFAULT_TIMEOUT;
    return value;
}

static yoke_status_t probe_part(const yoke_args_t *args, gather_part_t *part,
                                inventory_result_t *result)
{
    yoke_status_t status = yoke_inventory_from_machine(args, result);
    if (status == YOKE_OK)
        status = yoke_inventory_text(result->inventory, &part->document);
    yoke_inventory_free(result->inventory);
    result->inventory = NULL;
    return status;
}

static void free_parts(gather_part_t *parts, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        free(parts[i].host);
        free(parts[i].document);
    }
    free(parts);
}

/* Names the ranks that never came. */
static bool tell_missing(const gather_part_t *parts, unsigned size, double timeout)
{
    yoke_text_t list = {0};
    for (unsigned i = 1; i < size; i++)
        if (!parts[i].came)
            yoke_text_printf(&list, "%s%u", list.size > 0 ? ", " : "", i);
    bool any = list.size > 0;
    if (any)
        fprintf(
            stderr,
            "yoke inventory: rank %s did not report within %g s; the result is partial\n",
            yoke_text_get(&list), timeout);
    yoke_text_free(&list);
    return any;
}

static yoke_status_t merge_parts(const yoke_args_t *args, const gather_part_t *parts,
                                 unsigned size, inventory_result_t *out)
{
    yoke_inventory_t **documents = calloc(size + 1, sizeof *documents);
    size_t count = 0;
    yoke_status_t status = documents != NULL ? YOKE_OK : yoke_fail_memory();
    for (unsigned i = 0; i < size && status == YOKE_OK; i++) {
        if (parts[i].document == NULL || parts[i].document[0] == '\0')
            continue;
        char *name = yoke_format("rank %u (%s)", i, parts[i].host);
        status = name == NULL
                     ? yoke_fail_memory()
                     : yoke_inventory_parse(name, parts[i].document,
                                            strlen(parts[i].document), &documents[count]);
        free(name);
        if (status == YOKE_OK)
            count++;
    }
    if (status == YOKE_OK)
        status = yoke_inventory_combine(documents, count, yoke_args_value(args, "expect"),
                                        false, out);
    for (size_t i = 0; i < count; i++) {
        out->partial = out->partial || yoke_inventory_has_fault(documents[i]);
        yoke_inventory_free(documents[i]);
    }
    free(documents);
    return status;
}

yoke_status_t yoke_inventory_from_ranks(const yoke_args_t *args, inventory_result_t *out)
{
    gather_rank_t rank;
    char host[256] = "unknown";
    double timeout = gather_timeout();
    yoke_status_t status = gather_rank_find(yoke_args_value(args, "rendezvous"), &rank);
    if (status != YOKE_OK)
        return status;
    gather_part_t *parts = calloc(rank.size, sizeof *parts);
    gather_part_t *own = parts != NULL ? &parts[rank.rank] : NULL;
    gethostname(host, sizeof host - 1);
    if (own == NULL || (own->host = yoke_strdup(host)) == NULL)
        status = yoke_fail_memory();
    /* Ranks of one host see one machine: the first of them speaks for all. */
    if (status == YOKE_OK && rank.local_rank <= 0)
        status = probe_part(args, own, out);
    if (status == YOKE_OK && rank.rank > 0)
        status = gather_send(&rank, timeout, own);
    if (status == YOKE_OK && rank.rank == 0) {
        own->came = true;
        out->partial = false;
        status = gather_receive(&rank, timeout, parts);
        if (status == YOKE_OK)
            out->partial = tell_missing(parts, rank.size, timeout);
        if (status == YOKE_OK)
            status = merge_parts(args, parts, rank.size, out);
    }
    if (parts != NULL)
        free_parts(parts, rank.size);
    gather_rank_free(&rank);
    return status;
}
