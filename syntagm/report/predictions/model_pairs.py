"""Comparisons of models: pairwise, by suite, and the headline of a report, which counts them and those with chance."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations

import polars as pl

from syntagm.evaluation import Kind, against_chance
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions.scores import are_verdicts
from syntagm.runs import Run
from syntagm.stats import LEVEL, Alike, Comparison, Verdicts, holm, mcnemar, paired, score
from syntagm.views import SharedWords

# With more models than this, each is compared only with the first, since the number of pairs grows with the square.
MOST = 8


@dataclass(frozen=True, slots=True)
class ModelPair:
    """The comparison of two models on the suites that both contain with the same content, by the first prediction of each."""

    number: int  # the number of the pair on the page, from 1
    a: Column[Run]  # `a`, `b`: the models; differences are b minus a
    b: Column[Run]
    overall: Comparison  # the comparison over all suites
    suites: tuple[tuple[Subject[Run], Comparison], ...]
    alike: tuple[Alike, ...] = ()  # how alike the differences of items that share words are

    @property
    def better(self) -> tuple[int, int]:
        """The numbers of suites on which a, and on which b, is significantly better after Holm's adjustment."""
        significant = [comparison for _, comparison in self.suites if comparison.holm <= LEVEL]
        for_b = sum(verdicts.only_b > verdicts.only_a for verdicts in map(_verdicts, significant))
        return len(significant) - for_b, for_b

    @property
    def discordant(self) -> tuple[int, int]:
        """The numbers of items for which the prediction holds only under a, and only under b."""
        counts = [_verdicts(comparison) for _, comparison in self.suites]
        return sum(verdicts.only_a for verdicts in counts), sum(verdicts.only_b for verdicts in counts)


def _verdicts(comparison: Comparison) -> Verdicts:
    assert comparison.verdicts, "first predictions are verdicts"
    return comparison.verdicts


def compare(columns: Sequence[Column[Run]], subjects: Sequence[Subject[Run]]) -> list[ModelPair]:
    """Compare every pair of columns that share a suite; with more than `MOST` columns, compare each with the first."""
    # The list is empty if the values of a run are numbers, because then no item holds or fails.
    if len(columns) < 2 or not are_verdicts(columns):
        return []
    comparable, words = _comparable(columns, subjects), SharedWords()

    # The results of many models don't fit in memory together.
    @lru_cache(MOST)
    def table(place: int) -> pl.DataFrame:
        firsts = {name: (subject.first,) for name, subject in comparable[place].items()}
        return score.verdicts(columns[place].run.results(), firsts, "first")

    places = combinations(range(len(columns)), 2)
    compared: list[ModelPair] = []
    for i, j in places if len(columns) <= MOST else ((0, j) for j in range(1, len(columns))):
        if shared := {name: subject for name, subject in comparable[i].items() if comparable[j].get(name) is subject}:
            sides = [table(place).filter(pl.col("suite").is_in(list(shared))) for place in (i, j)]
            pairs = paired.pair(sides[0], sides[1])
            if len(pairs):
                pair = _pair(len(compared) + 1, columns[i], columns[j], shared, pairs)
                models = f"{pair.a.name}, {pair.b.name}" if len(columns) > 2 else ""
                compared.append(replace(pair, alike=tuple(words.of_pairs(pair.a.run, pairs, models))))
    return compared


def _comparable(columns: Sequence[Column[Run]], subjects: Sequence[Subject[Run]]) -> list[dict[str, Subject[Run]]]:
    """Return for each column the suites, by name, of which the first prediction was computed for it."""
    of_column: dict[int, dict[str, Subject[Run]]] = {id(column): {} for column in columns}
    for subject in subjects:
        for member in subject.columns:
            if subject.first in member.run.suite(subject.name).predictions:
                of_column[id(member)][subject.name] = subject
    return list(of_column.values())


