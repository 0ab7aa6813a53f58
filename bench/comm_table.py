#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/performance-comm.md: Yoke's collectives beside other libraries.

    bench/comm_table.py BUILD [--ranks 2] [--pairs 15] [--collectives NAME...] [--sizes BYTES...]

BUILD is a build folder with bin/yoke-bench-comm. Peers that are installed are compiled into
BUILD/peers: Open MPI (over UCX, and over its own shared memory), MPICH, Gloo. All run in
turn, PAIRS times; a ratio is Yoke's time over a peer's of the same turn. Printed: medians,
and the ratio to the best peer (the one with the least median) with its quartiles.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
COLLECTIVES = ["all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"]
SIZES = [8, 64, 1024, 8192, 65536, 524288, 4 << 20, 16 << 20, 64 << 20]
OPEN_MPI = ["mpirun.openmpi", "--oversubscribe", "--mca", "btl_base_warn_component_unused", "0"]
UCX = ["--mca", "pml", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any",
       "-x", "UCX_TLS=posix,cma,self"]


def build_peer(folder, compiler, source, name, *flags):
    """Path of the program, or None where it cannot be made here."""
    path = os.path.join(folder, name)
    if shutil.which(compiler) is None:
        return None
    made = subprocess.run([compiler, "-O2", os.path.join(HERE, "peers_comm", source), "-o", path,
                           *flags], capture_output=True, text=True, check=False)
    return path if made.returncode == 0 else None


def find_peers(folder, ranks):
    """name -> command without the collective, iterations and sizes"""
    peers = {}
    open_mpi = build_peer(folder, "mpicc.openmpi", "peer_mpi.c", "peer_openmpi")
    if open_mpi:
        count = ["-n", str(ranks)]
        peers["Open MPI, UCX"] = [*OPEN_MPI, *count, *UCX, open_mpi]
        peers["Open MPI, vader"] = [*OPEN_MPI, *count, "--mca", "pml", "ob1", "--mca", "btl",
                                    "vader,self", open_mpi]
    mpich = build_peer(folder, "mpicc.mpich", "peer_mpi.c", "peer_mpich")
    if mpich:
        peers["MPICH"] = ["mpirun.mpich", "-n", str(ranks), mpich]
    gloo = build_peer(folder, "g++", "peer_gloo.cc", "peer_gloo", "-lgloo", "-lpthread")
    if gloo:
        peers["Gloo"] = [gloo]
    return peers


def run_gloo(command, ranks, timeout):
    with tempfile.TemporaryDirectory() as store:
        started = []
        for rank in range(ranks):
            environment = dict(os.environ, RANK=str(rank), SIZE=str(ranks), STORE=store)
            started.append(subprocess.Popen(command, env=environment, text=True,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))
        try:
            return [process.communicate(timeout=timeout)[0] for process in started][0]
        except subprocess.TimeoutExpired:
            return ""
        finally:
            for process in started:
                process.kill()
                process.wait()


def run_peer(name, command, ranks, timeout):
    """bytes -> seconds; sizes that were not reached are missing"""
    if name == "Gloo":
        printed = run_gloo(command, ranks, timeout)
    else:
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                           OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        try:
            printed = subprocess.run(command, env=environment, capture_output=True, text=True,
                                     timeout=timeout, check=False).stdout
        except subprocess.TimeoutExpired as late:
            printed = (late.stdout or b"").decode()
    found = {}
    for line in printed.splitlines():
        fields = line.split()
        if len(fields) == 3 and fields[0].isdigit():
            if fields[2] != "0":
                sys.exit(f"{name}: {fields[2]} wrong elements of {fields[0]} bytes")
            found[int(fields[0])] = float(fields[1])
    return found


