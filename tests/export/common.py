# SPDX-License-Identifier: Apache-2.0
"""Plans, exports, and failures collected."""
import json
import os
import subprocess
import sys
import tempfile

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]
_folder = tempfile.TemporaryDirectory()
FOLDER = _folder.name
failures = []
_checks = 0
_number = 0

ASSUME = ["--assume", "type:DCU BW1000:bf16=300T,fp16=300T,hbm=1.6T,memory=64GiB"]
CLUSTERS = sorted(name[:-5] for name in os.listdir(os.path.join(SOURCE, "data", "clusters")))


def expect(condition, what):
    global _checks
    _checks += 1
    if not condition:
        failures.append(what)
        print("FAILED:", what)
    return bool(condition)


def run(*arguments, code=0):
    result = subprocess.run([YOKE, *arguments], capture_output=True, text=True, timeout=120,
                            stdin=subprocess.DEVNULL, check=False)
    expect(result.returncode == code and "Sanitizer" not in result.stderr
           and "runtime error" not in result.stderr,
           f"yoke {' '.join(arguments)}: exit {result.returncode}, not {code}: "
           f"{result.stderr[-800:]}")
    return result


def path(name=None):
    global _number
    _number += 1
    return os.path.join(FOLDER, name or f"file-{_number}")


def plan_arguments(model, cluster):
    return ["-m", model, "-c", cluster, *(ASSUME if "bw1000" in cluster else [])]


def plan(model, cluster, *arguments, code=0):
    """The plan document and its file."""
    target = path()
    run("plan", *plan_arguments(model, cluster), "--json", target, *arguments, code=code)
    if code != 0 or not os.path.exists(target):
        return None, target
    with open(target, encoding="utf-8") as handle:
        return json.load(handle), target


def export(file, to, *arguments, code=0):
    folder = path()
    result = run("export", file, "--to", to, "--out", folder, *arguments, code=code)
    return folder, result


def read(*parts):
    with open(os.path.join(*parts), encoding="utf-8") as handle:
        return handle.read()


def finish():
    print(f"{_checks} checks, {len(failures)} failures")
    sys.exit(1 if failures or _checks == 0 else 0)
