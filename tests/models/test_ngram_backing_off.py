"""Back-off modified Kneser-Ney, as in SRILM, against the equations on 20 sentences, n-gram by n-gram."""

import json
import math
from collections import Counter
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from ngrams_for_tests import trained

from syntagm.core import InputError
from syntagm.models import BackOff, Ngrams, arpa
from syntagm.models.ngram.arpa import read

SENTENCES = """\
the baker that the baker likes sings .
the baker laughs .
a nurse laughs .
some pilots that the baker sees laugh .
the nurses near the pilot see the baker .
the pilot sees the baker .
the nurses near the nurse sing .
the pilots near a pilot see the pilots .
the pilot laughs .
the nurses that the pilot likes see the pilots .
some pilots near a nurse see a nurse .
the pilots see the baker .
the nurses laugh .
some pilots that some pilots see laugh .
some bakers that the nurse sees sing .
the pilot that the nurses see laughs .
the nurse likes the nurses .
the nurses like some bakers .
a nurse near the nurses sees the pilot .
some nurses laugh .
"""
ORDER = 3
Gram = tuple[str, ...]


class ByHand:
    """The model by its equations, in dictionaries: nothing of it is shared with the estimator."""

    def __init__(
        self, sentences: list[list[str]], order: int, cut: tuple[int, ...] = (), fallback: bool = False
    ) -> None:
        padded = [["<s>", *words, "</s>"] for words in sentences]
        self.order, self.cut = order, [*cut, *[cut[-1] if cut else 0] * order][:order]
        raw = [
            Counter(
                tuple(words[begin : begin + size])
                for words in padded
                for begin in range(len(words) - size + 1)
                if size > 1 or begin > 0  # no unigram <s>
            )
            for size in range(1, order + 1)
        ]
        self.words = sorted({word for words in padded for word in words[1:]} | {"<unk>"})
        self.counts: list[dict[Gram, int]] = []
        for size, grams in enumerate(raw, 1):
            if size == order:
                self.counts.append(dict(grams))
                continue
            left = Counter(longer[1:] for longer in raw[size])
            # No word precedes <s>, so n-grams that begin with it keep their occurrences.
            self.counts.append({gram: grams[gram] if gram[0] == "<s>" else left[gram] for gram in grams})
        self.discounts = [self.discount(list(counts.values()), fallback) for counts in self.counts]

    @staticmethod
    def discount(counts: list[int], fallback: bool) -> list[float]:
        n1, n2, n3, n4 = (counts.count(count) for count in (1, 2, 3, 4))
        if n1 and n2 and n3 and n4:
            y = n1 / (n1 + 2 * n2)
            found = [1 - 2 * y * n2 / n1, 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3]
            if min(found) >= 0:
                return found
        assert fallback
        return [0.5, 1.0, 1.5]

    def explicit(self, history: Gram) -> dict[str, float]:
        """p(w | history) of the words counted after the history, as far as they are not cut off."""
        size = len(history)
        after = {gram[-1]: count for gram, count in self.counts[size].items() if gram[:-1] == history}
        kept = {word: count for word, count in after.items() if count > self.cut[size]}
        total = sum(after.values())
        for whole in (total, total + 1):
            found = {word: (count - self.discounts[size][min(count, 3) - 1]) / whole for word, count in kept.items()}
            if sum(found.values()) <= 1 - 3e-6:
                break
        return found

    def distribution(self, history: Gram) -> dict[str, float]:
        """p(w | history) of all words; the history has at most order - 1 words."""
        explicit = self.explicit(history)
        if not history:
            left = 1 - sum(explicit.values())
            takers = [word for word in self.words if word not in explicit] or self.words
            return {word: explicit.get(word, 0) + left / len(takers) * (word in takers) for word in self.words}
        lower = self.distribution(history[1:])
        unseen = 1 - sum(lower[word] for word in explicit)
        if unseen < 3e-6:
            return {word: explicit.get(word, 0) / sum(explicit.values()) for word in self.words}
        weight = (1 - sum(explicit.values())) / unseen
        return {word: explicit.get(word, weight * lower[word]) for word in self.words}


