# SPDX-License-Identifier: Apache-2.0
"""The schema and the reader are of one mind about what a plan document is.

A full plan as the library writes it must validate. Every member of it is then removed,
made null, given a value of another kind and an out-of-range number, and every object gets
an unknown member: each time the schema's verdict must be the reader's.
"""
import copy
import json
import os
import subprocess
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

reader = sys.argv[1]
source = os.environ["YOKE_SOURCE_DIR"]
with open(os.path.join(source, "schema", "yoke-plan-1.schema.json"), encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)

full = json.loads(subprocess.run([reader, "--full"], check=True, capture_output=True).stdout)
with open(os.path.join(source, "tests", "partition", "plans", "by-hand.json"),
          encoding="utf-8") as file:
    hand = json.load(file)


def places(value, path=()):
    """All places of a document; of equal list items only the first."""
    yield path
    if isinstance(value, dict):
        for key in value:
            if not key.startswith("x-"):
                yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for index in range(min(len(value), 1)):
            yield from places(value[index], path + (index,))


def parent_of(root, path):
    for key in path[:-1]:
        root = root[key]
    return root


def at(root, path):
    return parent_of(root, path)[path[-1]] if path else root


def mutations(document):
    """(what, mutated document)"""
    yield "unchanged", document
    for path in places(document):
        name = "/" + "/".join(str(key) for key in path)
        here = at(document, path)
        if isinstance(here, dict):
            for key in ("unknown", "x-own"):
                other = copy.deepcopy(document)
                at(other, path)[key] = {"a": 1}
                yield f"{name} + {key}", other
        if not path:
            continue
        other = copy.deepcopy(document)
        del parent_of(other, path)[path[-1]]
        yield f"{name} removed", other
        for value in (None, True, "other", -1, 0, 1.5, 1e300, {}, [1, 2], ["a"]):
            other = copy.deepcopy(document)
            parent_of(other, path)[path[-1]] = value
            yield f"{name} = {json.dumps(value)}", other


cases = list(mutations(full)) + list(mutations(hand))
lines = "".join(json.dumps(document) + "\n" for _, document in cases)
verdicts = subprocess.run([reader], check=True, input=lines, capture_output=True,
                          text=True).stdout.splitlines()
assert len(verdicts) == len(cases), (len(verdicts), len(cases))

failures = 0
accepted = 0
for (what, document), verdict in zip(cases, verdicts):
    valid = validator.is_valid(document)
    accepted += valid
    if valid != (verdict == "ok"):
        failures += 1
        print(f"{what}: the schema says {'valid' if valid else 'invalid'}, the reader: {verdict}")
    if what == "unchanged" and not valid:
        failures += 1
        for error in validator.iter_errors(document):
            print(f"unchanged: {error.json_path}: {error.message}")
print(f"{len(cases)} documents, {accepted} accepted, {failures} disagreements")
assert accepted > 100 and len(cases) - accepted > 100
sys.exit(1 if failures else 0)
