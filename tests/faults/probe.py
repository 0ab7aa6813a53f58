# SPDX-License-Identifier: Apache-2.0
"""FAKE vendor libraries that hang or crash while they are probed: the verdict names it, every
other vendor is still listed, the exit code says that the result is partial."""
import json
import os
import subprocess
import sys
import tempfile

BUILD = os.environ["YOKE_BUILD_DIR"]
COMMAND = os.environ["YOKE_COMMAND"]
LIBRARIES = {  # variable that names the library: vendor's folder, file, backend
    "CUDA": ("nvidia", "libcuda.so.1", "cuda"), "HIP": ("amd", "libamdhip64.so.6", "hip"),
    "ASCENDCL": ("ascend", "libascendcl.so", "ascend"),
    "CNRT": ("cambricon", "libcnrt.so", "cambricon"),
    "MUSA": ("musa", "libmusa.so.1", "musa"), "MACA": ("maca", "libmcruntime.so", "maca"),
    "DTK": ("dtk", "libgalaxyhip.so", "dtk")}
# Vendor, backend whose finding it is, functions that its probe calls.
FAULTS = [("nvidia", "cuda", ["cuInit", "cuDeviceGetCount", "cuDeviceGetName"]),
          ("nvidia", "nvml", ["nvmlInit_v2"]),
          ("amd", "hip", ["hipGetDeviceCount", "hipDeviceGetPCIBusId"]),
          ("musa", "musa", ["muInit", "muDeviceGetCount"]),
          ("maca", "maca", ["mcGetDeviceCount"]),
          ("dtk", "dtk", ["hipGetDeviceCount"]),
          ("ascend", "ascend", ["dcmi_init"]),
          ("cambricon", "cambricon", ["cnrtGetDeviceCount"])]
VERDICTS = {"hang": "timed out", "crash": "crashed"}
failures = []


def environment(path):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CUDA_", "HIP_", "ROCR_"))}
    folders = ["nvidia", "amd", "musa", "maca", "dtk", "ascend", "cambricon"]
    env["LD_LIBRARY_PATH"] = ":".join(os.path.join(BUILD, "tests/fakes/lib", f) for f in folders)
    env.update(YOKE_FAKES=path, OCL_ICD_VENDORS="/nonexistent", XDG_CONFIG_HOME="/nonexistent",
               TSAN_OPTIONS="handle_abort=0", ASAN_OPTIONS="handle_abort=0:detect_leaks=0")
    return env


def inventory(line, timeout):
    path = os.path.join(folder, "fakes")
    with open(path, "w") as file:
        print(line, file=file)
    done = subprocess.run([COMMAND, "inventory", "--why", "--timeout", str(timeout), "--json", "-"],
                          env=environment(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, timeout=120)
    node = json.loads(done.stdout)["nodes"][0]
    runtimes = {view["runtime"] for device in node["devices"] for view in device["views"]
                if view["ordinal"] is not None}
    return done.returncode, {f["probe"]: f for f in node["findings"]}, runtimes


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


with tempfile.TemporaryDirectory() as folder:
    code, findings, all_runtimes = inventory("", 60)
    print("without a fault:", code, sorted(all_runtimes))
    check(code == 0, f"without a fault the exit code is {code}")
    check({"cuda", "hip", "musa", "maca", "dtk"} <= all_runtimes, "the fakes are listed")
    for vendor, probe, functions in FAULTS:
        for function in functions:
            for kind, verdict in VERDICTS.items():
                what = f"{probe}: {function} {kind}"
                code, findings, runtimes = inventory(f"{vendor} fault {function} {kind}", 1)
                check(code == 5, f"{what}: exit code {code}")
                found = findings.get(probe, {})
                check(found.get("verdict") == verdict,
                      f"{what}: verdict {found.get('verdict')!r} ({found.get('text')})")
                check(found.get("fault") is True, f"{what}: counts as a fault")
                if kind == "crash":
                    check(found.get("code_name") == "SIGABRT", f"{what}: names the signal")
                lost = all_runtimes - runtimes - {probe}
                check(not lost, f"{what}: {sorted(lost)} are no longer listed")
sys.exit(1 if failures else 0)
