"""The family ngram: folders, options, unknown words, blanks; training that stops, fails and goes on; KenLM's own answers."""

import errno
import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ngrams_for_tests import TOY, trained
from safetensors.numpy import load_file, save_file

from syntagm.cli import main
from syntagm.core import InputError, ModelError, Progress, RunError, UsageError, lock, seal
from syntagm.models import BackOff, Gap, KenLM, Tokenisation, arpa, names, splitting
from syntagm.models.ngram import model as ngram
from syntagm.training import NgramSettings, changed
from syntagm.training.ngram.train import train

FILES = {"model.json", "model.safetensors", "vocabulary.txt", "training.json", "seal.json"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    trained(place := tmp_path_factory.mktemp("ngram"), order=3)
    return place / "model"


def bits(model: Any, text: str) -> list[float]:
    [answer] = model.score([text])
    return list(answer.bits)


def test_the_folder(folder: Path) -> None:
    assert {path.name for path in folder.iterdir()} == FILES
    head = json.loads((folder / "model.json").read_text())
    assert (head["family"], head["order"], head["tokens"], head["ngrams"]) == ("ngram", 3, "blanks", [25, 58, 88])
    made = json.loads((folder / "training.json").read_text())
    # 128 words without the ends of 18 sentences.
    assert (made["words"], made["sentences"]) == (128, 18)
    assert made["corpus"][0]["bytes"] == len(TOY)


def test_an_arpa_file_of_it_gives_the_same_answers(folder: Path, tmp_path: Path) -> None:
    model = ngram.load(str(folder))
    assert isinstance(model, BackOff)
    arpa.write(model.ngrams, tmp_path / "toy.arpa")
    other = ngram.load(str(tmp_path / "toy.arpa"))
    for text in ("the author laughs", "zebras near the door .", ""):
        assert bits(model, text) == bits(other, text)
    assert model.fingerprint != other.fingerprint
    assert other.name.startswith("ngram:toy.arpa@")


def test_options(folder: Path, tmp_path: Path) -> None:
    plain, ended = ngram.load(str(folder)), ngram.load(str(folder), eos="yes")
    assert bits(ended, "the author")[:2] == bits(plain, "the author")
    assert len(bits(ended, "the author")) == 3
    assert plain.fingerprint != ended.fingerprint
    lower = ngram.load(str(folder), case="lower")
    assert bits(lower, "The AUTHOR") == bits(plain, "the author")
    assert list(next(iter(plain.score(["The AUTHOR"]))).in_vocabulary) == [False, False]
    for options in ({"tokens": "treebank"}, {"unknown": "berkeley"}, {"eos": "maybe"}, {"oes": "yes"}):
        with pytest.raises(UsageError):
            ngram.load(str(folder), **options)
    trained(tmp_path, TOY.replace(" .", "."), tokens="treebank")
    divided = ngram.load(str(tmp_path / "model"))
    assert bits(divided, "the author laughs.") == bits(plain, "the author laughs .")


def test_classes_of_unknown_words(tmp_path: Path) -> None:
    model = trained(tmp_path, TOY, order=2, classes="berkeley", threshold=2, discount_fallback=True)
    # `have` and other words stand there once.
    assert "UNK-LC" in model.vocabulary.words
    [answer] = model.score(["the zebra laughs"])
    [same] = model.score(["the unicorn laughs"])
    assert answer.in_vocabulary.tolist() == [True, False, True, True]
    assert answer.bits.tolist() == same.bits.tolist()
    number = model.vocabulary.words.index("UNK-LC")
    the = model.ngrams.distribution(np.array([model.vocabulary.words.index("the")], np.int32))
    assert answer.bits[1] == -the[number] * np.log2(10.0)


def test_special_symbols_in_a_text_are_refused(folder: Path) -> None:
    for symbol in ("<s>", "</s>"):
        with pytest.raises(ModelError, match="special symbol"):
            bits(ngram.load(str(folder)), f"the {symbol} author")
        with pytest.raises(ModelError, match="special symbol"):
            bits(ngram.load(str(folder), case="lower"), f"the {symbol.upper()} author")
        for blank in (Gap(f"the {symbol} ", "", ("author",)), Gap("the ", "", ("author", symbol))):
            with pytest.raises(ModelError, match="special symbol"):
                list(ngram.load(str(folder)).fill([blank]))
    [answer] = ngram.load(str(folder)).score(["the <unk>"])
    assert answer.in_vocabulary.tolist() == [True, False]


@pytest.mark.parametrize("eos", ["yes", "no"])
def test_texts_together_are_each_as_alone(folder: Path, eos: str) -> None:
    model = ngram.load(str(folder), eos=eos)
    texts = ["the author laughs", "", "  the\tauthor ", "the  door", "zebra <s>x a</s>", " "]
    for text, answer in zip(texts, model.score(texts), strict=True):
        [alone] = model.score([text])
        words, starts = splitting.words(text)
        assert answer.starts.tolist() == starts.tolist() + [len(text)] * (eos == "yes")
        assert answer.bits.tolist() == alone.bits.tolist()
        assert answer.in_vocabulary.tolist() == [word in ("the", "author", "laughs", "door") for word in words] + [
            True
        ] * (eos == "yes")


def test_blanks(folder: Path) -> None:
    model = ngram.load(str(folder), eos="yes")
    candidates = ("laughs", "laugh", "has laughed", "zebra")
    [fill] = model.fill([Gap("the author ", " .", candidates)])
    assert fill.bits.tolist() == [sum(bits(model, f"the author {word} .")[2:-2]) for word in candidates]
    # `above` by adding up: all words likelier than the candidate after `<s> the author`.
    assert isinstance(model, BackOff)
    shares = 10 ** model.ngrams.distribution(
        np.array([model.ngrams.start, *model.vocabulary.ids(["the", "author"])], np.int32)
    )
    for index in (0, 1, 3):
        own = 2 ** -fill.bits[index]
        assert fill.above[index] == pytest.approx(math.fsum(p for p in shares if p > own * (1 + 1e-12)), abs=1e-9)
        assert fill.below[index] == pytest.approx(math.fsum(p for p in shares if p < own * (1 - 1e-12)), abs=1e-9)
    assert np.isnan(fill.above[2])
    assert np.isnan(fill.below[2])
    assert fill.in_vocabulary.tolist() == [True, True, True, False]
    [first] = model.fill([Gap("", "author laughs", ("the", "no"))])
    assert first.bits.tolist() == [bits(model, f"{word} author laughs")[0] for word in ("the", "no")]
    # What stands after the blank makes no difference; without white space before it there is no word.
    [other] = model.fill([Gap("the author ", ".", candidates)])
    assert other.bits.tolist() == fill.bits.tolist()
    with pytest.raises(ModelError, match="is no separate word"):
        list(model.fill([Gap("the author", " .", candidates)]))


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.txt", "model.json"])
def test_damage(tmp_path: Path, name: str) -> None:
    trained(tmp_path, order=2)
    path = tmp_path / "model" / name
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)
    with pytest.raises(ModelError, match="model"):
        ngram.load(str(tmp_path / "model"))
    path.unlink()
    with pytest.raises(ModelError, match=r"can't be read|no such file"):
        ngram.load(str(tmp_path / "model"))


