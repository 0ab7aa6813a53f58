#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sample row of docs/add-a-catalog-row.md: by the schema, read, and planned on as it says."""
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

import jsonschema

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]


def main():
    with open(os.path.join(SOURCE, "docs/add-a-catalog-row.md"), encoding="utf-8") as file:
        page = file.read()
    sample = json.loads(re.search(r"```json\n(.*?)```", page, re.S).group(1))
    with open(os.path.join(SOURCE, "schema/yoke-catalog-1.schema.json"), encoding="utf-8") as file:
        jsonschema.Draft202012Validator(json.load(file)).validate(sample)
    commands = [shlex.split(line) for line in re.findall(r"`(yoke [^`]*--catalog acme\.json[^`]*)`",
                                                         page.replace("\n", " "))]
    assert len(commands) == 2, commands
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "acme.json"), "w", encoding="utf-8") as out:
            json.dump(sample, out)
        for words in commands:
            done = subprocess.run([YOKE, *words[1:]], cwd=folder, capture_output=True, text=True,
                                  timeout=120, check=False)
            assert done.returncode == 0, (words, done.stderr)
            assert "A1-64GB" in done.stdout, done.stdout


if __name__ == "__main__":
    sys.exit(main())
