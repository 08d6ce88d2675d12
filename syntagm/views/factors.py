"""Factors: accuracy and mean margin by a tag of the items, such as the distance of an agreement, or by two tags.

A tag whose values are numbers makes a curve.
"""

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import polars as pl

from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.runs import Run, ties_of, units
from syntagm.stats import FEW, in_words
from syntagm.views.clustered import OneSuite
from syntagm.views.drawing import curves, vega
from syntagm.views.drawing.chart import Figure
from syntagm.views.drawing.table import Table
from syntagm.views.estimates import shared_kind
from syntagm.views.options import Measure
from syntagm.views.quantity import numeric, spoken_by, tabulated, tagged

SCHEMA = {
    "suite": pl.String, "measure": pl.String, "model": pl.String, "level": pl.String, "other": pl.String,
    "score": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "margin": pl.Float64,
    "margin_low": pl.Float64, "margin_high": pl.Float64, "ties": pl.Int64, "undefined": pl.Int64, "chance": pl.Float64,
}  # fmt: skip
COLUMNS = tuple(SCHEMA)
Factor = Annotated[
    str, "a tag (`distance`, `lemma`, ...), `region:NAME` or `exposure:FILE`; two with a comma are crossed"
]


def make_table(runs: Sequence[Run], by: Factor = "", suite: OneSuite = "", measure: Measure = "first") -> Table:
    """Make one row for each suite, model and value of the tag.

    Raises:
        UsageError: no suite has the tag, or more than two are given.
    """
    rows, methods = values(runs, by, suite, measure)
    notes = (
        f"level, other: the values of {spoken_by(by)}. margin: the mean margin in {units(runs, measure)}, above 0 where the "
        "prediction holds; if several predictions count, the smallest of an item.",
        *in_words.intervals(methods),
        f"An interval from fewer than {FEW} items rests on few. Ties count as {ties_of(runs, measure, suite)}.",
    )
    return tabulated(f"Accuracy by {spoken_by(by)}", rows, notes, ("other", "chance"))


def draw_figure(
    runs: Sequence[Run],
    by: Factor = "",
    suite: OneSuite = "",
    measure: Measure = "first",
    show: Annotated[Literal["accuracy", "margin"], "what is drawn: accuracy, or mean margin"] = "accuracy",
) -> Figure:
    """Draw accuracy or mean margin by the tag: a panel for each suite and value of a second tag, a line for each model.

    Raises:
        UsageError: no suite has the tag, more than two are given, or there is no margin.
    """
    rows, _ = values(runs, by, suite, measure)
    if show == "margin" and not rows["margin"].is_finite().any():
        raise UsageError("show=", f"margin, which {measure} doesn't have", "accuracy")
    first, _, second = by.partition(",")
    kind = shared_kind(runs, measure)
    drawn = [
        _panel(rows.filter(suite=name, other=other), first, f"{second}: {other}" if other else "", show)
        for name, other in rows.select("suite", "other").unique(maintain_order=True).iter_rows()
    ]
    if show == "margin":
        upright, called, dashed = (
            vega.quantity("value", f"mean margin ({units(runs, measure)})"),
            "Mean margin",
            "no difference",
        )
    else:
        called = "Accuracy" if kind is Kind.VERDICT else "Mean"
        upright, dashed = vega.mean(kind, called.lower()), "chance"
    marks = f"95% intervals, for other items; dashed: {dashed}"
    return curves.draw(drawn, upright, f"{called} by {spoken_by(by)}", [marks], rows)


def _panel(rows: pl.DataFrame, tag: str, second: str, show: str) -> curves.Panel:
    reference = rows["chance"][0] if show == "accuracy" else 0.0
    levels = rows["level"].to_list()
    # Python reads the digits of every script; polars doesn't.
    places = pl.Series("x", [*map(float, levels)] if numeric(levels) else levels)
    shown = rows.select("model", "n", places, **_SHOWN[show])
    return curves.Panel(shown, tag, rows["suite"][0], second, reference)


def values(runs: Sequence[Run], by: str, suite: str = "", measure: str = "first") -> tuple[pl.DataFrame, list[str]]:
    # Values that are numbers are in their order, others in that of their first item.
    items = tagged(runs, by, measure, [suite] if suite else [])
    keys = ("suite", "model", *reversed(items.properties))
    of_margins = items.margins.estimates(*keys)
    margins = of_margins.select(*keys, margin="value", margin_low="low", margin_high="high")
    # An item without a margin has a value nevertheless.
    found = items.estimates(*keys).join(margins, on=keys, how="left", maintain_order="left")
    chances = dict(items.rows.select("suite", "chance").unique("suite", keep="first").iter_rows())
    rows = found.select(
        "suite", pl.lit(measure).alias("measure"), "model", level="tag1",
        other="tag2" if len(items.properties) > 1 else pl.lit(""), score="value", low="low", high="high", n="n",
        margin=pl.col("margin").fill_null(math.nan), margin_low=pl.col("margin_low").fill_null(math.nan),
        margin_high=pl.col("margin_high").fill_null(math.nan), ties="ties", undefined="undefined",
        chance=pl.col("suite").replace_strict(chances, return_dtype=pl.Float64),
    ).sort("suite", maintain_order=True)  # fmt: skip
    return rows, [*found["method"], *of_margins["method"]]


_SHOWN: dict[str, dict[str, str]] = {
    "accuracy": {"value": "score", "low": "low", "high": "high"},
    "margin": {"value": "margin", "low": "margin_low", "high": "margin_high"},
}
