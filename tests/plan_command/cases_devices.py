# SPDX-License-Identifier: Apache-2.0
"""Case plan-07: devices without memory, fewer layers than devices, a split of zeros, and a
model too big for one card."""
import itertools

from common import case, covers, expect, finish, plan, refused, run, sizes, unused, used, write
from documents import GIB, MIB, device, equal_layers, one_node

# With bf16 and no optimizer a parameter takes 2 + 4 bytes of state: fp32 gradients.
STATE = 6
SMALL = ("--optimizer", "none", "--global-batch", "8", "--seq", "128", "--micro-batch", "1")


def model_of(layers, layer_bytes):
    """Equal layers of about that much state each."""
    hidden = 2048
    return write(f"m-{layers}-{layer_bytes}.json",
                 equal_layers(layers, hidden, columns=int(layer_bytes / STATE / 2 / hidden)))


def cluster_of(row, scale=MIB, key="free_mib"):
    devices = []
    for entry in row["devices"]:
        free = None if entry[key] is None else entry[key] * scale
        devices.append(device(entry["id"], free))
    return write("cluster.json", one_node(devices))


def without_memory():
    row = case("plan-07-too-many-devices")["a"]
    model = model_of(row["layers"], row["layer_mib"] * MIB)
    for key in ("total", "free"):  # both known, or only what is free
        cluster = one_node([device(d["id"], None if d["free_mib"] is None else d["free_mib"] * MIB)
                            for d in row["devices"]])
        if key == "free":
            for entry in cluster["nodes"][0]["devices"]:
                entry["memory"]["total"] = entry["memory"]["usable"] = None
        path = write("a.json", cluster)
        four = plan("-m", model, "-c", path, *SMALL, "--fix", "dp=1,tp=1,stages=4")
        free = plan("-m", model, "-c", path, *SMALL)
        for document in filter(None, (four, free)):
            left = unused(document)
            expect("n1/d4" in left and "0 bytes" in left["n1/d4"], f"d4: {left}")
            expect("n1/d5" in left and "unknown" in left["n1/d5"] and "--assume" in left["n1/d5"],
                   f"d5: {left}")
            expect(not {"n1/d4", "n1/d5"} & set(used(document)), f"used {used(document)}")
            expect(covers(document, row["layers"]), "layers")
        if four:
            expect(used(four) == [f"n1/d{i}" for i in range(4)] and sizes(four) == [1] * 4,
                   f"{used(four)} {sizes(four)}")
    # What the reason says to do helps.
    helped = plan("-m", model, "-c", path, *SMALL, "--assume", "n1/d5:memory=8000MiB",
                  "--fix", "dp=5")
    expect(helped is not None and "n1/d5" in used(helped) and "n1/d5" not in unused(helped),
           "a memory that is assumed is not used")
    # Without a known rate the memory of 0 is still the reason: no question about it.
    cluster["nodes"][0]["devices"][4]["compute"] = {}
    asked = plan("-m", model, "-c", write("a2.json", cluster), *SMALL)
    expect(asked is not None and "0 bytes" in unused(asked).get("n1/d4", ""), "asks about d4")
    nothing = one_node([device("d0", 0), device("d1", None), device("d2", 0)])
    refused("plan", "-m", model, "-c", write("none.json", nothing), code=1,
            says=["no device", "n1/d0 and 1 more: it has no memory", "n1/d1: its memory is unknown"])
    for wrong in (-1, -8000 * MIB, "8GiB", 1e300):
        bad = one_node([device("d0", wrong)])
        refused("plan", "-m", model, "-c", write("bad.json", bad), code=3,
                says=["bad.json", "/nodes/0/devices/0/memory"])


def fewer_layers_than_devices():
    row = case("plan-07-too-many-devices")["b"]
    layers, devices = row["layers"], len(row["devices"])
    model = model_of(layers, row["layer_mib"] * MIB)
    cluster = cluster_of(row)
    common = ("-m", model, "-c", cluster, *SMALL)
    document = plan(*common, "--fix", f"dp=1,tp=1,stages={layers}")
    if document:
        expect(sizes(document) == [1] * layers and len(used(document)) == layers,
               f"{sizes(document)} on {used(document)}")
        expect(len(unused(document)) == devices - layers and
               all("idle" in reason for reason in unused(document).values()), unused(document))
    refused("plan", *common, "--stages", str(devices), code=2,
            says=[f"--stages {devices}", f"{layers} layers"])
    # However it is restricted, no stage is empty and every device is used or named.
    for options in ((), ("--fix", "dp=1"), ("--fix", "dp=1,tp=1"), ("--stages", "2"),
                    ("--stages", "1"), ("--fix", "dp=3"), ("--fix", "dp=4"), ("--shapes", "1")):
        document = plan(*common, *options)
        if document:
            expect(covers(document, layers) and min(map(min, [sizes(document)])) >= 1, options)
            names = set(used(document)) | set(unused(document))
            expect(names == {f"n1/d{i}" for i in range(devices)} or
                   "n1/*" in names, f"{options}: {names}")
    for count in (1, 2, 5):
        many = write("many.json", one_node([device(f"d{i}") for i in range(8)]))
        document = plan("-m", model_of(count, 1000 * MIB), "-c", many, *SMALL,
                        "--fix", "dp=1,tp=1")
        expect(document is not None and covers(document, count) and
               len(used(document)) + len(unused(document)) == 8, f"{count} layers on 8 devices")


def split_of_zeros():
    row = case("plan-07-too-many-devices")["c"]
    text = ",".join(map(str, row["user_split"]))
    model = model_of(row["layers"], row["layer_mib"] * MIB)
    refused("plan", "-m", model, "-c", cluster_of(row), *SMALL, "--split", text, code=2,
            says=["is 0", "sum to 0", str(row["layers"])])


def too_big_for_one():
    row = case("plan-07-too-many-devices")["d"]
    model = model_of(row["layers"], row["model_bytes"] / row["layers"])
    sizes_of = {d["id"]: d["free"] for d in row["devices"]}
    expect(row["model_bytes"] > max(sizes_of.values()), "the case fits one card")
    both = [device(name, size) for name, size in sizes_of.items()]
    for order in itertools.permutations(both):
        path = write("two.json", one_node(list(order)))
        document = plan("-m", model, "-c", path, *SMALL)
        if document:
            expect(len(used(document)) == 2 and covers(document, row["layers"]),
                   f"used {used(document)}")
    for alone in both:
        message = refused("plan", "-m", model, "-c", write("one.json", one_node([alone])), *SMALL,
                          code=1, says=["memory", "missing", "the 1 device offers"])
        expect("it fits" not in message, f"a change is named that cannot help: {message}")
    refused("plan", "-m", model, "-c", path, *SMALL, "--stages", "1", "--fix", "tp=1", code=1,
            says=["memory", "it fits with"])
    far = write("far.json", {"schema": "yoke-inventory/1", "nodes": [
        {"hosts": name, "devices": [device("d0", size)],
         "nics": [{"id": "nic0", "rate": 125e6, "source": "user"}]}
        for name, size in sizes_of.items()]})
    document = plan("-m", model, "-c", far, *SMALL)
    expect(document is not None and len(used(document)) == 2, "over a slow link: not both")
    small = write("small.json", one_node([device(n, 12 * GIB) for n in sizes_of]))
    refused("plan", "-m", model, "-c", small, *SMALL, code=1, says=["memory", "missing"])


without_memory()
fewer_layers_than_devices()
split_of_zeros()
too_big_for_one()
finish()
