/* SPDX-License-Identifier: Apache-2.0 */
#ifndef YOKE_TOOLS_INPUTS_H
#define YOKE_TOOLS_INPUTS_H

/* The inputs that plan, explain, check and simulate share: --model, --cluster, --assume.
 */

#include "base/text.h"
#include "tools/cli.h"
#include "yoke/inventory.h"
#include "yoke/model.h"
#include "yoke/plan.h"

/* Rows for the option tables. */
#define YOKE_OPTION_MODEL                                                                \
    {                                                                                    \
        .name = "model", .letter = 'm', .argument = "MODEL",                             \
        .help = "Hugging Face config.json (or its folder), a model document, or the "    \
                "name of a "                                                             \
                "bundled model such as llama-3.1-8b."                                    \
    }
#define YOKE_OPTION_CLUSTER                                                              \
    {                                                                                    \
        .name = "cluster", .letter = 'c', .argument = "CLUSTER",                         \
        .help = "Inventory document, a bundled cluster such as a100-v100, or one line "  \
                "such as "                                                               \
                "\"2x8xA100-SXM4-80GB + 4x8xV100-SXM2-32GB; nic=100Gb\"."                \
    }
#define YOKE_OPTION_ASSUME                                                               \
    {                                                                                    \
        .name = "assume", .argument = "SELECTOR:KEY=VALUE,...",                          \
        .help =                                                                          \
            "Fill an unknown for this run, e.g. "                                        \
            "'type:BW1000:bf16=300T,hbm=1.6T,memory=64GiB'. "                            \
            "Keys: "                                                                     \
            "fp64 fp32 tf32 fp16 bf16 fp8 int8 hbm memory link nic. Can be repeated."    \
    }

#define YOKE_OPTION_CATALOG                                                              \
    {                                                                                    \
        .name = "catalog", .argument = "FILE",                                           \
        .help = "Catalog file of your own; its rows add to the bundled ones or replace " \
                "them. Can be repeated; see also YOKE_CATALOG."                          \
    }

#define YOKE_OPTION_PROFILE                                                              \
    {                                                                                    \
        .name = "profile", .argument = "FILE",                                           \
        .help = "Measured layer times (yoke-layer-times/1) in the place of the cost "    \
                "model's; see docs/layer-times.md."                                      \
    }

/* Every --catalog; before anything else looks something up. */
yoke_status_t yoke_input_catalog(const yoke_args_t *args);
/* --model (required). A message was printed when it fails. */
yoke_status_t yoke_input_model(const yoke_args_t *args, yoke_model_t **out_model);
/* --profile, where it is given. */
yoke_status_t yoke_input_profile(const yoke_args_t *args);
/* --cluster (required), with every --assume applied and the --profile taken in use. */
yoke_status_t yoke_input_cluster(const yoke_args_t *args,
                                 yoke_inventory_t **out_inventory);

/*
 * --model and --cluster, where the command line leaves them out, as the plan's own
 * command had them, the cluster with its --assume and --catalog; says so on standard
 * error. Paths are relative to the current folder; a plan's digests guard against another
 * input behind the same name. The values stand in `out_words`, which must outlive the
 * arguments and is freed by the caller, also when it fails.
 * @retval YOKE_ERR_USAGE  one is missing and the plan does not say it, or says "-"
 */
yoke_status_t yoke_input_from_plan(yoke_args_t *args, const yoke_plan_t *plan,
                                   yoke_strings_t *out_words);
/* A word as a shell would need it: quoted where it holds more than letters and digits. */
void yoke_quote_word(const char *word, yoke_text_t *out);

/* Does a path lead out of the current folder: absolute, or through ".."? */
bool yoke_input_leads_outside(const char *value);

#endif
