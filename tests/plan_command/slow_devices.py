# SPDX-License-Identifier: Apache-2.0
"""One fast device with much memory beside several slow ones with little: a slow stage adds to a
pipeline's depth whatever it computes. The bound must hold for plans that use more and fewer of
them, and no number of stages asked for may beat the plan that was free to choose."""
from common import expect, finish, plan, write
from documents import GIB, TERA, device, inventory

for ratio in (8, 30):
    slow = [device("gpu0", 14 * GIB, {"bf16": 1000 * TERA // ratio}, 4 * TERA // ratio, "SLOW")]
    cluster = write("slow.json", inventory(
        ("f", [device("gpu0", 190 * GIB, {"bf16": 1000 * TERA}, 4 * TERA, "FAST")]),
        *((f"s{i}", slow) for i in range(6)), nic=50e9))
    arguments = ("-m", "llama-2-7b", "-c", cluster, "--global-batch", "4", "--micro-batch", "1",
                 "--recompute", "none", "--shard-optimizer", "off")
    free = plan(*arguments)
    if not free:
        continue
    time, bound = free["predicted"]["iteration_time"], free["bound"]["iteration_time"]
    for count in range(2, 8):
        fixed = plan(*arguments, "--stages", str(count))
        if fixed:
            other = fixed["predicted"]["iteration_time"]
            expect(time <= other * (1 + 1e-9),
                   f"ratio {ratio}: {count} stages take {other}, the free plan {time}")
            expect(bound <= other * (1 + 1e-9),
                   f"ratio {ratio}: {count} stages take {other}, below the bound {bound}")

# Few shapes allowed is no reason to stop at the first node that cannot win.
pool = [device(f"g{i}", 40 * GIB, {"bf16": 136 * TERA}, 3.7 * TERA, "T2") for i in range(3)]
old = [device("g0", 4 * GIB, {"bf16": 9.6 * TERA}, 0.0435 * TERA, "T1")]
mixed = inventory(("h0", pool), ("h1", pool[:2]), ("h2", pool[:1]), ("h3", old), ("h4", old))
for node, rate in zip(mixed["nodes"], (12.5e9, 12.5e9, 200e9, 1.25e9, 12.5e9)):
    node["nics"][0]["rate"] = rate
cluster = write("mixed.json", mixed)
arguments = ("-m", "llama-3.1-8b", "-c", cluster, "--global-batch", "2", "--seq", "1024",
             "--assume", "type:T2:link=300GB", "--assume", "type:T1:link=300GB", "--effort", "5000000")
both, one = plan(*arguments), plan(*arguments, "--shapes", "1")
if both and one:
    expect(any("complete" in note for note in one["notes"]), "one shape: searched whole")
    expect(len(both["pipelines"]) == 1, "the case has one pipeline")
    expect(one["predicted"]["iteration_time"] <= both["predicted"]["iteration_time"] * (1 + 1e-9),
           "one shape, said to be complete: slower than the single shape found among two")

# An odd batch is not left with micro-batches of one sample.
seven = plan("-m", "gpt2", "-c", "1x1xH100-SXM5-80GB", "--global-batch", "7", "--seq", "128")
expect(seven and seven["pipelines"][0]["micro_batches"] == 1, "a batch of 7 goes at once")

# More usable than there is: the plan takes what there is.
odd = device("g0", 80 * GIB)
odd["memory"].update(total=10 * GIB)
document = plan("-m", "gpt2", "-c", write("odd.json", inventory(("n", [odd]))), "--seq", "128",
                "--global-batch", "8")
expect(document and document["pipelines"][0]["stages"][0]["replicas"][0]["devices"][0]["memory"]
       ["limit"] <= 10 * GIB, "a limit above the total")
finish()
