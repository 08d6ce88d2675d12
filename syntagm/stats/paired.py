"""Paired comparison of two models on the same items: differences, discordant items and significance.

Differences are of the second model minus the first, item by item. Items that are undefined under either model are
excluded, and their number is given. On one suite, the test of verdicts is McNemar's and the interval is Tango's, its
inversion; over suites, see `suite_intervals.over_suites`. So a test is significant exactly where the interval doesn't
contain 0. The p-values of the suites are adjusted: of 34 suites, one or two are expected to have p < 0.05 even if the
models don't differ. A suite with fewer than two items that are defined under both models is not tested, and doesn't
count in the adjustment. Measures that are not verdicts (`equal_weight`, `model_weight`) have a difference only, since
their items neither hold nor fail.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.evaluation import Estimate, Group, Kind
from syntagm.stats import paired_intervals, suite_intervals
from syntagm.stats.adjust import benjamini_hochberg, holm
from syntagm.stats.interval import ROUNDING, Interval, mean_of, means_of
from syntagm.stats.matching import OCCURRENCE, joined, numbered
from syntagm.stats.score import over

_KEYS = ("suite", "item", "measure")
PAIR_COLUMNS = ("suite", "item", "measure", "value_a", "value_b", "margin_a", "margin_b")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The contingency table of the verdicts of two models on the same items."""

    # `both`, `only_a`, `only_b`, `neither`: the number of items on which the prediction holds under both models, under
    # one only, or under neither
    both: int
    only_a: int
    only_b: int
    neither: int
    ties_a: int  # `ties_a`, `ties_b`: the number of ties under each model
    ties_b: int

    @property
    def discordant(self) -> int:
        return self.only_a + self.only_b


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of b with a, usually on the same items: two models, two measures, or two series of checkpoints."""

    group: Group  # what the comparison is about: a suite and a measure, or a measure over suites
    difference: Estimate  # the difference b - a. It has 0 ties, and the excluded items count as undefined.
    # `a`, `b`: the accuracies (or means of other values) on the n items; over suites, unweighted means. None if only
    # the difference was computed.
    a: Estimate | None = None
    b: Estimate | None = None
    # The mean difference of the margins, b - a, in bits; None if not requested, or if there are no margins.
    margin: Estimate | None = None
    verdicts: Verdicts | None = None  # counts of verdicts; None for other values
    p: float = np.nan  # of the hypothesis of no difference, from the method of the interval; nan without a test
    holm: float = np.nan  # `holm`, `benjamini_hochberg`: p adjusted over the compared suites; nan without a test
    benjamini_hochberg: float = np.nan

    @property
    def n(self) -> int:
        """The number of items that are defined on both sides."""
        return self.difference.n

    @property
    def tested(self) -> bool:
        """Whether `p` is defined."""
        return not np.isnan(self.p)


def refuse_others_than_verdicts(measure: str, kind: Kind, what: str) -> None:
    if kind is not Kind.VERDICT:
        raise UsageError(
            what, f"{measure}, whose values are {kind.described}", "a measure whose values are verdicts",
            "For differences: `syntagm compare A B --measure M` or `syntagm table comparison A B measure=M`.",
        )  # fmt: skip


def pair(a: pl.DataFrame, b: pl.DataFrame) -> pl.DataFrame:
    """Join the results of two models into one row for each item and measure, with the columns of `PAIR_COLUMNS`."""
    # An item that only one table has is undefined (nan) in the other.
    first, second = (
        table.select(*_KEYS, pl.col("value").alias(f"value_{name}"), pl.col("margin").alias(f"margin_{name}"))
        for table, name in ((a, "a"), (b, "b"))
    )
    if first.select(_KEYS).equals(second.select(_KEYS)):
        # Usually both tables have the same rows: then none has to be numbered.
        both = first.hstack(second.drop(_KEYS))
    else:
        first, second = (numbered(table, "suite", "measure") for table in (first, second))
        both = joined(first, second, [*_KEYS, OCCURRENCE])
    return both.with_columns(pl.col("^(value|margin)_[ab]$").fill_null(np.nan)).select(PAIR_COLUMNS)


def discordant(pairs: pl.DataFrame) -> pl.DataFrame:
    return _defined(pairs).filter(pl.col("value_a") != pl.col("value_b"))


def by_suite(
    pairs: pl.DataFrame, kind: Kind, tolerances: tuple[float, float], margins: bool = False
) -> list[Comparison]:
    """Compare two models on each suite, in the order of first appearance.

    Arguments:
        pairs: of one measure, from `pair`.
        kind: the kind of its values.
        tolerances: margins within this many bits are ties, under a and under b.
        margins: whether to compute the difference of margins, too.

    >>> rows = [("s", str(k), "first", float(k > 5), 1.0, 0.0, 1.0) for k in range(8)]
    >>> [suite] = by_suite(pl.DataFrame(rows, schema=PAIR_COLUMNS, orient="row"), Kind.VERDICT, (1e-4, 1e-4))
    >>> suite.a.value, suite.b.value, suite.verdicts.only_b, round(suite.p, 4)  # 6 discordant items: z = 6 / sqrt(6)
    (0.25, 1.0, 6, 0.0143)
    """
    return _by_suite(_measure(pairs), _defined_items(pairs), kind, tolerances, margins)


def _by_suite(
    measure: str, suites: Sequence["_Items"], kind: Kind, tolerances: tuple[float, float], margins: bool
) -> list[Comparison]:
    return _adjusted(
        [_comparison(Group(suite=items.suite, measure=measure), [items], kind, tolerances, margins) for items in suites]
    )


def over_suites(pairs: pl.DataFrame, kind: Kind, tolerances: tuple[float, float], margins: bool = False) -> Comparison:
    """Compare two models over all suites; the arguments are the same as for `by_suite`."""
    # Accuracies, difference and margin are unweighted means over suites. Counts are of all items together. p is not
    # adjusted.
    return _comparison(Group(measure=_measure(pairs)), _defined_items(pairs), kind, tolerances, margins)


def compare(pairs: pl.DataFrame, kind: Kind, tolerances: tuple[float, float]) -> tuple[list[Comparison], Comparison]:
    """Compare two models on each suite (`by_suite`), and over all suites (`over_suites`)."""
    measure, suites = _measure(pairs), _defined_items(pairs)
    over_all = _comparison(Group(measure=measure), suites, kind, tolerances, False)
    return _by_suite(measure, suites, kind, tolerances, False), over_all


def differences(pairs: pl.DataFrame) -> list[NDArray[np.float64]]:
    """Return the differences b - a of the items of each suite that are defined under both models."""
    return [difference(items.value_a, items.value_b) for items in _defined_items(pairs) if len(items.value_a)]


def difference(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return b - a; 0 where they differ by rounding only, and nan for infinite numbers of the same sign.

    >>> difference(np.array([0.3, 1.0]), np.array([0.1 + 0.2, 1.5])).tolist()
    [0.0, 0.5]
    """
    with np.errstate(invalid="ignore"):
        found = b - a
        rounding = np.isfinite(found) & (np.abs(found) <= ROUNDING * np.maximum(np.abs(a), np.abs(b)))
    return np.where(rounding, 0.0, found)


