"""Judgements of items by people: how they are read, and their mean or difference, with people and items random.

A judgement is 0 or 1 (whether the person chose the grammatical sentence, or accepted the sentence), or a rating. Each
person judges several items and each item is judged by several people, so both are clusters (`cluster_intervals.of_clusters`).
With two conditions, the number is the difference of their means; without, it is the mean, which is compared with a
number, for example one half.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nan
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, csv, name_of, utf8
from syntagm.evaluation import Kind
from syntagm.stats import cluster_intervals, interval
from syntagm.stats.interval import Interval

COLUMNS = ("person", "item", "value")
# With fewer people or items, the test of a mean rejects a little too often (`benchmarks/coverage.py`).
FEW = 20


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
