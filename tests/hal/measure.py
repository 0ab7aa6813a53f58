# SPDX-License-Identifier: Apache-2.0
"""--measure: figures with their source; no time is asserted."""
import os

import common
from common import OCLGRIND, POCL, by_id, check, equal, run

if not common.library_there("libopenblas.so.0"):
    common.skip("OpenBLAS is not installed")
with common.temporary() as folder:
    vendors = os.path.join(folder, "vendors")
    os.mkdir(vendors)
    pocl = common.library_there(POCL)
    for name, library in (("pocl", POCL), ("oclgrind", OCLGRIND)):
        if common.library_there(library):
            with open(os.path.join(vendors, name + ".icd"), "w") as file:
                file.write(library)
    env = common.environment(OCL_ICD_VENDORS=vendors,
                             POCL_CACHE_DIR=os.path.join(folder, "cache"))
    target = os.path.join(folder, "out.json")
    done = run("inventory", "--measure", "--backend", "opencl", "-o", target, env=env,
               timeout=250)
    print(done.stdout)
    equal(done.returncode, 0, f"exit code: {done.stderr}")
    import json
    with open(target) as file:
        document = json.load(file)
    host = by_id(document)["host"]
    for dtype in ("fp32", "fp64"):
        rate = host["compute"][dtype]
        equal(rate["source"], "measured", dtype)
        check(rate["rate"] > 1e8, f"{dtype} rate is a rate: {rate}")
        check("OpenBLAS" in rate["detail"], f"{dtype} names the library: {rate}")
        check("lower bound" not in str(rate), f"{dtype} by OpenBLAS is no lower bound")
    for figure in ("bandwidth", "copy_to", "copy_from"):
        equal(host[figure]["source"], "measured", figure)
        check(host[figure]["rate"] > 1e8, f"{figure}: {host[figure]}")
    for line in ("memory triad", "fp32 matrix product", "fp64 matrix product"):
        check(line in done.stdout, f"the table shows the {line}")
    if pocl:
        check(">= " in done.stdout and "portable kernel" in done.stdout,
              "portable kernels are marked as lower bounds")
    emulators = [d for d in document["nodes"][0]["devices"] if d["kind"] == "emulator"]
    for device in emulators:
        equal((device["bandwidth"], device["compute"]), (None, {}), "emulators are not timed")
    faults = [f for f in document["nodes"][0]["findings"] if f["fault"]]
    equal(faults, [], "every result was right")
common.finish()
