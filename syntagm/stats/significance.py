"""McNemar's exact test: is the split of the items on which two things disagree more uneven than chance makes it?"""

LEVEL = 0.05


def mcnemar(only_a: int, only_b: int) -> float:
    """The exact two-sided p: how likely so uneven a split of the discordant items is if each side has one half.

    >>> round(mcnemar(1, 5), 5)  # 2 (1 + 6) / 2**6
    0.21875
    >>> mcnemar(0, 0)
    1.0
    """
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))
