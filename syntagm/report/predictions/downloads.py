"""The numbers of runs of predictions as CSV inside the page: scores, comparisons, verdicts."""

from collections.abc import Iterable, Sequence

from markupsafe import Markup

from syntagm.export.scores import COLUMNS, score_row
from syntagm.report.downloads import link
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions.scores import Line
from syntagm.report.predictions.versus import Versus
from syntagm.runs.store import Run
from syntagm.stats.paired import Comparison

VERSUS_COLUMNS = (
    *("a", "b", "suite", "n", "accuracy_a", "low_a", "high_a", "accuracy_b", "low_b", "high_b"),
    *("difference", "low", "high", "only_a", "only_b", "undefined", "p", "p_holm", "p_benjamini_hochberg", "method"),
)


def scores(columns: Sequence[Column[Run]], lines: Iterable[Line]) -> Markup:
    """Every accuracy of every run, and the scores over suites that the lines hold, with interval, chance and signature."""
    rows: list[tuple[object, ...]] = []
    over = list(lines)
    for place, column in enumerate(columns):
        found = [*column.accuracies.values(), *(one for line in over if (one := line.cells[place]))]
        rows += [(column.name, *score_row(column.run, one)[1:]) for one in found]
    return link("scores.csv", COLUMNS, rows, "all scores as CSV")


def compared(pairs: Sequence[Versus]) -> Markup:
    """Every comparison of two models on a suite."""
    rows = (_compared(pair, subject, one) for pair in pairs for subject, one in pair.suites)
    return link("comparison.csv", VERSUS_COLUMNS, rows, "all comparisons as CSV")


def verdicts(subject: Subject[Run], stem: str) -> Markup:
    """The value and the margin of every item, a row an item, measure and model."""
    columns = ("model", "item", "measure", "value", "margin")
    rows = [
        (column.name, *row)
        for column in subject.columns
        for row in column.run.results(subject.name).select(columns[1:]).iter_rows()
    ]
    return link(f"{stem}-items.csv", columns, rows, "every item as CSV")


def _compared(pair: Versus, subject: Subject[Run], one: Comparison) -> tuple[object, ...]:
    found = [(part.value, part.low, part.high) for part in (one.a, one.b, one.difference) if part]
    counts = (one.verdicts.only_a, one.verdicts.only_b) if one.verdicts else ("", "")
    tested = (one.p, one.holm, one.benjamini_hochberg)
    numbers = (*(number for three in found for number in three), *counts, one.difference.undefined, *tested)
    return (pair.a.name, pair.b.name, subject.title, one.n, *numbers, one.difference.method)
