"""Intervals and tests of means, under a stated design: which units are random.

| number | random | interval |
|---|---|---|
| accuracy of a suite | items | Wilson's score interval (Wilson 1927), here |
| bits | items | Student's t and, where at least ten items are skewed, Hall's interval (1992), here |
| paired difference of accuracies on a suite | items | Tango's score interval (1998): `paired_intervals` |
| number over suites | suites, items | from the spread of the suites' own numbers: `suite_intervals` |
| number over suites, `suites="fixed"` | items | score interval of stratified items: `suite_intervals` |
| number whose rows share words, people or models | these clusters | from cluster-robust variances: `cluster_intervals` |

The variance gives Student's interval for numbers without bounds. For means of numbers from 0 to 1, it gives Wilson's
interval with the number of independent items that would have this variance (Korn & Graubard 1998; Dean & Pagano 2015),
which keeps its coverage near 0 and 1. Where at least ten units are skewed, both are widened to contain Hall's interval
(1992). p-values are computed from the same numbers, so they never contradict the interval.

What an interval can't know is remarked (`Interval.remarks`): that it rests on few units, on one of them (`influence`), or
on the correction for their skewness (`skewed`). `benchmarks/coverage.py` measures the coverage of each interval, and how
often it is remarked on.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import cbrt, inf, isfinite, isnan, nan, nextafter, sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from syntagm.evaluation import Estimate, Group, Kind, result
from syntagm.stats.bootstrap import FEW

LEVEL = 0.05
# The method of `of_numbers`, for readers of tables and figures.
OF_NUMBERS = f"Student's t over items, and Hall's where at least {FEW} items are skewed"

Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95% interval, and how it was computed."""

    low: float  # `low`, `high`: nan if there is no interval
    high: float
    method: str  # the method, the random units, and the remarks
    # The two-sided p-value of the hypothesis that the number is 0; nan if the number is not a difference.
    p: float = nan
    remarks: tuple[str, ...] = ()  # what limits the interval, such as "only 3 suites"; tables and figures print them

    def remarked(self, *remarks: str) -> "Interval":
        """Add remarks.

        >>> Interval(0.0, 1.0, "Wilson; random: items").remarked("only 3 items").method
        'Wilson; random: items; only 3 items'
        """
        return replace(self, method="; ".join([self.method, *remarks]), remarks=(*self.remarks, *remarks))

    def clipped(self, least: float) -> "Interval":
        """Return the interval without what lies below `least` or above 1, where the number can't be."""
        return self if isnan(self.low) else replace(self, low=max(least, self.low), high=min(1.0, self.high))

    def agreeing(self) -> "Interval":
        """Return interval and p so that p is at most .05 exactly where the interval doesn't contain 0.

        For methods whose interval is not the inversion of their test: 0 belongs to the interval if either doesn't reject it.

        >>> Interval(0.1, 0.5, "", p=0.06).agreeing().low, Interval(-0.1, 0.5, "", p=0.04).agreeing().p > LEVEL
        (0.0, True)
        """
        if self.p > LEVEL:
            return replace(self, low=min(self.low, 0.0), high=max(self.high, 0.0))
        return replace(self, p=nextafter(LEVEL, 1)) if self.low <= 0 <= self.high else self

    def estimate(
        self, group: Group, value: float, n: int, ties: int = 0, undefined: int = 0, method: str = ""
    ) -> Estimate:
        """Return the estimate that has this interval; `method` replaces the interval's own."""
        method = method or self.method
        return Estimate(group, value, self.low, self.high, n, method, ties, undefined, self.remarks)


