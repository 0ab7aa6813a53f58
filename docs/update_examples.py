#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Run the commands that the documentation shows and put their output below them.

    docs/update_examples.py [--check] [--bin FOLDER] [FILE.md ...]

A block is a marker and the fenced text after it:

    <!-- run: yoke plan -m gpt2 -c "1x1xA100-SXM4-80GB" -->
    ```console
    $ yoke plan ...
    output
    ```

"run" blocks are the same on every machine: --check fails when they differ from what the
tools print now. "run-here" blocks (the inventory of some machine) are refreshed only
without --check. "head=N" before the colon keeps the first N lines of the output.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKER = re.compile(r"<!-- (run|run-here)(?: head=(\d+))?: (.*?) -->\n(```[a-z]*\n)(.*?)(```\n)",
                    re.S)


def output_of(command, head, environment):
    result = subprocess.run(["bash", "-c", command], cwd=ROOT, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    text = result.stdout
    if head:
        lines = text.splitlines(keepends=True)
        text = "".join(lines[:head]) + ("...\n" if len(lines) > head else "")
    if result.returncode not in (0, 1, 5):
        sys.exit(f"'{command}' ended with exit code {result.returncode}:\n{text}")
    return f"$ {command}\n{text}"


def refresh(path, check, environment):
    text = path.read_text()
    differ = []

    def replace(match):
        kind, head, command, fence, old, end = match.groups()
        if check and kind == "run-here":
            return match.group(0)
        new = output_of(command, int(head or 0), environment)
        if new != old:
            differ.append(command)
        label = f"{kind} head={head}" if head else kind
        return f"<!-- {label}: {command} -->\n{fence}{new}{end}"

    changed = MARKER.sub(replace, text)
    if not check and changed != text:
        path.write_text(changed)
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail on differences")
    parser.add_argument("--bin", default=str(ROOT / "build/release/bin"),
                        help="folder of the yoke command")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    environment = dict(os.environ, COLUMNS="80", LC_ALL="C.UTF-8",
                       PATH=arguments.bin + os.pathsep + os.environ["PATH"])
    files = arguments.files or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    failed = False
    for path in files:
        for command in refresh(path, arguments.check, environment):
            print(f"{path.relative_to(ROOT)}: {'differs' if arguments.check else 'updated'}: {command}")
            failed = failed or arguments.check
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
