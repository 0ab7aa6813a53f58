#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`yoke catalog`: lists, one row with its sources, JSON by the schema, user files, exit codes."""

import json
import os
import re
import subprocess
import sys
import tempfile

import jsonschema

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]


def run(*arguments, code=0, environment=None):
    done = subprocess.run([YOKE, "catalog", *arguments], capture_output=True, text=True,
                          check=False, env={**os.environ, **(environment or {})})
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


def names(*arguments, **more):
    return [d["name"] for d in json.loads(run("--json", "-", *arguments, **more))["devices"]]


def main():
    with open(os.path.join(SOURCE, "schema/yoke-catalog-1.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    everything = json.loads(run("--json", "-"))
    jsonschema.Draft202012Validator(schema).validate(everything)
    assert len(everything["devices"]) == 70 and everything["links"] == []
    links = json.loads(run("--links", "--json", "-"))
    jsonschema.Draft202012Validator(schema).validate(links)
    assert len(links["links"]) == 60

    for words in ([], ["--links"], ["H20"], ["huawei"], ["--links", "xgmi", "mi50"]):
        width = max(map(len, run(*words).splitlines()))
        assert width <= 80 or words == ["--links"], (words, width)
    listing = run()
    for device in everything["devices"]:
        assert device["name"] in listing, device["name"]

    assert names("H20") == ["H20-96GB"], "an exact alias is that row alone"
    assert names("910B") == [f"Ascend 910B{s}" for s in ("1", "2", "3", "4", "4-1")]
    assert names("--vendor", "huawei technologies") == names("huawei")
    assert names("hopper", "800") == ["H800-SXM5-80GB"]

    shown = run("H800-SXM5-80GB")
    assert "[disputed]" in shown and "[not re-read]" in shown
    assert "philisun.com" in shown and "450" not in shown
    assert "half" in run("MI250X")

    # A rate of 0 is a device that cannot: the list shows what it can.
    for device in everything["devices"]:
        bf16 = device["compute"].get("bf16", {}).get("rate")
        row = next(line for line in listing.splitlines() if f" {device['name']} " in line)
        assert not re.search(r" 0 ", row), row
        if bf16 == 0:
            shown = run(device["name"])
            assert "0 FLOP/s" not in re.sub(r"\d0 FLOP/s", "", shown), shown
            assert re.search(r"^  bf16 +none: cannot compute in it", shown, re.M), shown

    assert "near are" in run("RTX4080", code=1)
    assert "near are" not in run("qqq", code=1)
    run("--links", "--vendor", "AMD", code=2)
    run("--bogus", code=2)
    with tempfile.TemporaryDirectory() as folder:
        own = os.path.join(folder, "own.json")
        with open(own, "w", encoding="utf-8") as out:
            json.dump({"schema": "yoke-catalog/1", "devices": [
                {"vendor": "Acme", "name": "A1", "memory": {"bytes": 5, "source": "label"}},
                {"vendor": "NVIDIA", "name": "L4",
                 "memory": {"bytes": 1, "source": "mine"}}]}, out)
        assert names("Acme", "--catalog", own) == ["A1"]
        assert names("Acme", environment={"YOKE_CATALOG": own}) == ["A1"]
        assert "mine" in run("L4", "--catalog", own)
        with open(own, "w", encoding="utf-8") as out:
            out.write('{"schema": "yoke-catalog/1", "devices": [{"name": 5}]}')
        assert "/devices/0/name" in run("--catalog", own, code=3)
        run("--catalog", os.path.join(folder, "none.json"), code=3)


if __name__ == "__main__":
    sys.exit(main())
