# SPDX-License-Identifier: Apache-2.0
"""The file of constants matches its schema, and the schema refuses one without a source."""
import copy
import json
import os
import sys

import jsonschema

SOURCE = os.environ["YOKE_SOURCE_DIR"]


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return json.load(file)


schema = read("schema", "yoke-constants-1.schema.json")
constants = read("data", "costmodel", "constants.json")
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
validator.validate(constants)
for member in ("value", "unit", "source"):
    broken = copy.deepcopy(constants)
    del broken["constants"]["slack_fraction"][member]
    if validator.is_valid(broken):
        sys.exit(f"the schema accepts a constant without {member}")

profiles = read("schema", "yoke-profiles-1.schema.json")
jsonschema.Draft202012Validator.check_schema(profiles)
bundled = read("data", "costmodel", "profiles.json")
jsonschema.Draft202012Validator(profiles).validate(bundled)
del bundled["profiles"][0]["source"]
if jsonschema.Draft202012Validator(profiles).is_valid(bundled):
    sys.exit("the schema accepts a profile without a source")
