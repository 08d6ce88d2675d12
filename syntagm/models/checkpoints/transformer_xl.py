"""Transformer-XL models (Dai et al. 2019) in the layout of transformers before 5.0, such as transfo-xl-wt103.

A checkpoint is `pytorch_model.bin`, a dictionary of weights, with `config.json` beside it. The vocabulary is `vocab.bin`,
a dictionary with the list `idx2sym`, or a text file with a word per line.
"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from syntagm.core import InputError, json, torch_file, utf8
from syntagm.models.checkpoints import Layout, Model, renumbered, weights

if TYPE_CHECKING:
    from syntagm.models.transformer_xl.model import Size

_CONFIG = "config.json"
# Settings with only one possible value here: that of wt103.
_FIXED = {
    "attn_type": 0, "pre_lnorm": False, "same_length": True, "untie_r": True, "adaptive": True,
    "layer_norm_epsilon": 1e-5,
}  # fmt: skip
_SIZES = {
    "width": "d_model", "embedding": "d_embed", "divisor": "div_val", "heads": "n_head", "head_width": "d_head",
    "inner": "d_inner", "layers": "n_layer", "memory": "mem_len", "clamp": "clamp_len",
}  # fmt: skip
_IN_LAYER = {
    "queries_keys_values.weight": "dec_attn.qkv_net.weight",
    "positions.weight": "dec_attn.r_net.weight",
    "attended.weight": "dec_attn.o_net.weight",
    "key_bias": "dec_attn.r_w_bias",
    "position_bias": "dec_attn.r_r_bias",
    "attention_norm.weight": "dec_attn.layer_norm.weight",
    "attention_norm.bias": "dec_attn.layer_norm.bias",
    "inner.weight": "pos_ff.CoreNet.0.weight",
    "inner.bias": "pos_ff.CoreNet.0.bias",
    "outer.weight": "pos_ff.CoreNet.3.weight",
    "outer.bias": "pos_ff.CoreNet.3.bias",
    "norm.weight": "pos_ff.layer_norm.weight",
    "norm.bias": "pos_ff.layer_norm.bias",
}


def _convert(file: Path, vocabulary: Path, tokens: str) -> Model:
    import torch

    from syntagm.models.transformer_xl.model import TransformerXl, TransformerXlNetwork

    words, order = renumbered(_words(vocabulary, tokens), vocabulary)
    size = _size(file.with_name(_CONFIG), len(order))
    # Words keep their clusters.
    if order[:2].max() >= size.cutoffs[0]:
        found, expected = f"<eos> or <unk> is the word {order[:2].max():,}", f"one of the first {size.cutoffs[0]:,}"
        raise InputError(str(vocabulary), found, expected)
    stored = torch_file.tensors(torch_file.read(file), file)
    if size.layers > len(stored):
        raise InputError(str(file), f"{len(stored)} weights", f"those of {size.layers:,} layers, as in {_CONFIG}")
    with torch.device("meta"):
        shapes = {
            name: tuple(weight.shape) for name, weight in TransformerXlNetwork(len(order), size).named_parameters()
        }
    names = _names(size)
    clusters = [(f"crit.out_layers.{at}", bounds) for at, bounds in enumerate(size.clusters(len(order)))]
    expected_shapes = {names[name]: shape for name, shape in shapes.items() if name in names}
    for name, (first, last, width) in clusters:
        expected_shapes |= {f"{name}.weight": (last - first, width), f"{name}.bias": (last - first,)}
    stored = {name.removeprefix("transformer."): tensor for name, tensor in stored.items()}
    stored.pop("pos_emb.inv_freq", None)
    theirs = weights(stored, expected_shapes, file, f"{len(order):,} words and the sizes of {_CONFIG}")
    arrays = {name: theirs[names[name]] for name in names}
    for at, (name, _) in enumerate(clusters):
        if not np.array_equal(theirs[f"{name}.weight"], arrays[f"embeddings.{at}"]):
            raise InputError(str(file), f"{name}.weight differs from the embeddings", "tied weights, as in wt103")
    arrays["decoder.bias"] = np.concatenate([theirs[f"{name}.bias"] for name, _ in clusters])[order]
    arrays["embeddings.0"] = arrays["embeddings.0"][order[: size.cutoffs[0]]]
    summary = (
        f"{size.layers} layers of {size.width:,}, {len(clusters)} clusters, {len(order):,} words, "
        f"{sum(array.size for array in arrays.values()):,} parameters, tokens={tokens}"
    )
    return Model(
        {"family": "transformer_xl", "format": TransformerXl.format, **asdict(size), "tokens": tokens},
        arrays,
        words,
        summary,
    )


def _words(vocabulary: Path, tokens: str) -> list[str]:
    if not utf8.beginning(vocabulary, 4).startswith((b"PK\x03\x04", b"\x80")):
        return utf8.read(vocabulary).split()
    content = torch_file.read(vocabulary)
    words = content.get("idx2sym") if isinstance(content, dict) else None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise InputError(str(vocabulary), "no list of words", "a dictionary with the list idx2sym")
    if content.get("lower_case") and not tokens.endswith("-lower"):
        raise InputError(
            str(vocabulary), "a lower-cased vocabulary", "text in lower case", "Give --tokens moses-lower."
        )
    return words


def _size(config: Path, words: int) -> "Size":
    from syntagm.models.recurrent.network import are_cutoffs
    from syntagm.models.transformer_xl.model import Size
    from syntagm.models.words.weights import is_size

    settings = json.record(config, InputError, "the configuration of a Transformer-XL")
    for name, value in _FIXED.items():
        if settings.get(name, value) != value:
            raise InputError(f"{config}, {name}", f"{settings[name]!r:.60}", repr(value))
    for name in _SIZES.values():
        if not is_size(settings.get(name)) or (name == "div_val" and settings[name] == 1):
            expected = "a whole number above 1" if name == "div_val" else "a whole number above 0"
            raise InputError(f"{config}, {name}", f"{settings.get(name)!r:.60}", expected)
    if not are_cutoffs(settings.get("cutoffs"), words):
        expected = f"increasing numbers of words, below the {words:,} of the vocabulary"
        raise InputError(f"{config}, cutoffs", f"{settings.get('cutoffs')!r:.60}", expected)
    size = Size(tuple(settings["cutoffs"]), **{own: settings[name] for own, name in _SIZES.items()})
    if size.width % 2 or size.embedding < size.divisor ** len(size.cutoffs):
        found = f"d_model = {size.width}, d_embed = {size.embedding}, {len(size.cutoffs)} cutoffs"
        raise InputError(str(config), found, "an even width, and a width of each cluster that is at least 1")
    return size


def _names(size: "Size") -> dict[str, str]:
    """Return the published name of each weight but the biases of words, by its name in the network."""
    names = {"decoder.tails.weight": "crit.cluster_weight", "decoder.tails.bias": "crit.cluster_bias"}
    for at in range(len(size.cutoffs) + 1):
        names |= {
            f"embeddings.{at}": f"word_emb.emb_layers.{at}.weight",
            f"projections.{at}": f"word_emb.emb_projs.{at}",
            f"decoder.projections.{at}": f"crit.out_projs.{at}",
        }
    for layer in range(size.layers):
        names |= {f"layers.{layer}.{own}": f"layers.{layer}.{name}" for own, name in _IN_LAYER.items()}
    return names


LAYOUT = Layout("Transformer-XL models in the layout of transformers", "wikitext", _convert, further=(_CONFIG,))
