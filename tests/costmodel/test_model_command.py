#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`yoke model` as its user sees it: documents that validate, tables, notices, exit codes."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import jsonschema

SOURCE = os.environ["YOKE_SOURCE_DIR"]
YOKE = os.environ["YOKE_COMMAND"]
CASES = os.path.join(SOURCE, "tests/cases")
failures = []


def run(*args, env=None):
    done = subprocess.run([YOKE, "model", *args], capture_output=True, text=True,
                          env={**os.environ, **(env or {})}, timeout=60)
    return done.returncode, done.stdout, done.stderr


def expect(what, truth, detail=""):
    if not truth:
        failures.append("%s %s" % (what, detail))


def load_schema():
    with open(os.path.join(SOURCE, "schema/yoke-model-1.schema.json")) as f:
        schema = json.load(f)
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def all_configs():
    yield from sorted(glob.glob(os.path.join(SOURCE, "data/models/*.json")))
    yield from sorted(glob.glob(os.path.join(SOURCE, "tests/costmodel/data/small/*.json")))
    for case in sorted(glob.glob(os.path.join(CASES, "model-*"))):
        for name in ("config.json", "bom.json", "inf.json"):
            if os.path.exists(os.path.join(case, name)):
                yield os.path.join(case, name)


def check_documents(validator):
    """Every document validates, says its own totals, and is read back to the same bytes."""
    count = 0
    for path in all_configs():
        code, out, err = run(path, "--with-prediction", "--json", "-")
        expect(path, code == 0, err)
        if code != 0:
            continue
        doc = json.loads(out)
        for error in validator.iter_errors(doc):
            failures.append("%s: %s: %s" % (path, list(error.absolute_path), error.message))
        layers = [x for x in doc["layers"] for _ in range(x.get("repeat", 1))]
        total = sum(x["parameters"] for x in layers if x["kind"] != "prediction")
        expect(path, total + doc["parameters"]["other"] == doc["parameters"]["total"])
        for x in doc["layers"]:
            size = sum(t["shape"][0] * t["shape"][1] * t["copies"]
                       for t in x["tensors"] if not t["tied"])
            expect(path, size == x["parameters"], x["name"])
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            f.write(out)
            f.flush()
            again = run(f.name, "-o", "-")
        expect(path, again[1] == out, "is not the same when read back")
        count += 1
    expect("documents", count > 50, str(count))


def check_schema_refuses(validator):
    """The schema and the reader refuse the same slips."""
    good = json.loads(run("gpt2", "-o", "-")[1])
    for place, value in ((("schema",), "yoke-model/9"), (("layers", 0, "kind"), "block"),
                         (("layers", 0, "extra"), 1), (("layers", 1, "repeat"), 0),
                         (("layers", 1, "tensors", 0, "shape"), [1, 2, 3]),
                         (("layers", 1, "tensors", 0, "shard"), "rows"),
                         (("layers", 1, "attention", "heads"), -1),
                         (("layers", 1, "tensors", 0, "x-a"), 1), (("layers",), [])):
        doc = json.loads(json.dumps(good))
        at = doc
        for key in place[:-1]:
            at = at[key]
        at[place[-1]] = value
        expect("schema", not validator.is_valid(doc), str(place))
        with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
            json.dump(doc, f)
            f.flush()
            code, out, err = run(f.name)
        expect("reader", code == 3 and out == "" and "/" + str(place[0]) in err,
               "%s: %d %s" % (place, code, err))


def check_table():
    for name in ("gpt2", "deepseek-v3"):
        code, out, err = run(name)
        expect(name, code == 0 and err == "", err)
        expect(name, max(map(len, out.splitlines())) <= 80, "is wider than 80 columns")
    expect("table", "671,026,419,200" in out and "37,552,297,472" in out)
    expect("table", "layers.3-60" in out and "11,610,068,224" in out)
    rows = run("llama-3.1-8b", "--layers")[1].splitlines()
    expect("--layers", sum(r.startswith("layers.") for r in rows) == 32)
    out = run("llama-3.1-8b", "--seq", "128", "--batch", "2", "--dtype", "fp32")[1]
    expect("--seq", "for 2 x 128 tokens" in out and "29.9 GiB in fp32" in out, out)
    out = run("gpt2")[1]
    expect("default --seq", "for 1 x 1024 tokens" in out)


