# SPDX-License-Identifier: Apache-2.0
"""A Megatron-LM job from every bundled cluster passes the rules of Megatron-LM."""
import sys

import megatron_rules as rules
from common import CLUSTERS, expect, export, finish, plan, read

QUICK = "quick" in sys.argv[1:]


def world(folder):
    return sum(int(line.split("\t")[3]) for line in read(folder, "agents.tsv").splitlines())


def check(model, cluster, *options):
    document, file = plan(model, cluster, "--for", "megatron", *options)
    what = f"{model} on {cluster} {' '.join(options)}"
    if document is None:
        return
    expect("megatron" in document["runnable_in"], f"{what}: runnable_in")
    cost = [a for a in document["alternatives"] if a["kind"].startswith("without the rules")]
    expect(len(cost) == 1 and cost[0]["iteration_time"] > 0, f"{what}: cost of the rules")
    folder, _ = export(file, "megatron")
    given = rules.arguments(read(folder, "run.sh"))
    faults = rules.check_arguments(given, world(folder))
    expect(not faults, f"{what}: {faults}")
    stages = document["pipelines"][0]["stages"]
    if len(stages) > 1:
        layout = rules.expand(given["--pipeline-model-parallel-layout"])
        sizes = [last - first + 1 for stage in stages for first, last in stage["chunks"]]
        expect([len(stage) for stage in layout] == sizes, f"{what}: layers {sizes}, {layout}")


def refused():
    """The checker itself: right ones of the sources' own examples, and wrong ones."""
    good = [("Ettt|(tt|)*29,m|L", 32, 61, 1), ("E|t|t|L", 4, 2, 0), ("Et*3|t*2L", 2, 5, 0),
            ("Et|tt|tt|tL", 4, 6, 0)]
    for layout, pipeline, layers, prediction in good:
        expect(not rules.check_layout(layout, pipeline, layers, prediction), f"{layout} is right")
    for layout in ("t|EttL", "Et|t", "Et|tL", "EEt|ttL", "Ettt||L", "Et|t|tL", "Ex|tttL",
                   "Et*|ttL", "Et(|tL", "Etm|ttL"):
        expect(rules.check_layout(layout, 2, 3), f"{layout} is wrong")
    given = {"--tensor-model-parallel-size": "3", "--num-layers": "4",
             "--num-attention-heads": "4", "--micro-batch-size": "1",
             "--global-batch-size": "4", "--seq-length": "8", "--max-position-embeddings": "8"}
    expect(rules.check_arguments(given, 3), "a degree that does not divide the heads is wrong")


refused()
for name in CLUSTERS:
    check("llama-3.1-8b", name, "--dtype", "fp16")
    if not QUICK:
        check("llama-2-13b", name)
check("gpt2", "a100-v100", "--dtype", "fp16", "--global-batch", "64", "--seq", "1024")
check("qwen3-8b", "2x(4xH100-SXM5-80GB + 4xA100-SXM4-80GB); nic=400Gb")
check("llama-3.1-8b", "a100-v100", "--dtype", "fp16", "--stages", "6")
check("llama-3.1-8b", "h100-a100", "--fix", "tp=4", "--stages", "4", "--recompute", "full")
finish()
