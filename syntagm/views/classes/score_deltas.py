"""Score deltas: how far model classes, and corpora, are above what all models score on the same suites."""

from collections.abc import Sequence

import polars as pl

from syntagm.drawing import dots
from syntagm.drawing.chart import Figure, Spec, finish

SCHEMA = {
    "by": pl.String, "name": pl.String, "series": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "units": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH = 300


def draw(table: pl.DataFrame, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """The figure: a panel for each value of `by`, rows in the order given.

    Arguments:
        table: columns as in `SCHEMA`; `by` is the heading of a panel, `series` tells rows of one name apart.
    """
    axis = dots.difference("score delta", [*table["value"], *table["low"], *table["high"]], WIDTH)
    panels = []
    for by in dict.fromkeys(table["by"]):
        rows = [_row(row) for row in table.filter(pl.col("by") == by).iter_rows(named=True)]
        series = list(dict.fromkeys(str(row["series"]) for row in rows))
        panels.append(dots.panel(rows, axis, by, 0.0, series, WIDTH, key=len(series) > 1))
    scales = {"color": "independent", "shape": "independent"}
    spec: Spec = {"vconcat": panels, "spacing": 18, "resolve": {"scale": scales, "legend": scales}}
    return Figure(finish(spec, title, subtitle), table.select(list(SCHEMA)))


def _row(row: dict[str, object]) -> dict[str, object]:
    return {**row, "note": f"{dots.signed(float(str(row['value'])))} (n = {row['n']:,})", "said": dots.said(row)}
