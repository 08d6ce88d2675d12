"""Chance levels: the probability that predictions hold if all values are independent draws from one distribution.

A value belongs to a region in a condition. The same region in the same condition always has the same value, and
different regions or conditions have independent values. The distribution is continuous, so `a = b` has probability 0
and there are no ties.

If only the order of values matters, as in `(5;%a%) < (5;%b%) & (5;%a%) < (5;%c%)`, the orders that satisfy the formula
are counted: all n! orders of n values are equally probable, regardless of the distribution. A single comparison whose
two sides can be exchanged, as in a + b < c + d, has probability 1/2, regardless of the distribution. In all other
cases, sums and differences depend on the distribution, which is assumed to be normal. Comparisons are then half-spaces
through the centre of a spherical normal distribution, and the probability of three of them is

    1/8 + (arcsin r12 + arcsin r13 + arcsin r23) / 4 pi        r: correlations of the differences compared with 0

Parts without a common value (under the normal distribution: uncorrelated parts) are independent, and their
probabilities are multiplied. `|` is resolved by inclusion and exclusion. Formulas that these rules don't cover are
refused, never approximated.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from syntagm.core import InputError
from syntagm.evaluation.chance import event as _event, share as _share
from syntagm.suites import Formula

ANY, NORMAL = "any continuous distribution", "normal distribution"


@dataclass(frozen=True, slots=True)
class Chance:
    """The chance level of predictions."""

    value: float  # from 0 to 1; nan if unknown
    fraction: Fraction | None  # the exact value if it is rational, otherwise None
    method: str  # the distributions for which the value holds; if the value is unknown, the reason

    def __str__(self) -> str:
        if math.isnan(self.value):
            return ""
        return f"{self.value:.4f}" if self.fraction is None else str(self.fraction)


def chance(*formulas: Formula) -> Chance:
    """Compute the probability that all formulas hold if values are independent draws from one continuous distribution.

    Raises:
        InputError: the rules of this module don't cover the formulas, or the probability is undefined: a value is
            compared with a number, different numbers of values are compared, or a whole sentence and a region of it
            both occur.

    >>> from syntagm.suites import parse
    >>> level = chance(parse("(1;%a%) > (1;%b%) & (1;%a%) > (1;%c%)"))
    >>> str(level), level.method
    ('1/3', 'any continuous distribution')
    >>> str(chance(parse("(1;%a%) > (1;%b%) & (1;%a%) > (1;%c%) & (1;%a%) - (1;%b%) > (1;%c%) - (1;%d%)")))
    '7/24'
    """
    _refuse_mixtures(formulas)
    share, free = _share.share(_event.join(True, (_event.read(formula.tree) for formula in formulas)))
    return Chance(float(share), share if isinstance(share, Fraction) else None, ANY if free else NORMAL)


def known(*formulas: Formula) -> Chance:
    """Compute the chance level like `chance`, but return nan with the reason as method instead of raising an error."""
    try:
        return chance(*formulas)
    except InputError as error:
        return unknown(str(error))


def unknown(reason: str) -> Chance:
    """Return an unknown chance level with its reason."""
    return Chance(math.nan, None, reason)


def mean(chances: Sequence[Chance]) -> Chance:
    """Average chance levels; the mean is unknown if one of them is unknown, or if there are none.

    >>> str(mean([Chance(0.5, Fraction(1, 2), ANY), Chance(0.25, Fraction(1, 4), NORMAL)]))
    '3/8'
    """
    unknown_levels = [level for level in chances if math.isnan(level.value)]
    if unknown_levels or not chances:
        return Chance(math.nan, None, unknown_levels[0].method if unknown_levels else "no chance level: no suites")
    method = NORMAL if any(level.method == NORMAL for level in chances) else ANY
    fractions = [level.fraction for level in chances if level.fraction is not None]
    if len(fractions) == len(chances):
        exact = sum(fractions, Fraction(0)) / len(chances)
        return Chance(float(exact), exact, method)
    return Chance(sum(level.value for level in chances) / len(chances), None, method)


def comparisons(*formulas: Formula) -> tuple[_event.Inequality, ...]:
    """Return the distinct comparisons in the formulas, written as comparisons with 0, in no particular order."""
    # Comparisons with `=`, and those in which all values cancel, are not included.
    events = (_event.read(formula.tree) for formula in formulas)
    return tuple(dict.fromkeys(inequality for event in events for inequality in _event.within(event)))


def _refuse_mixtures(formulas: Iterable[Formula]) -> None:
    references = {reference for formula in formulas for reference in formula.references()}
    whole = {reference.condition for reference in references if reference.region == "*"}
    for reference in sorted(references, key=str):
        if reference.condition in whole and reference.region != "*":
            found = f"({reference.region};%{reference.condition}%) beside the whole sentence"
            raise InputError("no chance level", found, "values that are drawn independently")


def against_chance(right: int, n: int, chance: float) -> float:
    """Compute the two-sided p-value of the exact binomial test: twice the smaller tail, at most 1.

    Arguments:
        right: the number of items for which the prediction holds.
        n: the number of items.
        chance: the probability that the prediction holds for an item by chance.

    >>> round(against_chance(5, 5, 0.5), 4), against_chance(1, 2, 0.5)  # 2 / 2**5
    (0.0625, 1.0)
    """
    from scipy.special import bdtr, bdtrc

    lower = float(bdtr(right, n, chance)) if right < n else 1.0
    upper = float(bdtrc(right - 1, n, chance)) if right else 1.0
    return min(1.0, 2.0 * min(lower, upper))
