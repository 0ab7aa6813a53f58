# SPDX-License-Identifier: Apache-2.0
"""What the script tests of this room share: running the command, fake vendor libraries."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COMMAND = os.environ.get("YOKE_COMMAND", "yoke")
SOURCE = os.path.dirname(os.path.dirname(HERE))
# Vendor libraries and masks of the machine must not leak into a test.
FOREIGN = ("CUDA_", "HIP_", "ROCR_", "GPU_DEVICE", "ZE_", "ASCEND_", "MLU_", "MUSA_", "POCL_",
           "OCL_", "OPENCL_", "YOKE_LIB_", "YOKE_BACKENDS", "YOKE_PROBE", "YOKE_GATHER",
           "OMPI_", "PMIX_", "PMI_", "SLURM_", "RANK", "WORLD_SIZE", "MASTER_", "LOCAL_")
failures = []


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def check(condition, text):
    if not condition:
        failures.append(text)
        print("FAILED:", text)


def equal(got, want, text):
    check(got == want, f"{text}: got {got!r}, want {want!r}")


def finish():
    sys.exit(1 if failures else 0)


def environment(**changes):
    """The environment without what steers a probe; None removes a name."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}
    env["OCL_ICD_VENDORS"] = "/nonexistent"
    env["XDG_CONFIG_HOME"] = "/nonexistent"
    for key, value in changes.items():
        if value is None:
            env.pop(key, None)
        else:
            env[key] = str(value)
    return env


def run(*arguments, env=None, timeout=120, **options):
    """Run yoke; returns the finished process with text output."""
    return subprocess.run([COMMAND, *map(str, arguments)], env=env or environment(),
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=timeout, **options)


def inventory(*arguments, env=None, expect=0, **options):
    """yoke inventory --json - ...; checks exit code and that stdout is one document."""
    done = run("inventory", "--json", "-", *arguments, env=env, **options)
    equal(done.returncode, expect, f"exit code of {' '.join(map(str, arguments))}: {done.stderr}")
    check("\033" not in done.stdout, "no escape codes in the document")
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError as error:
        check(False, f"standard output is no JSON: {error}: {done.stdout[:200]}")
        return {"nodes": [{"devices": [], "findings": [], "nics": [], "warnings": []}]}


def build(folder, name, source, *flags):
    """Compile a shared library from text or from a file of fakes/."""
    path = os.path.join(folder, name)
    if source.endswith(".c"):
        source = os.path.join(HERE, "fakes", source)
    else:
        with open(path + ".c", "w") as file:
            file.write(source)
        source = path + ".c"
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        skip("no C compiler")
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE", "-o", path, source,
                    *flags], check=True)
    return path


def temporary():
    return tempfile.TemporaryDirectory(prefix="yoke-hal-")


def by_id(document):
    return {d["id"]: d for d in document["nodes"][0]["devices"]}


def findings(document):
    """Findings by probe; the last one of each."""
    return {f["probe"]: f for f in document["nodes"][0]["findings"]}


POCL = "libpocl.so.2"
OCLGRIND = "/usr/lib/oclgrind/liboclgrind-rt-icd.so"


def library_there(name):
    import ctypes
    if "/" in name:
        return os.path.exists(name)
    # In a process of its own: a vendor library in this one would be in the way.
    return subprocess.run([sys.executable, "-c",
                           f"import ctypes; ctypes.CDLL({name!r})"],
                          stderr=subprocess.DEVNULL).returncode == 0
