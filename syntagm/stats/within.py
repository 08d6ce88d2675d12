"""Intervals of means within items, for conditions that are compared in the same items.

Items differ much more than conditions, so the intervals of the conditions' means don't show whether conditions differ.
Cousineau (2005) subtracts the mean of each item first; Morey (2008) corrects the variance, which would be too small by
the factor (c - 1) / c for c conditions. With two conditions, the interval of their difference is wider than these by
the factor √2.
"""

from math import nan, sqrt

import numpy as np
from numpy.typing import NDArray

from syntagm.stats.interval import of_numbers

METHOD = "Cousineau-Morey, within items"


def intervals(values: NDArray[np.float64]) -> list[tuple[float, float]]:
    """Compute the 95% interval of the mean of each condition within items, relative to that mean.

    Only items with finite values in all conditions count. The ends are nan if there are fewer than two such items or
    conditions, or if the values of a condition, apart from the means of the items, don't vary.

    Arguments:
        values: shape (items, conditions).

    >>> [(round(low, 2), round(high, 2)) for low, high in intervals(np.array([[10.0, 11.0], [20.0, 22.0], [30.0, 33.0]]))]
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
