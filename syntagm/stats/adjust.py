"""Adjustment of p-values for multiple tests: the methods of Holm, and of Benjamini and Hochberg."""

from collections.abc import Sequence


def holm(p: Sequence[float]) -> list[float]:
    """Adjust p-values to control the family-wise error rate (Holm 1979).

    If all tests with an adjusted p at or below the level are rejected, the probability of any false rejection is at
    most the level, however the tests depend on each other. The smallest of m p-values is multiplied by m, the next by m
    - 1, and so on. An adjusted p is never below the adjusted value of a smaller p, and never above 1.

    Returns:
        The adjusted p-values, in the order of the tests.

    >>> [round(p, 6) for p in holm([0.03, 0.01, 0.04])]  # 0.01 x 3, 0.03 x 2, 0.04 x 1 raised to 0.06
    [0.06, 0.03, 0.06]
    """
    adjusted = [0.0] * len(p)
    largest = 0.0
    for rank, place in enumerate(sorted(range(len(p)), key=p.__getitem__)):
        largest = max(largest, min(1.0, (len(p) - rank) * p[place]))
        adjusted[place] = largest
    return adjusted


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Adjust p-values to control the false discovery rate (Benjamini & Hochberg 1995).

    If all tests with an adjusted p at or below 0.05 are rejected, at most 5% of the rejections are expected to be
    false, provided that the tests are independent or positively dependent. The k-th smallest of m p-values is
    multiplied by m / k. An adjusted p is never above the adjusted value of a larger p.

    Returns:
        The adjusted p-values, in the order of the tests.

    >>> [round(p, 6) for p in benjamini_hochberg([0.03, 0.01, 0.04])]  # 0.01 x 3, 0.03 x 3 / 2 lowered to 0.04, 0.04
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
