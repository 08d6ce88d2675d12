"""The figure of trajectories: curves along checkpoints, a level, and where it is reached."""

from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

import polars as pl

from syntagm.drawing import axes, layers, panels
from syntagm.drawing.chart import Figure, Spec, finish
from syntagm.drawing.layers import layer
from syntagm.drawing.series import Series
from syntagm.drawing.text import counted, distinct, or_none, shown, spoken
from syntagm.runs.store import Run
from syntagm.stats import trajectory
from syntagm.views.options import Measure
from syntagm.views.trajectory.numbers import DRAWS, AtLevel, By, Curve, Scale, about, curves_of, level_of
from syntagm.views.trajectory.places import Names, X

SCHEMA: dict[str, Any] = {
    "group": pl.String, "series": pl.String, "at": pl.Float64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "n": pl.Int64, "runs": pl.Int64, "suites": pl.Int64, "level": pl.Float64, "chance": pl.Float64,
}  # fmt: skip
WIDTH, HEIGHT, COLUMNS = 210, 150, 3


def draw_figure(
    runs: Sequence[Run],
    x: X = "",
    series: Names = (),
    by: By = "circuit",
    measure: Measure = "first",
    level: AtLevel = None,
    scale: Scale = "log",
) -> Figure:
    """Draw the curves, a panel a group of suites.

    Raises:
        UsageError: a place that isn't known, or a place 0 on a logarithmic scale.
    """
    found, curves = curves_of(runs, x, series, by, measure, scale)
    levels = {one.group: level_of(level, one) for one in curves}
    said = "" if level is None else str(level)
    return draw(curves, levels, found.title, list(about(found, scale)), scale == "linear", said)


def draw(
    curves: Sequence[Curve], levels: dict[str, float], axis: str = "", notes: Sequence[str] = (), linear: bool = False,
    level: str = "",
) -> Figure:  # fmt: skip
    """Draw the curves.

    Arguments:
        levels: group -> a dashed line, nan: none.
        axis: what stands on the horizontal axis.
        level: what the line is called.
    """
    table = pl.DataFrame([row for one in curves for row in _rows(one, levels[one.group])], schema=SCHEMA, orient="row")
    names = distinct(table["series"])
    groups = list(dict.fromkeys(one.group for one in curves))
    places = sorted({at for one in curves for at in one.at})
    parts = [
        _panel(
            [one for one in curves if one.group == group],
            levels[group],
            Series("series", list(names.values()), WIDTH * COLUMNS, at == 0 and len(names) > 1),
            names,
            _across(places, axis, linear),
            linear,
        )
        for at, group in enumerate(groups)
    ]
    subtitle = [
        f"band: 95% interval, items drawn anew ({DRAWS:,} draws), not trainings; dot: mean of the runs at a place"
    ]
    subtitle += [f"dashed: {level}; ring: where a curve first reaches it from below"] if level else []
    spec = panels.grid(parts, min(COLUMNS, max(1, len(parts))), 22)
    return Figure(finish(spec, "Scores along checkpoints", [*subtitle, *notes], offset=14), table)


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
        scale = {"domain": [low - edge, high + edge], "nice": False, "zero": False}
        return axes.quantity("at", title, scale, format=".3~s", grid=False, tickCount=4)
    domain = (low / 1.25, high * 1.25)
    return axes.logarithmic("at", f"{title} (logarithmic)", domain, _ticks(places), format=".2~s", grid=False)


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


def _panel(
    curves: Sequence[Curve], level: float, series: Series, names: dict[str, str], across: Spec, linear: bool
) -> Spec:
    values = [value for one in curves for value in _values(one, names[one.series])]
    rings = [ring for one in curves if (ring := _ring(one, names[one.series], level, linear))]
    suites = counted(curves[0].suites, "suite")
    title = panels.heading(curves[0].group.replace("_", " "), suites, anchor="start")
    upright = axes.proportion("score")
    place: Spec = {"x": across, "y": upright, "color": series.colour}
    band = {"x": across, **axes.spread(upright), "color": series.colour}
    said = {"description": {"field": "said"}}
    bounded = [one for one in values if one["low"] is not None]
    ring = layers.dot(130, filled=False, shape="circle", strokeWidth=2)
    made = [
        *([] if isnan(level) else [layers.reference(level, upright, "y", layers.dashed(opacity=0.6))]),
        layer(layers.band(0.16), band, values=bounded),
        layer(layers.line(1.8), place, values=values),
        layer(layers.dot(40), place | {"shape": series.shape} | said, values=values),
        *([layer(ring, place | said, values=rings)] if rings else []),
    ]
    return {"title": title, "width": WIDTH, "height": HEIGHT, "layer": made}


def _values(one: Curve, name: str) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for k, at in enumerate(one.at):
        value, low, high = (float(numbers[k]) for numbers in (one.values, one.low, one.high))
        if not isnan(value):
            said = f"{name} at {at:,.10g}: {spoken(value, low, high)}, n={one.n[k]}"
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
