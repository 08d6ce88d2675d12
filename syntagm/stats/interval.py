"""Intervals and tests of means, under a stated design: which units are random.

| number | random | interval |
|---|---|---|
| accuracy of a suite | items | Wilson's score interval (Wilson 1927), here |
| bits | items | Student's t and, from ten items on, Hall's interval (1992), here |
| paired difference of accuracies on a suite | items | Tango's score interval (1998): `paired_intervals` |
| number over suites | suites, items | from the spread of the suites' own numbers: `suite_intervals` |
| number over suites, `suites="fixed"` | items | from the spread of the items of each suite: `suite_intervals` |
| number whose rows share words, people or models | these clusters | from cluster-robust variances: `cluster_intervals` |

The variance gives Student's interval for numbers without bounds. For means of bits, which are skewed, it is widened to
contain Hall's (1992). For means of numbers from 0 to 1, the variance gives Wilson's interval with the number of
independent items that would have this variance (Korn & Graubard 1998; Dean & Pagano 2015), which keeps its coverage
near 0 and 1. p-values are computed from the same variance, so they never contradict the interval.
`benchmarks/coverage.py` measures the coverage of each interval.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import cbrt, inf, isfinite, isnan, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.result import Kind
from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import FEW

LEVEL = 0.05
# The method of `of_numbers`, for readers of tables and figures.
OF_NUMBERS = f"Student's t over items, and Hall's from {FEW} items on"

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval, and how it was computed.

    Arguments:
        low, high: nan if there is no interval.
        method: the method, and the random units.
        p: the two-sided p-value of the hypothesis that the number is 0; nan if the number is not a difference.
    """

    low: float
    high: float
    method: str
    p: float = nan


@dataclass(frozen=True, slots=True)
class Spread:
    """The sampling variance of an estimate.

    Arguments:
        variance: the square of the standard error.
        freedom: the degrees of freedom of Student's t; infinite for a normal distribution.
        units: names and numbers of the random units, for example `(("suites", 31), ("items", 799))`; the first kind
            decides how far the number generalises.
        fixed: names of units that are not random.
        skewness: the sample skewness of the units of the first kind; nan if it isn't used.
    """

    variance: float
    freedom: float
    units: tuple[tuple[str, int], ...]
    fixed: str = ""
    skewness: float = nan

    @property
    def reach(self) -> float:
        """Half of the width of Student's interval."""
        return critical(self.freedom) * sqrt(self.variance)

    @property
    def method(self) -> str:
        """The random units, and a remark if there are few.

        >>> Spread(0.01, 2.0, (("suites", 3), ("items", 72))).method
        'random: suites, items; only 3 suites'
        """
        random = ", ".join(name for name, _ in self.units)
        fixed = f"; fixed: {self.fixed}" if self.fixed else ""
        return f"random: {random}{fixed}{self.remark}"

    @property
    def remark(self) -> str:
        """A remark if there are few units of the first kind, otherwise empty."""
        name, count = self.units[0]
        return f"; only {count} {name}" if count < FEW else ""


@lru_cache(maxsize=1024)
def critical(freedom: float) -> float:
    """Return the 97.5th percentile of Student's t; with infinite degrees of freedom, that of the normal distribution.

    >>> round(critical(inf), 3), round(critical(4), 3)
    (1.96, 2.776)
    """
    from scipy.special import ndtri, stdtrit

    return float(ndtri(1 - LEVEL / 2) if freedom == inf else stdtrit(freedom, 1 - LEVEL / 2))


def p_value(value: float, spread: Spread) -> float:
    """Return the two-sided p-value of the hypothesis that a number is 0; if the variance is 0, 1 for 0 and otherwise nan.

    >>> round(p_value(1.0, Spread(0.25, 4, (("items", 5),))), 4)  # t = 2 with 4 degrees of freedom
    0.1161
    """
    from scipy.special import ndtr, stdtr

    if not spread.variance > 0 or not isfinite(value):
        return 1.0 if value == 0 and spread.variance == 0 else nan
    size = value / sqrt(spread.variance)
    size = -abs(size) if isnan(spread.skewness) else -min(abs(size), abs(_hall(size, spread)))
    return float(2 * (ndtr(size) if spread.freedom == inf else stdtr(spread.freedom, size)))


