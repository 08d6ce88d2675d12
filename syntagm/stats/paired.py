"""Two models on the same items: by how much they differ, and on which items.

Every number is paired: items that are undefined under either model are left out and counted, and the differences are of
the second model minus the first, item by item. Intervals redraw items, as in `stats.bootstrap`; the p of McNemar's test is
exact and two-sided; `separation` adjusts it for the number of suites. Measures whose values are shares (`equal_weight`,
`model_weight`) have a difference and no more: none of their items holds or fails; see `are_verdicts`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.errors import UsageError
from syntagm.result import Estimate
from syntagm.stats import bootstrap

_KEYS = ("suite", "item", "measure")
FLIP_COLUMNS = ("suite", "item", "measure", "value_a", "value_b", "margin_a", "margin_b")


@dataclass(frozen=True, slots=True)
class Comparison:
    """Model b against model a on the items of one suite, or of several.

    Arguments:
        group: {"suite": ..., "measure": ...}, or {"measure": ...} over suites.
        a, b: their accuracies (of shares, means) on the n items; over suites, the unweighted means.
        ends_a, ends_b: the ends of the intervals of a and of b.
        difference: b - a, with ties 0 and the left-out items as undefined.
        margin: the mean difference of the margins, b - a, in bits.
        both, only_a, only_b, neither: on how many items the prediction holds under both models, one, none.
        ties_a, ties_b: how many of the items are ties.
        p: of McNemar's test.

    Of shares there is a difference only: margin and counts are None, p is nan.
    """

    group: Mapping[str, str]
    a: float
    b: float
    ends_a: tuple[float, float]
    ends_b: tuple[float, float]
    difference: Estimate
    margin: Estimate | None = None
    both: int | None = None
    only_a: int | None = None
    only_b: int | None = None
    neither: int | None = None
    ties_a: int | None = None
    ties_b: int | None = None
    p: float = np.nan

    @property
    def n(self) -> int:
        """How many items are defined under both models."""
        return self.difference.n

    @property
    def flipped(self) -> int | None:
        """How many items the models judge differently."""
        return None if self.only_a is None or self.only_b is None else self.only_a + self.only_b


def are_verdicts(values: ArrayLike, margins: ArrayLike) -> bool:
    """Do the values say that something holds (1) or fails (0)? Else they are shares, between 0 and 1 and without margins.

    Arguments:
        values, margins: of one measure. Those whose value is nan don't count; without any other, the answer is yes.

    >>> are_verdicts([1.0, 0.0, np.nan], [2.5, -1.0, np.nan])
    True
    >>> are_verdicts([1.0, 0.6], [np.nan, np.nan])
    False
    """
    found, beside = np.asarray(values, np.float64), np.asarray(margins, np.float64)
    defined = ~np.isnan(found)
    if not defined.any():
        return True
    return bool(np.isin(found[defined], (0.0, 1.0)).all() and not np.isnan(beside[defined]).all())


def of_verdicts(pairs: pl.DataFrame) -> bool:
    """The same of both sides of pairs of one measure, as `pair` makes them."""
    values, margins = (pl.concat([pairs[f"{name}_{side}"] for side in "ab"]) for name in ("value", "margin"))
    return are_verdicts(values.to_numpy(), margins.to_numpy())


def refuse_shares(pairs: pl.DataFrame, what: str) -> None:
    """Refuse to make something of pairs that are no verdicts.

    Raises:
        UsageError: they are shares.
    """
    if not of_verdicts(pairs):
        named = ", ".join(pairs["measure"].unique(maintain_order=True))
        raise UsageError(
            what, f"{named}, whose values are shares between 0 and 1: none holds or fails", "a measure of verdicts",
            "By how much models differ: `syntagm compare A B --measure M`, `syntagm table comparison A B measure=M`.",
        )  # fmt: skip


def pair(a: pl.DataFrame, b: pl.DataFrame) -> pl.DataFrame:
    """Two tables of results, of one model each, side by side: a row an item and measure, columns as in `FLIP_COLUMNS`.

    An item that only one table has is undefined (nan) in the other.
    """
    if a.select(_KEYS).equals(b.select(_KEYS)):
        # The same items in the same order, as of two runs of the same suites: there is nothing to join.
        numbers = (b["value"].alias("value_b"), b["margin"].alias("margin_b"))
        named = a.select(*_KEYS, pl.col("value").alias("value_a"), pl.col("margin").alias("margin_a"))
        return (
            named.with_columns(*numbers)
            .with_columns(pl.col("^(value|margin)_[ab]$").fill_null(np.nan))
            .select(FLIP_COLUMNS)
        )
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
    judged = {measure: of_verdicts(rows) for (measure,), rows in pairs.group_by("measure")}
    return [
        _comparison({"suite": str(suite), "measure": str(measure)}, {str(suite): rows}, tolerances, judged[measure])
        for (suite, measure), rows in pairs.group_by("suite", "measure", maintain_order=True)
    ]


def over_suites(pairs: pl.DataFrame, tolerances: tuple[float, float]) -> Comparison:
    """One comparison over all suites, for pairs of one measure.

    Accuracies, difference and margin are unweighted means of those of the suites, with items redrawn within suites; counts
    and p are of all items together.
    """
    measures = ", ".join(pairs["measure"].unique(maintain_order=True))
    suites = {str(suite): rows for (suite,), rows in pairs.group_by("suite", maintain_order=True)}
    return _comparison({"measure": measures}, suites, tolerances, of_verdicts(pairs))


def flips(pairs: pl.DataFrame) -> pl.DataFrame:
    """The items that the models judge differently, in order.

    Raises:
        UsageError: the values are shares.
    """
    refuse_shares(pairs, "flips")
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
    group: Mapping[str, str], tables: Mapping[str, pl.DataFrame], tolerances: tuple[float, float], judged: bool
) -> Comparison:
    suites = {suite: _defined(rows) for suite, rows in tables.items()}
    left_out = sum(map(len, tables.values())) - sum(map(len, suites.values()))
    means = (_mean_of_means(suites, "value_a"), _mean_of_means(suites, "value_b"))
    ends = (_ends(suites, "value_a"), _ends(suites, "value_b"))
    found = Comparison(group, *means, *ends, _difference(group, suites, "value", left_out))
    if not judged:
        return found
    margin = _difference(group, suites, "margin", left_out)
    return replace(found, margin=margin, **_counts(pl.concat(suites.values()), tolerances))


def _counts(rows: pl.DataFrame, tolerances: tuple[float, float]) -> dict[str, Any]:
    """What is counted of verdicts, and McNemar's p, by the names of `Comparison`."""
    a, b = rows["value_a"].to_numpy(), rows["value_b"].to_numpy()
    both, only_a, only_b = (int(found.sum()) for found in ((a == b) & (a > 0), a > b, b > a))
    counts = {"both": both, "only_a": only_a, "only_b": only_b, "neither": len(rows) - both - only_a - only_b}
    ties = [int((rows[f"margin_{side}"].abs() <= most).sum()) for side, most in zip("ab", tolerances, strict=True)]
    return counts | {"ties_a": ties[0], "ties_b": ties[1], "p": mcnemar(only_a, only_b)}


