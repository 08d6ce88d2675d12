"""The figures of a report, on the page and as files: one a suite, and one of the accuracies of all suites."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from syntagm.drawing import save as saving
from syntagm.drawing.chart import FORMATS, Figure
from syntagm.io import atomic
from syntagm.report import fill_figures, fill_numbers, numbers
from syntagm.report.example import compared
from syntagm.report.numbers import Subject
from syntagm.runs.store import Run
from syntagm.views import margins, regions
from syntagm.views.scores import chart as scores

_LONGEST = 60


def suite(subject: Subject, title: str = "", sentences: Sequence[pl.DataFrame] | None = None) -> tuple[str, Figure]:
    """The figure of a suite and its kind: surprisal by region ("regions"), or, without regions, "margins".

    Arguments:
        sentences: of the suite, a table a column, if they are at hand.
    """
    tables = sentences or [column.run.sentences(subject.name) for column in subject.columns]
    by_region = [
        regions.table(column.run, subject.name, column.name, table)
        for column, table in zip(subject.columns, tables, strict=True)
    ]
    by_region = [table for table in by_region if len(table)]
    if by_region or not subject.first:
        return "regions", regions.draw(by_region, title, compared(subject.record))
    found = [
        margins.table(column.run.results(subject.name), subject.name, subject.first, column.name)
        for column in subject.columns
    ]
    return "margins", margins.draw([table for table in found if len(table)], title)


def accuracies(subjects: Sequence[Subject], title: str = "") -> Figure:
    """The accuracy of every model on every suite, by the first prediction of each suite."""
    found = [
        replace(one, group={"model": column.name, "suite": subject.title, "measure": subject.first})
        for subject in subjects
        for column in subject.columns
        if (one := column.accuracies.get((subject.name, subject.first)))
    ]
    chances = {subject.title: subject.chance("first").value for subject in subjects}
    return scores.draw(found, chances, title)


def save(
    runs: Sequence[Run],
    folder: Path,
    formats: Sequence[str] = (),
    spare: Callable[[Path, Sequence[str]], None] = lambda stem, columns: None,
) -> list[Path]:
    """Write every figure of some runs into `folder`, made if it does not exist, each with its numbers as CSV.

    Arguments:
        formats: all unless some are chosen.
        spare: asked before a figure is written: the stem of its files, the columns of its CSV; raises if it may not be.

    Raises:
        UsageError: a format that can't be written, or runs of both kinds.
        RunError: a run is damaged, or the folder can't be written.
    """
    saving.endings(FORMATS, formats)  # refused before anything is drawn
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise atomic.refusal(folder, error, 0) from error
    drawn = [(folder / name, figure) for name, figure in _drawn(runs)]
    for stem, figure in drawn:
        spare(stem, figure.table.columns)
    return [path for stem, figure in drawn for path in saving.save(figure, stem, formats)]


def _drawn(runs: Sequence[Run]) -> Iterator[tuple[str, Figure]]:
    """The figures with the names of their files."""
    if filled := fill_numbers.of_one_kind(runs):
        yield from fill_figures.titled(filled)
        return
    subjects = numbers.subjects(numbers.columns(runs))
    yield "scores", accuracies(subjects, "Accuracy by suite")
    for subject in subjects:
        _, figure = suite(subject, subject.title)
        if len(figure.table):
            yield file_name(subject.number, subject.name), figure


def file_name(number: int, name: str) -> str:
    """A name for files about a suite: its number, which keeps names apart, and what is harmless of its name.

    >>> file_name(3, "../../etc/passwd"), file_name(12, "CON")
    ('03-etc-passwd', '12-CON')
    """
    harmless = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")[:_LONGEST]
    return f"{number:02}-{harmless}" if harmless else f"{number:02}"
