"""Intervals and tests of means, under a stated design: which units are random.

| number | random | interval |
|---|---|---|
| accuracy of a suite | items | Wilson's score interval (Wilson 1927) |
| paired difference of accuracies on a suite | items | Tango's score interval (1998), the inversion of McNemar's test |
| number over suites | suites, items | from the spread of the suites' own numbers |
| number over suites, `suites="fixed"` | items | from the spread of the items of each suite |
| number whose rows share words, people or models | these clusters | from cluster-robust variances |

For numbers over suites, the spread of the suites' accuracies already contains that of their items (Davison & Hinkley
1997, section 3.8). An interval for all suites can't be narrower than one for these suites alone, so the wider of the
two is used; this matters for two to five suites that agree by chance. For crossed clusters, the variances of both
kinds are added and that of their cells is subtracted (Cameron, Gelbach & Miller 2011).

The variance gives Student's interval for numbers without bounds. For means of bits of ten or more units, which may be
skewed, it is widened to contain Hall's (1992). For means of numbers from 0 to 1, the variance gives Wilson's interval
with the number of independent items that would have this variance (Korn & Graubard 1998; Dean & Pagano 2015), which
keeps its coverage near 0 and 1. Clusters of unequal size have the degrees of freedom of fewer clusters of equal size
(Kish 1965). p-values are computed from the same variance, so they never contradict the interval.
`benchmarks/coverage.py` measures the coverage of each interval.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import cbrt, inf, isfinite, isnan, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import FEW

LEVEL = 0.05
# The method of `of_numbers`, for readers of tables and figures.
OF_NUMBERS = f"Student's t over items, and Hall's from {FEW} items on"

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval, and how it was computed.

    Arguments:
        low, high: nan if there is no interval.
        method: the method, and the random units.
        p: the two-sided p-value of the hypothesis that the number is 0; nan if the number is not a difference.
    """

    low: float
    high: float
    method: str
    p: float = nan


@dataclass(frozen=True, slots=True)
class Spread:
    """The sampling variance of an estimate.

    Arguments:
        variance: the square of the standard error.
        freedom: the degrees of freedom of Student's t; infinite for a normal distribution.
        units: names and numbers of the random units, for example `(("suites", 31), ("items", 799))`; the first kind
            decides how far the number generalises.
        fixed: names of units that are not random.
        skewness: the sample skewness of the units of the first kind; nan if it isn't used.
    """

    variance: float
    freedom: float
    units: tuple[tuple[str, int], ...]
    fixed: str = ""
    skewness: float = nan

    @property
    def reach(self) -> float:
        """Half of the width of Student's interval."""
        return critical(self.freedom) * sqrt(self.variance)

    @property
    def method(self) -> str:
        """The random units, and a remark if there are few.

        >>> Spread(0.01, 2.0, (("suites", 3), ("items", 72))).method
        'random: suites, items; only 3 suites'
        """
        random = ", ".join(name for name, _ in self.units)
        fixed = f"; fixed: {self.fixed}" if self.fixed else ""
        return f"random: {random}{fixed}{self.remark}"

    @property
    def remark(self) -> str:
        """A remark if there are few units of the first kind, otherwise empty."""
        name, count = self.units[0]
        return f"; only {count} {name}" if count < FEW else ""


@lru_cache(maxsize=1024)
def critical(freedom: float) -> float:
    """Return the 97.5th percentile of Student's t; with infinite degrees of freedom, that of the normal distribution.

    >>> round(critical(inf), 3), round(critical(4), 3)
    (1.96, 2.776)
    """
    from scipy.special import ndtri, stdtrit

    return float(ndtri(1 - LEVEL / 2) if freedom == inf else stdtrit(freedom, 1 - LEVEL / 2))


def p_value(value: float, spread: Spread) -> float:
    """Return the two-sided p-value of the hypothesis that a number is 0; if the variance is 0, 1 for 0 and otherwise nan.

    >>> round(p_value(1.0, Spread(0.25, 4, (("items", 5),))), 4)  # t = 2 with 4 degrees of freedom
    0.1161
    """
    from scipy.special import ndtr, stdtr

    if not spread.variance > 0 or not isfinite(value):
        return 1.0 if value == 0 and spread.variance == 0 else nan
    size = value / sqrt(spread.variance)
    size = -abs(size) if isnan(spread.skewness) else -min(abs(size), abs(_hall(size, spread)))
    return float(2 * (ndtr(size) if spread.freedom == inf else stdtr(spread.freedom, size)))


