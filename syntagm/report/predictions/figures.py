"""The figures of runs of predictions: one per suite, and one of the accuracies of all suites."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.errors import FormulaError
from syntagm.report.numbers import Subject
from syntagm.report.predictions.example import compared
from syntagm.result import Group
from syntagm.runs.store import Run
from syntagm.views import margins, regions
from syntagm.views.effects import Effect, effects
from syntagm.views.scores import chart as scores


def suite(
    subject: Subject[Run],
    title: str = "",
    sentences: Sequence[pl.DataFrame] | None = None,
    found: Sequence[Effect] | None = None,
) -> tuple[str, Figure]:
    """Return the kind and the figure of a suite: "regions", surprisal by region; or "margins", a histogram.

    The figure shows margins if the first prediction compares no region, as in minimal pairs compared as a whole.

    Arguments:
        sentences: the sentences of the suite, one table per column; read from the runs if None.
        found: the effects of the suite, from `effects_of`; computed if None.
    """
    tables = sentences or [column.run.sentences(subject.name) for column in subject.columns]
    references = compared(subject.record)
    if references and all(reference.region == "*" for reference in references):
        return "margins", _margins(subject, title)
    by_region = [
        regions.table(column.run, subject.name, column.name, table)
        for column, table in zip(subject.columns, tables, strict=True)
    ]
    by_region = [table for table in by_region if len(table)]
    if not by_region and subject.first:
        return "margins", _margins(subject, title)
    of_first = [
        effect
        for effect in (effects_of(subject, tables) if found is None else found)
        if effect.estimate.group.measure == subject.first
    ]
    return "regions", regions.draw(by_region, title, references, of_first if by_region else ())


def _margins(subject: Subject[Run], title: str) -> Figure:
    tables = [
        margins.table(column.run.results(subject.name), subject.name, subject.first, column.name)
        for column in subject.columns
    ]
    return margins.draw([table for table in tables if len(table)], title)


def effects_of(subject: Subject[Run], sentences: Sequence[pl.DataFrame]) -> list[Effect]:
    """Return the effects of all predictions of a suite under all models; empty if a formula can't be parsed."""
    try:
        return [
            effect
            for column, table in zip(subject.columns, sentences, strict=True)
            for effect in effects(column.run, subject.name, "each", column.name, table)
        ]
    except FormulaError:  # the record may be of another version or damaged; the page shows the formula as it is
        return []


def accuracies(subjects: Sequence[Subject[Run]], title: str = "") -> Figure:
    """Return the figure of every model's accuracy on every suite, by the first prediction of each suite."""
    estimates = [
        replace(estimate, group=Group(column.name, subject.title, subject.first))
        for subject in subjects
        for column in subject.columns
        if (estimate := column.accuracies.get((subject.name, subject.first)))
    ]
    chances = {subject.title: subject.chance("first").value for subject in subjects}
    return scores.draw(estimates, chances, title)
