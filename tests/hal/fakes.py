# SPDX-License-Identifier: Apache-2.0
"""What the scripts share that probe FAKE vendor libraries (tests/fakes): where they are, the
file that says what their devices are like."""
import ctypes
import os

import common

FOLDER = os.path.join(os.environ["YOKE_BUILD_DIR"], "tests", "fakes", "lib")
# Four PCI domains, as MI300 machines have: the bus number alone tells nothing.
CARDS = [f"{i % 4:04x}:{2 + i // 4:02x}:00.0" for i in range(8)]


class Runtime:
    def __init__(self, vendor, variables, masks, count, name_call, lost, kind="gpu"):
        self.vendor = vendor        # first word of the lines in $YOKE_FAKES
        self.variables = variables  # which library our backend takes
        self.masks = masks          # variables that hide devices, each alone
        self.count = count          # call that tells how many devices there are
        self.name_call = name_call  # call that every device must answer
        self.lost = lost            # the vendor's code for a device that is gone
        self.kind = kind


RUNTIMES = {
    "cuda": Runtime("nvidia", {"YOKE_LIB_CUDA": "nvidia/libcuda.so.1"},
                    ["CUDA_VISIBLE_DEVICES"], "cuDeviceGetCount", "cuDeviceGetName", 214),
    "hip": Runtime("amd", {"YOKE_LIB_HIP": "amd/libamdhip64.so.6"},
                   ["HIP_VISIBLE_DEVICES"], "hipGetDeviceCount", "hipDeviceGetName", 214),
    "dtk": Runtime("dtk", {"YOKE_LIB_DTK": "dtk/libgalaxyhip.so"},
                   ["HIP_VISIBLE_DEVICES"], "hipGetDeviceCount", "hipDeviceGetName", 214),
    "musa": Runtime("musa", {"YOKE_LIB_MUSA": "musa/libmusa.so.1"},
                    ["MUSA_VISIBLE_DEVICES"], "muDeviceGetCount", "muDeviceGetName", 214),
    "maca": Runtime("maca", {"YOKE_LIB_MACA": "maca/libmcruntime.so"},
                    ["MACA_VISIBLE_DEVICES"], "mcGetDeviceCount", "mcDeviceGetName", 214),
    "corex": Runtime("corex", {"YOKE_LIB_COREX": "corex/libcuda.so.1"},
                     ["CUDA_VISIBLE_DEVICES"], "cuDeviceGetCount", "cuDeviceGetName", 214),
    "ascend": Runtime("ascend", {"YOKE_LIB_DCMI": "ascend/libdcmi.so"},
                      ["ASCEND_RT_VISIBLE_DEVICES"], "dcmi_get_card_list",
                      "dcmi_get_device_chip_info", -8008, "npu"),
    "cambricon": Runtime("cambricon", {"YOKE_LIB_CNRT": "cambricon/libcnrt.so"},
                         ["MLU_VISIBLE_DEVICES"], "cnrtGetDeviceCount",
                         "cnrtGetDeviceProperties_V3", 100004, "npu"),
    "level_zero": Runtime("level_zero",
                          {"ZE_ENABLE_ALT_DRIVERS": "level_zero/libze_intel_gpu.so.1"},
                          ["ZE_AFFINITY_MASK"], None, "zeDeviceGetProperties", 0x70000001),
}


def has_loader():
    try:
        ctypes.CDLL("libze_loader.so.1")
    except OSError:
        return False
    return True


def available():
    """Runtimes whose fake was built; Level Zero is asked through the real loader."""
    found = {}
    for name, runtime in RUNTIMES.items():
        library = os.path.join(FOLDER, *list(runtime.variables.values())[0].split("/"))
        if not os.path.exists(library) or (name == "level_zero" and not has_loader()):
            print(f"not checked: {name}")
            continue
        found[name] = runtime
    return found


def write(folder, lines):
    path = os.path.join(folder, "fakes")
    with open(path, "w") as file:
        print("\n".join(lines), file=file)
    return path


def eight(vendor):
    return [f"{vendor} count 8"] + [f"{vendor}:{i} pci {card}" for i, card in enumerate(CARDS)]


def libraries(names):
    variables = {}
    for name in names:
        for variable, library in RUNTIMES[name].variables.items():
            variables[variable] = os.path.join(FOLDER, *library.split("/"))
    return variables


def inventory(folder, names, lines, *arguments, expect=0, **variables):
    """yoke inventory of these runtimes with these lines in the file."""
    return common.inventory("--backend", ",".join(names), *arguments, expect=expect,
                            env=common.environment(**{**libraries(names), **variables},
                                                   YOKE_FAKES=write(folder, lines)))


def cards(document):
    return {i: d for i, d in common.by_id(document).items() if d["kind"] in ("gpu", "npu")}


def view(device, runtime):
    return next(v for v in device["views"] if v["runtime"] == runtime)
