"""Reading times, lag: the effects of the next word, the word itself and the words before it on the time of a word."""

from collections.abc import Sequence

import polars as pl

from syntagm.reading_times.analyses import Analysis, rows_of
from syntagm.reading_times.views import _panels
from syntagm.views import Figure, Table

COLUMNS = ("analysis", "model", "predictor", "words_back", "ms", "low", "high", "n", "unit")
SCHEMA = {
    "analysis": pl.String, "model": pl.String, "predictor": pl.String, "x": pl.Float64, "value": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
}  # fmt: skip
# What an earlier version estimated, whatever the model of the analysis.
_EARLIER = "least squares of the words alone, without the baseline, rows as independent (an earlier version: fit again)"


def make_table(analyses: Sequence[Analysis]) -> Table:
    """Make a row for each analysis, model and distance of the word: the slopes of the model that was fitted.

    Raises:
        UsageError: an analysis has no such effects.
    """
    rows = tuple((*row[:-1], row[-1] or "ms per unit") for row in rows_of(analyses, "lag", COLUMNS[1:]))
    notes = (
        "ms: effect of one unit of the predictor; -1 is the next word.",
        *_methods(analyses), "low, high: 95% interval.",
    )  # fmt: skip
    fine = ("ms", "low", "high") if any(str(row[-1]).startswith("log") for row in rows) else ()
    return Table("Effects by lag", COLUMNS, rows, notes=notes, fine=fine)


def _methods(analyses: Sequence[Analysis]) -> list[str]:
    return [
        f"{one.name}: {f'the model that was fitted, with the next word added for -1: {method}' if method else _EARLIER}."
        for one in analyses
        for method in dict.fromkeys(method for (method,) in one.rows("lag", ("method",)))
    ]


def draw_figure(analyses: Sequence[Analysis]) -> Figure:
    """Draw a panel for each analysis, with a curve for each model; errors as for `make_table`."""
    made = make_table(analyses)
    earlier = (line for line in _methods(analyses) if _EARLIER in line)
    subtitle = ["effects on the time of word 0; -1 is the next word", *earlier, "bar: 95% interval"]
    table = pl.DataFrame([row[:-1] for row in made.rows], schema=SCHEMA, orient="row")
    table = table.with_columns(pl.col("low", "high").fill_null(float("nan")))
    units = " or ".join(dict.fromkeys(str(row[-1]) for row in made.rows))
    return _panels.draw(table, "words back", units, "Effects by lag", subtitle, 6 if made.fine else 3)
