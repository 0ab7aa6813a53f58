#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write accelerators.json and links.json (yoke-catalog/1) from tables of published figures.

    import.py CSV_FOLDER [OUTPUT_FOLDER]

The folder holds accelerators.csv, links.csv and achieved_rates.csv. Every number gets
the clauses of the row's source text that speak of it: those that name its field or quote
its value, else those that name no field, else all that are about figures. A number for which only
"[R]" clauses stand is marked "not re-read"; one that a DISPUTED clause names, "disputed".
"""

import csv
import json
import re
import sys
from pathlib import Path

DTYPES = {
    "fp64": "fp64_tflops", "fp32": "fp32_tflops", "tf32": "tf32_tflops",
    "fp16": "fp16_tflops_dense", "bf16": "bf16_tflops_dense",
    "fp8": "fp8_tflops_dense", "int8": "int8_tops_dense",
}
GPU_MAKERS = {"NVIDIA", "AMD", "Intel", "Hygon", "Moore Threads", "MetaX", "Iluvatar CoreX",
              "Biren", "T-Head"}

# Packages that the runtime shows as several devices (named in the rows' sources).
PARTS = {"Instinct MI250X": 2, "Data Center GPU Max 1550": 2, "Ascend 910C": 2, "MLU370-X8": 2}

# PCI ids that a product outside of the table has too (named in the rows' sources).
SHARED = {"66a1": ["Radeon Pro VII"], "740c": ["Instinct MI250"], "0370": ["MLU370-S4"]}

# Data types that an NVIDIA generation has no matrix unit for: a known rate of 0, which is not
# the same as an unknown one. First compute capability (x 10) that has it.
FIRST_CAPABILITY = {"tf32": 80, "bf16": 80, "fp8": 89}
CAPABILITY_SOURCE = ("technolynx.com CUDA compute capability explained, 2026-05-05: bf16 and TF32 "
                     "from 8.0, fp8 from 8.9; below, the device cannot compute in it")

# Short names that people type where the table has only the long one.
SHORT = {
    "Instinct MI50": ["MI50"], "Instinct MI100": ["MI100"], "Instinct MI210": ["MI210"],
    "Instinct MI250X": ["MI250X"], "Instinct MI300X": ["MI300X"],
    "Instinct MI325X": ["MI325X"], "Instinct MI355X": ["MI355X"],
    "Instinct MI308X": ["AMD Instinct MI308X", "Instinct MI308X", "MI308X"],
    "Data Center GPU Max 1550": ["Max 1550"], "Data Center GPU Max 1100": ["Max 1100"],
    "Arc B580": ["Arc B580 Graphics"],
}

# Link column of accelerators.csv, and whose, to the row of links.csv.
LINK_ROWS = [
    (r"NVLink2", r"V100", "NVLink2 V100 per GPU"),
    (r"NVLink3", r"A100-SXM4", "NVLink3 A100 per GPU"),
    (r"NVLink3 \(cut\)", r"A800-SXM4", "NVLink3 A800 (cut) per GPU"),
    (r"NVLink3 bridge \(2 cards\)", r"A100-PCIE", "NVLink3 bridge A100/A800 PCIe pair"),
    (r"NVLink3 bridge", r"RTX 3090", "NVLink3 bridge RTX 3090 pair"),
    (r"NVLink4", r"H100-SXM5|H200|H20-", "NVLink4 H100/H200/H20 per GPU"),
    (r"NVLink4 \(cut\)", r"H800", "NVLink4 H800 (cut) per GPU"),
    (r"NVLink4 bridge \(2 cards\)", r"H100-PCIE", "NVLink4 bridge H100 PCIe pair"),
    (r"NVLink5", r"B200", "NVLink5 B200 per GPU"),
    (r"Infinity Fabric Link", r"MI50", "xGMI MI50 per GPU"),
    (r"Infinity Fabric", r"MI100", "xGMI MI100 per GPU (3 links)"),
    (r"Infinity Fabric", r"MI210", "xGMI MI210 per GPU (3 links)"),
    (r"Infinity Fabric", r"MI250X", "xGMI MI250X per GPU (7 links)"),
    (r"Infinity Fabric xGMI", r"MI300X|MI325X", "xGMI MI300X/MI325X per GPU (7 links)"),
    (r"Infinity Fabric xGMI", r"MI355X", "xGMI MI355X per GPU (7 links)"),
    (r"Xe Link", r"Max 1550", "Xe Link Max 1550"),
    (r"on-chip RoCE 24x100G", r"Gaudi2", "Gaudi2 RoCE 24x100G"),
    (r"on-chip RoCE 24x200G", r"Gaudi3", "Gaudi3 RoCE 24x200G"),
    (r"HCCS", r"910B[23]$", "HCCS 910B per NPU (8-card full mesh)"),
    (r"UB/HCCS", r"910C", "UB 910C per NPU (CloudMatrix384)"),
    (r"MLU-Link", r"MLU370", "MLU-Link MLU370-X8 per card"),
    (r"MTLink 1.0", r"S4000", "MTLink 1.0 S4000"),
    (r"MTLink", r"S5000", "MTLink S5000"),
    (r"MetaXLink", r"C550", "MetaXLink C500/C550"),
    (r"R480 UBB link", r"R300", "R480 UBB link R300"),
    (r"GCU-LARE 2.0", r"T20", "GCU-LARE 2.0 T20"),
    (r"BLink", r"BR100", "BLink BR100 (8 links)"),
    (r"ICNLink", r"PPU", "ICNLink PPU"),
]

# Shape of a link: switched (a pair gets the device's rate), mesh (a pair gets its share),
# pair (two devices only), islands. No entry: not known.
TOPOLOGY = [
    (r"^NVLink[1-6] (P100|V100|A100|A800|H100|H800|B200|Rubin)", "switched"),
    (r"^NVSwitch", "switched"), (r"^NVLink. bridge", "pair"), (r"per link$", "pair"),
    (r"^xGMI .* per GPU", "mesh"), (r"^HCCS", "mesh"), (r"^Gaudi[23] RoCE", "mesh"),
    (r"^UB 910C", "switched"), (r"^SIO|^NVLink-C2C", "pair"), (r"^MetaXLink", "islands"),
]

MAMF = "stas00/ml-engineering compute/accelerator/README.md"
# Device column of achieved_rates.csv to the rows it was measured on.
MEASURED = {
    "Intel Gaudi 2": ["Gaudi2"], "Intel Gaudi 3": ["Gaudi3"],
    "NVIDIA A100 SXM": ["A100-SXM4-40GB", "A100-SXM4-80GB"],
    "NVIDIA A100 PCIe": ["A100-PCIE-40GB", "A100-PCIE-80GB"],
    "NVIDIA H100 SXM": ["H100-SXM5-80GB"], "NVIDIA H200 SXM": ["H200-SXM-141GB"],
    "NVIDIA B200 SXM": ["B200-SXM-180GB"], "AMD MI300X": ["Instinct MI300X"],
    "AMD MI325X": ["Instinct MI325X"], "AMD MI355X": ["Instinct MI355X"],
    "nvidia A100": ["A100-SXM4-40GB"], "metax C550": ["C550"], "l40s": ["L40S"],
}
# Fractions that stand in the text of public reports only: (row, field, fraction, source).
QUOTED = [
    ("H200-SXM-141GB", "bf16", 0.803,
     MAMF + " (MAMF table gives one figure for H100 and H200: 80.3 %)"),
    ("DCU K100", "fp16", 0.329, "wangzy0327/hblas-bench DCU-bench.md (32.9 of 100 TFLOPS)"),
    ("DCU BW200", "fp16", 301.8 / 480,
     "wangzy0327/hblas-bench DCU-bench.md (301.8 of 480 TFLOPS at the default clock; 456.4 "
     "with the clock raised)"),
]
FIT = ("two-factor fit t0 + max(FLOPs / rate, bytes / bandwidth) to the bf16 GEMM tables of "
       "ai-dynamo/aiconfigurator systems/data/%s/gemm")
QUOTED += [
    (row, "bandwidth", fraction, FIT % table) for row, fraction, table in [
        ("A100-SXM4-80GB", 0.70, "a100_sxm"), ("H100-SXM5-80GB", 0.90, "h100_sxm"),
        ("H200-SXM-141GB", 0.85, "h200_sxm"), ("B200-SXM-180GB", 0.70, "b200_sxm"),
        ("L40S", 0.90, "l40s")]
]


def split_clauses(text):
    """Split at ';' outside of parentheses."""
    clauses, depth, start = [], 0, 0
    for i, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == ";" and depth <= 0:
            clauses.append(text[start:i].strip())
            start = i + 1
    clauses.append(text[start:].strip())
    return [clause for clause in clauses if clause]


KEYWORDS = {
    "memory": r"\bmem\b|\b[\d/. ]+ ?Gi?B\b(?!/s)|\b\d+ MiB\b|\b\d+ MB\b",
    "bandwidth": r"\bbw\b|\bTB/s\b|\bHBM\b",
    "link": r"\blink\b|\bbridge\b|per direction|\bP2P\b|xGMI|\bHCCS\b",
    "power": r"\btdp\b|\b\d+ ?W\b|PwrCap",
    "pcie": r"\bpcie\b|\bPCIe ?\d",
    "fp64": r"\bfp64\b", "fp32": r"\bfp32\b", "tf32": r"\btf32\b", "fp16": r"\bfp16\b",
    "bf16": r"\bbf16\b", "fp8": r"\bfp8\b", "int8": r"\bint8\b",
}
OTHER_HINTS = re.compile(r"\bids?\b|\byear\b|\bname\b|\bgfx|\barch\b|\bcores?\b|\btable\b|"
                         r"\bnote\b|\btype\b|\bCU\b", re.I)


def fields_of(text, values):
    """Fields that a text names, or whose value it quotes."""
    named = {f for f, pattern in KEYWORDS.items() if re.search(pattern, text, re.I)}
    for token in re.finditer(r"(?<![\w.])(\d+(?:\.\d+)?)\s*([A-Za-z/]*)", text):
        number, unit = float(token.group(1)), token.group(2)
        before = re.search(r"\b(fp64|fp32|tf32|fp16|bf16|fp8|int8)\s*=?\s*$",
                           text[:token.start()], re.I)
        for field, value in values.items():
            if before and field != before.group(1).lower():
                continue  # "int8 296" does not speak of an fp8 rate of 296
            if field == "bandwidth" and unit == "TB/s":
                fits = abs(number * 1000 - value) <= 0.005 * value
            elif field in ("bandwidth", "link"):
                fits = number == value and unit.startswith("GB/s")
                fits = fits or (field == "link" and unit == "GB/s" and number * 2 == value)
            elif field in DTYPES:
                fits = number == value and unit in ("", "INT", "int", "BF", "TFLOPS", "TOPS")
            else:
                fits = False
            if fits:
                named.add(field)
    return named


def hints_of(clause):
    """The part of a clause that says which figures it is about; '' when it does not say."""
    text = re.sub(r"\[[SR]\]", "", clause)
    groups = re.findall(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)", text)
    if re.match(r"^(fp|bf|tf|int|mem|bw)\S* =|^fp64/", text.strip(), re.I):
        groups.append(text)
    if ":" in text and not groups:
        groups.append(text.split(":", 1)[1])
    return " , ".join(groups)


class Sources:
    """Which clauses of one row's source text speak of which field."""

    def __init__(self, text, values):
        self.whole = text
        self.explicit = {}
        self.generic = []
        self.about = []  # clauses that are about figures at all
        self.disputed = {}
        for clause in split_clauses(text):
            if "DISPUTED" in clause:
                stated = clause[clause.index("DISPUTED"):]
                for field in fields_of(stated.replace("GB/s", "GB/s bw"), {}):
                    self.disputed[field] = clause
                if re.search(r"link|total|per direction", stated) and "bw" not in stated:
                    self.disputed.pop("bandwidth", None)
                # One matrix unit computes both; the dispute is about that unit.
                if "fp16" in self.disputed and values.get("fp16") == values.get("bf16"):
                    self.disputed["bf16"] = clause
                if re.match(r"DISPUTED evokernel-spec \d+,", stated):
                    self.disputed["fp16"] = self.disputed["bf16"] = clause
                continue
            if re.search(r"pci\.ids|19e5:d80", clause):
                continue  # says which card it is, not what it does
            self.about.append(clause)
            tagged = re.search(r"\[[SR]\]", clause)
            hint = hints_of(clause)
            if re.fullmatch(r"all", hint.strip()):
                self.generic.append(clause)
                continue
            excluded = re.match(r"all but (\w+)", hint.strip())
            if excluded:
                for field in values:
                    if field != excluded.group(1):
                        self.explicit.setdefault(field, []).append(clause)
                continue
            named = fields_of(hint, values)
            for field in named:
                self.explicit.setdefault(field, []).append(clause)
            if tagged and not named and not OTHER_HINTS.search(hint):
                self.generic.append(clause)

    def of(self, field):
        clauses = self.explicit.get(field) or self.generic or self.about or [self.whole]
        marks = []
        tags = {tag for clause in clauses for tag in re.findall(r"\[([SR])\]", clause)}
        if tags == {"R"}:
            marks.append("not re-read")
        if field in self.disputed:
            marks.append("disputed")
            clauses = [c for c in clauses if c != self.disputed[field]] + [self.disputed[field]]
        source = "; ".join(dict.fromkeys(re.sub(r"\[[SR]\] ?", "", c) for c in clauses))
        return {"source": source, "marks": marks}


