#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plans in Sailor's form under Sailor's own simulator.

usage: judge.py ROOT PLAN...

ROOT is the folder that holds the checkout as `sailor` (README.md). Every PLAN is a plan of
to_sailor.py, or a result file of Sailor's own simulator.py, whose plans are judged one by
one. Prints a line a plan: does it fit by that simulator, its iterations per second.
"""
import contextlib
import io
import json
import os
import pathlib
import sys

sys.dont_write_bytecode = True


def load(root):
    """The simulator with the inputs of its repository, for OPT-350."""
    checkout = root / "sailor"
    sys.path.insert(0, str(checkout))
    os.environ["SAILOR_PATH"] = str(root)
    # It is Sailor's, and found only where its checkout is.
    from sailor.Planner.simulations.runtime_simulator import Simulator
    planner = checkout / "sailor" / "Planner"
    configs = planner / "simulations" / "configs"

    def read(path):
        return json.loads(path.read_text())
    return Simulator(str(root), read(configs / "training_config_opt_350.json"),
                     read(planner / "llm_info.json"), False,
                     read(planner / "simulations" / "profiles_tmp.json"),
                     zone=read(configs / "basic_cluster_config.json")["zone"])


def from_result(result):
    """The plan in a result of simulator.py, which writes it in other words."""
    plan = result["plan"]
    return {"mbs": plan["mbs"], "used_gpus": result["used_gpus_plan"], "pipeline_list": [
        {"num_stages": pipeline["num_stages"],
         "layers_per_stage": pipeline["layers_per_stage"],
         "tmp_per_stage": pipeline["tmp_stages"], "dp": pipeline["dp_degrees"]}
        for pipeline in plan["pipelines"]]}


def judge(simulator, plan):
    """Does it fit, iterations/s."""
    with contextlib.redirect_stdout(io.StringIO()):
        fits = simulator.check_config_fits(plan)
        seconds = simulator.simulate_iteration_time(plan)[0]
    return fits, 1 / seconds


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    simulator = load(pathlib.Path(sys.argv[1]).resolve())
    for name in sys.argv[2:]:
        tree = json.loads(pathlib.Path(name).read_text())
        plans = [from_result(item) for item in tree] if isinstance(tree, list) else [tree]
        for plan in plans:
            fits, rate = judge(simulator, plan)
            used = " + ".join(f"{n} {kind}" for kind, n in sorted(plan["used_gpus"].items()))
            print(f"{name}: {used}: {rate:.4f} iterations/s, "
                  f"{'fits' if fits else 'does not fit'}")


if __name__ == "__main__":
    main()
