"""Intervals of means whose rows are correlated within clusters: words, contexts, people or models.

The variance is that of leaving out one cluster after another. For two crossed kinds of clusters, the variances of both
are added and that of their cells is subtracted (Cameron, Gelbach & Miller 2011). Clusters of unequal size have the
degrees of freedom of fewer clusters of equal size (Kish 1965).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.evaluation import Kind
from syntagm.stats import bootstrap
from syntagm.stats.interval import Interval, Numbers, Spread, of_items as interval_of_items, score, student


def of_clusters(values: ArrayLike, kind: Kind, clusters: Mapping[str, Sequence[str] | NDArray[np.int64]]) -> Interval:
    """Compute the interval of a mean of rows that are correlated within clusters of one or two kinds.

    Arguments:
        values: shape (rows,); at least one.
        kind: the kind of the values.
        clusters: their name ("lemmas", "people", ...) -> the cluster of each row. Two kinds of clusters are crossed. A
            kind with one cluster counts as fixed.

    >>> values = [1, 1, 0, 0, 1, 0]
    >>> of_clusters(values, Kind.VERDICT, {"lemmas": ["be", "be", "do", "do", "go", "go"]}).method
    'Wilson with t(2); random: lemmas; only 3 lemmas'
    """
    array = np.asarray(values, np.float64)
    mean = float(array.mean())
    spread = spread_of_clusters((array - mean) / len(array), clusters)
    if spread is None:
        return Interval(nan, nan, f"no interval: fewer than two {' or '.join(clusters)}")
    return (score if kind.bounded else student)(mean, spread)


def of_items(values: ArrayLike, kind: Kind, suites: Sequence[str] | NDArray[np.int64]) -> Interval:
    """Compute the interval of a mean of items, which may come from several suites.

    Items of a suite are similar, so suites are random, with their items. With `suites="fixed"`, or with one suite, items
    are random.

    Arguments:
        values: defined values. Shape (items,).
        kind: the kind of the values.
        suites: the suite of each item.

    >>> of_items([1, 0, 1, 1], Kind.VERDICT, ["a", "a", "b", "b"]).method
    'Wilson with t(1); random: suites; only 2 suites'
    >>> of_items([1, 0, 1, 1], Kind.VERDICT, ["a", "a", "a", "a"]).method
    'Wilson; random: items; only 4 items'
    """
    if len(set(suites)) > 1 and bootstrap.current().suites == "random":
        return of_clusters(values, kind, {"suites": suites})
    return interval_of_items(values, kind)


def spread_of_clusters(
    influences: Numbers, clusters: Mapping[str, Sequence[str] | NDArray[np.int64]], net: bool = False
) -> Spread | None:
    """Return the variance of an estimate from the influence of each row; None if no kind has two clusters."""
    codes = {kind: np.unique(np.asarray(labels), return_inverse=True)[1] for kind, labels in clusters.items()}
    counts = {kind: int(places.max(initial=-1)) + 1 for kind, places in codes.items()}
    random = [kind for kind in codes if counts[kind] > 1]
    fixed = ", ".join(kind for kind in codes if kind not in random)
    if not random:
        return None
    variances = [_variance(influences, codes[kind]) for kind in random]
    freedoms = [_effective(np.bincount(codes[kind]).astype(np.float64)) - 1 for kind in random]
    if len(random) == 1:
        return Spread(variances[0], freedoms[0], ((random[0], counts[random[0]]),), fixed)
    first, second = (codes[kind] for kind in random)
    cells = _variance(influences, first * (int(second.max()) + 1) + second)
    variance = max(sum(variances) - cells, *variances)
    found = combined(variances, [(kind, counts[kind]) for kind in random], variance, freedoms)
    if not net or not sum(variances) > 0:
        return found
    return replace(found, freedom=max(min(freedoms), found.freedom * (variance / sum(variances)) ** 2))


def spread_of_ratio(parts: Numbers, wholes: Numbers, units: str) -> Spread:
    """Return the variance of a ratio of sums over independent units, by linearisation (Cochran 1977, section 2.11).

    Units with larger wholes decide more: the variance is that of leaving out one unit after another, and the degrees of
    freedom are those of fewer units with equal wholes, as for clusters of unequal size.

    Arguments:
        parts, wholes: two numbers per unit; the ratio is the sum of `parts` divided by the sum of `wholes`. Shape
            (units,).
        units: the name of the units.

    >>> spread_of_ratio(np.array([1.0, 0, 1, 1]), np.ones(4), "lemmas").variance  # of a mean: 3/16 / (4 - 1)
    0.0625
    """
    total = float(wholes.sum())
    influences = (parts - float(parts.sum()) / total * wholes) / total
    count = len(parts)
    moved = influences / np.maximum(1 - wholes / total, 1e-12)
    variance = float((moved**2).sum()) * (count - 1) / count
    return Spread(variance, _effective(wholes) - 1, ((units, count),))


def combined(
    variances: Sequence[float],
    units: Sequence[tuple[str, int]],
    variance: float | None = None,
    freedoms: Sequence[float] | None = None,
) -> Spread:
    """Combine the variances from several kinds of units; the kind with the fewest units is named first."""
    # The degrees of freedom are those of Satterthwaite (1946).
    total = sum(variances)
    freedoms = freedoms or [count - 1.0 for _, count in units]
    pieces = sum(part**2 / each for part, each in zip(variances, freedoms, strict=True))
    freedom = total**2 / pieces if pieces > 0 else min(freedoms)
    named = tuple(sorted(units, key=lambda unit: unit[1]))
    return Spread(total if variance is None else variance, freedom, named)


def _variance(influences: Numbers, codes: NDArray[np.int64]) -> float:
    """Return the variance by leaving out one cluster after another (CR3 of Bell & McCaffrey 2002, for a mean)."""
    sizes = np.bincount(codes)
    # Cells of two crossed kinds that don't occur are no clusters.
    count = int((sizes > 0).sum())
    if count < 2:
        return 0.0
    moved = np.bincount(codes, influences) / (1 - sizes / len(codes))
    return float((moved**2).sum()) * (count - 1) / count


def _effective(sizes: Numbers) -> float:
    """Return the number of units of equal size whose mean would vary as much (Kish 1965), but at least 2.

    >>> _effective(np.array([2.0, 2.0])), round(_effective(np.array([3.0, 1.0, 1.0])), 2)
    (2.0, 2.27)
    """
    return max(2.0, float(sizes.sum() ** 2 / (sizes**2).sum()))