def number(text):
    return float(text) if text.strip() else None


def whole(value):
    value = float("%.12g" % value)
    return int(value) if value == int(value) else value


def link_row(name, device):
    for link_pattern, device_pattern, row in LINK_ROWS:
        if re.fullmatch(link_pattern, name) and re.search(device_pattern, device):
            return row
    return None


def topology(name):
    return next((shape for pattern, shape in TOPOLOGY if re.search(pattern, name)), None)


def import_links(path):
    links = []
    for row in csv.DictReader(open(path, newline="", encoding="utf-8")):
        text = row["source"]
        tags = set(re.findall(r"\[([SR])\]", text.split("fraction [S]")[0]))
        marks = ["not re-read"] if tags == {"R"} or text.startswith("[R]") else []
        disputed = ["disputed"] if "DISPUTED" in text else []
        origin = {"source": re.sub(r"\[[SR]\] ?", "", text)}

        def quantity(key, value, own):
            return None if value is None else {key: whole(value), **origin, "marks": own}

        rate = number(row["gbytes_per_s_per_direction"])
        latency = number(row["latency_us"])
        links.append({
            "name": row["name"], "kind": row["kind"], "topology": topology(row["name"]),
            "rate": quantity("rate", None if rate is None else rate * 1e9, marks + disputed),
            "achieved": quantity("fraction", number(row["typical_achieved_fraction"]), []),
            "latency": quantity("seconds", None if latency is None else latency / 1e6, []),
            "source": text,
        })
    return links


