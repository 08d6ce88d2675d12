"""Chance, against values worked out by hand and against simulation."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest

from syntagm.core import InputError
from syntagm.evaluation import Chance, chance, chance_level
from syntagm.suites import Formula, parse

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
GARDEN_PATH = "[(5;%a%) > (5;%b%)] & [(5;%a%) > (5;%c%)] & [((5;%a%) - (5;%b%)) > ((5;%c%) - (5;%d%))]"
FILLER_GAP = "((5;%what_nogap%) > (5;%that_nogap%)) & ((6;%what_gap%) < (6;%that_gap%))"
CLEFT = "((6;%nm%)-(6;%n%))+(((5;%vm%)+(6;%vm%))-((5;%v%)+(6;%v%)))>0"
RELEASED = "((8;%s%) < (8;%sx%)) & ((8;%p%) < (8;%px%))"
LICENSING = "((8;%s%) < (8;%px%)) & ((8;%p%) < (8;%sx%))"


@pytest.mark.parametrize(
    ("formula", "fraction", "method"),
    [
        ("((6;%plaus%) + (7;%plaus%)) < ((6;%implaus%) + (7;%implaus%))", HALF, chance_level.ANY),  # center_embed
        (CLEFT, HALF, chance_level.ANY),
        (FILLER_GAP, QUARTER, chance_level.ANY),
        ("[(6;%a%) = (6;%b%)] & [(7;%a%) = (7;%b%)]", Fraction(0), chance_level.ANY),  # fgd_hierarchy, its second
        # Correlations 1/2, 1/sqrt 2, 1/sqrt 2: 1/8 + (pi/6 + pi/4 + pi/4) / 4 pi = 1/8 + 1/6.
        (GARDEN_PATH, Fraction(7, 24), chance_level.NORMAL),
        # a < c and a < d in 1/3 of cases, of which b < d in 5/8; counted below.
        ("((8;%a%) < (8;%c%)) & ((8;%b%) < (8;%d%)) & ((8;%a%) < (8;%d%))", Fraction(5, 24), chance_level.ANY),  # npi
        (RELEASED, QUARTER, chance_level.ANY),  # number, and reflexives as released
        (LICENSING, QUARTER, chance_level.ANY),  # reflexives as the paper has them
        (
            f"[{RELEASED}] & [{LICENSING}]",
            Fraction(1, 6),
            chance_level.ANY,
        ),  # both s and p below both others: 2! 2! / 4!
        ("((3;%a%) > (3;%b%)) & ((3;%c%) < (3;%d%))", QUARTER, chance_level.ANY),  # subordination
        ("(*;%good%) < (*;%bad%)", HALF, chance_level.ANY),
        ("(critical;%good%) < (critical;%bad%)", HALF, chance_level.ANY),
    ],
)
def test_published_predictions(formula: str, fraction: Fraction, method: str) -> None:
    found = chance(parse(formula))
    assert (found.fraction, found.method) == (fraction, method)
    assert found.value == float(fraction)


def test_5_of_24_orders_fit_the_npi_prediction() -> None:
    places = itertools.permutations(range(4))
    assert [(a < c) & (b < d) & (a < d) for a, b, c, d in places].count(True) == 5


@pytest.mark.parametrize(
    ("formula", "fraction", "method"),
    [
        ("(1;%a%) < (1;%b%) & (1;%b%) < (1;%c%)", Fraction(1, 6), chance_level.ANY),
        ("(1;%a%) < (1;%b%) & (1;%b%) < (1;%c%) & (1;%c%) < (1;%a%)", Fraction(0), chance_level.ANY),
        ("(1;%a%) < (1;%b%) | (1;%a%) < (1;%c%)", Fraction(2, 3), chance_level.ANY),  # unless a is the largest of three
        ("(1;%a%) < (1;%b%) & (1;%b%) > (1;%a%)", HALF, chance_level.ANY),
        ("(1;%a%) < (1;%b%) | (1;%b%) < (1;%a%)", Fraction(1), chance_level.ANY),
        ("(1;%a%) < (1;%b%) & (1;%b%) < (1;%a%)", Fraction(0), chance_level.ANY),
        ("(1;%a%) < (1;%b%) & [(1;%c%) < (1;%d%) | (1;%e%) < (1;%f%)]", Fraction(3, 8), chance_level.ANY),
        ("(1;%a%) + (1;%c%) < (1;%b%) + (1;%c%)", HALF, chance_level.ANY),
        ("(1;%a%) + (1;%a%) < (1;%b%) + (1;%b%) & (1;%a%) < (1;%b%)", HALF, chance_level.ANY),
        ("(1;%a%) - (1;%a%) < 1", Fraction(1), chance_level.ANY),
        ("(1;%a%) < (1;%a%)", Fraction(0), chance_level.ANY),
        ("(1;%a%) = (1;%a%)", Fraction(1), chance_level.ANY),
        ("(1;%a%) = 3", Fraction(0), chance_level.ANY),
        # The middle of three against the mean of the others: not the same for all distributions.
        ("(1;%a%) - (1;%b%) > (1;%b%) - (1;%c%)", HALF, chance_level.NORMAL),
        # Opposite corners of a square are not correlated: a - b + c - d and a + b - c - d.
        (
            "(1;%a%) + (1;%c%) > (1;%b%) + (1;%d%) & (1;%a%) + (1;%b%) > (1;%c%) + (1;%d%)",
            QUARTER,
            chance_level.NORMAL,
        ),
        # The fourth follows from the first two: a > b and b > c.
        (
            "(1;%a%) > (1;%b%) & (1;%b%) > (1;%c%) & (1;%a%) - (1;%b%) > (1;%c%) - (1;%d%) & (1;%a%) > (1;%c%)",
            Fraction(7, 48),
            chance_level.NORMAL,
        ),
    ],
)
def test_other_predictions(formula: str, fraction: Fraction, method: str) -> None:
    found = chance(parse(formula))
    assert (found.fraction, found.method) == (fraction, method)


def test_two_and_three_half_spaces() -> None:
    # a - b and a + b - c - d: correlation 0. a - b and 2a - b - c: 3 / sqrt(2 x 6) = sqrt 3 / 2, so 1/4 + (pi/3) / 2 pi.
    two = chance(parse("(1;%a%) > (1;%b%) & (1;%a%) - (1;%b%) > (1;%c%) - (1;%a%)"))
    assert two.fraction == Fraction(5, 12)
    # a - 2b + c and a - d: 1 / sqrt(6 x 2). No fraction.
    odd = chance(parse("(1;%a%) - (1;%b%) > (1;%b%) - (1;%c%) & (1;%a%) > (1;%d%)"))
    assert (odd.fraction, str(odd)) == (None, "0.2966")
    assert odd.value == pytest.approx(1 / 4 + math.asin(1 / math.sqrt(12)) / (2 * math.pi), abs=1e-12)
    # a - b, b - c, a - b - c + d: correlations -1/2, 1/sqrt 2, 0.
    three = chance(parse("(1;%a%) > (1;%b%) & (1;%b%) > (1;%c%) & (1;%a%) - (1;%b%) > (1;%c%) - (1;%d%)"))
    assert three.value == pytest.approx(1 / 8 + (-math.pi / 6 + math.pi / 4) / (4 * math.pi), abs=1e-12)


def test_several_formulas_are_taken_together() -> None:
    one, two = parse("(1;%a%) < (1;%b%)"), parse("(1;%a%) < (1;%c%)")
    assert chance(one, two).fraction == Fraction(1, 3)
    assert chance(one, one).fraction == HALF
    assert chance().fraction == 1
    # fgd_hierarchy: equal, and not equal.
    assert chance(one, parse("(1;%a%) = (1;%b%)")).fraction == 0


@pytest.mark.parametrize(
    ("formula", "reason"),
    [
        ("(1;%a%) > 3", "a comparison with a number"),
        ("(1;%a%) - (1;%b%) > 0.5", "a comparison with a number"),
        ("(1;%a%) > 0", "different numbers of values"),
        ("(1;%a%) + (2;%a%) > (1;%b%)", "different numbers of values"),
        ("(*;%a%) > (*;%b%) & (1;%a%) > (1;%b%)", "beside the whole sentence"),
        (
            " & ".join(f"(1;%c{k}%) < (1;%c{k + 1}%)" for k in range(12)),
            "13 values that depend on each other; expected at most 12",
        ),
        (
            " & ".join(f"(1;%a%) + (1;%b%) < (1;%c{k}%) + (1;%d{k}%)" for k in range(4)),
            "4 comparisons of sums that depend on each other; expected at most 3",
        ),
    ],
)
def test_what_is_not_known_is_refused_with_the_reason(formula: str, reason: str) -> None:
    with pytest.raises(InputError, match="no chance level"):
        chance(parse(formula))
    found = chance_level.known(parse(formula))
    assert math.isnan(found.value)
    assert reason in found.method
    assert str(found) == ""


def test_the_whole_sentence_in_one_condition_and_a_region_in_another() -> None:
    assert chance(parse("(*;%a%) > (*;%b%) & (1;%c%) > (1;%d%)")).fraction == QUARTER


def test_the_mean_of_chances() -> None:
    irrational = Chance(0.3, None, chance_level.NORMAL)
    assert chance_level.mean([Chance(0.5, HALF, chance_level.ANY), Chance(0.25, QUARTER, chance_level.ANY)]) == Chance(
        0.375, Fraction(3, 8), chance_level.ANY
    )
    assert chance_level.mean([Chance(0.5, HALF, chance_level.ANY), irrational]) == Chance(
        0.4, None, chance_level.NORMAL
    )
    unknown = chance_level.known(parse("(1;%a%) > 3"))
    assert chance_level.mean([irrational, unknown]).method == unknown.method
    assert math.isnan(chance_level.mean([]).value)


def test_what_is_compared_with_0() -> None:
    [one] = chance_level.comparisons(parse("(1;%a%) + (1;%c%) < (1;%b%) + (1;%c%)"))
    assert [(reference.condition, times) for reference, times in one.terms] == [("a", -1), ("b", 1)]
    assert len(chance_level.comparisons(parse(GARDEN_PATH), parse(GARDEN_PATH))) == 3


def _drawn(draws: random.Random, sums: bool) -> Formula:
    """One to four comparisons among five values, joined at random."""

    def value() -> str:
        return f"(1;%{draws.choice('abcde')}%)"

    def comparison() -> str:
        if not sums or draws.random() < 0.5:
            return f"[{value()} {draws.choice('<>')} {value()}]"
        return (
            f"[{value()} {draws.choice('+-')} {value()} {draws.choice('<>')} {value()} {draws.choice('+-')} {value()}]"
        )

    text = comparison()
    for _ in range(draws.randrange(4)):
        text = f"[{text} {draws.choice('&|')} {comparison()}]"
    return parse(text)


@pytest.mark.parametrize("sums", [False, True])
def test_simulation_agrees(sums: bool) -> None:
    """40,000 draws: 5 standard errors are 5 sqrt(p (1 - p) / 40,000), exceeded once in 1.7 million comparisons."""
    draws, numbers, n = random.Random(3), np.random.default_rng(3), 40_000
    values = numbers.normal(16, 2, (5, n))
    skewed = numbers.exponential(3, (5, n))
    done = {chance_level.ANY: 0, chance_level.NORMAL: 0}
    while sum(done.values()) < 300:
        formula = _drawn(draws, sums)
        found = chance_level.known(formula)
        if math.isnan(found.value):
            continue
        done[found.method] += 1
        for sample in (values,) if found.method == chance_level.NORMAL else (values, skewed):
            margins = formula.margin(lambda _, condition, sample=sample: sample["abcde".index(condition)])
            held = float((margins > 1e-9).mean()) if isinstance(margins, np.ndarray) else float(margins > 0)
            assert abs(held - found.value) <= 5 * math.sqrt(found.value * (1 - found.value) / n) + 1e-12, str(formula)
    assert done[chance_level.ANY] > 30
    assert (done[chance_level.NORMAL] > 30) == sums


def test_all_orders_agree_with_counting() -> None:
    draws = random.Random(5)
    for _ in range(40):
        formula = _drawn(draws, sums=False)
        orders = list(itertools.permutations(range(5)))
        values = np.array(orders, float).T
        margins = formula.margin(lambda _, condition, values=values: values["abcde".index(condition)])
        held = int((margins > 0).sum()) if isinstance(margins, np.ndarray) and margins.ndim else 0
        assert chance(formula).fraction == Fraction(held, 120), str(formula)
