"""The models of a report in pairs: by how much they differ, which suites separate them, and on how many items they part."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions.scores import judged
from syntagm.runs.store import Run
from syntagm.stats import paired, score
from syntagm.stats.paired import Comparison, Verdicts
from syntagm.stats.significance import LEVEL

# With more models than this each is compared with the first only: the number of pairs grows with the square.
MOST = 8


@dataclass(frozen=True, slots=True)
class Versus:
    """Model b against model a on the suites that both have with the same content, by the first prediction of each.

    Arguments:
        overall: the comparison over all of them.
        suites: the suites with the comparison of the models there, the largest difference first.
    """

    number: int
    a: Column[Run]
    b: Column[Run]
    overall: Comparison
    suites: tuple[tuple[Subject[Run], Comparison], ...]

    @property
    def better(self) -> tuple[int, int]:
        """On how many suites a is better, and b, by Holm's p."""
        found = [one for _, one in self.suites if one.holm <= LEVEL]
        for_b = sum(counted.only_b > counted.only_a for counted in map(_counted, found))
        return len(found) - for_b, for_b

    @property
    def flips(self) -> tuple[int, int]:
        """On how many items the prediction holds under a only, and under b only."""
        counts = [_counted(one) for _, one in self.suites]
        return sum(one.only_a for one in counts), sum(one.only_b for one in counts)


def _counted(one: Comparison) -> Verdicts:
    assert one.verdicts, "first predictions are verdicts"
    return one.verdicts


def versus(columns: Sequence[Column[Run]], subjects: Sequence[Subject[Run]]) -> list[Versus]:
    """Every pair of columns that share a suite; with more than `MOST` columns, each with the first.

    None of runs whose values are numbers: no item holds under one model and fails under the other.
    """
    if len(columns) < 2 or not judged(columns):
        return []
    tables = [score.verdicts(column.run.results(), _first(column, subjects), "first") for column in columns]
    places = combinations(range(len(columns)), 2)
    found: list[Versus] = []
    for i, j in places if len(columns) <= MOST else ((0, j) for j in range(1, len(columns))):
        if shared := _shared(columns[i], columns[j], subjects):
            sides = [tables[place].filter(pl.col("suite").is_in(list(shared))) for place in (i, j)]
            pairs = paired.pair(sides[0], sides[1])
            if len(pairs):
                found.append(_versus(len(found) + 1, columns[i], columns[j], shared, pairs))
    return found


def _first(column: Column[Run], subjects: Sequence[Subject[Run]]) -> dict[str, Sequence[str]]:
    """The first prediction of each suite, where the model was asked it: another would be another comparison."""
    return {
        subject.name: (subject.first,)
        for subject in subjects
        if any(one is column for one in subject.columns) and subject.first in column.run.suite(subject.name).predictions
    }


def _shared(a: Column[Run], b: Column[Run], subjects: Sequence[Subject[Run]]) -> dict[str, Subject[Run]]:
    return {
        subject.name: subject
        for subject in subjects
        if all(any(one is column for one in subject.columns) for column in (a, b))
        and all(subject.name in _first(column, [subject]) for column in (a, b))
    }


def _versus(
    number: int, a: Column[Run], b: Column[Run], shared: dict[str, Subject[Run]], pairs: pl.DataFrame
) -> Versus:
    paired.refuse_others_than_verdicts(pairs, "separation")
    tolerances = (a.run.tolerance, b.run.tolerance)
    found = [(shared[one.group.suite], one) for one in paired.by_suite(pairs, tolerances)]
    # Those that can't be compared come last.
    found.sort(key=lambda pair: -abs(pair[1].difference.value) if pair[1].difference.n else 1.0)
    return Versus(number, a, b, paired.over_suites(pairs, tolerances), tuple(found))
