"""Trajectory gap: how far two series of checkpoints are apart, as the area between their curves, with intervals."""

import math
from collections.abc import Sequence
from itertools import combinations

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import known
from syntagm.errors import UsageError
from syntagm.runs.store import Run
from syntagm.stats import trajectory
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


def _row(a: Curve, b: Curve, linear: bool) -> tuple[Cell, ...]:
    found = trajectory.between((a.at, a.values), (b.at, b.values), linear)
    held = whole_draws(a, b)
    draws = zip(a.draws[held], b.draws[held], strict=True)
    drawn = [trajectory.between((a.at, one), (b.at, other), linear).mean for one, other in draws]
    span = (None if math.isnan(at) else whole(at) for at in (found.low, found.high))
    numbers = (found.area, found.mean, *trajectory.interval(drawn))
    return (a.series, b.series, a.group, a.suites, min(*a.n, *b.n), *span, *map(known, numbers))
