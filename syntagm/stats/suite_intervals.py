"""Intervals and tests of means over suites, and over the models of a class.

The spread of the suites' accuracies already contains that of their items (Davison & Hinkley 1997, section 3.8). An
interval for all suites can't be narrower than one for these suites alone, so the wider of the two is used; this matters
for two to five suites that agree by chance.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, log, nan, pi, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.evaluation import Kind
from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import FEW
from syntagm.stats.cluster_intervals import combined, spread_of_clusters
from syntagm.stats.interval import (
    Interval,
    Numbers,
    Spread,
    beyond_rounding,
    critical,
    halls,
    influence,
    mean_of,
    means,
    means_of,
    of_items,
    outlier,
    score,
    skewed,
    skewness,
    student,
    variances_of,
)
from syntagm.stats.paired_intervals import equivalence, of_difference

# The variance of each suite's mean depends on the true mean, which the observed one tells badly in a small suite: ten
# items that are all right have the variance 0. So the interval contains each mean over suites that a score test doesn't
# reject. The test has the variances that are most likely if this mean is the true one (Miettinen & Nurminen 1985;
# Martín Andrés, Hernández Tejera & Herranz Tejedor 2011). For one suite, this is Wilson's interval of an accuracy
# (1927), and Tango's of a paired difference (1998).
#
# The likelihood is maximised under the hypothesis with one Lagrange multiplier for all suites, along which the mean
# falls. Means that are estimated freely make variances too small: with k suites there are k - 1, so the variance of a
# suite of n items is multiplied by n / (n - 1 + s), where s is its part in the variance of the mean. Such variances are
# themselves estimated, so the quantile is Student's, with the degrees of freedom of Satterthwaite (1946).
#
# Suites of one item don't show how much their items vary. They are taken together, like items of one suite, whose mean
# varies at least as much as that of the same items in suites with different means.

# The logarithm of the Lagrange multiplier is found to this precision.
_CLOSE = 1e-9


class Strata:
    """Means of items in several strata, and the variances that are most likely under a mean over strata."""

    def __init__(
        self, likely: Callable[[Numbers], tuple[Numbers, Numbers]], sizes: Numbers, weights: Numbers, observed: Numbers
    ) -> None:
        self._likely, self.sizes, self.weights = likely, sizes, weights
        self.value = float((weights * observed).sum())

    def at(self, multiplier: float) -> tuple[float, Spread]:
        """Return the mean over strata with a multiplier, and the variance of the observed mean if it is the true one."""
        means, variances = self._likely(multiplier * self.weights)
        mean, units = float((self.weights * means).sum()), (("items", int(self.sizes.sum())),)
        parts = self.weights**2 * variances / self.sizes
        if not parts.any():
            return mean, Spread(0.0, inf, units, "suites")
        shares = parts / parts.sum()
        parts = np.where(parts > 0, parts * self.sizes / np.maximum(self.sizes - 1 + shares, 1e-300), 0.0)
        free = float((((1 - shares) * parts) ** 2 / np.maximum(self.sizes - 1, 1)).sum())
        variance = float(parts.sum())
        return mean, Spread(variance, variance**2 / free if free > 0 else inf, units, "suites")

    def end(self, sign: int) -> float:
        """Return the lowest (sign 1) or highest (sign -1) mean that a test at the level .05 doesn't reject."""

        def beyond(multiplier: float) -> float:
            mean, spread = self.at(sign * exp(multiplier))
            return sign * (self.value - mean) - 1e-9 - critical(_rounded(spread.freedom)) * sqrt(spread.variance)

        return self.at(sign * exp(self._solved(beyond)))[0]

    def test(self, supposed: float) -> tuple[float, Spread]:
        """Return how far the observed mean is above a supposed one, and its variance if that is the true one."""
        sign = 1 if self.value > supposed else -1

        def beyond(multiplier: float) -> float:
            return sign * (supposed - self.at(sign * exp(multiplier))[0])

        return self.value - supposed, self.at(sign * exp(self._solved(beyond)))[1]

    def _solved(self, beyond: Callable[[float], float]) -> float:
        """Return the logarithm of the multiplier at which a function passes 0; the nearer end if it doesn't."""
        from scipy.optimize import brentq

        small, large = log(1e-9 * float(self.sizes.min())), log(1e9 * float((self.sizes / self.weights).max()))
        if beyond(small) >= 0:
            return small
        return float(brentq(beyond, small, large, xtol=_CLOSE)) if beyond(large) > 0 else large


