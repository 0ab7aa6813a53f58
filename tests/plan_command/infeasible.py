# SPDX-License-Identifier: Apache-2.0
"""No feasible plan: the message says which constraint, which device, how much is missing and
the nearest change. Every change that a message names is applied here, and must fit."""
import re
import shlex

from common import covers, expect, finish, plan, refused, run, shown, used, write
from documents import GIB, device, inventory, llama, one_node

BIG = "llama-3.1-8b"
FOUR = write("four.json", one_node([device(f"g{i}", 40 * GIB) for i in range(4)]))
TWO = write("two.json", one_node([device(f"g{i}", 80 * GIB) for i in range(2)]))
SMALL = write("small.json", llama(8, 16, 8, vocabulary=8192))
MIXED = write("mixed.json", inventory(
    ("a-[1-2]", [device(f"g{i}", 80 * GIB, name="Fast") for i in range(4)]),
    ("b-[1-2]", [device(f"g{i}", 32 * GIB, {"bf16": 1e14}, name="Slow") for i in range(4)])))

# Words of the message, and what they take away from the command.
WITHOUT = {"a fixed number of stages": ("--stages",), "--fix dp": ("dp=",), "--split": ("--split",),
           "--fix tp": ("tp=",), "--fix type:...:tp": ("type:",)}


def drop(arguments, what):
    """The arguments without an option and its value, or without an item of --fix."""
    result = []
    index = 0
    while index < len(arguments):
        name = arguments[index]
        value = arguments[index + 1] if index + 1 < len(arguments) else None
        if name == "--fix":
            items = [item for item in value.split(",")
                     if not item.startswith(what) and not (what == "--stages" and
                                                           item.startswith("stages="))]
            if items:
                result += [name, ",".join(items)]
        elif name != what:
            result += [name, value]
        index += 2
    return result


def applied(arguments, change):
    """The arguments with the change that a message names ("it fits CHANGE")."""
    arguments = list(arguments)
    with_, _, without = change.partition("without ")
    for words in filter(None, re.split(r" and (?=-|a )", without)):
        for what in WITHOUT[words.strip()]:
            arguments = drop(arguments, what)
    for words in filter(None, re.split(r" and (?=-)", with_.removeprefix("with ").rstrip(", "))):
        option, value = shlex.split(words)
        kind = value.split("=")[0] + "=" if option == "--fix" else option
        arguments = drop(arguments, kind)
        arguments += [option, value]
    return arguments


def no_plan(model, cluster, *options, constraint, says=(), change=None):
    """Refused with the constraint; the named change, if any is expected, fits."""
    arguments = ["-m", model, "-c", cluster, *options]
    message = refused("plan", *arguments, code=1, says=["no feasible plan: " + constraint, *says])
    found = re.search(r"; it fits (.*)$", message.strip())
    if change is None:
        expect(found is None and "no option makes it fit" in message, f"names a change: {message}")
        return
    if not expect(found is not None, f"{shown(arguments)}: no change is named: {message}"):
        return
    expect(change in found.group(1), f"{shown(arguments)}: '{change}' is not named: {message}")
    changed = applied(arguments, found.group(1))
    expect(changed != arguments, f"'{found.group(1)}' changes nothing")
    document = plan(*changed)
    expect(document is not None, f"{found.group(1)}: does not fit: {message}")


def memory():
    missing = ("memory", "GiB are missing", "g", "which offers", "stage")
    no_plan(BIG, TWO, "--seq", "8192", "--recompute", "none", "--optimizer", "none",
            "--micro-batch", "16", constraint="memory", says=missing, change="--")
    no_plan(BIG, FOUR, "--recompute", "none", "--micro-batch", "4", constraint="memory",
            says=missing, change="--")
    no_plan(BIG, TWO, "--memory", "0.5", constraint="memory", says=missing, change="--memory usable")
    no_plan(BIG, TWO, "--split", "31,1", constraint="memory", says=[*missing, "stage 0"],
            change="without --split")
    no_plan(BIG, FOUR, "--fix", "dp=2", constraint="memory", says=missing, change="--fix dp=1")
    no_plan(BIG, FOUR, "--fix", "tp=1", "--stages", "1", constraint="memory", says=missing,
            change="")
    no_plan(BIG, FOUR, "--fix", "tp=1,dp=2", "--split", "16,16", "--recompute", "none",
            "--micro-batch", "8", constraint="memory", says=missing, change="")
    no_plan(BIG, TWO, "--seq", "1048576", constraint="memory", says=missing, change="--seq ")
    no_plan(BIG, TWO, "--fix", "dp=2", "--shard-optimizer", "off", constraint="memory",
            says=missing, change="--fix dp=1")
    one = write("one.json", one_node([device("g0", 130 * GIB)]))
    no_plan(BIG, one, constraint="memory", says=["the 1 device offers 130 GiB", *missing],
            change="--optimizer sgd")
    no_plan("llama-3.1-405b", TWO, constraint="memory",
            says=["memory", "TiB are missing", "add devices (at least 8", "like card"], change=None)
    # In use today, enough when idle.
    busy = one_node([device(f"g{i}", 80 * GIB) for i in range(2)])
    for entry in busy["nodes"][0]["devices"]:
        entry["memory"]["free"] = 10 * GIB
    no_plan(BIG, write("busy.json", busy), "--memory", "free", constraint="memory", says=missing,
            change="--memory usable")
    no_plan("llama-2-13b", MIXED, "--recompute", "none", "--micro-batch", "64",
            constraint="memory", says=missing, change="--")


