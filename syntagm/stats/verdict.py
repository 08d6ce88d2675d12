"""Verdicts on claims: whether the interval of a number lies in the range that a claim gives it."""

from dataclasses import dataclass
from math import inf, isnan

HOLDS, FALSE, OPEN = "holds", "does not hold", "inconclusive"


@dataclass(frozen=True, slots=True)
class Range:
    """A claimed range of a number, without its limits.

    Arguments:
        low, high: the limits.
        zero: whether the claim is that there is nothing. An interval that excludes 0 then refutes it, unless the interval
            is in the range.

    >>> str(Range(low=0.0)), str(Range(-0.1, 0.1)), str(Range(high=0.1))
    ('> 0', 'within ±0.1', '< 0.1')
    """

    low: float = -inf
    high: float = inf
    zero: bool = False

    def __str__(self) -> str:
        if self.high == inf:
            return f"> {self.low:g}"
        within = f"within ±{self.high:g}"
        return f"< {self.high:g}" if self.low == -inf else f"0 ({within})" if self.zero else within

    def verdict(self, low: float, high: float) -> str:
        """Judge an interval; nan is no interval.

        >>> Range(low=0.0).verdict(0.1, 0.2), Range(low=0.0).verdict(-0.2, -0.1), Range(low=0.0).verdict(-0.1, 0.1)
        ('holds', 'does not hold', 'inconclusive')
        """
        if isnan(low) or isnan(high):
            return OPEN
        if self.low < low and high < self.high:
            return HOLDS
        least, most = self.limits
        return FALSE if high < least or low > most else OPEN

    @property
    def limits(self) -> tuple[float, float]:
        """The limits beyond which an interval refutes the claim."""
        return (0.0, 0.0) if self.zero else (self.low, self.high)

    def excess(self, value: float) -> float:
        """Return by how much a number is beyond the limits, negative below them; 0 if it is within.

        >>> Range(low=0.5).excess(0.25), Range(-0.25, 0.25).excess(0.5), Range(-0.25, 0.25).excess(0.125)
        (-0.25, 0.25, 0.0)
        """
        low, high = self.limits
        return min(value - low, 0.0) + max(value - high, 0.0)