def check_notices():
    case = os.path.join(CASES, "model-10-shard-index")
    config = os.path.join(case, "config.json")
    for index, said in (("good", None), ("nometa", None),
                        ("stale", "the index says 999999 bytes, expected 213632"),
                        ("empty", "no tensors"),
                        ("extra", "layer 2 is not in a 2-layer model")):
        code, out, err = run(config, "--index", os.path.join(case, "index-%s.json" % index))
        expect(index, code == 0 and "106,816" in out, err)
        expect(index, (err == "") if said is None else (said in err and "notice" in err), err)
    code, out, err = run(config, "--index", os.path.join(case, "index-outside.json"))
    expect("outside", code == 3 and out == "" and "leaves the directory" in err, err)


def check_names():
    """Case 08: a name that contains NaN and Infinity stays what it is."""
    case = os.path.join(CASES, "model-08-json-dialect")
    with open(os.path.join(case, "case.json")) as f:
        right = json.load(f)["right"]
    for name in ("bom.json", "inf.json"):
        code, out, err = run(os.path.join(case, name), "--json", "-")
        doc = json.loads(out)
        expect(name, doc["name"] == "acme/NaNo-Infinity-1B", doc["name"])
        expect(name, doc["parameters"]["total"] == right["bom"])
        expect(name, "acme/NaNo-Infinity-1B" in run(os.path.join(case, name))[1])
    expect("dtype", doc["dtype"] == "bf16")


def check_exit_codes():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "config.json")
        out_path = os.path.join(folder, "out.json")
        for text, code, said in (
                ('{"architectures": ["BloomForCausalLM"]}', 3, "LlamaForCausalLM"),
                ('{"dim": 1, "inter_dim": 2, "n_layers": 3}', 3, "DeepSeek"),
                ('{"model_type": "llama"}', 3, "hidden_size"),
                ('{"model_type": "llama",}', 3, "config.json:1:"),
                ('', 3, "config.json")):
            with open(path, "w") as f:
                f.write(text)
            got, out, err = run(path, "--json", out_path)
            expect(text, got == code and out == "" and said in err, "%d %s" % (got, err))
            expect(text, not os.path.exists(out_path), "left a file")
            expect(text, err.count("\n") == 1, "more than one message: " + err)
    for args in ((), ("a", "b"), ("gpt2", "--seq", "0"), ("gpt2", "--dtype", "fp7"),
                 ("gpt2", "--from", "megatron"), ("gpt2", "--nonsense")):
        expect(str(args), run(*args)[0] == 2)
    code, out, err = run("no-such-model")
    expect("no-such-model", code == 3 and "llama-3.1-8b" in err, err)
    expect("missing file", run("/nonexistent/config.json")[0] in (3, 4))


def check_same_bytes():
    """No locale changes a byte."""
    plain = run("mixtral-8x7b", "-o", "-")[1], run("mixtral-8x7b")[1]
    for locale in ("C", "C.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8"):
        env = {"LC_ALL": locale, "LANG": locale}
        expect(locale, run("mixtral-8x7b", "-o", "-", env=env)[1] == plain[0])
        expect(locale, run("mixtral-8x7b", env=env)[1] == plain[1])


def check_docs(validator):
    """What the document's page shows is what the tool does."""
    with open(os.path.join(SOURCE, "docs/model-document.md")) as f:
        page = f.read()
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", page, re.M | re.S)
    shown = [text for kind, text in blocks if kind == "console"]
    expect("docs", len(shown) == 1 and len(blocks) == 2)
    command, _, output = shown[0].partition("\n")
    expect("docs", command.startswith("$ yoke model "), command)
    expect("docs", run(*command.split()[3:])[1] == output, "output differs from the tool's")
    for kind, text in blocks:
        if kind == "json":
            expect("docs", validator.is_valid(json.loads(text)), "example is not valid")
            with tempfile.NamedTemporaryFile("w", suffix=".json") as f:
                f.write(text)
                f.flush()
                code, out, err = run(f.name)
            expect("docs", code == 0 and "4 layers" in out, err)


def main():
    validator = load_schema()
    check_documents(validator)
    check_schema_refuses(validator)
    check_table()
    check_notices()
    check_names()
    check_exit_codes()
    check_same_bytes()
    check_docs(validator)
    for line in failures:
        print("FAILED: %s" % line)
    print("%d failures" % len(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
