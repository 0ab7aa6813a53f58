#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The output formats of `yoke inventory`, read back by the programs they are for, or by
their published grammar."""

import getpass
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import jsonschema
import yaml

YOKE = os.environ["YOKE_COMMAND"]
SOURCE = os.environ["YOKE_SOURCE_DIR"]
FIXTURE = os.path.join(SOURCE, "tests/inventory/full.json")


def device(index, kind, name, vendor, **more):
    return {"id": f"0000:{index:02x}:00.0", "kind": kind, "name": name, "vendor": vendor,
            "memory": {"total": 2 ** 40 + index, "free": 1, "source": "runtime"},
            "compute": {"bf16": {"rate": 1e-06 + index, "source": "user"}}, **more}


MIXED = {
    "schema": "yoke-inventory/1",
    "x-odd": {"yes": "no", "k: v": "a\"b\\c", "n": [1e300, 1e-7, -0.0, 5e-324, True, None, [], {}],
              "astral": "\U0001F600 é \u2028 \u0085 \x7f", "empty": ""},
    "nodes": [
        {"hosts": "mix[1-2]", "devices": [
            device(1, "gpu", "NVIDIA A100-SXM4-80GB", "NVIDIA"),
            device(2, "gpu", "NVIDIA A100-SXM4-80GB", "NVIDIA", numa=0),
            device(3, "npu", "910B2", "Huawei"),
            device(4, "gpu", "Odd \x1b[31m\"Name\"\n(tm) " + "long" * 40, "X / Y"),
            device(5, "gpu", "Hidden", None, schedulable=False, hidden_by="CUDA_VISIBLE_DEVICES"),
            {"id": "host", "kind": "cpu", "memory": {"total": 270000000000}}],
         "nics": [{"id": "mlx5_0", "rate": 25e9, "near": ["0000:01:00.0"]}]},
        {"hosts": "bare", "devices": []}]}


def run(*arguments, code=0):
    done = subprocess.run([YOKE, "inventory", *arguments], capture_output=True, text=True,
                          check=False)
    assert done.returncode == code, (arguments, done.returncode, done.stderr)
    return done.stdout


def formatted(path, name):
    return run("--merge", path, "--format", name)


def same(a, b, place=""):
    """Equal values of equal types, numbers bit by bit."""
    assert type(a) is type(b), (place, a, b)
    if isinstance(a, dict):
        assert list(a) == list(b), place
        for key in a:
            same(a[key], b[key], f"{place}/{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), place
        for i, (x, y) in enumerate(zip(a, b)):
            same(x, y, f"{place}/{i}")
    else:
        assert repr(a) == repr(b), (place, a, b)


def check_yaml(path, folder):
    document = json.loads(formatted(path, "json"))
    same(document, yaml.safe_load(formatted(path, "yaml")))
    again = os.path.join(folder, "again.json")
    with open(again, "w", encoding="utf-8") as out:
        json.dump(yaml.safe_load(formatted(path, "yaml")), out)
    assert formatted(again, "json") == formatted(path, "json")


def check_schema(path):
    with open(os.path.join(SOURCE, "schema/yoke-inventory-1.schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    validator.validate(json.loads(formatted(path, "json")))
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    validator.validate(document)
    document["nodes"][0]["devices"][0]["mood"] = 1
    assert list(validator.iter_errors(document)), "the schema takes unknown members"


def check_table(path):
    table = formatted(path, "table")
    assert max(map(len, table.splitlines())) <= 80
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", table), "a control character"
    for node in json.loads(formatted(path, "json"))["nodes"]:
        assert node["hosts"] in table
        for unit in node["devices"]:
            assert unit["id"] in table, unit["id"]


def check_hostfile(path):
    """FlagScale and DeepSpeed read HOST slots=N [type=WORD] and refuse a host given twice."""
    name = r"[A-Za-z0-9._-]+"
    lines = formatted(path, "hostfile").splitlines()
    parsed = [re.fullmatch(rf"(\S+) slots=([1-9]\d*) type=({name}(?::\d+,{name}:\d+.*)?)", l)
              for l in lines]
    assert all(parsed), lines
    assert [m.group(1) for m in parsed] == ["mix1", "mix2"], lines
    for match in parsed:
        types = dict(part.rsplit(":", 1) for part in match.group(3).split(","))
        assert len(types) == 3 and match.group(2) == "4", "several types of one host"
        assert "2" in (types.get("A100-SXM4-80GB"), types.get("NVIDIA-A100-SXM4-80GB")), lines
        assert sum(map(int, types.values())) == 4
    assert not any("Hidden" in line or "bare" in line for line in lines)


def check_mpi(path, folder):
    """One line a host, nothing but slots= before the comment; Open MPI itself where it is."""
    lines = formatted(path, "mpi").splitlines()
    assert [re.fullmatch(r"(mix[12]) slots=4 # .+", line) is not None for line in lines] == \
        [True, True], lines
    mpirun = shutil.which("mpirun.openmpi")
    if mpirun is None:
        print("Open MPI is not installed: its reading of the hostfile was not tried")
        return
    for name, code in (("mpi", True), ("hostfile", False)):
        hostfile = os.path.join(folder, name)
        text = formatted(path, name)
        with open(hostfile, "w", encoding="utf-8") as out:
            out.write(text.splitlines()[0].replace("mix1", "localhost") + "\n")
        done = subprocess.run([mpirun, "--allow-run-as-root", "--hostfile", hostfile, "-n", "4",
                               "true"], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode == 0) == code, (name, text, done.stdout, done.stderr)


def check_labels(path):
    """Names and values by the rules of Kubernetes for labels."""
    part = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
    lines = formatted(path, "k8s").splitlines()
    sections = [line for line in lines if line.startswith("# hosts: ")]
    labels = [line for line in lines if not line.startswith("#")]
    assert len(sections) == 2 and labels
    owners = [line for line in lines if line.startswith("# Only the lines down to")]
    assert len(owners) == 2 and "mix[1-2]" in owners[1] and "bare" in owners[0], owners
    for line in labels:
        assert re.fullmatch(rf"{part}=(?:{part})?", line), line
    names = [line.split("=")[0] for line in labels]
    assert len(set(names)) == len(names), "a label twice"
    for i in range(4):
        assert f"yoke.gpu-{i}.type" in names
    assert "yoke.npu-0.type" in names


def check_prometheus(path):
    text = formatted(path, "prometheus")
    label = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
    sample = re.compile(rf"([a-z_]+)\{{{label}(?:,{label})*\}} \S+")
    seen, declared = set(), set()
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            assert line.split()[2] not in declared
            declared.add(line.split()[2])
        elif not line.startswith("#"):
            match = sample.fullmatch(line)
            assert match, line
            assert match.group(1) in declared
            float(line.rsplit(" ", 1)[1])
            key = line.rsplit(" ", 1)[0]
            assert key not in seen, key
            seen.add(key)
    assert 'yoke_device_schedulable{host="mix2",device="0000:05:00.0"} 0' in text


def check_slurm(path, folder):
    text = formatted(path, "slurm")
    gres, conf = text.split("# slurm.conf\n")
    assert "Name=npu" in gres and "GresTypes=gpu,npu" in conf
    assert "RealMemory=257492" in conf
    slurmd = shutil.which("slurmd") or shutil.which("slurmd", path="/usr/sbin:/sbin")
    if slurmd is None:
        print("slurmd is not installed: its reading of gres.conf was not tried")
        return
    host = os.uname().nodename.split(".")[0]
    mine = re.sub(r"NodeName=mix\[1-2\]", f"NodeName={host}", gres)
    node = re.sub(r"NodeName=mix\[1-2\]", f"NodeName={host}", conf)
    node = re.sub(r"RealMemory=\d+", "RealMemory=1", node)
    with open(os.path.join(folder, "slurm.conf"), "w", encoding="utf-8") as out:
        out.write(f"ClusterName=t\nSlurmctldHost={host}\nSlurmUser={getpass.getuser()}\n"
                  f"SlurmdUser={getpass.getuser()}\nSlurmdSpoolDir={folder}\n"
                  f"ProctrackType=proctrack/pgid\nTaskPlugin=task/none\n{node}")
    for lines, code in ((mine, 0), (mine.replace("Count=", "Bogus="), 1)):
        with open(os.path.join(folder, "gres.conf"), "w", encoding="utf-8") as out:
            out.write(lines)
        done = subprocess.run([slurmd, "-f", os.path.join(folder, "slurm.conf"), "-G", "-D", "-L",
                               os.path.join(folder, "log")], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == code, (code, done.returncode, done.stderr, lines)


def main():
    os.environ.pop("COLUMNS", None)
    with tempfile.TemporaryDirectory() as folder:
        mixed = os.path.join(folder, "mixed.json")
        with open(mixed, "w", encoding="utf-8") as out:
            json.dump(MIXED, out)
        for path in (FIXTURE, mixed):
            check_yaml(path, folder)
            check_schema(path)
            check_table(path)
        check_hostfile(mixed)
        check_mpi(mixed, folder)
        check_labels(mixed)
        check_prometheus(mixed)
        check_slurm(mixed, folder)
        run("--merge", mixed, "--format", "xml", code=2)
    print("all formats read back")


if __name__ == "__main__":
    sys.exit(main())
