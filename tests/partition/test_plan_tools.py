# SPDX-License-Identifier: Apache-2.0
"""yoke plan, check, explain and simulate work together, from the command line.

Whatever `plan` writes is valid by `check` and by the schema; `simulate` finds the same time;
texts fit their width; mistakes end with the right exit code and name their place.
"""
import copy
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]
failures = []


def run(*args, code=0, columns=None, cwd=None, stdin=None):
    result = subprocess.run([YOKE, *args], capture_output=True, text=True, cwd=cwd, input=stdin)
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

    valid = run("check", path, *inputs, "--strict", columns=80).stdout
    expect(": valid (" in valid, f"check {cluster}: {valid}")
    verdict = json.loads(run("check", path, *inputs, "--json", "-").stdout)
    expect(verdict["valid"] is True and verdict["faults"] == verdict["stale"] == [],
           f"check --json {cluster}")

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
                  ("--slow", "no/such=0.5"), ("--fail", "x"), ("--width", "39")):
        result = run("simulate", path, *inputs, *fault, code=2)
        expect(fault[0] in result.stderr, f"{fault}: not named in '{result.stderr}'")
    run("check", code=2)
    run("check", path, path, *inputs, code=2)
    run("check", path, *inputs, "--strict", "-o", "x.json", code=2)
    run("check", path, *inputs, "--json", "-", "-o", "-", code=2)

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


def lines_within(text, columns, what):
    for line in text.splitlines():
        expect(len(line) <= columns, f"{what}: a line of {len(line)} columns: {line}")


def check_edit(folder, plan, inputs):
    """One layer moved by hand: valid with stale figures, made whole by check -o."""
    path, whole = os.path.join(folder, "edited.json"), os.path.join(folder, "whole.json")
    edited = copy.deepcopy(plan)
    stages = edited["pipelines"][0]["stages"]
    stages[0]["chunks"][0][1] -= 1
    stages[1]["chunks"][0][0] -= 1
    stages[0]["x-why"] = "room for the embedding"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(edited, file)
    text = run("check", path, *inputs).stdout
    expect(": valid (" in text and "stated figures no longer agree with the placement (" in text
           and "memory of stages 0 and 1" in text and "--strict" in text, f"edited: {text}")
    expect(len(text.splitlines()) <= 7, f"edited: not folded: {text}")
    verdict = json.loads(run("check", path, *inputs, "--json", "-").stdout)
    expect(verdict["valid"] and not verdict["faults"] and len(verdict["stale"]) > 20,
           "edited, --json")
    strict = json.loads(run("check", path, *inputs, "--strict", "--json", "-", code=1).stdout)
    expect(not strict["valid"] and strict["faults"] == verdict["stale"], "edited, --strict")
    text = run("check", path, *inputs, "--strict", code=1).stdout
    # A place is one word, so that it can be searched for, and may be longer than a line.
    lines_within(re.sub(r"^\S+: \S+:$", "", text, flags=re.M), 80, "edited, --strict")

    text = run("check", path, *inputs, "-o", whole).stdout
    expect(whole + ": written" in text.replace("\n", " "), f"check -o: {text}")
    with open(whole, encoding="utf-8") as file:
        renewed = json.load(file)
    schema_valid(renewed, "renewed")
    expect("bound" not in renewed or renewed["bound"]["iteration_time"] is None, "renewed: bound")
    expect(not renewed.get("alternatives"), "renewed: alternatives")
    expect(any("no bound" in note for note in renewed["notes"]), "renewed: no note")
    expect(renewed["pipelines"][0]["stages"][0]["x-why"] == "room for the embedding", "x-why")
    for pipeline, wanted in zip(renewed["pipelines"], edited["pipelines"]):
        for stage, other in zip(pipeline["stages"], wanted["stages"]):
            expect(stage["chunks"] == other["chunks"], "renewed: another placement")
    verdict = json.loads(run("check", whole, "--strict", "--json", "-").stdout)
    expect(verdict["valid"], f"renewed: {verdict}")
    step = json.loads(run("simulate", whole, "--json", "-").stdout)["iteration_time"]
    expect(abs(step - renewed["predicted"]["iteration_time"]) <= 1e-6 * step, "renewed: time")
    again = run("check", whole, "-o", "-")
    document = json.loads(again.stdout)
    expect(": valid (" in again.stderr, "check -o -: the findings are on standard error")
    del document["made_by"], renewed["made_by"]
    expect(document == renewed, "renewed twice: not the same")

    # The real fault comes first, alone, and nothing is written.
    edited["job"]["memory"] = "0.2"
    with open(path, "w", encoding="utf-8") as file:
        json.dump(edited, file)
    os.unlink(whole)
    text = run("check", path, *inputs, "-o", whole, code=1).stdout
    expect("/memory: each device" in text.replace("\n    ", " ").splitlines()[1], f"first: {text}")
    expect("states " not in text and "not written" in text and not os.path.exists(whole),
           f"does not fit: {text}")


