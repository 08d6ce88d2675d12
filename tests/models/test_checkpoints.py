"""Imported checkpoints: their numbers, their folders, and what is refused."""

import json
import math
import pickle
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from laboratory import torch_files as written
from torch import nn

from syntagm.cli import main
from syntagm.core import InputError, ModelError, UsageError, torch_file
from syntagm.models import LstmNetwork, checkpoints, names

MODULE = """
from torch import nn

class RNNModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.2)
        self.encoder = nn.Embedding(13, 3)
        self.rnn = nn.LSTM(3, 4, 2, dropout=0.2)
        self.decoder = nn.Linear(4, 13)
        self.rnn_type, self.nhid, self.nlayers = "LSTM", 4, 2
"""
TEXTS = ["the dogs bark .", "No dog's ever can't bark .", "zebras"]


@pytest.fixture
def vocabulary(tmp_path: Path) -> Path:
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(written.WORDS) + "\n", encoding="utf-8")
    return path


def bits(values: written.Weights, words: list[str]) -> list[float]:
    """Surprisals after <eos>, by plain PyTorch with the published order of words."""
    lstm = nn.LSTM(3, 4, 2)
    lstm.load_state_dict({key[4:]: torch.from_numpy(value) for key, value in values.items() if key.startswith("rnn.")})
    ids = [written.WORDS.index(word if word in written.WORDS else "<unk>") for word in ["<eos>", *words]]
    with torch.no_grad():
        outputs, _ = lstm(torch.from_numpy(values["encoder.weight"][ids])[:, None])
    logits = outputs[:, 0].numpy().astype(float) @ values["decoder.weight"].T + values["decoder.bias"]
    totals = np.log(np.exp(logits).sum(1))
    return [(totals[at] - logits[at, word]) / math.log(2) for at, word in enumerate(ids[1:])]


def by_hand(path: Path, values: written.Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    path.write_bytes(written.grnn(values))


def by_torch(
    path: Path, values: written.Weights, monkeypatch: pytest.MonkeyPatch, archive: bool, state: bool = False
) -> None:
    (path.parent / "code").mkdir()
    (path.parent / "code" / "model.py").write_text(MODULE)
    monkeypatch.syspath_prepend(path.parent / "code")
    monkeypatch.delitem(sys.modules, "model", raising=False)
    from model import RNNModel  # type: ignore[import-not-found]

    network = RNNModel()
    network.load_state_dict({key: torch.from_numpy(value) for key, value in values.items()})
    torch.save(network.state_dict() if state else network, path, _use_new_zipfile_serialization=archive)
    monkeypatch.delitem(sys.modules, "model")


WRITERS: dict[str, Callable[[Path, written.Weights, pytest.MonkeyPatch], None]] = {
    "by hand": by_hand,
    "legacy": lambda *given: by_torch(*given, archive=False),
    "zip": lambda *given: by_torch(*given, archive=True),
    "weights only": lambda *given: by_torch(*given, archive=True, state=True),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_an_imported_lstm_has_the_numbers_of_the_checkpoint(
    writer: str, tmp_path: Path, vocabulary: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    values = written.weights()
    WRITERS[writer](tmp_path / "model.pt", values, monkeypatch)
    line = ["import", "grnn", str(tmp_path / "model.pt"), "--vocabulary", str(vocabulary), "-o", str(tmp_path / "grnn")]
    assert main([*line, "--allow-pickle"]) == 0
    assert "model" not in sys.modules
    model = names.load(str(tmp_path / "grnn"))
    assert model.settings["tokens"] == "treetagger"
    expected = [["the", "dogs", "bark", "."], ["No", "dog", "'s", "ever", "ca", "n't", "bark", "."], ["zebras"]]
    for answer, words in zip(model.score(TEXTS), expected, strict=True):
        np.testing.assert_allclose(answer.bits, bits(values, words), rtol=0, atol=1e-5)
        assert answer.in_vocabulary.tolist() == [word in written.WORDS for word in words]
    assert capsys.readouterr().out == (
        f"{tmp_path}/grnn: 2 layers of 4 units, embeddings of 3, 13 words, 408 parameters, tokens=treetagger\n"
    )
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "grnn").iterdir()}
    assert main([*line, "--allow-pickle"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/grnn: imported already\n"
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "grnn").iterdir()} == before


def convert(tmp_path: Path, vocabulary: Path, content: bytes | None = None, tokens: str = "") -> str:
    if content is not None:
        (tmp_path / "model.pt").write_bytes(content)
    return checkpoints.convert("grnn", tmp_path / "model.pt", vocabulary, tmp_path / "grnn", tokens, True)


def test_tied_weights_are_found(tmp_path: Path, vocabulary: Path) -> None:
    values = dict(written.weights(embedding=4))
    values["decoder.weight"] = values["encoder.weight"]
    assert "(tied)" in convert(tmp_path, vocabulary, written.grnn(values))
    assert json.loads((tmp_path / "grnn" / "model.json").read_text())["tied"] is True
    names.load(str(tmp_path / "grnn"))


def test_the_published_size() -> None:
    """Gulordava et al.: 50,001 words, two layers of 650, not tied."""
    with torch.device("meta"):
        assert sum(weight.numel() for weight in LstmNetwork(50_001, 650, 650, 2).parameters()) == 71_821_701


def test_a_pickle_needs_permission(tmp_path: Path, vocabulary: Path) -> None:
    (tmp_path / "model.pt").write_bytes(written.grnn(written.weights()))
    with pytest.raises(UsageError, match=r"model.pt: a pickled checkpoint; expected the permission .* --allow-pickle"):
        checkpoints.convert("grnn", tmp_path / "model.pt", vocabulary, tmp_path / "grnn")
    assert not (tmp_path / "grnn").exists()


class Hostile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        import os

        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("archive", [True, False])
def test_hostile_pickles_are_refused_by_name(archive: bool, tmp_path: Path, vocabulary: Path) -> None:
    torch.save(
        {"encoder.weight": torch.zeros(2), "x": Hostile(tmp_path / "ran")}, tmp_path / "model.pt",
        _use_new_zipfile_serialization=archive,
    )  # fmt: skip
    with pytest.raises(
        InputError, match=r"model.pt: the name posix\.system; expected tensors.* can run arbitrary code"
    ):
        convert(tmp_path, vocabulary)
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "grnn").exists()


