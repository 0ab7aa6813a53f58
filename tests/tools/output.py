# SPDX-License-Identifier: Apache-2.0
"""Output: written fully or reported; JSON alone on standard output; files whole or not at all."""
import json
import os
import signal
import subprocess
import tempfile

from command import YOKE, commands, expect, finish, run

# One good call of each command, with bundled data; PLAN is a plan made before.
PLAN = "PLAN"
OUT = tempfile.TemporaryDirectory()
INPUTS = ["--model", "gpt2", "--cluster", "a100-v100"]
CALLS = {
    "inventory": ["inventory"],
    "catalog": ["catalog"],
    "model": ["model", "gpt2"],
    "plan": ["plan", *INPUTS, "--dtype", "fp16"],
    "explain": ["explain", PLAN, *INPUTS],
    "check": ["check", PLAN, *INPUTS],
    "simulate": ["simulate", PLAN, *INPUTS],
    "report": ["report", PLAN, *INPUTS],
    "export": ["export", PLAN, *INPUTS, "--to", "rankfile", "--out",
               os.path.join(OUT.name, "export")],
    "calibrate": ["calibrate", "--evaluate",
                  os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs.csv")],
    "bench": ["bench", "hal", "--conformance", "null", "--filter", "queue/fill-"],
}
# Other things that a command does.
MORE = {
    "bench": [["bench", "comm", "all-reduce", "barrier", "--ranks", "2", "--max", "64",
               "--factor", "8", "--iterations", "3", "--warm-up", "1"]],
}
# Inventory may be partial where a runtime of the machine misbehaves.
GOOD = {"inventory": (0, 5)}


def check_lost_output(arguments):
    line = "yoke " + " ".join(arguments)
    with open("/dev/full", "w", encoding="utf-8") as full:
        result = run(*arguments, stdout=full)
    expect(result.returncode == 4, f"{line} >/dev/full: exit {result.returncode}")
    expect("standard output" in result.stderr, f"{line} >/dev/full: {result.stderr!r}")

    result = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', YOKE, *arguments], text=True,
                            capture_output=True, timeout=120, check=False)
    expect(result.returncode == 4, f"{line} >&-: exit {result.returncode}")
    expect("standard output" in result.stderr, f"{line} >&-: {result.stderr!r}")

    reader, writer = os.pipe()
    os.close(reader)
    result = run(*arguments, stdout=writer)
    said = [text for text in result.stderr.splitlines() if not text.endswith(" ...")]  # progress
    # Ranks beside the one that writes see it go.
    said = [one for one in said if "has ended" not in one]
    expect(result.returncode == -signal.SIGPIPE and said == [],
           f"{line} into a closed pipe: exit {result.returncode}, {result.stderr!r}")
    # A parent that ignores the signal hears of the failure instead.
    result = subprocess.run(["sh", "-c", 'trap "" PIPE; exec "$0" "$@"', YOKE, *arguments],
                            text=True, stdout=writer, stderr=subprocess.PIPE, timeout=120,
                            check=False)
    os.close(writer)
    expect(result.returncode == 4 and "standard output" in result.stderr,
           f"{line} into a closed pipe, SIGPIPE ignored: {result.returncode}, {result.stderr!r}")


def check_json(name, arguments):
    line = "yoke " + " ".join(arguments)
    good = GOOD.get(name, (0,))
    printed = run(*arguments, "--json", "-")
    expect(printed.returncode in good, f"{line} --json -: exit {printed.returncode}",
           printed.stderr)
    try:
        json.loads(printed.stdout)
    except ValueError as error:
        expect(False, f"{line} --json -: standard output is not one document: {error}")
    check_lost_output([*arguments, "--json", "-"])

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.json")
        written = run(*arguments, "-o", path)
        expect(written.returncode in good, f"{line} -o FILE: exit {written.returncode}")
        expect(os.listdir(folder) == ["out.json"], f"{line} -o FILE left {os.listdir(folder)}")
        with open(path, encoding="utf-8") as file:
            json.load(file)
        missing = run(*arguments, "-o", os.path.join(folder, "none", "out.json"))
        expect(missing.returncode == 4, f"{line} -o into no folder: exit {missing.returncode}")
        expect("none" in missing.stderr, f"{line}: does not name the path: {missing.stderr}")
        full = run(*arguments, "-o", "/dev/full")
        expect(full.returncode == 4, f"{line} -o /dev/full: exit {full.returncode}")


def check_command(name, plan):
    check_lost_output([name, "--help"])
    expect(name in CALLS, f"add a good call of yoke {name} to this test")
    if name in CALLS:
        arguments = [plan if word == PLAN else word for word in CALLS[name]]
        for call in [arguments, *MORE.get(name, [])]:
            check_lost_output(call)
            check_json(name, call)


def main():
    check_lost_output(["--help"])
    check_lost_output(["--dump-commands"])
    check_lost_output(["--version"])
    check_lost_output(["help", "configuration"])
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "plan.json")
        made = run(*CALLS["plan"], "--json", plan)
        expect(made.returncode == 0, "no plan to try the other commands with", made)
        for command in commands():
            check_command(command["name"], plan)
    # A closed standard input is no fault where nothing is read from it.
    closed = subprocess.run(["sh", "-c", 'exec "$0" --version <&-', YOKE], check=False,
                            capture_output=True, timeout=60)
    expect(closed.returncode == 0, "yoke --version <&-")
    finish()


main()
