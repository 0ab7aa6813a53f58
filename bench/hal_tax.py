#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of Yoke's layer per enqueue, beyond those of a raw program.

    hal_tax.py [--limit ENQUEUE=N]... [--json FILE] PROGRAM DEVICE...

Runs yoke_hal_tax under callgrind. Counted is what the program, libyoke and what they call
execute in the thread that enqueues, without what the vendor's library does when it is
called. Counts are exact and do not depend on what else the machine does.

--limit: fail where an enqueue costs more instructions than that beyond the raw program;
77 when valgrind is not installed.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# The libraries behind each backend: what happens in them, and below, is not ours.
VENDORS = {
    "cuda": r"/libcuda\.so", "corex": r"/libcuda\.so", "musa": r"/libmusa\.so",
    "hip": r"/libamdhip64\.so", "dtk": r"/libgalaxyhip\.so", "maca": r"/libmcruntime\.so",
    "ascend": r"/libascendcl\.so", "cambricon": r"/libcnrt\.so",
    "level_zero": r"/libze_", "opencl": r"/libOpenCL\.so",
}
COST = re.compile(r"^(?:\d+|\+\d+|-\d+|\*) (\d+)$")


def own_instructions(path, vendor):
    """Of one dump: all that was executed, without the calls from outside into `vendor`."""
    total = 0
    here = called = ""
    call = False
    with open(path, encoding="utf-8", errors="replace") as dump:
        for line in dump:
            line = line.rstrip("\n")
            if line.startswith("ob="):
                here = called = line[3:]
            elif line.startswith("cob="):
                called = line[4:]
            elif line.startswith("calls="):
                call = True
            else:
                cost = COST.match(line)
                if not cost:
                    continue
                inside, into = (re.search(vendor, x) for x in (here, called))
                if call:
                    if into and not inside:
                        total -= int(cost.group(1))
                    call, called = False, here
                else:
                    total += int(cost.group(1))
    return total


def measure(program, device, folder):
    """{(operation, side): instructions per enqueue}, and the lines about vendor calls."""
    out = os.path.join(folder, "dump")
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out,
         "--collect-atstart=no", "--toggle-collect=tax_timed", "--dump-after=tax_timed",
         "--compress-strings=no", "--compress-pos=no", program, "--count", "100", device],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if run.returncode == 77:
        return None, run.stdout
    if run.returncode != 0:
        sys.exit(f"{device}: {run.stdout}{run.stderr}")
    parts = [line.split()[1:] for line in run.stdout.splitlines()
             if line.startswith("part ")]
    vendor = VENDORS[device.split(":")[0]]
    costs = {}
    for number, (operation, side, count) in enumerate(parts, 1):
        path = f"{out}.{number}"
        costs[operation, side] = own_instructions(path, vendor) / int(count)
    calls = {}
    for line in run.stdout.splitlines():
        match = re.match(r"calls (\w+)( other)? raw (\S+) yoke (\S+)", line)
        if match:
            calls[match[1], "other" if match[2] else "yoke"] = (float(match[3]),
                                                                float(match[4]))
    return (costs, calls), run.stdout


def rows_of(device, costs, calls):
    for operation, side in costs:
        if side == "raw":
            continue
        raw, through = calls.get((operation, side), (None, None))
        yield {"device": device, "operation": operation, "other_current": side == "other",
               "raw_instructions": costs[operation, "raw"],
               "instructions": costs[operation, side],
               "more_instructions": costs[operation, side] - costs[operation, "raw"],
               "raw_calls": raw, "calls": through}


def show(rows):
    def calls(value):
        return "" if value is None else f"{value:g}"
    print(f"{'DEVICE':<11} {'ENQUEUE':<8} {'CURRENT':<8} {'RAW CALLS':>9} {'CALLS':>6} "
          f"{'RAW INSTR':>9} {'INSTR':>7} {'MORE':>7}")
    for row in rows:
        print(f"{row['device']:<11} {row['operation']:<8} "
              f"{'another' if row['other_current'] else 'same':<8} "
              f"{calls(row['raw_calls']):>9} {calls(row['calls']):>6} "
              f"{row['raw_instructions']:>9.1f} {row['instructions']:>7.1f} "
              f"{row['more_instructions']:>7.1f}")


def main(argv):
    limits, path = {}, None
    while argv and argv[0].startswith("--"):
        if argv[0] == "--limit":
            operation, limit = argv[1].split("=")
            limits[operation] = float(limit)
        elif argv[0] == "--json":
            path = argv[1]
        else:
            sys.exit(__doc__)
        argv = argv[2:]
    if len(argv) < 2:
        sys.exit(__doc__)
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return 77
    rows, skipped = [], 0
    for device in argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            found, text = measure(argv[0], device, folder)
        if found is None:
            print(text, end="")
            skipped += 1
        else:
            rows += rows_of(device, *found)
    show(rows)
    if path:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    if skipped == len(argv) - 1:
        return 77
    # With another device current most of it is what saves and restores.
    over = [row for row in rows if not row["other_current"]
            and row["more_instructions"] > limits.get(row["operation"], float("inf"))]
    for row in over:
        print(f"{row['device']} {row['operation']}: {row['more_instructions']:.1f} "
              f"instructions more than raw, at most {limits[row['operation']]:g} are allowed")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
