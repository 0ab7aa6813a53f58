#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A plan of Yoke in the form of a plan of Sailor's planner.

usage: to_sailor.py [--zone ZONE] PLAN > SAILOR-PLAN

Sailor's form: one pipeline of stages; of each stage its layers and, for every replica, the
device type, the tensor degree and the zone; all replicas do the same number of
micro-batches, the larger where they do not divide. So pipelines of one shape that differ by
a step become one. A plan of pipelines of different shapes is refused: Sailor's simulator
would count the same number of micro-batches for all of them.
"""
import argparse
import json
import pathlib
import sys

NAMES = {"A100-SXM4-40GB": "A100-40", "A100-SXM4-80GB": "A100-80",
         "V100-SXM2-16GB": "V100-16"}


class Refused(Exception):
    """The plan cannot be translated; the text says why."""


def name_of(device):
    if device["type"] not in NAMES:
        raise Refused(f"no name of Sailor's is known for {device['type']}")
    return NAMES[device["type"]]


def shape_of(pipeline):
    """What must be equal for pipelines to be merged."""
    shape = []
    for stage in pipeline["stages"]:
        if len(stage["chunks"]) != 1:
            raise Refused("stages of several chunks: Sailor has no interleaved schedule")
        if stage.get("recompute", "none") != "none":
            raise Refused("recomputation: Sailor has none")
        first, last = stage["chunks"][0]
        shape.append((first, last))
    return tuple(shape)


def translate(plan, zone):
    pipelines = plan["pipelines"]
    shapes = {shape_of(pipeline) for pipeline in pipelines}
    steps = [pipeline["micro_batches"] for pipeline in pipelines]
    sizes = {replica["micro_batch"] for pipeline in pipelines
             for stage in pipeline["stages"] for replica in stage["replicas"]}
    if len(shapes) != 1 or max(steps) - min(steps) > 1:
        raise Refused("pipelines of different shapes, or that differ by more than a step")
    if len(sizes) != 1:
        raise Refused("micro-batches of different sizes")
    used, stages, layers = {}, [], []
    for index, (first, last) in enumerate(shapes.pop()):
        layers.append(list(range(first, last + 1)))
        stages.append([])
        for pipeline in pipelines:
            for replica in pipeline["stages"][index]["replicas"]:
                kinds = {name_of(device) for device in replica["devices"]}
                if len(kinds) != 1:
                    raise Refused("a tensor group of different types")
                kind, degree = kinds.pop(), len(replica["devices"])
                used[kind] = used.get(kind, 0) + degree
                stages[-1].append([[[kind, degree, zone]], degree])
    return {"mbs": sizes.pop(), "used_gpus": used, "pipeline_list": [{
        "num_stages": len(layers), "layers_per_stage": layers, "tmp_per_stage": stages,
        "dp": [len(stage) for stage in stages]}]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--zone", default="us-central1-a")
    parser.add_argument("plan", type=pathlib.Path)
    args = parser.parse_args()
    try:
        plan = json.loads(args.plan.read_text())
        print(json.dumps(translate(plan, args.zone)))
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"to_sailor.py: {args.plan}: {error!r}")
    except Refused as error:
        sys.exit(f"to_sailor.py: {args.plan}: {error}")


if __name__ == "__main__":
    main()
