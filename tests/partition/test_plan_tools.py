# SPDX-License-Identifier: Apache-2.0
"""yoke plan, check, explain and simulate work together, from the command line.

Whatever `plan` writes is valid by `check` and by the schema; `simulate` finds the same time;
texts fit their width; mistakes end with the right exit code and name their place.
"""
import json
import os
import subprocess
import sys
import tempfile

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]
failures = []


def run(*args, code=0, columns=None):
    environment = dict(os.environ)
    result = subprocess.run([YOKE, *args], capture_output=True, text=True, env=environment)
    if result.returncode != code:
        failures.append(f"{args}: exit code {result.returncode}, expected {code}: {result.stderr}")
    if columns is not None:
        for line in result.stdout.splitlines():
            if len(line) > columns:
                failures.append(f"{args}: a line of {len(line)} columns: {line}")
    return result


def expect(condition, what):
    if not condition:
        failures.append(what)


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b))


def schema_valid(document, what):
    try:
        import jsonschema
    except ImportError:
        print("note: python3-jsonschema is not installed; the schema was not used")
        return
    with open(os.path.join(SOURCE, "schema", "yoke-plan-1.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    expect(not errors, f"{what}: {errors[:1]}")


def check_trace(trace, plan, step):
    """Every thread does one thing at a time, inside the step, and nothing is missing."""
    threads = {}
    for event in trace["traceEvents"]:
        if event["ph"] == "X":
            threads.setdefault((event["pid"], event["tid"], "send" in event["name"] and
                                event["name"]), []).append(event)
    for key, events in threads.items():
        events.sort(key=lambda event: event["ts"])
        for before, after in zip(events, events[1:]):
            expect(after["ts"] >= before["ts"] + before["dur"] - 0.01, f"trace {key}: overlap")
        expect(events[-1]["ts"] + events[-1]["dur"] <= step * 1e6 + 1, f"trace {key}: past the end")
    for kind in ("forward", "backward"):
        found = sum(event.get("name") == kind for event in trace["traceEvents"])
        wanted = sum(pipeline["micro_batches"] * len(pipeline["stages"])
                     for pipeline in plan["pipelines"])
        expect(found == wanted, f"trace: {found} {kind} events, expected {wanted}")


def walk_through(folder, model, cluster, *extra):
    """From plan to trace on one cluster."""
    inputs = ("--model", model, "--cluster", cluster)
    path = os.path.join(folder, "plan.json")
    text = run("plan", *inputs, *extra, "--output", path, columns=80).stdout
    expect("Placement" in text and text.startswith("Step "), f"plan {cluster}: no answer first")
    with open(path, encoding="utf-8") as file:
        plan = json.load(file)
    schema_valid(plan, f"plan {cluster}")
    step = plan["predicted"]["iteration_time"]

    valid = run("check", path, *inputs, columns=80).stdout
    expect(": valid (" in valid, f"check {cluster}: {valid}")
    verdict = json.loads(run("check", path, *inputs, "--json", "-").stdout)
    expect(verdict["valid"] is True and verdict["faults"] == [], f"check --json {cluster}")

    words = run("explain", path, columns=80).stdout
    for heading in ("Placement", "Match of work and devices", "What limits the step",
                    "Memory of the fullest device", "How good is it", "Alternatives"):
        expect(heading in words, f"explain {cluster}: no '{heading}'")
    anew = run("explain", path, *inputs, columns=80).stdout
    expect("Note: the document states" not in anew, f"explain {cluster}: other times")
    narrow = json.loads(run("explain", path, "--width", "120", "--json", "-").stdout)
    expect(near(narrow["iteration_time"], step), f"explain --json {cluster}")

    run("simulate", path, *inputs, columns=80)
    run("simulate", path, *inputs, "--width", "120", columns=120)
    trace_path = os.path.join(folder, "trace.json")
    figures = json.loads(run("simulate", path, *inputs, "--trace", trace_path, "--json", "-").stdout)
    expect(abs(figures["iteration_time"] - step) <= 1e-6 * step, f"simulate {cluster}: other time")
    with open(trace_path, encoding="utf-8") as file:
        check_trace(json.load(file), plan, step)
    return path, plan, step, inputs


def check_slow(path, plan, step, inputs):
    device = plan["pipelines"][0]["stages"][0]["replicas"][0]["devices"][0]["device"]

    def slowed(*slow):
        options = [part for item in slow for part in ("--slow", item)]
        return json.loads(run("simulate", path, *inputs, *options, "--json", "-").stdout
                          )["iteration_time"]
    expect(near(slowed(device + "=1"), slowed()), "--slow by 1 changes the step")
    expect(slowed(device + "=0.5") > step * 1.01, "--slow by half costs nothing")
    expect(near(slowed(device + "=0.5", device + "=0.5"), slowed(device + "=0.25")),
           "--slow twice is not the product")
    text = run("simulate", path, *inputs, "--slow", device + "=0.5", columns=80).stdout
    expect("without --slow" in text, "--slow is not compared")


def check_mistakes(folder, path, plan, inputs):
    for fault in (("--slow", "x"), ("--slow", "a/b=0"), ("--slow", "a/b=-1"), ("--slow", "=1"),
                  ("--slow", "no/such=0.5"), ("--trace", "t.json.gz"), ("--width", "39")):
        result = run("simulate", path, *inputs, *fault, code=2)
        expect(fault[0] in result.stderr, f"{fault}: not named in '{result.stderr}'")
    run("check", path, "--model", inputs[1], code=2)
    run("check", code=2)
    run("check", path, path, *inputs, code=2)
    run("explain", path, "--model", inputs[1], code=2)
    run("simulate", path, code=2)

    broken = os.path.join(folder, "broken.json")
    plan["pipelines"][0]["stages"][0]["chunks"][0][1] += 1
    with open(broken, "w", encoding="utf-8") as file:
        json.dump(plan, file)
    result = run("check", broken, *inputs, code=1)
    expect(broken + ": /pipelines/0/" in result.stdout, "check: no place in " + result.stdout)
    verdict = json.loads(run("check", broken, *inputs, "--json", "-", code=1).stdout)
    expect(not verdict["valid"] and verdict["faults"][0]["pointer"].startswith("/pipelines/0"),
           f"check --json: {verdict}")
    result = run("simulate", broken, *inputs, code=3)
    expect(broken + ": /pipelines/0" in result.stderr, "simulate: no place in " + result.stderr)

    with open(broken, "w", encoding="utf-8") as file:
        file.write('{"schema": "yoke-plan/1",\n  "job": 1,\n  pipelines: []}')
    result = run("check", broken, *inputs, code=3)
    expect(broken + ":3:" in result.stderr, "no line and column in " + result.stderr)
    run("check", os.path.join(folder, "absent.json"), *inputs, code=3)


def check_by_hand(folder, plan, inputs):
    """A plan with nothing but the placement is explained once model and cluster are given."""
    def bare_stage(stage):
        return {"chunks": stage["chunks"], "recompute": stage["recompute"],
                "replicas": [{"micro_batch": replica["micro_batch"],
                              "devices": [{"device": device["device"]}
                                          for device in replica["devices"]]}
                             for replica in stage["replicas"]]}
    bare = {"schema": "yoke-plan/1", "job": plan["job"],
            "pipelines": [{"micro_batches": pipeline["micro_batches"],
                           "stages": [bare_stage(stage) for stage in pipeline["stages"]]}
                          for pipeline in plan["pipelines"]]}
    schema_valid(bare, "by hand")
    path = os.path.join(folder, "bare.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(bare, file)
    run("check", path, *inputs)
    expect("states no times" in run("explain", path, columns=80).stdout, "explain: bare")
    expect("computing" in run("explain", path, *inputs, columns=80).stdout, "explain: bare, anew")
    run("simulate", path, *inputs, columns=80)


with tempfile.TemporaryDirectory() as folder:
    small = walk_through(folder, "llama-2-7b", "1x2xA100-SXM4-80GB + 1x4xV100-SXM2-32GB; nic=100Gb",
                         "--global-batch", "32", "--seq", "2048", "--dtype", "fp16")
    check_slow(*small)
    check_by_hand(folder, small[1], small[3])
    check_mistakes(folder, small[0], small[1], small[3])
    walk_through(folder, "llama-3.1-70b", "four-types-1024")

for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
