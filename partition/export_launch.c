/* SPDX-License-Identifier: Apache-2.0 */
/* Host file, environment by device type, launchers for torchrun, Slurm, Open MPI. */
#include "partition/export_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define MOST_PARTS 16

/* --- hosts ---------------------------------------------------------------------------
 */

/* Hosts in the order of their first ranks, with the number of their ranks. */
static void add_hosts(const yoke_exporter_t *export, yoke_text_t *out)
{
    for (unsigned i = 0; i < export->rank_count; i++) {
        const yoke_rank_t *rank = &export->ranks[i];
        unsigned slots = 0;
        bool first = true;
        for (unsigned j = 0; j < export->rank_count; j++)
            if (export->ranks[j].host_index == rank->host_index) {
                first = first && j >= i;
                slots++;
            }
        if (!first)
            continue;
        yoke_text_printf(out, "%s slots=%u\n", rank->host, slots);
    }
}

static void add_agents(const yoke_exporter_t *export, yoke_text_t *out)
{
    for (unsigned a = 0; a < export->agent_count; a++) {
        const yoke_agent_t *agent = &export->agents[a];
        const yoke_rank_t *first = &export->ranks[agent->first];
        yoke_text_printf(out, "%u\t%u\t%s\t%u\t%s\t", a, agent->first, first->host,
                         agent->count, first->type);
        for (unsigned i = 0; i < agent->count; i++)
            yoke_text_printf(out, "%s%u", i > 0 ? "," : "", first[i].ordinal);
        yoke_text_add(out, "\n");
    }
}

static void add_environment(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_text_add(out,
                  "# yoke_env TYPE DEVICES: environment of the launchers on devices of a "
                  "type.\n# Add what your machines need (network interfaces, paths) at "
                  "its type.\nyoke_env() {\n    case $1 in\n");
    for (unsigned a = 0; a < export->agent_count; a++) {
        const yoke_rank_t *rank = &export->ranks[export->agents[a].first];
        bool seen = false;
        for (unsigned b = 0; b < a && !seen; b++)
            seen = strcmp(export->ranks[export->agents[b].first].type, rank->type) == 0;
        if (seen)
            continue;
        yoke_text_add(out, "    ");
        yoke_export_quote(rank->type, false, out);
        yoke_text_printf(out,
                         ")\n        export %s=$2\n        export "
                         "CUDA_DEVICE_MAX_CONNECTIONS=1\n        ;;\n",
                         yoke_export_variable(rank->vendor));
    }
    yoke_text_add(out, "    esac\n}\n");
}

/* --- on one host ---------------------------------------------------------------------
 */

static const char launch_head[] =
    "#!/usr/bin/env bash\n"
    "# Starts the ranks of this host; run it on every host of ./hosts.\n"
    "set -euo pipefail\n"
    "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
    "host=${YOKE_HOST:-${SLURMD_NODENAME:-$(hostname -s)}}\n"
    ". \"$here/env.sh\"\n"
    "pids=()\n";

static const char launch_tail[] =
    "done <\"$here/agents.tsv\"\n"
    "if [[ ${#pids[@]} -eq 0 ]]; then\n"
    "    echo \"launch.sh: host $host has no rank in $here/agents.tsv; set YOKE_HOST to "
    "its name there\" >&2\n"
    "    exit 2\n"
    "fi\n"
    "status=0\n"
    "for pid in \"${pids[@]}\"; do wait \"$pid\" || status=$?; done\n"
    "exit \"$status\"\n";

static void add_torchrun(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_text_add(out, launch_head);
    yoke_text_printf(out,
                     "while IFS=$'\\t' read -r agent first name count type devices; do\n"
                     "    [[ $name == \"$host\" ]] || continue\n"
                     "    (\n"
                     "        yoke_env \"$type\" \"$devices\"\n"
                     "        exec \"${TORCHRUN:-torchrun}\" --nnodes %u --node-rank "
                     "\"$agent\" \\\n"
                     "            --nproc-per-node \"$count\" --master-addr "
                     "\"${MASTER_ADDR:-%s}\" \\\n"
                     "            --master-port \"${MASTER_PORT:-29500}\" \"$@\"\n"
                     "    ) </dev/null &\n"
                     "    pids+=($!)\n",
                     export->agent_count, export->ranks[0].host);
    yoke_text_add(out, launch_tail);
}

