"""Which suites separate two models: paired differences of accuracy, McNemar's exact test, adjusted over the suites.

The family of tests is the suites that are compared: with 34 of them, one or two have p < 0.05 though nothing differs. A
suite without an item that is defined under both models is not tested and not counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.result import Estimate, Group
from syntagm.stats import bootstrap
from syntagm.stats.adjust import holm
from syntagm.stats.benjamini_hochberg import benjamini_hochberg
from syntagm.stats.paired import mcnemar, refuse_shares

LEVEL = 0.05
COLUMNS = ("a", "b", "difference")


@dataclass(frozen=True, slots=True)
class Separation:
    """Model b against model a on one suite.

    Arguments:
        a, b: their accuracies on the items that are defined under both; the left-out ones count as undefined.
        difference: b - a, with the left-out items as undefined.
        only_a, only_b: on how many items the prediction holds under one model only.
        p, holm, benjamini_hochberg: of McNemar's exact test, as it is and adjusted over the suites; nan without items.
    """

    suite: str
    a: Estimate
    b: Estimate
    difference: Estimate
    only_a: int
    only_b: int
    p: float
    holm: float
    benjamini_hochberg: float


@dataclass(frozen=True, slots=True)
class Difference:
    """The first numbers of a `Separation`, which measures whose values are shares have, too."""

    suite: str
    a: Estimate
    b: Estimate
    difference: Estimate


def differences(pairs: pl.DataFrame) -> list[Difference]:
    """By how much the models differ on each suite, without a test, in the order of first appearance.

    Arguments:
        pairs: of one measure, as `comparison.pair` makes them.
    """
    return [_difference(one) for one in _sides(pairs)]


def _difference(one: "_Side") -> Difference:
    a, b, difference = (_estimate(Group(suite=one.suite), [one], bootstrap.METHOD, column) for column in COLUMNS)
    return Difference(one.suite, a, b, difference)


def by_suite(pairs: pl.DataFrame) -> list[Separation]:
    """One separation a suite, in the order of first appearance.

    Arguments:
        pairs: of one measure, as `comparison.pair` makes them.

    Raises:
        UsageError: the values are shares, see `comparison.are_verdicts`.

    >>> columns = ["suite", "item", "measure", "value_a", "value_b", "margin_a", "margin_b"]
    >>> rows = [("s", str(k), "first", float(k > 5), 1.0, 0.0, 1.0) for k in range(8)]
    >>> [one] = by_suite(pl.DataFrame(rows, schema=columns, orient="row"))
    >>> one.a.value, one.b.value, one.only_b, one.p  # 6 flips, all to b: 2 / 2**6
    (0.25, 1.0, 6, 0.03125)
    """
    refuse_shares(pairs, "separation")
    sides = _sides(pairs)
    flips = [(int((one.a > one.b).sum()), int((one.b > one.a).sum())) for one in sides]
    tested = [place for place, one in enumerate(sides) if len(one.a)]
    p = [mcnemar(*flips[place]) for place in tested]
    adjusted = [dict(zip(tested, numbers, strict=True)) for numbers in (p, holm(p), benjamini_hochberg(p))]
    found = []
    for place, one in enumerate(sides):
        shown = _difference(one)
        p_values = [numbers.get(place, np.nan) for numbers in adjusted]
        found.append(Separation(one.suite, shown.a, shown.b, shown.difference, *flips[place], *p_values))
    return found


def over_suites(pairs: pl.DataFrame) -> Estimate:
    """The unweighted mean of the differences of the suites, b - a; items are redrawn within suites, paired."""
    return _over_suites(pairs, "difference")


def scores(pairs: pl.DataFrame) -> tuple[Estimate, Estimate]:
    """The unweighted means of the accuracies of a and of b over the suites, on the items that are defined under both."""
    return _over_suites(pairs, "a"), _over_suites(pairs, "b")


def _over_suites(pairs: pl.DataFrame, column: str) -> Estimate:
    sides = _sides(pairs)
    return _estimate(Group(), sides, bootstrap.method_over_suites(len(sides)), column)


@dataclass(frozen=True, slots=True)
class _Side:
    """The values of the items of a suite that are defined under both models, and how many are not. Shapes (items,)."""

    suite: str
    a: NDArray[np.float64]
    b: NDArray[np.float64]
    left_out: int

    @property
    def difference(self) -> NDArray[np.float64]:
        return self.b - self.a


def _sides(pairs: pl.DataFrame) -> list[_Side]:
    both = pl.col("value_a").is_not_nan() & pl.col("value_b").is_not_nan()
    table = pairs.group_by("suite", maintain_order=True).agg(
        pl.col("value_a").filter(both), pl.col("value_b").filter(both), left_out=(~both).sum()
    )
    return [
        _Side(suite, np.array(a, np.float64), np.array(b, np.float64), left_out)
        for suite, a, b, left_out in table.rows()
    ]


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else np.nan


def _estimate(group: Group, sides: Sequence[_Side], method: str, column: str) -> Estimate:
    """The mean over suites of the mean of `a`, `b` or the `difference`, item by item."""
    values: dict[str, NDArray[np.float64]] = {one.suite: getattr(one, column) for one in sides}
    sizes = {suite: len(one) for suite, one in values.items()}
    value = float(np.mean([_mean(one) for one in values.values()]))
    ends = bootstrap.interval(bootstrap.mean_over_suites(values))
    left_out = sum(one.left_out for one in sides)
    said = bootstrap.remark(f"{method}, paired" if column == "difference" else method, sizes)
    return Estimate(group, value, *ends, sum(sizes.values()), said, 0, left_out)
