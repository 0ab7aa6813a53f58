# SPDX-License-Identifier: Apache-2.0
"""--measure with FAKE vendor libraries: one device of each runtime, and every pair; then
libraries that do nothing and say that all is well, whose results must be found wrong. The
figures themselves mean nothing and are not looked at."""
import json
import os

import common
from common import check, equal
from fakes import FOLDER, RUNTIMES, available, cards, libraries, view, write

# What stands in the column of the library for each type that the fake's library multiplies.
PRODUCTS = {"cuda": ("cuBLAS", "fp64 fp32 fp16 bf16"),
            "hip": ("rocBLAS", "fp64 fp32 fp16 bf16"),
            "ascend": ("aclnn", "fp32 fp16 bf16")}
COMPILE = ("cuda", "hip", "dtk", "level_zero")  # those whose fake has a compiler
FIGURES = ("copy_to", "copy_from")


def measure(folder, names, lines, expect):
    target = os.path.join(folder, "out.json")
    cache = os.path.join(os.environ["YOKE_BUILD_DIR"], "tests", "hal", "measure-cache")
    path = os.pathsep.join(os.path.join(FOLDER, v)
                           for v in ("nvidia", "amd", "ascend", "cambricon"))
    done = common.run("inventory", "--measure", "--backend", ",".join(names), "-o", target,
                      env=common.environment(
                          **libraries(names), LD_LIBRARY_PATH=path, YOKE_FAKES_CACHE=cache,
                          YOKE_FAKES=write(folder, [f"{RUNTIMES[n].vendor} {key}"
                                                    for n in names
                                                    for key in ("count 1", "memory 16M")] +
                                           lines)), timeout=280)
    equal(done.returncode, expect, f"exit code: {done.stderr}")
    print(done.stdout[done.stdout.find("Measured"):])
    with open(target) as file:
        return json.load(file)


def device_of(document, runtime):
    return next(d for d in cards(document).values()
                if any(v["runtime"] == runtime for v in d["views"]))


def faults(document):
    return [f["text"] for f in document["nodes"][0]["findings"] if f["fault"]]


def everything(names):
    document = measure(folder, names, [], 0)
    equal(faults(document), [], "every result was right")
    for name in names:
        device = device_of(document, name)
        for figure in FIGURES:
            equal((device[figure] or {}).get("source"), "measured", f"{name}: {figure}")
        equal((device["launch"] or {}).get("source"), "measured" if name in COMPILE else None,
              f"{name}: launches")
        library, types = PRODUCTS.get(name, ("", ""))
        for dtype in ("fp64", "fp32", "fp16", "bf16"):
            rate = device["compute"].get(dtype) or {}
            if dtype in types.split():
                equal((rate.get("source"), library in rate.get("detail", "")),
                      ("measured", True), f"{name}: {dtype} by {library}: {rate}")
            else:
                check(rate.get("source") != "measured", f"{name}: {dtype} by nobody: {rate}")
    host = document["nodes"][0]["hosts"]
    ends = {d["id"] for d in cards(document).values()}
    want = {frozenset((f"{host}/{a}", f"{host}/{b}")) for a in ends for b in ends if a != b}
    links = [link for link in document["links"] if link["source"] == "measured"]
    equal({frozenset(link["between"]) for link in links}, want, "a link for every pair")
    equal(len(links), len(want), "one link a pair")
    for link in links:
        check(link["rate"] > 0 and link["latency"] > 0, f"link {link}")


# What does nothing and says that all is well, and what must be said then.
WRONG = [("cuda", "cuMemcpyAsync", "copy from device: the bytes that came back are wrong"),
         ("cuda", "cuLaunchKernel", "memory triad: the result is wrong"),
         ("cuda", "cuLaunchKernel", "kernel launches: the last one left no trace"),
         ("cuda", "cublasGemmStridedBatchedEx", "fp32 matrix product: the result is wrong"),
         ("hip", "hipMemcpyAsync", "copy from device: the bytes that came back are wrong"),
         ("hip", "hipModuleLaunchKernel", "memory triad: the result is wrong"),
         ("hip", "rocblas_gemm_strided_batched_ex", "fp32 matrix product: the result is wrong"),
         ("ascend", "aclrtMemcpyAsync", "copy from device: the bytes that came back are wrong"),
         ("cambricon", "cnrtMemcpyAsync_V3",
          "copy from device: the bytes that came back are wrong")]


def nothing_done(names):
    wrong = [row for row in WRONG if row[0] in names]
    names = sorted({row[0] for row in wrong})
    document = measure(folder, names, [f"{RUNTIMES[name].vendor} fault {call} unwritten"
                                       for name, call, _ in wrong], 5)
    found = faults(document)
    for name, call, text in wrong:
        device = device_of(document, name)
        check(f"{device['id']}: {text}" in found, f"{call} that does nothing: {found}")
    for name in names:
        device = device_of(document, name)
        for figure in FIGURES + ("bandwidth", "launch"):
            check((device[figure] or {}).get("source") != "measured",
                  f"{name}: no {figure} from wrong results: {device[figure]}")
        equal([t for t, r in device["compute"].items() if r["source"] == "measured"], [],
              f"{name}: no rate from wrong results")
    equal([l for l in document["links"] if l["source"] == "measured"], [],
          "no link from wrong results")


with common.temporary() as folder:
    runtimes = list(available())
    everything(runtimes)
    nothing_done(runtimes)
common.finish()