def equivalence(pairs: pl.DataFrame, bound: float) -> tuple[list[float], float]:
    """Test whether two models differ by less than a bound, on each suite as in `by_suite`, and over suites."""
    suites = {items.suite: difference(items.value_a, items.value_b) for items in _defined_items(pairs)}
    return [
        paired_intervals.equivalence(items, bound) for items in suites.values()
    ], suite_intervals.equivalence_over_suites(suites, bound)


def _measure(pairs: pl.DataFrame) -> str:
    return ", ".join(pairs["measure"].unique(maintain_order=True))


def _adjusted(comparisons: Sequence[Comparison]) -> list[Comparison]:
    """Add p-values that are adjusted over all tested comparisons."""
    tested = [place for place, comparison in enumerate(comparisons) if comparison.tested]
    p = [comparisons[place].p for place in tested]
    adjusted = list(comparisons)
    for place, *numbers in zip(tested, holm(p), benjamini_hochberg(p), strict=True):
        adjusted[place] = replace(adjusted[place], holm=numbers[0], benjamini_hochberg=numbers[1])
    return adjusted


@dataclass(frozen=True, slots=True)
class _Items:
    """The items of a suite that are defined under both models, and the number of other items. Arrays have shape (items,)."""

    suite: str
    value_a: NDArray[np.float64]
    value_b: NDArray[np.float64]
    margin_a: NDArray[np.float64]
    margin_b: NDArray[np.float64]
    excluded: int


