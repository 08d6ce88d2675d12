"""The figure of trajectories: curves along checkpoints, and a level with the points where it is reached."""

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np
import polars as pl

from syntagm.core import counted, shown
from syntagm.runs import Run
from syntagm.stats import trajectory
from syntagm.views.checkpoints import (
    AtLevel,
    Curve,
    Names,
    Panels,
    Scale,
    X,
    about,
    band,
    curves_of,
    level_of,
    limits,
    panels_by,
)
from syntagm.views.drawing import axes, layers, panels
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.layers import layer
from syntagm.views.drawing.points import estimated, point
from syntagm.views.drawing.series import Series
from syntagm.views.drawing.text import distinct, lines, readable
from syntagm.views.options import Measure

SCHEMA: dict[str, Any] = {
    "group": pl.String, "series": pl.String, "at": pl.Float64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "sd": pl.Float64, "n": pl.Int64, "runs": pl.Int64, "suites": pl.Int64, "level": pl.Float64, "chance": pl.Float64,
}  # fmt: skip
WIDTH, HEIGHT, COLUMNS = 210, 150, 3


def draw_figure(
    runs: Sequence[Run],
    x: X = "",
    series: Names = (),
    by: Panels = "auto",
    measure: Measure = "first",
    level: AtLevel = None,
    scale: Scale = "log",
) -> Figure:
    """Draw the curves, with one panel for each group of suites.

    Raises:
        UsageError: the position of a run is unknown, or is 0 on a logarithmic scale.
    """
    places, curves = curves_of(runs, x, series, panels_by(runs, by), measure, scale)
    levels = {curve.group: level_of(level, curve) for curve in curves}
    name = "" if level is None else str(level)
    return draw(curves, levels, places.title, list(about(places, scale)), scale == "linear", name)


def draw(
    curves: Sequence[Curve], levels: dict[str, float], axis: str = "", notes: Sequence[str] = (), linear: bool = False,
    level: str = "",
) -> Figure:  # fmt: skip
    table = pl.DataFrame(
        [row for curve in curves for row in _rows(curve, levels[curve.group])], schema=SCHEMA, orient="row"
    )
    names = distinct(table["series"])
    groups = list(dict.fromkeys(curve.group for curve in curves))
    places = sorted({at for curve in curves for at in curve.at})
    plots = [
        _panel(
            [curve for curve in curves if curve.group == group],
            levels[group],
            Series("series", list(names.values()), WIDTH * COLUMNS, at == 0 and len(names) > 1),
            names,
            _across(places, axis, linear),
            linear,
        )
        for at, group in enumerate(groups)
    ]
    several = max(max(curve.runs) for curve in curves) > 1
    subtitle = [f"band: {band(curves)}; dot: {'mean over runs, small dots: runs' if several else 'score'}"]
    subtitle += [f"dashed: {level}; ring: first crossing from below"] if level else []
    subtitle += lines(limits(curves))
    spec = panels.grid(plots, min(COLUMNS, max(1, len(plots))), 22)
    return Figure(finish(spec, "Scores along checkpoints", [*subtitle, *notes], offset=14), table)


def _rows(curve: Curve, level: float) -> list[tuple[object, ...]]:
    numbers = np.column_stack([curve.values, curve.low, curve.high, curve.sd]).tolist()
    return [
        (curve.group, curve.series, at, *numbers[k], curve.n[k], curve.runs[k], curve.suites, level, curve.chance)
        for k, at in enumerate(curve.at)
    ]


def _across(places: Sequence[float], title: str, linear: bool) -> Spec:
    low, high = places[0], places[-1]
    if linear:
        edge = (high - low) * 0.05 or 1.0
        scale = {"domain": [low - edge, high + edge], "nice": False, "zero": False}
        return axes.quantity("at", title, scale, format=".3~s", grid=False, tickCount=4)
    domain = (low / 1.25, high * 1.25)
    return axes.logarithmic("at", f"{title} (logarithmic)", domain, _ticks(places), format=".3~s", grid=False)


def _ticks(places: Sequence[float]) -> list[float]:
    """Choose ticks among the positions: at most about five, so that they can be read.

    >>> _ticks([1, 2, 4, 8, 16, 32, 64])
    [1, 4, 16, 64]
    """
    from math import log

    apart = log(places[-1] / places[0]) / 5 if places[-1] > places[0] else 1.0
    kept = [places[-1]]
    for place in places[:-1]:
        if all(abs(log(place / other)) >= apart * 0.99 for other in kept):
            kept.append(place)
    return sorted(kept)


def _panel(
    curves: Sequence[Curve], level: float, series: Series, names: dict[str, str], across: Spec, linear: bool
) -> Spec:
    values = [value for curve in curves for value in _values(curve, names[curve.series])]
    rings = [ring for curve in curves if (ring := _ring(curve, names[curve.series], level, linear))]
    suites = counted(curves[0].suites, "suite")
    title = panels.heading(readable(curves[0].group), suites, anchor="start")
    upright = axes.mean(curves[0].kind, "score")
    place: Spec = {"x": across, "y": upright, "color": series.colour}
    area = {"x": across, **axes.spread(upright), "color": series.colour}
    description = {"description": {"field": "said"}}
    bounded = [curve for curve in values if curve["low"] is not None]
    single = [value for curve in curves for value in _runs(curve, names[curve.series])]
    ring = layers.dot(130, filled=False, shape="circle", strokeWidth=2)
    plot_layers = [
        *([] if isnan(level) else [layers.reference(level, upright, "y", layers.dashed(opacity=0.6))]),
        # A band over one position has no width.
        layer(
            layers.band(0.16) if len({each["at"] for each in bounded}) > 1 else layers.rule(opacity=0.45),
            area,
            values=bounded,
        ),
        *([layer(layers.dot(12, 0.5), place | {"shape": series.shape}, values=single)] if single else []),
        layer(layers.line(1.8), place, values=values),
        layer(layers.dot(40), place | {"shape": series.shape} | description, values=values),
        *([layer(ring, place | description, values=rings)] if rings else []),
    ]
    return {"title": title, "width": WIDTH, "height": HEIGHT, "layer": plot_layers}


def _values(curve: Curve, name: str) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for k, at in enumerate(curve.at):
        value, low, high = (float(numbers[k]) for numbers in (curve.values, curve.low, curve.high))
        if not isnan(value):
            row = {"series": name, "at": at, "value": value, "low": low, "high": high, "n": curve.n[k]}
            rows.append(point(row, f"{name} at {at:,.10g}: {estimated(row)}", "series", "at"))
    return rows


def _runs(curve: Curve, name: str) -> list[dict[str, object]]:
    """Return the scores of the runs at positions with several."""
    several = {at for at, runs in zip(curve.at, curve.runs, strict=True) if runs > 1}
    pairs = zip(*(numbers.tolist() for numbers in curve.each), strict=True)
    return [{"series": name, "at": at, "value": value} for at, value in pairs if at in several and not isnan(value)]


def _ring(curve: Curve, name: str, level: float, linear: bool) -> dict[str, object] | None:
    crossing = trajectory.crossing(curve.at, curve.values, level, linear)
    if not isfinite(crossing.at) or crossing.before:
        return None
    return {
        "series": name,
        "at": crossing.at,
        "value": level,
        "said": shown(f"{name} reaches {level:.3g} at {crossing.at:,.4g}"),
    }
