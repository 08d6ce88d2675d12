"""Power of McNemar's test, and the smallest difference of two models that it can detect.

Let `discordant` be the probability that two models judge an item differently. The number k of discordant items among n
is binomial(n, discordant). Of these, the number in favour of b is binomial(k, (discordant + difference) / (2
discordant)), where difference is that of the accuracies, b - a. The power is the probability that the two-sided test
rejects, summed over all k, without approximation (Schork & Williams 1980; Duffy 1984; for language models Card et al.
2020). For large n it approaches Connor's formula (1987):

    difference = (z(1 - level/2) sqrt(discordant) + z(power) sqrt(discordant - difference^2)) / sqrt(n)

Items are assumed to be independent. If they share words, the power is lower; see `clustered`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError
from syntagm.stats.interval import LEVEL

POWER = 0.8
_STEPS = 40


def power(n: int, difference: float, discordant: float, level: float = LEVEL) -> float:
    """Compute the power of McNemar's test.

    Arguments:
        n: the number of items.
        difference: the difference of the accuracies, from -1 to 1.
        discordant: the proportion of items that the models judge differently; at least the absolute difference.
        level: the significance level; the test rejects at p <= level.

    Raises:
        InputError: the proportions are impossible.

    >>> power(6, 1.0, 1.0)  # all six items are discordant, all for one model: p = 2 / 2**6
    1.0
    >>> power(5, 1.0, 1.0)  # five can't reach the level: p = 2 / 2**5
    0.0
    >>> power(6, 0.5, 0.5) * 2**6  # four or more of six must be discordant (z = 4 / sqrt(4) = 2): 15 + 6 + 1
    22.0
    """
    size = abs(difference)
    if n < 0 or not size <= discordant <= 1:
        found = f"{n} items, difference {difference}, discordant {discordant}"
        raise InputError("power", found, "a number of items, and |difference| <= discordant <= 1")
    if not discordant:
        return 0.0
    return _power(n, size, discordant, level)


def detectable(n: int, balanced: float | None = None, level: float = LEVEL, wanted: float = POWER) -> float:
    """Find the smallest difference of accuracies that the test detects with the power `wanted`; nan if there is none.

    Arguments:
        n: the number of items.
        balanced: the proportion of items that are discordant without a difference, half in each direction. The
            difference is added to it: discordant = balanced + difference. None: all items are discordant (worst case).
        level: the significance level; the test rejects at p <= level.
        wanted: the power.

    Raises:
        InputError: a proportion is impossible.

    >>> round(detectable(100, balanced=0.1), 3), round(detectable(100), 3)
    (0.127, 0.29)
    >>> round(detectable(8, balanced=0.0), 3), detectable(5)  # four of eight must be discordant; five are too few
    (0.584, nan)
    """
    if balanced is not None and not 0 <= balanced <= 1:
        raise InputError(
            "detectable", f"a proportion of balanced discordant items of {balanced}", "a proportion from 0 to 1"
        )
    most = 1.0 if balanced is None else 1.0 - balanced

    def power_at(difference: float) -> float:
        return _power(n, difference, 1.0 if balanced is None else min(1.0, balanced + difference), level)

    if most <= 0 or power_at(most) < wanted:
        return math.nan
    low, high = 0.0, most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if power_at(middle) >= wanted else (middle, high)
    return high


def _power(n: int, size: float, discordant: float, level: float) -> float:
    from scipy.stats import binom

    if n < 1 or discordant <= 0:
        return 0.0
    # The probability of counts further from the mean is below 10^-20.
    reach = 10 * math.sqrt(n * discordant * (1 - discordant)) + 50
    k = np.arange(max(0, math.floor(n * discordant - reach)), min(n, math.ceil(n * discordant + reach)) + 1)
    minorities = np.arange(n // 2 + 1)
    # p is at least that of the exact test with all n items.
    exact = np.searchsorted(2 * binom.cdf(minorities, n, 0.5), level, side="right") - 1
    most = np.minimum(_critical(k, level), exact)
    to_b = (discordant + size) / (2 * discordant)
    rejected = binom.cdf(most, k, to_b) + binom.cdf(most, k, 1 - to_b)
    return float((binom.pmf(k, n, discordant) * np.where(most >= 0, rejected, 0.0)).sum())


def _critical(k: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    """Return for each number of discordant items the largest minority that is rejected; -1 if none is. Shape (k,)."""
    from scipy.special import ndtri

    # A minority of m is rejected if (k - 2m) / sqrt(k) reaches the critical value.
    edge = np.floor((k + ndtri(level / 2) * np.sqrt(k)) / 2 + 1e-12)
    critical: NDArray[np.float64] = np.where((k > 0) & (edge >= 0), edge, -1.0)
    return critical
