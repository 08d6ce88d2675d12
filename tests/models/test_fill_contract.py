"""What every left-to-right family that fills blanks promises, asked of each of them."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from models_for_tests import ALIKE, CAUSAL, FAMILIES, causal, filling

from syntagm.core import ModelError
from syntagm.models import Causal, Fill, Gap, LanguageModel, names

WORDS = ("roses", "rose", "rain", "gardener", "gardeners", "gardener", "boats", "zyzzyva", "new boats", "forgets")
LEFTS = ["The old ", "The old gardener watered the ", "", "No one who has met the "]
BLANKS = [Gap(left, right, WORDS) for left, right in zip(LEFTS, [" .", "", " came", "."], strict=True)]
CLOSE = 1e-4 / math.log(2)
NAMED = {
    "toy": "toy",
    "toy-eos": "toy?eos=yes",
    "random": "random?seed=3",
    "random-unigram": "random?unigram=yes",
    "demo": "demo",
    "demo-token": "demo?fill=token",
    "demo-bare": "demo?bos=no&fill=token",
    "demo-words": "demo?boundary=word&fill=token&eos=yes",
    "demo-apart": "demo?sharing=no",
    "demo-narrow": "demo?batch=20",
}


def _tokens_of(kind: str) -> Callable[[], LanguageModel]:
    return lambda: causal(kind, _causal(kind).tokenizer, fill="token")


@cache
def _causal(kind: str) -> Causal:
    made = CAUSAL[kind]()
    assert isinstance(made, Causal)
    return made


MADE: dict[str, Callable[[], LanguageModel]] = (
    {kind: (lambda kind=kind: _causal(kind)) for kind in CAUSAL}
    | {f"{kind}-token": _tokens_of(kind) for kind in CAUSAL}
    | {family: FAMILIES[family] for family in filling()}
    | {name: (lambda full=full: names.load(full)) for name, full in NAMED.items()}
)


@cache
def made(family: str) -> LanguageModel:
    return MADE[family]()


# The demo model is the largest here; fast tests ask two of its variants.
SLOW = (*ALIKE, "demo-token", "demo-bare", "demo-apart", "demo-narrow")


def _param(family: str) -> Any:
    slow = family in SLOW or family.partition("-")[0] in SLOW
    return pytest.param(family, marks=pytest.mark.slow if slow else ())


@pytest.fixture(params=map(_param, MADE))
def model(request: pytest.FixtureRequest) -> LanguageModel:
    return made(request.param)


@cache
def answers(model: LanguageModel) -> list[Fill]:
    return list(model.fill(BLANKS))


def same(one: Fill, other: Fill, close: float = CLOSE) -> None:
    np.testing.assert_allclose(one.bits, other.bits, rtol=0, atol=close)
    np.testing.assert_allclose(one.above, other.above, rtol=0, atol=1e-6)
    np.testing.assert_allclose(one.below, other.below, rtol=0, atol=1e-6)
    assert one.in_vocabulary.tolist() == other.in_vocabulary.tolist()


def by_score(model: LanguageModel, left: str, word: str) -> tuple[float, bool, int]:
    """Bits, known and number of the candidate's tokens in the filled text, a blank before it included; nothing follows."""
    [answer] = model.score([left + word])
    text, starts = answer.text, answer.starts
    ends = np.append(starts, len(text))[np.searchsorted(starts, starts, "right")]
    inside = (ends > len(left) - left.endswith(" ")) & (starts < len(text))
    return float(answer.bits[inside].sum()), bool(answer.in_vocabulary[inside].all()), int(inside.sum())


@pytest.mark.slow
def test_a_fill_is_the_score_of_the_filled_text(model: LanguageModel) -> None:
    if model.settings.get("fill") == "word" or model.settings.get("boundary") == "word":
        pytest.skip("words with their ends are computed apart in test_causal_fill.py")
    for blank, fill in zip(BLANKS, answers(model), strict=True):
        found = [by_score(model, blank.left, word) for word in WORDS]
        np.testing.assert_allclose(fill.bits, [bits for bits, _, _ in found], rtol=0, atol=CLOSE)
        assert fill.in_vocabulary.tolist() == [known for _, known, _ in found]
        several = [number > 1 for _, _, number in found]
        assert np.isnan(fill.above[several]).all()
        assert np.isnan(fill.below[several]).all()


