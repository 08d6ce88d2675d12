"""Class scores: the mean score over suites of each model class as a dot with its interval, and chance as a dashed line."""

from collections.abc import Sequence
from math import isnan, nan

import polars as pl

from syntagm.drawing import dots
from syntagm.drawing.chart import Figure, Spec, finish
from syntagm.runs.store import Run
from syntagm.views.scores import compute as estimates

SCHEMA = {
    "model": pl.String, "kind": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
    "method": pl.String,
}  # fmt: skip


def draw(table: pl.DataFrame, chance: float = nan, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """The figure: a panel a kind of model, in each the highest score first.

    Arguments:
        table: columns as in `SCHEMA`. `kind` is the heading of a panel; empty where all models are of one kind.
        chance: what independent draws would score; nan where it isn't known.
    """
    ordered = table.sort(pl.col("value").fill_nan(None), descending=True, nulls_last=True, maintain_order=True)
    kinds = list(dict.fromkeys(table["kind"]))
    panels = [_panel(ordered.filter(pl.col("kind") == kind), kind, kinds, chance) for kind in kinds]
    spec: Spec = {"vconcat": panels, "spacing": 14, "resolve": {"scale": {"color": "independent"}}}
    line = [] if isnan(chance) else [f"dashed line: chance, {chance:.3f}"]
    return Figure(
        finish(spec, title, [*subtitle, *line]), ordered.select(list(SCHEMA)).with_columns(chance=pl.lit(chance))
    )


def _panel(rows: pl.DataFrame, kind: str, kinds: Sequence[str], chance: float) -> Spec:
    values = [
        {**row, "name": row["model"], "series": kind, "note": f"{row['value']:.3f} (n = {row['n']})"}
        for row in rows.iter_rows(named=True)
    ]
    told = [{**row, "said": dots.said(row)} for row in values]
    last = kind == kinds[-1]
    return dots.panel(told, dots.proportion("SG score" if last else ""), kind, chance, kinds)


def draw_figure(runs: Sequence[Run]) -> Figure:
    """The mean of the accuracies of all suites of some runs, one model each; items are redrawn within suites."""
    found = [(one, estimates.chance_of(run, one).value) for run in runs for one in estimates.scores(run)]
    rows = [(one.group.model, "", one.value, one.low, one.high, one.n, one.method) for one, _ in found]
    chances = {chance for _, chance in found}
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    subtitle = [
        "mean of the suites' accuracies (first prediction)",
        "95% interval: items redrawn within suites; n: items",
    ]
    return draw(table, chances.pop() if len(chances) == 1 else nan, "Scores of models", subtitle)
