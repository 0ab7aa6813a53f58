/* SPDX-License-Identifier: Apache-2.0 */
/* Which algorithm a call takes. Every rank of a call must come to the same answer: only
 * what all ranks know alike goes into it. */

#include "ucx_comm/comm/route.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

static yoke_status_t unknown_algorithm(const char *where, const char *name)
{
    yoke_text_t known = {0};
    for (int i = 1; i < YOKE_ALGORITHM_COUNT; i++)
        yoke_text_printf(&known, "%s%s", i > 1 ? ", " : "",
                         yoke_algorithm_name((yoke_algorithm_t)i));
    yoke_status_t status =
        yoke_fail(YOKE_ERR_USAGE, "%s: no algorithm is called '%s'; there are auto, %s",
                  where, name, yoke_text_get(&known));
    yoke_text_free(&known);
    return status;
}

/* "ring", or "all-reduce=ring,broadcast=knomial" */
static yoke_status_t take_setting(char *part, yoke_algorithm_t *forced)
{
    static const char where[] = "YOKE_COMM_ALGORITHM";
    char *equals = strchr(part, '=');
    yoke_algorithm_t algorithm;
    const char *name = equals != NULL ? equals + 1 : part;
    if (!yoke_algorithm_parse(name, &algorithm))
        return unknown_algorithm(where, name);
    if (equals == NULL) {
        for (int i = 0; i < YOKE_COLLECTIVE_COUNT; i++)
            forced[i] = algorithm;
        return YOKE_OK;
    }
    *equals = '\0';
    yoke_collective_t collective;
    if (!yoke_collective_parse(part, &collective))
        return yoke_fail(YOKE_ERR_USAGE, "%s: no collective is called '%s'", where, part);
    forced[collective] = algorithm;
    return YOKE_OK;
}

yoke_status_t yoke_choose_settings(yoke_algorithm_t forced[YOKE_COLLECTIVE_COUNT])
{
    const char *value = getenv("YOKE_COMM_ALGORITHM");
    memset(forced, 0, YOKE_COLLECTIVE_COUNT * sizeof *forced);
    if (value == NULL || value[0] == '\0')
        return YOKE_OK;
    char *copy = yoke_strdup(value);
    if (copy == NULL)
        return yoke_fail_memory();
    yoke_status_t status = YOKE_OK;
    char *rest = NULL;
    for (char *part = strtok_r(copy, ",", &rest); part != NULL && status == YOKE_OK;
         part = strtok_r(NULL, ",", &rest))
        status = take_setting(part, forced);
    free(copy);
    return status;
}

/* Types whose sums lose digits when they travel: they are added up where all inputs of an
 * element meet, and rounded once. */
static bool is_narrow(yoke_element_t element)
{
    return element == YOKE_ELEMENT_F16 || element == YOKE_ELEMENT_BF16 ||
           element == YOKE_ELEMENT_F8E4M3 || element == YOKE_ELEMENT_F8E5M2;
}

/* Bytes as nccl-tests counts them, where all ranks know them. */
static uint64_t size_of_call(const yoke_shape_t *shape)
{
    uint64_t total = 0;
    switch (shape->collective) {
    case YOKE_COLLECTIVE_BROADCAST:
    case YOKE_COLLECTIVE_REDUCE:
    case YOKE_COLLECTIVE_ALL_REDUCE:
        return yoke_shape_bytes(shape);
    default:
        for (int i = 0; i < shape->size; i++)
            total += yoke_block_size(shape, i);
        return total;
    }
}

/* Without a topology: by size alone. */
static yoke_algorithm_t by_size(const yoke_shape_t *shape, uint64_t size)
{
    int n = shape->size;
    switch (shape->collective) {
    case YOKE_COLLECTIVE_BARRIER:
        return YOKE_ALGORITHM_KNOMIAL;
    case YOKE_COLLECTIVE_BROADCAST:
        if (n <= 2 || size <= 32768)
            return YOKE_ALGORITHM_KNOMIAL;
        return size <= 524288 ? YOKE_ALGORITHM_RABENSEIFNER : YOKE_ALGORITHM_RING;
    case YOKE_COLLECTIVE_REDUCE:
        if (n <= 2 || size <= 8192)
            return YOKE_ALGORITHM_KNOMIAL;
        return size <= 524288 ? YOKE_ALGORITHM_RABENSEIFNER : YOKE_ALGORITHM_RING;
    case YOKE_COLLECTIVE_ALL_REDUCE:
        if (size * (uint64_t)n <= 16384)
            return YOKE_ALGORITHM_BRUCK;
        return n <= 8 || size > 262144 ? YOKE_ALGORITHM_LINEAR
                                       : YOKE_ALGORITHM_RABENSEIFNER;
    case YOKE_COLLECTIVE_REDUCE_SCATTER:
        return n <= 16 ? YOKE_ALGORITHM_LINEAR : YOKE_ALGORITHM_PAIRWISE;
    case YOKE_COLLECTIVE_ALL_GATHER:
        return size <= 32768 ? YOKE_ALGORITHM_BRUCK : YOKE_ALGORITHM_RING;
    case YOKE_COLLECTIVE_GATHER:
    case YOKE_COLLECTIVE_SCATTER:
        return size <= 32768 ? YOKE_ALGORITHM_KNOMIAL : YOKE_ALGORITHM_LINEAR;
    case YOKE_COLLECTIVE_ALL_TO_ALL:
        return n > 4 && size <= 16384 ? YOKE_ALGORITHM_BRUCK : YOKE_ALGORITHM_PAIRWISE;
    default:
        return YOKE_ALGORITHM_LINEAR;
    }
}