@dataclass(frozen=True, slots=True)
class Spread:
    """The sampling variance of an estimate."""

    variance: float  # the square of the standard error
    freedom: float  # the degrees of freedom of Student's t; infinite for a normal distribution
    # Names and numbers of the random units, for example `(("suites", 31), ("items", 799))`; the first kind decides how
    # far the number generalises.
    units: tuple[tuple[str, int], ...]
    fixed: str = ""  # names of units that are not random
    skewness: float = 0.0  # the skewness of the estimate, from `skewness`; 0 if it isn't used

    @property
    def reach(self) -> float:
        """Half of the width of Student's interval."""
        return critical(self.freedom) * sqrt(self.variance)

    @property
    def method(self) -> str:
        """The random units, and a remark if they are few.

        >>> Spread(0.01, 2.0, (("suites", 3), ("items", 72))).method
        'random: suites, items; only 3 suites'
        """
        random = ", ".join(name for name, _ in self.units)
        fixed = f"; fixed: {self.fixed}" if self.fixed else ""
        return "; ".join([f"random: {random}{fixed}", *self.remarks])

    @property
    def remarks(self) -> tuple[str, ...]:
        """A remark if there are few units of the first kind."""
        name, count = self.units[0]
        return (f"only {count} {name}",) if count < FEW else ()

    def interval(self, low: float, high: float, kind: str, p: float = nan) -> Interval:
        return Interval(low, high, f"{kind}; {self.method}", p, self.remarks)


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
    size = -min(abs(size), abs(halls(size, spread.skewness)))
    return float(2 * (ndtr(size) if spread.freedom == inf else stdtr(spread.freedom, size)))


def halls(t: float, skewness: float) -> float:
    """Transform Student's t of a mean so that skewness affects its distribution less (Hall 1992, section 3)."""
    return t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6


def _unhall(transformed: float, skewness: float) -> float:
    """Return the t whose transformation is given; the transformation increases everywhere."""
    start = transformed - skewness / 6
    return 3 / skewness * (cbrt(1 + skewness * start) - 1) if abs(skewness) > 1e-9 else start


def _reaches(spread: Spread) -> tuple[float, float, str]:
    """Return how far Student's interval, or Hall's where it reaches further, lies below and above, in standard errors."""
    reach, kind = critical(spread.freedom), "normal" if spread.freedom == inf else f"t({spread.freedom:.3g})"
    if not spread.skewness:
        return reach, reach, kind
    return (
        max(reach, _unhall(reach, spread.skewness)),
        max(reach, -_unhall(-reach, spread.skewness)),
        f"{kind} and Hall",
    )


def student(value: float, spread: Spread) -> Interval:
    """Compute Student's interval and test, for numbers without bounds, such as bits or differences.

    Where units are skewed, the interval also contains that of Hall (1992). Student's alone misses means of skewed numbers
    too often, Hall's alone means of numbers with heavy tails.

    >>> found = student(1.0, Spread(0.25, inf, (("items", 50),)))
    >>> round(found.low, 2), round(found.high, 2), round(found.p, 4), found.method
    (0.02, 1.98, 0.0455, 'normal; random: items')
    """
    if not spread.variance > 0 or not isfinite(value) or not isfinite(spread.variance):
        return spread.interval(nan, nan, "no interval: no spread", p_value(value, spread))
    (below, above, kind), se = _reaches(spread), sqrt(spread.variance)
    return spread.interval(value - below * se, value + above * se, kind, p_value(value, spread))


def score(value: float, spread: Spread) -> Interval:
    """Compute Wilson's score interval of a mean of numbers from 0 to 1; where units are skewed, it also contains Hall's.

    Arguments:
        value: the mean.
        spread: its variance, degrees of freedom and random units. If the variance is 0, the interval is
            computed as if each unit were one independent item.

    >>> found = score(0.0, Spread(0.0, inf, (("items", 28),)))
    >>> found.low, round(found.high, 3), found.method
    (0.0, 0.121, 'Wilson; random: items')
    """
    if not isfinite(value) or not isfinite(spread.variance):
        return spread.interval(nan, nan, "no interval: undefined")
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
    if spread.skewness and not flat:
        (below, above, _), se = _reaches(spread), sqrt(spread.variance)
        low, high, kind = (
            min(low, max(0.0, value - below * se)),
            max(high, min(1.0, value + above * se)),
            f"{kind} and Hall",
        )
    return spread.interval(low, high, kind)


def mean_of(values: Numbers) -> float:
    """Return the mean of at least one number; nan with infinite numbers of both signs."""
    # What `values.mean()` computes, in a third of the time: a page has tens of thousands of means.
    with np.errstate(invalid="ignore"):  # infinite margins of both signs
        return float(np.add.reduce(values) / len(values))


def means_of(samples: Iterable[Numbers]) -> Numbers:
    """Return `mean_of` of each sample; nan of an empty one."""
    with np.errstate(invalid="ignore"):
        return np.array([np.add.reduce(values) / len(values) if len(values) else nan for values in samples])


