# SPDX-License-Identifier: Apache-2.0
"""What FlagScale accepts, from its own statements (flagos-ai/FlagScale 16a2dd5):
flagscale/train/arguments.py (meshes, split), flagscale/train/hetero/parallel_context.py (which
rank is in which mesh), flagscale/runner/utils.py (host file), flagscale/runner/runner_train.py
(devices of a host). check() gives the faults of a folder and the ranks of each mesh."""
import os

import yaml


def read_hosts(text):
    hosts, faults = [], []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split()
        fields = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        if len(fields) != len(words) - 1 or not fields.get("slots", "").isdigit():
            faults.append(f"host file: '{line}' cannot be read")
            continue
        if words[0] in [host[0] for host in hosts]:
            faults.append(f"host file: {words[0]} stands twice")
        hosts.append((words[0], int(fields["slots"]), fields.get("type")))
    types = {host[2] is None for host in hosts}
    if len(types) != 1:
        faults.append("host file: empty, or only some hosts have a type")
    return hosts, faults


def logical_ranks(hosts, types):
    """(host, type) of every logical rank: sorted by the first place of the type, then rank."""
    physical = [(name, kind) for name, slots, kind in hosts for _ in range(slots)]
    order = sorted(range(len(physical)), key=lambda rank: (types.index(physical[rank][1]), rank))
    return [physical[rank] for rank in order]


def check(folder):
    with open(os.path.join(folder, "train", "plan.yaml"), encoding="utf-8") as handle:
        train = yaml.safe_load(handle)
    with open(os.path.join(folder, "config.yaml"), encoding="utf-8") as handle:
        config = yaml.safe_load(handle)
    with open(os.path.join(folder, "hosts"), encoding="utf-8") as handle:
        hosts, faults = read_hosts(handle.read())
    system, model = train["system"], train["model"]
    hetero = system["hetero"]
    numbers, types = hetero["hetero_process_meshes"], hetero["hetero_device_types"]
    split = hetero["hetero_pipeline_layer_split"]
    if len(numbers) % 5:
        return faults + ["meshes are not five numbers each"], []
    meshes = [numbers[i:i + 5] for i in range(0, len(numbers), 5)]
    if any(not isinstance(n, int) or n < 1 for n in numbers + split):
        faults.append("a degree or a number of layers below 1")
    if len(meshes) != len(types):
        faults.append("as many types as meshes are needed")
    if hetero["hetero_current_device_type"] not in types:
        faults.append("the current type is no type of a mesh")
    samples = meshes[0][3] * model["micro_batch_size"]
    if any(samples % mesh[3] for mesh in meshes):
        faults.append("the replicas of a mesh do not divide the samples of a micro-batch")
    if len({mesh[1] for mesh in meshes}) != 1:
        faults.append("context degrees differ")
    if sum(mesh[4] for mesh in meshes) != system["pipeline_model_parallel_size"]:
        faults.append("the stages of all meshes are not the pipeline degree")
    if len(split) != system["pipeline_model_parallel_size"]:
        faults.append("one number of layers a stage is needed")
    if sum(split) != model["num_layers"]:
        faults.append("the split does not add up to the layers")
    if hetero.get("standalone_embedding_stage"):
        faults.append("the embedding cannot have a stage of its own")
    tied = not model.get("untie_embeddings_and_output_weights", False)
    if tied and meshes[0][0] != meshes[-1][0]:
        faults.append("a shared embedding needs equal tensor degrees at both ends")
    if model["global_batch_size"] % samples:
        faults.append("the batch is not divisible by micro-batch x replicas")
    for mesh in meshes:
        if model["num_attention_heads"] % mesh[0]:
            faults.append("query heads are not divisible by a tensor degree")
    world = sum(slots for _, slots, _ in hosts)
    needed = sum(tp * cp * dp * pp for tp, cp, _, dp, pp in meshes)
    if world != needed:
        return faults + [f"{world} slots for {needed} ranks"], []
    unknown = {kind for _, _, kind in hosts} - set(types)
    if unknown:
        return faults + [f"hosts of types without a mesh: {unknown}"], []
    ranks, placed, at = logical_ranks(hosts, types), [], 0
    for (tp, cp, _, dp, pp), kind in zip(meshes, types):
        size = tp * cp * dp * pp
        mine = ranks[at:at + size]
        if any(of != kind for _, of in mine):
            faults.append(f"the mesh of {kind} gets ranks of {sorted({of for _, of in mine})}")
        for group in range(0, size, tp):
            if len({host for host, _ in mine[group:group + tp]}) != 1:
                faults.append("a tensor group leaves its host")
        placed.append(mine)
        at += size
    envs = config["experiment"]["envs"]["node_specific"]
    for name, slots, _ in hosts:
        shown = [value for key, value in envs.get(name, {}).items()
                 if key.endswith("_VISIBLE_DEVICES") or key == "ZE_AFFINITY_MASK"]
        if len(shown) != 1 or len(set(shown[0].split(","))) != slots:
            faults.append(f"{name} shows {shown} for {slots} slots")
    runner = config["experiment"]["runner"]
    if runner["rdzv_backend"] != "static":
        faults.append("meshes need the static rendezvous")
    return faults, placed