def import_link_of(row, sources, links):
    name = row["intra_link_name"]
    if not name:
        return None
    total = number(row["intra_link_gbytes_per_s"])
    match = next((l for l in links if l["name"] == link_row(name, row["name"])), None)
    result = {"name": name, "row": None, "topology": topology(name), "rate": None,
              "source": None, "marks": []}
    if match:
        result["row"], result["topology"] = match["name"], match["topology"]
        if match["rate"]:
            result.update(match["rate"])
            if total is not None and total * 1e9 != 2 * match["rate"]["rate"]:
                result["marks"] = sorted(set(result["marks"]) | {"disputed"})
    if result["rate"] is None and total is not None:
        result.update(rate=whole(total / 2 * 1e9), **sources.of("link"))
        result["source"] += " (half of the bidirectional total)"
    if "bridge" in name:
        result["topology"] = "pair"
    if result["rate"] is not None and "link" in sources.disputed:
        result["marks"] = sorted(set(result["marks"]) | {"disputed"}, reverse=True)
    return result


def import_device(row, links):
    columns = dict(DTYPES, memory="mem_gib", bandwidth="mem_bw_gbytes_per_s",
                   link="intra_link_gbytes_per_s", power="tdp_w", pcie="pcie_gen")
    values = {f: number(row[c]) for f, c in columns.items() if row[c].strip()}
    sources = Sources(row["source"], values)

    def quantity(key, field, scale):
        if field not in values:
            return None
        return {key: whole(values[field] * scale), **sources.of(field)}

    def compute():
        rates = {}
        capability = re.search(r"\bsm_(\d+)", row["arch"])
        for dtype in DTYPES:
            first = FIRST_CAPABILITY.get(dtype)
            if dtype in values:
                rates[dtype] = quantity("rate", dtype, 1e12)
            elif first and capability and int(capability[1]) < first:
                rates[dtype] = {"rate": 0, "source": CAPABILITY_SOURCE, "marks": []}
        return rates

    ids = [i for i in row["pci_device_ids"].split(";") if i]
    aliases = [a for a in row["aliases"].split(";") if a and a != row["name"]]
    aliases += [a for a in SHORT.get(row["name"], []) if a not in aliases]
    lanes = number(row["pcie_lanes"])
    pcie = None
    if "pcie" in values or lanes:
        pcie = {"generation": whole(values["pcie"]) if "pcie" in values else None,
                "lanes": whole(lanes) if lanes else None, **sources.of("pcie")}
    return {
        "vendor": row["vendor"], "name": row["name"], "aliases": aliases,
        "kind": "gpu" if row["vendor"] in GPU_MAKERS else "npu",
        "pci": {"vendor": row["pci_vendor_id"] or None, "devices": ids,
                "shared": {i: SHARED[i] for i in ids if i in SHARED}},
        "architecture": row["arch"] or None,
        "year": int(row["year"]) if row["year"] else None,
        "parts": PARTS.get(row["name"], 1),
        "memory": quantity("bytes", "memory", 2 ** 30),
        "bandwidth": quantity("rate", "bandwidth", 1e9),
        "compute": compute(),
        "achieved": {}, "bandwidth_achieved": None,
        "link": import_link_of(row, sources, links),
        "pcie": pcie, "power": quantity("watts", "power", 1),
        "runtime": row["runtime"] or None, "collectives": row["collective_lib"] or None,
        "source": row["source"].replace(" seen in this session", " found"),
    }


