# SPDX-License-Identifier: Apache-2.0
"""The launchers, run with a stand-in for torchrun: every rank once, on its device."""
import os
import stat
import subprocess

from common import CLUSTERS, FOLDER, expect, export, finish, plan, read

STAND_IN = """#!/usr/bin/env bash
show=${CUDA_VISIBLE_DEVICES-}${HIP_VISIBLE_DEVICES-}${ASCEND_RT_VISIBLE_DEVICES-}
while [[ $1 == --* ]]; do
    case $1 in
    --node-rank) node=$2 ;; --nproc-per-node) count=$2 ;; --nnodes) nodes=$2 ;;
    esac
    shift 2
done
echo "$YOKE_HOST $node $count $nodes $show $1" >>"$STAND_IN_LOG"
"""


def stand_in(name, text):
    file = os.path.join(FOLDER, name)
    with open(file, "w", encoding="utf-8") as handle:
        handle.write(text)
    os.chmod(file, os.stat(file).st_mode | stat.S_IXUSR)
    return file


def bash(folder, *arguments, **environment):
    clean = {key: value for key, value in os.environ.items()
             if not key.endswith("_VISIBLE_DEVICES") and not key.startswith("SLURM")}
    return subprocess.run(["bash", *arguments], cwd=folder, capture_output=True, text=True,
                          timeout=60, check=False, env={**clean, **environment})


def planned(document):
    """(host, device) of every rank: stages, then replicas, then the tensor group."""
    return [tuple(device["device"].split("/")) for stage in document["pipelines"][0]["stages"]
            for replica in stage["replicas"] for device in replica["devices"]]


def check(cluster, *options):
    document, file = plan("llama-3.1-8b", cluster, "--for", "megatron", "--dtype", "fp16",
                          *options)
    folder, _ = export(file, "megatron")
    for script in ("run.sh", "launch.sh", "job.sbatch", "env.sh"):
        expect(bash(folder, "-n", script).returncode == 0, f"{cluster}: {script} is no bash")
    log = os.path.join(folder, "log")
    hosts = [line.split()[0] for line in read(folder, "hosts").splitlines()]
    for host in hosts[:6]:
        result = bash(folder, "run.sh", TORCHRUN=TORCHRUN, YOKE_HOST=host, STAND_IN_LOG=log)
        expect(result.returncode == 0, f"{cluster}: {host}: {result.stderr}")
    ranks = planned(document)
    first = {}
    for line in read(folder, "agents.tsv").splitlines():
        fields = line.split("\t")
        first[fields[0]] = int(fields[1])
    seen = 0
    for line in read(folder, "log").splitlines():
        host, node, count, nodes, devices, program = line.split(" ")
        expect(int(nodes) == len(first) and program.endswith("pretrain_gpt.py"),
               f"{cluster}: {line}")
        expect(len(devices.split(",")) == int(count), f"{cluster}: {line}: devices")
        for i in range(int(count)):
            rank = ranks[first[node] + i]
            expect(rank[0] == host, f"{cluster}: rank {first[node] + i} is on {host}, "
                                    f"planned {rank}")
            seen += 1
    expect(seen == sum(rank[0] in hosts[:6] for rank in ranks), f"{cluster}: {seen} ranks")
    slots = sum(int(line.split("slots=")[1]) for line in read(folder, "hosts").splitlines())
    expect(slots == len(ranks) and len(set(ranks)) == len(ranks), f"{cluster}: {slots} slots")
    result = bash(folder, "run.sh", TORCHRUN=TORCHRUN, YOKE_HOST="nowhere", STAND_IN_LOG=log)
    expect(result.returncode == 2 and "no rank" in result.stderr, f"{cluster}: unknown host")


def check_direct():
    """Any program, once a rank; a heterogeneous job."""
    _, file = plan("llama-3.1-8b", "a100-v100", "--dtype", "fp16")
    folder, _ = export(file, "slurm", "--partition", "type:V100-SXM2-32GB=old",
                       "--partition", "type:A100-SXM4-80GB=new")
    program = stand_in("program", "#!/bin/sh\necho $RANK $WORLD_SIZE $LOCAL_RANK >>$1\n")
    log = os.path.join(folder, "log")
    for line in read(folder, "hosts").splitlines():
        result = bash(folder, "run.sh", program, log, YOKE_HOST=line.split()[0])
        expect(result.returncode == 0, result.stderr)
    lines = [line.split() for line in read(folder, "log").splitlines()]
    total = int(lines[0][1])
    expect(sorted(int(line[0]) for line in lines) == list(range(total)), f"ranks of {total}")
    job = read(folder, "job.sbatch")
    expect(job.count("#SBATCH hetjob") == 1 and "--het-group=0-1" in job
           and "--partition=old" in job and "--partition=new" in job, job)
    plain, _ = export(file, "slurm")
    expect("hetjob" not in read(plain, "job.sbatch"), "one partition: no heterogeneous job")
    export(file, "slurm", "--partition", "nonsense", code=2)


TORCHRUN = stand_in("torchrun", STAND_IN)
for name in CLUSTERS:
    if name != "four-types-1024":
        check(name)
check("2x(4xH100-SXM5-80GB + 4xA100-SXM4-80GB); nic=400Gb")
check_direct()
finish()
