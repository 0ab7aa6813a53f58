#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Sailor's inputs (profiles, memory, network, cluster, job) as Yoke's documents.

usage: to_yoke.py --inputs FOLDER --out FOLDER [--row N] [--profiles PATTERN]

Reads a folder laid out as README.md says and writes into --out
    model.json    the model, in the form of a Hugging Face config.json
    profile.json  measured layer times, memory and sends (yoke-layer-times/1)
    job.json      the cluster in one line and the options of `yoke plan`
and prints the command. Numbers are taken as they are; nothing is fitted.
"""
import argparse
import csv
import json
import math
import pathlib
import sys

# Sailor's name of a type, and the catalog's.
TYPES = {"A100-40": "A100-SXM4-40GB", "A100-80": "A100-SXM4-80GB",
         "V100-16": "V100-SXM2-16GB"}
FLOAT = 4  # it counts floats, and trains in fp32
# What its simulator counts for one parameter: weights, gradients, two moments, a buffer for
# the exchange and a copy of its runtime's; and for a process, without and with tensor
# parallelism.
BYTES_PER_PARAMETER = 24
FIXED = {1: 2.0e9}
FIXED_SHARDED = 3.0e9
STEPS_OF_OCTAVE = 4


class Refused(Exception):
    """The inputs cannot be translated; the text says why."""


def read_json(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise Refused(f"{path}: {error}") from error


def member(tree, *keys):
    """Walk down, with the way in the message when it ends."""
    for i, key in enumerate(keys):
        if not isinstance(tree, dict) or key not in tree:
            raise Refused("no member " + "/".join(keys[:i + 1]))
        tree = tree[key]
    return tree


def read_row(path, row):
    """Devices of each type in one row of an availability trace: {(type, zone): count}."""
    try:
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError as error:
        raise Refused(f"{path}: {error}") from error
    if not 0 <= row < len(rows):
        raise Refused(f"{path}: row {row} of {len(rows)}")
    counts = {}
    for column, value in rows[row].items():
        if column and "_" in column and int(value) > 0:
            counts[tuple(column.split("_", 1))] = int(value)
    if not counts:
        raise Refused(f"{path}: row {row} has no devices")
    return counts


def times_of(profile, name, layers):
    """Entries of one type: {micro-batch: {degree: {layer: [forward, backward, update]}}}."""
    entries = []
    for micro_batch in sorted(profile, key=int):
        for degree in sorted(profile[micro_batch], key=int):
            table = profile[micro_batch][degree]
            rows = [table.get(str(layer)) for layer in range(layers)]
            if any(row is None or len(row) != 3 for row in rows):
                raise Refused(f"{name}: micro-batch {micro_batch}, degree {degree}: not "
                              f"three times for each of {layers} layers")
            entries.append({"type": TYPES[name], "tp": int(degree),
                            "micro_batch": int(micro_batch),
                            "forward": [row[0] for row in rows],
                            "backward": [row[1] for row in rows],
                            # its simulator counts that of the first layer for a stage
                            "update": max(row[2] for row in rows)})
    return entries


def memory_of(info, layers):
    degrees = []
    for degree in sorted(info, key=int):
        rows = [member(info, degree, str(layer)) for layer in range(layers)]
        degrees.append({"tp": int(degree), "fixed": FIXED.get(int(degree), FIXED_SHARDED),
                        "parameters": [row["params_floats"] for row in rows],
                        "activations": [row["act_mem_floats"] * FLOAT for row in rows]})
    return {"bytes_per_parameter": BYTES_PER_PARAMETER, "degrees": degrees}


def send_points(coefficients, around):
    """[bytes, seconds] of a polynomial of GB/s in log2 of megabytes, at `around` and in
    quarter octaves below and above, as long as it rises."""
    points = []
    for step in range(-10 * STEPS_OF_OCTAVE, 8 * STEPS_OF_OCTAVE + 1):
        size = around * 2.0 ** (step / STEPS_OF_OCTAVE)
        x, rate = math.log2(size / 1e6), 0.0
        for coefficient in coefficients:
            rate = rate * x + coefficient
        if rate <= 0:
            points = []  # too small for the polynomial
            continue
        seconds = size / 1e9 / rate
        if points and seconds < points[-1][1]:
            points = []
        points.append([size, seconds])
    if not points:
        raise Refused("a polynomial of the network is nowhere above 0")
    return points


def sends_of(network, cells, around):
    sends = []
    for a, zone_a in cells:
        for b, zone_b in cells:
            table = member(network, zone_a, a)
            for degree_a in sorted(table, key=int):
                other = member(table, degree_a, zone_b, b)
                for degree_b in sorted(other, key=int):
                    sends.append({"from": TYPES[a], "to": TYPES[b],
                                  "from_tp": int(degree_a), "to_tp": int(degree_b),
                                  "points": send_points(other[degree_b][0], around)})
    return sends


def model_of(job):
    return {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
            "n_embd": job["hidden_size"], "n_layer": job["num_layers"],
            "n_head": job["heads"], "n_positions": job["max_position_embeddings"],
            "vocab_size": job["vocab_size"], "tie_word_embeddings": False}


def cluster_of(counts, config, sends):
    terms = []
    for name, zone in sorted(counts):
        size = member(config, name, "gpus_per_node")
        if counts[name, zone] % size:
            raise Refused(f"{name}: {counts[name, zone]} devices in nodes of {size}")
        terms.append(f"{counts[name, zone] // size}x{size}x{TYPES[name]}")
    # Only for what was not measured: the best rate between two nodes.
    rate = max(size / seconds for send in sends for size, seconds in send["points"])
    return " + ".join(terms) + f"; nic={rate * 8 / 1e9:.0f}Gb"


def translate(inputs, row, pattern):
    job = read_json(inputs / "clusters" / "training_config_opt_350.json")
    config = read_json(inputs / "clusters" / "basic_cluster_config.json")
    info = read_json(inputs / "profiles" / "llm_info.json")
    network = read_json(inputs / "network" / "multizone_bandwidths_het.json")
    counts = read_row(inputs / "clusters" / "gpu_trace_heterogeneous_imbalanced.csv", row)
    unknown = sorted(name for name, _ in counts if name not in TYPES)
    if unknown:
        raise Refused(f"no catalog name is known for {', '.join(unknown)}")
    layers, model = job["num_all_layers"], job["model"]
    memory = member(info, model)
    around = member(memory, "1", "1", "act_output_floats") * FLOAT
    times = []
    for name, _ in sorted(counts):
        path = inputs / "profiles" / pattern.format(type=name, model=model)
        times += times_of(read_json(path), name, layers)
    sends = sends_of(network, sorted(counts), around)
    profile = {"schema": "yoke-layer-times/1", "source": f"Sailor's profiles of {model}",
               "layers": layers, "sequence": job["sequence_length"], "dtype": "fp32",
               "recompute": "none", "missing": "refuse", "transfers": "block",
               "exchange_after": "step", "gradient_overlap": 0, "times": times, "memory": memory_of(memory, layers),
               "sends": sends}
    options = ["--global-batch", str(job["global_batch_size"]), "--seq",
               str(job["sequence_length"]), "--dtype", "fp32", "--optimizer", "adam",
               "--memory", "1", "--recompute", "none", "--shard-optimizer", "off"]
    return model_of(job), profile, {"cluster": cluster_of(counts, config, sends),
                                    "options": options}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--inputs", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--row", type=int, default=0, help="row of the availability trace")
    parser.add_argument("--profiles", default="OPT-350.{type}.json",
                        help="file of a type's profile, below profiles/")
    args = parser.parse_args()
    try:
        model, profile, job = translate(args.inputs, args.row, args.profiles)
    except Refused as error:
        sys.exit(f"to_yoke.py: {error}")
    args.out.mkdir(parents=True, exist_ok=True)
    for name, tree in (("model", model), ("profile", profile), ("job", job)):
        (args.out / f"{name}.json").write_text(json.dumps(tree, indent=1) + "\n")
    print(f"yoke plan -m {args.out}/model.json -c '{job['cluster']}' "
          f"--profile {args.out}/profile.json {' '.join(job['options'])} "
          f"-o {args.out}/plan.json")


if __name__ == "__main__":
    main()