def fraction_of(rate, device, dtype):
    """Measured rate over the peak that the catalog has, which may not be the source's."""
    peak = device["compute"].get(dtype)
    achieved = number(rate["achieved"])
    if achieved is not None and peak:
        return achieved * 1e12 / peak["rate"]
    return number(rate["fraction"])


def wanted(rate):
    """(field, rank) of a row of achieved_rates.csv that says something of a device."""
    source, metric = rate["source"], rate["metric"]
    if "MAMF" in source:
        return rate["dtype"], 3
    if "benchmarks:computation" in metric or \
            ("toolkits:computation" in metric and rate["device"] == "metax C550"):
        return rate["dtype"].lower(), 2
    if "benchmarks:main_memory-bandwidth" in metric:
        return "bandwidth", 2
    if rate["device"] == "l40s" and metric == "gemm TFLOPS":
        sizes = [int(s) for s in re.findall(r"[mnk]=(\d+)", rate["condition"])]
        return ("bf16", 1) if min(sizes) >= 1024 else (None, 0)
    return None, 0


def import_achieved(path, devices):
    by_name = {d["name"]: d for d in devices}
    best = {}
    for rate in csv.DictReader(open(path, newline="", encoding="utf-8")):
        field, rank = wanted(rate)
        for name in MEASURED.get(rate["device"], []) if field else []:
            if field == "bandwidth":
                fraction = number(rate["fraction"])
            else:
                fraction = fraction_of(rate, by_name[name], field)
            if fraction is None or fraction > 1:
                continue  # against another peak than the catalog's (fp64 tensor cores)
            said = rate["source"]
            if rate["achieved"]:
                said += " (%s of %s %s; %s)" % (rate["achieved"], rate["peak"], rate["unit"],
                                               rate["condition"] or rate["metric"])
            key = (rank, fraction)
            if key > best.get((name, field), ((0, 0),))[0]:
                best[name, field] = (key, said)
    for name, field, fraction, said in QUOTED:
        best.setdefault((name, field), ((1, fraction), said))
    for (name, field), ((_, fraction), said) in best.items():
        figure = {"fraction": whole(round(fraction, 4)), "source": said, "marks": []}
        if field == "bandwidth":
            by_name[name]["bandwidth_achieved"] = figure
        else:
            by_name[name]["achieved"][field] = figure
    for device in devices:
        device["achieved"] = {d: device["achieved"][d] for d in DTYPES
                              if d in device["achieved"]}


def write(path, document):
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    output = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).parent
    links = import_links(folder / "links.csv")
    rows = csv.DictReader(open(folder / "accelerators.csv", newline="", encoding="utf-8"))
    devices = [import_device(row, links) for row in rows]
    import_achieved(folder / "achieved_rates.csv", devices)
    write(output / "accelerators.json",
          {"schema": "yoke-catalog/1", "devices": devices, "links": []})
    write(output / "links.json", {"schema": "yoke-catalog/1", "devices": [], "links": links})


if __name__ == "__main__":
    main()
