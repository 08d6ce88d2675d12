"""Trajectory: scores of groups of suites along series of checkpoints, with intervals and the point where a level is reached."""

import math
from collections.abc import Sequence
from math import isfinite, isnan
from typing import Any

import numpy as np
import polars as pl

from syntagm.core import counted, shown
from syntagm.runs import Run
from syntagm.stats import bootstrap, trajectory
from syntagm.views.checkpoints import (
    AtLevel,
    By,
    Curve,
    Names,
    Panels,
    Scale,
    X,
    about,
    band,
    curves_of,
    intervals,
    level_of,
    limits,
    panels_by,
    whole,
    whole_draws,
)
from syntagm.views.drawing import vega
from syntagm.views.drawing.chart import Figure, Spec, finish
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import distinct, lines, or_none, readable
from syntagm.views.drawing.vega import Series, estimated, layer, point
from syntagm.views.learning_curve import line
from syntagm.views.options import Measure

SCHEMA: dict[str, Any] = {
    "group": pl.String, "series": pl.String, "at": pl.Float64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64,
    "sd": pl.Float64, "n": pl.Int64, "runs": pl.Int64, "suites": pl.Int64, "level": pl.Float64, "chance": pl.Float64,
}  # fmt: skip
WIDTH, HEIGHT, ACROSS = 210, 150, 3


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
            Series("series", list(names.values()), WIDTH * ACROSS, at == 0 and len(names) > 1),
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
    spec = vega.grid(plots, min(ACROSS, max(1, len(plots))), 22)
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
        return vega.quantity("at", title, scale, format=".3~s", grid=False, tickCount=4)
    domain = (low / 1.25, high * 1.25)
    return vega.logarithmic("at", f"{title} (logarithmic)", domain, _ticks(places), format=".3~s", grid=False)


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
    title = vega.heading(readable(curves[0].group), suites, anchor="start")
    upright = vega.mean(curves[0].kind, "score")
    place: Spec = {"x": across, "y": upright, "color": series.colour}
    area = {"x": across, **vega.spread(upright), "color": series.colour}
    description = {"description": {"field": "said"}}
    bounded = [curve for curve in values if curve["low"] is not None]
    single = [value for curve in curves for value in _runs(curve, names[curve.series])]
    ring = vega.dot(130, filled=False, shape="circle", strokeWidth=2)
    plot_layers = [
        *([] if isnan(level) else [vega.reference(level, upright, "y", vega.dashed(opacity=0.6))]),
        # A band over one position has no width.
        layer(
            vega.band(0.16) if len({each["at"] for each in bounded}) > 1 else vega.rule(opacity=0.45),
            area,
            values=bounded,
        ),
        *([layer(vega.dot(12, 0.5), place | {"shape": series.shape}, values=single)] if single else []),
        layer(vega.line(1.8), place, values=values),
        layer(vega.dot(40), place | {"shape": series.shape} | description, values=values),
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


COLUMNS = (
    *("series", "group", "suites", "runs", "n", "from", "to"),
    *("score at the start", "score at the end", "low", "high", "sd"),
    *("slope", "se", "slope low", "slope high", "level", "reached at", "reached low", "reached high", "times", "kept"),
    *("mean height", "height low", "height high"),
)
# LaTeX leaves out the rest, which would not fit on a page.
NARROW = (*("group", "suites", "from", "to", "score at the start", "score at the end", "low", "high"), "slope")
NOTES = (
    "slope: gain of the score for each doubling, least squares over runs, with its standard error and 95% interval "
    "(Student's t, runs - 2 degrees of freedom). The interval assumes that runs are independent, which checkpoints of one "
    "training run are not.",
    "reached at: the first position where the curve, with linear interpolation, reaches the level from below. `before`: the "
    "curve starts at the level or above; `never`: it doesn't reach it. times: how often it does; kept: whether it stays at "
    "the level or above to the end.",
    "low, high, sd: at the end. sd: standard deviation over the runs with this position. "
    "mean height: area under the curve divided by its width. n: the smallest number of defined items at any position.",
)


def make_table(
    runs: Sequence[Run],
    x: X = "",
    series: Names = (),
    by: By = "",
    measure: Measure = "first",
    level: AtLevel = None,
    scale: Scale = "log",
) -> Table:
    """Make one row for each series and group of suites.

    Raises:
        UsageError: the position of a run is unknown, or is 0 on a logarithmic scale.
    """
    places, curves = curves_of(runs, x, series, by, measure, scale)
    linear = scale == "linear"
    rows = tuple(_row(curve, level_of(level, curve), linear) for curve in curves)
    several = len({curve.series for curve in curves}) > 1
    narrow = (*(("series",) if several else ()), *NARROW, *(("level", "reached at") if level is not None else ()))
    notes = (*about(places, scale), *NOTES, *intervals(curves))
    return Table("Trajectories", COLUMNS, rows, notes=notes, narrow=narrow)


def _row(curve: Curve, level: float, linear: bool) -> tuple[Cell, ...]:
    fitted = line(*curve.each) if not linear else None
    slope = (fitted.slope, fitted.se, fitted.low, fitted.high) if fitted else (math.nan,) * 4
    return (
        *(
            curve.series,
            curve.group,
            curve.suites,
            sum(curve.runs),
            min(curve.n),
            whole(curve.at[0]),
            whole(curve.at[-1]),
        ),
        *map(or_none, (curve.values[0], curve.values[-1], curve.low[-1], curve.high[-1], curve.sd[-1], *slope)),
        *_reached(curve, level, linear),
        *map(or_none, _height(curve, linear)),
    )


def _reached(curve: Curve, level: float, linear: bool) -> tuple[Cell, ...]:
    if math.isnan(level):
        return (None,) * 6
    crossing = trajectory.crossing(curve.at, curve.values, level, linear)
    if math.isnan(crossing.at):
        return (level, None, None, None, None, None)
    draws = curve.draws[whole_draws(curve)]
    crossings = (
        [trajectory.crossing(curve.at, draw, level, linear) for draw in draws]
        if not np.isnan(curve.draws).all()
        else []
    )
    # A level that is reached before the first position counts as lower than any position.
    ends = bootstrap.interval([-math.inf if drawn.before else drawn.at for drawn in crossings], curve.units)
    at = -math.inf if crossing.before else crossing.at
    return (level, _cell(at), *map(_cell, ends), crossing.times, "yes" if crossing.kept else "no")


def _height(curve: Curve, linear: bool) -> tuple[float, float, float]:
    value = trajectory.mean_height(curve.at, curve.values, linear)
    draws = curve.draws[whole_draws(curve)]
    heights = [trajectory.mean_height(curve.at, draw, linear) for draw in draws]
    return (value, *bootstrap.interval(heights, curve.units))


def _cell(at: float) -> Cell:
    if math.isnan(at):
        return None
    return whole(at) if math.isfinite(at) else "never" if at > 0 else "before"


__all__ = ["draw_figure", "make_table"]
