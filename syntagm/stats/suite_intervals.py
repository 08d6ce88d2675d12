"""Intervals and tests of means over suites, and over the models of a class.

The spread of the suites' accuracies already contains that of their items (Davison & Hinkley 1997, section 3.8). An
interval for all suites can't be narrower than one for these suites alone, so the wider of the two is used; this matters
for two to five suites that agree by chance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf, isnan, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.result import Kind
from syntagm.stats import bootstrap
from syntagm.stats.cluster_intervals import combined, spread_of_clusters
from syntagm.stats.interval import (
    Interval,
    Numbers,
    Spread,
    mean_of,
    means,
    of_items,
    score,
    skewness,
    student,
)
from syntagm.stats.paired_intervals import equivalence, of_difference


def over_suites(values: Mapping[str, ArrayLike], kind: Kind, difference: bool = False) -> Interval:
    """Compute the interval of the unweighted mean over suites of the means of their items.

    `bootstrap.current()` determines whether suites are random or fixed. The interval of one suite is that of its
    items.

    Arguments:
        values: suite -> defined values. If a suite has no defined values, there is no interval.
        kind: the kind of the values, or of the values that differ.
        difference: whether the values are paired differences, which are also tested.

    >>> values = {"agreement": [1, 1, 1, 0], "licensing": [0, 0, 0, 1], "embedding": [1, 0, 1, 0]}
    >>> over_suites(values, Kind.VERDICT).method
    'Wilson with t(2); random: suites, items; only 3 suites'
    >>> with bootstrap.using(bootstrap.Resampling(suites="fixed")):
    ...     over_suites(values, Kind.VERDICT).method
    'Wilson; random: items; fixed: suites'
    """
    arrays = {suite: np.asarray(items, np.float64) for suite, items in values.items()}
    if empty := [suite for suite, items in arrays.items() if not len(items)]:
        return Interval(nan, nan, f"no interval: no defined items in {_named(empty)}")
    if not arrays:
        return Interval(nan, nan, "no interval: no suites")
    if len(arrays) == 1:
        [items] = arrays.values()
        return of_difference(items, kind) if difference else of_items(items, kind)
    means = np.array([mean_of(items) for items in arrays.values()])
    if bootstrap.current().suites == "fixed" and all(len(items) == 1 for items in arrays.values()):
        return Interval(nan, nan, "no interval: one item in each suite; fixed: suites")
    spread = spread_over_suites(list(arrays.values()))
    if (difference or not kind.bounded) and kind is not Kind.VERDICT and spread.freedom < inf:
        spread = replace(spread, skewness=skewness(means))
    found = (score if kind.bounded and not difference else student)(mean_of(means), spread)
    if kind is Kind.VERDICT and difference and not isnan(found.low):
        found = replace(found, low=max(-1.0, found.low), high=min(1.0, found.high))
    single = [suite for suite, items in arrays.items() if len(items) == 1]
    if single and spread.fixed:
        found = replace(found, method=f"{found.method}; one item, so no spread: {_named(single)}")
    return found if difference else replace(found, p=nan)


def _named(suites: Sequence[str]) -> str:
    return ", ".join(suites[:3]) + (" ..." if len(suites) > 3 else "")


def spread_over_suites(samples: Sequence[Numbers], suites: bootstrap.Suites | None = None) -> Spread:
    """Return the variance of the unweighted mean over several suites.

    Arguments:
        samples: the values of each suite. Shapes (items,).
        suites: whether they are random or fixed; by default as in `bootstrap.current()`.
    """
    count, items = len(samples), sum(map(len, samples))
    with np.errstate(invalid="ignore"):  # infinite margins
        within = sum(float(values.var(ddof=1)) / len(values) for values in samples if len(values) > 1) / count**2
        fixed = Spread(within, inf, (("items", items),), "suites")
        if (suites or bootstrap.current().suites) == "fixed":
            return fixed
        between = float(np.var([values.mean() for values in samples], ddof=1)) / count
    random = Spread(between, float(count - 1), (("suites", count), ("items", items)))
    if not random.reach < fixed.reach:
        return random
    return replace(fixed, units=random.units, fixed="")


def equivalence_over_suites(values: Mapping[str, ArrayLike], bound: float) -> float:
    """Return the p of two one-sided tests that a mean over suites is within a bound of 0 (Schuirmann 1987).

    Suites are random or fixed as `bootstrap.current()` says. nan without a spread.

    Arguments:
        values: suite -> paired differences of verdicts. One suite has the test of `equivalence`.
    """
    from scipy.special import ndtr, stdtr

    arrays = [np.asarray(items, np.float64) for items in values.values()]
    if len(arrays) == 1:
        return equivalence(arrays[0], bound)
    if not arrays or not all(map(len, arrays)):
        return nan
    spread = spread_over_suites(arrays)
    if not spread.variance > 0:
        return nan
    value, error = float(np.mean([mean_of(items) for items in arrays])), sqrt(spread.variance)
    sides = [-(value + bound) / error, (value - bound) / error]
    return max(float(ndtr(side) if spread.freedom == inf else stdtr(spread.freedom, side)) for side in sides)


def over_models(values: Mapping[str, NDArray[np.float64]], kind: Kind) -> Interval:
    """Compute the interval of a mean over suites and over models of a class, such as training runs with different seeds.

    All models have the same items, so models are crossed with suites, or with items if suites are fixed.

    Arguments:
        values: suite -> values; nan is undefined. Shapes (items, models).
        kind: the kind of the values.

    >>> runs = {"agreement": np.array([[1.0, 1], [0, 1], [1, 0]]), "licensing": np.array([[0.0, 1], [0, 0], [0, 1]])}
    >>> over_models(runs, Kind.VERDICT).method
    'Wilson with t(2); random: suites, models; only 2 suites'
    """
    models = next(iter(values.values())).shape[1]
    if models == 1:
        return over_suites({suite: items[~np.isnan(items)] for suite, items in values.items()}, kind)
    scores = np.array([means(items, 0) for items in values.values()])
    if np.isnan(scores).any():
        return Interval(nan, nan, "no interval: a suite without defined items")
    value, suites = float(scores.mean()), len(scores)
    if suites > 1 and bootstrap.current().suites == "random":
        places = np.indices(scores.shape).reshape(2, -1)
        influences = ((scores - value) / scores.size).ravel()
        spread = spread_of_clusters(influences, {"suites": places[0], "models": places[1]})
        assert spread, "there are two models"
    else:
        averages = [means(items[~np.isnan(items).all(axis=1)], 1) for items in values.values()]
        within = spread_over_suites(averages, "fixed")
        between = float(scores.mean(axis=0).var(ddof=1)) / models
        both = combined([within.variance, between], [within.units[0], ("models", models)])
        spread = replace(both, fixed="suites" if suites > 1 else "")
    return (score if kind.bounded else student)(value, spread)
