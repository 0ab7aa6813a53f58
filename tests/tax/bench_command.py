#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`yoke bench hal` without --conformance: figures for every operation, and refusals."""
import json
import os
import subprocess
import sys

YOKE = os.environ["YOKE_COMMAND"]
failures = []


def run(*words):
    return subprocess.run([YOKE, "bench", "hal", *words], capture_output=True, text=True,
                          check=False)


def check(what, holds):
    if not holds:
        failures.append(what)


result = run("null", "--json", "-")
check(f"exit code {result.returncode}: {result.stderr}", result.returncode == 0)
document = json.loads(result.stdout)
device = document["devices"][0]
rows = {(row["enqueue"], row.get("bytes")): row for row in device["times"]}
for kind in ("write", "read", "copy"):
    for size in (4096, 65536, 1 << 20, 64 << 20):
        check(f"{kind} of {size} is missing", (kind, size) in rows)
check("event record is missing", ("event record", None) in rows)
for key, row in rows.items():
    check(f"{key}: quartiles out of order",
          0 < row["seconds_low"] <= row["seconds"] <= row["seconds_high"])
    check(f"{key}: a raw OpenCL program where there is no OpenCL", "ratio" not in row)

result = run("nosuch:0")
check("a device that is not there", result.returncode == 4)
result = run("null", "--filter", "queue/")
check("--filter without --conformance", result.returncode == 2)

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
