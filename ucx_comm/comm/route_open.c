/* SPDX-License-Identifier: Apache-2.0 */
/* The islands of a communicator, and their libraries' communicators. */

#include "ucx_comm/comm/route_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "ucx_comm/control/settings.h"
#include "ucx_comm/vendor/islands.h"

#define ID_MOST 8192             /* bytes of any library's id */
#define EPOCH_LEADERS (1u << 30) /* splits and shrinks have others */
#define ROUNDS 3                 /* of each size that is timed; the best counts */

const uint64_t yoke_route_sizes[ROUTE_SIZES] = {1024, 65536, 4194304};
static const char *const mode_names[] = {"auto", "never", "always"};

const char *yoke_route_mode_name(yoke_vendor_mode_t mode)
{
    return mode_names[mode];
}

yoke_status_t yoke_route_setting(yoke_vendor_mode_t *out_mode)
{
    const char *value = getenv("YOKE_COMM_VENDOR");
    *out_mode = YOKE_VENDOR_NEVER;
    if (value == NULL || value[0] == '\0')
        return YOKE_OK;
    for (int i = 0; i < 3; i++)
        if (strcmp(value, mode_names[i]) == 0) {
            *out_mode = (yoke_vendor_mode_t)i;
            return YOKE_OK;
        }
    return yoke_fail(YOKE_ERR_BAD_INPUT,
                     "YOKE_COMM_VENDOR is '%s': it is never, always or auto", value);
}

/* Libraries that work on host memory wait in the call, where no deadline reaches. */
static bool is_usable(const yoke_rank_device_t *device)
{
    return device->library[0] != '\0' && strcmp(device->runtime, "host") != 0;
}

static yoke_status_t find_islands(yoke_comm_t *comm, yoke_vendors_t *vendors)
{
    vendors->group = calloc((size_t)comm->size, sizeof(int));
    vendors->leader = calloc((size_t)comm->size, sizeof(int));
    yoke_vendor_member_t *members = calloc((size_t)comm->size, sizeof *members);
    if (vendors->group == NULL || vendors->leader == NULL || members == NULL) {
        free(members);
        return yoke_fail_memory();
    }
    for (int r = 0; r < comm->size; r++) {
        const yoke_rank_device_t *device = yoke_topology_device(comm->topology, r);
        members[r] = (yoke_vendor_member_t){device->vendor,
                                            is_usable(device) ? device->library : "",
                                            device->library_version, 0};
    }
    vendors->groups =
        yoke_vendor_islands(members, comm->size, vendors->group, vendors->leader);
    free(members);
    for (int r = 0; r < comm->size; r++)
        if (vendors->group[r] == vendors->group[comm->rank]) {
            vendors->place += r < comm->rank;
            vendors->members++;
        }
    return YOKE_OK;
}

/* YOKE_OK where all have it; else the first rank's that has not, and its sentence. */
static yoke_status_t agree(yoke_comm_t *comm, yoke_status_t mine, const char *what)
{
    typedef struct verdict {
        int32_t status;
        char text[252];
    } verdict_t;
    verdict_t own = {.status = (int32_t)mine};
    if (mine != YOKE_OK)
        snprintf(own.text, sizeof own.text, "%s", yoke_last_error());
    verdict_t *all = calloc((size_t)comm->size, sizeof *all);
    if (all == NULL)
        return yoke_fail_memory();
    /* Others may still be at what takes up to the set-up time. */
    yoke_status_t status = yoke_control_all_gather(comm->control, &own, sizeof own, all,
                                                   2 * comm->setup_timeout_ms);
    for (int r = 0; status == YOKE_OK && r < comm->size; r++)
        if (all[r].status != YOKE_OK)
            status = yoke_fail((yoke_status_t)all[r].status, "%s, rank %d: %s", what, r,
                               all[r].text);
    free(all);
    return status;
}