def big() -> bytes:
    return written.tensor("1", 4, [1000, 1000], strides=[0, 0])


HOSTILE = {
    "the name os.system": written.name("os", "system"),
    "the name builtins.eval": written.text("builtins") + written.text("eval") + b"\x93",
    "the name model.RNNModel.__init__": written.name("model", "RNNModel.__init__"),
    "the name torch.nn.functional.linear": written.name("torch.nn.functional", "linear"),
    r"the instruction INST \(os.system\)": b"(ios\nsystem\n",
    "the instruction OBJ": b"(" + written.name("torch.nn.modules.x", "X") + b"o",
    "the instruction EXT1": b"\x82\x01",
    "the persistent object": written.row(written.text("other"), b"N") + b"Q",
    "a storage of -1 numbers": written.storage("1", -1),
    r"a tensor of the shape \(1000, 1000\) in a storage of 4 numbers": big(),
    r"a tensor of the shape \(2,\) in a storage of 4": written.tensor("1", 4, [2], offset=3),
    r"a tensor of the shape \(1, 1\) with the strides \(1,\)": written.tensor("1", 4, [1, 1], strides=[1]),
    "the storage '1' with two types or sizes": written.row(written.storage("1", 4), written.storage("1", 5)),
    "a call of a str": written.call(written.text("os")),
    "a call of torch.Size with other arguments": written.call(written.name("torch", "Size"), b"N"),
    "a tuple as the key of a dictionary": b"}" + written.row(b"N") + b"Ns",
    "a nonetype in the place of a dictionary": b"N" + b"NNs",
    "a nonetype in the place of a list": b"NNa",
    "attributes of a nonetype": b"N}b",
    r"damaged \(too few values\)": b"\x86",
    r"damaged \(5\)": b"h\x05",
}