def _rounded(freedom: float) -> float:
    # `critical` remembers its values.
    return freedom if freedom == inf else float(f"{freedom:.6g}")


def of_means(means: Numbers, sizes: Numbers, weights: Numbers) -> Strata:
    """Return the strata of accuracies, or of means of shares.

    Arguments:
        means: the mean of each stratum, from 0 to 1. Shape (strata,).
        sizes: the number of items of each stratum; of shares, that of verdicts with the same variance.
        weights: of the strata in the mean; their sum is 1.

    >>> strata = of_means(np.array([1.0, 0.9]), np.array([10.0, 1000.0]), np.full(2, 0.5))
    >>> round(strata.end(1), 3), round(strata.end(-1), 3)  # the first suite alone has [.722, 1]
    (0.811, 0.959)
    """

    def likely(multipliers: Numbers) -> tuple[Numbers, Numbers]:
        # From the complement where the multiplier raises the means, so that no difference of large numbers occurs.
        down = multipliers > 0
        counts = np.where(down, means, 1 - means) * sizes
        size = np.abs(multipliers)
        middle = size + sizes
        lowered = np.clip(2 * counts / (middle + np.sqrt(np.maximum(middle**2 - 4 * size * counts, 0.0))), 0, 1)
        found = np.where(down, lowered, 1 - lowered)
        return found, found * (1 - found)

    return Strata(likely, sizes, weights, means)


def of_differences(gained: Numbers, lost: Numbers, sizes: Numbers, weights: Numbers) -> Strata:
    """Return the strata of paired differences of verdicts.

    Arguments:
        gained, lost: the number of items of each stratum with the difference 1, and with -1. Shapes (strata,).
        sizes: the number of items of each stratum.
        weights: of the strata in the mean; their sum is 1.

    >>> strata = of_differences(np.array([1.0, 5.0]), np.array([0.0, 3.0]), np.array([10.0, 100.0]), np.full(2, 0.5))
    >>> round(strata.end(1), 3), round(strata.end(-1), 3)
    (-0.094, 0.215)
    """
    same = sizes - gained - lost

    def likely(multipliers: Numbers) -> tuple[Numbers, Numbers]:
        size = np.abs(multipliers)
        against, towards = (gained, lost) if multipliers[0] > 0 else (lost, gained)
        total = _root(against, towards, same, size)
        first, rest = against / (total + size), same / total
        second = np.maximum(1 - first - rest, 0.0)
        means = first - second if multipliers[0] > 0 else second - first
        return means, np.maximum(first + second - means**2, 0.0)

    return Strata(likely, sizes, weights, (gained - lost) / sizes)


def _root(against: Numbers, towards: Numbers, same: Numbers, size: Numbers) -> Numbers:
    """Solve against / (x + size) + towards / (x - size) + same / x = 1 for the largest x."""
    # This is the largest of the three real roots of a cubic polynomial. Without `towards` it may be `size` itself: then
    # the most likely probability of that outcome is what the others leave.
    squared, linear, constant = -(against + towards + same), size * (against - towards - size), same * size**2
    spread = np.maximum((squared * squared - 3 * linear) / 9, 0.0)
    turn = (squared * (2 * squared * squared - 9 * linear) + 27 * constant) / 54
    root = np.sqrt(spread)
    # `clip` of arrays takes much longer.
    angle = np.arccos(np.minimum(np.maximum(turn / np.maximum(spread * root, 1e-300), -1.0), 1.0))
    largest: Numbers = np.maximum(-2 * root * np.cos((angle + 2 * pi) / 3) - squared / 3, size)
    return largest