def _hall(t: float, spread: Spread) -> float:
    """Transform Student's t of a mean so that skewness affects its distribution less (Hall 1992, section 3)."""
    n, bend = spread.units[0][1], spread.skewness / sqrt(spread.units[0][1])
    return t + bend * t**2 / 3 + bend**2 * t**3 / 27 + spread.skewness / (6 * sqrt(n))


def _unhall(transformed: float, spread: Spread) -> float:
    """Return the t whose transformation is given; the transformation increases everywhere."""
    n, bend = spread.units[0][1], spread.skewness / sqrt(spread.units[0][1])
    start = transformed - spread.skewness / (6 * sqrt(n))
    return 3 / bend * (cbrt(1 + bend * start) - 1) if abs(bend) > 1e-9 else start


def student(value: float, spread: Spread) -> Interval:
    """Compute Student's interval and test, for numbers without bounds, such as bits or differences.

    If the skewness is known, the interval also contains that of Hall (1992). Student's alone misses means of skewed
    numbers too often, Hall's alone means of numbers with heavy tails.

    >>> found = student(1.0, Spread(0.25, inf, (("items", 50),)))
    >>> round(found.low, 2), round(found.high, 2), round(found.p, 4), found.method
    (0.02, 1.98, 0.0455, 'normal; random: items')
    """
    if not spread.variance > 0 or not isfinite(value) or not isfinite(spread.variance):
        return Interval(nan, nan, f"no interval: no spread; {spread.method}", p_value(value, spread))
    kind = "normal" if spread.freedom == inf else f"t({spread.freedom:.3g})"
    below = above = critical(spread.freedom)
    if not isnan(spread.skewness):
        kind = f"{kind} and Hall"
        below, above = max(below, _unhall(below, spread)), max(above, -_unhall(-above, spread))
    se = sqrt(spread.variance)
    return Interval(value - below * se, value + above * se, f"{kind}; {spread.method}", p_value(value, spread))