def _pair(
    number: int, a: Column[Run], b: Column[Run], shared: dict[str, Subject[Run]], pairs: pl.DataFrame
) -> ModelPair:
    kind, tolerances = Kind.VERDICT, (a.run.tolerance, b.run.tolerance)  # others are not compared, see `compare`
    of_suites, overall = paired.compare(pairs, kind, tolerances)
    suites = [(shared[comparison.group.suite], comparison) for comparison in of_suites]
    # Suites that can't be compared come last.
    suites.sort(key=lambda pair: -abs(pair[1].difference.value) if pair[1].difference.n else 1.0)
    return ModelPair(number, a, b, overall, tuple(suites))


# With more models than this, each is compared only with the first.
IN_HEADLINE = 3


@dataclass(frozen=True, slots=True)
class Versus:
    other: str  # the other model
    better: int  # `better`, `worse`: the numbers of suites on which the model is significantly better, and worse
    worse: int
    suites: int  # the number of compared suites
    difference: float  # the mean difference of the accuracies over suites, model minus other
    low: float  # `low`, `high`: its 95% interval
    high: float
    possible: bool  # whether any suite has enough items for a significant difference


@dataclass(frozen=True, slots=True)
class Headline:
    name: str
    # `above`, `below`: the numbers of suites on which its accuracy is significantly above, and below, chance
    above: int
    below: int
    suites: int  # the number of suites that are tested: those with a known chance level and items
    untested: int  # the number of its other suites
    possible: bool  # whether any of the tested suites has enough items for a significant difference from chance
    versus: tuple[Versus, ...]  # the comparisons with other models


def headlines(
    columns: Sequence[Column[Run]], subjects: Sequence[Subject[Run]], pairs: Sequence[ModelPair]
) -> list[Headline]:
    """Return the headline of each model, by the first prediction of each suite."""
    return [_headline(column, subjects, _versus(column, columns[0], pairs, len(columns))) for column in columns]


def _headline(column: Column[Run], subjects: Sequence[Subject[Run]], versus: tuple[Versus, ...]) -> Headline:
    own = [subject for subject in subjects if any(member is column for member in subject.columns)]
    tested, least = [], []
    for subject in own:
        estimate, chance = column.accuracies.get((subject.name, subject.first)), subject.chance("first").value
        if estimate and estimate.n and 0 < chance < 1:
            tested.append(
                (estimate.value - chance, against_chance(round(estimate.value * estimate.n), estimate.n, chance))
            )
            least.append(min(against_chance(right, estimate.n, chance) for right in (0, estimate.n)))
    significant = [
        difference for (difference, _), p in zip(tested, holm([p for _, p in tested]), strict=True) if p <= LEVEL
    ]
    above = sum(difference > 0 for difference in significant)
    counts = (above, len(significant) - above, len(tested), len(own) - len(tested))
    return Headline(column.name, *counts, _possible(least), versus)


def _possible(least: Sequence[float]) -> bool:
    """Return whether the smallest of the least possible p-values of several suites is significant by Holm's method."""
    return not least or min(least) * len(least) <= LEVEL


def _versus(column: Column[Run], first: Column[Run], pairs: Sequence[ModelPair], columns: int) -> tuple[Versus, ...]:
    found = []
    for pair in pairs:
        if column not in (pair.a, pair.b):
            continue
        (worse, better), other, sign = pair.better, pair.a, 1
        if column is pair.a:
            (better, worse), other, sign = pair.better, pair.b, -1
        if columns > IN_HEADLINE and other is not first:
            continue
        value, *ends = pair.overall.difference.numbers[:3]
        low, high = sorted(sign * end for end in ends)
        least = [mcnemar(comparison.n, 0, comparison.n) for _, comparison in pair.suites if comparison.tested]
        counts = (better, worse, len(pair.suites))
        found.append(Versus(other.name, *counts, sign * value, low, high, _possible(least)))
    return tuple(found)
