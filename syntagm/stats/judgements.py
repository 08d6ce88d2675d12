"""Judgements of items by people: how they are read, and their mean or difference, with people and items random.

A judgement is 0 or 1 (whether the person chose the grammatical sentence, or accepted the sentence), or a rating. Each
person judges several items and each item is judged by several people, so both are clusters (`spread_of_clusters`).
With two conditions, the number is the difference of their means; without, it is the mean, which is compared with a
number, for example one half.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import exp, inf, isnan, log, nan, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, csv, name_of, utf8
from syntagm.evaluation import Kind
from syntagm.stats import bootstrap, cluster_intervals, interval
from syntagm.stats.cluster_intervals import spread_of_clusters
from syntagm.stats.interval import Interval, critical, score, student

Numbers = NDArray[np.float64]
Codes = NDArray[np.int64]
# With fewer people or items, an interval may be a little too short (`benchmarks/people_coverage.py`), and the test of a
# mean rejects a little too often (`benchmarks/coverage.py`).
FEW = 20
# With fewer items, leaving out one says too little.
_LEAST = 5
_TINY = 1e-9


def weighted(
    values: Numbers, weights: Numbers, strata: Codes, kind: Kind, people: Codes, items: Codes
) -> tuple[float, Interval]:
    """Return the mean over strata of weighted means of answers, with an interval for other people and other items.

    Strata (suites) are fixed. The influence of an answer is its weight times its deviation from the mean of its stratum; the
    variance over the crossed clusters is that of Cameron, Gelbach & Miller 2011 (`stats.cluster_intervals`).

    Arguments:
        values, weights: shape (answers,). Weights are normalised within each stratum.
        strata: the stratum of each answer, as numbers from 0. Shape (answers,).
        kind: `VERDICT` for answers that are 0 or 1.
        people, items: the clusters of each answer; an item belongs to one stratum. Shape (answers,).

    >>> people, items = np.divmod(np.arange(12), 3)
    >>> values = np.array([1.0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1])
    >>> value, found = weighted(values, np.ones(12), np.zeros(12, int), Kind.VERDICT, people, items)
    >>> round(value, 3), round(found.low, 3), round(found.high, 3)
    (0.833, 0.149, 0.993)
    """
    total = np.bincount(strata, weights)[strata]
    share = weights / total / (int(strata.max()) + 1)
    means = np.bincount(strata, weights * values) / np.bincount(strata, weights)
    value = float(means.mean())
    return value, of_influences(value, share * (values - means[strata]), kind, people, items)


def of_influences(value: float, influences: Numbers, kind: Kind, people: Codes, items: Codes) -> Interval:
    """Return the interval of an estimate from the influence of each answer, with people and items random."""
    # The degrees of freedom are those of the variance without that of the cells, which both kinds contain: with the
    # others, of 20 people and 5 items some intervals covered 91.5% (`benchmarks/people_coverage.py`).
    spread = spread_of_clusters(influences, {"people": people, "items": items}, net=True)
    if spread is None:
        return Interval(nan, nan, "no interval: fewer than two people or items")
    return (score if kind.bounded else student)(value, spread)


def krippendorff(values: Numbers, units: Codes) -> float:
    """Return Krippendorff's alpha for numbers; for values 0 and 1 it is that for names (Krippendorff 2011).

    Units with one value count for nothing.

    Arguments:
        values: one for each judgement. Shape (judgements,).
        units: what was judged, as numbers from 0. Shape (judgements,).

    Returns:
        1 for perfect agreement, 0 for agreement by chance; nan if all values are equal, or no unit has two.

    >>> krippendorff(np.array([0.0, 0, 1, 1]), np.array([0, 0, 1, 1]))
    1.0
    >>> round(krippendorff(np.array([1.0, 1, 2, 3, 5, 5]), np.array([0, 0, 1, 1, 2, 2])), 3)  # 1 - 5 * 2 / 202
    0.95
    """
    counts = np.bincount(units)
    several = counts[units] > 1
    values, units = values[several], units[several]
    n = len(values)
    if not n:
        return nan
    size = np.bincount(units)
    sums, squares = np.bincount(units, values), np.bincount(units, values**2)
    kept = size > 1
    within = float((2 * (size * squares - sums**2)[kept] / (size[kept] - 1)).sum())
    between = 2 * (n * float((values**2).sum()) - float(values.sum()) ** 2)
    return nan if between <= 0 else 1 - (n - 1) * within / between


def alpha_interval(values: Numbers, units: Codes, people: Codes) -> Interval:
    """Return the 95% interval of Krippendorff's alpha, for other people and other units.

    The interval is one of Fisher's transform of an intraclass correlation of k judgements of each unit (1925),
    log((1 + (k - 1) alpha) / (1 - alpha)) / 2, since alpha of few units is skewed. The variances of leaving out one person,
    and one unit, after another are added; what both contain counts twice, so the interval is rather too wide. Student's
    quantile has the degrees of freedom of Satterthwaite (1946).

    Arguments:
        values, units: as in `krippendorff`.
        people: whose judgement it is, as numbers from 0. Shape (judgements,).

    >>> people, units = np.divmod(np.arange(40), 10)
    >>> found = alpha_interval((units % 5 + people % 2).astype(float), units, people)
    >>> found.low < krippendorff((units % 5 + people % 2).astype(float), units) < found.high
    True
    """
    value = krippendorff(values, units)
    each_unit = max(2.0, len(units) / max(1, len(np.unique(units))))

    def turned(alpha: float) -> float:
        return log(max(1 + (each_unit - 1) * alpha, _TINY) / max(1 - alpha, _TINY)) / 2

    parts: list[tuple[float, float]] = []
    for codes in (people, units):
        count = int(codes.max(initial=-1)) + 1
        alphas = [krippendorff(values[codes != code], units[codes != code]) for code in range(count)]
        without = [turned(alpha) for alpha in alphas if not isnan(alpha)]
        if count < 3 or isnan(value) or len(without) < count:
            return Interval(nan, nan, "no interval: alpha is undefined without one person or item")
        parts.append(((count - 1) * float(np.var(without)), count - 1.0))
    variance = sum(part for part, _ in parts)
    if not variance > 0:
        return Interval(nan, nan, "no interval: no spread")
    freedom = variance**2 / sum(part**2 / each for part, each in parts)
    reach = critical(freedom) * sqrt(variance)
    limits = [exp(min(2 * (turned(value) + sign * reach), 100.0)) for sign in (-1, 1)]
    low, high = ((limit - 1) / (limit + each_unit - 1) for limit in limits)
    return Interval(min(low, value), max(high, value), f"jackknife with t({freedom:.3g})")


@dataclass(frozen=True, slots=True)
class Reliability:
    """The reliability of numbers of items by split halves of people."""

    value: float  # the reliability, from 0 to 1; nan if no split has one
    low: float  # `low`, `high`: its 95% interval, for other items and these people; nan if there are too few
    high: float
    splits: int  # the number of splits that have one


def split_halves(people: int, numbers: Callable[[NDArray[np.bool_]], Numbers], splits: int, seed: int) -> Reliability:
    # For each random split, the numbers of the items from both halves are correlated; the mean correlation r gives the
    # reliability of all people together as 2 r / (1 + r) (Spearman 1910, Brown 1910).
    generator = np.random.default_rng(seed)
    found: list[tuple[Numbers, Numbers]] = []
    for _ in range(splits if people >= 4 else 0):
        half = np.zeros(people, bool)
        half[generator.permutation(people)[: people // 2]] = True
        first, second = numbers(half), numbers(~half)
        both = ~(np.isnan(first) | np.isnan(second))
        if both.sum() >= 3 and np.ptp(first[both]) > 0 and np.ptp(second[both]) > 0:
            found.append((np.where(both, first, nan), np.where(both, second, nan)))
    if not found:
        return Reliability(nan, nan, nan, 0)
    first, second = (np.array([pair[side] for pair in found]) for side in (0, 1))
    mean, without = _mean_correlations(first, second)
    items = np.flatnonzero(~np.isnan(first).all(axis=0))
    without = without[items]
    if len(items) < _LEAST or np.isnan(without).any() or abs(mean) >= 1:
        return Reliability(_stepped(mean), nan, nan, len(found))
    # Of Fisher's transform, whose distribution is less skewed; leaving out one item after another.
    transformed = np.arctanh(np.clip(without, -1 + 1e-12, 1 - 1e-12))
    variance = (len(items) - 1) * float(transformed.var())
    reach = critical(len(items) - 1.0) * sqrt(variance)
    low, high = (_stepped(float(np.tanh(np.arctanh(mean) + sign * reach))) for sign in (-1, 1))
    return Reliability(_stepped(mean), low, high, len(found))


def _mean_correlations(first: Numbers, second: Numbers) -> tuple[float, Numbers]:
    """Return the mean over splits of the correlation over items, and the same without each item.

    Splits without spread count for nothing. The sums without an item are those of all minus its own, so that the work grows
    with the number of items only.

    Arguments:
        first, second: the numbers of the items from both halves, nan together. Shape (splits, items).

    Returns:
        The mean, and the means without each item. Shape (items,).

    >>> mean, without = _mean_correlations(np.array([[1.0, 2, 3, 5]]), np.array([[1.0, 3, 2, 4]]))
    >>> x, y = np.array([2.0, 3, 5]), np.array([3.0, 2, 4])
    >>> round(mean, 4), bool(np.isclose(without[0], np.corrcoef(x, y)[0, 1]))
    (0.8315, True)
    """
    total, totals, counts = 0.0, np.zeros(first.shape[1]), np.zeros(first.shape[1])
    for one, other in zip(first, second, strict=True):
        kept = ~np.isnan(one)
        x, y = (np.where(kept, side - side[kept].mean(), 0.0) for side in (one, other))
        sums = [float(part.sum()) for part in (x * x, y * y, x * y)]
        total += sums[2] / sqrt(sums[0] * sums[1])
        n = int(kept.sum()) - kept.astype(float)
        xx, yy, xy = (whole - part for whole, part in zip(sums, (x * x, y * y, x * y), strict=True))
        # Both sums of deviations were 0, and are minus the item's own without it.
        xx, yy, xy = xx - x * x / n, yy - y * y / n, xy - x * y / n
        usable = (xx > 1e-12 * sums[0]) & (yy > 1e-12 * sums[1])
        totals[usable] += xy[usable] / np.sqrt(xx[usable] * yy[usable])
        counts[usable] += 1
    return total / len(first), np.divide(totals, counts, out=np.full(len(totals), nan), where=counts > 0)


def _stepped(correlation: float) -> float:
    """Return the reliability of all from the correlation of halves (Spearman 1910, Brown 1910).

    It is a share of variance: halves that agree less than by chance have 0.

    >>> _stepped(0.5), _stepped(-0.67)
    (0.6666666666666666, 0.0)
    """
    return 2 * correlation / (1 + correlation) if correlation > 0 else 0.0


def ceiling(reliability: float) -> float:
    """Return the largest correlation that a perfect predictor of what people do can have with their numbers.

    >>> ceiling(0.81), ceiling(nan)
    (0.9, nan)
    """
    return sqrt(reliability)


def seed() -> int:
    """Return the seed of the current design."""
    return bootstrap.current().seed


def majority(rates: Mapping[str, float]) -> int:
    """Return how many items the majority judged as predicted; a tie is lost, as in BLiMP's validation.

    >>> majority({"1": 0.8, "2": 0.5, "3": 0.4})
    1
    """
    return sum(rate > 0.5 for rate in rates.values())


COLUMNS = ("person", "item", "value")


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """Judgements, one per row."""

    # `people`, `items`: the person and the item of each judgement, as numbers from 0. Shapes (judgements,).
    people: NDArray[np.int64]
    items: NDArray[np.int64]
    values: NDArray[np.float64]  # shape (judgements,)
    kind: Kind  # `VERDICT` for choices, which are 0 or 1, and `NUMBER` for ratings
    # Whether a judgement is of the second condition; None without conditions. Shape (judgements,).
    second: NDArray[np.bool_] | None = None
    names: tuple[str, str] = ("", "")  # the names of the two conditions


def read(path: Path) -> Judgements:
    """Read a CSV file with the columns person, item and value, and optionally condition."""
    # A file in which all values are 0 or 1 contains choices, any other ratings.
    rows = [
        (line, {name: name_of(cell) for name, cell in row.items()})
        for line, row in csv.records(utf8.read(path), path, COLUMNS)
    ]
    values = [_number(row["value"], f"{path}, line {line}") for line, row in rows]
    for line, row in rows:
        if empty := [name for name in ("person", "item", "condition") if name in row and not row[name]]:
            raise InputError(f"{path}, line {line}", f"no {empty[0]}", f"a name in the column {empty[0]}")
    _refuse_repeated(rows, path)
    people, items = (np.unique([row[name] for _, row in rows], return_inverse=True) for name in ("person", "item"))
    if min(len(people[0]), len(items[0])) < 2:
        raise InputError(str(path), f"{len(people[0])} people and {len(items[0])} items", "at least two of each")
    conditions = list(dict.fromkeys(row["condition"] for _, row in rows if "condition" in row))
    if len(conditions) not in (0, 2):
        cure = "Without the column condition, the mean is tested."
        raise InputError(str(path), f"{len(conditions)} conditions: {', '.join(conditions)[:200]}", "two", cure)
    second = np.array([row["condition"] == conditions[1] for _, row in rows]) if conditions else None
    names = (conditions[0], conditions[1]) if conditions else ("", "")
    kind = Kind.VERDICT if set(values) <= {0.0, 1.0} else Kind.NUMBER
    return Judgements(people[1], items[1], np.array(values), kind, second, names)


def _refuse_repeated(rows: Sequence[tuple[int, Mapping[str, str]]], path: Path) -> None:
    """Refuse a second judgement of an item by a person, which would count as that of another one."""
    lines: dict[tuple[str, str, str], int] = {}
    for line, row in rows:
        first = lines.setdefault((row["person"], row["item"], row.get("condition", "")), line)
        if first != line:
            found = f"a second judgement of item {row['item']!r} by {row['person']!r}, as in line {first}"
            cure = "Delete one of them, or replace both by their mean."
            raise InputError(f"{path}, line {line}", found, "one judgement of an item by a person and condition", cure)


def _number(text: str, place: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not abs(value) < inf:
        raise InputError(place, f"the value {text!r}", "a number, such as 1 or 0, or a rating")
    return value


def estimate(judgements: Judgements, against: float = 0.0) -> tuple[float, Interval]:
    """Return the mean, or the difference between the conditions (second minus first), with its interval and test.

    Arguments:
        against: the number that the mean is tested against; ignored with two conditions.

    >>> people, items = np.divmod(np.arange(12), 3)
    >>> values = np.array([1.0, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1])
    >>> value, found = estimate(Judgements(people, items, values, Kind.VERDICT), 0.5)
    >>> round(value, 3), found.method
    (0.833, 'Wilson with t(3.31); random: items, people; only 3 items')
    """
    clusters = {"people": judgements.people, "items": judgements.items}
    values, second = judgements.values, judgements.second
    if second is None:
        value = float(values.mean())
        found = cluster_intervals.of_clusters(values, judgements.kind, clusters)
        spread = cluster_intervals.spread_of_clusters((values - value) / len(values), clusters)
        return value, found if spread is None else _remarked(
            replace(found, p=_p(value, against, spread, judgements.kind)), spread
        )
    means = float(values[~second].mean()), float(values[second].mean())
    influences = np.where(second, (values - means[1]) / second.sum(), -(values - means[0]) / (~second).sum())
    spread = cluster_intervals.spread_of_clusters(influences, clusters)
    value = means[1] - means[0]
    if spread is None:
        return value, Interval(nan, nan, "no interval: fewer than two people or items")
    return value, _remarked(interval.student(value, spread), spread)


def _remarked(found: Interval, spread: interval.Spread) -> Interval:
    """Add a remark about few people or items, if the interval has none."""
    name, count = spread.units[0]
    return found if found.remarks or count >= FEW else found.remarked(f"only {count} {name}")


def _p(value: float, against: float, spread: interval.Spread, kind: Kind) -> float:
    """Return the p-value of the hypothesis that a mean is `against`; the interval is what it doesn't reject."""
    if not kind.bounded:
        return interval.p_value(value - against, spread)
    # As in `interval.score`: the variance is that of as many independent verdicts, under the hypothesis.
    room, variance = value * (1 - value), against * (1 - against)
    flat = spread.variance <= 1e-15 or room <= 1e-15
    n = spread.units[0][1] if flat else room / spread.variance
    supposed = replace(spread, variance=variance / n, freedom=inf if flat else spread.freedom)
    return interval.p_value(value - against, supposed)
