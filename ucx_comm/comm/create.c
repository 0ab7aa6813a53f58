/* SPDX-License-Identifier: Apache-2.0 */
/* Making and ending a communicator. */

#include "ucx_comm/comm/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ucx_comm/comm/route.h"
#include "ucx_comm/control/settings.h"
#include "ucx_comm/vendor/vendor.h"

static yoke_status_t check_options(const yoke_comm_options_t *options, const char *name)
{
    if (options != NULL && options->struct_size < sizeof *options)
        return yoke_fail(YOKE_ERR_USAGE,
                         "%s: yoke_comm_options_t.struct_size is %zu, not %zu", name,
                         options->struct_size, sizeof *options);
    if (options != NULL && (options->flags & ~(YOKE_COMM_CHECK | YOKE_COMM_THREAD)) != 0)
        return yoke_fail(YOKE_ERR_USAGE, "%s: unknown bits in flags: 0x%x", name,
                         options->flags);
    return YOKE_OK;
}

static yoke_status_t check_place(int size, int rank, const char *name)
{
    if (size < 1 || rank < 0 || rank >= size)
        return yoke_fail(YOKE_ERR_USAGE, "%s: rank %d of %d: a rank is 0 to size - 1",
                         name, rank, size);
    return YOKE_OK;
}

/* What all ranks must have alike, and what all must know. */
typedef struct terms {
    uint32_t checks;
    uint32_t algorithms; /* a hash of YOKE_COMM_ALGORITHM */
    uint32_t vendors;    /* YOKE_COMM_VENDOR */
} terms_t;

static yoke_status_t compare_terms(yoke_comm_t *comm)
{
    terms_t mine = {comm->flags & YOKE_COMM_CHECK, 2166136261u, (uint32_t)comm->mode};
    for (int i = 0; i < YOKE_COLLECTIVE_COUNT; i++)
        mine.algorithms = (mine.algorithms ^ (uint32_t)comm->forced[i]) * 16777619u;
    terms_t *all = calloc((size_t)comm->size, sizeof *all);
    if (all == NULL)
        return yoke_fail_memory();
    yoke_status_t status = yoke_control_all_gather(comm->control, &mine, sizeof mine, all,
                                                   comm->setup_timeout_ms);
    for (int r = 1; status == YOKE_OK && r < comm->size; r++) {
        if (all[r].checks != all[0].checks)
            status = yoke_fail(
                YOKE_ERR_MISMATCH, "rank 0 has YOKE_COMM_CHECK %s, rank %d has it %s",
                all[0].checks ? "on" : "off", r, all[r].checks ? "on" : "off");
        else if (all[r].algorithms != all[0].algorithms)
            status = yoke_fail(YOKE_ERR_MISMATCH,
                               "YOKE_COMM_ALGORITHM of rank %d is not that of rank 0", r);
        else if (all[r].vendors != all[0].vendors)
            status = yoke_fail(
                YOKE_ERR_MISMATCH, "YOKE_COMM_VENDOR is %s on rank 0 and %s on rank %d",
                yoke_route_mode_name((yoke_vendor_mode_t)all[0].vendors),
                yoke_route_mode_name((yoke_vendor_mode_t)all[r].vendors), r);
    }
    free(all);
    return status;
}

static yoke_status_t take_options(yoke_comm_t *comm, const yoke_comm_options_t *options)
{
    yoke_control_settings_t settings;
    yoke_status_t status = yoke_control_settings_read(options, &settings);
    if (status != YOKE_OK)
        return status;
    comm->timeout_ms = settings.timeout_ms;
    comm->setup_timeout_ms = settings.setup_timeout_ms;
    memcpy(comm->interface, settings.interface, sizeof comm->interface);
    if (options != NULL) {
        comm->flags = options->flags;
        comm->device = options->device;
    }
    yoke_vendor_mode_t mode = YOKE_VENDOR_NEVER;
    if ((comm->flags & YOKE_COMM_PLAIN) == 0)
        status = yoke_route_setting(&mode);
    comm->mode = (int)mode;
    return status == YOKE_OK ? yoke_choose_settings(comm->forced) : status;
}

