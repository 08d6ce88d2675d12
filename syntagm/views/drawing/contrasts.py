"""Dot plots of differences between two kinds of suites or questions.

Each model has a dot with its interval. To the right of 0, the first kind is easier.
"""

from collections.abc import Sequence
from math import nan

import polars as pl

from syntagm.evaluation import Estimate
from syntagm.views.drawing import dots, vega
from syntagm.views.drawing.chart import Figure, finish
from syntagm.views.drawing.text import lines, only, remarks_on

SCHEMA = {
    "contrast": pl.String, "model": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH = 440


def draw(estimates: Sequence[Estimate], title: str, axis: str, subtitle: Sequence[str]) -> Figure:
    """Draw one row for each contrast, in the order of first appearance."""
    rows = [(each.group["contrast"], each.group.model, *each.numbers, each.method) for each in estimates]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    series = list(dict.fromkeys(table["model"]))
    points = [{**row, "name": row["contrast"], "series": row["model"]} for row in table.iter_rows(named=True)]
    described = [{**row, "said": dots.describe(row)} for row in points]
    values = dots.with_counts(described, lambda row: [f"n = {row['n']:,}"])
    channel = vega.difference(axis, [*table["value"], *table["low"], *table["high"]], WIDTH)
    spec = dots.panel(values, channel, "", 0.0 if len(table) else nan, series, WIDTH, key=len(series) > 1)
    return Figure(finish(spec, title, [*subtitle, *only(series), *lines(remarks_on(estimates))]), table)
