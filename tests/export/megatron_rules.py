# SPDX-License-Identifier: Apache-2.0
"""What Megatron-LM accepts, from its own statements (NVIDIA/Megatron-LM d98e8a6):
megatron/core/transformer/pipeline_parallel_layer_layout.py (form and content of a layout),
megatron/training/arguments.py (degrees, virtual stages), transformer_config.py (heads),
num_microbatches_calculator.py (batch). Every function gives a list of faults."""
import shlex


class Bad(Exception):
    pass


def _repeat(text, at):
    """'*12' at a place: (12, where it ends); (1, at) when there is none."""
    if at >= len(text) or text[at] != "*":
        return 1, at
    end = at + 1
    while end < len(text) and text[end].isdigit():
        end += 1
    if end == at + 1:
        raise Bad("'*' without a number")
    return int(text[at + 1:end]), end


def expand(layout):
    """Stages as strings of letters: groups '(x|y)*n' first, then letters 'x*n'."""
    text, flat, at = layout.replace(",", ""), "", 0
    while at < len(text):
        if text[at] == "(":
            close = text.find(")", at)
            if close < 0:
                raise Bad("'(' is not closed")
            times, end = _repeat(text, close + 1)
            if end == close + 1:
                raise Bad("a group without '*n'")
            flat += text[at + 1:close] * times
            at = end
        else:
            flat += text[at]
            at += 1
    letters, at = "", 0
    while at < len(flat):
        times, end = _repeat(flat, at + 1)
        letters += flat[at] * times
        at = end
    stages = letters.split("|")
    for stage in stages:
        for letter in stage:
            if letter not in "EtmL":
                raise Bad(f"'{letter}' names no kind of layer")
    return stages


def check_layout(layout, pipeline, layers, prediction=0):
    try:
        stages = expand(layout)
    except Bad as bad:
        return [str(bad)]
    faults = []
    if len(stages) % pipeline:
        return [f"{len(stages)} stages are no multiple of {pipeline}"]
    virtual = len(stages) // pipeline
    order = "".join(stages)
    if not order.startswith("E"):
        faults.append("the first layer is not the embedding")
    if not order.endswith("L"):
        faults.append("the last layer is not the loss")
    for letter, count, what in (("E", 1, "embeddings"), ("L", 1, "losses"),
                                ("t", layers, "decoder layers"),
                                ("m", prediction, "prediction layers")):
        if order.count(letter) != count:
            faults.append(f"{order.count(letter)} {what} instead of {count}")
    if "m" in order and "t" in order[order.index("m"):]:
        faults.append("a decoder layer behind a prediction layer")
    holders = [i for i, stage in enumerate(stages) if "m" in stage]
    if len(holders) > 1:
        faults.append("prediction layers in several stages")
    for holder in holders:
        if holder // pipeline != virtual - 1:
            faults.append("prediction layers before the last virtual stage")
        if holder % pipeline == 0 and virtual > 1:
            faults.append("prediction layers on the first rank")
    if any(not stage for stage in stages):
        faults.append("an empty stage (Megatron-LM issue 1852: it hangs)")
    if virtual > 1 and pipeline <= 2:
        faults.append("interleaving needs more than two pipeline ranks")
    return faults


def arguments(script):
    """{option: value or True} of the command of a script that we wrote."""
    text = script.replace("\\\n", " ")
    command = next(line for line in text.split("\n") if line.startswith("exec "))
    words, found = shlex.split(command), {}
    for i, word in enumerate(words):
        if word.startswith("--"):
            following = words[i + 1] if i + 1 < len(words) else "--"
            found[word] = True if following.startswith("--") or following == "$@" else following
    return found


def check_arguments(given, world):
    faults = []

    def number(name, otherwise=None):
        value = given.get(name, otherwise)
        if value is None:
            faults.append(f"{name} is missing")
            return 1
        return int(value)

    tensor = number("--tensor-model-parallel-size", 1)
    pipeline = number("--pipeline-model-parallel-size", 1)
    context = number("--context-parallel-size", 1)
    layers, heads = number("--num-layers"), number("--num-attention-heads")
    groups = number("--num-query-groups", heads)
    if world % (tensor * pipeline * context):
        return faults + [f"{world} ranks are not divisible by {tensor} x {pipeline} x {context}"]
    data = world // (tensor * pipeline * context)
    micro, batch = number("--micro-batch-size"), number("--global-batch-size")
    if batch % (micro * data):
        faults.append(f"batch {batch} is not divisible by {micro} x {data}")
    if heads % tensor:
        faults.append("query heads are not divisible by the tensor degree")
    if groups % tensor and tensor % groups:
        faults.append("query groups neither divide nor are divided by the tensor degree")
    cut = [name for name in ("--pipeline-model-parallel-layout",
                             "--num-layers-per-virtual-pipeline-stage",
                             "--num-virtual-stages-per-pipeline-rank") if name in given]
    if len(cut) > 1:
        faults.append("several ways to cut the pipeline: " + ", ".join(cut))
    layout = given.get("--pipeline-model-parallel-layout")
    if layout is not None:
        faults += check_layout(layout, pipeline, layers, number("--mtp-num-layers", 0))
        for name in ("--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers",
                     "--account-for-embedding-in-pipeline-split",
                     "--account-for-loss-in-pipeline-split"):
            if name in given:
                faults.append(f"{name} beside a layout")
        virtual = len(expand(layout)) // pipeline
        if virtual > 1 and (batch // (micro * data)) % pipeline:
            faults.append("micro-batches are not divisible by the pipeline degree")
    elif layers % pipeline:
        faults.append("layers are not divisible by the pipeline degree, and there is no layout")
    if int(number("--seq-length")) > int(number("--max-position-embeddings")):
        faults.append("more tokens than positions")
    if "--bf16" in given and "--fp16" in given:
        faults.append("both bf16 and fp16")
    if given.get("--recompute-granularity") == "full" and "--recompute-method" not in given:
        faults.append("full recomputation needs a method")
    return faults