/* What this rank's library can do, a bit for each reduction. */
static void list_abilities(const yoke_vendors_t *vendors,
                           uint8_t can[YOKE_COLLECTIVE_COUNT][YOKE_ELEMENT_COUNT])
{
    if (vendors->members == 1) {
        memset(can, 0xff, sizeof(uint8_t[YOKE_COLLECTIVE_COUNT][YOKE_ELEMENT_COUNT]));
        return;
    }
    for (int c = 0; c < YOKE_COLLECTIVE_COUNT; c++)
        for (int e = 0; e < YOKE_ELEMENT_COUNT; e++)
            for (int r = YOKE_REDUCE_SUM; r <= YOKE_REDUCE_AVG; r++)
                if (yoke_vendor_can(vendors->vendor, (yoke_collective_t)c,
                                    (yoke_element_t)e, (yoke_reduction_t)r, NULL))
                    can[c][e] |= (uint8_t)(1u << r);
    if (vendors->groups == 1)
        return;
    for (int e = 0; e < YOKE_ELEMENT_COUNT; e++) /* its two halves */
        can[YOKE_COLLECTIVE_ALL_REDUCE][e] =
            can[YOKE_COLLECTIVE_BROADCAST][e] != 0 ? can[YOKE_COLLECTIVE_REDUCE][e] : 0;
}

