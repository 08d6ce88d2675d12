"""The LSTM of Jozefowicz et al. 2016 (lm_1b), from an archive of NumPy arrays that docs/guide/published.md tells to make.

The archive has all variables by their names in TensorFlow. Matrices are in parts, which are joined in the order of their
numbers; but word k of the vocabulary is row k div n of the softmax's part k mod n. The softmax has more rows than there are
words; the others are cut off.

The vocabulary has a word per line, in bytes. The line !!!MAXTERMID has no number. A word that is not UTF-8 keeps its number,
but can't occur in a text. The bytes that no word contains are symbols, in this order: beginning and end of a text, beginning
and end of a word, filling.
"""

import re
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from syntagm.core import InputError, regular, utf8
from syntagm.models.checkpoints import Array, Layout, Model, renumbered

_END, _UNKNOWN = "</S>", "<UNK>"
_NO_WORD = b"!!!MAXTERMID"
_PART = re.compile(r"softmax/W_\d+")
_GATES = ("I", "F", "O")
_LETTERS = "char_embedding"


def _convert(file: Path, vocabulary: Path, tokens: str) -> Model:
    from syntagm.models.jrnn.model import Jrnn, symbols

    lines = [line.strip() for line in utf8.whole(vocabulary).splitlines()]
    published = [line.decode("utf-8", "surrogateescape") for line in lines if line != _NO_WORD]
    words, order = renumbered(published, vocabulary, _END, _UNKNOWN)
    free = symbols(line for line in lines if line != _NO_WORD)
    if free is None:
        raise InputError(str(vocabulary), "fewer than 5 bytes that no word contains", "bytes that can be symbols")
    try:
        # NumPy leaves a file open that is no archive.
        with regular.opened(file) as stream, np.load(stream, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (OSError, ValueError, EOFError, AttributeError, TypeError, zipfile.BadZipFile) as error:
        raise InputError(str(file), f"can't be read ({error!s:.200})", "an .npz archive of NumPy arrays") from None
    network, width, cells, layers = _lstm(arrays, file)
    network |= (characters := _characters(arrays, width, file))
    weight, bias = _softmax(arrays, order, width, file)
    network |= {"decoder.weight": weight, "decoder.bias": bias}
    filters = [[each.shape[2], each.shape[0]] for name, each in characters.items() if ".filters." in name]
    summary = (
        f"{layers} layers of {cells:,} cells, projected to {width:,}, {sum(number for _, number in filters):,} filters of "
        f"letters, {len(order):,} words, "
        f"{sum(array.size for array in network.values()):,} parameters, tokens={tokens}"
    )
    description = {
        "family": "jrnn",
        "format": Jrnn.format,
        "width": width,
        "cells": cells,
        "layers": layers,
        "letters": characters["characters.letters"].shape[1],
        "filters": filters,
        "highways": sum(name.endswith(".gate") for name in characters),
        "symbols": list(free),
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
        diagonals = [_array(arrays, f"{name}/W_{gate}_diag", (cells,), file) for gate in _GATES]
        network |= {
            f"layers.{layer}.weight": _matrix(arrays, f"{name}/W", (2 * width, 4 * cells), file),
            f"layers.{layer}.bias": _array(arrays, f"{name}/B", (4 * cells,), file),
            f"layers.{layer}.projection": _matrix(arrays, f"{name}/W_P", (cells, width), file),
            f"layers.{layer}.peepholes": np.stack(diagonals),
        }
    return network, width, cells, layers


def _characters(arrays: Mapping[str, Array], width: int, file: Path) -> dict[str, Array]:
    from syntagm.models.jrnn.model import LENGTH

    for first in ("W", "cnn_0/kernel", "dense_0/gate/b"):
        if f"{_LETTERS}/{first}" not in arrays:
            cure = "Make the archive as the page on published checkpoints says."
            raise InputError(str(file), f"no {_LETTERS}/{first}", "the variables of the network over letters", cure)
    kernels, highways = (
        sum(re.fullmatch(rf"{_LETTERS}/{kind}", name) is not None for name in arrays)
        for kind in (r"cnn_\d+/kernel", r"dense_\d+/gate/b")
    )
    letters = _array(arrays, f"{_LETTERS}/W", (256, arrays[f"{_LETTERS}/W"].size // 256), file)
    found = {"characters.letters": letters}
    for at in range(kernels):
        name = f"{_LETTERS}/cnn_{at}"
        kernel = arrays.get(f"{name}/kernel", np.empty(0))
        sides = (*kernel.shape, 0, 0, 0, 0)
        # Widths, letters, one channel, filters.
        kernel = _array(arrays, f"{name}/kernel", (min(sides[0], LENGTH), letters.shape[1], 1, sides[3]), file)
        found[f"characters.filters.{at}"] = np.ascontiguousarray(kernel[:, :, 0].transpose(2, 1, 0))
        found[f"characters.biases.{at}"] = _flat(arrays, f"{name}/b", sides[3], file)
    total = sum(len(array) for name, array in found.items() if ".filters." in name)
    for at in range(highways):
        for own, name in (("gate", "gate"), ("transform", "tr")):
            place = f"{_LETTERS}/dense_{at}/{name}"
            found[f"characters.highways.{at}.{own}"] = _matrix(arrays, f"{place}/W", (total, total), file)
            found[f"characters.highways.{at}.{own}_bias"] = _flat(arrays, f"{place}/b", total, file)
    found["characters.projection"] = _matrix(arrays, f"{_LETTERS}/proj/W", (total, width), file)
    found["characters.projection_bias"] = _flat(arrays, f"{_LETTERS}/proj/b", width, file)
    return found


def _matrix(arrays: Mapping[str, Array], name: str, shape: tuple[int, ...], file: Path) -> Array:
    return _array({name: _joined(arrays, f"{name}_", file)}, name, shape, file)


def _flat(arrays: Mapping[str, Array], name: str, size: int, file: Path) -> Array:
    """Return a bias, whose variable may have further sides of 1."""
    bias = arrays.get(name, np.empty(0))
    return _array(arrays, name, (*(1,) * (bias.ndim - 1), size), file).ravel()


def _joined(arrays: Mapping[str, Array], prefix: str, file: Path) -> Array:
    """Join the numbered parts of a variable."""
    parts = [arrays[f"{prefix}{at}"] for at in range(len(arrays)) if f"{prefix}{at}" in arrays]
    if not parts or any(part.ndim != 2 or part.shape[1] != parts[0].shape[1] for part in parts):
        raise InputError(str(file), f"no parts {prefix}0, {prefix}1, ... of one width", "all variables of the LSTM")
    return np.concatenate(parts)


def _softmax(arrays: Mapping[str, Array], order: Array, width: int, file: Path) -> tuple[Array, Array]:
    """Return the rows and the bias of the words with these numbers."""
    words, number = len(order), sum(_PART.fullmatch(name) is not None for name in arrays)
    bias = arrays.get("softmax/b", np.empty(0))
    if not number or bias.ndim != 1 or len(bias) < words:
        raise InputError(
            str(file), f"softmax/W_0, ... in {number} parts, softmax/b of {len(bias):,}", f"{words:,} rows"
        )
    weight = np.empty((words, width), np.float32)
    for at in range(number):
        part = arrays.get(f"softmax/W_{at}", np.empty((0, 0)))
        whole = _array(arrays, f"softmax/W_{at}", (max(-(-words // number), len(part)), width), file)
        mine = np.flatnonzero(order % number == at)
        weight[mine] = whole[order[mine] // number]
    return weight, _array(arrays, "softmax/b", bias.shape, file)[order]


def _array(arrays: Mapping[str, Array], name: str, shape: tuple[int, ...], file: Path) -> Array:
    array = arrays.get(name)
    if array is None or array.shape != shape:
        found = f"no {name}" if array is None else f"{name} of the shape {array.shape}"
        raise InputError(str(file), found, f"{name} of the shape {shape}")
    if array.dtype != np.float32 or not np.isfinite(array).all():
        raise InputError(str(file), f"{name} of the type {array.dtype}, or not finite", "finite 32-bit floats")
    return array


LAYOUT = Layout("The LSTM of Jozefowicz et al. 2016 (lm_1b)", "moses", _convert, pickled=False)
