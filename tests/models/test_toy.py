"""The toy model, by pencil."""

import math
from pathlib import Path

import numpy as np
import pytest

from syntagm.core import ModelError, UsageError
from syntagm.models import Toy, names
from syntagm.models.toy.model import load


@pytest.fixture
def small(tmp_path: Path) -> Toy:
    path = tmp_path / "small.txt"
    path.write_text("a b\na c\n", encoding="utf-8")
    return load(str(path))


def test_by_pencil(small: Toy) -> None:
    # V = 5: a b c <unk> </s>. <s> begins two pairs, both with a: (2 + 1)/(2 + 5); a begins two, one with b: (1 + 1)/(2 + 5).
    [answer] = small.score(["a b"])
    assert answer.bits.tolist() == pytest.approx([-math.log2(3 / 7), -math.log2(2 / 7)])
    assert answer.starts.tolist() == [0, 1]


def test_unknown_words(small: Toy) -> None:
    # After a, <unk> was never seen: 1/7; after <unk> nothing was: 1/5.
    [answer] = small.score(["A zebra b"])
    assert answer.bits.tolist() == pytest.approx([-math.log2(3 / 7), -math.log2(1 / 7), -math.log2(1 / 5)])
    assert answer.in_vocabulary.tolist() == [True, False, True]


def test_the_end_symbol(tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text("a b\na c\n")
    model = load(str(path), eos="yes")
    [answer, empty] = model.score(["a b", ""])
    # b begins one pair, b </s>: (1 + 1)/(1 + 5).
    assert answer.bits[-1] == pytest.approx(-math.log2(2 / 6))
    assert answer.starts.tolist() == [0, 1, 3]
    assert empty.starts.tolist() == [0]
    assert empty.bits.tolist() == pytest.approx([-math.log2(1 / 7)])


@pytest.mark.parametrize("context", ["", "the", "the dog", "zebra"])
def test_probabilities_sum_to_one(context: str) -> None:
    toy, ended = load(""), load("", eos="yes")
    vocabulary = [word for word in toy.vocabulary if not word.startswith("<")]
    texts = [f"{context} {word}" for word in [*vocabulary, "zebra"]]
    last = [answer.bits[-1] for answer in toy.score(texts)] + [next(ended.score([context])).bits[-1]]
    assert len(last) == len(toy.vocabulary)
    assert sum(2.0**-bits for bits in last) == pytest.approx(1)


def test_white_space_and_punctuation() -> None:
    [answer] = load("").score(["  The dog,\tbarks \n"])
    assert answer.starts.tolist() == [0, 5, 9, 10]
    np.testing.assert_array_equal(next(load("").score(["the dog , barks"])).bits, answer.bits)


def test_name_and_fingerprint(tmp_path: Path) -> None:
    path = tmp_path / "small.txt"
    path.write_text("a b\n")
    assert load("").name == "toy:12-sentences"
    assert load(str(path)).name.startswith("toy:small.txt@")
    found = {load("").fingerprint, load("", eos="yes").fingerprint, load(str(path)).fingerprint}
    assert len(found) == 3


@pytest.mark.parametrize("name", ["toy?bos=no", "toy?eos=maybe", "toy?dtype=f32"])
def test_options_that_it_does_not_have(name: str) -> None:
    with pytest.raises(UsageError):
        names.load(name)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    for path in (tmp_path / "absent.txt", tmp_path / "latin.txt", tmp_path):
        with pytest.raises(ModelError, match=r"no such file|byte 0xe9|a folder"):
            load(str(path))