def variances_of(samples: Iterable[Numbers]) -> list[float | None]:
    """Return the variance of each sample, with n - 1: nan with infinite numbers, None with fewer than two."""
    # What `values.var(ddof=1)` computes, in half of the time.

    def variance(values: Numbers) -> float:
        deviations = values - np.add.reduce(values) / len(values)
        np.multiply(deviations, deviations, out=deviations)
        return beyond_rounding(float(np.add.reduce(deviations) / (len(values) - 1)), values)

    with np.errstate(invalid="ignore"):  # infinite margins
        return [variance(values) if len(values) > 1 else None for values in samples]


# Numbers that differ by less than this, relative to the largest, differ by rounding.
ROUNDING = 1e-13


def beyond_rounding(variance: float, values: Numbers) -> float:
    """Return a variance of numbers; 0 if it is that of rounding.

    >>> same = np.array([0.1 + 0.2, 0.3, 0.3])
    >>> bool(same.var(ddof=1) > 0), beyond_rounding(float(same.var(ddof=1)), same)
    (True, 0.0)
    """
    return 0.0 if sqrt(variance) <= ROUNDING * float(np.abs(values).max()) else variance


def spread_of_items(values: Numbers, kind: Kind, units: str = "items") -> Spread:
    """Return the variance of the mean of independent items; for verdicts it is the binomial one."""
    if kind is not Kind.VERDICT:
        return _sample_spread(values, units)
    return _binomial_spread(mean_of(values), len(values), units)


def _binomial_spread(mean: float, n: int, units: str) -> Spread:
    return Spread(mean * (1 - mean) / n, inf, ((units, n),))


# Suites of one size have few accuracies, which several tables of a page show.
@lru_cache(maxsize=4096)
def _of_verdicts(mean: float, n: int, units: str) -> Interval:
    """Compute Wilson's interval of the mean of verdicts."""
    return score(mean, _binomial_spread(mean, n, units))


def _sample_spread(values: Numbers, units: str = "items") -> Spread:
    n = len(values)
    with np.errstate(invalid="ignore"):  # infinite margins
        return Spread(beyond_rounding(float(values.var(ddof=1)), values) / n, n - 1.0, ((units, n),))


def skewness(values: Numbers, expected: float = 0.0) -> float:
    """Estimate the skewness of the mean of independent units, for Hall's interval; 0 if it isn't clear.

    It is the skewness of the units divided by the square root of their number. That of a sample is too small on average:
    of n units it is multiplied by 1 + 5 / n, which gives means of ten lognormal numbers the coverage that more have. It is
    clear if at least ten units differ from the expected skewness by more than its standard error for a normal distribution;
    else the interval would be wider for nothing.

    Arguments:
        values: shape (units,).
        expected: a skewness that the interval has anyway.

    >>> round(skewness(np.array([1.0] * 9 + [11.0])), 2), skewness(np.arange(10.0)), skewness(np.array([1.0, 1.0, 11.0]))
    (1.26, 0.0, 0.0)
    """
    if (n := len(values)) < FEW:
        return 0.0
    found = _skewness(values)
    return (1 + 5 / n) * found / sqrt(n) if abs(found - expected) > _error_of_skewness(n) else 0.0


def _skewness(values: Numbers) -> float:
    """Return the skewness of a sample; 0 of a sample without spread, or with infinite numbers.

    >>> _skewness(np.array([1.0, 1.0, 1.0])), _skewness(np.array([0.0, 6e-111]))
    (0.0, 0.0)
    """
    if not np.isfinite(values).all():
        return 0.0
    deviations = values - values.mean()
    spread = float((deviations**2).mean())
    # The power of the least numbers is 0.
    return float((deviations**3).mean()) / power if (power := spread**1.5) > 0 else 0.0


def _error_of_skewness(n: int) -> float:
    """Return the standard error of the skewness of n numbers, at least three, from a normal distribution."""
    return sqrt(6.0 * n * (n - 1) / ((n - 2) * (n + 1) * (n + 3)))


# The probability of an outlier among normal units, above which none is remarked on.
_APART = 0.01


