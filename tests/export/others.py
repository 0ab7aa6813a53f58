# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed, torchtitan and Open MPI: what is written agrees with the plan."""
import ast
import json
import os
import tomllib

from common import expect, export, finish, path, plan, read


def bounds(document):
    stages = document["pipelines"][0]["stages"]
    return [stage["chunks"][0] for stage in stages]


def write(text):
    file = path()
    with open(file, "w", encoding="utf-8") as handle:
        handle.write(text)
    return file


document, file = plan("llama-3.1-8b", "h100-a100", "--for", "deepspeed")
folder, _ = export(file, "deepspeed", "--base",
                   write('{"steps_per_print": 7, "zero_optimization": {"stage": 3, "x": 1}}'))
config = json.loads(read(folder, "ds_config.json"))
place = json.loads(read(folder, "placement.json"))
expect(config["train_batch_size"] == config["train_micro_batch_size_per_gpu"]
       * config["gradient_accumulation_steps"] * place["replicas"],
       f"DeepSpeed's batch arithmetic: {config}, {place['replicas']}")
expect(config["steps_per_print"] == 7 and config["zero_optimization"] == {"stage": 1, "x": 1},
       "the user's keys stay, the plan's are set")
expect(place["parts"] == [0] + [last + 1 for _, last in bounds(document)], "parts")
expect(len(place["names"]) == place["parts"][-1], "names")
ast.parse(read(folder, "yoke_pipeline.py"))
bad = write('{"a": \n nope}')
_, result = export(file, "deepspeed", "--base", bad, code=3)
expect(f"{bad}:2:" in result.stderr, result.stderr)

document, file = plan("llama-3.1-8b", "h100-a100", "--for", "torch", "--recompute", "full")
base = """[job]
description = "mine"  # [kept]
[training]
seq_len = 128
steps = 1000
[parallelism]
module_fqns_per_model_part = [
  ["a"],
  ["b"],
]
tensor_parallel_degree = 7
enable_async_tensor_parallel = false
"""
folder, _ = export(file, "torch", "--base", write(base))
config = tomllib.loads(read(folder, "train.toml"))
parallel, training = config["parallelism"], config["training"]
expect(config["job"]["description"] == "mine" and training["steps"] == 1000
       and parallel["enable_async_tensor_parallel"] is False, "the user's keys stay")
expect(training["seq_len"] == 4096 and config["activation_checkpoint"]["mode"] == "full",
       f"{training}")
slots = sum(int(line.split("=")[1]) for line in read(folder, "hosts").splitlines())
expect(slots == parallel["tensor_parallel_degree"] * parallel["pipeline_parallel_degree"]
       * parallel["data_parallel_shard_degree"] * parallel["data_parallel_replicate_degree"],
       f"the mesh covers the ranks: {parallel}")
parts = parallel["module_fqns_per_model_part"]
flat = [name for part in parts for name in part]
expect(flat == ["tok_embeddings"] + [f"layers.{i}" for i in range(32)] + ["norm", "output"],
       f"modules: {flat}")
sizes = [last - first + 1 for first, last in bounds(document)]
sizes[-1] += 1  # norm and output
expect([len(part) for part in parts] == sizes, f"{sizes}")
data = parallel["data_parallel_shard_degree"] * parallel["data_parallel_replicate_degree"]
expect(training["local_batch_size"] * data == training["global_batch_size"], f"{training}")
bad = write("[parallelism]\nx = [1,\n")
_, result = export(file, "torch", "--base", bad, code=3)
expect(f"{bad}:2:" in result.stderr, result.stderr)

document, file = plan("llama-3.1-8b", "a100-v100", "--dtype", "fp16")
folder, _ = export(file, "rankfile")
lines = read(folder, "rankfile").splitlines()
planned = [device["device"].split("/")[0] for stage in document["pipelines"][0]["stages"]
           for pipeline in document["pipelines"][:1] for replica in stage["replicas"]
           for device in replica["devices"]]
if len(document["pipelines"]) == 1:
    expect([line.split("=")[1].split(" ")[0] for line in lines] == planned, "rank file")
expect([line.split("=")[0] for line in lines] == [f"rank {i}" for i in range(len(lines))],
       "every rank once")
expect(len(set(line.split("=", 1)[1] for line in lines)) == len(lines), "every slot once")
expect(sorted(os.listdir(folder)) == ["hosts", "rankfile", "ranks.tsv"], os.listdir(folder))
finish()