def interval_of_strata(strata: Strata, least: float, tested: bool) -> Interval:
    """Compute the interval of a mean over suites, and with `tested` the test that it is 0."""
    low, high = strata.end(1), strata.end(-1)
    # The limits contain the value, but for rounding.
    low, high = max(least, min(low, strata.value)), min(1.0, max(high, strata.value))
    p = _p(*strata.test(0.0)) if tested else nan
    found = Interval(low, high, "stratified score", p)
    return found.agreeing() if tested else found


def equivalence_of_strata(strata: Strata, bound: float) -> float:
    """Return the p of two one-sided tests that a mean over suites is within a bound of 0."""
    return max(_p(*strata.test(-bound), one_sided=1), _p(*strata.test(bound), one_sided=-1))


def _p(distance: float, spread: Spread, one_sided: int = 0) -> float:
    from scipy.special import ndtr, stdtr

    if not spread.variance > 0:
        return 1.0 if one_sided * distance <= 0 and abs(distance) < 1e-9 else 0.0
    size = -(one_sided * distance if one_sided else abs(distance)) / sqrt(spread.variance)
    p = float(ndtr(size) if spread.freedom == inf else stdtr(spread.freedom, size))
    return p if one_sided else 2 * p


def of_samples(samples: Sequence[NDArray[np.float64]], kind: Kind, difference: bool) -> Strata:
    """Return the strata of suites with verdicts or shares, or with paired differences of verdicts."""
    single = [values for values in samples if len(values) == 1]
    strata = [values for values in samples if len(values) > 1] + ([np.concatenate(single)] if single else [])
    weights = np.ones(len(strata))
    weights[-1] = max(1, len(single))
    weights /= len(samples)
    sizes = np.array([float(len(values)) for values in strata])
    if difference:
        gained, lost = (np.array([float((values == outcome).sum()) for values in strata]) for outcome in (1, -1))
        return of_differences(gained, lost, sizes, weights)
    means = means_of(strata)
    if kind is Kind.SHARE:
        # Shares vary less than verdicts with the same mean: as many verdicts as would have the mean's variance.
        spread = np.array([variance or 0.0 for variance in variances_of(strata)])
        sizes = np.where(spread > 1e-15, sizes * means * (1 - means) / np.maximum(spread, 1e-300), sizes)
    return of_means(means, sizes, weights)


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
    'stratified score; random: items; fixed: suites'
    """
    arrays = {suite: np.asarray(items, np.float64) for suite, items in values.items()}
    if empty := [suite for suite, items in arrays.items() if not len(items)]:
        return Interval(nan, nan, f"no interval: no defined items in {listed(empty)}")
    if not arrays:
        return Interval(nan, nan, "no interval: no suites")
    if len(arrays) == 1:
        [items] = arrays.values()
        return of_difference(items, kind) if difference else of_items(items, kind)
    if bootstrap.current().suites == "fixed" and all(len(items) == 1 for items in arrays.values()):
        return Interval(nan, nan, "no interval: one item in each suite; fixed: suites")
    suites = _Suites.of(list(arrays.values()))
    found = _over_several(suites, kind, difference)
    if bootstrap.current().suites == "fixed":
        single = [suite for suite, items in arrays.items() if len(items) == 1]
        if not single:
            return found
        taken = "taken together" if _by_strata(kind, difference) else "so no spread"
        return found.remarked(f"one item, {taken}: {listed(single)}")

    def without(place: int) -> Interval:
        return _over_several(suites.without(place), kind, difference)

    proportion = kind.bounded and not difference
    if remarks := influence_of_one(found, list(arrays), suites.means, without, proportion):
        return found.remarked(*remarks)
    if proportion and (remark := _mostly_at_an_end(suites.means)):
        return found.remarked(remark)
    if "Hall" not in found.method:
        return found
    plain = _over_several(suites, kind, difference, corrected=False)
    return found.remarked(*skewed("suites", _evened(suites.means, proportion), mean_of(suites.means), found, plain))


def _mostly_at_an_end(means: Numbers) -> str:
    """Return a remark if nearly all of at least ten suites are right, or wrong, in all items; "" otherwise.

    Then the spread is that of the few others, and a kind of suites like these may be absent.

    >>> _mostly_at_an_end(np.array([1.0] * 9 + [0.75]))
    'rests on 1 of 10 suites, as all items of the others are right'
    """
    right, wrong = int((means == 1).sum()), int((means == 0).sum())
    others = len(means) - max(right, wrong)
    if len(means) < FEW or not 0 < others < len(means) / 4:
        return ""
    return f"rests on {others} of {len(means)} suites, as all items of the others are {'right' if right > wrong else 'wrong'}"


@dataclass(frozen=True, slots=True)
class _Suites:
    """The items of several suites, with their means and variances, on which all numbers over suites rest."""

    samples: Sequence[Numbers]  # the values of each suite. Shapes (items,).
    means: Numbers  # Shape (suites,)
    variances: Sequence[float | None]  # the variance of the items of each; None with fewer than two

    @classmethod
    def of(cls, samples: Sequence[Numbers]) -> "_Suites":
        return cls(samples, means_of(samples), variances_of(samples))

    def without(self, place: int) -> "_Suites":
        samples, variances = list(self.samples), list(self.variances)
        del samples[place], variances[place]
        return _Suites(samples, np.delete(self.means, place), variances)


def influence_of_one(
    found: Interval, suites: Sequence[str], means: Numbers, without: Callable[[int], Interval], proportion: bool
) -> tuple[str, ...]:
    """Return a remark if a number over random suites rests on one of them (`interval.influence`)."""
    place = outlier(_evened(means, proportion))
    if place is None:
        return ()
    left = mean_of(np.delete(means, place))
    return influence(suites[place], mean_of(means), found, left, without(place))


def _evened(means: Numbers, proportion: bool) -> Numbers:
    """Return the numbers of suites; of those from 0 to 1 the arcsine of the square root."""
    # Proportions near the ends have long tails by their nature, which the arcsine takes away.
    return np.arcsin(np.sqrt(np.clip(means, 0, 1))) if proportion else means


def _over_several(suites: _Suites, kind: Kind, difference: bool, corrected: bool = True) -> Interval:
    """Compute the interval of `over_suites`, for several suites with defined values."""
    least, random = -1.0 if difference else 0.0, bootstrap.current().suites == "random"
    value, spread = mean_of(suites.means), _spread(suites, bootstrap.current().suites)
    # Random suites that agree more closely than their items allow have the interval of these suites alone.
    if _by_strata(kind, difference) and (not random or spread.freedom == inf):
        strata = of_samples(suites.samples, kind, difference)
        alone = interval_of_strata(strata, least, tested=difference)
        return spread.interval(alone.low, alone.high, "stratified score", alone.p)
    if random and corrected:
        spread = replace(spread, skewness=_skewness(suites.means, spread, kind.bounded and not difference))
    if not kind.bounded or difference:
        found = student(value, spread)
        found = found.clipped(least) if kind.bounded else found
    else:
        found = score(value, spread)
    return found if difference else replace(found, p=nan)


def _by_strata(kind: Kind, difference: bool) -> bool:
    """Return whether values have a score interval over fixed suites; others have Student's."""
    return kind is Kind.VERDICT or (kind.bounded and not difference)


