# SPDX-License-Identifier: Apache-2.0
"""A FlagScale folder from every bundled cluster passes the rules of FlagScale."""
import os
import re
import sys

import flagscale_rules as rules
from common import CLUSTERS, expect, export, finish, plan, read

QUICK = "quick" in sys.argv[1:]


def check(model, cluster, *options):
    document, file = plan(model, cluster, "--for", "flagscale", *options)
    what = f"{model} on {cluster} {' '.join(options)}"
    if document is None:
        return None
    expect("flagscale" in document["runnable_in"], f"{what}: runnable_in")
    folder, _ = export(file, "flagscale")
    faults, meshes = rules.check(folder)
    expect(not faults, f"{what}: {faults}")
    ranks = [host for mesh in meshes for host, _ in mesh]
    devices = [device["device"].split("/")[0] for stage in document["pipelines"][0]["stages"]
               for replica in stage["replicas"] for device in replica["devices"]]
    expect(ranks == devices, f"{what}: FlagScale puts ranks on other hosts than the plan")
    return folder


def spoil(folder, file, pattern, new):
    text = read(folder, file)
    changed = re.sub(pattern, new, text, count=1)
    expect(changed != text, f"{pattern} stands in {file}")
    with open(os.path.join(folder, file), "w", encoding="utf-8") as handle:
        handle.write(changed)
    expect(rules.check(folder)[0], f"{file} with {new} is wrong")
    with open(os.path.join(folder, file), "w", encoding="utf-8") as handle:
        handle.write(text)


folder = None
for name in CLUSTERS:
    made = check("llama-3.1-8b", name, "--dtype", "fp16")
    if name == "a100-v100":
        folder = made
    if not QUICK:
        check("llama-2-13b", name)
check("gpt2", "a100-v100", "--dtype", "fp16", "--global-batch", "64", "--seq", "1024")
check("qwen3-8b", "2x(4xH100-SXM5-80GB + 4xA100-SXM4-80GB); nic=400Gb")
check("llama-3.1-8b", "a100-v100", "--dtype", "fp16", "--stages", "6")

spoil(folder, "train/plan.yaml", r"layer_split: \[", "layer_split: [1, ")
spoil(folder, "train/plan.yaml", r"meshes: \[\d+", "meshes: [3")
spoil(folder, "train/plan.yaml", r"num_layers: \d+", "num_layers: 31")
spoil(folder, "train/plan.yaml", r'device_types: \["', 'device_types: ["X-')
spoil(folder, "train/plan.yaml", r"embedding_stage: False", "embedding_stage: True")
spoil(folder, "hosts", r"slots=8", "slots=7")
spoil(folder, "hosts", r" type=\S+", "")
spoil(folder, "config.yaml", r'"0,1', '"0,0')
finish()
