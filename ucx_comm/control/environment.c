/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks that a launcher started: PMIx, or the variables of torchrun and the like. */
#include <netdb.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "ucx_comm/control/rendezvous.h"

#define SECRET_LEAST 16
#define HOW_TO_MAKE                                                                      \
    "make one for each job and give it to all ranks, for example: export "               \
    "YOKE_COMM_SECRET=$(od -An -N16 -tx1 /dev/urandom | tr -d ' ')"

/* --- variables -------------------------------------------------------------------- */

static yoke_status_t read_number(const char *(*get)(const char *), const char *name,
                                 uint64_t least, uint64_t most, uint64_t *out_value)
{
    const char *text = get(name);
    if (text != NULL && yoke_parse_u64(text, strlen(text), least, most, out_value))
        return YOKE_OK;
    return yoke_fail(YOKE_ERR_BAD_INPUT,
                     "%s: expected a number from %llu to %llu, found '%.40s'", name,
                     (unsigned long long)least, (unsigned long long)most,
                     text != NULL ? text : "");
}

static bool is_set(const char *(*get)(const char *), const char *name)
{
    const char *text = get(name);
    return text != NULL && text[0] != '\0';
}

static yoke_status_t read_port(const char *(*get)(const char *), uint16_t *out_port)
{
    uint64_t port = 0, master = 0;
    yoke_status_t status = read_number(get, "MASTER_PORT", 1, UINT16_MAX, &master);
    if (status != YOKE_OK)
        return status;
    /* torch's own store listens on MASTER_PORT. */
    port = master + 1;
    if (is_set(get, "YOKE_COMM_PORT"))
        status = read_number(get, "YOKE_COMM_PORT", 1, UINT16_MAX, &port);
    else if (port > UINT16_MAX)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "MASTER_PORT: Yoke uses the port after it, and there is none "
                         "after %llu: set YOKE_COMM_PORT",
                         (unsigned long long)master);
    if (status == YOKE_OK)
        *out_port = (uint16_t)port;
    return status;
}

static yoke_status_t read_secret(const char *(*get)(const char *),
                                 yoke_environment_t *environment)
{
    static const char label[] = "yoke rendezvous ";
    const char *text = get("YOKE_COMM_SECRET");
    if (text == NULL || text[0] == '\0')
        return YOKE_OK;
    if (strlen(text) < SECRET_LEAST)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "YOKE_COMM_SECRET: %zu characters are too few, and %d the "
                         "least; " HOW_TO_MAKE,
                         strlen(text), SECRET_LEAST);
    char *whole = yoke_format("%s%s", label, text);
    if (whole == NULL)
        return yoke_fail_memory();
    yoke_hash(whole, strlen(whole), environment->secret);
    free(whole);
    environment->has_secret = true;
    return YOKE_OK;
}

yoke_status_t yoke_environment_read(const char *(*get)(const char *name),
                                    yoke_environment_t *out_environment)
{
    static const char *const names[] = {"RANK", "WORLD_SIZE", "MASTER_ADDR",
                                        "MASTER_PORT"};
    yoke_environment_t environment = {0};
    uint64_t rank = 0, size = 0, local = 0;
    int set = 0;
    const char *missing = NULL;
    for (int i = 0; i < 4; i++) {
        set += is_set(get, names[i]);
        if (!is_set(get, names[i]))
            missing = names[i];
    }
    if (set == 0) {
        *out_environment = environment;
        return YOKE_OK;
    }
    if (missing != NULL)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "%s is not set, while others of RANK, WORLD_SIZE, MASTER_ADDR "
                         "and MASTER_PORT are: set all four",
                         missing);
    yoke_status_t status = read_number(get, "WORLD_SIZE", 1, YOKE_RANKS_LIMIT, &size);
    if (status == YOKE_OK)
        status = read_number(get, "RANK", 0, size - 1, &rank);
    if (status == YOKE_OK && is_set(get, "LOCAL_RANK"))
        status = read_number(get, "LOCAL_RANK", 0, size - 1, &local);
    if (status == YOKE_OK)
        status = read_port(get, &environment.port);
    if (status == YOKE_OK)
        status = read_secret(get, &environment);
    if (status == YOKE_OK && strlen(get("MASTER_ADDR")) >= sizeof environment.address)
        status = yoke_fail(YOKE_ERR_BAD_INPUT, "MASTER_ADDR: too long for a host name");
    if (status != YOKE_OK)
        return status;
    strcpy(environment.address, get("MASTER_ADDR"));
    environment.rank = (int)rank;
    environment.size = (int)size;
    environment.found = true;
    *out_environment = environment;
    return YOKE_OK;
}

/* --- joining ---------------------------------------------------------------------- */