def _ends(suites: Mapping[str, pl.DataFrame], column: str) -> tuple[float, float]:
    return bootstrap.interval(
        bootstrap.mean_over_suites({name: rows[column].to_numpy() for name, rows in suites.items()})
    )


def _difference(group: Mapping[str, str], suites: Mapping[str, pl.DataFrame], name: str, left_out: int) -> Estimate:
    values = {suite: (rows[f"{name}_b"] - rows[f"{name}_a"]).to_numpy() for suite, rows in suites.items()}
    means = bootstrap.mean_over_suites(values)
    method = bootstrap.METHOD if "suite" in group else bootstrap.method_over_suites(len(suites))
    method = bootstrap.remark(f"{method}, paired", {suite: len(one) for suite, one in values.items()})
    value = float(np.mean([_mean(one) for one in values.values()]))
    return Estimate(group, value, *bootstrap.interval(means), sum(map(len, values.values())), method, 0, left_out)


def _defined(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(pl.col("value_a").is_not_nan() & pl.col("value_b").is_not_nan())


def _mean_of_means(suites: Mapping[str, pl.DataFrame], column: str) -> float:
    return float(np.mean([_mean(rows[column].to_numpy()) for rows in suites.values()]))


def _mean(values: NDArray[np.float64]) -> float:
    with np.errstate(invalid="ignore"):  # infinite margins of both signs have the mean nan
        return float(values.mean()) if len(values) else np.nan
