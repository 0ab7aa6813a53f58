# SPDX-License-Identifier: Apache-2.0
"""On every bundled cluster and three models: plan, check, explain and simulate agree, and the
plan is no slower than its own alternatives."""
import glob
import json
import os

from common import FOLDER, QUICK, SOURCE, covers, expect, finish, plan, run, unused, used, words, write

MODELS = {"gpt2": 14, "llama-3.1-8b": 34, "llama-2-13b": 42}
EXTRA = {"a100-bw1000": ("--assume", "type:DCU BW1000:bf16=300T,fp16=300T,hbm=1.6T,memory=64GiB"),
         "a100-v100": ("--dtype", "fp16")}


def round_trip(cluster, model, layers):
    inputs = ("-m", model, "-c", cluster)
    extra = EXTRA.get(cluster, ())
    document = plan(*inputs, *extra)
    if document is None:
        return
    name = f"{model} on {cluster}"
    path = write("plan.json", document)
    expect(document["feasible"] is True and covers(document, layers), f"{name}: layers")
    expect(len(used(document)) == sum(len(r["devices"]) for p in document["pipelines"]
                                      for s in p["stages"] for r in s["replicas"]),
           f"{name}: a device works twice")
    step = document["predicted"]["iteration_time"]
    low, high = document["predicted"]["iteration_time_range"]
    expect(0 < low <= step <= high, f"{name}: {step} outside of {low} to {high}")
    expect(document["bound"]["iteration_time"] <= step and document["bound"]["gap"] >= 0,
           f"{name}: bound {document['bound']}")
    for other in document["alternatives"]:
        expect(not other["feasible"] or other["iteration_time"] >= step * (1 - 1e-12),
               f"{name}: slower than '{other['kind']}'")
    left = unused(document)
    rows = {row["type"]: row["devices"] - row["used"] for row in document["match"]}
    expect(bool(left) == any(rows.values()), f"{name}: {rows} idle, {left} named")
    assume = extra if "--assume" in extra else ()
    for command, says in (("check", "valid"), ("explain", "What limits the step"),
                          ("simulate", "")):
        result = run(command, path, *inputs, *assume)
        expect(result.returncode == 0 and says in result.out,
               f"{name}: {command}: exit {result.returncode}: {result.err}{result.out[:200]}")
        for line in result.out.splitlines():
            expect(len(line) <= 80, f"{name}: {command}: {len(line)} columns: {line}")
    figures = json.loads(run("simulate", path, *inputs, *assume, "--json", "-").out)
    expect(abs(figures["iteration_time"] - step) <= 1e-6 * step, f"{name}: simulate {figures}")


def tables():
    """The table states what the document states, in 80 columns."""
    path = os.path.join(FOLDER, "table.json")
    for cluster, model in (("h100-a100", "llama-3.1-8b"), ("rtx3090-rtx4090", "llama-2-13b"),
                           ("a100-v100", "gpt2")):
        extra = EXTRA.get(cluster, ())
        result = run("plan", "-m", model, "-c", cluster, *extra, "-o", path)
        expect(result.returncode == 0, f"{cluster}: {result.err}")
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        for line in result.out.splitlines():
            expect(len(line) <= 80, f"plan {cluster}: {len(line)} columns: {line}")
        text = words(result.out)
        for said in [*document["notes"], document["limited_by"], document["bound"]["binding"],
                     *(row["kind"] for row in document["alternatives"])]:
            expect(words(said) in text, f"{cluster}: the table leaves out '{said}'")
        for reason in unused(document).values():
            expect(words(reason) in text, f"{cluster}: the table leaves out '{reason}'")
        stages = sum(len(pipeline["stages"]) for pipeline in document["pipelines"])
        expect(result.out.count("\n    stage ") == stages, f"{cluster}: stages of the table")


clusters = sorted(os.path.splitext(os.path.basename(path))[0] for path in
                  glob.glob(os.path.join(SOURCE, "data", "clusters", "*.json")))
expect(len(clusters) >= 7, f"bundled clusters: {clusters}")
for number, each in enumerate(clusters):
    for position, (model_name, layer_count) in enumerate(MODELS.items()):
        if not QUICK or number % len(MODELS) == position:
            round_trip(each, model_name, layer_count)
tables()
finish()
