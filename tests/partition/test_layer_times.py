# SPDX-License-Identifier: Apache-2.0
"""Measured layer times: the schema and the reader agree; the commands take a profile; the
translators for Sailor, on small inputs written here and, where they are, on its clusters."""
import copy
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
YOKE = os.environ["YOKE_COMMAND"]
SOURCE = pathlib.Path(os.environ["YOKE_SOURCE_DIR"])
PEER = SOURCE / "bench" / "peers" / "sailor"
sys.path.insert(0, str(PEER))
# pylint: disable=wrong-import-position
import to_sailor
import to_yoke

faults = []


def expect(condition, *what):
    if not condition:
        faults.append(" ".join(str(part) for part in what))
        print("FAILED:", faults[-1])


def run(*arguments, code=0, cwd=None):
    result = subprocess.run([str(word) for word in arguments], capture_output=True, text=True,
                            check=False, cwd=cwd, timeout=300)
    expect(result.returncode == code, *arguments, f"exit {result.returncode}, not {code}:",
           result.stderr)
    return result


# --- inputs of Sailor's form, with figures of our own ---------------------------------------

LAYERS = 6  # embedding, 4 blocks, head
JOB = {"global_batch_size": 32, "hidden_size": 256, "sequence_length": 128, "num_layers": 4,
       "vocab_size": 1000, "model": "OPT-350", "heads": 4, "max_position_embeddings": 128,
       "num_all_layers": LAYERS}
SPEED = {"A100-40": 1.0, "V100-16": 2.5}


def small_profile(slowness):
    """Half the time with twice the devices, and a little more."""
    return {str(batch): {str(tp): {str(layer): [1e-3 * batch * slowness * (1 / tp + 0.1),
                                                2e-3 * batch * slowness * (1 / tp + 0.1), 1e-4]
                                   for layer in range(LAYERS)} for tp in (1, 2)}
            for batch in (1, 2)}


def small_inputs(folder):
    for name in ("clusters", "profiles", "network"):
        (folder / name).mkdir(parents=True)
    (folder / "clusters" / "training_config_opt_350.json").write_text(json.dumps(JOB))
    (folder / "clusters" / "basic_cluster_config.json").write_text(json.dumps(
        {name: {"gpus_per_node": 2} for name in SPEED}))
    (folder / "clusters" / "gpu_trace_heterogeneous_imbalanced.csv").write_text(
        ",Timestamp,A100-40_z,V100-16_z\n0,1.0,4,4\n1,2.0,3,4\n")
    memory = {str(layer): {"params_floats": 1e6, "act_mem_floats": 1e6,
                           "act_output_floats": 1e6} for layer in range(LAYERS)}
    (folder / "profiles" / "llm_info.json").write_text(json.dumps(
        {"OPT-350": {"1": memory, "2": memory}}))
    for name, slowness in SPEED.items():
        (folder / "profiles" / f"OPT-350.{name}.json").write_text(
            json.dumps(small_profile(slowness)))
    rates = {degree: {"z": {name: {other: [[0.0, 0.1, 1.0], 1e9] for other in "12"}
                            for name in SPEED}} for degree in "12"}
    (folder / "network" / "multizone_bandwidths_het.json").write_text(
        json.dumps({"z": {name: rates for name in SPEED}}))


def make(inputs, out, row=0, more=()):
    """Documents and a plan; returns the plan and the words of the inputs."""
    run(PEER / "to_yoke.py", "--inputs", inputs, "--out", out, "--row", row)
    job = json.loads((out / "job.json").read_text())
    words = ["-m", "model.json", "-c", job["cluster"], "--profile", "profile.json"]
    run(YOKE, "plan", *words, *job["options"], *more, "--json", "plan.json", cwd=out)
    return json.loads((out / "plan.json").read_text()), words


