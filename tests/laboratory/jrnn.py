"""The checkpoint of lm_1b in small: its arrays by their names in TensorFlow, and its vocabulary."""

from pathlib import Path
from typing import Any

import numpy as np

LONG = b"x" * 60
WORDS = [b"the", b"</S>", b"dogs", b"<UNK>", b"bark", b"<S>", b".", b"caf\xe9", "café".encode(), LONG, b"ever\x01"]
# The bytes 0, 2, 3, ... occur in no word.
BEGIN, END_OF_TEXT, WORD, END_OF_WORD, FILLING = 0, 2, 3, 4, 5
WIDTH, CELLS, PARTS, LETTERS = 3, 4, 4, 2
# Widths of filters, and how many; lm_1b, too, has one width twice.
FILTERS = [(1, 2), (3, 3), (3, 2)]
Arrays = dict[str, np.ndarray[Any, Any]]


def arrays() -> Arrays:
    """Random variables by the names of the original; matrices are in parts, and the softmax has more rows than words."""
    random = np.random.default_rng(1)
    total = sum(number for _, number in FILTERS)
    shapes: dict[str, tuple[int, ...]] = {"softmax/b": (12,)}
    shapes |= {f"softmax/W_{part}": (3, WIDTH) for part in range(PARTS)}
    for layer in range(2):
        name = f"lstm/lstm_{layer}"
        shapes |= {f"{name}/W_{part}": (3, 4 * CELLS) for part in range(2)}
        shapes |= {f"{name}/W_P_{part}": (2, WIDTH) for part in range(2)}
        shapes |= {f"{name}/W_{gate}_diag": (CELLS,) for gate in "IFO"}
        shapes[f"{name}/B"] = (4 * CELLS,)
    shapes["char_embedding/W"] = (256, LETTERS)
    for at, (width, number) in enumerate(FILTERS):
        shapes[f"char_embedding/cnn_{at}/kernel"] = (width, LETTERS, 1, number)
        shapes[f"char_embedding/cnn_{at}/b"] = (1, 1, 1, number)
    for place in ("dense_0/gate", "dense_0/tr", "dense_1/gate", "dense_1/tr"):
        shapes |= {f"char_embedding/{place}/W_{part}": (rows, total) for part, rows in enumerate((3, total - 3))}
        shapes[f"char_embedding/{place}/b"] = (1, total)
    shapes |= {"char_embedding/proj/W_0": (5, WIDTH), "char_embedding/proj/W_1": (total - 5, WIDTH)}
    shapes["char_embedding/proj/b"] = (1, WIDTH)
    return {name: random.normal(0, 1, shape).astype(np.float32) for name, shape in shapes.items()}


def written(folder: Path, values: Arrays, words: list[bytes] = WORDS) -> tuple[Path, Path]:
    """Write the archive and the vocabulary to a folder, and return their paths."""
    np.savez(folder / "jrnn.npz", **values)
    (folder / "vocab.txt").write_bytes(b"\n".join([*words[:3], b"!!!MAXTERMID", *words[3:]]) + b"\n")
    return folder / "jrnn.npz", folder / "vocab.txt"
