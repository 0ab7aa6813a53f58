# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command share: running it, and its own table of options."""
import json
import os
import subprocess
import sys

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]
BUILD = os.environ["YOKE_BUILD_DIR"]
faults = []


def run(*arguments, **options):
    """Run yoke; text in and out, with a time limit, never raising on an exit code."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([YOKE, *arguments], text=True, timeout=120, check=False, **options)


def commands():
    table = json.loads(run("--dump-commands").stdout)
    if not table:
        print("skipped: this build has no commands")
        sys.exit(77)
    return table


def expect(condition, *message):
    if not condition:
        faults.append(" ".join(str(part) for part in message))
        print("FAILED:", faults[-1])


def finish():
    print(f"{len(faults)} fault(s)")
    sys.exit(1 if faults else 0)
