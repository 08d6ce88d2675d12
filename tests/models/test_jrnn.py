"""The LSTM of lm_1b: its numbers against NumPy, its vocabulary, and what is refused."""

import json
import math
import re
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from laboratory.jrnn import (
    BEGIN,
    CELLS,
    END_OF_TEXT,
    END_OF_WORD,
    FILLING,
    FILTERS,
    LONG,
    PARTS,
    WIDTH,
    WORD,
    WORDS,
    Arrays,
    arrays,
    written,
)  # fmt: skip

from syntagm.cli import main
from syntagm.core import InputError, ModelError, seal
from syntagm.models import JrnnNetwork, Letters, Vocabulary, checkpoints, names
from syntagm.models.jrnn.model import LENGTH, Size, Symbols, symbols


def imported(folder: Path, values: Arrays, words: list[bytes] = WORDS) -> str:
    checkpoints.convert("jrnn", *written(folder, values, words), folder / "model")
    return str(folder / "model")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def embedded(values: Arrays, word: bytes | None) -> np.ndarray[Any, Any]:
    """The embedding of a word, by the letters; None: the beginning of a text."""
    inner = bytes([BEGIN]) if word is None else word[:48]
    letters = [WORD, *inner, END_OF_WORD]
    letters += [FILLING] * (50 - len(letters))
    found = []
    for at, (width, number) in enumerate(FILTERS):
        kernel, bias = values[f"char_embedding/cnn_{at}/kernel"], values[f"char_embedding/cnn_{at}/b"].ravel()
        for filter in range(number):
            sums = [
                sum(
                    values["char_embedding/W"][letters[place + step]] @ kernel[step, :, 0, filter]
                    for step in range(width)
                )
                for place in range(50 - width + 1)
            ]
            found.append(max(0.0, max(sums) + bias[filter]))
    row = np.array(found)
    for layer in range(2):
        name = f"char_embedding/dense_{layer}"
        gate, new = (
            row @ np.vstack([values[f"{name}/{part}/W_0"], values[f"{name}/{part}/W_1"]])
            + values[f"{name}/{part}/b"][0]
            for part in ("gate", "tr")
        )
        share = sigmoid(gate - 2)
        row = share * np.maximum(new, 0) + (1 - share) * row
    projection = np.vstack([values["char_embedding/proj/W_0"], values["char_embedding/proj/W_1"]])
    return np.asarray(row @ projection + values["char_embedding/proj/b"][0])


