"""Benjamini and Hochberg's correction: several tests at once, so that few of those called different are not."""

from collections.abc import Sequence


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