def of_another_type(values: Any) -> Any:
    return values.astype(np.float64)


def not_a_number(values: Any) -> Any:
    return np.where(np.arange(len(values)) == 2, np.float32("nan"), values)


def above_1(values: Any) -> Any:
    return values + np.float32(3)


def a_table(values: Any) -> Any:
    return values[:, None]


@pytest.mark.parametrize(
    ("array", "change", "found"),
    [
        ("probabilities.1", of_another_type, "unexpected type or shape"),
        ("firsts.2", of_another_type, "unexpected type or shape"),
        ("probabilities.2", a_table, "unexpected type or shape"),
        ("probabilities.1", not_a_number, "probabilities"),
        ("probabilities.2", above_1, "probabilities above 1"),
        ("backoffs.1", not_a_number, "back-off weights"),
    ],
)
def test_arrays_that_are_no_model(tmp_path: Path, array: str, change: Callable[[Any], Any], found: str) -> None:
    trained(tmp_path, order=2)
    arrays = load_file(path := tmp_path / "model" / "model.safetensors")
    save_file({**arrays, array: change(arrays[array])}, path)
    head = json.loads((tmp_path / "model" / "model.json").read_text())
    head["sha256"][path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    (tmp_path / "model" / "model.json").write_text(json.dumps(head))
    seal.write(tmp_path / "model")
    with pytest.raises(ModelError, match=found):
        ngram.load(str(tmp_path / "model"))


@pytest.mark.parametrize("change", [{"order": 1}, {"order": 3}, {"ngrams": [25, 57]}])
def test_a_head_that_is_not_that_of_the_arrays(tmp_path: Path, change: dict[str, Any]) -> None:
    trained(tmp_path, order=2)
    path = tmp_path / "model" / "model.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ModelError, match=r"model\.json: a file that was damaged or edited after sealing"):
        ngram.load(str(tmp_path / "model"))
    seal.write(tmp_path / "model")
    with pytest.raises(ModelError):
        ngram.load(str(tmp_path / "model"))


@pytest.mark.parametrize("change", [{"sha256": ["model.safetensors", "vocabulary.txt"]}, {"order": True}, None])
def test_a_head_that_is_none(tmp_path: Path, change: dict[str, Any] | None) -> None:
    trained(tmp_path, order=2)
    path = tmp_path / "model" / "model.json"
    path.write_text("[" * 100_000 if change is None else json.dumps(json.loads(path.read_text()) | change))
    for load in (ngram.load, names.load):
        with pytest.raises(ModelError, match="model"):
            load(str(tmp_path / "model"))


@pytest.mark.parametrize("name", ["model.safetensors", "vocabulary.txt", "model.json"])
def test_a_damaged_model_is_trained_again_by_the_same_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    trained(tmp_path, order=2)
    path = tmp_path / "model" / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-8])
    command = ["train", "ngram", "--corpus", str(tmp_path / "corpus.txt"), "-o", str(tmp_path / "model")]
    command += ["--order", "2", "--tokens", "blanks", "--unknown", "none"]
    assert main(command) == 0
    assert path.read_bytes() == whole
    # The warning names the file; an intact model is left alone without one.
    warning = f"warning: {path}: a file that was damaged or edited after sealing; the model is computed again\n"
    assert capsys.readouterr().err == warning
    assert main(command) == 0
    assert capsys.readouterr() == (f"{tmp_path / 'model'}: done\n", "")


