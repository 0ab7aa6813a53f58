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
finish()