@pytest.mark.parametrize("found", HOSTILE)
def test_instructions_and_values_outside_the_table_are_refused(found: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(written.legacy(HOSTILE[found], {"1": np.zeros(4, np.float32)}))
    with pytest.raises(InputError, match=found):
        torch_file.read(path)


def test_values_that_contain_themselves_are_refused(tmp_path: Path) -> None:
    inside = written.plain({"_modules": b"}" + b"(" + written.text("x") + b"h\x00u"})
    module = written.name("torch.nn.modules.x", "X") + b")\x81q\x00" + inside + b"b"
    (tmp_path / "x.pt").write_bytes(written.legacy(module, {}))
    value = torch_file.read(tmp_path / "x.pt")
    with pytest.raises(InputError, match=r"modules in x\.x\..* more than 32 deep"):
        torch_file.tensors(value, tmp_path / "x.pt")


def grnn_without(key: str) -> bytes:
    return written.grnn({name: value for name, value in written.weights().items() if name != key})


def changed(key: str, value: float) -> bytes:
    values = dict(written.weights())
    values[key] = np.full_like(values[key], value)
    return written.grnn(values)


WHOLE = written.grnn(written.weights())
REFUSED = {
    "not a PyTorch file; expected a ZIP archive or a legacy file": b"hello",
    "not a PyTorch file; .* downloaded completely": pickle.dumps({"a": 1}),
    "numbers, [0-9,]+ bytes left; expected": WHOLE[:-1],
    "2 bytes after the last storage": WHOLE + b"xx",
    r"damaged \(": WHOLE[:300],
    "a list of storages that differs": written.legacy(written.plain({}), {"1": np.zeros(1, np.float32)}),
    "a network of the type 'GRU'; expected 'LSTM'": written.grnn(written.weights(), "GRU"),
    "no tensors; expected the weights of an LSTM": written.legacy(written.plain({}), {}),
    "a str; expected a module, or a dictionary": written.legacy(written.text("x"), {}),
    "decoder.bias is missing; expected 11 weights": grnn_without("decoder.bias"),
    r"encoder.weight of the shape \(12, 3\); expected \(13, 3\), with 13 words of .*vocab.txt": written.grnn(
        written.weights(12)
    ),
    "decoder.bias has numbers that are not finite": changed("decoder.bias", math.nan),
}


@pytest.mark.parametrize("found", REFUSED)
def test_bad_checkpoints_are_refused_in_one_line(found: str, tmp_path: Path, vocabulary: Path) -> None:
    with pytest.raises(InputError, match=found) as caught:
        convert(tmp_path, vocabulary, REFUSED[found])
    assert "\n" not in str(caught.value)
    assert str(tmp_path / "model.pt") in str(caught.value)
    assert not (tmp_path / "grnn").exists()


def test_bad_archives_are_refused(tmp_path: Path, vocabulary: Path) -> None:
    torch.save({"x": torch.zeros(5)}, tmp_path / "good.pt")
    with zipfile.ZipFile(tmp_path / "good.pt") as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    [numbers] = [entry for entry in entries if "/data/" in entry]
    [order] = [entry for entry in entries if entry.endswith("byteorder")]
    for found, changes, compression in (
        ("compressed content", {}, zipfile.ZIP_DEFLATED),
        ("the storage '0' is of 3 bytes; expected 20 bytes", {numbers: b"abc"}, zipfile.ZIP_STORED),
        ("big-endian", {order: b"big"}, zipfile.ZIP_STORED),
        ("2 files data.pkl", {"other/data.pkl": b""}, zipfile.ZIP_STORED),
    ):
        with zipfile.ZipFile(tmp_path / "model.pt", "w", compression) as archive:
            for entry, content in (entries | changes).items():
                archive.writestr(entry, content)
        with pytest.raises(InputError, match=found):
            convert(tmp_path, vocabulary)
    content = bytearray((tmp_path / "good.pt").read_bytes())
    content[-30:] = b"x" * 30
    with pytest.raises(InputError, match="damaged"):
        convert(tmp_path, vocabulary, bytes(content))
    with pytest.raises(InputError, match="can't be read"):
        checkpoints.convert("grnn", tmp_path / "none.pt", vocabulary, tmp_path / "grnn", "", True)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int64, torch.bool])
@pytest.mark.parametrize("archive", [True, False])
def test_numbers_of_all_types(kind: torch.dtype, archive: bool, tmp_path: Path) -> None:
    table = torch.arange(12).reshape(3, 4).to(kind)
    torch.save({"all": table, "part": table[1:, ::2].T}, tmp_path / "x.pt", _use_new_zipfile_serialization=archive)
    read = torch_file.tensors(torch_file.read(tmp_path / "x.pt"), tmp_path / "x.pt")
    for name, expected in {"all": table, "part": table[1:, ::2].T}.items():
        np.testing.assert_array_equal(
            read[name].array(), expected.float().numpy() if kind.itemsize == 2 else expected.numpy()
        )


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (written.WORDS[:-1], r"encoder.weight of the shape \(13, 3\); expected \(12, 3\), with 12 words"),
        ([*written.WORDS[:-1], "the"], "the word 'the' twice"),
        ([*written.WORDS[:-1], "</s>"], "the word '</s>' twice, or as a symbol"),
        (["x" if word == "<unk>" else word for word in written.WORDS], "no word <unk>"),
        (["x" if word == "<eos>" else word for word in written.WORDS], "no word <eos>"),
        ([], "no word <eos>; expected a vocabulary of 0 words"),
    ],
)
def test_bad_vocabularies_are_refused(words: list[str], found: str, tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text(" ".join(words))
    with pytest.raises(InputError, match=found):
        convert(tmp_path, tmp_path / "vocab.txt", WHOLE)


def test_folders_with_something_else_are_left_alone(tmp_path: Path, vocabulary: Path) -> None:
    (tmp_path / "grnn").mkdir()
    convert(tmp_path, vocabulary, WHOLE)
    with pytest.raises(UsageError, match=r"the import of another checkpoint, or with other settings \(import.json\)"):
        convert(tmp_path, vocabulary, WHOLE, "moses")
    with pytest.raises(UsageError, match="tokens: 'penn'; expected one of auto"):
        convert(tmp_path, vocabulary, WHOLE, "penn")
    # An unfinished import is done again; a damaged one is named.
    (tmp_path / "grnn" / "seal.json").unlink()
    (tmp_path / "grnn" / "model.json").unlink()
    convert(tmp_path, vocabulary, WHOLE)
    names.load(str(tmp_path / "grnn"))
    (tmp_path / "grnn" / "model.json").write_text("{}")
    with pytest.raises(ModelError, match="damaged or edited"):
        convert(tmp_path, vocabulary, WHOLE)
    (tmp_path / "grnn" / "import.json").unlink()
    with pytest.raises(UsageError, match="grnn: something else; expected a new or empty folder"):
        convert(tmp_path, vocabulary, WHOLE)