def _skewness(means: Numbers, spread: Spread, proportion: bool) -> float:
    """Return the skewness of a mean over random suites, if it is computed from the suites' own means."""
    if spread.freedom == inf:  # the suites agree more closely than their items allow
        return 0.0
    value = float(means.mean())
    room = value * (1 - value)
    return skewness(means, (1 - 2 * value) * float(means.std()) / room if proportion and room > 0 else 0.0)


def listed(suites: Sequence[str]) -> str:
    """Return the names of the first three suites, for reasons and remarks."""
    return ", ".join(suites[:3]) + (" ..." if len(suites) > 3 else "")


def spread_over_suites(samples: Sequence[Numbers], suites: bootstrap.Suites | None = None) -> Spread:
    """Return the variance of the unweighted mean over several suites."""
    return _spread(_Suites.of(samples), suites or bootstrap.current().suites)


def _spread(of: _Suites, suites: bootstrap.Suites) -> Spread:
    count, sizes = len(of.samples), [len(values) for values in of.samples]
    with np.errstate(invalid="ignore"):  # infinite margins
        parts = [(variance / n, n) for variance, n in zip(of.variances, sizes, strict=True) if variance is not None]
        within = sum(part for part, _ in parts) / count**2
        freedom = within**2 / sum((part / count**2) ** 2 / (n - 1) for part, n in parts) if within > 0 else inf
        fixed = Spread(within, freedom, (("items", sum(sizes)),), "suites")
        if suites == "fixed":
            return fixed
        between = beyond_rounding(float(np.var(of.means, ddof=1)), of.means) / count
    random = Spread(between, float(count - 1), (("suites", count), ("items", sum(sizes))))
    alone = replace(fixed, freedom=inf, units=random.units, fixed="")
    return alone if random.reach < alone.reach else random


