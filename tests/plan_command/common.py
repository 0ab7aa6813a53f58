# SPDX-License-Identifier: Apache-2.0
"""Running yoke plan, reading what it says, collecting failures."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]
CASES = os.path.join(SOURCE, "tests", "cases")
QUICK = "quick" in sys.argv[1:]  # with sanitizers: a part of the long lists
failures = []
_checks = 0
_folder = tempfile.TemporaryDirectory()
FOLDER = _folder.name

try:
    import jsonschema
    with open(os.path.join(SOURCE, "schema", "yoke-plan-1.schema.json"), encoding="utf-8") as _file:
        _validator = jsonschema.Draft202012Validator(json.load(_file))
except ImportError:
    _validator = None


def expect(condition, what):
    global _checks
    _checks += 1
    if not condition:
        failures.append(what)
        print("FAILED:", what)
    return bool(condition)


def case(name, file="rows.json"):
    with open(os.path.join(CASES, name, file), encoding="utf-8") as handle:
        return json.load(handle)


def shown(arguments):
    return "yoke " + " ".join(shlex.quote(a) for a in arguments)


def run(*arguments, stdin=None, environment=None):
    """Any subcommand. A crash, a sanitizer's report or a hang is a failure by itself."""
    try:
        result = subprocess.run([YOKE, *arguments], capture_output=True, timeout=60, check=False,
                                input=stdin, stdin=None if stdin else subprocess.DEVNULL,
                                env=environment)
    except subprocess.TimeoutExpired:
        print("FAILED: no end after 60 s:", shown(arguments))
        finish(1)
    result.out = result.stdout.decode("utf-8", "replace")
    result.err = result.stderr.decode("utf-8", "replace")
    expect(0 <= result.returncode <= 5 and "Sanitizer" not in result.err
           and "runtime error" not in result.err,
           f"{shown(arguments)}: exit {result.returncode}: {result.err[-1500:]}")
    return result


def refused(*arguments, code, says=(), stdin=None):
    """Exit code, one message on stderr with all of `says`, nothing on stdout."""
    result = run(*arguments, stdin=stdin)
    expect(result.returncode == code,
           f"{shown(arguments)}: exit {result.returncode}, expected {code}: {result.err}")
    expect(result.out == "", f"{shown(arguments)}: refused, and wrote {result.out[:80]!r}")
    lines = result.err.splitlines()
    expect(len(lines) == 1, f"{shown(arguments)}: {len(lines)} messages: {result.err}")
    for part in says:
        expect(part in result.err, f"{shown(arguments)}: no '{part}' in: {result.err}")
    return result.err


def plan(*arguments, stdin=None, says=None):
    """The plan document, valid by the schema; None after a recorded failure."""
    arguments = ("plan", *arguments, "--json", "-")
    result = run(*arguments, stdin=stdin)
    if not expect(result.returncode == 0,
                  f"{shown(arguments)}: exit {result.returncode}: {result.err}"):
        return None
    document = json.loads(result.out)
    if _validator is not None:
        errors = list(_validator.iter_errors(document))
        expect(not errors, f"{shown(arguments)}: {errors[:1]}")
    for note in says or ():
        expect(any(note in n for n in document["notes"]), f"no note '{note}'")
    return document


def stages(document):
    """[first, last] of every stage of every pipeline, one list a pipeline."""
    return [[tuple(chunk) for stage in pipeline["stages"] for chunk in stage["chunks"]]
            for pipeline in document["pipelines"]]


def sizes(document):
    """Layers of each stage of the only pipeline."""
    return [last - first + 1 for first, last in stages(document)[0]]


def covers(document, layers):
    """Every layer is in exactly one stage of each pipeline, in order, none empty."""
    for pipeline in stages(document):
        following = 0
        for first, last in pipeline:
            if first != following or last < first:
                return False
            following = last + 1
        if following != layers:
            return False
    return True


def used(document):
    return sorted({device["device"] for pipeline in document["pipelines"]
                   for stage in pipeline["stages"] for replica in stage["replicas"]
                   for device in replica["devices"]})


def unused(document):
    return {entry["device"]: entry["reason"] for entry in document["unused"]}


def write(name, content):
    path = os.path.join(FOLDER, name)
    with open(path, "w", encoding="utf-8") as file:
        if isinstance(content, str):
            file.write(content)
        else:
            json.dump(content, file)
    return path


def words(text):
    """Runs of blanks and line ends as one blank: a table's text without its wrapping."""
    return re.sub(r"\s+", " ", text)


def finish(code=None):
    if _validator is None:
        print("note: python3-jsonschema is not installed; no plan was checked by the schema")
    print(f"{_checks} checks, {len(failures)} failures")
    sys.stdout.flush()
    _folder.cleanup()
    sys.exit(code if code is not None else 1 if failures else 0)
