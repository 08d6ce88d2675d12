"""Two models on the same items: by how much they differ, on which items, and on which suites significantly.

Every number is paired: items that are undefined under either model are left out and counted, and the differences are of
the second model minus the first, item by item. Intervals redraw items, as in `stats.bootstrap`. The p of McNemar's exact test is
adjusted over the suites that are compared: with 34 of them, one or two have p < 0.05 though nothing differs. A suite without an
item that is defined under both models is not tested and not counted. Measures whose values are no verdicts (`equal_weight`,
`model_weight`) have a difference and no more: none of their items holds or fails; see `kind_of`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from syntagm.errors import UsageError
from syntagm.result import Estimate, Group, Kind
from syntagm.stats import bootstrap
from syntagm.stats.adjust import benjamini_hochberg, holm
from syntagm.stats.matching import OCCURRENCE, joined, numbered
from syntagm.stats.significance import mcnemar

_KEYS = ("suite", "item", "measure")
PAIR_COLUMNS = ("suite", "item", "measure", "value_a", "value_b", "margin_a", "margin_b")


@dataclass(frozen=True, slots=True)
class Verdicts:
    """How two lists of verdicts on the same items go together.

    Arguments:
        both, only_a, only_b, neither: on how many items the prediction holds under both, one, none.
        ties_a, ties_b: how many of the items are ties.
        p: of McNemar's test; 1 without items.
    """

    both: int
    only_a: int
    only_b: int
    neither: int
    ties_a: int
    ties_b: int
    p: float

    @property
    def discordant(self) -> int:
        """How many items are judged differently."""
        return self.only_a + self.only_b


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two things compared, b against a, as a rule on the same items: two models, two measures, two series of checkpoints.

    Arguments:
        group: what is compared: a suite and a measure, or the measure over suites.
        difference: b - a, with ties 0 and the left-out items as undefined; its method says how the interval was made.
        a, b: their accuracies (of shares, means) on the n items; over suites, the unweighted means. None where a difference is
            all that is asked for.
        margin: the mean difference of the margins, b - a, in bits; None if it is not asked for, and of what has no margins.
        verdicts: what is counted and tested of verdicts; None of other values.
        holm, benjamini_hochberg: p adjusted over the suites compared; nan where nothing was tested.
    """

    group: Group
    difference: Estimate
    a: Estimate | None = None
    b: Estimate | None = None
    margin: Estimate | None = None
    verdicts: Verdicts | None = None
    holm: float = np.nan
    benjamini_hochberg: float = np.nan

    @property
    def n(self) -> int:
        """How many items are defined on both sides."""
        return self.difference.n

    @property
    def tested(self) -> bool:
        """Is there a test? Not without an item, and not of shares."""
        return self.verdicts is not None and self.n > 0

    @property
    def p(self) -> float:
        """Of McNemar's test; nan where nothing was tested."""
        return self.verdicts.p if self.verdicts is not None and self.n else np.nan


def kind_of(values: ArrayLike, margins: ArrayLike) -> Kind:
    """What the values of one measure are: verdicts (1 holds, 0 fails, with margins), shares from 0 to 1, or bits.

    Arguments:
        values, margins: of one measure. Those whose value is nan don't count; without any other they are taken for verdicts.

    >>> kind_of([1.0, 0.0, np.nan], [2.5, -1.0, np.nan]).name
    'VERDICT'
    >>> kind_of([1.0, 0.6], [np.nan, np.nan]).name, kind_of([1.0, 7.5], [np.nan, np.nan]).name
    ('SHARE', 'BITS')
    """
    found, beside = np.asarray(values, np.float64), np.asarray(margins, np.float64)
    defined = ~np.isnan(found)
    kept = found[defined]
    if not len(kept) or (np.isin(kept, (0.0, 1.0)).all() and not np.isnan(beside[defined]).all()):
        return Kind.VERDICT
    return Kind.SHARE if ((kept >= 0) & (kept <= 1)).all() else Kind.BITS


def kind_of_pairs(pairs: pl.DataFrame) -> Kind:
    """The same of both sides of pairs of one measure, as `pair` makes them."""
    values, margins = (pl.concat([pairs[f"{name}_{side}"] for side in "ab"]) for name in ("value", "margin"))
    return kind_of(values.to_numpy(), margins.to_numpy())


def refuse_others_than_verdicts(pairs: pl.DataFrame, what: str) -> None:
    """Refuse to make something of pairs that are no verdicts.

    Raises:
        UsageError: they are something else.
    """
    if (kind := kind_of_pairs(pairs)) is not Kind.VERDICT:
        named = ", ".join(pairs["measure"].unique(maintain_order=True))
        raise UsageError(
            what, f"{named}, whose values are {kind.value}: none holds or fails", "a measure of verdicts",
            "By how much models differ: `syntagm compare A B --measure M`, `syntagm table comparison A B measure=M`.",
        )  # fmt: skip


def pair(a: pl.DataFrame, b: pl.DataFrame) -> pl.DataFrame:
    """Two tables of results, of one model each, side by side: a row an item and measure, columns as in `PAIR_COLUMNS`.

    An item that only one table has is undefined (nan) in the other.
    """
    sides: dict[str, pl.DataFrame] = {}
    for table, name in ((a, "a"), (b, "b")):
        numbers = (pl.col("value").alias(f"value_{name}"), pl.col("margin").alias(f"margin_{name}"))
        sides[name] = numbered(table.select(*_KEYS, *numbers), "suite", "measure")
    both = joined(sides["a"], sides["b"], [*_KEYS, OCCURRENCE])
    return both.with_columns(pl.col("^(value|margin)_[ab]$").fill_null(np.nan)).select(PAIR_COLUMNS)


