#!/usr/bin/env python3
"""Count the parameters of models described by Hugging Face config.json files.

Each configuration is built with the transformers library on torch's "meta"
device: every tensor has a shape and no storage, so a 671-billion-parameter
model takes seconds and little memory.

What a checkpoint would store counts, once each: a weight shared by two modules
counts once, and a table computed at start-up does not count.  The only stored
tensors that the library does not call parameters are the routers' correction
biases of DeepSeek-V3 and its relatives; they count, and "saved_buffers" says
how many they are.  "active" is the total less the routed experts that one token
does not use.  Layers that the library's class leaves out, such as the
multi-token prediction layer of DeepSeek-V3, do not count.

This program exists to check another importer, so it holds no formula for any
architecture: what counts is what the library's own classes allocate.
"""

import argparse
import json
import os
import re
import sys

SETUP = """\
setup:
  python3 -m venv BUILD/oracle
  BUILD/oracle/bin/pip install torch transformers
  BUILD/oracle/bin/python tests/oracle/parameter_counts.py PATH... -o counts.json

  No accelerator is needed.  The torch wheel for Linux declares several
  gigabytes of CUDA packages; 'pip install --no-deps torch' and then only
  the libraries that 'import torch' names as missing (typing-extensions sympy
  networkx jinja2 fsspec filelock mpmath numpy, and those of nvidia-cufile
  nvidia-cusparselt-cu13 nvidia-nvshmem-cu13 nvidia-nccl-cu13 and their like
  that the machine lacks) is enough to import it.

exit status: 0 all counted or refused by name, 1 a file could not be read or built
"""

# Keys that change no parameter's shape, and that some classes reject.
IGNORED = ("quantization_config", "auto_map", "rope_scaling", "rope_theta",
           "torch_dtype", "dtype", "transformers_version", "tokenizer_class",
           "_attn_implementation", "cache_implementation")

# The first published phi-1_5 and phi-2 files use older names for the keys.
PHI_MSFT = {"n_embd": "hidden_size", "n_head": "num_attention_heads",
            "n_head_kv": "num_key_value_heads", "n_inner": "intermediate_size",
            "n_layer": "num_hidden_layers",
            "n_positions": "max_position_embeddings"}

# Architectures kept outside the library, with the keys under which a class
# of the library allocates the same number of parameters in each layer.
# Reported apart ("stand_in"): a second opinion on published_totals.json.
STAND_INS = {
    "BaiChuanForCausalLM": ("llama", lambda d: {}),
    "InternLMForCausalLM": ("llama",
                            lambda d: {"attention_bias": d["bias"]}),
    "MiniCPMForCausalLM": ("llama", lambda d: {}),
    "QWenLMHeadModel": ("qwen2", lambda d: {
        "intermediate_size": d["intermediate_size"] // 2,
        "num_key_value_heads": d["num_attention_heads"]}),
}


class Refused(Exception):
    """The file is not one that this program counts."""


def read_config(path):
    with open(path, encoding="utf-8-sig") as f:
        doc = json.load(f)
    if not isinstance(doc, dict) or "model_type" not in doc:
        raise Refused("not a Hugging Face config: no model_type")
    return doc


def strip(doc):
    """Drop the keys that do not count, at every level."""
    return {k: strip(v) if isinstance(v, dict) else v
            for k, v in doc.items() if k not in IGNORED}


def phi_msft_keys(doc):
    out = {PHI_MSFT.get(k, k): v for k, v in doc.items()}
    out["model_type"] = "phi"
    if out.get("intermediate_size") is None:
        out["intermediate_size"] = 4 * out["hidden_size"]
    if out.get("num_key_value_heads") is None:
        out["num_key_value_heads"] = out["num_attention_heads"]
    return out


def build(doc, stand_in):
    """Return the model, on the meta device."""
    import torch
    import transformers
    from transformers import AutoModelForCausalLM, CONFIG_MAPPING

    arch = (doc.get("architectures") or [None])[0]
    doc = strip(doc)
    if doc["model_type"] == "phi-msft":
        doc = phi_msft_keys(doc)
    if stand_in:
        model_type, change = STAND_INS[arch]
        doc = {**doc, **change(doc), "model_type": model_type}
        arch = None
    elif doc["model_type"] not in CONFIG_MAPPING:
        raise Refused("%s (model_type %s) is not in the transformers library"
                      % (arch, doc["model_type"]))
    model_type = doc.pop("model_type")
    config = CONFIG_MAPPING[model_type].from_dict(doc)
    with torch.device("meta"):
        if arch is not None and hasattr(transformers, arch):
            model = getattr(transformers, arch)(config)
        else:
            model = AutoModelForCausalLM.from_config(config)
    model.tie_weights()
    return model


