"""The figures of runs of predictions: one per suite, and one of the accuracies of all suites."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import polars as pl

from syntagm.core import FormulaError, RunError, UsageError
from syntagm.evaluation import Group
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions.items import find_compared
from syntagm.report.predictions.model_pairs import ModelPair
from syntagm.runs import Run
from syntagm.views import (
    Effect,
    Figure,
    Scale,
    comparison,
    effects,
    first_of_several,
    margins,
    places,
    regions,
    scores,
    trajectory,
)

# Fewer checkpoints make no curve.
CHECKPOINTS = 3
# With more models than this, each has a figure of effects of its own, and pairs without the first model have no figure.
FEW = 4
# A figure of effects with more rows than this takes more than two screens.
ROWS = 60


# Suites with their effects, as `effects_of` returns them.
EffectsOfSuites: TypeAlias = Sequence[tuple[Subject[Run], Sequence[Effect]]]


@dataclass(frozen=True, slots=True)
class Forest:
    model: str  # the model, if the figure shows a single one of many; otherwise ""
    effects: int  # the number of effects
    above: int  # `above`, `below`: the number of effects whose interval is above 0, and below 0
    below: int
    figure: Figure


def suite(
    subject: Subject[Run],
    title: str = "",
    sentences: Sequence[pl.DataFrame] | None = None,
    found: Sequence[Effect] | None = None,
) -> tuple[str, Figure]:
    """Return the kind and the figure of a suite: "regions", surprisal by region; or "margins", a histogram."""
    # The figure shows margins if the first prediction compares no region, as in minimal pairs compared as a whole.
    tables = sentences or [column.run.sentences(subject.name) for column in subject.columns]
    references = find_compared(subject.record)
    if references and all(reference.region == "*" for reference in references):
        return "margins", _margins(subject, title)
    by_region = [
        regions.table(column.run, subject.name, column.name, table, references)
        for column, table in zip(subject.columns, tables, strict=True)
        if column.run.task.surprisals
    ]
    by_region = [table for table in by_region if len(table)]
    if not by_region and subject.first:
        return "margins", _margins(subject, title)
    of_first = [
        effect
        for effect in (effects_of(subject, tables) if found is None else found)
        if effect.estimate.group.measure == subject.first
    ]
    prediction = first_of_several(subject.record)
    leftward = regions.is_leftward(subject.record.tags)
    return "regions", regions.draw(by_region, title, references, of_first if by_region else (), prediction, leftward)


def _margins(subject: Subject[Run], title: str) -> Figure:
    results = {column.name: column.run.results(subject.name) for column in subject.columns}
    unit = margins.unit_of_runs([column.run for column in subject.columns], subject.name, subject.first)
    return margins.draw(margins.tables(results, subject.name, subject.first), title, unit)


def effects_of(subject: Subject[Run], sentences: Sequence[pl.DataFrame]) -> list[Effect]:
    """Return the effects of all predictions of a suite, in bits, under all models; empty if a formula can't be parsed."""
    # People, and what other tools said of pairs, have no surprisals, and so no effects in bits.
    try:
        return [
            effect
            for column, table in zip(subject.columns, sentences, strict=True)
            if column.run.task.surprisals
            for effect in effects.suite_effects(column.run, subject.name, "each", column.name, table)
        ]
    except FormulaError:  # the record may be of another version or damaged; the page shows the formula as it is
        return []


def accuracies(subjects: Sequence[Subject[Run]], groups: Mapping[str, str], title: str = "") -> Figure:
    """Return the figure of the accuracy of every model on every suite, by the first prediction of each suite."""
    estimates = [
        replace(estimate, group=Group(column.name, subject.title, subject.first))
        for subject in subjects
        for column in subject.columns
        if (estimate := column.accuracies.get((subject.name, subject.first)))
    ]
    chances = {subject.title: subject.chance("first").value for subject in subjects}
    return scores.draw(estimates, chances, title, groups=groups)


def only_first(suites: EffectsOfSuites) -> bool:
    """Return whether the effects would take more than `ROWS` rows, so that only those of first predictions are drawn."""
    rows = sum(
        len({(effect.estimate.group.measure, effect.comparison) for effect in of_suite}) for _, of_suite in suites
    )
    return rows > ROWS and any(first_of_several(subject.record) for subject, _ in suites)


def forests(suites: EffectsOfSuites, columns: Sequence[Column[Run]], title: str = "") -> list[Forest]:
    # With more than `FEW` models, each has a figure of its own; their axes have the same ends.
    first = only_first(suites)
    named = [
        replace(effect, estimate=replace(effect.estimate, group=replace(effect.estimate.group, suite=subject.title)))
        for subject, of_suite in suites
        for effect in of_suite
        if not first or effect.estimate.group.measure == subject.first
    ]
    by_model = {
        column.name: [effect for effect in named if effect.estimate.group.model == column.name] for column in columns
    }
    parts = {"": named} if len(columns) <= FEW else by_model
    return [
        Forest(model, *_signs(drawn), effects.draw(drawn, title, "first" if first else "each", effects.extent(named)))
        for model, drawn in parts.items()
        if drawn
    ]


def _signs(found: Sequence[Effect]) -> tuple[int, int, int]:
    """Count effects, those whose interval is above 0, and those whose interval is below 0."""
    above = sum(effect.estimate.low > 0 for effect in found)
    below = sum(effect.estimate.high < 0 for effect in found)
    return len(found), above, below


def differences(pairs: Sequence[ModelPair], title: str = "") -> Figure:
    pairings = [
        (pair.a.name, pair.b.name, [(subject.title, comparison) for subject, comparison in pair.suites])
        for pair in pairs
    ]
    return comparison.draw(pairings, title)


def trajectories(columns: Sequence[Column[Run]], tag: str) -> Figure | None:
    """Return the figure of scores along checkpoints; None if fewer than three runs are checkpoints of one series."""
    runs = [column.run for column in columns]
    try:
        points = places(runs).points
        counts = [
            len({point.at for point in points if point.series == name}) for name in {point.series for point in points}
        ]
        if max(counts) < CHECKPOINTS:
            return None
        scale: Scale = "log" if all(point.at > 0 for point in points) else "linear"
        return trajectory.draw_figure(runs, by=tag, scale=scale)
    except (UsageError, RunError):  # the positions are not known, or the runs share no suite
        return None
