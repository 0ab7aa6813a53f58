#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Run the conformance suite on everything that is here, and write its counts into
docs/support.md.

    docs/update_support.py BUILD_FOLDER
"""
import re
import subprocess
import sys
from datetime import date
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "support.md"
BEGIN, END = "<!-- conformance: docs/update_support.py -->\n", "<!-- end of conformance -->\n"
# Tests of tests/cts, and what the row is called.
ROWS = {"cts_null": ("null", "the backend to clone; it has no device"),
        "cts_host": ("host", "hardware (CPU)"),
        "cts_opencl_pocl": ("opencl: PoCL", "hardware (CPU)"),
        "cts_opencl_oclgrind": ("opencl: Oclgrind", "emulator"),
        "cts_opencl_intel": ("opencl: Intel's CPU runtime", "hardware (CPU)"),
        "cts_fake_level_zero": ("level_zero", "real loader, fake driver")}
for _name in ("cuda", "hip", "dtk", "musa", "maca", "corex", "ascend", "cambricon"):
    ROWS[f"cts_fake_{_name}"] = (_name, "fake")
COUNTS = re.compile(r": (\d+) cases: (\d+) passed, (\d+) unsupported, (\d+) expected failures, "
                    r"(\d+) failed, (\d+) unexpected passes")


def results(build):
    """{test: its output}"""
    done = subprocess.run(["ctest", "-V", "-R", f"^({'|'.join(ROWS)})$"], cwd=build, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    numbers = dict(re.findall(r"^test (\d+)\n +Start +\d+: (\w+)", done.stdout, re.M))
    found = {}
    for number, line in re.findall(r"^(\d+): (.*)$", done.stdout, re.M):
        found[numbers[number]] = found.get(numbers[number], "") + line + "\n"
    return found


def table(found):
    yield f"Of {date.today().isoformat()}.\n"
    yield ("| backend | on | cases | passed | unsupported | expected failures | failed |\n"
           "|---|---|---|---|---|---|---|\n")
    for test, (name, what) in ROWS.items():
        counts = COUNTS.search(found.get(test, ""))
        if counts is None:
            yield f"| {name} | {what} | not run | | | | |\n"
            continue
        cases, passed, unsupported, expected, failed, unexpected = map(int, counts.groups())
        yield (f"| {name} | {what} | {cases} | {passed} | {unsupported} | {expected} "
               f"| {failed + unexpected} |\n")


text = PAGE.read_text()
if BEGIN not in text or END not in text:
    sys.exit(f"{PAGE} has not the marks {BEGIN!r} and {END!r}")
before, rest = text.split(BEGIN)
after = rest.split(END)[1]
PAGE.write_text(before + BEGIN + "\n" + "".join(
    line if line.startswith("|") else line + "\n" for line in table(results(sys.argv[1]))) +
    "\n" + END + after)
