"""Curves: numbers with intervals over an axis, with a colour for each model, in panels side by side.

    panels = [Panel(rows, "words of the sentence", "Agreement", reference=0.5)]
    draw(panels, vega.proportion("accuracy"), "Accuracy by length", ["bar: 95% interval"], table)

Positions that are numbers are joined by lines; texts are places on the axis, in the order of their rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import polars as pl

from syntagm.core import shown
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import GREY, Figure, Spec, finish
from syntagm.views.drawing.text import only
from syntagm.views.drawing.vega import Row, Series, estimated, layer, point

WIDTH, HEIGHT, COLUMNS = 270, 190, 2
# Up to so many positions that are whole numbers have a tick each.
_TICKS = 12


def say(row: Row, digits: int = 3) -> str:
    """Say the model of a row, its place, and its number with so many decimals."""
    place = row["x"] if isinstance(row["x"], str) else f"{row['x']:,.10g}"
    return f"{row['model']}, {place}: {estimated(row, digits=digits)}"


@dataclass(frozen=True, slots=True)
class Panel:
    rows: pl.DataFrame
    across: str  # the title of the horizontal axis
    title: str = ""  # `title`, `subtitle`: the heading; without a title there is none
    subtitle: str = ""
    reference: float = nan  # where a dashed line is, such as chance; nan for none
    said: Callable[[Row], str] = say  # what screen readers say of a row


def draw(drawn: Sequence[Panel], upright: Spec, title: str, subtitle: Sequence[str], rows: pl.DataFrame) -> Figure:
    models = list(dict.fromkeys(name for panel in drawn for name in panel.rows["model"]))
    names = [shown(name) for name in models]
    plots = [
        _panel(panel, models, upright, Series("model", names, WIDTH * COLUMNS, at == 0 and len(names) > 1))
        for at, panel in enumerate(drawn)
    ]
    return Figure(finish(vega.grid(plots, COLUMNS, 26), title, [*subtitle, *only(names)], offset=14), rows)


def _panel(panel: Panel, models: Sequence[str], upright: Spec, series: Series) -> Spec:
    values = [point(row, panel.said(row), "model", "x") for row in panel.rows.iter_rows(named=True)]
    width = WIDTH
    if joined := panel.rows["x"].dtype.is_numeric():
        across = _numbers(panel, values, models)
    else:
        places = [shown(name) for name in dict.fromkeys(panel.rows["x"])]
        # Upright labels need the height of a line each; dots of several models stand side by side.
        width = max(WIDTH, max(15, 6 * len(models)) * len(places))
        across = vega.names("x", places, title=panel.across, labelPadding=6)
    spec: Spec = {
        "width": width,
        "height": HEIGHT,
        "layer": marks(values, across, upright, series, panel.reference, joined),
    }
    if not panel.title:
        return spec
    return {"title": vega.heading(panel.title, shown(panel.subtitle) if panel.subtitle else None), **spec}


def _numbers(panel: Panel, values: Sequence[dict[str, Any]], models: Sequence[str]) -> Spec:
    """Return the axis of positions that are numbers. Dots of several models at one position are moved apart."""
    places = sorted(set(panel.rows["x"]))
    if len(places) < len(values):
        step = 0.02 * (places[-1] - places[0]) / max(len(models) - 1, 1)
        for value, model in zip(values, panel.rows["model"], strict=True):
            value["x"] += (models.index(model) - (len(models) - 1) / 2) * step
    few = len(places) <= _TICKS and all(float(place).is_integer() for place in places)
    ticks: Spec = {"values": places} if few else {"tickCount": 6}
    scale: Spec = {"zero": False, "nice": False, "padding": 6} if few else {"zero": False, "nice": True}
    return vega.quantity("x", panel.across, scale, grid=False, **ticks)


def marks(
    values: Sequence[dict[str, Any]],
    across: Spec,
    upright: Spec,
    series: Series,
    reference: float = nan,
    joined: bool = True,
) -> list[Spec]:
    """Make the layers of points with intervals: a dashed line of reference, bars, lines and dots."""
    defined = [value for value in values if value["value"] is not None]
    bounded = [value for value in defined if value["low"] is not None]
    place: Spec = {"x": across, "color": series.colour}
    # Side by side only if places have several models: a model that is a place itself stays above its label.
    if across["type"] == "nominal" and len({value["x"] for value in values}) < len(values):
        place["xOffset"] = series.place
    dot = place | {"y": upright, "shape": series.shape, "description": {"field": "said"}}
    return [
        *([] if isnan(reference) else [vega.reference(reference, upright, "y", vega.dashed(GREY))]),
        layer(vega.rule(opacity=0.45), place | vega.spread(upright), values=bounded),
        *([layer(vega.line(1.6), place | {"y": upright}, values=defined)] if joined else []),
        layer(vega.dot(45), dot, values=defined),
    ]
