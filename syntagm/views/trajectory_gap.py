"""Trajectory gap: the area between the curves of two series of checkpoints, with intervals."""

import math
from collections.abc import Sequence
from itertools import combinations

from syntagm.core import UsageError
from syntagm.evaluation import Estimate, Group
from syntagm.runs import Run
from syntagm.stats import Between, Comparison, bootstrap, trajectory
from syntagm.views.checkpoints import By, Curve, Names, Scale, X, about, curves_of, intervals, whole, whole_draws
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.options import Measure

COLUMNS = ("A", "B", "group", "suites", "n", "from", "to", "area", "B - A", "low", "high")
NOTES = (
    "B - A: mean difference of the two curves over the range that both cover, with linear interpolation: the area between "
    "them divided by the width of the range. area: in score times doublings (score times units if scale=linear). Empty: the "
    "curves have no range in common.",
)


def make_table(
    runs: Sequence[Run], x: X = "", series: Names = (), by: By = "", measure: Measure = "first", scale: Scale = "log"
) -> Table:
    """Make one row for each pair of series and group of suites.

    Raises:
        UsageError: there is only one series.
    """
    places, curves = curves_of(runs, x, series, by, measure, scale)
    names = list(dict.fromkeys(curve.series for curve in curves))
    if len(names) < 2:
        raise UsageError("trajectory_gap", f"one series, {names[0]}", "two or more", "Name them: series=a,a,b,b")
    by_key = {(curve.series, curve.group): curve for curve in curves}
    groups = dict.fromkeys(curve.group for curve in curves)
    pairs = combinations(names, 2)
    rows = tuple(_row(by_key[a, group], by_key[b, group], scale == "linear") for a, b in pairs for group in groups)
    return Table(
        "Differences between trajectories", COLUMNS, rows, notes=(*about(places, scale), *NOTES, *intervals(curves))
    )


def compared(a: Curve, b: Curve, linear: bool = False) -> tuple[Comparison, Between]:
    """Compare two curves over their common range."""
    gap = trajectory.between((a.at, a.values), (b.at, b.values), linear)
    complete = whole_draws(a, b)
    draws = zip(a.draws[complete], b.draws[complete], strict=True)
    gaps = [trajectory.between((a.at, x), (b.at, y), linear).mean for x, y in draws]
    ends = bootstrap.interval(gaps, a.units)
    group = Group(labels=(("group", a.group),))
    return Comparison(group, Estimate(group, gap.mean, *ends, min(*a.n, *b.n), f"{a.method}, paired")), gap


def _row(a: Curve, b: Curve, linear: bool) -> tuple[Cell, ...]:
    comparison, between = compared(a, b, linear)
    span = (None if math.isnan(at) else whole(at) for at in (between.low, between.high))
    numbers = (between.area, comparison.difference.value, comparison.difference.low, comparison.difference.high)
    return (a.series, b.series, a.group, a.suites, comparison.n, *span, *map(or_none, numbers))
