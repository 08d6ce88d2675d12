"""Agreement of people: means over answers with people and items random, Krippendorff's alpha, and split halves."""

from collections.abc import Callable, Mapping
from math import isnan, nan, sqrt

import numpy as np
from numpy.typing import NDArray

from syntagm.result import Kind
from syntagm.stats import bootstrap
from syntagm.stats.cluster_intervals import spread_of_clusters
from syntagm.stats.interval import Interval, score, student

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]
# With fewer people or items, an interval may be a little too short (`benchmarks/people_coverage.py`).
FEW = 20


def weighted(
    values: Numbers, weights: Numbers, strata: Codes, kind: Kind, people: Codes, items: Codes
) -> tuple[float, Interval]:
    """Return the mean over strata of weighted means of answers, with an interval for other people and other items.

    Strata (suites) are fixed. The influence of an answer is its weight times its deviation from the mean of its stratum; the
    variance over the crossed clusters is that of Cameron, Gelbach & Miller 2011 (`stats.cluster_intervals`).

    Arguments:
        values, weights: shape (answers,). Weights are normalised within each stratum.
        strata: the stratum of each answer, as numbers from 0. Shape (answers,).
        kind: `VERDICT` for answers that are 0 or 1.
        people, items: the clusters of each answer; an item belongs to one stratum. Shape (answers,).

    >>> people, items = np.divmod(np.arange(12), 3)
    >>> values = np.array([1.0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1])
    >>> value, found = weighted(values, np.ones(12), np.zeros(12, int), Kind.VERDICT, people, items)
    >>> round(value, 3), round(found.low, 3), round(found.high, 3)
    (0.833, 0.249, 0.987)
    """
    total = np.bincount(strata, weights)[strata]
    share = weights / total / (int(strata.max()) + 1)
    means = np.bincount(strata, weights * values) / np.bincount(strata, weights)
    value = float(means.mean())
    return value, of_influences(value, share * (values - means[strata]), kind, people, items)


def of_influences(value: float, influences: Numbers, kind: Kind, people: Codes, items: Codes) -> Interval:
    """Return the interval of an estimate from the influence of each answer, with people and items random."""
    spread = spread_of_clusters(influences, {"people": people, "items": items})
    if spread is None:
        return Interval(nan, nan, "no interval: fewer than two people or items")
    return (score if kind.bounded else student)(value, spread)


def krippendorff(values: Numbers, units: Codes) -> float:
    """Return Krippendorff's alpha for numbers; for values 0 and 1 it is that for names (Krippendorff 2011).

    Units with one value count for nothing.

    Arguments:
        values: one for each judgement. Shape (judgements,).
        units: what was judged, as numbers from 0. Shape (judgements,).

    Returns:
        1 for perfect agreement, 0 for agreement by chance; nan if all values are equal, or no unit has two.

    >>> krippendorff(np.array([0.0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    1.0
    >>> round(krippendorff(np.array([1.0, 1, 2, 3, 5, 5]), np.array([0, 0, 1, 1, 2, 2])), 3)  # 1 - 5 * 2 / 202
    0.95
    """
    counts = np.bincount(units)
    several = counts[units] > 1
    values, units = values[several], units[several]
    n = len(values)
    if not n:
        return nan
    size = np.bincount(units)
    sums, squares = np.bincount(units, values), np.bincount(units, values**2)
    kept = size > 1
    within = float((2 * (size * squares - sums**2)[kept] / (size[kept] - 1)).sum())
    between = 2 * (n * float((values**2).sum()) - float(values.sum()) ** 2)
    return nan if between <= 0 else 1 - (n - 1) * within / between


def split_halves(
    people: int, numbers: Callable[[NDArray[np.bool_]], Numbers], splits: int, seed: int
) -> tuple[float, int]:
    """Return the reliability of numbers of items by split halves of people, and the number of splits that have one.

    For each random split, the numbers of the items from both halves are correlated; the mean correlation r gives the
    reliability of all people together as 2 r / (1 + r) (Spearman 1910, Brown 1910).

    Arguments:
        people: the number of people, at least 4.
        numbers: a function from a choice of people to the numbers of the items, nan where there is none.
        splits: the number of splits.
        seed: the seed of the splits.
    """
    generator = np.random.default_rng(seed)
    found = []
    for _ in range(splits if people >= 4 else 0):
        half = np.zeros(people, bool)
        half[generator.permutation(people)[: people // 2]] = True
        first, second = numbers(half), numbers(~half)
        both = ~(np.isnan(first) | np.isnan(second))
        if both.sum() >= 3 and np.ptp(first[both]) > 0 and np.ptp(second[both]) > 0:
            found.append(float(np.corrcoef(first[both], second[both])[0, 1]))
    if not found:
        return nan, 0
    mean = float(np.mean(found))
    return (2 * mean / (1 + mean) if mean > -1 else nan), len(found)


def ceiling(reliability: float) -> float:
    """Return the largest correlation that a perfect predictor of what people do can have with their numbers.

    >>> ceiling(0.81), ceiling(-0.1)
    (0.9, nan)
    """
    return nan if isnan(reliability) or reliability < 0 else sqrt(min(reliability, 1.0))


def seed() -> int:
    """Return the seed of the current design."""
    return bootstrap.current().seed


def majority(rates: Mapping[str, float]) -> int:
    """Return how many items the majority judged as predicted; a tie is lost, as in BLiMP's validation.

    >>> majority({"1": 0.8, "2": 0.5, "3": 0.4})
    1
    """
    return sum(rate > 0.5 for rate in rates.values())