static bool rounds_on_the_way(yoke_algorithm_t algorithm)
{
    switch (algorithm) {
    case YOKE_ALGORITHM_SHARED:
    case YOKE_ALGORITHM_LINEAR:
    case YOKE_ALGORITHM_BRUCK:
        return false;
    default:
        return true;
    }
}

static bool is_reducing(yoke_collective_t collective)
{
    return collective == YOKE_COLLECTIVE_REDUCE ||
           collective == YOKE_COLLECTIVE_ALL_REDUCE ||
           collective == YOKE_COLLECTIVE_REDUCE_SCATTER;
}

static void choose_freely(const yoke_comm_t *comm, bool v_form, yoke_shape_t *shape)
{
    /* Nobody knows the sizes of an all-to-all-v but the two ends of each message. */
    bool unknown = v_form && shape->collective == YOKE_COLLECTIVE_ALL_TO_ALL;
    uint64_t size = unknown ? 0 : size_of_call(shape);
    shape->algorithm = unknown ? YOKE_ALGORITHM_PAIRWISE : by_size(shape, size);
    if (comm->topology != NULL && !unknown) {
        yoke_choice_t choice = {0};
        yoke_topology_choose(comm->topology, shape->collective, size, &choice);
        if (choice.algorithm != YOKE_ALGORITHM_AUTO &&
            choice.algorithm != YOKE_ALGORITHM_SHARED &&
            choice.algorithm != YOKE_ALGORITHM_VENDOR) {
            yoke_shape_t wished = *shape;
            wished.algorithm = choice.algorithm;
            wished.radix = choice.radix;
            wished.chunk = choice.chunk;
            if (yoke_builder_find(&wished) != NULL)
                *shape = wished;
        }
    }
    if (is_reducing(shape->collective) && is_narrow(shape->element) &&
        rounds_on_the_way(shape->algorithm))
        shape->algorithm = YOKE_ALGORITHM_LINEAR;
    if (yoke_builder_find(shape) == NULL)
        shape->algorithm = YOKE_ALGORITHM_LINEAR;
}

yoke_status_t yoke_call_choose(const yoke_comm_t *comm, const char *name, bool v_form,
                               yoke_shape_t *shape, yoke_route_t *out_route)
{
    yoke_algorithm_t wish = comm->forced[shape->collective];
    *out_route = YOKE_ROUTE_ENGINE;
    if (shape->collective == YOKE_COLLECTIVE_SEND_RECV) {
        shape->algorithm = YOKE_ALGORITHM_LINEAR;
        return YOKE_OK;
    }
    if (name != NULL && !yoke_algorithm_parse(name, &wish))
        return unknown_algorithm("yoke_comm_call_t.algorithm", name);
    bool vendor = yoke_route_can(comm, v_form, shape);
    if (wish == YOKE_ALGORITHM_AUTO)
        vendor = vendor && yoke_route_wanted(comm, size_of_call(shape));
    if (vendor && (wish == YOKE_ALGORITHM_AUTO || wish == YOKE_ALGORITHM_VENDOR)) {
        shape->algorithm = YOKE_ALGORITHM_VENDOR;
        *out_route = YOKE_ROUTE_VENDOR;
        return YOKE_OK;
    }
    bool shared = comm->shared != NULL;
    if (wish == YOKE_ALGORITHM_SHARED || (wish == YOKE_ALGORITHM_AUTO && shared)) {
        if (shared) {
            shape->algorithm = YOKE_ALGORITHM_SHARED;
            *out_route = YOKE_ROUTE_SHARED;
            return YOKE_OK;
        }
        if (name != NULL)
            return yoke_fail(YOKE_ERR_UNSUPPORTED,
                             "algorithm shared: the ranks do not share one memory");
    }
    if (wish != YOKE_ALGORITHM_AUTO && wish != YOKE_ALGORITHM_SHARED) {
        shape->algorithm = wish;
        if (yoke_builder_find(shape) != NULL)
            return YOKE_OK;
        /* A setting that is for other collectives leaves this one alone. */
        if (name != NULL)
            return yoke_fail(YOKE_ERR_UNSUPPORTED,
                             "algorithm %s does not do this %s; docs/comm.md lists which "
                             "does what",
                             name, yoke_collective_name(shape->collective));
    }
    choose_freely(comm, v_form, shape);
    return YOKE_OK;
}
