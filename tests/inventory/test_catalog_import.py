#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The catalog in data/ is what data/catalog/import.py makes of the published tables, and what
it makes is right: every row, every number, each with its source."""

import csv
import json
import os
import subprocess
import sys
import tempfile

import jsonschema

SOURCE = os.environ["YOKE_SOURCE_DIR"]
SHARED = os.path.join(os.environ.get("YOKE_SHARED_DIR", os.path.join(SOURCE, "../shared")),
                      "catalog")
DATA = os.path.join(SOURCE, "data/catalog")


def load(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def check_schema():
    with open(os.path.join(SOURCE, "schema/yoke-catalog-1.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    for name in ("accelerators.json", "links.json"):
        jsonschema.Draft202012Validator(schema).validate(load(DATA, name))


def check_bytes(folder):
    subprocess.run([sys.executable, os.path.join(DATA, "import.py"), SHARED, folder], check=True)
    for name in ("accelerators.json", "links.json"):
        with open(os.path.join(DATA, name), "rb") as a, open(os.path.join(folder, name), "rb") as b:
            assert a.read() == b.read(), f"{name} is not what import.py makes; run it again"


def close(value, wanted):
    return abs(value - wanted) <= 1e-9 * abs(wanted)


def check_figure(row, column, scale, figure, key):
    """A number of the table, in SI units, with a source; no number where it has none."""
    text = row[column].strip()
    if not text:
        cannot = figure is not None and figure.get("rate") == 0 and "capability" in figure["source"]
        assert figure is None or cannot, (row["name"], column)
        return
    assert close(figure[key], float(text) * scale), (row["name"], column, figure)
    assert figure["source"].strip(), (row["name"], column)
    if "[R]" not in row["source"] and key != "link":
        assert "not re-read" not in figure["marks"], (row["name"], column)


def check_devices():
    dtypes = {"fp64": "fp64_tflops", "fp32": "fp32_tflops", "tf32": "tf32_tflops",
              "fp16": "fp16_tflops_dense", "bf16": "bf16_tflops_dense",
              "fp8": "fp8_tflops_dense", "int8": "int8_tops_dense"}
    with open(os.path.join(SHARED, "accelerators.csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    devices = load(DATA, "accelerators.json")["devices"]
    assert len(rows) == len(devices) == 70
    for row, device in zip(rows, devices):
        assert device["name"] == row["name"] and device["vendor"] == row["vendor"]
        assert set(filter(None, row["aliases"].split(";"))) <= \
            set(device["aliases"]) | {device["name"]}
        assert device["pci"]["devices"] == [i for i in row["pci_device_ids"].split(";") if i]
        check_figure(row, "mem_gib", 2 ** 30, device["memory"], "bytes")
        check_figure(row, "mem_bw_gbytes_per_s", 1e9, device["bandwidth"], "rate")
        check_figure(row, "tdp_w", 1, device["power"], "watts")
        for dtype, column in dtypes.items():
            check_figure(row, column, 1e12, device["compute"].get(dtype), "rate")
        total = row["intra_link_gbytes_per_s"]
        if total and device["link"]["rate"] != float(total) / 2 * 1e9:
            assert "disputed" in device["link"]["marks"], device["name"]
        for figure in device["achieved"].values():
            assert 0 < figure["fraction"] <= 1 and figure["source"]


def check_links():
    with open(os.path.join(SHARED, "links.csv"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    links = load(DATA, "links.json")["links"]
    assert len(rows) == len(links) == 60
    for row, link in zip(rows, links):
        assert link["name"] == row["name"] and link["kind"] == row["kind"]
        check_figure(row, "gbytes_per_s_per_direction", 1e9, link["rate"], "rate")
        check_figure(row, "typical_achieved_fraction", 1, link["achieved"], "fraction")
        check_figure(row, "latency_us", 1e-6, link["latency"], "seconds")


def check_marks():
    """Marks read off the tables by hand."""
    devices = {d["name"]: d for d in load(DATA, "accelerators.json")["devices"]}

    def marks(name, dtype):
        return devices[name]["compute"][dtype]["marks"]

    assert marks("A100-SXM4-80GB", "bf16") == []
    assert marks("H800-SXM5-80GB", "fp64") == ["disputed"]
    assert marks("H800-SXM5-80GB", "fp32") == ["not re-read"]
    assert marks("H20-96GB", "fp8") == ["not re-read"]
    assert marks("H20-96GB", "int8") == []
    assert marks("B200-SXM-180GB", "fp64") == ["not re-read", "disputed"]
    assert marks("RTX 4090", "fp16") == ["disputed"]
    assert marks("Ascend 910B3", "fp16") == ["disputed"]
    assert marks("L20", "tf32") == ["not re-read"]
    assert devices["H20-96GB"]["bandwidth"]["marks"] == ["disputed"]
    assert devices["Ascend 910C"]["memory"]["marks"] == ["disputed"]
    assert devices["DCU K100"]["power"]["marks"] == ["disputed"]
    assert devices["DCU BW1000"]["compute"] == {} and devices["DCU BW1000"]["memory"] is None
    fractions = {n: d["achieved"].get("bf16", {}).get("fraction") for n, d in devices.items()}
    for name, wanted in (("Gaudi2", .969), ("A100-SXM4-80GB", .869), ("H100-SXM5-80GB", .803),
                         ("B200-SXM-180GB", .776), ("Gaudi3", .741), ("C550", .828)):
        assert abs(fractions[name] - wanted) < .001, (name, fractions[name])
    # Of another peak than the table's: the rate that was measured must come out.
    for name, measured in (("Instinct MI355X", 1565.0e12), ("Instinct MI300X", 668.4e12)):
        rate = devices[name]["compute"]["bf16"]["rate"] * fractions[name]
        assert abs(rate - measured) < .001 * measured, (name, rate)
    for name in ("Ascend 910B3", "L4", "A800-SXM4-80GB", "RTX 3090"):
        assert devices[name]["achieved"] == {}, name


def main():
    check_schema()
    check_marks()
    if not os.path.exists(os.path.join(SHARED, "accelerators.csv")):
        print("skipped: the published tables are not there; set YOKE_SHARED_DIR")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        check_bytes(folder)
    check_devices()
    check_links()
    return 0


if __name__ == "__main__":
    sys.exit(main())
