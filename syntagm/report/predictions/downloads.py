"""Links in the page that save the numbers of runs of predictions as CSV: scores, comparisons and verdicts."""

from collections.abc import Sequence

from markupsafe import Markup

from syntagm.report.downloads import link
from syntagm.report.links import Rows
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions.model_pairs import ModelPair
from syntagm.report.predictions.scores import ScoreRow
from syntagm.runs import Run
from syntagm.stats import Comparison
from syntagm.views import SCORE_COLUMNS, score_row

COMPARISON_COLUMNS = (
    *("a", "b", "suite", "n", "accuracy_a", "low_a", "high_a", "accuracy_b", "low_b", "high_b"),
    *("difference", "low", "high", "only_a", "only_b", "undefined", "p", "p_holm", "p_benjamini_hochberg", "method"),
)


def list_scores(columns: Sequence[Column[Run]], lines: Sequence[ScoreRow]) -> Rows:
    """List every accuracy of every run and the scores of `lines`, with interval, chance and signature."""
    rows: list[tuple[object, ...]] = []
    for place, column in enumerate(columns):
        estimates = [*column.accuracies.values(), *(score for line in lines if (score := line.cells[place]))]
        rows += [(column.name, *score_row(column.run, estimate)[1:]) for estimate in estimates]
    return SCORE_COLUMNS, rows


def list_comparisons(pairs: Sequence[ModelPair]) -> Rows:
    """List every comparison of two models on a suite."""
    rows = (_row_of(pair, subject, comparison) for pair in pairs for subject, comparison in pair.suites)
    return COMPARISON_COLUMNS, rows


def link_verdicts(subject: Subject[Run], stem: str) -> Markup:
    """Return a link to the value and the margin of every item: one row per item, measure and model."""
    columns = ("model", "item", "measure", "value", "margin")
    rows = [
        (column.name, *row)
        for column in subject.columns
        for row in column.run.results(subject.name).select(columns[1:]).iter_rows()
    ]
    return link(f"{stem}-items.csv", columns, rows, "every item as CSV")


def _row_of(pair: ModelPair, subject: Subject[Run], comparison: Comparison) -> tuple[object, ...]:
    estimates = [estimate for estimate in (comparison.a, comparison.b, comparison.difference) if estimate]
    counts = (comparison.verdicts.only_a, comparison.verdicts.only_b) if comparison.verdicts else ("", "")
    tested = (comparison.p, comparison.holm, comparison.benjamini_hochberg)
    intervals = (number for estimate in estimates for number in (estimate.value, estimate.low, estimate.high))
    numbers = (*intervals, *counts, comparison.difference.undefined, *tested)
    return (pair.a.name, pair.b.name, subject.title, comparison.n, *numbers, comparison.difference.method)
