# SPDX-License-Identifier: Apache-2.0
"""FAKE vendor libraries: masks, permuted orders, broken cards. No hardware is involved."""
import os
import re

import common
from common import build, by_id, check, equal, findings

CARDS = [f"{i % 4:04x}:{2 + i // 4:02x}:00.0" for i in range(8)]


def inventory(backends, expect=0, **env):
    return common.inventory("--backend", backends, expect=expect,
                            env=common.environment(**libraries, **env))


def view(device, runtime):
    return next(v for v in device["views"] if v["runtime"] == runtime)


def cards(document):
    return {i: d for i, d in by_id(document).items() if d["kind"] in ("gpu", "npu")}


def visible(document):
    return sorted(i for i, d in cards(document).items() if d["hidden_by"] is None)


with common.temporary() as folder:
    libraries = {"YOKE_LIB_" + name.upper(): build(folder, f"lib{name}.so", f"fake_{name}.c")
                 for name in ("cuda", "nvml", "hip")}
    masks = [("cuda", "CUDA_VISIBLE_DEVICES"), ("hip", "HIP_VISIBLE_DEVICES")]
    if os.path.exists("/usr/include/level_zero/ze_api.h"):
        libraries["YOKE_LIB_LEVEL_ZERO"] = build(folder, "libze.so", "fake_ze.c")
        masks.append(("level_zero", "ZE_AFFINITY_MASK"))

    for runtime, variable in masks:
        equal(sorted(cards(inventory(runtime))), sorted(CARDS), f"{runtime}: all cards")
        document = inventory(runtime, **{variable: "5,2"})
        found = cards(document)
        equal(sorted(found), sorted(CARDS), f"{runtime}: hidden cards are listed")
        equal(visible(document), sorted([CARDS[5], CARDS[2]]), f"{runtime}: visible ones")
        for i, card in enumerate(CARDS):
            seen = view(found[card], runtime)
            equal((seen["ordinal"], seen["native"]), ({5: 0, 2: 1}.get(i), i),
                  f"{runtime}: both numberings of {card}")
            equal(found[card]["hidden_by"], None if i in (5, 2) else variable,
                  f"{runtime}: what hides {card}")
            equal(found[card]["schedulable"], i in (5, 2), f"{runtime}: use of {card}")
        hidden = [f for f in document["nodes"][0]["findings"] if f["verdict"] == "hidden"]
        check(len(hidden) == 1 and f"{variable}=5,2 hides 6" in hidden[0]["text"],
              f"{runtime}: the finding: {hidden}")

        document = inventory(runtime, expect=5, FAKE_BROKEN=3)
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

    equal(shape(inventory("cuda,nvml")), shape(inventory("cuda,nvml", FAKE_ORDER="reverse")),
          "devices in another order")
    document = inventory("cuda,nvml", FAKE_ORDER="reverse")
    equal([(view(d, "cuda")["ordinal"], view(d, "nvml")["ordinal"])
           for d in cards(document).values()],
          [(7 - i, i) for i in sorted(range(8), key=lambda n: CARDS[n])],
          "one card, two indexes")

    # NVML: what CUDA does not tell without a context.
    found = cards(inventory("cuda,nvml"))[CARDS[0]]
    equal(found["memory"]["free"], 1073741824, "free memory by NVML")
    equal(found["pcie"]["generation"], 4, "PCIe link by NVML")
    equal(found["pci_ids"], "10de:2330", "PCI ids by NVML")
    finding = findings(inventory("nvml", expect=5, FAKE_NVML_INIT=18))["nvml"]
    equal((finding["verdict"], finding["code_name"]),
          ("driver mismatch", "NVML_ERROR_LIB_RM_VERSION_MISMATCH"), "NVML of another driver")
    document = inventory("nvml", expect=5, FAKE_BROKEN=3)
    equal([d["health"] for d in cards(document).values() if d["health"] not in (None, "ok")],
          ["lost"], "a card that fell off the bus")
common.finish()
