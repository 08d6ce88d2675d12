"""Which suites separate two models: paired differences of accuracy, McNemar's exact test, adjusted over the suites.

The family of tests is the suites that are compared: with 34 of them, one or two have p < 0.05 though nothing differs. A
suite without an item that is defined under both models is not tested and not counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from syntagm.analysis import interval
from syntagm.analysis.benjamini_hochberg import benjamini_hochberg
from syntagm.analysis.comparison import mcnemar
from syntagm.analysis.holm import holm
from syntagm.result import Estimate

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Separation:
    """Model b against model a on one suite.

    Arguments:
        a, b: their accuracies on the items that are defined under both.
        difference: b - a, with the left-out items as undefined.
        only_a, only_b: on how many items the prediction holds under one model only.
        p, holm, benjamini_hochberg: of McNemar's exact test, as it is and adjusted over the suites; nan without items.
    """

    suite: str
    a: float
    b: float
    difference: Estimate
    only_a: int
    only_b: int
    p: float
    holm: float
    benjamini_hochberg: float


def by_suite(pairs: pl.DataFrame) -> list[Separation]:
    """One separation a suite, in the order of first appearance.

    Arguments:
        pairs: of one measure, as `comparison.pair` makes them.

    >>> columns = ["suite", "item", "measure", "value_a", "value_b", "margin_a", "margin_b"]
    >>> rows = [("s", str(k), "first", float(k > 5), 1.0, 0.0, 1.0) for k in range(8)]
    >>> [one] = by_suite(pl.DataFrame(rows, schema=columns, orient="row"))
    >>> one.a, one.b, one.only_b, one.p  # 6 flips, all to b: 2 / 2**6
    (0.25, 1.0, 6, 0.03125)
    """
    sides = {suite: (defined, left_out) for suite, defined, left_out in _suites(pairs)}
    flips = {suite: _flips(defined) for suite, (defined, _) in sides.items()}
    tested = [suite for suite, (defined, _) in sides.items() if len(defined)]
    p = {suite: mcnemar(*flips[suite]) for suite in tested}
    adjusted = [dict(zip(tested, rule([*p.values()]), strict=True)) for rule in (holm, benjamini_hochberg)]
    return [
        Separation(
            suite,
            _mean(defined, "value_a"),
            _mean(defined, "value_b"),
            _difference({"suite": suite}, {suite: _values(defined)}, left_out, interval.METHOD),
            *flips[suite],
            *(numbers.get(suite, np.nan) for numbers in (p, *adjusted)),
        )
        for suite, (defined, left_out) in sides.items()
    ]


def over_suites(pairs: pl.DataFrame) -> Estimate:
    """The unweighted mean of the differences of the suites, b - a; items are redrawn within suites, paired."""
    sides = list(_suites(pairs))
    values = {suite: _values(defined) for suite, defined, _ in sides}
    left_out = sum(count for _, _, count in sides)
    return _difference({}, values, left_out, interval.method_over_suites(len(values)))


def _suites(pairs: pl.DataFrame) -> list[tuple[str, pl.DataFrame, int]]:
    """Each suite with its items that are defined under both models, and how many are not."""
    both = pl.col("value_a").is_not_nan() & pl.col("value_b").is_not_nan()
    found = []
    for (suite,), rows in pairs.group_by("suite", maintain_order=True):
        defined = rows.filter(both)
        found.append((str(suite), defined, len(rows) - len(defined)))
    return found


def _flips(defined: pl.DataFrame) -> tuple[int, int]:
    a, b = defined["value_a"], defined["value_b"]
    return int((a > b).sum()), int((b > a).sum())


def _values(defined: pl.DataFrame) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    return (defined["value_b"] - defined["value_a"]).to_numpy()


def _mean(defined: pl.DataFrame, column: str) -> float:
    mean = defined[column].mean()
    return float(mean) if isinstance(mean, float) else np.nan


def _difference(
    group: Mapping[str, str],
    values: Mapping[str, "np.ndarray[tuple[int, ...], np.dtype[np.float64]]"],
    left_out: int,
    method: str,
) -> Estimate:
    sizes = {suite: len(one) for suite, one in values.items()}
    value = float(np.mean([one.mean() if len(one) else np.nan for one in values.values()]))
    ends = interval.interval(interval.mean_over_suites(values))
    return Estimate(group, value, *ends, sum(sizes.values()), interval.remark(f"{method}, paired", sizes), 0, left_out)
