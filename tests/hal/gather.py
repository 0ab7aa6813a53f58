# SPDX-License-Identifier: Apache-2.0
"""--gather: ranks of one host are one node; a rank that never comes makes it partial."""
import json
import os
import shutil
import subprocess

import common
from common import COMMAND, check, environment, equal

ARGUMENTS = [COMMAND, "inventory", "--backend", "none", "--gather", "--json", "-"]


def start(rank, size, local_rank, local_size, folder, **more):
    env = environment(OMPI_COMM_WORLD_RANK=rank, OMPI_COMM_WORLD_SIZE=size,
                      OMPI_COMM_WORLD_LOCAL_RANK=local_rank,
                      OMPI_COMM_WORLD_LOCAL_SIZE=local_size, PMIX_NAMESPACE="test.1",
                      TMPDIR=folder, **more)
    return subprocess.Popen(ARGUMENTS, env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def result(process):
    output, errors = process.communicate(timeout=120)
    return process.returncode, output, errors


with common.temporary() as folder:
    # Ranks come in any order; only rank 0 prints.
    ranks = [start(r, 3, r, 3, folder, YOKE_GATHER_TIMEOUT=60) for r in (2, 0, 1)]
    answers = [result(p) for p in ranks]
    equal([a[0] for a in answers], [0, 0, 0], f"exit codes {answers}")
    equal([a[1] != "" for a in answers], [False, True, False], "rank 0 alone prints")
    document = json.loads(answers[1][1])
    equal(len(document["nodes"]), 1, "ranks of one host are one node")
    equal(os.listdir(folder), [], "the meeting file is removed")

    # Rank 2 never comes.
    ranks = [start(r, 3, r, 3, folder, YOKE_GATHER_TIMEOUT=2) for r in (0, 1)]
    answers = [result(p) for p in ranks]
    equal([a[0] for a in answers], [5, 0], f"exit codes without rank 2: {answers}")
    check("rank 2 did not report" in answers[0][2], f"rank 2 is named: {answers[0][2]}")
    equal(len(json.loads(answers[0][1])["nodes"]), 1, "what came is there")

    # Rank 0 never comes.
    code, output, errors = result(start(1, 2, 1, 2, folder, YOKE_GATHER_TIMEOUT=1))
    equal((code, output), (4, ""), "without rank 0")
    check("rank 0 not reached" in errors, errors)

    # A meeting file of nobody we know is not believed: rank 1 goes on waiting.
    lure = os.path.join(folder, f".yoke-gather-{os.geteuid()}-test1")
    os.symlink("/etc/hostname", lure)
    equal(result(start(1, 2, 1, 2, folder, YOKE_GATHER_TIMEOUT=1))[0], 4, "a symbolic link")
    os.unlink(lure)

    # By an address, as torchrun gives it.
    def torch(rank):
        env = environment(RANK=rank, WORLD_SIZE=2, LOCAL_RANK=0, LOCAL_WORLD_SIZE=1,
                          MASTER_ADDR="127.0.0.1", MASTER_PORT=29653 + os.getpid() % 400,
                          YOKE_GATHER_TIMEOUT=60)
        return subprocess.Popen(ARGUMENTS, env=env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    answers = [result(p) for p in (torch(0), torch(1))]
    equal([a[0] for a in answers], [0, 0], f"by an address {answers}")
    equal(len(json.loads(answers[0][1])["nodes"]), 1, "the same host twice is one node")

    # As srun sets it, over "two nodes" that are both this one.
    def slurm(rank):
        env = environment(SLURM_PROCID=rank, SLURM_NTASKS=2, SLURM_LOCALID=0, SLURM_NNODES=2,
                          SLURM_JOB_ID=os.getpid(), SLURM_STEP_ID=0,
                          SLURM_STEP_NODELIST="127.0.0.1,elsewhere", YOKE_GATHER_TIMEOUT=60)
        return subprocess.Popen(ARGUMENTS, env=env, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    answers = [result(p) for p in (slurm(1), slurm(0))]
    equal([a[0] for a in answers], [0, 0], f"Slurm's variables {answers}")

    mpirun = shutil.which("mpirun.openmpi") or shutil.which("mpirun")
    if mpirun is None:
        print("not checked: no mpirun")
    else:
        env = environment(OMPI_ALLOW_RUN_AS_ROOT=1, OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1,
                          TMPDIR=folder)
        done = subprocess.run([mpirun, "--oversubscribe", "-n", "2", *ARGUMENTS], env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=120)
        equal(done.returncode, 0, f"mpirun -n 2: {done.stderr}")
        equal(len(json.loads(done.stdout)["nodes"]), 1, "mpirun -n 2 on one host: one node")
common.finish()