def _hall(t: float, spread: Spread) -> float:
    """Transform Student's t of a mean so that skewness affects its distribution less (Hall 1992, section 3)."""
    n, bend = spread.units[0][1], spread.skewness / sqrt(spread.units[0][1])
    return t + bend * t**2 / 3 + bend**2 * t**3 / 27 + spread.skewness / (6 * sqrt(n))


def _unhall(transformed: float, spread: Spread) -> float:
    """Return the t whose transformation is given; the transformation increases everywhere."""
    n, bend = spread.units[0][1], spread.skewness / sqrt(spread.units[0][1])
    start = transformed - spread.skewness / (6 * sqrt(n))
    return 3 / bend * (cbrt(1 + bend * start) - 1) if abs(bend) > 1e-9 else start


def student(value: float, spread: Spread) -> Interval:
    """Compute Student's interval and test, for numbers without bounds, such as bits or differences.

    If the skewness is known, the interval also contains that of Hall (1992). Student's alone misses means of skewed
    numbers too often, Hall's alone means of numbers with heavy tails.

    >>> found = student(1.0, Spread(0.25, inf, (("items", 50),)))
    >>> round(found.low, 2), round(found.high, 2), round(found.p, 4), found.method
    (0.02, 1.98, 0.0455, 'normal; random: items')
    """
    if not spread.variance > 0 or not isfinite(value) or not isfinite(spread.variance):
        return Interval(nan, nan, f"no interval: no spread; {spread.method}", p_value(value, spread))
    kind = "normal" if spread.freedom == inf else f"t({spread.freedom:.3g})"
    below = above = critical(spread.freedom)
    if not isnan(spread.skewness):
        kind = f"{kind} and Hall"
        below, above = max(below, _unhall(below, spread)), max(above, -_unhall(-above, spread))
    se = sqrt(spread.variance)
    return Interval(value - below * se, value + above * se, f"{kind}; {spread.method}", p_value(value, spread))


