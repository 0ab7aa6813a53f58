# SPDX-License-Identifier: Apache-2.0
"""Real libraries without a device: every negative has library, call, code and its name."""
import os

import common
from common import POCL, by_id, check, equal, findings, inventory, library_there

with common.temporary() as folder:
    document = inventory()
    why = findings(document)
    for probe, finding in why.items():
        check(finding["text"], f"{probe} has a reason")
    if not library_there("libcuda.so.1"):
        equal(why["cuda"]["verdict"], "library not found", "no CUDA driver")
        check("libcuda.so.1: cannot open shared object file" in why["cuda"]["text"],
              "the loader's own words")
        equal(why["cuda"]["fault"], False, "which is no fault")
        equal(why["nvml"]["library"], "libnvidia-ml.so.1", "the library that was tried")
    if library_there("libze_loader.so.1") and not os.path.exists("/dev/dri"):
        finding = why["level_zero"]
        equal((finding["verdict"], finding["call"], finding["code"], finding["code_name"]),
              ("no device", "zeInit", 0x78000001, "ZE_RESULT_ERROR_UNINITIALIZED"),
              "Level Zero without a driver")
        check("0x78000001" in finding["text"], "the code as its header writes it")
        check("libze_loader.so.1" in finding["library"], "the library that answered")
    else:
        print("not checked: the Level Zero loader without a driver")
    if library_there("libamdhip64.so.5") and not os.path.exists("/dev/kfd"):
        finding = why["hip"]
        equal((finding["verdict"], finding["call"], finding["code"], finding["code_name"]),
              ("no device", "hipGetDeviceCount", 100, "hipErrorNoDevice"), "HIP without a GPU")
    else:
        print("not checked: HIP without a GPU")
    equal(why["opencl"]["verdict"], "absent", "no vendor files")

    stub = "/usr/local/cuda/lib64/stubs/libcuda.so"
    if os.path.exists(stub):
        finding = findings(inventory("--backend", "cuda", expect=5,
                                     env=common.environment(YOKE_LIB_CUDA=stub)))["cuda"]
        equal((finding["verdict"], finding["code_name"]),
              ("driver mismatch", "CUDA_ERROR_STUB_LIBRARY"), "CUDA's stub library")
    finding = findings(inventory("--backend", "cuda", expect=5, env=common.environment(
        YOKE_LIB_CUDA="/nowhere/libcuda.so.1")))["cuda"]
    equal(finding["verdict"], "library not found", "a library that the user named")
    check("YOKE_LIB_CUDA" in finding["text"], "the variable is named")
    needy = common.build(folder, "libneedy.so", "int absent(void); int f(void) "
                                                "{ return absent(); }")
    finding = findings(inventory("--backend", "hip", expect=5, env=common.environment(
        YOKE_LIB_HIP=needy)))["hip"]
    check("undefined symbol" in finding["text"], "a library that does not load says why")
    if library_there(POCL):
        vendors = common.environment(OCL_ICD_VENDORS=os.path.join(folder, "one.icd"))
        with open(os.path.join(folder, "one.icd"), "w") as file:
            file.write(POCL)
        for value, want in (("cuda", 1), ("pthread", 0)):
            document = inventory("--backend", "opencl", env={**vendors, "POCL_DEVICES": value})
            hidden = [v for v in by_id(document)["host"]["views"]
                      if v["runtime"] == "opencl" and v["ordinal"] is None]
            equal(len(hidden), want, f"devices hidden by POCL_DEVICES={value}")
            verdicts = [f["verdict"] for f in document["nodes"][0]["findings"]
                        if f["probe"] == "opencl:one.icd"]
            equal("hidden" in verdicts, want == 1, "which is said")
common.finish()