static yoke_status_t open_shared(yoke_comm_t *comm)
{
    uint64_t size = yoke_shared_size(comm->size);
    if (size == 0)
        return YOKE_OK; /* too many ranks: messages serve them */
    yoke_status_t status = yoke_arena_create(comm->control, size, &comm->arena);
    if (status != YOKE_OK || !yoke_arena_is_whole(comm->arena))
        return status;
    int pids[YOKE_SHARED_RANKS];
    for (int rank = 0; rank < comm->size; rank++)
        pids[rank] = yoke_control_peer(comm->control, rank)->pid;
    yoke_shared_place_t place = {.base = yoke_arena_base(comm->arena),
                                 .ranks = comm->size,
                                 .index = comm->rank,
                                 .state = yoke_control_state(comm->control),
                                 .pids =
                                     yoke_arena_single_copy(comm->arena) ? pids : NULL};
    return yoke_shared_create(&place, &comm->shared);
}

/* What the other ranks are to know of this one's device. */
static yoke_rank_device_t describe(const yoke_comm_t *comm)
{
    yoke_rank_device_t mine;
    const yoke_vendor_t *vendor = NULL;
    yoke_device_info_t info = {.struct_size = sizeof info};
    memset(&mine, 0, sizeof mine);
    if (comm->device == NULL || yoke_device_info(comm->device, &info) != YOKE_OK)
        return mine;
    snprintf(mine.runtime, sizeof mine.runtime, "%s", info.backend);
    snprintf(mine.vendor, sizeof mine.vendor, "%s", info.vendor);
    snprintf(mine.name, sizeof mine.name, "%s", info.name);
    yoke_fail_quiet(true); /* many runtimes have none */
    if (yoke_vendor_load(info.backend, &vendor) == YOKE_OK) {
        snprintf(mine.library, sizeof mine.library, "%s", yoke_vendor_name(vendor));
        snprintf(mine.library_version, sizeof mine.library_version, "%s",
                 yoke_vendor_version(vendor));
    }
    yoke_fail_quiet(false);
    return mine;
}

static yoke_status_t open_topology(yoke_comm_t *comm)
{
    yoke_rank_device_t mine = describe(comm);
    return yoke_topology_create(comm->control, comm->transport, &mine, &comm->topology);
}

static yoke_status_t open_device(yoke_comm_t *comm)
{
    yoke_staging_t *staging = NULL; /* keeps the device */
    return comm->device != NULL ? yoke_comm_staging(comm, comm->device, &staging)
                                : YOKE_OK;
}

static yoke_status_t open_parts(yoke_comm_t *comm, const yoke_comm_options_t *options)
{
    yoke_status_t status = take_options(comm, options);
    if (status == YOKE_OK)
        status = compare_terms(comm);
    if (status == YOKE_OK)
        status = open_shared(comm);
    if (status == YOKE_OK)
        status = yoke_transport_create(comm->control, options, &comm->transport);
    if (status == YOKE_OK)
        status = yoke_engine_create(comm->control, comm->transport, &comm->engine);
    if (status == YOKE_OK)
        status = open_device(comm);
    if (status == YOKE_OK && comm->size > 1)
        status = open_topology(comm);
    if (status == YOKE_OK)
        status = yoke_route_open(comm);
    if (status == YOKE_OK)
        status = yoke_route_measure(comm);
    if (status == YOKE_OK && (comm->flags & YOKE_COMM_THREAD) != 0)
        status = yoke_call_thread_start(comm);
    return status;
}

yoke_status_t yoke_comm_open(yoke_control_t *control, const yoke_comm_options_t *options,
                             yoke_comm_t **out_comm)
{
    yoke_comm_t *comm = calloc(1, sizeof *comm);
    if (comm == NULL) {
        yoke_control_destroy(control);
        return yoke_fail_memory();
    }
    comm->control = control;
    comm->size = yoke_control_size(control);
    comm->rank = yoke_control_rank(control);
    comm->last = &comm->first;
    yoke_status_t status = open_parts(comm, options);
    if (status != YOKE_OK) {
        /* The others are told why they wait in vain. */
        yoke_control_revoke(control, status, yoke_last_error());
        yoke_comm_destroy(comm);
        return status;
    }
    *out_comm = comm;
    return YOKE_OK;
}

yoke_comm_options_t yoke_comm_inherited(const yoke_comm_t *comm)
{
    yoke_comm_options_t options = {.struct_size = sizeof options,
                                   .flags = comm->flags,
                                   .timeout_ms = comm->timeout_ms,
                                   .setup_timeout_ms = comm->setup_timeout_ms,
                                   .device = comm->device};
    options.interface = comm->interface[0] != '\0' ? comm->interface : NULL;
    return options;
}

