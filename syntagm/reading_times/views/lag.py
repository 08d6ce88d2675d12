"""Reading times, lag: the effects of the next word, the word itself and the words before it on the time of a word."""

from collections.abc import Sequence

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.drawing.table import Table
from syntagm.reading_times.analyses import Analysis, rows_of
from syntagm.reading_times.views import _panels

COLUMNS = ("analysis", "model", "predictor", "words_back", "ms", "low", "high", "n")
SCHEMA = {
    "analysis": pl.String, "model": pl.String, "predictor": pl.String, "x": pl.Float64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
}  # fmt: skip
_MEANING = "ms: partial effect of one unit of the predictor, beside those of the other words; -1 is the next word"


def make_table(analyses: Sequence[Analysis]) -> Table:
    """Make a row for each analysis, model and distance of the word.

    Raises:
        UsageError: an analysis has no such effects.
    """
    rows = tuple(rows_of(analyses, "lag", COLUMNS[1:]))
    notes = (f"{_MEANING}.", "low, high: 95% interval of least squares, rows as independent.")
    return Table("Effects by lag", COLUMNS, rows, notes=notes)


def draw_figure(analyses: Sequence[Analysis]) -> Figure:
    """Draw a panel for each analysis, with a curve for each model; errors as for `make_table`."""
    subtitle = [
        "partial effects on the time of word 0; -1 is the next word",
        "bar: 95% interval of least squares, rows as independent",
    ]
    table = pl.DataFrame(rows_of(analyses, "lag", COLUMNS[1:]), schema=SCHEMA, orient="row")
    return _panels.draw(table, "words back", "ms per unit of the predictor", "Effects by lag", subtitle)