def devices_and_batch():
    base = ("--global-batch", "32", "--seq", "512")
    no_plan(SMALL, FOUR, *base, "--stages", "5", constraint="devices",
            says=["5 x 1 = 5", "4 devices", "1 missing"], change="--stages 4")
    no_plan(SMALL, FOUR, *base, "--fix", "dp=8", constraint="devices", says=["1 x 8 = 8", "4 missing"],
            change="--fix dp=4")
    no_plan(SMALL, FOUR, *base, "--fix", "dp=2,stages=3", constraint="devices",
            says=["3 x 2 = 6", "2 missing"], change="--stages 2")
    no_plan(SMALL, FOUR, *base, "--fix", "tp=4", "--stages", "2", constraint="devices",
            says=["make at most 1"], change="--stages 1")
    no_plan(SMALL, FOUR, *base, "--split", "2,2,2,1,1", constraint="devices", says=["5 x 1 = 5"],
            change="without --split")
    no_plan(SMALL, FOUR, "--global-batch", "2", "--seq", "512", "--fix", "dp=4",
            constraint="batch", says=["4 replicas", "batch of 2"], change="--fix dp=")
    no_plan(SMALL, FOUR, "--global-batch", "32", "--micro-batch", "16", "--seq", "512", "--fix",
            "dp=3", constraint="batch", says=["3 replicas"], change="--micro-batch 1")
    no_plan(SMALL, FOUR, *base, "--fix", "dp=3", "--shapes", "1", "--micro-batch", "32",
            constraint="batch", change="--fix dp=1")
    no_plan(SMALL, FOUR, *base, "--fix", "dp=3", "--shapes", "1", "--micro-batch", "1",
            constraint="batch", says=["over 3 replicas"], change="--shapes 2")


def no_devices_at_all():
    message = refused("plan", "-m", SMALL, "-c", MIXED, "--exclude", "type:Fast", "--exclude",
                      "host:b-*", code=1, says=["no device to plan on", "and 15 more", "--exclude"])
    expect(message.count("excluded by --exclude") == 1, f"the same reason again: {message}")
    refused("plan", "-m", SMALL, "-c", MIXED, "--nodes", "b-1", "--exclude", "type:Slow", code=1,
            says=["b-1/g0 and 3 more"])


def bundled():
    """The cluster whose rates nobody knows: asks; answers and exclusions give a plan."""
    message = refused("plan", "-m", BIG, "-c", "a100-bw1000", code=1,
                      says=["cannot plan", "type DCU BW1000"])
    assume = re.search(r"--assume '([^']*)'", message).group(1)
    example = re.search(r"\(for example ([^)]*)\)", message).group(1)
    exclude = re.search(r"--exclude '([^']*)'", message).group(1)
    selector = assume[:assume.rindex(":")]
    document = plan("-m", BIG, "-c", "a100-bw1000", "--assume", f"{selector}:{example}")
    expect(document and any("dcu" in name for name in used(document)), "--assume of the message")
    expect(document and any("BW1000" in row["type"] for row in document["match"]), "match")
    document = plan("-m", BIG, "-c", "a100-bw1000", "--exclude", exclude)
    expect(document and covers(document, 34) and all("a100" in n for n in used(document)),
           "--exclude of the message")
    document = plan("-m", BIG, "-c", "a100-bw1000", "--nodes", "a100-[01-02]")
    expect(document and all("a100" in name for name in used(document)), "--nodes without them")
    # Unknown stays unknown in the bundled file: nothing was written.
    refused("plan", "-m", BIG, "-c", "a100-bw1000", code=1, says=["cannot plan"])
    expect(run("check").returncode == 2, "check without a plan")


for part in (memory, devices_and_batch, no_devices_at_all, bundled):
    part()
finish()