static void add_direct(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_text_add(out, launch_head);
    yoke_text_printf(
        out,
        "while IFS=$'\\t' read -r agent first name count type devices; do\n"
        "    [[ $name == \"$host\" ]] || continue\n"
        "    for ((i = 0; i < count; i++)); do\n"
        "        (\n"
        "            yoke_env \"$type\" \"$devices\"\n"
        "            export RANK=$((first + i)) WORLD_SIZE=%u LOCAL_RANK=$i\n"
        "            export MASTER_ADDR=${MASTER_ADDR:-%s} "
        "MASTER_PORT=${MASTER_PORT:-29500}\n"
        "            exec \"$@\"\n"
        "        ) </dev/null &\n"
        "        pids+=($!)\n"
        "    done\n",
        export->rank_count, export->ranks[0].host);
    yoke_text_add(out, launch_tail);
}

static yoke_status_t add_common(yoke_exporter_t *export, bool torchrun)
{
    yoke_text_t hosts = {0}, agents = {0}, environment = {0}, launch = {0};
    add_hosts(export, &hosts);
    add_agents(export, &agents);
    add_environment(export, &environment);
    if (torchrun)
        add_torchrun(export, &launch);
    else
        add_direct(export, &launch);
    yoke_status_t status = yoke_export_add(export, "hosts", &hosts, false);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "agents.tsv", &agents, false);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "env.sh", &environment, false);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "launch.sh", &launch, true);
    yoke_text_free(&hosts);
    yoke_text_free(&agents);
    yoke_text_free(&environment);
    yoke_text_free(&launch);
    return status;
}

/* --- Slurm ---------------------------------------------------------------------------
 */

/* Name of the partition that --partition gives a rank's host; NULL: none. */
static yoke_status_t find_partition(const yoke_exporter_t *export,
                                    const yoke_rank_t *rank, const char **out_name)
{
    const yoke_problem_t *problem = export->replay.problem;
    *out_name = NULL;
    for (const char *const *item = export->options->partition;
         item != NULL && *item != NULL && *out_name == NULL; item++) {
        const char *sign = strrchr(*item, '=');
        if (sign == NULL || sign[1] == '\0' || strchr(sign, ' ') != NULL)
            return yoke_fail(YOKE_ERR_USAGE,
                             "--partition %s: expected SELECTOR=NAME, for example "
                             "type:V100-SXM2-32GB=old",
                             *item);
        char *selector = yoke_strndup(*item, (size_t)(sign - *item));
        yoke_status_t status = selector != NULL ? YOKE_OK : yoke_fail_memory();
        for (size_t s = 0; status == YOKE_OK && s < problem->slot_count; s++) {
            bool match = false;
            if (problem->slots[s].host != rank->host_index)
                continue;
            status = yoke_selector_match(selector, rank->host, problem->slots[s].device,
                                         &match);
            if (match)
                *out_name = sign + 1;
        }
        free(selector);
        if (status != YOKE_OK)
            return status;
    }
    return YOKE_OK;
}

typedef struct part {
    const char *name; /* NULL: the default partition */
    yoke_strings_t hosts;
} part_t;

static bool same_name(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static yoke_status_t add_to_part(part_t *parts, size_t *count, const char *name,
                                 const char *host)
{
    size_t i = 0;
    while (i < *count && !same_name(parts[i].name, name))
        i++;
    if (i == MOST_PARTS)
        return yoke_fail(YOKE_ERR_UNSUPPORTED, "--partition: at most %d partitions",
                         MOST_PARTS);
    if (i == *count)
        parts[(*count)++].name = name;
    for (size_t h = 0; h < parts[i].hosts.count; h++)
        if (strcmp(parts[i].hosts.items[h], host) == 0)
            return YOKE_OK;
    return yoke_strings_add(&parts[i].hosts, host);
}

static void add_part(const part_t *part, yoke_text_t *out)
{
    char *list = yoke_hostlist_compress(&part->hosts);
    yoke_text_printf(out, "#SBATCH --nodes=%zu --ntasks-per-node=1 --exclusive\n",
                     part->hosts.count);
    yoke_text_printf(out, "#SBATCH --nodelist=%s\n", list != NULL ? list : "");
    if (part->name != NULL)
        yoke_text_printf(out, "#SBATCH --partition=%s\n", part->name);
    out->failed = out->failed || list == NULL;
    free(list);
}

static void add_job(const yoke_exporter_t *export, const part_t *parts, size_t count,
                    yoke_text_t *out)
{
    yoke_text_add(out, "#!/usr/bin/env bash\n#SBATCH --job-name=yoke\n");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            yoke_text_add(out, "#SBATCH hetjob\n");
        add_part(&parts[i], out);
    }
    yoke_text_printf(
        out,
        "set -euo pipefail\n"
        "# sbatch runs a copy of this file: give the folder where it stands.\n"
        "here=${YOKE_JOB_DIR:-$PWD}\n"
        "export MASTER_ADDR=${MASTER_ADDR:-%s} "
        "MASTER_PORT=${MASTER_PORT:-29500}\n"
        "srun ",
        export->ranks[0].host);
    if (count > 1)
        yoke_text_printf(out, "--het-group=0-%zu ", count - 1);
    yoke_text_add(out, "--kill-on-bad-exit=1 \"$here/run.sh\" \"$@\"\n");
}

