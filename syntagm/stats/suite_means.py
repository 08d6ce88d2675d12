"""Accuracies of suites with their bootstrap draws, for means and differences with intervals.

A mean over suites is unweighted, and items are resampled within each suite, as in `stats.score`. A difference between
suites is the mean of the differences of pairs of suites; their items are unrelated and resampled independently. A
difference between two measures of the same items is computed item by item, and whole items are resampled.
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
class Resampled:
    """The items of a suite under one model, and their bootstrap means.

    Arguments:
        sample: the items.
        means: the bootstrap means. Shape (draws,); nan with fewer than two items.
    """

    sample: Sample
    means: bootstrap.Draws


def of_results(results: pl.DataFrame, measure: str, tolerance: float) -> dict[Key, Resampled]:
    """Resample the values of one measure: (model, suite) -> items, in the order of first appearance.

    Arguments:
        results: a table with the columns model, suite, item, measure, value and margin.
        measure: the name of the measure.
        tolerance: margins within this many bits are ties.
    """
    chosen = results.filter(pl.col("measure") == measure)
    return {(group.model, group.suite): _resampled(sample) for group, sample in samples(chosen, tolerance)}


def of_values(suite: str, values: ArrayLike, ties: int = 0, undefined: int = 0) -> Resampled:
    """Resample the items of one suite, given their values.

    >>> of_values("agreement", [1, 1, 0, 0]).means.shape
    (10000,)
    """
    return _resampled(Sample(suite, np.asarray(values, np.float64), ties, undefined))


def of_counts(suite: str, right: int, n: int) -> Resampled:
    """Resample a suite from its counts alone, which are enough for values of 0 and 1.

    Arguments:
        right: the number of items with value 1.
        n: the number of items.

    >>> of_counts("agreement", 3, 4).sample.value
    0.75
    """
    return of_values(suite, np.repeat([1.0, 0.0], [right, n - right]))


def of_differences(results: pl.DataFrame, first: str, second: str, tolerance: float) -> dict[Key, Resampled]:
    """Resample the differences of two measures, `first` minus `second`, item by item: (model, suite) -> items.

    Only suites with both measures are included. An item that is undefined under either measure counts as undefined; an
    item that is a tie under either counts as a tie.
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
    present = [set(side.select("model", "suite").unique().iter_rows()) for side in sides]
    return {
        (model, suite): of_values(suite, values.to_numpy(), ties, undefined)
        for model, suite, values, ties, undefined in zip(*table.get_columns(), strict=True)
        if (model, suite) in present[0] & present[1]
    }


def mean(suites: Sequence[Resampled], group: Group) -> Estimate:
    """Compute the unweighted mean over suites; it is nan if a suite has no defined item.

    >>> [mean([of_counts("a", 1, 2), of_counts("b", 2, 2)], Group()).value]
    [0.75]
    """
    return _estimate([(1 / len(suites), suite) for suite in suites], group, "")


def contrast(pairs: Sequence[tuple[Resampled, Resampled]], group: Group) -> Estimate:
    """Compute the mean difference, first minus second, over pairs of suites; a suite may be in several pairs.

    >>> contrast([(of_counts("near", 4, 4), of_counts("far", 1, 4))], Group()).value
    0.75
    """
    weighted = [(sign / len(pairs), suite) for pair in pairs for sign, suite in zip((1, -1), pair, strict=True)]
    number_of_pairs = "1 pair of suites" if len(pairs) == 1 else f"{len(pairs)} pairs of suites"
    return _estimate(weighted, group, f"difference, {number_of_pairs}; ")


def _estimate(weighted: Sequence[tuple[float, Resampled]], group: Group, prefix: str) -> Estimate:
    suites = {member.sample.suite: member.sample for _, member in weighted}
    sizes = {name: len(sample.values) for name, sample in suites.items()}
    method = bootstrap.DEFAULT.method() if len(suites) == 1 else bootstrap.method_over_suites(len(suites))
    if prefix:
        method = f"{prefix}{bootstrap.DEFAULT.method('items within suites')}"
    value = float(sum(weight * member.sample.value for weight, member in weighted))
    low, high = bootstrap.interval(_means(weighted, sizes))
    all_samples = suites.values()
    return Estimate(
        group, value, low, high, sum(sizes.values()), bootstrap.remark(method, sizes),
        sum(sample.ties for sample in all_samples), sum(sample.undefined for sample in all_samples),
    )  # fmt: skip


def _means(weighted: Iterable[tuple[float, Resampled]], sizes: Mapping[str, int]) -> bootstrap.Draws:
    total = np.zeros(bootstrap.DRAWS)
    if max(sizes.values(), default=0) < 2 or 0 in sizes.values():
        return np.full(bootstrap.DRAWS, np.nan)
    for weight, member in weighted:
        # A suite with one item can't be resampled and stays constant.
        total += weight * (member.means if len(member.sample.values) > 1 else member.sample.value)
    return total


def _resampled(sample: Sample) -> Resampled:
    return Resampled(sample, bootstrap.resampled_means(sample.values, sample.suite))
