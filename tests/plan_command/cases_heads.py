# SPDX-License-Identifier: Apache-2.0
"""Case plan-04: a device holds whole query heads and whole key/value heads, or the degree is
refused. The shards of the plan say which."""
from common import case, expect, finish, plan, refused, write
from documents import GIB, TERA, device, llama, one_node


def shards(entry, dimension):
    return [(shard["begin"], shard["end"]) for shard in entry["shards"]
            if shard["dimension"] == dimension]


def held_whole(document, heads, kv_heads, degree):
    """Query heads: each on one device. Key/value heads: each on as many as needed."""
    devices = document["pipelines"][0]["stages"][0]["replicas"][0]["devices"]
    expect(len(devices) == degree, f"{len(devices)} devices for tp={degree}")
    query = sorted(piece for entry in devices for piece in shards(entry, "heads"))
    expect(query[0][0] == 0 and query[-1][1] == heads and
           all(a[1] == b[0] for a, b in zip(query, query[1:])), f"query heads {query}")
    holders = [0] * kv_heads
    for entry in devices:
        pieces = shards(entry, "kv_heads") or shards(entry, "heads")
        for begin, end in pieces:
            expect(end > begin, f"no whole head: {begin} to {end}")
            for head in range(begin, end):
                holders[head] += 1
        # The queries of a device read the key/value heads that it holds.
        for begin, end in shards(entry, "heads"):
            group = heads // kv_heads
            needed = set(range(begin // group, (end - 1) // group + 1))
            held = {head for piece in pieces for head in range(*piece)}
            expect(needed <= held, f"{needed} needed, {held} held")
    return holders


def try_degree(heads, kv_heads, degree, head_dim=128):
    name = f"{heads}/{kv_heads} heads, tp={degree}"
    model = write("model.json", llama(2, heads, kv_heads, head_dim, vocabulary=4096))
    cluster = write("cluster.json", one_node([device(f"d{i}", 80 * GIB, {"bf16": 300 * TERA})
                                              for i in range(degree)]))
    arguments = ("-m", model, "-c", cluster, "--global-batch", "8", "--seq", "512")
    whole = heads % degree == 0 and (kv_heads % degree == 0 or degree % kv_heads == 0)
    for fix in (f"tp={degree}", f"type:card:tp={degree}"):
        if not whole:
            refused("plan", *arguments, "--fix", fix, code=1,
                    says=[f"tp={degree}", f"{heads} query", f"{kv_heads} key/value", "possible"])
            continue
        document = plan(*arguments, "--fix", fix)
        if document:
            copies = max(1, degree // kv_heads)
            expect(held_whole(document, heads, kv_heads, degree) == [copies] * kv_heads, name)
    # Left to itself, the planner takes a degree that goes.
    document = plan(*arguments)
    if document:
        chosen = document["pipelines"][0]["stages"][0]["replicas"][0]["tp"]
        expect(heads % chosen == 0 and (kv_heads % chosen == 0 or chosen % kv_heads == 0),
               f"{name}: chose {chosen}")


for row in case("plan-04-kv-heads").values():
    try_degree(row["heads"], row["kv"], row["tp"], row.get("head_dim", 128))
for heads, kv_heads, degree in ((32, 8, 8), (32, 8, 3), (16, 16, 16), (12, 12, 5), (64, 1, 8),
                                (24, 6, 4), (24, 6, 12)):
    try_degree(heads, kv_heads, degree)
finish()
