# SPDX-License-Identifier: Apache-2.0
"""What a user may hand to `yoke plan`: missing, swapped, broken and hostile inputs end in one
clear message and leave no file behind; good ones may come by file, name, line or pipe."""
import copy
import json
import os
import subprocess

from common import (FOLDER, SOURCE, YOKE, expect, finish, plan, refused, run, unused, used, write)
from documents import GIB, TERA, device, inventory, llama, one_node

MODEL = write("model.json", llama(4, 8, 8, vocabulary=4096))
CLUSTER = write("cluster.json", one_node([device(f"g{i}") for i in range(2)]))
LINE = "1x2xA100-SXM4-80GB"
JOB = ("--global-batch", "8", "--seq", "512")


def model_refused(path, code, *says, stdin=None):
    refused("plan", "-m", path, "-c", CLUSTER, code=code, says=says, stdin=stdin)


def cluster_refused(path, code, *says, stdin=None):
    refused("plan", "-m", MODEL, "-c", path, *JOB, code=code, says=says, stdin=stdin)


def files():
    absent = os.path.join(FOLDER, "absent.json")
    model_refused(absent, 3, absent)
    cluster_refused(absent, 3, absent, "--cluster")
    model_refused("no-such-model", 3, "no-such-model", "llama-3.1-8b")
    cluster_refused("no-such-cluster", 3, "no-such-cluster", "a100-v100", "nic=100Gb")
    for name in ("", " ", "x", "xeon", "A100-SXM4-80GB"):
        cluster_refused(name, 3, f"'{name}'", "a100-v100")
    cluster_refused(FOLDER, 3, FOLDER, "folder")
    empty = os.path.join(FOLDER, "empty-folder")
    os.mkdir(empty)
    model_refused(empty, 3, "config.json")
    model_refused("/dev/null", 3, "/dev/null", "device")
    cluster_refused("/dev/null", 3, "/dev/null", "device")
    for name, text, place in (("nothing.json", "", ":1:1"), ("open.json", '{\n "schema":', ":2:"),
                              ("list.json", "[]", ""), ("word.json", "hello", ":1:"),
                              ("binary.json", "\0\1\2", ":1:"), ("deep.json", "[" * 100000, "")):
        path = write(name, text)
        model_refused(path, 3, path + place)
        cluster_refused(path, 3, path + place)
    config = os.path.join(FOLDER, "folder")
    os.mkdir(config)
    os.rename(write("config.json", llama(4, 8, 8, vocabulary=4096)),
              os.path.join(config, "config.json"))
    expect(plan("-m", config, "-c", CLUSTER, *JOB), "a folder with a config.json")


def swapped():
    cluster_refused(MODEL, 3, MODEL, "config.json of a model", "inventory is expected")
    model_refused(CLUSTER, 3, CLUSTER, "this is an inventory", "model is expected")
    document = os.path.join(FOLDER, "document.json")
    run("model", MODEL, "--json", document)
    cluster_refused(document, 3, document, "this is a model document", "inventory is expected")
    expect(plan("-m", document, "-c", CLUSTER, *JOB), "a model document")
    made = write("plan.json", plan("-m", MODEL, "-c", CLUSTER, *JOB))
    cluster_refused(made, 3, made, "this is a plan", "inventory is expected")
    model_refused(made, 3, made, "this is a plan", "model is expected")
    model_refused(LINE, 3, LINE)


def standard_input():
    def content(path):
        with open(path, "rb") as file:
            return file.read()
    by_pipe = plan("-m", "-", "-c", CLUSTER, *JOB, stdin=content(MODEL))
    by_file = plan("-m", MODEL, "-c", CLUSTER, *JOB)
    expect(by_pipe and by_file and by_pipe["predicted"] == by_file["predicted"], "-m -")
    by_pipe = plan("-m", MODEL, "-c", "-", *JOB, stdin=content(CLUSTER))
    expect(by_pipe and by_pipe["predicted"] == by_file["predicted"] and
           by_pipe["inventory"]["digest"] == by_file["inventory"]["digest"], "-c -")
    refused("plan", "-m", "-", "-c", "-", code=2, says=["--model - and --cluster -"])
    model_refused("-", 3, "standard input:1:1")
    cluster_refused("-", 3, "standard input:2:", stdin=b'{"schema":\n nothing}')


