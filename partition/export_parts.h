/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_PARTITION_EXPORT_PARTS_H
#define YOKE_PARTITION_EXPORT_PARTS_H

/* What the writers of the runtimes share: private to export*.c. */

#include "partition/export.h"
#include "partition/replay.h"

typedef struct yoke_rank {
    const char *host, *type, *vendor;
    unsigned host_index, stage, replica, part; /* part: within the tensor group */
    unsigned ordinal; /* index of the device for the variable that shows it */
} yoke_rank_t;

/* Consecutive ranks of one type on one host: one launcher. */
typedef struct yoke_agent {
    unsigned first, count;
} yoke_agent_t;

typedef struct yoke_exporter {
    const yoke_plan_t *plan;
    const yoke_model_t *model;
    const yoke_export_options_t *options;
    yoke_replay_t replay;
    yoke_rank_t *ranks; /* stage by stage, replica by replica, then the tensor group */
    unsigned rank_count;
    yoke_agent_t *agents;
    unsigned agent_count;
    unsigned stages, replicas; /* replicas of all pipelines together */
    yoke_export_t out;
} yoke_exporter_t;

yoke_status_t yoke_export_add(yoke_exporter_t *export, const char *name,
                              yoke_text_t *text, bool executable);
/* A word as bash needs it; with `expand` an unresolved $NAME in it stays one. */
void yoke_export_quote(const char *word, bool expand, yoke_text_t *out);
/* Variable that shows devices of a vendor to its runtime. */
const char *yoke_export_variable(const char *vendor);
unsigned yoke_export_count(const yoke_exporter_t *export, unsigned stage,
                           yoke_layer_kind_t kind);
/* agents.tsv, hosts, env.sh, launch.sh and job.sbatch for torchrun. */
yoke_status_t yoke_export_launchers(yoke_exporter_t *export);
/* job.sbatch that starts ./run.sh on every host. */
yoke_status_t yoke_export_slurm_job(yoke_exporter_t *export);

yoke_status_t yoke_export_megatron(yoke_exporter_t *export);
yoke_status_t yoke_export_flagscale(yoke_exporter_t *export);
yoke_status_t yoke_export_deepspeed(yoke_exporter_t *export);
yoke_status_t yoke_export_torch(yoke_exporter_t *export);
yoke_status_t yoke_export_slurm(yoke_exporter_t *export);
yoke_status_t yoke_export_rankfile(yoke_exporter_t *export);

/* "Et*12|t*10|t*10L"; one with several chunks in the order of the virtual ranks. */
void yoke_export_layout_string(const yoke_exporter_t *export, yoke_text_t *out);
/* Arguments for Megatron-LM: option names and values one after another. */
yoke_status_t yoke_export_megatron_options(const yoke_exporter_t *export,
                                           yoke_strings_t *out_words);
yoke_status_t yoke_export_model_options(const yoke_exporter_t *export,
                                        yoke_strings_t *out_words);

#endif
