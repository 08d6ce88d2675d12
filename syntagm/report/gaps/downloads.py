"""The numbers of runs over gaps as CSV inside the page: estimates, lemmas, contexts."""

from collections.abc import Iterator, Sequence

from markupsafe import Markup

from syntagm.report.downloads import link
from syntagm.report.gaps.scores import TAG
from syntagm.report.numbers import Column
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.views.gaps import kept

COLUMNS = ("model", "of", "name", "measure", "value", "low", "high", "n", "ties", "undefined", "method", "signature")
LEMMA_COLUMNS = ("model", "label", "lemma", "contexts", "won", "right", "wrong")


def estimates(columns: Sequence[Column[Run]]) -> Markup:
    """Every estimate of every run, at every cut-off."""
    return link("scores.csv", COLUMNS, (row for column in columns for row in _rows(column)), "all scores as CSV")


def _rows(column: Column[Run]) -> Iterator[tuple[object, ...]]:
    for (suite, measure), one in column.accuracies.items():
        yield (*_row(column, "suite", suite, one), column.run.signature(suite, measure))
    for (name, _), one in column.pooled.items():
        yield (*_row(column, TAG, name, one), "")


def _row(column: Column[Run], kind: str, name: str, one: Estimate) -> tuple[object, ...]:
    numbers = (one.value, one.low, one.high, one.n, one.ties, one.undefined)
    return (column.name, kind, name, one.group.measure, *numbers, one.method)


def lemmas(columns: Sequence[Column[Run]], suite: str, stem: str) -> Markup:
    """The sums of every lemma in one suite."""
    tables = ((column, kept.lemmas(column.run, suite).select(LEMMA_COLUMNS[1:])) for column in columns)
    rows = ((column.name, *row) for column, table in tables for row in table.iter_rows())
    return link(f"{stem}-lemmas.csv", LEMMA_COLUMNS, rows, "every lemma as CSV")


def contexts(columns: Sequence[Column[Run]], suite: str, stem: str) -> Markup:
    """Every context of one suite, with its numbers at no cut-off."""
    shown = ("item", "left", "right", "label", "items", "eligible", "equal_weight", "model_weight", "covered")
    tables = ((column, kept.contexts(column.run, suite).select(shown)) for column in columns)
    rows = ((column.name, *row) for column, table in tables for row in table.iter_rows())
    return link(f"{stem}-contexts.csv", ("model", *shown), rows, "every context as CSV")