def equivalence_over_suites(values: Mapping[str, ArrayLike], bound: float) -> float:
    """Return the p of two one-sided tests that a mean over suites is within a bound of 0 (Schuirmann 1987)."""
    # Suites are random or fixed as `bootstrap.current()` says. nan without a spread.
    from scipy.special import ndtr, stdtr

    arrays = [np.asarray(items, np.float64) for items in values.values()]
    if len(arrays) == 1:
        return equivalence(arrays[0], bound)
    if not arrays or not all(map(len, arrays)):
        return nan
    if bootstrap.current().suites == "fixed":
        if all(len(items) == 1 for items in arrays):
            return nan
        return equivalence_of_strata(of_samples(arrays, Kind.VERDICT, True), bound)
    suites = _Suites.of(arrays)
    spread = _spread(suites, "random")
    if not spread.variance > 0:
        return nan
    value, error = float(np.mean(suites.means)), sqrt(spread.variance)
    correction = _skewness(suites.means, spread, False)
    above, below = (value + bound) / error, (value - bound) / error
    sides = [-min(above, halls(above, correction)), max(below, halls(below, correction))]
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
    if lacking := [suite for suite, own in zip(values, scores, strict=True) if np.isnan(own).any()]:
        return Interval(nan, nan, f"no interval: a model has no defined items in {listed(lacking)}")
    suites = len(scores)
    if suites > 1 and bootstrap.current().suites == "random":

        def without(place: int) -> Interval:
            return _crossed(np.delete(scores, place, axis=0), kind)

        found = _crossed(scores, kind)
        return found.remarked(*influence_of_one(found, list(values), scores.mean(axis=1), without, kind.bounded))
    averages = [means(items[~np.isnan(items).all(axis=1)], 1) for items in values.values()]
    items = spread_over_suites(averages, "fixed")
    if items.units[0][1] < 2:
        return Interval(nan, nan, "no interval: fewer than two items")
    variance = items.variance
    if kind.bounded:
        # A small suite that is all right has no variance; its interval has a width.
        alone = interval_of_strata(of_samples(averages, Kind.SHARE, False), 0.0, tested=False)
        variance = ((alone.high - alone.low) / (2 * critical(inf))) ** 2
    between = float(scores.mean(axis=0).var(ddof=1)) / models
    both = combined([variance, between], [items.units[0], ("models", models)])
    spread = replace(both, fixed="suites" if suites > 1 else "")
    return (score if kind.bounded else student)(float(scores.mean()), spread)


def _crossed(scores: Numbers, kind: Kind) -> Interval:
    """Compute the interval of the mean of the scores of random suites and models. Shape (suites, models)."""
    value, places = float(scores.mean()), np.indices(scores.shape).reshape(2, -1)
    influences = ((scores - value) / scores.size).ravel()
    spread = spread_of_clusters(influences, {"suites": places[0], "models": places[1]})
    assert spread, "there are two models"
    return (score if kind.bounded else student)(value, spread)
