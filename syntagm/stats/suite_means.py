"""Accuracies of many suites whose bootstrap draws are kept, so that means and differences of them have intervals, too.

A mean over suites is unweighted, and items are drawn anew within each suite, as in `stats.score`. A difference between
suites is the mean of differences of pairs of suites; their items have nothing to do with each other, and are drawn apart. A
difference between two measures of the same items is taken item by item, and whole items are drawn.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from syntagm.result import Estimate, Group
from syntagm.stats import bootstrap
from syntagm.stats.matching import OCCURRENCE, joined, numbered
from syntagm.stats.score import Sample, samples

Key = tuple[str, str]
_ITEM = ("model", "suite", "item", OCCURRENCE)


@dataclass(frozen=True, slots=True)
class Redrawn:
    """The items of a suite under one model, and the means of their draws.

    Arguments:
        means: shape (draws,); nan with fewer than two items.
    """

    sample: Sample
    means: bootstrap.Draws


def of_results(results: pl.DataFrame, measure: str, tolerance: float) -> dict[Key, Redrawn]:
    """(model, suite) -> the values of one measure, in the order of first appearance.

    Arguments:
        results: columns model, suite, item, measure, value, margin.
        tolerance: margins within so many bits are ties.
    """
    chosen = results.filter(pl.col("measure") == measure)
    return {(group.model, group.suite): _drawn(sample) for group, sample in samples(chosen, tolerance)}


def of_values(suite: str, values: ArrayLike, ties: int = 0, undefined: int = 0) -> Redrawn:
    """The items of one suite, a value each.

    >>> of_values("agreement", [1, 1, 0, 0]).means.shape
    (10000,)
    """
    return _drawn(Sample(suite, np.asarray(values, np.float64), ties, undefined))


def of_counts(suite: str, right: int, n: int) -> Redrawn:
    """A suite of which only the counts are known: for values of 0 and 1 that is all a bootstrap needs.

    >>> of_counts("agreement", 3, 4).sample.value
    0.75
    """
    return of_values(suite, np.repeat([1.0, 0.0], [right, n - right]))


def of_differences(results: pl.DataFrame, first: str, second: str, tolerance: float) -> dict[Key, Redrawn]:
    """(model, suite) -> value of the measure `first` less that of `second`, item by item: 1, 0 or -1.

    Only suites that have both; an item that is undefined under either is left out and counted. Ties are items with a tie
    under either.
    """
    sides = [
        numbered(results.filter(pl.col("measure") == measure), "model", "suite").select(
            *_ITEM, pl.col("value").alias(f"value{side}"), (pl.col("margin").abs() <= tolerance).alias(f"tied{side}")
        )
        for measure, side in ((first, ""), (second, "_second"))
    ]
    both = (
        joined(sides[0], sides[1], _ITEM)
        .with_columns(pl.col("value", "value_second").fill_null(np.nan))
        .with_columns(difference=pl.col("value") - pl.col("value_second"), tied=pl.col("tied") | pl.col("tied_second"))
    )
    defined = pl.col("difference").is_not_nan()
    table = both.group_by("model", "suite", maintain_order=True).agg(
        pl.col("difference").filter(defined),
        (pl.col("tied").fill_null(False) & defined).sum().alias("ties"),
        (~defined).sum().alias("undefined"),
    )
    named = [set(side.select("model", "suite").unique().iter_rows()) for side in sides]
    return {
        (model, suite): of_values(suite, values.to_numpy(), ties, undefined)
        for model, suite, values, ties, undefined in zip(*table.get_columns(), strict=True)
        if (model, suite) in named[0] & named[1]
    }


def mean(parts: Sequence[Redrawn], group: Group) -> Estimate:
    """The unweighted mean over suites; nan if one of them has no defined item.

    >>> [mean([of_counts("a", 1, 2), of_counts("b", 2, 2)], Group()).value]
    [0.75]
    """
    return _estimate([(1 / len(parts), part) for part in parts], group, "")


def contrast(pairs: Sequence[tuple[Redrawn, Redrawn]], group: Group) -> Estimate:
    """The mean over pairs of suites of the first less the second; a suite may stand in several pairs.

    >>> contrast([(of_counts("near", 4, 4), of_counts("far", 1, 4))], Group()).value
    0.75
    """
    weighted = [(sign / len(pairs), part) for pair in pairs for sign, part in zip((1, -1), pair, strict=True)]
    counted = "1 pair of suites" if len(pairs) == 1 else f"{len(pairs)} pairs of suites"
    return _estimate(weighted, group, f"difference, {counted}; ")


def _estimate(weighted: Sequence[tuple[float, Redrawn]], group: Group, said: str) -> Estimate:
    suites = {part.sample.suite: part.sample for _, part in weighted}
    sizes = {name: len(sample.values) for name, sample in suites.items()}
    method = bootstrap.METHOD if len(suites) == 1 else bootstrap.method_over_suites(len(suites))
    if said:
        method = f"{said}bootstrap(items within suites, {bootstrap.DRAWS}, seed {bootstrap.SEED})"
    value = float(sum(weight * part.sample.value for weight, part in weighted))
    low, high = bootstrap.interval(_means(weighted, sizes))
    counted = suites.values()
    return Estimate(
        group, value, low, high, sum(sizes.values()), bootstrap.remark(method, sizes),
        sum(one.ties for one in counted), sum(one.undefined for one in counted),
    )  # fmt: skip


def _means(weighted: Iterable[tuple[float, Redrawn]], sizes: Mapping[str, int]) -> bootstrap.Draws:
    total = np.zeros(bootstrap.DRAWS)
    if max(sizes.values(), default=0) < 2 or 0 in sizes.values():
        return np.full(bootstrap.DRAWS, np.nan)
    for weight, part in weighted:
        # Nothing can be drawn anew in a suite of one item: it stays as it is.
        total += weight * (part.means if len(part.sample.values) > 1 else part.sample.value)
    return total


def _drawn(sample: Sample) -> Redrawn:
    return Redrawn(sample, bootstrap.redrawn_means(sample.values, sample.suite))
