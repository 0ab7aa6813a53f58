# SPDX-License-Identifier: Apache-2.0
"""Every option of `yoke plan`: obeyed when valid; out of range or garbage ends in exit code 2
and one message that names the option and what is right."""
import re

from common import expect, finish, plan, refused, run, sizes, unused, used, write
from documents import GIB, device, inventory, llama

MODEL = write("model.json", llama(8, 16, 8, vocabulary=8192))
CLUSTER = write("cluster.json", inventory(
    ("fast-[01-02]", [device(f"g{i}", name="Fast") for i in range(4)]),
    ("slow-1", [device(f"g{i}", 40 * GIB, {"bf16": 100e12, "fp16": 100e12}, name="Slow")
                for i in range(2)])))
INPUTS = ("-m", MODEL, "-c", CLUSTER)
# The exact search is not what is tested here.
COMMON = (*INPUTS, "--global-batch", "32", "--seq", "1024", "--effort", "1")
tested = set()


def good(name, *values):
    """Plans with each value, one a value; `name` counts as tested."""
    tested.add(name)
    for value in values:
        yield value, plan(*COMMON, f"--{name}", value)


def bad(name, *values, says=()):
    for value in values:
        message = refused("plan", *COMMON, f"--{name}={value}", code=2, says=[f"--{name}", *says])
        expect(value == "" or value in message, f"--{name}={value}: not quoted: {message}")


def replicas(document):
    return sum(len(pipeline["stages"][0]["replicas"]) for pipeline in document["pipelines"])


def every_replica(document):
    return [replica for pipeline in document["pipelines"] for stage in pipeline["stages"]
            for replica in stage["replicas"]]


def steps_add_up(document, batch):
    total = sum(pipeline["micro_batches"] * sum(r["micro_batch"] for r in
                                                pipeline["stages"][0]["replicas"])
                for pipeline in document["pipelines"])
    expect(total == batch, f"{total} samples are processed, not {batch}")


def job():
    for value, document in good("global-batch", "1", "7", "32", "48"):
        if document:
            expect(document["job"]["global_batch"] == int(value), f"--global-batch {value}")
            steps_add_up(document, int(value))
    for value, document in good("seq", "1", "1000", "8192"):
        expect(document and document["job"]["sequence"] == int(value), f"--seq {value}")
    for value, document in good("optimizer", "adam", "sgd", "none"):
        if document:
            memory = every_replica(document)[0]["devices"][0]["memory"]["terms"]
            expect(document["job"]["optimizer"] == value, f"--optimizer {value}")
            expect((memory["optimizer"] == 0) == (value == "none"), f"--optimizer {value}: {memory}")
    for value, document in good("task", "train"):
        expect(document, "--task train")
    for value, document in good("for", "yoke", "megatron", "flagscale", "deepspeed", "torch"):
        expect(document and value in document["runnable_in"], f"--for {value}")
    for value, document in good("dtype", "bf16"):
        expect(document and document["job"]["dtype"] == value, f"--dtype {value}")
    numbers = ("0", "-1", "1.5", "1e3", "0x10", " 4", "4 ", "", "abc", "99999999999999999999", "٣")
    for name in ("global-batch", "seq", "micro-batch", "stages", "effort", "shapes"):
        bad(name, *numbers, says=["whole number from 1 to"])
    bad("global-batch", "16777217")
    bad("seq", "16777217")
    bad("optimizer", "adamw", "", "Adam", says=["adam", "sgd", "none"])
    bad("dtype", "int8", "BF16", "bf1", "", says=["bf16", "fp16"])
    bad("task", "serve", "", says=["train"])
    bad("for", "jax", "", says=["yoke", "megatron"])


