# SPDX-License-Identifier: Apache-2.0
"""Launch scripts: read as a shell would, refused with file and line, put beside a plan."""
import json
import shlex
import subprocess

from common import expect, export, finish, path, plan, plan_arguments, read, run


def write(text):
    file = path()
    with open(file, "w", encoding="utf-8", newline="") as handle:
        handle.write(text)
    return file


SCRIPT = """#!/bin/bash
# A present run
export NCCL_DEBUG=WARN
GPUS=8
NODES=${NODES:-8}
WORLD=$(($GPUS*$NODES))
TP=2; PP=4
OUT=$1
DATA="
    --data-path $DATA_PATH \\
    --split 949,50,1
"
MODEL=(
    --num-layers 32  # of Llama
    --hidden-size 4096
    --num-attention-heads 32
    --seq-length 4096 --swiglu
    --my-own "two words" --empty ''
)
MODEL+=(--lr 1e-4)
if [ -n "$X" ]; then EXTRA="--a $X"; fi
python tools/other.py --small
torchrun --nproc_per_node $GPUS --nnodes $NODES pretrain_gpt.py \\
    ${MODEL[@]} \\
    --tensor-model-parallel-size $TP --pipeline-model-parallel-size ${PP} \\
    --micro-batch-size 1 --global-batch-size $((WORLD * 4)) \\
    --bf16 --use-distributed-optimizer \\
    $DATA --save $OUT "$@" 2>&1 | tee log.txt
"""


def present(script, *options, cluster="h100-a100", code=0):
    target = path()
    result = run("plan", *plan_arguments("llama-3.1-8b", cluster), "--json", target,
                 "--baseline", script, *options, code=code)
    if code:
        return result.stderr
    with open(target, encoding="utf-8") as handle:
        document = json.load(handle)
    found = [a for a in document["alternatives"] if a["kind"].startswith("present run")]
    expect(len(found) == 1, "the present run stands among the alternatives")
    document["present"] = found[0]
    return document


script = write(SCRIPT)
log = write("".join(f" iteration {i}/ 9 | elapsed time per iteration (ms): {t} | lm loss\n"
                    for i, t in enumerate((9000.0, 5300.0, 5310.5, 5290.0))))
document = present(script, "--for", "megatron", "--baseline-log", log)
expect(document["job"]["global_batch"] == 256 and document["job"]["sequence"] == 4096,
       "batch and sequence come from the script")
expect(document["predicted"]["iteration_time"] <= document["present"]["iteration_time"] + 1e-9,
       "the plan is no slower than the present run")
expect("measured 5.30 s (median of 3" in document["present"]["why"], document["present"]["why"])

# The same run as options of the search gives the same time.
fixed, _ = plan("llama-3.1-8b", "h100-a100", "--global-batch", "256", "--fix", "tp=2,dp=8",
                "--split", "8,8,8,8", "--micro-batch", "1", "--recompute", "none", "--for",
                "megatron")
expect(fixed["predicted"]["iteration_time"] <= document["present"]["iteration_time"] * 1.0001,
       "the search's own placement of that run is no slower")

# A plan of ours as baseline predicts itself.
_, file = plan("llama-3.1-8b", "h100-a100")
again = present(file)
expect(abs(again["present"]["iteration_time"] - again["predicted"]["iteration_time"]) < 1e-6,
       "a plan beside itself")

# What bash makes of the arguments is what we read, but for what is not set in the script.
_, file = plan("llama-3.1-8b", "h100-a100", "--for", "megatron", "--global-batch", "256")
folder, _ = export(file, "megatron", "--base", script)
ours = shlex.split(read(folder, "run.sh").replace("\\\n", " ").split("exec ", 1)[1])
stub = SCRIPT.replace("torchrun", "printf '%s\\n' torchrun").replace("2>&1 | tee log.txt", "")
stub = stub.replace("python tools/other.py", "true")
theirs = subprocess.run(["bash", "-c", stub, "bash"], capture_output=True, text=True,
                        check=True).stdout.splitlines()
for word in theirs[theirs.index("pretrain_gpt.py") + 1:]:
    if word.startswith("--") and word not in ("--bf16", "--use-distributed-optimizer"):
        expect(word in ours, f"{word} of the script stays")
for word in ("two words", "949,50,1", "1e-4", "$DATA_PATH", "$1", ""):
    expect(word in ours, f"'{word}' stays as it is")
expect(ours.count("--tensor-model-parallel-size") == 1 and "tee" not in ours and "2" not in
       ours[ours.index("--save"):ours.index("--tensor-model-parallel-size")], f"{ours}")

# Layouts, first and last stages.
base = SCRIPT.replace("--bf16", "--bf16 --pipeline-model-parallel-layout 'Et*8|t*8|t*8|t*8L'")
same = present(write(base))
expect(abs(same["present"]["iteration_time"] - document["present"]["iteration_time"]) < 1e-9,
       "the even layout is the even split")
uneven = present(write(SCRIPT.replace("--bf16", "--bf16 --decoder-first-pipeline-num-layers 11 "
                                                "--decoder-last-pipeline-num-layers 3")))
other = present(write(base.replace("Et*8|t*8|t*8|t*8L", "Et*11|t*9|t*9|t*3L")))
expect(abs(uneven["present"]["iteration_time"] - other["present"]["iteration_time"]) < 1e-9,
       "first and last stage, and the layout of the same")

# Bad input, with file and line.
line = 1 + SCRIPT[:SCRIPT.index("--num-layers")].count("\n")
at = 1 + SCRIPT[:SCRIPT.index("--tensor-model")].count("\n")
for old, new, where, what in (
        ("--num-layers 32", "--num-layers 30", line, "30, and the model"),
        ("--num-layers 32", "--num-layers many", line, "no whole number"),
        ("--num-layers 32", "--num-layers $LAYERS", line, "set outside of the script"),
        ("PP=4", "PP=5", at, "does not divide the 64 devices"),
        ("--micro-batch-size 1", "--micro-batch-size 3", at + 1, "is not divisible by"),
        ("--bf16", "--context-parallel-size 2", at + 2, "not predicted"),
        ("--bf16", "--pipeline-model-parallel-layout 'Et*8|t*24L'", at + 2, "2 stages"),
        ("--bf16", "--pipeline-model-parallel-layout 'Ett||t'", at + 2, "is empty"),
        ("tee log.txt", "tee 'log.txt", None, "a quote is not closed"),
        ("${PP}", "${PP", None, "is not closed"),
        ("pretrain_gpt.py", "pretrain_gpt", None, "refused")):
    text = SCRIPT.replace(old, new)
    if what == "refused":  # the other program of the script is the longest left
        text = text.replace("other.py", "other")
        what = "no command with a Python program"
    file = write(text)
    message = present(file, code=3)
    place = f"{file}:{where}:" if where else f"{file}:"
    expect(place in message and what in message, f"{new}: {message}")
message = present(write("{ not json"), code=3)
expect(":1:" in message, message)
run("plan", *plan_arguments("gpt2", "h100-a100"), "--baseline-log", log, code=2)
run("plan", *plan_arguments("llama-3.1-8b", "h100-a100"), "--baseline", script,
    "--baseline-log", script, code=3)
finish()
