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
    """A comparison with another model.

    Arguments:
        other: the other model.
        better, worse: the numbers of suites on which the model is significantly better, and worse.
        suites: the number of compared suites.
        difference: the mean difference of the accuracies over suites, model minus other.
        low, high: its 95% interval.
        possible: whether any suite has enough items for a significant difference.
    """

    other: str
    better: int
    worse: int
    suites: int
    difference: float
    low: float
    high: float
    possible: bool


@dataclass(frozen=True, slots=True)
class Headline:
    """The headline of one model.

    Arguments:
        above, below: the numbers of suites on which its accuracy is significantly above, and below, chance.
        suites: the number of suites that are tested: those with a known chance level and items.
        untested: the number of its other suites.
        possible: whether any of the tested suites has enough items for a significant difference from chance.
        versus: the comparisons with other models.
    """

    name: str
    above: int
    below: int
    suites: int
    untested: int
    possible: bool
    versus: tuple[Versus, ...]


def headlines(
    columns: Sequence[Column[Run]], subjects: Sequence[Subject[Run]], pairs: Sequence[ModelPair]
) -> list[Headline]:
    """Return the headline of each model, by the first prediction of each suite.

    Arguments:
        pairs: from `model_pairs.compare`.
    """
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