def restrictions():
    for value, document in good("micro-batch", "1", "2", "4"):
        if document:
            expect({r["micro_batch"] for r in every_replica(document)} == {int(value)},
                   f"--micro-batch {value}")
            steps_add_up(document, 32)
    refused("plan", *COMMON, "--micro-batch", "3", code=2, says=["--micro-batch 3", "32"])
    refused("plan", *COMMON, "--micro-batch", "64", code=2, says=["--micro-batch 64", "32"])
    for value, document in good("recompute", "none", "selective", "full", "auto"):
        if document and value != "auto":
            expect({stage["recompute"] for pipeline in document["pipelines"]
                    for stage in pipeline["stages"]} == {value}, f"--recompute {value}")
    bad("recompute", "some", "", says=["none", "selective", "full", "auto"])
    for value, document in good("shard-optimizer", "auto", "on", "off"):
        if document and value != "auto":
            shared = document["job"]["sharded_optimizer"]
            expect(shared == (value == "on") or replicas(document) == 1,
                   f"--shard-optimizer {value}")
    bad("shard-optimizer", "yes", "", says=["auto", "on", "off"])
    for value, document in good("stages", "1", "2", "5", "10"):
        expect(document and all(len(pipeline["stages"]) == int(value)
                                for pipeline in document["pipelines"]), f"--stages {value}")
    refused("plan", *COMMON, "--stages", "11", code=2, says=["--stages 11", "10 layers"])
    for value, document in good("split", "4,4", "8", "1,1,1,1,1,1,1,1", "1,7"):
        wanted = [int(item) for item in value.split(",")]
        wanted[0] += 1
        wanted[-1] += 1
        expect(document and sizes(document) == wanted, f"--split {value}")
    bad("split", "4,5", "", "a", "4;4")
    refused("plan", *COMMON, "--split", "4,4", "--stages", "3", code=2, says=["2 items", "3 stages"])
    for value, document in good("shapes", "1", "2"):
        expect(document and len(document["pipelines"]) <= int(value), f"--shapes {value}")
    bad("shapes", "3")
    times = [document["predicted"]["iteration_time"]
             for _, document in good("effort", "1", "1000", "20000") if document]
    expect(times == sorted(times, reverse=True), f"more effort, slower plan: {times}")


def fixes():
    tested.add("fix")

    def fixed(*values):
        options = [part for value in values for part in ("--fix", value)]
        return plan(*COMMON, *options)
    for degree in (1, 2):
        document = fixed(f"tp={degree}")
        expect(document and {r["tp"] for r in every_replica(document)} == {degree}, f"tp={degree}")
    document = fixed("tp=4")
    if document:
        expect(all(device.startswith("fast") for device in used(document)), "tp=4 on two devices")
        reasons = {name: reason for name, reason in unused(document).items() if "slow" in name}
        expect(reasons and all("tensor-parallel" in reason for reason in reasons.values()),
               f"why Slow is idle: {unused(document)}")
    for count in (1, 2, 3, 5, 8, 10):
        document = fixed(f"dp={count}")
        expect(document and replicas(document) == count,
               f"dp={count}: {document and replicas(document)} replicas")
        if document:
            steps_add_up(document, 32)
    for count in (3, 5, 7):  # 32 micro-batches do not divide: only pipelines that differ do it
        document = plan(*COMMON, "--fix", f"dp={count}", "--micro-batch", "1")
        expect(document and len(document["pipelines"]) == 2, f"dp={count} in one shape")
        refused("plan", *COMMON, "--fix", f"dp={count}", "--micro-batch", "1", "--shapes", "1",
                code=1, says=["batch", f"over {count} replicas", "it fits with --shapes 2"])
    document = fixed("dp=2,stages=3")
    expect(document and replicas(document) == 2 and
           all(len(p["stages"]) == 3 for p in document["pipelines"]), "dp=2,stages=3")
    document = fixed("stages=2", "micro-batch=2")
    expect(document and {r["micro_batch"] for r in every_replica(document)} == {2}, "two --fix")
    document = fixed("type:Fast:tp=4,type:Slow:tp=1")
    if document:
        degrees = {device["type"]: r["tp"] for r in every_replica(document)
                   for device in r["devices"]}
        expect(degrees.get("Fast") == 4 and degrees.get("Slow", 1) == 1, f"by type: {degrees}")
    document = plan(*COMMON, "--fix", "type:Fast:tp=4", "--fix", "type:Slow:tp=2", "--stages", "3")
    expect(document and {r["tp"] for r in every_replica(document)} == {2, 4}, "both by type")
    for value, says in (("tp=0", "tp=0"), ("tp=", "tp="), ("tp=x", "tp=x"), ("dp=-1", "dp=-1"),
                        ("dp=1e3", "dp=1e3"), ("stages=1000001", "stages=1000001"), ("", "''"),
                        ("tp=2,", "''"), (",tp=2", "''"), ("cp=2", "cp=2"), ("tp", "'tp'"),
                        ("type:Fast:tp=0", "1 to 4096"), ("type:Fast:tp=", "1 to 4096"),
                        ("type:Fast:tp=4097", "1 to 4096"), ("type:Fast:dp=2", "expected"),
                        ("type:None:tp=2", "Fast, Slow"), ("type::tp=2", "Fast, Slow"),
                        ("type:fast:tp=2", "Fast, Slow")):
        refused("plan", *COMMON, "--fix", value, code=2, says=["--fix", says])
    refused("plan", *COMMON, "--fix", "type:Slow:tp=4", code=1,
            says=["tp=4", "Slow", "holds 2 such devices", "possible are 1, 2"])
    refused("plan", *COMMON, "--fix", "tp=16", code=1, says=["tp=16", "possible are"])
    for pair in (("--micro-batch", "4", "--fix", "micro-batch=2"),
                 ("--stages", "4", "--fix", "stages=2"), ("--fix", "tp=1,tp=2")):
        refused("plan", *COMMON, *pair, code=2, says=["--fix", "give one"])


