"""Means and differences over suites, from the items of each suite.

A mean over suites is unweighted, with the interval of `stats.score`. A difference between suites is the mean of the
differences of pairs of suites, about these suites: their items are unrelated and random, the suites are fixed. A
difference between two measures of the same items is computed item by item.
"""

from collections import defaultdict
from collections.abc import Sequence
from math import inf

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from syntagm.evaluation import Estimate, Group, Kind
from syntagm.stats import interval, score
from syntagm.stats.matching import OCCURRENCE, joined, numbered
from syntagm.stats.score import Sample, samples, tally

Key = tuple[str, str]
_ITEM = ("model", "suite", "item", OCCURRENCE)


def of_results(results: pl.DataFrame, measure: str, kind: Kind, tolerance: float) -> dict[Key, Sample]:
    """Return the values of one measure: (model, suite) -> items, in the order of first appearance."""
    chosen = results.filter(pl.col("measure") == measure)
    found = samples(tally(chosen, tolerance), lambda _: kind)
    return {(group.model, group.suite): sample for group, sample in found}


def of_values(suite: str, kind: Kind, values: ArrayLike, ties: int = 0, undefined: int = 0) -> Sample:
    """Return the items of one suite, given their values and their kind."""
    return Sample(suite, kind, np.asarray(values, np.float64), ties, undefined)


def of_counts(suite: str, right: int, n: int) -> Sample:
    """Return the items of a suite of which only the counts are known.

    Arguments:
        right: the number of items with value 1.
        n: the number of items.

    >>> of_counts("agreement", 3, 4).value
    0.75
    """
    return of_values(suite, Kind.VERDICT, np.repeat([1.0, 0.0], [right, n - right]))


def of_differences(results: pl.DataFrame, first: str, second: str, kind: Kind, tolerance: float) -> dict[Key, Sample]:
    """Return the differences of two measures of one kind, `first` minus `second`, item by item: (model, suite) -> items."""
    # Only suites with both measures are included. An item that is undefined under either measure counts as undefined;
    # an item that is a tie under either counts as a tie.
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
        (model, suite): of_values(suite, kind, values.to_numpy(), ties, undefined)
        for model, suite, values, ties, undefined in zip(*table.get_columns(), strict=True)
        if (model, suite) in present[0] & present[1]
    }


def mean(suites: Sequence[Sample], group: Group) -> Estimate:
    """Compute the unweighted mean over suites; nan if one of them has no defined item.

    >>> [mean([of_counts("a", 1, 2), of_counts("b", 2, 2)], Group()).value]
    [0.75]
    """
    return score.estimate(group, suites)


def mean_difference(suites: Sequence[Sample], group: Group) -> Estimate:
    """Compute the unweighted mean over suites of the differences that `of_differences` returns."""
    return score.estimate(group, suites, difference=True)


def contrast(pairs: Sequence[tuple[Sample, Sample]], group: Group) -> Estimate:
    """Compute the mean over pairs of suites of the first minus the second; a suite may be in several pairs.

    The interval joins those of the suites (Newcombe 1998, method 10; Zou & Donner 2008), so that it has a width also
    where all items of a suite agree.

    >>> found = contrast([(of_counts("near", 4, 4), of_counts("far", 1, 4))], Group())
    >>> found.value, found.method
    (0.75, 'difference, 1 pair of suites; Newcombe; random: items; fixed: suites; only 4 items')
    """
    weights: dict[str, float] = defaultdict(float)
    members: dict[str, Sample] = {}
    for pair in pairs:
        for sign, sample in zip((1, -1), pair, strict=True):
            weights[sample.suite] += sign / len(pairs)
            members[sample.suite] = sample
    value = float(sum(weights[suite] * sample.value for suite, sample in members.items()))
    below = above = 0.0
    for suite, sample in members.items():
        found = interval.of_items(sample.values, sample.kind)
        to_low, to_high = weights[suite] * (found.low - sample.value), weights[suite] * (found.high - sample.value)
        below += min(to_low, to_high) ** 2
        above += max(to_low, to_high) ** 2
    sizes = [len(sample.values) for sample in members.values()]
    number = "1 pair of suites" if len(pairs) == 1 else f"{len(pairs)} pairs of suites"
    kind = "no interval: fewer than two items in a suite" if min(sizes) < 2 else "Newcombe"
    spread = interval.Spread(0.0, inf, (("items", min(sizes)),), "suites")
    joint = spread.interval(value - below**0.5, value + above**0.5, f"difference, {number}; {kind}")
    ties, undefined = (sum(getattr(sample, name) for sample in members.values()) for name in ("ties", "undefined"))
    return joint.estimate(group, value, sum(sizes), ties, undefined)