def discordant(pairs: pl.DataFrame) -> pl.DataFrame:
    """The items that the models judge differently, in order; of pairs of verdicts."""
    return _defined(pairs).filter(pl.col("value_a") != pl.col("value_b"))


def by_suite(pairs: pl.DataFrame, tolerances: tuple[float, float], margins: bool = False) -> list[Comparison]:
    """One comparison a suite, in the order of first appearance.

    Arguments:
        pairs: of one measure, as `pair` makes them.
        tolerances: margins within so many bits are ties, under a and under b.
        margins: is the difference of margins asked for, too?

    >>> rows = [("s", str(k), "first", float(k > 5), 1.0, 0.0, 1.0) for k in range(8)]
    >>> [one] = by_suite(pl.DataFrame(rows, schema=PAIR_COLUMNS, orient="row"), (1e-4, 1e-4))
    >>> one.a.value, one.b.value, one.verdicts.only_b, one.p  # 6 items, all to b: 2 / 2**6
    (0.25, 1.0, 6, 0.03125)
    """
    judged = kind_of_pairs(pairs) is Kind.VERDICT
    measure = _measure(pairs)
    found = [
        _comparison(Group(suite=one.suite, measure=measure), [one], tolerances, judged, margins) for one in _both(pairs)
    ]
    return _adjusted(found)


def over_suites(pairs: pl.DataFrame, tolerances: tuple[float, float], margins: bool = False) -> Comparison:
    """One comparison over all suites; arguments as of `by_suite`.

    Accuracies, difference and margin are unweighted means of those of the suites, with items redrawn within suites; counts
    and p are of all items together, and p is not adjusted.
    """
    judged = kind_of_pairs(pairs) is Kind.VERDICT
    return _comparison(Group(measure=_measure(pairs)), _both(pairs), tolerances, judged, margins)


def _measure(pairs: pl.DataFrame) -> str:
    return ", ".join(pairs["measure"].unique(maintain_order=True))


def _adjusted(found: Sequence[Comparison]) -> list[Comparison]:
    """The same with p adjusted over those that were tested."""
    tested = [place for place, one in enumerate(found) if one.tested]
    p = [found[place].p for place in tested]
    made = list(found)
    for place, *numbers in zip(tested, holm(p), benjamini_hochberg(p), strict=True):
        made[place] = replace(made[place], holm=numbers[0], benjamini_hochberg=numbers[1])
    return made


@dataclass(frozen=True, slots=True)
class _Both:
    """The items of a suite that are defined under both models, and how many are not. Arrays: shape (items,)."""

    suite: str
    value_a: NDArray[np.float64]
    value_b: NDArray[np.float64]
    margin_a: NDArray[np.float64]
    margin_b: NDArray[np.float64]
    left_out: int


_NUMBERS = ("value_a", "value_b", "margin_a", "margin_b")


def _is_defined() -> pl.Expr:
    return pl.col("value_a").is_not_nan() & pl.col("value_b").is_not_nan()


def _defined(pairs: pl.DataFrame) -> pl.DataFrame:
    return pairs.filter(_is_defined())


def _both(pairs: pl.DataFrame) -> list[_Both]:
    both = _is_defined()
    table = pairs.group_by("suite", maintain_order=True).agg(
        *(pl.col(name).filter(both) for name in _NUMBERS), left_out=(~both).sum()
    )
    arrays = [[one.to_numpy().astype(np.float64) for one in table[name]] for name in _NUMBERS]
    return [_Both(*row) for row in zip(table["suite"], *arrays, table["left_out"], strict=True)]


def _comparison(
    group: Group, suites: Sequence[_Both], tolerances: tuple[float, float], judged: bool, margins: bool
) -> Comparison:
    with np.errstate(invalid="ignore"):  # infinite margins of one sign have the difference nan
        apart = {one.suite: one.margin_b - one.margin_a for one in suites} if judged and margins else None
    left_out = sum(one.left_out for one in suites)
    return Comparison(
        group,
        _estimate(group, {one.suite: one.value_b - one.value_a for one in suites}, left_out, ", paired"),
        _estimate(group, {one.suite: one.value_a for one in suites}, left_out),
        _estimate(group, {one.suite: one.value_b for one in suites}, left_out),
        _estimate(group, apart, left_out, ", paired") if apart is not None else None,
        _verdicts(suites, tolerances) if judged else None,
    )


def _verdicts(suites: Sequence[_Both], tolerances: tuple[float, float]) -> Verdicts:
    a, b, *margins = (np.concatenate([getattr(one, name) for one in suites] or [[]]) for name in _NUMBERS)
    both, only_a, only_b = (int(found.sum()) for found in ((a == b) & (a > 0), a > b, b > a))
    ties_a, ties_b = (int((np.abs(one) <= most).sum()) for one, most in zip(margins, tolerances, strict=True))
    neither = len(a) - both - only_a - only_b
    return Verdicts(both, only_a, only_b, neither, ties_a, ties_b, mcnemar(only_a, only_b))


def _estimate(group: Group, values: Mapping[str, NDArray[np.float64]], left_out: int, said: str = "") -> Estimate:
    """The mean over suites of the means of their values."""
    sizes = {suite: len(one) for suite, one in values.items()}
    method = bootstrap.METHOD if group.suite else bootstrap.method_over_suites(len(values))
    value = float(np.mean([_mean(one) for one in values.values()])) if values else np.nan
    ends = bootstrap.interval_over_suites(values)
    return Estimate(group, value, *ends, sum(sizes.values()), bootstrap.remark(f"{method}{said}", sizes), 0, left_out)


def _mean(values: NDArray[np.float64]) -> float:
    with np.errstate(invalid="ignore"):  # infinite margins of both signs have the mean nan
        return float(values.mean()) if len(values) else np.nan