def check_translators(folder):
    inputs, out = folder / "inputs", folder / "out"
    small_inputs(inputs)
    plan, words = make(inputs, out)
    expect(refused(to_sailor.translate, plan, "z"), "two shapes that its simulator has not")
    plan, words = make(inputs, out, more=("--shapes", "1"))
    profile = json.loads((out / "profile.json").read_text())
    expect(len(profile["times"]) == 8 and len(profile["sends"]) == 16, "points or sends")
    point = next(item for item in profile["times"] if item["type"].startswith("V100") and
                 item["tp"] == 2 and item["micro_batch"] == 2)
    expect(math.isclose(point["forward"][3], 1e-3 * 2 * 2.5 * 0.6), "a time is another's")
    seconds = dict(map(tuple, profile["sends"][0]["points"]))[4e6]
    expect(math.isclose(seconds, 4e-3 / (1 + 0.1 * math.log2(4))), "a send is another's")
    expect(any("measured" in note for note in plan["notes"]), "no note of the profile")
    theirs = json.loads(run(PEER / "to_sailor.py", "--zone", "z", out / "plan.json").stdout)
    pipeline = theirs["pipeline_list"][0]
    expect(sum(pipeline["layers_per_stage"], []) == list(range(LAYERS)), "layers are lost")
    expect(sum(theirs["used_gpus"].values()) ==
           sum(group[1] for stage in pipeline["tmp_per_stage"] for group in stage), "devices")
    expect(pipeline["dp"] == [len(stage) for stage in pipeline["tmp_per_stage"]], "replicas")
    expect(to_sailor.translate(plan, "z") == theirs or
           json.loads(json.dumps(to_sailor.translate(plan, "z"))) == theirs, "not the same")
    # Every command with the profile, and from the plan's own words.
    for name in ("check", "simulate", "explain"):
        run(YOKE, name, "plan.json", *words, cwd=out)
    run(YOKE, "check", "plan.json", cwd=out)
    without = run(YOKE, "check", "plan.json", *words[:4], "--json", "-", cwd=out)
    expect("--profile" in without.stderr, "the profile that is missing is not named")
    check_refusals(folder, inputs, plan)
    return profile


def refused(function, *arguments):
    try:
        function(*arguments)
    except (to_yoke.Refused, to_sailor.Refused):
        return True
    return False


def check_refusals(folder, inputs, plan):
    result = run(PEER / "to_yoke.py", "--inputs", inputs, "--out", folder / "no", "--row", 1,
                 code=1)
    expect("3 devices in nodes of 2" in result.stderr, "odd devices:", result.stderr)
    result = run(PEER / "to_yoke.py", "--inputs", inputs, "--out", folder / "no", "--row", 9,
                 code=1)
    expect("row 9 of 2" in result.stderr, "a row that is not there:", result.stderr)
    result = run(PEER / "to_yoke.py", "--inputs", folder, "--out", folder / "no", code=1)
    expect("training_config" in result.stderr, "no inputs:", result.stderr)
    expect(refused(to_yoke.times_of, {"1": {"1": {"0": [1, 2, 3]}}}, "A100-40", 2), "short")
    expect(refused(to_yoke.send_points, [-1.0], 1e6), "a network without rates")
    for change in ({"recompute": "full"}, {"chunks": [[0, 1], [4, 5]]}):
        other = copy.deepcopy(plan)
        other["pipelines"][0]["stages"][0].update(change)
        expect(refused(to_sailor.translate, other, "z"), change)
    other = copy.deepcopy(plan)
    other["pipelines"].append(copy.deepcopy(other["pipelines"][0]))
    other["pipelines"][1]["micro_batches"] += 2
    expect(refused(to_sailor.translate, other, "z"), "two steps more")
    other = copy.deepcopy(plan)
    other["pipelines"][0]["stages"][0]["replicas"][0]["devices"][0]["type"] = "H20"
    expect(refused(to_sailor.translate, other, "z"), "an unknown type")
    (folder / "broken.json").write_text("{")
    run(PEER / "to_sailor.py", folder / "broken.json", code=1)


# --- the schema ------------------------------------------------------------------------------

def places(value, path=()):
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list) and value:
        yield from places(value[0], path + (0,))


def mutations(document):
    yield "unchanged", document
    for path in places(document):
        for change in ("remove", None, "text", -1, 1e20, [], {}):
            other = copy.deepcopy(document)
            if not path:
                continue
            at = other
            for key in path[:-1]:
                at = at[key]
            if change == "remove":
                if isinstance(at, list):
                    continue
                del at[path[-1]]
            else:
                at[path[-1]] = change
            yield f"/{'/'.join(map(str, path))}: {change}", other