static yoke_status_t gather_abilities(yoke_comm_t *comm, yoke_vendors_t *vendors)
{
    uint8_t mine[YOKE_COLLECTIVE_COUNT][YOKE_ELEMENT_COUNT] = {{0}};
    list_abilities(vendors, mine);
    uint8_t *all = calloc((size_t)comm->size, sizeof mine);
    if (all == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_control_all_gather(comm->control, mine, sizeof mine, all,
                                                   comm->setup_timeout_ms);
    memset(vendors->can, 0xff, sizeof vendors->can);
    uint8_t *can = &vendors->can[0][0];
    for (size_t i = 0; i < (size_t)comm->size * sizeof mine; i++)
        can[i % sizeof mine] &= all[i];
    free(all);
    return status;
}

/* The id of this rank's island from its leader. */
static yoke_status_t gather_id(yoke_comm_t *comm, yoke_vendors_t *vendors,
                               uint8_t id[ID_MOST])
{
    int leader = vendors->leader[vendors->group[comm->rank]];
    yoke_status_t made = YOKE_OK;
    uint8_t *all = calloc((size_t)comm->size + 1, ID_MOST);
    if (all == NULL)
        return yoke_fail_memory();
    uint8_t *mine = all + (size_t)comm->size * ID_MOST;
    if (vendors->members > 1 && yoke_vendor_id_size(vendors->vendor) > ID_MOST)
        made = yoke_fail(YOKE_ERR_UNSUPPORTED, "an id of %zu bytes, more than %d",
                         yoke_vendor_id_size(vendors->vendor), ID_MOST);
    else if (vendors->members > 1 && leader == comm->rank)
        made = yoke_vendor_make_id(vendors->vendor, comm->device, mine);
    yoke_status_t status = agree(comm, made, "the vendor library's id");
    if (status == YOKE_OK)
        status = yoke_control_all_gather(comm->control, mine, ID_MOST, all,
                                         comm->setup_timeout_ms);
    memcpy(id, all + (size_t)leader * ID_MOST, ID_MOST);
    free(all);
    return status;
}

static yoke_status_t join_island(yoke_comm_t *comm, yoke_vendors_t *vendors,
                                 const uint8_t *id)
{
    if (vendors->members == 1)
        return YOKE_OK;
    yoke_status_t status = yoke_vendor_comm_create_within(
        vendors->vendor, comm->device, id, vendors->members, vendors->place,
        comm->setup_timeout_ms, &vendors->island);
    if (status == YOKE_OK)
        status = yoke_queue_create(comm->device, NULL, &vendors->queue);
    if (status == YOKE_OK)
        status = yoke_event_create(comm->device, 0, &vendors->event);
    return status;
}

static yoke_status_t join_leaders(yoke_comm_t *comm, yoke_vendors_t *vendors)
{
    yoke_control_t *control = NULL;
    if (vendors->groups == 1 || vendors->leader[vendors->group[comm->rank]] != comm->rank)
        return YOKE_OK;
    yoke_status_t status = yoke_control_create_from(
        comm->control, vendors->leader, vendors->groups, EPOCH_LEADERS, &control);
    if (status != YOKE_OK)
        return status;
    yoke_comm_options_t options = yoke_comm_inherited(comm);
    options.device = NULL;
    options.flags = YOKE_COMM_PLAIN;
    return yoke_comm_open(control, &options, &vendors->leaders);
}

static yoke_status_t open_parts(yoke_comm_t *comm, yoke_vendors_t *vendors)
{
    uint8_t id[ID_MOST];
    yoke_status_t status = YOKE_OK;
    if (vendors->members > 1)
        status = yoke_vendor_load(
            yoke_topology_device(comm->topology, comm->rank)->runtime, &vendors->vendor);
    status = agree(comm, status, "the vendor library");
    if (status == YOKE_OK)
        status = gather_abilities(comm, vendors);
    if (status == YOKE_OK)
        status = gather_id(comm, vendors, id);
    if (status != YOKE_OK)
        return status;
    status = agree(comm, join_island(comm, vendors, id), "the vendor library's set-up");
    if (status == YOKE_OK)
        status = agree(comm, join_leaders(comm, vendors), "the leaders of the islands");
    return status;
}

static bool has_devices(const yoke_comm_t *comm)
{
    for (int r = 0; r < comm->size; r++)
        if (yoke_topology_device(comm->topology, r)->runtime[0] != '\0')
            return true;
    return false;
}

yoke_status_t yoke_route_open(yoke_comm_t *comm)
{
    if (comm->mode == YOKE_VENDOR_NEVER || comm->topology == NULL || !has_devices(comm))
        return YOKE_OK;
    yoke_vendors_t *vendors = calloc(1, sizeof *vendors);
    if (vendors == NULL)
        return yoke_fail_memory();
    comm->vendors = vendors;
    yoke_status_t status = find_islands(comm, vendors);
    if (status == YOKE_OK && vendors->groups == comm->size) {
        yoke_route_close(comm);
        return comm->mode == YOKE_VENDOR_AUTO
                   ? YOKE_OK
                   : yoke_fail(YOKE_ERR_UNSUPPORTED,
                               "YOKE_COMM_VENDOR is always, but no two ranks have "
                               "devices and a version of a vendor's library alike");
    }
    if (status == YOKE_OK)
        status = open_parts(comm, vendors);
    if (status == YOKE_OK)
        return YOKE_OK;
    vendors->failed = true;
    yoke_route_close(comm);
    if (comm->mode == YOKE_VENDOR_ALWAYS || yoke_comm_usable(comm) != YOKE_OK)
        return status;
    if (comm->rank == 0)
        yoke_log(YOKE_LOG_WARNING,
                 "%s; the vendors' libraries are not used (YOKE_COMM_VENDOR=never does "
                 "not try)",
                 yoke_last_error());
    return YOKE_OK;
}

/* --- auto
 * ------------------------------------------------------------------------------ */

static double time_one(yoke_comm_t *comm, const yoke_call_t *call, yoke_status_t *status)
{
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    *status = yoke_call_make(comm, call, NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    return (double)(after.tv_sec - before.tv_sec) +
           (double)(after.tv_nsec - before.tv_nsec) * 1e-9;
}

/* times[0]: by the library, times[1]: without; one size, on this rank */
static yoke_status_t time_size(yoke_comm_t *comm, const yoke_comm_buffer_t *places,
                               uint64_t size, double times[2])
{
    yoke_status_t status = YOKE_OK;
    yoke_call_t call;
    memset(&call, 0, sizeof call);
    call.shape.collective = YOKE_COLLECTIVE_ALL_REDUCE;
    call.shape.element = YOKE_ELEMENT_F32;
    call.shape.count = size / 4;
    call.send = places[0];
    call.recv = places[1];
    status = yoke_call_check(comm, &call, NULL, "yoke_comm");
    times[0] = times[1] = 1e9;
    for (int i = 0; i < 2 * ROUNDS && status == YOKE_OK; i++) {
        comm->vendors->off = i % 2 == 1;
        double seconds = time_one(comm, &call, &status);
        if (seconds < times[i % 2])
            times[i % 2] = seconds;
    }
    comm->vendors->off = false;
    return status;
}

static yoke_status_t make_places(yoke_comm_t *comm, uint64_t size, yoke_buffer_t **memory,
                                 void **host, yoke_comm_buffer_t *places)
{
    yoke_status_t status = YOKE_OK;
    for (int i = 0; i < 2 && status == YOKE_OK; i++)
        if (comm->device == NULL) {
            host[i] = calloc(1, size);
            places[i] = yoke_comm_host(host[i]);
            status = host[i] != NULL ? YOKE_OK : yoke_fail_memory();
        } else {
            status =
                yoke_buffer_create(comm->device, YOKE_MEMORY_DEVICE, size, &memory[i]);
            places[i] = yoke_comm_span(memory[i], 0);
        }
    return status;
}

/* The slowest rank's figures decide. */
static yoke_status_t compare_times(yoke_comm_t *comm, double times[ROUTE_SIZES][2])
{
    typedef double times_t[ROUTE_SIZES][2];
    times_t *all = calloc((size_t)comm->size, sizeof *all);
    if (all == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_control_all_gather(comm->control, times, sizeof *all, all,
                                                   comm->setup_timeout_ms);
    for (int i = 0; i < ROUTE_SIZES; i++) {
        double slowest[2] = {0, 0};
        for (int r = 0; r < comm->size; r++)
            for (int way = 0; way < 2; way++)
                if (all[r][i][way] > slowest[way])
                    slowest[way] = all[r][i][way];
        comm->vendors->faster[i] = slowest[0] < slowest[1];
    }
    free(all);
    return status;
}

yoke_status_t yoke_route_measure(yoke_comm_t *comm)
{
    yoke_vendors_t *vendors = comm->vendors;
    yoke_shape_t shape = {.collective = YOKE_COLLECTIVE_ALL_REDUCE,
                          .element = YOKE_ELEMENT_F32,
                          .count = 1};
    if (vendors == NULL || comm->mode != YOKE_VENDOR_AUTO)
        return YOKE_OK;
    for (int i = 0; i < ROUTE_SIZES; i++)
        vendors->faster[i] = true; /* or else the libraries would not be asked */
    if (!yoke_route_can(comm, false, &shape))
        return YOKE_OK;
    double times[ROUTE_SIZES][2];
    yoke_buffer_t *memory[2] = {NULL, NULL};
    void *host[2] = {NULL, NULL};
    yoke_comm_buffer_t places[2];
    uint64_t most = yoke_route_sizes[ROUTE_SIZES - 1];
    yoke_status_t status = make_places(comm, most, memory, host, places);
    for (int i = 0; i < ROUTE_SIZES && status == YOKE_OK; i++)
        status = time_size(comm, places, yoke_route_sizes[i], times[i]);
    if (status == YOKE_OK)
        status = compare_times(comm, times);
    for (int i = 0; i < 2; i++) {
        yoke_buffer_destroy(memory[i]);
        free(host[i]);
    }
    return status;
}

void yoke_route_close(yoke_comm_t *comm)
{
    yoke_vendors_t *vendors = comm->vendors;
    comm->vendors = NULL;
    if (vendors == NULL)
        return;
    yoke_comm_destroy(vendors->leaders);
    /* What was left waiting cannot be ended by some libraries: then its queue and memory
     * stay with the process. */
    bool stuck = vendors->aborted && !yoke_vendor_can_abort(vendors->vendor);
    if (vendors->failed && vendors->island != NULL)
        yoke_vendor_comm_abort(vendors->island);
    yoke_vendor_comm_destroy(vendors->island);
    if (!stuck) {
        yoke_event_destroy(vendors->event);
        yoke_queue_destroy(vendors->queue);
        for (int i = 0; i < 2; i++)
            yoke_buffer_destroy(vendors->memory[i]);
    }
    free(vendors->group);
    free(vendors->leader);
    free(vendors);
}
