"""Factors: accuracy and mean margin by a tag of the items, such as the distance of an agreement, or by two tags.

A tag whose values are numbers makes a curve.
"""

import re
from collections.abc import Iterator, Sequence
from math import isnan
from typing import Annotated, Literal

import numpy as np
import polars as pl

from syntagm.display import shown
from syntagm.drawing import axes, layers, panels
from syntagm.drawing.chart import Figure, Spec, finish
from syntagm.drawing.layers import layer
from syntagm.drawing.series import Series
from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import numbers, only, or_none, spoken
from syntagm.errors import UsageError
from syntagm.result import Kind
from syntagm.runs.several import having, named, titles
from syntagm.runs.store import Run
from syntagm.stats import interval
from syntagm.stats.bootstrap import FEW
from syntagm.views.clustered import OneSuite, labelled, spoken_by, unknown
from syntagm.views.options import Measure
from syntagm.views.scores.numbers import chance_of_suite, verdicts
from syntagm.views.scores.shared import shared_kind

SCHEMA = {
    "suite": pl.String, "measure": pl.String, "model": pl.String, "level": pl.String, "other": pl.String,
    "score": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "margin": pl.Float64,
    "margin_low": pl.Float64, "margin_high": pl.Float64, "ties": pl.Int64, "undefined": pl.Int64, "chance": pl.Float64,
}  # fmt: skip
COLUMNS = tuple(SCHEMA)
WIDTH, HEIGHT = 240, 180
Factor = Annotated[str, "a tag of the items (`distance`, `lemma`, ...), or `region:NAME`; two with a comma are crossed"]
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


def make_table(runs: Sequence[Run], by: Factor = "", suite: OneSuite = "", measure: Measure = "first") -> Table:
    """Make one row for each suite, model and value of the tag.

    Raises:
        UsageError: no suite has the tag, or more than two are given.
    """
    rows = values(runs, by, suite, measure)
    notes = (
        f"level, other: the values of {spoken_by(by)}. margin: the mean margin in bits, above 0 where the prediction holds; "
        "if several predictions count, the smallest of an item.",
        interval.notes()[0],
        f"Intervals are for other items; one from fewer than {FEW} items rests on few. Ties count as failures.",
    )
    empty = [name for name in ("other", "chance") if all(row[name] in ("", None) for row in rows.iter_rows(named=True))]
    kept = rows.drop(empty)
    cells: list[tuple[Cell, ...]] = [tuple(map(or_none, row)) for row in kept.iter_rows()]
    return Table(f"Accuracy by {spoken_by(by)}", tuple(kept.columns), tuple(cells), notes=notes)


def draw_figure(
    runs: Sequence[Run],
    by: Factor = "",
    suite: OneSuite = "",
    measure: Measure = "first",
    show: Annotated[Literal["accuracy", "margin"], "what is drawn: accuracy, or mean margin in bits"] = "accuracy",
) -> Figure:
    """Draw accuracy or mean margin by the tag: a panel for each suite and value of a second tag, a line for each model.

    Raises:
        UsageError: no suite has the tag, more than two are given, or there is no margin.
    """
    rows = values(runs, by, suite, measure)
    if show == "margin" and not rows["margin"].is_finite().any():
        raise UsageError("show=", f"margin, which {measure} doesn't have", "accuracy")
    first, _, second = by.partition(",")
    kinds = rows.select("suite", "other").unique(maintain_order=True).rows()
    models, kind = rows["model"].unique(maintain_order=True).to_list(), shared_kind(runs, measure)
    series = Series("model", [shown(name) for name in models], WIDTH * 2, len(models) > 1)
    plots = [
        _panel(rows.filter(suite=name, other=other), first, f"{second}: {other}" if other else "", series, show, kind)
        for name, other in kinds
    ]
    marks = f"95% intervals, for other items; dashed: {'chance' if show == 'accuracy' else 'no difference'}"
    called = "Mean" if show == "accuracy" and kind is not Kind.VERDICT else _CALLED[show]
    title = f"{called} by {spoken_by(by)}"
    return Figure(finish(panels.grid(plots, 2, 24), title, [*only(models), marks], offset=14), rows)


def values(runs: Sequence[Run], by: str, suite: str = "", measure: str = "first") -> pl.DataFrame:
    """Compute accuracy and mean margin for each suite, model and value of one tag or of two, as in `SCHEMA`.

    Values that are numbers are in their order, others in that of their first item.

    Raises:
        UsageError: no suite has the tag, or more than two are given.
    """
    tags = by.split(",")
    if not by or len(tags) > 2:
        raise unknown(runs, by) if not by else UsageError("by=", repr(by), "one tag of the items, or two")
    chosen = having(runs, suite) if suite else named(runs)
    rows = [row for model, run in chosen for row in _of_run(run, model, tags, suite, measure, titles(runs))]
    if not rows:
        raise unknown(runs, by, [suite] if suite else [])
    return pl.DataFrame(rows, schema=SCHEMA, orient="row").sort("suite", maintain_order=True)


