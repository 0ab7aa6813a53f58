#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collectives over links of known rate: network namespaces joined by a bridge, each with its
own veth link that tc's token bucket filter limits in both directions.

An island is a network and PID namespace: its ranks share memory, ranks of two islands only
the network. For each experiment and algorithm the program runs `yoke bench comm`, compares the
time with the bound, and the bytes that left each island, by the interface's counter, with what
must cross. Needs root, iproute2 and util-linux; says so and exits 77 otherwise.

    bench/comm_shaped.py --yoke build/bin/yoke            # table
    bench/comm_shaped.py --yoke build/bin/yoke --json FILE
    bench/comm_shaped.py --yoke build/bin/yoke --short    # results are right, nothing else
"""

import argparse
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile

PREFIX = "yk%d" % (os.getpid() % 100000)
HEADERS = 1.045  # Ethernet, IP and TCP around a full segment: 1514 / 1448

# name: islands as (ranks, Mbit/s); "order" maps ranks to islands
EXPERIMENTS = {
    "two-200": {"islands": [(2, 200), (2, 200)]},
    "two-1000": {"islands": [(2, 1000), (2, 1000)]},
    "three-1-1-4": {"islands": [(2, 100), (2, 100), (2, 400)]},
    "three-1-1.5-2": {"islands": [(2, 100), (2, 150), (2, 200)]},
    "two-shuffled": {"islands": [(2, 200), (2, 200)], "order": [0, 1, 0, 1]},
    # not limited: TCP within the machine
    "tcp-2": {"islands": [(1, None)] * 2},
    "tcp-4": {"islands": [(1, None)] * 4},
}
# Those that have a bound.
SHAPED = [name for name, what in EXPERIMENTS.items() if what["islands"][0][1]]


def run(*args, check=True, **more):
    return subprocess.run(args, check=check, capture_output=True, text=True, **more)


def missing():
    """Why this cannot run here, or None."""
    if os.geteuid() != 0:
        return "needs root (network namespaces, tc)"
    for tool in ("ip", "tc", "unshare", "nsenter"):
        if shutil.which(tool) is None:
            return "needs %s" % tool
    try:
        run("ip", "netns", "add", PREFIX + "t")
        run("ip", "-n", PREFIX + "t", "link", "add", "br0", "type", "bridge")
        run("ip", "-n", PREFIX + "t", "link", "add", "v0", "type", "veth", "peer", "v1")
        run("tc", "-n", PREFIX + "t", "qdisc", "add", "dev", "v0", "root", "tbf", "rate",
            "1mbit", "burst", "16kb", "latency", "50ms")
    except subprocess.CalledProcessError as error:
        return "%s: %s" % (" ".join(error.cmd), error.stderr.strip())
    finally:
        run("ip", "netns", "del", PREFIX + "t", check=False)
    return None


class Network:
    """Islands around a bridge; every link limited both ways."""

    def __init__(self, rates):
        self.rates = rates
        self.spaces = [PREFIX + "i%d" % i for i in range(len(rates))]
        self.hub = PREFIX + "h"

    def __enter__(self):
        try:
            self.build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def build(self):
        run("ip", "netns", "add", self.hub)
        run("ip", "-n", self.hub, "link", "add", "br0", "type", "bridge")
        run("ip", "-n", self.hub, "link", "set", "br0", "up")
        for i, space in enumerate(self.spaces):
            run("ip", "netns", "add", space)
            run("ip", "-n", self.hub, "link", "add", "p%d" % i, "type", "veth", "peer",
                "name", "net0", "netns", space)
            run("ip", "-n", self.hub, "link", "set", "p%d" % i, "master", "br0", "up")
            run("ip", "-n", space, "addr", "add", self.address(i) + "/24", "dev", "net0")
            run("ip", "-n", space, "link", "set", "net0", "up")
            run("ip", "-n", space, "link", "set", "lo", "up")
            for where, device in ((space, "net0"), (self.hub, "p%d" % i)):
                if self.rates[i] is None:
                    continue
                run("tc", "-n", where, "qdisc", "add", "dev", device, "root", "tbf", "rate",
                    "%dmbit" % self.rates[i], "burst", "128kb", "latency", "100ms")

    def __exit__(self, *_):
        for space in self.spaces + [self.hub]:
            run("ip", "netns", "del", space, check=False)

    def address(self, island):
        return "10.77.0.%d" % (island + 1)

    def sent(self, island):
        stats = json.loads(run("ip", "-n", self.spaces[island], "-s", "-j", "link", "show",
                               "net0").stdout)
        return stats[0]["stats64"]["tx"]["bytes"]

    def start(self, island, ranks, environment, command):
        """All ranks of an island in one PID namespace."""
        shell = " ".join("RANK=%d %s >%s 2>%s.err &" % (rank, command, output, output)
                         for rank, output in ranks) + " wait"
        return subprocess.Popen(
            ["ip", "netns", "exec", self.spaces[island], "unshare", "--pid", "--fork",
             "--kill-child", "--mount-proc", "sh", "-c", shell],
            env=environment)


def place(islands, order):
    """Island of each rank."""
    if order is not None:
        return order
    return [i for i, (count, _) in enumerate(islands) for _ in range(count)]


def measure(options, experiment, collective, size, algorithm, iterations, warm_up):
    """The tool's document of rank 0, and bytes that each island sent in all."""
    islands = experiment["islands"]
    of = place(islands, experiment.get("order"))
    with Network([rate for _, rate in islands]) as network, \
            tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, WORLD_SIZE=str(len(of)),
                           MASTER_ADDR=network.address(of[0]), MASTER_PORT="29455",
                           YOKE_COMM_SECRET=secrets.token_hex(16),
                           YOKE_COMM_INTERFACE="net0", UCX_NET_DEVICES="net0")
        command = "%s bench comm %s --min %d --max %d --iterations %d --warm-up %d --json -" % (
            options.yoke, collective, size, size, iterations, warm_up)
        if algorithm != "auto":
            environment["YOKE_COMM_ALGORITHM"] = "%s=%s" % (collective, algorithm)
        before = [network.sent(i) for i in range(len(islands))]
        running = [network.start(i, [(r, os.path.join(folder, str(r)))
                                     for r in range(len(of)) if of[r] == i],
                                 environment, command)
                   for i in range(len(islands))]
        try:
            for process in running:
                process.wait(timeout=options.limit)
        finally:
            for process in running:
                process.kill()
                process.wait()
        sent = [network.sent(i) - before[i] for i in range(len(islands))]
        with open(os.path.join(folder, "0"), encoding="utf-8") as file:
            text = file.read()
        if not text.strip():
            errors = ""
            for r in range(len(of)):
                with open(os.path.join(folder, "%d.err" % r), encoding="utf-8") as file:
                    errors += file.read()
            raise RuntimeError("no result: " + errors)
        return json.loads(text), sent


