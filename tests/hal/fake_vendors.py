# SPDX-License-Identifier: Apache-2.0
"""FAKE vendor libraries: masks, permuted orders, broken cards. No hardware is involved."""
import ctypes
import os
import re

import common
from common import by_id, check, equal, findings

# Four PCI domains, as MI300 machines have: the bus number alone tells nothing.
CARDS = [f"{i % 4:04x}:{2 + i // 4:02x}:00.0" for i in range(8)]
FAKES = os.path.join(os.environ["YOKE_BUILD_DIR"], "tests", "fakes", "lib")


def cards_file(lines):
    """What tests/fakes/README.md describes: eight cards of each vendor, and `lines`."""
    path = os.path.join(folder, "fakes")
    with open(path, "w") as file:
        for vendor in ("nvidia", "amd", "level_zero"):
            print(vendor, "count 8", file=file)
            for i, card in enumerate(CARDS):
                print(f"{vendor}:{i} pci {card}", file=file)
        print("nvidia memory 80G\nnvidia free 1G\namd name AMD Instinct MI300X", file=file)
        print(lines, file=file)
    return path


def inventory(backends, expect=0, lines="", **env):
    return common.inventory("--backend", backends, expect=expect,
                            env=common.environment(**libraries, YOKE_FAKES=cards_file(lines),
                                                   **env))


def has_loader():
    try:
        ctypes.CDLL("libze_loader.so.1")
    except OSError:
        return False
    return True


def view(device, runtime):
    return next(v for v in device["views"] if v["runtime"] == runtime)


def cards(document):
    return {i: d for i, d in by_id(document).items() if d["kind"] in ("gpu", "npu")}


def visible(document):
    return sorted(i for i, d in cards(document).items() if d["hidden_by"] is None)


with common.temporary() as folder:
    libraries = {"YOKE_LIB_CUDA": f"{FAKES}/nvidia/libcuda.so.1",
                 "YOKE_LIB_NVML": f"{FAKES}/nvidia/libnvidia-ml.so.1",
                 "YOKE_LIB_HIP": f"{FAKES}/amd/libamdhip64.so.6"}
    masks = [("cuda", "CUDA_VISIBLE_DEVICES", {5: 0, 2: 1}),
             ("hip", "HIP_VISIBLE_DEVICES", {5: 0, 2: 1})]
    # Level Zero: the real loader with the fake driver of tests/fakes, whose order no mask
    # changes.
    driver = f"{FAKES}/level_zero/libze_intel_gpu.so.1"
    if os.path.exists(driver) and has_loader():
        libraries["ZE_ENABLE_ALT_DRIVERS"] = driver
        masks.append(("level_zero", "ZE_AFFINITY_MASK", {2: 0, 5: 1}))

    for runtime, variable, ordinals in masks:
        equal(sorted(cards(inventory(runtime))), sorted(CARDS), f"{runtime}: all cards")
        document = inventory(runtime, **{variable: "5,2"})
        found = cards(document)
        equal(sorted(found), sorted(CARDS), f"{runtime}: hidden cards are listed")
        equal(visible(document), sorted([CARDS[5], CARDS[2]]), f"{runtime}: visible ones")
        for i, card in enumerate(CARDS):
            seen = view(found[card], runtime)
            equal((seen["ordinal"], seen["native"]), (ordinals.get(i), i),
                  f"{runtime}: both numberings of {card}")
            equal(found[card]["hidden_by"], None if i in (5, 2) else variable,
                  f"{runtime}: what hides {card}")
            equal(found[card]["schedulable"], i in (5, 2), f"{runtime}: use of {card}")
        hidden = [f for f in document["nodes"][0]["findings"] if f["verdict"] == "hidden"]
        check(len(hidden) == 1 and f"{variable}=5,2 hides 6" in hidden[0]["text"],
              f"{runtime}: the finding: {hidden}")

        document = inventory(runtime, expect=5, lines="nvidia:3 broken 101\namd:3 broken 101"
                             "\nlevel_zero:3 broken 0x70000001")
        found = cards(document)
        equal(sum(1 for d in found.values() if d["schedulable"]), 7,
              f"{runtime}: one faulty card costs one device")
        equal([d["health"] for d in found.values() if not d["schedulable"]],
              ["lost" if runtime == "level_zero" else "faulty"], f"{runtime}: its health")

    # No GPU left over: "no device" is the mask's doing, not the library's.
    document = inventory("cuda", CUDA_VISIBLE_DEVICES="")
    equal((visible(document), len(cards(document))), ([], 8), "all hidden")

    # The order in which a runtime numbers its cards changes nothing but the numbers.
    def shape(document):
        return re.sub(r'"(ordinal|native)": \d+', "", common.json.dumps(
            cards(document), sort_keys=True))

    equal(shape(inventory("cuda,nvml")),
          shape(inventory("cuda,nvml", lines="nvidia order reverse")),
          "devices in another order")
    document = inventory("cuda,nvml", lines="nvidia order reverse")
    equal([(view(d, "cuda")["ordinal"], view(d, "nvml")["ordinal"])
           for d in cards(document).values()],
          [(7 - i, i) for i in sorted(range(8), key=lambda n: CARDS[n])],
          "one card, two indexes")

    # NVML: what CUDA does not tell without a context.
    found = cards(inventory("cuda,nvml"))[CARDS[0]]
    equal(found["memory"]["free"], 1073741824, "free memory by NVML")
    equal(found["pcie"]["generation"], 4, "PCIe link by NVML")
    equal(found["pci_ids"], "10de:2330", "PCI ids by NVML")
    finding = findings(inventory("nvml", expect=5, lines="nvidia nvml_init 18"))["nvml"]
    equal((finding["verdict"], finding["code_name"]),
          ("driver mismatch", "NVML_ERROR_LIB_RM_VERSION_MISMATCH"), "NVML of another driver")
    document = inventory("nvml", expect=5, lines="nvidia:3 broken 101")
    equal([d["health"] for d in cards(document).values() if d["health"] not in (None, "ok")],
          ["lost"], "a card that fell off the bus")
common.finish()
