"""The table of trajectories: the gain for each doubling, where a level is reached, and the mean height."""

import math
from collections.abc import Sequence

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.runs.store import Run
from syntagm.stats import trajectory
from syntagm.views.learning_curve import line
from syntagm.views.options import Measure
from syntagm.views.trajectory.numbers import (
    METHOD,
    AtLevel,
    By,
    Curve,
    Scale,
    about,
    curves_of,
    level_of,
    whole,
    whole_draws,
)
from syntagm.views.trajectory.places import Names, X

COLUMNS = (
    *("series", "group", "suites", "runs", "n", "from", "to", "score at the start", "score at the end", "low", "high"),
    *("slope", "se", "slope low", "slope high", "level", "reached at", "reached low", "reached high", "times", "kept"),
    *("mean height", "height low", "height high"),
)
NOTES = (
    "slope: gain of the score for each doubling, least squares over runs, with its standard error and 95% interval (Student's "
    "t, runs - 2 degrees of freedom): about other such runs, taken for independent, which checkpoints of one training are not.",
    "reached at: the first place where the curve, straight between places, comes to the level from below; `before`: it starts "
    "at the level or above; `never`: it doesn't get there. times: how often; kept: whether it stays there to the end.",
    f"low, high: of the score at the end, of reached at and of the mean height (area under the curve by its width): 95%, "
    f"{METHOD}; about other items, not other trainings. n: defined items at the place that has fewest.",
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
    """Make a row for each series and group of suites.

    Raises:
        UsageError: a place that isn't known, or a place 0 on a logarithmic scale.
    """
    found, curves = curves_of(runs, x, series, by, measure, scale)
    linear = scale == "linear"
    rows = tuple(_row(one, level_of(level, one), linear) for one in curves)
    return Table("Trajectories", COLUMNS, rows, notes=(*about(found, scale), *NOTES))


def _row(one: Curve, level: float, linear: bool) -> tuple[Cell, ...]:
    fitted = line(*one.each) if not linear else None
    slope = (fitted.slope, fitted.se, fitted.low, fitted.high) if fitted else (math.nan,) * 4
    return (
        *(one.series, one.group, one.suites, sum(one.runs), min(one.n), whole(one.at[0]), whole(one.at[-1])),
        *map(or_none, (one.values[0], one.values[-1], one.low[-1], one.high[-1], *slope)),
        *_reached(one, level, linear),
        *map(or_none, _height(one, linear)),
    )


def _reached(one: Curve, level: float, linear: bool) -> tuple[Cell, ...]:
    if math.isnan(level):
        return (None,) * 6
    found = trajectory.crossing(one.at, one.values, level, linear)
    if math.isnan(found.at):
        return (level, None, None, None, None, None)
    draws = one.draws[whole_draws(one)]
    drawn = [trajectory.crossing(one.at, draw, level, linear) for draw in draws] if _has_draws(one) else []
    # Before the first place is below any place.
    ends = trajectory.interval([-math.inf if each.before else each.at for each in drawn])
    at = -math.inf if found.before else found.at
    return (level, _said(at), *map(_said, ends), found.times, "yes" if found.kept else "no")


def _has_draws(one: Curve) -> bool:
    return not bool((one.draws != one.draws).all())


def _height(one: Curve, linear: bool) -> tuple[float, float, float]:
    value = trajectory.mean_height(one.at, one.values, linear)
    draws = one.draws[whole_draws(one)]
    return (value, *trajectory.interval([trajectory.mean_height(one.at, draw, linear) for draw in draws]))


def _said(at: float) -> Cell:
    if math.isnan(at):
        return None
    return whole(at) if math.isfinite(at) else "never" if at > 0 else "before"
