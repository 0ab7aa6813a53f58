#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every relative link of every Markdown file below a folder leads to something, and every
anchor to a heading. usage: links.py FOLDER"""
import os
import re
import subprocess
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")


def markdown_files(root):
    if os.path.isdir(os.path.join(root, ".git")):
        command = ["git", "-C", root, "ls-files", "-co", "--exclude-standard", "*.md"]
        try:
            listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            return [os.path.join(root, name) for name in listed.split("\n") if name]
        except (FileNotFoundError, subprocess.CalledProcessError):
            pass  # without git: every file but what a build leaves
    skipped = ("build", ".git")
    found = []
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if folder != root or name not in skipped]
        found += [os.path.join(folder, name) for name in files if name.endswith(".md")]
    return found


def prose(path):
    """The text without code, where brackets are no links."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"(?ms)^```.*?^```", "", text)
    return re.sub(r"`[^`]*`", "", text)


def anchors(path):
    with open(path, encoding="utf-8") as file:
        headings = re.findall(r"(?m)^#+ +(.+)$", file.read())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def main():
    root = os.path.abspath(sys.argv[1])
    faults, links = [], 0
    for path in sorted(markdown_files(root)):
        if not os.path.exists(path):
            continue
        for target in LINK.findall(prose(path)):
            if re.match(r"[a-z]+:", target):
                continue
            links += 1
            name, _, anchor = target.partition("#")
            aim = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
            if not os.path.exists(aim):
                faults.append(f"{os.path.relpath(path, root)}: no {target}")
            elif anchor and aim.endswith(".md") and anchor not in anchors(aim):
                faults.append(f"{os.path.relpath(path, root)}: no heading for {target}")
    for fault in faults:
        print(fault)
    print(f"{links} links, {len(faults)} dead")
    return 1 if faults or links == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