def run_yoke(build, collective, ranks, sizes, timeout):
    found = {}
    program = os.path.join(build, "bin", "yoke-bench-comm")
    for size in sizes:
        iterations = 1000 if size <= 65536 else max(7, min(200, (64 << 20) // size))
        done = subprocess.run(
            [program, f"collectives={collective}", "types=f32", "ops=sum", f"min={size}",
             f"max={size}", f"iterations={iterations}", f"ranks={ranks}", "json=-"],
            capture_output=True, text=True, timeout=timeout, check=False)
        if done.returncode != 0:
            sys.exit(f"yoke-bench-comm {collective} {size}: {done.stderr}")
        for entry in json.loads(done.stdout)["results"]:
            found[size] = entry["out_of_place"]["seconds"]
    return found


def measure(build, peers, collective, arguments):
    """One dictionary a turn: name -> {bytes: seconds}"""
    turns = []
    words = [collective, "1000", *map(str, arguments.sizes)]
    for turn in range(arguments.pairs):
        took = {}
        order = ["Yoke", *peers]
        for name in order if turn % 2 == 0 else reversed(order):
            if name == "Yoke":
                took[name] = run_yoke(build, collective, arguments.ranks, arguments.sizes,
                                      arguments.timeout)
            else:
                took[name] = run_peer(name, [*peers[name], *words], arguments.ranks,
                                      arguments.timeout)
        turns.append(took)
        print(f"{collective}: turn {turn + 1} of {arguments.pairs}", file=sys.stderr)
    return turns


def show_time(seconds):
    if seconds is None:
        return "-"
    return f"{seconds * 1e6:.2f}" if seconds < 1e-3 else f"{seconds * 1e6:.0f}"


def show_size(size):
    for unit, bits in (("MiB", 20), ("KiB", 10)):
        if size >= 1 << bits:
            return f"{size >> bits} {unit}"
    return f"{size} B"


def rows(turns, peers, sizes):
    for size in sizes:
        medians = {}
        for name in ["Yoke", *peers]:
            times = [turn[name][size] for turn in turns if size in turn[name]]
            medians[name] = statistics.median(times) if times else None
        known = [(medians[name], name) for name in peers if medians[name] is not None]
        ratio = "-"
        if known and medians["Yoke"] is not None:
            best = min(known)[1]
            ratios = sorted(turn["Yoke"][size] / turn[best][size] for turn in turns
                            if size in turn["Yoke"] and size in turn[best])
            quarter = len(ratios) // 4
            ratio = (f"{statistics.median(ratios):.2f} ({ratios[quarter]:.2f}-"
                     f"{ratios[-1 - quarter]:.2f}, {best})")
        yield [show_size(size), *(show_time(medians[name]) for name in ["Yoke", *peers]), ratio]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--timeout", type=float, default=120, help="seconds of one run")
    parser.add_argument("--collectives", nargs="+", default=COLLECTIVES)
    parser.add_argument("--sizes", nargs="+", type=int, default=SIZES)
    arguments = parser.parse_args()
    folder = os.path.join(arguments.build, "peers")
    os.makedirs(folder, exist_ok=True)
    peers = find_peers(folder, arguments.ranks)
    stream = build_peer(folder, "cc", "stream.c", "stream")
    cores = min(arguments.ranks, len(os.sched_getaffinity(0)))
    for collective in arguments.collectives:
        traffic = float(subprocess.run([stream, str(cores)], capture_output=True, text=True,
                                       check=True).stdout)
        turns = measure(arguments.build, peers, collective, arguments)
        print(f"\n{collective}, {arguments.ranks} ranks, f32, microseconds; memory traffic "
              f"{traffic / 1e9:.1f} GB/s\n")
        head = ["size", "Yoke", *peers, "Yoke over the best (quartiles)"]
        print("| " + " | ".join(head) + " |")
        print("|" + "---|" * len(head))
        for row in rows(turns, peers, arguments.sizes):
            print("| " + " | ".join(row) + " |")
        if collective == "all-reduce":
            size = max(arguments.sizes)
            best = statistics.median(turn["Yoke"][size] for turn in turns)
            bound = 2 * arguments.ranks * size / traffic
            print(f"\n{show_size(size)}: {best / bound:.2f} times the bound 2pM")
        sys.stdout.flush()


main()