def test_types_and_shapes(model: LanguageModel) -> None:
    assert "fill" in model.can
    for fill in answers(model):
        assert fill.bits.dtype == fill.above.dtype == fill.below.dtype == np.float64
        assert fill.in_vocabulary.dtype == np.bool_
        assert fill.bits.shape == (len(WORDS),)


def test_ranks_are_of_single_entries_and_shares_of_one(model: LanguageModel) -> None:
    for blank, fill in zip(BLANKS, answers(model), strict=True):
        assert (np.isnan(fill.above) == np.isnan(fill.below)).all()
        ranked = ~np.isnan(fill.above)
        assert (fill.above[ranked] >= 0).all()
        assert (fill.below[ranked] >= 0).all()
        assert (fill.above[ranked] + fill.below[ranked] < 1).all()
        if blank.left and not model.name.startswith("random"):
            assert ranked.tolist() == model.single(WORDS).tolist()
        if model.settings.get("fill") != "word" and not model.name.startswith("random"):
            # What is left of 1 is the candidate and its equals.
            own = 2.0 ** -fill.bits[ranked]
            assert (1 - fill.above[ranked] - fill.below[ranked] > own * (1 - 1e-4)).all()
            order = np.argsort(fill.bits[ranked])
            assert (np.diff(fill.above[ranked][order]) >= -1e-12).all()


def test_a_word_twice_has_one_number(model: LanguageModel) -> None:
    one, two = (index for index, word in enumerate(WORDS) if word == "gardener")
    for fill in answers(model):
        np.testing.assert_array_equal(fill.bits[one], fill.bits[two])
        np.testing.assert_array_equal(fill.above[one], fill.above[two])


def test_candidates_do_not_depend_on_company_or_order(model: LanguageModel) -> None:
    order = [7, 2, 9, 0]
    [few] = model.fill([Gap(LEFTS[1], "", tuple(WORDS[place] for place in order))])
    every = answers(model)[1]
    same(few, Fill(every.bits[order], every.above[order], every.below[order], every.in_vocabulary[order]))
    [alone] = model.fill([Gap(LEFTS[1], "", WORDS[:1])])
    same(alone, Fill(every.bits[:1], every.above[:1], every.below[:1], every.in_vocabulary[:1]))


@pytest.mark.slow
def test_blanks_do_not_depend_on_company_order_or_repeats(model: LanguageModel) -> None:
    order = [2, 0, 3, 3, 1, 0]
    for place, fill in zip(order, model.fill([BLANKS[place] for place in order]), strict=True):
        same(fill, answers(model)[place])


@pytest.mark.slow
def test_what_stands_after_makes_no_difference(model: LanguageModel) -> None:
    one, other = model.fill([Gap(LEFTS[0], "", WORDS), Gap(LEFTS[0], " were new.", WORDS)])
    np.testing.assert_array_equal(one.bits, other.bits)


@pytest.mark.slow
def test_done_is_told_of_every_blank_once(model: LanguageModel) -> None:
    told: list[int] = []
    assert len(list(model.fill([*BLANKS, BLANKS[0]], told.append))) == 5
    assert sum(told) == 5


def test_nothing_asked_nothing_answered(model: LanguageModel) -> None:
    assert list(model.fill([])) == []
    [fill] = model.fill([Gap("The old ", "", ())])
    assert fill.bits.shape == (0,)


@pytest.mark.parametrize("word", ["", " rain", "rain "])
def test_candidates_with_white_space_around_them_are_refused(model: LanguageModel, word: str) -> None:
    with pytest.raises(ModelError):
        list(model.fill([Gap("The old ", "", ("rain", word))]))


def test_blanks_are_known_from_what_follows_them_in_a_word() -> None:
    """`The gardener` + `s`: no word of its own for models of words; for others a token may begin there, or not."""
    for family in ("lstm", "ngram", "ngram-eos", "toy", "random"):
        with pytest.raises(ModelError, match="'s' is no separate word"):
            list(made(family).fill([Gap("The gardener", "", ("s",))]))
    with pytest.raises(ModelError, match="no token border between 'The ga' and 'rdener'"):
        list(made("gpt2-token").fill([Gap("The ga", "", ("rdener",))]))
