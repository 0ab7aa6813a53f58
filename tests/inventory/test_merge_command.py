#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`yoke inventory --merge`: documents without a time that disagree, and what --why says of them."""

import json
import os
import subprocess
import sys
import tempfile

YOKE = os.environ["YOKE_COMMAND"]


def run(*arguments, code=0):
    done = subprocess.run([YOKE, "inventory", "--merge", *arguments], capture_output=True,
                          text=True, check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done


def write(folder, name, device, **more):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schema": "yoke-inventory/1", "nodes": [
            {"hosts": "n1", "devices": [{"id": "g0", "kind": "gpu", "name": device}], **more}]},
            out)
    return path


def check_undated(folder):
    a, b = write(folder, "a.json", "Left"), write(folder, "b.json", "Right")
    first, second = run(a, b, "--json", "-", code=5), run(b, a, "--json", "-", code=5)
    assert first.stdout == second.stdout
    taken = a if '"Left"' in first.stdout else b
    for done in (first, second):
        assert f"{taken} is taken" in done.stderr and a in done.stderr and b in done.stderr
        assert "newest" not in done.stderr, done.stderr
    # The names of the files do not matter either.
    os.rename(a, os.path.join(folder, "z.json"))
    assert run(folder, "--json", "-", code=5).stdout == first.stdout
    # Dated ones are settled, and so are two that agree.
    dated = write(folder, "z.json", "Left", gathered_at=5)
    done = run(b, dated, "--json", "-")
    assert '"Left"' in done.stdout and "the newest is taken" in done.stderr
    run(b, b, "--json", "-")
    return b


def check_why(path):
    plain, why = run(path), run(path, "--why")
    assert "--why" not in plain.stdout, plain.stdout
    assert "\nWhy\n" not in why.stdout and "Nothing is recorded" in why.stdout, why.stdout
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    document["nodes"][0]["findings"] = [
        {"probe": "hip", "verdict": "crashed", "text": "It broke.", "fault": True}]
    with open(path, "w", encoding="utf-8") as out:
        json.dump(document, out)
    assert "--why says more" in run(path).stdout
    why = run(path, "--why").stdout
    assert "\nWhy\n" in why and "hip: crashed" in why, why


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_why(check_undated(folder))


if __name__ == "__main__":
    sys.exit(main())