yoke_status_t yoke_comm_create(int size, int rank, yoke_comm_all_gather_t all_gather,
                               void *context, const yoke_comm_options_t *options,
                               yoke_comm_t **out_comm)
{
    yoke_status_t status = check_options(options, __func__);
    if (status == YOKE_OK)
        status = check_place(size, rank, __func__);
    if (status != YOKE_OK)
        return status;
    if (all_gather == NULL || out_comm == NULL)
        return yoke_fail(YOKE_ERR_USAGE, "yoke_comm_create: %s is NULL",
                         out_comm == NULL ? "out_comm" : "the all-gather");
    yoke_control_t *control = NULL;
    status = yoke_control_create(size, rank, all_gather, context, options, &control);
    return status == YOKE_OK ? yoke_comm_open(control, options, out_comm) : status;
}

yoke_status_t yoke_comm_id_create(int size, const yoke_comm_options_t *options,
                                  yoke_comm_id_t *out_id)
{
    yoke_status_t status = check_options(options, __func__);
    if (status == YOKE_OK)
        status = check_place(size, 0, __func__);
    if (status == YOKE_OK && out_id == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "yoke_comm_id_create: out_id is NULL");
    return status == YOKE_OK ? yoke_rendezvous_host(size, options, out_id) : status;
}

/* The rendezvous has done its work once the communicator is there. */
static yoke_status_t create_at(yoke_rendezvous_t *rendezvous, int size, int rank,
                               const yoke_comm_options_t *options, yoke_comm_t **out_comm)
{
    yoke_status_t status = yoke_comm_create(size, rank, yoke_rendezvous_all_gather,
                                            rendezvous, options, out_comm);
    yoke_rendezvous_close(rendezvous);
    return status;
}

yoke_status_t yoke_comm_create_from_id(const yoke_comm_id_t *id, int size, int rank,
                                       const yoke_comm_options_t *options,
                                       yoke_comm_t **out_comm)
{
    yoke_rendezvous_t *rendezvous = NULL;
    yoke_status_t status = check_options(options, __func__);
    if (status == YOKE_OK)
        status = check_place(size, rank, __func__);
    if (status == YOKE_OK && (id == NULL || out_comm == NULL))
        status = yoke_fail(YOKE_ERR_USAGE, "yoke_comm_create_from_id: %s is NULL",
                           id == NULL ? "the id" : "out_comm");
    if (status == YOKE_OK)
        status = yoke_rendezvous_join(id, size, rank, options, &rendezvous);
    return status == YOKE_OK ? create_at(rendezvous, size, rank, options, out_comm)
                             : status;
}

yoke_status_t yoke_comm_create_from_env(const yoke_comm_options_t *options,
                                        yoke_comm_t **out_comm)
{
    yoke_rendezvous_t *rendezvous = NULL;
    int size = 0, rank = 0;
    yoke_status_t status = check_options(options, __func__);
    if (status == YOKE_OK && out_comm == NULL)
        status = yoke_fail(YOKE_ERR_USAGE, "yoke_comm_create_from_env: out_comm is NULL");
    if (status == YOKE_OK)
        status = yoke_rendezvous_from_env(options, &size, &rank, &rendezvous);
    return status == YOKE_OK ? create_at(rendezvous, size, rank, options, out_comm)
                             : status;
}

void yoke_comm_destroy(yoke_comm_t *comm)
{
    if (comm == NULL)
        return;
    yoke_call_thread_stop(comm);
    if (comm->transport != NULL)
        yoke_transport_cancel(comm->transport, YOKE_ERR_REVOKED);
    yoke_engine_destroy(comm->engine);
    yoke_call_end_all(comm);
    if (atomic_load(yoke_control_state(comm->control)) != YOKE_CONTROL_RUNNING)
        yoke_route_abort(comm);
    yoke_route_close(comm);
    yoke_comm_stagings_free(comm);
    yoke_topology_free(comm->topology);
    yoke_shared_destroy(comm->shared);
    if (comm->transport != NULL)
        yoke_transport_destroy(comm->transport);
    if (comm->arena != NULL)
        yoke_arena_destroy(comm->arena);
    yoke_control_destroy(comm->control);
    free(comm);
}

int yoke_comm_rank(const yoke_comm_t *comm)
{
    return comm != NULL ? comm->rank : -1;
}

int yoke_comm_size(const yoke_comm_t *comm)
{
    return comm != NULL ? comm->size : 0;
}