@pytest.fixture(scope="module")
def by_hand() -> ByHand:
    return ByHand([line.split() for line in SENTENCES.splitlines()], ORDER)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("back-off")
    trained(folder, SENTENCES, ORDER, smoothing="backoff")
    return folder


@pytest.fixture(scope="module")
def model(folder: Path) -> BackOff:
    return trained(folder, SENTENCES, ORDER, smoothing="backoff")


def shares(ngrams: Ngrams, history: Gram) -> dict[str, float]:
    """p of each word after a history. One that does not begin a sentence is put behind unknown words."""
    if history[:1] != ("<s>",):
        history = ("<s>", *["<unk>"] * ngrams.order, *history)
    ids = np.array([ngrams.words.index(word) for word in history], np.int32)
    return dict(zip(ngrams.words[:-1], (10 ** ngrams.distribution(ids)).tolist(), strict=False))


def test_discounts_of_counts_of_counts(folder: Path, by_hand: ByHand) -> None:
    found = json.loads((folder / "model" / "training.json").read_text())
    assert found["settings"]["smoothing"] == "backoff"
    statistics = found["statistics"]
    assert len(SENTENCES.splitlines()) == 20
    for counts, tally in zip(by_hand.counts, statistics["counts"], strict=True):
        assert [list(counts.values()).count(number) for number in (1, 2, 3, 4)] == tally
    for expected, discounts in zip(by_hand.discounts, statistics["discounts"], strict=True):
        assert discounts == pytest.approx(expected, rel=1e-6)


def test_every_ngram_and_weight(model: BackOff, by_hand: ByHand) -> None:
    ngrams = model.ngrams
    assert [len(values) for values in ngrams.probabilities] == [len(by_hand.words) + 1, *map(len, by_hand.counts[1:])]
    for size in range(1, ORDER + 1):
        columns = ngrams.columns(size, slice(None))
        for row, spelled in enumerate(zip(*(map(ngrams.words.__getitem__, column) for column in columns), strict=True)):
            if spelled == ("<s>",):
                continue
            expected = by_hand.distribution(spelled[:-1])[spelled[-1]]
            assert float(ngrams.probabilities[size - 1][row]) == pytest.approx(math.log10(expected), abs=2e-6)
            if size < ORDER and by_hand.explicit(spelled):
                known, lower = by_hand.explicit(spelled), by_hand.distribution(spelled[1:])
                weight = (1 - sum(known.values())) / (1 - sum(lower[word] for word in known))
                assert float(ngrams.backoffs[size - 1][row]) == pytest.approx(math.log10(weight), abs=2e-6)


def test_sums_to_one_after_every_history_of_the_vocabulary(model: BackOff, by_hand: ByHand) -> None:
    words = model.ngrams.words
    for history in [(), *product(words[:-1], repeat=1), ("<s>",), *product(words, words[:-1])]:
        found = shares(model.ngrams, history)
        assert math.fsum(found.values()) == pytest.approx(1, abs=2e-6)
        assert found == pytest.approx(by_hand.distribution(history), abs=1e-6)


def test_a_seen_word_gets_nothing_from_the_lower_order(model: BackOff, by_hand: ByHand, tmp_path: Path) -> None:
    # `a nurse` follows the start, `near` and `see`; `a pilot` only `near`.
    after = {gram[1]: count for gram, count in by_hand.counts[1].items() if gram[0] == "a"}
    assert after == {"nurse": 3, "pilot": 1}
    one, _, three = by_hand.discounts[1]
    found = shares(model.ngrams, ("a",))
    assert found["nurse"] == pytest.approx((3 - three) / 4, rel=1e-5)
    assert found["pilot"] == pytest.approx((1 - one) / 4, rel=1e-5)
    # What the discounts leave is shared by the other words in proportion to their unigrams.
    unigrams = by_hand.distribution(())
    left = (one + three) / 4 / (1 - unigrams["nurse"] - unigrams["pilot"])
    assert found["bakers"] == pytest.approx(left * unigrams["bakers"], rel=1e-5)
    interpolated = shares(trained(tmp_path, SENTENCES, ORDER, lmplz_compatible=False).ngrams, ("a",))
    # Interpolation adds the lower order's share to words that were seen, too.
    assert interpolated["nurse"] > found["nurse"]


