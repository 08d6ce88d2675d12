"""Links in the page that save the numbers of fill runs as CSV: estimates, lemmas and contexts."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from syntagm.evaluation import Estimate
from syntagm.report.downloads import link
from syntagm.report.gaps.scores import TAG
from syntagm.report.numbers import Column
from syntagm.runs import Run
from syntagm.views import gaps

COLUMNS = ("model", "of", "name", "measure", "value", "low", "high", "n", "ties", "undefined", "method", "signature")
LEMMA_COLUMNS = ("model", "label", "lemma", "contexts", "won", "right", "wrong")


def link_estimates(columns: Sequence[Column[Run]]) -> Markup:
    """Return a link to every estimate of every run, at every cut-off."""
    return link("scores.csv", COLUMNS, (row for column in columns for row in _rows(column)), "all scores as CSV")


def _rows(column: Column[Run]) -> Iterator[tuple[object, ...]]:
    for (suite, measure), estimate in column.accuracies.items():
        yield (*_row(column, "suite", suite, estimate), column.run.signature(suite, measure))
    for (name, _), estimate in column.pooled.items():
        yield (*_row(column, TAG, name, estimate), "")


def _row(column: Column[Run], kind: str, name: str, estimate: Estimate) -> tuple[object, ...]:
    numbers = (estimate.value, estimate.low, estimate.high, estimate.n, estimate.ties, estimate.undefined)
    return (column.name, kind, name, estimate.group.measure, *numbers, estimate.method)


def link_lemmas(columns: Sequence[Column[Run]], suite: str, stem: str) -> Markup:
    """Return a link to the sums of every lemma in a suite."""
    tables = ((column, gaps.lemma_sums(column.run, suite).select(LEMMA_COLUMNS[1:])) for column in columns)
    rows = ((column.name, *row) for column, table in tables for row in table.iter_rows())
    return link(f"{stem}-lemmas.csv", LEMMA_COLUMNS, rows, "every lemma as CSV")


def link_contexts(columns: Sequence[Column[Run]], suite: str, stem: str) -> Markup:
    """Return a link to every context of a suite, with its values without a cut-off."""
    shown = ("item", "left", "right", "label", "items", "eligible", "equal_weight", "model_weight", "covered")
    tables = ((column, gaps.contexts(column.run, suite).select(shown)) for column in columns)
    rows = ((column.name, *row) for column, table in tables for row in table.iter_rows())
    return link(f"{stem}-contexts.csv", ("model", *shown), rows, "every context as CSV")