_NUMBERS = ("value_a", "value_b", "margin_a", "margin_b")


def _is_defined() -> pl.Expr:
    return pl.col("value_a").is_not_nan() & pl.col("value_b").is_not_nan()


def _defined(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(_is_defined())


def _defined_items(pairs: pl.DataFrame) -> list[_Items]:
    both = _is_defined()
    table = pairs.group_by("suite", maintain_order=True).agg(
        *(pl.col(name).filter(both) for name in _NUMBERS), excluded=(~both).sum()
    )
    arrays = [[values.to_numpy().astype(np.float64) for values in table[name]] for name in _NUMBERS]
    return [_Items(*row) for row in zip(table["suite"], *arrays, table["excluded"], strict=True)]


def _comparison(
    group: Group, suites: Sequence[_Items], kind: Kind, tolerances: tuple[float, float], margins: bool
) -> Comparison:
    judged = kind is Kind.VERDICT
    of_margins = {items.suite: difference(items.margin_a, items.margin_b) for items in suites if judged and margins}
    excluded = sum(items.excluded for items in suites)
    sides = [{items.suite: getattr(items, side) for items in suites} for side in ("value_a", "value_b")]
    differences = {items.suite: difference(items.value_a, items.value_b) for items in suites}
    a, b = (_estimate(group, side, excluded, suite_intervals.over_suites(side, kind)) for side in sides)
    found = suite_intervals.over_suites(differences, kind, difference=True)
    return Comparison(
        group,
        _estimate(group, differences, excluded, found, ", paired"),
        a,
        b,
        (
            _estimate(group, of_margins, excluded, suite_intervals.over_suites(of_margins, Kind.BITS, True), ", paired")
            if judged and margins
            else None
        ),
        _verdicts(suites, tolerances) if judged else None,
        found.p if judged else np.nan,
    )


def _verdicts(suites: Sequence[_Items], tolerances: tuple[float, float]) -> Verdicts:
    a, b, *margins = (np.concatenate([getattr(items, name) for items in suites] or [[]]) for name in _NUMBERS)
    both, only_a, only_b = (int(cell.sum()) for cell in ((a == b) & (a > 0), a > b, b > a))
    ties_a, ties_b = (int((np.abs(side) <= most).sum()) for side, most in zip(margins, tolerances, strict=True))
    neither = len(a) - both - only_a - only_b
    return Verdicts(both, only_a, only_b, neither, ties_a, ties_b)


def _estimate(
    group: Group, values: Mapping[str, NDArray[np.float64]], excluded: int, found: Interval, suffix: str = ""
) -> Estimate:
    """Estimate the mean over suites of the means of their values; `suffix` is added to the name of the method."""
    value = mean_of(means_of(values.values())) if values else np.nan
    method = over(len(values), f"{found.method}{suffix}")
    return found.estimate(group, value, sum(map(len, values.values())), undefined=excluded, method=method)
