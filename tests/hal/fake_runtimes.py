# SPDX-License-Identifier: Apache-2.0
"""FAKE vendor libraries, every runtime: masks, permuted orders, broken and lost cards, answers
that cannot be. No hardware is involved."""
import json
import re

import common
from common import check, equal, findings
from fakes import CARDS, available, cards, eight, inventory, view


def all_and_hidden(name, runtime):
    """Hidden devices are listed, with the variable and both numberings."""
    lines = eight(runtime.vendor)
    if name == "maca":  # which variable its runtime obeys has no public source: ours
        lines += [f"maca mask {variable}" for variable in runtime.masks]
    document = inventory(folder, [name], lines)
    equal(sorted(cards(document)), sorted(CARDS), f"{name}: all cards")
    equal({d["kind"] for d in cards(document).values()}, {runtime.kind}, f"{name}: kind")
    for variable in runtime.masks:
        # No mask but those of Level Zero changes the order that way in every runtime:
        # AscendCL wants rising numbers.
        document = inventory(folder, [name], lines, **{variable: "2,5"})
        found = cards(document)
        equal(sorted(found), sorted(CARDS), f"{name}: hidden cards are listed")
        for i, card in enumerate(CARDS):
            seen = view(found[card], name)
            equal((seen["ordinal"], seen["native"]), ({2: 0, 5: 1}.get(i), i),
                  f"{name}: both numberings of {card} under {variable}")
            equal(found[card]["hidden_by"], None if i in (2, 5) else variable,
                  f"{name}: what hides {card}")
            equal(found[card]["schedulable"], i in (2, 5), f"{name}: use of {card}")
        hidden = [f["text"] for f in document["nodes"][0]["findings"]
                  if f["verdict"] == "hidden"]
        check(len(hidden) == 1 and f"{variable}=2,5 hides 6" in hidden[0],
              f"{name}: the finding: {hidden}")


def without_numbers(document):
    """The document as text, without what the runtime's order may change."""
    return re.sub(r'"(ordinal|native)": \d+', '"number": 0',
                  json.dumps(list(cards(document).items()), indent=1))


def orders(name, runtime):
    """Permuted orders give the same document but for the numbers, which are right."""
    lines = eight(runtime.vendor)
    want = None
    for order in ("0 1 2 3 4 5 6 7", "reverse", "3 0 7 1 6 2 5 4"):
        document = inventory(folder, [name], lines + [f"{runtime.vendor} order {order}"])
        text = without_numbers(document)
        want = want or text
        equal(text == want, True, f"{name}: devices in the order {order}")
        numbers = list(range(7, -1, -1)) if order == "reverse" else [int(i)
                                                                      for i in order.split()]
        got = [CARDS.index(card) for card in
               sorted(CARDS, key=lambda c: view(cards(document)[c], name)["native"])]
        equal(got, numbers, f"{name}: index of each card in the order {order}")


def one_of_eight(name, runtime):
    """A card that answers nothing costs one device; a lost one is said to be lost."""
    lines = eight(runtime.vendor)
    for code, health in ((999, "faulty"), (runtime.lost, "lost")):
        document = inventory(folder, [name], lines + [f"{runtime.vendor}:3 broken {code}"],
                             expect=5)
        found = cards(document)
        equal((len(found), sum(d["schedulable"] for d in found.values())), (8, 7),
              f"{name}: devices with a card that answers {code}")
        equal([d["health"] for d in found.values() if not d["schedulable"]], [health],
              f"{name}: health of a card that answers {code}")
        fault = [f for f in document["nodes"][0]["findings"] if f["fault"]]
        equal([f["code"] for f in fault], [code], f"{name}: the code is told")
        check(code == 999 or fault[0]["code_name"], f"{name}: and its name: {fault}")


def goes_in_between(name, runtime):
    """Devices that go while they are asked: lost from the sixth on."""
    sixth = 7 if name == "corex" else 6  # CoreX asks the first one's name first
    document = inventory(folder, [name], eight(runtime.vendor) +
                         [f"{runtime.vendor} fault {runtime.name_call} error {runtime.lost} "
                          f"{sixth}"], expect=5)
    found = cards(document)
    equal(len(found), 8, f"{name}: devices when three go")
    equal(sorted(d["health"] or "ok" for d in found.values()), ["lost"] * 3 + ["ok"] * 5,
          f"{name}: health when three go")
    equal([d["schedulable"] for d in found.values() if d["health"] == "lost"], [False] * 3,
          f"{name}: use of lost devices")


def answers_without_writing(name, runtime):
    """Success without a word written: nothing of the device before is taken for its own."""
    document = inventory(folder, [name], eight(runtime.vendor) +
                         [f"{runtime.vendor} fault {runtime.name_call} unwritten 0 4"])
    names = sorted((d["name"] or "-" for d in common.by_id(document).values()
                    if d["kind"] != "cpu"), reverse=True)
    three = 2 if name == "corex" else 3
    equal((len(names), names[three:]), (8, ["-"] * (8 - three)),
          f"{name}: names when none is written")
    if runtime.count is None:
        return
    document = inventory(folder, [name], eight(runtime.vendor) +
                         [f"{runtime.vendor} fault {runtime.count} unwritten"])
    equal((cards(document), findings(document)[name]["verdict"]), ({}, "no device"),
          f"{name}: a count that is not written")
    document = inventory(folder, [name], eight(runtime.vendor) +
                         [f"{runtime.vendor} fault {runtime.count} garbage"], expect=5)
    finding = findings(document)[name]
    equal((cards(document), finding["fault"], finding["call"]), ({}, True, runtime.count),
          f"{name}: a count that cannot be")


with common.temporary() as folder:
    for name, runtime in available().items():
        for test in (all_and_hidden, orders, one_of_eight, goes_in_between,
                     answers_without_writing):
            test(name, runtime)
common.finish()