def one_line():
    same = plan("-m", MODEL, "-c", LINE, *JOB)
    for text in (" 1x2xA100-SXM4-80GB", "1 x 2 x A100-SXM4-80GB", "1X2XA100-SXM4-80GB",
                 "1x2xa100-sxm4-80gb", "1x2xA100-SXM4-80GB ", "1x2xA100-SXM4-80GB; nic=100Gb",
                 "1x(2xA100-SXM4-80GB)"):
        document = plan("-m", MODEL, "-c", text, *JOB)
        expect(document and same and document["predicted"] == same["predicted"], f"'{text}'")
    mixed = plan("-m", MODEL, "-c", "2x(2xA100-SXM4-80GB + 2xRTX 4090) + 1x1xH100-SXM5-80GB; "
                                    "nic=100Gb, link=50GB", *JOB, "--stages", "5", "--fix", "tp=1")
    expect(mixed and {row["type"] for row in mixed["match"]} ==
           {"A100-SXM4-80GB", "RTX 4090", "H100-SXM5-80GB"}, "mixed nodes in one line")
    for text, place, says in (
            ("999999x999999xA100-SXM4-80GB", 8, "1 to 1024"),
            ("0x8xA100-SXM4-80GB", 1, "number of nodes"), ("2x0xA100-SXM4-80GB", 3, "devices"),
            ("99999999999999999999x1xA100-SXM4-80GB", 1, "1 to 1000000"),
            ("2x8xNOPE", 5, "not in the catalog"), ("2x8x", 5, "name of a device type"),
            ("2x8xA100-SXM4-80GB +", 21, "number of nodes"), ("2x8", 4, "'x'"),
            ("2x8xA100-SXM4-80GB ++ 1x1xT4", 21, "number of nodes"),
            ("2x(8xA100-SXM4-80GB", 20, "')'"), ("1x()", 4, "devices"),
            ("2x8xA100-SXM4-80GB; nic=0", 21, "above zero"),
            ("2x8xA100-SXM4-80GB; speed=3", 21, "nic=RATE"),
            ("2x8xA100-SXM4-80GB; nic=1Gb; nic=1Gb", 30, "twice"),
            ("1x1xA100-SXM4-80GB extra", 5, "not in the catalog"),
            ("1x1xA100-SXM4-80GB;", 20, "nic=RATE"), ("1x1025xT4", 3, "1 to 1024")):
        cluster_refused(text, 3, "column ", says, f'"{text}"' if len(text) < 60 else "cluster")
        message = run("plan", "-m", MODEL, "-c", text).err
        expect(f"column {place}:" in message, f"{text}: not column {place}: {message}")
    for text in ("1x1xT4; nic=-5", "1x1xT4; nic=nan", "1x1xT4; nic=1e999", "1x1xT4; nic=100 Gb/h"):
        cluster_refused(text, 3, text.split("=")[1])
    cluster_refused("1000000x1xT4; nic=1Gb", 3, "more than 100000 hosts")
    cluster_refused("13000x8xA100-SXM4-80GB; nic=1Gb", 3, "more than 100000 devices", "--nodes")
    cluster_refused("2x1xA100-SXM4-80GB; nic=100", 3, "100 bytes/s", "nic=100Gb")
    message = refused("plan", "-m", MODEL, "-c", "3x1xA100-SXM4-80GB", *JOB, code=1,
                      says=["a100-sxm4-80gb-[01-03]", "nic=RATE", "--nodes"])
    assumed = message.split("--assume '")[1].split("'")[0].replace("RATE", "100Gb")
    expect(plan("-m", MODEL, "-c", "3x1xA100-SXM4-80GB", *JOB, "--assume", assumed),
           "the --assume of the message")
    one = message.split("--nodes ")[1].split()[0]
    expect(plan("-m", MODEL, "-c", "3x1xA100-SXM4-80GB", *JOB, "--nodes", one),
           "the --nodes of the message")