def check_schema(folder, profile):
    try:
        import jsonschema  # pylint: disable=import-outside-toplevel
    except ImportError:
        print("without the schema: python3-jsonschema is not installed")
        return
    schema = json.loads((SOURCE / "schema" / "yoke-layer-times-1.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    small = dict(profile, times=profile["times"][:1], sends=profile["sends"][:1])
    small["sends"] = [dict(small["sends"][0], points=small["sends"][0]["points"][:2])]
    path = folder / "mutated.json"
    for what, document in mutations(small):
        path.write_text(json.dumps(document))
        result = subprocess.run(
            [YOKE, "plan", "-m", "gpt2", "-c", "1x1xA100-SXM4-40GB", "--profile", str(path)],
            capture_output=True, text=True, check=False, timeout=60)
        # A document that is read is refused later: it is of another model than gpt2.
        read = "mutated.json: measured " in result.stderr
        valid = validator.is_valid(document)
        # What only the reader knows: lists are as long as the model, and sizes rise.
        more = "for each of the" in result.stderr or "than the point before" in result.stderr
        expect(read == valid or (valid and more), what, "schema", valid, "reader:",
               result.stderr)


# --- Sailor's clusters -------------------------------------------------------------------------

class Formula:
    """Its simulator's figure for a plan of one pipeline, written anew from its formulas."""

    def __init__(self, inputs):
        def read(*names):
            return json.loads(inputs.joinpath(*names).read_text())
        self.memory = read("profiles", "llm_info.json")["OPT-350"]
        zone = read("network", "multizone_bandwidths_het.json")
        self.network = zone["us-central1-a"]
        self.times = {name: read("profiles", f"OPT-350.{name}.json")
                      for name in ("A100-40", "V100-16")}

    def send(self, pair, size):
        (a, tp_a), (b, tp_b) = pair
        row = self.network[a][str(tp_a)]["us-central1-a"][b][str(tp_b)][0]
        x = math.log2(size / 1e6)
        return size / 1e9 / (row[0] * x * x + row[1] * x + row[2])

    def floats(self, tp, layers, key):
        return sum(self.memory[str(tp)][str(layer)][key] for layer in layers)

    def stage(self, plan, index):
        pipeline = plan["pipeline_list"][0]
        group = pipeline["tmp_per_stage"][index][0]
        return group[0][0][0], group[1], pipeline["layers_per_stage"][index]

    def fits(self, plan):
        count = plan["pipeline_list"][0]["num_stages"]
        for index in range(count):
            kind, tp, layers = self.stage(plan, index)
            held = (self.floats(tp, layers, "params_floats") * 24 +
                    self.floats(tp, layers, "act_mem_floats") * 4 * plan["mbs"] *
                    (count - index) + (2e9 if tp == 1 else 3e9))
            if held > {"A100-40": 40, "V100-16": 16}[kind] * 2 ** 30:
                return False
        return True

    def rate(self, plan, batch=1024):
        pipeline, size = plan["pipeline_list"][0], plan["mbs"]
        count, replicas = pipeline["num_stages"], pipeline["dp"][0]
        stages = [self.stage(plan, index) for index in range(count)]
        work, sends, update, exchange = [], [], 0, 0
        for index, (kind, tp, layers) in enumerate(stages):
            rows = [self.times[kind][str(size)][str(tp)][str(layer)] for layer in layers]
            work.append(sum(row[0] + row[1] for row in rows))
            update = max(update, rows[0][2])
            sent = [0, 0]
            for way, other, layer in ((0, index - 1, layers[0]), (1, index + 1, layers[-1])):
                if 0 <= other < count:
                    floats = self.memory["1"][str(layer)]["act_output_floats"]
                    sent[way] = self.send(((kind, tp), stages[other][:2]), floats * 4 * size)
            ends = index in (0, count - 1) and not (index == 0 and count <= 3)
            sends.append(sum(sent) * (2 if ends else 1))
            share = self.floats(1, layers, "params_floats") * 4 / tp / replicas
            exchange = max(exchange, 2 * (replicas - 1) *
                           self.send(((kind, 1), (kind, 1)), share))
        steps = math.ceil(batch / size / replicas)
        return 1 / (sum(work) + sum(sends) + update + exchange +
                    (steps - 1) * max(a + b for a, b in zip(work, sends)))


def check_clusters(folder):
    inputs = pathlib.Path(os.environ.get("YOKE_SHARED_DIR", "../shared")) / "peers" / "sailor"
    trace = inputs / "clusters" / "gpu_trace_heterogeneous_imbalanced.csv"
    if not trace.exists():
        print("without Sailor's clusters: they are not here")
        return
    with trace.open(newline="") as file:
        expect(len(list(csv.reader(file))) == 4, "not three clusters")
    formula = Formula(inputs)
    for row, least in enumerate((0.197, 0.403, 0.561)):
        plan, _ = make(inputs, folder / str(row), row)
        theirs = to_sailor.translate(plan, "us-central1-a")
        rate = formula.rate(theirs)
        print(f"cluster {row}: {rate:.4f} iterations/s by its formulas, "
              f"{1 / plan['predicted']['iteration_time']:.4f} by ours")
        expect(formula.fits(theirs), f"cluster {row}: does not fit by its formulas")
        expect(rate >= least, f"cluster {row}: {rate:.4f} iterations/s, less than {least}")


with tempfile.TemporaryDirectory() as temporary:
    place = pathlib.Path(temporary)
    check_schema(place, check_translators(place))
    check_clusters(place)
print(f"{len(faults)} fault(s)")
sys.exit(1 if faults else 0)
