# SPDX-License-Identifier: Apache-2.0
"""FAKE vendor libraries: what is one device and what is several. Slices of a card, tiles in
both hierarchies, chips of a card, one card seen by two runtimes: exact counts."""
import common
import fakes
from common import equal
from fakes import CARDS, Runtime, available, cards, inventory

fakes.RUNTIMES["nvml"] = Runtime("nvidia", {"YOKE_LIB_NVML": "nvidia/libnvidia-ml.so.1"}, [],
                                 None, None, 0)


def shape(document):
    return {i: (d.get("parent"), d["partition"], d["schedulable"], len(d["views"]))
            for i, d in cards(document).items()}


def slices():
    """NVML and CUDA see one card; its three slices are devices, and it is none to use."""
    document = inventory(folder, ["cuda", "nvml"], ["nvidia count 2", "nvidia:0 mig 3",
                                                    f"nvidia:0 pci {CARDS[0]}",
                                                    f"nvidia:1 pci {CARDS[1]}"])
    want = {f"{CARDS[0]}/mig{i}": (CARDS[0], f"mig{i}", True, 1) for i in range(3)}
    want.update({CARDS[0]: (None, None, False, 2), CARDS[1]: (None, None, True, 2)})
    equal(shape(document), want, "slices")


def tiles():
    lines = ["level_zero count 2", "level_zero tiles 2", f"level_zero:0 pci {CARDS[0]}",
             f"level_zero:1 pci {CARDS[1]}"]
    document = inventory(folder, ["level_zero"], lines, ZE_FLAT_DEVICE_HIERARCHY="COMPOSITE")
    equal(shape(document), {c: (None, None, True, 1) for c in CARDS[:2]}, "whole cards")
    document = inventory(folder, ["level_zero"], lines, ZE_FLAT_DEVICE_HIERARCHY="FLAT")
    equal(shape(document), {f"{c}/tile{i}": (None, f"tile{i}", True, 1)
                            for c in CARDS[:2] for i in range(2)}, "tiles")


def chips():
    """Cards of two chips that have an address each."""
    document = inventory(folder, ["ascend"], ["ascend count 4", "ascend chips 2"] +
                         [f"ascend:{i} pci {CARDS[i]}" for i in range(4)])
    equal(shape(document), {c: (None, None, True, 1) for c in CARDS[:4]}, "chips")


def strangers():
    """Two makers' cards are never one, however much they are alike: other domains."""
    document = inventory(folder, ["cuda", "hip"],
                         ["nvidia count 2", "nvidia:0 pci 0000:02:00.0",
                          "nvidia:1 pci 0001:02:00.0", "amd count 2",
                          "amd:0 pci 0002:02:00.0", "amd:1 pci 10000:02:00.0"])
    equal(sorted(cards(document)), ["0000:02:00.0", "0001:02:00.0", "0002:02:00.0",
                                    "10000:02:00.0"], "one slot in four domains")
    equal([d["vendor"] for _, d in sorted(cards(document).items())],
          ["NVIDIA", "NVIDIA", "AMD", "AMD"], "their makers")


with common.temporary() as folder:
    there = available()
    slices()
    strangers()
    chips()
    if "level_zero" in there:
        tiles()
common.finish()