def stored(module):
    """Names and tensors that a checkpoint of this module would hold."""
    return module.state_dict(keep_vars=True).items()


def size_of(module, seen):
    """Elements of the tensors of a module that were not counted before."""
    total = 0
    for _, p in stored(module):
        if id(p) not in seen:
            seen.add(id(p))
            total += p.numel()
    return total


def decoder_layers(model, text):
    """Name and module list of the decoder layers of the text part."""
    import torch
    depth = text.num_hidden_layers
    found = [(n, m) for n, m in model.named_modules()
             if isinstance(m, torch.nn.ModuleList) and len(m) == depth
             and not re.search("vision|visual|expert", n)]
    found.sort(key=lambda nm: nm[0].count("."))
    if not found:
        raise RuntimeError("no list of %d decoder layers" % depth)
    return found[0]


def routed_experts(model, text):
    """(parameters of all routed experts, parameters of those not used).

    The library stores the routed experts of a layer in one module named
    "experts" whose parameters have the experts as their first dimension.
    """
    number = next((getattr(text, k) for k in
                   ("num_local_experts", "n_routed_experts", "num_experts")
                   if getattr(text, k, None)), 0)
    if not number:
        return 0, 0
    used = text.num_experts_per_tok    # every class here has this name
    all_of, unused = 0, 0
    for name, p in model.named_parameters():
        if not re.search(r"\.experts\.", name):
            continue
        if p.shape[0] != number:
            raise RuntimeError("%s: first dimension is not %d experts"
                               % (name, number))
        all_of += p.numel()
        unused += p.numel() // number * (number - used)
    return all_of, unused


def count(model):
    import torch
    buffers = sum(p.numel() for _, p in stored(model)
                  if not isinstance(p, torch.nn.Parameter))
    text = model.config.get_text_config()
    total = size_of(model, set())
    seen = set()
    embed, head = model.get_input_embeddings(), model.get_output_embeddings()
    embedding = size_of(embed, seen)
    head_count = size_of(head, seen)
    list_name, blocks = decoder_layers(model, text)
    layers = [size_of(b, seen) for b in blocks]

    final_norm, other = 0, {}
    parent = model.get_submodule(list_name.rpartition(".")[0])
    for name, child in parent.named_children():
        if "norm" in name.lower() or name == "ln_f":
            final_norm += size_of(child, seen)
    vision = set()
    for name, p in stored(model):
        if id(p) in seen:
            continue
        seen.add(id(p))
        parts = name.split(".")
        group = next((i for i, s in enumerate(parts)
                      if re.search("vision|visual|projector", s)), None)
        key = ".".join(parts[:group + 1]) if group is not None else name
        other[key] = other.get(key, 0) + p.numel()
        if group is not None:
            vision.add(key)

    experts, unused = routed_experts(model, text)
    out = {"total": total, "active": total - unused}
    if vision:
        beside = sum(other[k] for k in vision)
        out.update(text=total - beside, text_active=total - unused - beside)
    out.update(embedding=embedding, head=head_count,
               tied=head.weight is embed.weight, final_norm=final_norm,
               routed_experts=experts, saved_buffers=buffers,
               layers=layers, other=other)
    parts = (embedding + head_count + sum(layers) + final_norm
             + sum(other.values()))
    if parts != total:
        raise RuntimeError("parts %d differ from total %d" % (parts, total))
    return out


def tensors(model):
    """Shapes by name, repeated layers folded: [name, shape, times]."""
    rows = {}
    seen = set()
    for name, p in stored(model):
        if id(p) in seen:
            continue
        seen.add(id(p))
        key = (re.sub(r"\.\d+\.", ".*.", name), tuple(p.shape))
        rows[key] = rows.get(key, 0) + 1
    return [[n, list(s), k] for (n, s), k in rows.items()]


def product(shape):
    size = 1
    for n in shape:
        size *= n
    return size


def runs(layers):
    """[5, 5, 7] as [[2, 5], [1, 7]]: times, parameters."""
    out = []
    for n in layers:
        if out and out[-1][1] == n:
            out[-1][0] += 1
        else:
            out.append([1, n])
    return out


def read_published(path):
    """The entries of published_totals.json, each added up again."""
    with open(path, encoding="utf-8") as f:
        entries = json.load(f)["models"]
    for e in entries:
        total = sum(product(shape) * times for _, shape, times in e["tensors"])
        parts = (e["embedding"] + e["head"] + e["final_norm"]
                 + sum(k * n for k, n in e["layers"]))
        if not total == parts == e["total"]:
            raise RuntimeError("%s: tensors %d, parts %d, total %d"
                               % (e["file"], total, parts, e["total"]))
    return entries


FACTS = ("total", "active", "text", "text_active", "vision_from_defaults",
         "embedding", "head", "tied", "final_norm",
         "routed_experts", "saved_buffers", "layers", "other")
