# SPDX-License-Identifier: Apache-2.0
"""The same bytes twice, in any locale and time zone, and with nodes, devices and links of the
inventory in another order."""
import copy
import json
import os
import random
import subprocess

from common import FOLDER, QUICK, SOURCE, expect, finish, plan, run, write
from documents import GIB, device, inventory, llama

EXTRA = {"a100-v100": ("--dtype", "fp16")}


def locales():
    """Those of this machine, the ones that write numbers differently first."""
    listed = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    names = [name for name in listed.split() if name.startswith(("de_", "fr_", "tr_", "ar_"))]
    every = ["de_DE.UTF-8", "C", "C.UTF-8", "tr_TR.UTF-8", *names[:3]]
    return every[:1] if QUICK else every


def text_of(*arguments, **variables):
    result = run("plan", *arguments, environment={**os.environ, **variables})
    expect(result.returncode == 0, f"{arguments} {variables}: {result.err}")
    return result.out


def again(cluster, model):
    arguments = ("-m", model, "-c", cluster, *EXTRA.get(cluster, ()))
    for form in ((), ("--json", "-")):
        first = text_of(*arguments, *form)
        expect(text_of(*arguments, *form) == first, f"{cluster}: twice, not the same")
        for name in locales():
            expect(text_of(*arguments, *form, LC_ALL=name, LANG=name) == first,
                   f"{cluster}: other bytes in {name}")
        expect(text_of(*arguments, *form, TZ="Asia/Tokyo", COLUMNS="80") == first,
               f"{cluster}: other bytes in another time zone")


def shuffled(document, seed):
    """Nodes, devices and links in another order; object keys too; nodes of a list apart."""
    order = random.Random(seed)
    document = copy.deepcopy(document)
    nodes = []
    for node in document["nodes"]:
        name, _, numbers = node["hosts"].partition("[")
        first, _, last = numbers.rstrip("]").partition("-")
        if seed % 2 and last:
            nodes += [{**copy.deepcopy(node), "hosts": f"{name}{number:0{len(first)}d}"}
                      for number in range(int(first), int(last) + 1)]
        else:
            nodes.append(node)
    order.shuffle(nodes)
    for node in nodes:
        order.shuffle(node["devices"])
        items = list(node.items())
        order.shuffle(items)
        node.clear()
        node.update(items)
    order.shuffle(document.setdefault("links", []))
    document["nodes"] = nodes
    return document


def same_plan(document, name, *arguments):
    """Only the digest of the inventory's text and its name may differ."""
    def essence(result):
        result = copy.deepcopy(result)
        del result["inventory"], result["made_by"]
        return json.dumps(result)
    first = plan("-c", write("order.json", document), *arguments)
    if first is None:
        return
    for seed in range(1, 2 if QUICK else 5):
        other = plan("-c", write("order.json", shuffled(document, seed)), *arguments)
        expect(other is not None and essence(other) == essence(first),
               f"{name}: another plan for another order ({seed})")


for each in ("h100-a100", "a100-v100"):
    again(each, "llama-3.1-8b")
for each in ("a100-ascend910b", "rtx3090-rtx4090"):
    with open(os.path.join(SOURCE, "data", "clusters", each + ".json"), encoding="utf-8") as file:
        same_plan(json.load(file), each, "-m", "llama-3.1-8b")
MODEL = write("model.json", llama(8, 16, 8, vocabulary=8192))
mixed = [device("g0"), device("g1", 40 * GIB, {"bf16": 1e14}, name="Slow"), device("g2"),
         device("g10", 40 * GIB, {"bf16": 1e14}, name="Slow"), device("g3", 0)]
uneven = inventory(("n[1-3]", mixed), ("m9", mixed[:2]), ("m10", [device("g0", 60 * GIB)]))
same_plan(uneven, "mixed nodes", "-m", MODEL, "--global-batch", "48", "--seq", "1024",
          "--effort", "1000")
expect(os.path.isdir(FOLDER), "the folder is gone")
finish()
