"""Several tests at once: p adjusted so that few or none of those called different are not (Holm; Benjamini and Hochberg)."""

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """The adjusted p of each test, in the order given: reject those at or below the level (Holm 1979).

    The chance of any false rejection stays below the level. The smallest of m is multiplied by m, the next by m - 1, and so on;
    none is smaller than one before it, nor above 1. It holds whatever the tests have to do with each other.

    >>> [round(one, 6) for one in holm([0.03, 0.01, 0.04])]  # 0.01 x 3, 0.03 x 2, 0.04 x 1, which may not be below 0.06
    [0.06, 0.03, 0.06]
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """The adjusted p of each test, in the order given: reject those at or below the level (Benjamini & Hochberg 1995).

    The k-th smallest of m is multiplied by m / k; none is larger than one after it. Rejecting at 0.05, one in twenty of the
    rejections is expected to be false, if the tests are independent or positively dependent.

    >>> [round(one, 6) for one in benjamini_hochberg([0.03, 0.01, 0.04])]  # 0.01 x 3, 0.03 x 3 / 2 but not above 0.04, 0.04
    [0.04, 0.03, 0.04]
    """
    adjusted = [0.0] * len(p)
    smallest = 1.0
    order = sorted(range(len(p)), key=p.__getitem__)
    for rank in range(len(p), 0, -1):
        place = order[rank - 1]
        smallest = min(smallest, p[place] * (len(p) / rank))
        adjusted[place] = smallest
    return adjusted