def score(value: float, spread: Spread) -> Interval:
    """Compute Wilson's score interval of a mean of numbers from 0 to 1.

    Arguments:
        value: the mean.
        spread: its variance, degrees of freedom and random units. If the variance is 0, the interval is
            computed as if each unit were one independent item.

    >>> found = score(0.0, Spread(0.0, inf, (("items", 28),)))
    >>> found.low, round(found.high, 3), found.method
    (0.0, 0.121, 'Wilson; random: items')
    """
    if not isfinite(value) or not isfinite(spread.variance):
        return Interval(nan, nan, f"no interval: undefined; {spread.method}")
    # Without spread, each unit counts as one verdict, whose variance is known (rounding can leave 1e-17).
    room = value * (1 - value)
    flat = spread.variance <= 1e-15 or room <= 1e-15
    n = float(spread.units[0][1]) if flat else room / spread.variance
    freedom = inf if flat else spread.freedom
    z = critical(freedom)
    middle = (value + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * sqrt(max(room, 0.0) / n + z * z / (4 * n * n))
    kind = "Wilson" if freedom == inf else f"Wilson with t({freedom:.3g})"
    # The limits contain the value, but for rounding.
    low, high = min(max(0.0, middle - reach), value), max(min(1.0, middle + reach), value)
    return Interval(low, high, f"{kind}; {spread.method}")


def _mean(values: Numbers) -> float:
    with np.errstate(invalid="ignore"):  # infinite margins of both signs
        return float(values.mean())


def is_share(values: Numbers) -> bool:
    """Return whether all numbers are from 0 to 1."""
    return bool(((values >= 0) & (values <= 1)).all())


def _binary(values: Numbers) -> bool:
    return bool(((values == 0) | (values == 1)).all())


def spread_of_items(values: Numbers, units: str = "items") -> Spread:
    """Return the variance of the mean of independent items; for values of 0 and 1 it is the binomial one.

    Arguments:
        values: shape (items,), at least two.
        units: what the items are called in the method text, for example "contexts".
    """
    n, mean = len(values), _mean(values)
    return Spread(mean * (1 - mean) / n, inf, ((units, n),)) if _binary(values) else _sample_spread(values, units)


def _sample_spread(values: Numbers, units: str = "items") -> Spread:
    n = len(values)
    with np.errstate(invalid="ignore"):  # infinite margins
        return Spread(float(values.var(ddof=1)) / n, n - 1.0, ((units, n),), skewness=_skewness(values))


def _skewness(values: Numbers) -> float:
    """Return the skewness of a sample; nan if it is too small to tell. Then the interval is Student's, with a remark."""
    if len(values) < FEW:
        return nan
    deviations = values - values.mean()
    spread = float((deviations**2).mean())
    return float((deviations**3).mean()) / spread**1.5 if spread > 0 else 0.0


def of_items(values: ArrayLike, units: str = "items") -> Interval:
    """Compute an interval for the mean of independent items: Wilson's if all lie between 0 and 1, otherwise Student's.

    Arguments:
        values: defined values. Shape (items,).
        units: what the items are called in the method text, for example "contexts".

    >>> found = of_items([1, 1, 0, 1, 0, 1, 1, 1, 1, 0])
    >>> round(found.low, 3), round(found.high, 3), found.method
    (0.397, 0.892, 'Wilson; random: items')
    >>> of_items([1.0]).method
    'no interval: fewer than two items'
    """
    array = np.asarray(values, np.float64)
    if len(array) < 2:
        return Interval(nan, nan, f"no interval: fewer than two {units}")
    spread = spread_of_items(array, units)
    return score(_mean(array), spread) if is_share(array) else student(_mean(array), spread)


def of_numbers(values: ArrayLike, units: str = "items") -> Interval:
    """Compute the interval of `student` for the mean of independent numbers without bounds, such as bits.

    >>> found = of_numbers([1.0, 2.0, 3.0, 4.0])
    >>> round(found.low, 2), round(found.high, 2), found.method
    (0.45, 4.55, 't(3); random: items; only 4 items')
    """
    array = np.asarray(values, np.float64)
    if len(array) < 2:
        return Interval(nan, nan, f"no interval: fewer than two {units}")
    return student(_mean(array), _sample_spread(array, units))


def of_columns(values: NDArray[np.float64], units: str) -> list[tuple[float, Interval, int]]:
    """Return mean, interval and number of defined rows of each column; nan is undefined.

    Arguments:
        values: shape (rows, columns).
        units: the name of the rows.

    >>> [(mean, n) for mean, _, n in of_columns(np.array([[0.0, np.nan], [1.0, np.nan]]), "contexts")]
    [(0.5, 2), (nan, 0)]
    """
    columns = [column[~np.isnan(column)] for column in values.T]
    return [(float(column.mean()) if len(column) else nan, of_items(column, units), len(column)) for column in columns]


def of_difference(differences: ArrayLike, verdicts: bool, units: str = "items") -> Interval:
    """Compute the interval of the mean of paired differences of the items of one suite, with the test of no difference.

    Arguments:
        differences: second minus first. Shape (items,).
        verdicts: whether they are differences of verdicts. Then the interval is Tango's and the test McNemar's;
            otherwise both are Student's.
        units: what the items are called in the method text, for example "contexts".

    >>> found = of_difference([1] * 6 + [-1] + [0] * 21, verdicts=True)
    >>> round(found.low, 3), round(found.high, 3), round(found.p, 4)
    (-0.008, 0.371, 0.0588)
    """
    array = np.asarray(differences, np.float64)
    if not verdicts:
        return of_numbers(array, units)
    if len(array) < 2:
        return Interval(nan, nan, f"no interval: fewer than two {units}")
    only_b, only_a, n = int((array > 0).sum()), int((array < 0).sum()), len(array)
    few = f"; only {n} items" if n < FEW else ""
    return Interval(*tango(only_b, only_a, n), f"Tango; random: items{few}", mcnemar(only_a, only_b))


def mcnemar(only_a: int, only_b: int) -> float:
    """Compute the two-sided p-value of McNemar's test (1947), without continuity correction; 1 without discordant items.

    With 10 or more items, its true size is at most 0.056. The true size of the exact test is often below 0.02
    (Fagerland, Lydersen & Laake 2013), and no interval of the difference agrees with the exact test.

    >>> round(mcnemar(1, 6), 4)  # (6 - 1) / sqrt(7) = 1.89
    0.0588
    """
    from scipy.special import ndtr

    discordant = only_a + only_b
    return float(2 * ndtr(-abs(only_b - only_a) / sqrt(discordant))) if discordant else 1.0


@lru_cache(maxsize=8192)
def tango(only_b: int, only_a: int, n: int) -> tuple[float, float]:
    """Compute Tango's score interval (1998) of a difference of paired proportions, (only_b - only_a) / n.

    It contains each difference that the score test doesn't reject; for a difference of 0, the score test is McNemar's
    test.

    >>> [round(end, 3) for end in tango(9, 1, 50)]
    [0.045, 0.293]
    """
    observed = (only_b - only_a) / n

    def end(outer: float, sign: int) -> float:
        inside, outside = observed, outer
        for _ in range(60):
            middle = (inside + outside) / 2
            inside, outside = (
                (middle, outside) if sign * _deviation(only_b, only_a, n, middle) <= critical(inf) else (inside, middle)
            )
        return inside

    return end(-1.0, 1), end(1.0, -1)


def _deviation(only_b: int, only_a: int, n: int, difference: float) -> float:
    """Return by how many standard errors the observed difference of paired proportions is above a supposed one."""
    # The smaller probability of discordance, at its maximum likelihood under this difference (Tango 1998, eq. 5).
    b = -only_b - only_a + (2 * n - only_b + only_a) * difference
    c = -only_a * difference * (1 - difference)
    smaller = (sqrt(max(b * b - 8 * n * c, 0.0)) - b) / (4 * n)
    variance = n * (2 * smaller + difference * (1 - difference))
    distance = only_b - only_a - n * difference
    return distance / sqrt(variance) if variance > 1e-12 else (inf if distance > 0 else -inf if distance else 0.0)


def equivalence(differences: ArrayLike, bound: float) -> float:
    """Return the p of two one-sided tests that paired verdicts of a suite differ by less than a bound (Tango 1998).

    It is at most .05 exactly where the 90% interval lies between the bounds.

    >>> round(equivalence([0] * 96 + [1, 1, -1, -1], bound=0.1), 5), equivalence([1, 0], bound=0.1) > 0.05
    (0.00128, True)
    """
    from scipy.special import ndtr

    array = np.asarray(differences, np.float64)
    counts = int((array > 0).sum()), int((array < 0).sum()), len(array)
    if not len(array):
        return nan
    return float(max(ndtr(-_deviation(*counts, -bound)), ndtr(_deviation(*counts, bound))))


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
    value, error = float(np.mean([_mean(items) for items in arrays])), sqrt(spread.variance)
    sides = [-(value + bound) / error, (value - bound) / error]
    return max(float(ndtr(side) if spread.freedom == inf else stdtr(spread.freedom, side)) for side in sides)


def over_suites(values: Mapping[str, ArrayLike], verdicts: bool = False, difference: bool = False) -> Interval:
    """Compute the interval of the unweighted mean over suites of the means of their items.

    `bootstrap.current()` determines whether suites are random or fixed. The interval of one suite is that of its
    items.

    Arguments:
        values: suite -> defined values. If a suite has no defined values, there is no interval.
        difference: whether the values are paired differences, which are also tested.
        verdicts: whether they are differences of verdicts, see `of_difference`.

    >>> values = {"agreement": [1, 1, 1, 0], "licensing": [0, 0, 0, 1], "embedding": [1, 0, 1, 0]}
    >>> over_suites(values).method
    'Wilson with t(2); random: suites, items; only 3 suites'
    >>> with bootstrap.using(bootstrap.Resampling(suites="fixed")):
    ...     over_suites(values).method
    'Wilson; random: items; fixed: suites'
    """
    arrays = {suite: np.asarray(items, np.float64) for suite, items in values.items()}
    if empty := [suite for suite, items in arrays.items() if not len(items)]:
        return Interval(nan, nan, f"no interval: no defined items in {_named(empty)}")
    if not arrays:
        return Interval(nan, nan, "no interval: no suites")
    if len(arrays) == 1:
        [items] = arrays.values()
        return of_difference(items, verdicts) if difference else of_items(items)
    means = np.array([_mean(items) for items in arrays.values()])
    if bootstrap.current().suites == "fixed" and all(len(items) == 1 for items in arrays.values()):
        return Interval(nan, nan, "no interval: one item in each suite; fixed: suites")
    spread = spread_over_suites(list(arrays.values()))
    share = not difference and all(map(is_share, arrays.values()))
    if not share and not verdicts and spread.freedom < inf:
        spread = replace(spread, skewness=_skewness(means))
    found = (score if share else student)(_mean(means), spread)
    if verdicts and not isnan(found.low):
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


def over_models(values: Mapping[str, NDArray[np.float64]]) -> Interval:
    """Compute the interval of a mean over suites and over models of a class, such as training runs with different seeds.

    All models have the same items, so models are crossed with suites, or with items if suites are fixed.

    Arguments:
        values: suite -> values; nan is undefined. Shapes (items, models).

    >>> runs = {"agreement": np.array([[1.0, 1], [0, 1], [1, 0]]), "licensing": np.array([[0.0, 1], [0, 0], [0, 1]])}
    >>> over_models(runs).method
    'Wilson with t(2); random: suites, models; only 2 suites'
    """
    models = next(iter(values.values())).shape[1]
    if models == 1:
        return over_suites({suite: items[~np.isnan(items)] for suite, items in values.items()})
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
    share = all(is_share(items[~np.isnan(items)]) for items in values.values())
    return (score if share else student)(value, spread)


def means(values: NDArray[np.float64], axis: int) -> Numbers:
    """Return means that ignore nan; the mean of nothing but nan is nan."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: Numbers = np.where(defined, values, 0.0).sum(axis=axis) / defined.sum(axis=axis)
    return means


def of_clusters(values: ArrayLike, clusters: Mapping[str, Sequence[str] | NDArray[np.int64]]) -> Interval:
    """Compute the interval of a mean of rows that are correlated within clusters of one or two kinds.

    Arguments:
        values: shape (rows,); at least one.
        clusters: kind ("lemmas", "people", ...) -> the cluster of each row. Two kinds are crossed. A kind with one
            cluster counts as fixed.

    >>> values = [1, 1, 0, 0, 1, 0]
    >>> of_clusters(values, {"lemmas": ["be", "be", "do", "do", "go", "go"]}).method
    'Wilson with t(2); random: lemmas; only 3 lemmas'
    """
    array = np.asarray(values, np.float64)
    mean = float(array.mean())
    spread = spread_of_clusters((array - mean) / len(array), clusters)
    if spread is None:
        return Interval(nan, nan, f"no interval: fewer than two {' or '.join(clusters)}")
    return score(mean, spread) if is_share(array) else student(mean, spread)


def spread_of_clusters(influences: Numbers, clusters: Mapping[str, Sequence[str] | NDArray[np.int64]]) -> Spread | None:
    """Return the variance of an estimate from the influence of each row; None if no kind has two clusters.

    Arguments:
        influences: the influence of each row on the estimate; for a mean, its deviation divided by n. Their sum is 0.
        clusters: as in `of_clusters`.
    """
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
    return combined(variances, [(kind, counts[kind]) for kind in random], variance, freedoms)


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
    """Combine the variances from several kinds of units; the kind with the fewest units is named first.

    The degrees of freedom are those of Satterthwaite (1946).

    Arguments:
        variances: one for each kind.
        units: name and number of the units of each kind.
        variance: the combined variance; by default the sum.
        freedoms: the degrees of freedom of each variance; by default the number of units minus 1.
    """
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


def notes() -> tuple[str, str]:
    """Describe the intervals of scores for the notes of a table: of one suite, and over several.

    >>> notes()[0]
    "Intervals are 95%: on one suite Wilson's score interval, for other items of the kind."
    """
    one = "Intervals are 95%: on one suite Wilson's score interval, for other items of the kind."
    if bootstrap.current().suites == "fixed":
        return one, "Over suites they are for other items of the same suites (suites=fixed)."
    return one, "Over suites they are for other suites and their items; --suites fixed: for these suites alone."