UNLESS_ZERO = ("routed_experts", "saved_buffers", "other")


def frozen(report, published):
    """The text of expected_counts.json: one file a line, layers as runs."""
    rows, refused = {}, {}
    for m in report["models"]:
        facts = {"architecture": m["architecture"]}
        facts.update((k, m[k]) for k in FACTS
                     if k in m and (m[k] or k not in UNLESS_ZERO))
        facts["layers"] = runs(m["layers"])
        facts["source"] = "oracle"
        rows[m["file"]] = facts
    for m in report["unsupported"]:
        refused[m["file"]] = m["why"]
    built = {m["file"]: m for m in report["stand_ins"]}
    for e in published:
        if e["file"] not in refused:
            continue
        del refused[e["file"]]
        facts = {"architecture": e["architecture"], "total": e["total"],
                 "active": e["total"]}
        facts.update((k, e[k]) for k in
                     ("embedding", "head", "tied", "final_norm", "layers"))
        m = built.get(e["file"])
        if m:
            for k in ("total", "embedding", "head", "tied", "final_norm"):
                if m[k] != e[k]:
                    raise RuntimeError("%s: %s %s by hand, %s built"
                                       % (e["file"], k, e[k], m[k]))
            if runs(m["layers"]) != e["layers"]:
                raise RuntimeError("%s: layers differ" % e["file"])
        facts["source"] = "derived" if e["derived"] else "published"
        rows[e["file"]] = facts
    sources = {
        "oracle": "transformers %s on torch %s, meta device"
                  % (report["transformers"], report["torch"]),
        "published": "published_totals.json, total stated by the publisher",
        "derived": "published_totals.json, added up from tensor shapes"}
    def lines(d):
        return ",\n".join("  %s: %s" % (json.dumps(k), json.dumps(d[k]))
                          for k in sorted(d))
    return ('{\n "layers": "runs: [[times, parameters of one layer], ...]",\n'
            ' "sources": {\n%s\n },\n "models": {\n%s\n },\n'
            ' "refused": {\n%s\n }\n}\n'
            % (lines(sources), lines(rows), lines(refused)))


def expand(paths):
    for path in paths:
        if os.path.isdir(path):
            for name in sorted(os.listdir(path)):
                if name.endswith(".json"):
                    yield os.path.join(path, name)
        else:
            yield path


def label(path):
    """The file's name, with its folder's where the folder is a test case."""
    folder, name = os.path.split(os.path.abspath(path))
    if os.path.exists(os.path.join(folder, "case.json")):
        return os.path.basename(folder) + "/" + name
    return name


def main():
    ap = argparse.ArgumentParser(
        description=__doc__, epilog=SETUP,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("path", nargs="*", help="config.json file, or a folder of them")
    ap.add_argument("-o", metavar="FILE", help="write there, not to standard output")
    ap.add_argument("--tensors", action="store_true",
                    help="list the tensors too: [name, shape, times]")
    ap.add_argument("--freeze", metavar="FILE",
                    help="write the compact form kept as expected_counts.json; "
                    "FILE is published_totals.json")
    args = ap.parse_args()
    if not args.path:
        ap.error("no path")

    import torch
    import transformers
    transformers.logging.set_verbosity_error()
    report = {"transformers": transformers.__version__,
              "torch": torch.__version__.partition("+")[0],
              "models": [], "stand_ins": [], "unsupported": []}
    failed = 0
    for path in expand(args.path):
        name = label(path)
        try:
            doc = read_config(path)
            arch = (doc.get("architectures") or [doc["model_type"]])[0]
            try:
                model, list_name = build(doc, False), "models"
            except Refused as why:
                report["unsupported"].append({"file": name, "why": str(why)})
                if arch not in STAND_INS:
                    continue
                model, list_name = build(doc, True), "stand_ins"
            row = {"file": name, "architecture": arch}
            if list_name == "stand_ins":
                row["built_as"] = type(model).__name__
            row.update(count(model))
            if "text" in row and "vision_config" not in doc:
                row["vision_from_defaults"] = True
            if args.tensors:
                row["tensors"] = tensors(model)
            report[list_name].append(row)
        except Refused as why:
            report["unsupported"].append({"file": name, "why": str(why)})
        except Exception as why:      # a class that rejects the file
            failed += 1
            report["unsupported"].append(
                {"file": name, "why": "%s: %s" % (type(why).__name__, why)})
        print("%s done" % name, file=sys.stderr)

    if args.freeze:
        text = frozen(report, read_published(args.freeze))
    else:
        text = json.dumps(report, indent=1) + "\n"
    if args.o:
        with open(args.o, "w", encoding="utf-8") as f:
            f.write(text)
    else:
        sys.stdout.write(text)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
