"""The headline of a report: on how many suites each model is above chance, and better or worse than the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from syntagm.evaluation import against_chance
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions.model_pairs import ModelPair
from syntagm.runs import Run
from syntagm.stats import LEVEL, holm, mcnemar

# With more models than this, each is compared only with the first.
MOST = 3


@dataclass(frozen=True, slots=True)
class Versus:
    """A comparison with another model."""

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
    """The headline of one model."""

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
        if columns > MOST and other is not first:
            continue
        value, *ends = pair.overall.difference.numbers[:3]
        low, high = sorted(sign * end for end in ends)
        least = [mcnemar(comparison.n, 0, comparison.n) for _, comparison in pair.suites if comparison.tested]
        counts = (better, worse, len(pair.suites))
        found.append(Versus(other.name, *counts, sign * value, low, high, _possible(least)))
    return tuple(found)
