"""Trajectory: the score of each group of suites along series of checkpoints, with intervals, a level and where it is reached."""

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

import polars as pl

from syntagm.drawing.chart import INK, Figure, Spec, colours, distinct, finish, legend, shapes, shown
from syntagm.drawing.table import or_none
from syntagm.runs.store import Run
from syntagm.stats import trajectory
from syntagm.views.trajectory.compute import DRAWS, Curve
from syntagm.views.trajectory.table import about, curves_of, level_of

SCHEMA: dict[str, Any] = {
    "group": pl.String, "series": pl.String, "at": pl.Float64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "runs": pl.Int64, "suites": pl.Int64, "level": pl.Float64, "chance": pl.Float64,
}  # fmt: skip
WIDTH, HEIGHT, COLUMNS = 210, 150, 3


def draw_figure(
    runs: Sequence[Run],
    x: str = "",
    series: str = "",
    by: str = "circuit",
    measure: str = "first",
    level: str = "",
    scale: str = "log",
) -> Figure:
    """The curves, a panel a group of suites; options and errors as of the table `trajectory`."""
    found, curves = curves_of(runs, x, series, by, measure, scale)
    levels = {one.group: level_of(level, one) for one in curves}
    said = "chance" if level == "chance" else level
    return draw(curves, levels, found.title, list(about(found, scale)), scale == "linear", said)


def draw(
    curves: Sequence[Curve], levels: dict[str, float], counted: str = "", notes: Sequence[str] = (), linear: bool = False,
    level: str = "",
) -> Figure:  # fmt: skip
    """The figure.

    Arguments:
        levels: group -> a dashed line, nan: none.
        counted: what stands on the horizontal axis.
        level: what the line is called.
    """
    table = pl.DataFrame([row for one in curves for row in _rows(one, levels[one.group])], schema=SCHEMA, orient="row")
    names = distinct(table["series"])
    groups = list(dict.fromkeys(one.group for one in curves))
    places = sorted({at for one in curves for at in one.at})
    panels = [
        _panel(
            group,
            [one for one in curves if one.group == group],
            levels[group],
            names,
            _across(places, counted, linear),
            at,
            linear,
        )
        for at, group in enumerate(groups)
    ]
    subtitle = [
        f"band: 95% interval, items drawn anew ({DRAWS:,} draws), not trainings; dot: mean of the runs at a place"
    ]
    subtitle += [f"dashed: {level}; ring: where a curve first reaches it from below"] if level else []
    spec: Spec = {"concat": panels, "columns": min(COLUMNS, max(1, len(panels))), "spacing": 22}
    made = finish(spec, "Scores along checkpoints", [*subtitle, *notes])
    return Figure(made | {"title": made["title"] | {"offset": 14}}, table)


def _rows(one: Curve, level: float) -> list[tuple[object, ...]]:
    return [
        (one.group, one.series, at, float(one.values[k]), float(one.low[k]), float(one.high[k]), one.n[k], one.runs[k],
         one.suites, level, one.chance)
        for k, at in enumerate(one.at)
    ]  # fmt: skip


def _across(places: Sequence[float], title: str, linear: bool) -> Spec:
    low, high = places[0], places[-1]
    if linear:
        edge = (high - low) * 0.05 or 1.0
        return {
            "field": "at", "type": "quantitative", "title": title,
            "scale": {"domain": [low - edge, high + edge], "nice": False, "zero": False},
            "axis": {"format": ".3~s", "grid": False, "tickCount": 4},
        }  # fmt: skip
    return {
        "field": "at", "type": "quantitative", "title": f"{title} (logarithmic)",
        "scale": {"type": "log", "domain": [low / 1.25, high * 1.25], "nice": False},
        "axis": {"values": _ticks(places), "format": ".2~s", "grid": False},
    }  # fmt: skip


