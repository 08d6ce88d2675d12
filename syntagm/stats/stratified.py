"""Intervals and tests of means over strata, such as fixed suites, whose items are random.

The variance of each suite's mean depends on the true mean, which the observed one tells badly in a small suite: ten items
that are all right have the variance 0. So the interval contains each mean over suites that a score test doesn't reject.
The test has the variances that are most likely if this mean is the true one (Miettinen & Nurminen 1985; Martín Andrés,
Hernández Tejera & Herranz Tejedor 2011). For one suite, this is Wilson's interval of an accuracy (1927), and Tango's of a
paired difference (1998).

The likelihood is maximised under the hypothesis with one Lagrange multiplier for all suites, along which the mean falls.
Means that are estimated freely make variances too small: with k suites there are k - 1, so the variance of a suite of n
items is multiplied by n / (n - 1 + s), where s is its part in the variance of the mean. Such variances are themselves
estimated, so the quantile is Student's, with the degrees of freedom of Satterthwaite (1946).

Suites of one item don't show how much their items vary. They are taken together, like items of one suite, whose mean varies
at least as much as that of the same items in suites with different means.
"""

from collections.abc import Callable, Sequence
from math import exp, inf, log, nan, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from syntagm.evaluation import Kind
from syntagm.stats.interval import Interval, Numbers, Spread, critical, means_of, variances_of

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


def interval(strata: Strata, least: float, tested: bool) -> Interval:
    """Compute the interval of a mean over suites, and with `tested` the test that it is 0."""
    low, high = strata.end(1), strata.end(-1)
    # The limits contain the value, but for rounding.
    low, high = max(least, min(low, strata.value)), min(1.0, max(high, strata.value))
    p = _p(*strata.test(0.0)) if tested else nan
    found = Interval(low, high, "stratified score", p)
    return found.agreeing() if tested else found


def equivalence(strata: Strata, bound: float) -> float:
    """Return the p of two one-sided tests that a mean over suites is within a bound of 0."""
    return max(_p(*strata.test(-bound), one_sided=1), _p(*strata.test(bound), one_sided=-1))


def _p(distance: float, spread: Spread, one_sided: int = 0) -> float:
    """Return the p-value of a distance from the hypothesis."""
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