yoke_status_t yoke_export_slurm_job(yoke_exporter_t *export)
{
    part_t parts[MOST_PARTS] = {{0}};
    size_t count = 0;
    yoke_status_t status = YOKE_OK;
    for (unsigned a = 0; a < export->agent_count && status == YOKE_OK; a++) {
        const yoke_rank_t *rank = &export->ranks[export->agents[a].first];
        const char *name = NULL;
        status = find_partition(export, rank, &name);
        if (status == YOKE_OK)
            status = add_to_part(parts, &count, name, rank->host);
    }
    yoke_text_t job = {0};
    if (status == YOKE_OK) {
        add_job(export, parts, count, &job);
        status = yoke_export_add(export, "job.sbatch", &job, true);
    }
    for (size_t i = 0; i < count; i++)
        yoke_strings_free(&parts[i].hosts);
    yoke_text_free(&job);
    return status;
}

yoke_status_t yoke_export_launchers(yoke_exporter_t *export)
{
    yoke_status_t status = add_common(export, true);
    return status == YOKE_OK ? yoke_export_slurm_job(export) : status;
}

/* --- without a runtime of ours -------------------------------------------------------
 */

static void add_ranks(const yoke_exporter_t *export, yoke_text_t *out)
{
    yoke_text_add(out, "# rank\thost\tdevice\ttype\tstage\treplica\tpart\n");
    for (unsigned i = 0; i < export->rank_count; i++) {
        const yoke_rank_t *rank = &export->ranks[i];
        yoke_text_printf(out, "%u\t%s\t%u\t%s\t%u\t%u\t%u\n", i, rank->host,
                         rank->ordinal, rank->type, rank->stage, rank->replica,
                         rank->part);
    }
}

yoke_status_t yoke_export_slurm(yoke_exporter_t *export)
{
    yoke_text_t ranks = {0}, run = {0};
    yoke_status_t status = add_common(export, false);
    add_ranks(export, &ranks);
    yoke_text_add(&run, "#!/usr/bin/env bash\n"
                        "# PROGRAM and its arguments, once for every rank: RANK, "
                        "WORLD_SIZE, LOCAL_RANK and the\n"
                        "# devices of its type are in its environment.\n"
                        "set -euo pipefail\n"
                        "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
                        "exec \"$here/launch.sh\" \"$@\"\n");
    if (status == YOKE_OK)
        status = yoke_export_add(export, "ranks.tsv", &ranks, false);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "run.sh", &run, true);
    if (status == YOKE_OK)
        status = yoke_export_slurm_job(export);
    yoke_text_free(&ranks);
    yoke_text_free(&run);
    if (status == YOKE_OK)
        export->out.start = yoke_strdup("sbatch job.sbatch PROGRAM ARGUMENT...");
    return status;
}

/* Slot: the number of the rank on its host, which Open MPI takes for a core. */
static void add_rankfile(const yoke_exporter_t *export, yoke_text_t *out)
{
    for (unsigned i = 0; i < export->rank_count; i++) {
        unsigned local = 0;
        for (unsigned j = 0; j < i; j++)
            local += export->ranks[j].host_index == export->ranks[i].host_index;
        yoke_text_printf(out, "rank %u=%s slot=%u\n", i, export->ranks[i].host, local);
    }
}

yoke_status_t yoke_export_rankfile(yoke_exporter_t *export)
{
    yoke_text_t hosts = {0}, ranks = {0}, file = {0};
    add_hosts(export, &hosts);
    add_ranks(export, &ranks);
    add_rankfile(export, &file);
    yoke_status_t status = yoke_export_add(export, "hosts", &hosts, false);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "ranks.tsv", &ranks, false);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "rankfile", &file, false);
    yoke_text_free(&hosts);
    yoke_text_free(&ranks);
    yoke_text_free(&file);
    if (status == YOKE_OK)
        export->out.start = yoke_format(
            "mpirun -np %u --hostfile hosts --map-by rankfile:file=rankfile PROGRAM",
            export->rank_count);
    return status;
}
