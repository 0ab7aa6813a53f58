#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plans for Sailor's three mixed clusters, beside its own, under its simulator.

usage: run.py YOKE INPUTS [--sailor ROOT] [--own RESULT] [--repeat N]

Prints a table. The time of the search is the processor time of the whole command `yoke
plan`, reading and rivals included, the median of N runs.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
# pylint: disable=wrong-import-position
import judge
import to_sailor
import to_yoke

ROWS = 3
ZONE = "us-central1-a"


def plan_once(yoke, folder, job):
    """Processor seconds of one `yoke plan`."""
    command = [yoke, "plan", "-m", folder / "model.json", "-c", job["cluster"], "--profile",
               folder / "profile.json", *job["options"], "--json", folder / "plan.json"]
    with subprocess.Popen([str(word) for word in command]) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"run.py: yoke plan: exit {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def describe(plan):
    """Stages as degree x type [layers], first to last."""
    pipelines = plan["pipelines"]
    words = []
    for stage in pipelines[0]["stages"]:
        device = stage["replicas"][0]["devices"]
        first, last = stage["chunks"][0]
        words.append(f"{len(device)}x{device[0]['type'].split('-')[0]}[{last - first + 1}]")
    replicas = sum(len(pipeline["stages"][0]["replicas"]) for pipeline in pipelines)
    samples = pipelines[0]["stages"][0]["replicas"][0]["micro_batch"]
    return f"{replicas} replicas of {' '.join(words)}, micro-batch {samples}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("yoke")
    parser.add_argument("inputs", type=pathlib.Path)
    parser.add_argument("--sailor", type=pathlib.Path, help="folder of the checkout")
    parser.add_argument("--own", type=pathlib.Path, help="result of its simulator.py")
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    simulator = judge.load(args.sailor.resolve()) if args.sailor else None
    own = json.loads(args.own.read_text()) if args.own else []
    print("| cluster | plan | ours, iterations/s | by its simulator | its own plan | "
          "`yoke plan` |\n|---|---|---|---|---|---|")
    for row in range(ROWS):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            model, profile, job = to_yoke.translate(args.inputs, row, "OPT-350.{type}.json")
            (folder / "model.json").write_text(json.dumps(model))
            (folder / "profile.json").write_text(json.dumps(profile))
            seconds = statistics.median(plan_once(args.yoke, folder, job)
                                        for _ in range(args.repeat))
            plan = json.loads((folder / "plan.json").read_text())
        judged = theirs = "-"
        if simulator:
            fits, rate = judge.judge(simulator, to_sailor.translate(plan, ZONE))
            judged = f"{rate:.4f}" if fits else "does not fit"
            if own:
                fits, rate = judge.judge(simulator, judge.from_result(own[row]))
                theirs = f"{rate:.4f}" if fits else "does not fit"
        time = plan["predicted"]["iteration_time"]
        print(f"| {job['cluster'].split(';')[0]} | {describe(plan)} | {1 / time:.4f} | "
              f"{judged} | {theirs} | {seconds:.2f} s |", flush=True)


if __name__ == "__main__":
    main()
