"""Trajectory gap: how far two series of checkpoints are apart, as the area between their curves, with intervals."""

import math
from collections.abc import Sequence
from itertools import combinations

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.errors import UsageError
from syntagm.result import Estimate, Group
from syntagm.runs.store import Run
from syntagm.stats import trajectory
from syntagm.stats.paired import Comparison
from syntagm.stats.trajectory import Between
from syntagm.views.options import Measure
from syntagm.views.trajectory.numbers import METHOD, By, Curve, Scale, about, curves_of, whole, whole_draws
from syntagm.views.trajectory.places import Names, X

COLUMNS = ("A", "B", "group", "suites", "n", "from", "to", "area", "B - A", "low", "high")
NOTES = (
    "B - A: the mean difference of the two curves over the span that both have, straight between places: the area between them "
    "by its width. area: in score times doublings (score times units if scale=linear); empty: no span in common.",
    f"low, high: of B - A, 95% {METHOD}, so paired; about other items, not other trainings.",
)


def make_table(
    runs: Sequence[Run], x: X = "", series: Names = (), by: By = "", measure: Measure = "first", scale: Scale = "log"
) -> Table:
    """Make a row for each pair of series and group of suites.

    Raises:
        UsageError: one series only.
    """
    found, curves = curves_of(runs, x, series, by, measure, scale)
    names = list(dict.fromkeys(one.series for one in curves))
    if len(names) < 2:
        raise UsageError("trajectory_gap", f"one series, {names[0]}", "two or more", "Name them: series=a,a,b,b")
    of = {(one.series, one.group): one for one in curves}
    groups = dict.fromkeys(one.group for one in curves)
    rows = tuple(
        _row(of[a, group], of[b, group], scale == "linear") for a, b in combinations(names, 2) for group in groups
    )
    return Table("Differences between trajectories", COLUMNS, rows, notes=(*about(found, scale), *NOTES))


def compared(a: Curve, b: Curve, linear: bool = False) -> tuple[Comparison, Between]:
    """The mean difference of two curves over the span that both have, with its interval; and the area and span behind it."""
    found = trajectory.between((a.at, a.values), (b.at, b.values), linear)
    held = whole_draws(a, b)
    draws = zip(a.draws[held], b.draws[held], strict=True)
    ends = trajectory.interval([trajectory.between((a.at, x), (b.at, y), linear).mean for x, y in draws])
    group = Group(labels=(("group", a.group),))
    return Comparison(group, Estimate(group, found.mean, *ends, min(*a.n, *b.n), f"{METHOD}, paired")), found


def _row(a: Curve, b: Curve, linear: bool) -> tuple[Cell, ...]:
    found, between = compared(a, b, linear)
    span = (None if math.isnan(at) else whole(at) for at in (between.low, between.high))
    numbers = (between.area, found.difference.value, found.difference.low, found.difference.high)
    return (a.series, b.series, a.group, a.suites, found.n, *span, *map(or_none, numbers))