def outlier(values: Numbers) -> int | None:
    """Return the place of the one of at least ten units that stands apart from the others; None if none does.

    It does if its studentized deleted residual has a p of at most .01 by Bonferroni's inequality (Cook & Weisberg 1982).

    >>> outlier(np.array([1.0, 2.0] * 5 + [9.0])), outlier(np.array([1.0, 2.0] * 5 + [3.0]))
    (10, None)
    """
    from scipy.special import stdtr

    n = len(values)
    if n < FEW or not np.isfinite(values).all():
        return None
    place = int(np.abs(values - values.mean()).argmax())
    others = np.delete(values, place)
    error = sqrt(float(others.var(ddof=1)) * (1 + 1 / (n - 1)))
    away = abs(float(values[place] - others.mean()))
    if not away > 1e-12:
        return None
    p = 2 * n * float(stdtr(n - 2.0, -away / error)) if error > 1e-12 else 0.0
    return place if p <= _APART else None


def influence(name: str, value: float, found: Interval, left: float, without: Interval) -> tuple[str, ...]:
    """Return a remark if a number rests on one unit: leaving it out changes the number or the verdict of its test.

    The number changes if it moves by more than half of what its interval reaches without the unit. A verdict that turns
    counts only for a unit that stands apart (`outlier`): if p is near .05, leaving out any unit may turn it.

    Arguments:
        name: the unit that stands apart.
        value, found: the number and its interval.
        left, without: the same without the unit.

    >>> wide, narrow = Interval(-0.1, 0.1, "", p=0.9), Interval(-0.09, -0.03, "", p=0.001)
    >>> influence("fgd_hierarchy", 0.0, wide, -0.06, narrow)
    ('without fgd_hierarchy: -0.060 [-0.090, -0.030], p = 0.001',)
    """
    turned = (found.p <= LEVEL) != (without.p <= LEVEL) and not isnan(found.p)
    if not turned and abs(value - left) <= (without.high - without.low) / 4:
        return ()
    p = "" if not turned or isnan(without.p) else ", p < 0.001" if without.p < 0.001 else f", p = {without.p:.2g}"
    comma = "," if isnan(without.low) else ""
    return (f"without {name}: {result.signless(left, '.3f')}{comma} {result.interval(without.low, without.high)}{p}",)


# How many times as far as the interval without the correction Hall's reaches if it is remarked on, and by how many
# standard errors the units are skewed then. Of ten normal numbers, Hall's reaches as far in one sample of six, by chance.
_FAR = 2.0


def skewed(name: str, units: Numbers, value: float, found: Interval, plain: Interval) -> tuple[str, ...]:
    """Return a remark if the correction for skewed units more than doubles how far an interval reaches on a side.

    With ten to about thirty units, Hall's interval may reach several times as far as Student's or Wilson's; the remark has
    the limits of these.

    Arguments:
        name: what the units are called, for example "suites".
        units: at least ten numbers, one of each unit, on a scale on which they should not be skewed.
        value, found: the number and its interval.
        plain: the interval without the correction for skewness.

    >>> units, corrected, plain = np.array([0.0] * 10 + [1.0, 1.0]), Interval(0.0, 0.9, ""), Interval(0.0, 0.4, "")
    >>> skewed("suites", units, 0.17, corrected, plain)
    ('skewed suites: [0.000, 0.400] without the correction for skewness',)
    """
    reaches = (found.high - value, plain.high - value), (value - found.low, value - plain.low)
    far = any(corrected > _FAR * uncorrected + 1e-9 for corrected, uncorrected in reaches)
    if not far or abs(_skewness(units)) <= _FAR * _error_of_skewness(len(units)):
        return ()
    return (f"skewed {name}: {result.interval(plain.low, plain.high)} without the correction for skewness",)


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
    if kind is Kind.VERDICT:
        return _of_verdicts(mean_of(array), len(array), units)
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
    found = _of_numbers(array, units)
    if (place := outlier(array)) is None:
        return found
    others = np.delete(array, place)
    one = f"one of {len(array)} {units}"
    return found.remarked(*influence(one, mean_of(array), found, mean_of(others), _of_numbers(others, units)))


def _of_numbers(array: Numbers, units: str) -> Interval:
    spread = _sample_spread(array, units)
    return student(mean_of(array), replace(spread, skewness=skewness(array)))


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
