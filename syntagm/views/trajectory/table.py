"""The table of trajectories: the gain for each doubling, the point where a level is reached, and the mean height."""

import math
from collections.abc import Sequence

from syntagm.runs import Run
from syntagm.stats import bootstrap, trajectory
from syntagm.views.checkpoints import (
    AtLevel,
    By,
    Curve,
    Names,
    Scale,
    X,
    about,
    curves_of,
    intervals,
    level_of,
    whole,
    whole_draws,
)
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.learning_curve import line
from syntagm.views.options import Measure

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
    crossings = [trajectory.crossing(curve.at, draw, level, linear) for draw in draws] if _has_draws(curve) else []
    # A level that is reached before the first position counts as lower than any position.
    ends = bootstrap.interval([-math.inf if drawn.before else drawn.at for drawn in crossings], curve.units)
    at = -math.inf if crossing.before else crossing.at
    return (level, _cell(at), *map(_cell, ends), crossing.times, "yes" if crossing.kept else "no")


def _has_draws(curve: Curve) -> bool:
    return not bool((curve.draws != curve.draws).all())


def _height(curve: Curve, linear: bool) -> tuple[float, float, float]:
    value = trajectory.mean_height(curve.at, curve.values, linear)
    draws = curve.draws[whole_draws(curve)]
    heights = [trajectory.mean_height(curve.at, draw, linear) for draw in draws]
    return (value, *bootstrap.interval(heights, curve.units))


def _cell(at: float) -> Cell:
    if math.isnan(at):
        return None
    return whole(at) if math.isfinite(at) else "never" if at > 0 else "before"