def _of_run(
    run: Run, model: str, tags: Sequence[str], suite: str, measure: str, names: dict[tuple[str, str], str]
) -> Iterator[tuple[object, ...]]:
    for record in run.suites:
        if (suite and record.name != suite) or not record.predictions_for(measure):
            continue
        table: pl.DataFrame | None = verdicts(run, measure, record.name)
        for place, tag in enumerate(tags):
            found = labelled(run, record.name, table, tag) if table is not None else None
            table = found.rename({"label": _LEVELS[place]}) if found is not None else None
        if table is None:
            continue
        if "other" not in table.columns:
            table = table.with_columns(other=pl.lit(""))
        chance = chance_of_suite(record, measure).value
        for other in _ordered(table["other"]):
            for level in _ordered(table.filter(other=other)["level"]):
                items = table.filter(level=level, other=other)
                if len(items):
                    place_of = names[record.name, record.hash], measure, model, level, other
                    yield (*place_of, *_numbers(items, run.kind(measure), run.tolerance), chance)


def _numbers(items: pl.DataFrame, kind: Kind, tolerance: float) -> tuple[object, ...]:
    defined = items.filter(pl.col("value").is_not_nan())
    accuracy = interval.of_items(defined["value"].to_numpy(), kind)
    margins = defined["margin"].to_numpy()
    margins = margins[np.isfinite(margins)]
    bits = interval.of_numbers(margins)
    ties = int((defined["margin"].abs() <= tolerance).sum())
    return (
        interval.mean_of(defined["value"].to_numpy()), accuracy.low, accuracy.high, len(defined),
        interval.mean_of(margins), bits.low, bits.high, ties, len(items) - len(defined),
    )  # fmt: skip


def _ordered(labels: pl.Series) -> list[str]:
    found = labels.unique(maintain_order=True).to_list()
    return sorted(found, key=float) if _numeric(found) else found


def _numeric(labels: Sequence[str]) -> bool:
    return all(_NUMBER.fullmatch(label) for label in labels)


def _panel(rows: pl.DataFrame, tag: str, second: str, series: Series, show: str, kind: Kind) -> Spec:
    levels = _ordered(rows["level"])
    columns = _SHOWN[show]
    points = [_point(row, columns) for row in rows.iter_rows(named=True)]
    if curve := _numeric(levels):
        ticks = [float(level) for level in levels] if len(levels) <= 12 else None
        across = axes.quantity(
            "x", tag, {"nice": False, "zero": False}, grid=False, **({"values": ticks} if ticks else {})
        )
    else:
        across = axes.names("x", [shown(level) for level in levels], title=tag)
    for point in points:
        point["x"] = float(str(point["level"])) if curve else point["level"]
    if show == "accuracy":
        upright = axes.mean(kind, "accuracy" if kind is Kind.VERDICT else "mean")
        reference = rows["chance"][0]
    else:
        upright, reference = axes.quantity("value", "mean margin (bits)"), 0.0
    defined = [point for point in points if point["value"] is not None]
    place: Spec = {"x": across, "color": series.colour}
    dot = place | {"y": upright, "shape": series.shape, "description": {"field": "said"}}
    bounded = [point for point in defined if point["low"] is not None]
    drawn = [
        layer(layers.rule(opacity=0.45), place | axes.spread(upright), values=bounded),
        *([layer(layers.line(1.4), place | {"y": upright}, values=defined)] if curve else []),
        layer(layers.dot(45, 0.9), dot, values=defined),
        *([] if isnan(reference) else [layers.reference(reference, upright, "y", layers.dashed(opacity=0.6))]),
    ]
    title = panels.heading(shown(str(rows["suite"][0])), shown(second) if second else None)
    return {"title": title, "width": WIDTH, "height": HEIGHT, "layer": drawn}


def _point(row: dict[str, object], columns: Sequence[str]) -> dict[str, object]:
    value, low, high = (float(str(row[name])) for name in columns)
    found = {"value": value, "low": low, "high": high}
    description = f"{row['model']}, {row['level']}: {spoken(value, low, high)}, n={row['n']}"
    return {
        "model": shown(str(row["model"])), "level": shown(str(row["level"])), "said": shown(description),
        **numbers(found, *found),
    }  # fmt: skip


_LEVELS = ("level", "other")
_CALLED = {"accuracy": "Accuracy", "margin": "Mean margin"}
_SHOWN = {"accuracy": ("score", "low", "high"), "margin": ("margin", "margin_low", "margin_high")}