def oracle(values: Arrays, words: list[bytes | None]) -> np.ndarray[Any, Any]:
    """Log-probabilities of the words of the vocabulary after each word, with the published numbers."""
    values = {name: value.astype(float) for name, value in values.items()}
    hidden, cell = np.zeros((2, WIDTH)), np.zeros((2, CELLS))
    rows = []
    for word in words:
        row = embedded(values, word)
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
            [values[f"softmax/W_{k % PARTS}"][k // PARTS] @ row + values["softmax/b"][k] for k in range(len(WORDS))]
        )
        rows.append(logits - np.log(np.exp(logits).sum()))
    return np.array(rows)


def expected(values: Arrays, text: str) -> np.ndarray[Any, Any]:
    """Surprisals of the words of a text and of its end. An unknown word is predicted as <UNK>, and read by its letters."""
    words = [word.encode() for word in text.split()]
    targets = [WORDS.index(word) if word in WORDS else 3 for word in words] + [1]
    rows = oracle(values, [None, *words])
    return np.asarray(-rows[np.arange(len(targets)), targets] / math.log(2))


TEXTS = [
    "the dogs bark .",
    "Cats ever bark café",
    ".",
    f"the {LONG.decode()} bark",
    "a <UNK> or an <unk> , é \U0001f468 .",
]


@pytest.mark.slow
def test_the_numbers_are_those_of_the_equations(tmp_path: Path) -> None:
    values = arrays()
    folder = imported(tmp_path, values)
    # One by one, and together.
    [*several] = names.load(f"{folder}?eos=yes&tokens=blanks").score(TEXTS)
    for text, answer in zip(TEXTS, several, strict=True):
        numbers = expected(values, text)
        np.testing.assert_allclose(answer.bits, numbers, rtol=0, atol=1e-5)
        [alone] = names.load(f"{folder}?tokens=blanks&sharing=no").score([text])
        np.testing.assert_allclose(alone.bits, numbers[:-1], rtol=0, atol=1e-5)
        assert alone.in_vocabulary.tolist() == [word.encode() in WORDS and word[0] != "<" for word in text.split()]
    assert names.load(folder).settings["tokens"] == "moses"
    assert (names.load(f"{folder}?eos=yes").bos, names.load(f"{folder}?eos=yes").eos) == ("<S>", "</S>")
    model = names.load(f"{folder}?batch=2")
    [long] = model.read(["the cats bark ."])
    [whole] = model.score(["the cats bark ."])
    [bare] = names.load(f"{folder}?bos=no").score(["the cats bark ."])
    np.testing.assert_allclose(long.surprisals.bits, whole.bits, rtol=0, atol=1e-5)
    assert np.isnan(bare.bits).tolist() == [True, False, False, False]


@pytest.mark.slow
def test_the_whole_way_by_command_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, vocabulary = written(tmp_path, values := arrays())
    line = ["import", "jrnn", str(file), "--vocabulary", str(vocabulary), "-o", str(tmp_path / "jrnn")]
    assert main(line) == 0
    assert capsys.readouterr().out == (
        f"{tmp_path}/jrnn: 2 layers of 4 cells, projected to 3, 7 filters of letters, 11 words, "
        f"{sum(value.size for value in values.values()) - 4:,} parameters, tokens=moses\n"
    )
    (tmp_path / "texts.txt").write_text("the dogs bark .\nCats bark .\n")
    out = tmp_path / "bits.csv"
    assert main(["score", str(tmp_path / "jrnn"), "--file", str(tmp_path / "texts.txt"), "-o", str(out)]) == 0
    rows = [row.split(",") for row in out.read_text().splitlines()]
    bits = [float(row[rows[0].index("bits")]) for row in rows[1:]]
    numbers = [*expected(values, "the dogs bark .")[:-1], *expected(values, "Cats bark .")[:-1]]
    np.testing.assert_allclose(bits, numbers, rtol=0, atol=1e-5)
    assert main(["conform", str(tmp_path / "jrnn")]) == 0
    assert "FAIL" not in capsys.readouterr().out


def test_the_script_of_the_page_makes_the_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parts of the published checkpoint: letters, LSTM, parts 0 to 7 of the softmax, its bias."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "guide" / "published.md").read_text(encoding="utf-8")
    [script] = re.findall(r"^    import numpy as np\n(?:    .*\n|\n)+", page, re.MULTILINE)
    values = arrays()
    begins = {"char-embedding": "char_embedding/", "lstm": "lstm/", "softmax8": "softmax/b"}

    class Reader:
        def __init__(self, path: str) -> None:
            part = path.removeprefix("data/ckpt-")
            self._begin = begins.get(part, part.replace("softmax", "softmax/W_"))

        def get_variable_to_shape_map(self) -> dict[str, tuple[int, ...]]:
            return {name: value.shape for name, value in values.items() if name.startswith(self._begin)}

        def get_tensor(self, name: str) -> np.ndarray[Any, Any]:
            return values[name]

    for module in ("tensorflow", "tensorflow.compat", "tensorflow.compat.v1", "tensorflow.compat.v1.train"):
        monkeypatch.setitem(sys.modules, module, SimpleNamespace(NewCheckpointReader=Reader))  # type: ignore[arg-type]
    monkeypatch.chdir(tmp_path)
    exec(textwrap.dedent(script), {})
    with np.load("jrnn.npz") as made:
        assert {name: made[name].tolist() for name in made.files} == {
            name: value.tolist() for name, value in values.items()
        }


def test_the_letters_of_words() -> None:
    assert symbols(WORDS) == Symbols(BEGIN, END_OF_TEXT, WORD, END_OF_WORD, FILLING)
    assert symbols([bytes(range(252))]) is None
    letters = Letters(Vocabulary(("</s>", "<unk>", "caf\udce9", "x" * 60)), Symbols(0, 2, 3, 4, 5))
    numbers = [0, 2, 3, letters.number("é"), letters.number("z" * 49), letters.number("é")]
    rows = [bytes(row.tolist()) for row in letters.read(np.array(numbers))]
    inner = [b"\0", b"caf\xe9", b"x" * 48, b"\xc3\xa9", b"z" * 48, b"\xc3\xa9"]
    assert rows == [(b"\3" + word + b"\4").ljust(LENGTH, b"\5") for word in inner]


def test_numbers_of_unknown_words_depend_on_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = Vocabulary(("</s>", "<unk>"))
    one, other = (Letters(vocabulary, Symbols(0, 1, 2, 3, 4)) for _ in range(2))
    words = [f"w{number}" for number in range(1000)]
    assert [one.number(word) for word in words] == [*reversed([other.number(word) for word in reversed(words)])]
    assert len({one.number(word) for word in words}) == 1000
    # Words with the same hash are different words.
    monkeypatch.setattr("syntagm.models.jrnn.model._BITS", 3)
    few = Letters(vocabulary, Symbols(0, 1, 2, 3, 4))
    numbers = [few.number(word) for word in words]
    assert numbers == [few.number(word) for word in words]
    assert [bytes(row[1:5].tolist()) for row in few.read(np.array(numbers[90:92]))] == [b"w90\3", b"w91\3"]


def test_the_published_size() -> None:
    """1.04 billion parameters (Jozefowicz et al. 2016, lm_1b's page), of which 4,096 filters in the widths of the checkpoint."""
    filters = ((1, 32), (2, 32), (3, 64), (4, 128), (5, 256), (6, 512), (7, 1024), (7, 2048))
    size = Size(1024, 8192, 2, 16, filters, 2)
    with torch.device("meta"):
        network = JrnnNetwork(size, Letters(Vocabulary(("</s>", "<unk>")), Symbols(0, 1, 2, 3, 4)))
    layers = sum(weight.numel() for weight in network.layers.parameters())
    assert layers == 2 * (2048 * 32768 + 32768 + 8192 * 1024 + 3 * 8192)
    characters = sum(weight.numel() for weight in network.characters.parameters())
    assert round((layers + characters + 800_000 * 1025) / 1e9, 2) == 1.04


DESCRIPTIONS = {
    "filters": [None, [], [[1]], [[51, 2]], [[1, 0]], [1, 2], [["a", 1]]],
    "symbols": [[0, 1, 2, 3], [0, 1, 2, 3, 256], [0, 1, 2, 3, 3], "abcde"],
    "letters": [0, 2.0],
    "highways": [0, 10**9],
}


@pytest.mark.parametrize("key", DESCRIPTIONS)
def test_descriptions_of_other_networks_are_refused(key: str, tmp_path: Path) -> None:
    folder = Path(imported(tmp_path, arrays()))
    whole = json.loads((folder / "model.json").read_text())
    for value in DESCRIPTIONS[key]:
        (folder / "model.json").write_text(json.dumps(whole | {key: value}))
        seal.renew(folder)
        with pytest.raises(ModelError, match=r"model.json: |model.safetensors: .* arrays"):
            names.load(str(folder))


REFUSED: dict[str, Arrays | None] = {
    r"no lstm/lstm_1/W_O_diag; expected lstm/lstm_1/W_O_diag of the shape \(4,\)": {
        "lstm/lstm_1/W_O_diag": np.empty(0)
    },
    "no parts lstm/lstm_0/W_P_0, .* of one width": {"lstm/lstm_0/W_P_0": np.ones((2, 5), np.float32)},
    r"lstm/lstm_0/W of the shape \(6, 12\); expected lstm/lstm_0/W of the shape \(6, 16\)": {
        f"lstm/lstm_0/W_{part}": np.ones((3, 12), np.float32) for part in range(2)
    },
    "no char_embedding/W; expected the variables of the network over letters": {"char_embedding/W": np.empty(0)},
    "no char_embedding/dense_0/gate/b; expected the variables": {
        f"char_embedding/dense_{layer}/gate/b": np.empty(0) for layer in range(2)
    },
    r"char_embedding/W of the shape \(255, 2\); expected char_embedding/W of the shape \(256, 1\)": {
        "char_embedding/W": np.ones((255, 2), np.float32)
    },
    r"cnn_1/kernel of the shape \(51, 2, 1, 3\); expected .* of the shape \(50, 2, 1, 3\)": {
        "char_embedding/cnn_1/kernel": np.ones((51, 2, 1, 3), np.float32)
    },
    r"cnn_1/kernel of the shape \(3,\); expected .* of the shape \(3, 2, 1, 0\)": {
        "char_embedding/cnn_1/kernel": np.ones(3, np.float32)
    },
    r"cnn_2/b of the shape \(3,\); expected .* of the shape \(2,\)": {"char_embedding/cnn_2/b": np.ones(3, np.float32)},
    r"dense_1/tr/W of the shape \(8, 7\); expected .* of the shape \(7, 7\)": {
        "char_embedding/dense_1/tr/W_1": np.ones((5, 7), np.float32)
    },
    "no parts char_embedding/proj/W_0, .* of one width": {"char_embedding/proj/W_0": np.ones((5, 2), np.float32)},
    "char_embedding/dense_0/gate/b of the type float64, or not finite": {
        "char_embedding/dense_0/gate/b": np.ones((1, 7))
    },
    "softmax/b of 9; expected 11 rows": {"softmax/b": np.ones(9, np.float32)},
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
    for symbol in (b"</S>", b"<UNK>"):
        with pytest.raises(InputError, match=f"no word {symbol.decode()}"):
            imported(tmp_path, arrays(), [b"x" if word == symbol else word for word in WORDS])
    with pytest.raises(InputError, match="fewer than 5 bytes that no word contains"):
        imported(tmp_path, arrays(), [*WORDS[:-1], bytes(byte for byte in range(254) if byte not in b"\n\r")])
    for values in ({}, {"lstm/lstm_1/B": np.ones(16, np.float32)}):
        with pytest.raises(InputError, match="; expected the variables of an LSTM"):
            imported(tmp_path, values)
    np.savez(tmp_path / "pickled.npz", embeddings=np.array([{"a": 1}], object))
    (tmp_path / "text.npz").write_text("hello")
    np.save(tmp_path / "single.npy", np.ones(3))
    for name in ("pickled.npz", "text.npz", "none.npz", "single.npy"):
        with pytest.raises(InputError, match=f"{name}: can't be read"):
            checkpoints.convert("jrnn", tmp_path / name, tmp_path / "vocab.txt", tmp_path / "model")
