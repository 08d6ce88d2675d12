"""The exact binomial test of an accuracy against chance."""


def against_chance(right: int, n: int, chance: float) -> float:
    """Compute the two-sided p-value of the exact binomial test: twice the smaller tail, at most 1.

    Arguments:
        right: the number of items for which the prediction holds.
        n: the number of items.
        chance: the probability that the prediction holds for an item by chance.

    >>> round(against_chance(5, 5, 0.5), 4), against_chance(1, 2, 0.5)  # 2 / 2**5
    (0.0625, 1.0)
    """
    from scipy.special import bdtr, bdtrc

    lower = float(bdtr(right, n, chance)) if right < n else 1.0
    upper = float(bdtrc(right - 1, n, chance)) if right else 1.0
    return min(1.0, 2.0 * min(lower, upper))
