"""Equal weight, model weight, covered mass: the reference's example, the paper's, and any distribution."""

import numpy as np
import pytest
from fill_for_tests import Drawn, oracle
from hypothesis import given, settings, strategies as st

from syntagm.core import UsageError
from syntagm.evaluation import PUBLISHED_BOTTOM, PUBLISHED_TOP, Cut, candidates, canonical_cuts, shares
from syntagm.evaluation.gaps.weights import EqualWeight, ModelWeight, Shares
from syntagm.models import Fill, Gap
from syntagm.suites import WordList, WordRow

NAN = float("nan")
VERBS = WordList("two", ("singular", "plural"), (WordRow("run", ("runs", "run")), WordRow("walk", ("walks", "walk"))))
EXAMPLE = {"runs": 0.30, "walk": 0.25, "was": 0.15, "walks": 0.12, "run": 0.10, "the": 0.08}


def answer(distribution: dict[str, float], words: tuple[str, ...]) -> Fill:
    p = np.array(list(distribution.values()))
    own = np.array([distribution[word] for word in words])
    above, below = ([p[side(p, one)].sum() for one in own] for side in (np.greater, np.less))
    return Fill(-np.log2(own), np.array(above), np.array(below), np.ones(len(own), bool))


def judged(distribution: dict[str, float], words: WordList, label: str, *limits: Cut) -> Shares:
    asked = candidates(words)
    return shares(answer(distribution, asked.words), asked, label, limits)


# The rows of the reference's worked example: label plural, so run and walk are right.
@pytest.mark.parametrize(
    ("cut", "equal", "model", "covered"),
    [
        (Cut(top=0.4), 0.6 * 0 + 0.4 * (1 / 2), 0.6 * 0 + 0.4 * (0.25 / 0.55), 0.6 * 0.40 + 0.4 * 0.77),
        (Cut(top=0.1), 0, 0, 1 / 3 * 0.40),
        (Cut(top=0.9), 0.5, 0.2 * (0.25 / 0.67) + 0.8 * (0.35 / 0.77), 0.77),
        (Cut(), 0.5, 0.35 / 0.77, 0.77),
        (Cut(bottom=0.2), NAN, NAN, 0),
        (Cut(bottom=0.6), 1, 0.25 / 0.37, 0.6 * 0.37),
        (
            Cut(bottom=0.8),
            2 / 3 * 1 + 1 / 3 * 0.5,
            2 / 3 * (0.25 / 0.37) + 1 / 3 * (0.35 / 0.77),
            2 / 3 * 0.37 + 1 / 3 * 0.77,
        ),
    ],
    ids=str,
)
def test_the_worked_example(cut: Cut, equal: float, model: float, covered: float) -> None:
    found = judged(EXAMPLE, VERBS, "plural", cut)
    assert found.equal_weight[0] == pytest.approx(equal, nan_ok=True, abs=1e-12)
    assert found.model_weight[0] == pytest.approx(model, nan_ok=True, abs=1e-12)
    assert found.covered[0] == pytest.approx(covered, abs=1e-12)
    end, q = ("bottom", cut.bottom) if cut.bottom < 1 else ("top", cut.top)
    rows = [row.forms for row in VERBS.rows]
    assert oracle(EXAMPLE, rows, 1, end, q) == pytest.approx((equal, model, covered), nan_ok=True, abs=1e-12)


def test_the_toy_example_of_the_paper() -> None:
    # are > is is right, exist < exists wrong; of the mass of the four, .45 + .25 = .7 is right.
    words = WordList(
        "toy", ("singular", "plural"), (WordRow("be", ("is", "are")), WordRow("exist", ("exists", "exist")))
    )
    found = judged({"are": 0.45, "is": 0.02, "exist": 0.25, "exists": 0.28}, words, "plural", Cut())
    assert found.equal_weight.tolist() == [0.5]
    assert found.model_weight[0] == pytest.approx(0.7)
    assert found.won.tolist() == [1.0, 0.0]


