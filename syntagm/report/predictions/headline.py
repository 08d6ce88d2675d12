"""The headline of a report: on how many suites each model is above chance, and better or worse than the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions.model_pairs import ModelPair
from syntagm.runs.store import Run
from syntagm.stats.adjust import holm
from syntagm.stats.against_chance import against_chance
from syntagm.stats.interval import LEVEL

# With more models than this, each is compared only with the first.
MOST = 3


@dataclass(frozen=True, slots=True)
class Versus:
    """A comparison with another model: on how many suites a model is significantly better, and worse, of how many."""

    other: str
    better: int
    worse: int
    suites: int


@dataclass(frozen=True, slots=True)
class Headline:
    """The headline of one model.

    Arguments:
        above, below: the numbers of suites on which its accuracy is significantly above, and below, chance.
        suites: the number of suites that are tested: those with a known chance level and items.
        untested: the number of its other suites.
        versus: the comparisons with other models.
    """

    name: str
    above: int
    below: int
    suites: int
    untested: int
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
    tested = []
    for subject in own:
        estimate, chance = column.accuracies.get((subject.name, subject.first)), subject.chance("first").value
        if estimate and estimate.n and 0 < chance < 1:
            tested.append(
                (estimate.value - chance, against_chance(round(estimate.value * estimate.n), estimate.n, chance))
            )
    significant = [
        difference for (difference, _), p in zip(tested, holm([p for _, p in tested]), strict=True) if p <= LEVEL
    ]
    above = sum(difference > 0 for difference in significant)
    return Headline(column.name, above, len(significant) - above, len(tested), len(own) - len(tested), versus)


def _versus(column: Column[Run], first: Column[Run], pairs: Sequence[ModelPair], columns: int) -> tuple[Versus, ...]:
    sides = [(pair.a, pair.b, *pair.better, len(pair.suites)) for pair in pairs]
    sides += [(b, a, for_b, for_a, suites) for a, b, for_a, for_b, suites in sides]
    return tuple(
        Versus(other.name, better, worse, suites)
        for own, other, better, worse, suites in sides
        if own is column and (columns <= MOST or other is first)
    )
