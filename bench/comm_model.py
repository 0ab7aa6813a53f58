#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicted against measured all-reduce: over shared memory, TCP within the machine, and shaped
links (bench/comm_shaped.py); and how far the chosen algorithm is from the best of all.

    bench/comm_model.py --program build/bench/yoke_comm_model [--settings shared-2,tcp-2,...]

All but shared memory need root and iproute2: ranks that are not to share memory are in network
and PID namespaces of their own.
"""

import argparse
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import comm_shaped  # noqa: E402

SETTINGS = {
    "shared-2": ("shared", 2, 64 << 20),
    "shared-4": ("shared", 4, 64 << 20),
    "tcp-2": ("shaped", "tcp-2", 64 << 20),
    "tcp-4": ("shaped", "tcp-4", 64 << 20),
    "two-200": ("shaped", "two-200", 16 << 20),
    "two-1000": ("shaped", "two-1000", 64 << 20),
    "three-1-1-4": ("shaped", "three-1-1-4", 16 << 20),
}


def start_local(program, ranks, most, folder):
    environment = dict(os.environ, WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                       MASTER_PORT=str(20000 + os.getpid() % 20000),
                       YOKE_COMM_SECRET=secrets.token_hex(16))
    processes = []
    for rank in range(ranks):
        with open(os.path.join(folder, str(rank)), "w", encoding="utf-8") as out, \
                open(os.path.join(folder, "%d.err" % rank), "w", encoding="utf-8") as err:
            processes.append(subprocess.Popen([program, str(most)], stdout=out,
                                              stderr=err, env=dict(environment,
                                                                   RANK=str(rank))))
    return processes


def finish(processes, limit):
    try:
        for process in processes:
            process.wait(timeout=limit)
    finally:
        for process in processes:
            process.kill()
            process.wait()


def lines(folder):
    with open(os.path.join(folder, "0"), encoding="utf-8") as file:
        found = [json.loads(line) for line in file if line.strip()]
    if not found:
        with open(os.path.join(folder, "0.err"), encoding="utf-8") as file:
            raise RuntimeError(file.read())
    return found


def run_setting(name, program, limit):
    kind, what, most = SETTINGS[name]
    with tempfile.TemporaryDirectory() as folder:
        if kind != "shaped":
            finish(start_local(program, what, most, folder), limit)
            return lines(folder)
        experiment = comm_shaped.EXPERIMENTS[what]
        of = comm_shaped.place(experiment["islands"], experiment.get("order"))
        with comm_shaped.Network([rate for _, rate in experiment["islands"]]) as network:
            environment = dict(os.environ, WORLD_SIZE=str(len(of)),
                               MASTER_ADDR=network.address(of[0]), MASTER_PORT="29466",
                               YOKE_COMM_SECRET=secrets.token_hex(16),
                               YOKE_COMM_INTERFACE="net0", UCX_NET_DEVICES="net0")
            finish([network.start(i, [(r, os.path.join(folder, str(r)))
                                      for r in range(len(of)) if of[r] == i], environment,
                                  "%s %d" % (program, most))
                    for i in range(len(experiment["islands"]))], limit)
            return lines(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--program", default="build/bench/yoke_comm_model")
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--limit", type=float, default=900, help="seconds of one setting")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    print("%-12s %9s %-13s %10s %10s %6s  %-18s %6s" % (
        "links", "bytes", "chosen", "predicted", "measured", "error", "best", "behind"))
    everything, errors = {}, []
    for name in options.settings.split(","):
        everything[name] = run_setting(name, program, options.limit)
        for line in everything[name]:
            best = min(line["all"], key=line["all"].get)
            error = line["predicted"] / line["measured"] - 1
            behind = line["all"].get(line["algorithm"], line["measured"]) / line["all"][best]
            errors.append(abs(error))
            print("%-12s %9d %-13s %8.1fus %8.1fus %+5.0f%%  %-18s %6.2f" % (
                name, line["size"], line["algorithm"], line["predicted"] * 1e6,
                line["measured"] * 1e6, error * 100, best, behind), flush=True)
    print("median error %.0f %%" % (100 * statistics.median(errors)))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(everything, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
