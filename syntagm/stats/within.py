"""Intervals of means within items, for conditions that are compared in the same items.

Items differ much more than conditions, so the intervals of the conditions' means don't show whether conditions differ.
Cousineau (2005) subtracts the mean of each item first; Morey (2008) corrects the variance, which would be too small by
the factor (c - 1) / c for c conditions. With two conditions, the interval of their difference is wider than these by
the factor √2.
"""

from math import nan

import numpy as np
from numpy.typing import NDArray

from syntagm.stats.interval import Spread, student

METHOD = "Cousineau-Morey, within items"


def reaches(values: NDArray[np.float64]) -> list[float]:
    """Return half of the width of the 95% interval of the mean of each condition, within items.

    Only items with finite values in all conditions count. Without two of them, or with a single condition, all are nan;
    nan also stands for a condition whose values, apart from the means of the items, don't vary.

    Arguments:
        values: shape (items, conditions).

    >>> [round(reach, 2) for reach in reaches(np.array([[10.0, 11.0], [20.0, 22.0], [30.0, 33.0]]))]
    [1.76, 1.76]
    """
    complete = values[np.isfinite(values).all(axis=1)]
    n, conditions = complete.shape
    if n < 2 or conditions < 2:
        return [nan] * conditions
    centred = complete - complete.mean(axis=1, keepdims=True)
    variances = centred.var(axis=0, ddof=1) * conditions / (conditions - 1) / n
    found = [student(0.0, Spread(float(variance), float(n - 1), (("items", n),))) for variance in variances]
    return [interval.high for interval in found]
