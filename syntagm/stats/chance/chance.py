"""Chance: how often predictions hold together if every value they compare is an independent draw from one distribution.

A value is what a formula calls a region in a condition; the same region in the same condition is the same value, any other
is another draw. The distribution is continuous, so `a = b` has probability 0 and a tie never happens.

Where only the order of values matters, as in `(5;%a%) < (5;%b%) & (5;%a%) < (5;%c%)`, the orders that fit are counted: of n
values each of the n! orders is as likely as any other, whatever the distribution. A single comparison whose two sides can
be swapped, as in a + b < c + d, holds in half of the cases, whatever the distribution. Otherwise sums and differences
make the distribution matter, and it is taken to be normal: comparisons are half-spaces through the middle of a round
cloud, and the share of the cloud in up to three of them is

    1/8 + (arcsin r12 + arcsin r13 + arcsin r23) / 4 pi        r: correlations of the differences compared with 0

Parts that share no value (under the normal distribution: that are not correlated) are independent, and are multiplied; `|`
is resolved by inclusion and exclusion. What these rules don't reach is refused, never approximated.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from syntagm.errors import InputError
from syntagm.formula import Formula
from syntagm.stats.chance import event as _event
from syntagm.stats.chance import share as _share

ANY, NORMAL = "any continuous distribution", "normal distribution"


@dataclass(frozen=True, slots=True)
class Chance:
    """How often predictions hold by chance.

    Arguments:
        value: from 0 to 1; nan where it is not known.
        fraction: the same exactly, if it is rational; None if not.
        method: of which distributions it is true; where it is not known, why.
    """

    value: float
    fraction: Fraction | None
    method: str

    def __str__(self) -> str:
        if math.isnan(self.value):
            return ""
        return f"{self.value:.4f}" if self.fraction is None else str(self.fraction)


def chance(*formulas: Formula) -> Chance:
    """The probability that all formulas hold of values that are independent draws from one continuous distribution.

    Raises:
        InputError: it isn't defined (a value is compared with a number, or more values with fewer; a whole sentence and a
            region of it both occur), or these rules don't reach it.

    >>> from syntagm.formula import parse
    >>> one = chance(parse("(1;%a%) > (1;%b%) & (1;%a%) > (1;%c%)"))
    >>> str(one), one.method
    ('1/3', 'any continuous distribution')
    >>> str(chance(parse("(1;%a%) > (1;%b%) & (1;%a%) > (1;%c%) & (1;%a%) - (1;%b%) > (1;%c%) - (1;%d%)")))
    '7/24'
    """
    _refuse_mixtures(formulas)
    share, free = _share.share(_event.join(True, (_event.read(formula.tree) for formula in formulas)))
    return Chance(float(share), share if isinstance(share, Fraction) else None, ANY if free else NORMAL)


def known(*formulas: Formula) -> Chance:
    """The same; but where `chance` refuses, the value is nan and the method says why."""
    try:
        return chance(*formulas)
    except InputError as error:
        return unknown(str(error))


def unknown(reason: str) -> Chance:
    """A chance that isn't known, and why."""
    return Chance(math.nan, None, reason)


def mean(chances: Sequence[Chance]) -> Chance:
    """The mean of some chances; not known if one of them isn't, or without any.

    >>> str(mean([Chance(0.5, Fraction(1, 2), ANY), Chance(0.25, Fraction(1, 4), NORMAL)]))
    '3/8'
    """
    missing = [one for one in chances if math.isnan(one.value)]
    if missing or not chances:
        return Chance(math.nan, None, missing[0].method if missing else "no chance level: no suites")
    method = NORMAL if any(one.method == NORMAL for one in chances) else ANY
    fractions = [one.fraction for one in chances if one.fraction is not None]
    if len(fractions) == len(chances):
        exact = sum(fractions, Fraction(0)) / len(chances)
        return Chance(float(exact), exact, method)
    return Chance(sum(one.value for one in chances) / len(chances), None, method)


def comparisons(*formulas: Formula) -> tuple[_event.Inequality, ...]:
    """What the formulas compare with 0, in no particular order, without repeats; `=` and what cancels out is not among it.

    Raises:
        InputError: as in `chance`.
    """
    found = (_event.read(formula.tree) for formula in formulas)
    return tuple(dict.fromkeys(one for event in found for one in _event.within(event)))


def _refuse_mixtures(formulas: Iterable[Formula]) -> None:
    references = {reference for formula in formulas for reference in formula.references()}
    whole = {reference.condition for reference in references if reference.region == "*"}
    for reference in sorted(references, key=str):
        if reference.condition in whole and reference.region != "*":
            found = f"({reference.region};%{reference.condition}%) beside the whole sentence"
            raise InputError("no chance level", found, "values that are drawn independently")