def test_a_model_from_elsewhere_and_an_added_file_are_refused(tmp_path: Path) -> None:
    trained(tmp_path, order=2)
    added = tmp_path / "model" / "added.json"
    added.write_text("{}")
    with pytest.raises(ModelError, match=r"added\.json: a file that is not listed"):
        trained(tmp_path, order=2)
    added.unlink()
    (tmp_path / "model" / "training.json").unlink()
    whole = (tmp_path / "model" / "model.safetensors").read_bytes()
    with pytest.raises(RunError, match="was not trained here"):
        trained(tmp_path, order=3)
    assert (tmp_path / "model" / "model.safetensors").read_bytes() == whole


def test_the_same_training_again_and_another(tmp_path: Path) -> None:
    trained(tmp_path, order=2)
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "model").iterdir()}
    trained(tmp_path, order=2)
    assert before == {
        path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (tmp_path / "model").iterdir()
    }
    for text, order in ((TOY, 3), (TOY + "one more line .\n", 2)):
        with pytest.raises(RunError, match="another training"):
            trained(tmp_path, text, order)


@pytest.mark.parametrize("place", range(4))
def test_a_full_disk_leaves_no_half_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    calls = 0

    def full(descriptor: int) -> None:
        nonlocal calls
        calls += 1
        if calls > 2 * place:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(RunError, match="no space"):
            trained(tmp_path, order=2)
    assert not [path for path in (tmp_path / "model").rglob("*") if path.is_file()]
    trained(tmp_path, order=2)
    assert {path.name for path in (tmp_path / "model").iterdir()} == FILES


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"family": "other"}, 'model.json, family: "other"; expected one of ngram'),
        ({"format": 255}, "format 255"),
        ({"format": 255, "tokens": None}, "model.json: no 'tokens'"),
        ({"family": "other", "format": None}, 'model.json, family: "other"'),
        ({"order": 10**12}, "order 1000000000000"),
        ({"order": True}, "model.json, order: true"),
        ({"tokens": []}, "a list"),
        ({"ngrams": 3}, "model.json, ngrams: 3; expected a list"),
        ({"sha256": {}}, "model.json, sha256: no 'model.safetensors'"),
    ],
)
def test_a_description_of_another_shape(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    """Also where it was sealed, and where two things are wrong at once."""
    trained(tmp_path, order=2)
    path = tmp_path / "model" / "model.json"
    head = json.loads(path.read_text()) | change
    path.write_text(json.dumps({name: value for name, value in head.items() if value is not None}))
    seal.renew(tmp_path / "model")
    with pytest.raises(ModelError, match=re.escape(message)):
        ngram.load(str(tmp_path / "model"))


def test_two_trainings_of_one_folder_do_not_meet(tmp_path: Path) -> None:
    with (
        lock.held(tmp_path / "model" / "unfinished"),
        pytest.raises(RunError, match=rf"in use by process {os.getpid()}"),
    ):
        trained(tmp_path, order=2)
    # What a killed training leaves is in nobody's way, and doesn't stay.
    (tmp_path / "model" / "unfinished").mkdir(parents=True)
    (tmp_path / "model" / "unfinished" / "model.safetensors").write_bytes(b"half")
    trained(tmp_path, order=2)
    assert {path.name for path in (tmp_path / "model").iterdir()} == FILES


def test_a_folder_of_the_user_stays_if_a_training_fails(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    with pytest.raises(InputError):
        trained(tmp_path, "one\n")
    assert list((tmp_path / "model").iterdir()) == []


def test_perplexity_of_held_out_text(tmp_path: Path) -> None:
    (valid := tmp_path / "valid.txt").write_text("the author near the guards laughs .\nthe senator likes the door .\n")
    (corpus := tmp_path / "corpus.txt").write_text(TOY)
    told: list[str] = []
    progress = Progress()
    progress.began = told.append  # type: ignore[method-assign]
    settings = changed(NgramSettings(), {"order": 3, "tokens": "blanks", "classes": "none"})
    train([str(corpus)], [str(valid)], tmp_path / "m", settings, progress)
    [row] = json.loads((tmp_path / "m" / "training.json").read_text())["history"]
    # 7 and 6 words, two ends; -3.725159 and -6.040014; without `senator`, -2.170350.
    assert (row["words"], row["unknown"]) == (15, 1)
    assert row["perplexity"] == pytest.approx(10 ** ((3.725159 + 6.040014) / 15), rel=1e-5)
    assert row["perplexity_known"] == pytest.approx(10 ** ((3.725159 + 6.040014 - 2.170350) / 14), rel=1e-5)
    assert told[0] == "128 words in 18 sentences, 24 in the vocabulary"


@pytest.mark.slow
def test_brown_as_kenlm(shared: Path, tmp_path: Path) -> None:
    brown = shared / "data" / "corpora"
    settings = changed(NgramSettings(), {"tokens": "blanks", "classes": "none"})
    train([str(brown / "brown.train.txt")], [str(brown / "brown.test.txt")], tmp_path / "m", settings)
    made = json.loads((tmp_path / "m" / "training.json").read_text())
    assert made["statistics"]["ngrams"] == [52878, 417663, 796744, 929647, 925295]
    discounts = [
        [0.621566, 1.04127, 1.44751], [0.782893, 1.14649, 1.42195], [0.895139, 1.25091, 1.48003],
        [0.96055, 1.42386, 1.51427], [0.981444, 1.50701, 1.83882],
    ]  # fmt: skip
    assert [pytest.approx(row, rel=1e-5) for row in discounts] == made["statistics"]["discounts"]
    [row] = made["history"]
    assert (row["words"], row["unknown"]) == (61089, 2300)
    assert (round(row["perplexity"], 2), round(row["perplexity_known"], 2)) == (429.28, 313.09)


def test_the_package_kenlm_gives_the_same(folder: Path, tmp_path: Path) -> None:
    kenlm = pytest.importorskip("kenlm")
    model = ngram.load(str(folder), eos="yes")
    assert isinstance(model, BackOff)
    arpa.write(model.ngrams, tmp_path / "toy.arpa")
    peer = kenlm.Model(str(tmp_path / "toy.arpa"))
    for text in ("the author near the guards laughs .", "the zebra laughs", "laughs the", ""):
        found = [log for log, _, _ in peer.full_scores(text)]
        np.testing.assert_allclose(np.array(bits(model, text)) / -np.log2(10.0), found, rtol=0, atol=2e-6)
    same = KenLM(tmp_path / "toy.arpa", "same", "0", Tokenisation("blanks", False, False))
    candidates = ("laughs", "laugh", "zebra", "near the guards", "the\0x", "\ud800")
    blanks = [Gap(left, " .", candidates) for left in ("the author ", "", "the zebra ")]
    for blank, one, other in zip(blanks, model.fill(blanks), same.fill(blanks), strict=True):
        np.testing.assert_allclose(one.bits, other.bits, rtol=0, atol=2e-6)
        assert one.in_vocabulary.tolist() == other.in_vocabulary.tolist()
        assert np.isnan(other.above).all()
        for word, cost in zip(blank.words, other.bits, strict=True):
            assert sum(bits(same, blank.left + word)[-len(word.split()) :]) == cost


class Peer:
    """Stands for the package kenlm: it knows `a`, reads words up to a NUL, and can't spell lone surrogates."""

    order = 2

    def __init__(self, unknown: float) -> None:
        self.unknown = unknown

    def score(self, word: str, bos: bool, eos: bool) -> float:
        assert (word, bos, eos) == ("<unk>", False, False)
        return self.unknown

    def full_scores(self, sentence: str, bos: bool, eos: bool) -> Iterator[tuple[float, int, bool]]:
        for word in sentence.encode().split():
            known = word.partition(b"\0")[0] == b"a"
            yield -1.0 if known else self.unknown - 0.5, 1, not known
        yield -1.0, 1, False


def binary(monkeypatch: pytest.MonkeyPatch, unknown: float) -> KenLM:
    monkeypatch.setattr(ngram, "_opened", lambda path: Peer(unknown))
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0")
    return KenLM(Path("a.binary"), "binary", "0", Tokenisation("blanks", False, False))


def test_a_binary_of_a_file_without_the_unknown_word(monkeypatch: pytest.MonkeyPatch) -> None:
    # build_binary puts -100 in its place, a number that nobody estimated.
    model = binary(monkeypatch, -100.0)
    assert bits(model, "a a") == [np.log2(10.0)] * 2
    with pytest.raises(ModelError, match="'b' of 'a b' has probability 0"):
        bits(model, "a b")
    assert bits(binary(monkeypatch, -2.0), "a b") == [np.log2(10.0), 2.5 * np.log2(10.0)]


@pytest.mark.parametrize("word", ["a\0b"])
def test_words_that_a_binary_can_not_be_asked_for_are_unknown(monkeypatch: pytest.MonkeyPatch, word: str) -> None:
    [answer] = binary(monkeypatch, -2.0).score([f"a {word}"])
    assert answer.in_vocabulary.tolist() == [True, False]
    assert answer.bits.tolist() == [np.log2(10.0), 2.5 * np.log2(10.0)]


def test_a_binary_lists_no_words(monkeypatch: pytest.MonkeyPatch) -> None:
    model = binary(monkeypatch, -2.0)
    assert "best" not in model.can
    with pytest.raises(ModelError, match=r"can't list the most probable entries.*such as one in an ARPA file"):
        list(model.fill([Gap("a ", "", ("a",), 2)]))


def test_a_binary_without_the_package_kenlm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "kenlm", None)
    (path := tmp_path / "a.binary").write_bytes(b"mmap lm http://kheafield.com/code format version 5\n\0" + bytes(64))
    with pytest.raises(ModelError, match="package kenlm") as caught:
        ngram.load(str(path))
    assert "syntagm[kenlm]" in str(caught.value)
    with pytest.raises(UsageError, match="unknown"):
        ngram.load(str(path), unknown="single")


def test_nothing_there(tmp_path: Path) -> None:
    for path in ("", str(tmp_path / "none.arpa")):
        with pytest.raises(ModelError, match="no such file"):
            ngram.load(path)
    with pytest.raises(ModelError, match=r"model\.json"):
        ngram.load(str(tmp_path))
    with pytest.raises(ModelError, match="not a regular file"):
        ngram.load("/dev/null")


def test_what_a_training_killed_at_its_end_leaves_is_removed_by_the_same_command(tmp_path: Path) -> None:
    trained(tmp_path, order=2)
    unfinished = tmp_path / "model" / "unfinished"
    unfinished.mkdir()
    (unfinished / "seal.json").write_bytes(b"half")
    with lock.held(unfinished):
        trained(tmp_path, order=2)
    assert unfinished.exists()  # it belongs to another process
    trained(tmp_path, order=2)
    assert {path.name for path in (tmp_path / "model").iterdir()} == FILES