def devices():
    for value, document in good("nodes", "slow-1", "fast-01", "fast-[01-02]", "slow-1,fast-02"):
        if document:
            hosts = {name.split("/")[0] for name in used(document)}
            allowed = {"slow-1": {"slow-1"}, "fast-01": {"fast-01"},
                       "fast-[01-02]": {"fast-01", "fast-02"}}.get(value, {"slow-1", "fast-02"})
            expect(hosts <= allowed, f"--nodes {value}: {hosts}")
            expect(document["job"]["nodes"] == value, f"--nodes {value} is not in the plan")
    refused("plan", *COMMON, "--nodes", "none", code=2, says=["'none'", "fast-[01-02], slow-1"])
    refused("plan", *COMMON, "--nodes", "fast-[01-03]", code=2, says=["'fast-03'"])
    for value in ("", ",", "fast-[01-", "fast-[]", "fast-[2-1]", "]"):
        refused("plan", *COMMON, "--nodes", value, code=2, says=["--nodes"])
    for value, document in good("exclude", "type:Slow", "host:fast-*", "host:fast-[01-02]",
                                "fast-01/g0", "slow-1/*"):
        if document:
            names = set(used(document))
            gone = {"type:Slow": "slow", "slow-1/*": "slow", "fast-01/g0": "fast-01/g0"}
            expect(not any(name.startswith(gone.get(value, "fast")) for name in names),
                   f"--exclude {value}: {names}")
            expect(document["job"]["exclude"] == [value], f"--exclude {value} is not in the plan")
            expect(any("--exclude" in reason for reason in unused(document).values()),
                   f"--exclude {value}: not named")
    document = plan(*COMMON, "--exclude", "fast-01/g0", "--exclude", "fast-01/g1")
    expect(document and not {"fast-01/g0", "fast-01/g1"} & set(used(document)), "two --exclude")
    for value in ("type:None", "none/g0", "host:none", "g9"):
        refused("plan", *COMMON, "--exclude", value, code=2, says=["--exclude", "no device"])
    for value in ("", "type:", "a/b/c/"):
        refused("plan", *COMMON, "--exclude", value, code=2)
    refused("plan", *COMMON, "--exclude", "vendor:Maker", code=1,
            says=["no device", "fast-01/g0 and 9 more: excluded by --exclude"])


def memory():
    shared = [device(f"g{i}", 80 * GIB) for i in range(2)]
    for entry in shared:
        entry["memory"].update(free=30 * GIB, usable=76 * GIB)
    cluster = write("shared.json", inventory(("n1", shared)))
    common = ("-m", MODEL, "-c", cluster, "--global-batch", "8", "--seq", "1024")
    tested.add("memory")
    for value, limit in (("free", 30 * GIB), ("usable", 76 * GIB), ("0.92", 0.92 * 80 * GIB),
                         ("1", 80 * GIB), ("0.5", 40 * GIB)):
        document = plan(*common, "--memory", value)
        if document:
            found = every_replica(document)[0]["devices"][0]["memory"]["limit"]
            expect(abs(found - limit) <= 1, f"--memory {value}: limit {found}, not {limit}")
            expect(document["job"]["memory"] == value, f"--memory {value} is not in the plan")
    document = plan(*common)
    expect(document and document["job"]["memory"] == "usable" and
           any("free now" in note and "--memory free" in note for note in document["notes"]),
           "a device in use is not pointed out")
    for value in ("0", "-0.5", "1.01", "92%", "nan", "inf", "", "Free", "0x1p-1", "0,92"):
        refused("plan", *common, f"--memory={value}", code=2,
                says=["--memory", "free, usable", "at most 1"])


