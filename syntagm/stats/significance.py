"""McNemar's exact test of the difference between two models on the same items."""

LEVEL = 0.05


def mcnemar(only_a: int, only_b: int) -> float:
    """Compute the exact two-sided p-value: the chance probability of a split of the discordant items at least as uneven.

    >>> round(mcnemar(1, 5), 5)  # 2 (1 + 6) / 2**6
    0.21875
    >>> mcnemar(0, 0)
    1.0
    """
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(only_a, only_b), only_a + only_b, 0.5)))
