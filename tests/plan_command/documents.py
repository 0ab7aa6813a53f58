# SPDX-License-Identifier: Apache-2.0
"""Small models and inventories, written by hand."""

TERA = 10 ** 12
GIB = 2 ** 30
MIB = 2 ** 20


def equal_layers(count, hidden=1024, name="equal", columns=None):
    """A yoke-model/1 document of `count` equal decoder layers and nothing else."""
    columns = columns or hidden
    return {"schema": "yoke-model/1", "name": name, "hidden": hidden, "layers": [
        {"name": "layers.0", "kind": "decoder", "repeat": count, "hidden": hidden, "tensors": [
            {"name": "up", "shape": [columns, hidden], "shard": "columns", "kept": hidden},
            {"name": "down", "shape": [hidden, columns], "shard": "columns",
             "kept_cut": columns}]}]}


def llama(layers, heads, kv_heads, head_dim=128, hidden=None, vocabulary=32000, ffn=None):
    """A config.json of the Llama architecture."""
    hidden = hidden or heads * head_dim
    return {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden,
            "intermediate_size": ffn or 4 * hidden, "num_hidden_layers": layers,
            "num_attention_heads": heads, "num_key_value_heads": kv_heads, "head_dim": head_dim,
            "vocab_size": vocabulary, "max_position_embeddings": 8192,
            "tie_word_embeddings": False, "torch_dtype": "bfloat16"}


def device(identity, memory=80 * GIB, rates=None, bandwidth=2 * TERA, name="card", **members):
    """A GPU whose every figure is the user's; a rate may be 0 (cannot) or None (unknown)."""
    rates = {"bf16": 300 * TERA} if rates is None else rates
    result = {"id": identity, "kind": "gpu", "vendor": "Maker", "name": name, "schedulable": True,
              "compute": {dtype: {"rate": rate, "source": "user"} for dtype, rate in rates.items()},
              "bandwidth": {"rate": bandwidth, "source": "user"},
              "memory": {"total": memory, "free": memory, "usable": memory, "source": "user"}}
    result.update(members)
    return result


def inventory(*nodes, nic=12.5e9):
    """Nodes as (hosts, [devices])."""
    return {"schema": "yoke-inventory/1", "nodes": [
        {"hosts": hosts, "devices": devices,
         "nics": [{"id": "nic0", "kind": "ethernet", "rate": nic, "source": "user"}]}
        for hosts, devices in nodes]}


def one_node(devices):
    return inventory(("n1", devices))