def bound(islands, size):
    """Seconds that an all-reduce takes at least, and bytes that its islands send."""
    rates = [rate * 1e6 / 8 / HEADERS for _, rate in islands]
    count = len(rates)
    return max(size / min(rates), 2 * (count - 1) * size / sum(rates))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--yoke", default="yoke")
    parser.add_argument("--experiments", default=",".join(SHAPED))
    parser.add_argument("--algorithms", default="auto,hierarchical,ring,linear")
    parser.add_argument("--collective", default="all-reduce")
    parser.add_argument("--size", type=int, default=16 << 20)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--limit", type=float, default=120, help="seconds of one run")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--short", action="store_true",
                        help="one small run of each collective; results alone count")
    options = parser.parse_args()
    options.yoke = shutil.which(options.yoke) or os.path.abspath(options.yoke)
    why = missing()
    if why is not None:
        print("skipped: " + why)
        return 77
    return short(options) if options.short else long(options)


def _values(node, key):
    if isinstance(node, dict):
        for name, value in node.items():
            if name == key:
                yield value
            else:
                yield from _values(value, key)
    elif isinstance(node, list):
        for value in node:
            yield from _values(value, key)


def short(options):
    failed = 0
    experiment = {"islands": [(1, 200), (2, 200)], "order": [1, 0, 1]}
    for collective in ("all-reduce", "all-gather", "reduce-scatter", "broadcast", "all-to-all"):
        document, _ = measure(options, experiment, collective, 96 << 10, "hierarchical", 1, 1)
        bad = [value for value in _values(document, "wrong") if value]
        checked = list(_values(document, "wrong"))
        print("%s: %d results checked, %d wrong" % (collective, len(checked), len(bad)))
        failed += bool(bad) or not checked
    return 1 if failed else 0


def long(options):
    results = []
    print("%-14s %-13s %9s %9s %6s %8s" % ("links", "algorithm", "time ms", "bound ms",
                                           "ratio", "bytes/M"))
    for name in options.experiments.split(","):
        experiment = EXPERIMENTS[name]
        least = bound(experiment["islands"], options.size)
        for algorithm in options.algorithms.split(","):
            document, base = measure(options, experiment, options.collective, options.size,
                                     algorithm, options.iterations, 1)
            # Set-up and the measuring of links cross too: a run with fewer calls is taken off.
            _, less = measure(options, experiment, options.collective, options.size, algorithm,
                              1, 1)
            times = list(_values(document, "seconds"))
            time = sum(times) / len(times)
            calls = 2 * (options.iterations - 1)  # out of place and in place
            crossing = [(a - b) / calls / options.size for a, b in zip(base, less)]
            results.append({"links": name, "algorithm": algorithm, "seconds": time,
                            "bound": least, "crossing": crossing,
                            "wrong": sum(_values(document, "wrong"))})
            print("%-14s %-13s %9.1f %9.1f %6.2f %s" % (
                name, algorithm, time * 1e3, least * 1e3, time / least,
                " ".join("%.3f" % c for c in crossing)), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
