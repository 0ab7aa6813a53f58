# SPDX-License-Identifier: Apache-2.0
"""yoke simulate --replay: recorded steps run again.

The oracle of our own traces is the simulator that wrote them; that of the recorded ones are
the recorded times and what the authors' simulator made of them (traces/m?-*.json: tori, and
trem, the time with the worst ranks put right). Mistakes end with exit code 2 or 3 and name
the place.
"""
import gzip
import json
import os
import subprocess
import sys
import tempfile

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]
SHARED = os.environ.get("YOKE_SHARED_DIR", "")
failures = []


def run(*args, code=0):
    result = subprocess.run([YOKE, *args], capture_output=True, text=True)
    if result.returncode != code:
        failures.append(f"{args}: exit code {result.returncode}, expected {code}: {result.stderr}")
    return result


def replay(path, *slow):
    args = [word for item in slow for word in ("--slow", item)]
    text = run("simulate", "--replay", path, *args, "--json", "-").stdout
    return json.loads(text) if text else {}


def expect(condition, what):
    if not condition:
        failures.append(what)


def close(a, b, tolerance):
    return abs(a - b) <= tolerance * abs(b)


def check_own_traces(folder):
    """A step that we simulated is the same when its trace is run again; and so when slowed."""
    plan = os.path.join(folder, "plan.json")
    trace = os.path.join(folder, "step.json.gz")
    run("plan", "-m", "llama-3.1-8b", "-c", "h100-a100", "-o", plan)
    simulated = json.loads(run("simulate", plan, "--trace", trace, "--json", "-").stdout)
    with gzip.open(trace, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    expect(len(events) > 100, f"{trace}: {len(events)} events")
    again = os.path.join(folder, "step.json")
    run("simulate", plan, "--trace", again, "--json", "-")
    with open(again, "rb") as plain, gzip.open(trace, "rb") as packed:
        expect(plain.read() == packed.read(), "the compressed trace is another")

    replayed = replay(trace)
    # The fixed overhead of a step is no event of it.
    for key in ("recorded", "replayed", "operations_only"):
        expect(close(replayed[key], simulated["iteration_time"], 0.003),
               f"{key} {replayed[key]}, simulated {simulated['iteration_time']}")
    expect(replayed["operations_unknown"] == 0, "own operations are not known")
    # Only kernels take twice as long in the one, everything of the rank in the other.
    slowed = json.loads(run("simulate", plan, "--slow", "type:A100-SXM4-80GB=0.5",
                            "--json", "-").stdout)
    what_if = replay(trace, "pp=1=0.5")
    expect(close(what_if["slowed"], slowed["iteration_time"], 0.01),
           f"slowed: {what_if['slowed']}, simulated {slowed['iteration_time']}")


def check_slow(folder):
    """Two ranks and one micro-batch: the step can be added up by hand."""
    path = os.path.join(SOURCE, "fuzz", "corpus", "recording", "stages.json")
    # forward 10, send 1, forward 10, backward 20, send 1, backward 20, exchange 5, update 2
    expect(close(replay(path)["replayed"], 69e-6, 1e-9), "two stages: not 69 us")
    expect(close(replay(path, "pp=1=0.5")["slowed"], 99e-6, 1e-9), "pp=1 half as fast: not 99 us")
    expect(close(replay(path, "pp=0=2")["slowed"], 53e-6, 1e-9), "pp=0 twice as fast: not 53 us")
    expect(close(replay(path, "op=send forward=0.1")["slowed"], 78e-6, 1e-9),
           "sends a tenth as fast: not 78 us")
    ranks = os.path.join(SOURCE, "fuzz", "corpus", "recording", "ranks.json.gz")
    base, slow = replay(ranks), replay(ranks, "dp=1,pp=1=0.5")
    # That rank computes 1.5 + 2.5 + 0.09 ms; all wait for it before the optimizer.
    expect(close(slow["slowed"] - base["replayed"], 4.09e-3, 1e-3),
           f"one slow rank: {slow['slowed'] - base['replayed']}")
    expect(len(base["steps"]) == 2 and len(base["ranks"]) == 4, "steps and ranks")


def check_recorded(folder):
    del folder
    for name, worst in (("ST", "pp=3"), ("AR", "dp=0,pp=0")):
        path = os.path.join(SHARED, "traces", f"timeline-{name}.json.gz")
        result = replay(path)
        print(f"{name}: step {result['recorded']:.4f} s recorded, {result['replayed']:.4f} s "
              f"replayed, mean error {100 * result['error_mean']:.3f} %; pipeline alone "
              f"{100 * result['pipeline_error_mean']:.3f} %")
        expect(close(result["replayed"], result["recorded"], 0.003), f"{name}: step")
        expect(result["error_mean"] <= 0.003, f"{name}: mean error {result['error_mean']}")
        expect(result["pipeline_error_mean"] <= 0.003,
               f"{name}: pipeline {result['pipeline_error_mean']}")
        expect(result["operations_unknown"] == result["exchanges_apart"] == 0, f"{name}: doubts")
        with open(os.path.join(SHARED, "traces", f"mw-{name}.json"), encoding="utf-8") as file:
            theirs = json.load(file)
        expect(close(result["operations_only"], theirs["tori"], 0.003),
               f"{name}: {result['operations_only']} from operation times alone, theirs "
               f"{theirs['tori']}")
        busy = {(rank["dp"], rank["pp"]): rank["busy"] for rank in result["ranks"]}
        most = max(busy, key=busy.get)
        expect(most[1] == int(worst[-1]), f"{name}: the busiest rank is {most}")
        if name == "AR":
            # As fast as the others, it is what their simulator says of the worst worker.
            factor = busy[(0, 0)] / busy[(1, 0)]
            slowed = replay(path, f"dp=0,pp=0={factor:.4f}")["slowed"]
            expect(close(slowed, theirs["trem"], 0.03), f"AR put right: {slowed}")


def bad(folder, content, code, *words, slow=()):
    path = os.path.join(folder, "bad.json")
    with open(path, "wb") as file:
        file.write(content if isinstance(content, bytes) else json.dumps(content).encode())
    message = run("simulate", "--replay", path, *slow, code=code).stderr
    for word in ("bad.json", *words) if code == 3 else words:
        expect(word in message, f"message without '{word}': {message}")
    expect(message.count("\n") == 1, f"not one message: {message}")


def check_mistakes(folder):
    thread = {"ph": "M", "name": "thread_name", "pid": 0, "tid": 0, "args": {"name": "stage 0"}}
    work = {"ph": "X", "name": "forward", "pid": 0, "tid": 0, "ts": 0, "dur": 1}
    bad(folder, b"{", 3, "1:1")
    bad(folder, {}, 3, "traceEvents")
    bad(folder, [], 3, "no operations")
    bad(folder, [thread], 3, "no operations")
    bad(folder, [work], 3, "/0", "thread_name")
    bad(folder, [thread, {**work, "dur": -1}], 3, "/1/dur")
    bad(folder, [thread, {**work, "ts": "x"}], 3, "/1/ts")
    bad(folder, [thread, {**work, "pid": 1 << 40}], 3, "/1/pid")
    bad(folder, {"traceEvents": [{"ph": "B"}]}, 3, "/traceEvents/0/ph", "begin and end")
    bad(folder, [thread, {**work, "args": 3}], 3, "/1/args")
    packed = gzip.compress(json.dumps([thread, work]).encode())
    bad(folder, packed[:-12], 3, "cut off")
    bad(folder, packed[:12] + b"\xff\xff\xff\xff" + packed[16:], 3, "damaged")
    for slow in ("pp=1=0.5", "op=x=0.5"):
        bad(folder, packed, 2, "matches no operation", slow=("--slow", slow))
    for slow in ("zz=1=0.5", "pp==0.5", "pp=0,=0.5", "op==0.5"):
        bad(folder, packed, 2, "expected ranks", slow=("--slow", slow))
    run("simulate", "plan.json", "--replay", "x", code=2)
    run("simulate", "--replay", "x", "--trace", "y", code=2)
    expect("none.json" in run("simulate", "--replay", "none.json", code=3).stderr, "no such file")


def main():
    checks = {"own": (check_own_traces, check_slow, check_mistakes), "recorded": (check_recorded,)}
    part = sys.argv[1]
    if part == "recorded" and not os.path.isdir(os.path.join(SHARED, "traces")):
        print("skipped: no recorded traces (YOKE_SHARED_DIR)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for check in checks[part]:
            check(folder)
    for failure in failures:
        print(failure)
    sys.exit(1 if failures else 0)


main()