def _ticks(places: Sequence[float]) -> list[float]:
    """At most five of the places, and none too near another to be read.

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


_UPRIGHT: Spec = {
    "type": "quantitative", "title": "score", "scale": {"domain": [0, 1]},
    "axis": {"format": ".1f", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
}  # fmt: skip


def _panel(
    group: str, curves: Sequence[Curve], level: float, names: dict[str, str], across: Spec, at: int, linear: bool
) -> Spec:  # fmt: skip
    known = list(names.values())
    told = legend(known, WIDTH * COLUMNS) if at == 0 and len(known) > 1 else None
    colour: Spec = {"field": "series", "type": "nominal", "scale": colours(known), "legend": told}
    shape: Spec = {"field": "series", "type": "nominal", "scale": shapes(known), "legend": told}
    values = [value for one in curves for value in _values(one, names[one.series])]
    rings = [ring for one in curves if (ring := _ring(one, names[one.series], level, linear))]
    suites = f"{curves[0].suites} suite" + ("" if curves[0].suites == 1 else "s")
    title = {
        "text": shown(group.replace("_", " ")),
        "subtitle": suites,
        "fontSize": 12,
        "subtitleFontSize": 11,
        "anchor": "start",
    }
    layers = [*_level(level), *_layers(values, across, colour, shape), *_rings(rings, across, colour)]
    return {"title": title, "width": WIDTH, "height": HEIGHT, "layer": layers}


def _values(one: Curve, name: str) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for k, at in enumerate(one.at):
        value, low, high = (float(numbers[k]) for numbers in (one.values, one.low, one.high))
        if not isnan(value):
            said = (
                f"{name} at {at:,.10g}: {value:.3f}"
                + ("" if isnan(low) else f" [{low:.3f}, {high:.3f}]")
                + f", n={one.n[k]}"
            )
            ends = {"low": or_none(low), "high": or_none(high)}
            made.append({"series": name, "at": at, "value": value, **ends, "said": shown(said)})
    return made


def _ring(one: Curve, name: str, level: float, linear: bool) -> dict[str, object] | None:
    found = trajectory.crossing(one.at, one.values, level, linear)
    if not isfinite(found.at) or found.before:
        return None
    return {
        "series": name,
        "at": found.at,
        "value": level,
        "said": shown(f"{name} reaches {level:.3g} at {found.at:,.4g}"),
    }


def _level(level: float) -> list[Spec]:
    if isnan(level):
        return []
    mark = {"type": "rule", "strokeDash": [4, 3], "color": INK, "opacity": 0.6, "aria": False}
    return [{"data": {"values": [{"level": level}]}, "mark": mark, "encoding": {"y": _UPRIGHT | {"field": "level"}}}]


def _layers(values: list[dict[str, object]], across: Spec, colour: Spec, shape: Spec) -> list[Spec]:
    place: Spec = {"x": across, "y": _UPRIGHT | {"field": "value"}, "color": colour}
    band = {"x": across, "y": _UPRIGHT | {"field": "low"}, "y2": {"field": "high"}, "color": colour}
    bounded = [one for one in values if one["low"] is not None]
    return [
        {"data": {"values": bounded}, "mark": {"type": "area", "opacity": 0.16, "aria": False}, "encoding": band},
        {"data": {"values": values}, "mark": {"type": "line", "strokeWidth": 1.8, "aria": False}, "encoding": place},
        {
            "data": {"values": values},
            "mark": {"type": "point", "filled": True, "size": 40, "opacity": 1},
            "encoding": place | {"shape": shape, "description": {"field": "said"}},
        },
    ]


def _rings(rings: list[dict[str, object]], across: Spec, colour: Spec) -> list[Spec]:
    if not rings:
        return []
    mark = {"type": "point", "filled": False, "shape": "circle", "size": 130, "strokeWidth": 2, "opacity": 1}
    channels = {"x": across, "y": _UPRIGHT | {"field": "value"}, "color": colour, "description": {"field": "said"}}
    return [{"data": {"values": rings}, "mark": mark, "encoding": channels}]
