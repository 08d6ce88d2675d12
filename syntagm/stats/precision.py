"""The number of items that gives an accuracy an interval of a stated width.

For a mean over suites (`reach_of`, `items_for`), the interval is Wilson's for the mean over these suites
(`suites="fixed"`), for an accuracy of 1/2 in each suite, where it is widest. So the interval of any run on these items
is at most as wide, whatever its accuracies.

For one suite (`items_after`), the number follows from a pilot: some of its items, which are among those of the final
interval (two stages, after Stein 1945). The accuracy assumed is that value of the pilot's own 95% interval which needs
most items. `benchmarks/two_stage.py` enumerates the coverage.
"""

from collections.abc import Sequence
from math import ceil, inf

from syntagm.core import UsageError
from syntagm.stats.interval import Interval, Spread, score

# The number of items of a pilot. More would be wasted on wide intervals; fewer say too little of the accuracy.
PILOT = 50


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


def items_after(right: int, defined: int, asked: int, reach: float) -> int:
    """Return the number of items that give the 95% interval of an accuracy a half-width of at most `reach`.

    Arguments:
        right, defined, asked: the numbers of items of the pilot for which the prediction holds, that are defined, and
            that it has.
        reach: the largest half-width of Wilson's interval.

    >>> items_after(25, 50, 50, 0.05), items_after(48, 50, 50, 0.05), items_after(50, 50, 50, 0.05)
    (381, 180, 108)
    """
    if not defined:
        raise UsageError("precision", f"none of {asked:,} items is defined", "a pilot with defined items")
    pilot = _wilson(right / defined, defined)
    accuracy = min(max(0.5, pilot.low), pilot.high)
    low, high = 1, ceil(1 / reach**2)
    while low < high:
        middle = (low + high) // 2
        found = _wilson(accuracy, middle)
        if found.high - found.low <= 2 * reach:
            high = middle
        else:
            low = middle + 1
    return max(asked, ceil(low * asked / defined))


def _wilson(accuracy: float, items: int) -> Interval:
    variance = accuracy * (1 - accuracy) / items
    return score(accuracy, Spread(variance, inf, (("items", items),)))