def score(value: float, spread: Spread) -> Interval:
    """Compute Wilson's score interval of a mean of numbers from 0 to 1.

    Arguments:
        value: the mean.
        spread: its variance, degrees of freedom and random units. If the variance is 0, the interval is
            computed as if each unit were one independent item.

    >>> found = score(0.0, Spread(0.0, inf, (("items", 28),)))
    >>> found.low, round(found.high, 3), found.method
    (0.0, 0.121, 'Wilson; random: items')
    """
    if not isfinite(value) or not isfinite(spread.variance):
        return Interval(nan, nan, f"no interval: undefined; {spread.method}")
    # Without spread, each unit counts as one verdict, whose variance is known (rounding can leave 1e-17).
    room = value * (1 - value)
    flat = spread.variance <= 1e-15 or room <= 1e-15
    n = float(spread.units[0][1]) if flat else room / spread.variance
    freedom = inf if flat else spread.freedom
    z = critical(freedom)
    middle = (value + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * sqrt(max(room, 0.0) / n + z * z / (4 * n * n))
    kind = "Wilson" if freedom == inf else f"Wilson with t({freedom:.3g})"
    # The limits contain the value, but for rounding.
    low, high = min(max(0.0, middle - reach), value), max(min(1.0, middle + reach), value)
    return Interval(low, high, f"{kind}; {spread.method}")


def mean_of(values: Numbers) -> float:
    """Return the mean; nan with infinite numbers of both signs."""
    with np.errstate(invalid="ignore"):  # infinite margins of both signs
        return float(values.mean())


def spread_of_items(values: Numbers, kind: Kind, units: str = "items") -> Spread:
    """Return the variance of the mean of independent items; for verdicts it is the binomial one.

    Arguments:
        values: shape (items,), at least two.
        kind: the kind of the values.
        units: what the items are called in the method text, for example "contexts".
    """
    if kind is not Kind.VERDICT:
        return _sample_spread(values, units)
    n, mean = len(values), mean_of(values)
    return Spread(mean * (1 - mean) / n, inf, ((units, n),))


def _sample_spread(values: Numbers, units: str = "items") -> Spread:
    n = len(values)
    with np.errstate(invalid="ignore"):  # infinite margins
        return Spread(float(values.var(ddof=1)) / n, n - 1.0, ((units, n),), skewness=skewness(values))


def skewness(values: Numbers) -> float:
    """Return the skewness of a sample; 0 without spread, nan with fewer than ten numbers, which don't show it."""
    if len(values) < FEW:
        return nan
    deviations = values - values.mean()
    spread = float((deviations**2).mean())
    return float((deviations**3).mean()) / spread**1.5 if spread > 0 else 0.0


def of_items(values: ArrayLike, kind: Kind, units: str = "items") -> Interval:
    """Compute an interval for the mean of independent items: Wilson's for verdicts and shares, otherwise `of_numbers`.

    Arguments:
        values: defined values. Shape (items,).
        kind: the kind of the values.
        units: what the items are called in the method text, for example "contexts".

    >>> found = of_items([1, 1, 0, 1, 0, 1, 1, 1, 1, 0], Kind.VERDICT)
    >>> round(found.low, 3), round(found.high, 3), found.method
    (0.397, 0.892, 'Wilson; random: items')
    >>> of_items([1.0], Kind.VERDICT).method
    'no interval: fewer than two items'
    """
    array = np.asarray(values, np.float64)
    if len(array) < 2 or not kind.bounded:
        return of_numbers(array, units)
    return score(mean_of(array), spread_of_items(array, kind, units))


def of_numbers(values: ArrayLike, units: str = "items") -> Interval:
    """Compute the interval of `student` for the mean of independent numbers without bounds, such as bits.

    >>> found = of_numbers([1.0, 2.0, 3.0, 4.0])
    >>> round(found.low, 2), round(found.high, 2), found.method
    (0.45, 4.55, 't(3); random: items; only 4 items')
    """
    array = np.asarray(values, np.float64)
    if len(array) < 2:
        return Interval(nan, nan, f"no interval: fewer than two {units}")
    return student(mean_of(array), _sample_spread(array, units))


def of_columns(values: NDArray[np.float64], kind: Kind, units: str) -> list[tuple[float, Interval, int]]:
    """Return mean, interval and number of defined rows of each column; nan is undefined.

    Arguments:
        values: shape (rows, columns).
        kind: the kind of the values.
        units: the name of the rows.

    >>> [(mean, n) for mean, _, n in of_columns(np.array([[0.0, np.nan], [1.0, np.nan]]), Kind.SHARE, "contexts")]
    [(0.5, 2), (nan, 0)]
    """
    columns = [column[~np.isnan(column)] for column in values.T]
    return [
        (float(column.mean()) if len(column) else nan, of_items(column, kind, units), len(column)) for column in columns
    ]


def means(values: NDArray[np.float64], axis: int) -> Numbers:
    """Return means that ignore nan; the mean of nothing but nan is nan."""
    defined = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        means: Numbers = np.where(defined, values, 0.0).sum(axis=axis) / defined.sum(axis=axis)
    return means


def notes() -> tuple[str, str]:
    """Describe the intervals of scores for the notes of a table: of one suite, and over several.

    >>> notes()[0]
    "Intervals are 95%: on one suite Wilson's score interval, for other items of the kind."
    """
    one = "Intervals are 95%: on one suite Wilson's score interval, for other items of the kind."
    if bootstrap.current().suites == "fixed":
        return one, "Over suites they are for other items of the same suites (suites=fixed)."
    return one, "Over suites they are for other suites and their items; --suites fixed: for these suites alone."
