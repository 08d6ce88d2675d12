"""The LSTM of lm_1b: its numbers against NumPy, its vocabulary, and what is refused."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from syntagm import checkpoints
from syntagm.errors import InputError
from syntagm.models import names
from syntagm.models.jrnn.network import Network

WORDS = [b"the", b"</S>", b"dogs", b"<UNK>", b"bark", b"<S>", b".", b"caf\xe9", "café".encode(), b"ever"]
WIDTH, CELLS, PARTS = 3, 4, 4
Arrays = dict[str, np.ndarray[Any, Any]]


def arrays() -> Arrays:
    """Random variables by the names of the original; matrices are in parts, and the softmax has more rows than words."""
    random = np.random.default_rng(1)
    shapes: dict[str, tuple[int, ...]] = {"embeddings": (len(WORDS), WIDTH), "softmax/b": (12,)}
    shapes |= {f"softmax/W_{part}": (3, WIDTH) for part in range(PARTS)}
    for layer in range(2):
        name = f"lstm/lstm_{layer}"
        shapes |= {f"{name}/W_{part}": (3, 4 * CELLS) for part in range(2)}
        shapes |= {f"{name}/W_P_{part}": (2, WIDTH) for part in range(2)}
        shapes |= {f"{name}/W_{gate}_diag": (CELLS,) for gate in "IFO"}
        shapes[f"{name}/B"] = (4 * CELLS,)
    return {name: random.normal(0, 1, shape).astype(np.float32) for name, shape in shapes.items()}


def imported(folder: Path, values: Arrays, words: list[bytes] = WORDS) -> str:
    np.savez(folder / "jrnn.npz", **values)
    (folder / "vocab.txt").write_bytes(b"\n".join([*words[:3], b"!!!MAXTERMID", *words[3:]]) + b"\n")
    checkpoints.convert("jrnn", folder / "jrnn.npz", folder / "vocab.txt", folder / "model")
    return str(folder / "model")


def oracle(values: Arrays, ids: list[int]) -> np.ndarray[Any, Any]:
    """Log-probabilities of the words of the vocabulary after each word, with the published numbers."""
    values = {name: value.astype(float) for name, value in values.items()}

    def sigmoid(x: Any) -> Any:
        return 1 / (1 + np.exp(-x))

    hidden, cell = np.zeros((2, WIDTH)), np.zeros((2, CELLS))
    rows = []
    for word in ids:
        row = values["embeddings"][word]
        for layer in range(2):
            own = {
                name.split("/")[-1]: value for name, value in values.items() if name.startswith(f"lstm/lstm_{layer}/")
            }
            kernel, projection = np.vstack([own["W_0"], own["W_1"]]), np.vstack([own["W_P_0"], own["W_P_1"]])
            i, g, f, o = np.split(np.concatenate([row, hidden[layer]]) @ kernel + own["B"], 4)
            before = cell[layer].copy()
            cell[layer] = sigmoid(f + 1 + own["W_F_diag"] * before) * before
            cell[layer] += sigmoid(i + own["W_I_diag"] * before) * np.tanh(g)
            row = hidden[layer] = (sigmoid(o + own["W_O_diag"] * cell[layer]) * np.tanh(cell[layer])) @ projection
        logits = np.array(
            [values[f"softmax/W_{k % PARTS}"][k // PARTS] @ row + values["softmax/b"][k] for k in range(10)]
        )
        rows.append(logits - np.log(np.exp(logits).sum()))
    return np.array(rows)


def test_the_numbers_are_those_of_the_equations(tmp_path: Path) -> None:
    values = arrays()
    folder = imported(tmp_path, values)
    for text in ("the dogs bark .", "Cats ever bark café", "."):
        known = [WORDS.index(word.encode()) if word.encode() in WORDS else 3 for word in text.split()]
        ids = [5, *known, 1]
        expected = -oracle(values, ids[:-1])[np.arange(len(ids) - 1), ids[1:]] / math.log(2)
        [answer] = names.load(f"{folder}?eos=yes").score([text])
        np.testing.assert_allclose(answer.bits, expected, rtol=0, atol=1e-5)
        [bare] = names.load(f"{folder}?bos=no").score([text])
        assert np.isnan(bare.bits[0])
    assert names.load(folder).settings["tokens"] == "moses"
    model = names.load(f"{folder}?batch=2")
    [long] = model.read(["the dogs bark ."])
    [whole] = model.score(["the dogs bark ."])
    np.testing.assert_allclose(long.surprisals.bits, whole.bits, rtol=0, atol=1e-5)


def test_the_published_size() -> None:
    with torch.device("meta"):
        network = Network(793_471, 1024, 8192, 2)
    layers = sum(weight.numel() for weight in network.layers.parameters())
    assert layers == 2 * (2048 * 32768 + 32768 + 8192 * 1024 + 3 * 8192)


REFUSED: dict[str, Arrays | None] = {
    r"no lstm/lstm_1/W_O_diag; expected lstm/lstm_1/W_O_diag of the shape \(4,\)": {
        "lstm/lstm_1/W_O_diag": np.empty(0)
    },
    "no parts lstm/lstm_0/W_P_0, .* of one width": {"lstm/lstm_0/W_P_0": np.ones((2, 5), np.float32)},
    r"lstm/lstm_0/W of the shape \(6, 12\); expected lstm/lstm_0/W of the shape \(6, 16\)": {
        f"lstm/lstm_0/W_{part}": np.ones((3, 12), np.float32) for part in range(2)
    },
    r"embeddings of the shape \(9, 3\); expected embeddings of the shape \(10, 3\)": {
        "embeddings": np.ones((9, 3), np.float32)
    },
    "embeddings of the type float64, or not finite": {"embeddings": np.ones((10, 3))},
    "softmax/b of 9; expected 10 rows": {"softmax/b": np.ones(9, np.float32)},
    r"softmax/W_2 of the shape \(2, 3\); expected softmax/W_2 of the shape \(3, 3\)": {
        "softmax/W_2": np.ones((2, 3), np.float32)
    },
    "lstm/lstm_1/B of the type float32, or not finite": {"lstm/lstm_1/B": np.full(16, np.nan, np.float32)},
}


@pytest.mark.parametrize("found", REFUSED)
def test_other_arrays_are_refused(found: str, tmp_path: Path) -> None:
    values = arrays() | (REFUSED[found] or {})
    with pytest.raises(InputError, match=found):
        imported(tmp_path, {name: value for name, value in values.items() if value.size})
    assert not (tmp_path / "model").exists()


def test_other_files_and_vocabularies_are_refused(tmp_path: Path) -> None:
    for symbol in (b"<S>", b"</S>", b"<UNK>"):
        with pytest.raises(InputError, match=f"no word {symbol.decode()}"):
            imported(tmp_path, arrays(), [b"x" if word == symbol else word for word in WORDS])
    for values in ({}, {"lstm/lstm_1/B": np.ones(16, np.float32)}):
        with pytest.raises(InputError, match="; expected the variables of an LSTM"):
            imported(tmp_path, values)
    np.savez(tmp_path / "pickled.npz", embeddings=np.array([{"a": 1}], object))
    (tmp_path / "text.npz").write_text("hello")
    np.save(tmp_path / "single.npy", np.ones(3))
    for name in ("pickled.npz", "text.npz", "none.npz", "single.npy"):
        with pytest.raises(InputError, match=f"{name}: can't be read"):
            checkpoints.convert("jrnn", tmp_path / name, tmp_path / "vocab.txt", tmp_path / "model")
