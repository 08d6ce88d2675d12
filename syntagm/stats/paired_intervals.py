"""Intervals and tests of paired differences on one suite, of equivalence, and of conditions within items.

Tango's interval (1998) contains each difference of proportions that the score test doesn't reject; for a difference of 0
this is McNemar's test (1947). So interval and test agree; where nearly all items are discordant, and p is larger than that
of the score test, the interval is extended to 0.
"""

from functools import lru_cache
from math import inf, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.evaluation import Kind
from syntagm.stats.interval import Interval, Spread, critical, of_numbers

METHOD = "Cousineau-Morey, within items"


def within_items(values: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Compute the 95% interval of the mean of each condition within items, relative to that mean.

    Items differ much more than conditions, so the intervals of the conditions' means don't show whether conditions differ.
    Cousineau (2005) subtracts the mean of each item first; Morey (2008) corrects the variance, which would be too small by
    the factor (c - 1) / c for c conditions. With two conditions, the interval of their difference is wider than these by
    the factor √2.

    Only items with finite values in all conditions count. The ends are nan if there are fewer than two such items or
    conditions, or if the values of a condition, apart from the means of the items, don't vary.

    Arguments:
        values: shape (items, conditions).

    >>> [(round(low, 2), round(high, 2)) for low, high in within_items(np.array([[10.0, 11.0], [20.0, 22.0], [30.0, 33.0]]))]
    [(-1.76, 1.76), (-1.76, 1.76)]
    """
    complete = values[np.isfinite(values).all(axis=1)]
    n, conditions = complete.shape
    if n < 2 or conditions < 2:
        return [(nan, nan)] * conditions
    normalised = complete - complete.mean(axis=1, keepdims=True)
    scaled = (normalised - normalised.mean(axis=0)) * sqrt(conditions / (conditions - 1))
    found = [of_numbers(column) for column in scaled.T]
    return [(interval.low, interval.high) for interval in found]


# Fewer discordant items can't give a p of at most .05: three in favour of one model have z = 3 / sqrt(3) = 1.73.
_DECIDING = 4
UNDECIDED = f"fewer than {_DECIDING} discordant items, with which the test can't reject"


def of_difference(differences: ArrayLike, kind: Kind, units: str = "items") -> Interval:
    """Compute the interval of the mean of paired differences of the items of one suite, with the test of no difference.

    Arguments:
        differences: second minus first. Shape (items,).
        kind: the kind of the values that differ. For verdicts, the interval is Tango's and the test McNemar's; otherwise
            both are those of `interval.of_numbers`.
        units: what the items are called in the method text, for example "contexts".

    >>> found = of_difference([1] * 6 + [-1] + [0] * 21, Kind.VERDICT)
    >>> round(found.low, 3), round(found.high, 3), round(found.p, 4)
    (-0.008, 0.371, 0.0588)
    """
    array = np.asarray(differences, np.float64)
    if kind is not Kind.VERDICT:
        found = of_numbers(array, units)
        return found.clipped(-1.0) if kind.bounded else found
    if len(array) < 2:
        return Interval(nan, nan, f"no interval: fewer than two {units}")
    only_b, only_a, n = int((array > 0).sum()), int((array < 0).sum()), len(array)
    spread = Spread(nan, inf, (("items", n),))
    found = spread.interval(*tango(only_b, only_a, n), "Tango", mcnemar(only_a, only_b, n)).agreeing()
    return found.remarked(UNDECIDED) if only_a + only_b < _DECIDING else found


def mcnemar(only_a: int, only_b: int, n: int) -> float:
    """Compute the two-sided p-value of McNemar's test (1947), without continuity correction; 1 without discordant items.

    If nearly all items are discordant, this test rejects in up to 8% of cases between equal models. So p is never below
    that of the exact binomial test if all other items were discordant, too, in favour of the better model: an outcome
    that would say more. From eight items on, the true size is then at most .058; that of the exact test of the discordant
    items alone is often below .02 (Fagerland, Lydersen & Laake 2013).

    Arguments:
        only_a, only_b: the numbers of discordant items in favour of a, and of b.
        n: the number of items.

    >>> round(mcnemar(1, 6, 28), 4), mcnemar(1, 6, 7)  # (6 - 1) / sqrt(7) = 1.89; 2 (1 + 7) / 2**7
    (0.0588, 0.125)
    """
    from scipy.special import bdtr, ndtr

    if only_a == only_b:
        return 1.0
    asymptotic = float(2 * ndtr(-abs(only_b - only_a) / sqrt(only_a + only_b)))
    return max(asymptotic, min(1.0, 2 * float(bdtr(min(only_a, only_b), n, 0.5))))


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
