"""The number of items that gives a mean accuracy an interval of a stated width.

The interval is Wilson's for the mean over these suites (`suites="fixed"`), for an accuracy of 1/2 in each suite, where
it is widest. So the interval of any run on these items is at most as wide, whatever its accuracies.
"""

from collections.abc import Sequence
from math import inf

from syntagm.errors import UsageError
from syntagm.stats.interval import Spread, score


def reach_of(sizes: Sequence[int]) -> float:
    """Return the half-width of the 95% interval of the mean accuracy over suites, for accuracies of 1/2.

    Arguments:
        sizes: the number of items of each suite, at least 1.

    >>> round(reach_of([96]), 3), round(reach_of([28, 24, 24]), 3)
    (0.098, 0.11)
    """
    variance = sum(0.25 / size for size in sizes) / len(sizes) ** 2
    return score(0.5, Spread(variance, inf, (("items", sum(sizes)),))).high - 0.5


def items_for(sizes: Sequence[int], reach: float) -> int:
    """Return the smallest number of items per suite whose interval has a half-width of at most `reach`.

    Suites with fewer items are used as a whole.

    Arguments:
        sizes: the number of items of each suite.
        reach: the largest half-width.

    Raises:
        UsageError: all items of the suites don't suffice.

    >>> items_for([96], 0.1), items_for([200] * 10, 0.05), items_for([40, 200], 0.1)
    (93, 39, 55)
    """
    best = reach_of(sizes)
    if not best <= reach:
        expected = f"at least {best:.3g}, the half-width with all {sum(sizes):,} items"
        raise UsageError("precision", f"{reach:g}", expected, "Add suites or items, or evaluate all items.")
    low, high = 1, max(sizes)
    while low < high:
        middle = (low + high) // 2
        if reach_of([min(middle, size) for size in sizes]) <= reach:
            high = middle
        else:
            low = middle + 1
    return low
