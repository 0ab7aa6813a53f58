# SPDX-License-Identifier: Apache-2.0
"""The examples in docs/plan-document.md are what the tools print.

Every "$ yoke ..." of a console block is run in a copy of docs/examples, and what follows must be its
output; figures may differ, since they move with the cost model's constants: every number
counts as the same. With --update the outputs are written anew.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

YOKE = os.environ["YOKE_COMMAND"]
DOCS = os.path.join(os.environ["YOKE_SOURCE_DIR"], "docs")
PATH = os.path.join(DOCS, "plan-document.md")
_temporary = tempfile.TemporaryDirectory()
FOLDER = os.path.join(_temporary.name, "examples")  # a copy: the commands write files
shutil.copytree(os.path.join(DOCS, "examples"), FOLDER)


def edit(program, source, target):
    """What the one jq command of the page does, which need not be installed here."""
    with open(os.path.join(FOLDER, source), encoding="utf-8") as file:
        plan = json.load(file)
    for change in program.split(" | "):
        stage, chunks = re.fullmatch(r"\.pipelines\[0\]\.stages\[(\d)\]\.chunks = (.*)",
                                     change).groups()
        plan["pipelines"][0]["stages"][int(stage)]["chunks"] = json.loads(chunks)
    with open(os.path.join(FOLDER, target), "w", encoding="utf-8") as file:
        json.dump(plan, file)
    return ""


def output_of(command):
    words = shlex.split(command)
    if words[0] == "jq":
        return edit(words[1], words[2], words[4])
    assert words[0] == "yoke", command
    result = subprocess.run([YOKE, *words[1:]], cwd=FOLDER, capture_output=True, text=True)
    return result.stderr + result.stdout


def run_block(block):
    """A block with the outputs that its commands have now."""
    lines = []
    for line in block.splitlines():
        if line.startswith("$ "):
            lines.append(line)
            lines.extend(output_of(line[2:]).splitlines())
    return "\n".join(lines) + "\n"


def without_figures(text):
    """Timelines go whole; numbers with their units, and the blanks and rules that align them."""
    text = re.sub(r"\|[FB=#.]+\|", "|row|", text)
    text = re.sub(r"\d[\d.,]*( ?(ms|s|us|min|GiB|MiB|%))?", "N", text)
    return re.sub(r"\s+", " ", text)


with open(PATH, encoding="utf-8") as file:
    old = file.read()
count = 0


def replace(match):
    global count
    count += 1
    return "```console\n" + run_block(match.group(1)) + "```"


new = re.sub(r"```console\n(.*?)```", replace, old, flags=re.S)
if "--update" in sys.argv:
    with open(PATH, "w", encoding="utf-8") as file:
        file.write(new)
    sys.exit(0)
assert count > 0
if without_figures(old) != without_figures(new):
    for before, after in zip(old.splitlines(), new.splitlines()):
        if without_figures(before) != without_figures(after):
            print(f"docs:  {before}\ntools: {after}")
            break
    print(f"{PATH} is out of date: run {sys.argv[0]} --update with YOKE_COMMAND set")
    sys.exit(1)
print(f"{count} blocks agree")