def assume():
    tested.add("assume")
    unknown = write("unknown.json", inventory(("n1", [device("g0", None, {}, None, "New")])))
    common = ("-m", MODEL, "-c", unknown, "--global-batch", "8", "--seq", "1024")
    document = plan(*common, "--assume", "type:New:bf16=300T,hbm=1.6T,memory=64GiB")
    expect(document and used(document) == ["n1/g0"], "--assume")
    document = plan(*common, "--assume", "n1/g0:bf16=300T", "--assume", "kind:gpu:hbm=1.6TB/s",
                    "--assume", "host:n1:memory=64GiB")
    expect(document and used(document) == ["n1/g0"], "three --assume")
    for value in ("", "bf16=300T", "type:New", "type:New:", "type:New:bf16", "type:New:bf16=",
                  "type:New:bf16=fast", "type:New:bf16=-3T", "type:New:bf16=0", "type:New:speed=3",
                  "type:New:bf16=nan", "type:New:bf16=1e999", "type:Old:bf16=3T", "type::bf16=3T"):
        refused("plan", *common, "--assume", value, code=2)
    for value, what in (("bf16=300,hbm=1.6T", "bf16"), ("bf16=300T,hbm=1.6", "memory bandwidth")):
        refused("plan", *common, "--assume", f"type:New:memory=64GiB,{value}", code=3,
                says=["n1/g0", what, "unit"])
    refused("plan", *COMMON, "--assume", "kind:gpu:nic=100", code=3, says=["100 bytes/s", "100Gb"])


def catalog():
    """A row of one's own gives the rates that are asked for without it."""
    tested.add("catalog")
    cluster = write("own.json", {"schema": "yoke-inventory/1", "nodes": [{"hosts": "n1", "devices": [
        {"id": "g0", "kind": "gpu", "name": "Own Card", "schedulable": True}]}]})
    common = ("-m", MODEL, "-c", cluster, "--global-batch", "8", "--seq", "1024")
    refused("plan", *common, code=1, says=["type Own Card", "memory=SIZE"])
    own = write("catalog.json", {"schema": "yoke-catalog/1", "devices": [
        {"name": "Own Card", "vendor": "Own", "kind": "gpu",
         "memory": {"bytes": 64 * GIB, "source": "data sheet"},
         "bandwidth": {"rate": 1.6e12, "source": "data sheet"},
         "compute": {"bf16": {"rate": 3e14, "source": "data sheet"}}}]})
    document = plan(*common, "--catalog", own)
    expect(document and used(document) == ["n1/g0"], "--catalog")
    for path in (own + ".absent", CLUSTER, ""):
        refused("plan", *common, "--catalog", path, code=3, says=[path])


def profile():
    """Layers that take ten times as long as those of another profile; what it does more is in
    tests/partition/test_layer_times.py."""
    tested.add("profile")
    steps = []
    for seconds in (1e-2, 1e-1):
        document = plan(*COMMON, "--micro-batch", "1", "--profile", write("times.json", {
            "schema": "yoke-layer-times/1", "source": "made up", "layers": 10, "sequence": 1024,
            "dtype": "bf16", "times": [
                {"type": name, "tp": 1, "micro_batch": 1, "forward": [seconds] * 10,
                 "backward": [2 * seconds] * 10} for name in ("Fast", "Slow")]}))
        steps.append(document["predicted"]["iteration_time"] if document else 0)
    expect(9 < steps[1] / steps[0] < 11, f"--profile: steps of {steps} s")
    for path in ("absent.json", CLUSTER, ""):
        refused("plan", *COMMON, "--profile", path, code=3, says=[path])


def usage():
    refused("plan", code=2, says=["--model is missing", "--help"])
    refused("plan", "-m", MODEL, code=2, says=["--cluster is missing"])
    refused("plan", "-c", CLUSTER, code=2, says=["--model is missing"])
    refused("plan", *COMMON, "more", code=2, says=["'more'"])
    refused("plan", *COMMON, "--node", "x", code=2, says=["--node"])
    refused("plan", *COMMON, "--memori", "x", code=2, says=["did you mean --memory?"])
    refused("plan", *COMMON, "--json", code=2, says=["--json needs a value"])
    bad("from", "hf", "", says=["megatron"])
    refused("plan", *COMMON, "--baseline-log", "x", code=2, says=["--baseline"])
    refused("plan", *COMMON, "--baseline", "absent", code=3, says=["absent"])
    # What they do: tests/export/baseline.py.
    tested.update(("baseline", "baseline-log", "from"))
    tested.update(("model", "cluster", "json", "output", "help"))
    text = run("plan", "--help").out
    listed = set(re.findall(r"^ +(?:-\w, +)?--([a-z-]+)", text, re.MULTILINE))
    expect(listed == tested, f"options not tested: {sorted(listed ^ tested)}")
    examples = text.index("Examples:")
    for line in text[:examples].splitlines():
        expect(len(line) <= 80, f"--help: {len(line)} columns: {line}")


for part in (job, restrictions, fixes, devices, memory, assume, catalog, profile, usage):
    part()
finish()
