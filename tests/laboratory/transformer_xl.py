"""A Transformer-XL in the layout of transformers before 5.0 in small: its configuration, weights and vocabulary."""

import json
import math
from collections import Counter, OrderedDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

CONFIG = {
    "model_type": "transfo-xl", "cutoffs": [6, 9], "d_model": 4, "d_embed": 4, "n_head": 2, "d_head": 2, "d_inner": 5,
    "div_val": 2, "n_layer": 2, "mem_len": 5, "clamp_len": 3, "same_length": True, "untie_r": True, "attn_type": 0,
    "pre_lnorm": False, "adaptive": True, "layer_norm_epsilon": 1e-5, "vocab_size": 12,
}  # fmt: skip
WORDS = ["<eos>", "w1", "w2", "w3", "<unk>", *(f"w{number}" for number in range(5, 12))]

Arrays = dict[str, np.ndarray[Any, Any]]


def published() -> Arrays:
    """The weights of the check values: the i-th number of the k-th weight is ((7i + 3k) mod 11 - 5) / 5."""
    shapes: dict[str, tuple[int, ...]] = {"crit.cluster_weight": (2, 4), "crit.cluster_bias": (2,)}
    for at, (words, width) in enumerate([(6, 4), (3, 2), (3, 1)]):
        shapes[f"transformer.word_emb.emb_layers.{at}.weight"] = (words, width)
        shapes[f"transformer.word_emb.emb_projs.{at}"] = shapes[f"crit.out_projs.{at}"] = (4, width)
        shapes[f"crit.out_layers.{at}.bias"] = (words,)
    for layer in range(2):
        shapes |= {
            f"transformer.layers.{layer}.{name}": shape
            for name, shape in {
                "dec_attn.qkv_net.weight": (12, 4), "dec_attn.o_net.weight": (4, 4), "dec_attn.r_net.weight": (4, 4),
                "dec_attn.r_w_bias": (2, 2), "dec_attn.r_r_bias": (2, 2), "pos_ff.CoreNet.0.weight": (5, 4),
                "pos_ff.CoreNet.0.bias": (5,), "pos_ff.CoreNet.3.weight": (4, 5), "pos_ff.CoreNet.3.bias": (4,),
                **{f"{part}.layer_norm.{name}": (4,) for part in ("dec_attn", "pos_ff") for name in ("weight", "bias")},
            }.items()
        }  # fmt: skip
    weights = {
        name: (((7 * np.arange(math.prod(shapes[name])) + 3 * at) % 11 - 5) / 5)
        .reshape(shapes[name])
        .astype(np.float32)
        for at, name in enumerate(sorted(shapes))
    }
    for at in range(3):
        weights[f"crit.out_layers.{at}.weight"] = weights[f"transformer.word_emb.emb_layers.{at}.weight"]
        if at:
            weights[f"crit.out_projs.{at}"] = weights[f"transformer.word_emb.emb_projs.{at}"]
    return weights | {"transformer.pos_emb.inv_freq": np.ones(2, np.float32)}


def vocabulary(words: list[str]) -> dict[str, object]:
    """Return what `vocab.bin` has."""
    return {
        "counter": Counter(words), "special": ["<eos>"], "min_freq": 0, "max_size": None, "lower_case": False,
        "idx2sym": words, "sym2idx": OrderedDict((word, at) for at, word in enumerate(words)), "unk_idx": 4,
    }  # fmt: skip


def written(
    folder: Path, weights: Mapping[str, np.ndarray[Any, Any]], config: Mapping[str, object], words: object
) -> tuple[Path, Path]:
    """Write a checkpoint, and return the paths of the weights and of the vocabulary."""
    torch.save({name: torch.from_numpy(value) for name, value in weights.items()}, folder / "pytorch_model.bin")
    (folder / "config.json").write_text(json.dumps(config))
    torch.save(words, folder / "vocab.bin")
    return folder / "pytorch_model.bin", folder / "vocab.bin"
