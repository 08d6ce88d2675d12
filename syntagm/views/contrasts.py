"""Differences between two kinds of suites: a dot a model with its interval; right of 0 the first kind is easier."""

from collections.abc import Sequence
from math import nan

import polars as pl

from syntagm.drawing import dots as _dots
from syntagm.drawing.chart import Figure, finish, only
from syntagm.result import Estimate

SCHEMA = {
    "contrast": pl.String, "model": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64, "method": pl.String,
}  # fmt: skip
WIDTH = 440


def draw(
    found: Sequence[Estimate],
    title: str = "",
    axis: str = "difference of accuracies",
    subtitle: str
    | Sequence[str] = "right of 0: the first kind is easier; 95% interval: items drawn anew within suites",
) -> Figure:
    """The figure, differences and models in the order of first appearance.

    Arguments:
        found: one a difference and model; groups have the label `contrast` and the model.
        axis: what the numbers are.
    """
    rows = [
        (one.group["contrast"], one.group.model, one.value, one.low, one.high, one.n, one.ties, one.undefined, one.method)
        for one in found
    ]  # fmt: skip
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    series = list(dict.fromkeys(table["model"]))
    most = {name: max(table.filter(pl.col("contrast") == name)["n"]) for name in dict.fromkeys(table["contrast"])}
    dots = [
        {
            **row,
            "name": f"{row['contrast']} (n = {most[row['contrast']]:,})",
            "series": row["model"],
            "note": "",
            "said": said,
        }
        for row in table.iter_rows(named=True)
        for said in [_dots.said({**row, "name": row["contrast"], "series": row["model"]})]
    ]
    channel = _dots.difference(axis, [*table["value"], *table["low"], *table["high"]], WIDTH)
    spec = _dots.panel(dots, channel, "", 0.0 if len(table) else nan, series, WIDTH, key=len(series) > 1)
    lines = [subtitle] if isinstance(subtitle, str) else list(subtitle)
    return Figure(finish(spec, title, [*lines, *only(series)]), table)