@st.composite
def lists(draw: st.DrawFn) -> tuple[Drawn, WordList, int]:
    size, columns = draw(st.integers(6, 60)), draw(st.integers(2, 4))
    vocabulary = [f"w{k}" for k in range(size)]
    rows = draw(st.integers(1, size // columns))
    forms = draw(st.permutations(vocabulary))[: rows * columns]
    labels = tuple(f"l{k}" for k in range(columns))
    made = tuple(WordRow(str(k), tuple(forms[k * columns : (k + 1) * columns])) for k in range(rows))
    return Drawn(vocabulary, levels=draw(st.sampled_from([0, 0, 3, 20]))), WordList("any", labels, made), columns


@pytest.mark.slow
@settings(max_examples=60)
@given(lists(), st.text(max_size=3), st.data())
def test_any_distribution_against_the_definition(
    made: tuple[Drawn, WordList, int], left: str, data: st.DataObject
) -> None:
    """With and without cut-offs, with ties, and with up to four labels."""
    model, words, columns = made
    right = data.draw(st.integers(0, columns - 1))
    limits = canonical_cuts((*PUBLISHED_TOP, 0.123), (*PUBLISHED_BOTTOM, 0.77))
    asked = candidates(words)
    [answered] = model.fill([Gap(left, "", asked.words)])
    found = shares(answered, asked, words.labels[right], limits)
    distribution = model.distribution(left, "")
    for number, cut in enumerate(limits):
        end, q = ("bottom", cut.bottom) if cut.bottom < 1 else ("top", cut.top)
        sums = np.cumsum(np.sort(list(distribution.values()))[:: 1 if end == "bottom" else -1])
        if q < 1 and np.abs(sums - q).min() < 1e-9:
            continue  # Rounding says on which side of the cut-off a word falls.
        expected = oracle(distribution, [row.forms for row in words.rows], right, end, q)
        here = found.equal_weight[number], found.model_weight[number], found.covered[number]
        assert here == pytest.approx(expected, nan_ok=True, abs=1e-6), cut


def test_rows_that_cannot_be_asked_do_not_count() -> None:
    # b_c is two tokens, x is unknown: of four rows, three count without a cut-off, two at one or if single tokens are asked for.
    words = WordList(
        "w",
        ("l", "r"),
        tuple(WordRow(k, f) for k, f in zip("1234", [("a", "b"), ("b_c", "c"), ("x", "d"), ("e", "f")], strict=True)),
    )
    model, asked = Drawn(list("abcdefgh")), candidates(words)
    [answered] = model.fill([Gap("The ", ".", asked.words)])
    everything = shares(answered, asked, "l", (Cut(), Cut(top=0.9)))
    single = shares(answered, asked, "l", (Cut(), Cut(top=0.9)), "single-token")
    assert everything.eligible.tolist() == [True, True, False, True]
    assert single.eligible.tolist() == [True, False, False, True]
    assert everything.ranked == single.ranked == 2
    p = model.distribution("The ", ".")
    expected = p["a"] + p["b"] + p["b"] * p["c"] + p["c"] + p["e"] + p["f"]
    assert everything.covered[0] == pytest.approx(expected)
    assert everything.model_weight[0] == pytest.approx((p["a"] + p["b"] * p["c"] + p["e"]) / expected)
    assert everything.equal_weight[1] == single.equal_weight[1]
    assert np.isnan(everything.won[2])
    assert np.isnan(everything.right[2])


def test_nothing_eligible_is_undefined() -> None:
    asked = candidates(WordList("w", ("l", "r"), (WordRow("1", ("x", "y")),)))
    [answered] = Drawn(["a"]).fill([Gap("", "", asked.words)])
    found = shares(answered, asked, "l", (Cut(), Cut(top=0.5), Cut(bottom=0.5)))
    assert np.isnan([found.equal_weight, found.model_weight]).all()
    assert found.covered.tolist() == [0, 0, 0]


def test_names_of_measures_are_read_back() -> None:
    for made in (EqualWeight, ModelWeight):
        for cut in canonical_cuts(PUBLISHED_TOP, PUBLISHED_BOTTOM):
            measure = made(cut.top, cut.bottom)
            assert made.parse(str(measure)) == measure
    assert str(EqualWeight(bottom=1e-6)) == "equal_weight(bottom=1e-06)"


@pytest.mark.parametrize(
    "text", ["tse", "equal_weight(q=0.5)", "equal_weight(top=2)", "equal_weight(top=0)", "equal_weight(top=.)"]
)
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        EqualWeight.parse(text)


def test_both_ends_cannot_be_cut() -> None:
    with pytest.raises(UsageError, match="one of the two"):
        Cut(0.5, 0.5)
