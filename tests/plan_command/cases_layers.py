# SPDX-License-Identifier: Apache-2.0
"""Cases plan-01, plan-03 and plan-11: no layer is lost, the heavy ends are seen, and a split
that a user writes is taken as it is or refused."""
import copy

from common import (case, covers, expect, finish, plan, refused, run, sizes, stages, unused, used,
                    write)
from documents import GIB, device, equal_layers, llama, one_node

ALONE = ("--fix", "dp=1,tp=1", "--global-batch", "32", "--seq", "512", "--micro-batch", "1")


def equal_devices(count):
    return write(f"devices-{count}.json", one_node([device(f"d{i}") for i in range(count)]))


def equal_model(layers):
    return write(f"layers-{layers}.json", equal_layers(layers))


def on_equal_devices(layers, count, *more):
    return ("-m", equal_model(layers), "-c", equal_devices(count), *ALONE, *more)


def divided(layers, count):
    """Equal layers on equal devices: in order, whole, sizes that differ by at most one."""
    document = plan(*on_equal_devices(layers, count, "--stages", str(count)))
    if document is None:
        return
    name = f"{layers} layers on {count} devices: {sizes(document)}"
    expect(len(document["pipelines"]) == 1 and len(sizes(document)) == count, name)
    expect(covers(document, layers) and sum(sizes(document)) == layers, name)
    expect(max(sizes(document)) - min(sizes(document)) <= 1, name)
    expect(len(used(document)) == count and not unused(document), name)
    shares = [sum(row[key] for row in document["match"]) for key in ("compute_share",
                                                                     "memory_share")]
    expect(all(abs(share - 1) < 1e-9 for share in shares), f"{name}: shares {shares}")


def two_chunks(layers, count):
    """Not searched yet: a plan of one chunk a stage, and two are refused, not lost."""
    arguments = on_equal_devices(layers, count, "--stages", str(count))
    document = plan(*arguments)
    if document is None:
        return
    expect(all(len(stage["chunks"]) == 1 for stage in document["pipelines"][0]["stages"]),
           "a plan with several chunks a stage")
    expect(document["schedule"]["chunks"] == 1, "schedule.chunks is not 1")
    size = layers // (2 * count)
    by_hand = copy.deepcopy(document)
    for index, stage in enumerate(by_hand["pipelines"][0]["stages"]):
        stage["chunks"] = [[index * size, index * size + size - 1],
                           [(count + index) * size, (count + index) * size + size - 1]]
    path = write("two-chunks.json", by_hand)
    for command in ("check", "simulate"):
        result = run(command, path, *arguments[:4])
        expect(result.returncode in (1, 3), f"{command} takes two chunks a stage")
        expect("/pipelines/0/stages/0" in result.out + result.err and
               "chunk" in result.out + result.err, f"{command}: {result.out}{result.err}")


def plan_01():
    rows = case("plan-01-lost-layers")
    for row in ("a", "c", "e"):
        divided(rows[row]["layers"], rows[row]["stages"])
    for layers, count in ((5, 4), (7, 3), (13, 8), (80, 16), (100, 7), (3, 3), (1, 1)):
        divided(layers, count)
    two_chunks(rows["b"]["layers"], rows["b"]["stages"])
    last = rows["d"]["user_last_stage_layers"]
    refused("plan", *on_equal_devices(rows["d"]["layers"], 1, "--stages",
                                      str(rows["d"]["stages"]), "--split", str(last)),
            code=2, says=[f"sums to {last}", str(rows["d"]["layers"])])


def plan_03():
    """Embedding and head take room and time: the ends hold fewer blocks, and the plan is
    no slower than the even cut."""
    model = write("heavy.json", llama(40, 16, 16, hidden=2048, vocabulary=128256))
    for memory in (80 * GIB, 11 * GIB):
        cluster = write("heavy-cluster.json", one_node([device(f"d{i}", memory)
                                                        for i in range(8)]))
        common = ("-m", model, "-c", cluster, *ALONE)
        document = plan(*common, "--stages", "8")
        even = plan(*common, "--split", "5,5,5,5,5,5,5,5") if memory > 20 * GIB else None
        if document is None:
            continue
        blocks = sizes(document)
        blocks[0] -= 1
        blocks[-1] -= 1
        expect(covers(document, 42) and sum(blocks) == 40, f"heavy ends: {blocks}")
        expect(blocks[-1] < max(blocks[1:-1]), f"the head weighs nothing: {blocks}")
        if even is not None:
            expect(document["predicted"]["iteration_time"] < even["predicted"]["iteration_time"],
                   "no faster than the even cut")
        for stage in document["pipelines"][0]["stages"]:
            memory_of = stage["replicas"][0]["devices"][0]["memory"]
            expect(memory_of["predicted"] <= memory_of["limit"], "memory passes its limit")


def plan_11():
    right = case("plan-11-user-partition", "case.json")["right"]
    strings = case("plan-11-user-partition", "strings.json")
    expect(sorted(strings) == sorted(right["accept"] + right["refuse"]), "strings differ")
    common = on_equal_devices(81, 3, "--stages", "3")
    for text in right["accept"]:
        document = plan(*common, "--split", text)
        wanted = [int(item) for item in text.split(",")]
        expect(document is not None and sizes(document) == wanted, f"split {text!r}")
    wrong = {"30,30,20": "sums to 80", "40,,41": "item 2 is empty", "20,20,20,21": "4 items",
             "0,40,41": "item 1 is 0", "-1,41,41": "'-1'", "27,27,27,": "item 4 is empty",
             "27;27;27": "'27;27;27'", "2147483647,1,1": "sums to 2147483649",
             "27.0,27,27": "'27.0'"}
    expect(set(wrong) == set(right["refuse"]), "the refused strings differ")
    for text in right["refuse"]:
        # "--split=-1,...": a value that begins with a dash
        refused("plan", *common, f"--split={text}", code=2, says=[wrong[text], "split"])
    for text in ("", " ", ",", "27,27,27 28", "0x1b,27,27", "1e1,44,27", "٢٧,27,27"):
        refused("plan", *common, "--split", text, code=2, says=["split"])
    # Memory is checked afterwards, on what was accepted.
    tight = write("tight.json", one_node([device(f"d{i}", 3 * GIB) for i in range(3)]))
    arguments = ("plan", "-m", equal_model(81), "-c", tight, *ALONE)
    refused(*arguments, "--split", "79,1,1", code=1,
            says=["memory", "stage 0", "missing", "it fits without --split"])
    document = plan(*arguments[1:])
    expect(document is not None and covers(document, 81), "it does not fit without the split")
    expect(stages(document)[0] != [(0, 78), (79, 79), (80, 80)], "the refused split is planned")


plan_01()
plan_03()
plan_11()
finish()