def check_next(folder):
    """The commands that `yoke plan` ends with work as they stand, in the same folder."""
    where = os.path.join(folder, "a folder")
    os.mkdir(where)
    model = json.loads(run("model", "gpt2", "--json", "-").stdout)
    with open(os.path.join(where, "my model.json"), "w", encoding="utf-8") as file:
        json.dump(model, file)
    cases = [("-m", "my model.json", "-c", "2x2xA100-SXM4-80GB; nic=100Gb"),
             ("--model=gpt2", "--cluster", "a100-bw1000", "--assume",
              "type:DCU BW1000:bf16=300T,fp16=300T,hbm=1.6T,memory=64GiB")]
    for number, inputs in enumerate(cases):
        output = f"it's plan {number}.json"
        text = run("plan", *inputs, "--global-batch", "16", "--seq", "512", "-o", output,
                   cwd=where, columns=80).stdout
        block = text[text.index("\nNext"):].splitlines()[2:]
        expect(len(block) == 3, f"Next: {block}")
        for line in block:
            words = shlex.split(re.sub(r"  .*", "", line.strip()) if "'" not in line else
                                line.strip()[:line.strip().rindex("'") + 1])
            expect(words[0] == "yoke", f"Next: {line}")
            result = run(*words[1:], cwd=where, columns=80)
            if words[1] != "explain":
                said = re.sub(r"\s+", " ", result.stderr)
                expect("using -m" in said and "as in the plan" in said, f"{words}: {said}")
            if words[1] == "check":
                expect(": valid (" in result.stdout and "stale" not in result.stdout, result.stdout)
            lines_within(result.stderr, 80, words)
    # Without what the cluster was told in addition: said, with the option to give.
    result = run("check", output, "-m", "gpt2", "-c", "a100-bw1000", code=1, cwd=where)
    expect("made with --assume 'type:DCU BW1000" in result.stderr.replace("\n  ", " "),
           f"--assume: {result.stderr}")
    # One of both; and a plan that does not say what it was made from.
    run("check", output, "-m", "gpt2", cwd=where)
    run("explain", output, "-m", "gpt2", cwd=where)
    with open(os.path.join(where, output), encoding="utf-8") as file:
        plan = json.load(file)
    for command, says in ((None, "does not say"), ("yoke plan -m - -c x", "standard input"),
                          ("other -m gpt2 -c a100", "does not say"), ("yoke plan -m", "not say")):
        plan["made_by"] = {"command": command} if command else {}
        with open(os.path.join(where, "bare.json"), "w", encoding="utf-8") as file:
            json.dump(plan, file)
        for tool in ("check", "simulate"):
            result = run(tool, "bare.json", code=2, cwd=where)
            expect("--model is missing" in result.stderr and says in result.stderr,
                   f"{tool}, made by {command}: {result.stderr}")
    # A model from standard input is not there a second time.
    text = run("plan", "-m", "-", "-c", "1x2xA100-SXM4-80GB", "--global-batch", "16",
               stdin=json.dumps(model)).stdout
    expect("yoke check plan.json -m MODEL" in text, "Next: a model from standard input")


def check_timeline(folder):
    """However many micro-batches: a row has as many dots as its idle time, to one column."""
    path = os.path.join(folder, "narrow.json")
    inputs = ("-m", "llama-2-13b", "-c", "4x1xA100-SXM4-80GB; nic=25Gb", "--fix", "stages=4")
    for batch, together in ((64, True), (4, False)):
        run("plan", *inputs, "--seq", "512", "--global-batch", str(batch), "--micro-batch", "1",
            "--dtype", "bf16", "-o", path)
        text = run("simulate", path, columns=80).stdout
        idle = [float(cell) / 100 for cell in
                re.findall(r"^ +\d+\.\d+  .*?([\d.]+)% +\S+ \S+ +\S+ \S+$", text, flags=re.M)]
        rows = re.findall(r"^ +\d+\.\d+ \|(.*)\|$", text, flags=re.M)
        expect(len(idle) == len(rows) > 1, f"timeline of {batch}: {text}")
        expect(("drawn" in text) == together, f"timeline of {batch}: {text}")
        for share, row in zip(idle, rows):
            expect(not together or abs(row.count(".") - share * len(row)) <= 1.01,
                   f"{row.count('.')} of {len(row)} columns idle, {share:.1%} of the time: {row}")


def check_one(folder):
    """One of anything is not called several."""
    path = os.path.join(folder, "one.json")
    text = run("plan", "-m", "gpt2", "-c", "1x1xA100-SXM4-80GB", "--global-batch", "1", "--seq",
               "64", "-o", path, columns=80).stdout
    text += run("explain", path).stdout + run("check", path).stdout
    text += run("simulate", path, columns=80).stdout
    expect("1 micro-batch of 1 sample," in text and "1 device, batch" in text, text[:400])
    found = re.findall(r"(?<![\d.,x])1 (?:micro-batches|devices|stages|samples|pipelines|groups)\b",
                       text)
    expect(not found, f"one of several: {found}")


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
    check_edit(folder, small[1], small[3])
    check_next(folder)
    check_timeline(folder)
    check_one(folder)
    check_mistakes(folder, small[0], small[1], small[3])
    walk_through(folder, "llama-3.1-70b", "four-types-1024")

for failure in failures:
    print(failure)
print(f"{len(failures)} failures")
sys.exit(1 if failures else 0)