def hostile_figures():
    good = one_node([device("g0"), device("g1")])

    def changed(change):
        document = copy.deepcopy(good)
        change(document["nodes"][0])
        return write("hostile.json", document)

    def first(node):
        return node["devices"][0]
    for value in (-1, -1e12, 1e31, "fast", True, [], {}):
        for key in ("compute", "bandwidth"):
            def change(node, key=key, value=value):
                rate = first(node)[key]["bf16"] if key == "compute" else first(node)[key]
                rate["rate"] = value
            cluster_refused(changed(change), 3, "/nodes/0/devices/0/" + key)
        cluster_refused(changed(lambda node: node["nics"][0].update(rate=value)), 3,
                        "/nodes/0/nics/0")
    for value in (1, 300, 1e-300, 5e-324, 999999):
        cluster_refused(changed(lambda node: first(node)["compute"]["bf16"].update(rate=value)), 3,
                        "n1/g0", "bf16", "unit")
        cluster_refused(changed(lambda node: first(node)["bandwidth"].update(rate=value)), 3,
                        "n1/g0", "memory bandwidth", "unit")
    for value in (1e6, 1e18, 1e30):  # slow and fast beyond belief, and finite all the same
        document = plan("-m", MODEL, "-c", changed(
            lambda node: first(node)["compute"]["bf16"].update(rate=value)), *JOB)
        expect(document and 0 < document["predicted"]["iteration_time"] < 1e300, f"rate {value}")
    document = plan("-m", MODEL, "-c", changed(
        lambda node: first(node)["memory"].update(total=2 ** 53, free=2 ** 53, usable=2 ** 53)), *JOB)
    expect(document, "8 PiB of memory")
    document = plan("-m", MODEL, "-c", changed(lambda node: first(node)["memory"].update(
        total=1, free=1, usable=1)), *JOB)
    expect(document and used(document) == ["n1/g1"], "one byte of memory")
    # Twice the same.
    cluster_refused(write("twice.json", inventory(("n1", [device("g0")]), ("n[1-2]", [device("g0")]))),
                    3, "twice.json", '"n1"', "twice")
    cluster_refused(changed(lambda node: node["devices"].append(device("g0"))), 3,
                    "/nodes/0/devices", '"g0"', "twice")
    cluster_refused(write("none.json", {"schema": "yoke-inventory/1", "nodes": []}), 1, "no device")
    cluster_refused(write("bare.json", one_node([])), 1, "no device")
    # Not for planning: each is named with its own reason.
    node = one_node([device("g0"), device("g1", schedulable=False, reason="ECC errors"),
                     device("c0", kind="cpu"), device("e0", kind="emulator")])
    document = plan("-m", MODEL, "-c", write("kinds.json", node), *JOB)
    if document:
        left = unused(document)
        expect(used(document) == ["n1/g0"] and left.get("n1/g1") == "ECC errors" and
               "CPU" in left.get("n1/c0", "") and "emulator" in left.get("n1/e0", ""), left)
    many = inventory(*((f"n{i}", [device("g0", (40 + i) * GIB)]) for i in range(80)))
    message = run("plan", "-m", MODEL, "-c", write("many.json", many), *JOB)
    expect(message.returncode in (0, 3) and (message.returncode == 0 or "80 classes" in message.err),
           f"80 kinds of devices: {message.err}")


def outputs():
    target = os.path.join(FOLDER, "out.json")
    text = run("plan", "-m", MODEL, "-c", CLUSTER, *JOB, "-o", target).out
    expect(text.startswith("Step "), "-o prints the table as well")
    with open(target, encoding="utf-8") as file:
        kept = file.read()
    expect(json.loads(kept)["schema"] == "yoke-plan/1", "-o writes the document")
    # What is there stays when there is no plan, and nothing is left beside it.
    for arguments, code in ((("--memory", "0.001"), 1), (("--stages", "99"), 2)):
        for option in ("-o", "--json"):
            result = run("plan", "-m", MODEL, "-c", CLUSTER, *JOB, *arguments, option, target)
            expect(result.returncode == code and result.out == "", f"{arguments}: {result.err}")
            with open(target, encoding="utf-8") as file:
                expect(file.read() == kept, f"{option} {arguments} changed the file")
    before = sorted(os.listdir(FOLDER))
    refused("plan", "-m", MODEL, "-c", CLUSTER, *JOB, "--memory", "0.001", "-o",
            os.path.join(FOLDER, "new.json"), code=1)
    expect(sorted(os.listdir(FOLDER)) == before, "a failed plan leaves a file")
    for path, says in ((os.path.join(FOLDER, "no", "plan.json"), "No such file"),
                       (FOLDER, "folder")):
        for option in ("-o", "--json"):
            refused("plan", "-m", MODEL, "-c", CLUSTER, *JOB, option, path, code=4,
                    says=[path, says])
    result = run("plan", "-m", MODEL, "-c", CLUSTER, *JOB, "--json", "-", "-o", target)
    expect(json.loads(result.out) == json.load(open(target, encoding="utf-8")), "both outputs")
    result = run("plan", "-m", MODEL, "-c", CLUSTER, *JOB, "-o", "-")
    expect(json.loads(result.out)["schema"] == "yoke-plan/1", "-o - is clean JSON")
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([YOKE, "plan", "-m", MODEL, "-c", CLUSTER, *JOB], stdout=full,
                                  stderr=subprocess.PIPE, check=False)
        expect(done.returncode == 4 and b"space" in done.stderr, f"full disk: {done.stderr}")


def on_this_machine():
    """A host without accelerators is planned on itself; an unknown rate is asked for."""
    host = os.path.join(FOLDER, "host.json")
    cpu = device("cpu0", 8 * GIB, {"fp32": TERA}, 2e10, "Some CPU", kind="cpu")
    document = plan("-m", "gpt2", "-c", write("cpu.json", one_node([cpu])), "--dtype", "fp32",
                    "--global-batch", "4", "--seq", "1024")
    expect(document and used(document) == ["n1/cpu0"], "a CPU alone is not planned on")
    expect(document and not any("made for" in note for note in document["notes"]), "seq 1024")
    plan("-m", "gpt2", "-c", host if os.path.exists(host) else CLUSTER, *JOB[:2], "--seq", "2048",
         says=["1,024 tokens"])


expect(os.path.isdir(SOURCE), "YOKE_SOURCE_DIR")
for part in (files, swapped, standard_input, one_line, hostile_figures, outputs, on_this_machine):
    part()
finish()
