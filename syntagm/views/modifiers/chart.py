"""Modifier stability: scores of suites without and with intervening modifiers, side by side."""

from collections.abc import Sequence
from math import nan

import polars as pl

from syntagm.drawing import dots
from syntagm.drawing.chart import Figure, Spec, finish
from syntagm.errors import RunError
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.views.modifiers.compute import MODIFIED, PLAIN
from syntagm.views.scores import compute as estimates

SCHEMA = {
    "model": pl.String, "kind": pl.String, "modifier": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "method": pl.String,
}  # fmt: skip
# Suites of the collection hu2020 -> the same with modifiers.
PAIRS = {
    "center_embed": "center_embed_mod", "cleft": "cleft_modifier", "mvrr": "mvrr_mod", "npz_ambig": "npz_ambig_mod",
    "npz_obj": "npz_obj_mod",
}  # fmt: skip


def draw(table: pl.DataFrame, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """The figure: a panel a kind of model, in each the highest score without modifier first; at the right the difference.

    Arguments:
        table: columns as in `SCHEMA`; `modifier` is `PLAIN` or `MODIFIED`.
    """
    kinds = list(dict.fromkeys(table["kind"]))
    plain = dict(table.filter(pl.col("modifier") == PLAIN).select("model", "value").iter_rows())
    order = sorted(plain, key=lambda model: -plain[model])
    panels = [
        dots.panel(
            [row for model in order for row in _rows(table.filter(pl.col("kind") == kind), model)],
            dots.proportion("mean suite score" if kind == kinds[-1] else ""),
            kind, nan, (PLAIN, MODIFIED), key=kind == kinds[0],
        )
        for kind in kinds
    ]  # fmt: skip
    spec: Spec = {"vconcat": panels, "spacing": 14}
    return Figure(finish(spec, title, subtitle), table.select(list(SCHEMA)))


def _rows(table: pl.DataFrame, model: str) -> list[dict[str, object]]:
    found = table.filter(pl.col("model") == model).rows(named=True)
    values = {row["modifier"]: row["value"] for row in found}
    change = dots.signed(values.get(MODIFIED, nan) - values.get(PLAIN, nan))
    return [
        {
            **row, "name": model, "series": row["modifier"],
            "note": f"{change} (n = {row['n']:,})" if row["modifier"] == MODIFIED else "",
            "said": dots.said({**row, "name": model, "series": row["modifier"]}),
        }
        for row in found
    ]  # fmt: skip


def draw_figure(runs: Sequence[Run]) -> Figure:
    """The figure of some runs of the collection hu2020, or of other suites of these names.

    Raises:
        RunError: no run has a suite and its modified version.
    """
    rows = [(run.model, "", *row) for run in runs for row in _of_run(run)]
    if not rows:
        raise RunError(str(runs[0].folder) if runs else "", "no suite with its modified version", "those of hu2020")
    subtitle = [
        "mean of the suites' accuracies; 95% interval: items redrawn within suites",
        "at the right: with minus without; n: items with modifiers",
    ]
    return draw(pl.DataFrame(rows, schema=SCHEMA, orient="row"), "Scores without and with modifiers", subtitle)


def _of_run(run: Run) -> list[tuple[object, ...]]:
    there = {suite.name for suite in run.suites}
    pairs = {plain: other for plain, other in PAIRS.items() if {plain, other} <= there}
    labels = dict.fromkeys(pairs, PLAIN) | dict.fromkeys(pairs.values(), MODIFIED)
    found = score.score(
        run.results(), estimates.predictions(run, "first"), run.tolerance, tag="modifier", labels=labels
    )
    return [(one.group["modifier"], one.value, one.low, one.high, one.n, one.method) for one in found]
