# SPDX-License-Identifier: Apache-2.0
"""yoke simulate --fail: what goes on after a failure is the plan that one would write by hand."""
import copy
import json
import os
import subprocess
import sys
import tempfile

YOKE = os.environ["YOKE_COMMAND"]
INPUTS = ("-m", "llama-3.1-8b", "-c", "h100-a100")
failures = []


def run(*args, code=0):
    result = subprocess.run([YOKE, *args], capture_output=True, text=True)
    if result.returncode != code:
        failures.append(f"{args}: exit code {result.returncode}, expected {code}: {result.stderr}")
    return result


def expect(condition, what):
    if not condition:
        failures.append(what)


class Plans:
    def __init__(self, folder):
        self.folder, self.count = folder, 0

    def write(self, plan):
        self.count += 1
        path = os.path.join(self.folder, f"plan{self.count}.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(plan, file)
        return path

    def simulate(self, plan, *args):
        text = run("simulate", self.write(plan), *INPUTS, *args, "--json", "-").stdout
        return json.loads(text) if text else {}


def with_samples(plan, samples):
    """The same plan with so many samples in a step, and shares to match."""
    plan["job"]["global_batch"] = samples
    for pipeline in plan["pipelines"]:
        for stage in pipeline["stages"]:
            for replica in stage["replicas"]:
                replica["share"] = pipeline["micro_batches"] * replica["micro_batch"] / samples
    return plan


def check_one_replica(plans, plan):
    """One of 32 replicas: micro-batches of 31 samples, 17 of them instead of 16."""
    by_hand = copy.deepcopy(plan)
    by_hand["pipelines"][0]["micro_batches"] = 17
    for index, stage in enumerate(by_hand["pipelines"][0]["stages"]):
        del stage["replicas"][0 if index == 1 else -1]
    with_samples(by_hand, 17 * 31)
    wanted = plans.simulate(by_hand)["iteration_time"]
    found = plans.simulate(plan, "--fail", "a100-01/gpu0@2")
    expect(found["iteration_time"] == wanted, f"one replica: {found}, by hand {wanted}")
    expect((found["devices_failed"], found["tensor_groups"], found["pipelines"]) == (1, 63, 1),
           f"one replica: {found}")
    expect(found["fits"] and 0 < found["computing_done"] < 1, f"one replica: {found}")


def check_one_pipeline(plans, plan):
    """One of two equal pipelines stops; the other does all."""
    two = copy.deepcopy(plan)
    second = copy.deepcopy(two["pipelines"][0])
    for index, pipeline in enumerate((two["pipelines"][0], second)):
        pipeline["micro_batches"] = 16
        for stage in pipeline["stages"]:
            stage["replicas"] = stage["replicas"][16 * index:16 * (index + 1)]
    two["pipelines"].append(second)
    with_samples(two, 512)
    one = copy.deepcopy(two)
    one["pipelines"] = one["pipelines"][:1]
    one["pipelines"][0]["micro_batches"] = 32
    with_samples(one, 512)
    wanted = plans.simulate(one)["iteration_time"]
    found = plans.simulate(two, "--fail", "host:h100-[03-04]@0")
    expect(found["iteration_time"] == wanted, f"one pipeline: {found}, by hand {wanted}")
    expect((found["pipelines_before"], found["pipelines"]) == (2, 1), f"one pipeline: {found}")
    expect(found["computing_done"] == 0, f"at the start something is done: {found}")


def check_mistakes(plans, plan):
    path = plans.write(plan)
    gone = run("simulate", path, *INPUTS, "--fail", "type:A100-SXM4-80GB@1", code=1)
    expect("stage 0.1" in gone.stderr and "--exclude" in gone.stderr, gone.stderr)
    for fail, word in (("x/y@1", "matches no device"), ("a100-01/gpu0@1000", "the step ends"),
                       ("a100-01/gpu0", "SELECTOR@SECONDS"), ("@1", "SELECTOR@SECONDS"),
                       ("a100-01/gpu0@-1", "SELECTOR@SECONDS")):
        message = run("simulate", path, *INPUTS, "--fail", fail, code=2).stderr
        expect(word in message, f"--fail {fail}: {message}")
    run("simulate", path, *INPUTS, "--fail", "a100-01/gpu0@1", "--trace", "x", code=2)
    text = run("simulate", path, *INPUTS, "--fail", "a100-01/gpu0@1", "--width", "60").stdout
    expect(all(len(line) <= 60 for line in text.splitlines()), f"wider than 60: {text}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        plans = Plans(folder)
        path = os.path.join(folder, "plan.json")
        run("plan", *INPUTS, "-o", path)
        with open(path, encoding="utf-8") as file:
            plan = json.load(file)
        check_one_replica(plans, plan)
        check_one_pipeline(plans, plan)
        check_mistakes(plans, plan)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


main()
