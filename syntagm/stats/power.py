"""What a suite can show: the power of McNemar's exact test, and the smallest difference of two models that it finds.

Of n items a share `flips` is judged differently by the two models, in favour of b more often than of a by the difference of
their accuracies. So the number k of flips is binomial(n, flips), and of k flips those for b are binomial(k, (flips +
difference) / (2 flips)); the power is the probability that the two-sided exact test rejects, summed over all k. Nothing is
approximated (Schork & Williams 1980; Duffy 1984; for language models Card et al. 2020). For large n it comes near Connor's
formula (1987): difference = (z(1 - level/2) sqrt(flips) + z(power) sqrt(flips - difference^2)) / sqrt(n).

The items are taken for independent. Where they share words they are worth less than their number, see `clustered`.
"""

import math

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import InputError

LEVEL, POWER = 0.05, 0.8
_STEPS = 40


def power(n: int, difference: float, flips: float, level: float = LEVEL) -> float:
    """How likely McNemar's exact test finds a difference of accuracies.

    Arguments:
        n: how many items both models judge.
        difference: of the accuracies, from -1 to 1.
        flips: the share of items that the models judge differently; at least the size of the difference.
        level: the test rejects at p <= level.

    Raises:
        InputError: shares that can't be.

    >>> power(6, 1.0, 1.0)  # six flips, all one way: 2 / 2**6 = 0.031
    1.0
    >>> power(5, 1.0, 1.0)  # five flips can't reach it: 2 / 2**5 = 0.0625
    0.0
    >>> round(power(6, 0.5, 0.5), 6) == 0.5**6  # all six must flip
    True
    """
    size = abs(difference)
    if n < 0 or not size <= flips <= 1:
        found = f"{n} items, difference {difference}, flips {flips}"
        raise InputError("power", found, "a number of items, and |difference| <= flips <= 1")
    if not flips:
        return 0.0
    return _power(n, size, flips, level)


def detectable(n: int, balanced: float | None = None, level: float = LEVEL, wanted: float = POWER) -> float:
    """The smallest difference of accuracies that the test finds with a probability of `wanted`; nan if it finds none.

    Arguments:
        n: how many items both models judge.
        balanced: the share of items that flip without a difference, as many one way as the other; the difference comes on top
            of them, so that flips = balanced + difference. None: the worst case, every item flips.

    Raises:
        InputError: a share that can't be.

    >>> round(detectable(100, balanced=0.1), 3), round(detectable(100), 3)
    (0.142, 0.29)
    >>> round(detectable(8, balanced=0.0), 3), detectable(5)  # six of eight must flip; five items show nothing
    (0.801, nan)
    """
    if balanced is not None and not 0 <= balanced <= 1:
        raise InputError("detectable", f"{balanced} balanced flips", "a share from 0 to 1")
    most = 1.0 if balanced is None else 1.0 - balanced

    def found(difference: float) -> float:
        return _power(n, difference, 1.0 if balanced is None else min(1.0, balanced + difference), level)

    if most <= 0 or found(most) < wanted:
        return math.nan
    low, high = 0.0, most
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if found(middle) >= wanted else (middle, high)
    return high


def _power(n: int, size: float, flips: float, level: float) -> float:
    from scipy.stats import binom

    if n < 1 or flips <= 0:
        return 0.0
    # Further from the mean than this lies less than one in 10^20.
    reach = 10 * math.sqrt(n * flips * (1 - flips)) + 50
    k = np.arange(max(0, math.floor(n * flips - reach)), min(n, math.ceil(n * flips + reach)) + 1)
    most = _critical(k, level)
    to_b = (flips + size) / (2 * flips)
    rejected = binom.cdf(most, k, to_b) + binom.cdf(most, k, 1 - to_b)
    return float((binom.pmf(k, n, flips) * np.where(most >= 0, rejected, 0.0)).sum())


def _critical(k: NDArray[np.int64], level: float) -> NDArray[np.float64]:
    """For each number of flips, the largest minority that is still rejected; -1 if none is. Shape (flips,)."""
    from scipy.special import bdtr
    from scipy.stats import binom

    # ppf is the smallest count that has at least half the level below or at it; rejected is what stays at or below half.
    edge = binom.ppf(level / 2, k, 0.5)
    edge = np.where(k > 0, edge, 0.0)
    fits = 2 * bdtr(np.maximum(edge, 0), np.maximum(k, 1), 0.5) <= level
    critical: NDArray[np.float64] = np.where((k > 0) & fits, edge, edge - 1)
    return critical
