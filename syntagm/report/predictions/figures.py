"""The figures of runs of predictions: one per suite, and one of the accuracies of all suites."""

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.report.numbers import Subject
from syntagm.report.predictions.example import compared
from syntagm.result import Group
from syntagm.runs.store import Run
from syntagm.views import margins, regions
from syntagm.views.scores import chart as scores


def suite(
    subject: Subject[Run], title: str = "", sentences: Sequence[pl.DataFrame] | None = None
) -> tuple[str, Figure]:
    """Return the kind and the figure of a suite: "regions" (surprisal by region), or "margins" if it has no regions.

    Arguments:
        sentences: the sentences of the suite, one table per column; read from the runs if None.
    """
    tables = sentences or [column.run.sentences(subject.name) for column in subject.columns]
    by_region = [
        regions.table(column.run, subject.name, column.name, table)
        for column, table in zip(subject.columns, tables, strict=True)
    ]
    by_region = [table for table in by_region if len(table)]
    if by_region or not subject.first:
        return "regions", regions.draw(by_region, title, compared(subject.record))
    tables_of_margins = [
        margins.table(column.run.results(subject.name), subject.name, subject.first, column.name)
        for column in subject.columns
    ]
    return "margins", margins.draw([table for table in tables_of_margins if len(table)], title)


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
