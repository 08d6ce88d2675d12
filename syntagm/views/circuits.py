"""Circuit scores: a small panel a circuit, that is, a group of suites, and in each the same models or corpora as dots."""

from collections.abc import Sequence
from math import nan
from typing import Annotated

import polars as pl

from syntagm.drawing import axes, dots, panels
from syntagm.drawing.chart import Figure, finish
from syntagm.runs.store import Run
from syntagm.views.scores.numbers import scores

SCHEMA = {
    "circuit": pl.String, "name": pl.String, "series": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "method": pl.String,
}  # fmt: skip
COLUMNS = 3
WIDTH = 190


def draw(
    table: pl.DataFrame, measure: str, title: str = "", subtitle: Sequence[str] = (), series: Sequence[str] = ()
) -> Figure:
    """Draw circuits by name, names in the order of first appearance.

    Arguments:
        table: columns as in `SCHEMA`; `series` tells rows of one name apart, or kinds of names.
        measure: "score" (from 0 to 1) or "score delta" (0 is the mean of all models).
        series: the order of the series, if not that of first appearance.
    """
    circuits = sorted(set(table["circuit"]))
    series = series or list(dict.fromkeys(table["series"]))
    delta = measure != "score"
    spread = [*table["value"], *table["low"], *table["high"]]
    axis = axes.difference(measure, spread, WIDTH) if delta else axes.proportion(measure)
    parts = [
        dots.panel(
            _rows(table, circuit), axis, circuit, 0.0 if delta else nan, series, WIDTH,
            labels=not at % COLUMNS, key=len(series) > 1 and at == 0,
        )
        for at, circuit in enumerate(circuits)
    ]  # fmt: skip
    return Figure(finish(panels.grid(parts, COLUMNS, 16), title, subtitle), table.select(list(SCHEMA)))


def _rows(table: pl.DataFrame, circuit: str) -> list[dict[str, object]]:
    """The rows of a circuit; a name that has no number there keeps its place."""
    chosen = {
        (row["name"], row["series"]): row for row in table.filter(pl.col("circuit") == circuit).iter_rows(named=True)
    }
    keys = dict.fromkeys(zip(table["name"], table["series"], strict=True))
    empty = {"value": nan, "low": nan, "high": nan, "n": 0}
    rows = [chosen.get(key, {"name": key[0], "series": key[1], **empty}) for key in keys]
    return [{**row, "note": "", "said": dots.said(row)} for row in rows]


def draw_figure(runs: Sequence[Run], tag: Annotated[str, "a tag of the suites"] = "circuit") -> Figure:
    """Draw the scores of some runs by circuit, or by another tag of the suites; items are redrawn within suites."""
    rows = [
        (one.group[tag], one.group.model, "", one.value, one.low, one.high, one.n, one.method)
        for run in runs
        for one in scores(run, tag=tag)
    ]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    subtitle = ["mean of the suites' accuracies (first prediction); 95% interval: items redrawn within suites"]
    return draw(table, "score", f"Scores by {tag}", subtitle)
