"""Two models on the same items: by how much they differ, and on which items.

Every number is paired: items that are undefined under either model are left out and counted, and the differences are of
the second model minus the first, item by item. Intervals redraw items, as in `analysis.interval`; the p of McNemar's test is
exact and two-sided; `separation` adjusts it for the number of suites.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.analysis import interval
from syntagm.result import Estimate

_KEYS = ("suite", "item", "measure")
FLIP_COLUMNS = ("suite", "item", "measure", "value_a", "value_b", "margin_a", "margin_b")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Model b against model a on the items of one suite, or of several.

    Arguments:
        group: {"suite": ..., "measure": ...}, or {"measure": ...} over suites.
        a, b: their accuracies on the n items; over suites, the unweighted means.
        difference: b - a, with ties 0 and the left-out items as undefined.
        margin: the mean difference of the margins, b - a, in bits.
        both, only_a, only_b, neither: on how many items the prediction holds under both models, one, none.
        ties_a, ties_b: how many of the items are ties.
        p: of McNemar's test.
    """

    group: Mapping[str, str]
    a: float
    b: float
    difference: Estimate
    margin: Estimate
    both: int
    only_a: int
    only_b: int
    neither: int
    ties_a: int
    ties_b: int
    p: float

    @property
    def n(self) -> int:
        """How many items are defined under both models."""
        return self.difference.n

    @property
    def flipped(self) -> int:
        """How many items the models judge differently."""
        return self.only_a + self.only_b


def pair(a: pl.DataFrame, b: pl.DataFrame) -> pl.DataFrame:
    """Two tables of results, of one model each, side by side: a row an item and measure, columns as in `FLIP_COLUMNS`.

    An item that only one table has is undefined (nan) in the other.
    """
    sides = []
    for table, name in ((a, "a"), (b, "b")):
        # An item's id may occur twice in a suite; the occurrences are then told apart by their order.
        occurrence = pl.int_range(pl.len()).over(_KEYS).alias("occurrence")
        numbers = (pl.col("value").alias(f"value_{name}"), pl.col("margin").alias(f"margin_{name}"))
        sides.append(table.select(*_KEYS, occurrence, *numbers))
    joined = sides[0].join(sides[1], on=[*_KEYS, "occurrence"], how="full", coalesce=True, maintain_order="left_right")
    return joined.with_columns(pl.col("^(value|margin)_[ab]$").fill_null(np.nan)).select(FLIP_COLUMNS)


def compare(pairs: pl.DataFrame, tolerances: tuple[float, float]) -> list[Comparison]:
    """One comparison for each suite and measure, in the order of first appearance.

    Arguments:
        pairs: as `pair` makes them.
        tolerances: margins within so many bits are ties, under a and under b.
    """
    return [
        _comparison({"suite": str(suite), "measure": str(measure)}, {str(suite): rows}, tolerances)
        for (suite, measure), rows in pairs.group_by("suite", "measure", maintain_order=True)
    ]


def over_suites(pairs: pl.DataFrame, tolerances: tuple[float, float]) -> Comparison:
    """One comparison over all suites, for pairs of one measure.

    Accuracies, difference and margin are unweighted means of those of the suites, with items redrawn within suites; counts
    and p are of all items together.
    """
    measures = ", ".join(pairs["measure"].unique(maintain_order=True))
    suites = {str(suite): rows for (suite,), rows in pairs.group_by("suite", maintain_order=True)}
    return _comparison({"measure": measures}, suites, tolerances)


def flips(pairs: pl.DataFrame) -> pl.DataFrame:
    """The items that the models judge differently, in order."""
    return _defined(pairs).filter(pl.col("value_a") != pl.col("value_b"))


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p of McNemar's test: how likely so uneven a split of the flips is if each side has one half.

    >>> round(mcnemar(1, 5), 5)  # 2 (1 + 6) / 2**6
    0.21875
    >>> mcnemar(0, 0)
    1.0
    """
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))


def _comparison(
    group: Mapping[str, str], tables: Mapping[str, pl.DataFrame], tolerances: tuple[float, float]
) -> Comparison:
    suites = {suite: _defined(rows) for suite, rows in tables.items()}
    rows = pl.concat(suites.values())
    left_out = sum(map(len, tables.values())) - len(rows)
    a, b = rows["value_a"].to_numpy(), rows["value_b"].to_numpy()
    both, only_a, only_b = (int(found.sum()) for found in ((a == b) & (a > 0), a > b, b > a))
    return Comparison(
        group,
        _mean_of_means(suites, "value_a"),
        _mean_of_means(suites, "value_b"),
        _difference(group, suites, "value", left_out),
        _difference(group, suites, "margin", left_out),
        both,
        only_a,
        only_b,
        len(rows) - both - only_a - only_b,
        int((rows["margin_a"].abs() <= tolerances[0]).sum()),
        int((rows["margin_b"].abs() <= tolerances[1]).sum()),
        mcnemar(only_a, only_b),
    )


def _difference(group: Mapping[str, str], suites: Mapping[str, pl.DataFrame], name: str, left_out: int) -> Estimate:
    values = {suite: (rows[f"{name}_b"] - rows[f"{name}_a"]).to_numpy() for suite, rows in suites.items()}
    means = interval.mean_over_suites(values)
    method = interval.METHOD if "suite" in group else interval.method_over_suites(len(suites))
    method = interval.remark(f"{method}, paired", {suite: len(one) for suite, one in values.items()})
    value = float(np.mean([_mean(one) for one in values.values()]))
    return Estimate(group, value, *interval.interval(means), sum(map(len, values.values())), method, 0, left_out)


def _defined(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(pl.col("value_a").is_not_nan() & pl.col("value_b").is_not_nan())


def _mean_of_means(suites: Mapping[str, pl.DataFrame], column: str) -> float:
    return float(np.mean([_mean(rows[column].to_numpy()) for rows in suites.values()]))


def _mean(values: NDArray[np.float64]) -> float:
    with np.errstate(invalid="ignore"):  # infinite margins of both signs have the mean nan
        return float(values.mean()) if len(values) else np.nan
