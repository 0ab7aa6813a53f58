/* SPDX-License-Identifier: Apache-2.0 */
/* Which rank this is, by the variables of the launchers. */
#include "tools/inventory_ranks.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"

/* Variables of one launcher: rank, ranks, rank on the host, ranks on the host, job. */
typedef struct launcher {
    const char *rank, *size, *local_rank, *local_size, *job, *step;
} launcher_t;

static const launcher_t launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"},
    {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", NULL, "SLURM_JOB_ID",
     "SLURM_STEP_ID"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_ID", NULL},
    {"RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID",
     "MASTER_PORT"},
};

static bool number(const char *name, uint64_t max, uint64_t *out)
{
    const char *text = name != NULL ? getenv(name) : NULL;
    return text != NULL && yoke_parse_u64(text, strlen(text), 0, max, out);
}

static void make_job(const launcher_t *launcher, gather_rank_t *rank)
{
    const char *parts[2] = {getenv(launcher->job),
                            launcher->step != NULL ? getenv(launcher->step) : NULL};
    size_t used = 0;
    for (int i = 0; i < 2; i++)
        for (const char *c = parts[i]; c != NULL && *c != '\0' && used < 90; c++)
            if (isalnum((unsigned char)*c))
                rank->job[used++] = *c;
    rank->job[used] = '\0';
}

/* A port that all ranks compute alike, from the job's name. */
static unsigned job_port(const char *job)
{
    unsigned hash = 2166136261u; /* FNV-1a */
    for (; *job != '\0'; job++)
        hash = (hash ^ (unsigned char)*job) * 16777619u;
    return 20000 + hash % 20000;
}

static char *first_slurm_host(void)
{
    const char *list = getenv("SLURM_STEP_NODELIST");
    yoke_strings_t hosts = {0};
    char *first = NULL;
    if (list == NULL)
        list = getenv("SLURM_JOB_NODELIST");
    if (list != NULL && yoke_hostlist_expand(list, &hosts) == YOKE_OK && hosts.count > 0)
        first = yoke_strdup(hosts.items[0]);
    yoke_strings_free(&hosts);
    return first;
}

/* The option, else what the launcher knows, else a folder. */
static yoke_status_t find_meeting_place(const char *rendezvous, gather_rank_t *rank)
{
    const char *master = getenv("MASTER_ADDR");
    uint64_t port = 0, nodes = 1;
    bool one_host = rank->local_size >= 0 && (unsigned)rank->local_size == rank->size;
    if (rendezvous != NULL && yoke_directory_exists(rendezvous)) {
        rank->folder = yoke_strdup(rendezvous);
    } else if (rendezvous != NULL && strchr(rendezvous, ':') != NULL) {
        rank->address = yoke_strdup(rendezvous);
    } else if (rendezvous != NULL) {
        return yoke_fail(YOKE_ERR_SYSTEM,
                         "--rendezvous %s: neither a folder that is there nor HOST:PORT",
                         rendezvous);
    } else if (!one_host && master != NULL && number("MASTER_PORT", 65000, &port)) {
        /* The next port: the launcher itself listens on this one. */
        rank->address = yoke_format("%s:%u", master, (unsigned)port + 1);
    } else if (!one_host && number("SLURM_NNODES", 1000000, &nodes) && nodes > 1) {
        char *host = first_slurm_host();
        if (host != NULL)
            rank->address = yoke_format("%s:%u", host, job_port(rank->job));
        free(host);
    }
    if (rank->address == NULL && rank->folder == NULL) {
        const char *temporary = getenv("TMPDIR");
        bool shared = one_host || nodes <= 1;
        rank->folder = yoke_strdup(
            temporary != NULL && shared && temporary[0] != '\0' ? temporary : "/tmp");
        if (!one_host && rank->local_size >= 0) {
            free(rank->folder);
            rank->folder = getcwd(NULL, 0); /* launchers start all ranks in one folder */
        }
    }
    return rank->address != NULL || rank->folder != NULL ? YOKE_OK : yoke_fail_memory();
}

yoke_status_t gather_rank_find(const char *rendezvous, gather_rank_t *out_rank)
{
    gather_rank_t rank = {.rank = 0, .size = 1, .local_rank = -1, .local_size = -1};
    uint64_t value, size;
    bool found = false;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers && !found; i++) {
        if (!number(launchers[i].rank, 1000000, &value) ||
            !number(launchers[i].size, 1000000, &size) || value >= size)
            continue;
        found = true;
        rank.rank = (unsigned)value;
        rank.size = (unsigned)size;
        if (number(launchers[i].local_rank, 1000000, &value))
            rank.local_rank = (int)value;
        if (number(launchers[i].local_size, 1000000, &value))
            rank.local_size = (int)value;
        make_job(&launchers[i], &rank);
    }
    if (!found)
        return yoke_fail(YOKE_ERR_USAGE,
                         "--gather: started by no launcher that we know; use "
                         "srun, mpirun or torchrun, or set RANK and "
                         "WORLD_SIZE");
    yoke_status_t status = find_meeting_place(rendezvous, &rank);
    if (status == YOKE_OK)
        *out_rank = rank;
    else
        gather_rank_free(&rank);
    return status;
}

void gather_rank_free(gather_rank_t *rank)
{
    free(rank->address);
    free(rank->folder);
    rank->address = rank->folder = NULL;
}
