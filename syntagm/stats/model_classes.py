"""Comparisons of two classes of models, for example two architectures that were each trained with several seeds.

The difference is that of the means over models and suites. Suites and models are random, and crossed: all models have
the same suites. The variance is that of the suites' differences, plus that of the models of each class; the part of it
that the interaction of suites and models contributes to both is subtracted (Cameron, Gelbach & Miller 2011). As in
comparisons of two models, items that are undefined under one of the models don't count.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import isnan, nan

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation import Kind
from syntagm.stats import bootstrap, cluster_intervals, interval, suite_intervals
from syntagm.stats.interval import Interval

Numbers = NDArray[np.float64]


def difference(first: Mapping[str, Numbers], second: Mapping[str, Numbers], kind: Kind) -> tuple[float, Interval]:
    """Compute the mean difference of two classes, second minus first, with its interval and test.

    A class of one model is about this model alone.

    Arguments:
        first, second: suite -> values; nan is undefined. Both have the same suites and items. Shapes (items, models).
        kind: the kind of the values.

    >>> lstm = {"agreement": np.array([[1.0, 0], [1, 1]]), "licensing": np.array([[0.0, 0], [1, 0]])}
    >>> rnng = {"agreement": np.array([[1.0, 1], [1, 1]]), "licensing": np.array([[0.0, 1], [1, 0]])}
    >>> value, found = difference(lstm, rnng, Kind.VERDICT)
    >>> value, found.method
    (0.25, 't(1); random: models, suites; only 2 models')
    """
    first, second = complete(first, second)
    if lacking := [suite for suite, items in first.items() if not len(items)]:
        reason = f"no interval: no item defined under all models in {suite_intervals.listed(lacking)}"
        return nan, Interval(nan, nan, reason)
    sides = [np.array([interval.means(items, 0) for items in values.values()]) for values in (first, second)]
    value = float(sides[1].mean() - sides[0].mean())
    if isnan(value):  # of infinite numbers
        return nan, Interval(nan, nan, "no interval: undefined")
    if max(len(scores[0]) for scores in sides) == 1:
        columns = {suite: second[suite][:, 0] - first[suite][:, 0] for suite in first}
        found = suite_intervals.over_suites(
            {suite: items[~np.isnan(items)] for suite, items in columns.items()}, kind, difference=True
        )
        return value, found
    if len(sides[0]) > 1 and bootstrap.current().suites == "random":

        def without(place: int) -> Interval:
            return _crossed(np.delete(sides[0], place, axis=0), np.delete(sides[1], place, axis=0), kind)

        contrasts = sides[1].mean(axis=1) - sides[0].mean(axis=1)
        found = _crossed(sides[0], sides[1], kind)
        remarks = suite_intervals.influence_of_one(found, list(first), contrasts, without, proportion=False)
        return value, found.remarked(*remarks)
    of_items = [interval.means(second[suite], 1) - interval.means(first[suite], 1) for suite in first]
    items = suite_intervals.spread_over_suites([values[~np.isnan(values)] for values in of_items], "fixed")
    if items.units[0][1] < 2:
        return value, Interval(nan, nan, "no interval: fewer than two items")
    variances, units = [items.variance], [items.units[0]]
    for scores in sides:
        if (count := scores.shape[1]) > 1:
            variances.append(float(scores.mean(axis=0).var(ddof=1)) / count)
            units.append(("models", count))
    spread = _named(cluster_intervals.combined(variances, units), "suites" if len(first) > 1 else "")
    return value, _bounded(interval.student(value, spread), kind)


def complete(
    first: Mapping[str, Numbers], second: Mapping[str, Numbers]
) -> tuple[dict[str, Numbers], dict[str, Numbers]]:
    """Return the items of each suite that are defined under all models of both classes. Shapes (items, models).

    >>> one, other = np.array([[1.0], [np.nan]]), np.array([[0.0, 1.0], [1.0, 1.0]])
    >>> [side["s"].tolist() for side in complete({"s": one}, {"s": other})]
    [[[1.0]], [[0.0, 1.0]]]
    """
    defined = {suite: ~np.isnan(np.hstack([first[suite], second[suite]])).any(axis=1) for suite in first}
    kept = [{suite: side[suite][rows] for suite, rows in defined.items()} for side in (first, second)]
    return kept[0], kept[1]


def _crossed(first: Numbers, second: Numbers, kind: Kind) -> Interval:
    """Compute the interval of the mean difference of the scores of random suites and models. Shapes (suites, models)."""
    return _bounded(interval.student(float(second.mean() - first.mean()), of_scores(first, second)), kind)


def _bounded(found: Interval, kind: Kind) -> Interval:
    return found.clipped(-1.0) if kind.bounded else found


def of_scores(first: Numbers, second: Numbers) -> interval.Spread:
    """Return the variance of the difference of two classes from scores of several suites."""
    suites = len(first)
    variances = [float((second.mean(axis=1) - first.mean(axis=1)).var(ddof=1)) / suites]
    units, cells = [("suites", suites)], 0.0
    for scores in (first, second):
        if (models := scores.shape[1]) > 1:
            variances.append(float(scores.mean(axis=0).var(ddof=1)) / models)
            units.append(("models", models))
            cells += interaction(scores) / scores.size
    variance = max(sum(variances) - cells, variances[0], sum(variances[1:]))
    return _named(cluster_intervals.combined(variances, units, variance), "")


def interaction(scores: Numbers) -> float:
    """Return the variance of scores that suites and models don't explain, by analysis of variance. Shape (suites, models)."""
    residual = scores - scores.mean(axis=0) - scores.mean(axis=1, keepdims=True) + scores.mean()
    suites, models = scores.shape
    return float((residual**2).sum()) / float((suites - 1) * (models - 1))


def _named(spread: interval.Spread, fixed: str) -> interval.Spread:
    """Name each kind of unit once, with the smallest number."""
    units = dict(reversed(spread.units))
    return replace(spread, units=tuple(sorted(units.items(), key=lambda unit: unit[1])), fixed=fixed)
