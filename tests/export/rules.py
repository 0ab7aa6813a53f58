# SPDX-License-Identifier: Apache-2.0
"""Rules of the runtimes: kept by --for, stated by runnable_in, refused by export by name."""
import json
import os

from common import FOLDER, SOURCE, expect, export, finish, path, plan, run

RUNTIMES = sorted(name[:-5] for name in os.listdir(os.path.join(SOURCE, "data", "runtimes")))

try:
    import jsonschema
    with open(os.path.join(SOURCE, "schema", "yoke-runtime-1.schema.json"),
              encoding="utf-8") as handle:
        schema = json.load(handle)
    for name in RUNTIMES:
        with open(os.path.join(SOURCE, "data", "runtimes", name + ".json"),
                  encoding="utf-8") as handle:
            jsonschema.validate(json.load(handle), schema)
except ImportError:
    print("no jsonschema: the schema is not compared")


def agree(model, cluster, *options):
    """runnable_in is what export does."""
    document, file = plan(model, cluster, *options)
    for runtime in RUNTIMES:
        runs = runtime in document["runnable_in"]
        _, result = export(file, runtime, code=0 if runs else 1)
        if not runs:
            expect("(rule " in result.stderr or "train in" in result.stderr
                   or "recomputes" in result.stderr, result.stderr)
            expect(f"yoke plan --for {runtime}" in result.stderr, result.stderr)


agree("llama-3.1-8b", "a100-v100", "--dtype", "fp16")
agree("llama-3.1-8b", "a100-ascend910b")
agree("llama-3.1-8b", "h100-a100", "--recompute", "selective")
agree("qwen3-8b", "2x(4xH100-SXM5-80GB + 4xA100-SXM4-80GB); nic=400Gb")
agree("gpt2", "1x4xA100-SXM4-80GB + 1x2xV100-SXM2-32GB; nic=100Gb", "--dtype", "fp16",
      "--global-batch", "30", "--seq", "512")

# Inside the rules never faster than without, and what they cost is told right.
for runtime in RUNTIMES:
    for cluster in ("a100-v100", "mi300x-h20", "a100-ascend910b"):
        if runtime == "torch" and cluster == "a100-v100":
            continue  # fp16 is no type of its
        options = ["--dtype", "fp16"] if cluster == "a100-v100" else []
        free, _ = plan("llama-3.1-8b", cluster, *options)
        kept, file = plan("llama-3.1-8b", cluster, "--for", runtime, *options)
        expect(runtime in kept["runnable_in"], f"{runtime} on {cluster}")
        expect(kept["predicted"]["iteration_time"]
               >= free["predicted"]["iteration_time"] * (1 - 1e-9), f"{runtime} on {cluster}")
        told = [a for a in kept["alternatives"] if a["kind"].startswith("without")][0]
        expect(abs(told["iteration_time"] / free["predicted"]["iteration_time"] - 1) < 1e-9,
               f"{runtime} on {cluster}: {told}")
        run("check", file)

# A plan edited by hand out of the rules.
document, file = plan("llama-3.1-8b", "h100-a100", "--for", "megatron")
document["pipelines"][0]["stages"][0]["recompute"] = "full"
edited = path("edited.json")
with open(edited, "w", encoding="utf-8") as handle:
    json.dump(document, handle)
_, result = export(edited, "megatron", code=1)
expect("equal_recompute" in result.stderr, result.stderr)
document["pipelines"][0]["stages"][0]["chunks"] = [[0, 3]]
with open(edited, "w", encoding="utf-8") as handle:
    json.dump(document, handle)
folder, result = export(edited, "megatron", code=1)
expect("has faults" in result.stderr and not os.path.exists(folder), result.stderr)

# No plan: the rule that binds, and the nearest change.
result = run("plan", "-m", "llama-3.1-70b", "-c", "2x8xA100-SXM4-80GB + 2x8xAscend910B3; "
             "nic=100Gb", "--for", "megatron", code=1)
expect("the rule of Megatron-LM that binds is one_vendor" in result.stderr
       and "without --for" in result.stderr, result.stderr)
result = run("plan", "-m", "gpt2", "-c", "h100-a100", "--for", "torch", "--dtype", "fp16", code=1)
expect("does not train in fp16" in result.stderr, result.stderr)
result = run("plan", "-m", "gpt2", "-c", "h100-a100", "--for", "jax", code=2)
expect("flagscale, megatron" in result.stderr, result.stderr)
result = run("plan", "-m", "gpt2", "-c", "h100-a100", "--for", "deepspeed", "--recompute",
             "selective", code=1)
expect("cannot recompute selective" in result.stderr, result.stderr)

# A runtime document that is wrong is named with its place.
broken = os.path.join(FOLDER, "data")
os.makedirs(os.path.join(broken, "runtimes"))
for name in os.listdir(os.path.join(SOURCE, "data")):
    if name != "runtimes":
        os.symlink(os.path.join(SOURCE, "data", name), os.path.join(broken, name))
with open(os.path.join(SOURCE, "data", "runtimes", "megatron.json"), encoding="utf-8") as handle:
    text = json.load(handle)
text["rules"]["made_up"] = {"because": "x", "source": "y"}
with open(os.path.join(broken, "runtimes", "megatron.json"), "w", encoding="utf-8") as handle:
    json.dump(text, handle)
os.environ["YOKE_DATA_DIR"] = broken
result = run("plan", "-m", "gpt2", "-c", "h100-a100", code=3)
expect("megatron.json: /rules: unknown member" in result.stderr, result.stderr)
finish()
