"""The LSTM of Jozefowicz et al. 2016 (lm_1b), from an archive of NumPy arrays that docs/guide/published.md tells to make.

The archive has the variables of the LSTM and of the softmax by their names in TensorFlow, and `embeddings`: for each word,
what the character CNN gives. Word k of the vocabulary is row k div n of the softmax's part k mod n. The softmax has more rows
than there are words; the others are cut off.

The vocabulary has a word per line, in bytes. The line !!!MAXTERMID has no number. A word that is not UTF-8 keeps its number,
but can't occur in a text.
"""

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from syntagm.checkpoints import Array, Kind, Model, renumbered
from syntagm.errors import InputError
from syntagm.io import utf8

_START, _END, _UNKNOWN = "<S>", "</S>", "<UNK>"
_NO_WORD = b"!!!MAXTERMID"
_PART = re.compile(r"softmax/W_\d+")
_GATES = ("I", "F", "O")


def _convert(file: Path, vocabulary: Path, tokens: str) -> Model:
    from syntagm.models.jrnn.model import FORMAT

    lines = [line.strip() for line in utf8.whole(vocabulary).splitlines()]
    published = [line.decode("utf-8", "surrogateescape") for line in lines if line != _NO_WORD]
    words, order = renumbered(published, vocabulary, _END, _UNKNOWN)
    if _START not in published:
        raise InputError(str(vocabulary), f"no word {_START}", f"a vocabulary with {_START}, {_END} and {_UNKNOWN}")
    try:
        with np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(str(file), f"can't be read ({error!s:.200})", "an .npz archive of NumPy arrays") from None
    network, width, cells, layers = _lstm(arrays, file)
    embeddings = _array(arrays, "embeddings", (len(order), width), file)[order]
    # The end symbol is never read, and the start symbol is read in its place.
    embeddings[0] = arrays["embeddings"][published.index(_START)]
    weight, bias = _softmax(arrays, len(order), width, file)
    network |= {"encoder.weight": embeddings, "decoder.weight": weight[order], "decoder.bias": bias[order]}
    summary = (
        f"{layers} layers of {cells:,} cells, projected to {width:,}, {len(order):,} words, "
        f"{sum(array.size for array in network.values()):,} parameters, tokens={tokens}"
    )
    description = {
        "family": "jrnn",
        "format": FORMAT,
        "width": width,
        "cells": cells,
        "layers": layers,
        "tokens": tokens,
    }
    return Model(description, network, words, summary)


def _lstm(arrays: Mapping[str, Array], file: Path) -> tuple[dict[str, Array], int, int, int]:
    """Return the weights of all layers, the width, the number of cells, and the number of layers."""
    layers = sum(re.fullmatch(r"lstm/lstm_\d+/B", name) is not None for name in arrays)
    first = arrays.get("lstm/lstm_0/B")
    if first is None or first.ndim != 1:
        found = ", ".join([*arrays][:8]) or "no arrays"
        raise InputError(str(file), found, "the variables of an LSTM, such as lstm/lstm_0/B")
    cells = len(first) // 4
    projection = _joined(arrays, "lstm/lstm_0/W_P_", file)
    width = projection.shape[-1]
    network: dict[str, Array] = {}
    for layer in range(layers):
        name = f"lstm/lstm_{layer}"
        parts = {f"{name}/W": _joined(arrays, f"{name}/W_", file), f"{name}/P": _joined(arrays, f"{name}/W_P_", file)}
        diagonals = [_array(arrays, f"{name}/W_{gate}_diag", (cells,), file) for gate in _GATES]
        network |= {
            f"layers.{layer}.weight": _array(parts, f"{name}/W", (2 * width, 4 * cells), file),
            f"layers.{layer}.bias": _array(arrays, f"{name}/B", (4 * cells,), file),
            f"layers.{layer}.projection": _array(parts, f"{name}/P", (cells, width), file),
            f"layers.{layer}.peepholes": np.stack(diagonals),
        }
    return network, width, cells, layers


def _joined(arrays: Mapping[str, Array], prefix: str, file: Path) -> Array:
    """Join the numbered parts of a variable."""
    parts = [arrays[f"{prefix}{at}"] for at in range(len(arrays)) if f"{prefix}{at}" in arrays]
    if not parts or any(part.ndim != 2 or part.shape[1] != parts[0].shape[1] for part in parts):
        raise InputError(str(file), f"no parts {prefix}0, {prefix}1, ... of one width", "all variables of the LSTM")
    return np.concatenate(parts)


def _softmax(arrays: Mapping[str, Array], words: int, width: int, file: Path) -> tuple[Array, Array]:
    """Return the rows and the bias of each word."""
    number = sum(_PART.fullmatch(name) is not None for name in arrays)
    rows = -(-words // number) if number else 0
    weight = np.empty((words, width), np.float32)
    for at in range(number):
        part = arrays.get(f"softmax/W_{at}", np.empty((0, 0)))
        whole = _array(arrays, f"softmax/W_{at}", (max(rows, len(part)), width), file)
        weight[at::number] = whole[: len(range(at, words, number))]
    bias = arrays.get("softmax/b", np.empty(0))
    if not number or bias.ndim != 1 or len(bias) < words:
        raise InputError(
            str(file), f"softmax/W_0, ... in {number} parts, softmax/b of {len(bias):,}", f"{words:,} rows"
        )
    return weight, _array(arrays, "softmax/b", bias.shape, file)[:words]


def _array(arrays: Mapping[str, Array], name: str, shape: tuple[int, ...], file: Path) -> Array:
    array = arrays.get(name)
    if array is None or array.shape != shape:
        found = f"no {name}" if array is None else f"{name} of the shape {array.shape}"
        raise InputError(str(file), found, f"{name} of the shape {shape}")
    if array.dtype != np.float32 or not np.isfinite(array).all():
        raise InputError(str(file), f"{name} of the type {array.dtype}, or not finite", "finite 32-bit floats")
    return array


KIND = Kind("The LSTM of Jozefowicz et al. 2016 (lm_1b)", "moses", _convert, pickled=False)
