# SPDX-License-Identifier: Apache-2.0
"""Case plan-09: a data type that part of the cluster cannot compute. A known 0 leaves the
device out, by name; an unknown is asked for, never guessed."""
import re

from common import case, expect, finish, plan, refused, unused, used, write
from documents import GIB, TERA, device, llama, one_node

MODEL = write("model.json", llama(10, 16, 16, vocabulary=8192))
COMMON = ("-m", MODEL, "--global-batch", "40", "--seq", "1024")
FLOATS = ("fp32", "fp16", "bf16", "fp8")
RATE = {"fp32": 20 * TERA, "fp16": 200 * TERA, "bf16": 200 * TERA, "fp8": 400 * TERA}
RIGHT = case("plan-09-dtype-floor", "case.json")["right"]
ENTRIES = case("plan-09-dtype-floor", "inventory.json")["devices"]


def cluster(absent):
    """Every device of the case; `absent` stands for the rate of what it does not list."""
    return write("cluster.json", one_node([
        device(entry["id"], 40 * GIB, name=entry["id"],
               rates={dtype: RATE[dtype] if dtype in entry["dtypes"] else absent
                      for dtype in FLOATS})
        for entry in ENTRIES]))


def has(dtype):
    return {entry["id"] for entry in ENTRIES if dtype in entry["dtypes"]}


def known_zero():
    expect(has("bf16") == set(RIGHT["bf16"]["allowed"]) and has("fp8") ==
           set(RIGHT["fp8"]["native"]) and len(has("fp16")) == 5, "the case has changed")
    path = cluster(0)
    for dtype in ("bf16", "fp8", "fp16", "fp32"):
        document = plan(*COMMON, "-c", path, "--dtype", dtype)
        if document is None:
            continue
        allowed = {f"n1/{name}" for name in has(dtype)}
        left = unused(document)
        expect(document["job"]["dtype"] == dtype, "another data type")
        expect(set(used(document)) <= allowed, f"{dtype} on {used(document)}")
        for entry in ENTRIES:
            name = f"n1/{entry['id']}"
            said = f"cannot compute in {dtype}" in left.get(name, "")
            expect(said == (name not in allowed), f"{dtype}: {name}: {left.get(name)}")
        # All that may, can: as many stages as there are.
        every = plan(*COMMON, "-c", path, "--dtype", dtype, "--stages", str(len(allowed)))
        expect(every is not None and set(used(every)) == allowed, f"{dtype}: not all of {allowed}")
        supply = {row["type"]: row["devices"] for row in document["match"]}
        expect(set(supply) == has(dtype), f"{dtype}: match lists {sorted(supply)}")
    none = write("none.json", one_node([device(entry["id"], rates={"fp32": TERA, "bf16": 0})
                                        for entry in ENTRIES[:2]]))
    refused("plan", *COMMON, "-c", none, code=1,
            says=["n1/v100 and 1 more", "cannot compute in bf16"])
    # What cannot compute in it is not asked about its other figures.
    poor = one_node([device("a"), device("b", None, {"bf16": 0}, bandwidth=None)])
    document = plan(*COMMON, "-c", write("poor.json", poor))
    expect(document is not None and "cannot" in unused(document).get("n1/b", ""), "asks about b")


def unknown():
    path = cluster(None)
    for dtype in ("bf16", "fp8"):
        missing = [entry["id"] for entry in ENTRIES if dtype not in entry["dtypes"]]
        message = refused("plan", *COMMON, "-c", path, "--dtype", dtype, code=1,
                          says=["cannot plan", f"{dtype} compute rate"])
        assumes = re.findall(r"--assume '([^']*)'", message)
        excludes = re.findall(r"--exclude '([^']*)'", message)
        expect(assumes == [f"type:{name}:{dtype}=RATE" for name in missing], f"asks {assumes}")
        expect(excludes == [f"type:{name}" for name in missing], f"offers {excludes}")
        for name in has(dtype):
            expect(f"type:{name}" not in message, f"asks about {name}, which is known")
        given = [part for text in assumes
                 for part in ("--assume", text.replace("RATE", "100T"))]
        document = plan(*COMMON, "-c", path, "--dtype", dtype, *given, "--stages", "5")
        expect(document is not None and len(used(document)) == 5, f"{dtype}: --assume")
        given = [part for text in excludes for part in ("--exclude", text)]
        document = plan(*COMMON, "-c", path, "--dtype", dtype, *given)
        expect(document is not None and
               all("--exclude" in unused(document).get(f"n1/{name}", "") for name in missing),
               f"{dtype}: --exclude")
        # One of two questions answered: the other stays, alone.
        if len(missing) > 1:
            message = refused("plan", *COMMON, "-c", path, "--dtype", dtype, "--exclude",
                              excludes[0], code=1, says=[assumes[1]])
            expect(assumes[0] not in message, "asks again")
    message = refused("plan", *COMMON, "-c", path, code=1)
    expect("--dtype fp16" in message, f"the type that it has is not offered: {message}")


def what_is_asked():
    """Only what is unknown is asked for, with an example that is accepted as it stands."""
    for rates, bandwidth, memory, keys in (
            ({}, TERA, 80 * GIB, "bf16"), ({}, None, 80 * GIB, "bf16,hbm"),
            ({}, None, None, "bf16,hbm,memory"), ({"bf16": TERA}, None, 80 * GIB, "hbm"),
            ({"bf16": TERA}, 0, None, "hbm,memory"), ({}, TERA, None, "bf16,memory")):
        path = write("ask.json", one_node([
            device("known"), device("a", memory, rates, bandwidth, name="The One 2.0")]))
        message = refused("plan", *COMMON, "-c", path, code=1)
        asked = re.findall(r"--assume 'type:The One 2.0:([^']*)'", message)
        expect(len(asked) == 1 and re.sub(r"=(RATE|SIZE)", "", asked[0]) == keys,
               f"{keys}: asks {asked}: {message}")
        example = re.findall(r"\(for example ([^)]*)\)", message)
        document = plan(*COMMON, "-c", path, "--assume", f"type:The One 2.0:{example[0]}",
                        "--stages", "2")
        expect(document is not None and "n1/a" in used(document), f"{keys}: example {example}")


def from_the_catalog():
    """The same cards by name: no bf16 on Volta and Turing."""
    line = "1x(1xV100-SXM2-32GB + 1xT4 + 1xA100-SXM4-80GB + 1xInstinct MI210 + 1xH100-SXM5-80GB)"
    document = plan(*COMMON, "-c", line)
    if document:
        for row in document["match"]:
            expect("V100" not in row["type"] and row["type"] != "T4", f"bf16 on {row['type']}")
        said = [device for device, reason in unused(document).items()
                if "cannot compute in bf16" in reason]
        expect(sorted(said) == ["mixed-01/gpu0", "mixed-01/gpu1"], unused(document))
    document = plan(*COMMON, "-c", line, "--dtype", "fp16", "--stages", "5")
    expect(document is not None and len(used(document)) == 5, "fp16 is for all five")


known_zero()
unknown()
what_is_asked()
from_the_catalog()
finish()
