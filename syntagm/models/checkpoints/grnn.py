"""LSTMs of Gulordava et al. 2018 (GRNN), and others of PyTorch's example of a word-level language model.

A checkpoint is a whole pickled module `model.RNNModel`, or a dictionary of its weights. The vocabulary is a text file:
the words by number, separated by white space, among them <eos> and <unk>. The converted model is an ordinary one of the
family `lstm`, whose words are renumbered. Unknown words have no classes.
"""

import re
from pathlib import Path

import numpy as np

from syntagm.core import InputError, torch_file, utf8
from syntagm.models.checkpoints import Layout, Model, renumbered, weights

_LAYER = re.compile(r"rnn\.weight_hh_l(\d+)")


def _convert(file: Path, vocabulary: Path, tokens: str) -> Model:
    from syntagm.models.lstm.model import Lstm

    value = torch_file.read(file, ["model.RNNModel"])
    stored = torch_file.tensors(value, file)
    kind = value.state.get("rnn_type") if isinstance(value, torch_file.Object) else "LSTM"
    if kind != "LSTM":
        raise InputError(str(file), f"a network of the type {kind!r:.40}", "'LSTM'")
    words, order = renumbered(utf8.read(vocabulary).split(), vocabulary)
    embedding, hidden, layers = _sizes(stored, file)
    shapes = _shapes(len(order), embedding, hidden, layers)
    arrays = weights(stored, shapes, file, f"{len(order):,} words of {vocabulary}")
    for name in ("encoder.weight", "decoder.weight", "decoder.bias"):
        arrays[name] = arrays[name][order]
    tied = embedding == hidden and np.array_equal(arrays["encoder.weight"], arrays["decoder.weight"])
    if tied:
        del arrays["decoder.weight"]
    description = {
        "family": "lstm", "format": Lstm.format, "embedding": embedding, "hidden": hidden, "layers": layers, "tied": tied,
        "tokens": tokens,
    }  # fmt: skip
    summary = (
        f"{layers} layers of {hidden:,} units, embeddings of {embedding:,}{' (tied)' if tied else ''}, "
        f"{len(order):,} words, {sum(array.size for array in arrays.values()):,} parameters, tokens={tokens}"
    )
    return Model(description, arrays, words, summary)


def _sizes(stored: dict[str, torch_file.Tensor], file: Path) -> tuple[int, int, int]:
    """Return the width of the embeddings, that of the hidden layers, and the number of layers."""
    layers = sum(_LAYER.fullmatch(name) is not None for name in stored)
    encoder, recurrent = stored.get("encoder.weight"), stored.get("rnn.weight_hh_l0")
    if encoder is None or recurrent is None or len(encoder.shape) != 2 or len(recurrent.shape) != 2:
        found = ", ".join(list(stored)[:8]) or "no tensors"
        raise InputError(str(file), found, "the weights of an LSTM: encoder.weight, rnn.weight_hh_l0 and others")
    return encoder.shape[1], recurrent.shape[1], layers


def _shapes(words: int, embedding: int, hidden: int, layers: int) -> dict[str, tuple[int, ...]]:
    shapes: dict[str, tuple[int, ...]] = {"encoder.weight": (words, embedding)}
    for layer in range(layers):
        shapes |= {
            f"rnn.weight_ih_l{layer}": (4 * hidden, hidden if layer else embedding),
            f"rnn.weight_hh_l{layer}": (4 * hidden, hidden),
            f"rnn.bias_ih_l{layer}": (4 * hidden,),
            f"rnn.bias_hh_l{layer}": (4 * hidden,),
        }
    return shapes | {"decoder.weight": (words, hidden), "decoder.bias": (words,)}


LAYOUT = Layout("LSTMs of Gulordava et al. 2018, and of PyTorch's word language model", "treetagger", _convert)
