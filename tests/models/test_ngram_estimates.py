"""The estimator in sorted arrays against one in dictionaries and float64, on random corpora."""

import gzip
import math
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from ngrams_for_tests import TOY, Slow, trained

from syntagm.core import InputError, UsageError
from syntagm.models import BackOff
from syntagm.training import Words, bllip
from syntagm.training.ngram import train as ngram

CORPORA = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=25).filter(any)
# Of its bigrams, 4, 3, 5 and 7 occur once, twice, three and four times, so that the discount of 2 is 2 - 3 * 2/5 * 5/3 = 0.
NO_DISCOUNT = [
    list(line) for line in ("c", "d", "d", "aa", "ab", "bb", "bac", "dba", "aabd", "baab", "bdaca", "aabaca", "cbbbbc")
]
PRUNED = st.sampled_from([(), (0, 1), (0, 0, 1), (0, 1, 2), (1,), (1, 2)])


def ids(model: BackOff, words: tuple[str, ...]) -> list[int]:
    return [model.ngrams.words.index(word) for word in words]


@pytest.mark.slow
@settings(max_examples=40)
@given(CORPORA, st.integers(1, 5), st.booleans(), PRUNED)
@example(NO_DISCOUNT, 2, False, ())
def test_equal_to_the_equations(sentences: list[list[str]], order: int, quirk: bool, prune: tuple[int, ...]) -> None:
    prune = prune[:order]
    slow = Slow(sentences, order, quirk, prune)
    text = "".join(" ".join(words) + "\n" for words in sentences)
    with TemporaryDirectory() as folder:
        model = trained(Path(folder), text, order, discount_fallback=True, lmplz_compatible=quirk, prune=prune)
    histories = [("<s>", *words) for length in range(3) for words in product("ab", repeat=length)]
    histories += [("<s>", *words) for words in sentences[:3]]
    for history in histories:
        known = tuple(word if word in model.ngrams.words else "<unk>" for word in history)
        found = 10 ** model.ngrams.distribution(np.array(ids(model, known), np.int32))
        for word, share in zip(model.ngrams.words[:-1], found, strict=False):
            assert share == pytest.approx(slow.probability(word, known), rel=3e-5, abs=1e-7)
        assert math.fsum(found) == pytest.approx(1, abs=2e-6)


@settings(max_examples=20)
@given(CORPORA, st.integers(1, 5), st.lists(st.sampled_from("abcde"), max_size=8))
def test_the_distribution_and_the_score_are_the_same_numbers(
    sentences: list[list[str]], order: int, words: list[str]
) -> None:
    text = "".join(" ".join(words) + "\n" for words in sentences)
    with TemporaryDirectory() as folder:
        model = trained(Path(folder), text, order, discount_fallback=True)
    places = np.array([model.ngrams.start, *model.vocabulary.ids(words), 0], np.int32)
    logs = model.ngrams.logs(places)
    for end in range(1, len(places)):
        assert model.ngrams.distribution(places[:end])[places[end]] == logs[end]


def test_sums_to_one_after_seen_and_unseen_histories(tmp_path: Path) -> None:
    model = trained(tmp_path, TOY, 5)
    for history in (
        ("<s>",),
        ("<s>", "the"),
        ("<s>", "the", "door", "laughs"),
        ("<s>", "<unk>", "<unk>"),
        ("ever", "has"),
    ):
        logs = model.ngrams.distribution(np.array(ids(model, history), np.int32))
        assert math.fsum(10**logs) == pytest.approx(1, abs=1e-6)
        assert logs[-1] == -np.inf  # the start symbol is never predicted


def test_a_history_never_seen_gives_the_lower_order(tmp_path: Path) -> None:
    ngrams = trained(tmp_path, TOY, 3).ngrams
    laughs, door, the = (ngrams.words.index(word) for word in ("laughs", "door", "the"))
    seen = ngrams.distribution(np.array([the], np.int32))
    # `laughs door` never occurs, so nothing was counted after `laughs door the` or `door the`.
    assert (ngrams.distribution(np.array([laughs, door, the], np.int32)) == seen).all()


def test_ties_are_exact_where_the_difference_lies_too_far_back(tmp_path: Path) -> None:
    model = trained(tmp_path, TOY, 3)
    one, two = model.score(["no author said that the guards laugh .", "the door ever near the guards laugh ."])
    # `the guards laugh . </s>`: from `laugh` on the two words before are the same.
    assert one.bits[-3:].tolist() == two.bits[-3:].tolist()
    assert one.bits[-4] != two.bits[-4]


def test_too_little_text_for_discounts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="n-grams of order 4") as caught:
        trained(tmp_path, order=5, discount_fallback=False)
    assert "fallback discounts" in str(caught.value)


@pytest.mark.parametrize("prune", [(1, 0), (0, 0, 0, 0), (-1,)])
def test_thresholds_that_make_no_sense(tmp_path: Path, prune: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="prune"):
        trained(tmp_path, order=3, prune=prune)


@pytest.mark.parametrize(
    ("text", "quirk", "last"),
    [("a b\nb c\n", True, "</s>"), ("a b\nb c", True, "c"), ("a b\nb c", False, "</s>"), ("a b\n\n", True, "</s>")],
)
def test_a_last_line_without_a_line_end_has_no_end_symbol(tmp_path: Path, text: str, quirk: bool, last: str) -> None:
    (plain := tmp_path / "a.txt").write_text(text)
    (packed := tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    # The content says what is packed, not the name.
    (disguised := tmp_path / "b.txt").write_bytes(packed.read_bytes())
    for path in (plain, packed, disguised):
        read = ngram.read([str(path)], Words("blanks", 1, "none"), quirk)
        assert [*read.vocabulary.words, "<s>"][read.places[-1]] == last
        assert read.sentences == 2


def test_start_and_end_symbols_in_a_text_are_refused(tmp_path: Path) -> None:
    for symbol in ("<s>", "</s>"):
        with pytest.raises(InputError, match=rf"corpus\.txt, sentence 3: the symbol {symbol}"):
            trained(tmp_path, f"a b\n\na {symbol} b\n", 2)


def test_trees_of_bllip_end_whatever_their_files_are_called(tmp_path: Path) -> None:
    for year, numbers in bllip.XS.items():
        for number in numbers:
            section = f"w{year % 10}_{number:03}"
            (folder := tmp_path / str(year) / section).mkdir(parents=True)
            # No line end after the last tree, and a name that tells nothing.
            (folder / f"{section}.001").write_text("(S1 (S (NP (NN rain)) (VP (VBD fell))))")
    read = ngram.read([f"bllip:{tmp_path}?set=xs"], Words("blanks", 1, "none"), True)
    assert (read.sentences, read.places[-1]) == (6, read.vocabulary.words.index("</s>"))
