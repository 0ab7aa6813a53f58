# SPDX-License-Identifier: Apache-2.0
"""yoke explain --why-not and --marginal answer what `yoke plan` says when it is asked so."""
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


def planned(*args):
    return json.loads(run("plan", *INPUTS, *args, "--json", "-").stdout)["predicted"]["iteration_time"]


def main():
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "plan.json")
        run("plan", *INPUTS, "-o", plan)
        figures = json.loads(run("explain", plan, "--why-not", "tp=8,stages=2", "--marginal",
                                 "--json", "-").stdout)
        expect(figures["why_not"]["iteration_time"] == planned("--fix", "tp=8,stages=2"),
               f"tp=8,stages=2: {figures['why_not']}")
        types = {item["without"]: item["iteration_time"] for item in figures["marginal"]}
        expect(set(types) == {"H100-SXM5-80GB", "A100-SXM4-80GB"}, f"marginal: {types}")
        for name, step in types.items():
            expect(step == planned("--exclude", f"type:{name}"), f"without {name}: {step}")
        none = run("explain", plan, "--why-not", "tp=7", "--width", "80").stdout
        expect("no such plan" in none, f"tp=7: {none[-300:]}")
        expect(all(len(line) <= 80 for line in none.splitlines()), "wider than 80")
        for choice in ("tp", "tp=", "tp=0", "x=1", "tp=8,"):
            message = run("explain", plan, "--why-not", choice, code=2).stderr
            expect("expected tp=N" in message, f"--why-not {choice}: {message}")
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


main()
