"""Trajectory: along a series of checkpoints, the gain for each doubling, where a level is reached, and the mean height."""

import math
from collections.abc import Iterator, Sequence

from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.runs.store import Run
from syntagm.stats import trajectory
from syntagm.views.learning_curve import compute as learning
from syntagm.views.trajectory import compute as trajectories
from syntagm.views.trajectory.compute import METHOD, Curve, whole_draws
from syntagm.views.trajectory.places import Places, places

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
    x: str = "",
    series: str = "",
    by: str = "",
    measure: str = "first",
    level: str = "",
    scale: str = "log",
) -> Table:
    """A row a series and group of suites.

    Arguments:
        x: `step`, `words`, `tokens` or `size`, or numbers in the order of the runs; what is known of all unless given.
        series: the names of the curves in the order of the runs, with commas between.
        by: a tag of the suites, or `suite`; all suites together unless given.
        level: a number, say that of people, or `chance`.
        scale: `log`, or `linear`: how places are counted.

    Raises:
        UsageError: a place that isn't known, a level that is none, a place 0 on a logarithmic scale.
    """
    found, curves = curves_of(runs, x, series, by, measure, scale)
    linear = scale == "linear"
    rows = tuple(_row(one, level_of(level, one), linear) for one in curves)
    return Table("Trajectories", COLUMNS, rows, notes=(*about(found, scale), *NOTES))


def curves_of(
    runs: Sequence[Run], x: str, series: str, by: str, measure: str, scale: str
) -> tuple[Places, list[Curve]]:
    """The runs at their places, and the curves."""
    if scale not in ("log", "linear"):
        raise UsageError("scale=", repr(scale), "log or linear")
    found = places(runs, x, series)
    if scale == "log" and (zero := [one.model for one in found.points if not one.at > 0]):
        raise UsageError("x=", f"0 on a logarithmic scale, {zero[0]}", "places above 0, or scale=linear")
    return found, trajectories.curves(found.points, by, measure)


def level_of(level: str, curve: Curve) -> float:
    """The level that an option asks for; nan if it asks for none.

    Raises:
        UsageError: no number, nor `chance`.
    """
    if level in ("", "chance"):
        return curve.chance if level else math.nan
    try:
        return float(level)
    except ValueError:
        raise UsageError("level=", repr(level), "a number, or chance") from None


def about(found: Places, scale: str) -> Iterator[str]:
    """What is counted, and the suites that are left out."""
    scaled = ", by logarithm" if scale == "log" else ""
    yield f"Places: {found.title}, {found.source}{scaled}."
    _, left_out = trajectories.suites_of(found.points)
    if left_out:
        more = " ..." if len(left_out) > 5 else ""
        yield f"Left out, not in all runs with the same content: {', '.join(left_out[:5])}{more}."
    if unfinished := [one.model for one in found.points if not one.run.done]:
        yield f"Not finished, items without results are left out: {', '.join(unfinished)}."


def _row(one: Curve, level: float, linear: bool) -> tuple[Cell, ...]:
    line = learning.line(*one.each) if not linear else None
    slope = (line.slope, line.se, line.low, line.high) if line else (math.nan,) * 4
    return (
        *(one.series, one.group, one.suites, sum(one.runs), min(one.n), whole(one.at[0]), whole(one.at[-1])),
        *map(_known, (one.values[0], one.values[-1], one.low[-1], one.high[-1], *slope)),
        *_reached(one, level, linear),
        *map(_known, _height(one, linear)),
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


def whole(at: float) -> int | float:
    """A place as people write it: whole numbers without a point, and large ones rounded to them."""
    return round(at) if at == round(at) or at >= 1000 else at


def _known(value: float) -> float | None:
    return None if value != value else float(value)
