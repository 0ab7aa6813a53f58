/* SPDX-License-Identifier: Apache-2.0 */
/* DeepSpeed: its configuration, the parts of its pipeline module, launchers. */
#include "partition/export_parts.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/json.h"

static const char module[] =
    "# SPDX-License-Identifier: Apache-2.0\n"
    "\"\"\"The plan's stages for DeepSpeed: a PipelineModule with given parts.\n\n"
    "Use PlannedPipelineModule in place of deepspeed.pipe.PipelineModule. Its `layers` "
    "are "
    "those of\nplan.json in order, one entry each (`names`): the embedding, every "
    "decoder "
    "layer, the head.\n\"\"\"\n"
    "import json\n"
    "import os\n\n"
    "from deepspeed.pipe import PipelineModule\n"
    "from deepspeed.runtime.pipe.topology import PipeModelDataParallelTopology\n\n"
    "with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "
    "\"placement.json\"),\n          encoding=\"utf-8\") as _file:\n"
    "    PLACEMENT = json.load(_file)\n\n\n"
    "def topology():\n"
    "    return PipeModelDataParallelTopology(num_pp=PLACEMENT[\"stages\"],\n"
    "                                         num_mp=PLACEMENT[\"tensor\"],\n"
    "                                         num_dp=PLACEMENT[\"replicas\"])\n\n\n"
    "class PlannedPipelineModule(PipelineModule):\n"
    "    def __init__(self, layers, **options):\n"
    "        if len(layers) != len(PLACEMENT[\"names\"]):\n"
    "            raise ValueError(f\"the plan places {len(PLACEMENT['names'])} layers, "
    "the "
    "module has \"\n"
    "                             f\"{len(layers)}: give one entry for each of "
    "{PLACEMENT['names']}\")\n"
    "        options.setdefault(\"topology\", topology())\n"
    "        options.setdefault(\"activation_checkpoint_interval\", "
    "PLACEMENT[\"checkpoint_interval\"])\n"
    "        super().__init__(layers, **options)\n\n"
    "    def _partition_layers(self, method=\"uniform\"):\n"
    "        stage = self._topo.get_coord(self.global_rank).pipe\n"
    "        self.parts = list(PLACEMENT[\"parts\"])\n"
    "        self._set_bounds(start=self.parts[stage], stop=self.parts[stage + 1])\n";

static yoke_status_t add_json(yoke_exporter_t *export, const char *name,
                              const json_t *root)
{
    yoke_text_t text = {0};
    char *document = yoke_json_text(root);
    if (document == NULL)
        return yoke_fail_memory();
    yoke_text_add(&text, document);
    free(document);
    return yoke_export_add(export, name, &text, false);
}

static void set_section(json_t *root, const char *section, const char *key, json_t *value)
{
    json_t *object = json_object_get(root, section);
    if (!json_is_object(object)) {
        json_object_set_new(root, section, json_object());
        object = json_object_get(root, section);
    }
    json_object_set_new(object, key, value);
}

static void set_plan(const yoke_exporter_t *export, json_t *root)
{
    const yoke_plan_t *plan = export->plan;
    const yoke_pipeline_t *pipeline = &export->replay.layout.pipelines[0];
    yoke_json_set_u64(root, "train_batch_size", plan->global_batch);
    yoke_json_set_u64(root, "train_micro_batch_size_per_gpu",
                      pipeline->stages[0].replicas[0].micro_batch);
    yoke_json_set_u64(root, "gradient_accumulation_steps", pipeline->micro_batches);
    set_section(root, "bf16", "enabled", json_boolean(plan->dtype == YOKE_BF16));
    set_section(root, "fp16", "enabled", json_boolean(plan->dtype == YOKE_FP16));
    set_section(root, "zero_optimization", "stage",
                json_integer(plan->sharded_optimizer ? 1 : 0));
}

/* DeepSpeed's batch arithmetic and its pipeline engine on the user's own keys. */
static yoke_status_t read_base(const yoke_exporter_t *export, json_t **out_root)
{
    const char *path = export->options->base;
    yoke_json_t json;
    *out_root = json_object();
    if (path == NULL)
        return *out_root != NULL ? YOKE_OK : yoke_fail_memory();
    yoke_status_t status = yoke_json_read(path, 1u << 20, &json);
    if (status != YOKE_OK)
        return status;
    yoke_cursor_t at = yoke_json_cursor(&json);
    status = yoke_cursor_object(&at);
    if (status == YOKE_OK)
        json_object_update(*out_root, json.root);
    yoke_json_free(&json);
    return status;
}

static yoke_status_t add_placement(yoke_exporter_t *export)
{
    const yoke_pipeline_t *pipeline = &export->replay.layout.pipelines[0];
    json_t *root = json_object(), *parts = json_array(), *names = json_array();
    json_array_append_new(parts, json_integer(0));
    for (unsigned s = 0; s < pipeline->stage_count; s++)
        json_array_append_new(parts, json_integer(pipeline->stages[s].last + 1));
    for (size_t l = 0; l < export->model->layer_count; l++)
        json_array_append_new(names, json_string(export->model->layers[l].name));
    yoke_json_set_u64(root, "stages", pipeline->stage_count);
    yoke_json_set_u64(root, "tensor", pipeline->stages[0].replicas[0].tp);
    yoke_json_set_u64(root, "replicas", export->replicas);
    yoke_json_set_u64(root, "checkpoint_interval",
                      pipeline->stages[0].recompute == YOKE_RECOMPUTE_FULL);
    json_object_set_new(root, "parts", parts);
    json_object_set_new(root, "names", names);
    yoke_status_t status = add_json(export, "placement.json", root);
    json_decref(root);
    return status;
}

yoke_status_t yoke_export_deepspeed(yoke_exporter_t *export)
{
    json_t *root = NULL;
    yoke_text_t text = {0}, run = {0};
    yoke_status_t status = read_base(export, &root);
    if (status == YOKE_OK) {
        set_plan(export, root);
        status = add_json(export, "ds_config.json", root);
    }
    json_decref(root);
    if (status == YOKE_OK)
        status = add_placement(export);
    yoke_text_add(&text, module);
    if (status == YOKE_OK)
        status = yoke_export_add(export, "yoke_pipeline.py", &text, false);
    yoke_text_add(&run,
                  "#!/usr/bin/env bash\n"
                  "# Your training script, whose model is a PlannedPipelineModule of "
                  "yoke_pipeline.py.\n"
                  "set -euo pipefail\n"
                  "here=$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\n"
                  "export PYTHONPATH=$here${PYTHONPATH:+:$PYTHONPATH}\n"
                  "exec \"$here/launch.sh\" \"${TRAIN_SCRIPT:?set it to your training "
                  "script}\" \\\n    --deepspeed --deepspeed_config "
                  "\"$here/ds_config.json\" \"$@\"\n");
    if (status == YOKE_OK)
        status = yoke_export_add(export, "run.sh", &run, true);
    if (status == YOKE_OK)
        status = yoke_export_launchers(export);
    yoke_text_free(&text);
    yoke_text_free(&run);
    if (status == YOKE_OK)
        export->out.start =
            yoke_strdup("TRAIN_SCRIPT=... sbatch job.sbatch, or ./run.sh on every host");
    return status;
}
