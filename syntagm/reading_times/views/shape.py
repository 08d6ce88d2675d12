"""Reading times, shape: the curve of the effect of surprisal, a penalised spline beside the other predictors."""

from collections.abc import Sequence

import polars as pl

from syntagm.reading_times.analyses import Analysis, rows_of
from syntagm.reading_times.views import _panels
from syntagm.reading_times.views.lag import SCHEMA
from syntagm.views import Figure, Table

__all__ = ["COLUMNS", "SCHEMA", "draw_figure", "make_table"]

COLUMNS = ("analysis", "model", "predictor", "at", "ms", "low", "high", "n")
_TESTS = ("model", "column", "f", "first", "second", "p", "edf")


def make_table(analyses: Sequence[Analysis]) -> Table:
    """Make a row for each analysis, model and place on the curve.

    Raises:
        UsageError: an analysis has no curve.
    """
    rows = tuple(rows_of(analyses, "shape", COLUMNS[1:]))
    return Table("Shape of the effect", COLUMNS, rows, notes=notes(analyses))


def notes(analyses: Sequence[Analysis]) -> tuple[str, ...]:
    """Return what stands below the table: the meaning of its columns, and tests of linearity where there are some."""
    tests = [
        f"{one.name}, {model}, {column}: linearity F({first}, {second}) = {f:.2f}, p {_p(p)}; effective degrees of freedom "
        f"{edf:.2f}."
        for one in analyses
        for model, column, f, first, second, p, edf in one.rows("linearity", _TESTS)
        if f is not None
    ]
    return (
        "ms: the difference of the predicted time from that at the median of the predictor.",
        "Fitted by penalised least squares of times with the baseline, whatever --model of the analysis.",
        "low, high: 95% interval at each place, rows as independent.",
        *tests,
    )


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"


def draw_figure(analyses: Sequence[Analysis]) -> Figure:
    """Draw a panel for each analysis, with a curve for each model; errors as for `make_table`."""
    subtitle = [
        "penalised natural cubic spline beside the other predictors",
        "bar: 95% interval at each place, rows as independent",
    ]
    table = pl.DataFrame(rows_of(analyses, "shape", COLUMNS[1:]), schema=SCHEMA, orient="row")
    across = " or ".join(dict.fromkeys(table["predictor"]))
    return _panels.draw(table, across, "difference in ms from the median", "Shape of the effect", subtitle)