def test_what_unigrams_leave_goes_to_the_unknown_word(model: BackOff, by_hand: ByHand) -> None:
    counts, (one, two, three) = by_hand.counts[0], by_hand.discounts[0]
    amounts = [one if count == 1 else two if count == 2 else three for count in counts.values()]
    assert shares(model.ngrams, ())["<unk>"] == pytest.approx(sum(amounts) / sum(counts.values()), rel=1e-5)


def test_arpa_files_hold_the_same_model(model: BackOff, tmp_path: Path) -> None:
    arpa.write(model.ngrams, tmp_path / "a.arpa")
    again = read(tmp_path / "a.arpa")
    for history in [("<s>",), ("<s>", "the"), ("the", "nurse"), ("laughs", "a"), ()]:
        assert shares(again, history) == shares(model.ngrams, history)


def test_the_quirk_of_lmplz_is_not_srilm_s(tmp_path: Path) -> None:
    # The last line has no line end: lmplz then leaves out the end symbol.
    models = []
    for number, quirk in enumerate((True, False)):
        (place := tmp_path / str(number)).mkdir()
        models.append(trained(place, SENTENCES.rstrip("\n"), ORDER, smoothing="backoff", lmplz_compatible=quirk))
    for one, other in zip(models[0].ngrams.probabilities, models[1].ngrams.probabilities, strict=True):
        assert (one == other).all()


def test_a_discount_that_leaves_nothing_is_refused(tmp_path: Path) -> None:
    # Counts of 1, 2 and 3 but not 4 give the discount 3, so a word seen three times would have p = 0.
    text = "a\nb b\nc c c\n"
    trained(tmp_path, text, 1, discount_fallback=False)
    (other := tmp_path / "other").mkdir()
    with pytest.raises(InputError, match="n-grams of order 1: 1, 1, 2 and 0 with a count of 1, 2, 3 and 4"):
        trained(other, text, 1, smoothing="backoff", discount_fallback=False)
    model = trained(other, text, 1, smoothing="backoff", discount_fallback=True)
    # (3 - 1.5) / 9 for each of `c` and the end; 0.5 + 1 + 1.5 + 1.5 of 9 are left.
    assert shares(model.ngrams, ()) == pytest.approx(
        {"a": 0.5 / 9, "b": 1 / 9, "c": 1.5 / 9, "</s>": 1.5 / 9, "<unk>": 4.5 / 9}
    )


CORPORA = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=25).filter(any)


@pytest.mark.slow
@settings(max_examples=12)
@given(CORPORA, st.integers(1, 4), st.sampled_from([(), (0, 1), (0, 0, 1), (0, 1, 2), (1,), (1, 2)]))
def test_equal_to_the_equations_with_cut_offs(sentences: list[list[str]], order: int, cut: tuple[int, ...]) -> None:
    cut = cut[:order]
    slow = ByHand(sentences, order, cut, fallback=True)
    text = "".join(" ".join(words) + "\n" for words in sentences)
    with TemporaryDirectory() as place:
        model = trained(Path(place), text, order, smoothing="backoff", discount_fallback=True, prune=cut)
    for history in [("<s>",), *product("ab", repeat=1), *product("abcd", repeat=2), *product("ab", repeat=3)]:
        history = tuple(word if word in model.ngrams.words else "<unk>" for word in history)
        found = shares(model.ngrams, history)
        assert found == pytest.approx(
            slow.distribution(history[max(0, len(history) - order + 1) :]), rel=3e-5, abs=1e-7
        )
        assert math.fsum(found.values()) == pytest.approx(1, abs=2e-6)