static yoke_status_t resolve(const char *name, int64_t deadline, yoke_meeting_t *meeting)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *first = NULL;
    struct timespec pause = {.tv_nsec = 200000000};
    int error;
    while ((error = getaddrinfo(name, NULL, &hints, &first)) == EAI_AGAIN &&
           yoke_clock_ms() < deadline)
        nanosleep(&pause, NULL);
    if (error != 0)
        return yoke_fail(YOKE_ERR_BAD_INPUT,
                         "MASTER_ADDR: the host name '%s' is not known: %s", name,
                         gai_strerror(error));
    for (struct addrinfo *one = first; one != NULL; one = one->ai_next) {
        struct sockaddr_storage storage = {0};
        uint16_t port;
        if (meeting->addresses == YOKE_ID_ADDRESSES || one->ai_addrlen > sizeof storage)
            continue;
        memcpy(&storage, one->ai_addr, one->ai_addrlen);
        if (yoke_address_of_socket(&storage, &meeting->address[meeting->addresses],
                                   &port))
            meeting->addresses++;
    }
    freeaddrinfo(first);
    if (meeting->addresses == 0)
        return yoke_fail(YOKE_ERR_BAD_INPUT, "MASTER_ADDR: '%s' has no address", name);
    return YOKE_OK;
}

static yoke_status_t join_by_variables(const yoke_environment_t *environment,
                                       const yoke_control_settings_t *settings,
                                       yoke_rendezvous_t **out_rendezvous)
{
    /* A process makes its communicators in one order, and so do the others. */
    static _Atomic uint32_t made;
    yoke_meeting_t meeting = {.size = (uint32_t)environment->size,
                              .port = environment->port,
                              .sequence = atomic_fetch_add(&made, 1)};
    int64_t deadline = yoke_clock_ms() + settings->setup_timeout_ms;
    if (!environment->has_secret)
        return yoke_fail(YOKE_ERR_REFUSED,
                         "YOKE_COMM_SECRET is not set: without a secret of the job, "
                         "anyone who reaches the port could be a rank; " HOW_TO_MAKE);
    memcpy(meeting.secret, environment->secret, sizeof meeting.secret);
    yoke_status_t status = resolve(environment->address, deadline, &meeting);
    if (status == YOKE_OK && environment->rank == 0)
        status = yoke_meeting_host(&meeting, settings, NULL);
    if (status == YOKE_OK)
        status = yoke_meeting_join(&meeting, environment->rank, true, settings,
                                   out_rendezvous);
    return status;
}

static yoke_status_t join_by_pmix(const yoke_control_settings_t *settings,
                                  yoke_rendezvous_t **out_rendezvous)
{
    yoke_rendezvous_t *rendezvous = calloc(1, sizeof *rendezvous);
    if (rendezvous == NULL)
        return yoke_fail_memory();
    rendezvous->fd = -1;
    rendezvous->deadline = yoke_clock_ms() + settings->setup_timeout_ms;
    yoke_status_t status = yoke_pmix_open(rendezvous->deadline, &rendezvous->size,
                                          &rendezvous->rank, &rendezvous->pmix);
    if (status != YOKE_OK) {
        free(rendezvous);
        return status;
    }
    *out_rendezvous = rendezvous;
    return YOKE_OK;
}

/* What was found instead, so that the message helps. */
static const char *hint(void)
{
    if (getenv("PMI_RANK") != NULL || getenv("PMI_FD") != NULL)
        return "PMI variables of MPICH's hydra were found, which has no PMIx: use Open "
               "MPI's mpirun or srun --mpi=pmix, or set the variables";
    if (getenv("SLURM_PROCID") != NULL)
        return "this is a Slurm step without PMIx: use srun --mpi=pmix, or set the "
               "variables";
    return "start it with Open MPI's mpirun, srun --mpi=pmix or torchrun, or set the "
           "variables";
}

static const char *get_variable(const char *name)
{
    return getenv(name);
}

yoke_status_t yoke_rendezvous_from_env(const yoke_comm_options_t *options, int *out_size,
                                       int *out_rank, yoke_rendezvous_t **out_rendezvous)
{
    yoke_control_settings_t settings;
    yoke_environment_t environment;
    yoke_rendezvous_t *rendezvous = NULL;
    yoke_status_t status = yoke_control_settings_read(options, &settings);
    if (status == YOKE_OK)
        status = yoke_environment_read(get_variable, &environment);
    if (status != YOKE_OK)
        return status;
    /* The variables with a secret are deliberate; PMIx may be that of a task which
     * started a launcher of its own. */
    if (environment.found && environment.has_secret)
        status = join_by_variables(&environment, &settings, &rendezvous);
    else if (yoke_pmix_present())
        status = join_by_pmix(&settings, &rendezvous);
    else if (environment.found)
        status = join_by_variables(&environment, &settings, &rendezvous);
    else
        return yoke_fail(YOKE_ERR_NOT_FOUND,
                         "no launcher was found: neither PMIx (PMIX_RANK) nor RANK, "
                         "WORLD_SIZE, MASTER_ADDR and MASTER_PORT with "
                         "YOKE_COMM_SECRET; %s",
                         hint());
    if (status != YOKE_OK)
        return status;
    *out_size = rendezvous->size;
    *out_rank = rendezvous->rank;
    *out_rendezvous = rendezvous;
    return YOKE_OK;
}
